//! A wire: the propagation delay behind a link or before the first one. Packets arrive in the order
//! in which they entered, unless the wire reorders them, so only the next needs an alarm.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sojourn_aqm::{Rate, Span, Time};
use sojourn_link::Propagation;

use super::agenda::Agenda;
use super::link::LateServer;
use crate::alarms::Alarm;
use crate::packet::Packet;
use crate::ring::Ring;

/// The packets of a reordering wire, except the next to arrive. Insertion and removal take
/// logarithmic time, and move only references to packets.
#[derive(Debug, Default)]
struct Reordered {
    later: BinaryHeap<Reverse<Later>>,
    /// The packets of `later`, and unused slots for more.
    packets: Vec<Packet>,
    unused: Vec<usize>,
    /// How many packets have entered the wire.
    entered: u64,
    /// The number of the packet that arrives next.
    next: u64,
}

/// A packet on a reordering wire. Packets are numbered in the order in which they entered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Later {
    arrival: Time,
    number: u64,
    /// The index of the packet.
    place: usize,
}

impl Reordered {
    fn push(&mut self, arrival: Time, number: u64, packet: &Packet) {
        let place = self.unused.pop().unwrap_or(self.packets.len());
        match self.packets.get_mut(place) {
            Some(unused) => *unused = *packet,
            None => self.packets.push(*packet),
        }
        self.later.push(Reverse(Later { arrival, number, place }));
    }

    fn pop(&mut self) -> Option<Later> {
        let Reverse(next) = self.later.pop()?;
        self.unused.push(next.place);
        Some(next)
    }
}

/// Packets in flight over one distance, in order of arrival.
#[derive(Debug)]
pub(crate) struct Wire {
    propagation: Propagation,
    /// Packets with their arrival times; only the next one if the wire reorders.
    pub(super) in_flight: Ring<(Time, Packet)>,
    /// The other packets of a reordering wire.
    reordered: Option<Box<Reordered>>,
    alarm: Alarm,
    /// The server of the link at its end, if that link pulls packets; otherwise an alarm is set for
    /// the next arrival.
    feeds: Option<LateServer>,
}

impl Wire {
    /// An empty wire with its alarm.
    pub(crate) fn new(delay: Span, alarm: Alarm) -> Wire {
        let propagation = Propagation::new(delay);
        Wire { propagation, in_flight: Ring::default(), reordered: None, alarm, feeds: None }
    }

    /// Adds access links that several flows share, in series.
    pub(crate) fn with_links(self, rates: impl IntoIterator<Item = Rate>) -> Wire {
        Wire { propagation: self.propagation.with_links(rates), ..self }
    }

    /// Lets a link pull packets from the wire.
    pub(crate) fn feeding(&mut self, server: Option<LateServer>) {
        self.feeds = server;
    }

    /// Appends a packet now. The rare case of serial links is out of line, so that the hot caller
    /// need not spill registers.
    #[inline(always)]
    pub(crate) fn push(&mut self, now: Time, packet: &Packet, agenda: &mut Agenda) {
        if self.propagation.has_several_links() {
            return self.push_over_links(now, packet, agenda);
        }
        let arrival = self.enter(now, packet.ip_bytes);
        self.push_at(arrival, packet, agenda);
    }

    #[inline(never)]
    fn push_over_links(&mut self, now: Time, packet: &Packet, agenda: &mut Agenda) {
        let arrival = self.enter(now, packet.ip_bytes);
        self.push_any(arrival, packet, agenda);
    }

    /// Appends a packet that arrives at `arrival`, no earlier than any other. While packets are in
    /// flight, the usual case, no call is needed and the caller need not spill registers.
    #[inline(always)]
    pub(crate) fn push_at(&mut self, arrival: Time, packet: &Packet, agenda: &mut Agenda) {
        debug_assert!(self.in_flight.back().is_none_or(|&(last, _)| last <= arrival));
        if !self.in_flight.push_behind((arrival, *packet)) {
            self.push_any(arrival, packet, agenda);
        }
    }

    /// [`Wire::push_at`], out of line.
    #[inline(never)]
    pub(crate) fn push_any(&mut self, arrival: Time, packet: &Packet, agenda: &mut Agenda) {
        let is_next = self.in_flight.is_empty();
        self.in_flight.push_back_made(|| (arrival, *packet));
        self.schedule(is_next, agenda);
    }

    /// Inserts a packet that enters at `start`, which may be in the future; the packet may overtake
    /// others. Packets with the same arrival time arrive in the order in which they were inserted.
    pub(crate) fn insert(&mut self, start: Time, packet: &Packet, agenda: &mut Agenda) {
        debug_assert!(self.propagation.is_plain(), "a serial link serves in the order of arrival");
        debug_assert!(self.feeds.is_none(), "a link pulls packets in the order of their entry");
        let arrival = start + self.propagation.delay();
        let reordered = self.reordered.get_or_insert_default();
        let number = reordered.entered;
        reordered.entered += 1;
        if let Some((first, next)) = self.in_flight.front() {
            if (*first, reordered.next) < (arrival, number) {
                return reordered.push(arrival, number, packet);
            }
            reordered.push(*first, reordered.next, next);
            self.in_flight.pop_front_before(|_| ());
        }
        reordered.next = number;
        self.in_flight.push_back((arrival, *packet));
        self.schedule(true, agenda);
    }

