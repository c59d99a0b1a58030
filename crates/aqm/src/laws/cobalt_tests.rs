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

/// The milliseconds of the signals when every packet has waited `sojourn` and one leaves each ms.
/// Time starts at 1 s, so that packets can have waited.
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

/// Fact aqm-31.
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
    for t in 0..=12 {
        law.on_overflow(ms(t), full_packets(9));
    }
    assert_eq!(var(&law, "blue_prob"), 3.0 / 256.0); // at 0, 6 and 12 ms
}

/// Fact aqm-32.
#[test]
fn sixteen_empties_undo_one_overflow() {
    let mut law = cobalt("linux");
    law.on_overflow(ms(0), full_packets(9));
    (1..=15).for_each(|n| law.on_empty(ms(6 * n)));
    assert!(var(&law, "blue_prob") > 0.0);
    law.on_empty(ms(96));
    assert_eq!(var(&law, "blue_prob"), 0.0);
}

/// Linux `sch_cake.c`, `cobalt_should_drop`: strictly above, where RFC 8289 has `>=`.
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
    for (dialect, prob) in [("linux", 0.0), ("ns3", 1.0 / 256.0)] {
        let mut law = cobalt(dialect);
        let head = waited(ms(1000), Span::from_millis(401));
        law.on_dequeue(ms(1000), head, full_packets(9), &mut rng());
        assert_eq!(var(&law, "blue_prob"), prob, "{dialect}");
    }
}

/// Fact aqm-33: 4 x 1514 bytes at 1 Mb/s take 48.448 ms.
#[test]
fn at_one_megabit_nothing_is_signalled_below_four_packet_times() {
    let slow = Env { rate: Some(Rate::from_bps(1_000_000)), ..env() };
    let law = || Cobalt::new(&CobaltParams::of_dialect("linux").unwrap(), &slow);
    assert!(signals(&mut law(), Span::from_micros(48_448), 900).is_empty());
    assert!(!signals(&mut law(), Span::from_micros(48_449), 900).is_empty());
}
