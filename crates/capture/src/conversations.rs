//! The connections of a run: their addresses and ports, and the bytes behind segment numbers.
//!
//! The flows of a group belong to one pair of hosts, `10.1.x.y` and `10.2.x.y`; each connection has
//! a separate port at the sender.

use std::collections::BTreeMap;

use sojourn_aqm::Ecn;
use sojourn_scenario::Resolved;
use sojourn_sim::capture::{Point, Sighting};
use sojourn_sim::packet::{Packet, PacketKind, SACK_BLOCKS};

/// The first port of senders.
const FIRST_PORT: u32 = 10_000;
/// Number of ports of a sender's address; after these the next address is used.
const PORTS: u32 = 50_000;
/// The port of receivers.
const SERVICE: u16 = 5_001;
/// The largest window scale (RFC 7323 §2.3).
const LARGEST_SCALE: u8 = 14;

/// One connection, or one stream of datagrams.
#[derive(Debug)]
pub(crate) struct Conversation {
    /// Address and port of the sender.
    pub(crate) sender: ([u8; 4], u16),
    /// Address and port of the receiver.
    pub(crate) receiver: ([u8; 4], u16),
    /// IP and TCP headers of data, bytes; 28 for datagrams.
    pub(crate) header_bytes: u32,
    /// Payload of a full segment.
    pub(crate) payload_bytes: u32,
    /// Window scale of the receiver.
    pub(crate) scale: u8,
    /// Whether both ends agreed on accurate feedback of marks.
    pub(crate) is_accurate: bool,
    /// The sender's report of the SYN-ACK's ECN field, as AE, CWR and ECE (RFC 9768 table 3).
    pub(crate) syn_ack_ecn: u8,
    /// Byte positions at which each segment begins and the last one ends.
    starts: Vec<u32>,
    /// The highest acknowledgement that reached the sender, in segments.
    acknowledged: u32,
    /// The segment that carries FIN.
    last: Option<u32>,
    /// Payload that the receiver got with ECT(1) and with ECT(0).
    received: [u32; 2],
    /// The ECT(1) and ECT(0) counts at each acknowledgement that has the AccECN option.
    reported: BTreeMap<Report, [u32; 2]>,
}

/// The fields that distinguish acknowledgements of a connection.
type Report = (u32, u32, u32, [(u32, u32); SACK_BLOCKS]);

fn report(packet: &Packet) -> Option<Report> {
    let ce_bytes = packet.ce_bytes?.get();
    Some((packet.seq, packet.stamp, ce_bytes, packet.sack.map(|block| (block.start, block.end))))
}

impl Conversation {
    /// The first byte of a segment, counted from the initial sequence number; for later numbers, of
    /// the next segment to be sent.
    pub(crate) fn start(&self, seq: u32) -> u32 {
        let last = self.starts.last().copied().unwrap_or(1);
        self.starts.get(seq as usize).copied().unwrap_or(last)
    }

    /// Where the segments before a number end; FIN uses a sequence number as well.
    pub(crate) fn end(&self, seq: u32) -> u32 {
        self.start(seq).wrapping_add(u32::from(self.last.is_some_and(|last| seq > last)))
    }

    /// Whether a segment carries FIN.
    pub(crate) fn is_last(&self, seq: u32) -> bool {
        self.last == Some(seq)
    }

    /// The byte counters ECT(1), CE and ECT(0) in the option of an acknowledgement, if it has one,
    /// from their initial values (RFC 9768 §3.2.3).
    pub(crate) fn counters(&self, packet: &Packet) -> Option<[u32; 3]> {
        let [ect1, ect0] = self.reported.get(&report(packet)?).copied().unwrap_or_default();
        Some([ect1 + 1, packet.ce_bytes?.get(), ect0 + 1])
    }

    /// Bytes that the receiver offers beyond an acknowledgement.
    pub(crate) fn window(&self, packet: &Packet) -> u64 {
        offered(packet, self.payload_bytes)
    }
}

fn offered(packet: &Packet, payload_bytes: u32) -> u64 {
    match packet.window {
        u32::MAX => u64::MAX,
        segments => u64::from(segments) * u64::from(payload_bytes) + u64::from(packet.window_rest),
    }
}

/// Which connection a packet belongs to: flow, number, and lane.
type Key = (u32, u16, u8);

const fn key(packet: &Packet) -> Key {
    (packet.flow, packet.connection, packet.labels.lane())
}

