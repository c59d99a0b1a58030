//! The properties of a packet that laws and disciplines see.

use crate::time::{Rate, Span, Time};

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// The transport is not ECN-capable.
    #[default]
    NotEct = 0,
    /// ECN-capable; also the identifier of L4S (RFC 9331).
    Ect1 = 1,
    /// ECN-capable.
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// Whether a mark would reach the sender: ECT(0), ECT(1) or already CE.
    ///
    /// A rule that marks every packet that can be marked also marks packets that are already CE
    /// (Linux 6.1 inet_ecn.h, INET_ECN_set_ce).
    pub const fn can_mark(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
}

/// The properties that laws and disciplines need; the host defines the rest.
///
/// ```
/// use sojourn_aqm::{Ecn, Packet};
///
/// struct Datagram {
///     payload: Vec<u8>,
///     connection: u64,
///     ecn: Ecn,
/// }
///
/// impl Packet for Datagram {
///     fn bytes(&self) -> u32 {
///         self.payload.len() as u32 + 28 // IPv4 and UDP headers
///     }
///     fn ecn(&self) -> Ecn {
///         self.ecn
///     }
///     fn set_ce(&mut self) {
///         self.ecn = Ecn::Ce;
///     }
///     fn flow(&self) -> u64 {
///         self.connection
///     }
/// }
///
/// let mut datagram = Datagram { payload: vec![0; 1200], connection: 7, ecn: Ecn::Ect0 };
/// assert_eq!((datagram.bytes(), datagram.src_host()), (1228, 7));
/// if datagram.ecn().can_mark() {
///     datagram.set_ce();
/// }
/// assert_eq!(datagram.ecn(), Ecn::Ce);
/// ```
pub trait Packet {
    /// Size in bytes as the link accounts it.
    fn bytes(&self) -> u32;
    /// The ECN field.
    fn ecn(&self) -> Ecn;
    /// Sets the ECN field to CE; called only where [`Ecn::can_mark`] holds.
    fn set_ce(&mut self);
    /// Identifies the flow (a 5-tuple hash or an index).
    fn flow(&self) -> u64;
    /// Selects the queue in disciplines that trust the sender's hash (Linux `skb->hash`: fq_codel,
    /// fq_pie and cake read it; sfq, sfb and choke hash addresses and ports).
    fn sender_hash(&self) -> u64 {
        self.flow()
    }
    /// Identifies the sending host; the flow's number if hosts are unknown.
    fn src_host(&self) -> u64 {
        self.flow()
    }
    /// Identifies the receiving host; the flow's number if hosts are unknown.
    fn dst_host(&self) -> u64 {
        self.flow()
    }
    /// The differentiated services code point, 0..=63.
    fn dscp(&self) -> u8 {
        0
    }
    /// Sets the differentiated services code point to 0 (`wash` of CAKE).
    fn clear_dscp(&mut self) {}
    /// Linux's `skb->priority`, 0..=15: for forwarded packets it follows from the DSCP.
    fn priority(&self) -> u8 {
        priority_of_dscp(self.dscp())
    }
    /// The connected socket that sent it, on a host where fq sees local sockets.
    fn socket(&self) -> Option<u64> {
        None
    }
    /// The rate that its sender asks fq to keep (`SO_MAX_PACING_RATE`).
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    /// The earliest departure that its sender allows (Linux `skb->tstamp`).
    fn departure(&self) -> Option<Time> {
        None
    }
    /// Its TCP header, for CAKE's ACK filter; `None` if it is not TCP, or if the host does not
    /// know.
    fn tcp(&self) -> Option<TcpSegment> {
        None
    }
    /// Segments of a super-packet (Linux `gso_segs`): data that a host with segmentation offload
    /// has not split yet. Other packets have one.
    fn segments(&self) -> u32 {
        1
    }
    /// Size of each segment but the last, as the link accounts it.
    fn segment_bytes(&self) -> u32 {
        self.bytes()
    }
    /// Splits the first segment off a super-packet; `None` for a packet of one segment.
    fn split_first(&mut self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
    /// Memory that a Linux host allocates for the packet (`truesize`), for limits on that memory.
    fn buffer_bytes(&self) -> u32 {
        linear_buffer_bytes(self.bytes())
    }
}

/// The priority of a DSCP: its lower bits, read as the old type of service (Linux 6.1 route.c,
/// `ip_tos2prio`).
pub const fn priority_of_dscp(dscp: u8) -> u8 {
    [0, 0, 2, 2, 6, 6, 4, 4][dscp as usize & 7]
}

/// The fields of a TCP header that an ACK filter reads. Sequence numbers count bytes or segments
/// and wrap at 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpSegment {
    /// The acknowledgement number.
    pub ack: u32,
    /// Whether ACK is set.
    pub has_ack: bool,
    /// Whether SYN is set.
    pub has_syn: bool,
    /// Whether it has no payload, no flags other than ACK, CWR and ECE, and no options other than
    /// SACK, timestamps and MD5.
    pub is_pure_ack: bool,
    /// CWR and ECE: two bits.
    pub ecn_echo: u8,
    /// Timestamp value and timestamp echo (RFC 7323).
    pub stamps: Option<[u32; 2]>,
    /// SACK blocks: the first sequence number of each, and the number after its last.
    pub sack: [[u32; 2]; 4],
    /// Number of SACK blocks in use.
    pub sack_count: u8,
}

