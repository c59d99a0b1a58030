//! A path of the simulator: a [`DelayLine`] with its alarm. It is first in, first out, so that only
//! its next packet needs the alarm.

use sojourn_aqm::{Rate, Span, Time};
use sojourn_link::DelayLine;

use crate::agenda::{Agenda, Alarm};
use crate::packet::Packet;

/// Packets in flight over one distance.
#[derive(Debug)]
pub struct ScheduledDelayLine {
    line: DelayLine<Packet>,
    alarm: Alarm,
}

impl ScheduledDelayLine {
    /// An empty line with its alarm.
    pub(crate) fn new(delay: Span, alarm: Alarm) -> ScheduledDelayLine {
        ScheduledDelayLine { line: DelayLine::new(delay), alarm }
    }

    /// The same with access links that several flows share, one after the other.
    pub fn with_links(self, rates: impl IntoIterator<Item = Rate>) -> ScheduledDelayLine {
        ScheduledDelayLine { line: self.line.with_links(rates), ..self }
    }

    /// A packet enters now.
    #[inline(always)]
    pub fn push(&mut self, now: Time, packet: &Packet, agenda: &mut Agenda) {
        let arrival = self.enter(now, packet.ip_bytes);
        self.push_at(arrival, packet, agenda);
    }

    /// A packet enters that arrives at `arrival`, not before any other. Most follow another: that
    /// takes no call, so that the caller need not save its registers.
    #[inline(always)]
    pub fn push_at(&mut self, arrival: Time, packet: &Packet, agenda: &mut Agenda) {
        if !self.line.push_behind(arrival, *packet) {
            self.push_any(arrival, packet, agenda);
        }
    }

    #[inline(never)]
    fn push_any(&mut self, arrival: Time, packet: &Packet, agenda: &mut Agenda) {
        let is_next = self.line.push_at(arrival, *packet);
        self.schedule(is_next, agenda);
    }

    /// A packet enters at `start`, which may be in the future: it may overtake others.
    pub fn insert(&mut self, start: Time, packet: Packet, agenda: &mut Agenda) {
        let is_next = self.line.insert(start, packet);
        self.schedule(is_next, agenda);
    }

    #[inline]
    fn schedule(&self, is_next: bool, agenda: &mut Agenda) {
        if is_next {
            agenda.set(self.alarm, self.line.next_arrival());
        }
    }

    /// Takes the packet that arrives now and sets the alarm for the next.
    #[inline(always)]
    pub fn pop(&mut self, now: Time, agenda: &mut Agenda) -> Packet {
        let (arrival, packet) = self.line.pop_copy().expect("the alarm is set for a packet");
        debug_assert_eq!(arrival, now, "a delay line delivers at the time it announced");
        agenda.set(self.alarm, self.line.next_arrival());
        packet
    }

    /// A packet of so many bytes enters now, which the caller keeps or keeps in the line: returns
    /// when it arrives.
    #[inline]
    pub(crate) fn enter(&mut self, now: Time, bytes: u32) -> Time {
        self.line.enter(now, bytes)
    }

    /// A packet stays in the line until the caller asks for it; no alarm says when it arrives.
    pub(crate) fn keep(&mut self, arrival: Time, packet: Packet) {
        self.line.push_at(arrival, packet);
    }

    /// Takes the next packet that was kept if it arrives before `until`, with the time at which it
    /// does.
    pub(crate) fn take_before(&mut self, until: Time) -> Option<(Time, Packet)> {
        if self.line.next_arrival() >= until { None } else { self.line.pop_copy() }
    }

    /// The packet that arrives after so many others.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<&Packet> {
        self.line.get(place)
    }

    /// The propagation delay.
    pub fn delay(&self) -> Span {
        self.line.delay()
    }
}
