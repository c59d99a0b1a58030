use alloc::vec::Vec;

use super::docsis::Docsis;
use super::linux::LinuxPie;
use super::ns2::Ns2Pie;
use super::paper::Paper;
use super::*;
use crate::law::Cause;
use crate::packet::Ecn;
use crate::testing::{
    arrival, assert_near, bytes, env, full_packets, law_of, law_of_in, ms, params_of, var, waited,
};
use crate::units::Limit;

const DROP: Verdict = Verdict::Drop(Cause::Random);
const MARK: Verdict = Verdict::Mark(Cause::Random);
/// Delays at successive updates, in milliseconds (fact aqm-67).
const DELAYS_MS: [u64; 11] = [30, 40, 50, 60, 60, 40, 20, 10, 0, 0, 0];

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

/// Fact aqm-60: ticks of 64 ns and whole gains cost less than one part in 10^6.
#[test]
fn linux_moves_like_the_rfc_where_neither_cap_nor_decay_acts() {
    let p = linux_update(&mut linux(0.0, 15_000, &[]), 30);
    assert_near(p, 0.020625 / 2048.0, 1e-11);
    assert_near(linux_update(&mut linux(0.05, 30_000, &[]), 30), 0.0509375, 1e-8);
}

/// Fact aqm-61: 63/64 in place of 0.98.
#[test]
fn linux_decays_by_a_64th() {
    assert_near(linux_update(&mut linux(0.5, 0, &[]), 0), 0.4903418, 1e-7);
}

/// Linux `sch_pie.c`, `pie_calculate_probability`: no decay while something waits although the
/// last delay was 0.
#[test]
fn linux_does_not_decay_while_packets_wait() {
    let mut pie = linux(0.5, 0, &[]);
    pie.update(full_packets(5));
    assert_near(pie.drop_prob(), 0.498125, 1e-8);
}

/// Fact aqm-62: cap, then a kick for more than 250 ms.
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
    let delays = [0, 5, 10, 20, 40, 80, 160, 160, 120, 80, 40];
    let expected = [
        0.0,
        2.441406e-6,
        1.342773e-5,
        1.159668e-4,
        9.948730e-4,
        2.811279e-3,
        1.757690e-2,
        2.663940e-2,
        8.201904e-3,
        2.967529e-3,
        0.0,
    ];
    let mut pie = linux(0.0, 0, &[]);
    for (delay, p) in delays.into_iter().zip(expected) {
        assert_near(linux_update(&mut pie, delay), p, 2e-6 * p);
    }
}

fn judge(pie: &mut LinuxPie, backlog: Backlog, u: f64, ecn: Ecn) -> Verdict {
    pie.on_enqueue(arrival(Time::ZERO, ecn), backlog, &mut Rng::scripted(u))
}

