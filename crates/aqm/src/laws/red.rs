//! RED, random early detection: signals arrivals with a probability that grows with the average
//! backlog.
//!
//! Source: Floyd and Jacobson 1993, read through the ns-2.35 code of Floyd's group (`red.cc`) and
//! Linux `red.h`. `gentle` is Floyd's recommendation of 2000 as built in ns-2.
//!
//! Where the sources are silent or differ, `floyd` decides:
//! - After an idle time the average decays by the packets that could have passed, then takes the
//!   empty backlog as one more sample (ns-2, ns-3).
//! - The gentle slope starts at the current `max_p`, so that the curve has no step when Adaptive
//!   RED moves it; ns-2 and ns-3 use the initial one.
//! - With `ecn` the forced region drops (`hard_drop`), so that flows that ignore marks are held
//!   back.
//!
//! Deviations from Linux `sch_red.c`: any weight, not powers of two; a draw per packet, not one per
//! signal; `gentle` exists; after idling a sample is taken; above `max_th` the default is to drop.
//!
//! Deviations from ns-2 and ns-3: gaps are uniform by default (theirs `wait`); the first packet
//! above `min_th` and a lone packet may be hit; a draw hits when `u < p`, not `u <= p`; `gentle` is
//! off by default for `red` (on for `ared`); a forced drop takes the arrival, not the tail after
//! appending it; ns-2's `use_mark_p` (drop, not mark, where p_b > 0.1) is not offered, `hard_drop`
//! guards the top.

use alloc::string::String;

use crate::law::{Aqm, Cause, Env, Law, Var, Verdict};
use crate::packet::{Backlog, Head};
use crate::params;
use crate::params::{Bytes, OrAuto};
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};
use crate::units::Limit;
use crate::words;

params! {
    /// Parameters of RED.
    pub struct RedParams {
        dialects: "floyd" = "Floyd and Jacobson 1993 with the arithmetic of ns-2's red.cc";
        /// Average backlog below which nothing happens, in packets or bytes; `auto` is half of
        /// `target_delay` at the link's rate, at least 5 packets, or a third of `max_th` if that is
        /// set.
        min_th: OrAuto<Limit>, POSITIVE, "ns-2 red.cc: max(5, targetdelay * C / 2)" => OrAuto(None);
        /// Average backlog from which every arrival is signalled (`gentle`: from twice this);
        /// `auto` is three times `min_th`.
        max_th: OrAuto<Limit>, POSITIVE, "ns-2 red.cc: 3 * thresh" => OrAuto(None);
        /// Signal probability where the average reaches `max_th`.
        max_p: f64, FRACTION, "ns-2 red.cc: linterm 10" => 0.1;
        /// Weight of a new sample in the average; `auto` is 1 - exp(-1/C), C in packets per second.
        w_q: OrAuto<f64>, FRACTION, "Floyd and Jacobson 1993: 0.002" => OrAuto(Some(0.002));
        /// Whether the probability grows on from `max_p` to 1 between `max_th` and twice `max_th`.
        gentle: bool, ANY, "Floyd and Jacobson 1993: no gentle region" => false;
        /// Whether packets that can be marked are marked instead of dropped.
        ecn: bool, ANY, "ns-2 red.cc: setbit off" => false;
        /// Whether the forced region drops what it could mark.
        hard_drop: bool, ANY, "ns-3 RedQueueDisc: UseHardDrop" => true;
        /// How signals are spread at a given probability.
        gap_mode: GapMode, ANY, "Floyd and Jacobson 1993 §4, method 2" => GapMode::Uniform;
        /// Queue delay behind the automatic thresholds.
        target_delay: Span, POSITIVE, "ns-2 red.cc: targetdelay" => Span::from_millis(5);
        /// Mean packet size, by which rates become packets per second and automatic thresholds become
        /// bytes; `auto` is the largest packet of the link.
        mean_packet_bytes: OrAuto<Bytes>, POSITIVE,
            "Lab decision: a link here knows its packets; ns-2 and ns-3 assume 500B" => OrAuto(None);
    }
    check: |params| check_thresholds(params.min_th, params.max_th);
}

