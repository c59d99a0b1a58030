//! A super-packet: several segments of data in one packet, until a discipline or the receiver
//! splits it (Linux `skb_shinfo(skb)->gso_segs`; fact qdisc-28).
//!
//! Its `seq` is that of its first segment and its sizes are those of all segments together. The
//! fields of acknowledgements hold the rest: `window` the number of segments, the first of `sack`
//! the sizes of each segment but the last, on the IP layer and on the current link.

use super::{Block, PacketKind};
use crate::packet::{Labels, Packet, SACK_BLOCKS};

/// Whether super-packets exist; the web page, which is to stay small, refuses them.
pub(crate) const SUPER_PACKETS: bool = !cfg!(target_arch = "wasm32");

/// The sizes of a segment that is not the last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SegmentSizes {
    pub(super) ip_bytes: u32,
    pub(super) link_bytes: u32,
}

impl Packet {
    /// Appends the segment that follows; only the last one may be shorter than the first.
    pub fn append_segment(&mut self, next: &Packet) {
        if self.kind == PacketKind::Data {
            self.kind = PacketKind::SuperPacket;
            self.window = 1;
            self.sack[0] = Block { start: self.ip_bytes, end: self.link_bytes };
        }
        debug_assert_eq!(next.seq, self.seq + self.window, "segments follow each other");
        debug_assert!(next.ip_bytes <= self.sack[0].start, "all but the last are full");
        self.window += 1;
        self.ip_bytes += next.ip_bytes;
        self.link_bytes += next.link_bytes;
        self.labels = self.labels.with(next.labels);
    }

    /// The number of segments of a super-packet.
    pub(super) fn segment_count(&self) -> u32 {
        self.window
    }

    /// The sizes of each segment of a super-packet but the last.
    pub(super) fn of_segment(&self) -> SegmentSizes {
        let Block { start: ip_bytes, end: link_bytes } = self.sack[0];
        SegmentSizes { ip_bytes, link_bytes }
    }

    /// Sets the size on a link, where a segment of some IP size takes as many bytes as `on_link`
    /// returns. Out of line, so that links without packing need not spill registers.
    #[inline(never)]
    pub(crate) fn resize(&mut self, on_link: impl Fn(u32) -> u32) {
        if !SUPER_PACKETS || self.kind != PacketKind::SuperPacket {
            let bytes = on_link(self.ip_bytes);
            if self.link_bytes != bytes {
                self.link_bytes = bytes; // see [`Packet`]
            }
            return;
        }
        let (ip_bytes, further) = (self.of_segment().ip_bytes, self.segment_count() - 1);
        let each = on_link(ip_bytes);
        self.sack[0].end = each;
        self.link_bytes = further * each + on_link(self.ip_bytes - further * ip_bytes);
    }

    /// Splits the first segment off a super-packet. CWR leaves with it (Linux tcp_offload.c,
    /// `tcp_gso_segment`); PSH stays for the last.
    pub(super) fn take_segment(&mut self) -> Packet {
        let SegmentSizes { ip_bytes, link_bytes } = self.of_segment();
        let mut first = Packet { ip_bytes, link_bytes, ..*self };
        first.labels = self.labels.without_push();
        first.become_segment();
        self.seq += 1;
        self.ip_bytes -= ip_bytes;
        self.link_bytes -= link_bytes;
        self.signal = false;
        self.window -= 1;
        if self.window == 1 {
            self.become_segment();
        }
        first
    }

    fn become_segment(&mut self) {
        self.kind = PacketKind::Data;
        self.window = u32::MAX;
        self.sack = [Block::default(); SACK_BLOCKS];
    }
}

impl Labels {
    const fn without_push(self) -> Labels {
        Labels(self.0 & !1)
    }
}

#[cfg(test)]
#[path = "super_packet_tests.rs"]
mod tests;
