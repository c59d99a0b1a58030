//! Round trips seen by a passive observer at a sender: for every data packet, the time until an
//! acknowledgement that covers it. A retransmitted packet gives no sample, because it is unknown
//! which copy was acknowledged (Karn and Partridge 1987).

use std::collections::VecDeque;
use std::ops::Range;

use sojourn_aqm::{Span, Time};

/// Packets seen and not yet acknowledged. Positions within a connection only grow: they number
/// packets in the simulator, and bytes on real hosts.
#[derive(Clone, Debug, Default)]
pub struct RoundTrips {
    connection: u16,
    /// One past the last position sent.
    next: u64,
    /// Where each packet ends, and when it was sent; `None` if it was retransmitted.
    sent: VecDeque<(u64, Option<Time>)>,
    samples: Vec<Span>,
}

impl RoundTrips {
    /// Records a packet with these positions of a connection, sent at `now`.
    pub fn sent(&mut self, now: Time, connection: u16, what: Range<u64>) {
        if connection != self.connection {
            (self.connection, self.next) = (connection, what.start);
            self.sent.clear();
        }
        if what.start >= self.next {
            self.next = what.end;
            return self.sent.push_back((what.end, Some(now)));
        }
        let first = self.sent.partition_point(|&(end, _)| end <= what.start);
        let mut start = what.start;
        for (end, sent) in self.sent.range_mut(first..) {
            if start >= what.end {
                break;
            }
            (start, *sent) = (*end, None);
        }
    }

    /// Records an acknowledgement of everything before a position.
    pub fn acknowledged(&mut self, now: Time, connection: u16, before: u64) {
        if connection != self.connection {
            return;
        }
        let covered = self.sent.partition_point(|&(end, _)| end <= before);
        let times = self.sent.drain(..covered).filter_map(|(_, sent)| sent);
        self.samples.extend(times.map(|sent| now.since(sent)));
    }

    /// The round trips found since the last call, oldest first.
    pub fn take_samples(&mut self) -> impl Iterator<Item = Span> {
        self.samples.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn samples(observer: &mut RoundTrips) -> Vec<Span> {
        observer.take_samples().collect()
    }

    #[test]
    fn an_acknowledgement_gives_a_sample_for_every_packet_that_it_covers() {
        let mut observer = RoundTrips::default();
        (0..4).for_each(|place| observer.sent(at(place), 1, place..place + 1));
        observer.acknowledged(at(100), 1, 2);
        observer.acknowledged(at(105), 1, 2); // a duplicate covers nothing
        observer.acknowledged(at(110), 1, 3);
        assert_eq!(samples(&mut observer), [100, 99, 108].map(Span::from_millis));
        assert_eq!(samples(&mut observer), []);
    }

    #[test]
    fn a_packet_that_was_sent_again_gives_no_sample() {
        let mut observer = RoundTrips::default();
        (0..3).for_each(|place| observer.sent(at(0), 1, place..place + 1));
        observer.sent(at(50), 1, 1..2);
        observer.acknowledged(at(100), 1, 3);
        assert_eq!(samples(&mut observer).len(), 2);
    }

    #[test]
    fn packets_that_share_positions_with_one_sent_again_give_no_sample_either() {
        let mut observer = RoundTrips::default();
        for start in [100, 200, 300, 400] {
            observer.sent(at(0), 5, start..start + 100);
        }
        observer.sent(at(50), 5, 150..250); // the end of one packet is the start of the next
        observer.acknowledged(at(80), 5, 450); // half of the last one
        assert_eq!(samples(&mut observer), [Span::from_millis(80)]);
        observer.acknowledged(at(90), 5, 500);
        assert_eq!(samples(&mut observer), [Span::from_millis(90)]);
    }

    #[test]
    fn a_new_connection_starts_over() {
        let mut observer = RoundTrips::default();
        observer.sent(at(0), 1, 0..1);
        observer.sent(at(10), 2, 0..1);
        observer.acknowledged(at(20), 1, 1);
        observer.acknowledged(at(30), 2, 1);
        assert_eq!(samples(&mut observer), [Span::from_millis(20)]);
    }
}
