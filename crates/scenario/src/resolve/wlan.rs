//! Wireless LANs, and the links that act as their transmitters.

use sojourn_aqm::{Span, registry};

use super::{Checked, checks, refuse};
use crate::document::Document;
use crate::document::quantities::{DecibelText, FrameRate, FrameRateText};
use crate::document::wlan::{self, Wireless};
use crate::resolved::{Capacity, Radio, RateControl, Resolved, Wlan};
use crate::wlan_timing::{self, OfdmRate};

/// All wireless LANs, in the order of their names.
pub(super) fn all(document: &Document) -> Checked<Vec<Wlan>> {
    document.wlans.iter().map(|(name, written)| wlan(name, written)).collect()
}

fn wlan(name: &str, written: &wlan::Wlan) -> Checked<Wlan> {
    let place = format!("wlans.{name}");
    checks::name(&place, "a wireless LAN's name", name)?;
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
        radio: Radio {
            rate: frame_rate(&place, written.rate)?,
            error_rate: error_rate(&place, written.error_rate)?,
            snr: written.snr.map(ratio),
        },
        attempts: written.attempts,
        slot: written.slot.0,
        difs: wlan_timing::difs(written.slot.0),
        eifs: written.eifs.0,
    })
}

fn frame_rate(place: &str, written: FrameRateText) -> Checked<RateControl> {
    match written.0 {
        FrameRate::Minstrel => Ok(RateControl::Minstrel),
        FrameRate::Constant(rate) => match OfdmRate::new(rate) {
            Some(rate) => Ok(RateControl::Constant(rate)),
            None => {
                let message = format!("802.11g does not send at {written}");
                let remedy = "; write 6, 9, 12, 18, 24, 36, 48 or 54mbit, or minstrel";
                refuse(&format!("{place}.rate"), message + remedy)
            }
        },
    }
}

fn error_rate(place: &str, written: f64) -> Checked<f64> {
    checks::probability(&format!("{place}.error_rate"), written)
}

/// Converts decibels to a power ratio.
fn ratio(written: DecibelText) -> f64 {
    libm::pow(10.0, written.0 / 10.0)
}

/// The station's own radio settings in place of the LAN's, if it has any.
fn own_radio(place: &str, written: &Wireless, lan: &Radio) -> Checked<Option<Radio>> {
    if (written.rate, written.error_rate, written.snr) == (None, None, None) {
        return Ok(None);
    }
    let rate = written.rate.map(|rate| frame_rate(place, rate)).transpose()?;
    let errors = written.error_rate.map(|rate| error_rate(place, rate)).transpose()?;
    Ok(Some(Radio {
        rate: rate.unwrap_or(lan.rate),
        error_rate: errors.unwrap_or(lan.error_rate),
        snr: written.snr.map(ratio).or(lan.snr),
    }))
}

/// The capacity of a link that is a transmitter.
pub(super) fn transmitter(place: &str, written: &Wireless, wlans: &[Wlan]) -> Checked<Capacity> {
    match wlans.iter().position(|wlan| wlan.name == written.wlan) {
        Some(wlan) => {
            let lan = &wlans[wlan];
            let radio = own_radio(place, written, &lan.radio)?;
            let alone = lan.lone_rate(radio.as_ref().unwrap_or(&lan.radio));
            let airtime_fairness = written.airtime_fairness;
            Ok(Capacity::Wireless { wlan, radio, alone, airtime_fairness })
        }
        None if wlans.is_empty() => {
            let message = format!("unknown wireless LAN `{}`", written.wlan);
            refuse(&format!("{place}.wlan"), message + &format!("; write [wlans.{}]", written.wlan))
        }
        None => {
            let known: Vec<&str> = wlans.iter().map(|wlan| wlan.name.as_str()).collect();
            let hint = registry::hint(&written.wlan, &known);
            let message = format!("unknown wireless LAN `{}`{hint}", written.wlan);
            refuse(&format!("{place}.wlan"), message)
        }
    }
}

/// Checks that every packet through a transmitter with airtime fairness belongs to a station.
pub(super) fn check_stations(resolved: &Resolved) -> Checked<()> {
    for flow in &resolved.flows {
        for (way, other_way, key) in
            [(&flow.path, &flow.reverse, "reverse"), (&flow.reverse, &flow.path, "path")]
        {
            let is_lost = |link: &&usize| {
                resolved.links[**link].capacity.serves_by_airtime()
                    && resolved.station_of(**link, other_way).is_none()
            };
            let Some(&link) = way.iter().find(is_lost) else { continue };
            let place = format!("links.{}.rate.airtime_fairness", resolved.links[link].name);
            let what = format!("the packets of flows `{}` go to no station", flow.name);
            let remedy = format!("; write a station's link in the `{key}` of these flows");
            return refuse(&place, what + &remedy);
        }
    }
    Ok(())
}

/// Refuses super-packets on a wireless LAN, whose frames carry a packet each.
pub(super) fn check_super_packets(scenario: &Resolved) -> Checked<()> {
    let is_wireless = |&link: &usize| scenario.links[link].capacity.wireless_lan().is_some();
    let mut groups = scenario.tcp_groups();
    let wrong =
        groups.find(|(_, group, tcp)| tcp.super_packets && group.path.iter().any(is_wireless));
    let Some((index, ..)) = wrong else { return Ok(()) };
    let message = "a frame of a wireless LAN carries one segment; write `tso:` for `gso:`";
    refuse(&format!("flows[{index}].offload"), message)
}
