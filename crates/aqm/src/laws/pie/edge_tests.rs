//! Edge cases that the dialects share: overflow, measured rates, byte mode, limits in bytes.

use super::linux::LinuxPie;
use super::paper::Paper;
use super::*;
use crate::law::Cause;
use crate::packet::Ecn;
use crate::testing::{
    arrival, assert_near, bytes, env, full_packets, judge, law_of, law_of_in, ms, params_of, var,
    waited,
};
use crate::units::Limit;

const DROP: Verdict = Verdict::Drop(Cause::Random);
const MARK: Verdict = Verdict::Mark(Cause::Random);

/// A PIE without a burst allowance, driven above `prob` by a standing delay of 60 ms.
fn driven_above(prob: f64, dialect: &str, settings: &[(&str, &str)]) -> Pie {
    let mut pie: Pie = law_of(dialect, &[&[("max_burst", "0s")], settings].concat());
    while var(&pie, "drop_prob") < prob {
        let now = pie.next_timer().unwrap();
        for i in 0..20 {
            let then = now + Span::from_millis(1_000 + i);
            let head = waited(then, Span::from_millis(60));
            pie.on_dequeue(then, head, bytes(90_000), &mut Rng::scripted(0.5));
        }
        pie.on_timer(now, bytes(90_000));
    }
    pie
}

/// RFC 8033 Appendix B, Linux `pie_qdisc_enqueue` and ns-3 `PieQueueDisc::DoEnqueue`: any drop
/// clears the sum. An eviction that empties the queue ends the delay.
#[test]
fn an_overflow_clears_the_sum_and_ends_the_delay_of_an_empty_queue() {
    let dialects: [(&str, &[(&str, &str)]); 4] = [
        ("rfc8033", &[]),
        ("linux", &[]),
        ("ns3", &[("derandomise", "true")]),
        ("ietf_draft", &[("on_off", "false"), ("delay", "stamps")]),
    ];
    for (dialect, settings) in dialects {
        let mut pie = driven_above(0.1, dialect, settings);
        judge(&mut pie, full_packets(50), 0.999, Ecn::NotEct);
        assert!(var(&pie, "accumulator") > 0.09, "{dialect}");
        let next_delay = |mut pie: Pie, queue| {
            pie.on_overflow(Time::ZERO, queue);
            assert_eq!(var(&pie, "accumulator"), 0.0, "{dialect}");
            pie.on_timer(pie.next_timer().unwrap(), full_packets(50));
            var(&pie, "delay")
        };
        assert_near(next_delay(pie.clone(), full_packets(50)), 0.06, 1e-6);
        assert_eq!(next_delay(pie, Backlog::EMPTY), 0.0, "{dialect}");
    }
}

/// Without departures the delay is constant, so the probability settles at a bound; an idle time of
/// centuries then costs no more than one of minutes.
#[test]
fn a_probability_at_a_bound_rests_though_the_last_delay_stays() {
    for (delay_ms, bound) in [(60, 1.0), (5, 0.0)] {
        let mut pie = driven_above(0.1, "rfc8033_basic", &[]);
        let head = waited(ms(90_000), Span::from_millis(delay_ms));
        pie.on_dequeue(ms(90_000), head, Backlog::EMPTY, &mut Rng::scripted(0.5));
        assert!(!pie.controller.is_at_rest());
        (0..2_000).for_each(|_| pie.controller.update(Backlog::EMPTY));
        assert!(pie.controller.is_at_rest(), "{delay_ms} ms");
        let before = (var(&pie, "drop_prob"), var(&pie, "delay"));
        pie.controller.update(Backlog::EMPTY);
        assert_eq!((var(&pie, "drop_prob"), var(&pie, "delay")), before);
        assert_eq!(before, (bound, delay_ms as f64 / 1e3));
    }
}

