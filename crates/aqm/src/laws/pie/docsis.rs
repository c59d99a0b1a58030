//! DOCSIS-PIE for cable modems: PIE with three states, and a delay from the modem's own rate.
//!
//! Source: RFC 8034 §4 and Appendix A, as implemented by CableLabs in `docsis-ns3`,
//! `dual-queue-coupled-aqm.cc` (classic queue, uncoupled) and in the DOCSIS mode of the ns-2
//! `pie.cc`. Table, constants, states and order of tests are those of `docsis-ns3`.
//!
//! Deviations from RFC 8034:
//! - The delay is the backlog over the link's rate, instead of the two token buckets (sustained and
//!   peak rate) of the modem's shaper; if the rate is unknown, it is the sojourn time of the last
//!   packet that left.
//! - A random number is drawn only while the sum is between its two thresholds; `docsis-ns3` draws
//!   one for every arrival that it counts.
//! - Sizes are not rounded to the classes (64, 128, 256 bytes and so on) that the RFC allows.
//!
//! Linux and ns-3 have no DOCSIS-PIE.

use super::PieParams;
use super::scaling::{Tune, capped};
use crate::law::{Cause, Env, Verdict};
use crate::packet::{Backlog, Head};
use crate::parts::accumulator::{Accumulator, ScaledProb, SignalTiming};
use crate::parts::gains::Gains;
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};
use crate::units::Limit;

/// RFC 8034: the largest probability, which is 0.85 for the smallest packet of 64 bytes (fact
/// aqm-82).
const MAX_PROB: f64 = 13.6;
const MAX_PACKET_PROB: f64 = 0.85;
/// RFC 8034: LATENCY_LOW and LATENCY_HIGH, in seconds.
const LOW_DELAY: f64 = 0.005;
const HIGH_DELAY: f64 = 0.2;
const QUIET: Span = Span::from_secs(1);

/// ```text
///            a third of the limit               a drop
///   Inactive --------------------> Quiescent --------------> Active
///      ^                            |  ^                       |
///      +-- quiet for over a second -+  +--- a quiet update ----+
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Inactive,
    /// Holds the length of the quiet period. The first drop grants a burst allowance.
    Quiescent {
        quiet: Span,
    },
    Active,
}

/// The controller and its decision.
#[derive(Clone, Debug)]
pub(in crate::laws) struct Docsis {
    gains: Gains,
    tune: Tune,
    tupdate: Span,
    max_burst: Span,
    mean_packet_bytes: u64,
    idle_decay: f64,
    limit: Limit,
    bytes_per_sec: Option<f64>,
    phase: Phase,
    drop_prob: f64,
    accumulator: Accumulator,
    /// The last delay, in seconds: computed at updates if the rate is known, else that of the last
    /// departure.
    delay: f64,
    delay_old: f64,
    burst_allowance: Span,
}

impl Docsis {
    pub(super) fn new(p: &PieParams, env: &Env) -> Docsis {
        Docsis {
            gains: p.gains(),
            tune: p.tune,
            tupdate: p.period(),
            max_burst: p.max_burst,
            mean_packet_bytes: p.mean_packet(env),
            idle_decay: p.idle_decay,
            limit: env.limit,
            bytes_per_sec: env.rate.map(Rate::bytes_per_sec),
            phase: Phase::Inactive,
            drop_prob: 0.0,
            accumulator: Accumulator::default(),
            delay: 0.0,
            delay_old: 0.0,
            burst_allowance: Span::ZERO,
        }
    }

    pub(super) fn on_rate(&mut self, rate: Rate) {
        self.bytes_per_sec = Some(rate.bytes_per_sec());
    }

    pub(super) fn on_enqueue(&mut self, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        if self.burst_allowance > Span::ZERO {
            return Verdict::Pass;
        }
        if self.drop_prob == 0.0 {
            self.accumulator.clear();
        }
        if self.phase == Phase::Inactive {
            if !self.is_third_full(queue) {
                return Verdict::Pass;
            }
            self.phase = Phase::Quiescent { quiet: Span::ZERO };
        }
        if !self.selects(head, queue, rng) {
            return Verdict::Pass;
        }
        self.accumulator.clear();
        if matches!(self.phase, Phase::Quiescent { .. }) {
            self.phase = Phase::Active;
            self.burst_allowance = self.max_burst;
        }
        Verdict::Drop(Cause::Random)
    }

    fn is_third_full(&self, queue: Backlog) -> bool {
        match self.limit {
            Limit::Packets(n) => u64::from(queue.packets).saturating_mul(3) >= n,
            Limit::Bytes(n) => queue.bytes.saturating_mul(3) >= n,
        }
    }

