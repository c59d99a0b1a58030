//! A delay line: packets leave a fixed time after they entered, in order; if it has a rate, they
//! are serialised first. It reads no clock.

use std::collections::VecDeque;

use sojourn_aqm::{Rate, Span, Time};
use sojourn_link::Transmitter;

/// A packet in flight and its flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InFlightPacket {
    /// When it leaves the present element: a link, a delay line or a wire.
    pub due: Time,
    /// Its bytes, from the IP header on.
    pub bytes: Vec<u8>,
    /// Its flow, as the host numbers it.
    pub flow: u32,
}

/// A delay line.
#[derive(Debug)]
pub struct DelayLine {
    delay: Span,
    transmitter: Option<Transmitter>,
    free_at: Time,
    in_flight: VecDeque<InFlightPacket>,
}

impl DelayLine {
    /// An empty delay line; without a rate, serialisation takes no time.
    pub fn new(delay: Span, rate: Option<Rate>) -> DelayLine {
        let transmitter = rate.map(Transmitter::new);
        DelayLine { delay, transmitter, free_at: Time::ZERO, in_flight: VecDeque::new() }
    }

    /// A packet enters. Calls must be in the order of time.
    pub fn enter(&mut self, now: Time, bytes: Vec<u8>, flow: u32) {
        let mut leaves = now;
        if let Some(transmitter) = &mut self.transmitter {
            leaves = now.max(self.free_at) + transmitter.next(bytes.len() as u32);
            self.free_at = leaves;
        }
        let due = leaves + self.delay;
        debug_assert!(
            self.in_flight.back().is_none_or(|last| last.due <= due),
            "packets stay in order"
        );
        self.in_flight.push_back(InFlightPacket { due, bytes, flow });
    }

    /// When the next packet leaves.
    pub fn next_timer(&self) -> Time {
        self.in_flight.front().map_or(Time::NEVER, |packet| packet.due)
    }

    /// The next packet, if it is due by `now`.
    pub fn leave(&mut self, now: Time) -> Option<InFlightPacket> {
        if self.next_timer() > now {
            return None;
        }
        self.in_flight.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn at(ns: u64) -> Time {
        Time::from_nanos(ns)
    }

    #[test]
    fn a_delay_line_without_a_rate_only_delays() {
        let mut line = DelayLine::new(Span::from_millis(20), None);
        line.enter(at(MS), vec![1; 1500], 1);
        line.enter(at(MS), vec![2; 1500], 2);
        assert_eq!(line.next_timer(), at(21 * MS));
        assert_eq!(line.leave(at(21 * MS - 1)), None);
        let flows = [line.leave(at(21 * MS)).unwrap().flow, line.leave(at(21 * MS)).unwrap().flow];
        assert_eq!(flows, [1, 2]);
        assert_eq!(line.next_timer(), Time::NEVER);
    }

    #[test]
    fn a_delay_line_with_a_rate_sends_one_packet_after_the_other() {
        let mut line = DelayLine::new(Span::from_millis(1), Some(Rate::from_bps(10_000_000)));
        (0..3).for_each(|flow| line.enter(at(0), vec![0; 1250], flow));
        let due: Vec<_> = std::iter::from_fn(|| line.leave(Time::NEVER)).map(|p| p.due).collect();
        assert_eq!(due, [at(2 * MS), at(3 * MS), at(4 * MS)]);
        // An idle line accumulates no credit.
        line.enter(at(50 * MS), vec![0; 1250], 0);
        assert_eq!(line.next_timer(), at(52 * MS));
    }
}
