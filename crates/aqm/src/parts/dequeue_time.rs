//! Queue delay by Little's law from the average *time* in which a threshold of bytes leaves.
//!
//! Source: RFC 8033 Appendix B. The text of §5.2 would end a measurement at every packet before the
//! threshold is reached, which is hardly the intention. Counting begins with the packet after the
//! one that starts a measurement, and the sample is the time for the threshold, not for the bytes
//! counted; [`super::departure_rate`] is the estimator of the authors' ns-2 code.

use crate::time::{Span, Time};

/// Estimates the time in which `threshold` bytes leave.
#[derive(Clone, Debug)]
pub struct DequeueTime {
    threshold: u64,
    weight: f64,
    /// The average, in seconds.
    seconds: Option<f64>,
    measurement: Option<Measurement>,
}

#[derive(Clone, Copy, Debug)]
struct Measurement {
    start: Time,
    bytes: u64,
}

impl DequeueTime {
    /// `threshold_bytes`: backlog that starts a measurement, and bytes that must leave to finish
    /// it. `weight`: the weight of a new sample in the average, in (0, 1].
    pub fn new(threshold_bytes: u64, weight: f64) -> DequeueTime {
        debug_assert!(weight > 0.0 && weight <= 1.0, "a weight lies in (0, 1]");
        DequeueTime { threshold: threshold_bytes, weight, seconds: None, measurement: None }
    }

    /// A packet leaves; `backlog_bytes` stay. Out of line, so that laws that rarely call it are
    /// still inlined into their queue.
    #[inline(never)]
    pub fn on_dequeue(&mut self, now: Time, bytes: u32, backlog_bytes: u64) {
        if let Some(measurement) = &mut self.measurement {
            measurement.bytes = measurement.bytes.saturating_add(u64::from(bytes));
            if measurement.bytes >= self.threshold {
                let took = now.since(measurement.start);
                self.measurement = None;
                self.learn(took);
            }
        }
        if self.measurement.is_none() && backlog_bytes >= self.threshold {
            self.measurement = Some(Measurement { start: now, bytes: 0 });
        }
    }

    fn learn(&mut self, took: Span) {
        let sample = took.as_secs();
        self.seconds = Some(match self.seconds {
            None => sample,
            Some(average) => (1.0 - self.weight) * average + self.weight * sample,
        });
    }

    /// How long `backlog_bytes` will take; `None` before the first sample.
    pub fn delay(&self, backlog_bytes: u64) -> Span {
        let seconds = self.seconds.unwrap_or(0.0);
        Span::from_secs_f64(backlog_bytes as f64 * seconds / self.threshold as f64)
    }

    /// Forgets the average and starts a measurement (RFC 8033 Appendix B, on activation).
    pub fn restart(&mut self, now: Time) {
        self.seconds = None;
        self.measurement = Some(Measurement { start: now, bytes: 0 });
    }

    /// Ends the measurement; the next one starts at the threshold.
    pub fn stop(&mut self) {
        self.measurement = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve(time: &mut DequeueTime, from_ms: u64, count: u64, left: u64) {
        for i in 0..count {
            time.on_dequeue(Time::from_nanos((from_ms + i) * 1_000_000), 1000, left);
        }
    }

    /// RFC 8033 Appendix B: the packet that starts a measurement is not counted.
    #[test]
    fn ten_packets_in_ten_service_times_give_the_rate_without_bias() {
        let mut time = DequeueTime::new(10_000, 0.25);
        serve(&mut time, 0, 10, 20_000);
        assert_eq!(time.delay(20_000), Span::ZERO);
        serve(&mut time, 10, 1, 20_000);
        assert_eq!(time.delay(20_000), Span::from_millis(20));
    }

    /// RFC 8033 §5.2: new = 3/4 old + 1/4 sample.
    #[test]
    fn a_new_sample_counts_a_quarter() {
        let mut time = DequeueTime::new(1_000, 0.25);
        for millis in [0, 1, 6] {
            time.on_dequeue(Time::from_nanos(millis * 1_000_000), 1000, 5_000);
        }
        assert_eq!(time.delay(1_000), Span::from_millis(2)); // 3/4 of 1 ms and 1/4 of 5 ms
    }

    #[test]
    fn nothing_is_measured_while_little_waits() {
        let mut time = DequeueTime::new(10_000, 0.25);
        serve(&mut time, 0, 100, 9_999);
        assert_eq!(time.delay(9_999), Span::ZERO);
    }

    /// RFC 8033 Appendix B, on activation.
    #[test]
    fn a_restart_forgets_the_average_and_measures_from_then_on() {
        let mut time = DequeueTime::new(10_000, 0.25);
        serve(&mut time, 0, 11, 20_000);
        time.restart(Time::from_nanos(50_000_000));
        assert_eq!(time.delay(20_000), Span::ZERO);
        serve(&mut time, 51, 10, 20_000);
        assert_eq!(time.delay(20_000), Span::from_millis(20));
    }

    #[test]
    fn a_stop_discards_the_measurement_and_keeps_the_average() {
        let mut time = DequeueTime::new(10_000, 1.0);
        serve(&mut time, 0, 11, 20_000);
        time.stop();
        serve(&mut time, 100, 11, 20_000);
        assert_eq!(time.delay(20_000), Span::from_millis(20), "not 100 ms longer");
    }
}
