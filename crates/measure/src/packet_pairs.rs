//! Round trips by synthetic packet pairs, as SPP measures them (Zander and Armitage, CAIA report
//! 130730A, 2013): a returning packet is paired with the latest packet that had reached the remote
//! end before the returning packet left that end. Each packet is in at most one pair, and the time
//! between the two at the remote end does not count.

use std::collections::VecDeque;

use sojourn_aqm::{Span, Time};

/// Packets that have arrived at the remote end and are not yet in a pair.
#[derive(Clone, Debug, Default)]
pub struct PacketPairs {
    /// Arrival time and one-way delay of each packet, oldest first.
    arrived: VecDeque<(Time, Span)>,
}

impl PacketPairs {
    /// Records a packet that arrives at the remote end after `one_way`.
    pub fn arrived(&mut self, now: Time, one_way: Span) {
        debug_assert!(self.arrived.back().is_none_or(|&(last, _)| last <= now), "in order of time");
        self.arrived.push_back((now, one_way));
    }

    /// Records a packet that returns at `now` and left the remote end at `left`. Returns the round
    /// trip of the pair, if a packet is left to pair it with.
    pub fn returned(&mut self, now: Time, left: Time) -> Option<Span> {
        let before = self.arrived.partition_point(|&(arrived, _)| arrived <= left);
        let (_, one_way) = self.arrived.drain(..before).next_back()?;
        Some(one_way + now.since(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    // CAIA's spp 0.3.6, pair.c, createPair.
    #[test]
    fn a_returning_packet_is_paired_with_the_latest_that_had_arrived() {
        let mut pairs = PacketPairs::default();
        pairs.arrived(at(10), Span::from_millis(9));
        pairs.arrived(at(20), Span::from_millis(15));
        pairs.arrived(at(30), Span::from_millis(7)); // after the reply has left
        assert_eq!(pairs.returned(at(60), at(24)), Some(Span::from_millis(15 + 36)));
        assert_eq!(pairs.returned(at(70), at(40)), Some(Span::from_millis(7 + 30)));
    }

    #[test]
    fn a_packet_is_in_one_pair_only() {
        let mut pairs = PacketPairs::default();
        pairs.arrived(at(10), Span::from_millis(9));
        assert!(pairs.returned(at(60), at(10)).is_some());
        assert_eq!(pairs.returned(at(61), at(11)), None);
    }

    #[test]
    fn a_reply_that_left_before_every_arrival_is_in_no_pair() {
        let mut pairs = PacketPairs::default();
        pairs.arrived(at(10), Span::from_millis(9));
        assert_eq!(pairs.returned(at(30), at(9)), None);
        assert_eq!(pairs.returned(at(40), at(12)), Some(Span::from_millis(9 + 28)));
    }
}
