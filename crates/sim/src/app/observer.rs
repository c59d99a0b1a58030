//! A passive observer at both ends of a simulated stream. It feeds [`RoundTrips`] with the
//! positions of packets and acknowledgements at the sender, and [`PacketPairs`] with their times
//! at both ends.

use std::collections::VecDeque;

use sojourn_aqm::Time;
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
}

/// Connection, acknowledged packet, echoed time and timestamp together identify an acknowledgement.
/// Duplicates with the same timestamp left within one tick of each other.
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

    /// Records an acknowledgement at the sender. Round trips that complete after the warm-up are
    /// counted.
    pub fn on_ack(&mut self, packet: &Packet, out: &mut Outbox<'_>) {
        if packet.kind != PacketKind::Ack {
            return;
        }
        self.round_trips.acknowledged(out.now, packet.connection, u64::from(packet.seq));
        let pair = self.left_at(packet).and_then(|left| self.pairs.returned(out.now, left));
        let samples = self.round_trips.take_samples();
        if let Some(counted) = out.counted() {
            samples.for_each(|rtt| counted.rtt.add(rtt.as_nanos()));
            pair.into_iter().for_each(|rtt| counted.pair_rtt.add(rtt.as_nanos()));
        }
    }

    /// When an acknowledgement left the receiver; `None` if a later one has overtaken it. Forgets
    /// the acknowledgements that left earlier: they are lost or late.
    fn left_at(&mut self, answer: &Packet) -> Option<Time> {
        let id = id_of(answer);
        let place = self.answers.iter().position(|&(other, _)| other == id)?;
        self.answers.drain(..=place).next_back().map(|(_, left)| left)
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
