//! Round-trip time and retransmission timeout: RFC 6298, or Linux (`tcp_rtt_estimator`), which
//! differs in two points: the floor of 200 ms applies to the variance term, not to the timeout, and
//! the variance follows the largest deviation within a round trip, not the mean.

use std::num::NonZeroU64;

use sojourn_aqm::{Span, Time};

use super::profile::{RtoFloor, RtoRule};

/// Clock granularity, RFC 6298's G.
const GRANULARITY_NS: i64 = 1_000_000;

/// Tick of the timestamp clock: 1 ms in Linux (`TCP_TS_HZ`) and in ns-3.
const TICK_NS: u64 = 1_000_000;

/// The value of the timestamp clock at a time.
#[inline]
pub(crate) fn stamp_ticks(time: Time) -> u64 {
    time.as_nanos() / TICK_NS
}

/// The timestamp that a packet carries.
#[inline]
pub(crate) fn stamp(time: Time) -> u32 {
    stamp_ticks(time) as u32
}

/// The round trip as measured by the data receiver, a mean of samples (Linux 6.1
/// `tcp_rcv_rtt_measure_ts`, `tcp_rcv_rtt_update`). A sample lasts from sending an acknowledgement
/// to the arrival of the first segment that echoes its timestamp.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReceiverRtt {
    /// The mean in eighths of a microsecond, as in Linux.
    eighths: Option<NonZeroU64>,
    last_echo: u32,
    /// Whether a smaller sample replaces the mean (fact tcp-27).
    falls: bool,
}

impl ReceiverRtt {
    /// The mean before the first sample.
    pub(crate) fn new(falls: bool) -> ReceiverRtt {
        ReceiverRtt { falls, ..ReceiverRtt::default() }
    }

    /// Handles a segment that echoes this timestamp; zero means no echo (RFC 7323 §3.2).
    #[inline]
    pub(crate) fn on_segment(&mut self, now: Time, echo: u32) {
        if echo == 0 || echo == self.last_echo {
            return;
        }
        self.last_echo = echo;
        let sample = ticks_since(now, echo) * (TICK_NS / 1000);
        self.eighths = NonZeroU64::new(match self.eighths.map(NonZeroU64::get) {
            Some(mean) if sample << 3 >= mean || !self.falls => mean - (mean >> 3) + sample,
            _ => sample << 3,
        });
    }

    /// The mean, once there is a sample.
    #[inline]
    pub(crate) fn mean(self) -> Option<Span> {
        self.eighths.map(|mean| Span::from_micros(mean.get() >> 3))
    }
}

/// Whether a timestamp was taken in an earlier tick than another time.
pub(crate) fn is_stamped_before(stamp: Time, other: Time) -> bool {
    stamp_ticks(stamp) < stamp_ticks(other)
}

/// Ticks since an echoed timestamp, at least one.
#[inline]
fn ticks_since(now: Time, echo: u32) -> u64 {
    u64::from(stamp(now).wrapping_sub(echo).max(1))
}

/// The round trip since the echoed timestamp of a [`Packet`](crate::packet::Packet).
pub(crate) fn rtt_of_echo(now: Time, echo: u32) -> Span {
    Span::from_nanos(ticks_since(now, echo) * TICK_NS)
}

/// The round trip since an echoed timestamp: whole ticks, at least one.
pub(crate) fn stamped_rtt(now: Time, echo: Time) -> Span {
    let ticks = stamp_ticks(now) - stamp_ticks(echo);
    Span::from_nanos(ticks.max(1) * TICK_NS)
}

/// The estimator of one connection. No time in it is ever negative, so shifts can divide: a signed
/// division takes four instructions, and an acknowledgement needs five divisions.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    max_ns: i64,
    /// Floors of the variance term and of the timeout.
    min_variance_ns: i64,
    min_timeout_ns: i64,
    /// Whether the variance follows the largest deviation of a round trip (Linux).
    follows_largest: bool,
    /// Smoothed round-trip time, times 8.
    srtt8: i64,
    /// Four times the mean deviation (Linux `mdev_us`).
    deviation: i64,
    /// Largest deviation in the current round trip, at least the floor (Linux `mdev_max_us`).
    round_deviation: i64,
    /// Variance term of the timeout: RFC 6298's 4 * RTTVAR, Linux `rttvar_us`.
    variance: i64,
    /// The current round trip ends when this segment is acknowledged.
    round_end: u32,
    /// Consecutive timeouts (Linux `icsk_backoff`).
    backoff: u32,
    /// The timeout without and with backoff; it is read more often than it changes.
    base_ns: i64,
    timeout: Span,
    min: Option<Span>,
}

