//! The queue delay as a function of time: the sojourn time of the packet that leaves next, and zero
//! while nothing waits.
//!
//! A mean over packets counts a span of time by the packets that left in it, so that fast times
//! weigh more than slow ones, and idle times nothing. The mean over time is what a packet that
//! comes at a random time finds.

use sojourn_aqm::Time;

/// The area below the queue delay as a function of time.
#[derive(Clone, Copy, Debug, Default)]
pub struct DelayOverTime {
    /// Delay times time in square nanoseconds.
    area: u128,
    /// When the last packet left or, if the queue was empty then, the first one came.
    since: Time,
}

impl DelayOverTime {
    /// A packet comes to an empty queue.
    #[inline]
    pub(crate) fn begin(&mut self, now: Time) {
        self.since = now;
    }

    /// A packet leaves that has waited so long; time before `from` does not count.
    #[inline]
    pub(crate) fn end(&mut self, now: Time, sojourn_ns: u64, from: Time) {
        let lasted = now.since(self.since.max(from)).as_nanos();
        self.area += u128::from(sojourn_ns) * u128::from(lasted);
        self.since = now;
    }

    /// The mean over `seconds`, in seconds.
    pub fn mean_s(&self, seconds: f64) -> f64 {
        self.area as f64 / 1e18 / seconds
    }
}
