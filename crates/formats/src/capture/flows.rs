//! The flows of a capture: the data of each direction, and its round-trip times.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::packet::{Packet, Tcp};
use super::reported::Reported;

/// Most flows kept; a packet of a further flow ends the reading.
pub(super) const MOST_FLOWS: usize = 1_000_000;
/// New data after a pause of this length begins a new transfer.
const PAUSE_NS: u64 = 1_000_000_000;
/// RFC 7323 §2.3.
const LARGEST_WINDOW: u64 = 1 << 30;

/// A connection, or datagrams between two ports.
pub(super) struct Flow {
    /// The end that sent the SYN; without one, the end that talked to a port below 1024, or from
    /// an ephemeral port to one that is not, or else the sender of the first packet.
    pub(super) client: SocketAddr,
    pub(super) server: SocketAddr,
    pub(super) protocol: u8,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    pub(super) syn_ns: Option<u64>,
    syn_seq: Option<u32>,
    syn_ack_ns: Option<u64>,
    /// Whether two SYNs were seen, so that it is unknown which one was answered.
    is_repeated: bool,
    /// The time from the SYN to the client's first acknowledgement, if SYN and SYN-ACK were sent
    /// once.
    pub(super) handshake_ns: Option<u64>,
    /// AE, CWR and ECE of the SYN and of the SYN-ACK.
    pub(super) asked: Option<u8>,
    pub(super) granted: Option<u8>,
    /// The smaller MSS of both ends.
    pub(super) mss: Option<u16>,
    pub(super) has_ended: bool,
    /// From the client, and to the client.
    pub(super) halves: [Half; 2],
}

/// One direction of a flow.
#[derive(Default)]
pub(super) struct Half {
    pub(super) packets: u64,
    /// Bytes, counted from the IP header on.
    pub(super) bytes: u64,
    /// Payload, retransmissions included.
    pub(super) payload_bytes: u64,
    /// TCP: packets whose payload had been sent before or came out of order.
    pub(super) repeated: u64,
    /// Packets by the ECN field: not-ECT, ECT(1), ECT(0), CE.
    pub(super) ecn: [u64; 4],
    /// The DSCP of the first packet.
    pub(super) dscp: u8,
    pub(super) largest_bytes: u32,
    /// TCP: the end of the highest byte, unwrapped.
    highest: Option<u64>,
    /// TCP: what the other end has reported.
    reported: Reported,
    /// TCP: bytes sent at least once.
    unique: u64,
    /// TCP: the starts of transfers, and the bytes before each.
    transfers: Vec<(u64, u64)>,
    last_payload_ns: u64,
    /// A byte whose acknowledgement is awaited, and when it was sent; never a byte that was sent
    /// twice (RFC 6298 §3).
    timed: Option<(u64, u64)>,
    pub(super) round_trips: RoundTrips,
}

/// Times from data to its acknowledgement, as seen at the capture point.
#[derive(Clone, Copy, Default)]
pub(super) struct RoundTrips {
    pub(super) samples: u64,
    pub(super) least_ns: u64,
    pub(super) most_ns: u64,
}

impl Half {
    /// Bytes that TCP delivered, each counted once, or all payload of datagrams.
    pub(super) fn unique_bytes(&self) -> u64 {
        if self.highest.is_some() { self.unique } else { self.payload_bytes }
    }

    /// Start and bytes of every transfer.
    pub(super) fn transfers(&self) -> impl Iterator<Item = (u64, u64)> {
        let ends = self.transfers.iter().skip(1).map(|&(_, at)| at).chain([self.unique]);
        self.transfers.iter().zip(ends).map(|(&(t, at), end)| (t, end - at))
    }

    fn count(&mut self, packet: &Packet) {
        if self.packets == 0 {
            self.dscp = packet.dscp;
        }
        self.packets += 1;
        self.bytes += u64::from(packet.ip_bytes);
        self.payload_bytes += u64::from(packet.payload_bytes);
        self.ecn[usize::from(packet.ecn)] += 1;
        self.largest_bytes = self.largest_bytes.max(packet.ip_bytes);
    }

    fn on_segment(&mut self, t: u64, tcp: &Tcp, payload_bytes: u32, pause: bool) {
        // Unwrapped numbers start at 2^32, so that earlier ones that arrive late remain positive.
        let seq = tcp.seq.wrapping_add(u32::from(tcp.syn));
        let first = u64::from(seq) + (1 << 32);
        if self.highest.is_none() {
            self.reported = Reported::from(first);
        }
        let mut highest = *self.highest.get_or_insert(first);
        if payload_bytes == 0 {
            return;
        }
        let payload = u64::from(payload_bytes);
        let mut at = unwrapped(highest, seq);
        if at.abs_diff(highest) > LARGEST_WINDOW {
            // This is a later connection, whose handshake was not captured.
            (at, highest) = (first, first);
            self.reported = Reported::from(first);
        }
        let end = at + payload;
        if at < highest {
            self.repeated += 1;
            self.timed = None;
        }
        if end > highest {
            if self.transfers.is_empty() || pause {
                self.transfers.push((t, self.unique));
            }
            self.unique += end - highest;
            if at >= highest && self.timed.is_none() {
                self.timed = Some((end, t));
            }
        }
        self.highest = Some(end.max(highest));
        self.last_payload_ns = t;
    }

    /// The bytes that an acknowledgement is the first to report.
    fn newly_reported(&mut self, ack: u32, sack: &[(u32, u32)]) -> u32 {
        let Some(highest) = self.highest else { return 0 };
        let most = highest + LARGEST_WINDOW;
        let ack = unwrapped(highest, ack);
        // A number far beyond all data is damaged.
        let mut new = if ack <= most { self.reported.acknowledge(ack) } else { 0 };
        for &(start, end) in sack {
            let (start, end) = (unwrapped(highest, start), unwrapped(highest, end));
            new += if end <= most { self.reported.add(start, end) } else { 0 };
        }
        u32::try_from(new).unwrap_or(0)
    }