/// All connections of a run.
pub(crate) struct Conversations(BTreeMap<Key, Conversation>);

impl Conversations {
    /// Connections whose packets were seen.
    pub(crate) fn of(plan: &Resolved, sightings: &[Sighting]) -> Conversations {
        let mut groups = Vec::new();
        for (place, group) in plan.flows.iter().enumerate() {
            groups.extend(std::iter::repeat_n(place, group.count as usize));
        }
        let mut used = vec![0; plan.flows.len()];
        let mut found = BTreeMap::new();
        for sighting in sightings {
            let packet = &sighting.packet;
            let conversation = found.entry(key(packet)).or_insert_with(|| {
                let group = groups[packet.flow as usize];
                used[group] += 1;
                opened(plan, group, used[group] - 1)
            });
            match sighting.point {
                Point::Sent => conversation.on_sent(packet),
                Point::Received => conversation.on_received(packet),
                Point::Arrived(_) | Point::Left(_) => {}
            }
        }
        for conversation in found.values_mut() {
            conversation.close();
        }
        Conversations(found)
    }

    /// The connection of a packet.
    pub(crate) fn get(&self, packet: &Packet) -> &Conversation {
        &self.0[&key(packet)]
    }
}

/// The `number`th connection of a group, by index.
fn opened(plan: &Resolved, group: usize, number: u32) -> Conversation {
    let tcp = plan.flows[group].app.tcp();
    let [_, _, high, low] = (group as u32 + 1).to_be_bytes();
    // When the ports of one address are used up, the next address is used: 10.1, 10.3, 10.5, ...
    let net = 1 + 2 * (number / PORTS) as u8;
    Conversation {
        sender: ([10, net, high, low], (FIRST_PORT + number % PORTS) as u16),
        receiver: ([10, net + 1, high, low], SERVICE),
        header_bytes: tcp.map_or(28, |tcp| tcp.header_bytes),
        payload_bytes: tcp.map_or(0, |tcp| tcp.payload_bytes),
        scale: 0,
        is_accurate: false,
        syn_ack_ecn: 2,
        starts: vec![1],
        acknowledged: 0,
        last: None,
        received: [0; 2],
        reported: BTreeMap::new(),
    }
}

impl Conversation {
    /// A packet leaves its end, for the first time or as a retransmission.
    fn on_sent(&mut self, packet: &Packet) {
        let payload = packet.ip_bytes.saturating_sub(self.header_bytes);
        match packet.kind {
            PacketKind::Data if packet.seq as usize + 1 == self.starts.len() => {
                self.starts.push(self.start(packet.seq).wrapping_add(payload));
            }
            PacketKind::Ack | PacketKind::SynAck => {
                let window = self.window(packet);
                while self.scale < LARGEST_SCALE && window > 65_535 << self.scale {
                    self.scale += 1;
                }
                // 2, 3, 4 and 6 grant accurate feedback (RFC 9768 table 2).
                self.is_accurate |=
                    packet.kind == PacketKind::SynAck && matches!(packet.ace, 2 | 3 | 4 | 6);
                if let Some(report) = report(packet) {
                    self.reported.entry(report).or_insert(self.received);
                }
            }
            _ => {}
        }
    }

    /// A packet reaches the other end.
    fn on_received(&mut self, packet: &Packet) {
        match packet.kind {
            PacketKind::SynAck => {
                self.syn_ack_ecn = match packet.ecn {
                    Ecn::NotEct => 2,
                    Ecn::Ect1 => 3,
                    Ecn::Ect0 => 4,
                    Ecn::Ce => 6,
                };
            }
            PacketKind::Data => {
                let payload = packet.ip_bytes.saturating_sub(self.header_bytes);
                match packet.ecn {
                    Ecn::Ect1 => self.received[0] = self.received[0].wrapping_add(payload),
                    Ecn::Ect0 => self.received[1] = self.received[1].wrapping_add(payload),
                    Ecn::NotEct | Ecn::Ce => {}
                }
            }
            PacketKind::Ack => self.acknowledged = self.acknowledged.max(packet.seq),
            _ => {}
        }
    }

    /// A sender with more data sends it when all of the earlier data has been acknowledged. A
    /// sender that then sends nothing has closed its side with the last segment.
    fn close(&mut self) {
        let sent = self.starts.len() as u32 - 1;
        if sent > 0 && self.acknowledged == sent {
            self.last = Some(sent - 1);
        }
    }
}
