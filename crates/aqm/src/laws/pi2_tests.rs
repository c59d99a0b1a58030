use super::*;
use crate::packet::Ecn;
use crate::testing::{
    arrival, assert_near, bytes, full_packets, gaps, law, learn_rate, mean, ms, var,
};

fn started(base_prob: f64, delay: f64) -> Pi2 {
    let mut pi2 = Pi2 { base_prob, delay, ..law(&[]) };
    learn_rate(|now, head, queue| {
        pi2.on_dequeue(now, head, queue, &mut Rng::scripted(0.5));
    });
    pi2
}

/// One update at that delay.
fn update(pi2: &mut Pi2, delay_ms: u64) -> f64 {
    pi2.on_timer(pi2.next_timer().unwrap(), bytes(delay_ms * 1000));
    var(pi2, "base_prob")
}

/// Fact 15.1.
#[test]
fn drops_with_the_square_of_the_controller_s_output() {
    for (base_prob, drop_prob) in [(0.2f64, 0.04f64), (0.5, 0.25)] {
        let mut pi2 = started(base_prob, 0.0);
        assert_near(var(&pi2, "drop_prob"), drop_prob, 1e-15);
        let mut rng = Rng::stream(2, "pi2", 0);
        let gaps = gaps(&mut pi2, &mut rng, Ecn::NotEct, 20_000);
        let deviation = (1.0 - drop_prob).sqrt() / drop_prob;
        assert_near(mean(&gaps), 1.0 / drop_prob, 5.0 * deviation / 20_000.0f64.sqrt());
    }
}

/// How many numbers one arrival takes from a generator.
fn draws(pi2: &mut Pi2, rng: &mut Rng, queue: Backlog) -> u32 {
    let mut shadow = rng.clone();
    pi2.on_enqueue(Time::ZERO, arrival(Time::ZERO, Ecn::NotEct), queue, rng);
    let next = rng.clone().next_u64();
    (0..4).find(|_| shadow.next_u64() == next).expect("at most three draws")
}

/// Fact 15.2.
#[test]
fn thinks_twice_and_draws_the_second_time_only_if_the_first_hits() {
    let mut pi2 = started(0.3, 0.0);
    let mut rng = Rng::stream(15, "pi2", 2);
    let n = 100_000;
    let total: u32 = (0..n).map(|_| draws(&mut pi2, &mut rng, full_packets(9))).sum();
    let per_packet = f64::from(total) / f64::from(n);
    assert_near(per_packet, 1.3, 5.0 * (0.3f64 * 0.7 / f64::from(n)).sqrt());
}

/// Spec aqm.md §1: each draw hits when it is strictly below p'.
#[test]
fn draws_equal_to_the_probability_pass() {
    let two_draws = |mut rng: Rng| (rng.uniform(), rng.uniform());
    let rises = |rng: &Rng| two_draws(rng.clone()).0 < two_draws(rng.clone()).1;
    let mut rng = (0..).map(|i| Rng::stream(15, "pi2", i)).find(rises).unwrap();
    let (first, second) = two_draws(rng.clone());
    assert_eq!(draws(&mut started(first, 0.0), &mut rng.clone(), full_packets(9)), 1);
    let head = arrival(Time::ZERO, Ecn::NotEct);
    let verdict =
        started(second, 0.0).on_enqueue(Time::ZERO, head, full_packets(9), &mut rng.clone());
    assert_eq!(verdict, Verdict::Pass);
    let above = second + f64::EPSILON;
    let verdict = started(above, 0.0).on_enqueue(Time::ZERO, head, full_packets(9), &mut rng);
    assert_eq!(verdict, Verdict::Drop(Cause::Random));
}

/// Fact 15.3.
#[test]
fn one_step_of_the_controller() {
    assert_near(update(&mut started(0.1, 0.02), 30), 0.134375, 1e-12);
}

/// Fact 15.6.
#[test]
fn at_the_target_the_probability_stays() {
    let mut pi2 = started(0.1, 0.02);
    for _ in 0..100 {
        assert_near(update(&mut pi2, 20), 0.1, 1e-12);
    }
}

/// Fact 15.7: strictly less than two packets, as in Linux `sch_pi2.c`.
#[test]
fn less_than_two_packets_are_neither_dropped_nor_drawn_for() {
    let mut rng = Rng::stream(1, "pi2", 0);
    let mut pi2 = started(1.0, 0.02);
    assert_eq!(draws(&mut pi2, &mut rng, bytes(3027)), 0);
    assert_eq!(draws(&mut pi2, &mut rng, bytes(3028)), 2);
}

/// Fact 15.8.
#[test]
fn has_no_burst_allowance_at_the_start() {
    let mut pi2 = started(0.0, 0.0);
    update(&mut pi2, 200);
    assert!(var(&pi2, "base_prob") > 0.6);
    let head = arrival(ms(30), Ecn::NotEct);
    let verdict = pi2.on_enqueue(ms(30), head, full_packets(9), &mut Rng::scripted(0.0));
    assert_eq!(verdict, Verdict::Drop(Cause::Random));
}

#[test]
fn marks_at_any_probability_what_can_be_marked() {
    let mut pi2 = Pi2 { base_prob: 1.0, ..law(&[("ecn", "true")]) };
    let mut judge = |ecn| {
        let rng = &mut Rng::stream(1, "pi2", 0);
        pi2.on_enqueue(Time::ZERO, arrival(Time::ZERO, ecn), full_packets(9), rng)
    };
    assert_eq!(judge(Ecn::Ect0), Verdict::Mark(Cause::Random));
    assert_eq!(judge(Ecn::NotEct), Verdict::Drop(Cause::Random));
}

#[test]
fn the_probability_stays_a_probability() {
    let mut pi2 = started(0.5, 0.0);
    assert_eq!(update(&mut pi2, 5_000), 1.0);
    assert_eq!(update(&mut pi2, 0), 0.0);
}

/// Golden trace G5, PI2.
#[test]
fn golden_trace_g5() {
    let mut pi2 = started(0.1, 0.02);
    let delays = [30, 40, 50, 60, 60, 40, 20, 10, 0, 0, 0];
    let expected = [
        0.134375, 0.171875, 0.212500, 0.256250, 0.268750, 0.212500, 0.150000, 0.115625, 0.078125,
        0.071875, 0.065625,
    ];
    for (delay, p) in delays.into_iter().zip(expected) {
        assert_near(update(&mut pi2, delay), p, 1e-9);
    }
}
