use super::*;
use crate::law::Cause;
use crate::packet::Ecn;
use crate::qdisc::Qdisc;
use crate::qdiscs::fifo::Fifo;
use crate::testing::{
    Log, Numbered, arrival, assert_near, env, full_packets, gaps, law, law_in, mean, ms, var,
};

/// RED whose average is the backlog itself, with thresholds of 10 and 30 packets.
const DIRECT: [(&str, &str); 3] = [("min_th", "10p"), ("max_th", "30p"), ("w_q", "1")];

fn direct(settings: &[(&str, &str)]) -> Red {
    law(&[&DIRECT[..], settings].concat())
}

fn real(red: &Red) -> &Detector {
    match &red.0 {
        Engine::Real(detector) => detector,
        Engine::Linux(_) => panic!("not the default"),
    }
}

fn judge(red: &mut Red, packets: u32, u: f64, ecn: Ecn) -> Verdict {
    let now = Time::ZERO;
    red.on_enqueue(now, arrival(now, ecn), full_packets(packets), &mut Rng::scripted(u))
}

fn prob_at(red: &mut Red, packets: u32) -> f64 {
    judge(red, packets, 0.999, Ecn::NotEct);
    var(red, "drop_prob")
}

/// A RED at an average of 100 packets, where p_b has the given value.
fn held_at(p_b: f64, mode: &str) -> Red {
    let max_p = alloc::format!("{}", 2.0 * p_b);
    law(&[
        ("min_th", "50p"),
        ("max_th", "150p"),
        ("w_q", "1"),
        ("max_p", &max_p),
        ("gap_mode", mode),
    ])
}

/// Arithmetic: 1 - 0.998^n.
#[test]
fn average_approaches_a_constant_backlog_as_one_minus_weight_to_the_n() {
    let mut red: Red = law(&[("min_th", "500p")]);
    let mut ratio_after = |samples| {
        for _ in 0..samples {
            judge(&mut red, 100, 0.5, Ecn::NotEct);
        }
        var(&red, "avg_queue") / 100.0
    };
    assert_near(ratio_after(346), 0.49977, 5e-6);
    assert_near(ratio_after(1), 0.50077, 5e-6);
}

/// Floyd and Jacobson 1993: avg + w_q (q - avg).
#[test]
fn one_sample_moves_the_average_by_its_weight() {
    let mut red: Red = law(&[("min_th", "500p"), ("w_q", "0.0625")]);
    judge(&mut red, 160, 0.5, Ecn::NotEct);
    assert_eq!(var(&red, "avg_queue"), 10.0);
}

/// Floyd and Jacobson 1993: the probability is max_p (avg - min_th) / (max_th - min_th).
#[test]
fn probability_rises_from_zero_at_min_th_to_max_p_at_max_th() {
    let mut red = direct(&[]);
    assert_eq!(prob_at(&mut red, 9), 0.0);
    assert_eq!(prob_at(&mut red, 10), 0.0);
    assert_near(prob_at(&mut red, 20), 0.05, 1e-15);
    assert_near(prob_at(&mut red, 29), 0.095, 1e-15);
    assert_eq!(prob_at(&mut red, 30), 1.0);
}

/// ns-2.35 `red.cc`, `REDQueue::enque`: `<` at `min_th`, `>=` at `max_th`.
#[test]
fn average_at_max_th_is_forced_and_at_min_th_is_harmless() {
    assert_eq!(judge(&mut direct(&[]), 30, 0.999, Ecn::NotEct), Verdict::Drop(Cause::Forced));
    assert_eq!(judge(&mut direct(&[]), 29, 0.999, Ecn::NotEct), Verdict::Pass);
    assert_eq!(judge(&mut direct(&[]), 10, 0.0, Ecn::NotEct), Verdict::Pass);
    assert_eq!(judge(&mut direct(&[]), 11, 0.0, Ecn::NotEct), Verdict::Drop(Cause::Random));
}

/// All gaps in `range` are equally likely, within five standard deviations.
#[track_caller]
fn assert_uniform(gaps: &[u64], range: core::ops::RangeInclusive<u64>) {
    assert!(gaps.iter().all(|gap| range.contains(gap)), "gaps lie in {range:?}");
    let n = gaps.len() as f64;
    let p = 1.0 / (range.end() - range.start() + 1) as f64;
    for gap in range.clone() {
        let count = gaps.iter().filter(|&&g| g == gap).count() as f64;
        assert_near(count, n * p, 5.0 * (n * p * (1.0 - p)).sqrt());
    }
    assert_near(mean(gaps), (range.start() + range.end()) as f64 / 2.0, 0.15);
}

