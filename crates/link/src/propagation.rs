//! When a packet leaves a path with a fixed propagation delay and no loss.

use sojourn_aqm::{Rate, Span, Time};

use crate::SerialLink;

/// A propagation delay. The path may contain serial links that several flows share; because the
/// delay is the same for all packets, their positions do not matter.
#[derive(Debug)]
pub struct Propagation {
    delay: Span,
    links: Vec<SerialLink>,
}

impl Propagation {
    /// A path without links.
    pub fn new(delay: Span) -> Propagation {
        Propagation { delay, links: Vec::new() }
    }

    /// Adds serial links of these rates, one after the other.
    pub fn with_links(self, rates: impl IntoIterator<Item = Rate>) -> Propagation {
        Propagation { links: rates.into_iter().map(SerialLink::new).collect(), ..self }
    }

    /// The propagation delay.
    #[inline]
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// Whether the path has no serial links, so a packet that enters later may still start earlier.
    pub fn is_plain(&self) -> bool {
        self.links.is_empty()
    }

    /// Whether it contains more than one serial link.
    #[inline]
    pub fn has_several_links(&self) -> bool {
        self.links.len() > 1
    }

    /// Handles a packet of `bytes` that enters now; returns when it leaves. Calls must be in order
    /// of time. Most paths have at most one link, which needs no loop.
    #[inline]
    pub fn enter(&mut self, now: Time, bytes: u32) -> Time {
        let passed = match &mut self.links[..] {
            [] => now,
            [link] => link.pass(now, bytes),
            links => pass_all(links, now, bytes),
        };
        passed + self.delay
    }
}

/// When a packet has passed all these links.
#[inline(never)]
fn pass_all(links: &mut [SerialLink], now: Time, bytes: u32) -> Time {
    links.iter_mut().fold(now, |at, link| link.pass(at, bytes))
}
