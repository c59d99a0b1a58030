//! RED, random early detection: signals arrivals with a probability that grows with the average
//! backlog.
//!
//! Source: Floyd and Jacobson 1993 through the ns-2.35 code of Floyd's group (`red.cc`) and Linux
//! `red.h`; the text of the paper was not read. `gentle` is that of ns-2 `red.cc`,
//! `REDQueue::calculate_p_new`.
//!
//! Where the sources are silent or differ, `floyd` follows our choice:
//! - After an idle time the average decays by the packets that could have passed, and then takes
//!   the empty backlog as a further sample (ns-2, ns-3).
//! - The gentle slope starts at the current `max_p`, so the curve has no step when Adaptive RED
//!   moves `max_p` (fact aqm-46); ns-2 and ns-3 use the initial one.
//! - With `ecn` the forced region drops (`hard_drop`), as in ns-3, to limit flows that ignore
//!   marks.
//!
//! Deviations of `floyd` from Linux `sch_red.c`: any weight, not powers of two; a draw per packet,
//! not one per signal; `gentle` exists; after an idle time a sample is taken; above `max_th` the
//! default is to drop. `linux` follows all of these: see [`linux`].
//!
//! Deviations of `floyd` from ns-2 and ns-3: gaps are uniform by default (theirs `wait`); the first
//! packet above `min_th` and a lone packet may be hit; a draw hits when `u < p`, not `u <= p`;
//! `gentle` is off by default for `red` (on for `ared`); the gentle slope moves with `max_p`;
//! ns-2's `use_mark_p` (drop instead of mark where p_b > 0.1) is `ecn_mark_limit`. `ns2` and `ns3`
//! follow all of these.
//!
//! Deviations of `ns2` and `ns3` from ns-2.35 and ns-3: a forced drop takes the arrival, where ns-2
//! appends it and then removes the tail, which is the same packet; ns-2's automatic weight (-1)
//! depends on the delay of the link, which is unknown here and taken as 0; under a limit in bytes,
//! ns-2's `bytes_` counts bytes since the last signal and scales p_a by packet size; so does `ns3`,
//! but not `ns2`.

mod detector;
mod linux;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) use detector::{Detector, Found, Setup, Style};
pub(super) use linux::{LinuxRed, LinuxSetup, TC_RATE};

use crate::effective::Effective;
use crate::law::{Aqm, Env, Law, Var, Verdict};
use crate::packet::{Backlog, Head};
use crate::params::rules::contradiction;
use crate::params::{Bytes, OrAuto, Params};
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};
use crate::units::Limit;
use crate::{params, words};

