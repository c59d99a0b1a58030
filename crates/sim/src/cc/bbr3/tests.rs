//! The state machine of BBR v3, acknowledgement by acknowledgement.

use super::*;
use crate::cc::testing::{progress, started};

/// Rounds of 100 ms at one bandwidth, with a fixed number of packets in flight.
struct Rounds {
    bbr: Bbr3,
    window: Window,
    n: u64,
}

impl Rounds {
    fn start() -> Rounds {
        let (bbr, window) = started::<Bbr3>();
        Rounds { bbr, window, n: 0 }
    }

    /// Rounds of a flow that cruises in ProbeBw.
    fn cruising() -> Rounds {
        let mut rounds = Rounds::start();
        (0..4).for_each(|_| rounds.round(500.0, 100));
        (0..3).for_each(|_| rounds.round(500.0, 40));
        assert_eq!((rounds.bbr.mode, rounds.bbr.phase), (BbrMode::ProbeBw, Phase::Cruise));
        rounds
    }

    fn next(&mut self, bw: f64, in_flight: u32) -> Progress {
        self.n += 1;
        progress(101 * self.n, 1000 + 50 * self.n, bw, in_flight)
    }

    fn round(&mut self, bw: f64, in_flight: u32) {
        let ack = self.next(bw, in_flight);
        self.bbr.on_progress(&ack, &mut self.window);
    }

    /// Runs rounds until the phase changes; returns how many.
    fn until_phase(&mut self, phase: Phase, in_flight: u32) -> u32 {
        for n in 1..200 {
            self.round(500.0, in_flight);
            if self.bbr.phase == phase {
                return n;
            }
        }
        panic!("no {phase:?}");
    }
}

#[test]
fn startup_and_drain_have_their_gains_and_the_first_pacing_rate_follows_the_initial_window() {
    let mut rounds = Rounds::start();
    let first = 2.77 * 100.0 * 0.99;
    assert!((rounds.bbr.pacing_rate().unwrap() - first).abs() < 1e-9);
    rounds.round(500.0, 100);
    assert_eq!((rounds.bbr.pacing_gain, rounds.bbr.cwnd_gain), (2.77, 2.0));
    (0..2).for_each(|_| rounds.round(500.0, 100));
    assert_eq!(rounds.bbr.mode, BbrMode::Startup);
    rounds.round(500.0, 100);
    assert_eq!((rounds.bbr.mode, rounds.bbr.pacing_gain), (BbrMode::Drain, 1000.0 / 2885.0));
    rounds.round(500.0, 51);
    assert_eq!(rounds.bbr.mode, BbrMode::Drain);
    rounds.round(500.0, 50); // one BDP
    assert_eq!((rounds.bbr.mode, rounds.bbr.phase), (BbrMode::ProbeBw, Phase::Down));
}

#[test]
fn six_lossy_acknowledgements_and_two_percent_of_loss_end_startup() {
    for (acks, ends) in [(5, false), (6, true)] {
        let mut rounds = Rounds::start();
        rounds.bbr.loss_round_delivered = u64::MAX;
        for n in 1..=acks {
            let mut ack = rounds.next(100.0 * 1.3f64.powi(n), 100); // still growing
            (ack.recovery, ack.lost) = (RecoveryStage::Recovery, 1);
            let sample = ack.rate.as_mut().unwrap();
            (sample.in_flight, sample.lost) = (100, 3);
            if n == acks {
                rounds.bbr.loss_round_delivered = 0;
            }
            rounds.bbr.on_progress(&ack, &mut rounds.window);
        }
        assert_eq!(rounds.bbr.full_bw_reached, ends, "{acks} losses");
        assert_eq!(rounds.bbr.bounds.inflight_hi < u32::MAX, ends);
    }
}

#[test]
fn probes_start_after_two_to_three_seconds_or_the_rounds_of_a_reno_flow() {
    // One BDP is 50 packets. A Reno flow would probe every 50 rounds, but the time limit comes
    // first.
    let mut rounds = Rounds::cruising();
    let waited = rounds.until_phase(Phase::Refill, 40);
    assert!((16..=31).contains(&waited), "{waited} rounds of 101 ms");
    assert_eq!(rounds.until_phase(Phase::Up, 45), 1, "one round to refill");
    assert_eq!((rounds.bbr.pacing_gain, rounds.bbr.cwnd_gain), (1.25, 2.25));
    // The bandwidth does not grow for three rounds.
    assert_eq!(rounds.until_phase(Phase::Down, 60), 3);
    assert_eq!(rounds.bbr.pacing_gain, 0.91);
    // With a window of ten packets, the Reno flow's rounds end first.
    let mut small = Rounds::cruising();
    small.window.cwnd = 8;
    small.bbr.bounds.inflight_lo = 8;
    assert!(small.until_phase(Phase::Refill, 4) <= 8);
}

