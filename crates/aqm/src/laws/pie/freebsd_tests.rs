//! PIE of FreeBSD's dummynet.

use super::freebsd::FreeBsdPie;
use super::*;
use crate::law::Cause;
use crate::packet::Ecn;
use crate::testing::{arrival, assert_near, env, full_packets, law_of, ms, params_of, rng, var};

fn pie(settings: &[(&str, &str)]) -> FreeBsdPie {
    FreeBsdPie::new(&params_of("freebsd", settings), &env())
}

/// Full-sized packets leave every 1.2 ms, from 1.2 ms on.
fn leave(pie: &mut FreeBsdPie, packets: u64) {
    for i in 1..=packets {
        let now = Time::from_nanos(1_200_000 * i);
        pie.on_dequeue(now, arrival(Time::ZERO, Ecn::NotEct), full_packets(50));
    }
}

/// Fact aqm-136, `aqm_pie_dequeue`: eleven packets are 2^14 bytes; the twelfth gives the second
/// sample. Times are whole milliseconds: 13 and 14 ms.
#[test]
fn the_first_rate_measurement_gives_two_samples() {
    let mut pie = pie(&[]);
    let delay_after = |pie: &mut FreeBsdPie, packets| {
        leave(pie, packets);
        pie.update(full_packets(100));
        pie.delay()
    };
    assert_eq!(delay_after(&mut pie.clone(), 10), 0.0);
    let of = |micros: u64| ((151_400 * micros) >> 14) as f64 / 1e6;
    assert_eq!(delay_after(&mut pie.clone(), 11), of(13_000));
    assert_eq!(delay_after(&mut pie, 12), of((14_000 * 64 + 13_000 * 192) >> 8));
}

/// Fact aqm-136: `aqm_pie_enqueue` renews the burst allowance even while PIE is switched on.
#[test]
fn the_burst_allowance_falls_at_updates_and_is_renewed_without_congestion() {
    let mut pie = pie(&[("delay", "stamps")]);
    (0..4).for_each(|_| pie.update(full_packets(50)));
    assert_near(pie.burst_allowance(), 0.09, 1e-9);
    let head = arrival(ms(60), Ecn::NotEct);
    assert_eq!(pie.on_enqueue(head, full_packets(50), &mut rng()), Verdict::Pass);
    assert_near(pie.burst_allowance(), 0.15, 1e-9);
}

/// Fact aqm-136, `fq_pie_enqueue` and `fq_pie_dequeue`.
#[test]
fn a_flow_queue_listed_again_starts_without_probability() {
    let mut pie: Pie = law_of("freebsd", &[("delay", "stamps"), ("max_burst", "0s")]);
    for i in 1..60 {
        let now = ms(15 * i);
        let head = Head { enqueued: ms(15 * i - 14), ..arrival(now, Ecn::NotEct) };
        let head = Head { enqueued: if i > 30 { ms(15 * i - 400) } else { head.enqueued }, ..head };
        pie.on_dequeue(now, head, full_packets(50), &mut rng());
        pie.on_timer(now, full_packets(50));
    }
    let p = var(&pie, "drop_prob");
    assert!(p > 0.1, "{p}");
    let judge = |pie: &mut Pie, ecn| {
        pie.on_enqueue(ms(900), arrival(ms(900), ecn), full_packets(50), &mut Rng::scripted(0.0))
    };
    let mut other = pie.clone();
    while judge(&mut other, Ecn::NotEct) == Verdict::Pass {}
    assert_eq!(var(&other, "accumulator"), 0.0);
    pie.on_listing(ms(900), false);
    let before = var(&pie, "drop_prob");
    pie.on_idle_timers(ms(9_000));
    assert_eq!(var(&pie, "drop_prob"), before, "an unlisted queue is not updated");
    pie.on_listing(ms(9_000), true);
    assert_eq!(var(&pie, "drop_prob"), 0.0);
    assert!((0..100).all(|_| judge(&mut pie, Ecn::NotEct) == Verdict::Pass));
}

/// `drop_early` and `aqm_pie_enqueue`: marks below 819 / 2^13, and an overdue mark leaves the sum.
#[test]
fn ect_packets_are_marked_below_ten_percent_and_dropped_above() {
    let settings = [("delay", "stamps"), ("max_burst", "0s"), ("ecn", "true")];
    let mut pie: Pie = law_of("freebsd", &settings);
    let mut signals = alloc::vec::Vec::new();
    for i in 1..100 {
        let now = ms(1_000 + 15 * i);
        let head = Head { enqueued: ms(600 + 15 * i), ..arrival(now, Ecn::Ect0) };
        pie.on_dequeue(now, head, full_packets(50), &mut rng());
        pie.on_timer(now, full_packets(50));
        let drawn = &mut Rng::scripted(0.0);
        let verdict = pie.on_enqueue(now, arrival(now, Ecn::Ect0), full_packets(50), drawn);
        signals.push((var(&pie, "drop_prob"), verdict));
    }
    let bound = 819.0 / 8192.0;
    let marked =
        |&(p, verdict): &(f64, Verdict)| verdict == Verdict::Mark(Cause::Random) && p < bound;
    let dropped =
        |&(p, verdict): &(f64, Verdict)| verdict == Verdict::Drop(Cause::Random) && p >= bound;
    assert!(signals.iter().any(dropped));
    assert!(signals.iter().all(|it| it.1 == Verdict::Pass || marked(it) || dropped(it)));
}
