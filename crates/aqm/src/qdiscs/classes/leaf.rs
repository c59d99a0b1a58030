//! The queue of a leaf class.

use alloc::boxed::Box;

use crate::packet::{Backlog, Packet};
use crate::qdisc::{Departure, Qdisc, Sink};
use crate::rng::Rng;
use crate::time::Time;

/// A discipline whose due timers run, at the latest, when it is next used. A timer neither draws
/// nor drops, so this makes no difference; a host asks for a new timer only while the whole
/// scheduler is empty.
pub(super) struct Leaf<P>(pub(super) Box<dyn Qdisc<P>>);

impl<P: Packet> Leaf<P> {
    pub(super) fn enqueue(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        self.catch_up(now);
        self.0.enqueue(now, packet, rng, sink);
    }

    pub(super) fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        self.catch_up(now);
        self.0.dequeue(now, rng, sink)
    }

    /// Runs the timers that are due.
    pub(super) fn catch_up(&mut self, now: Time) {
        while let Some(due) = self.0.next_timer().filter(|&due| due <= now) {
            self.0.on_timer(due);
        }
    }
}

/// A leaf whose next packet may already have been taken (qdisc_peek_dequeued).
pub(super) struct PeekedLeaf<P> {
    pub(super) leaf: Leaf<P>,
    next: Option<Departure<P>>,
}

impl<P: Packet> PeekedLeaf<P> {
    pub(super) fn new(queue: Box<dyn Qdisc<P>>) -> PeekedLeaf<P> {
        PeekedLeaf { leaf: Leaf(queue), next: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.next.is_none() && self.leaf.0.is_empty()
    }

    pub(super) fn backlog(&self) -> Backlog {
        let Backlog { packets, bytes, .. } = self.leaf.0.backlog();
        let next = self.next.as_ref().map_or(0, |next| u64::from(next.packet.bytes()));
        let (packets, bytes) = (packets + u32::from(self.next.is_some()), bytes + next);
        Backlog { packets, bytes, link_bytes: bytes }
    }

    pub(super) fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        self.next.take().or_else(|| self.leaf.dequeue(now, rng, sink))
    }

    /// The size of the next packet; `None` if its AQM drops all packets or holds them back.
    pub(super) fn peek(&mut self, now: Time, rng: &mut Rng, sink: &mut dyn Sink<P>) -> Option<u32> {
        if self.next.is_none() {
            self.leaf.catch_up(now);
            if let Some(bytes) = self.leaf.0.peek() {
                return Some(bytes);
            }
            self.next = self.leaf.dequeue(now, rng, sink);
        }
        self.next.as_ref().map(|next| next.packet.bytes())
    }
}

/// The backlog of several leaves together.
pub(super) fn total(leaves: impl Iterator<Item = Backlog>) -> Backlog {
    leaves.fold(Backlog::EMPTY, |sum, one| {
        let bytes = sum.bytes + one.bytes;
        Backlog { packets: sum.packets + one.packets, bytes, link_bytes: bytes }
    })
}
