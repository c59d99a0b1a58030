//! RED in the integers of Linux `red.h`, with the values that `tc red` computes for it: thresholds
//! in bytes, a weight that is a power of two, a table for the decay while idle, one random number
//! per signal.
//!
//! Source: Linux 6.1 `red.h`, `red_calc_qavg`, `red_action`, `red_mark_probability`, `red_random`
//! and `red_adaptative_algo`; `sch_red.c`, `red_enqueue`; iproute2 `q_red.c` and `tc_red.c`.
//!
//! Deviations from Linux: `nodrop` and hardware offload are missing.

use alloc::vec::Vec;

use crate::effective::Effective;
use crate::law::{Cause, Env, Verdict};
use crate::packet::{Backlog, Head};
use crate::parts::idle_table::IdleTable;
use crate::parts::linux_red::{Curve, RedState, per_unit, scaled};
use crate::parts::tc_weight;
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};
use crate::units::Limit;

/// `tc red` without `bandwidth` (iproute2 `q_red.c`, red_parse_opt).
pub(in crate::laws) const TC_RATE: Rate = Rate::from_bps(10_000_000);
/// Automatic thresholds do not exceed this: the kernel counts in 32 bits.
const MOST_BYTES: u64 = 1 << 30;
/// One hundredth in a probability of 32 bits.
const PERCENT: u32 = 42_949_673;

/// The configuration.
#[derive(Clone, Copy, Debug)]
pub(in crate::laws) struct LinuxSetup {
    pub(in crate::laws) min_th: Option<u64>,
    pub(in crate::laws) max_th: Option<u64>,
    pub(in crate::laws) burst: Option<u64>,
    /// Rate for the decay while idle; `None`: the link's rate.
    pub(in crate::laws) bandwidth: Option<Rate>,
    /// Minus the binary logarithm of the weight; `None`: computed from `burst`, as tc does.
    pub(in crate::laws) weight_log: Option<u32>,
    pub(in crate::laws) mean_packet_bytes: u64,
    pub(in crate::laws) max_p: f64,
    pub(in crate::laws) ecn: bool,
    pub(in crate::laws) hard_drop: bool,
    /// If set, the thresholds lie around the backlog of this delay at the link's rate (Khademi, Ros
    /// and Welzl 2013) instead of being fractions of the limit.
    pub(in crate::laws) target_delay: Option<Span>,
}

/// The part of RED that Adaptive RED shares, in the arithmetic of the kernel.
#[derive(Clone, Debug)]
pub(in crate::laws) struct LinuxRed {
    setup: LinuxSetup,
    limit_bytes: u64,
    mtu_bytes: u64,
    /// In bytes.
    curve: Curve,
    table: IdleTable,
    /// Of 2^32; Adaptive RED moves it.
    max_p: u32,
    state: RedState,
    idle_since: Option<Time>,
}

impl LinuxRed {
    pub(in crate::laws) fn new(setup: LinuxSetup, env: &Env) -> LinuxRed {
        let mtu_bytes = u64::from(env.mtu_bytes);
        let limit_bytes = match env.limit {
            Limit::Packets(n) => n.saturating_mul(mtu_bytes),
            Limit::Bytes(n) => n,
        }
        .min(MOST_BYTES);
        let mut red = LinuxRed {
            setup,
            limit_bytes,
            mtu_bytes,
            curve: Curve { min_th: 0, max_th: 1, weight_log: 1, max_p_per_unit: 1 },
            table: IdleTable::new(1, setup.mean_packet_bytes, TC_RATE),
            max_p: scaled(setup.max_p),
            state: RedState::REST,
            idle_since: Some(Time::ZERO),
        };
        red.configure(env.rate.unwrap_or(TC_RATE));
        red
    }

    /// Computes the values that `tc red` computes (iproute2 `q_red.c`, `red_parse_opt`).
    fn configure(&mut self, rate: Rate) {
        let packet = self.setup.mean_packet_bytes;
        let before = self.state.average >> self.curve.weight_log;
        let (min_th, max_th) = self.thresholds(rate);
        let burst = self.setup.burst.unwrap_or(default_burst(min_th, max_th, packet));
        // With automatic thresholds from a tiny limit, use the smallest burst that tc accepts.
        let burst = burst.max(min_th.div_ceil(packet));
        let by_tc = || weight_log(min_th, burst, packet).unwrap_or(31);
        let weight_log = self.setup.weight_log.unwrap_or_else(by_tc);
        // red_set_parms truncates, whereas red_adaptative_algo rounds.
        let max_p_per_unit = per_unit(self.max_p, min_th, max_th);
        self.curve = Curve { min_th, max_th, weight_log, max_p_per_unit };
        self.state.average = before << weight_log;
        let bandwidth = self.setup.bandwidth.unwrap_or(rate);
        self.table = IdleTable::new(weight_log, packet, bandwidth);
    }

    /// The curve in use.
    pub(in crate::laws) fn effective(&self) -> Vec<Effective> {
        self.curve.effective(Limit::Bytes).into()
    }

    fn delta(&self) -> u64 {
        self.curve.max_th - self.curve.min_th
    }

    fn thresholds(&self, rate: Rate) -> (u64, u64) {
        if let (Some(target), None, None) =
            (self.setup.target_delay, self.setup.min_th, self.setup.max_th)
        {
            return self.thresholds_for(target, rate);
        }
        let triple = |min: u64| min.saturating_mul(3);
        let max = match (self.setup.max_th, self.setup.min_th) {
            (Some(max), _) => max,
            (None, Some(min)) => triple(min),
            (None, None) => self.limit_bytes / 4,
        };
        let min = self.setup.min_th.unwrap_or(max / 3).max(1);
        (min, max.max(min.saturating_add(1)))
    }

