//! Wires: propagation without loss. First in, first out, so only the head needs an alarm. A wire may end
//! in access links that a group shares: lines of a rate, whose queues are arithmetic.

use std::collections::VecDeque;

use sojourn_aqm::{Rate, Span, Time};

use crate::agenda::{Agenda, Slot};
use crate::packet::Packet;
use crate::transmitter::Transmitter;

/// Packets in flight over one distance.
#[derive(Debug)]
pub struct Wire {
    delay: Span,
    lines: Vec<Line>,
    in_flight: VecDeque<(Time, Packet)>,
    slot: Slot,
}

/// A link that never drops and on which nothing is decided: a packet starts when the one before has left.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    transmitter: Transmitter,
    free_at: Time,
}

impl Line {
    /// An idle line.
    pub fn new(rate: Rate) -> Line {
        Line { transmitter: Transmitter::new(rate), free_at: Time::ZERO }
    }

    /// When a packet that comes now has left.
    #[inline]
    pub fn pass(&mut self, now: Time, bytes: u32) -> Time {
        self.free_at = self.free_at.max(now) + self.transmitter.next(bytes);
        self.free_at
    }
}

impl Wire {
    /// An empty wire that rings at `slot`.
    pub fn new(delay: Span, slot: Slot) -> Wire {
        Wire { delay, lines: Vec::new(), in_flight: VecDeque::new(), slot }
    }

    /// The same with lines, one after the other. As the delay is the same for all packets it does not
    /// matter where on the way the lines are.
    pub fn with_lines(self, rates: impl IntoIterator<Item = Rate>) -> Wire {
        Wire { lines: rates.into_iter().map(Line::new).collect(), ..self }
    }

    /// Puts a packet on the wire now.
    #[inline]
    pub fn push(&mut self, now: Time, packet: Packet, agenda: &mut Agenda) {
        let through = self.lines.iter_mut().fold(now, |at, line| line.pass(at, packet.ip_bytes));
        self.push_at(through + self.delay, packet, agenda);
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

    /// Puts a packet on the wire at `start`, which may be in the future: it may overtake others.
    pub fn insert(&mut self, start: Time, packet: Packet, agenda: &mut Agenda) {
        debug_assert!(self.lines.is_empty(), "a line serves in the order of arrival");
        let arrival = start + self.delay;
        let behind = self.in_flight.iter().rev().take_while(|&&(at, _)| at > arrival).count();
        let place = self.in_flight.len() - behind;
        self.in_flight.insert(place, (arrival, packet));
        if place == 0 {
            agenda.set(self.slot, arrival);
        }
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
