use alloc::vec::Vec;

use super::*;
use crate::law::Cause;
use crate::packet::Ecn;
use crate::testing::{
    arrival, assert_near, bytes, env, full_packets, gaps, judge, law_of, law_of_in, mean, ms, var,
};

const RANDOM: Verdict = Verdict::Drop(Cause::Random);
const FORCED: Verdict = Verdict::Drop(Cause::Forced);

/// A Linux RED whose average has converged to `backlog`.
fn linux_at(backlog: u64, settings: &[(&str, &str)]) -> Red {
    let thresholds = [("min_th", "50kB"), ("max_th", "150kB"), ("max_p", "0.2")];
    let mut red: Red = law_of("linux", &[&thresholds[..], settings].concat());
    for _ in 0..5_000 {
        judge(&mut red, bytes(backlog), 0.999, Ecn::NotEct);
    }
    red
}

/// Fact aqm-43: p_b = 0.1 at 100 kB, halfway.
#[test]
fn linux_gaps_are_uniform_from_1_to_10() {
    let mut red = linux_at(100_000, &[]);
    assert_near(var(&red, "drop_prob"), 0.1, 1e-3);
    let mut rng = Rng::stream(5, "linux", 0);
    let head = arrival(Time::ZERO, Ecn::NotEct);
    let mut gap = || {
        let mut offer = || red.on_enqueue(Time::ZERO, head, bytes(100_000), &mut rng);
        (1u64..).find(|_| offer() == RANDOM).expect("a signal")
    };
    let gaps: Vec<u64> = (0..50_001).map(|_| gap()).skip(1).collect();
    assert!(gaps.iter().all(|gap| (1..=11).contains(gap)));
    assert_near(mean(&gaps), 5.5, 0.1);
    let share = |n| gaps.iter().filter(|&&gap| gap == n).count() as f64 / gaps.len() as f64;
    assert!((1..=10).all(|n| (share(n) - 0.1).abs() < 0.01));
}

/// A caller of the C bindings may pass anything.
#[test]
fn linux_survives_a_backlog_that_cannot_be() {
    let mut red: Red = law_of("linux", &[]);
    for _ in 0..3 {
        let queue = Backlog { packets: 1, bytes: u64::MAX, link_bytes: 0 };
        judge(&mut red, queue, 0.5, Ecn::NotEct);
    }
    assert_eq!(var(&red, "drop_prob"), 1.0);
}

/// Fact aqm-43: the largest numbers of 0 .. 2^32 give R = 500054 > 10 * 50000 by integer division,
/// and therefore a gap of 11.
#[test]
fn linux_has_a_gap_of_11_by_rounding() {
    let gap = |u| {
        let mut red = linux_at(100_000, &[]);
        let first = judge(&mut red, bytes(100_000), u, Ecn::NotEct);
        assert_eq!(first, Verdict::Pass);
        // The signal that ends this gap also draws the number for the next gap.
        (0..20).find(|_| judge(&mut red, bytes(100_000), u, Ecn::NotEct) == RANDOM);
        (1..20).find(|_| judge(&mut red, bytes(100_000), u, Ecn::NotEct) == RANDOM)
    };
    assert_eq!(gap(0.999), Some(10));
    assert_eq!(gap(0.999_999_9), Some(11));
}

/// Linux `red.h`, `red_action`: the first packet above `min_th` only draws, and this number is used
/// until the signal.
#[test]
fn linux_accepts_the_first_packet_above_min_th_and_draws_once_per_signal() {
    let mut red = linux_at(40_000, &[]);
    let mut rng = Rng::stream(5, "linux", 1);
    let head = arrival(Time::ZERO, Ecn::NotEct);
    let mut draws = Vec::new();
    let mut signals = 0;
    let mut first = None;
    for _ in 0..3_000 {
        let before = rng.clone().next_u64();
        let was_below = var(&red, "drop_prob") == 0.0;
        let verdict = red.on_enqueue(Time::ZERO, head, bytes(100_000), &mut rng);
        draws.push(rng.clone().next_u64() != before);
        signals += usize::from(verdict == RANDOM);
        if was_below && var(&red, "drop_prob") > 0.0 {
            first.get_or_insert(verdict);
        }
    }
    assert_eq!(first, Some(Verdict::Pass));
    assert!(signals > 100);
    assert_eq!(draws.iter().filter(|&&drew| drew).count(), signals + 1);
}

