//! The size that a packet has on the line, after the link layer's framing.

use crate::packet::Packet;

crate::words! {
    /// Cells of a link layer.
    pub enum Cells {
        /// None.
        None = "none",
        /// 53 bytes for every 48 (ATM).
        Atm = "atm",
        /// One byte more for every 64 (PTM).
        Ptm = "ptm",
    }
}

/// The last steps from a frame's size to its size on the line: apply a minimum size, then count
/// cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packing {
    /// Least size of a frame.
    pub mpu: u64,
    /// Cells.
    pub cells: Cells,
}

impl Packing {
    /// Frames stay as they are.
    pub const NONE: Packing = Packing { mpu: 0, cells: Cells::None };

    /// The bytes that a frame takes on the line (Linux 6.1 sch_cake.c, cake_calc_overhead; without
    /// PTM also sch_generic.h, psched_l2t_ns, and tc's size tables, up to their rounding).
    #[inline]
    pub fn bytes(&self, frame: u64) -> u64 {
        let bytes = frame.max(self.mpu);
        match self.cells {
            Cells::None => bytes,
            Cells::Atm => bytes.div_ceil(48).saturating_mul(53),
            Cells::Ptm => bytes.saturating_add(bytes.div_ceil(64)),
        }
    }

    /// Whether this packing leaves every frame's size unchanged.
    pub fn is_none(&self) -> bool {
        *self == Packing::NONE
    }
}

/// The bytes that a link layer adds to a packet, and how it packs the sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Framing {
    /// Bytes added to a packet.
    pub overhead: i64,
    /// How the sum is packed.
    pub packing: Packing,
}

impl Framing {
    /// Packets stay as they are.
    pub const NONE: Framing = Framing { overhead: 0, packing: Packing::NONE };

    /// The bytes that a packet's segments take on the line.
    pub fn bytes_of(&self, packet: &impl Packet) -> u64 {
        let (further, each) = (packet.segments() - 1, packet.segment_bytes());
        let last = packet.bytes().saturating_sub(further.saturating_mul(each));
        u64::from(further) * self.bytes(each) + self.bytes(last)
    }

    /// The bytes that a packet of one segment takes on the line.
    #[inline]
    pub fn bytes(&self, packet: u32) -> u64 {
        let framed = i64::from(packet).saturating_add(self.overhead);
        self.packing.bytes(u64::try_from(framed).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framing(overhead: i64, mpu: u64, cells: Cells) -> Framing {
        Framing { overhead, packing: Packing { mpu, cells } }
    }

    /// Linux 6.1 sch_cake.c, cake_calc_overhead: the larger of a signed sum and the minimum size.
    #[test]
    fn a_negative_overhead_makes_packets_smaller_down_to_the_least_size() {
        let bytes = |overhead, mpu, packet| framing(overhead, mpu, Cells::None).bytes(packet);
        assert_eq!(bytes(-4, 0, 1514), 1510);
        assert_eq!((bytes(-4, 64, 66), bytes(-64, 0, 40)), (64, 0));
        // PPPoA over VC-mux behind Ethernet: a packet of 1478 + 10 bytes takes 31 cells.
        assert_eq!(framing(-4, 0, Cells::Atm).bytes(1478 + 14), 31 * 53);
    }

    /// Linux 6.1 sch_cake.c, cake_calc_overhead: ATM takes 53 bytes for 48, PTM one more for each
    /// 64.
    #[test]
    fn cells_and_the_least_size_are_accounted() {
        let bytes = |cells, packet| framing(0, 64, cells).bytes(packet);
        assert_eq!(bytes(Cells::None, 40), 64);
        assert_eq!((bytes(Cells::Atm, 96), bytes(Cells::Atm, 97)), (106, 159));
        assert_eq!((bytes(Cells::Ptm, 64), bytes(Cells::Ptm, 65)), (65, 67));
        assert_eq!(Framing::NONE.bytes(40), 40);
    }
}
