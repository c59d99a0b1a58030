use alloc::vec::Vec;

use super::standard::Standard;
use super::*;
use crate::law::Cause;
use crate::packet::Ecn;
use crate::parts::accumulator::ScaledProb;
use crate::testing::{arrival, assert_near, full_packets, gaps, judge, law, mean, ms, var, waited};

/// The controller inside a law of the default dialect.
fn standard(pie: &mut Pie) -> &mut Standard {
    match &mut pie.controller {
        Controller::Standard(standard) => standard,
        other => panic!("{other:?} is not the default"),
    }
}

/// A running PIE: no burst allowance left, nothing accumulated.
fn started(p: f64, delay_old: Span, settings: &[(&str, &str)]) -> Pie {
    let mut pie: Pie = law(settings);
    let inner = standard(&mut pie);
    inner.drop_prob = p;
    inner.scaled_prob = ScaledProb::new(p);
    (inner.delay_old, inner.delay) = (delay_old, delay_old);
    inner.burst_allowance = Span::ZERO;
    pie
}

/// A PIE with a constant probability `p` and a delay that exempts no packet.
fn held_at(p: f64, settings: &[(&str, &str)]) -> Pie {
    started(p, Span::from_millis(30), settings)
}

/// A packet leaves after that delay, then the probability is updated.
fn update(pie: &mut Pie, delay: Span) -> f64 {
    let now = pie.next_timer().unwrap() + Span::from_secs(1000);
    pie.on_dequeue(now, waited(now, delay), full_packets(5), &mut Rng::scripted(0.5));
    pie.on_timer(pie.timer.next(), full_packets(5));
    var(pie, "drop_prob")
}

/// RFC 8033 §4.2: from 15 to 30 ms the step is (0.001875 + 0.01875) / 2048.
#[test]
fn smallest_probabilities_move_by_a_2048th_of_the_step() {
    let mut pie = started(0.0, Span::from_millis(15), &[]);
    assert_near(update(&mut pie, Span::from_millis(30)), 1.00708e-5, 5e-11);
}

/// RFC 8033 §4.2: at a steady 30 ms the result is 0.05 + 0.001875 / 2.
#[test]
fn probabilities_of_a_few_percent_move_by_half_the_step() {
    let mut pie = started(0.05, Span::from_millis(30), &[]);
    assert_near(update(&mut pie, Span::from_millis(30)), 0.0509375, 1e-12);
}

/// RFC 8033 §4.2: the result is (0.5 - 0.001875) times 0.98.
#[test]
fn an_empty_queue_lets_the_probability_decay_after_the_step() {
    let mut pie = started(0.5, Span::ZERO, &[]);
    assert_near(update(&mut pie, Span::ZERO), 0.4881625, 1e-12);
    let mut without = started(0.5, Span::ZERO, &[("idle_decay", "1")]);
    assert_near(update(&mut without, Span::ZERO), 0.498125, 1e-12);
}

/// RFC 8033 §5.5: the delay jumps to 1 s.
#[test]
fn from_ten_percent_on_a_step_is_at_most_two_percentage_points() {
    let after_a_jump = |p, cap| {
        let mut pie = started(p, Span::ZERO, &[("cap_step", cap)]);
        update(&mut pie, Span::from_secs(1))
    };
    assert_near(after_a_jump(0.2, "true"), 0.22, 1e-12);
    assert_near(after_a_jump(0.1, "true"), 0.12, 1e-12);
    assert!(after_a_jump(0.099, "true") > 0.5);
    assert_eq!(after_a_jump(0.2, "false"), 1.0);
}

/// RFC 8033 §4.2: they are reached after 0.99 s and 2.43 s.
#[test]
fn a_standing_delay_of_twice_the_target_takes_66_updates_to_1_percent_and_162_to_10() {
    let mut pie = started(0.0, Span::from_millis(30), &[]);
    let probs: Vec<f64> = (0..200).map(|_| update(&mut pie, Span::from_millis(30))).collect();
    let first = |p| 1 + probs.iter().position(|&prob| prob >= p).unwrap();
    assert_eq!((first(0.01), first(0.1)), (66, 162));
}

