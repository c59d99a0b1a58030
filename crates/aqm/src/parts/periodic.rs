//! A periodic timer without drift.

use crate::time::{Span, Time};

/// A timer that expires first one period after time zero, then strictly periodically (fact aqm-3:
/// Linux waits 500 ms first, ns-3's PIE starts at time 0).
#[derive(Clone, Debug)]
pub struct Periodic {
    period: Span,
    next: Time,
}

impl Periodic {
    /// A timer of that period, which is positive.
    pub fn new(period: Span) -> Periodic {
        assert!(period > Span::ZERO, "a period is positive");
        Periodic { period, next: Time::ZERO + period }
    }

    /// A timer that first expires at `first`, then every `period`, which is positive.
    pub fn starting(first: Time, period: Span) -> Periodic {
        assert!(period > Span::ZERO, "a period is positive");
        Periodic { period, next: first }
    }

    /// When it expires next.
    pub const fn next(&self) -> Time {
        self.next
    }

    /// The time between two expiries.
    pub const fn period(&self) -> Span {
        self.period
    }

    /// Restarts at `now`, like a kernel timer that is re-armed when it fires.
    pub fn restart(&mut self, now: Time) {
        self.next = now + self.period;
    }

    /// Maximum number of expiries for which an idle law catches up: 17 hours of updates every 15
    /// ms, 0.1 s of CPU time. Further expiries are skipped, so that a jump of the host's clock by
    /// centuries does not hang the program.
    pub const MOST_CAUGHT_UP: u32 = 1 << 22;

    /// Moves to the first expiry after `now`. If a host is late by whole periods, as can happen in
    /// real time, these are skipped: the next expiry is still a multiple of the period and lies in
    /// the future.
    pub fn advance(&mut self, now: Time) {
        if self.next <= now {
            let late = now.since(self.next).as_nanos() / self.period.as_nanos();
            self.next += self.period.times(late + 1);
        }
    }
}

/// The span in whole jiffies of a kernel with `hz` jiffies per second, rounded up, at least one
/// (Linux `usecs_to_jiffies`; fact aqm-4).
pub fn in_jiffies(span: Span, hz: u64) -> Span {
    of_jiffies(count_jiffies(span, hz), hz)
}

/// The period of a kernel timer that is re-armed with `span` at each expiry. It expires one step of
/// the kernel's timer wheel later than requested: one jiffy below 63 jiffies, 8 jiffies below 504,
/// and so on (Linux 6.1 `kernel/time/timer.c`, `calc_wheel_index`; fact aqm-4). Without jiffies,
/// timers are exact and the period is `span`.
pub fn between_expiries(span: Span, hz: Option<u64>) -> Span {
    let Some(hz) = hz else { return span };
    let jiffies = count_jiffies(span, hz);
    let level = (0..TOP_LEVEL).find(|level| jiffies < LEVEL_JIFFIES << (LEVEL_SHIFT * level));
    let shift = LEVEL_SHIFT * level.unwrap_or(TOP_LEVEL);
    of_jiffies(((jiffies >> shift) + 1) << shift, hz)
}

fn count_jiffies(span: Span, hz: u64) -> u128 {
    (u128::from(span.as_nanos()) * u128::from(hz)).div_ceil(SECOND).max(1)
}

fn of_jiffies(jiffies: u128, hz: u64) -> Span {
    let nanos = (jiffies * SECOND / u128::from(hz)).max(1);
    Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// In nanoseconds.
const SECOND: u128 = 1_000_000_000;
/// Of the kernel's timer wheel (Linux 6.1 `kernel/time/timer.c`, `LVL_START`, `LVL_CLK_SHIFT`).
const LEVEL_JIFFIES: u128 = 63;
const LEVEL_SHIFT: u32 = 3;
const TOP_LEVEL: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expires_at_multiples_of_the_period_and_always_in_the_future() {
        let mut timer = Periodic::new(Span::from_millis(15));
        assert_eq!(timer.next(), Time::from_nanos(15_000_000));
        timer.advance(Time::from_nanos(14_999_999));
        assert_eq!(timer.next(), Time::from_nanos(15_000_000));
        timer.advance(Time::from_nanos(15_000_000));
        assert_eq!(timer.next(), Time::from_nanos(30_000_000));
        timer.advance(Time::from_nanos(61_000_000));
        assert_eq!(timer.next(), Time::from_nanos(75_000_000));
        timer.restart(Time::from_nanos(76_000_000));
        assert_eq!(timer.next(), Time::from_nanos(91_000_000));
    }

    /// Fact aqm-4.
    #[test]
    fn kernels_round_up_to_whole_jiffies() {
        let rounded = |millis, hz| in_jiffies(Span::from_millis(millis), hz);
        assert_eq!(rounded(15, 250), Span::from_millis(16));
        assert_eq!(rounded(15, 100), Span::from_millis(20));
        assert_eq!(rounded(15, 1000), Span::from_millis(15));
        assert_eq!(in_jiffies(Span::from_nanos(1), 250), Span::from_millis(4));
    }

    /// Fact aqm-4: in a kernel with 1000 Hz, a 15 ms timer was observed to expire every 16 ms.
    #[test]
    fn timers_of_the_kernel_expire_a_step_of_its_wheel_late() {
        let between = |millis, hz| between_expiries(Span::from_millis(millis), Some(hz));
        assert_eq!(between(15, 1000), Span::from_millis(16));
        assert_eq!(between(15, 250), Span::from_millis(20));
        assert_eq!(between(62, 1000), Span::from_millis(63));
        assert_eq!(between(63, 1000), Span::from_millis(64));
        assert_eq!(between(500, 1000), Span::from_millis(504));
        assert_eq!(between(504, 1000), Span::from_millis(512));
        let longest = Span::from_nanos(u64::MAX);
        assert_eq!([1, 1000, u64::MAX].map(|hz| between_expiries(longest, Some(hz))), [longest; 3]);
    }
}
