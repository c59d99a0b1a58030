//! A passive observer beside a sender: for every data packet, the time until the acknowledgement that
//! covers it comes by (endpoints sheet §4.1, papers sheet §0.3). What was sent again tells nothing, as one
//! cannot know which copy was acknowledged (Karn).

use std::collections::VecDeque;

use sojourn_aqm::{Span, Time};

use crate::packet::{Kind, Packet};

/// What went by and is not yet covered.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    connection: u16,
    /// Number of the first packet in `sent`.
    first: u32,
    /// When each was sent; none where it was sent again.
    sent: VecDeque<Option<Time>>,
    samples: Vec<Span>,
}

impl Observer {
    /// A packet of the sender goes by.
    pub fn on_sent(&mut self, packet: &Packet) {
        if packet.kind != Kind::Data {
            return;
        }
        if packet.connection != self.connection {
            (self.connection, self.first) = (packet.connection, packet.seq);
            self.sent.clear();
        }
        let place = packet.seq.wrapping_sub(self.first) as usize;
        if place == self.sent.len() {
            self.sent.push_back(Some(packet.sent));
        } else if let Some(sent) = self.sent.get_mut(place) {
            *sent = None;
        }
    }

    /// An acknowledgement goes by.
    pub fn on_ack(&mut self, now: Time, packet: &Packet) {
        if packet.kind != Kind::Ack || packet.connection != self.connection {
            return;
        }
        let covered = (packet.seq.saturating_sub(self.first) as usize).min(self.sent.len());
        self.samples.extend(self.sent.drain(..covered).flatten().map(|sent| now.since(sent)));
        self.first += covered as u32;
    }

    /// The round trips since the last question, oldest first.
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
    fn an_acknowledgement_tells_of_every_packet_that_it_covers() {
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
    fn what_was_sent_again_tells_nothing() {
        let mut observer = Observer::default();
        for seq in 0..3 {
            observer.on_sent(&packet(Kind::Data, seq, 0));
        }
        observer.on_sent(&packet(Kind::Data, 1, 50));
        observer.on_ack(at(100), &packet(Kind::Ack, 3, 0));
        assert_eq!(observer.take_samples().count(), 2);
    }

    #[test]
    fn a_new_connection_begins_anew() {
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
