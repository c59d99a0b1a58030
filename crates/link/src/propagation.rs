//! When a packet comes out of a path with a fixed propagation delay and no loss.

use sojourn_aqm::{Rate, Span, Time};

use crate::SerialLink;

/// A propagation delay. The path may contain serial links that several flows share; as the delay is
/// the same for all packets, it does not matter where they are.
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

    /// The same with serial links of these rates, one after the other.
    pub fn with_links(self, rates: impl IntoIterator<Item = Rate>) -> Propagation {
        Propagation { links: rates.into_iter().map(SerialLink::new).collect(), ..self }
    }

    /// The propagation delay.
    #[inline]
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// Whether packets follow each other without serial links, so that one that enters later may
    /// start earlier.
    pub fn is_plain(&self) -> bool {
        self.links.is_empty()
    }

    /// Whether it contains more than one serial link.
    #[inline]
    pub fn has_several_links(&self) -> bool {
        self.links.len() > 1
    }

    /// A packet of `bytes` enters now: returns when it comes out. Calls come in the order of time.
    /// Most paths have one link at most, which takes no loop.
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