/// RFC 8033 §5.4: a gap is ceil(0.85/p) arrivals, then geometric, at most 8.5/p in all. The first
/// gap follows the same rule, because the sum starts at zero.
#[test]
fn derandomised_gaps_lie_between_0_85_and_8_5_over_p() {
    for (p, shortest, longest, expected) in
        [(0.01, 85, 850, 183.96), (0.1, 9, 85, 18.0), (0.5, 2, 17, 3.0), (0.9, 1, 10, 1.0 / 0.9)]
    {
        let mut rng = Rng::stream(8033, "gaps", 0);
        let gaps = gaps(&mut held_at(p, &[]), &mut rng, Ecn::NotEct, 20_000);
        assert_eq!(gaps.iter().min(), Some(&shortest), "p = {p}");
        assert!(gaps.iter().all(|&gap| gap <= longest), "p = {p}");
        // The standard deviation of a geometric distribution, which these gaps follow up to a
        // shift.
        let deviation = (1.0 - p).sqrt() / p;
        assert_near(mean(&gaps), expected, 5.0 * deviation / (gaps.len() as f64).sqrt());
    }
}

/// Fact aqm-65.
#[test]
fn the_sum_of_probabilities_bounds_gaps_whatever_is_drawn() {
    let arrivals_per_drop = |p, u| {
        let mut pie = held_at(p, &[]);
        let mut gap =
            || (1..).find(|_| judge(&mut pie, full_packets(9), u, Ecn::NotEct) != Verdict::Pass);
        let gaps: Vec<i32> = (0..20).map(|_| gap().unwrap()).collect();
        assert!(gaps.iter().all(|&gap| gap == gaps[0]), "p = {p}: {gaps:?}");
        gaps[0]
    };
    assert_eq!([0.3, 0.1, 0.01].map(|p| arrivals_per_drop(p, 0.0)), [3, 9, 85]);
    assert_eq!([0.3, 0.1, 0.01].map(|p| arrivals_per_drop(p, 0.999)), [29, 85, 850]);
}

#[test]
fn without_derandomising_every_arrival_is_drawn_for() {
    let mut pie = held_at(0.1, &[("derandomise", "false")]);
    assert_eq!(judge(&mut pie, full_packets(9), 0.0999, Ecn::NotEct), Verdict::Drop(Cause::Random));
    assert_eq!(judge(&mut pie, full_packets(9), 0.1001, Ecn::NotEct), Verdict::Pass);
}

/// Fact aqm-1.
#[test]
fn a_draw_equal_to_the_probability_passes() {
    for derandomise in ["true", "false"] {
        let verdict = |u| {
            let mut pie = held_at(0.25, &[("derandomise", derandomise)]);
            (0..4).map(|_| judge(&mut pie, full_packets(9), u, Ecn::NotEct)).last()
        };
        assert_eq!(verdict(0.25), Some(Verdict::Pass));
        assert_eq!(verdict(0.25 - f64::EPSILON), Some(Verdict::Drop(Cause::Random)));
    }
}

/// RFC 8033 Appendix B, `drop_early`.
#[test]
fn the_sum_restarts_when_the_probability_is_zero() {
    let mut pie = held_at(0.1, &[]);
    judge(&mut pie, full_packets(9), 0.5, Ecn::NotEct);
    assert_near(var(&pie, "accumulator"), 0.1, 1e-12);
    standard(&mut pie).drop_prob = 0.0;
    judge(&mut pie, full_packets(9), 0.5, Ecn::NotEct);
    assert_eq!(var(&pie, "accumulator"), 0.0);
}

/// RFC 8033 §5.4 and fact aqm-76.
#[test]
fn the_sum_restarts_after_a_drop_a_mark_and_an_overflow() {
    let mut pie = held_at(0.08, &[("ecn", "true")]);
    let mut arrivals_until = |ecn, verdict| {
        (1..).find(|_| judge(&mut pie, full_packets(9), 0.0, ecn) == verdict).unwrap()
    };
    assert_eq!(arrivals_until(Ecn::NotEct, Verdict::Drop(Cause::Random)), 11);
    assert_eq!(arrivals_until(Ecn::Ect0, Verdict::Mark(Cause::Random)), 11);
    assert_eq!(arrivals_until(Ecn::NotEct, Verdict::Drop(Cause::Random)), 11);
    judge(&mut pie, full_packets(9), 0.0, Ecn::NotEct);
    assert_near(var(&pie, "accumulator"), 0.08, 1e-12);
    pie.on_overflow(Time::ZERO, full_packets(9));
    assert_eq!(var(&pie, "accumulator"), 0.0);
}

