use super::*;
use crate::packet::Ecn;
use crate::testing::{arrival, assert_near, bytes, learn_rate};

const SETUP: Setup = Setup {
    gains: Gains { alpha: 0.125, beta: 1.25, target: 0.02 },
    tune: Tune::Ns2,
    rate_weight: 0.5,
    derandomise: false,
    cap_step: true,
    idle_decay: 0.98,
    byte_mode: false,
    uses_stamps: false,
    is_ns3: false,
    counts_packets: false,
    tupdate: Span::from_millis(30),
    max_burst: Span::from_millis(100),
    dq_threshold: 10_000,
    mean_packet_bytes: 1000,
    ecn: true,
    ecn_mark_limit: 0.1,
};

/// A running PIE, its burst allowance used up.
fn started(p: f64, delay: f64) -> Ns2Pie {
    Ns2Pie { drop_prob: p, delay, phase: Phase::Protecting, ..Ns2Pie::new(SETUP) }
}

/// One update at that delay.
fn update(pie: &mut Ns2Pie, delay_ms: u64) -> f64 {
    learn_rate(|now, head, queue| pie.on_dequeue(now, head, queue));
    pie.update(bytes(delay_ms * 1000));
    pie.drop_prob
}

fn judge(pie: &mut Ns2Pie, packets_of_1000: u64, u: f64, ecn: Ecn) -> Verdict {
    let head = arrival(Time::ZERO, ecn);
    pie.on_enqueue(head, bytes(packets_of_1000 * 1000), &mut Rng::scripted(u))
}

/// Fact aqm-67: the values of `paper2013`, with decay in the last two updates.
#[test]
fn the_controller_follows_its_equation_step_by_step() {
    let mut pie = started(0.05, 0.02);
    let delays = [30, 40, 50, 60, 60, 40, 20, 10, 0, 0, 0];
    let expected = [
        0.0568750, 0.0643750, 0.0725000, 0.0812500, 0.0837500, 0.0725000, 0.0600000, 0.0531250,
        0.0456250, 0.0434875, 0.0413928,
    ];
    for (delay, p) in delays.into_iter().zip(expected) {
        assert_near(update(&mut pie, delay), p, 1e-7);
    }
}

/// Fact aqm-68.
#[test]
fn from_rest_the_controller_follows_its_equation_through_the_table() {
    let mut pie = started(0.0, 0.0);
    let delays = [0, 5, 10, 20, 40, 80, 160, 160, 120, 80, 40];
    let expected = [
        0.0,
        1.367188e-4,
        2.929688e-4,
        6.835938e-4,
        1.542969e-3,
        8.730469e-3,
        2.341797e-2,
        3.216797e-2,
        1.341797e-2,
        0.0,
        0.0,
    ];
    for (delay, p) in delays.into_iter().zip(expected) {
        assert_near(update(&mut pie, delay), p, 1e-6 * p);
    }
}

/// The authors' ns-2 `PIEQueue::calculate_p`.
#[test]
fn a_burst_of_100_ms_holds_the_probability_at_zero_for_four_updates() {
    let mut pie = Ns2Pie::new(SETUP);
    assert_eq!(judge(&mut pie, 50, 0.5, Ecn::NotEct), Verdict::Pass);
    assert_eq!(pie.burst_allowance(), 0.1);
    let probs: alloc::vec::Vec<f64> = (0..5).map(|_| update(&mut pie, 40)).collect();
    assert!(probs[..4].iter().all(|&p| p == 0.0) && probs[4] > 0.0, "{probs:?}");
}

/// Fact aqm-70.
#[test]
fn the_probability_has_no_upper_bound() {
    let mut pie = started(0.5, 0.3);
    let probs: alloc::vec::Vec<f64> = (0..200).map(|_| update(&mut pie, 300)).collect();
    assert_eq!(probs.iter().position(|&p| p > 1.0), Some(12), "the 13th update");
    assert_near(probs[199], 8.5, 1e-9);
}

#[test]
fn the_kick_needs_more_than_200_ms() {
    assert_near(update(&mut started(0.5, 0.2), 200), 0.52, 1e-12);
    assert_near(update(&mut started(0.5, 0.2), 201), 0.54, 1e-12);
}

/// ns-2 `pie.cc`, `PIEQueue::drop_early`, draws before it tests the exemptions.
#[test]
fn a_draw_is_made_for_every_packet_that_no_burst_protects() {
    let draws = |pie: &mut Ns2Pie| {
        let mut rng = Rng::scripted(0.999);
        pie.on_enqueue(arrival(Time::ZERO, Ecn::NotEct), bytes(0), &mut rng);
        rng.uniform() != Rng::scripted(0.999).uniform()
    };
    let mut pie = Ns2Pie::new(SETUP);
    assert!(draws(&mut pie), "the packet that starts the burst goes on");
    assert!(!draws(&mut pie));
    assert!(draws(&mut started(0.0, 0.0)));
}

/// ns-3.44 `pie-queue-disc.cc`, `PieQueueDisc::DropEarly`: `m_uv->GetValue` comes last.
#[test]
fn ns_3_draws_for_packets_that_are_not_exempt_only() {
    let draws = |p, delay, packets: u64| {
        let setup = Setup { is_ns3: true, ..SETUP };
        let mut pie = Ns2Pie { setup, ..started(p, delay) };
        let mut rng = Rng::scripted(0.999);
        pie.on_enqueue(arrival(Time::ZERO, Ecn::NotEct), bytes(packets * 1000), &mut rng);
        rng.uniform() != Rng::scripted(0.999).uniform()
    };
    assert!(draws(0.1, 0.02, 50));
    assert!(!draws(0.1, 0.0, 50), "calm");
    assert!(!draws(0.1, 0.02, 2), "two packets wait");
}