/// Fact aqm-47: tc computes a weight of 2^-4 for 12.5 and 37.5 kB.
#[test]
fn linux_takes_a_sixteenth_of_the_first_sample() {
    let mut red: Red = law_of("linux", &[("min_th", "12500B"), ("max_th", "37500B")]);
    judge(&mut red, bytes(0), 0.5, Ecn::NotEct); // ends the idle time, without a sample
    judge(&mut red, bytes(16_000), 0.5, Ecn::NotEct);
    assert_eq!(var(&red, "avg_queue"), 1.0);
}

/// Linux `red.h`, `red_calc_qavg`: after an idle time the table gives the average, and no sample is
/// taken.
#[test]
fn linux_takes_no_sample_on_the_first_arrival_after_an_idle_time() {
    let mut red = linux_at(40_000, &[]);
    let before = var(&red, "avg_queue");
    red.on_empty(ms(1));
    let head = arrival(ms(1), Ecn::NotEct);
    red.on_enqueue(ms(1), head, bytes(100_000), &mut Rng::scripted(0.5));
    assert_eq!(var(&red, "avg_queue"), before);
}

/// Linux `sch_red.c`, `red_enqueue`, marks above `max_th` unless `harddrop` is set.
#[test]
fn linux_marks_where_forced_unless_hard_drop() {
    let forced = |hard_drop, ecn| {
        let mut red = linux_at(200_000, &[("ecn", "true"), ("hard_drop", hard_drop)]);
        judge(&mut red, bytes(200_000), 0.5, ecn)
    };
    assert_eq!(forced("false", Ecn::Ect0), Verdict::Mark(Cause::Forced));
    assert_eq!(forced("true", Ecn::Ect0), FORCED);
    assert_eq!(forced("false", Ecn::NotEct), FORCED);
}

/// iproute2 `q_red.c`: `max_th` is a quarter of the limit, and `min_th` a third of `max_th`.
#[test]
fn linux_thresholds_follow_from_the_limit() {
    let env = Env { limit: Limit::Bytes(120_000), ..env() };
    let red: Red = law_of_in(&env, "linux", &[]);
    let at = |backlog| {
        let mut red = red.clone();
        for _ in 0..5_000 {
            judge(&mut red, bytes(backlog), 0.999, Ecn::NotEct);
        }
        var(&red, "drop_prob")
    };
    assert_eq!((at(9_900), at(30_100)), (0.0, 1.0));
    assert!(at(10_500) > 0.0 && at(29_900) < 0.021);
}

/// A simulator's RED whose average is the backlog itself.
fn ns(dialect: &str, settings: &[(&str, &str)]) -> Red {
    let fixed = [("min_th", "50p"), ("max_th", "150p"), ("w_q", "1"), ("max_p", "0.2")];
    law_of(dialect, &[&fixed[..], settings].concat())
}

/// Fact aqm-42: `wait` is the default of ns-2 and ns-3.
#[test]
fn simulators_wait_for_10_to_19_packets() {
    for dialect in ["ns2", "ns3"] {
        let mut rng = Rng::stream(5, dialect, 0);
        let gaps = gaps(&mut ns(dialect, &[]), &mut rng, Ecn::NotEct, 20_001).split_off(1);
        assert!(gaps.iter().all(|gap| (10..=19).contains(gap)), "{dialect}");
        assert_near(mean(&gaps), 14.5, 0.15);
    }
}

/// Fact aqm-44, with `u <= p_a`: the signal comes at count 8.
#[test]
fn in_the_simulators_a_draw_of_one_half_hits_at_count_8() {
    for dialect in ["ns2", "ns3"] {
        let mut red = ns(dialect, &[("gap_mode", "uniform")]);
        let mut judge = |u| judge(&mut red, full_packets(100), u, Ecn::NotEct);
        judge(0.0); // crosses
        assert_eq!(judge(0.0), RANDOM, "{dialect}: this one starts the count");
        for count in 1..=7 {
            assert_eq!(judge(0.5), Verdict::Pass, "{dialect}: count {count}");
        }
        assert_eq!(judge(0.5), RANDOM, "{dialect}");
    }
}

