//! The packet of the simulator: small, copied through rings, the same for data and
//! acknowledgements.

use sojourn_aqm::packet::linear_buffer_bytes;
use sojourn_aqm::{Cause, Ecn, Packet as AqmPacket, Stage, Time};
use sojourn_measure::{Measured, PacketView};

pub use sojourn_measure::PacketKind;

/// A range of segment numbers, from the first to one past the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Block {
    /// The first number.
    pub start: u32,
    /// One past the last; equal to `start` when the block is empty.
    pub end: u32,
}

impl Block {
    /// One segment.
    pub const fn one(seq: u32) -> Block {
        Block { start: seq, end: seq + 1 }
    }

    /// Whether it names no segment.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// The field of the AccECN option that counts bytes received with CE, modulo 2^24 (RFC 9768
/// §3.2.3). Three bytes, so that a packet does not grow by the option's padding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CeBytes([u8; 3]);

impl CeBytes {
    /// A count of `bytes`.
    pub const fn new(bytes: u32) -> CeBytes {
        let [low, middle, high, _] = bytes.to_le_bytes();
        CeBytes([low, middle, high])
    }

    /// As a number.
    pub const fn get(self) -> u32 {
        let [low, middle, high] = self.0;
        u32::from_le_bytes([low, middle, high, 0])
    }
}

/// SACK blocks in one acknowledgement: three next to timestamps (RFC 2018 §3).
pub const SACK_BLOCKS: usize = 3;

/// The hosts that send and receive a flow, in two bytes: different numbers name hosts that several
/// groups share, the same number twice a pair that one group has to itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostPair([u8; 2]);

impl HostPair {
    /// The pair of a group, by place; pairs repeat after 256 groups.
    pub const fn own(group: usize) -> HostPair {
        HostPair([group as u8; 2])
    }

    /// Two hosts of those that groups share.
    pub fn shared(numbers: [u8; 2]) -> HostPair {
        debug_assert_ne!(numbers[0], numbers[1], "a host does not send to itself");
        HostPair(numbers)
    }

    /// The number of one host, which no other host has.
    fn number(self, receives: bool) -> u64 {
        let HostPair([sender, receiver]) = self;
        match (sender == receiver, receives) {
            (true, _) => u64::from(sender) << 1 | u64::from(receives),
            (false, true) => SHARED | u64::from(receiver),
            (false, false) => SHARED | u64::from(sender),
        }
    }
}

/// Own pairs have smaller numbers.
const SHARED: u64 = 1 << 9;

/// A packet on its way. Its direction follows from its kind.
///
/// What links and disciplines look at or change comes first, in 32 bytes: where a copy reads what
/// was written in smaller pieces just before, a processor waits until that is in its caches.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// The flow it belongs to.
    pub flow: u32,
    /// Segment number, acknowledgement number or count, by kind.
    pub seq: u32,
    /// IP size in bytes.
    pub ip_bytes: u32,
    /// Size as the link it is on accounts it: IP size and that link's framing.
    pub link_bytes: u32,
    /// The link it is on, or the next one: a place in the world's table of routes.
    pub hop: u32,
    /// The connection of the flow that it belongs to.
    pub connection: u16,
    /// What it is for.
    pub kind: PacketKind,
    /// Which connection of its flow it belongs to, where a flow has several at once.
    pub lane: u8,
    /// How often the connection has redrawn its hash, modulo 256.
    pub rehashes: u8,
    /// The hosts that send and receive the flow.
    pub hosts: HostPair,
    /// The ECN field.
    pub ecn: Ecn,
    /// The ECN field on arrival at the present queue.
    pub ecn_in: Ecn,
    /// Where and why the present queue marked it.
    pub marked: Option<(Stage, Cause)>,
    /// On data: congestion window reduced. On an acknowledgement: congestion experienced echo.
    pub signal: bool,
    /// When the transport sent it; in an acknowledgement the echo of a segment's (RFC 7323).
    pub sent: Time,
    /// The receiver's timestamp clock, in its ticks modulo 2^32: in an acknowledgement when it was
    /// sent, in data the echo of that (RFC 7323 §3.2).
    pub stamp: u32,
    /// In an acknowledgement: segments that the receiver offers beyond `seq`.
    pub window: u32,
    /// Blocks received out of order, most recent first.
    pub sack: [Block; SACK_BLOCKS],
    /// Bytes that the receiver offers beyond `window`.
    pub window_rest: u16,
    /// On data: PSH (RFC 9293 §3.9.1.2).
    pub push: bool,
    /// The flags AE, CWR and ECE as one number. On SYN and SYN-ACK what feedback of marks is asked
    /// for and granted, on an acknowledgement packets received with CE, modulo eight (RFC 9768
    /// §3.1, §3.2.2).
    pub ace: u8,
    /// Bytes received with CE; none without the option.
    pub ce_bytes: Option<CeBytes>,
}

