//! The queue delay as a function of time: the sojourn time of the packet that leaves next, and zero
//! while the queue is empty.
//!
//! A mean over packets weights a span of time by the packets that left in it, so fast periods count
//! more than slow ones, and idle periods not at all. The mean over time is the delay that a packet
//! arriving at a random time would find.

use sojourn_aqm::Time;

/// The integral of the queue delay over time.
#[derive(Clone, Copy, Debug, Default)]
pub struct DelayOverTime {
    /// The integral in square nanoseconds.
    area: u128,
    /// When the last packet left, or when the first one arrived at an empty queue, if later.
    since: Time,
}

impl DelayOverTime {
    /// Records a packet that arrives at an empty queue.
    #[inline]
    pub(crate) fn begin(&mut self, now: Time) {
        self.since = now;
    }

    /// Records a packet that leaves after this sojourn time; time before `from` does not count.
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
