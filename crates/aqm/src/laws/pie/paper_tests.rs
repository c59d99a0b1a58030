//! PIE of the first paper and of its kernel module.

use alloc::vec::Vec;

use super::paper::Paper;
use super::*;
use crate::law::Cause;
use crate::packet::Ecn;
use crate::testing::{arrival, assert_near, bytes, env, ms, params_of};

const DROP: Verdict = Verdict::Drop(Cause::Random);
/// Delays at successive updates, in milliseconds (fact aqm-67).
const DELAYS_MS: [u64; 11] = [30, 40, 50, 60, 60, 40, 20, 10, 0, 0, 0];

/// A running PIE of the first paper, at a rate of 1 MB/s.
fn paper(p: f64, delay: f64, settings: &[(&str, &str)]) -> Paper {
    let mut pie = Paper::new(&params_of("paper2013", settings), &env());
    for i in 0..=11 {
        // The packet that starts a cycle is counted; with zero bytes, the rate is a round number.
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

/// Pan et al. 2013 §III: 1 % after 0.96 s and 10 % after 3.12 s.
#[test]
fn the_paper_takes_32_updates_to_1_percent_and_104_to_10() {
    let mut pie = paper(0.0, 0.04, &[]);
    let probs: Vec<f64> = (0..200).map(|_| paper_update(&mut pie, 40)).collect();
    let first = |p| 1 + probs.iter().position(|&prob| prob >= p).expect("it gets there");
    assert_eq!((first(0.01 - 1e-12), first(0.1 - 1e-12)), (32, 104));
}

/// Pan et al. 2013 §III: each rate sample lowers the allowance by its duration, and may renew it.
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

/// Pan et al. 2013 §III: outside a burst, a number is drawn for every arrival.
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
