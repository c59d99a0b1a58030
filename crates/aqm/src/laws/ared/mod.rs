//! Adaptive RED: RED that moves `max_p` every half second so that the average backlog stays midway
//! between the thresholds, which follow from a delay and the link's rate.
//!
//! Source: Floyd, Gummadi and Shenker 2001 through ns-2.35 `red.cc`, `REDQueue::updateMaxP`, and
//! Linux `red.h`, `red_adaptative_algo`; the text of the paper was not read.
//!
//! Deviations of `floyd2001` from Linux `red.h`: as for [`super::red`]; `gentle` is on; thresholds
//! and weight are automatic. `linux` has the kernel's rules and integers. `kids` is `linux` with
//! the thresholds of Khademi, Ros and Welzl 2013: half and three halves of the backlog that
//! corresponds to a target delay at the link's rate.
//!
//! Deviations of `floyd2001` from ns-2 and ns-3: as for [`super::red`]; `max_p` moves on a timer,
//! not at the first arrival after half a second, and may overshoot its bounds by one step (0.51 and
//! 0.0091), as in Linux; the lower bound is 0.01, not computed from the rate. `ns3` follows all of
//! these, and its lower bound is 100 times smaller than intended (fact aqm-52).

mod adaptation;
mod setup;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use adaptation::{Adaptation, Side};

use crate::effective::Effective;
use crate::law::{Aqm, Env, Law, Var, Verdict};
use crate::laws::red::{self, Detector, Found, GapMode, LinuxRed};
use crate::packet::{Backlog, Head};
use crate::params;
use crate::params::rules::contradiction;
use crate::params::{Bytes, OrAuto, OrOff};
use crate::parts::periodic::{Periodic, between_expiries};
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};
use crate::units::Limit;

