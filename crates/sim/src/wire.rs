//! A wire: propagation. Everything on it takes the same time, so it is first in, first out, and one
//! alarm for its head is enough.

use std::collections::VecDeque;

use sojourn_aqm::{Span, Time};

use crate::agenda::{Agenda, Slot};
use crate::packet::Packet;

/// Packets in flight over one distance.
#[derive(Debug)]
pub struct Wire {
    delay: Span,
    in_flight: VecDeque<(Time, Packet)>,
    slot: Slot,
}

impl Wire {
    /// An empty wire that rings at `slot`.
    pub fn new(delay: Span, slot: Slot) -> Wire {
        Wire { delay, in_flight: VecDeque::new(), slot }
    }

    /// Puts a packet on the wire now.
    #[inline]
    pub fn push(&mut self, now: Time, packet: Packet, agenda: &mut Agenda) {
        self.push_at(now + self.delay, packet, agenda);
    }

    /// Puts a packet on the wire that arrives at `arrival`, not before any other on it.
    #[inline]
    pub fn push_at(&mut self, arrival: Time, packet: Packet, agenda: &mut Agenda) {
        debug_assert!(self.in_flight.back().is_none_or(|&(last, _)| last <= arrival));
        if self.in_flight.is_empty() {
            agenda.set(self.slot, arrival);
        }
        self.in_flight.push_back((arrival, packet));
    }

    /// Takes the packet that arrives now and sets the alarm for the next.
    #[inline]
    pub fn pop(&mut self, now: Time, agenda: &mut Agenda) -> Packet {
        let (arrival, packet) = self.in_flight.pop_front().expect("an alarm rings for a packet");
        debug_assert_eq!(arrival, now, "a wire delivers at the time it announced");
        let next = self.in_flight.front().map_or(Time::NEVER, |&(time, _)| time);
        agenda.set(self.slot, next);
        packet
    }

    /// The delay of the wire.
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// How many packets are on it.
    pub fn len(&self) -> usize {
        self.in_flight.len()
    }

    /// Whether nothing is on it.
    pub fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }
}
