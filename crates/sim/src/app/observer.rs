//! A passive observer at both ends of a simulated stream. It feeds [`RoundTrips`] with the
//! positions of packets and acknowledgements at the sender, and [`PacketPairs`] with their times
//! at both ends.

use std::collections::VecDeque;

use sojourn_aqm::{Span, Time};
use sojourn_measure::{PacketPairs, RoundTrips};

use super::Outbox;
use crate::packet::{Packet, PacketKind};

/// Measures the round trips of data packets.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    round_trips: RoundTrips,
    pairs: PacketPairs,
    /// Acknowledgements under way, oldest first, and when each left the receiver.
    answers: VecDeque<(AnswerId, Time)>,
    paired: Option<Span>,
}

/// Connection, acknowledged packet, echoed time and timestamp: what tells acknowledgements from
/// each other. Copies of one with the same timestamp left within a tick of it.
type AnswerId = (u16, u32, Time, u32);

fn id_of(answer: &Packet) -> AnswerId {
    (answer.connection, answer.seq, answer.sent, answer.stamp)
}

impl Observer {
    /// Records a packet of the sender.
    pub fn on_sent(&mut self, packet: &Packet) {
        if packet.kind == PacketKind::Data {
            let place = u64::from(packet.seq);
            self.round_trips.sent(packet.sent, packet.connection, place..place + 1);
        }
    }

    /// Records a data packet at the receiver.
    pub fn on_data(&mut self, now: Time, packet: &Packet) {
        self.pairs.arrived(now, now.since(packet.sent));
    }

    /// Records an acknowledgement that leaves the receiver.
    pub fn on_answer(&mut self, now: Time, packet: &Packet) {
        self.answers.push_back((id_of(packet), now));
    }

    /// Records an acknowledgement at the sender.
    pub fn on_ack(&mut self, now: Time, packet: &Packet) {
        if packet.kind == PacketKind::Ack {
            self.round_trips.acknowledged(now, packet.connection, u64::from(packet.seq));
            self.paired = self.left_at(packet).and_then(|left| self.pairs.returned(now, left));
        }
    }

    /// When an acknowledgement left the receiver, if none that left later has overtaken it. Those
    /// before it are lost, or late.
    fn left_at(&mut self, answer: &Packet) -> Option<Time> {
        let id = id_of(answer);
        let place = self.answers.iter().position(|&(other, _)| other == id)?;
        self.answers.drain(..=place).next_back().map(|(_, left)| left)
    }

    /// The round trips found since the last call, oldest first.
    pub fn take_samples(&mut self) -> impl Iterator<Item = Span> {
        self.round_trips.take_samples()
    }

    /// The round trip of the pair that the last acknowledgement completed, once.
    pub fn take_pair(&mut self) -> Option<Span> {
        self.paired.take()
    }
}

/// Sends packets and shows them to the observer.
pub(super) fn seen_by(
    observer: &mut Option<Box<Observer>>,
    out: &mut Outbox<'_>,
) -> impl FnMut(Packet) {
    move |packet| {
        if let Some(observer) = observer {
            observer.on_sent(&packet);
        }
        out.send(packet);
    }
}
