use alloc::vec::Vec;

use super::*;
use crate::packet::Ecn;
use crate::params::Params;
use crate::testing::{arrival, env, full_packets, ms, var, waited};

fn cobalt(dialect: &str) -> Cobalt {
    Cobalt::new(&CobaltParams::of_dialect(dialect).unwrap(), &env())
}

fn rng() -> Rng {
    Rng::stream(1, "test", 0)
}

/// Times of the signals in milliseconds, when every packet has waited `sojourn` and one leaves each
/// ms. Time starts at 1 s, so that packets may have been queued before.
fn signals(law: &mut Cobalt, sojourn: Span, until: u64) -> Vec<u64> {
    let mut rng = rng();
    let mut verdict = |t| {
        let now = ms(1000 + t);
        law.on_dequeue(now, waited(now, sojourn), full_packets(100), &mut rng)
    };
    (0..until).filter(|&t| verdict(t) != Verdict::Pass).collect()
}

/// Fact aqm-30.
#[test]
fn signals_start_after_an_interval_or_at_the_second_packet_by_the_first_inverse_root() {
    let sojourn = Span::from_millis(20);
    assert_eq!(signals(&mut cobalt("linux"), sojourn, 400), [100, 171, 229, 279, 324, 364]);
    assert_eq!(signals(&mut cobalt("linux_exact"), sojourn, 300), [1, 71, 129, 179, 224, 264]);
}

/// Linux `cobalt_should_drop`: the spacing is interval / sqrt(count), with the count after the
/// step.
#[test]
fn the_count_falls_by_one_step_per_period_of_the_control_law() {
    let mut law = cobalt("linux");
    law.set_count(3);
    (law.drop_next, law.dropping) = (ms(1000), true);
    let mut rng = rng();
    let mut steps = Vec::new();
    for t in 999..1400 {
        let before = law.count;
        law.on_dequeue(ms(t), waited(ms(t), Span::ZERO), full_packets(100), &mut rng);
        if law.count < before {
            steps.push(t);
        }
    }
    assert_eq!(steps, [1000, 1071, 1171]);
}

/// Linux `sch_cake.c`, `cobalt_queue_full`.
#[test]
fn overflows_raise_the_probability_once_per_target() {
    let mut law = cobalt("linux");
    for t in 0..=15 {
        law.on_overflow(ms(t), full_packets(9));
    }
    assert_eq!(var(&law, "blue_prob"), 3.0 / 256.0); // at 0, 6 and 12 ms
}

/// Linux `sch_cake.c`, `cake_drop`, reports evictions to COBALT; fact ns3-7.
#[test]
fn an_eviction_is_an_overflow_but_not_in_ns3() {
    let after_one = |dialect| {
        let mut law = cobalt(dialect);
        law.on_eviction(ms(10), full_packets(9));
        [var(&law, "blue_prob"), var(&law, "dropping"), var(&law, "count")]
    };
    assert_eq!(after_one("linux"), [1.0 / 256.0, 1.0, 1.0]);
    assert_eq!(after_one("ns3"), [0.0, 0.0, 0.0]);
}

/// Linux `sch_cake.c`: the probability falls by 1/4096 and grows by 1/256.
#[test]
fn sixteen_empties_undo_one_overflow() {
    let mut law = cobalt("linux");
    law.on_overflow(ms(0), full_packets(9));
    (1..=15).for_each(|n| law.on_empty(ms(6 * n)));
    assert!(var(&law, "blue_prob") > 0.0);
    law.on_empty(ms(96));
    assert_eq!(var(&law, "blue_prob"), 0.0);
}

/// Linux `sch_cake.c`, `cobalt_should_drop`, tests strictly above; RFC 8289 has `>=`.
#[test]
fn a_sojourn_of_exactly_the_target_is_not_over() {
    let exact = Span::from_millis(5);
    assert!(signals(&mut cobalt("linux"), exact, 1000).is_empty());
    let above = Span::from_nanos(5_000_001);
    assert!(!signals(&mut cobalt("linux"), above, 1000).is_empty());
}

/// Linux `sch_cake.c`, `cobalt_should_drop`: "Lack of ECN is deliberate."
#[test]
fn the_codel_part_marks_and_blue_drops_whatever_can_be_marked() {
    let mut law = cobalt("linux");
    let mut rng = rng();
    let mut marks = 0;
    for t in 1000..3000 {
        let head = Head { ecn: Ecn::Ect0, ..waited(ms(t), Span::from_millis(20)) };
        match law.on_dequeue(ms(t), head, full_packets(100), &mut rng) {
            Verdict::Drop(_) => panic!("dropped at {t}"),
            Verdict::Mark(_) => marks += 1,
            Verdict::Pass => {}
        }
    }
    assert!(marks > 50);
    law.blue_prob = 1.0;
    for t in 3000..3100 {
        let verdict = law.on_dequeue(ms(t), arrival(ms(t), Ecn::Ect0), full_packets(9), &mut rng);
        assert!(matches!(verdict, Verdict::Drop(_)));
    }
}