/// The first signal of a series has no predecessor, so it is left out.
fn gaps_of(p_b: f64, mode: &str) -> alloc::vec::Vec<u64> {
    let mut rng = Rng::stream(5, mode, 0);
    gaps(&mut held_at(p_b, mode), &mut rng, Ecn::NotEct, 50_001).split_off(1)
}

/// ns-2.35 `REDQueue::modify_p` without `wait_` computes p_a = p_b / (1 - count p_b).
#[test]
fn uniform_gaps_lie_between_one_and_the_inverse_probability() {
    assert_uniform(&gaps_of(0.1, "uniform"), 1..=9);
    assert_uniform(&gaps_of(0.02, "uniform"), 1..=49);
}

/// Fact aqm-42.
#[test]
fn wait_gaps_begin_at_the_inverse_probability() {
    assert_uniform(&gaps_of(0.1, "wait"), 10..=19);
}

#[test]
fn geometric_gaps_have_no_memory() {
    let gaps = gaps_of(0.1, "geometric");
    assert_near(mean(&gaps), 10.0, 5.0 * (90.0f64 / gaps.len() as f64).sqrt());
    assert!(gaps.contains(&1) && gaps.iter().any(|&gap| gap > 50));
}

/// Fact aqm-1.
#[test]
fn a_draw_equal_to_the_probability_passes() {
    let just_below = 0.25 - f64::EPSILON;
    for (mode, before) in [("geometric", 0), ("wait", 3)] {
        let verdict = |u| {
            let mut red = held_at(0.25, mode);
            // The first packet has count 0; `wait` begins at count 4, also with p_a = 1/4.
            (0..=before)
                .for_each(|_| assert!(judge(&mut red, 100, 0.3, Ecn::NotEct) == Verdict::Pass));
            judge(&mut red, 100, u, Ecn::NotEct)
        };
        assert_eq!(verdict(0.25), Verdict::Pass, "{mode}");
        assert_eq!(verdict(just_below), Verdict::Drop(Cause::Random), "{mode}");
    }
}

/// ns-2.35 `REDQueue::estimator` uses `m + 1`: the arrival's own sample is one more factor.
#[test]
fn average_decays_by_the_packets_an_idle_link_could_have_sent() {
    // 4 Mb/s carry 1000 packets of 500 bytes per second.
    let env = Env { rate: Some(Rate::from_bps(4_000_000)), ..env() };
    let mut red: Red = law_in(&env, &[("min_th", "500p"), ("mean_packet_bytes", "500B")]);
    for _ in 0..1000 {
        judge(&mut red, 100, 0.5, Ecn::NotEct);
    }
    let before = var(&red, "avg_queue");
    red.on_empty(ms(1000));
    red.on_empty(ms(1050)); // still the same idle time
    let now = Time::from_nanos(1_100_900_000); // part of a packet does not count
    red.on_enqueue(now, arrival(now, Ecn::NotEct), full_packets(0), &mut Rng::scripted(0.5));
    assert_near(var(&red, "avg_queue") / before, 0.8186 * 0.998, 1e-4);
    red.on_enqueue(ms(5000), arrival(now, Ecn::NotEct), full_packets(0), &mut Rng::scripted(0.5));
    assert_near(var(&red, "avg_queue") / before, 0.8186 * 0.998 * 0.998, 1e-4);
}

/// Fact aqm-44; the table of p_a is tested with the detector.
#[test]
fn a_draw_of_one_half_hits_at_count_9() {
    let mut red = held_at(0.1, "uniform");
    let mut judge = |u| judge(&mut red, 100, u, Ecn::NotEct);
    assert_eq!(judge(0.0), Verdict::Drop(Cause::Random), "this one starts the count");
    for count in 1..=8 {
        assert_eq!(judge(0.5), Verdict::Pass, "count {count}");
    }
    assert_eq!(judge(0.5), Verdict::Drop(Cause::Random));
}

/// Floyd and Jacobson 1993 and ns-2.35 `red.cc`: `count` after each region.
#[test]
fn count_is_minus_one_below_min_th_and_zero_after_a_forced_action() {
    // With p_b = 1/2, RED marks the next packet with probability 1/2 at count 0, and always at
    // count 1.
    let hits = |before: u32| {
        let mut red = direct(&[("max_p", "1")]);
        judge(&mut red, before, 0.999, Ecn::NotEct);
        judge(&mut red, 20, 0.75, Ecn::NotEct) != Verdict::Pass
    };
    assert!(!hits(5));
    assert!(hits(35));
}

