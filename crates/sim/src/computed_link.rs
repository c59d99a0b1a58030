//! A link whose departures follow from its arrivals: a first-in, first-out queue at a constant rate
//! that drops what finds no room. When a packet will have left is known as soon as it arrives, so
//! that the link needs no events where its arrivals are known in their order.

use sojourn_aqm::{Backlog, Cause, Departure, Limit, Rate, Span, Stage, Time};
use sojourn_link::Transmitter;
use sojourn_measure::Probe;

use crate::packet::Packet;
use crate::ring::Ring;

/// Such a link.
#[derive(Debug)]
pub(crate) struct ComputedLink {
    transmitter: Transmitter,
    limit: Limit,
    /// When everything that has arrived will have left.
    free_at: Time,
    waiting: Ring<Waiting>,
    waiting_bytes: u64,
}

/// A packet whose transmission starts later than it arrived, and is reported then.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    start: Time,
    span: Span,
    departure: Departure<Packet>,
}

impl ComputedLink {
    /// An idle link.
    pub(crate) fn new(rate: Rate, limit: Limit) -> ComputedLink {
        ComputedLink {
            transmitter: Transmitter::new(rate),
            limit,
            free_at: Time::ZERO,
            waiting: Ring::default(),
            waiting_bytes: 0,
        }
    }

    /// A packet arrives at the link, which is at a place of the probe. Returns when it will have
    /// left; none if it is dropped.
    #[inline(always)]
    pub(crate) fn pass(
        &mut self,
        now: Time,
        packet: &Packet,
        (probe, place): (&mut Probe, usize),
    ) -> Option<Time> {
        if !self.waiting.is_empty() {
            self.settle(now, (&mut *probe, place));
        }
        let is_full = self.is_full_for(packet.link_bytes);
        if self.free_at <= now && !is_full {
            let span = self.transmitter.next(packet.link_bytes);
            probe.at_link::<false>(now, place).passed(packet, span);
            self.free_at = now + span;
            return Some(self.free_at);
        }
        self.wait(now, packet, (probe, place))
    }

    /// A packet that has to wait, or finds no room.
    #[inline(never)]
    fn wait(
        &mut self,
        now: Time,
        packet: &Packet,
        (probe, place): (&mut Probe, usize),
    ) -> Option<Time> {
        let mut probe = probe.at_link::<false>(now, place);
        probe.arrived();
        if self.is_full_for(packet.link_bytes) {
            probe.dropped(packet, now, Stage::Enqueue, Cause::Overflow);
            return None;
        }
        let span = self.transmitter.next(packet.link_bytes);
        let departure = Departure { packet: *packet, enqueued: now };
        self.waiting_bytes += u64::from(packet.link_bytes);
        self.waiting.push_back(Waiting { start: self.free_at, span, departure });
        self.free_at += span;
        Some(self.free_at)
    }

    /// Reports what has started by now.
    pub(crate) fn settle(&mut self, now: Time, (probe, place): (&mut Probe, usize)) {
        while self.waiting.front().is_some_and(|first| first.start <= now) {
            let Some(&mut first) = self.waiting.pop_front() else { return };
            let Waiting { start, span, departure } = first;
            let Departure { packet, enqueued } = departure;
            self.waiting_bytes -= u64::from(packet.link_bytes);
            let mut probe = probe.at_link::<false>(start, place);
            probe.departed(&packet, enqueued);
            probe.busy(packet.link_bytes, span);
        }
    }

    /// As `sojourn_aqm::qdiscs::fifo::Fifo` with a law that does nothing.
    fn is_full_for(&self, bytes: u32) -> bool {
        match self.limit {
            Limit::Packets(n) => self.waiting.len() as u64 >= n,
            Limit::Bytes(n) => self.waiting_bytes + u64::from(bytes) > n,
        }
    }

    /// What waits.
    pub(crate) fn backlog(&self) -> Backlog {
        let bytes = self.waiting_bytes;
        Backlog { packets: self.waiting.len() as u32, bytes, link_bytes: bytes }
    }

    /// Empties the queue at the end of a run.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(Packet, Time)) {
        while let Some(&mut Waiting { departure, .. }) = self.waiting.pop_front() {
            take(departure.packet, departure.enqueued);
        }
        self.waiting_bytes = 0;
    }
}
