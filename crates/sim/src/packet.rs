//! The packet of the simulator: small, copied through rings, one type for data and
//! acknowledgements.

use sojourn_aqm::packet::linear_buffer_bytes;
use sojourn_aqm::{Cause, Ecn, Packet as AqmPacket, Stage, TcpSegment, Time};
use sojourn_measure::{Measured, PacketView};

mod super_packet;

pub(crate) use super_packet::SUPER_PACKETS;

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

    /// Whether it contains no segment.
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

    /// The count as a number.
    pub const fn get(self) -> u32 {
        let [low, middle, high] = self.0;
        u32::from_le_bytes([low, middle, high, 0])
    }
}

/// SACK blocks in one acknowledgement: three fit in addition to timestamps (RFC 2018 §3).
pub const SACK_BLOCKS: usize = 3;

/// The hosts that send and receive a flow, in two bytes. Two different numbers name hosts that
/// several groups share; two equal numbers name a pair used by one group only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostPair([u8; 2]);

impl HostPair {
    /// The pair of the group with this index; pairs repeat after 256 groups.
    pub const fn own(group: usize) -> HostPair {
        HostPair([group as u8; 2])
    }

    /// Two of the hosts that groups share.
    pub fn shared(numbers: [u8; 2]) -> HostPair {
        debug_assert_ne!(numbers[0], numbers[1], "a host does not send to itself");
        HostPair(numbers)
    }

    /// The number of one host, unique among all hosts.
    fn number(self, receives: bool) -> u64 {
        let HostPair([sender, receiver]) = self;
        match (sender == receiver, receives) {
            (true, _) => u64::from(sender) << 1 | u64::from(receives),
            (false, true) => SHARED | u64::from(receiver),
            (false, false) => SHARED | u64::from(sender),
        }
    }
}

/// The label of a packet that a link made as a copy.
const COPY: u32 = 2;

/// Pairs of a single group have smaller numbers.
const SHARED: u64 = 1 << 9;

/// The labels common to a connection's packets (lane, hosts, DSCP), packed into one word that is
/// copied into each packet. The lowest bits, PSH and [`COPY`], differ by packet.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Labels(u32);

impl Labels {
    /// The labels of a segment with or without PSH (RFC 9293 §3.9.1.2); sending the segment adds
    /// the other labels.
    pub const fn new(push: bool) -> Labels {
        Labels(push as u32)
    }

    /// The labels of the packets of a flow, with a DSCP of at most 63.
    pub const fn of_flow(HostPair([sender, receiver]): HostPair, dscp: u8) -> Labels {
        Labels(u32::from_le_bytes([dscp << 2, sender, receiver, 0]))
    }

    /// The labels of one of the flow's connections.
    pub const fn on_lane(self, lane: u8) -> Labels {
        Labels(self.0 & 0x00ff_ffff | (lane as u32) << 24)
    }

    /// Adds the labels of the flow to those of a new packet.
    #[inline]
    pub const fn with(self, flow: Labels) -> Labels {
        Labels(self.0 | flow.0)
    }

    /// Which of the flow's concurrent connections the packet belongs to.
    pub const fn lane(self) -> u8 {
        self.0.to_le_bytes()[3]
    }

    /// The hosts that send and receive the flow.
    const fn hosts(self) -> HostPair {
        let [_, sender, receiver, _] = self.0.to_le_bytes();
        HostPair([sender, receiver])
    }

    /// The DSCP.
    pub const fn dscp(self) -> u8 {
        self.0.to_le_bytes()[0] >> 2
    }

    /// The same labels with DSCP 0.
    const fn without_dscp(self) -> Labels {
        Labels(self.0 & !0xfc)
    }

    /// Whether a link made the packet as a copy.
    pub const fn is_copy(self) -> bool {
        self.0 & COPY != 0
    }

    /// Whether PSH is set.
    pub const fn push(self) -> bool {
        self.0 & 1 != 0
    }
}

