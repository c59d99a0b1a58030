//! A sender's access link. Only one flow uses it, so its queue is computed without events: a packet
//! starts when the previous one has left.

use sojourn_aqm::{Span, Time};
use sojourn_link::SerialLink;

use super::route::Route;
use super::wire::Wire;

/// The access link of one flow.
#[derive(Debug)]
pub(crate) struct AccessLink {
    link: SerialLink,
    delay: Span,
    /// Where the route of its packets begins; saves a lookup in the table of routes.
    pub(super) forward: u32,
    pub(super) uplink: u32,
    /// Holds packets that would overtake others on the uplink, until they reach the first queue.
    pub(super) wire: Wire,
}

impl AccessLink {
    /// An idle access link at the beginning of a route; `wire` has no delay.
    pub(super) fn new(link: SerialLink, delay: Span, route: &Route, wire: Wire) -> AccessLink {
        debug_assert_eq!(wire.delay(), Span::ZERO);
        let Route { forward, uplink, .. } = *route;
        AccessLink { link, delay, forward, uplink: uplink as u32, wire }
    }

    /// When a packet of `bytes` sent now reaches the first queue.
    #[inline]
    pub(super) fn enter(&mut self, now: Time, bytes: u32) -> Time {
        self.link.pass(now, bytes) + self.delay
    }
}