    /// Whether this arrival is dropped. Exempt arrivals count in the sum too.
    fn selects(&mut self, head: Head, queue: Backlog, rng: &mut Rng) -> bool {
        let size = f64::from(head.bytes) / self.mean_packet_bytes as f64;
        let prob = (self.drop_prob * size).min(MAX_PACKET_PROB);
        let standing = self.accumulator.add(ScaledProb::new(prob));
        let calm = self.drop_prob < 0.2 && self.delay_old < self.gains.target / 2.0;
        if calm || self.is_small(queue) {
            return false;
        }
        match standing {
            SignalTiming::TooEarly => false,
            SignalTiming::Open => rng.uniform() < prob,
            SignalTiming::Overdue => true,
        }
    }

    fn is_small(&self, queue: Backlog) -> bool {
        queue.bytes <= self.mean_packet_bytes.saturating_mul(2)
    }

    pub(super) fn on_overflow(&mut self, queue: Backlog) {
        self.accumulator.clear();
        if queue.packets == 0 {
            self.delay = 0.0;
        }
    }

    pub(super) fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) {
        if self.bytes_per_sec.is_none() {
            self.delay = if queue.packets == 0 { 0.0 } else { head.sojourn(now).as_secs() };
        }
    }

    /// The periodic update.
    pub(super) fn update(&mut self, queue: Backlog) {
        if let Some(rate) = self.bytes_per_sec {
            self.delay = queue.bytes as f64 / rate;
        }
        self.drop_prob = if self.burst_allowance > Span::ZERO { 0.0 } else { self.controlled() };
        self.burst_allowance = self.burst_allowance.saturating_sub(self.tupdate);
        let half_target = self.gains.target / 2.0;
        let quiet = self.drop_prob == 0.0
            && self.burst_allowance == Span::ZERO
            && self.delay < half_target
            && self.delay_old < half_target;
        self.phase = self.next_phase(quiet);
        self.delay_old = self.delay;
    }

    fn controlled(&self) -> f64 {
        let p = self.drop_prob;
        let step = self.gains.step(self.delay, self.delay_old) * self.tune.factor(p);
        let moved = p + capped(p, step);
        let settled = if self.delay < LOW_DELAY && self.delay_old < LOW_DELAY {
            moved * self.idle_decay
        } else if self.delay > HIGH_DELAY {
            moved + 0.02
        } else {
            moved
        };
        settled.clamp(0.0, MAX_PROB)
    }

    fn next_phase(&self, is_quiet: bool) -> Phase {
        match self.phase {
            Phase::Active if is_quiet => Phase::Quiescent { quiet: Span::ZERO },
            Phase::Quiescent { quiet } if is_quiet && quiet + self.tupdate > QUIET => {
                Phase::Inactive
            }
            Phase::Quiescent { quiet } if is_quiet => {
                Phase::Quiescent { quiet: quiet + self.tupdate }
            }
            Phase::Quiescent { .. } => Phase::Quiescent { quiet: Span::ZERO },
            phase => phase,
        }
    }

    /// Whether updates of an empty queue change nothing.
    pub(super) fn is_at_rest(&self) -> bool {
        self.drop_prob == 0.0
            && self.delay == 0.0
            && self.delay_old == 0.0
            && self.burst_allowance == Span::ZERO
            && self.phase == Phase::Inactive
    }

    /// Whether drops are suppressed: inactive, in a burst, or while at most two packets are queued.
    pub(super) fn is_protected(&self, queue: Backlog) -> bool {
        self.burst_allowance > Span::ZERO || self.is_idle(queue)
    }

    /// Whether drops are suppressed outside of bursts too.
    pub(super) fn is_idle(&self, queue: Backlog) -> bool {
        self.phase == Phase::Inactive || self.is_small(queue)
    }

    /// The probability of a packet of mean size, which may exceed 1.
    pub(super) fn drop_prob(&self) -> f64 {
        self.drop_prob
    }

    pub(super) fn delay(&self) -> f64 {
        self.delay
    }

    pub(super) fn delay_at_update(&self) -> f64 {
        self.delay_old
    }

    pub(super) fn burst_allowance(&self) -> f64 {
        self.burst_allowance.as_secs()
    }

    pub(super) fn accumulator(&self) -> f64 {
        self.accumulator.value()
    }

    #[cfg(test)]
    pub(super) fn started(mut self, p: f64, delay: f64) -> Docsis {
        self.drop_prob = p;
        (self.delay, self.delay_old) = (delay, delay);
        self.phase = Phase::Active;
        self
    }
}
