//! The PIE of its authors' ns-2 code (2013-2014, without DOCSIS), and the ns-3 model derived from
//! it.
//!
//! Source: `pie.cc` (Cisco and CableLabs 2013-2014), `PIEQueue::drop_early`, `deque` and
//! `calculate_p`; ns-3 `PieQueueDisc`, `DropEarly`, `DoDequeue` and `CalculateP`.
//!
//! This PIE differs from RFC 8033 in nearly every detail: the delay is the backlog over a measured
//! departure rate, the probability is held at 0 during a burst and has no upper bound, a burst is
//! allowed at the first arrival and again only after 1.5 s of calm, and a number is drawn for every
//! packet outside a burst. ns-3 (3.44 and its main branch of July 2026) does not draw for an exempt
//! packet.
//!
//! Deviations: the overflow test is the discipline's (accept a packet if it fits), and `ns2`
//! signals a packet when `u < p`, not `u <= p` (fact aqm-1). The ns-3 model of 2016, in which decay
//! and kick continue during a burst, is not offered. ns-3 scales p by packet size whenever its
//! limit is in bytes; here `byte_mode` controls that.

use super::scaling::{Tune, capped};
use super::{DelaySource, PieParams};
use crate::law::{Cause, Env, Verdict};
use crate::packet::{Backlog, Head};
use crate::parts::accumulator::{Accumulator, ScaledProb, SignalTiming};
use crate::parts::departure_rate::DepartureRate;
use crate::parts::gains::Gains;
use crate::rng::Rng;
use crate::time::{Span, Time};
use crate::units::Limit;

/// The configuration.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) gains: Gains,
    pub(super) tune: Tune,
    pub(super) tupdate: Span,
    pub(super) max_burst: Span,
    pub(super) dq_threshold: u64,
    pub(super) rate_weight: f64,
    pub(super) mean_packet_bytes: u64,
    pub(super) ecn: bool,
    pub(super) ecn_mark_limit: f64,
    pub(super) derandomise: bool,
    pub(super) cap_step: bool,
    pub(super) idle_decay: f64,
    pub(super) byte_mode: bool,
    pub(super) uses_stamps: bool,
    /// ns-3: the probability stays in 0..=1, and a delay above 200 ms gets no kick.
    pub(super) is_ns3: bool,
    /// ns-3 under a limit in packets: a backlog of two packets is exempt, regardless of their size.
    pub(super) counts_packets: bool,
}

/// The controller and its decision.
#[derive(Clone, Debug)]
pub(in crate::laws) struct Ns2Pie {
    setup: Setup,
    phase: Phase,
    burst_allowance: Span,
    departures: DepartureRate,
    accumulator: Accumulator,
    drop_prob: f64,
    /// Stamps: the sojourn time of the last departure, in seconds; 0 if the queue was empty after
    /// it.
    last_delay: f64,
    /// Delay at the last update, in seconds.
    delay: f64,
}

/// ```text
///            an arrival                 calm, allowance used up
///   NoBurst -----------> Protecting ----------------------------> InBurst
///     ^                                                              |
///     +--------------------- 1.5 s of calm updates ------------------+
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// The next arrival will start a burst.
    NoBurst,
    /// The burst allowance has been granted, and may have been used up.
    Protecting,
    /// After the burst: number of consecutive calm updates.
    InBurst { calm_updates: u64 },
}

impl Ns2Pie {
    pub(super) fn from_params(p: &PieParams, env: &Env) -> Ns2Pie {
        let is_ns3 = p.dialect == "ns3";
        Ns2Pie::new(Setup {
            gains: p.gains(),
            tune: p.tune,
            tupdate: p.period(),
            max_burst: p.max_burst,
            dq_threshold: p.dq_threshold.0,
            rate_weight: p.rate_weight,
            mean_packet_bytes: p.mean_packet(env),
            ecn: p.ecn,
            ecn_mark_limit: p.ecn_mark_limit,
            derandomise: p.derandomise,
            cap_step: p.cap_step,
            idle_decay: p.idle_decay,
            byte_mode: p.byte_mode,
            uses_stamps: p.delay == DelaySource::Stamps,
            is_ns3,
            counts_packets: is_ns3 && matches!(env.limit, Limit::Packets(_)),
        })
    }