/// ns-2 `REDQueue::enque`, ns-3 `RedQueueDisc::DoEnqueue`: neither the first packet above `min_th`
/// nor a packet behind a single one is dropped.
#[test]
fn simulators_accept_the_first_packet_above_min_th_and_one_that_finds_a_single_packet() {
    let geometric = [("gap_mode", "geometric")];
    for dialect in ["ns2", "ns3"] {
        let mut red = ns(dialect, &geometric);
        let mut says = |packets| judge(&mut red, full_packets(packets), 0.0, Ecn::NotEct);
        assert_eq!((says(100), says(100)), (Verdict::Pass, RANDOM));
        assert_eq!((says(40), says(100), says(100)), (Verdict::Pass, Verdict::Pass, RANDOM));
        let low = [("min_th", "1p"), ("max_th", "2p"), ("w_q", "0.5")];
        let mut red: Red = law_of(dialect, &low);
        for _ in 0..20 {
            judge(&mut red, full_packets(100), 0.5, Ecn::NotEct);
        }
        assert_eq!(judge(&mut red, full_packets(1), 0.0, Ecn::NotEct), Verdict::Pass);
        assert_eq!(judge(&mut red, full_packets(2), 0.0, Ecn::NotEct), FORCED);
    }
}

/// ns-2 `REDQueue::enque` sets `count` to 0; ns-3 `RedQueueDisc::DoEnqueue` does so only with
/// `Ns1Compat`.
#[test]
fn a_forced_signal_clears_the_count_in_ns2_only() {
    let hits_after_forced = |dialect| {
        // At p_b = 0.1 a packet is certainly hit from count 9 on.
        let mut red = ns(dialect, &[("gap_mode", "uniform"), ("gentle", "false")]);
        for _ in 0..7 {
            judge(&mut red, full_packets(100), 0.999, Ecn::NotEct);
        }
        assert_eq!(judge(&mut red, full_packets(200), 0.999, Ecn::NotEct), FORCED);
        judge(&mut red, full_packets(100), 0.999, Ecn::NotEct) == RANDOM
    };
    assert!(!hits_after_forced("ns2") && hits_after_forced("ns3"));
}

/// ns-2.35 `red.cc`, `REDQueue::drop_early`: `use_mark_p_` and `mark_p_`.
#[test]
fn ns2_marks_up_to_a_probability_of_a_tenth() {
    let verdict = |dialect, packets| {
        let mut red = ns(dialect, &[("gap_mode", "geometric"), ("ecn", "true")]);
        judge(&mut red, full_packets(packets), 0.0, Ecn::Ect0);
        judge(&mut red, full_packets(packets), 0.0, Ecn::Ect0)
    };
    let mark = Verdict::Mark(Cause::Random);
    assert_eq!((verdict("ns2", 100), verdict("ns2", 110)), (mark, RANDOM));
    assert_eq!((verdict("ns3", 100), verdict("ns3", 110)), (mark, mark));
}

/// ns-2.35 `red.cc`, `REDQueue::initParams`: `q_weight_` is -1, with R = max(0.1 s, 3 / C).
#[test]
fn ns2_weighs_by_ten_round_trips() {
    let mut red: Red = law_of("ns2", &[("min_th", "500p"), ("max_th", "900p")]);
    judge(&mut red, full_packets(100), 0.5, Ecn::NotEct);
    let c = 10e6f64 / 8.0 / 500.0;
    assert_near(var(&red, "avg_queue"), 100.0 * (1.0 - (-1.0 / c).exp()), 1e-9);
}

#[test]
fn what_tc_refuses_and_what_has_no_effect_is_refused() {
    let refusal = |text: &str| crate::QdiscSpec::parse(text).unwrap_err().message;
    assert!(refusal("red@linux:min_th=625B,max_th=1875B").contains("tc red finds no weight"));
    assert!(refusal("red@linux:min_th=5p,max_th=15p").contains("must be bytes"));
    assert!(refusal("red@linux:gentle=true").contains("no effect in dialect linux"));
    assert!(refusal("red:burst=20").contains("no effect in dialect floyd"));
    assert!(refusal("ared@linux:w_q=0.1").contains("no effect in dialect linux"));
    assert!(refusal("ared@kids:min_th=7p").contains("must be bytes"));
    assert!(crate::QdiscSpec::parse("red@linux:min_th=30kB,burst=60").is_ok());
}

/// ns-2 `REDQueue::enque`: with a limit in bytes, it acts on more than one byte.
#[test]
fn simulators_act_on_more_than_one_byte_where_they_count_bytes() {
    let settings =
        [("min_th", "50kB"), ("max_th", "150kB"), ("w_q", "0.000001"), ("gap_mode", "geometric")];
    for dialect in ["ns2", "ns3"] {
        let mut red: Red = law_of(dialect, &[&settings[..], &[("gentle", "false")]].concat());
        let huge = Backlog { packets: 0, bytes: 1 << 40, link_bytes: 0 };
        assert_eq!(judge(&mut red, huge, 0.5, Ecn::NotEct), FORCED, "{dialect}");
        let queue = |bytes| Backlog { packets: 1, bytes, link_bytes: bytes };
        let mut red = red.clone();
        assert_eq!(judge(&mut red, queue(1), 0.5, Ecn::NotEct), Verdict::Pass, "{dialect}");
        assert_eq!(judge(&mut red, queue(2), 0.5, Ecn::NotEct), FORCED, "{dialect}");
    }
}

