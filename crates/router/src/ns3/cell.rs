//! A wireless LAN as a cell of ns-3's Wi-Fi: an access point and its stations.

use sojourn_aqm::{Limit, Span};
use sojourn_scenario::resolved::{Capacity, Link, Radio, RateControl, Resolved, Wlan};
use sojourn_scenario::wlan_timing;

use super::Links;
use crate::planning::refusal::{Planned, refuse};

/// Finds the access point, which all flows pass, and the stations. The access point comes first.
///
/// # Errors
/// Returns an error if the scenario is not such a cell, or needs a feature that ns-3's Wi-Fi lacks.
pub(super) fn links(scenario: &Resolved) -> Planned<Links> {
    if let Some(second) = scenario.wlans.get(1) {
        let message = "engine ns3 has one wireless LAN; use engine sim";
        return refuse(format!("wlans.{}", second.name), message);
    }
    check_lan(&scenario.wlans[0])?;
    let access_point = access_point(scenario)?;
    for (index, group) in scenario.flows.iter().enumerate() {
        let (way, back) = (group.path.as_slice(), group.reverse.as_slice());
        let is_to_a_station = matches!((way, back), ([a], [b]) if a != b)
            && (way[0] == access_point || back[0] == access_point);
        if !is_to_a_station || group.sender_downlink.is_some() {
            let message = "on engine ns3 a flow of a wireless LAN passes the access point's link \
                           one way and a station's the other; use engine sim";
            return refuse(format!("flows[{index}].path"), message);
        }
    }
    let is_station = |&link: &usize| link != access_point;
    let stations = (0..scenario.links.len()).filter(is_station);
    let links =
        Links { order: [access_point].into_iter().chain(stations).collect(), is_cell: true };
    for &index in &links.order {
        check_transmitter(scenario, index, index == access_point)?;
    }
    check_rate_controls(scenario, &links)?;
    Ok(links)
}

/// The transmitter that all flows pass, in one direction or the other. If two qualify, it is the
/// one without separate radio settings; if neither has such settings, the one that carries the
/// first flow's data.
fn access_point(scenario: &Resolved) -> Planned<usize> {
    let is_passed_by_all = |&link: &usize| {
        let mut groups = scenario.flows.iter();
        groups.all(|group| group.path.contains(&link) || group.reverse.contains(&link))
    };
    let flow = &scenario.flows[0];
    let candidates: Vec<usize> =
        flow.path.iter().chain(&flow.reverse).copied().filter(is_passed_by_all).collect();
    let plain = |link: &&usize| own_radio(&scenario.links[**link]).is_none();
    match candidates.iter().find(plain).or(candidates.first()) {
        Some(&link) => Ok(link),
        None => refuse(
            "flows",
            "engine ns3 has one access point, whose link all flows pass, in the one direction or \
             the other; use engine sim",
        ),
    }
}

fn own_radio(link: &Link) -> Option<Radio> {
    match link.capacity {
        Capacity::Wireless { radio, .. } => radio,
        _ => None,
    }
}

/// The radio settings of frames to and from a station.
fn radio(scenario: &Resolved, link: usize) -> Radio {
    own_radio(&scenario.links[link]).unwrap_or(scenario.wlans[0].radio)
}

fn has_minstrel(scenario: &Resolved, link: usize) -> bool {
    radio(scenario, link).rate == RateControl::Minstrel
}

/// Slots of 802.11g (IEEE 802.11-2012 clause 19): short slots, or those of 802.11b.
const SLOTS: [Span; 2] = [wlan_timing::SHORT_SLOT, Span::from_micros(20)];

fn check_lan(wlan: &Wlan) -> Planned<()> {
    let refused = |key: &str, message: &str| refuse(format!("wlans.{}.{key}", wlan.name), message);
    if !SLOTS.contains(&wlan.slot) {
        return refused("slot", "ns-3's 802.11g has slots of 9us or 20us; use engine sim");
    }
    // Two values are accepted: the scenario's default, and the standard's value at long slots.
    if ![wlan_timing::eifs(wlan_timing::SHORT_SLOT), wlan_timing::eifs(wlan.slot)]
        .contains(&wlan.eifs)
    {
        return refused("eifs", "ns-3 has the EIFS of 802.11; leave it out, or use engine sim");
    }
    Ok(())
}

