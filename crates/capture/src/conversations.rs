//! The connections of a run: their addresses and ports, and the bytes behind segment numbers.
//!
//! The flows of a group belong to one pair of hosts, `10.1.x.y` and `10.2.x.y`; each connection has
//! its own port at the sender.

use std::collections::BTreeMap;

use sojourn_aqm::Ecn;
use sojourn_scenario::Resolved;
use sojourn_sim::capture::{Point, Sighting};
use sojourn_sim::packet::{Packet, PacketKind};

/// The first port of senders.
const FIRST_PORT: u32 = 10_000;
/// Ports of a sender before the next address is taken.
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
    /// What the sender reports of the ECN field of the SYN-ACK, as AE, CWR and ECE (RFC 9768 table
    /// 3).
    pub(crate) syn_ack_ecn: u8,
    /// Where each segment begins, and where the last one ends.
    starts: Vec<u32>,
}

impl Conversation {
    /// The first byte of a segment, counted from the initial sequence number; for later numbers, of
    /// the next segment to be sent.
    pub(crate) fn start(&self, seq: u32) -> u32 {
        let last = self.starts.last().copied().unwrap_or(1);
        self.starts.get(seq as usize).copied().unwrap_or(last)
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
    // When the ports of one address are used up, the next one follows: 10.1, 10.3, 10.5, ...
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
    }
}

impl Conversation {
    /// A packet leaves its end for the first time or again.
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
            }
            _ => {}
        }
    }

    /// A packet reaches the other end.
    fn on_received(&mut self, packet: &Packet) {
        if packet.kind == PacketKind::SynAck {
            self.syn_ack_ecn = match packet.ecn {
                Ecn::NotEct => 2,
                Ecn::Ect1 => 3,
                Ecn::Ect0 => 4,
                Ecn::Ce => 6,
            };
        }
    }
}