    pub(super) fn new(setup: Setup) -> Ns2Pie {
        Ns2Pie {
            departures: DepartureRate::new(setup.dq_threshold, setup.rate_weight),
            setup,
            phase: Phase::NoBurst,
            burst_allowance: Span::ZERO,
            accumulator: Accumulator::default(),
            drop_prob: 0.0,
            last_delay: 0.0,
            delay: 0.0,
        }
    }

    #[inline]
    pub(super) fn on_enqueue(&mut self, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        if self.burst_allowance > Span::ZERO {
            return Verdict::Pass;
        }
        if self.phase == Phase::NoBurst {
            self.phase = Phase::Protecting;
            self.burst_allowance = self.setup.max_burst;
        }
        let prob = self.prob_for(head.bytes);
        if !self.selects(prob, queue, rng) {
            return Verdict::Pass;
        }
        let limited = if self.setup.is_ns3 { self.drop_prob } else { prob };
        let may_mark = self.setup.ecn && limited < self.setup.ecn_mark_limit;
        let verdict = Verdict::signal(may_mark && head.ecn.can_mark(), Cause::Random);
        if matches!(verdict, Verdict::Drop(_)) {
            self.accumulator.clear(); // a mark does not (ns-3 PieQueueDisc::DoEnqueue)
        }
        verdict
    }

    /// Byte mode: the signal probability is proportional to the packet's size.
    fn prob_for(&self, bytes: u32) -> f64 {
        match self.setup.byte_mode {
            true => self.drop_prob * f64::from(bytes) / self.setup.mean_packet_bytes as f64,
            false => self.drop_prob,
        }
    }

    /// ns-2 draws a number for every packet, needed or not (`PIEQueue::drop_early`). ns-3 draws
    /// only for packets that are not exempt and, with the sum of probabilities, only while the sum
    /// is between its two thresholds (`DropEarly`).
    fn selects(&mut self, prob: f64, queue: Backlog, rng: &mut Rng) -> bool {
        let Setup { is_ns3, derandomise, .. } = self.setup;
        if !derandomise && !is_ns3 {
            let hit = rng.uniform() < prob;
            return hit && !self.is_calm() && !self.is_small(queue);
        }
        if self.is_calm() || self.is_small(queue) {
            return false;
        }
        if !derandomise {
            return self.hits(prob, rng);
        }
        // ns-3 adds the probability before scaling by packet size.
        let added = if is_ns3 { self.drop_prob } else { prob };
        if added == 0.0 {
            self.accumulator.clear();
        }
        match self.accumulator.add(ScaledProb::new(added.min(1.0))) {
            SignalTiming::TooEarly => false,
            SignalTiming::Open => self.hits(prob, rng),
            SignalTiming::Overdue => true,
        }
    }

    /// Draws a number; in ns-3, a draw equal to the probability hits (`DropEarly`).
    fn hits(&self, prob: f64, rng: &mut Rng) -> bool {
        let u = rng.uniform();
        u < prob || (self.setup.is_ns3 && u == prob)
    }

    pub(super) fn on_overflow(&mut self, queue: Backlog) {
        self.accumulator.clear();
        if queue.packets == 0 {
            self.last_delay = 0.0;
        }
    }

