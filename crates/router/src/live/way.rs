//! One way through the router: a queue with its rate, and a line behind it. Like both it reads no clock.

use sojourn_aqm::{Span, Time};
use sojourn_measure::Interval;

use super::WayPlan;
use crate::chronicle::Memory;
use crate::line::{Line, Passenger};
use crate::street::Street;

/// One way.
pub struct Way {
    street: Option<Street>,
    line: Line,
    /// Packets and bytes that came out of it.
    pub passed: (u64, u64),
}

impl Way {
    /// An empty way; `memory` hears of its queue.
    ///
    /// # Errors
    /// A sentence, where the queue cannot be made.
    pub fn new(plan: &WayPlan, seed: u64, memory: Memory) -> Result<Way, String> {
        let street = plan.street.as_ref().map(|street| Street::new(street, seed, memory));
        Ok(Way {
            street: street.transpose()?,
            line: Line::new(Span::from_nanos(plan.delay_ns), None),
            passed: (0, 0),
        })
    }

    /// A packet comes.
    pub fn arrive(&mut self, now: Time, bytes: Vec<u8>, flow: u32) {
        match &mut self.street {
            Some(street) => street.arrive(now, bytes, flow),
            None => self.line.enter(now, bytes, flow),
        }
    }

    /// When it wants [`Way::leave`].
    pub fn next_timer(&self) -> Time {
        let street = self.street.as_ref().map_or(Time::NEVER, Street::next_timer);
        street.min(self.line.next_timer())
    }

    /// The next packet that is out by `now`.
    pub fn leave(&mut self, now: Time) -> Option<Passenger> {
        if let Some(street) = self.street.as_mut().filter(|street| street.next_timer() <= now) {
            let line = &mut self.line;
            street.on_timer(now, &mut |packet| line.enter(packet.due, packet.bytes, packet.flow));
        }
        let packet = self.line.leave(now)?;
        self.passed.0 += 1;
        self.passed.1 += packet.bytes.len() as u64;
        Some(packet)
    }

    /// Its queue, if it has one.
    pub fn street(&self) -> Option<&Street> {
        self.street.as_ref()
    }

    /// Writes down the state of its queue; returns what happened there since the last time.
    pub fn sample(&mut self, now: Time, every: Span) -> Option<Interval> {
        self.street.as_mut()?.sample(now, every)
    }

    /// Ends it; what was kept goes to the caller.
    pub fn into_memory(self) -> Option<Memory> {
        self.street.map(Street::into_memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::words::Words;

    fn way(words: &str) -> Way {
        let live = serde_json::from_str::<Words>(words).unwrap().live().unwrap();
        Way::new(&live.ways[0], 1, Memory::Nothing).unwrap()
    }

    /// A datagram of 1250 bytes.
    fn packet() -> Vec<u8> {
        let mut bytes = vec![0u8; 1250];
        (bytes[0], bytes[9]) = (0x45, 17);
        bytes[2..4].copy_from_slice(&1250u16.to_be_bytes());
        bytes
    }

    #[test]
    fn a_packet_leaves_after_queue_serialisation_and_delay() {
        let mut way = way(r#"{ "forward": { "rate": "10mbit", "delay": "20ms" } }"#);
        (0..2).for_each(|_| way.arrive(Time::ZERO, packet(), 0));
        assert_eq!(way.next_timer(), Time::from_nanos(1_000_000));
        assert!(way.leave(Time::from_nanos(20_999_999)).is_none());
        let first = way.leave(Time::from_nanos(21_000_000)).unwrap();
        assert_eq!((first.due.as_nanos(), first.bytes), (21_000_000, packet()));
        assert_eq!(way.next_timer(), Time::from_nanos(22_000_000));
        assert_eq!(way.passed, (1, 1250));
    }

    #[test]
    fn a_way_without_a_rate_delays_and_never_queues() {
        let mut way = way(r#"{ "forward": { "delay": "5ms" } }"#);
        (0..1000).for_each(|_| way.arrive(Time::ZERO, packet(), 0));
        let out = std::iter::from_fn(|| way.leave(Time::from_nanos(5_000_000))).count();
        assert_eq!(out, 1000);
    }
}