params! {
    /// Parameters of Adaptive RED.
    pub struct AredParams {
        dialects:
            "floyd2001" = "Floyd, Gummadi and Shenker 2001: a timer, gentle, thresholds by rate",
            "linux" = "Linux sch_red.c with adaptive, in its integers, with the values of tc red",
            "kids" =
                "Khademi, Ros and Welzl 2013: as linux, thresholds of 0.5 and 1.5 target delays",
            "ns3" = "ns-3 RedQueueDisc with ARED: max_p moves at arrivals";
        /// Queue delay behind the automatic thresholds.
        target_delay: Span, POSITIVE, "ns-2 red.cc: targetdelay" => Span::from_millis(5);
        /// Time between two adaptations of `max_p`.
        adapt_interval: Span, POSITIVE, "Floyd, Gummadi and Shenker 2001: 0.5 s"
            => Span::from_millis(500);
        /// Largest step by which `max_p` grows; a quarter of `max_p` if that is less.
        adapt_alpha: f64, FRACTION, "Floyd, Gummadi and Shenker 2001: min(0.01, max_p / 4)" => 0.01;
        /// Factor by which `max_p` shrinks.
        adapt_beta: f64, FRACTION, "Floyd, Gummadi and Shenker 2001: 0.9" => 0.9;
        /// `max_p` does not grow when it is above this.
        max_p_top: f64, FRACTION, "Floyd, Gummadi and Shenker 2001: 0.5" => 0.5;
        /// `max_p` does not shrink when it is below this; `auto` is one over the packets
        /// that pass in 0.1 s, at most 0.01 (`ns3`: 100 times less, as there).
        max_p_bottom: OrAuto<f64>, PROBABILITY,
            "Floyd, Gummadi and Shenker 2001: 0.01" => OrAuto(Some(0.01)),
            "ns3": "ns-3 RedQueueDisc: Bottom 0" => OrAuto(None);
        /// `max_p` at the start.
        max_p: f64, FRACTION, "ns-2 red.cc: linterm 10" => 0.1,
            "linux" | "kids": "tc red: probability" => 0.02,
            "ns3": "ns-3 RedQueueDisc: LInterm 50" => 0.02;
        /// Average backlog below which no packet is signalled, in packets or bytes; `auto` is half
        /// of `target_delay` at the link's rate, at least 5 packets, or a third of `max_th` if that
        /// is set.
        min_th: OrAuto<Limit>, POSITIVE,
            "Floyd, Gummadi and Shenker 2001: max(5, target C / 2)" => OrAuto(None);
        /// Average backlog where the probability reaches `max_p`; `auto` is three times `min_th`.
        max_th: OrAuto<Limit>, POSITIVE,
            "Floyd, Gummadi and Shenker 2001: 3 min_th" => OrAuto(None),
            "linux": "tc red: three times min_th if that is set, else a quarter of the limit"
                => OrAuto(None),
            "kids": "Khademi, Ros and Welzl 2013 §2.3: 1.5 target_delay at the link's rate"
                => OrAuto(None);
        /// Weight of a new sample in the average; `auto` is 1 - exp(-1/C), C in packets per second
        /// (`kids`: a power of two; `auto` is what tc computes from `burst`).
        w_q: OrAuto<f64>, FRACTION,
            "Floyd, Gummadi and Shenker 2001: 1 - exp(-1/C)" => OrAuto(None),
            "kids": "tc red; Khademi, Ros and Welzl 2013 §2.3 names Floyd's, 2^-10 at 10 Mb/s"
                => OrAuto(None);
        /// Burst in packets that the average lets pass, which determines the weight; `auto` is (2
        /// `min_th` + `max_th`) / 3 mean packets.
        burst: OrAuto<u64>, POSITIVE, "linux and kids only; tc red: burst" => OrAuto(None);
        /// Rate by which the average decays while the queue is idle; `auto` is the link's rate.
        bandwidth: OrAuto<Rate>, POSITIVE, "linux and kids only; the link's rate" => OrAuto(None),
            "linux": "tc red: 10Mbit without bandwidth" => OrAuto(Some(red::TC_RATE));
        /// Whether the probability grows on from `max_p` to 1 between `max_th` and twice `max_th`.
        gentle: bool, ANY, "Floyd, Gummadi and Shenker 2001: recommended" => true;
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, ANY, "ns-2 red.cc: setbit off" => false;
        /// Whether the forced region drops ECN-capable packets.
        hard_drop: bool, ANY, "ns-3 RedQueueDisc: UseHardDrop" => true,
            "linux" | "kids": "tc red: harddrop off" => false;
        /// How signals are spread at a given probability.
        gap_mode: GapMode, ANY, "Floyd and Jacobson 1993 §4, method 2" => GapMode::Uniform,
            "ns3": "ns-3 RedQueueDisc: Wait" => GapMode::Wait;
        /// Mean packet size, by which rates become packets per second and automatic thresholds
        /// become bytes; `auto` is the largest packet of the link.
        mean_packet_bytes: OrAuto<Bytes>, POSITIVE,
            "our choice: the largest packet of the link is known; ns-2 and ns-3 assume 500B"
                => OrAuto(None),
            "linux" | "kids": "tc-red(8): 1000 is a good value" => OrAuto(Some(Bytes(1000))),
            "ns3": "ns-3 RedQueueDisc: MeanPktSize" => OrAuto(Some(Bytes(500)));
        // The timer expires a step of the kernel's timer wheel after it is due (fact aqm-4).
        /// Timer interrupts of the kernel per second, to which `adapt_interval` is rounded up.
        hz: OrOff<u64>, POSITIVE, "Floyd, Gummadi and Shenker 2001: timers are exact"
            => OrOff(None),
            "linux": "Linux kernel/Kconfig.hz: 250" => OrOff(Some(250));
    } behaviour {
        "max_p is adapted": "at the end of every adapt_interval",
            "Floyd, Gummadi and Shenker 2001; Linux red.h",
            "ns3": "by the first arrival that long after its last change",
                "ns-3 RedQueueDisc::Estimator";
        "max_p at its bound": "takes one more step", "Linux red.h, red_adaptative_algo",
            "ns3": "stays", "ns-3 RedQueueDisc::UpdateMaxP";
        "automatic thresholds": "half and three halves of target_delay, at least 5 and 15 packets",
            "Floyd, Gummadi and Shenker 2001; ns-2 red.cc",
            "linux": "a twelfth and a quarter of the limit", "tc red",
            "kids": "half and three halves of target_delay; 1 and 2 packets for 1 ms or no weight",
                "Khademi, Ros and Welzl 2013 §2.3; our choice where tc has no weight: as for 1 ms";
        "signals at a given max_p": "as in red@floyd", "Floyd, Gummadi and Shenker 2001",
            "linux" | "kids": "as in red@linux", "Linux red.h",
            "ns3": "as in red@ns3", "ns-3 RedQueueDisc";
    }
    check: |params| check(params);
    unused: |dialect| unused(dialect);
}

