//! Round-trip time and retransmission timeout as Linux computes them (endpoints sheet §1.4).
//!
//! RFC 6298 with two differences: the floor of 200 ms is on the variance term, not on the timeout, and
//! the variance follows the largest deviation of a round trip, not the mean.

use sojourn_aqm::Span;

/// Floor of the variance term (Linux `TCP_RTO_MIN`).
const MIN_VARIANCE_NS: i64 = 200_000_000;
/// Ceiling of the timeout (Linux `TCP_RTO_MAX`).
const MAX_TIMEOUT_NS: i64 = 120_000_000_000;
/// Timeout before the first sample (RFC 6298 §2.1).
const INITIAL_TIMEOUT_NS: i64 = 1_000_000_000;

/// The estimator of one connection.
#[derive(Clone, Debug, Default)]
pub struct RttEstimator {
    /// Smoothed round-trip time, times 8.
    srtt8: i64,
    /// Deviation, in the scale "four times the mean deviation".
    deviation: i64,
    /// Largest deviation within the present round trip, not below the floor.
    round_deviation: i64,
    /// Variance term of the timeout.
    variance: i64,
    /// The present round trip ends when this segment is acknowledged.
    round_end: u32,
    /// How often the timer has expired in a row.
    backoff: u32,
    min: Option<Span>,
}

impl RttEstimator {
    /// Takes a sample. `una` and `nxt` delimit what is outstanding, to tell round trips apart.
    pub fn sample(&mut self, rtt: Span, una: u32, nxt: u32) {
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
        self.backoff = 0;
        let rtt = rtt.as_nanos().max(1) as i64;
        if self.srtt8 == 0 {
            self.srtt8 = rtt * 8;
            self.deviation = rtt * 2;
            self.variance = self.deviation.max(MIN_VARIANCE_NS);
            self.round_deviation = self.variance;
            self.round_end = nxt;
            return;
        }
        let error = rtt - self.srtt8 / 8;
        self.srtt8 += error;
        self.follow_deviation(error);
        if una > self.round_end {
            if self.round_deviation < self.variance {
                self.variance -= (self.variance - self.round_deviation) / 4;
            }
            self.round_end = nxt;
            self.round_deviation = MIN_VARIANCE_NS;
        }
    }

    fn follow_deviation(&mut self, error: i64) {
        let excess = error.abs() - self.deviation / 4;
        // A sudden fall of the round-trip time must not inflate the timeout: gain 1/32, not 1/4.
        self.deviation += if error < 0 && excess > 0 { excess / 8 } else { excess };
        if self.deviation > self.round_deviation {
            self.round_deviation = self.deviation;
            self.variance = self.variance.max(self.round_deviation);
        }
    }

    /// The timer has expired: the next timeout is twice as long.
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(31);
    }

    /// How long to wait for an acknowledgement.
    pub fn timeout(&self) -> Span {
        let base =
            if self.srtt8 == 0 { INITIAL_TIMEOUT_NS } else { self.srtt8 / 8 + self.variance };
        Span::from_nanos((base << self.backoff.min(20)).min(MAX_TIMEOUT_NS) as u64)
    }

    /// Smoothed round-trip time; zero before the first sample.
    pub fn smoothed(&self) -> Span {
        Span::from_nanos((self.srtt8 / 8) as u64)
    }

    /// The smallest sample so far.
    pub fn min(&self) -> Option<Span> {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(samples: &[u64]) -> Vec<f64> {
        let mut estimator = RttEstimator::default();
        let sample = |(i, &ms): (usize, &u64)| {
            let nxt = i as u32 + 1;
            estimator.sample(Span::from_millis(ms), nxt, nxt); // one segment per round trip
            estimator.timeout().as_secs() * 1e3
        };
        samples.iter().enumerate().map(sample).collect()
    }

    #[test]
    fn t5_a_constant_round_trip_gives_itself_plus_200_ms() {
        assert_eq!(after(&[100; 50]), [300.0; 50]);
    }

    #[test]
    fn t6_follows_a_jump_from_100_to_200_ms() {
        let expected = [300.0, 300.0, 300.0, 312.5, 349.22, 378.91, 392.8];
        for (found, expected) in after(&[100, 100, 100, 200, 200, 200, 200]).iter().zip(expected) {
            assert!((found - expected).abs() <= 0.5, "{found} for {expected}");
        }
    }

    #[test]
    fn t7_t8_backs_off_from_one_second_to_two_minutes() {
        let mut estimator = RttEstimator::default();
        assert_eq!(estimator.timeout(), Span::from_secs(1));
        (0..10).for_each(|_| estimator.back_off());
        assert_eq!(estimator.timeout(), Span::from_secs(120));
    }

    #[test]
    fn t9_first_timeouts() {
        for (rtt, timeout) in [(10, 210.0), (50, 250.0), (100, 300.0), (500, 1500.0)] {
            assert_eq!(after(&[rtt]), [timeout]);
        }
    }
}
