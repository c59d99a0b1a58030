//! A wire: the propagation delay behind a link or before the first one. Packets arrive in the order
//! in which they entered, unless it reorders them, so only the next needs an alarm.

use sojourn_aqm::{Rate, Span, Time};
use sojourn_link::Propagation;

use super::agenda::Agenda;
use super::link::LateServer;
use crate::alarms::Alarm;
use crate::packet::Packet;
use crate::ring::Ring;

/// Packets in flight over one distance, in the order in which they arrive.
#[derive(Debug)]
pub(crate) struct Wire {
    propagation: Propagation,
    /// Packets with the times at which they arrive.
    pub(super) in_flight: Ring<(Time, Packet)>,
    alarm: Alarm,
    /// The server of the link to which it leads, if that takes packets by itself; else the alarm
    /// says when the next one arrives.
    feeds: Option<LateServer>,
}

impl Wire {
    /// An empty wire with its alarm.
    pub(crate) fn new(delay: Span, alarm: Alarm) -> Wire {
        let propagation = Propagation::new(delay);
        Wire { propagation, in_flight: Ring::default(), alarm, feeds: None }
    }

    /// The same with access links that several flows share, one after the other.
    pub(crate) fn with_links(self, rates: impl IntoIterator<Item = Rate>) -> Wire {
        Wire { propagation: self.propagation.with_links(rates), ..self }
    }

    /// Lets a link pull packets from the wire.
    pub(crate) fn feeding(&mut self, server: Option<LateServer>) {
        self.feeds = server;
    }

    /// A packet enters now. The rare case of several links is out of line, so that the hot caller
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

    /// A packet enters that arrives at `arrival`, no earlier than any other. Most packets follow
    /// another; that case makes no call, so the caller need not spill registers.
    #[inline(always)]
    pub(crate) fn push_at(&mut self, arrival: Time, packet: &Packet, agenda: &mut Agenda) {
        debug_assert!(self.in_flight.back().is_none_or(|&(last, _)| last <= arrival));
        if !self.in_flight.push_behind((arrival, *packet)) {
            self.push_any(arrival, packet, agenda);
        }
    }

    /// The same, out of line.
    #[inline(never)]
    pub(crate) fn push_any(&mut self, arrival: Time, packet: &Packet, agenda: &mut Agenda) {
        let is_next = self.in_flight.is_empty();
        self.in_flight.push_back_made(|| (arrival, *packet));
        self.schedule(is_next, agenda);
    }

    /// A packet enters at `start`, which may be in the future: it may overtake others. Packets that
    /// arrive at the same time do so in the order of these calls.
    pub(crate) fn insert(&mut self, start: Time, packet: Packet, agenda: &mut Agenda) {
        debug_assert!(self.propagation.is_plain(), "a serial link serves in the order of arrival");
        let arrival = start + self.propagation.delay();
        let is_later = |&(at, _): &(Time, Packet)| at > arrival;
        let mut place = self.in_flight.len();
        while place > 0 && self.in_flight.get(place - 1).is_some_and(is_later) {
            place -= 1;
        }
        self.in_flight.insert(place, (arrival, packet));
        self.schedule(place == 0, agenda);
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

    /// When the next packet arrives; `NEVER` if it is empty.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Time {
        self.in_flight.front().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// Takes the packet that arrives now and sets the alarm for the next. It stays where it is
    /// until another enters.
    #[inline(always)]
    pub(crate) fn pop(&mut self, now: Time, agenda: &mut Agenda) -> &mut Packet {
        let taken = self.in_flight.pop_front_before(|&(next_arrival, _)| next_arrival);
        let ((arrival, packet), next) = taken.expect("the alarm is set for a packet");
        debug_assert_eq!(*arrival, now, "a wire delivers at the time it announced");
        agenda.set_due(self.alarm, next.unwrap_or(Time::NEVER));
        packet
    }

    /// The packet that was taken last, until another enters.
    #[inline]
    pub(crate) fn arrived(&self) -> &Packet {
        &self.in_flight.last_taken().expect("one has arrived").1
    }

    /// When a packet of `bytes` arrives that enters now.
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
