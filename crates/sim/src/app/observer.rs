//! A passive observer at a simulated sender. It feeds [`RoundTrips`] with the positions of packets
//! and acknowledgements.

use sojourn_aqm::{Span, Time};
use sojourn_measure::RoundTrips;

use super::Outbox;
use crate::packet::{Packet, PacketKind};

/// Measures the round trips of data packets.
#[derive(Clone, Debug, Default)]
pub struct Observer(RoundTrips);

impl Observer {
    /// Records a packet of the sender.
    pub fn on_sent(&mut self, packet: &Packet) {
        if packet.kind == PacketKind::Data {
            let place = u64::from(packet.seq);
            self.0.sent(packet.sent, packet.connection, place..place + 1);
        }
    }

    /// Records an acknowledgement.
    pub fn on_ack(&mut self, now: Time, packet: &Packet) {
        if packet.kind == PacketKind::Ack {
            self.0.acknowledged(now, packet.connection, u64::from(packet.seq));
        }
    }

    /// The round trips found since the last call, oldest first.
    pub fn take_samples(&mut self) -> impl Iterator<Item = Span> {
        self.0.take_samples()
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
