//! For every law with a timer: one jump over an idle time has the same result as one call per
//! timer.

use alloc::format;
use core::fmt::Debug;

use proptest::prelude::*;

use crate::law::Law;
use crate::packet::Backlog;
use crate::packet::Ecn;
use crate::params::Params;
use crate::rng::Rng;
use crate::testing::{arrival, full_packets, law_of, waited};
use crate::time::{Span, Time};

/// Congestion of random strength and length, after which the queue may or may not be empty, then an
/// idle time.
#[derive(Clone, Debug)]
struct History {
    seed: u64,
    operations: u64,
    sojourn_ms: u64,
    is_emptied: bool,
    idle_ms: u64,
    /// Whether the idle time ends at an instant at which every law has a timer.
    ends_on_grid: bool,
}

fn histories() -> impl Strategy<Value = History> {
    let idle = prop_oneof![0..100u64, 0..3_000u64, 0..300_000u64];
    let any_bools = any::<(bool, bool)>();
    (any::<u64>(), 0..2_000u64, 1..400u64, idle, any_bools).prop_map(
        |(seed, operations, sojourn_ms, idle_ms, (is_emptied, ends_on_grid))| History {
            seed,
            operations,
            sojourn_ms,
            is_emptied,
            idle_ms,
            ends_on_grid,
        },
    )
}

/// A law after the given history, and the current time.
fn after<L: Law>(history: &History, dialect: &str, settings: &[(&str, &str)]) -> (L, Time) {
    let mut law: L = law_of(dialect, settings);
    let mut rng = Rng::stream(history.seed, "history", 0);
    let mut now = Time::ZERO + Span::from_millis(history.sojourn_ms);
    for _ in 0..history.operations {
        now += Span::from_nanos(rng.below(2_000_000));
        let packets = 20 + rng.below(100) as u32;
        while law.next_timer().is_some_and(|due| due <= now) {
            law.on_timer(law.next_timer().unwrap(), full_packets(packets));
        }
        let sojourn = Span::from_millis(rng.below(history.sojourn_ms + 1));
        law.on_dequeue(now, waited(now, sojourn), full_packets(packets), &mut rng);
        law.on_enqueue(now, arrival(now, Ecn::NotEct), full_packets(packets), &mut rng);
    }
    if history.is_emptied {
        law.on_dequeue(now, arrival(now, Ecn::NotEct), Backlog::EMPTY, &mut rng);
        law.on_empty(now);
    }
    (law, now)
}

/// Asserts that jump and loop agree, for every dialect.
fn assert_jump_equals_loop<L: Law + Debug>(history: &History, settings: &[(&str, &str)]) {
    for dialect in L::Params::DIALECTS {
        assert_jump_equals_loop_in::<L>(history, dialect.name, settings);
    }
}

fn assert_jump_equals_loop_in<L: Law + Debug>(
    history: &History,
    dialect: &str,
    settings: &[(&str, &str)],
) {
    let (mut jumps, now): (L, Time) = after(history, dialect, settings);
    let (mut loops, _): (L, Time) = after(history, dialect, settings);
    let mut then = now + Span::from_millis(history.idle_ms);
    if history.ends_on_grid {
        let grid = 1_500_000_000; // a multiple of 15, 30 and 500 ms
        then = Time::from_nanos(then.as_nanos().next_multiple_of(grid));
    }
    jumps.on_idle_timers(then);
    while let Some(due) = loops.next_timer().filter(|&due| due <= then) {
        loops.on_timer(due, Backlog::EMPTY);
    }
    assert_eq!(format!("{jumps:?}"), format!("{loops:?}"));
}

/// Asserts that a law can jump over a century; a loop would not finish within a day.
fn assert_jumps<L: Law>(settings: &[(&str, &str)]) {
    for dialect in L::Params::DIALECTS {
        assert_jumps_in::<L>(dialect.name, settings);
    }
}

fn assert_jumps_in<L: Law>(dialect: &str, settings: &[(&str, &str)]) {
    let history = History {
        seed: 1,
        operations: 500,
        sojourn_ms: 100,
        is_emptied: true,
        idle_ms: 0,
        ends_on_grid: false,
    };
    let (mut law, now): (L, Time) = after(&history, dialect, settings);
    let then = now + Span::from_secs(3_155_760_000);
    law.on_idle_timers(then);
    // A dialect may have no timer: the RED of ns-3 adapts on arrivals.
    let next = law.next_timer();
    assert!(next.is_none_or(|next| next > then && next.since(then) <= Span::from_millis(500)));
}

#[test]
fn a_century_of_idle_time_is_skipped_at_once() {
    assert_jumps::<super::pie::Pie>(&[]);
    assert_jumps::<super::pi2::Pi2>(&[]);
    assert_jumps::<super::madpie::Madpie>(&[]);
    assert_jumps::<super::madpie::Madpie>(&[("deterministic_clear", "true")]);
    assert_jumps::<super::ared::Ared>(&[]);
    assert_jumps::<super::pi::Pi>(&[]);
}

proptest! {
    #[test]
    fn pie(history in histories()) {
        assert_jump_equals_loop::<super::pie::Pie>(&history, &[]);
    }

    #[test]
    fn pie_with_a_measured_rate(history in histories()) {
        for dialect in ["rfc8033", "ietf_draft", "linux", "ns2", "ns3"] {
            let settings = [("delay", "rate")];
            assert_jump_equals_loop_in::<super::pie::Pie>(&history, dialect, &settings);
        }
    }

    #[test]
    fn pie_with_the_heuristics_of_2013(history in histories()) {
        let settings = [("heuristics", "linux2013")];
        assert_jump_equals_loop_in::<super::pie::Pie>(&history, "paper2013", &settings);
    }

    #[test]
    fn pi(history in histories(), b_is_larger: bool) {
        let gains = [("a", "1e-5"), ("b", if b_is_larger { "2e-5" } else { "5e-6" })];
        assert_jump_equals_loop::<super::pi::Pi>(&history, &gains);
    }

    #[test]
    fn pi2(history in histories()) {
        assert_jump_equals_loop::<super::pi2::Pi2>(&history, &[]);
    }

    #[test]
    fn madpie(history in histories(), clear: bool) {
        let clear = format!("{clear}");
        assert_jump_equals_loop::<super::madpie::Madpie>(
            &history,
            &[("deterministic_clear", &clear)],
        );
    }

    #[test]
    fn ared(history in histories()) {
        assert_jump_equals_loop::<super::ared::Ared>(&history, &[]);
    }

    #[test]
    fn ared_with_a_slow_average(history in histories()) {
        let settings = [("w_q", "0.05")];
        assert_jump_equals_loop_in::<super::ared::Ared>(&history, "floyd2001", &settings);
    }
}
