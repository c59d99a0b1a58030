//! A path of the simulator, with its alarm. It is first in, first out, so that only its next packet
//! needs the alarm.

use sojourn_aqm::{Rate, Span, Time};
use sojourn_link::Propagation;

use crate::agenda::{Agenda, Alarm};
use crate::link::LateServer;
use crate::packet::Packet;
use crate::ring::Ring;

/// Packets in flight over one distance, in the order in which they arrive.
#[derive(Debug)]
pub struct ScheduledDelayLine {
    propagation: Propagation,
    in_flight: Ring<(Time, Packet)>,
    alarm: Alarm,
    /// The server of the link to which it leads, if that takes packets by itself; else the alarm
    /// says when the next one arrives.
    feeds: Option<LateServer>,
}

impl ScheduledDelayLine {
    /// An empty line with its alarm.
    pub(crate) fn new(delay: Span, alarm: Alarm) -> ScheduledDelayLine {
        let propagation = Propagation::new(delay);
        ScheduledDelayLine { propagation, in_flight: Ring::default(), alarm, feeds: None }
    }

    /// The same with access links that several flows share, one after the other.
    pub fn with_links(self, rates: impl IntoIterator<Item = Rate>) -> ScheduledDelayLine {
        ScheduledDelayLine { propagation: self.propagation.with_links(rates), ..self }
    }

    /// From now on a link takes packets from it by itself.
    pub(crate) fn feeding(&mut self, server: Option<LateServer>) {
        self.feeds = server;
    }

    /// A packet enters now. The rare path with several links is apart: a call in between would make
    /// the caller save its registers.
    #[inline(always)]
    pub fn push(&mut self, now: Time, packet: &Packet, agenda: &mut Agenda) {
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

    /// A packet enters that arrives at `arrival`, not before any other. Most follow another: that
    /// takes no call, so that the caller need not save its registers.
    #[inline(always)]
    pub fn push_at(&mut self, arrival: Time, packet: &Packet, agenda: &mut Agenda) {
        debug_assert!(self.in_flight.back().is_none_or(|&(last, _)| last <= arrival));
        if !self.in_flight.push_behind((arrival, *packet)) {
            self.push_any(arrival, packet, agenda);
        }
    }

    /// The same without that haste.
    #[inline(never)]
    pub(crate) fn push_any(&mut self, arrival: Time, packet: &Packet, agenda: &mut Agenda) {
        let is_next = self.in_flight.is_empty();
        self.in_flight.push_back_made(|| (arrival, *packet));
        self.schedule(is_next, agenda);
    }

    /// A packet enters at `start`, which may be in the future: it may overtake others. Packets that
    /// arrive at the same time do so in the order of these calls.
    pub fn insert(&mut self, start: Time, packet: Packet, agenda: &mut Agenda) {
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

    /// When the next packet arrives; never, if there is none.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Time {
        self.in_flight.front().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// Takes the packet that arrives now and sets the alarm for the next. It stays where it is
    /// until another enters.
    #[inline(always)]
    pub fn pop(&mut self, now: Time, agenda: &mut Agenda) -> &mut Packet {
        let taken = self.in_flight.pop_front_before(|&(next_arrival, _)| next_arrival);
        let ((arrival, packet), next) = taken.expect("the alarm is set for a packet");
        debug_assert_eq!(*arrival, now, "a delay line delivers at the time it announced");
        agenda.set_due(self.alarm, next.unwrap_or(Time::NEVER));
        packet
    }

    /// Takes the next packet, which is there, for the link that it feeds. It stays where it is until
    /// another enters.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> &mut Packet {
        let taken = self.in_flight.pop_front_before(|_| ());
        &mut taken.expect("one that arrives is there").0.1
    }

    /// When a packet of so many bytes arrives that enters now.
    #[inline]
    fn enter(&mut self, now: Time, bytes: u32) -> Time {
        self.propagation.enter(now, bytes)
    }

    /// Whether no packet is in flight.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// The packet that arrives after so many others.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<&Packet> {
        self.in_flight.get(place).map(|(_, packet)| packet)
    }

    /// Asks for the packet that arrives after so many others.
    #[inline]
    pub(crate) fn prefetch(&self, place: usize) {
        self.in_flight.prefetch(place);
    }

    /// The propagation delay.
    pub fn delay(&self) -> Span {
        self.propagation.delay()
    }
}
