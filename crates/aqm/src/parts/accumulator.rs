//! Derandomised chance (RFC 8033 §5.4): probabilities are added up, and the sum keeps two signals
//! from following each other too closely or too far apart.

/// One, in the scale of the sum: 2^56, as in Linux `sch_pie.c`. Doubles would reach 8.5 one
/// addition late (spec aqm.md §1).
const ONE: f64 = (1u64 << 56) as f64;
/// Forgives the rounding of up to 10^5 additions: 1e-12, in the scale of the sum.
const TOLERANCE: u64 = 1 << 16;
const LOW: u64 = (1u64 << 56) / 100 * 85 - TOLERANCE;
const HIGH: u64 = (1u64 << 56) / 10 * 85 - TOLERANCE;

/// A probability in the scale of the sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ScaledProb(u64);

impl ScaledProb {
    /// From a probability in 0..=1.
    pub fn new(prob: f64) -> ScaledProb {
        debug_assert!((0.0..=1.0).contains(&prob), "a probability lies in 0..=1");
        ScaledProb(libm::round(prob * ONE) as u64)
    }
}

/// Where the sum stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Below 0.85: too early for a signal.
    TooEarly,
    /// Between: chance decides.
    Open,
    /// At 8.5 or above: overdue.
    Overdue,
}

/// The sum of the probabilities since the last signal.
#[derive(Clone, Debug, Default)]
pub struct Accumulator(u64);

impl Accumulator {
    /// Starts anew.
    pub fn clear(&mut self) {
        self.0 = 0;
    }

    /// Adds the probability of one more arrival and says where the sum stands.
    pub fn add(&mut self, prob: ScaledProb) -> Standing {
        self.0 = self.0.saturating_add(prob.0);
        match self.0 {
            sum if sum < LOW => Standing::TooEarly,
            sum if sum < HIGH => Standing::Open,
            _ => Standing::Overdue,
        }
    }

    /// The sum, for show.
    pub fn value(&self) -> f64 {
        self.0 as f64 / ONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn additions_until(prob: f64, standing: Standing) -> usize {
        let mut sum = Accumulator::default();
        let scaled = ScaledProb::new(prob);
        (1..).find(|_| sum.add(scaled) == standing).expect("the sum grows")
    }

    /// Spec aqm.md §1: doubles would need 171, 86 and 851 additions.
    #[test]
    fn sums_reach_their_thresholds_at_the_ideal_addition() {
        assert_eq!(additions_until(0.05, Standing::Overdue), 170);
        assert_eq!(additions_until(0.1, Standing::Overdue), 85);
        assert_eq!(additions_until(0.01, Standing::Overdue), 850);
        assert_eq!(additions_until(0.425, Standing::Open), 2);
        assert_eq!(additions_until(0.85, Standing::Open), 1);
        assert_eq!(additions_until(0.00085, Standing::Overdue), 10_000);
    }
}
