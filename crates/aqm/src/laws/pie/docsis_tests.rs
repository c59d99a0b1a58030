//! PIE of DOCSIS.

use super::docsis::Docsis;
use super::*;
use crate::law::Cause;
use crate::packet::Ecn;
use crate::testing::{arrival, assert_near, bytes, env, full_packets, params_of};
use crate::units::Limit;

const DROP: Verdict = Verdict::Drop(Cause::Random);

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

/// CableLabs `docsis-ns3`, `DropEarly`, grants it on the first drop in the quiescent state.
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

/// RFC 8034 requires more than 1 s of quiet. One quiet update leads from the active state to the
/// quiescent one, 63 more (1008 ms) to rest.
#[test]
fn docsis_is_inactive_after_more_than_a_second_of_quiet() {
    let mut pie = docsis(Limit::Packets(90)).started(0.0, 0.0);
    let quiet = |pie: &mut Docsis, updates| (0..updates).for_each(|_| pie.update(Backlog::EMPTY));
    quiet(&mut pie, 1 + 62);
    assert!(!pie.is_at_rest());
    quiet(&mut pie, 1);
    assert!(pie.is_at_rest());
}

/// CableLabs `docsis-ns3`, `CalculateDropProb`: after any quiet update the next drop grants a burst
/// again; an update that is not quiet restarts the second of quiet.
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
    // Each adds 0.5 x 1514/1024 = 0.74, which reaches 8.5 at the 12th.
    assert!((0..12).all(|_| judge(1) == Verdict::Pass));
    assert_eq!(judge(40), DROP);
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

/// CableLabs `docsis-ns3`, `CalculateDropProb`: an update is quiet if the delay is below half the
/// target.
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
