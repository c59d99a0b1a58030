//! RED as Linux disciplines carry it inside (`red.h`): a power-of-two weight, one random number per
//! signal, no gentle region.
//!
//! Deviations from Linux `red.h`: reals, not scaled integers, so that a gap at p_b = 0.1 is 1 to
//! 10, never 11 (fact qdisc-3).

use crate::rng::Rng;

/// Thresholds in the unit of the backlogs that are sampled, bytes or packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Curve {
    pub(crate) min_th: f64,
    pub(crate) max_th: f64,
    pub(crate) max_p: f64,
    /// 2^-Wlog.
    pub(crate) weight: f64,
}

/// The state of RED for one queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RedState {
    pub(crate) average: f64,
    /// Arrivals between the thresholds since the last signal; none: the average was outside.
    count: Option<u32>,
    /// Drawn once per signal, uniform below (max_th - min_th) / max_p.
    threshold: f64,
}

impl RedState {
    pub(crate) const REST: RedState = RedState { average: 0.0, count: None, threshold: 0.0 };

    /// One more sample of the backlog before the arrival.
    pub(crate) fn sample(&mut self, curve: &Curve, backlog: f64) {
        self.average += curve.weight * (backlog - self.average);
    }

    /// The average has left the region between the thresholds.
    pub(crate) fn leave(&mut self) {
        self.count = None;
    }

    /// An arrival between the thresholds: whether it is signalled (Linux 6.1 red.h, red_action and
    /// red_mark_probability).
    pub(crate) fn hits(&mut self, curve: &Curve, rng: &mut Rng) -> bool {
        let mut draw = || rng.uniform() * (curve.max_th - curve.min_th) / curve.max_p;
        let Some(count) = self.count else {
            (self.count, self.threshold) = (Some(0), draw());
            return false;
        };
        let count = count.saturating_add(1);
        let hit = (self.average - curve.min_th) * f64::from(count) >= self.threshold;
        if hit {
            (self.count, self.threshold) = (Some(0), draw());
        } else {
            self.count = Some(count);
        }
        hit
    }
}

/// tc's default of `burst`, in packets; where the thresholds follow from a tiny limit
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

    /// Fact qdisc-4.
    #[test]
    fn thresholds_of_one_packet_have_no_weight() {
        assert_eq!(usual_burst(0.625, 1.875, false), 1.0);
        assert_eq!(weight_log(1.0, 0.625), None);
        assert!(weight_log(usual_burst(10.0, 30.0, false), 10.0).is_some());
    }

    /// Linux 6.1 red.h, red_calc_qavg_no_idle_time.
    #[test]
    fn one_sample_of_a_weight_of_a_sixteenth_is_a_sixteenth() {
        let curve = Curve { min_th: 1.0, max_th: 3.0, max_p: 0.1, weight: 1.0 / 16.0 };
        let mut state = RedState::REST;
        state.sample(&curve, 32.0);
        assert_eq!(state.average, 2.0);
    }

    /// Fact qdisc-3.
    #[test]
    fn gaps_are_one_to_ten_and_the_first_packet_is_never_hit() {
        let curve = Curve { min_th: 0.0, max_th: 2.0, max_p: 0.2, weight: 0.5 };
        let mut state = RedState { average: 1.0, ..RedState::REST }; // p_b = 0.1
        let mut rng = Rng::stream(1, "test", 0);
        assert!(!state.hits(&curve, &mut rng));
        let gap = |_| (1u64..).find(|_| state.hits(&curve, &mut rng)).expect("it hits at last");
        let gaps: Vec<u64> = (0..100_000).map(gap).collect();
        assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&1), Some(&10)));
        crate::testing::assert_near(crate::testing::mean(&gaps), 5.5, 0.05);
    }

    /// Linux 6.1 red.h, red_random and red_mark_probability: with thresholds of 10 and 30, max_p =
    /// 0.1 and a draw of one half an average of 20 waits for 100 / 10 arrivals.
    #[test]
    fn the_gap_between_signals_is_drawn_below_the_width_over_max_p() {
        let curve = Curve { min_th: 10.0, max_th: 30.0, max_p: 0.1, weight: 1.0 };
        let mut state = RedState { average: 20.0, ..RedState::REST };
        assert!(!state.hits(&curve, &mut Rng::scripted(0.5)), "the first one draws");
        let hits = (1..=20).find(|_| state.hits(&curve, &mut Rng::scripted(0.5)));
        assert_eq!(hits, Some(10));
    }
}