fn check_transmitter(scenario: &Resolved, index: usize, is_access_point: bool) -> Planned<()> {
    let link = &scenario.links[index];
    let refused = |key: &str, message: &str| refuse(format!("links.{}.{key}", link.name), message);
    if link.capacity.wireless_lan().is_none() {
        return refused("rate", "engine ns3 has no links besides those of a wireless LAN");
    }
    if link.capacity.serves_by_airtime() {
        return refused(
            "rate.airtime_fairness",
            "ns-3's access point has one queue and no airtime fairness; use engine sim",
        );
    }
    if is_access_point && own_radio(link).is_some() {
        return refused(
            "rate",
            "the access point sends to each station as that station's link says; write rate, \
             error_rate and snr there, or in the wireless LAN",
        );
    }
    if link.delay > Span::ZERO {
        return refused("delay", "ns-3's cell has no delay; leave it out: the flows' rtt has it");
    }
    if link.framing_bytes > 0 {
        return refused("framing", "ns-3's Wi-Fi adds its own headers; leave it out");
    }
    match link.device {
        Some(device) if device.overhead_bytes > 0 || matches!(device.limit, Limit::Bytes(_)) => {
            refused("device", "ns-3's Wi-Fi queue is counted in packets; use engine sim")
        }
        _ => Ok(()),
    }
}

/// Checks that all stations use the same rate control, as ns-3's access point has only one.
fn check_rate_controls(scenario: &Resolved, links: &Links) -> Planned<()> {
    let stations = &links.order[1..];
    match stations.iter().filter(|&&link| has_minstrel(scenario, link)).count() {
        0 => Ok(()),
        count if count == stations.len() => Ok(()),
        _ => refuse(
            format!("wlans.{}.rate", scenario.wlans[0].name),
            "ns-3's access point has one rate control for all stations: `minstrel` for all or \
             none; use engine sim",
        ),
    }
}

/// Warnings about differences from the scenario.
pub(super) fn warnings(scenario: &Resolved) -> Vec<String> {
    let Some(wlan) = scenario.wlans.first() else { return Vec::new() };
    let mut warnings = Vec::new();
    if (0..scenario.links.len()).any(|link| has_minstrel(scenario, link)) {
        warnings.push(format!(
            "wlans.{}: ns-3's Minstrel samples the rates of 802.11b too; those frames count for \
             the utilisation, not among `frames`",
            wlan.name
        ));
    }
    warnings
}

/// The instructions of a cell: the LAN, and each transmitter's radio and driver queue.
pub(super) fn text(scenario: &Resolved, links: &Links, line: &mut impl FnMut(String)) {
    let Some(wlan) = scenario.wlans.first() else { return };
    let is_short = u8::from(wlan.slot == wlan_timing::SHORT_SLOT);
    line(format!("wlan {} {is_short}", wlan.attempts));
    for (place, &index) in links.order.iter().enumerate() {
        let Radio { rate, error_rate, snr } = radio(scenario, index);
        let rate = match rate {
            RateControl::Constant(rate) => (rate.rate().as_bps() / 1_000_000).to_string(),
            RateControl::Minstrel => "minstrel".to_owned(),
        };
        let frames = match scenario.links[index].device.map(|device| device.limit) {
            Some(Limit::Packets(packets)) => packets,
            _ => 1,
        };
        line(format!("radio {place} {rate} {} {error_rate} {frames}", snr.unwrap_or(NO_NOISE)));
    }
}

/// A signal-to-noise ratio at which noise destroys no frame of 54 Mbit/s: 60 dB.
const NO_NOISE: f64 = 1e6;
