//! DOCSIS-PIE (RFC 8034), for cable modems: PIE in states, with the delay from the modem's own rate.
//!
//! Source: spec aqm.md §13.1, §13.3 and §13.5, column R8034; the RFC's pseudo-code was not read for
//! this. What the sheet leaves open is decided thus:
//! - Inactive until a third of the limit waits; then quiescent, where the first drop forgives a burst
//!   and makes PIE active; after more than a second of quiet updates inactive again.
//! - The delay is the backlog over the link's rate, for the tokens of the modem's shaper; where the
//!   rate is unknown, the sojourn time of the last packet that left.
//! - The probability of a packet grows with its size and is at most 0.85; the sum of them decides as
//!   in RFC 8033 §5.4.

use super::PieParams;
use super::scaling::{Tune, capped};
use crate::law::{Cause, Env, Verdict};
use crate::packet::{Backlog, Head};
use crate::parts::accumulator::{Accumulator, ScaledProb, Standing};
use crate::parts::gains::Gains;
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};
use crate::units::Limit;

/// RFC 8034: the largest probability, 0.85 for the smallest packet of 64 bytes.
const MAX_PROB: f64 = 13.6;
const MAX_PACKET_PROB: f64 = 0.85;
/// RFC 8034: LATENCY_LOW and LATENCY_HIGH, in seconds.
const LOW_DELAY: f64 = 0.005;
const HIGH_DELAY: f64 = 0.2;
const QUIET: Span = Span::from_secs(1);

/// ```text
///            a third of the limit               a drop
///   Inactive --------------------> Quiescent --------------> Active
///      ^                                                       |
///      +------------------- quiet for a second ----------------+
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Inactive,
    Quiescent,
    /// With the time for which it has been quiet.
    Active {
        quiet: Span,
    },
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
    /// The last delay, in seconds; at updates where the rate is known, else of the last departure.
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
        if self.phase == Phase::Inactive {
            if !self.is_third_full(queue) {
                return Verdict::Pass;
            }
            self.phase = Phase::Quiescent;
        }
        if self.is_protected(queue) || !self.selects(head, rng) {
            return Verdict::Pass;
        }
        self.accumulator.clear();
        if self.phase == Phase::Quiescent {
            self.phase = Phase::Active { quiet: Span::ZERO };
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

    fn selects(&mut self, head: Head, rng: &mut Rng) -> bool {
        let calm = self.drop_prob < 0.2 && self.delay_old < self.gains.target / 2.0;
        if self.drop_prob == 0.0 {
            self.accumulator.clear();
        }
        let size = f64::from(head.bytes) / self.mean_packet_bytes as f64;
        let prob = (self.drop_prob * size).min(MAX_PACKET_PROB);
        if calm || prob == 0.0 {
            return false;
        }
        match self.accumulator.add(ScaledProb::new(prob)) {
            Standing::TooEarly => false,
            Standing::Open => rng.uniform() < prob,
            Standing::Overdue => true,
        }
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
            Phase::Active { quiet } if is_quiet && quiet + self.tupdate > QUIET => Phase::Inactive,
            Phase::Active { quiet } if is_quiet => Phase::Active { quiet: quiet + self.tupdate },
            Phase::Active { .. } => Phase::Active { quiet: Span::ZERO },
            phase => phase,
        }
    }

    /// Whether updates of an empty queue change nothing.
    pub(super) fn is_at_rest(&self) -> bool {
        self.drop_prob == 0.0
            && self.delay == 0.0
            && self.delay_old == 0.0
            && self.burst_allowance == Span::ZERO
            && !matches!(self.phase, Phase::Active { .. })
    }

    /// Whether nothing at all may be dropped.
    pub(super) fn is_protected(&self, queue: Backlog) -> bool {
        self.phase == Phase::Inactive
            || self.burst_allowance > Span::ZERO
            || queue.bytes <= self.mean_packet_bytes.saturating_mul(2)
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
        self.phase = Phase::Active { quiet: Span::ZERO };
        self
    }
}
