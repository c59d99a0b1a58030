//! PIE of ns-3.

use alloc::vec::Vec;

use super::ns2::Ns2Pie;
use super::*;
use crate::law::Cause;
use crate::packet::Ecn;
use crate::testing::{arrival, assert_near, env, full_packets, ms, params_of, waited};
use crate::units::Limit;

const DROP: Verdict = Verdict::Drop(Cause::Random);
const MARK: Verdict = Verdict::Mark(Cause::Random);

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

/// Fact aqm-68, because ns-3 has the RFC's table.
#[test]
fn ns3_moves_by_the_table_of_the_rfc() {
    let mut pie = ns3(&[]);
    let expected = [0.0, 2.441406e-6, 1.342773e-5, 1.159668e-4, 9.948730e-4];
    for (delay, p) in [0, 5, 10, 20, 40].into_iter().zip(expected) {
        assert_near(ns3_update(&mut pie, delay), p, 1e-6 * p);
    }
}

/// ns-3 `PieQueueDisc::DropEarly` exempts two packets under a limit in packets, and two mean
/// packets under a limit in bytes.
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
