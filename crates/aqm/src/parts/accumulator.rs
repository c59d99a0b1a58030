//! Derandomised chance (RFC 8033 §5.4): the sum of probabilities since the last signal bounds the
//! gap between two signals from both sides.

/// One, in the scale of the sum: 2^56, as in Linux `pie.h`. A sum of doubles would reach 8.5 one
/// addition late (fact aqm-2).
const ONE: f64 = (1u64 << 56) as f64;
/// Allows for the rounding of up to 10^5 additions: 1e-12, in the scale of the sum.
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

/// Whether the sum forbids, allows or requires a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignalTiming {
    /// Below 0.85: too early for a signal.
    TooEarly,
    /// In between: a random draw decides.
    Open,
    /// At 8.5 or above: overdue.
    Overdue,
}

/// The sum of the probabilities since the last signal.
#[derive(Clone, Debug)]
pub struct Accumulator {
    sum: u64,
    /// The sum from which a signal is overdue.
    high: u64,
}

impl Default for Accumulator {
    /// A signal is overdue at 8.5 or above (RFC 8033 §5.4).
    fn default() -> Accumulator {
        Accumulator { sum: 0, high: HIGH }
    }
}

impl Accumulator {
    /// A signal is overdue above 8.5 only (Schwarzkopf, Veith and Menth 2016 on the PIE draft).
    pub fn overdue_above() -> Accumulator {
        Accumulator { sum: 0, high: HIGH + 2 * TOLERANCE }
    }

    /// Restarts the sum.
    pub fn clear(&mut self) {
        self.sum = 0;
    }

    /// Adds the probability of one arrival; returns the state of the sum.
    pub fn add(&mut self, prob: ScaledProb) -> SignalTiming {
        self.sum = self.sum.saturating_add(prob.0);
        match self.sum {
            sum if sum < LOW => SignalTiming::TooEarly,
            sum if sum < self.high => SignalTiming::Open,
            _ => SignalTiming::Overdue,
        }
    }

    /// The sum as a number.
    pub fn value(&self) -> f64 {
        self.sum as f64 / ONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn additions_until(prob: f64, standing: SignalTiming) -> usize {
        let mut sum = Accumulator::default();
        let scaled = ScaledProb::new(prob);
        (1..).find(|_| sum.add(scaled) == standing).expect("the sum grows")
    }

    /// Fact aqm-2: sums of doubles would need 171, 86 and 851 additions.
    #[test]
    fn sums_reach_their_thresholds_at_the_ideal_addition() {
        assert_eq!(additions_until(0.05, SignalTiming::Overdue), 170);
        assert_eq!(additions_until(0.1, SignalTiming::Overdue), 85);
        assert_eq!(additions_until(0.01, SignalTiming::Overdue), 850);
        assert_eq!(additions_until(0.425, SignalTiming::Open), 2);
        assert_eq!(additions_until(0.85, SignalTiming::Open), 1);
        assert_eq!(additions_until(0.00085, SignalTiming::Overdue), 10_000);
    }

    /// Schwarzkopf, Veith and Menth 2016 §II: the draft drops when the sum exceeds 8.5.
    #[test]
    fn the_draft_is_overdue_above_8_5_only() {
        let mut sum = Accumulator::overdue_above();
        let tenth = ScaledProb::new(0.1);
        let standings: std::vec::Vec<SignalTiming> = (0..86).map(|_| sum.add(tenth)).collect();
        assert_eq!((standings[84], standings[85]), (SignalTiming::Open, SignalTiming::Overdue));
    }
}
