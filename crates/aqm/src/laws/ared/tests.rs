use super::*;
use crate::packet::Ecn;
use crate::params::Params;
use crate::testing::{
    arrival, assert_near, bytes, env, full_packets, law, law_in, law_of, ms, var,
};

/// Adaptive RED with thresholds of 10 and 30 packets (middle band 18 to 22) and an average that
/// stays at `packets`.
fn with_average(packets: u32, settings: &[(&str, &str)]) -> Ared {
    let fixed = [("min_th", "10p"), ("max_th", "30p"), ("w_q", "1")];
    let mut ared: Ared = law(&[&fixed[..], settings].concat());
    let head = arrival(Time::ZERO, Ecn::NotEct);
    ared.on_enqueue(Time::ZERO, head, full_packets(packets), &mut Rng::scripted(0.999));
    ared
}

fn real(ared: &Ared) -> &Detector {
    match &ared.0 {
        Engine::Real(red) => &red.detector,
        Engine::Linux { .. } => panic!("not the default"),
    }
}

/// Runs `periods` timers and returns `max_p`.
fn after(ared: &mut Ared, periods: u64) -> f64 {
    for _ in 0..periods {
        let due = ared.next_timer().unwrap();
        ared.on_timer(due, full_packets(20));
    }
    var(ared, "max_p")
}

#[test]
fn adapts_every_half_second_from_the_start() {
    let mut ared = with_average(25, &[]);
    assert_eq!(ared.next_timer(), Some(ms(500)));
    after(&mut ared, 1);
    assert_eq!(ared.next_timer(), Some(ms(1000)));
}

/// Floyd, Gummadi and Shenker 2001: the step is + min(0.01, max_p / 4).
#[test]
fn max_p_grows_by_a_hundredth_per_period_above_the_band() {
    let mut ared = with_average(25, &[]);
    assert_near(after(&mut ared, 1), 0.11, 1e-12);
    assert_near(after(&mut ared, 39), 0.5, 1e-12);
}

/// Floyd, Gummadi and Shenker 2001: the step is + min(0.01, max_p / 4) while max_p is at most 0.5.
#[test]
fn max_p_grows_by_a_quarter_while_it_is_small() {
    let mut ared = with_average(25, &[("max_p", "0.01")]);
    assert_near(after(&mut ared, 1), 0.0125, 1e-15);
    assert!(after(&mut ared, 51) < 0.5);
    assert_near(after(&mut ared, 1), 0.5077, 5e-5);
    assert_eq!(after(&mut ared, 10), after(&mut ared, 0), "above 0.5 it stays");
}

/// Floyd, Gummadi and Shenker 2001: the step is a factor of 0.9 while max_p is at least 0.01.
#[test]
fn max_p_shrinks_by_a_tenth_below_the_band_until_it_is_under_a_hundredth() {
    let mut ared = with_average(15, &[("max_p", "0.5")]);
    assert!(after(&mut ared, 37) >= 0.01);
    assert_near(after(&mut ared, 1), 0.00912, 5e-6);
    assert_near(after(&mut ared, 10), 0.00912, 5e-6);
}

/// Linux `red.h`, `red_adaptative_algo`, compares with `<=` and `>=`, so either bound may be
/// overshot by a step.
#[test]
fn max_p_moves_once_more_from_its_bounds() {
    assert_near(after(&mut with_average(25, &[("max_p", "0.5")]), 5), 0.51, 1e-15);
    assert_near(after(&mut with_average(15, &[("max_p", "0.01")]), 5), 0.009, 1e-15);
}

/// ns-2.35 `REDQueue::initParams`: `min_th` is max(5, target C / 2), `max_th` is three times
/// `min_th`, and the weight is 1 - exp(-1/C).
#[test]
fn automatic_values_for_a_target_of_5_ms() {
    let automatic = |mbps: u64| {
        let env = Env { rate: Some(Rate::from_bps(mbps * 1_000_000)), ..env() };
        let ared: Ared = law_in(&env, &[("mean_packet_bytes", "1000B")]);
        (real(&ared).curve.min_th, real(&ared).curve.max_th, first_sample(ared))
    };
    let (min, max, weight) = automatic(10);
    assert_eq!((min, max), (5.0, 15.0));
    assert_near(weight, 0.00079968, 5e-9);
    let (min, max, weight) = automatic(100);
    assert_eq!((min, max), (31.25, 93.75));
    assert_near(weight, 0.000079997, 5e-10);
}

