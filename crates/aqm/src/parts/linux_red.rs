//! RED in the integers of Linux `red.h`: a weight that is a power of two, an average scaled by that
//! power, one random number per signal, no gentle region.
//!
//! Source: Linux 6.1 `red.h`, `red_set_parms`, `red_calc_qavg_no_idle_time`, `red_random`,
//! `red_mark_probability`, `red_action`.
//!
//! Deviations from Linux: none known.

use crate::effective::{Effective, digits};
use crate::rng::Rng;
use crate::units::Limit;

/// Thresholds in the unit of the backlogs that are sampled, bytes or packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Curve {
    pub(crate) min_th: u64,
    /// The upper threshold, greater than `min_th`.
    pub(crate) max_th: u64,
    /// Minus the binary logarithm of the weight.
    pub(crate) weight_log: u32,
    /// The signal probability at `max_th`, in 2^-32, divided by the units between the thresholds.
    pub(crate) max_p_per_unit: u64,
}

impl Curve {
    /// `max_p` is the probability at `max_th`.
    pub(crate) fn new(min_th: u64, max_th: u64, max_p: f64, weight_log: u32) -> Curve {
        let max_p_per_unit = per_unit(scaled(max_p), min_th, max_th);
        Curve { min_th, max_th, weight_log, max_p_per_unit }
    }

    /// The parameter values in use, in the unit of the backlogs.
    pub(crate) fn effective(&self, unit: impl Fn(u64) -> Limit) -> [Effective; 3] {
        let weight = libm::ldexp(1.0, -(self.weight_log as i32));
        [
            Effective::filled("min_th", unit(self.min_th)),
            Effective::filled("max_th", unit(self.max_th)),
            Effective::filled("w_q", digits(weight)),
        ]
    }

    /// A uniform draw from 0 .. (max_th - min_th) / max_p, by integer division (`red_random`).
    fn draw(&self, rng: &mut Rng) -> u64 {
        (rng.next_u64() >> 32) / self.max_p_per_unit
    }
}

/// A probability in 2^-32, in the form that tc passes to the kernel.
pub(crate) fn scaled(prob: f64) -> u32 {
    (prob * 4_294_967_296.0) as u32
}

/// A probability of 32 bits, divided by the units between two thresholds and truncated
/// (`red_set_parms`).
pub(crate) fn per_unit(max_p: u32, min_th: u64, max_th: u64) -> u64 {
    (u64::from(max_p) / (max_th - min_th)).max(1)
}

/// The state of RED for one queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RedState {
    /// The average, times 2^`weight_log`.
    pub(crate) average: u64,
    /// Arrivals since the last signal; -1: none since the average was outside the thresholds.
    count: i64,
    /// The number drawn for the next signal.
    drawn: u64,
}

impl RedState {
    pub(crate) const REST: RedState = RedState { average: 0, count: -1, drawn: 0 };

    /// Samples the backlog before the arrival.
    pub(crate) fn sample(&mut self, curve: &Curve, backlog: u64) {
        self.average = self.average.saturating_add(backlog) - (self.average >> curve.weight_log);
    }

    /// Whether the average is below `threshold`.
    pub(crate) fn is_below(&self, curve: &Curve, threshold: u64) -> bool {
        self.average < threshold << curve.weight_log
    }

    /// Whether the average is above `threshold`.
    pub(crate) fn is_above(&self, curve: &Curve, threshold: u64) -> bool {
        self.average > threshold << curve.weight_log
    }

    /// The average in the unit of the backlogs.
    pub(crate) fn mean(&self, curve: &Curve) -> f64 {
        self.average as f64 / libm::ldexp(1.0, curve.weight_log as i32)
    }

    /// The average has left the region between the thresholds.
    pub(crate) fn leave(&mut self) {
        self.count = -1;
    }

    /// Whether an arrival between the thresholds is signalled.
    pub(crate) fn hits(&mut self, curve: &Curve, rng: &mut Rng) -> bool {
        self.count += 1;
        if self.count == 0 {
            self.drawn = curve.draw(rng);
            return false;
        }
        let above = (self.average - (curve.min_th << curve.weight_log)) >> curve.weight_log;
        let hit = above.saturating_mul(self.count as u64) >= self.drawn;
        if hit {
            (self.count, self.drawn) = (0, curve.draw(rng));
        }
        hit
    }
}

