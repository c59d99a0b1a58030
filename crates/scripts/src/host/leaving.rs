//! Segments sent by the host.

use sojourn_aqm::{Ecn, Time};
use sojourn_sim::packet::{Packet, PacketKind};
use sojourn_sim::tcp::Sender;
use sojourn_sim::tcp::accecn::OptionRule;
use sojourn_sim::tcp::negotiation::Mode;

use super::{SentSegment, Stage, TestedHost};
use crate::read::Counter;

/// A SYN counts as the byte before the first.
const FIRST: u32 = 1;

impl TestedHost {
    /// Lets the sender act, and sends the segments that it emits.
    pub(super) fn step(&mut self, now: Time, act: impl FnOnce(&mut Sender, &mut Vec<Packet>)) {
        let Stage::Open(ends) = &mut self.stage else { return };
        let mut packets = Vec::new();
        act(&mut ends.sender, &mut packets);
        for packet in packets {
            self.send_data(now, &packet);
        }
    }

    fn send_data(&mut self, now: Time, packet: &Packet) {
        let Stage::Open(ends) = &self.stage else { return };
        let accurate = ends.sender.ecn_mode() == Mode::Accurate;
        let probes = packet.kind == PacketKind::WindowProbe;
        let (seq, payload, fin) = if probes {
            let (una, _) = ends.sender.unacknowledged();
            (ends.outgoing.start(una), 0, false)
        } else {
            let (payload, fin) = ends.outgoing.payload(packet.seq);
            (FIRST + ends.outgoing.start(packet.seq), payload, fin)
        };
        let mut sent = self.acknowledgement(now);
        (sent.seq, sent.payload, sent.fin) = (seq, payload, fin);
        if !accurate {
            sent.ace |= u8::from(packet.signal) << 1;
        }
        // In classic mode only data is ECN-capable (RFC 3168 §6.1.4), unless all packets are.
        let only_data = !accurate && !self.control().needs().needs_ecn;
        sent.ecn = if only_data && payload == 0 { Ecn::NotEct } else { packet.ecn };
        self.sent.push_back(sent);
    }

    /// Sends an acknowledgement.
    pub(super) fn acknowledge(&mut self, now: Time) {
        let sent = self.acknowledgement(now);
        self.sent.push_back(sent);
    }

    /// A segment without data that acknowledges everything received.
    fn acknowledgement(&mut self, now: Time) -> SentSegment {
        let ack = self.receiver.acknowledge(now, 0, 0, 0);
        self.fin_due = Time::NEVER;
        let (mode, seq) = match &self.stage {
            Stage::Open(ends) => {
                let (una, nxt) = ends.sender.unacknowledged();
                // Nothing is counted in TIME-WAIT (Linux `tcp_v4_timewait_ack`).
                let is_over = ends.peer_fin && ends.outgoing.is_closed(una);
                let mode = if is_over { Mode::NotEcn } else { ends.sender.ecn_mode() };
                (mode, FIRST + ends.outgoing.start(nxt))
            }
            Stage::Closed | Stage::Listening | Stage::Opening(_) | Stage::Reset => {
                (Mode::NotEcn, FIRST)
            }
        };
        let byte = |segment| FIRST + self.incoming.byte(segment);
        let all_arrived = self.peer_fin_at == Some(self.incoming.byte(ack.seq));
        // After the FIN there is nothing left to report (Linux 7.2 `tcp_fin`, `tcp_sack_reset`).
        let blocks = ack.sack.iter().filter(|block| !block.is_empty() && !all_arrived);
        SentSegment {
            at: now,
            syn: false,
            fin: false,
            seq,
            payload: 0,
            ack: Some(byte(ack.seq) + u32::from(all_arrived)),
            ace: match mode {
                Mode::NotEcn => 0,
                Mode::Classic => u8::from(ack.signal),
                Mode::Accurate => ack.ace,
            },
            ecn: ack.ecn,
            sack: blocks.map(|block| (byte(block.start), byte(block.end))).collect(),
            stamps: self.stamps.then_some((now, self.echo(ack.sent))),
            accurate: self.option_fields(),
            sack_permitted: false,
        }
    }

    /// The timestamp to echo: the receiver's, or that of a later segment without data.
    fn echo(&self, received: Time) -> u32 {
        self.peer_stamp.max(received.as_nanos() as u32)
    }

    /// The fields of an AccECN option, once an option from the peer has shown that the path passes
    /// it (RFC 9768 §3.2.3.2.4).
    fn option_fields(&self) -> Vec<(Counter, u32)> {
        let passes = self.peer_option && self.settings.option != OptionRule::Never;
        if passes { fields_of(self.receiver.option_fields()) } else { Vec::new() }
    }

    /// A SYN or a SYN-ACK.
    pub(super) fn handshake(&self, now: Time, answers: bool) -> SentSegment {
        SentSegment {
            at: now,
            syn: true,
            fin: false,
            seq: 0,
            payload: 0,
            ack: answers.then_some(FIRST),
            ace: 0,
            ecn: Ecn::NotEct,
            sack: Vec::new(),
            stamps: self.stamps.then_some((now, self.peer_stamp)),
            accurate: Vec::new(),
            sack_permitted: self.sack,
        }
    }
}

/// The fields in the order written by Linux.
pub(super) fn fields_of(fields: impl IntoIterator<Item = u32>) -> Vec<(Counter, u32)> {
    [Counter::Ect1, Counter::Ce, Counter::Ect0].into_iter().zip(fields).collect()
}
