//! A sender's access link. Nothing else uses it, so its queue is computed, without events: a packet
//! starts when the one before it has left.

use sojourn_aqm::{Span, Time};
use sojourn_link::SerialLink;

use super::route::Route;
use super::wire::Wire;

/// The access link of one flow.
#[derive(Debug)]
pub(crate) struct AccessLink {
    link: SerialLink,
    delay: Span,
    /// Where the route of its packets begins, so that they need no look at the table of routes.
    pub(super) forward: u32,
    pub(super) uplink: u32,
    /// What would overtake others on the uplink stays here until it reaches the first queue.
    pub(super) wire: Wire,
}

impl AccessLink {
    /// An idle access link at the beginning of a route; `wire` has no delay.
    pub(super) fn new(link: SerialLink, delay: Span, route: &Route, wire: Wire) -> AccessLink {
        debug_assert_eq!(wire.delay(), Span::ZERO);
        let Route { forward, uplink, .. } = *route;
        AccessLink { link, delay, forward, uplink: uplink as u32, wire }
    }

    /// When a packet of `bytes` that is sent now reaches the first queue.
    #[inline]
    pub(super) fn enter(&mut self, now: Time, bytes: u32) -> Time {
        self.link.pass(now, bytes) + self.delay
    }
}