/// draft-ietf-ccwg-bbr §5.3.3.6, `HasElapsedInPhase`: after the end of the wait, not exactly at its
/// end.
#[test]
fn a_probe_starts_when_its_wait_is_over() {
    for (late, phase) in [(Span::ZERO, Phase::Cruise), (Span::from_nanos(1), Phase::Refill)] {
        let mut rounds = Rounds::cruising();
        let mut ack = rounds.next(500.0, 40);
        ack.ack.now = rounds.bbr.cycle_stamp + rounds.bbr.bw_probe_wait + late;
        rounds.bbr.on_progress(&ack, &mut rounds.window);
        assert_eq!(rounds.bbr.phase, phase, "{late:?}");
    }
}

#[test]
fn a_high_loss_rate_while_probing_lowers_the_bound_once() {
    let mut rounds = Rounds::cruising();
    rounds.until_phase(Phase::Refill, 40);
    rounds.until_phase(Phase::Up, 45);
    let now = rounds.next(500.0, 45).ack.now;
    let lost = |lost| RateSample { in_flight: 60, lost, ..RateSample::default() };
    rounds.bbr.on_lost(now, &lost(1), &mut rounds.window);
    assert_eq!((rounds.bbr.phase, rounds.bbr.bounds.inflight_hi), (Phase::Up, u32::MAX));
    rounds.bbr.on_lost(now, &lost(2), &mut rounds.window);
    assert_eq!((rounds.bbr.phase, rounds.bbr.bounds.inflight_hi), (Phase::Down, 60));
    rounds.bbr.on_lost(now, &lost(30), &mut rounds.window);
    assert_eq!(rounds.bbr.bounds.inflight_hi, 60, "once per probe");
    // A cruising flow leaves headroom for other flows.
    rounds.until_phase(Phase::Cruise, 40);
    assert_eq!(rounds.bbr.inflight_bound(), 51);
}

#[test]
fn losses_while_cruising_lower_the_short_term_bounds_until_the_next_probe() {
    let mut rounds = Rounds::cruising();
    let mut lossy = rounds.next(200.0, 40);
    lossy.lost = 1;
    rounds.bbr.latest = Latest::default();
    rounds.bbr.on_progress(&lossy, &mut rounds.window);
    assert_eq!(rounds.bbr.bounds.bw_lo, Some(350.0));
    assert_eq!(rounds.bbr.bandwidth(), 350.0);
    rounds.until_phase(Phase::Refill, 30);
    assert_eq!((rounds.bbr.bounds.bw_lo, rounds.bbr.bounds.inflight_lo), (None, u32::MAX));
}

#[test]
fn every_five_seconds_half_a_bdp_is_in_flight_for_200_ms() {
    let mut rounds = Rounds::cruising();
    let mut waited = 0;
    while rounds.bbr.mode != BbrMode::ProbeRtt {
        rounds.round(500.0, 45);
        waited += 1;
    }
    assert!((40..55).contains(&waited), "{waited} rounds of 101 ms");
    assert_eq!(rounds.window.cwnd, 25);
    let mut lasted = 0;
    while rounds.bbr.mode == BbrMode::ProbeRtt {
        rounds.round(500.0, 25);
        lasted += 1;
    }
    assert_eq!(lasted, 3, "one round to begin, then more than 200 ms");
    assert_eq!((rounds.bbr.mode, rounds.bbr.phase), (BbrMode::ProbeBw, Phase::Cruise));
}

/// Google's `tcp_bbr.c`, branch v3: `bbr_update_min_rtt` sets the mode and then calls
/// `bbr_save_cwnd`. draft-ietf-ccwg-bbr: `BBRCheckProbeRTT` enters ProbeRTT and then saves.
#[test]
fn probe_rtt_restores_the_largest_window_since_the_last_loss() {
    let mut rounds = Rounds::cruising();
    rounds.bbr.prior_cwnd = PriorCwnd(300);
    while rounds.bbr.mode != BbrMode::ProbeRtt {
        rounds.round(500.0, 45);
    }
    assert_eq!((rounds.window.cwnd, rounds.bbr.prior_cwnd.0), (25, 300));
}

/// The same function marks samples as limited in ProbeRTT before it may leave ProbeRTT.
#[test]
fn samples_of_what_leaves_at_the_end_of_probe_rtt_are_limited() {
    let mut rounds = Rounds::cruising();
    assert!(!rounds.bbr.holds_back());
    while rounds.bbr.mode != BbrMode::ProbeRtt {
        rounds.round(500.0, 45);
    }
    while rounds.bbr.mode == BbrMode::ProbeRtt {
        assert!(rounds.bbr.holds_back());
        rounds.round(500.0, 25);
    }
    assert!(rounds.bbr.holds_back(), "the acknowledgement that ended it arrived in it");
    rounds.round(500.0, 25);
    assert!(!rounds.bbr.holds_back());
}