/// RFC 8033 §4.4.
#[test]
fn a_burst_of_150_ms_is_not_dropped_from_until_the_tenth_update_has_run() {
    let mut pie: Pie = law(&[]);
    for update in 1..=10 {
        standard(&mut pie).drop_prob = 1.0;
        standard(&mut pie).scaled_prob = ScaledProb::new(1.0);
        standard(&mut pie).delay = Span::from_millis(100);
        assert_eq!(judge(&mut pie, full_packets(50), 0.0, Ecn::NotEct), Verdict::Pass, "{update}");
        pie.on_timer(pie.timer.next(), full_packets(50));
    }
    assert_eq!(pie.next_timer(), Some(ms(165)));
    assert_eq!(judge(&mut pie, full_packets(50), 0.0, Ecn::NotEct), Verdict::Drop(Cause::Random));
}

/// RFC 8033 §4.4: an arrival renews it when p = 0 and both delays are below half the target.
#[test]
fn the_burst_allowance_is_renewed_only_when_all_congestion_is_over() {
    let allowance_after = |p, delay_us, delay_old_us| {
        let mut pie = started(p, Span::from_micros(delay_old_us), &[]);
        standard(&mut pie).delay = Span::from_micros(delay_us);
        judge(&mut pie, full_packets(9), 0.5, Ecn::NotEct);
        var(&pie, "burst_allowance")
    };
    assert_eq!(allowance_after(0.0, 7_499, 7_499), 0.15);
    assert_eq!(allowance_after(1e-9, 7_499, 7_499), 0.0);
    assert_eq!(allowance_after(0.0, 7_500, 7_499), 0.0);
    assert_eq!(allowance_after(0.0, 7_499, 7_500), 0.0);
}

/// RFC 8033 §4.1.
#[test]
fn below_half_the_target_nothing_is_dropped_until_20_percent() {
    let drops = |p, delay_old_us: u64, packets| {
        let mut pie = started(p, Span::from_micros(delay_old_us), &[]);
        // The delay at the last update counts, not this new one.
        standard(&mut pie).delay = Span::from_millis(30);
        (0..100).any(|_| judge(&mut pie, full_packets(packets), 0.0, Ecn::NotEct) != Verdict::Pass)
    };
    assert!(!drops(0.19, 7_400, 100));
    assert!(drops(0.2, 7_400, 100));
    assert!(drops(0.19, 7_500, 100), "exactly half is not below");
}

/// RFC 8033 §4.1 exempts backlogs up to and including twice the packet size.
#[test]
fn two_packets_or_less_are_never_too_many() {
    let drops = |bytes, settings: &[(&str, &str)]| {
        let mut pie = held_at(1.0, settings);
        let backlog = crate::testing::bytes(bytes);
        (0..10).any(|_| judge(&mut pie, backlog, 0.0, Ecn::NotEct) != Verdict::Pass)
    };
    assert!(!drops(3028, &[]));
    assert!(drops(3029, &[]));
    assert!(drops(2001, &[("mtu_bytes", "1000B")]));
}

/// RFC 8033 Appendix B: `PIE->drop_prob_ < MAX_ECNTH`.
#[test]
fn marks_below_ten_percent_and_drops_from_there() {
    let verdict = |p, ecn| {
        let mut pie = held_at(p, &[("ecn", "true")]);
        (0..20).map(|_| judge(&mut pie, full_packets(9), 0.0, ecn)).find(|&v| v != Verdict::Pass)
    };
    assert_eq!(verdict(0.0999, Ecn::Ect0), Some(Verdict::Mark(Cause::Random)));
    assert_eq!(verdict(0.0999, Ecn::Ce), Some(Verdict::Mark(Cause::Random)));
    assert_eq!(verdict(0.0999, Ecn::NotEct), Some(Verdict::Drop(Cause::Random)));
    assert_eq!(verdict(0.1, Ecn::Ect0), Some(Verdict::Drop(Cause::Random)));
}