    /// Khademi, Ros and Welzl 2013 §2.3: the thresholds are half and three halves of the backlog
    /// that gives this delay. For 1 ms, or if tc finds no weight: one and two packets (fact
    /// aqm-54).
    fn thresholds_for(&self, target: Span, rate: Rate) -> (u64, u64) {
        let backlog = rate.bytes_in(target).min(MOST_BYTES);
        let (min, max) = (backlog / 2, backlog.saturating_mul(3) / 2);
        let burst = default_burst(min, max, self.setup.mean_packet_bytes);
        let has_weight = weight_log(min, burst, self.setup.mean_packet_bytes).is_some();
        if target <= Span::from_millis(1) || !has_weight {
            return (self.mtu_bytes, 2 * self.mtu_bytes);
        }
        (min, max)
    }

    pub(in crate::laws) fn on_rate(&mut self, rate: Rate) {
        self.configure(rate);
    }

    #[inline(never)] // keeps the default's code small
    pub(in crate::laws) fn judge(
        &mut self,
        now: Time,
        head: Head,
        queue: Backlog,
        rng: &mut Rng,
    ) -> Verdict {
        let idle_since = self.idle_since.take();
        match idle_since {
            Some(since) => self.state.average = self.decayed(now.since(since)),
            None => self.state.sample(&self.curve, queue.bytes),
        }
        let verdict = self.decide(head, rng);
        if idle_since.is_some() && matches!(verdict, Verdict::Drop(_)) && queue.packets == 0 {
            // While the device is idle, the kernel tries to dequeue after every arrival and finds
            // the queue empty again. While the device sends the last packet, the kernel does not
            // try to dequeue (fact aqm-130).
            self.idle_since = Some(now);
        }
        verdict
    }

    fn decide(&mut self, head: Head, rng: &mut Rng) -> Verdict {
        let can_mark = self.setup.ecn && head.ecn.can_mark();
        if self.state.is_below(&self.curve, self.curve.min_th) {
            self.state.leave();
            return Verdict::Pass;
        }
        if !self.state.is_below(&self.curve, self.curve.max_th) {
            self.state.leave();
            return Verdict::signal(can_mark && !self.setup.hard_drop, Cause::Forced);
        }
        match self.state.hits(&self.curve, rng) {
            true => Verdict::signal(can_mark, Cause::Random),
            false => Verdict::Pass,
        }
    }

    /// The average after an idle time. No sample is taken.
    fn decayed(&self, idle: Span) -> u64 {
        self.table.decayed(self.state.average, idle.as_nanos() / 1000)
    }

    pub(in crate::laws) fn on_empty(&mut self, now: Time) {
        self.idle_since.get_or_insert(now);
    }

    /// Adaptive RED (Linux `red.h`, `red_adaptative_algo`): one step of `max_p`. Returns whether it
    /// will not change before a packet arrives.
    pub(in crate::laws) fn adapt(&mut self, now: Time) -> bool {
        let idle = self.idle_since.map(|since| now.since(since));
        let average = idle.map_or(self.state.average, |idle| self.decayed(idle));
        let average = average >> self.curve.weight_log;
        let fifth = self.delta() / 5;
        let (low, high) = (self.curve.min_th + 2 * fifth, self.curve.min_th + 3 * fifth);
        let before = self.max_p;
        if average > high && self.max_p <= 50 * PERCENT {
            self.max_p += PERCENT.min(self.max_p / 4);
        } else if average < low && self.max_p >= PERCENT {
            self.max_p = self.max_p / 10 * 9;
        }
        let delta = self.delta();
        self.curve.max_p_per_unit = ((u64::from(self.max_p) + delta / 2) / delta).max(1);
        self.max_p == before && (average < low || idle.is_none())
    }

    pub(in crate::laws) fn average_packets(&self) -> f64 {
        self.state.mean(&self.curve) / self.setup.mean_packet_bytes as f64
    }

    pub(in crate::laws) fn max_p(&self) -> f64 {
        f64::from(self.max_p) / 4_294_967_296.0
    }

    pub(in crate::laws) fn prob(&self) -> f64 {
        let Curve { min_th, max_th, weight_log, .. } = self.curve;
        match self.state.average >> weight_log {
            average if average < min_th => 0.0,
            average if average >= max_th => 1.0,
            average => self.max_p() * (average - min_th) as f64 / self.delta() as f64,
        }
    }
}

/// `tc red` without `burst`.
pub(in crate::laws) fn default_burst(min_th: u64, max_th: u64, packet: u64) -> u64 {
    min_th.saturating_mul(2).saturating_add(max_th) / packet.saturating_mul(3)
}

/// tc: the largest weight, as a negative power of two, at which `burst` packets leave the average
/// below `min_th`; `None` if the burst is too short.
pub(in crate::laws) fn weight_log(min_th: u64, burst: u64, packet: u64) -> Option<u32> {
    tc_weight::weight_log(burst as f64, min_th as f64 / packet as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fact aqm-47.
    #[test]
    fn weights_are_those_that_tc_computes() {
        let log = |min, max| weight_log(min, default_burst(min, max, 1000), 1000);
        assert_eq!(log(3_125, 9_375), Some(2));
        assert_eq!(log(12_500, 37_500), Some(4));
        assert_eq!(log(625, 1_875), None);
    }
}