/// The weight, which equals the average after one sample of 1 packet.
fn first_sample(mut ared: Ared) -> f64 {
    let head = arrival(Time::ZERO, Ecn::NotEct);
    ared.on_enqueue(Time::ZERO, head, full_packets(1), &mut Rng::scripted(0.5));
    var(&ared, "avg_queue")
}

/// ns-2, ns-3 and Linux compare strictly, so an average exactly on the edge of the band is within
/// it; we did not read the text of the paper.
#[test]
fn max_p_stays_while_the_average_is_in_the_band() {
    for packets in [18, 20, 22] {
        assert_eq!(after(&mut with_average(packets, &[]), 100), 0.1, "at {packets} packets");
    }
    assert_near(after(&mut with_average(17, &[]), 1), 0.09, 1e-15);
    assert_near(after(&mut with_average(23, &[]), 1), 0.11, 1e-15);
}

/// ns-2.35 `red.cc`, `REDQueue::updateMaxP`: `max_p` shrinks only while it is above its bottom.
#[test]
fn max_p_below_its_bottom_from_the_start_is_left_alone() {
    assert_eq!(after(&mut with_average(15, &[("max_p", "0.005")]), 10), 0.005);
}

/// Linux `red.h`, `red_adaptative_algo`, decays a copy, so the arrival decays the average only
/// once.
#[test]
fn the_timer_of_an_idle_queue_takes_its_decayed_average() {
    let mut ared: Ared = law(&[("min_th", "10p"), ("max_th", "30p"), ("w_q", "0.002")]);
    let head = arrival(Time::ZERO, Ecn::NotEct);
    for _ in 0..10_000 {
        ared.on_enqueue(Time::ZERO, head, full_packets(25), &mut Rng::scripted(0.999));
    }
    ared.on_empty(Time::ZERO);
    assert_near(after(&mut ared, 1), 0.09, 1e-12);
    assert_near(var(&ared, "avg_queue"), 25.0, 1e-6);
}

/// Fact aqm-46: gentle is on, and its slope starts at the current `max_p`.
#[test]
fn the_curve_has_no_step_at_max_th_after_adaptation() {
    let mut ared = with_average(25, &[]);
    assert_near(after(&mut ared, 10), 0.2, 1e-12);
    let head = arrival(Time::ZERO, Ecn::NotEct);
    ared.on_enqueue(Time::ZERO, head, full_packets(30), &mut Rng::scripted(0.999));
    assert_near(var(&ared, "drop_prob"), 0.2, 1e-12);
}

/// A Linux ARED with thresholds of 10 and 30 kB and an average that stays at `backlog`.
fn linux_at(backlog: u64, max_p: &str) -> Ared {
    let settings = [("min_th", "10kB"), ("max_th", "30kB"), ("max_p", max_p)];
    let mut ared: Ared = law_of("linux", &settings);
    let head = arrival(Time::ZERO, Ecn::NotEct);
    for _ in 0..1_000 {
        ared.on_enqueue(Time::ZERO, head, bytes(backlog), &mut Rng::scripted(0.999));
    }
    ared
}

/// Linux red.h, `red_adaptative_algo`: its integer for 0.01 is too small by less than 2^-32.
#[test]
fn linux_adapts_by_the_same_steps() {
    let up = &mut linux_at(25_000, "0.1");
    assert_near(after(up, 1), 0.11, 1e-8);
    assert_near(after(up, 39), 0.5, 1e-7);
    let slow = &mut linux_at(25_000, "0.01");
    assert_near(after(slow, 1), 0.0125, 1e-8);
    assert!(after(slow, 51) < 0.5);
    assert_near(after(slow, 1), 0.5077, 5e-5);
    let down = &mut linux_at(15_000, "0.5");
    assert!(after(down, 37) >= 0.01);
    assert_near(after(down, 1), 0.00912, 5e-6);
    assert_near(after(&mut linux_at(20_000, "0.1"), 100), 0.1, 1e-9);
    assert_near(after(&mut linux_at(15_000, "0.005"), 10), 0.005, 1e-9);
}