impl TcpSegment {
    /// The SACK blocks.
    pub fn sack_blocks(&self) -> &[[u32; 2]] {
        &self.sack[..usize::from(self.sack_count.min(4))]
    }
}

/// Memory of a contiguous datagram of `bytes` (Linux 6.1, x86-64: `__ip_append_data` adds 31 bytes
/// for the link's header, `__alloc_skb` rounds to cache lines, appends `skb_shared_info` of 320
/// bytes and takes a power of two; `struct sk_buff` takes 256 bytes; fact qdisc-20).
pub const fn linear_buffer_bytes(bytes: u32) -> u32 {
    let data = (bytes as u64 + 31).next_multiple_of(64) + 320;
    let buffer = data.next_power_of_two() + 256;
    if buffer > u32::MAX as u64 { u32::MAX } else { buffer as u32 }
}

/// The packet in hand, as a law sees it: on arrival, or at the head when it is about to leave.
///
/// The layout is that of `sojourn_law_head` in `sojourn_law.h`: laws in libraries read this struct
/// in place.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Head {
    /// When it was accepted into the queue; `now` on arrival.
    pub enqueued: Time,
    /// Size in bytes.
    pub bytes: u32,
    /// The ECN field.
    pub ecn: Ecn,
}

impl Head {
    /// Sojourn time: how long the packet has waited.
    pub const fn sojourn(&self, now: Time) -> Span {
        now.since(self.enqueued)
    }
}

/// The backlog without the packet in hand: before the packet is added on arrival, after it is
/// removed on departure, as in RFC 8033 Appendix A, RFC 8289 §5.6, Linux and ns-3.
///
/// The layout is that of `sojourn_law_queue` in `sojourn_law.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Backlog {
    /// Bytes in this law's queue.
    pub bytes: u64,
    /// Bytes waiting for the same link in all queues of the discipline, for CoDel's MTU test (RFC
    /// 8289 §4.4); with a single queue it equals `bytes`.
    pub link_bytes: u64,
    /// Packets in this law's queue.
    pub packets: u32,
}

impl Backlog {
    /// An empty queue.
    pub const EMPTY: Backlog = Backlog { packets: 0, bytes: 0, link_bytes: 0 };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Numbered;

    /// The memory that a guest with Linux 6.1 allocates (fact qdisc-20).
    #[test]
    fn a_datagram_takes_a_power_of_two_and_its_descriptor() {
        let sizes = [28, 100, 161, 162, 600, 673, 674, 1000, 1500];
        let buffers = sizes.map(linear_buffer_bytes);
        assert_eq!(buffers, [768, 768, 768, 1280, 1280, 1280, 2304, 2304, 2304]);
        assert_eq!(linear_buffer_bytes(u32::MAX), u32::MAX);
    }

    #[test]
    fn where_hosts_are_not_known_every_flow_has_its_own_hosts() {
        let packet = Numbered::new(1, 7, 1000);
        assert_eq!([packet.src_host(), packet.dst_host()], [7, 7]);
    }
}