/// draft-ietf-ccwg-bbr, `BBRHandleRestartFromIdle`, calls `BBRCheckProbeRTTDone` in any round.
#[test]
fn a_restart_from_idle_ends_probe_rtt_once_its_200_ms_have_passed() {
    let mut rounds = Rounds::cruising();
    while rounds.bbr.probe_rtt_done_stamp.is_none() {
        rounds.round(500.0, if rounds.bbr.mode == BbrMode::ProbeRtt { 25 } else { 45 });
    }
    let until = rounds.bbr.probe_rtt_done_stamp.expect("set");
    let idle = Span::from_millis(50);
    rounds.bbr.on_idle(until, idle, &mut rounds.window);
    assert_eq!(rounds.bbr.mode, BbrMode::ProbeRtt);
    rounds.bbr.on_idle(until + Span::from_nanos(1), idle, &mut rounds.window);
    assert_eq!((rounds.bbr.mode, rounds.bbr.phase), (BbrMode::ProbeBw, Phase::Cruise));
    assert!(rounds.window.cwnd >= rounds.bbr.prior_cwnd.0);
}

/// A flow in recovery from a loss while cruising, which has lowered the short-term bounds.
fn cut_while_cruising() -> Rounds {
    let mut rounds = Rounds::cruising();
    let mut lossy = rounds.next(200.0, 40);
    (lossy.lost, lossy.recovery) = (1, RecoveryStage::Recovery);
    let lost = RateSample { in_flight: 60, lost: 1, ..RateSample::default() };
    rounds.bbr.on_lost(lossy.ack.now, &lost, &mut rounds.window);
    rounds.bbr.latest = Latest::default();
    rounds.bbr.on_progress(&lossy, &mut rounds.window);
    assert_eq!(rounds.bbr.bounds.bw_lo, Some(350.0));
    rounds
}

#[test]
fn an_undo_restores_the_short_term_bounds() {
    let mut rounds = cut_while_cruising();
    let kept = rounds.bbr.prior_cwnd.0;
    rounds.window.cwnd = 4;
    rounds.bbr.undo(&mut rounds.window);
    assert_eq!((rounds.bbr.bounds.bw_lo, rounds.bbr.bounds.inflight_lo), (None, u32::MAX));
    assert!(kept > 4 && rounds.window.cwnd == kept, "{kept}");
    // A second undo restores nothing.
    rounds.bbr.bounds.bw_lo = Some(100.0);
    rounds.bbr.undo(&mut rounds.window);
    assert_eq!(rounds.bbr.bounds.bw_lo, Some(100.0));
}

#[test]
fn a_timeout_bounds_the_packets_in_flight_and_its_end_restores_the_window() {
    let mut rounds = Rounds::cruising();
    let before = rounds.window.cwnd;
    let lost = RateSample { in_flight: 60, lost: 1, ..RateSample::default() };
    let now = rounds.next(500.0, 40).ack.now;
    rounds.bbr.on_lost(now, &lost, &mut rounds.window);
    assert_eq!(rounds.bbr.reduce_on_timeout(&rounds.window), rounds.window.ssthresh);
    rounds.bbr.on_timeout();
    assert_eq!(rounds.bbr.bounds.inflight_lo, before);
    // The sender starts again with one packet; once all losses are repaired the model sets the
    // window.
    rounds.window.cwnd = 1;
    let mut repairing = rounds.next(500.0, 1);
    repairing.recovery = RecoveryStage::Loss;
    rounds.bbr.on_progress(&repairing, &mut rounds.window);
    let during = rounds.window.cwnd;
    assert!(during < before, "{during} of {before}");
    rounds.round(500.0, 40);
    assert!(rounds.window.cwnd >= before, "{} of {before}", rounds.window.cwnd);
}

#[test]
fn an_acknowledgement_of_nothing_new_leaves_the_window() {
    let mut rounds = Rounds::cruising();
    rounds.window.cwnd = 5_000;
    let mut ack = rounds.next(500.0, 40);
    ack.ack.delivered = 0;
    rounds.bbr.set_cwnd(&ack, &mut rounds.window);
    assert_eq!(rounds.window.cwnd, 5_000);
    ack.ack.delivered = 1;
    rounds.bbr.set_cwnd(&ack, &mut rounds.window);
    assert!(rounds.window.cwnd < 500, "{}", rounds.window.cwnd);
}

/// Until the full bandwidth is known, a window below twice the initial one grows regardless of the
/// target.
#[test]
fn a_window_grows_to_twice_the_initial_one_before_the_bandwidth_is_known() {
    let mut rounds = Rounds::start();
    let ack = rounds.next(20.0, 1);
    for window in [10, 12, 18] {
        rounds.window.cwnd = window;
        rounds.bbr.set_cwnd(&ack, &mut rounds.window);
        assert_eq!(rounds.window.cwnd, window + ack.ack.delivered);
    }
}
