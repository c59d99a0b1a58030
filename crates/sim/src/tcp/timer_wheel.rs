//! The timer wheel of Linux since 4.8 (kernel/time/timer.c): timers expire on ticks, never early,
//! and the longer the wait, the coarser.

use sojourn_aqm::{Span, Time};

/// Waits below so many ticks are exact to a tick (`LVL_START(1)`); each level above is eight times
/// as long and as coarse (`LVL_CLK_SHIFT`).
const FINE_TICKS: u64 = 63;
const LEVEL_SHIFT: u32 = 3;

/// When a timer expires that is set at `now` for `due`, with ticks of the length `tick`: at the end
/// of the slot that it falls into (`calc_wheel_index`).
pub(crate) fn expiry(now: Time, due: Time, tick: Span) -> Time {
    let tick = tick.as_nanos();
    let wait = due.since(now).as_nanos().div_ceil(tick);
    let expires = now.as_nanos() / tick + wait;
    let (mut shift, mut level_end) = (0, FINE_TICKS);
    while wait >= level_end {
        shift += LEVEL_SHIFT;
        level_end <<= LEVEL_SHIFT;
    }
    let slot = (expires >> shift) + 1;
    debug_assert!((slot << shift) > expires, "never early");
    Time::from_nanos((slot << shift) * tick)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_expires_a_tick_late_and_after_63_ticks_up_to_eight() {
        let expiry_us = |now_us: u64, wait_us: u64| {
            let now = Time::ZERO + Span::from_micros(now_us);
            let at = expiry(now, now + Span::from_micros(wait_us), Span::from_millis(1));
            at.since(Time::ZERO).as_nanos() / 1000
        };
        // Delayed acknowledgements: 40 ms from the last tick, and one.
        assert_eq!([expiry_us(0, 40_000), expiry_us(999, 40_000)], [41_000, 41_000]);
        // A wait that is no whole number of ticks is rounded up first.
        assert_eq!([expiry_us(500, 1), expiry_us(500, 2_001)], [2_000, 4_000]);
        // Timeouts: the end of a slot of 8 ms, above 504 ms of 64 ms.
        assert_eq!([expiry_us(0, 62_000), expiry_us(0, 63_000)], [63_000, 64_000]);
        assert_eq!([expiry_us(0, 200_000), expiry_us(0, 207_000)], [208_000, 208_000]);
        assert_eq!([expiry_us(0, 503_000), expiry_us(0, 504_000)], [504_000, 512_000]);
        assert_eq!(expiry_us(0, 1_000_000), 1_024_000);
    }
}
