//! Queue delay by Little's law: the backlog over the measured departure rate.
//!
//! Source: the PIE authors' ns-2 code (2013-2014), `pie.cc`, `PIEQueue::deque`, and the ns-3 model
//! of PI2 (Tahiliani and Tewari 2017 §II).
//!
//! Deviations from RFC 8033 Appendix B: a cycle counts the packet that starts it, and rates are
//! averaged instead of times. From ns-2: a cycle of zero duration gives no sample (ns-2 gets
//! infinity).

use crate::time::Time;

/// Estimates the rate at which a queue is served.
#[derive(Clone, Debug)]
pub struct DepartureRate {
    threshold: u64,
    weight: f64,
    bytes_per_sec: Option<f64>,
    cycle: Option<Cycle>,
}

/// One measurement (cycle), made while the backlog keeps the link busy.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    start: Time,
    bytes: i64,
}

impl DepartureRate {
    /// `threshold_bytes`: backlog that starts a measurement, and bytes that must leave to finish
    /// it. `weight`: the weight of a new sample in the average, in (0, 1].
    pub fn new(threshold_bytes: u64, weight: f64) -> DepartureRate {
        debug_assert!(weight > 0.0 && weight <= 1.0, "a weight lies in (0, 1]");
        DepartureRate { threshold: threshold_bytes, weight, bytes_per_sec: None, cycle: None }
    }

    /// A packet leaves and `backlog_bytes` stay.
    #[inline]
    pub fn on_dequeue(&mut self, now: Time, bytes: u32, backlog_bytes: u64) {
        let may_start = self.cycle.is_none() && backlog_bytes >= self.threshold;
        if may_start {
            self.cycle = Some(Cycle { start: now, bytes: 0 });
        }
        let Some(cycle) = &mut self.cycle else { return };
        cycle.bytes += i64::from(bytes);
        if u64::try_from(cycle.bytes).is_ok_and(|bytes| bytes >= self.threshold) {
            let done = *cycle;
            self.learn(now, done);
            let goes_on = backlog_bytes > self.threshold;
            self.cycle = goes_on.then_some(Cycle { start: now, bytes: 0 });
        }
    }

    #[inline(never)]
    fn learn(&mut self, now: Time, cycle: Cycle) {
        let seconds = now.since(cycle.start).as_secs();
        if seconds > 0.0 {
            let sample = cycle.bytes as f64 / seconds;
            self.bytes_per_sec = Some(match self.bytes_per_sec {
                None => sample,
                Some(average) => (1.0 - self.weight) * average + self.weight * sample,
            });
        }
    }

    /// The time to drain `backlog_bytes`, in seconds; 0 before the first sample.
    pub fn delay(&self, backlog_bytes: u64) -> f64 {
        self.bytes_per_sec.map_or(0.0, |rate| backlog_bytes as f64 / rate)
    }

    /// The average, in bytes per second.
    pub const fn bytes_per_sec(&self) -> Option<f64> {
        self.bytes_per_sec
    }

    /// Forgets the average. A running cycle keeps its start time but its byte count becomes -1,
    /// because ns-2 `pie.cc`, `PIEQueue::calculate_p`, resets `dq_count` but not `in_measurement`
    /// (fact aqm-72).
    pub fn forget(&mut self) {
        self.bytes_per_sec = None;
        if let Some(cycle) = &mut self.cycle {
            cycle.bytes = -1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One packet of 1000 bytes every millisecond, so 1 MB/s; `left` bytes stay queued each time.
    fn serve(rate: &mut DepartureRate, from_ms: u64, count: u64, left: u64) {
        for i in 0..count {
            rate.on_dequeue(Time::from_nanos((from_ms + i) * 1_000_000), 1000, left);
        }
    }

    #[test]
    fn measures_nothing_while_less_than_the_threshold_waits() {
        let mut rate = DepartureRate::new(10_000, 0.5);
        serve(&mut rate, 0, 100, 9_999);
        assert_eq!((rate.bytes_per_sec(), rate.delay(5_000)), (None, 0.0));
    }

    #[test]
    fn first_sample_counts_the_packet_in_hand_and_later_ones_are_averaged() {
        let mut rate = DepartureRate::new(10_000, 0.5);
        serve(&mut rate, 0, 10, 20_000);
        // The estimate counts ten packets in nine service times; Linux has the same bias (fact
        // aqm-75).
        assert!((rate.bytes_per_sec().unwrap() - 10_000.0 / 0.009).abs() < 1e-6);
        serve(&mut rate, 10, 10, 20_000);
        let expected = 0.5 * 10_000.0 / 0.009 + 0.5 * 1_000_000.0;
        assert!((rate.bytes_per_sec().unwrap() - expected).abs() < 1e-6);
        assert!((rate.delay(20_000) - 20_000.0 / expected).abs() < 1e-12);
    }

    #[test]
    fn a_cycle_within_one_instant_gives_no_sample() {
        let mut rate = DepartureRate::new(1_000, 0.5);
        rate.on_dequeue(Time::ZERO, 1_500, 5_000);
        assert_eq!(rate.bytes_per_sec(), None);
    }

    /// Fact aqm-72.
    #[test]
    fn forgetting_leaves_a_running_cycle_one_byte_short() {
        let mut rate = DepartureRate::new(10_000, 0.5);
        serve(&mut rate, 0, 15, 20_000);
        rate.forget();
        serve(&mut rate, 15, 10, 20_000);
        assert_eq!(rate.bytes_per_sec(), None, "9 999 of 10 000 bytes");
        serve(&mut rate, 25, 1, 20_000);
        assert!((rate.bytes_per_sec().unwrap() - 10_999.0 / 0.016).abs() < 1e-6);
    }

    /// The authors' ns-2 `pie.cc`, `PIEQueue::deque`, tests `>=` to start and `>` to continue.
    #[test]
    fn a_cycle_goes_on_only_above_the_threshold_and_starts_at_it() {
        let second_sample = |left| {
            let mut rate = DepartureRate::new(10_000, 1.0);
            serve(&mut rate, 0, 10, left);
            serve(&mut rate, 10, 10, left);
            rate.bytes_per_sec().unwrap()
        };
        assert!((second_sample(10_001) - 1_000_000.0).abs() < 1e-6);
        assert!((second_sample(10_000) - 10_000.0 / 0.009).abs() < 1e-6);
    }
}