/// Linux `red.h`: `red_set_parms` truncates `max_P / qth_delta`; `red_adaptative_algo` replaces it
/// by the nearest whole number at every timer, even if `max_P` does not change. Here it is 21474.8:
/// the largest draws are 200007 and 199998, and 10 kB above `min_th` reach the latter at count 20.
#[test]
fn linux_rounds_the_probability_per_byte_to_the_nearest_once_its_timer_has_run() {
    let gap = |ared: &mut Ared| {
        let head = arrival(Time::ZERO, Ecn::NotEct);
        let mut offer =
            || ared.on_enqueue(Time::ZERO, head, bytes(20_000), &mut Rng::scripted(0.999_999_9));
        (0..30).find(|_| offer() != Verdict::Pass).expect("the signal that draws");
        (1..30).find(|_| offer() != Verdict::Pass)
    };
    let mut ared = linux_at(20_000, "0.1");
    assert_eq!(gap(&mut ared), Some(21));
    assert_near(after(&mut ared, 1), 0.1, 1e-9);
    assert_eq!(gap(&mut ared), Some(20));
}

/// Fact aqm-54: the averages from which some packets and from which all packets are signalled.
#[test]
fn kids_thresholds_are_half_and_three_halves_of_the_target() {
    let probs = |target: &str, backlogs: [u64; 3]| {
        backlogs.map(|backlog| {
            let mut ared: Ared = law_of("kids", &[("target_delay", target)]);
            let head = arrival(Time::ZERO, Ecn::NotEct);
            for _ in 0..5_000 {
                ared.on_enqueue(Time::ZERO, head, bytes(backlog), &mut Rng::scripted(0.999));
            }
            var(&ared, "drop_prob")
        })
    };
    for (target, min, max) in [("5ms", 3_125, 9_375), ("20ms", 12_500, 37_500), ("1ms", 1514, 3028)]
    {
        let [below, above, forced] = probs(target, [min - 9, min + 90, max + 9]);
        assert_eq!((below, forced), (0.0, 1.0), "{target}");
        assert!(above > 0.0 && above < 0.02, "{target}: {above}");
    }
}

/// Khademi, Ros and Welzl 2013 §2.3: Floyd's 1 - exp(-1/C) is 0.0012 at 833 packets per second; the
/// nearest power of two is 2^-10; tc computes 2^-2 from these thresholds.
#[test]
fn kids_takes_a_given_weight_or_that_of_tc() {
    let thresholds = [("min_th", "3125B"), ("max_th", "9375B")];
    let average = |settings: &[(&str, &str)]| {
        let mut ared: Ared = law_of("kids", &[&thresholds[..], settings].concat());
        let head = arrival(Time::ZERO, Ecn::NotEct);
        let mut offer = |n| ared.on_enqueue(Time::ZERO, head, bytes(n), &mut Rng::scripted(0.999));
        offer(0); // ends the idle time, without a sample
        offer(4096);
        var(&ared, "avg_queue") * 1000.0
    };
    assert_near(average(&[]), 1024.0, 1e-9);
    assert_near(average(&[("w_q", "0.0009765625")]), 4.0, 1e-9);
    let refusal = |text: &str| crate::QdiscSpec::parse(text).unwrap_err().message;
    assert!(refusal("ared@kids:w_q=0.0012").contains("the nearest is 0.0009765625"));
    assert!(refusal("ared@kids:w_q=0.5,burst=60").contains("both set the weight"));
}

/// ns-3 `RedQueueDisc::Estimator` and `UpdateMaxP` adapt at an arrival more than an interval after
/// the last change; their bounds are strict.
#[test]
fn ns3_adapts_at_arrivals_and_never_beyond_its_bounds() {
    let fixed = [("min_th", "10p"), ("max_th", "30p"), ("w_q", "1")];
    let max_p_at = |start: &str, packets, times: &[u64]| {
        let mut ared: Ared = law_of("ns3", &[&fixed[..], &[("max_p", start)]].concat());
        assert_eq!(ared.next_timer(), None);
        let mut probs = alloc::vec::Vec::new();
        for &millis in times {
            let head = arrival(ms(millis), Ecn::NotEct);
            ared.on_enqueue(ms(millis), head, full_packets(packets), &mut Rng::scripted(0.999));
            probs.push((var(&ared, "max_p") * 1e6).round() / 1e6);
        }
        probs
    };
    assert_eq!(max_p_at("0.1", 25, &[500, 501, 900, 1001, 1002]), [0.1, 0.11, 0.11, 0.11, 0.12]);
    assert_eq!(max_p_at("0.5", 25, &[600, 1200]), [0.5, 0.5], "top > max_p is strict");
    assert_eq!(max_p_at("0.1", 15, &[501, 1000, 1002]), [0.09, 0.09, 0.081]);
}