/// CableLabs `docsis-ns3` also clears the sum for a dropped arrival; if the rate is unknown, the
/// delay is that of the last departure.
#[test]
fn docsis_takes_sojourn_times_where_the_rate_is_unknown_and_the_rate_once_it_is() {
    let env = Env { rate: None, ..env() };
    let mut pie: Pie = law_of_in(&env, "docsis", &[]);
    let leave = |pie: &mut Pie, left| {
        let head = waited(ms(100), Span::from_millis(60));
        pie.on_dequeue(ms(100), head, full_packets(left), &mut Rng::scripted(0.5));
        var(pie, "delay")
    };
    assert_eq!((leave(&mut pie, 0), leave(&mut pie, 1)), (0.0, 0.06));
    pie.on_overflow(ms(100), full_packets(1));
    assert_eq!(var(&pie, "delay"), 0.06);
    pie.on_overflow(ms(100), Backlog::EMPTY);
    assert_eq!(var(&pie, "delay"), 0.0);
    pie.on_rate(ms(100), Rate::from_bps(8_000_000));
    leave(&mut pie, 1);
    pie.on_timer(pie.next_timer().unwrap(), bytes(30_000));
    assert_near(var(&pie, "delay"), 0.03, 1e-12);
}

/// RFC 8034: a packet of half the mean size adds half the probability; a packet of any size adds at
/// most 0.85.
#[test]
fn docsis_adds_by_size_and_clears_the_sum_where_p_is_zero_or_on_overflow() {
    let mut pie: Pie = law_of("docsis", &[("max_burst", "0s")]);
    let offer = |pie: &mut Pie, size, packets| {
        let head = Head { bytes: size, ..arrival(Time::ZERO, Ecn::NotEct) };
        let verdict =
            pie.on_enqueue(Time::ZERO, head, full_packets(packets), &mut Rng::scripted(0.999));
        (verdict, var(pie, "accumulator"))
    };
    for _ in 0..200 {
        pie.on_timer(pie.next_timer().unwrap(), full_packets(500));
    }
    let p = var(&pie, "drop_prob");
    assert!((1.0..13.6).contains(&p), "{p}");
    let (_, sum) = offer(&mut pie, 64, 500);
    assert_near(sum, p / 16.0, 1e-9);
    let (_, larger) = offer(&mut pie, 1514, 500);
    assert_near(larger - sum, 0.85, 1e-9);
    pie.on_overflow(Time::ZERO, full_packets(500));
    assert_eq!(var(&pie, "accumulator"), 0.0);
    offer(&mut pie, 1024, 1);
    while var(&pie, "drop_prob") > 0.0 {
        pie.on_timer(pie.next_timer().unwrap(), Backlog::EMPTY);
    }
    assert_eq!(offer(&mut pie, 1024, 500), (Verdict::Pass, 0.0));
}

/// Linux `sch_pie.c`, `pie_drop_early`: a packet larger than the MTU counts as one MTU, in byte
/// mode too.
#[test]
fn linux_byte_mode_scales_up_to_the_mtu() {
    let added = |size| {
        let mut pie = driven_above(0.1, "linux", &[("byte_mode", "true")]);
        let head = Head { bytes: size, ..arrival(Time::ZERO, Ecn::NotEct) };
        pie.on_enqueue(Time::ZERO, head, full_packets(50), &mut Rng::scripted(0.999));
        var(&pie, "accumulator") / var(&pie, "drop_prob")
    };
    assert_near(added(757), 0.5, 1e-9);
    assert_near(added(1514), 1.0, 1e-9);
    assert_near(added(3028), 1.0, 1e-9);
}

/// The authors' ns-2 `pie.cc`, `PIEQueue::drop_early`, scales p by size / mean size.
#[test]
fn ns2_byte_mode_hits_in_proportion_to_size() {
    let hit = |byte_mode: &str, size, u| {
        let mut pie = driven_above(0.2, "ns2", &[("byte_mode", byte_mode)]);
        let p = var(&pie, "drop_prob");
        let head = Head { bytes: size, ..arrival(Time::ZERO, Ecn::NotEct) };
        pie.on_enqueue(Time::ZERO, head, full_packets(50), &mut Rng::scripted(u * p)) == DROP
    };
    assert!(hit("true", 500, 0.49) && !hit("true", 500, 0.51));
    assert!(hit("false", 500, 0.99));
}