params! {
    /// Parameters of RED.
    pub struct RedParams {
        dialects:
            "floyd" = "Floyd and Jacobson 1993 with the arithmetic of ns-2's red.cc",
            "linux" = "Linux sch_red.c in its integers, with the values that tc red computes",
            "ns2" = "ns-2.35 red.cc with its default settings",
            "ns3" = "ns-3 RedQueueDisc of mid-2026";
        /// Average backlog below which no packet is signalled, in packets or bytes; `auto` is half
        /// of `target_delay` at the link's rate, at least 5 packets, or a third of `max_th` if that
        /// is set.
        min_th: OrAuto<Limit>, POSITIVE, "ns-2 red.cc: max(5, targetdelay * C / 2)" => OrAuto(None),
            "linux": "tc red: a third of max_th" => OrAuto(None),
            "ns3": "ns-3 RedQueueDisc: MinTh" => OrAuto(Some(Limit::Packets(5)));
        /// Average backlog from which every arrival is signalled (`gentle`: from twice this);
        /// `auto` is three times `min_th`.
        max_th: OrAuto<Limit>, POSITIVE, "ns-2 red.cc: 3 * thresh" => OrAuto(None),
            "linux": "tc red: three times min_th if that is set, else a quarter of the limit"
                => OrAuto(None),
            "ns3": "ns-3 RedQueueDisc: MaxTh" => OrAuto(Some(Limit::Packets(15)));
        /// Signal probability where the average reaches `max_th`.
        max_p: f64, FRACTION, "ns-2 red.cc: linterm 10" => 0.1,
            "linux": "tc red: probability" => 0.02,
            "ns3": "ns-3 RedQueueDisc: LInterm 50" => 0.02;
        /// Weight of a new sample in the average; `auto` is 1 - exp(-1/C), C in packets per second
        /// (`ns2`: per second or ten round trips of three packet times).
        w_q: OrAuto<f64>, FRACTION, "Floyd and Jacobson 1993: 0.002" => OrAuto(Some(0.002)),
            "ns2": "ns-2 red.cc: q_weight -1" => OrAuto(None);
        /// Burst in packets that the average lets pass, which determines the weight; `auto` is (2
        /// `min_th` + `max_th`) / 3 mean packets.
        burst: OrAuto<u64>, POSITIVE, "linux only; tc red: burst" => OrAuto(None);
        /// Rate by which the average decays while the queue is idle; `auto` is the link's rate.
        bandwidth: OrAuto<Rate>, POSITIVE, "linux only; the link's rate" => OrAuto(None),
            "linux": "tc red: 10Mbit without bandwidth" => OrAuto(Some(TC_RATE));
        /// Whether the probability grows on from `max_p` to 1 between `max_th` and twice `max_th`.
        gentle: bool, ANY, "Floyd and Jacobson 1993: no gentle region" => false,
            "ns2" | "ns3": "ns-2 red.cc, ns-3 RedQueueDisc: on" => true;
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, ANY, "ns-2 red.cc: setbit off" => false;
        /// Whether the forced region drops ECN-capable packets.
        hard_drop: bool, ANY, "ns-3 RedQueueDisc: UseHardDrop" => true,
            "linux": "tc red: harddrop off" => false;
        /// Probability p_b up to which early signals mark ECN-capable packets.
        ecn_mark_limit: f64, PROBABILITY, "Floyd and Jacobson 1993: none" => 1.0,
            "ns2": "ns-2 red.cc: use_mark_p, mark_p" => 0.1;
        /// How signals are spread at a given probability.
        gap_mode: GapMode, ANY, "Floyd and Jacobson 1993 §4, method 2" => GapMode::Uniform,
            "ns2" | "ns3": "ns-2 red.cc, ns-3 RedQueueDisc: wait" => GapMode::Wait;
        /// Queue delay behind the automatic thresholds.
        target_delay: Span, POSITIVE, "ns-2 red.cc: targetdelay" => Span::from_millis(5);
        /// Mean packet size, by which rates become packets per second and automatic thresholds
        /// become bytes; `auto` is the largest packet of the link.
        mean_packet_bytes: OrAuto<Bytes>, POSITIVE,
            "our choice: the largest packet of the link is known; ns-2 and ns-3 assume 500B"
                => OrAuto(None),
            "linux": "tc-red(8): 1000 is a good value" => OrAuto(Some(Bytes(1000))),
            "ns2" | "ns3": "ns-2 red.cc, ns-3 RedQueueDisc: mean packet size"
                => OrAuto(Some(Bytes(500)));
    } behaviour {
        "after an idle time": "the average decays by the packets that could have passed, then \
            takes a sample of 0", "ns-2 red.cc; ns-3 RedQueueDisc",
            "linux": "the average is shifted as a table of idle times says; no sample is taken",
                "Linux red.h, red_calc_qavg_from_idle_time";
        "random numbers": "one per arrival between the thresholds", "Floyd and Jacobson 1993 §4",
            "linux": "one per signal", "Linux red.h",
            "ns2" | "ns3": "one per arrival between the thresholds that is not exempt",
                "ns-2 red.cc; ns-3 RedQueueDisc";
        "an early signal comes": "when u < p_a", "our choice: never at p = 0, always at 1",
            "linux": "when count * (avg - min_th) reaches the number drawn",
                "Linux red.h, red_mark_probability",
            "ns2" | "ns3": "when u <= p_a", "ns-2 red.cc; ns-3 RedQueueDisc";
        "the first arrival above min_th": "may be signalled", "Floyd and Jacobson 1993 §4",
            "linux" | "ns2" | "ns3": "is accepted", "Linux red.h; ns-2 red.cc; ns-3 RedQueueDisc";
        "never signalled": "nothing is exempt", "Floyd and Jacobson 1993 §4",
            "ns2" | "ns3": "while at most one packet (in bytes: one byte) is queued",
                "ns-2 red.cc; ns-3 RedQueueDisc";
        "count after a forced signal": "0", "ns-2 red.cc",
            "linux": "-1: the next arrival draws a new number", "Linux red.h",
            "ns3": "unchanged", "ns-3 RedQueueDisc";
        "the gentle slope starts": "at the current max_p", "our choice: the curve has no step",
            "linux": "does not exist", "Linux red.h",
            "ns2" | "ns3": "at the first max_p", "ns-2 red.cc; ns-3 RedQueueDisc";
        "p_a with thresholds in bytes": "as in packets", "our choice",
            "linux": "counts packets since the last signal", "Linux red.h, red_mark_probability",
            "ns3": "counts whole mean packets since the last signal, and is scaled by packet size \
                unless it is 1", "ns-3 RedQueueDisc::ModifyP";
        "average and thresholds count": "in the unit of min_th, else in that of the limit",
            "ns-3 RedQueueDisc",
            "linux": "bytes", "Linux sch_red.c";
    }
    check: |params| check(params);
    unused: |dialect| unused(dialect);
}