words! {
    /// How RED spreads its signals when the probability p_b stays the same.
    pub enum GapMode {
        /// Gaps uniform on 1 .. 1/p_b: the n-th packet is hit with p_b / (1 - n p_b).
        Uniform = "uniform",
        /// At least 1/p_b apart, then uniform on as many again (ns-2 `wait_`).
        Wait = "wait",
        /// Every packet is hit with p_b, whatever came before.
        Geometric = "geometric",
    }
}

/// Thresholds that are both set must be comparable, and the lower one lower.
///
/// # Errors
/// A sentence with the rule.
pub(super) fn check_thresholds(min: OrAuto<Limit>, max: OrAuto<Limit>) -> Result<(), String> {
    let lower = |a, b| if a < b { Ok(()) } else { Err("min_th must be less than max_th".into()) };
    match (min.0, max.0) {
        (Some(Limit::Packets(min)), Some(Limit::Packets(max)))
        | (Some(Limit::Bytes(min)), Some(Limit::Bytes(max))) => lower(min, max),
        (Some(_), Some(_)) => Err("min_th and max_th must both be packets or both bytes".into()),
        _ => Ok(()),
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct Red {
    detector: Detector,
}

impl Aqm for Red {
    /// The average must see every arrival (spec aqm.md §5 step 5: tail drop comes last).
    const LIMIT_FIRST: bool = false;

    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        self.detector.judge(now, head, queue, rng)
    }

    fn on_empty(&mut self, now: Time) {
        self.detector.on_empty(now);
    }

    fn on_rate(&mut self, _now: Time, rate: Rate) {
        self.detector.on_rate(rate);
    }

    fn observe(&self, out: &mut [f64]) {
        out[0] = self.detector.average_packets();
        out[1] = self.detector.prob();
    }
}

/// The average backlog as laws of this family show it.
pub(super) const AVERAGE: Var = Var {
    name: "avg_queue",
    unit: "packets",
    doc: "Average backlog; of a RED that counts bytes: in mean packets",
};
/// The probability on the curve as laws of this family show it.
pub(super) const PROB: Var =
    Var { name: "drop_prob", unit: "1", doc: "p_b: the signal probability at the average backlog" };

impl Law for Red {
    type Params = RedParams;
    const NAME: &'static str = "red";
    const DOC: &'static str =
        "Random early detection on the average backlog (Floyd and Jacobson 1993)";
    const VARS: &'static [Var] = &[AVERAGE, PROB];

    fn new(params: &RedParams, env: &Env) -> Self {
        let p = params;
        let setup = Setup {
            min_th: p.min_th.0,
            max_th: p.max_th.0,
            weight: p.w_q.0,
            ecn: p.ecn,
            hard_drop: p.hard_drop,
            gap_mode: p.gap_mode,
            target_delay: p.target_delay.as_secs(),
            mean_packet_bytes: mean_packet(p.mean_packet_bytes, env),
        };
        Red { detector: Detector::new(setup, p.max_p, p.gentle, env) }
    }
}

/// The mean packet size, as set or from the link.
pub(super) fn mean_packet(set: OrAuto<Bytes>, env: &Env) -> f64 {
    set.0.map_or(f64::from(env.mtu_bytes), |bytes| bytes.0 as f64)
}

/// What the detector is told once; `None` means automatic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    pub(super) min_th: Option<Limit>,
    pub(super) max_th: Option<Limit>,
    pub(super) weight: Option<f64>,
    pub(super) ecn: bool,
    pub(super) hard_drop: bool,
    pub(super) gap_mode: GapMode,
    pub(super) target_delay: f64,
    pub(super) mean_packet_bytes: f64,
}

/// RED without its name: the average, the curve and the spreading of signals, shared with Adaptive
/// RED.
#[derive(Clone, Debug)]
pub(super) struct Detector {
    setup: Setup,
    /// Whether average and thresholds count bytes; else packets.
    counts_bytes: bool,
    pub(super) curve: Curve,
    average: Average,
    /// Arrivals since the last signal, while the average is above `min_th` (`count`; none: -1).
    since_signal: Option<u32>,
}