/// ns-2.35 `red.cc`, `REDQueue::initParams`: three packet times if these exceed 0.1 s.
#[test]
fn ns2_weighs_by_packet_times_on_a_slow_link() {
    let env = Env { rate: Some(crate::time::Rate::from_bps(40_000)), ..env() };
    let mut red: Red = law_of_in(&env, "ns2", &[("min_th", "500p"), ("max_th", "900p")]);
    judge(&mut red, full_packets(100), 0.5, Ecn::NotEct);
    assert_near(var(&red, "avg_queue"), 100.0 * (1.0 - (-1.0f64 / 30.0).exp()), 1e-9);
}

/// iproute2 `q_red.c`: packets in a limit count as full-sized.
#[test]
fn linux_takes_a_limit_in_packets_as_bytes() {
    let env = Env { limit: Limit::Packets(100), ..env() };
    let mut red: Red = law_of_in(&env, "linux", &[]);
    for _ in 0..5_000 {
        judge(&mut red, bytes(25 * 1514 + 9), 0.999, Ecn::NotEct);
    }
    assert_eq!(var(&red, "drop_prob"), 1.0);
    for _ in 0..5_000 {
        judge(&mut red, bytes(25 * 1514 - 99), 0.999, Ecn::NotEct);
    }
    assert!((0.0199..0.02).contains(&var(&red, "drop_prob")));
}

/// iproute2 6.1 q_red.c, red_parse_opt: without `bandwidth` tc assumes 10 Mbit/s regardless of the
/// link's rate. With `auto`, a new rate changes the table of idle times but not the average.
#[test]
fn linux_decays_faster_while_idle_on_a_faster_link_only_if_bandwidth_is_auto() {
    let after_idle = |bandwidth: &[(&str, &str)], mbps: u64| {
        let mut red = linux_at(40_000, bandwidth);
        red.on_rate(ms(0), crate::time::Rate::from_bps(mbps * 1_000_000));
        assert_near(var(&red, "avg_queue"), 40.0, 0.1);
        red.on_empty(ms(1));
        let head = arrival(ms(5), Ecn::NotEct);
        red.on_enqueue(ms(5), head, bytes(0), &mut Rng::scripted(0.5));
        var(&red, "avg_queue")
    };
    let auto = &[("bandwidth", "auto")];
    let (slow, fast) = (after_idle(auto, 10), after_idle(auto, 100));
    assert!((20.0..40.0).contains(&slow) && fast < slow, "{slow} {fast}");
    assert_eq!([after_idle(&[], 10), after_idle(&[], 100)], [slow; 2]);
    assert_eq!(after_idle(&[("bandwidth", "100mbit")], 10), fast);
}

/// Fact aqm-130: after an arrival is dropped into an empty queue, the link remains idle if it was
/// idle, but not if it is sending the last packet.
#[test]
fn linux_goes_on_being_idle_after_a_drop_only_if_the_link_was_idle() {
    let average_after = |found_nothing: bool| {
        let mut red = linux_at(200_000, &[]);
        if found_nothing {
            red.on_empty(ms(1));
        }
        let head = arrival(ms(1), Ecn::NotEct);
        let verdict = red.on_enqueue(ms(1), head, bytes(0), &mut Rng::scripted(0.5));
        assert_eq!(verdict, FORCED);
        red.on_enqueue(ms(60_000), head, bytes(0), &mut Rng::scripted(0.5));
        var(&red, "avg_queue")
    };
    assert!(average_after(true) < 1.0 && average_after(false) > 150.0);
}

/// Linux `red.h`, `red_cmp_thresh`: an average equal to the lower threshold lies between the
/// thresholds, where the first arrival draws a number.
#[test]
fn linux_draws_a_gap_at_exactly_the_lower_threshold() {
    let mut red = linux_at(49_999, &[]);
    let (mut rng, mut untouched) = (Rng::stream(5, "linux", 0), Rng::stream(5, "linux", 0));
    let head = arrival(Time::ZERO, Ecn::NotEct);
    for _ in 0..20_000 {
        red.on_enqueue(Time::ZERO, head, bytes(50_000), &mut rng);
    }
    assert_eq!(var(&red, "avg_queue") * 1000.0, 50_000.0);
    assert_ne!(rng.next_u64(), untouched.next_u64());
}
