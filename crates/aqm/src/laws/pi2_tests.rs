use super::*;
use crate::packet::Ecn;
use crate::testing::{
    Log, Numbered, arrival, assert_near, bytes, env, full_packets, gaps, law, law_of, learn_rate,
    mean, ms, var, waited,
};

fn started(base_prob: f64, delay: f64) -> Pi2 {
    let mut pi2 = Pi2 { output: base_prob, base_prob, delay, ..law(&[]) };
    learn_rate(|now, head, queue| {
        pi2.on_dequeue(now, head, queue, &mut Rng::scripted(0.5));
    });
    pi2
}

/// Runs one update at a delay of `delay_ms`.
fn update(pi2: &mut Pi2, delay_ms: u64) -> f64 {
    pi2.on_timer(pi2.next_timer().unwrap(), bytes(delay_ms * 1000));
    var(pi2, "base_prob")
}

/// Tahiliani and Tewari 2017, Table III.
#[test]
fn the_defaults_are_those_of_table_iii() {
    use crate::params::Params;
    let params = Pi2Params::of_dialect("classic").unwrap();
    assert_eq!((params.target, params.tupdate), (Span::from_millis(20), Span::from_millis(30)));
    assert_eq!((params.alpha, params.beta), (Hertz(0.3125), Hertz(3.125)));
    assert_eq!(params.dq_threshold, Bytes(10_000));
}

/// Fact aqm-90.
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

/// The count of random numbers drawn for one arrival.
fn draws(pi2: &mut Pi2, rng: &mut Rng, queue: Backlog) -> u32 {
    let mut shadow = rng.clone();
    pi2.on_enqueue(Time::ZERO, arrival(Time::ZERO, Ecn::NotEct), queue, rng);
    let next = rng.clone().next_u64();
    (0..4).find(|_| shadow.next_u64() == next).expect("at most three draws")
}

/// Fact aqm-90.
#[test]
fn thinks_twice_and_draws_the_second_time_only_if_the_first_hits() {
    let mut pi2 = started(0.3, 0.0);
    let mut rng = Rng::stream(15, "pi2", 2);
    let n = 100_000;
    let total: u32 = (0..n).map(|_| draws(&mut pi2, &mut rng, full_packets(9))).sum();
    let per_packet = f64::from(total) / f64::from(n);
    assert_near(per_packet, 1.3, 5.0 * (0.3f64 * 0.7 / f64::from(n)).sqrt());
}

/// Fact aqm-1: each draw hits when it is strictly below p'.
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

/// Tahiliani and Tewari 2017 Table III: from 20 to 30 ms the step is 0.3125 * 0.01 + 3.125 * 0.01.
#[test]
fn one_step_of_the_controller() {
    assert_near(update(&mut started(0.1, 0.02), 30), 0.134375, 1e-12);
}

/// Tahiliani and Tewari 2017 §II: both terms are 0.
#[test]
fn at_the_target_the_probability_stays() {
    let mut pi2 = started(0.1, 0.02);
    for _ in 0..100 {
        assert_near(update(&mut pi2, 20), 0.1, 1e-12);
    }
}

/// Linux `sch_pi2.c` tests for strictly less than two packets.
#[test]
fn less_than_two_packets_are_neither_dropped_nor_drawn_for() {
    let mut rng = Rng::stream(1, "pi2", 0);
    let mut pi2 = started(1.0, 0.02);
    assert_eq!(draws(&mut pi2, &mut rng, bytes(3027)), 0);
    assert_eq!(draws(&mut pi2, &mut rng, bytes(3028)), 2);
}

/// Tahiliani and Tewari 2017 §II: PI2 lacks PIE's heuristics.
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
    let mut pi2 = Pi2 { output: 1.0, base_prob: 1.0, ..law(&[("ecn", "true")]) };
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