/// Signal probability over average backlog.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    pub(super) min_th: f64,
    pub(super) max_th: f64,
    pub(super) max_p: f64,
    gentle: bool,
}

/// Where on the curve an average lies.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Region {
    Below,
    Early { p_b: f64 },
    Forced,
}

impl Curve {
    fn region(&self, average: f64) -> Region {
        if average < self.min_th {
            Region::Below
        } else if average < self.max_th {
            let part = (average - self.min_th) / (self.max_th - self.min_th);
            Region::Early { p_b: self.max_p * part }
        } else if self.gentle && average < 2.0 * self.max_th {
            let part = (average - self.max_th) / self.max_th;
            Region::Early { p_b: self.max_p + (1.0 - self.max_p) * part }
        } else {
            Region::Forced
        }
    }
}

impl Detector {
    pub(super) fn new(setup: Setup, max_p: f64, gentle: bool, env: &Env) -> Detector {
        // Thresholds of one's own decide the unit, else the limit's unit does (as in ns-3).
        let unit = setup.min_th.or(setup.max_th).unwrap_or(env.limit);
        let counts_bytes = matches!(unit, Limit::Bytes(_));
        let packet_rate = env.rate.map(|rate| rate.bytes_per_sec() / setup.mean_packet_bytes);
        let (min_th, max_th) = thresholds(&setup, counts_bytes, packet_rate);
        Detector {
            setup,
            counts_bytes,
            curve: Curve { min_th, max_th, max_p, gentle },
            average: Average::new(weight(&setup, packet_rate), packet_rate),
            since_signal: None,
        }
    }

    /// An arrival: learn from it, then pass, mark or drop it.
    pub(super) fn judge(
        &mut self,
        now: Time,
        head: Head,
        queue: Backlog,
        rng: &mut Rng,
    ) -> Verdict {
        let backlog = if self.counts_bytes { queue.bytes as f64 } else { f64::from(queue.packets) };
        self.average.sample(now, backlog);
        let can_mark = self.setup.ecn && head.ecn.can_mark();
        let verdict = self.verdict(can_mark, rng);
        if matches!(verdict, Verdict::Drop(_)) && queue.packets == 0 {
            // The queue stays empty and no dequeue will say so: it goes on being idle.
            self.average.idle_since = Some(now);
        }
        verdict
    }

    fn verdict(&mut self, can_mark: bool, rng: &mut Rng) -> Verdict {
        match self.curve.region(self.average.value) {
            Region::Below => {
                self.since_signal = None;
                Verdict::Pass
            }
            Region::Early { p_b } if self.hits(p_b, rng) => {
                Verdict::signal(can_mark, Cause::Random)
            }
            Region::Early { .. } => Verdict::Pass,
            Region::Forced => {
                self.since_signal = Some(0);
                Verdict::signal(can_mark && !self.setup.hard_drop, Cause::Deterministic)
            }
        }
    }

    fn hits(&mut self, p_b: f64, rng: &mut Rng) -> bool {
        let count = self.since_signal.map_or(0, |count| count.saturating_add(1));
        let hit = is_hit(self.setup.gap_mode, p_b, count, rng.uniform());
        self.since_signal = Some(if hit { 0 } else { count });
        hit
    }

    pub(super) fn on_empty(&mut self, now: Time) {
        self.average.idle_since.get_or_insert(now);
    }

    pub(super) fn on_rate(&mut self, rate: Rate) {
        let packet_rate = Some(rate.bytes_per_sec() / self.setup.mean_packet_bytes);
        let (min_th, max_th) = thresholds(&self.setup, self.counts_bytes, packet_rate);
        self.curve = Curve { min_th, max_th, ..self.curve };
        self.average.weight = weight(&self.setup, packet_rate);
        self.average.packet_rate = packet_rate;
    }

    /// The average as it would be now, in the unit of the thresholds.
    pub(super) fn average_at(&self, now: Time) -> f64 {
        self.average.at(now)
    }