impl RttEstimator {
    /// The estimator before the first sample.
    pub(crate) fn new(rule: &RtoRule) -> RttEstimator {
        let nanos = |span: Span| span.as_nanos() as i64;
        let (min_variance_ns, min_timeout_ns, follows_largest) = match rule.floor {
            RtoFloor::Variance(floor) => (nanos(floor), 0, true),
            RtoFloor::Whole(floor) => (GRANULARITY_NS, nanos(floor), false),
        };
        RttEstimator {
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
            base_ns: nanos(rule.initial),
            timeout: rule.initial.min(rule.max),
            min: None,
        }
    }

    /// Updates the minimum with the round trip of the newest arrival (Linux `tcp_update_rtt_min`).
    #[inline]
    pub(crate) fn observe_min(&mut self, rtt: Span) {
        if self.min.is_none_or(|min| rtt < min) {
            self.min = Some(rtt);
        }
    }

    /// Takes a sample. `una` and `nxt` delimit the outstanding data, to separate round trips.
    #[inline]
    pub(crate) fn sample(&mut self, rtt: Span, una: u32, nxt: u32) {
        self.estimate(rtt.as_nanos().max(1) as i64, una, nxt);
        self.backoff = 0;
        self.base_ns = ((self.srtt8 >> 3) + self.variance).max(self.min_timeout_ns);
        self.timeout = Span::from_nanos(self.base_ns.min(self.max_ns) as u64);
    }

    #[inline]
    fn estimate(&mut self, rtt: i64, una: u32, nxt: u32) {
        if self.srtt8 == 0 {
            self.srtt8 = rtt * 8;
            self.deviation = rtt * 2;
            self.variance = self.deviation.max(self.min_variance_ns);
            self.round_deviation = self.variance;
            self.round_end = nxt;
            return;
        }
        let error = rtt - (self.srtt8 >> 3);
        self.srtt8 += error;
        if !self.follows_largest {
            self.deviation += error.abs() - (self.deviation >> 2); // RFC 6298 §2.3, times four
            self.variance = self.deviation.max(self.min_variance_ns);
            return;
        }
        self.follow_deviation(error);
        if una > self.round_end {
            if self.round_deviation < self.variance {
                self.variance -= (self.variance - self.round_deviation) >> 2;
            }
            self.round_end = nxt;
            self.round_deviation = self.min_variance_ns;
        }
    }

    #[inline]
    fn follow_deviation(&mut self, error: i64) {
        let excess = error.abs() - (self.deviation >> 2);
        // A sudden fall of the round-trip time must not inflate the timeout: the gain is 1/32, not
        // 1/4 (Linux `tcp_rtt_estimator`).
        self.deviation += if error < 0 && excess > 0 { excess >> 3 } else { excess };
        if self.deviation > self.round_deviation {
            self.round_deviation = self.deviation;
            self.variance = self.variance.max(self.round_deviation);
        }
    }