/// A Linux PIE that measures rates, with packets of 1000 bytes at `gap_ms`; `left` bytes stay.
fn serve(pie: &mut LinuxPie, from_ms: u64, packets: u64, gap_ms: u64, left: u64) {
    for i in 0..packets {
        let now = ms(from_ms + i * gap_ms);
        pie.on_dequeue(now, Head { bytes: 1000, ecn: Ecn::NotEct, enqueued: now }, bytes(left));
    }
}

fn linux_with_rate() -> LinuxPie {
    LinuxPie::new(&params_of("linux", &[("delay", "rate")]), &env())
}

/// Linux `sch_pie.c`, `pie_process_dequeue`: the new rate is 7/8 of the average plus 1/8 of the
/// sample, in 1/256 bytes per tick of 64 ns.
#[test]
fn linux_averages_rates_by_eighths() {
    let mut pie = linux_with_rate().started(0.5, Span::from_millis(30));
    serve(&mut pie, 0, 17, 1, 20_000);
    serve(&mut pie, 18, 17, 2, 20_000);
    // The rates are 17 packets over 16 ms, then 17 over 34 ms since the first measurement ended.
    let (first, second) = (17, 17_000 * 256 / (34_000_000 / 64));
    let rate = first - (first >> 3) + (second >> 3);
    pie.update(bytes(17_000));
    assert_near(pie.delay(), (17_000 * 256 / rate) as f64 * 64e-9, 1e-12);
}

/// Linux `sch_pie.c`, `pie_process_dequeue`: the burst allowance falls by each measurement; a
/// measurement that ends with little backlog starts no other.
#[test]
fn linux_measures_while_enough_waits_and_lowers_the_burst_allowance_by_it() {
    let mut pie = linux_with_rate();
    serve(&mut pie, 0, 16, 1, 20_000);
    assert_near(pie.burst_allowance(), 0.15, 1e-6);
    serve(&mut pie, 16, 1, 1, 16_383);
    assert_near(pie.burst_allowance(), 0.15 - 0.016, 1e-6);
    serve(&mut pie, 17, 100, 1, 16_383);
    assert_near(pie.burst_allowance(), 0.15 - 0.016, 1e-6);
    serve(&mut pie, 200, 17, 1, 16_384);
    assert_near(pie.burst_allowance(), 0.15 - 0.032, 1e-6);
}

/// Linux `sch_pie.c`, `pie_calculate_probability`: calm restarts a measurement only if a rate is
/// known.
#[test]
fn linux_restarts_its_rate_after_calm() {
    let mut pie = linux_with_rate();
    serve(&mut pie, 0, 16, 1, 20_000);
    serve(&mut pie, 16, 1, 1, 16_383);
    pie.update(bytes(1_000));
    assert!(pie.delay() > 0.0009);
    assert_near(pie.burst_allowance(), 0.15, 1e-6);
    pie.update(bytes(1_000));
    assert_eq!(pie.delay(), 0.0, "the rate is forgotten");
}

/// Linux `sch_pie.c`, `pie_calculate_probability`: below 10 % a step is not capped.
#[test]
fn linux_caps_steps_from_ten_percent_on() {
    let after_a_jump = |p| {
        let pie = LinuxPie::new(&params_of("linux", &[]), &env());
        let mut pie = pie.started(p, Span::ZERO);
        let now = ms(100_000);
        pie.on_dequeue(now, waited(now, Span::from_secs(1)), full_packets(5));
        pie.update(full_packets(5));
        pie.drop_prob()
    };
    assert_near(after_a_jump(0.09), 0.09 + (0.125 * 0.985 + 1.25) / 2.0 + 0.02, 1e-6);
    assert_near(after_a_jump(0.11), 0.15, 1e-9);
}