    /// Moves the next packet of a reordering wire into the ring, whose only packet has arrived.
    #[inline(never)]
    fn take_from_later(&mut self) -> Time {
        let Some(reordered) = &mut self.reordered else { return Time::NEVER };
        let Some(Later { arrival, number, place }) = reordered.pop() else { return Time::NEVER };
        reordered.next = number;
        self.in_flight.push_back((arrival, reordered.packets[place]));
        arrival
    }

    #[inline]
    fn schedule(&self, is_next: bool, agenda: &mut Agenda) {
        if is_next {
            match self.feeds {
                Some(server) => server.expect(self.next_arrival(), agenda),
                None => agenda.set(self.alarm, self.next_arrival()),
            }
        }
    }

    /// When the next packet arrives; `NEVER` if no packet is in flight.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Time {
        self.in_flight.front().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// Takes the packet that arrives now and sets the alarm for the next. The packet stays in place
    /// until another enters.
    #[inline(always)]
    pub(crate) fn pop(&mut self, now: Time, agenda: &mut Agenda) -> &Packet {
        let taken = self.in_flight.pop_front_before(|&(next_arrival, _)| next_arrival);
        let ((arrival, _), next) = taken.expect("the alarm is set for a packet");
        debug_assert_eq!(*arrival, now, "a wire delivers at the time it announced");
        let next = next.unwrap_or_else(|| self.take_from_later());
        agenda.set_due(self.alarm, next);
        &self.in_flight.last_taken().expect("one has arrived").1
    }

    /// Sends a packet of `bytes`; returns its arrival time.
    #[inline]
    fn enter(&mut self, now: Time, bytes: u32) -> Time {
        self.propagation.enter(now, bytes)
    }

    /// Whether no packet is in flight.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// The packet behind `place` others.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<&Packet> {
        self.in_flight.get(place).map(|(_, packet)| packet)
    }

    /// Prefetches the packet behind `place` others.
    #[inline]
    pub(crate) fn prefetch(&self, place: usize) {
        self.in_flight.prefetch(place);
    }

    /// The propagation delay.
    pub(crate) fn delay(&self) -> Span {
        self.propagation.delay()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::packet::PacketKind;
    use crate::path::agenda::Slots;

    fn wire_and_agenda() -> (Wire, Agenda) {
        let slots = Slots { media: 0, timers: 0, wires: 0, accesses: 1, count: 1, uplinks: 0 };
        let agenda = Agenda::new(&slots);
        (Wire::new(Span::from_nanos(5), agenda.alarm(0)), agenda)
    }

    fn packet(seq: u32) -> Packet {
        Packet::new(PacketKind::Data, 0, 0, seq, 1_000, Time::ZERO)
    }

    /// The packets of a wire in order of arrival, with their arrival times.
    fn arrivals(wire: &mut Wire, agenda: &mut Agenda) -> Vec<(u64, u32)> {
        let mut arrived = Vec::new();
        while wire.next_arrival() < Time::NEVER {
            let at = wire.next_arrival();
            assert_eq!(agenda.next().at(), (at, 0));
            arrived.push((at.as_nanos(), wire.pop(at, agenda).seq));
        }
        arrived
    }

    #[test]
    fn packets_that_overtake_arrive_by_time_and_then_in_the_order_of_entry() {
        let (mut wire, mut agenda) = wire_and_agenda();
        for (seq, start) in [(0, 7), (1, 3), (2, 7), (3, 9), (4, 3), (5, 1), (6, 7)] {
            wire.insert(Time::from_nanos(start), &packet(seq), &mut agenda);
        }
        let expected = [(6, 5), (8, 1), (8, 4), (12, 0), (12, 2), (12, 6), (14, 3)];
        assert_eq!(arrivals(&mut wire, &mut agenda), expected);
        assert!(wire.is_empty());
    }

    /// In a sorted queue each packet would move half of the others, which would take minutes.
    #[test]
    fn many_packets_that_overtake_each_other_take_little_time() {
        const PACKETS: u32 = 400_000;
        let (mut wire, mut agenda) = wire_and_agenda();
        let began = Instant::now();
        for seq in 0..PACKETS {
            let start = u64::from(seq.wrapping_mul(2_654_435_761));
            wire.insert(Time::from_nanos(start), &packet(seq), &mut agenda);
        }
        let arrived = arrivals(&mut wire, &mut agenda);
        assert!(arrived.len() == PACKETS as usize && arrived.is_sorted());
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    }
}