/// tc's default of `burst`, in packets. If the thresholds are derived from a tiny limit
/// (`automatic`), at least the shortest burst that tc accepts.
pub(crate) fn usual_burst(min_packets: f64, max_packets: f64, automatic: bool) -> f64 {
    let usual = libm::floor((2.0 * min_packets + max_packets) / 3.0);
    if automatic { usual.max(libm::ceil(min_packets)) } else { usual }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::parts::tc_weight::weight_log;

    #[test]
    fn automatic_thresholds_of_a_tiny_limit_have_a_weight() {
        let (min, max) = (1.000_083, 3.000_25);
        assert_eq!(weight_log(usual_burst(min, max, false), min), None);
        assert!(weight_log(usual_burst(min, max, true), min).is_some());
    }

    /// Fact aqm-47.
    #[test]
    fn thresholds_of_one_packet_have_no_weight() {
        assert_eq!(usual_burst(0.625, 1.875, false), 1.0);
        assert_eq!(weight_log(1.0, 0.625), None);
        assert!(weight_log(usual_burst(10.0, 30.0, false), 10.0).is_some());
    }

    /// Linux 6.1 red.h, red_calc_qavg_no_idle_time.
    #[test]
    fn one_sample_of_a_weight_of_a_sixteenth_is_a_sixteenth() {
        let curve = Curve::new(1, 3, 0.1, 4);
        let mut state = RedState::REST;
        state.sample(&curve, 32);
        assert_eq!(state.mean(&curve), 2.0);
    }

    /// Linux 6.1 red.h, red_calc_qavg_no_idle_time, truncates the subtrahend, so the average of a
    /// constant backlog of 1 exceeds 1 by up to one part in 2^Wlog.
    #[test]
    fn what_is_forgotten_is_cut_off_to_whole_units() {
        let curve = Curve::new(1, 3, 0.1, 4);
        let mut state = RedState { average: 31, ..RedState::REST };
        state.sample(&curve, 1);
        assert_eq!(state.average, 31);
    }

    fn gaps(curve: Curve, average: u64) -> Vec<u64> {
        let mut state = RedState { average: average << curve.weight_log, ..RedState::REST };
        let mut rng = Rng::stream(1, "test", 0);
        assert!(!state.hits(&curve, &mut rng), "the first packet is never hit");
        let gap = |_| (1u64..).find(|_| state.hits(&curve, &mut rng)).expect("it hits at last");
        (0..100_000).map(gap).collect()
    }

    /// Fact aqm-43.
    #[test]
    fn gaps_are_one_to_ten_at_a_probability_of_a_tenth() {
        let gaps = gaps(Curve::new(0, 200_000, 0.2, 1), 100_000);
        let eleven = gaps.iter().filter(|&&gap| gap == 11).count();
        assert!(gaps.iter().all(|gap| (1..=11).contains(gap)) && eleven < 100, "{eleven}");
        crate::testing::assert_near(crate::testing::mean(&gaps), 5.5, 0.05);
    }

    /// Fact qdisc-15: integer packets truncate the draw.
    #[test]
    fn gaps_are_shorter_where_the_thresholds_differ_by_a_few_packets() {
        let gaps = gaps(Curve::new(0, 2, 0.2, 1), 1);
        assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&1), Some(&9)));
        crate::testing::assert_near(crate::testing::mean(&gaps), 4.6, 0.05);
    }

    /// Linux 6.1 red.h, red_random and red_mark_probability: with thresholds of 10 and 30, max_p =
    /// 0.1 and a draw of one half, an average of 20 waits for 100 / 10 arrivals.
    #[test]
    fn the_gap_between_signals_is_drawn_below_the_width_over_max_p() {
        let curve = Curve::new(10, 30, 0.1, 0);
        let mut state = RedState { average: 20, ..RedState::REST };
        assert!(!state.hits(&curve, &mut Rng::scripted(0.5)), "the first one draws");
        let hits = (1..=20).find(|_| state.hits(&curve, &mut Rng::scripted(0.5)));
        assert_eq!(hits, Some(10));
    }
}