    /// Records that the other end acknowledges everything up to a number.
    fn on_ack(&mut self, t: u64, ack: u32) {
        let Some((end, sent)) = self.timed else { return };
        if unwrapped(end, ack) < end {
            return;
        }
        self.timed = None;
        let Some(span) = t.checked_sub(sent) else { return };
        let trips = &mut self.round_trips;
        trips.least_ns = if trips.samples == 0 { span } else { trips.least_ns.min(span) };
        trips.most_ns = trips.most_ns.max(span);
        trips.samples += 1;
    }
}

/// The number closest to another one, among those whose last 32 bits are `seq`.
fn unwrapped(near: u64, seq: u32) -> u64 {
    near.saturating_add_signed(i64::from(seq.wrapping_sub(near as u32).cast_signed()))
}

impl Flow {
    fn new(t: u64, packet: &Packet) -> Flow {
        let is_answer = match packet.tcp {
            Some(tcp) if tcp.syn => tcp.ack.is_some(),
            _ => rank(packet.source) < rank(packet.destination),
        };
        let (mut client, mut server) = (packet.source, packet.destination);
        if is_answer {
            std::mem::swap(&mut client, &mut server);
        }
        Flow {
            client,
            server,
            protocol: packet.protocol,
            first_ns: t,
            last_ns: t,
            syn_ns: None,
            syn_seq: None,
            syn_ack_ns: None,
            is_repeated: false,
            handshake_ns: None,
            asked: None,
            granted: None,
            mss: None,
            has_ended: false,
            halves: [Half::default(), Half::default()],
        }
    }

    /// 0 for packets from the client, 1 for those to it.
    fn way(&self, packet: &Packet) -> usize {
        usize::from(packet.source != self.client)
    }

    /// Counts a packet; returns the bytes of the other direction that it acknowledges first.
    fn on_packet(&mut self, t: u64, packet: &Packet) -> u32 {
        let way = self.way(packet);
        self.first_ns = self.first_ns.min(t);
        self.last_ns = self.last_ns.max(t);
        self.halves[way].count(packet);
        let Some(tcp) = &packet.tcp else { return 0 };
        self.handshake(t, tcp, way);
        let last = self.halves.iter().map(|half| half.last_payload_ns).max().unwrap_or(0);
        let pause = t.saturating_sub(last) >= PAUSE_NS;
        self.halves[way].on_segment(t, tcp, packet.payload_bytes, pause);
        self.has_ended |= tcp.fin || tcp.rst;
        let Some(ack) = tcp.ack else { return 0 };
        self.halves[1 - way].on_ack(t, ack);
        self.halves[1 - way].newly_reported(ack, &tcp.sack)
    }

    fn handshake(&mut self, t: u64, tcp: &Tcp, way: usize) {
        if tcp.syn {
            self.mss = [self.mss, tcp.mss].into_iter().flatten().min();
            let (flags, at) = match tcp.ack {
                None => (&mut self.asked, &mut self.syn_ns),
                Some(_) => (&mut self.granted, &mut self.syn_ack_ns),
            };
            *flags = flags.or(Some(tcp.ecn_flags));
            self.is_repeated |= at.is_some();
            *at = at.or(Some(t));
            if tcp.ack.is_none() {
                self.syn_seq = Some(tcp.seq);
            }
        } else if way == 0 && self.handshake_ns.is_none() && !self.is_repeated {
            let both = self.syn_ns.zip(self.syn_ack_ns);
            self.handshake_ns = both.and_then(|(syn, _)| t.checked_sub(syn));
        }
    }

    /// Whether a SYN opens a new connection between the same ports.
    fn is_over_at(&self, packet: &Packet) -> bool {
        let Some(tcp) = packet.tcp else { return false };
        let is_open = tcp.syn && tcp.ack.is_none();
        is_open && self.syn_seq != Some(tcp.seq) && (self.syn_seq.is_some() || self.has_ended)
    }
}

/// Ports of services, others, and ephemeral ones (Linux's begin at 32768, other systems' later); 0
/// stands for no port.
fn rank(end: SocketAddr) -> u8 {
    match end.port() {
        1..1024 => 0,
        1024..32_768 => 1,
        _ => 2,
    }
}

/// Both ends in one order, and the protocol.
type Key = (SocketAddr, SocketAddr, u8);

/// All flows, in the order of their first packets.
#[derive(Default)]
pub(super) struct Flows {
    pub(super) all: Vec<Flow>,
    current: HashMap<Key, usize>,
}

impl Flows {
    /// Counts a packet; returns 0 if it comes from the client, 1 if it goes to the client, with the
    /// bytes of the other direction that it acknowledges first, and `None` if it belongs to a new
    /// flow and the table is full.
    pub(super) fn on_packet(&mut self, t: u64, packet: &Packet) -> Option<(usize, u32)> {
        let ends = (packet.source, packet.destination);
        let key = (ends.0.min(ends.1), ends.0.max(ends.1), packet.protocol);
        let known = self.current.get(&key).copied();
        let index = match known.filter(|&index| !self.all[index].is_over_at(packet)) {
            Some(index) => index,
            None if self.all.len() == MOST_FLOWS => return None,
            None => {
                self.all.push(Flow::new(t, packet));
                self.current.insert(key, self.all.len() - 1);
                self.all.len() - 1
            }
        };
        let flow = &mut self.all[index];
        let acknowledged = flow.on_packet(t, packet);
        Some((flow.way(packet), acknowledged))
    }
}