/// ns-2.35 `red.cc`, `REDQueue::enque`: below means strictly below.
#[test]
fn an_arrival_at_min_th_exactly_counts() {
    let mut red = direct(&[("max_p", "1")]);
    judge(&mut red, 30, 0.5, Ecn::NotEct); // count 0
    judge(&mut red, 10, 0.5, Ecn::NotEct); // count 1
    // At p_b = 1/2 the packet with count 2 is certainly hit.
    assert_eq!(judge(&mut red, 20, 0.999, Ecn::NotEct), Verdict::Drop(Cause::Random));
}

#[test]
fn ecn_marks_early_and_drops_where_forced() {
    let early = |ecn| judge(&mut direct(&[("ecn", "true")]), 20, 0.0, ecn);
    assert_eq!(early(Ecn::Ect0), Verdict::Mark(Cause::Random));
    assert_eq!(early(Ecn::NotEct), Verdict::Drop(Cause::Random));
    let forced = |hard_drop, ecn| {
        let mut red = direct(&[("ecn", "true"), ("hard_drop", hard_drop)]);
        judge(&mut red, 30, 0.5, ecn)
    };
    assert_eq!(forced("true", Ecn::Ect0), Verdict::Drop(Cause::Forced));
    assert_eq!(forced("false", Ecn::Ect0), Verdict::Mark(Cause::Forced));
    assert_eq!(forced("false", Ecn::NotEct), Verdict::Drop(Cause::Forced));
}

/// Fact aqm-46.
#[test]
fn gentle_probability_goes_on_from_max_p_to_one_at_twice_max_th() {
    let mut tenth = direct(&[("gentle", "true")]);
    assert_near(prob_at(&mut tenth, 45), 0.55, 1e-15);
    assert_near(prob_at(&mut tenth, 30), 0.1, 1e-15);
    assert_near(prob_at(&mut tenth, 59), 0.1 + 0.9 * 29.0 / 30.0, 1e-15);
    let mut fiftieth = direct(&[("gentle", "true"), ("max_p", "0.02")]);
    assert_near(prob_at(&mut fiftieth, 45), 0.51, 1e-15);
    let at_twice = judge(&mut tenth, 60, 0.999, Ecn::NotEct);
    assert_eq!(at_twice, Verdict::Drop(Cause::Forced));
}

/// ns-2.35 `red.cc`, `REDQueue::calculate_p_new`, without `gentle_`.
#[test]
fn without_gentle_the_probability_jumps_to_one_at_max_th() {
    let mut red = direct(&[("max_th", "30000p"), ("min_th", "10000p")]);
    assert_near(prob_at(&mut red, 29_999), 0.1, 1e-5);
    assert_eq!(prob_at(&mut red, 30_000), 1.0);
}

/// Fact aqm-46: p_a = 0.325 / (1 - 2 x 0.325).
#[test]
fn gentle_region_shares_the_count_of_the_early_region() {
    let hit_with = |u| {
        let mut red = direct(&[("gentle", "true"), ("min_th", "12p"), ("max_th", "40p")]);
        assert_eq!(judge(&mut red, 20, 0.0, Ecn::NotEct), Verdict::Drop(Cause::Random));
        assert_eq!(judge(&mut red, 20, 0.999, Ecn::NotEct), Verdict::Pass); // early: count 1
        assert_near(prob_at(&mut red.clone(), 50), 0.325, 1e-15);
        judge(&mut red, 50, u, Ecn::NotEct) != Verdict::Pass // gentle: count 2
    };
    assert!(hit_with(0.92856));
    assert!(!hit_with(0.92858));
}

/// ns-2.35 `red.cc`, `REDQueue::initParams`: `min_th` is max(5, target C / 2) and `max_th` three
/// times that, with C in mean packets.
#[test]
fn automatic_thresholds_follow_the_rate_in_the_unit_of_the_limit() {
    let thresholds = |limit, rate: Option<u64>, settings: &[(&str, &str)]| {
        let env = Env { limit, rate: rate.map(Rate::from_bps), ..env() };
        let settings = [&[("mean_packet_bytes", "500B")], settings].concat();
        let red: Red = law_in(&env, &settings);
        (real(&red).curve.min_th, real(&red).curve.max_th)
    };
    let packets = Limit::Packets(1000);
    assert_eq!(thresholds(packets, Some(100_000_000), &[]), (62.5, 187.5));
    assert_eq!(thresholds(packets, Some(1_000_000), &[]), (5.0, 15.0));
    assert_eq!(thresholds(packets, None, &[]), (5.0, 15.0));
    assert_eq!(thresholds(Limit::Bytes(1), Some(100_000_000), &[]), (31_250.0, 93_750.0));
    assert_eq!(thresholds(packets, None, &[("min_th", "20kB")]), (20_000.0, 60_000.0));
    assert_eq!(thresholds(packets, None, &[("max_th", "30p")]), (10.0, 30.0));
}