/// Parameters without effect, by dialect.
fn unused(dialect: &str) -> &'static [&'static str] {
    const FIXED: &[&str] = &[
        "adapt_alpha",
        "adapt_beta",
        "max_p_top",
        "max_p_bottom",
        "gentle",
        "gap_mode",
        "w_q",
        "target_delay",
    ];
    match dialect {
        "linux" => FIXED,
        "kids" => FIXED.split_at(6).0,
        // Dialect `ns3` adapts at arrivals.
        "ns3" => &["burst", "bandwidth", "hz"],
        _ => &["burst", "bandwidth"],
    }
}

fn check(params: &AredParams) -> Result<(), String> {
    red::check_thresholds(params, params.min_th, params.max_th)?;
    if params.max_p_bottom.0.is_some_and(|bottom| bottom > params.max_p_top) {
        let source = "Floyd, Gummadi and Shenker 2001";
        return Err(contradiction(params, "max_p_bottom", "at most", "max_p_top", source));
    }
    if params.is_linux() {
        let packet = params.mean_packet_bytes.0.map_or(1514, |bytes| bytes.0);
        red::check_tc(params.min_th, params.max_th, params.burst.0, packet)?;
        if let Some(weight) = params.w_q.0 {
            check_weight(weight, params.burst.0)?;
        }
    }
    Ok(())
}

