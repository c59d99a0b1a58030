//! A line: every packet comes out a fixed time later, in order, after it was serialised at the line's
//! rate if it has one. Like the router it reads no clock.

use std::collections::VecDeque;

use sojourn_aqm::{Rate, Span, Time};
use sojourn_link::Transmitter;

/// A packet under way, and the flow that it was numbered to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Passenger {
    /// When it comes out.
    pub due: Time,
    /// Its bytes, from the IP header on.
    pub bytes: Vec<u8>,
    /// Its flow.
    pub flow: u32,
}

/// A line.
#[derive(Debug)]
pub struct Line {
    delay: Span,
    transmitter: Option<Transmitter>,
    free_at: Time,
    under_way: VecDeque<Passenger>,
}

impl Line {
    /// An empty line; without a rate serialisation takes no time.
    pub fn new(delay: Span, rate: Option<Rate>) -> Line {
        let transmitter = rate.map(Transmitter::new);
        Line { delay, transmitter, free_at: Time::ZERO, under_way: VecDeque::new() }
    }

    /// A packet goes in. Calls come in the order of time.
    pub fn enter(&mut self, now: Time, bytes: Vec<u8>, flow: u32) {
        let mut leaves = now;
        if let Some(transmitter) = &mut self.transmitter {
            leaves = now.max(self.free_at) + transmitter.next(bytes.len() as u32);
            self.free_at = leaves;
        }
        let due = leaves + self.delay;
        debug_assert!(self.under_way.back().is_none_or(|last| last.due <= due), "in order");
        self.under_way.push_back(Passenger { due, bytes, flow });
    }

    /// When the next packet comes out.
    pub fn next_timer(&self) -> Time {
        self.under_way.front().map_or(Time::NEVER, |packet| packet.due)
    }

    /// The next packet, if it is due by `now`.
    pub fn leave(&mut self, now: Time) -> Option<Passenger> {
        if self.next_timer() > now {
            return None;
        }
        self.under_way.pop_front()
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
    fn a_line_without_a_rate_only_delays() {
        let mut line = Line::new(Span::from_millis(20), None);
        line.enter(at(MS), vec![1; 1500], 1);
        line.enter(at(MS), vec![2; 1500], 2);
        assert_eq!(line.next_timer(), at(21 * MS));
        assert_eq!(line.leave(at(21 * MS - 1)), None);
        let flows = [line.leave(at(21 * MS)).unwrap().flow, line.leave(at(21 * MS)).unwrap().flow];
        assert_eq!(flows, [1, 2]);
        assert_eq!(line.next_timer(), Time::NEVER);
    }

    #[test]
    fn a_line_with_a_rate_sends_one_packet_after_the_other() {
        let mut line = Line::new(Span::from_millis(1), Some(Rate::from_bps(10_000_000)));
        (0..3).for_each(|flow| line.enter(at(0), vec![0; 1250], flow));
        let due: Vec<_> = std::iter::from_fn(|| line.leave(Time::NEVER)).map(|p| p.due).collect();
        assert_eq!(due, [at(2 * MS), at(3 * MS), at(4 * MS)]);
        // An idle line saves nothing up.
        line.enter(at(50 * MS), vec![0; 1250], 0);
        assert_eq!(line.next_timer(), at(52 * MS));
    }
}