/// Parameters without effect, by dialect.
fn unused(dialect: &str) -> &'static [&'static str] {
    match dialect {
        "linux" => &["w_q", "gentle", "gap_mode", "target_delay", "ecn_mark_limit"],
        _ => &["burst", "bandwidth"],
    }
}

fn check(params: &RedParams) -> Result<(), String> {
    check_thresholds(params, params.min_th, params.max_th)?;
    if params.dialect == "linux" {
        let packet = params.mean_packet_bytes.0.map_or(1514, |bytes| bytes.0);
        check_tc(params.min_th, params.max_th, params.burst.0, packet)?;
    }
    Ok(())
}

/// Refuses the same values as `tc red`: thresholds that are not in bytes, and a burst too short for
/// the thresholds.
///
/// # Errors
/// A sentence with the rule.
pub(super) fn check_tc(
    min: OrAuto<Limit>,
    max: OrAuto<Limit>,
    burst: Option<u64>,
    packet: u64,
) -> Result<(), String> {
    let bytes = |limit: OrAuto<Limit>| match limit.0 {
        Some(Limit::Packets(_)) => Err("min_th and max_th must be bytes in this dialect (tc red)"),
        Some(Limit::Bytes(n)) => Ok(Some(n)),
        None => Ok(None),
    };
    let (min, max) = match (bytes(min)?, bytes(max)?) {
        (None, None) => return Ok(()), // thresholds by the limit or the rate
        (Some(min), max) => (min, max.unwrap_or(min.saturating_mul(3))),
        (None, Some(max)) => (max / 3, max),
    };
    let burst = burst.unwrap_or(linux::default_burst(min, max, packet));
    if max >= 1 << 31 || linux::weight_log(min, burst, packet).is_none() {
        let rule = "must be at least min_th / mean_packet_bytes, and max_th less than 2GiB";
        return Err(format!("burst {rule} (tc red finds no weight)"));
    }
    Ok(())
}

words! {
    /// How RED spreads its signals when the probability p_b stays the same.
    pub enum GapMode {
        /// Gaps uniform on 1 .. 1/p_b: the n-th packet is hit with p_b / (1 - n p_b).
        Uniform = "uniform",
        /// Gaps of at least 1/p_b packets, then uniform over 1/p_b more (ns-2 `wait_`).
        Wait = "wait",
        /// Every packet is hit with probability p_b, independently.
        Geometric = "geometric",
    }
}