/// Fact aqm-73: only an overflow of the 64-bit word resets the probability to 1.
#[test]
fn linux_returns_to_one_where_its_word_overflows() {
    let pie = LinuxPie::new(&params_of("linux", &[]), &env());
    let mut pie = pie.started(255.99, Span::from_millis(300));
    let now = ms(100_000);
    pie.on_dequeue(now, waited(now, Span::from_millis(300)), full_packets(5));
    pie.update(full_packets(5));
    assert_eq!(pie.drop_prob(), 1.0);
}

/// A running PIE of the first paper at that probability and delay.
fn paper(p: f64, delay: f64, settings: &[(&str, &str)]) -> Paper {
    Paper::new(&params_of("paper2013", settings), &env()).started(p, delay)
}

/// One packet of 1000 bytes leaves at each of `times`, in milliseconds; `left` bytes stay.
fn leave(pie: &mut Paper, times: core::ops::Range<u64>, left: u64) {
    for at in times {
        pie.on_dequeue(ms(at), arrival_of(1000, ms(at)), bytes(left));
    }
}

fn arrival_of(size: u32, now: Time) -> Head {
    Head { bytes: size, ..arrival(now, Ecn::NotEct) }
}

/// The PIE of 2013 in the Linux `sch_pi2.c` of 2015: kicks strictly above 250 ms; decays while both
/// delays are 0; a calm update renews the allowance and forgets the rate.
#[test]
fn the_heuristics_of_2013_end_where_they_should() {
    let linux2013 = [("heuristics", "linux2013")];
    let moved = |p, delay, bytes_waiting| {
        let mut pie = paper(p, delay, &linux2013);
        leave(&mut pie, 0..22, 20_000);
        pie.update(bytes(bytes_waiting));
        pie.drop_prob() - p
    };
    // Eleven packets leave in ten, then in eleven milliseconds: a rate of 1.05 MB/s.
    assert_near(moved(0.2, 0.24, 262_500), 0.02, 1e-12);
    assert_near(moved(0.2, 0.24, 262_600), 0.04, 1e-12);
    let idle = |delay| {
        let mut pie = paper(0.5, delay, &linux2013);
        pie.update(Backlog::EMPTY);
        pie.drop_prob()
    };
    assert_near(idle(0.0), 0.4975 * 0.98, 1e-12);
    assert_near(idle(0.001), 0.4975 - 0.00125, 1e-12);
    let mut calm = paper(0.0, 0.001, &linux2013);
    leave(&mut calm, 0..22, 20_000);
    assert_eq!(calm.burst_allowance(), 0.0, "not renewed by a measurement");
    calm.update(bytes(2_000));
    assert_eq!(calm.burst_allowance(), 0.1);
    calm.update(bytes(50_000));
    assert_eq!(calm.delay(), 0.0, "the rate is forgotten");
}

#[test]
fn the_heuristics_of_2013_exempt_short_delays_below_a_fifth_only() {
    let hit = |p, delay| {
        let mut pie = paper(p, delay, &[("heuristics", "linux2013")]);
        let head = arrival(Time::ZERO, Ecn::NotEct);
        pie.on_enqueue(head, bytes(50_000), &mut Rng::scripted(0.0)) == DROP
    };
    assert!(!hit(0.19, 0.0099) && hit(0.2, 0.0099) && hit(0.19, 0.01));
}

/// Fact aqm-81.
#[test]
fn the_paper_averages_rates_by_halves_and_discards_a_measurement_that_may_have_been_idle() {
    let mut pie = paper(0.05, 0.02, &[]);
    leave(&mut pie, 0..22, 20_000);
    pie.update(bytes(10_500));
    let expected = (11_000.0 / 0.010 + 11_000.0 / 0.011) / 2.0;
    assert_near(pie.delay(), 10_500.0 / expected, 1e-12);
    let mut pie = paper(0.05, 0.02, &[]);
    leave(&mut pie, 0..10, 10_001);
    leave(&mut pie, 10..11, 10_000);
    leave(&mut pie, 500..511, 10_001);
    pie.update(bytes(11_000));
    assert_near(pie.delay(), 0.01, 1e-12);
}

