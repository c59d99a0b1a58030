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

/// The backlog of several leaves.
pub(super) fn total<'a, P: Packet + 'a>(leaves: impl Iterator<Item = &'a Leaf<P>>) -> Backlog {
    leaves.fold(Backlog::EMPTY, |sum, leaf| {
        let one = leaf.0.backlog();
        let bytes = sum.bytes + one.bytes;
        Backlog { packets: sum.packets + one.packets, bytes, link_bytes: bytes }
    })
}
