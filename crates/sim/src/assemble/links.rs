//! Builds links, and the wires behind them, from the scenario.

use std::collections::BTreeSet;

use sojourn_aqm::{Env, Qdisc, Rate, Rng, registry};
use sojourn_link::{Impairment, Link, Policer, Server};
use sojourn_scenario::resolved::{Capacity, Link as LinkPlan, Radio, Resolved};

use crate::SimError;
use crate::alarms::Slot;
use crate::packet::Packet;
use crate::path::{Agenda, LinkAlarms, ScheduledLink, Service, WirelessLan};
use crate::wlan::airtime::{AirtimeQueues, StationQueue};
use crate::wlan::medium::Medium;

/// Builds one link, with the slots of its server and its discipline.
///
/// # Errors
/// [`SimError::Invalid`] for an AQM that cannot be built.
pub(crate) fn link(
    plan: &Resolved,
    place: usize,
    (server_slot, timer_slot): (Slot, Slot),
    service: Service,
    agenda: &mut Agenda,
) -> Result<ScheduledLink, SimError> {
    let link = &plan.links[place];
    let queue = discipline(plan, place, link.capacity.initial_rate())?;
    let rng = Rng::stream(plan.seed, "queue", place as u64);
    let policer = link.policer.as_ref().map(Policer::new);
    let built = Link::new(queue, rng, Server::of_plan(link)).policed(policer);
    let [service_alarm, timer] = [server_slot, timer_slot].map(|slot| agenda.alarm(slot));
    let alarms = LinkAlarms { service: service_alarm, timer };
    let is_plain = link.packing.is_none() && !plan.has_super_packets();
    let framing = (link.framing_bytes, (!is_plain).then_some(link.packing));
    Ok(ScheduledLink::new(built, framing, alarms, service, agenda))
}

/// Builds the queue of a link: one discipline, or one per station.
///
/// # Errors
/// [`SimError::Invalid`] for an AQM that cannot be built.
pub(crate) fn discipline(
    plan: &Resolved,
    place: usize,
    rate: Rate,
) -> Result<Box<dyn Qdisc<Packet>>, SimError> {
    if !plan.links[place].capacity.serves_by_airtime() {
        return queue(plan, place, rate);
    }
    let peers: Vec<Option<usize>> = hops(plan)
        .map(|(link, reverse)| (link == place).then(|| plan.station_of(link, reverse))?)
        .collect();
    let links = BTreeSet::from_iter(peers.iter().flatten().copied());
    let place_of = |peer: usize| links.range(..peer).count();
    let station_of_hop = peers.iter().map(|&peer| peer.map(place_of)).collect();
    let station = |&link: &usize| Ok(StationQueue::new(link, queue(plan, place, rate)?));
    let stations = links.iter().map(station).collect::<Result<_, SimError>>()?;
    Ok(Box::new(AirtimeQueues::new(station_of_hop, stations)))
}

/// The links of all hops, in the order of the path's table of hops, each with the links of the
/// reverse direction.
fn hops(plan: &Resolved) -> impl Iterator<Item = (usize, &[usize])> {
    let directions = plan.flows.iter().flat_map(|group| {
        let [path, reverse] = [&group.path[..], &group.reverse];
        [(path, reverse), (reverse, path)]
    });
    directions.flat_map(|(links, reverse)| links.iter().map(move |&link| (link, reverse)))
}

/// Builds the discipline of a link's queue for the link's current rate. The queue is installed
/// before time zero (fact aqm-3).
fn queue(plan: &Resolved, place: usize, rate: Rate) -> Result<Box<dyn Qdisc<Packet>>, SimError> {
    let link = &plan.links[place];
    let env = Env {
        limit: link.limit,
        mtu_bytes: link.queue_mtu_bytes(),
        rate: Some(rate),
        salt: Rng::stream(plan.seed, "hash", place as u64).next_u64(),
    };
    let make = if plan.record.signals { registry::build_watched } else { registry::build };
    sojourn_link::discipline(link, &env, make).map_err(|error| {
        SimError::invalid(&format!("links.{}.queue", link.name), error.to_string())
    })
}

/// Loss, jitter and bleaching behind a link.
pub(super) fn impairment(plan: &Resolved, link: &LinkPlan) -> Option<Impairment> {
    Impairment::of_plan(link, plan.seed)
}

/// The wireless LANs, with the links that transmit on them. Random streams are named after the
/// links.
pub(super) fn wireless_lans(plan: &Resolved) -> Vec<WirelessLan> {
    let lan = |(place, cell)| {
        let links = (0..plan.links.len()).filter(|&i| is_on(&plan.links[i], place));
        let links: Vec<usize> = links.collect();
        let stream = |station: usize, purpose: &str| {
            let name = &plan.links[links[station]].name;
            Rng::stream(plan.seed, &format!("{name}/{purpose}"), 0)
        };
        let own: Vec<Radio> = links.iter().filter_map(|&i| own_radio(&plan.links[i])).collect();
        let medium = Medium::new(cell, &own, links.len(), stream);
        let fair = |&i: &usize| plan.links[i].capacity.serves_by_airtime();
        let by_airtime = links.iter().copied().filter(fair).collect();
        WirelessLan { medium, links, by_airtime, sent: Vec::new() }
    };
    plan.wlans.iter().enumerate().map(lan).collect()
}

/// Index, in its wireless LAN, of the radio that determines how a hop's frames are sent and lost:
/// the sending station's, else that of the station sending in the other direction, else the LAN's.
pub(super) fn radio(plan: &Resolved, link: usize, reverse: &[usize]) -> u32 {
    let Some(wlan) = plan.links[link].capacity.wireless_lan() else { return 0 };
    let has_own = |i: &usize| is_on(&plan.links[*i], wlan) && own_radio(&plan.links[*i]).is_some();
    let named = [link].into_iter().chain(reverse.iter().copied()).find(has_own);
    let place = |named: usize| (0..=named).filter(has_own).count();
    named.map_or(0, |named| place(named) as u32)
}

/// The radio that a transmitter declares for its own frames.
fn own_radio(link: &LinkPlan) -> Option<Radio> {
    match link.capacity {
        Capacity::Wireless { radio, .. } => radio,
        _ => None,
    }
}

/// Whether a link transmits on the wireless LAN with this index.
fn is_on(link: &LinkPlan, place: usize) -> bool {
    link.capacity.wireless_lan() == Some(place)
}
