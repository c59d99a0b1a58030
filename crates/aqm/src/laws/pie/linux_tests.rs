//! PIE of Linux.

use alloc::vec::Vec;

use super::linux::LinuxPie;
use super::tests::FROM_REST;
use super::*;
use crate::law::Cause;
use crate::packet::Ecn;
use crate::testing::{
    arrival, assert_near, bytes, env, full_packets, law_of, ms, params_of, var, waited,
};

const DROP: Verdict = Verdict::Drop(Cause::Random);
const MARK: Verdict = Verdict::Mark(Cause::Random);

/// A running Linux PIE, its burst allowance used up.
fn linux(p: f64, delay_us: u64, settings: &[(&str, &str)]) -> LinuxPie {
    LinuxPie::new(&params_of("linux", settings), &env()).started(p, Span::from_micros(delay_us))
}

/// A packet leaves after that delay, then the probability is updated.
fn linux_update(pie: &mut LinuxPie, delay_ms: u64) -> f64 {
    let now = ms(100_000);
    pie.on_dequeue(now, waited(now, Span::from_millis(delay_ms)), full_packets(5));
    pie.update(full_packets(if delay_ms == 0 { 0 } else { 5 }));
    pie.drop_prob()
}

/// The steps of RFC 8033 §4.2; ticks of 64 ns and integer gains change less than one part in 10^6.
#[test]
fn linux_moves_like_the_rfc_where_neither_cap_nor_decay_acts() {
    let p = linux_update(&mut linux(0.0, 15_000, &[]), 30);
    assert_near(p, 0.020625 / 2048.0, 1e-11);
    assert_near(linux_update(&mut linux(0.05, 30_000, &[]), 30), 0.0509375, 1e-8);
}

/// Linux `pie_calculate_probability`: the decay factor is 63/64; in RFC 8033 §4.2 it is 0.98.
#[test]
fn linux_decays_by_a_64th() {
    assert_near(linux_update(&mut linux(0.5, 0, &[]), 0), 0.4903418, 1e-7);
}

/// Linux `sch_pie.c`, `pie_calculate_probability`: no decay while packets are queued, even if the
/// last delay was 0.
#[test]
fn linux_does_not_decay_while_packets_wait() {
    let mut pie = linux(0.5, 0, &[]);
    pie.update(full_packets(5));
    assert_near(pie.drop_prob(), 0.498125, 1e-8);
}

/// Linux `pie_calculate_probability` caps the step, then adds 0.02 above 250 ms.
#[test]
fn linux_caps_a_step_and_kicks_above_250_ms() {
    assert_near(linux_update(&mut linux(0.2, 0, &[]), 1000), 0.24, 1e-12);
    assert_near(linux_update(&mut linux(0.2, 0, &[]), 250), 0.22, 1e-12);
}

/// Fact aqm-73.
#[test]
fn linux_lets_the_probability_grow_to_8_5_in_200_updates() {
    let mut pie = linux(0.5, 300_000, &[]);
    let last = (0..200).map(|_| linux_update(&mut pie, 300)).last().expect("200 updates");
    assert_near(last, 8.5, 0.2); // 200 times a cap of 0.02 and a kick of 0.02
    assert_near(last, 0.5 + 200.0 * 0.04, 1e-9);
}

/// Fact aqm-68: ticks and whole gains change the sixth digit.
#[test]
fn from_rest_linux_moves_as_the_rfc_but_for_rounding() {
    let mut pie = linux(0.0, 0, &[]);
    for (delay, p) in FROM_REST {
        assert_near(linux_update(&mut pie, delay), p, 2e-6 * p);
    }
}

fn judge(pie: &mut LinuxPie, backlog: Backlog, u: f64, ecn: Ecn) -> Verdict {
    pie.on_enqueue(arrival(Time::ZERO, ecn), backlog, &mut Rng::scripted(u))
}

