//! A link with an unlimited FIFO queue. Departure times are computed, so nothing is stored and no
//! event is needed.

use sojourn_aqm::{Rate, Time};

use crate::Transmitter;

/// A link that drops nothing: each packet starts when the previous one has left.
#[derive(Clone, Copy, Debug)]
pub struct SerialLink {
    transmitter: Transmitter,
    free_at: Time,
}

impl SerialLink {
    /// An idle link.
    pub fn new(rate: Rate) -> SerialLink {
        SerialLink { transmitter: Transmitter::new(rate), free_at: Time::ZERO }
    }

    /// The departure time of a packet of `bytes` that arrives now. Calls must be in order of time.
    #[inline]
    pub fn pass(&mut self, now: Time, bytes: u32) -> Time {
        self.free_at = self.free_at.max(now) + self.transmitter.next(bytes);
        self.free_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_waits_for_the_one_before_it() {
        let mut link = SerialLink::new(Rate::from_bps(8_000_000)); // a byte takes a microsecond
        let micros = |us: u64| Time::from_nanos(us * 1_000);
        assert_eq!(link.pass(micros(10), 100), micros(110));
        assert_eq!(link.pass(micros(20), 100), micros(210));
        assert_eq!(link.pass(micros(210), 100), micros(310));
        assert_eq!(link.pass(micros(500), 100), micros(600));
    }
}