/// RFC 8033 §4.2: the probability is bounded by 0 and 1.
#[test]
fn the_probability_stays_a_probability_for_any_delays() {
    let mut pie: Pie = law(&[]);
    let mut rng = Rng::stream(8033, "delays", 0);
    let delays = [0, 1_000, 15_000_000, 300_000_000, 5_000_000_000, 100_000_000_000];
    let probs: Vec<f64> = (0..100_000)
        .map(|i| {
            let most = delays[(i / 500) % delays.len()];
            update(&mut pie, Span::from_nanos(rng.below(most + 1)))
        })
        .collect();
    assert!(probs.iter().all(|p| (0.0..=1.0).contains(p)));
    assert!(probs.contains(&0.0) && probs.contains(&1.0), "both ends were met");
}

/// Fact aqm-67.
#[test]
fn the_controller_follows_its_equation_step_by_step() {
    let mut pie = started(0.05, Span::from_millis(20), &[]);
    let delays = [30, 40, 50, 60, 60, 40, 20, 10, 0, 0, 0];
    let expected = [
        0.0571875, 0.0650000, 0.0734375, 0.0825000, 0.0853125, 0.0743750, 0.0621875, 0.0556250,
        0.0484375, 0.0465500, 0.0447002,
    ];
    for (delay, p) in delays.into_iter().zip(expected) {
        assert_near(update(&mut pie, Span::from_millis(delay)), p, 1e-7);
    }
}

/// Fact aqm-68: the queue delay at each update from rest, in milliseconds, and the drop probability
/// after it.
pub(super) const FROM_REST: [(u64, f64); 11] = [
    (0, 0.0),
    (5, 2.441406e-6),
    (10, 1.342773e-5),
    (20, 1.159668e-4),
    (40, 9.948730e-4),
    (80, 2.811279e-3),
    (160, 1.757690e-2),
    (160, 2.663940e-2),
    (120, 8.201904e-3),
    (80, 2.967529e-3),
    (40, 0.0),
];

#[test]
fn from_rest_the_controller_follows_its_equation_through_the_table() {
    let mut pie = started(0.0, Span::ZERO, &[]);
    for (delay, p) in FROM_REST {
        assert_near(update(&mut pie, Span::from_millis(delay)), p, 1e-6 * p);
    }
}

/// Fact aqm-79; an eviction that empties the queue also ends the delay.
#[test]
fn the_delay_is_that_of_the_last_packet_and_zero_once_it_left_nothing() {
    let mut pie: Pie = law(&[]);
    let mut leave = |stays| {
        let head = waited(ms(100), Span::from_millis(40));
        pie.on_dequeue(ms(100), head, full_packets(stays), &mut Rng::scripted(0.5));
        var(&pie, "delay")
    };
    assert_eq!(leave(1), 0.04);
    assert_eq!(leave(0), 0.0);
    assert_eq!(leave(1), 0.04);
    pie.on_overflow(ms(100), full_packets(1));
    assert_eq!(var(&pie, "delay"), 0.04);
    pie.on_overflow(ms(100), Backlog::EMPTY);
    assert_eq!(var(&pie, "delay"), 0.0);
}

/// RFC 8033 Appendix B, `drop_early`, makes at most one draw, and only between the thresholds.
#[test]
fn a_number_is_drawn_only_between_the_two_thresholds() {
    let mut pie = held_at(0.1, &[]);
    let draws: Vec<bool> = (0..100)
        .map(|_| {
            let mut rng = Rng::scripted(0.999);
            pie.on_enqueue(Time::ZERO, arrival(Time::ZERO, Ecn::NotEct), full_packets(9), &mut rng);
            rng.uniform() != Rng::scripted(0.999).uniform()
        })
        .collect();
    assert!(draws[..8].iter().all(|drew| !drew), "0.8 is too early");
    assert!(draws[8..84].iter().all(|drew| *drew));
    assert!(!draws[84], "8.5 is overdue");
}
