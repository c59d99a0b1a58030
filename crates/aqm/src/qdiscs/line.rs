//! Packets in the order of their arrival, with their sizes added up: queues without a law.

use alloc::collections::VecDeque;

use crate::law::{Cause, Stage};
use crate::packet::{Backlog, Packet};
use crate::qdisc::{Departure, Sink};
use crate::time::Time;
use crate::units::Limit;

/// Packets in the order of their arrival, wherever they are kept.
pub(crate) trait Waiting {
    type Packet: Packet;

    fn packets(&self) -> u32;

    fn bytes(&self) -> u64;

    fn is_empty(&self) -> bool {
        self.packets() == 0
    }

    /// The packet at the head.
    fn head(&mut self) -> Option<&mut Departure<Self::Packet>>;

    /// Appends a packet.
    fn push(&mut self, enqueued: Time, packet: Self::Packet);

    /// Takes the head.
    fn pop(&mut self) -> Option<Departure<Self::Packet>>;
}

impl<W: Waiting> Waiting for &mut W {
    type Packet = W::Packet;

    fn packets(&self) -> u32 {
        (**self).packets()
    }

    fn bytes(&self) -> u64 {
        (**self).bytes()
    }

    fn head(&mut self) -> Option<&mut Departure<W::Packet>> {
        (**self).head()
    }

    fn push(&mut self, enqueued: Time, packet: W::Packet) {
        (**self).push(enqueued, packet);
    }

    fn pop(&mut self) -> Option<Departure<W::Packet>> {
        (**self).pop()
    }
}

/// A queue of its own: the packets, each with the time at which it was accepted.
#[derive(Debug)]
pub(crate) struct Line<P> {
    waiting: VecDeque<Departure<P>>,
    bytes: u64,
}

impl<P> Default for Line<P> {
    fn default() -> Self {
        Line { waiting: VecDeque::new(), bytes: 0 }
    }
}

impl<P: Packet> Waiting for Line<P> {
    type Packet = P;

    fn packets(&self) -> u32 {
        self.waiting.len() as u32
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn head(&mut self) -> Option<&mut Departure<P>> {
        self.waiting.front_mut()
    }

    fn push(&mut self, enqueued: Time, packet: P) {
        self.bytes += u64::from(packet.bytes());
        self.waiting.push_back(Departure { packet, enqueued });
    }

    fn pop(&mut self) -> Option<Departure<P>> {
        let departure = self.waiting.pop_front();
        if let Some(Departure { packet, .. }) = &departure {
            self.bytes -= u64::from(packet.bytes());
        }
        departure
    }
}

/// What waits in a whole discipline.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Total {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
}

impl Total {
    pub(crate) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    pub(crate) fn remove(&mut self, bytes: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
    }

    pub(crate) fn is_over(&self, limit: Limit) -> bool {
        match limit {
            Limit::Packets(n) => u64::from(self.packets) > n,
            Limit::Bytes(n) => self.bytes > n,
        }
    }

    /// Whether one more packet of that size breaks the limit.
    pub(crate) fn is_full_for(&self, bytes: u32, limit: Limit) -> bool {
        match limit {
            Limit::Packets(n) => u64::from(self.packets) >= n,
            Limit::Bytes(n) => self.bytes + u64::from(bytes) > n,
        }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets, bytes: self.bytes, link_bytes: self.bytes }
    }
}

/// Marks a packet that can be marked and tells the host, and when it had been accepted.
pub(crate) fn mark<P: Packet>(
    packet: &mut P,
    enqueued: Time,
    stage: Stage,
    cause: Cause,
    sink: &mut dyn Sink<P>,
) {
    debug_assert!(packet.ecn().can_mark(), "only what can be marked is marked");
    packet.set_ce();
    sink.marked(packet, enqueued, stage, cause);
}