    /// Doubles the next timeout after the timer has expired (RFC 6298 §5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(31);
        let doubled = self.base_ns << self.backoff.min(20);
        self.timeout = Span::from_nanos(doubled.min(self.max_ns) as u64);
    }

    /// The retransmission timeout, RTO.
    #[inline]
    pub(crate) fn timeout(&self) -> Span {
        self.timeout
    }

    /// Smoothed round-trip time; zero before the first sample.
    #[inline]
    pub(crate) fn smoothed(&self) -> Span {
        Span::from_nanos((self.srtt8 >> 3) as u64)
    }

    /// The smallest sample so far.
    pub(crate) fn min(&self) -> Option<Span> {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile;
    use super::*;

    /// RFC 6298 with a floor of `floor_ms` milliseconds.
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
    fn linux_adds_200_ms_to_a_constant_round_trip() {
        assert_eq!(after(&[100; 50]), [300.0; 50]);
    }

    #[test]
    fn linux_follows_a_jump_from_100_to_200_ms() {
        let expected = [300.0, 300.0, 300.0, 312.5, 349.22, 378.91, 392.8];
        for (found, expected) in after(&[100, 100, 100, 200, 200, 200, 200]).iter().zip(expected) {
            assert!((found - expected).abs() <= 0.5, "{found} for {expected}");
        }
    }

    #[test]
    fn linux_backs_off_from_one_second_to_two_minutes() {
        let mut estimator = RttEstimator::new(&profile::LINUX.rto);
        assert_eq!(estimator.timeout(), Span::from_secs(1));
        (0..10).for_each(|_| estimator.back_off());
        assert_eq!(estimator.timeout(), Span::from_secs(120));
    }

    #[test]
    fn linux_first_timeouts_are_the_sample_and_200_ms_or_twice_the_sample() {
        for (rtt, timeout) in [(10, 210.0), (50, 250.0), (100, 300.0), (500, 1500.0)] {
            assert_eq!(after(&[rtt]), [timeout]);
        }
    }

    #[test]
    fn rfc_6298_first_timeouts_are_three_samples_or_the_floor() {
        assert_eq!(timeouts(&rfc(0), &[100]), [300.0]);
        assert_eq!(timeouts(&rfc(1000), &[100, 100, 100, 100, 200]), [1000.0; 5]);
        assert_eq!(timeouts(&rfc(1000), &[500]), [1500.0]);
    }

    #[test]
    fn rfc_6298_follows_the_mean_deviation() {
        let expected = [300.0, 250.0, 212.5, 184.375, 275.781];
        for (found, expected) in timeouts(&rfc(0), &[100, 100, 100, 100, 200]).iter().zip(expected)
        {
            assert!((found - expected).abs() < 0.001, "{found} for {expected}");
        }
    }

    #[test]
    fn every_profile_has_the_initial_timeout_and_the_floor_of_its_stack() {
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

    #[test]
    fn a_sample_resets_the_backoff() {
        let mut estimator = RttEstimator::new(&profile::LINUX.rto);
        estimator.back_off();
        assert_eq!(estimator.timeout(), Span::from_secs(2));
        estimator.sample(Span::from_millis(100), 1, 1);
        assert_eq!(estimator.timeout(), Span::from_millis(300));
    }

    #[test]
    fn linux_lets_the_variance_fall_once_per_round_trip_by_a_quarter_of_the_excess() {
        // The deviation is 2000 ms after the first sample; no later sample deviates.
        let mut estimator = RttEstimator::new(&profile::LINUX.rto);
        let mut timeout = |una, nxt| {
            estimator.sample(Span::from_secs(1), una, nxt);
            estimator.timeout().as_secs() * 1e3
        };
        assert_eq!(timeout(0, 10), 3000.0);
        assert_eq!([timeout(5, 15), timeout(10, 20)], [3000.0; 2], "the first round trip lasts");
        // The first deviation was the round's largest; the next round begins.
        assert_eq!(timeout(11, 21), 3000.0);
        // Four samples have reduced the deviation to 3/4^5 of 2000 ms; now the variance follows it.
        let (before, after) = (timeout(21, 30), timeout(22, 31));
        assert!(before == 3000.0 && after < 3000.0 && after > 2500.0, "{before} {after}");
        assert_eq!(timeout(23, 31), after, "once per round trip");
    }

    #[test]
    fn linux_damps_a_sudden_fall_of_the_round_trip() {
        // A fall by 400 ms exceeds the deviation of 250 ms: the excess counts by 1/32, not 1/4.
        let mut estimator = RttEstimator::new(&profile::LINUX.rto);
        estimator.sample(Span::from_millis(500), 1, 1);
        estimator.sample(Span::from_millis(100), 2, 2);
        assert_eq!(estimator.deviation, 1_000_000_000 + 150_000_000 / 8);
        // A fall within the deviation counts fully, like a rise.
        let mut estimator = RttEstimator::new(&profile::LINUX.rto);
        estimator.sample(Span::from_millis(500), 1, 1);
        estimator.sample(Span::from_millis(300), 2, 2);
        assert_eq!(estimator.deviation, 1_000_000_000 - 50_000_000);
    }

    #[test]
    fn timestamps_count_whole_ticks_and_at_least_one() {
        let at = |us: u64| Time::ZERO + Span::from_micros(us);
        assert_eq!(stamped_rtt(at(5_100), at(5_000)), Span::from_millis(1));
        assert_eq!(stamped_rtt(at(7_000), at(5_999)), Span::from_millis(2));
        assert!(is_stamped_before(at(5_999), at(6_000)));
        assert!(!is_stamped_before(at(5_000), at(5_999)), "in the same tick");
    }

    /// Linux 6.1 `tcp_rcv_rtt_measure_ts`.
    #[test]
    fn of_the_segments_that_echo_a_timestamp_the_first_gives_the_receiver_a_sample() {
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        let mut rtt = ReceiverRtt::default();
        rtt.on_segment(at(7), 0);
        assert_eq!(rtt.mean(), None, "no echo");
        for ms in [120, 121, 150] {
            rtt.on_segment(at(ms), 100);
            assert_eq!(rtt.mean(), Some(Span::from_millis(20)));
        }
        rtt.on_segment(at(160), 132);
        assert_eq!(rtt.mean(), Some(Span::from_millis(21)), "an eighth of the new one");
    }

    /// Fact tcp-27.
    #[test]
    fn a_sample_below_the_mean_takes_its_place_at_the_receiver() {
        for (falls, means) in [(true, [20, 21, 13, 12]), (false, [20, 21, 20, 19])] {
            let mut rtt = ReceiverRtt::new(falls);
            for ((ms, echo), mean) in
                [(120, 100), (160, 132), (173, 160), (192, 180)].into_iter().zip(means)
            {
                rtt.on_segment(Time::ZERO + Span::from_millis(ms), echo);
                assert_eq!(rtt.mean(), Some(Span::from_millis(mean)), "{falls} {ms}");
            }
        }
    }
}
