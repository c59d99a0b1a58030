//! Servers and wires of links, from what the scenario says of them.

use std::sync::Arc;

use sojourn_aqm::{Rate, Rng, Time};
use sojourn_scenario::resolved::{Capacity, Link as LinkPlan, Resolved};

use crate::bucket::TokenBucket;
use crate::impairment::Impairment;
use crate::link::Server;
use crate::opportunities::Opportunities;
use crate::staged::Staged;
use crate::transmitter::Transmitter;

/// How a link sends.
pub(crate) fn server(link: &LinkPlan) -> Server {
    let later = |steps: &[(Time, Rate)]| steps[1..].iter().rev().copied().collect();
    let (rate, changes, shaped) = match &link.capacity {
        Capacity::Trace(trace) => {
            let opportunities = Opportunities::new(Arc::clone(trace));
            return Server::Recorded { opportunities, in_service: None };
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

/// What the wire of a link does to packets. Its random streams are named after the link.
pub(crate) fn impairment(plan: &Resolved, link: &LinkPlan) -> Option<Impairment> {
    let stream = |purpose: &str| Rng::stream(plan.seed, &format!("{}/{purpose}", link.name), 0);
    Impairment::new(link.loss, link.jitter, stream)
}