/// Fact aqm-81: the probability is bounded, and ECN applies up to its limit.
#[test]
fn the_paper_stays_within_probabilities_and_marks_at_any_of_them_unless_a_limit_is_set() {
    let mut low = paper(0.001, 0.02, &[]);
    low.update(Backlog::EMPTY);
    assert_eq!(low.drop_prob(), 0.0);
    let verdict = |p, settings: &[(&str, &str)]| {
        let mut pie = paper(p, 0.03, settings);
        pie.on_enqueue(arrival(Time::ZERO, Ecn::Ect0), bytes(50_000), &mut Rng::scripted(0.0))
    };
    let on = ("ecn", "true");
    assert_eq!((verdict(0.1, &[on]), verdict(1.0, &[on])), (MARK, MARK)); // §III-B: no limit
    let limited = [on, ("ecn_mark_limit", "0.1")];
    assert_eq!((verdict(0.1, &limited), verdict(0.1001, &limited)), (MARK, DROP));
    assert_eq!(verdict(0.1, &[]), DROP);
}

/// Fact aqm-80.
#[test]
fn the_draft_has_the_values_of_the_rfc_where_the_paper_prints_none() {
    let [draft, rfc] =
        ["ietf_draft", "rfc8033"].map(|dialect| params_of::<PieParams>(dialect, &[]));
    assert_eq!((draft.alpha, draft.beta), (rfc.alpha, rfc.beta));
    assert_eq!((draft.dq_threshold, draft.max_burst), (rfc.dq_threshold, rfc.max_burst));
    assert_eq!((draft.tune, draft.mtu_bytes), (rfc.tune, rfc.mtu_bytes));
}

/// RFC 8033 §5.3: a third of a limit in bytes.
#[test]
fn the_draft_is_switched_on_at_a_third_of_a_limit_in_bytes() {
    let is_on_at = |backlog| {
        let env = Env { limit: Limit::Bytes(90_000), ..env() };
        let mut pie: Pie = law_of_in(&env, "ietf_draft", &[("max_burst", "1ms")]);
        judge(&mut pie, bytes(backlog), 0.999, Ecn::NotEct);
        pie.on_timer(pie.next_timer().unwrap(), bytes(backlog));
        var(&pie, "burst_allowance") == 0.0
    };
    assert!(!is_on_at(29_999) && is_on_at(30_000));
}

/// ns-3 `PieQueueDisc::DoDequeue`.
#[test]
fn the_delay_of_ns3_ends_with_the_last_packet() {
    let delay_after = |left| {
        let mut pie: Pie = law_of("ns3", &[]);
        let head = waited(ms(100), Span::from_millis(40));
        pie.on_dequeue(ms(100), head, full_packets(left), &mut Rng::scripted(0.5));
        pie.on_timer(pie.next_timer().unwrap(), full_packets(left));
        var(&pie, "delay")
    };
    assert_eq!((delay_after(0), delay_after(1)), (0.0, 0.04));
}

/// Used by MADPIE for its own dialects only.
#[test]
fn a_docsis_pie_is_protected_while_inactive_in_a_burst_or_nearly_empty() {
    let limit = Limit::Packets(300);
    let fresh = || super::docsis::Docsis::new(&params_of("docsis", &[]), &Env { limit, ..env() });
    assert!(fresh().is_protected(bytes(100_000)));
    let active = fresh().started(0.1, 0.02);
    assert!(active.is_protected(bytes(2048)) && !active.is_protected(bytes(2049)));
    assert_eq!(active.delay_at_update(), 0.02);
}

/// RFC 8033 §4.1 and §4.4: either a burst allowance or a small backlog protects.
#[test]
fn a_pie_is_protected_in_a_burst_or_nearly_empty() {
    let mut pie = super::standard::Standard::new(&params_of("rfc8033", &[]), &env());
    assert!(pie.is_protected(bytes(100_000)), "150 ms of bursts are allowed");
    (0..10).for_each(|_| pie.update(bytes(100_000)));
    assert!(pie.is_protected(bytes(3_028)) && !pie.is_protected(bytes(3_029)));
}