/// Linux `red.h` shifts by `Wlog`, so the weight is a power of two.
fn check_weight(weight: f64, burst: Option<u64>) -> Result<(), String> {
    if burst.is_some() {
        return Err("`w_q` and `burst` both set the weight; remove one of the two".into());
    }
    let log = libm::round(-libm::log2(weight)).clamp(1.0, 31.0);
    let nearest = libm::ldexp(1.0, -(log as i32));
    match weight == nearest {
        true => Ok(()),
        false => Err(format!(
            "w_q must be a power of two from 2^-31 to 1/2 in dialect kids (Linux red.h, Wlog); the \
             nearest is {nearest}"
        )),
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct Ared(Engine);

/// The two kinds of arithmetic.
#[derive(Clone, Debug)]
enum Engine {
    Real(Adaptive),
    Linux { red: LinuxRed, timer: Periodic },
}

/// RED whose `max_p` is adapted on a timer or at arrivals.
#[derive(Clone, Debug)]
struct Adaptive {
    detector: Detector,
    adaptation: Adaptation,
    occasion: Occasion,
}

/// When `max_p` is adapted.
#[derive(Clone, Debug)]
enum Occasion {
    Timer(Periodic),
    /// At the first arrival more than `interval` after the last change (ns-2 `REDQueue::estimator`,
    /// ns-3 `RedQueueDisc::Estimator`).
    Arrival {
        interval: Span,
        last_change: Time,
    },
}

impl Adaptive {
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

    /// Adapts `max_p` once. Returns whether `max_p` will stay unchanged until a packet arrives.
    fn adapt(&mut self, now: Time) -> bool {
        let side = self.side(now);
        let before = self.detector.curve.max_p;
        // A large alpha could raise max_p above 1, but max_p is a probability.
        let after = self.adaptation.next(before, side).min(1.0);
        self.detector.curve.max_p = after;
        after == before && (side == Side::Below || !self.detector.decays())
    }

    #[inline(never)]
    fn adapt_at_arrival(&mut self, now: Time, interval: Span, last_change: Time) {
        if now.since(last_change) <= interval {
            return;
        }
        let before = self.detector.curve.max_p;
        self.adapt(now);
        if self.detector.curve.max_p != before {
            self.occasion = Occasion::Arrival { interval, last_change: now };
        }
    }

    #[inline]
    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        let was_idle = self.detector.learn(now, queue);
        if let Occasion::Arrival { interval, last_change } = self.occasion {
            self.adapt_at_arrival(now, interval, last_change);
        }
        self.detector.decide(now, head, Found { queue, was_idle }, rng)
    }
}

impl Engine {
    fn timer(&mut self) -> Option<&mut Periodic> {
        match self {
            Engine::Real(Adaptive { occasion: Occasion::Timer(timer), .. })
            | Engine::Linux { timer, .. } => Some(timer),
            Engine::Real(_) => None,
        }
    }

    fn adapt(&mut self, now: Time) -> bool {
        match self {
            Engine::Real(red) => red.adapt(now),
            Engine::Linux { red, .. } => red.adapt(now),
        }
    }
}

impl Aqm for Ared {
    /// The average must include every arrival: Linux `red_enqueue` updates the average before its
    /// child may drop.
    fn is_limit_first(&self) -> bool {
        false
    }

    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        match &mut self.0 {
            Engine::Real(red) => red.on_enqueue(now, head, queue, rng),
            Engine::Linux { red, .. } => red.judge(now, head, queue, rng),
        }
    }

    fn on_empty(&mut self, now: Time) {
        match &mut self.0 {
            Engine::Real(red) => red.detector.on_empty(now),
            Engine::Linux { red, .. } => red.on_empty(now),
        }
    }

    fn next_timer(&self) -> Option<Time> {
        match &self.0 {
            Engine::Real(Adaptive { occasion: Occasion::Timer(timer), .. })
            | Engine::Linux { timer, .. } => Some(timer.next()),
            Engine::Real(_) => None,
        }
    }

    fn on_timer(&mut self, now: Time, _queue: Backlog) {
        self.0.adapt(now);
        if let Some(timer) = self.0.timer() {
            timer.advance(now);
        }
    }

    fn on_idle_timers(&mut self, now: Time) {
        for _ in 0..Periodic::MOST_CAUGHT_UP {
            let Some(due) = self.next_timer().filter(|due| due.is_due(now)) else { return };
            let rests = self.0.adapt(due);
            if let Some(timer) = self.0.timer() {
                timer.advance(if rests { now } else { due });
            }
        }
        if let Some(timer) = self.0.timer() {
            timer.advance(now);
        }
    }

    fn on_rate(&mut self, _now: Time, rate: Rate) {
        match &mut self.0 {
            Engine::Real(red) => red.detector.on_rate(rate),
            Engine::Linux { red, .. } => red.on_rate(rate),
        }
    }

    fn observe(&self, out: &mut [f64]) {
        (out[0], out[1], out[2]) = match &self.0 {
            Engine::Real(Adaptive { detector, .. }) => {
                (detector.average_packets(), detector.prob(), detector.curve.max_p)
            }
            Engine::Linux { red, .. } => (red.average_packets(), red.prob(), red.max_p()),
        };
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
        let interval = params.adapt_interval;
        let timer = Periodic::new(between_expiries(interval, params.hz.0));
        if params.is_linux() {
            return Ared(Engine::Linux { red: LinuxRed::new(params.linux(env), env), timer });
        }
        let last_change = Time::ZERO;
        Ared(Engine::Real(Adaptive {
            detector: Detector::new(params.real(env), params.max_p, params.gentle, env),
            adaptation: params.adaptation(env),
            occasion: match params.dialect {
                "ns3" => Occasion::Arrival { interval, last_change },
                _ => Occasion::Timer(timer),
            },
        }))
    }

    fn effective(params: &AredParams, env: &Env) -> Vec<Effective> {
        params.effective(env)
    }
}

#[cfg(test)]
mod tests;