/// Linux `sch_cake.c`, `cake_dequeue`; ns-3 `CobaltQueueDisc::DoDequeue`.
#[test]
fn the_last_packet_of_a_queue_is_dropped_in_ns3_only() {
    for (dialect, drops) in [("linux", false), ("ns3", true)] {
        let mut law = cobalt(dialect);
        law.blue_prob = 1.0;
        let head = arrival(ms(9), Ecn::NotEct);
        let verdict = law.on_dequeue(ms(9), head, Backlog::EMPTY, &mut rng());
        assert_eq!(matches!(verdict, Verdict::Drop(_)), drops, "{dialect}");
    }
}

/// ns-3 `CobaltQueueDisc`: `BlueThreshold` is 400 ms.
#[test]
fn ns3_raises_blue_by_delay() {
    let prob_after = |dialect, sojourn| {
        let mut law = cobalt(dialect);
        law.on_dequeue(ms(1000), waited(ms(1000), sojourn), full_packets(9), &mut rng());
        var(&law, "blue_prob")
    };
    let (at, above) = (Span::from_millis(400), Span::from_millis(401));
    assert_eq!((prob_after("ns3", at), prob_after("ns3", above)), (0.0, 1.0 / 256.0));
    assert_eq!(prob_after("linux", above), 0.0);
}

/// Linux `cobalt_should_drop`: 4 x 1514 bytes take 48.448 ms at 1 Mb/s.
#[test]
fn at_one_megabit_nothing_is_signalled_below_four_packet_times() {
    let slow = Env { rate: Some(Rate::from_bps(1_000_000)), ..env() };
    let law = || Cobalt::new(&CobaltParams::of_dialect("linux").unwrap(), &slow);
    assert!(signals(&mut law(), Span::from_micros(48_448), 900).is_empty());
    assert!(!signals(&mut law(), Span::from_micros(48_449), 900).is_empty());
}

/// Linux `sch_cake.c`, `cobalt_queue_full`, enters the dropping state with the next drop due at
/// once.
#[test]
fn an_overflow_makes_the_next_packet_above_target_due() {
    let mut law = cobalt("linux");
    law.on_overflow(ms(1000), full_packets(9));
    law.blue_prob = 0.0;
    assert_eq!((var(&law, "dropping"), var(&law, "count")), (1.0, 1.0));
    let head = waited(ms(1000), Span::from_millis(20));
    let verdict = law.on_dequeue(ms(1000), head, full_packets(9), &mut rng());
    assert_eq!(verdict, Verdict::Drop(Cause::Target));
    assert_eq!(var(&law, "count"), 2.0);
}

/// Linux `sch_cake.c`, `cobalt_queue_empty`.
#[test]
fn an_empty_queue_ends_the_dropping_state_and_forgets_one_step_once_it_is_due() {
    let mut law = cobalt("linux");
    law.set_count(2);
    (law.drop_next, law.dropping) = (ms(100), true);
    law.on_empty(ms(99));
    assert_eq!((var(&law, "dropping"), var(&law, "count")), (0.0, 2.0));
    assert!(!law.is_at_rest(ms(99)));
    law.on_empty(ms(100));
    assert_eq!(var(&law, "count"), 1.0);
    law.on_empty(ms(199));
    assert_eq!(var(&law, "count"), 1.0, "the next step is due an interval later");
    law.on_empty(ms(200));
    assert!(!law.is_at_rest(ms(299)) && law.is_at_rest(ms(300)), "the timeout is over");
    law.on_overflow(ms(300), full_packets(9));
    (law.count, law.dropping) = (0, false);
    assert!(!law.is_at_rest(ms(999)), "BLUE is not");
}

#[test]
fn blue_drops_by_chance_with_its_probability() {
    let verdict = |u| {
        let mut law = cobalt("linux");
        law.blue_prob = 0.5;
        law.on_dequeue(ms(9), arrival(ms(9), Ecn::Ect0), full_packets(9), &mut Rng::scripted(u))
    };
    assert_eq!(verdict(0.5), Verdict::Pass);
    assert_eq!(verdict(0.5 - f64::EPSILON), Verdict::Drop(Cause::Random));
}

/// Linux `sch_cake.c`, `cobalt_should_drop`: `drop_next` does not lag unless a packet was dropped.
#[test]
fn a_late_mark_does_not_leave_a_backlog_of_signals_behind() {
    let signals_after_a_gap = |ecn| {
        let mut law = cobalt("linux");
        law.set_count(1);
        (law.drop_next, law.dropping) = (ms(1000), true);
        let mut signal = |t| {
            let head = Head { ecn, ..waited(ms(t), Span::from_millis(20)) };
            law.on_dequeue(ms(t), head, full_packets(100), &mut rng()) != Verdict::Pass
        };
        (2000..2100).filter(|&t| signal(t)).count()
    };
    assert_eq!(signals_after_a_gap(Ecn::Ect0), 3, "now, then at intervals of 1/sqrt(count)");
    assert!(signals_after_a_gap(Ecn::NotEct) > 20, "one after another until it has caught up");
}