impl Packet {
    /// A packet about to be sent.
    pub fn new(
        kind: PacketKind,
        flow: u32,
        connection: u16,
        seq: u32,
        bytes: u32,
        now: Time,
    ) -> Packet {
        Packet {
            flow,
            seq,
            ip_bytes: bytes,
            link_bytes: bytes,
            sent: now,
            sack: [Block::default(); SACK_BLOCKS],
            window: u32::MAX,
            window_rest: 0,
            push: false,
            stamp: 0,
            hop: 0,
            connection,
            kind,
            lane: 0,
            rehashes: 0,
            hosts: HostPair::own(0),
            ecn: Ecn::NotEct,
            ecn_in: Ecn::NotEct,
            marked: None,
            signal: false,
            ace: 0,
            ce_bytes: None,
        }
    }

    /// Whether it travels from receiver to sender.
    pub const fn is_reverse(&self) -> bool {
        matches!(self.kind, PacketKind::Ack | PacketKind::SynAck | PacketKind::Request)
    }
}

impl AqmPacket for Packet {
    fn bytes(&self) -> u32 {
        self.link_bytes
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }

    /// Data and acknowledgements of a flow are two flows to a router, as their 5-tuples differ; so
    /// are its connections (256 in turn).
    fn flow(&self) -> u64 {
        let connection = u64::from(self.connection) << 56 | u64::from(self.lane) << 40;
        connection | u64::from(self.flow) << 1 | u64::from(self.is_reverse())
    }

    fn sender_hash(&self) -> u64 {
        u64::from(self.rehashes) << 48 | self.flow()
    }

    fn src_host(&self) -> u64 {
        self.hosts.number(self.is_reverse())
    }

    fn dst_host(&self) -> u64 {
        self.hosts.number(!self.is_reverse())
    }

    /// A segment of TCP takes its payload and 1280 bytes (facts tcp-31 and qdisc-20).
    fn buffer_bytes(&self) -> u32 {
        match self.kind {
            PacketKind::Datagram => linear_buffer_bytes(self.ip_bytes),
            PacketKind::Data => self.ip_bytes.saturating_sub(HEADERS) + EMPTY_SEGMENT,
            _ => EMPTY_SEGMENT,
        }
    }
}

/// Headers of a segment with timestamps.
const HEADERS: u32 = 52;
/// Memory of a segment without payload on x86-64 (Linux 6.1: head of 1024 bytes, `struct sk_buff`
/// of 256).
const EMPTY_SEGMENT: u32 = 1280;

impl Measured for Packet {
    #[inline]
    fn view(&self) -> PacketView {
        PacketView {
            flow: self.flow,
            seq: self.seq,
            kind: self.kind,
            bytes: self.link_bytes,
            ecn_in: self.ecn_in,
            marked: self.marked,
        }
    }

    fn note_mark(&mut self, stage: Stage, cause: Cause) {
        self.marked = Some((stage, cause));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the ports of a host do: what a queue remembers of one connection is not the next one's.
    #[test]
    fn every_connection_of_a_flow_is_another_flow_to_a_router() {
        let packet = |connection| Packet::new(PacketKind::Data, 3, connection, 0, 1500, Time::ZERO);
        let flows: std::collections::BTreeSet<u64> = (0..200).map(|c| packet(c).flow()).collect();
        assert_eq!(flows.len(), 200);
        assert_eq!(packet(7).flow(), Packet { seq: 5, ..packet(7) }.flow());
    }

    #[test]
    fn a_packet_and_its_stamp_fit_a_cache_line_and_a_half() {
        assert!(size_of::<Packet>() <= 80, "{}", size_of::<Packet>());
    }
}
