//! Adaptive RED: RED that moves `max_p` every half second so that the average backlog stays midway
//! between the thresholds, which follow from a delay and the link's rate.
//!
//! Source: Floyd, Gummadi and Shenker 2001, read through ns-2.35 `red.cc` and Linux `red.h`.
//!
//! Deviations from Linux `red.h`: as for [`super::red`]; `gentle` is on; thresholds and weight are
//! automatic.
//!
//! Deviations from ns-2 and ns-3: as for [`super::red`]; `max_p` moves on a timer, not at the first
//! arrival after half a second, so its bounds may be overshot by one step (0.51 and 0.0091), as in
//! Linux; the lower bound is 0.01, not computed from the rate (ns-3's is 100 times too small).

use crate::law::{Aqm, Env, Law, Var, Verdict};
use crate::laws::red::{self, Detector, GapMode, Setup};
use crate::packet::{Backlog, Head};
use crate::params;
use crate::params::{Bytes, OrAuto};
use crate::parts::periodic::Periodic;
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};
use crate::units::Limit;

params! {
    /// Parameters of Adaptive RED.
    pub struct AredParams {
        dialects: "floyd2001" = "Floyd, Gummadi and Shenker 2001: a timer, gentle, thresholds by rate";
        /// Queue delay behind the automatic thresholds.
        target_delay: Span, POSITIVE, "ns-2 red.cc: targetdelay" => Span::from_millis(5);
        /// Time between two adaptations of `max_p`.
        adapt_interval: Span, POSITIVE, "Floyd et al. 2001: 0.5 s" => Span::from_millis(500);
        /// Largest step by which `max_p` grows; a quarter of `max_p` if that is less.
        adapt_alpha: f64, FRACTION, "Floyd et al. 2001: min(0.01, max_p / 4)" => 0.01;
        /// Factor by which `max_p` shrinks.
        adapt_beta: f64, FRACTION, "Floyd et al. 2001: 0.9" => 0.9;
        /// `max_p` does not grow when it is above this.
        max_p_top: f64, FRACTION, "Floyd et al. 2001: 0.5" => 0.5;
        /// `max_p` does not shrink when it is below this.
        max_p_bottom: f64, PROBABILITY, "Floyd et al. 2001: 0.01" => 0.01;
        /// `max_p` at the start.
        max_p: f64, FRACTION, "ns-2 red.cc: linterm 10" => 0.1;
        /// Average backlog below which nothing happens, in packets or bytes; `auto` is half of
        /// `target_delay` at the link's rate, at least 5 packets, or a third of `max_th` if that is
        /// set.
        min_th: OrAuto<Limit>, POSITIVE, "Floyd et al. 2001: max(5, target C / 2)" => OrAuto(None);
        /// Average backlog where the probability reaches `max_p`; `auto` is three times `min_th`.
        max_th: OrAuto<Limit>, POSITIVE, "Floyd et al. 2001: 3 min_th" => OrAuto(None);
        /// Weight of a new sample in the average; `auto` is 1 - exp(-1/C), C in packets per second.
        w_q: OrAuto<f64>, FRACTION, "Floyd et al. 2001: 1 - exp(-1/C)" => OrAuto(None);
        /// Whether the probability grows on from `max_p` to 1 between `max_th` and twice `max_th`.
        gentle: bool, ANY, "Floyd et al. 2001: recommended" => true;
        /// Whether packets that can be marked are marked instead of dropped.
        ecn: bool, ANY, "ns-2 red.cc: setbit off" => false;
        /// Whether the forced region drops what it could mark.
        hard_drop: bool, ANY, "ns-3 RedQueueDisc: UseHardDrop" => true;
        /// How signals are spread at a given probability.
        gap_mode: GapMode, ANY, "Floyd and Jacobson 1993 §4, method 2" => GapMode::Uniform;
        /// Mean packet size, by which rates become packets per second and automatic thresholds become
        /// bytes; `auto` is the largest packet of the link.
        mean_packet_bytes: OrAuto<Bytes>, POSITIVE,
            "Lab decision: a link here knows its packets; ns-2 and ns-3 assume 500B" => OrAuto(None);
    }
    check: |params| {
        red::check_thresholds(params.min_th, params.max_th)?;
        if params.max_p_bottom <= params.max_p_top {
            Ok(())
        } else {
            Err("max_p_bottom must not be greater than max_p_top".into())
        }
    };
}