/// Fact aqm-52: the bound is 8 * 500 B * 0.1 s / 10 Mb/s.
#[test]
fn ns3_has_a_lower_bound_that_is_a_hundred_times_too_small() {
    let params = AredParams::of_dialect("ns3").expect("a dialect");
    assert_near(params.adaptation(&env()).bottom, 4e-5, 1e-18);
    let mut floyd = AredParams::of_dialect("floyd2001").expect("a dialect");
    floyd.max_p_bottom = OrAuto(None);
    floyd.mean_packet_bytes = OrAuto(Some(Bytes(500)));
    assert_near(floyd.adaptation(&env()).bottom, 4e-3, 1e-18);
}

/// ns-3 `RedQueueDisc::InitializeParams`: the gentle slope starts at the first `max_p`.
#[test]
fn the_curve_of_ns3_has_a_step_at_max_th_after_adaptation() {
    let fixed = [("min_th", "10p"), ("max_th", "30p"), ("w_q", "1"), ("max_p", "0.1")];
    let mut ared: Ared = law_of("ns3", &fixed);
    let mut offer = |millis, packets| {
        let head = arrival(ms(millis), Ecn::NotEct);
        ared.on_enqueue(ms(millis), head, full_packets(packets), &mut Rng::scripted(0.999));
        var(&ared, "drop_prob")
    };
    assert_near(offer(501, 29), 0.11 * 0.95, 1e-9);
    assert_near(offer(502, 30), 0.1, 1e-9);
}

/// A large `adapt_alpha` cannot raise `max_p` above 1.
#[test]
fn max_p_stays_a_probability() {
    let settings = [("adapt_alpha", "1"), ("max_p_top", "1"), ("max_p", "0.9")];
    assert_eq!(after(&mut with_average(25, &settings), 3), 1.0);
}

/// ns-2.35 `red.cc`, `REDQueue::initParams`: the bound is at most 0.01 on a slow link.
#[test]
fn the_automatic_lower_bound_is_a_hundredth_at_most() {
    let bottom = |rate, top: f64| {
        let mut params = AredParams::of_dialect("floyd2001").expect("a dialect");
        (params.max_p_bottom, params.max_p_top) = (OrAuto(None), top);
        params.adaptation(&Env { rate, ..env() }).bottom
    };
    assert_eq!(bottom(Some(Rate::from_bps(100_000)), 0.5), 0.01);
    assert_eq!(bottom(Some(Rate::from_bps(100_000)), 0.002), 0.002);
    assert_eq!(bottom(None, 0.5), 0.0);
}

#[test]
fn a_new_rate_moves_what_is_automatic() {
    let mut ared: Ared = law(&[("min_th", "auto"), ("mean_packet_bytes", "500B")]);
    ared.on_rate(ms(1), Rate::from_bps(100_000_000));
    let expected: Ared = law_in(
        &Env { rate: Some(Rate::from_bps(100_000_000)), ..env() },
        &[("min_th", "auto"), ("mean_packet_bytes", "500B")],
    );
    assert_eq!(real(&ared).curve.min_th, real(&expected).curve.min_th);
    assert_near(first_sample(ared), first_sample(expected), 0.0);
}

/// ns-2.35 `red.cc`, `REDQueue::updateMaxP`: `cur_max_p > bottom` is strict.
#[test]
fn ns2_leaves_a_max_p_at_its_lower_bound_where_it_is() {
    let rule = |is_strict| Adaptation { alpha: 0.01, beta: 0.9, top: 0.5, bottom: 0.01, is_strict };
    assert_eq!(rule(true).next(0.01, Side::Below), 0.01);
    assert_near(rule(false).next(0.01, Side::Below), 0.009, 1e-15);
    assert_near(rule(true).next(0.02, Side::Below), 0.018, 1e-15);
}
