//! Tokens of a class, counted in nanoseconds at its rate.

use crate::framing::Framing;
use crate::time::Rate;

/// The longest time that counts, and the largest debt (Linux 6.1 sch_htb.c, htb_change_class:
/// `mbuffer`).
pub(super) const LONGEST_NS: i64 = 60_000_000_000;

/// The transmission time of a packet at a rate, by a multiplication and a shift (Linux 6.1
/// sch_generic.c, psched_ratecfg_precompute__, and sch_generic.h, psched_l2t_ns).
#[derive(Clone, Copy, Debug)]
struct PacketTime {
    multiplier: u64,
    shift: u32,
}

impl PacketTime {
    fn at(rate: Rate) -> PacketTime {
        let bytes_per_sec = (rate.as_bps() / 8).max(1);
        let (mut factor, mut shift) = (1_000_000_000_u64, 0);
        loop {
            let multiplier = (factor / bytes_per_sec) & u64::from(u32::MAX);
            if multiplier >> 31 == 1 || factor >> 63 == 1 {
                return PacketTime { multiplier, shift };
            }
            (factor, shift) = (factor << 1, shift + 1);
        }
    }

    fn of(self, bytes: u64) -> i64 {
        ((bytes * self.multiplier) >> self.shift) as i64 // a packet has less than 2^20 bytes
    }
}

/// A bucket of tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tokens {
    time: PacketTime,
    depth_ns: i64,
    pub(super) ns: i64,
}

impl Tokens {
    /// A full bucket. tc gives the kernel its depth in units of 64 ns, rounded up (iproute2 6.1
    /// tc/tc_core.c, tc_calc_xmittime).
    pub(super) fn full(rate: Rate, depth_bytes: u64) -> Tokens {
        const TICK_NS: u128 = 64;
        let bytes_per_sec = u128::from((rate.as_bps() / 8).max(1));
        let ticks = (u128::from(depth_bytes) * 1_000_000_000).div_ceil(bytes_per_sec * TICK_NS);
        let depth_ns = i64::try_from(ticks * TICK_NS).expect("a bucket holds at most 1 GB");
        Tokens { time: PacketTime::at(rate), depth_ns, ns: depth_ns }
    }

    /// Adds the tokens of an elapsed time and takes those of a packet (htb_accnt_tokens).
    pub(super) fn charge(&mut self, elapsed_ns: i64, bytes: u32, framing: &Framing) {
        let full = self.ns.saturating_add(elapsed_ns).min(self.depth_ns);
        let left = full - self.time.of(framing.bytes(bytes));
        self.ns = if left <= -LONGEST_NS { 1 - LONGEST_NS } else { left };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::{Cells, Packing};

    #[test]
    fn a_packet_takes_its_time_at_the_rate() {
        let at = |bps, bytes| PacketTime::at(Rate::from_bps(bps)).of(bytes);
        assert_eq!(at(10_000_000, 1514), 1_211_200);
        assert_eq!(at(8_000_000_000, 1000), 1000);
        assert_eq!(at(7_000_000, 1514), 1_730_285, "truncated");
        assert_eq!(at(8, 1), 1_000_000_000);
    }

    #[test]
    fn overhead_and_cells_are_charged() {
        let packing = Packing { mpu: 0, cells: Cells::Atm };
        let mut tokens = Tokens::full(Rate::from_bps(8_000_000), 2000);
        tokens.charge(0, 1500, &Framing { overhead: 40, packing });
        assert_eq!(tokens.ns, 2_000_000 - 33 * 53 * 1000);
        tokens.charge(1_000_000_000, 0, &Framing::NONE);
        assert_eq!(tokens.ns, 2_000_000, "never above the depth");
    }

    #[test]
    fn a_depth_is_a_whole_number_of_ticks() {
        // 1600 bytes at 7 Mbit/s take 1,828,571.4 ns, or 28,571.4 ticks.
        assert_eq!(Tokens::full(Rate::from_bps(7_000_000), 1600).ns, 28_572 * 64);
    }
}