/// A packet in flight. Its direction follows from its kind.
///
/// Fields read or changed by links and disciplines come first, in 32 bytes: a wide copy that reads
/// bytes written by narrower stores just before stalls the CPU until those stores have completed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// The flow it belongs to.
    pub flow: u32,
    /// Segment number, acknowledgement number or count, by kind.
    pub seq: u32,
    /// IP size in bytes.
    pub ip_bytes: u32,
    /// Size as accounted by the current link: IP size plus that link's framing.
    pub link_bytes: u32,
    /// The current or next link: an index into the table of hops.
    pub hop: u32,
    /// Lane, hosts, DSCP and, on data, PSH.
    pub labels: Labels,
    /// The number of its connection.
    pub connection: u16,
    /// What the packet is for.
    pub kind: PacketKind,
    /// The ECN field.
    pub ecn: Ecn,
    /// The ECN field on arrival at the current queue.
    pub ecn_in: Ecn,
    /// Where and why the current queue marked it.
    pub marked: Option<(Stage, Cause)>,
    /// On data: CWR (congestion window reduced). On an acknowledgement: ECE (congestion experienced
    /// echo).
    pub signal: bool,
    /// When the transport sent it; in an acknowledgement, the echoed time of a segment (RFC 7323).
    pub sent: Time,
    /// The receiver's timestamp clock, in ticks modulo 2^32: on an acknowledgement, when it was
    /// sent; on data, the echo of that (RFC 7323 §3.2).
    pub stamp: u32,
    /// On an acknowledgement: segments that the receiver offers beyond `seq`.
    pub window: u32,
    /// Blocks received out of order, most recent first. In a super-packet, see its module.
    pub sack: [Block; SACK_BLOCKS],
    /// Bytes that the receiver offers beyond `window`.
    pub window_rest: u16,
    /// How often the connection has redrawn its hash, modulo 256.
    pub rehashes: u8,
    /// The flags AE, CWR and ECE as one number. On SYN and SYN-ACK: the ECN feedback requested and
    /// granted. On an acknowledgement: packets received with CE, modulo eight (RFC 9768 §3.1,
    /// §3.2.2).
    pub ace: u8,
    /// Bytes received with CE; `None` without the option.
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
            rehashes: 0,
            stamp: 0,
            hop: 0,
            labels: Labels::default(),
            connection,
            kind,
            ecn: Ecn::NotEct,
            ecn_in: Ecn::NotEct,
            marked: None,
            signal: false,
            ace: 0,
            ce_bytes: None,
        }
    }

    /// A copy of it.
    pub const fn copied(&self) -> Packet {
        Packet { labels: Labels(self.labels.0 | COPY), ..*self }
    }

    /// Whether a link made it as a copy.
    pub const fn is_copy(&self) -> bool {
        self.labels.is_copy()
    }

    /// Whether it travels from receiver to sender.
    pub const fn is_reverse(&self) -> bool {
        use PacketKind::{Ack, Echo, Request, SynAck};
        matches!(self.kind, Ack | SynAck | Request | Echo)
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

    /// To a router, data and acknowledgements of a flow are two flows, because their 5-tuples
    /// differ. The flow's connections, modulo 256, are separate flows too.
    fn flow(&self) -> u64 {
        let connection = u64::from(self.connection) << 56 | u64::from(self.labels.lane()) << 40;
        connection | u64::from(self.flow) << 1 | u64::from(self.is_reverse())
    }

    fn sender_hash(&self) -> u64 {
        u64::from(self.rehashes) << 48 | self.flow()
    }

    fn dscp(&self) -> u8 {
        self.labels.dscp()
    }

    fn clear_dscp(&mut self) {
        self.labels = self.labels.without_dscp();
    }

    fn src_host(&self) -> u64 {
        self.labels.hosts().number(self.is_reverse())
    }

    fn dst_host(&self) -> u64 {
        self.labels.hosts().number(!self.is_reverse())
    }

    /// Acknowledgements in segments. Other packets are never filtered and never replace an
    /// acknowledgement: data and acknowledgements of a connection go in opposite directions.
    fn tcp(&self) -> Option<TcpSegment> {
        const AE: u8 = 4;
        if self.kind != PacketKind::Ack {
            return None;
        }
        let mut sack = [[0; 2]; 4];
        let blocks = self.sack.iter().filter(|block| !block.is_empty());
        let blocks = blocks.zip(&mut sack).map(|(block, to)| *to = [block.start, block.end]);
        let sack_count = blocks.count() as u8;
        Some(TcpSegment {
            ack: self.seq,
            has_ack: true,
            has_syn: false,
            // A reserved flag and an option that the filter does not know: those of AccECN.
            is_pure_ack: self.ace & AE == 0 && self.ce_bytes.is_none(),
            ecn_echo: self.ace & 3 | u8::from(self.signal),
            stamps: Some([self.stamp, (self.sent.as_nanos() / 1_000_000) as u32]),
            sack,
            sack_count,
        })
    }

    fn segments(&self) -> u32 {
        match self.kind {
            PacketKind::SuperPacket if SUPER_PACKETS => self.segment_count(),
            _ => 1,
        }
    }

    fn segment_bytes(&self) -> u32 {
        match self.kind {
            PacketKind::SuperPacket if SUPER_PACKETS => self.of_segment().link_bytes,
            _ => self.link_bytes,
        }
    }

    fn split_first(&mut self) -> Option<Packet> {
        let is_whole = SUPER_PACKETS && self.kind == PacketKind::SuperPacket;
        is_whole.then(|| self.take_segment())
    }

    /// A TCP segment occupies its payload plus 1280 bytes (facts tcp-31 and qdisc-20).
    fn buffer_bytes(&self) -> u32 {
        match self.kind {
            PacketKind::Datagram | PacketKind::Echo => linear_buffer_bytes(self.ip_bytes),
            PacketKind::Data => self.ip_bytes.saturating_sub(HEADERS) + EMPTY_SEGMENT,
            PacketKind::SuperPacket if SUPER_PACKETS => {
                self.ip_bytes.saturating_sub(HEADERS * self.segment_count()) + EMPTY_SEGMENT
            }
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
            dscp: self.labels.dscp(),
            marked: self.marked,
            is_copy: self.labels.is_copy(),
        }
    }

    fn note_mark(&mut self, stage: Stage, cause: Cause) {
        self.marked = Some((stage, cause));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As with the ports of a host, state that a queue keeps for one connection does not apply to
    /// the next.
    #[test]
    fn every_connection_of_a_flow_is_another_flow_to_a_router() {
        let packet = |connection| Packet::new(PacketKind::Data, 3, connection, 0, 1500, Time::ZERO);
        let flows: std::collections::BTreeSet<u64> = (0..200).map(|c| packet(c).flow()).collect();
        assert_eq!(flows.len(), 200);
        assert_eq!(packet(7).flow(), Packet { seq: 5, ..packet(7) }.flow());
    }

    /// Linux 6.1 sch_cake.c, cake_tcph_may_drop: segments with reserved flags or unknown options
    /// are kept.
    #[test]
    fn an_ack_filter_sees_acknowledgements_and_leaves_accurate_ecn_alone() {
        let mut ack = Packet::new(PacketKind::Ack, 3, 0, 70, 52, Time::ZERO);
        ack.sack[0] = Block { start: 72, end: 75 };
        let seen = ack.tcp().unwrap();
        assert_eq!((seen.ack, seen.sack_blocks()), (70, &[[72, 75]][..]));
        assert!(seen.is_pure_ack);
        assert!(!Packet { ace: 5, ..ack }.tcp().unwrap().is_pure_ack);
        assert_eq!(Packet { signal: true, ..ack }.tcp().unwrap().ecn_echo, 1);
        assert_eq!(Packet { kind: PacketKind::Data, ..ack }.tcp(), None);
    }

    #[test]
    fn a_packet_and_its_stamp_fit_a_cache_line_and_a_half() {
        assert!(size_of::<Packet>() <= 80, "{}", size_of::<Packet>());
    }
}
