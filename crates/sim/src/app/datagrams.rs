//! A simulated flow of datagrams: both of its ends.

use sojourn_aqm::{Ecn, Rng, Span, Time};
use sojourn_scenario::resolved::App;
use sojourn_traffic::DatagramSource;

use super::Outbox;
use crate::packet::{Packet, PacketKind};

/// Source and sink of one flow of datagrams.
#[derive(Debug)]
pub struct DatagramFlow {
    flow: u32,
    ecn: Ecn,
    source: DatagramSource,
    /// Datagrams sent.
    pub sent: u32,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Datagrams received.
    pub received: u32,
    /// Their bytes.
    pub received_bytes: u64,
    /// Of these, marked.
    pub ce_bytes: u64,
}

impl DatagramFlow {
    /// A flow that sends from `start` until before `stop`; none for an application over TCP.
    pub fn new(flow: u32, app: &App, times: (Time, Time), rng: Rng) -> Option<DatagramFlow> {
        Some(DatagramFlow {
            flow,
            ecn: if app.datagrams_ecn() { Ecn::Ect0 } else { Ecn::NotEct },
            source: DatagramSource::new(app, times, rng)?,
            sent: 0,
            sent_bytes: 0,
            received: 0,
            received_bytes: 0,
            ce_bytes: 0,
        })
    }

    /// When it sends next.
    pub fn next_timer(&self) -> Time {
        self.source.next_timer()
    }

    /// It is time to send.
    pub fn on_timer(&mut self, out: &mut Outbox<'_>) {
        let Some(bytes) = self.source.take(out.now) else { return };
        let mut packet = Packet::new(PacketKind::Datagram, self.flow, 0, self.sent, bytes, out.now);
        packet.ecn = self.ecn;
        out.send(packet);
        self.sent += 1;
        self.sent_bytes += u64::from(bytes);
    }

    /// A datagram arrives; returns its one-way delay.
    pub fn on_arrival(&mut self, now: Time, packet: &Packet) -> Span {
        let bytes = u64::from(packet.ip_bytes);
        self.received += 1;
        self.received_bytes += bytes;
        self.ce_bytes += if packet.ecn == Ecn::Ce { bytes } else { 0 };
        now.since(packet.sent)
    }
}