/// Fact aqm-92.
#[test]
fn the_controller_follows_its_equation_step_by_step() {
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

/// A law of a dialect with p' = `base_prob`, at a rate of 1 MB/s.
fn started_in(dialect: &str, base_prob: f64, settings: &[(&str, &str)]) -> Pi2 {
    let mut pi2: Pi2 = law_of(dialect, settings);
    let k = if pi2.form == Form::Scaled { pi2.coupling_k } else { 1.0 };
    (pi2.base_prob, pi2.output) = (base_prob, base_prob * k);
    learn_rate(|now, head, queue| {
        pi2.on_dequeue(now, head, queue, &mut Rng::scripted(0.5));
    });
    pi2
}

/// The share of arrivals that get the given verdict.
fn share(pi2: &mut Pi2, ecn: Ecn, verdict: Verdict) -> f64 {
    let mut rng = Rng::stream(15, "share", 0);
    let head = arrival(Time::ZERO, ecn);
    let n = 200_000;
    let hits = (0..n)
        .filter(|_| pi2.on_enqueue(Time::ZERO, head, full_packets(9), &mut rng) == verdict)
        .count();
    hits as f64 / f64::from(n)
}

const DROP: Verdict = Verdict::Drop(Cause::Random);
const MARK: Verdict = Verdict::Mark(Cause::Random);

/// RFC 9332 §2.1, with k = 2 and p' = 0.1: p'^2 for classic packets, k p' for scalable ones.
#[test]
fn coupled_marks_scalable_packets_with_k_p_and_drops_classic_ones_with_its_square() {
    for dialect in ["coupled", "linux"] {
        let mut pi2 = started_in(dialect, 0.1, &[("ecn", "true")]);
        assert_near(share(&mut pi2, Ecn::NotEct, DROP), 0.01, 0.0012);
        assert_near(share(&mut pi2, Ecn::Ect0, MARK), 0.2, 0.005);
        assert_eq!(share(&mut pi2, Ecn::Ect1, DROP), 0.0);
    }
    let mut by_rfc9331 = started_in("coupled", 0.3, &[("scalable", "ect1")]);
    assert_near(share(&mut by_rfc9331, Ecn::Ect1, MARK), 0.6, 0.006);
    assert_near(share(&mut by_rfc9331, Ecn::Ect0, MARK), 0.09, 0.004);
}

/// Linux `sch_pi2.c` bounds p_s = 2 p' by 1, so p'^2 is at most 1/4.
#[test]
fn linux_drops_at_most_a_quarter() {
    let mut pi2 = started_in("linux", 0.4, &[]);
    for _ in 0..10 {
        update(&mut pi2, 2_000);
    }
    assert_eq!(var(&pi2, "base_prob"), 0.5);
    assert_near(share(&mut pi2, Ecn::NotEct, DROP), 0.25, 0.005);
}

/// Tahiliani and Tewari 2017 Table III. Linux `sch_pi2.c` has twice the gains, on 2 p'; the ns-3
/// port has them on p'.
#[test]
fn ns3_moves_twice_as_far_as_the_others() {
    let step = |dialect| {
        let mut pi2 = started_in(dialect, 0.1, &[]);
        pi2.delay = 0.02;
        update(&mut pi2, 30) - 0.1
    };
    assert_near(step("classic"), 0.034375, 1e-12);
    assert_near(step("linux"), 0.034375, 1e-12);
    assert_near(step("ns3"), 0.06875, 1e-12);
}

/// Fact aqm-92, for RFC 9332 Appendix A.1.
#[test]
fn the_base_controller_of_rfc_9332_follows_its_equation_step_by_step() {
    let mut pi2 = started_in("rfc9332", 0.1, &[("delay", "stamps")]);
    pi2.delay = 0.02;
    let delays = [30, 40, 50, 60, 60, 40, 20, 10, 0, 0, 0];
    let expected = [
        0.134400, 0.170400, 0.208000, 0.247200, 0.254400, 0.194400, 0.131200, 0.098400, 0.064000,
        0.061600, 0.059200,
    ];
    for (delay, p) in delays.into_iter().zip(expected) {
        let head = waited(ms(1000), Span::from_millis(delay));
        pi2.on_dequeue(ms(1000), head, full_packets(9), &mut Rng::scripted(0.5));
        pi2.on_timer(pi2.next_timer().unwrap(), full_packets(9));
        assert_near(var(&pi2, "base_prob"), p, 1e-9);
    }
}

/// RFC 9332 Appendix A.1 takes the age of the head, which grows while the link stalls; RFC 8033
/// Appendix A takes the sojourn time of the last departure, which does not. Both are 0 for an empty
/// queue.
#[test]
fn the_base_aqm_of_rfc_9332_sees_a_link_that_stands_still() {
    let delays = |estimator: &str| {
        let mut pi2 = started_in("rfc9332", 0.1, &[("delay", estimator)]);
        let head = waited(ms(8), Span::from_millis(8));
        pi2.on_dequeue(ms(8), head, full_packets(9), &mut Rng::scripted(0.5));
        let mut after = |head: Option<Time>, queue| {
            pi2.on_head(head);
            pi2.on_timer(pi2.next_timer().unwrap(), queue);
            var(&pi2, "delay")
        };
        let waits = Some(ms(1));
        [after(waits, full_packets(9)), after(waits, full_packets(9)), after(None, Backlog::EMPTY)]
    };
    assert_eq!(delays("head"), [0.015, 0.031, 0.0]);
    assert_eq!(delays("stamps")[..2], [0.008, 0.008]);
}

/// The discipline calls `on_head`, in one queue and under flow queues.
#[test]
fn the_head_of_the_queue_is_passed_on_before_every_update() {
    for aqm in ["pi2@rfc9332", "fq(pi2@rfc9332)"] {
        let spec = crate::QdiscSpec::parse(aqm).unwrap();
        let mut qdisc = crate::registry::build_watched::<Numbered>(&spec, &env()).unwrap();
        let mut rng = Rng::stream(1, "unused", 0);
        for id in 0..200 {
            qdisc.enqueue(ms(1), Numbered::new(id, 1, 1514), &mut rng, &mut Log::default());
        }
        while let Some(due) = qdisc.next_timer().filter(|&due| due < ms(900)) {
            qdisc.on_timer(due);
        }
        let mut log = Log::default();
        let offered = 1000..1400;
        offered
            .for_each(|id| qdisc.enqueue(ms(900), Numbered::new(id, 1, 1514), &mut rng, &mut log));
        assert!(log.dropped.len() > 100, "{aqm}: {}", log.dropped.len());
    }
}

/// Linux `sch_pi2.c` and the ns-3 port decay by 0.98; the port bounds p' from below only.
#[test]
fn ns3_has_no_upper_bound_and_builds_decay_when_idle() {
    let mut ns3 = started_in("ns3", 0.5, &[]);
    assert!(update(&mut ns3, 5_000) > 1.0);
    for (dialect, decay) in [("classic", 1.0), ("linux", 0.98), ("ns3", 0.98)] {
        let mut pi2 = started_in(dialect, 0.4, &[]);
        let alpha = if dialect == "ns3" { 0.625 } else { 0.3125 };
        assert_near(update(&mut pi2, 0), (0.4 - alpha * 0.02) * decay, 1e-12);
    }
}

/// The ns-3 port exempts up to and including two packets.
#[test]
fn ns3_exempts_two_packets_and_linux_less() {
    let draws_at = |dialect, queue| {
        let mut rng = Rng::stream(1, "pi2", 0);
        draws(&mut started_in(dialect, 0.5, &[]), &mut rng, queue)
    };
    let queue = |packets, bytes| Backlog { packets, bytes, link_bytes: bytes };
    assert_eq!(draws_at("ns3", queue(2, 90_000)), 0);
    assert_eq!(draws_at("ns3", queue(3, 100)), 1);
    assert_eq!(draws_at("linux", queue(1, 3027)), 0);
    assert!(draws_at("linux", queue(1, 3028)) > 0);
}

/// Facts aqm-3 and aqm-4.
#[test]
fn linux_updates_first_after_half_a_second_and_every_eight_jiffies() {
    let mut pi2: Pi2 = law_of("linux", &[]);
    assert_eq!(pi2.next_timer(), Some(ms(500)));
    update(&mut pi2, 0);
    assert_eq!(pi2.next_timer(), Some(ms(532)));
}

/// As in PIE, an eviction that empties the queue ends its delay.
#[test]
fn the_delay_by_time_stamps_ends_when_the_queue_is_emptied() {
    let delay_after = |left, overflow: Option<Backlog>| {
        let mut pi2 = started_in("classic", 0.1, &[("delay", "stamps")]);
        let head = waited(ms(100), Span::from_millis(40));
        pi2.on_dequeue(ms(100), head, full_packets(left), &mut Rng::scripted(0.5));
        overflow.into_iter().for_each(|queue| pi2.on_overflow(ms(100), queue));
        pi2.on_timer(pi2.next_timer().unwrap(), full_packets(9));
        var(&pi2, "delay")
    };
    assert_eq!((delay_after(1, None), delay_after(0, None)), (0.04, 0.0));
    assert_eq!(delay_after(1, Some(full_packets(1))), 0.04);
    assert_eq!(delay_after(1, Some(Backlog::EMPTY)), 0.0);
}

#[test]
fn the_idle_decay_needs_both_delays_to_be_zero() {
    let mut pi2 = started_in("linux", 0.4, &[]);
    pi2.delay = 0.02;
    assert_near(update(&mut pi2, 0), 0.4 - (0.3125 + 3.125) * 0.02, 1e-12);
    let mut pi2 = started_in("linux", 0.4, &[]);
    assert_near(update(&mut pi2, 20), 0.4 + 3.125 * 0.02, 1e-12);
}

/// RFC 9331 §4.1: CE counts as scalable traffic.
#[test]
fn ce_is_scalable_where_ect_1_is() {
    let mut pi2 = started_in("coupled", 0.3, &[("scalable", "ect1")]);
    assert_near(share(&mut pi2, Ecn::Ce, MARK), 0.6, 0.006);
    let mut none = started_in("coupled", 0.3, &[("scalable", "none")]);
    assert_near(share(&mut none, Ecn::Ect1, MARK), 0.09, 0.004);
    let mut without_ecn = started_in("coupled", 0.3, &[("ecn", "false")]);
    assert_near(share(&mut without_ecn, Ecn::Ect1, DROP), 0.09, 0.004);
}

/// The ns-3 port makes one draw and tests `<=`.
#[test]
fn ns3_signals_when_its_draw_is_at_most_the_square() {
    let verdict = |u| {
        let mut pi2 = started_in("ns3", 0.5, &[]);
        let head = arrival(Time::ZERO, Ecn::NotEct);
        pi2.on_enqueue(Time::ZERO, head, full_packets(9), &mut Rng::scripted(u))
    };
    assert_eq!((verdict(0.25), verdict(0.25 + f64::EPSILON)), (DROP, Verdict::Pass));
}

#[test]
fn the_ns3_port_exempts_two_mean_packets_of_a_limit_in_bytes() {
    let env = crate::law::Env { limit: Limit::Bytes(100_000), ..env() };
    let draws_at = |backlog| {
        let mut pi2: Pi2 = crate::testing::law_of_in(&env, "ns3", &[("mtu_bytes", "1000B")]);
        draws(&mut pi2, &mut Rng::stream(1, "pi2", 0), bytes(backlog))
    };
    assert_eq!((draws_at(2000), draws_at(2001)), (0, 1));
}

#[test]
fn a_coupling_factor_below_one_is_refused() {
    assert!(crate::QdiscSpec::parse("pi2:coupling_k=0.999").is_err());
    assert!(crate::QdiscSpec::parse("pi2:coupling_k=1").is_ok());
}