#[test]
fn a_new_rate_moves_what_is_automatic_and_nothing_else() {
    let mut automatic: Red = law(&[("w_q", "auto"), ("mean_packet_bytes", "500B")]);
    automatic.on_rate(ms(1), Rate::from_bps(100_000_000));
    assert_eq!(real(&automatic).curve.min_th, 62.5);
    let c = 25_000.0f64; // packets of 500 bytes per second
    assert_near(real(&automatic).weight(), 1.0 - (-1.0 / c).exp(), 1e-15);
    let mut fixed = direct(&[]);
    fixed.on_rate(ms(1), Rate::from_bps(100_000_000));
    assert_eq!((real(&fixed).curve.min_th, real(&fixed).weight()), (10.0, 1.0));
}

#[test]
fn thresholds_of_different_units_or_in_the_wrong_order_are_refused() {
    let refusal = |text: &str| crate::QdiscSpec::parse(text).unwrap_err().message;
    assert!(refusal("red:min_th=5p,max_th=20kB").contains("must be in the unit of max_th `20kB`"));
    assert!(refusal("red:min_th=5p,max_th=5p").contains("less than"));
    assert!(refusal("ared:min_th=7kB,max_th=6kB").contains("less than"));
}

/// Linux `sch_red.c`, `red_enqueue`: arrivals at a full queue change the average too.
#[test]
fn the_average_learns_from_arrivals_that_overflow() {
    let mut fifo = Fifo::new(law::<Red>(&[("min_th", "500p"), ("w_q", "0.5")]), Limit::Packets(4));
    let mut log = Log::default();
    let mut rng = Rng::stream(1, "red", 0);
    for id in 0..40 {
        fifo.enqueue(Time::ZERO, Numbered::new(id, 0, 1000), &mut rng, &mut log);
    }
    assert_eq!(log.dropped.len(), 36);
    assert_near(var(fifo.law(), "avg_queue"), 4.0, 1e-6);
}

#[test]
fn thresholds_in_bytes_are_compared_with_bytes_and_shown_in_mean_packets() {
    let settings = [("min_th", "10kB"), ("max_th", "30kB"), ("w_q", "1")];
    let mut red: Red = law(&[&settings[..], &[("mean_packet_bytes", "1000B")]].concat());
    let mut judge = |bytes: u64| {
        let queue = Backlog { packets: 1, bytes, link_bytes: bytes };
        let head = arrival(Time::ZERO, Ecn::NotEct);
        red.on_enqueue(Time::ZERO, head, queue, &mut Rng::scripted(0.999));
        (var(&red, "avg_queue"), var(&red, "drop_prob"))
    };
    assert_eq!(judge(20_000), (20.0, 0.05));
    assert_eq!(judge(9_999).1, 0.0);
}

/// ns-2.35 `red.cc`, `REDQueue::deque`: the idle time begins when the link asks for a packet and
/// finds none. After an arrival is dropped into an empty queue, an idle link remains idle, and one
/// sending the last packet remains busy (fact aqm-130).
#[test]
fn a_queue_that_stays_empty_for_a_drop_goes_on_being_idle_only_if_the_link_was_idle() {
    let average_after = |found_nothing: bool| {
        let mut red: Red = law(&[("min_th", "10p"), ("max_th", "30p"), ("w_q", "0.002")]);
        for _ in 0..5_000 {
            judge(&mut red, 100, 0.5, Ecn::NotEct);
        }
        if found_nothing {
            red.on_empty(ms(1));
        }
        let head = arrival(ms(1), Ecn::NotEct);
        let verdict = red.on_enqueue(ms(1), head, full_packets(0), &mut Rng::scripted(0.5));
        assert_eq!(verdict, Verdict::Drop(Cause::Forced));
        red.on_enqueue(ms(10_000), head, full_packets(9), &mut Rng::scripted(0.5));
        var(&red, "avg_queue")
    };
    assert!(average_after(true) < 1.0 && average_after(false) > 90.0);
}
