//! A sender's access link. Nothing else uses it, so its queue is computed, without events: a packet
//! starts when the one before it has left.

use sojourn_aqm::{Span, Time};
use sojourn_link::SerialLink;

use super::wire::Wire;

/// The access link of one flow.
#[derive(Debug)]
pub(crate) struct AccessLink {
    link: SerialLink,
    delay: Span,
    /// What would overtake others on the uplink stays here until it reaches the first queue.
    pub(super) wire: Wire,
}

impl AccessLink {
    /// An idle access link; `wire` has no delay.
    pub(crate) fn new(link: SerialLink, delay: Span, wire: Wire) -> AccessLink {
        debug_assert_eq!(wire.delay(), Span::ZERO);
        AccessLink { link, delay, wire }
    }

    /// When a packet of `bytes` that is sent now reaches the first queue.
    #[inline]
    pub(super) fn enter(&mut self, now: Time, bytes: u32) -> Time {
        self.link.pass(now, bytes) + self.delay
    }
}
