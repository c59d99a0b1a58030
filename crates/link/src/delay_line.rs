//! The packets on a path with a fixed propagation delay and no loss.

use std::collections::VecDeque;

use sojourn_aqm::{Rate, Span, Time};

use crate::Propagation;

/// Packets in flight, in order of departure.
#[derive(Debug)]
pub struct DelayLine<P> {
    propagation: Propagation,
    in_flight: VecDeque<(Time, P)>,
}

impl<P> DelayLine<P> {
    /// An empty line.
    pub fn new(delay: Span) -> DelayLine<P> {
        DelayLine { propagation: Propagation::new(delay), in_flight: VecDeque::new() }
    }

    /// Adds serial links of these rates, one after the other.
    pub fn with_links(self, rates: impl IntoIterator<Item = Rate>) -> DelayLine<P> {
        DelayLine { propagation: self.propagation.with_links(rates), ..self }
    }

    /// Appends a packet of `bytes` that enters now. Returns whether it is the next to leave.
    pub fn push(&mut self, now: Time, packet: P, bytes: u32) -> bool {
        let arrival = self.propagation.enter(now, bytes);
        debug_assert!(self.in_flight.back().is_none_or(|&(last, _)| last <= arrival));
        let is_next = self.in_flight.is_empty();
        self.in_flight.push_back((arrival, packet));
        is_next
    }

    /// Adds a packet that enters at `start`, which may be in the future, so the packet may overtake
    /// others. Packets with the same departure time leave in the order in which they were added.
    /// Returns whether it is the next to leave.
    pub fn insert(&mut self, start: Time, packet: P) -> bool {
        debug_assert!(self.propagation.is_plain(), "a serial link serves in the order of arrival");
        let arrival = start + self.propagation.delay();
        let later = self.in_flight.iter().rev().take_while(|(at, _)| *at > arrival).count();
        let place = self.in_flight.len() - later;
        self.in_flight.insert(place, (arrival, packet));
        place == 0
    }

    /// When the next packet leaves; `NEVER` if the line is empty.
    pub fn next_arrival(&self) -> Time {
        self.in_flight.front().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// Takes the next packet and its departure time. The host must check that this time has come;
    /// see [`DelayLine::next_arrival`].
    pub fn pop(&mut self) -> Option<(Time, P)> {
        self.in_flight.pop_front()
    }

    /// Takes the next packet if it has left by `now`, with its departure time.
    pub fn pop_due(&mut self, now: Time) -> Option<(Time, P)> {
        if self.next_arrival() > now {
            return None;
        }
        self.pop()
    }

    /// The propagation delay.
    pub fn delay(&self) -> Span {
        self.propagation.delay()
    }

    /// How many packets are in flight.
    pub fn len(&self) -> usize {
        self.in_flight.len()
    }

    /// Whether no packet is in flight.
    pub fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// (milliseconds, packet) of all departures.
    fn out(mut line: DelayLine<u32>) -> Vec<(u64, u32)> {
        let all = std::iter::from_fn(|| line.pop());
        all.map(|(at, packet)| (at.as_nanos() / 1_000_000, packet)).collect()
    }

    #[test]
    fn without_links_a_packet_is_only_delayed() {
        let mut line = DelayLine::new(Span::from_millis(20));
        assert!(line.push(ms(1), 1, 1500));
        assert!(!line.push(ms(1), 2, 1500));
        assert_eq!(line.next_arrival(), ms(21));
        assert_eq!(line.pop(), Some((ms(21), 1)));
        assert_eq!(out(line), [(21, 2)]);
    }

    #[test]
    fn a_line_knows_its_delay_and_what_is_in_flight() {
        let mut line = DelayLine::new(Span::from_millis(20));
        assert_eq!((line.delay(), line.len(), line.is_empty()), (Span::from_millis(20), 0, true));
        line.push(ms(1), 1, 1500);
        assert_eq!((line.len(), line.is_empty()), (1, false));
    }

    #[test]
    fn shared_links_serialise_packets_before_the_delay() {
        let rate = Rate::from_bps(8_000_000); // 1000 bytes take a millisecond
        let mut line = DelayLine::new(Span::from_millis(5)).with_links([rate, rate]);
        line.push(ms(0), 1, 1000);
        line.push(ms(0), 2, 1000);
        assert_eq!(out(line), [(7, 1), (8, 2)]);
    }

    #[test]
    fn a_packet_comes_out_when_it_is_due_and_keeps_that_time() {
        let mut line = DelayLine::new(Span::from_millis(5));
        line.push(ms(1), 1, 1500);
        assert_eq!(line.pop_due(Time::from_nanos(5_999_999)), None);
        assert_eq!(line.pop_due(ms(6)), Some((ms(6), 1)));
        line.push(ms(2), 2, 1500);
        assert_eq!(line.pop_due(ms(9)), Some((ms(7), 2)));
        assert_eq!(line.pop_due(Time::NEVER), None);
    }

    #[test]
    fn a_shared_link_accumulates_no_credit_while_it_is_idle() {
        let rate = Rate::from_bps(10_000_000); // 1250 bytes take a millisecond
        let mut line = DelayLine::new(Span::from_millis(1)).with_links([rate]);
        for (at, packet) in [(0, 0), (0, 1), (0, 2), (50, 3)] {
            line.push(ms(at), packet, 1250);
        }
        assert_eq!(out(line), [(2, 0), (3, 1), (4, 2), (52, 3)]);
    }

    #[test]
    fn an_inserted_packet_overtakes_later_ones_only() {
        let mut line = DelayLine::new(Span::from_millis(5));
        assert!(line.insert(ms(3), 1));
        assert!(!line.insert(ms(9), 2));
        assert!(!line.insert(ms(3), 3));
        assert!(line.insert(ms(1), 4));
        assert_eq!(line.len(), 4);
        assert_eq!(out(line), [(6, 4), (8, 1), (8, 3), (14, 2)]);
    }
}
