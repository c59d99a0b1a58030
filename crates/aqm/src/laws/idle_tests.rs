//! Every law with a timer: to catch up in one jump is to be called for each timer in turn.

use alloc::format;
use core::fmt::Debug;

use proptest::prelude::*;

use crate::law::Law;
use crate::laws::in_dialect::law_of;
use crate::packet::Backlog;
use crate::packet::Ecn;
use crate::params::Params;
use crate::rng::Rng;
use crate::testing::{arrival, full_packets, waited};
use crate::time::{Span, Time};

/// Congestion of random strength and length that ends at rest or not, then a silence.
#[derive(Clone, Debug)]
struct History {
    seed: u64,
    operations: u64,
    sojourn_ms: u64,
    is_emptied: bool,
    silence_ms: u64,
}

fn histories() -> impl Strategy<Value = History> {
    let silence = prop_oneof![0..100u64, 0..3_000u64, 0..300_000u64];
    (any::<u64>(), 0..2_000u64, 1..400u64, any::<bool>(), silence).prop_map(
        |(seed, operations, sojourn_ms, is_emptied, silence_ms)| History {
            seed,
            operations,
            sojourn_ms,
            is_emptied,
            silence_ms,
        },
    )
}

/// A law after that history, and the time.
fn live<L: Law>(history: &History, dialect: &str, settings: &[(&str, &str)]) -> (L, Time) {
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

/// In every dialect.
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
    let (mut jumps, now): (L, Time) = live(history, dialect, settings);
    let (mut loops, _): (L, Time) = live(history, dialect, settings);
    let then = now + Span::from_millis(history.silence_ms);
    jumps.on_idle_timers(then);
    while let Some(due) = loops.next_timer().filter(|&due| due <= then) {
        loops.on_timer(due, Backlog::EMPTY);
    }
    assert_eq!(format!("{jumps:?}"), format!("{loops:?}"));
}

proptest! {
    #[test]
    fn pie(history in histories()) {
        assert_jump_equals_loop::<super::pie::Pie>(&history, &[]);
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