/// The law.
#[derive(Clone, Debug)]
pub struct Ared {
    detector: Detector,
    adaptation: Adaptation,
    timer: Periodic,
}

/// The rule by which `max_p` moves.
#[derive(Clone, Copy, Debug)]
struct Adaptation {
    alpha: f64,
    beta: f64,
    top: f64,
    bottom: f64,
}

impl Adaptation {
    /// The next `max_p`, given which side of the middle band the average is on.
    fn next(&self, max_p: f64, side: Side) -> f64 {
        match side {
            Side::Above if max_p <= self.top => max_p + self.alpha.min(max_p / 4.0),
            Side::Below if max_p >= self.bottom => max_p * self.beta,
            _ => max_p,
        }
    }
}

/// Where the average lies against the middle fifth between the thresholds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Below,
    Within,
    Above,
}

impl Ared {
    fn side(&self, now: Time) -> Side {
        let curve = &self.detector.curve;
        let width = curve.max_th - curve.min_th;
        let (low, high) = (curve.min_th + 0.4 * width, curve.min_th + 0.6 * width);
        match self.detector.average_at(now) {
            average if average < low => Side::Below,
            average if average > high => Side::Above,
            _ => Side::Within,
        }
    }

    /// Adapts `max_p` once. Returns whether it will stay as it is until a packet arrives.
    fn adapt(&mut self, now: Time) -> bool {
        let side = self.side(now);
        let before = self.detector.curve.max_p;
        // A coarse alpha could carry max_p past 1; it is a probability.
        let after = self.adaptation.next(before, side).min(1.0);
        self.detector.curve.max_p = after;
        after == before && (side == Side::Below || !self.detector.decays())
    }
}

impl Aqm for Ared {
    /// The average must see every arrival (spec aqm.md §5 step 5: tail drop comes last).
    const LIMIT_FIRST: bool = false;

    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        self.detector.judge(now, head, queue, rng)
    }

    fn on_empty(&mut self, now: Time) {
        self.detector.on_empty(now);
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.timer.next())
    }

    fn on_timer(&mut self, now: Time, _queue: Backlog) {
        self.adapt(now);
        self.timer.advance(now);
    }

    fn on_idle_timers(&mut self, now: Time) {
        while self.timer.next() <= now {
            let due = self.timer.next();
            let rests = self.adapt(due);
            self.timer.advance(if rests { now } else { due });
        }
    }

    fn on_rate(&mut self, _now: Time, rate: Rate) {
        self.detector.on_rate(rate);
    }

    fn observe(&self, out: &mut [f64]) {
        out[0] = self.detector.average_packets();
        out[1] = self.detector.prob();
        out[2] = self.detector.curve.max_p;
    }
}

impl Law for Ared {
    type Params = AredParams;
    const NAME: &'static str = "ared";
    const DOC: &'static str =
        "Adaptive RED: max_p follows the average backlog (Floyd, Gummadi and Shenker 2001)";
    const VARS: &'static [Var] = &[
        red::AVERAGE,
        red::PROB,
        Var { name: "max_p", unit: "1", doc: "Signal probability where the average is max_th" },
    ];

    fn new(params: &AredParams, env: &Env) -> Self {
        let p = params;
        let setup = Setup {
            min_th: p.min_th.0,
            max_th: p.max_th.0,
            weight: p.w_q.0,
            ecn: p.ecn,
            hard_drop: p.hard_drop,
            gap_mode: p.gap_mode,
            target_delay: p.target_delay.as_secs(),
            mean_packet_bytes: red::mean_packet(p.mean_packet_bytes, env),
        };
        Ared {
            detector: Detector::new(setup, p.max_p, p.gentle, env),
            adaptation: Adaptation {
                alpha: p.adapt_alpha,
                beta: p.adapt_beta,
                top: p.max_p_top,
                bottom: p.max_p_bottom,
            },
            timer: Periodic::new(p.adapt_interval),
        }
    }
}

#[cfg(test)]
#[path = "ared_tests.rs"]
mod tests;
