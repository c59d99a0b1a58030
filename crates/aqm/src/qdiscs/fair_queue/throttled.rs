//! Flows that wait for their time, earliest first; at equal times, in order of arrival.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use crate::time::Time;

/// The waiting flows. A flow that left early keeps its entry, whose ticket is then outdated.
#[derive(Debug, Default)]
pub(super) struct Throttled {
    waiting: BinaryHeap<Reverse<(Time, u64, u32)>>,
    tickets: u64,
    /// The number of waiting flows.
    pub(super) count: usize,
    /// When the first flow is due; `None` without waiting flows.
    pub(super) earliest: Option<Time>,
}

impl Throttled {
    /// Adds a flow, which gets this ticket.
    pub(super) fn add(&mut self, index: u32, at: Time) -> u64 {
        self.tickets += 1;
        self.waiting.push(Reverse((at, self.tickets, index)));
        self.count += 1;
        self.earliest = Some(self.earliest.map_or(at, |earliest| earliest.min(at)));
        self.tickets
    }

    /// Records that a flow leaves early.
    pub(super) fn leave(&mut self) {
        self.count -= 1;
    }

    /// The first flow, and when it is due. `has` says whether a flow still has a ticket.
    pub(super) fn first(&mut self, has: impl Fn(u32, u64) -> bool) -> Option<(Time, u32)> {
        loop {
            let &Reverse((at, ticket, index)) = self.waiting.peek()?;
            if has(index, ticket) {
                return Some((at, index));
            }
            self.waiting.pop();
        }
    }

    /// Takes the first flow.
    pub(super) fn take_first(&mut self) {
        self.waiting.pop();
        self.count -= 1;
    }
}