/// If both thresholds are set, they must have the same unit and be in order.
///
/// # Errors
/// A sentence with the rule.
pub(super) fn check_thresholds<P: Params>(
    params: &P,
    min: OrAuto<Limit>,
    max: OrAuto<Limit>,
) -> Result<(), String> {
    let wrong =
        |rule| contradiction(params, "min_th", rule, "max_th", "Floyd and Jacobson 1993 §4");
    let lower = |a, b| if a < b { Ok(()) } else { Err(wrong("less than")) };
    match (min.0, max.0) {
        (Some(Limit::Packets(min)), Some(Limit::Packets(max)))
        | (Some(Limit::Bytes(min)), Some(Limit::Bytes(max))) => lower(min, max),
        (Some(_), Some(_)) => Err(wrong("in the unit of")),
        _ => Ok(()),
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct Red(Engine);

/// The two kinds of arithmetic.
#[derive(Clone, Debug)]
enum Engine {
    Real(Detector),
    Linux(LinuxRed),
}

impl Aqm for Red {
    /// The average must include every arrival: Linux `red_enqueue` updates the average before its
    /// child may drop.
    fn is_limit_first(&self) -> bool {
        false
    }

    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        match &mut self.0 {
            Engine::Real(red) => red.judge(now, head, queue, rng),
            Engine::Linux(red) => red.judge(now, head, queue, rng),
        }
    }

    fn on_empty(&mut self, now: Time) {
        match &mut self.0 {
            Engine::Real(red) => red.on_empty(now),
            Engine::Linux(red) => red.on_empty(now),
        }
    }

    fn on_rate(&mut self, _now: Time, rate: Rate) {
        match &mut self.0 {
            Engine::Real(red) => red.on_rate(rate),
            Engine::Linux(red) => red.on_rate(rate),
        }
    }

    fn observe(&self, out: &mut [f64]) {
        (out[0], out[1]) = match &self.0 {
            Engine::Real(red) => (red.average_packets(), red.prob()),
            Engine::Linux(red) => (red.average_packets(), red.prob()),
        };
    }
}

/// The average backlog, as exported by this family of laws.
pub(super) const AVERAGE: Var = Var {
    name: "avg_queue",
    unit: "packets",
    doc: "Average backlog; of a RED that counts bytes: in mean packets",
};
/// The probability given by the curve, as exported by this family of laws.
pub(super) const PROB: Var =
    Var { name: "drop_prob", unit: "1", doc: "p_b: the signal probability at the average backlog" };

impl Law for Red {
    type Params = RedParams;
    const NAME: &'static str = "red";
    const DOC: &'static str =
        "Random early detection on the average backlog (Floyd and Jacobson 1993)";
    const VARS: &'static [Var] = &[AVERAGE, PROB];

    fn new(params: &RedParams, env: &Env) -> Self {
        if params.dialect == "linux" {
            return Red(Engine::Linux(LinuxRed::new(params.linux(env), env)));
        }
        Red(Engine::Real(Detector::new(params.real(env), params.max_p, params.gentle, env)))
    }

    fn effective(params: &RedParams, env: &Env) -> Vec<Effective> {
        let Red(engine) = Red::new(params, env);
        let values = match &engine {
            Engine::Linux(red) => red.effective(),
            Engine::Real(red) => red.effective(),
        };
        let packet =
            Effective::of_mtu("mean_packet_bytes", params.mean_packet_bytes, env.mtu_bytes);
        values.into_iter().chain(packet).collect()
    }
}

impl RedParams {
    fn real(&self, env: &Env) -> Setup {
        Setup {
            min_th: self.min_th.0,
            max_th: self.max_th.0,
            weight: self.w_q.0,
            ecn: self.ecn,
            hard_drop: self.hard_drop,
            gap_mode: self.gap_mode,
            style: match self.dialect {
                "ns2" => Style::Ns2,
                "ns3" => Style::Ns3,
                _ => Style::Floyd,
            },
            mark_limit: self.ecn_mark_limit,
            target_delay: self.target_delay.as_secs(),
            mean_packet_bytes: mean_packet(self.mean_packet_bytes, env),
        }
    }

    fn linux(&self, env: &Env) -> LinuxSetup {
        LinuxSetup {
            min_th: in_bytes(self.min_th),
            max_th: in_bytes(self.max_th),
            burst: self.burst.0,
            bandwidth: self.bandwidth.0,
            weight_log: None,
            mean_packet_bytes: mean_packet(self.mean_packet_bytes, env) as u64,
            max_p: self.max_p,
            ecn: self.ecn,
            hard_drop: self.hard_drop,
            target_delay: None,
        }
    }
}

/// A threshold in bytes; `check_tc` refuses other units.
pub(super) fn in_bytes(threshold: OrAuto<Limit>) -> Option<u64> {
    threshold.0.map(|limit| match limit {
        Limit::Packets(n) | Limit::Bytes(n) => n,
    })
}

/// The mean packet size, as set or from the link.
pub(super) fn mean_packet(set: OrAuto<Bytes>, env: &Env) -> f64 {
    set.0.map_or(f64::from(env.mtu_bytes), |bytes| bytes.0 as f64)
}

#[cfg(test)]
mod dialect_tests;
#[cfg(test)]
mod tests;
