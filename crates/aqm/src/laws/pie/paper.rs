//! The PIE of the first paper and, on request, the additional rules of its authors' Linux code of
//! 2013.
//!
//! Source: Pan et al. 2013 §III; for `heuristics=linux2013` the PIE of 2013 kept in the Linux
//! `sch_pi2.c` of PI2's authors (2015).
//!
//! Our choices where the paper is silent (fact aqm-81): the probability stays in 0..=1; the weight
//! of a rate sample is 1/2, as in the authors' ns-2 code, unless set; a measurement that ends with
//! the backlog at or below its threshold is discarded, since the link may have been idle. `ecn`
//! marks at any probability (§III-B has no limit) unless `ecn_mark_limit` is set.

use super::scaling::{Tune, capped};
use super::{Heuristics, PieParams};
use crate::law::{Cause, Env, Verdict};
use crate::packet::{Backlog, Head};
use crate::parts::gains::Gains;
use crate::rng::Rng;
use crate::time::{Span, Time};

/// The controller and its decision.
#[derive(Clone, Debug)]
pub(in crate::laws) struct Paper {
    gains: Gains,
    tune: Tune,
    half_target: f64,
    max_burst: Span,
    mtu_bytes: u64,
    ecn: bool,
    ecn_mark_limit: f64,
    has_heuristics: bool,
    dq_threshold: u64,
    rate_weight: f64,
    drop_prob: f64,
    /// Delays at the last update and at the one before, in seconds.
    delay: f64,
    delay_old: f64,
    burst_allowance: Span,
    bytes_per_sec: Option<f64>,
    cycle: Option<Cycle>,
}

/// A measurement of the departure rate.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    start: Time,
    bytes: u64,
}

impl Paper {
    pub(super) fn new(p: &PieParams, env: &Env) -> Paper {
        let gains = p.gains();
        Paper {
            half_target: gains.target / 2.0,
            gains,
            tune: p.tune,
            max_burst: p.max_burst,
            mtu_bytes: p.mean_packet(env),
            ecn: p.ecn,
            ecn_mark_limit: p.ecn_mark_limit,
            has_heuristics: p.heuristics == Heuristics::Linux2013,
            dq_threshold: p.dq_threshold.0,
            rate_weight: p.rate_weight,
            drop_prob: 0.0,
            delay: 0.0,
            delay_old: 0.0,
            burst_allowance: p.max_burst,
            bytes_per_sec: None,
            cycle: None,
        }
    }

    pub(super) fn on_enqueue(&mut self, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        let exempt = self.has_heuristics && self.is_exempt(queue);
        if self.burst_allowance > Span::ZERO || exempt || rng.uniform() >= self.drop_prob {
            return Verdict::Pass;
        }
        let mark = self.ecn && self.drop_prob <= self.ecn_mark_limit && head.ecn.can_mark();
        Verdict::signal(mark, Cause::Random)
    }

    /// Linux code of 2013: a short delay at a low probability is exempt, and so are fewer than two
    /// packets.
    fn is_exempt(&self, queue: Backlog) -> bool {
        let calm = self.delay < self.half_target && self.drop_prob < 0.2;
        calm || self.is_small(queue)
    }

    fn is_small(&self, queue: Backlog) -> bool {
        queue.bytes < self.mtu_bytes.saturating_mul(2)
    }

    pub(super) fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) {
        if queue.bytes <= self.dq_threshold {
            self.cycle = None;
            return;
        }
        let cycle = self.cycle.get_or_insert(Cycle { start: now, bytes: 0 });
        cycle.bytes += u64::from(head.bytes);
        if cycle.bytes > self.dq_threshold {
            let done = *cycle;
            self.cycle = Some(Cycle { start: now, bytes: 0 });
            self.learn(done.bytes, now.since(done.start));
        }
    }

    /// Pan et al. 2013 §III: every rate sample lowers the burst allowance by the sample's duration.
    fn learn(&mut self, bytes: u64, took: Span) {
        if took > Span::ZERO {
            let sample = bytes as f64 / took.as_secs();
            self.bytes_per_sec = Some(match self.bytes_per_sec {
                None => sample,
                Some(average) => (1.0 - self.rate_weight) * average + self.rate_weight * sample,
            });
        }
        self.burst_allowance = self.burst_allowance.saturating_sub(took);
        if self.is_uncongested() && !self.has_heuristics {
            self.burst_allowance = self.max_burst;
        }
    }

    fn is_uncongested(&self) -> bool {
        self.drop_prob == 0.0 && self.delay < self.half_target && self.delay_old < self.half_target
    }

    /// The periodic update.
    pub(super) fn update(&mut self, queue: Backlog) {
        self.delay_old = self.delay;
        self.delay = self.bytes_per_sec.map_or(0.0, |rate| queue.bytes as f64 / rate);
        let p = self.drop_prob;
        let step = self.gains.step(self.delay, self.delay_old) * self.tune.factor(p);
        self.drop_prob = if self.has_heuristics {
            self.moved_by_linux(step)
        } else {
            (p + step).clamp(0.0, 1.0)
        };
        if self.has_heuristics && self.is_uncongested() && self.bytes_per_sec.is_some() {
            self.burst_allowance = self.max_burst;
            self.bytes_per_sec = None;
            self.cycle = None;
        }
    }

    /// The Linux code of 2013: caps, kicks, adds, clamps and decays.
    fn moved_by_linux(&self, step: f64) -> f64 {
        let kick = if self.delay > 0.25 { 0.02 } else { 0.0 };
        let moved = self.drop_prob + capped(self.drop_prob, step) + kick;
        let idle = self.delay == 0.0 && self.delay_old == 0.0;
        moved.clamp(0.0, 1.0) * if idle { 0.98 } else { 1.0 }
    }

    /// Whether updates of an empty queue change nothing.
    pub(super) fn is_at_rest(&self) -> bool {
        let restarts = self.has_heuristics && self.bytes_per_sec.is_some();
        self.drop_prob == 0.0 && self.delay == 0.0 && self.delay_old == 0.0 && !restarts
    }

    /// Whether drops are suppressed: in a burst, or with fewer than two packets queued.
    pub(super) fn is_protected(&self, queue: Backlog) -> bool {
        self.burst_allowance > Span::ZERO || self.is_idle(queue)
    }

    /// Whether drops are suppressed outside of bursts too.
    pub(super) fn is_idle(&self, queue: Backlog) -> bool {
        self.is_small(queue)
    }

    pub(super) fn drop_prob(&self) -> f64 {
        self.drop_prob
    }

    pub(super) fn delay(&self) -> f64 {
        self.delay
    }

    pub(super) fn burst_allowance(&self) -> f64 {
        self.burst_allowance.as_secs()
    }

    #[cfg(test)]
    pub(super) fn started(mut self, p: f64, delay: f64) -> Paper {
        self.drop_prob = p;
        self.delay = delay;
        self.burst_allowance = Span::ZERO;
        self
    }
}
