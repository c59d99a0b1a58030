//! The routes of the groups over links and wires.

use std::collections::{BTreeMap, BTreeSet};

use sojourn_aqm::{Rate, Span};
use sojourn_scenario::resolved::Resolved;

use super::links::radio;
use crate::alarms::Slot;
use crate::path::{Agenda, End, Hop, Route, Uplink, Wire};

/// A group's own wires, in addition to those of the links: to the receiver, back, and from the last
/// reverse link.
pub(super) const WIRES_PER_GROUP: usize = 3;

/// The links from which a route continues to another link, in order. Only these have a wire in the
/// table of links, so most simulations have few wires.
pub(super) fn links_with_onward_wires(plan: &Resolved) -> Vec<usize> {
    let routes = plan.flows.iter().flat_map(|group| [&group.path, &group.reverse]);
    let onward = routes.flat_map(|links| links.split_last().map_or(&[][..], |(_, before)| before));
    BTreeSet::from_iter(onward.copied()).into_iter().collect()
}

/// The routes of the groups, their hops, and the uplinks. Groups with the same first link and the
/// same delay to it share an uplink, and in the other direction the wire on which receivers reply,
/// unless a group has a link of its own there.
pub(super) fn routes(
    plan: &Resolved,
    onward: &[usize],
    is_impaired: &dyn Fn(usize) -> bool,
) -> (Vec<Route>, Vec<Hop>, Vec<Uplink>) {
    let mut hops = Vec::new();
    let (mut uplinks, mut uplink_from) = (Vec::new(), BTreeMap::new());
    let mut back_from = BTreeMap::new();
    let routes = plan.flows.iter().enumerate().map(|(place, group)| {
        let first_wire = onward.len() + WIRES_PER_GROUP * place;
        let mut add = |links, exit| add_hops((&mut hops, is_impaired), plan, links, onward, exit);
        let forward = add([&group.path, &group.reverse], first_wire);
        let backward = add([&group.reverse, &group.path], first_wire + 2);
        let uplink = *uplink_from.entry((group.path[0], group.access_delay)).or_insert_with(|| {
            uplinks.push(Uplink::new(uplinks.len(), group.path[0]));
            uplinks.len() - 1
        });
        let own = first_wire + 1;
        let back = match (group.reverse.first(), group.receiver_rate) {
            (Some(&link), None) => *back_from.entry((link, group.return_delay)).or_insert(own),
            _ => own,
        };
        Route { forward, backward, uplink, back }
    });
    (routes.collect(), hops, uplinks)
}

/// Adds the hops over these links, the last of which sends on the wire `exit`; returns the index of
/// the first hop.
fn add_hops(
    (hops, is_impaired): (&mut Vec<Hop>, &dyn Fn(usize) -> bool),
    plan: &Resolved,
    [links, reverse]: [&[usize]; 2],
    onward: &[usize],
    exit: usize,
) -> u32 {
    let first = u32::try_from(hops.len()).expect("all routes together have fewer than 2^32 hops");
    for (place, &link) in links.iter().enumerate() {
        let is_last = place + 1 == links.len();
        let next = || onward.binary_search(&link).expect("a route goes on behind it");
        let wire = if is_last { exit } else { next() };
        let radio = radio(plan, link, reverse);
        let station = plan.station_of(link, reverse).map(|station| station as u32);
        let is_impaired = is_impaired(link);
        hops.push(Hop { link: link as u32, wire: wire as u32, radio, station, is_impaired });
    }
    first
}

/// The wires of the links, then those of each group in the order of [`WIRES_PER_GROUP`]. Access
/// links shared by a group are serial links on the group's wires.
pub(super) fn wires(
    plan: &Resolved,
    onward: &[usize],
    (first, agenda): (Slot, &Agenda),
) -> Vec<(Wire, End)> {
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
        (Wire::new(delay, agenda.alarm(first + i)).with_links(rates), end)
    };
    wires.into_iter().enumerate().map(wire).collect()
}
