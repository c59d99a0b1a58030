//! The ways of the groups over links and wires.

use std::collections::{BTreeMap, BTreeSet};

use sojourn_aqm::{Rate, Span};
use sojourn_scenario::resolved::Resolved;

use super::links::radio;
use crate::agenda::{Agenda, Slot};
use crate::delay_line::ScheduledDelayLine;
use crate::network::{End, FirstLegs, Group, Leg};
use crate::uplink::Uplink;

/// Wires of a group beside those of the links: to the receiver, back, and from the last reverse
/// link.
pub(super) const WIRES_PER_GROUP: usize = 3;

/// The links behind which a way goes on to another, in their order. Only they have a wire of their
/// own, so that most worlds have few wires.
pub(super) fn links_with_onward_wires(plan: &Resolved) -> Vec<usize> {
    let ways = plan.flows.iter().flat_map(|group| [&group.path, &group.reverse]);
    let onward = ways.flat_map(|way| way.split_last().map_or(&[][..], |(_, before)| before));
    BTreeSet::from_iter(onward.copied()).into_iter().collect()
}

/// The groups of flows, with their ways and uplinks; their classes are places in `classes`. Groups
/// with the same first link, as far before it, share an uplink.
pub(super) fn groups(
    plan: &Resolved,
    classes: &[String],
    onward: &[usize],
    is_impaired: &dyn Fn(usize) -> bool,
) -> (Vec<Group>, Vec<Leg>, Vec<Uplink>) {
    let class_of: BTreeMap<&str, usize> =
        classes.iter().enumerate().map(|(place, class)| (class.as_str(), place)).collect();
    let mut legs = Vec::new();
    let (mut uplinks, mut uplink_from) = (Vec::new(), BTreeMap::new());
    let groups = plan.flows.iter().enumerate().map(|(place, group)| {
        let first_wire = onward.len() + WIRES_PER_GROUP * place;
        let mut add = |ways, exit| add_way((&mut legs, is_impaired), plan, ways, onward, exit);
        let forward = add([&group.path, &group.reverse], first_wire);
        let backward = add([&group.reverse, &group.path], first_wire + 2);
        let uplink = *uplink_from.entry((group.path[0], group.access_delay)).or_insert_with(|| {
            uplinks.push(Uplink::new(uplinks.len(), group.path[0]));
            uplinks.len() - 1
        });
        Group {
            class: *class_of.get(group.class.as_str()).expect("every class is listed"),
            first_legs: FirstLegs { forward, backward },
            uplink,
            back: first_wire + 1,
        }
    });
    (groups.collect(), legs, uplinks)
}

/// Adds a way over these links, the last of which sends on the wire `exit`; returns its beginning.
fn add_way(
    (legs, is_impaired): (&mut Vec<Leg>, &dyn Fn(usize) -> bool),
    plan: &Resolved,
    [links, other_way]: [&[usize]; 2],
    onward: &[usize],
    exit: usize,
) -> u32 {
    let first = u32::try_from(legs.len()).expect("all ways together have fewer than 2^32 links");
    for (place, &link) in links.iter().enumerate() {
        let is_last = place + 1 == links.len();
        let own = || onward.binary_search(&link).expect("a way goes on behind it");
        let wire = if is_last { exit } else { own() };
        let radio = radio(plan, link, other_way);
        let station = plan.station_of(link, other_way).map(|station| station as u32);
        let is_impaired = is_impaired(link);
        legs.push(Leg { link: link as u32, wire: wire as u32, radio, station, is_impaired });
    }
    first
}

/// The wires of the links, then those of each group, as [`WIRES_PER_GROUP`] says. Access links that
/// a group shares are serial links on its wires.
pub(super) fn wires(
    plan: &Resolved,
    onward: &[usize],
    (first, agenda): (Slot, &Agenda),
) -> Vec<(ScheduledDelayLine, End)> {
    let mut wires: Vec<(Span, End, Vec<Rate>)> =
        onward.iter().map(|&link| (plan.links[link].delay, End::Link, Vec::new())).collect();
    for group in &plan.flows {
        let delay_of = |links: &[usize]| links.last().map_or(Span::ZERO, |&l| plan.links[l].delay);
        let rates = |ends: [Option<Rate>; 2]| ends.into_iter().flatten().collect::<Vec<_>>();
        let (near, far) = (group.sender_downlink, group.receiver_rate);
        let (back, back_rates) = match group.reverse.is_empty() {
            true => (End::Sender, rates([far, near])),
            false => (End::Link, rates([far, None])),
        };
        let to_receiver = delay_of(&group.path) + group.egress_delay;
        let to_sender = delay_of(&group.reverse) + group.return_egress_delay;
        wires.push((to_receiver, End::Receiver, rates([far, None])));
        wires.push((group.return_delay, back, back_rates));
        wires.push((to_sender, End::Sender, rates([near, None])));
    }
    let wire = |(i, (delay, end, rates))| {
        (ScheduledDelayLine::new(delay, agenda.alarm(first + i)).with_links(rates), end)
    };
    wires.into_iter().enumerate().map(wire).collect()
}