/// Fact aqm-65, in 56 bits.
#[test]
fn linux_bounds_gaps_whatever_is_drawn() {
    let gap = |p, u| {
        let mut pie = linux(p, 30_000, &[]);
        let is_hit = |_: &i32| judge(&mut pie, full_packets(9), u, Ecn::NotEct) == DROP;
        (1..).find(is_hit).expect("a hit")
    };
    // A probability that is rounded down reaches its thresholds one addition late at most.
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

/// Linux `sch_pie.c`, `pie_qdisc_enqueue`: `<=`.
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
/// the time between departures, not at the first one, and is renewed by a calm update.
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
fn linux_updates_first_after_half_a_second_and_every_four_jiffies() {
    let timers = |settings: &[(&str, &str)]| {
        let mut pie: Pie = law_of("linux", settings);
        let first = pie.next_timer().unwrap();
        pie.on_timer(first, Backlog::EMPTY);
        (first, pie.next_timer().unwrap().since(first))
    };
    assert_eq!(timers(&[]), (ms(500), Span::from_millis(16)));
    assert_eq!(timers(&[("hz", "100")]), (ms(500), Span::from_millis(20)));
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

/// A running PIE of the first paper, at a rate of 1 MB/s.
fn paper(p: f64, delay: f64, settings: &[(&str, &str)]) -> Paper {
    let mut pie = Paper::new(&params_of("paper2013", settings), &env());
    for i in 0..=11 {
        // The first packet of a cycle is counted: an empty one keeps the rate round.
        let head = Head { bytes: if i == 0 { 0 } else { 1000 }, ecn: Ecn::NotEct, enqueued: ms(i) };
        pie.on_dequeue(ms(i), head, bytes(20_000));
    }
    pie.started(p, delay)
}

fn paper_update(pie: &mut Paper, delay_ms: u64) -> f64 {
    pie.update(bytes(delay_ms * 1000));
    pie.drop_prob()
}

/// Fact aqm-67.
#[test]
fn the_paper_follows_its_equation_step_by_step() {
    let expected = [
        0.0568750, 0.0643750, 0.0725000, 0.0812500, 0.0837500, 0.0725000, 0.0600000, 0.0531250,
        0.0456250, 0.0443750, 0.0431250,
    ];
    let mut pie = paper(0.05, 0.02, &[]);
    for (delay, p) in DELAYS_MS.into_iter().zip(expected) {
        assert_near(paper_update(&mut pie, delay), p, 1e-9);
    }
}

/// Fact aqm-63.
#[test]
fn the_paper_takes_32_updates_to_1_percent_and_104_to_10() {
    let mut pie = paper(0.0, 0.04, &[]);
    let probs: Vec<f64> = (0..200).map(|_| paper_update(&mut pie, 40)).collect();
    let first = |p| 1 + probs.iter().position(|&prob| prob >= p).expect("it gets there");
    assert_eq!((first(0.01 - 1e-12), first(0.1 - 1e-12)), (32, 104));
}

/// Pan et al. 2013 §III: the allowance falls by the duration of each rate sample, and is renewed
/// there.
#[test]
fn the_paper_lowers_the_burst_allowance_by_measured_time() {
    let mut pie = Paper::new(&params_of("paper2013", &[]), &env());
    let serve = |pie: &mut Paper, range: core::ops::Range<u64>| {
        for i in range {
            let head = Head { bytes: 1000, ecn: Ecn::NotEct, enqueued: ms(i) };
            pie.on_dequeue(ms(i), head, bytes(20_000));
        }
        pie.burst_allowance()
    };
    (0..2).for_each(|_| pie.update(bytes(20_000))); // no rate is known: D = 0
    assert_eq!(serve(&mut pie, 0..11), 0.1, "p = 0 and short delays: renewed");
    pie.update(bytes(20_000));
    assert_near(serve(&mut pie, 11..22), 0.1 - 0.011, 1e-12);
    pie.update(bytes(20_000));
    assert_near(serve(&mut pie, 22..55), 0.1 - 4.0 * 0.011, 1e-12);
}

/// Pan et al. 2013 §III: outside a burst every arrival is drawn for.
#[test]
fn the_paper_exempts_neither_small_queues_nor_short_delays_without_heuristics() {
    let hit = |settings: &[(&str, &str)], delay, backlog| {
        let head = arrival(Time::ZERO, Ecn::NotEct);
        paper(0.1, delay, settings).on_enqueue(head, backlog, &mut Rng::scripted(0.05)) == DROP
    };
    let linux2013 = [("heuristics", "linux2013")];
    assert!(hit(&[], 0.0, bytes(10)) && hit(&[], 0.03, bytes(10)));
    assert!(!hit(&linux2013, 0.0, bytes(50_000)) && !hit(&linux2013, 0.03, bytes(3_027)));
    assert!(hit(&linux2013, 0.03, bytes(3_028)));
}

/// The PIE of 2013 in the Linux `sch_pi2.c` of 2015.
#[test]
fn the_heuristics_of_2013_cap_kick_and_decay() {
    let linux2013 = [("heuristics", "linux2013")];
    assert_near(paper_update(&mut paper(0.2, 0.0, &linux2013), 1000), 0.24, 1e-12);
    assert_near(paper_update(&mut paper(0.2, 0.0, &linux2013), 200), 0.22, 1e-12);
    assert_near(paper_update(&mut paper(0.5, 0.0, &linux2013), 0), 0.4975 * 0.98, 1e-12);
    assert_near(paper_update(&mut paper(0.5, 0.0, &[]), 0), 0.4975, 1e-12);
    assert!(paper_update(&mut paper(0.2, 0.0, &[]), 1000) == 1.0, "the paper has no cap");
}

/// The PIE of the draft.
fn draft(limit: Limit, settings: &[(&str, &str)]) -> Pie {
    law_of_in(&Env { limit, ..env() }, "ietf_draft", settings)
}

/// Schwarzkopf, Veith and Menth 2016 §II; fact aqm-77.
#[test]
fn the_draft_is_off_below_a_third_of_the_limit_and_after_congestion() {
    let mut pie = draft(Limit::Packets(300), &[("max_burst", "0s")]);
    let congested = |pie: &mut Pie, packets: u32, updates: u32| {
        for _ in 0..updates {
            let queue = full_packets(packets);
            let now = pie.next_timer().unwrap();
            for i in 0..12 {
                let then = now + Span::from_millis(i);
                pie.on_dequeue(then, arrival(then, Ecn::NotEct), queue, &mut Rng::scripted(0.5));
            }
            pie.on_enqueue(now, arrival(now, Ecn::NotEct), queue, &mut Rng::scripted(0.999));
            pie.on_timer(now, queue);
        }
        var(pie, "drop_prob")
    };
    assert_eq!(congested(&mut pie, 99, 50), 0.0);
    assert!(congested(&mut pie, 100, 50) > 0.0);
    assert!(congested(&mut pie, 50, 50) > 0.0, "it stays on below");
    while var(&pie, "drop_prob") > 0.0 {
        pie.on_timer(pie.next_timer().unwrap(), Backlog::EMPTY);
    }
    (0..3).for_each(|_| pie.on_timer(pie.next_timer().unwrap(), Backlog::EMPTY));
    assert_eq!(congested(&mut pie, 99, 50), 0.0, "off again");
}

/// Fact aqm-83.
#[test]
fn the_draft_draws_up_to_a_sum_of_exactly_8_5() {
    let mut pie = draft(Limit::Packets(1000), &[("on_off", "false"), ("max_burst", "0s")]);
    let Controller::Standard(inner) = &mut pie.controller else { panic!("not the draft") };
    inner.drop_prob = 0.1;
    inner.scaled_prob = crate::parts::accumulator::ScaledProb::new(0.1);
    inner.delay_old = Span::from_millis(30);
    let mut gap = || {
        let rng = || Rng::scripted(0.999);
        let head = arrival(Time::ZERO, Ecn::NotEct);
        (1..).find(|_| pie.on_enqueue(Time::ZERO, head, full_packets(9), &mut rng()) == DROP)
    };
    assert_eq!((gap(), gap()), (Some(86), Some(86)));
}

/// RFC 8033 Appendix A: the sojourn time counts, whatever it left behind; fact aqm-79.
#[test]
fn appendix_a_keeps_the_delay_of_a_packet_that_left_nothing() {
    for (dialect, delay) in [("rfc8033", 0.0), ("rfc8033_basic", 0.04)] {
        let mut pie: Pie = law_of(dialect, &[]);
        let head = waited(ms(100), Span::from_millis(40));
        pie.on_dequeue(ms(100), head, Backlog::EMPTY, &mut Rng::scripted(0.5));
        assert_eq!(var(&pie, "delay"), delay, "{dialect}");
    }
}

/// RFC 8033 Appendix B: its estimator is an option of the default.
#[test]
fn the_default_takes_its_delay_from_the_rate_on_request() {
    let mut pie: Pie = law_of("rfc8033", &[("delay", "rate"), ("dq_threshold", "10kB")]);
    for i in 0..=10 {
        let head = Head { bytes: 1000, ecn: Ecn::NotEct, enqueued: ms(i) };
        pie.on_dequeue(ms(i), head, bytes(20_000), &mut Rng::scripted(0.5));
    }
    pie.on_timer(pie.next_timer().unwrap(), bytes(30_000));
    assert_near(var(&pie, "delay"), 0.03, 1e-9);
}

fn ns3(settings: &[(&str, &str)]) -> Ns2Pie {
    Ns2Pie::from_params(&params_of("ns3", settings), &env())
}

/// One update at that delay.
fn ns3_update(pie: &mut Ns2Pie, delay_ms: u64) -> f64 {
    let now = ms(100_000);
    pie.on_dequeue(now, waited(now, Span::from_millis(delay_ms)), full_packets(9));
    pie.update(full_packets(9));
    pie.drop_prob()
}

/// ns-3 `PieQueueDisc::CalculateP`.
#[test]
fn ns3_has_an_upper_bound_and_no_kick() {
    let mut pie = ns3(&[]);
    let probs: Vec<f64> = (0..400).map(|_| ns3_update(&mut pie, 300)).collect();
    assert!(probs.iter().all(|p| (0.0..=1.0).contains(p)) && probs.contains(&1.0));
    let steps = probs.windows(2).map(|w| w[1] - w[0]);
    assert!(steps.skip(10).all(|step| step <= 0.02 + 1e-12), "cap and no kick");
}

/// Fact aqm-68, for ns-3 has the table of the RFC.
#[test]
fn ns3_moves_by_the_table_of_the_rfc() {
    let mut pie = ns3(&[]);
    let expected = [0.0, 2.441406e-6, 1.342773e-5, 1.159668e-4, 9.948730e-4];
    for (delay, p) in [0, 5, 10, 20, 40].into_iter().zip(expected) {
        assert_near(ns3_update(&mut pie, delay), p, 1e-6 * p);
    }
}

/// ns-3 `PieQueueDisc::DropEarly`: two packets of a limit in packets, two mean packets of one in
/// bytes.
#[test]
fn ns3_exempts_two_packets_in_the_unit_of_the_limit() {
    let exempts = |limit, queue: Backlog| {
        let mut pie =
            Ns2Pie::from_params(&params_of("ns3", &[("max_burst", "0s")]), &Env { limit, ..env() });
        (0..300).for_each(|_| assert!(ns3_update(&mut pie, 300) <= 1.0));
        let head = arrival(Time::ZERO, Ecn::NotEct);
        pie.on_enqueue(head, queue, &mut Rng::scripted(0.0)) == Verdict::Pass
    };
    let queue = |packets, bytes| Backlog { packets, bytes, link_bytes: bytes };
    assert!(exempts(Limit::Packets(100), queue(2, 3000)));
    assert!(!exempts(Limit::Packets(100), queue(3, 300)));
    assert!(exempts(Limit::Bytes(100_000), queue(3, 2000)));
    assert!(!exempts(Limit::Bytes(100_000), queue(2, 2001)));
}

/// ns-3 `PieQueueDisc::DoEnqueue`: a marked packet does not reset `m_accuProb`.
#[test]
fn ns3_derandomised_keeps_the_sum_after_a_mark() {
    let settings = [("derandomise", "true"), ("ecn", "true"), ("max_burst", "0s")];
    let mut pie = ns3(&settings);
    while pie.drop_prob() < 0.05 {
        ns3_update(&mut pie, 40);
    }
    let mut judge = |ecn| {
        let head = arrival(Time::ZERO, ecn);
        pie.on_enqueue(head, full_packets(50), &mut Rng::scripted(0.0))
    };
    let first = (1..).find(|_| judge(Ecn::Ect0) == MARK).expect("a mark");
    assert!((15..=17).contains(&first), "{first}");
    assert_eq!(judge(Ecn::Ect0), MARK);
    assert_eq!(judge(Ecn::NotEct), DROP);
    assert_eq!(judge(Ecn::NotEct), Verdict::Pass);
}

fn docsis(limit: Limit) -> Docsis {
    Docsis::new(&params_of("docsis", &[]), &Env { limit, ..env() })
}

/// Fact aqm-82; gains, table, kick and decay of CableLabs `docsis-ns3`, `CalculateDropProb`.
#[test]
fn docsis_moves_by_its_own_table_up_to_13_6() {
    let queue = |ms: u64| bytes(ms * 1250); // at 10 Mb/s
    let updated = |p, delay_ms: u64, then_ms| {
        let mut pie = docsis(Limit::Packets(300)).started(p, delay_ms as f64 / 1000.0);
        pie.update(queue(then_ms));
        pie.drop_prob()
    };
    assert_near(updated(0.05, 20, 30), 0.05 + (0.25 * 0.02 + 2.5 * 0.01) / 2.0, 1e-12);
    assert_near(updated(0.2, 20, 21), 0.2 + 2.0 * (0.25 * 0.011 + 2.5 * 0.001), 1e-12);
    assert_near(updated(0.2, 4, 4), (0.2 - 2.0 * 0.25 * 0.006) * 0.98, 1e-12);
    assert_near(updated(0.2, 201, 201), 0.24, 1e-12);
    assert_eq!(updated(13.59, 201, 201), 13.6);
}

/// CableLabs `docsis-ns3`, `DropEarly`: on the first drop in the quiescent state.
#[test]
fn docsis_allows_a_burst_after_its_first_drop() {
    let mut pie = docsis(Limit::Packets(90));
    let judge = |pie: &mut Docsis, packets| {
        pie.on_enqueue(
            arrival(Time::ZERO, Ecn::NotEct),
            full_packets(packets),
            &mut Rng::scripted(0.0),
        )
    };
    for _ in 0..200 {
        pie.update(full_packets(40));
    }
    assert!(pie.drop_prob() > 0.1);
    assert!((0..99).all(|_| judge(&mut pie, 29) == Verdict::Pass), "inactive below a third");
    assert!((0..99).any(|_| judge(&mut pie, 30) == DROP));
    assert_eq!(pie.burst_allowance(), 0.142);
    assert!((0..99).all(|_| judge(&mut pie, 40) == Verdict::Pass), "the burst is allowed");
    pie.update(full_packets(40));
    assert_eq!(pie.drop_prob(), 0.0, "and the probability forced to 0");
}

/// RFC 8034: quiet for more than 1 s. One quiet update leads from the active state to the quiescent
/// one, 63 more (1008 ms) to rest.
#[test]
fn docsis_is_inactive_after_more_than_a_second_of_quiet() {
    let mut pie = docsis(Limit::Packets(90)).started(0.0, 0.0);
    let quiet = |pie: &mut Docsis, updates| (0..updates).for_each(|_| pie.update(Backlog::EMPTY));
    quiet(&mut pie, 1 + 62);
    assert!(!pie.is_at_rest());
    quiet(&mut pie, 1);
    assert!(pie.is_at_rest());
}

/// CableLabs `docsis-ns3`, `CalculateDropProb`: any quiet update makes the next drop grant a burst
/// again; one that is not quiet restarts the second of quiet.
#[test]
fn docsis_allows_another_burst_after_one_quiet_update() {
    let busy = |pie: &mut Docsis| {
        (0..200).for_each(|_| pie.update(full_packets(40)));
        let mut judge = |_: &u32| {
            let head = arrival(Time::ZERO, Ecn::NotEct);
            pie.on_enqueue(head, full_packets(40), &mut Rng::scripted(0.0)) == DROP
        };
        (0..99).filter(|n| judge(n)).count()
    };
    let mut pie = docsis(Limit::Packets(90)).started(0.0, 0.0);
    assert!(busy(&mut pie) > 1, "an active one allows no burst");
    pie = docsis(Limit::Packets(90)).started(0.0, 0.0);
    pie.update(Backlog::EMPTY);
    assert_eq!(busy(&mut pie), 1, "a quiescent one allows a burst after its first drop");
    assert_eq!(pie.burst_allowance(), 0.142);
    pie = docsis(Limit::Packets(90)).started(0.0, 0.0);
    (0..63).for_each(|_| pie.update(Backlog::EMPTY));
    pie.update(full_packets(40));
    (0..62).for_each(|_| pie.update(Backlog::EMPTY));
    assert!(!pie.is_at_rest(), "a second without a break");
}

/// CableLabs `docsis-ns3`, `DropEarly`: the sum grows while the backlog is too small to drop from.
#[test]
fn docsis_counts_arrivals_that_are_exempt() {
    let mut pie = docsis(Limit::Packets(90)).started(0.5, 0.05);
    let mut judge = |packets| {
        let head = arrival(Time::ZERO, Ecn::NotEct);
        pie.on_enqueue(head, full_packets(packets), &mut Rng::scripted(0.999))
    };
    // 0.5 x 1514/1024 = 0.74 each: at 8.5 from the 12th on.
    assert!((0..12).all(|_| judge(1) == Verdict::Pass));
    assert_eq!(judge(40), DROP);
}

/// What has no effect is refused, and gains that the kernel cannot hold.
#[test]
fn parameters_without_effect_are_refused() {
    let refusal = |text: &str| crate::QdiscSpec::parse(text).unwrap_err().message;
    assert!(refusal("pie:heuristics=linux2013").contains("no effect in dialect rfc8033"));
    assert!(refusal("pie@linux:cap_step=false").contains("no effect in dialect linux"));
    assert!(refusal("pie@docsis:ecn=true").contains("no effect in dialect docsis"));
    assert!(refusal("pie@linux:alpha=0.1hz").contains("sixteenths"));
    assert!(crate::QdiscSpec::parse("pie@linux:alpha=0.1875hz,delay=rate").is_ok());
    assert!(crate::QdiscSpec::parse("pie@paper2013:heuristics=linux2013").is_ok());
}

/// Linux `sch_pie.c`, `pie_process_dequeue`: where the backlog is exactly the threshold at the end
/// of a measurement, the next one starts with the packet in hand.
#[test]
fn linux_starts_the_next_measurement_at_a_backlog_of_exactly_the_threshold() {
    let mut pie: LinuxPie = linux(0.0, 0, &[("delay", "rate")]);
    let leave = |pie: &mut LinuxPie, at, size, backlog| {
        let head = Head { bytes: size, ecn: Ecn::NotEct, enqueued: ms(at) };
        pie.on_dequeue(ms(at), head, bytes(backlog));
    };
    // Measurements of 16384 B in 16 ms, which is 16/256 bytes per tick of 64 ns, and in 32 ms,
    // 8/256; the second begins where the first ends, and counts for an eighth.
    leave(&mut pie, 0, 8_192, 40_000);
    leave(&mut pie, 16, 8_192, 16_384);
    leave(&mut pie, 48, 16_384, 16_384);
    pie.update(bytes(16_384));
    assert_near(pie.delay(), 16_384.0 / (15.0 / 256.0) * 64e-9, 64e-9);
}

/// CableLabs `docsis-ns3`, `DropEarly`: nothing is dropped while the last delay is below half the
/// target and p below 0.2.
#[test]
fn docsis_spares_arrivals_below_half_the_target() {
    let dropped = |delay_ms: f64| {
        let mut pie = docsis(Limit::Packets(90)).started(0.19, delay_ms / 1000.0);
        let head = arrival(Time::ZERO, Ecn::NotEct);
        (0..99).any(|_| pie.on_enqueue(head, full_packets(40), &mut Rng::scripted(0.0)) == DROP)
    };
    assert_eq!([4.9, 5.1].map(dropped), [false, true]);
}

/// Linux `sch_pie.c`, `pie_calculate_probability`: the gains by decades of p, down to 10^-6.
#[test]
fn linux_gains_shrink_by_powers_of_two_with_each_decade() {
    let steps = [(0.2, 0), (0.05, 1), (5e-3, 3), (5e-4, 5), (5e-5, 7), (5e-6, 9), (5e-7, 11)];
    for (p, shift) in steps {
        let moved = linux_update(&mut linux(p, 29_000, &[]), 30) - p;
        let step = 0.125 * 0.015 + 1.25 * 0.001;
        assert_near(moved / (step / f64::from(1u32 << shift)), 1.0, 1e-3);
    }
}

/// CableLabs `docsis-ns3`, `CalculateDropProb`: an update is quiet below half the target.
#[test]
fn docsis_is_not_quiet_at_exactly_half_the_target() {
    let mut pie = docsis(Limit::Packets(90)).started(0.0, 0.0049);
    pie.update(bytes(6_250)); // 5 ms at 10 Mb/s
    let quiet = |pie: &mut Docsis, updates| (0..updates).for_each(|_| pie.update(Backlog::EMPTY));
    quiet(&mut pie, 1 + 63);
    assert!(!pie.is_at_rest(), "at the first of them the delay before was half the target");
    quiet(&mut pie, 1);
    assert!(pie.is_at_rest());
}

/// Linux `sch_pie.c`, `pie_calculate_probability`: a new burst only after two calm updates.
#[test]
fn linux_allows_a_new_burst_only_once_both_delays_are_below_half_the_target() {
    let mut pie = linux(0.0, 15_000, &[]);
    linux_update(&mut pie, 0);
    assert_eq!(pie.burst_allowance(), 0.0, "the delay before was the target");
    linux_update(&mut pie, 0);
    assert_near(pie.burst_allowance(), 0.15, 1e-6);
}
