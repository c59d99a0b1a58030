//! Wireless LANs and the links that are their transmitters.

use sojourn_aqm::{Span, registry};

use super::{Checked, checks, refuse};
use crate::document::Document;
use crate::document::wlan::{self, Wireless};
use crate::resolved::{Capacity, Wlan};
use crate::wlan_timing::{self, OfdmRate};

/// All wireless LANs, in the order of their names.
pub(super) fn all(document: &Document) -> Checked<Vec<Wlan>> {
    document.wlans.iter().map(|(name, written)| wlan(name, written)).collect()
}

fn wlan(name: &str, written: &wlan::Wlan) -> Checked<Wlan> {
    let place = format!("wlans.{name}");
    checks::name(&place, "a wireless LAN's name", name)?;
    let Some(rate) = OfdmRate::new(written.rate.0) else {
        let message = format!("802.11g does not send at {}", written.rate);
        let remedy = "; write 6, 9, 12, 18, 24, 36, 48 or 54mbit";
        return refuse(&format!("{place}.rate"), message + remedy);
    };
    if written.attempts == 0 {
        return refuse(&format!("{place}.attempts"), "must be at least 1");
    }
    for (key, span) in [("slot", written.slot.0), ("eifs", written.eifs.0)] {
        if span == Span::ZERO {
            return refuse(&format!("{place}.{key}"), "must be positive");
        }
    }
    Ok(Wlan {
        name: name.to_owned(),
        rate,
        error_rate: checks::probability(&format!("{place}.error_rate"), written.error_rate)?,
        attempts: written.attempts,
        slot: written.slot.0,
        difs: wlan_timing::difs(written.slot.0),
        eifs: written.eifs.0,
    })
}

/// The capacity of a link that is a transmitter.
pub(super) fn transmitter(place: &str, written: &Wireless, wlans: &[Wlan]) -> Checked<Capacity> {
    match wlans.iter().position(|wlan| wlan.name == written.wlan) {
        Some(wlan) => Ok(Capacity::Wireless { wlan, alone: wlans[wlan].lone_rate() }),
        None if wlans.is_empty() => {
            let message = format!("there is no wireless LAN `{}`", written.wlan);
            refuse(&format!("{place}.wlan"), message + &format!("; write [wlans.{}]", written.wlan))
        }
        None => {
            let known: Vec<&str> = wlans.iter().map(|wlan| wlan.name.as_str()).collect();
            let hint = registry::hint(&written.wlan, &known);
            let message = format!("there is no wireless LAN `{}`{hint}", written.wlan);
            refuse(&format!("{place}.wlan"), message)
        }
    }
}