    #[inline]
    pub(super) fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) {
        if self.setup.uses_stamps {
            self.last_delay = if queue.packets == 0 { 0.0 } else { head.sojourn(now).as_secs() };
        } else {
            self.departures.on_dequeue(now, head.bytes, queue.bytes);
        }
    }

    /// The periodic update, with the current backlog.
    pub(super) fn update(&mut self, queue: Backlog) {
        let delay = if self.setup.uses_stamps {
            self.last_delay
        } else {
            self.departures.delay(queue.bytes)
        };
        let delay_old = self.delay;
        self.drop_prob =
            if self.burst_allowance > Span::ZERO { 0.0 } else { self.controlled(delay, delay_old) };
        self.burst_allowance = self.burst_allowance.saturating_sub(self.setup.tupdate);
        let half_target = self.setup.gains.target / 2.0;
        let calm = delay < half_target && delay_old < half_target && self.drop_prob == 0.0;
        if calm && self.departures.bytes_per_sec().is_some() {
            self.departures.forget();
        }
        self.phase = self.next_phase(calm && self.burst_allowance == Span::ZERO);
        self.delay = delay;
    }

    fn controlled(&self, delay: f64, delay_old: f64) -> f64 {
        let p = self.drop_prob;
        let step = self.setup.gains.step(delay, delay_old) * self.setup.tune.factor(p);
        let moved = p + if self.setup.cap_step { capped(p, step) } else { step };
        let settled = if delay == 0.0 && delay_old == 0.0 {
            moved * self.setup.idle_decay
        } else if delay > 0.2 && !self.setup.is_ns3 {
            moved + 0.02
        } else {
            moved
        };
        let most = if self.setup.is_ns3 { 1.0 } else { f64::MAX };
        settled.clamp(0.0, most)
    }

    fn next_phase(&self, calm: bool) -> Phase {
        let calm_limit = Span::from_millis(1500).as_nanos() / self.setup.tupdate.as_nanos();
        match self.phase {
            Phase::NoBurst => Phase::NoBurst,
            Phase::Protecting if calm => Phase::InBurst { calm_updates: 0 },
            Phase::Protecting => Phase::Protecting,
            Phase::InBurst { .. } if !calm => Phase::InBurst { calm_updates: 0 },
            Phase::InBurst { calm_updates } if calm_updates >= calm_limit => Phase::NoBurst,
            Phase::InBurst { calm_updates } => Phase::InBurst { calm_updates: calm_updates + 1 },
        }
    }

    fn is_calm(&self) -> bool {
        self.drop_prob < 0.2 && self.delay < self.setup.gains.target / 2.0
    }

    fn is_small(&self, queue: Backlog) -> bool {
        match self.setup.counts_packets {
            true => queue.packets <= 2,
            false => queue.bytes <= self.setup.mean_packet_bytes.saturating_mul(2),
        }
    }

    /// Whether drops are suppressed: in a burst, or while at most two packets are queued.
    pub(super) fn is_protected(&self, queue: Backlog) -> bool {
        self.burst_allowance > Span::ZERO || self.is_idle(queue)
    }

    /// Whether drops are suppressed outside of bursts too.
    pub(super) fn is_idle(&self, queue: Backlog) -> bool {
        self.is_small(queue)
    }

    /// Whether updates of an empty queue change nothing.
    pub(super) fn is_at_rest(&self) -> bool {
        self.drop_prob == 0.0
            && self.delay == 0.0
            && self.last_delay == 0.0
            && self.burst_allowance == Span::ZERO
            && self.phase == Phase::NoBurst
            && self.departures.bytes_per_sec().is_none()
    }

    /// The delay of the last departure, or at the last update, in seconds.
    pub(super) fn last_delay(&self) -> f64 {
        if self.setup.uses_stamps { self.last_delay } else { self.delay }
    }

    /// ns-3 `PieQueueDisc::DoEnqueue`: PIE is switched on.
    pub(super) fn restart(&mut self) {
        self.delay = 0.0;
        self.drop_prob = 0.0;
        self.burst_allowance = self.setup.max_burst;
        self.accumulator.clear();
    }

    /// Delay at the last update, in seconds.
    pub(super) fn delay(&self) -> f64 {
        self.delay
    }

    /// The probability, which may exceed 1.
    pub(super) fn drop_prob(&self) -> f64 {
        self.drop_prob
    }

    pub(super) fn burst_allowance(&self) -> f64 {
        self.burst_allowance.as_secs()
    }

    pub(super) fn accumulator(&self) -> f64 {
        self.accumulator.value()
    }
}

#[cfg(test)]
#[path = "ns2_tests.rs"]
mod tests;