/// Linux `sch_cake.c`, `cobalt_should_drop`: `schedule` is the time since the old `drop_next`; the
/// first packet above target does not recompute it, so `drop_next` becomes now.
#[test]
fn after_a_pause_of_an_interval_the_second_packet_above_target_is_signalled() {
    let first_signal = |pause: u64| {
        let mut law = cobalt("linux");
        let mut signal = |t, sojourn| {
            let head = waited(ms(t), Span::from_millis(sojourn));
            law.on_dequeue(ms(t), head, full_packets(9), &mut rng()) != Verdict::Pass
        };
        assert!(!signal(1000, 1), "sets drop_next to 1100 ms");
        (0..200u64).find(|&t| signal(1000 + pause + t, 20))
    };
    assert_eq!(first_signal(100), Some(100), "not later than drop_next");
    assert_eq!(first_signal(101), Some(1));
}

/// Linux `sch_cake.c`: `cobalt_should_drop` does not know that `cake_dequeue` keeps the last packet
/// of a queue, so `drop_next` lags.
#[test]
fn a_last_packet_that_is_kept_counts_as_dropped_in_the_schedule() {
    let mut law = cobalt("linux");
    law.set_count(1);
    (law.drop_next, law.dropping) = (ms(1000), true);
    let mut judge = |packets| {
        let head = waited(ms(1250), Span::from_millis(20));
        law.on_dequeue(ms(1250), head, full_packets(packets), &mut rng())
    };
    assert_eq!(judge(0), Verdict::Pass);
    // Signals 2 to 5 were due at 1070.7, 1128.4, 1178.4 and 1223.2 ms; the next one is due at
    // 1264.0.
    let drops = (0..9).filter(|_| judge(9) == Verdict::Drop(Cause::Target)).count();
    assert_eq!(drops, 4);
}

#[test]
fn the_rule_of_four_packet_times_follows_the_rate_and_is_not_in_ns3() {
    let slow = Rate::from_bps(1_000_000);
    let signals_at_30_ms = |dialect: &str| {
        let mut law = cobalt(dialect);
        law.on_rate(ms(0), slow);
        !signals(&mut law, Span::from_millis(30), 900).is_empty()
    };
    assert_eq!((signals_at_30_ms("linux"), signals_at_30_ms("ns3")), (false, true));
    assert!(!signals(&mut cobalt("linux"), Span::from_millis(30), 900).is_empty());
}

/// Linux 6.1 sch_cake.c, cobalt_cache_init and cobalt_invsqrt.
#[test]
fn roots_are_a_table_up_to_15_and_then_newton_steps() {
    let off = |root: u32, count: u32| f64::from(root) / 4_294_967_296.0 * f64::from(count).sqrt();
    for (count, root) in (1..).zip(&super::ROOTS_6_1[1..]) {
        assert!((off(*root, count) - 1.0).abs() < 1e-3, "{count}: {root}");
    }
    let fifteen = super::InverseRoot::Newton(super::ROOTS_6_1[15]);
    let sixteen = fifteen.for_count(16, InverseRoots::Linux6_1);
    let super::InverseRoot::Newton(root) = sixteen else { panic!("{sixteen:?}") };
    assert!(root != 1 << 30 && (off(root, 16) - 1.0).abs() < 2e-3, "{root}");
}

/// Fact linux-30: the constants of Linux 6.12 and 7.2, `inv_sqrt_cache`, equal 1 / sqrt(count) to
/// within two units of 2^-32; 6.1's root of a half is off by 4 10^-4 of an interval.
#[test]
fn the_roots_of_linux_6_12_are_exact_to_the_last_digits() {
    let off = |root: u32, count: u32| f64::from(root) - 4_294_967_296.0 / f64::from(count).sqrt();
    for (count, root) in (1..).zip(&super::ROOTS_6_12[1..]) {
        assert!(off(*root, count).abs() <= 2.0, "{count}: {root}");
    }
    assert!(off(super::ROOTS_6_1[2], 2) < -1e6);
}

/// Fact linux-30.
#[test]
fn under_the_roots_of_linux_6_12_the_second_signal_is_40_us_later() {
    let next_after_two = |roots| {
        let usual = CobaltParams::of_dialect("linux_exact").unwrap();
        let mut law = Cobalt::new(&CobaltParams { inverse_roots: roots, ..usual }, &env());
        signals(&mut law, Span::from_millis(20), 2);
        var(&law, "drop_next")
    };
    let difference =
        next_after_two(InverseRoots::Linux6_12) - next_after_two(InverseRoots::Linux6_1);
    assert!((39e-6..41e-6).contains(&difference), "{difference:?}");
}