    /// Whether the average falls while nothing arrives.
    pub(super) fn decays(&self) -> bool {
        self.average.idle_since.is_some() && self.average.packet_rate.is_some()
    }

    pub(super) fn average_packets(&self) -> f64 {
        let unit = if self.counts_bytes { self.setup.mean_packet_bytes } else { 1.0 };
        self.average.value / unit
    }

    pub(super) fn prob(&self) -> f64 {
        match self.curve.region(self.average.value) {
            Region::Below => 0.0,
            Region::Early { p_b } => p_b,
            Region::Forced => 1.0,
        }
    }
}

/// Whether the draw `u` hits the packet that is `count` arrivals after the last signal, which is `u
/// < p_a`. With uniform gaps p_a = p_b / (1 - count p_b), with `wait` p_b / (2 - count p_b), and 1
/// where that is not a probability. Both are multiplied out: the difference in the denominator
/// would round a p_a of exactly 1/2 upwards.
fn is_hit(mode: GapMode, p_b: f64, count: u32, u: f64) -> bool {
    // Forgives the rounding of count * p_b where it is to be 1 (spec aqm.md §1).
    const TOLERANCE: f64 = 1e-12;
    let count = f64::from(count);
    match mode {
        GapMode::Geometric => u < p_b,
        GapMode::Uniform => u < p_b * (1.0 + count * u),
        GapMode::Wait => count * p_b >= 1.0 - TOLERANCE && 2.0 * u < p_b * (1.0 + count * u),
    }
}

/// `min_th` and `max_th` in the unit that counts. Without a known rate: 5 and 15 packets, the fixed
/// defaults of older ns-2 and of ns-3.
fn thresholds(setup: &Setup, counts_bytes: bool, packet_rate: Option<f64>) -> (f64, f64) {
    let set = |limit| match limit {
        Limit::Packets(n) | Limit::Bytes(n) => n as f64,
    };
    let automatic = || {
        let packets = packet_rate.map_or(5.0, |rate| (setup.target_delay * rate / 2.0).max(5.0));
        packets * if counts_bytes { setup.mean_packet_bytes } else { 1.0 }
    };
    match (setup.min_th.map(set), setup.max_th.map(set)) {
        (Some(min), Some(max)) => (min, max),
        (Some(min), None) => (min, 3.0 * min),
        (None, Some(max)) => (max / 3.0, max),
        (None, None) => (automatic(), 3.0 * automatic()),
    }
}

/// The weight of a sample: as set, or for a time constant of one second's worth of packets (ns-2
/// `q_weight_` 0); Floyd's 0.002 where the rate is unknown.
fn weight(setup: &Setup, packet_rate: Option<f64>) -> f64 {
    let automatic = || packet_rate.map_or(0.002, |rate| -libm::expm1(-1.0 / rate));
    setup.weight.unwrap_or_else(automatic)
}

/// The exponentially weighted moving average of the backlog.
#[derive(Clone, Copy, Debug)]
struct Average {
    value: f64,
    weight: f64,
    /// Mean packets per second of the link; without it the average does not decay while idle.
    packet_rate: Option<f64>,
    /// Since when the queue has been idle.
    idle_since: Option<Time>,
}

impl Average {
    fn new(weight: f64, packet_rate: Option<f64>) -> Average {
        Average { value: 0.0, weight, packet_rate, idle_since: Some(Time::ZERO) }
    }

    fn sample(&mut self, now: Time, backlog: f64) {
        self.value = self.at(now);
        self.idle_since = None;
        self.value += self.weight * (backlog - self.value);
    }

    /// The average now: decayed as if small packets had passed while the queue was idle.
    fn at(&self, now: Time) -> f64 {
        match (self.idle_since, self.packet_rate) {
            (Some(since), Some(rate)) => {
                let missed = libm::floor(now.since(since).as_secs() * rate);
                self.value * libm::pow(1.0 - self.weight, missed)
            }
            _ => self.value,
        }
    }
}

#[cfg(test)]
#[path = "red_tests.rs"]
mod tests;