/// Fact aqm-65, computed in 56 bits.
#[test]
fn linux_bounds_gaps_whatever_is_drawn() {
    let gap = |p, u| {
        let mut pie = linux(p, 30_000, &[]);
        let is_hit = |_: &i32| judge(&mut pie, full_packets(9), u, Ecn::NotEct) == DROP;
        (1..).find(is_hit).expect("a hit")
    };
    // A probability that is rounded down reaches its thresholds at most one addition late.
    let near = |found: [i32; 3], ideal: [i32; 3]| {
        assert!(found.iter().zip(ideal).all(|(f, i)| (0..=1).contains(&(f - i))), "{found:?}");
    };
    near([0.3, 0.1, 0.01].map(|p| gap(p, 0.0)), [3, 9, 85]);
    near([0.3, 0.1, 0.01].map(|p| gap(p, 0.999)), [29, 85, 850]);
}

/// Fact aqm-74.
#[test]
fn linux_marks_every_packet_once_a_mark_is_overdue() {
    let mut pie = linux(0.05, 30_000, &[("ecn", "true")]);
    let verdicts: Vec<Verdict> =
        (0..200).map(|_| judge(&mut pie, full_packets(9), 0.999, Ecn::Ect0)).collect();
    let first = verdicts.iter().position(|&v| v == MARK).expect("an overdue mark");
    assert!((169..=170).contains(&first), "{first}");
    assert!(verdicts[first..].iter().all(|&v| v == MARK));
    assert_eq!(judge(&mut pie, full_packets(9), 0.999, Ecn::NotEct), DROP);
    assert_eq!(judge(&mut pie, full_packets(9), 0.999, Ecn::Ect0), Verdict::Pass);
}

/// Linux `sch_pie.c`, `pie_qdisc_enqueue`, tests `<=`.
#[test]
fn linux_marks_at_exactly_ten_percent() {
    let verdict = |p| {
        let mut pie = linux(p, 30_000, &[("ecn", "true")]);
        (0..20)
            .map(|_| judge(&mut pie, full_packets(9), 0.0, Ecn::Ect0))
            .find(|&v| v != Verdict::Pass)
    };
    assert_eq!(verdict(0.0999), Some(MARK));
    assert_eq!(verdict(0.1), Some(MARK));
    assert_eq!(verdict(0.1001), Some(DROP));
}

/// Linux `sch_pie.c`, `pie_drop_early`.
#[test]
fn linux_exempts_by_the_latest_delay_and_strictly_less_than_two_packets() {
    let drops = |p, delay_us, backlog| {
        let mut pie = linux(p, delay_us, &[]);
        (0..100).any(|_| judge(&mut pie, backlog, 0.0, Ecn::NotEct) != Verdict::Pass)
    };
    assert!(!drops(0.19, 7_400, full_packets(50)));
    assert!(drops(0.2001, 7_400, full_packets(50)) && drops(0.19, 7_500, full_packets(50)));
    assert!(!drops(0.5, 30_000, bytes(3027)) && drops(0.5, 30_000, bytes(3028)));
}

/// Linux `sch_pie.c`, `pie_process_dequeue` and `pie_calculate_probability`: the allowance falls by
/// the time between departures, not at the first departure, and a calm update renews it.
#[test]
fn linux_burst_allowance_falls_between_departures() {
    let mut pie: Pie = law_of("linux", &[]);
    let leave = |pie: &mut Pie, millis: u64| {
        let now = ms(1000 + millis);
        let head = waited(now, Span::from_millis(20));
        pie.on_dequeue(now, head, full_packets(9), &mut Rng::scripted(0.5));
        var(pie, "burst_allowance")
    };
    let allowances = [0, 40, 100, 149, 151].map(|millis| leave(&mut pie, millis));
    for (found, expected) in allowances.into_iter().zip([0.15, 0.11, 0.05, 0.001, 0.0]) {
        assert_near(found, expected, 1e-6);
    }
    pie.on_dequeue(
        ms(1200),
        arrival(ms(1200), Ecn::NotEct),
        Backlog::EMPTY,
        &mut Rng::scripted(0.5),
    );
    (0..2).for_each(|_| pie.on_timer(pie.next_timer().unwrap(), Backlog::EMPTY));
    assert_near(var(&pie, "burst_allowance"), 0.15, 1e-9);
}

