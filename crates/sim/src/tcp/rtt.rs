//! Round-trip time and retransmission timeout (endpoints sheet §1.4).
//!
//! RFC 6298, or Linux with two differences: the floor of 200 ms is on the variance term, not on the
//! timeout, and the variance follows the largest deviation of a round trip, not the mean.

use sojourn_aqm::{Span, Time};

use super::profile::{RtoFloor, RtoRule};

/// Granularity of the clock (RFC 6298 §2.3).
const GRANULARITY_NS: i64 = 1_000_000;

/// Tick of timestamps: 1 ms in Linux (`TCP_TS_HZ`) and in ns-3.
const TICK_NS: u64 = 1_000_000;

/// Whether a timestamp was taken in an earlier tick than another.
pub fn is_stamped_before(stamp: Time, other: Time) -> bool {
    stamp.as_nanos() / TICK_NS < other.as_nanos() / TICK_NS
}

/// A round trip that a timestamp tells: whole ticks, at least one.
pub fn stamped_rtt(now: Time, echo: Time) -> Span {
    let ticks = now.as_nanos() / TICK_NS - echo.as_nanos() / TICK_NS;
    Span::from_nanos(ticks.max(1) * TICK_NS)
}

/// The estimator of one connection.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    initial_ns: i64,
    max_ns: i64,
    /// Floor of the variance term, and of the whole.
    min_variance_ns: i64,
    min_timeout_ns: i64,
    /// The variance follows the largest deviation of a round trip.
    follows_largest: bool,
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
    /// Before the first sample.
    pub fn new(rule: &RtoRule) -> RttEstimator {
        let nanos = |span: Span| span.as_nanos() as i64;
        let (min_variance_ns, min_timeout_ns, follows_largest) = match rule.floor {
            RtoFloor::Variance(floor) => (nanos(floor), 0, true),
            RtoFloor::Whole(floor) => (GRANULARITY_NS, nanos(floor), false),
        };
        RttEstimator {
            initial_ns: nanos(rule.initial),
            max_ns: nanos(rule.max),
            min_variance_ns,
            min_timeout_ns,
            follows_largest,
            srtt8: 0,
            deviation: 0,
            round_deviation: 0,
            variance: 0,
            round_end: 0,
            backoff: 0,
            min: None,
        }
    }

    /// Takes the round trip of the newest arrival into the minimum.
    pub fn observe_min(&mut self, rtt: Span) {
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
    }

    /// Takes a sample. `una` and `nxt` delimit what is outstanding, to tell round trips apart.
    pub fn sample(&mut self, rtt: Span, una: u32, nxt: u32) {
        self.backoff = 0;
        let rtt = rtt.as_nanos().max(1) as i64;
        if self.srtt8 == 0 {
            self.srtt8 = rtt * 8;
            self.deviation = rtt * 2;
            self.variance = self.deviation.max(self.min_variance_ns);
            self.round_deviation = self.variance;
            self.round_end = nxt;
            return;
        }
        let error = rtt - self.srtt8 / 8;
        self.srtt8 += error;
        if !self.follows_largest {
            self.deviation += error.abs() - self.deviation / 4; // RFC 6298 §2.3, times four
            self.variance = self.deviation.max(self.min_variance_ns);
            return;
        }
        self.follow_deviation(error);
        if una > self.round_end {
            if self.round_deviation < self.variance {
                self.variance -= (self.variance - self.round_deviation) / 4;
            }
            self.round_end = nxt;
            self.round_deviation = self.min_variance_ns;
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
        let base = if self.srtt8 == 0 {
            self.initial_ns
        } else {
            (self.srtt8 / 8 + self.variance).max(self.min_timeout_ns)
        };
        Span::from_nanos((base << self.backoff.min(20)).min(self.max_ns) as u64)
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
    use super::super::profile;
    use super::*;

    /// RFC 6298 with a floor of so many milliseconds.
    fn rfc(floor_ms: u64) -> RtoRule {
        RtoRule { floor: RtoFloor::Whole(Span::from_millis(floor_ms)), ..profile::LINUX.rto }
    }

    fn after(samples: &[u64]) -> Vec<f64> {
        timeouts(&profile::LINUX.rto, samples)
    }

    fn timeouts(rule: &RtoRule, samples: &[u64]) -> Vec<f64> {
        let mut estimator = RttEstimator::new(rule);
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
        let mut estimator = RttEstimator::new(&profile::LINUX.rto);
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

    #[test]
    fn t1_t3_t4_first_timeouts_of_the_rfc() {
        assert_eq!(timeouts(&rfc(0), &[100]), [300.0]);
        assert_eq!(timeouts(&rfc(1000), &[100, 100, 100, 100, 200]), [1000.0; 5]);
        assert_eq!(timeouts(&rfc(1000), &[500]), [1500.0]);
    }

    #[test]
    fn t2_follows_the_mean_deviation() {
        let expected = [300.0, 250.0, 212.5, 184.375, 275.781];
        for (found, expected) in timeouts(&rfc(0), &[100, 100, 100, 100, 200]).iter().zip(expected)
        {
            assert!((found - expected).abs() < 0.001, "{found} for {expected}");
        }
    }

    #[test]
    fn t8_t9_constants_of_the_stacks() {
        let first = |name: &str| {
            let rule = profile::profile(name).unwrap().rto;
            let of = |rtt: u64| timeouts(&rule, &[rtt])[0];
            (RttEstimator::new(&rule).timeout().as_secs(), [of(10), of(50), of(100), of(500)])
        };
        assert_eq!(first("linux"), (1.0, [210.0, 250.0, 300.0, 1500.0]));
        assert_eq!(first("linux-2.6"), (3.0, [210.0, 250.0, 300.0, 1500.0]));
        assert_eq!(first("newreno"), (3.0, [200.0, 200.0, 300.0, 1500.0]));
        assert_eq!(first("pi2-ns3"), (3.0, [1000.0, 1000.0, 1000.0, 1500.0]));
    }
}
