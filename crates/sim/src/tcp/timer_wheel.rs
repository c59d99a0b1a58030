//! The timer wheel of Linux since 4.8 (kernel/time/timer.c): timers expire on ticks, never early,
//! with coarser resolution for longer timeouts.

use sojourn_aqm::{Span, Time};

/// Timeouts up to this many ticks are exact to a tick (`LVL_START(1)`); each higher level is eight
/// times as long and eight times as coarse (`LVL_CLK_SHIFT`).
const FINE_TICKS: u64 = 63;
const LEVEL_SHIFT: u32 = 3;
/// The level of a connection's longest timeout, two minutes.
const TOP_LEVEL: u32 = 4;
/// A tick (`CONFIG_HZ` = 1000). It is a constant because nearly every packet divides by it.
pub(super) const TICK: Span = Span::from_millis(1);
const TICK_NS: u64 = TICK.as_nanos();
/// The ticks of the clock at time zero, which determine where slots end. The value is that of our
/// guest, whose clock starts five minutes below 2^32 ticks (`INITIAL_JIFFIES`) and whose runs begin
/// 11 s later (fact tcp-50).
const TICKS_AT_ZERO: u64 = (1 << 32) - 300_000 + 11_000;
/// Added before a division to round up; `div_ceil` takes twice as many instructions.
const NEARLY_A_TICK_NS: u64 = TICK_NS - 1;
/// The time for calling all timers of one level, in nanoseconds; all levels together take 10 us.
const LEVEL_NS: u64 = 1 << 11;

/// The tick that contains a time.
#[inline]
pub(super) fn tick_of(time: Time) -> u64 {
    time.as_nanos() / TICK_NS
}

/// When a timer set at `now` for `due` is called: on a wheel, in its turn after the end of its slot
/// (fact tcp-21); otherwise at `due`.
#[inline]
pub(crate) fn expiry(on_wheel: bool, now: Time, due: Time) -> Time {
    if !on_wheel {
        return due;
    }
    let (end, level) = slot_end(now, due);
    let wait = end.as_nanos() - now.as_nanos();
    Time::from_nanos(end.as_nanos() + turn(now, wait, level))
}

/// The order of timers that expire on the same tick, as nanoseconds after the tick. Timers of
/// coarser levels are called first (`collect_expired_timers`, `expire_timers`), and within a level
/// the one that was set last (`enqueue_timer`). Here set times are resolved to about an eighth of a
/// slot; below that, the order depends on the nanosecond, never on the numbers of the flows.
fn turn(now: Time, wait_ns: u64, level: u32) -> u64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15; // 2^64 over the golden ratio (Knuth, TAOCP 3, §6.4)
    let waited = wait_ns >> (LEVEL_SHIFT * level + 17) << 2;
    let mixed = now.as_nanos().wrapping_mul(GOLDEN) >> 62;
    let before = u64::from(TOP_LEVEL.saturating_sub(level)) * LEVEL_NS;
    debug_assert!(waited | mixed < LEVEL_NS, "the timers of a level fit into its time");
    before + (waited | mixed)
}

/// The end of the slot of a timer, and its level (`calc_wheel_index`).
#[inline]
fn slot_end(now: Time, due: Time) -> (Time, u32) {
    let wait = (due.since(now).as_nanos() + NEARLY_A_TICK_NS) / TICK_NS;
    let expires = TICKS_AT_ZERO + now.as_nanos() / TICK_NS + wait;
    let (mut level, mut level_end) = (0, FINE_TICKS);
    while wait >= level_end {
        level += 1;
        level_end <<= LEVEL_SHIFT;
    }
    let shift = LEVEL_SHIFT * level;
    let slot = (expires >> shift) + 1;
    debug_assert!((slot << shift) > expires, "never early");
    (Time::from_nanos(((slot << shift) - TICKS_AT_ZERO) * TICK_NS), level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_expires_a_tick_late_and_after_63_ticks_up_to_eight() {
        let end_us = |now_us: u64, wait_us: u64| {
            let now = Time::ZERO + Span::from_micros(now_us);
            let (at, _) = slot_end(now, now + Span::from_micros(wait_us));
            at.since(Time::ZERO).as_nanos() / 1000
        };
        // Delayed acknowledgements: 40 ms from the last tick, plus one tick.
        assert_eq!([end_us(0, 40_000), end_us(999, 40_000)], [41_000, 41_000]);
        // A timeout that is not a whole number of ticks is rounded up first.
        assert_eq!([end_us(500, 1), end_us(500, 2_001)], [2_000, 4_000]);
        // Timeouts end with a slot of 8 ms; above 504 ms, of 64 ms.
        assert_eq!([end_us(0, 62_000), end_us(0, 63_000)], [63_000, 64_000]);
        assert_eq!([end_us(0, 200_000), end_us(0, 207_000)], [208_000, 208_000]);
        assert_eq!([end_us(0, 503_000), end_us(0, 504_000)], [504_000, 552_000]);
        // Ticks 40, 104, 168 ... begin slots of 64 ms, because time zero is 24 ticks into one.
        assert_eq!(end_us(0, 1_000_000), 1_064_000);
        assert_eq!(
            [end_us(394_100, 1_000_000), end_us(448_100, 1_000_000)],
            [1_448_000, 1_512_000]
        );
    }

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// Linux `enqueue_timer` puts a timer at the head of the list of its slot.
    #[test]
    fn of_the_timers_of_a_slot_the_one_set_last_is_called_first() {
        let called = [0, 70, 140, 210].map(|set| expiry(true, ms(set), ms(1_000)));
        assert!(called.is_sorted_by(|earlier, later| later < earlier), "{called:?}");
        assert!(called.iter().all(|at| at.since(ms(1_064)) < Span::from_micros(11)));
    }

    /// Linux `expire_timers` begins with the coarsest level that `collect_expired_timers` found.
    #[test]
    fn of_the_timers_of_a_tick_the_one_that_waited_on_a_coarser_level_is_called_first() {
        let called = [(0, 4_020), (3_600, 4_065), (4_060, 4_071)]
            .map(|(set, due)| expiry(true, ms(set), ms(due)));
        assert!(called.is_sorted(), "{called:?}");
        assert!(called.iter().all(|at| at.since(ms(4_072)) < Span::from_micros(11)), "{called:?}");
    }
}
