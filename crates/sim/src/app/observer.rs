//! A passive observer beside a sender, like a packet capture: for every data packet, the time until
//! the acknowledgement that covers it passes by. Retransmitted data gives no sample, because the
//! acknowledgement does not show which copy arrived (Karn's rule, RFC 6298 §3).

use std::collections::VecDeque;
use std::ops::Range;

use sojourn_aqm::{Span, Time};

use crate::packet::{Kind, Packet};

/// Packets that passed by and are not acknowledged yet. Positions in a connection only grow: they
/// are packet numbers in the simulator and bytes on real hosts.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    connection: u16,
    /// One past the highest position sent.
    next: u64,
    /// Where each packet ends, and when it was sent; no time for retransmitted packets.
    sent: VecDeque<(u64, Option<Time>)>,
    samples: Vec<Span>,
}

impl Observer {
    /// A packet of the sender passes by.
    pub fn on_sent(&mut self, packet: &Packet) {
        if packet.kind == Kind::Data {
            let place = u64::from(packet.seq);
            self.sent(packet.sent, packet.connection, place..place + 1);
        }
    }

    /// An acknowledgement passes by.
    pub fn on_ack(&mut self, now: Time, packet: &Packet) {
        if packet.kind == Kind::Ack {
            self.acknowledged(now, packet.connection, u64::from(packet.seq));
        }
    }

    /// This range of a connection is sent at `now`.
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

    /// Everything before a position is acknowledged.
    pub fn acknowledged(&mut self, now: Time, connection: u16, before: u64) {
        if connection != self.connection {
            return;
        }
        let covered = self.sent.partition_point(|&(end, _)| end <= before);
        let times = self.sent.drain(..covered).filter_map(|(_, sent)| sent);
        self.samples.extend(times.map(|sent| now.since(sent)));
    }

    /// The round trips since the last call, oldest first.
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

    fn packet(kind: Kind, seq: u32, ms: u64) -> Packet {
        Packet::new(kind, 0, 1, seq, 1500, at(ms))
    }

    #[test]
    fn an_acknowledgement_gives_a_sample_for_every_packet_that_it_covers() {
        let mut observer = Observer::default();
        for seq in 0..4 {
            observer.on_sent(&packet(Kind::Data, seq, u64::from(seq)));
        }
        observer.on_ack(at(100), &packet(Kind::Ack, 2, 0));
        observer.on_ack(at(105), &packet(Kind::Ack, 2, 0)); // a duplicate covers nothing
        observer.on_ack(at(110), &packet(Kind::Ack, 3, 0));
        let samples: Vec<Span> = observer.take_samples().collect();
        assert_eq!(samples, [100, 99, 108].map(Span::from_millis));
        assert_eq!(observer.take_samples().count(), 0);
    }

    #[test]
    fn retransmitted_packets_give_no_sample() {
        let mut observer = Observer::default();
        for seq in 0..3 {
            observer.on_sent(&packet(Kind::Data, seq, 0));
        }
        observer.on_sent(&packet(Kind::Data, 1, 50));
        observer.on_ack(at(100), &packet(Kind::Ack, 3, 0));
        assert_eq!(observer.take_samples().count(), 2);
    }

    #[test]
    fn packets_retransmitted_with_other_boundaries_give_no_sample() {
        let mut observer = Observer::default();
        for start in [100, 200, 300, 400] {
            observer.sent(at(0), 5, start..start + 100);
        }
        observer.sent(at(50), 5, 150..250); // the end of one and the start of the next
        observer.acknowledged(at(80), 5, 450); // half of the last one
        assert_eq!(observer.take_samples().collect::<Vec<_>>(), [Span::from_millis(80)]);
        observer.acknowledged(at(90), 5, 500);
        assert_eq!(observer.take_samples().collect::<Vec<_>>(), [Span::from_millis(90)]);
    }

    #[test]
    fn a_new_connection_starts_without_packets() {
        let mut observer = Observer::default();
        observer.on_sent(&packet(Kind::Data, 0, 0));
        let mut second = packet(Kind::Data, 0, 10);
        second.connection = 2;
        observer.on_sent(&second);
        let mut ack = packet(Kind::Ack, 1, 0);
        observer.on_ack(at(20), &ack);
        ack.connection = 2;
        observer.on_ack(at(30), &ack);
        let samples: Vec<Span> = observer.take_samples().collect();
        assert_eq!(samples, [Span::from_millis(20)]);
    }
}