/// ns-3.44 `pie-queue-disc.cc`, `PieQueueDisc::DropEarly`: `m_accuProb += m_dropProb`, regardless
/// of the packet size by which p is scaled.
#[test]
fn ns_3_adds_up_probabilities_that_are_not_scaled_by_packet_size() {
    let setup = Setup { is_ns3: true, derandomise: true, byte_mode: true, ..SETUP };
    let mut pie = Ns2Pie { setup, ..started(0.25, 0.02) };
    let small = Head { bytes: 100, ..arrival(Time::ZERO, Ecn::NotEct) };
    pie.on_enqueue(small, bytes(50_000), &mut Rng::scripted(0.999));
    assert_near(pie.accumulator(), 0.25, 1e-12);
}

/// ns-3 3.44 `PieQueueDisc::DropEarly` tests the exemptions before it draws; a draw equal to the
/// probability hits.
#[test]
fn ns3_draws_for_no_packet_that_is_exempt() {
    let ns3 = |p, delay| Ns2Pie { setup: Setup { is_ns3: true, ..SETUP }, ..started(p, delay) };
    let mut rng = Rng::scripted(0.25);
    ns3(0.0, 0.0).on_enqueue(arrival(Time::ZERO, Ecn::NotEct), bytes(50_000), &mut rng);
    ns3(0.25, 0.02).on_enqueue(arrival(Time::ZERO, Ecn::NotEct), bytes(2000), &mut rng);
    assert_eq!(rng.uniform(), 0.25, "no number has been drawn");
    let hit = |u| judge(&mut ns3(0.25, 0.02), 50, u, Ecn::NotEct);
    assert_eq!((hit(0.25), hit(0.2501)), (Verdict::Drop(Cause::Random), Verdict::Pass));
}

/// ns-2 `pie.cc`, `PIEQueue::drop_early`.
#[test]
fn drops_unless_calm_or_small_and_marks_below_ten_percent() {
    let hit = |p, delay, packets, ecn| judge(&mut started(p, delay), packets, 0.0, ecn);
    let drop = Verdict::Drop(Cause::Random);
    let pass_at_p = judge(&mut started(0.25, 0.02), 50, 0.25, Ecn::NotEct);
    assert_eq!(pass_at_p, Verdict::Pass, "strictly below (fact aqm-1)");
    assert_eq!(hit(0.19, 0.00999, 50, Ecn::NotEct), Verdict::Pass);
    assert_eq!(hit(0.20, 0.00999, 50, Ecn::NotEct), drop);
    assert_eq!(hit(0.19, 0.01, 50, Ecn::NotEct), drop);
    assert_eq!(hit(0.5, 0.02, 2, Ecn::NotEct), Verdict::Pass);
    assert_eq!(hit(0.5, 0.02, 3, Ecn::NotEct), drop);
    assert_eq!(hit(0.09, 0.02, 50, Ecn::Ect0), Verdict::Mark(Cause::Random));
    assert_eq!(hit(0.1, 0.02, 50, Ecn::Ect0), drop);
}

/// The authors' ns-2 `PIEQueue::calculate_p`: one update leaves the protected state, then more than
/// 1.5 s / 30 ms = 50 updates are counted.
#[test]
fn a_burst_is_allowed_again_after_a_second_and_a_half_of_calm() {
    let mut pie = started(0.0, 0.0);
    let mut calm_updates = 0;
    while pie.phase != Phase::NoBurst {
        assert_eq!(judge(&mut pie, 50, 0.5, Ecn::NotEct), Verdict::Pass);
        assert_eq!(pie.burst_allowance(), 0.0);
        update(&mut pie, 0);
        calm_updates += 1;
    }
    // One update leads to InBurst, 50 are counted, and one more exceeds the limit.
    assert_eq!(calm_updates, 52);
    judge(&mut pie, 50, 0.5, Ecn::NotEct);
    assert_eq!(pie.burst_allowance(), 0.1);
}

#[test]
fn congestion_restarts_the_count_of_calm_updates() {
    let mut pie = started(0.0, 0.0);
    for delay_ms in [[0; 40].as_slice(), &[15], &[0; 51]].concat() {
        update(&mut pie, delay_ms);
        assert_ne!(pie.phase, Phase::NoBurst);
    }
    update(&mut pie, 0);
    assert_eq!(pie.phase, Phase::NoBurst);
}

/// ns-2 `pie.cc`, `PIEQueue::calculate_p`: calm means both delays strictly below half the target.
#[test]
fn exactly_half_the_target_is_not_calm() {
    let phase_after = |delay_old: f64, backlog| {
        let mut pie = started(0.0, delay_old);
        learn_rate(|now, head, queue| pie.on_dequeue(now, head, queue));
        pie.update(bytes(backlog));
        assert_eq!(pie.drop_prob, 0.0, "or it would not be calm for another reason");
        pie.phase
    };
    assert_eq!(phase_after(0.0095, 9_900), Phase::InBurst { calm_updates: 0 });
    assert_eq!(phase_after(0.0095, 10_000), Phase::Protecting);
    assert_eq!(phase_after(0.01, 9_000), Phase::Protecting);
}

/// Fact aqm-72: calm resets the rate, so the next delay is 0.
#[test]
fn calm_forgets_the_departure_rate() {
    let mut pie = started(0.0, 0.0);
    learn_rate(|now, head, queue| pie.on_dequeue(now, head, queue));
    pie.update(bytes(5_000));
    assert_near(pie.delay(), 0.005, 1e-12);
    pie.drop_prob = 0.0;
    pie.update(bytes(5_000));
    assert_near(pie.delay(), 0.005, 1e-12);
    pie.update(bytes(50_000));
    assert_eq!(pie.delay(), 0.0);
}
