//! Delivery opportunities of a recorded link, repeated forever (Netravali et al. 2015; Mahimahi's
//! src/frontend/link_queue.cc).

use std::sync::Arc;

use sojourn_aqm::{Span, Time};
use sojourn_scenario::resolved::Trace;

/// A position in an endless recording.
#[derive(Clone, Debug)]
pub struct Opportunities {
    trace: Arc<Trace>,
    /// When the current pass over the recording began.
    pass_start: Time,
    place: usize,
}

impl Opportunities {
    /// The first opportunity of a recording.
    pub fn new(trace: Arc<Trace>) -> Opportunities {
        assert!(trace.period() > Span::ZERO, "a recording lasts");
        Opportunities { trace, pass_start: Time::ZERO, place: 0 }
    }

    /// Bytes that one opportunity carries.
    pub fn bytes(&self) -> u32 {
        self.trace.opportunity_bytes
    }

    /// The time of the current opportunity.
    pub fn next(&self) -> Time {
        self.pass_start + Span::from_millis(u64::from(self.trace.opportunities_ms[self.place]))
    }

    /// Moves on to the next opportunity.
    pub fn advance(&mut self) {
        self.place += 1;
        if self.place == self.trace.opportunities_ms.len() {
            self.place = 0;
            self.pass_start += self.trace.period();
        }
    }

    /// Skips to the first opportunity later than `now` and returns its time.
    pub fn after(&mut self, now: Time) -> Time {
        if self.next() > now {
            return self.next();
        }
        let period = self.trace.period().as_nanos();
        let passes = now.since(self.pass_start).as_nanos() / period;
        if passes > 0 {
            self.pass_start += self.trace.period().times(passes);
            self.place = 0;
        }
        let into_pass = now.since(self.pass_start).as_nanos() / 1_000_000;
        let rest = &self.trace.opportunities_ms[self.place..];
        self.place += rest.partition_point(|&ms| u64::from(ms) <= into_pass);
        if self.place == self.trace.opportunities_ms.len() {
            self.place = 0;
            self.pass_start += self.trace.period();
            return self.after(now);
        }
        self.next()
    }

    /// The number of opportunities from time zero (inclusive) to `end` (exclusive).
    pub fn count_until(&self, end: Time) -> u64 {
        let period = self.trace.period().as_nanos();
        // The last opportunity of a pass is at its very end and `end` is exclusive, so a pass is
        // complete one nanosecond after its end.
        let passes = end.as_nanos().saturating_sub(1) / period;
        let into_pass = end.as_nanos() - passes * period;
        let per_pass = self.trace.opportunities_ms.len() as u64;
        let last = self
            .trace
            .opportunities_ms
            .partition_point(|&ms| u64::from(ms) * 1_000_000 < into_pass);
        passes * per_pass + last as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(opportunities_ms: &[u32]) -> Opportunities {
        Opportunities::new(Arc::new(Trace {
            file: String::new(),
            sha256: String::new(),
            opportunities_ms: opportunities_ms.to_vec(),
            opportunity_bytes: 1500,
        }))
    }

    #[test]
    fn repeats_with_the_period_of_its_last_line() {
        let mut opportunities = recording(&[1, 1, 5]);
        let mut times = Vec::new();
        for _ in 0..6 {
            times.push(opportunities.next().as_nanos() / 1_000_000);
            opportunities.advance();
        }
        assert_eq!(times, [1, 1, 5, 6, 6, 10]);
    }

    #[test]
    fn skips_what_passed_while_the_queue_was_empty() {
        let after = |ms: u64| {
            recording(&[1, 1, 5]).after(Time::from_nanos(ms * 1_000_000)).as_nanos() / 1_000_000
        };
        assert_eq!([0, 1, 4, 5, 9, 10, 1_000].map(after), [1, 5, 5, 6, 10, 11, 1_001]);
    }

    #[test]
    fn a_pause_of_a_day_over_a_recording_of_a_millisecond_is_skipped_at_once() {
        // Counting pass by pass would take 86 million steps here.
        let day = Time::ZERO + Span::from_secs(86_400);
        assert_eq!(recording(&[1]).after(day), day + Span::from_millis(1));
    }

    #[test]
    fn counts_what_the_link_offered() {
        let count = |ms: u64| recording(&[1, 1, 5]).count_until(Time::from_nanos(ms * 1_000_000));
        assert_eq!([0, 1, 2, 5, 6, 7, 10, 11].map(count), [0, 0, 2, 2, 3, 5, 5, 6]);
    }
}