/// Fact aqm-75: 17 packets of 1000 bytes over 16 service times, which is a rate of 17/256 bytes per
/// tick; the true rate is 16/256.
#[test]
fn linux_estimates_a_rate_one_packet_too_high() {
    let mut pie: LinuxPie = linux(0.0, 0, &[("delay", "rate")]);
    for i in 0..17 {
        let head = Head { bytes: 1000, ecn: Ecn::NotEct, enqueued: ms(i) };
        pie.on_dequeue(ms(i), head, bytes(20_000));
    }
    pie.update(bytes(17_000));
    assert_near(pie.delay(), 17_000.0 / (17.0 / 256.0) * 64e-9, 1e-12);
}

/// Linux `sch_pie.c`, `pie_init`; facts aqm-3 and aqm-4.
#[test]
fn linux_updates_first_at_a_step_of_the_wheel_after_half_a_second_and_every_five_jiffies() {
    let timers = |settings: &[(&str, &str)]| {
        let mut pie: Pie = law_of("linux", settings);
        let first = pie.next_timer().unwrap();
        pie.on_timer(first, Backlog::EMPTY);
        (first, pie.next_timer().unwrap().since(first))
    };
    assert_eq!(timers(&[]), (ms(512), Span::from_millis(20)));
    assert_eq!(timers(&[("hz", "100")]), (ms(510), Span::from_millis(30)));
    assert_eq!(timers(&[("hz", "off"), ("first_update", "auto")]), (ms(15), Span::from_millis(15)));
}

/// Linux `sch_pie.c`, `pie_drop_early`: half a packet adds half the probability.
#[test]
fn linux_byte_mode_adds_by_size() {
    let mut pie = linux(0.1, 30_000, &[("byte_mode", "true")]);
    let half = Head { bytes: 757, ..arrival(Time::ZERO, Ecn::NotEct) };
    pie.on_enqueue(half, full_packets(9), &mut Rng::scripted(0.5));
    assert_near(pie.accumulator(), 0.05, 1e-12);
}

/// Linux `sch_pie.c`, `pie_process_dequeue`: if the backlog equals the threshold at the end of a
/// measurement, the next one starts with the packet in hand.
#[test]
fn linux_starts_the_next_measurement_at_a_backlog_of_exactly_the_threshold() {
    let mut pie: LinuxPie = linux(0.0, 0, &[("delay", "rate")]);
    let leave = |pie: &mut LinuxPie, at, size, backlog| {
        let head = Head { bytes: size, ecn: Ecn::NotEct, enqueued: ms(at) };
        pie.on_dequeue(ms(at), head, bytes(backlog));
    };
    // One measurement has 16384 B in 16 ms, 16/256 bytes per tick of 64 ns, the next has them in 32
    // ms, 8/256; the second begins where the first ends, and counts for an eighth.
    leave(&mut pie, 0, 8_192, 40_000);
    leave(&mut pie, 16, 8_192, 16_384);
    leave(&mut pie, 48, 16_384, 16_384);
    pie.update(bytes(16_384));
    assert_near(pie.delay(), 16_384.0 / (15.0 / 256.0) * 64e-9, 64e-9);
}

/// Linux `sch_pie.c`, `pie_calculate_probability`, scales the gains by decades of p, down to 10^-6.
#[test]
fn linux_gains_shrink_by_powers_of_two_with_each_decade() {
    let steps = [(0.2, 0), (0.05, 1), (5e-3, 3), (5e-4, 5), (5e-5, 7), (5e-6, 9), (5e-7, 11)];
    for (p, shift) in steps {
        let moved = linux_update(&mut linux(p, 29_000, &[]), 30) - p;
        let step = 0.125 * 0.015 + 1.25 * 0.001;
        assert_near(moved / (step / f64::from(1u32 << shift)), 1.0, 1e-3);
    }
}

/// Linux `sch_pie.c`, `pie_calculate_probability`, allows a new burst only after two calm updates.
#[test]
fn linux_allows_a_new_burst_only_once_both_delays_are_below_half_the_target() {
    let mut pie = linux(0.0, 15_000, &[]);
    linux_update(&mut pie, 0);
    assert_eq!(pie.burst_allowance(), 0.0, "the delay before was the target");
    linux_update(&mut pie, 0);
    assert_near(pie.burst_allowance(), 0.15, 1e-6);
}
