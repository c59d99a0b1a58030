//! How RED's average decays while the queue is idle, as `tc red` computes it for the kernel.
//!
//! Source: iproute2 `tc_red.c`, `tc_red_eval_idle_damping`, and `tc_core.c`, `tc_calc_xmittime`;
//! Linux `red.h`, `red_calc_qavg_from_idle_time`. tc computes the table in psched ticks of 64 ns;
//! the kernel indexes it by microseconds and shifts by its natural logarithms. Below one half, an
//! idle average therefore decays 15.6 / ln 2 times slower than intended (fact aqm-48). We reproduce
//! this error.

use alloc::boxed::Box;

use crate::time::Rate;

/// Cells of the table (`RED_STAB_SIZE`).
pub const CELLS: usize = 256;
const TICKS_PER_MICRO: f64 = 15.625;

/// The number of bits by which the average is shifted after an idle time (tc: `Stab`, `Scell_log`).
#[derive(Clone, Debug)]
pub struct IdleTable {
    /// Width of a cell in microseconds: 2^log.
    pub log: u32,
    /// The shift of each cell.
    pub shifts: Box<[u8; CELLS]>,
}

impl IdleTable {
    /// The table for a weight of 2^-`weight_log` and packets of `packet` bytes at a rate.
    pub fn new(weight_log: u32, packet: u64, rate: Rate) -> IdleTable {
        // `tc_core.c` rounds to a whole number of microseconds, then to a whole number of ticks.
        let micros = libm::floor(1e6 * packet as f64 / rate.bytes_per_sec());
        let packet_ticks = (micros * TICKS_PER_MICRO).max(1.0);
        let weight = libm::ldexp(1.0, -(weight_log as i32));
        let per_tick = -libm::log1p(-weight) / libm::floor(packet_ticks);
        let longest = 31.0 / per_tick;
        let log = (0..32).find(|log| libm::ldexp(longest, -log) < 512.0).unwrap_or(31) as u32;
        let mut shifts = Box::new([31; CELLS]);
        for (cell, shift) in (0u64..).zip(&mut shifts[..CELLS - 1]) {
            *shift = (libm::ldexp(cell as f64, log as i32) * per_tick).min(31.0) as u8;
        }
        IdleTable { log, shifts }
    }

    /// The average after an idle time; within the first cells, at least half of `average`.
    pub fn decayed(&self, average: u64, idle_micros: u64) -> u64 {
        let idle = idle_micros.min((CELLS as u64 - 1) << self.log);
        let shift = self.shifts[(idle >> self.log) as usize & (CELLS - 1)];
        if shift > 0 {
            return average >> shift;
        }
        // In the first cells the average falls along a straight line, but not below one half.
        let loss = (u128::from(average) * u128::from(idle)) >> self.log;
        let loss = u64::try_from(loss).unwrap_or(u64::MAX);
        if loss < average >> 1 { average - loss } else { average >> 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fact aqm-48: a quarter remains after 15.625 / ln 2 times the intended time. The preceding
    /// straight line is right: one half is reached at the intended time.
    #[test]
    fn an_idle_average_falls_to_a_half_in_time_and_to_a_quarter_much_later() {
        let table = IdleTable::new(4, 1000, Rate::from_bps(10_000_000));
        let time_to = |left| {
            (0..).step_by(64).find(|&t| table.decayed(1 << 30, t) <= left).expect("it falls") as f64
        };
        let halving = 800.0 * libm::log(2.0) / -libm::log1p(-1.0 / 16.0);
        let (half, quarter) = (time_to(1 << 29) / halving, time_to(1 << 28) / (2.0 * halving));
        assert!((0.9..1.0).contains(&half), "{half}");
        let expected = TICKS_PER_MICRO / libm::log(2.0);
        assert!((expected..expected * 1.05).contains(&quarter), "{quarter}, {expected}");
    }

    /// `tc_core.c` truncates to whole microseconds: 1142 for a packet that takes 1142.86.
    #[test]
    fn the_time_of_a_packet_is_cut_to_whole_microseconds() {
        let shifts = |bps| IdleTable::new(4, 1000, Rate::from_bps(bps)).shifts;
        let exact = (8e9 / 1142.0) as u64;
        assert_eq!(shifts(7_000_000), shifts(exact));
    }

    /// Linux `red.h`, `red_calc_qavg_from_idle_time`: a straight line to one half, then shifts.
    #[test]
    fn an_idle_average_falls_along_a_line_and_then_by_halves() {
        let table = IdleTable::new(4, 1000, Rate::from_bps(10_000_000));
        let falls: [u64; 5] =
            [0, 100, 5_000, 100_000, 10_000_000].map(|t| table.decayed(1 << 20, t));
        assert_eq!(falls[0], 1 << 20);
        assert!(falls[1] < falls[0] && falls[1] >= 1 << 19);
        assert!(falls.windows(2).all(|w| w[1] <= w[0]), "{falls:?}");
        assert_eq!(table.shifts[0], 0);
        assert!(table.shifts.windows(2).all(|w| w[0] <= w[1]));
        assert_eq!(table.shifts[255], 31);
    }
}
