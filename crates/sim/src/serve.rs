//! Servers and wires of links, from what the scenario says of them.

use std::sync::Arc;

use sojourn_aqm::{Rate, Rng, Time};
use sojourn_scenario::resolved::{Capacity, Link as LinkPlan, Resolved};

use crate::agenda::Slot;
use crate::bucket::TokenBucket;
use crate::impairment::Impairment;
use crate::link::Server;
use crate::opportunities::Opportunities;
use crate::staged::Staged;
use crate::transmitter::Transmitter;
use crate::wlan::medium::Medium;
use crate::wlan::radio::Radio;
use crate::world::Cell;

/// How a link sends; an engine that replays asks it what was used. `media` is the first alarm of the wireless LANs.
pub fn server(link: &LinkPlan, media: Slot) -> Server {
    let later = |steps: &[(Time, Rate)]| steps[1..].iter().rev().copied().collect();
    let (rate, changes, shaped) = match &link.capacity {
        Capacity::Trace(trace) => {
            let opportunities = Opportunities::new(Arc::clone(trace));
            return Server::Recorded { opportunities, in_service: None };
        }
        Capacity::Wireless { wlan, .. } => {
            return Server::Wireless(Box::new(Radio::new(media + wlan, link.device)));
        }
        Capacity::Constant(rate) => (*rate, Vec::new(), None),
        Capacity::Schedule(steps) => (steps[0].1, later(steps), None),
        Capacity::Bucket(bucket) => {
            (bucket.line, Vec::new(), Some((TokenBucket::new(bucket), bucket.rate)))
        }
    };
    match (shaped, link.device) {
        (None, None) => {
            Server::Steady { transmitter: Transmitter::new(rate), changes, in_service: None }
        }
        (shaped, device) => Server::Staged(Box::new(Staged::new(shaped, device, rate, changes))),
    }
}

/// What the wire of a link does to packets.
pub(crate) fn impairment(plan: &Resolved, link: &LinkPlan) -> Option<Impairment> {
    Impairment::behind(&link.name, plan.seed, link.loss, link.jitter)
}

/// The wireless LANs, with the links that are their transmitters. Random streams are named after the link.
pub(crate) fn cells(plan: &Resolved) -> Vec<Cell> {
    let cell = |(place, cell)| {
        let on_it = |link: &LinkPlan| matches!(link.capacity, Capacity::Wireless { wlan, .. } if wlan == place);
        let links: Vec<usize> = (0..plan.links.len()).filter(|&i| on_it(&plan.links[i])).collect();
        let stream = |station: usize, purpose: &str| {
            let name = &plan.links[links[station]].name;
            Rng::stream(plan.seed, &format!("{name}/{purpose}"), 0)
        };
        let medium = Medium::new(cell, links.len(), stream);
        Cell { medium, links, sent: Vec::new() }
    };
    plan.wlans.iter().enumerate().map(cell).collect()
}
