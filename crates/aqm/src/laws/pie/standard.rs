//! The PIE of the standards: RFC 8033 (`rfc8033`), its Appendix A (`rfc8033_basic`), and the draft
//! before it (`ietf_draft`).
//!
//! Source: RFC 8033 §4, §5 and Appendices A and B; for the draft Schwarzkopf, Veith and Menth 2016
//! §II, with their corrections: the sum of probabilities is cleared at every drop, and the
//! probability stays in 0..=1.
//!
//! Deviations of `rfc8033`: see [`super`] (facts aqm-76 and aqm-79). Of `rfc8033_basic` from
//! Appendix A: none known. Deviations of `ietf_draft` from the draft, whose text was not read:
//! where the paper is silent, RFC 8033 holds (fact aqm-80); PIE is switched off only with an empty
//! queue (fact aqm-77).

use super::PieParams;
use super::scaling::{Tune, capped};
use crate::law::{Cause, Env, Verdict};
use crate::packet::{Backlog, Head};
use crate::parts::accumulator::{Accumulator, ScaledProb, SignalTiming};
use crate::parts::dequeue_time::DequeueTime;
use crate::parts::gains::Gains;
use crate::rng::Rng;
use crate::time::{Span, Time};
use crate::units::Limit;

/// The controller and its decision.
#[derive(Clone, Debug)]
pub(in crate::laws) struct Standard {
    gains: Gains,
    tune: Tune,
    tupdate: Span,
    target: Span,
    max_burst: Span,
    exempt_bytes: u64,
    /// While the delay is below half the target, no packet is dropped at probabilities below this.
    calm_prob: f64,
    ecn: bool,
    ecn_mark_limit: f64,
    derandomise: bool,
    cap_step: bool,
    idle_decay: f64,
    source: Source,
    switch: Option<Switch>,
    /// Whether PIE is switched off; a separate field because every arrival reads it.
    is_off: bool,
    pub(super) drop_prob: f64,
    /// `drop_prob` in the accumulator's scale, which saves a conversion per packet.
    pub(super) scaled_prob: ScaledProb,
    accumulator: Accumulator,
    pub(super) delay: Span,
    /// `delay` at the last update.
    pub(super) delay_old: Span,
    pub(super) burst_allowance: Span,
}

/// Where the delay comes from.
#[derive(Clone, Debug)]
enum Source {
    /// The sojourn time of the last departure.
    Stamps {
        /// Whether the delay is 0 once the queue is empty.
        zero_when_empty: bool,
    },
    /// The backlog over the departure rate, at updates.
    Rate(DequeueTime),
}

/// RFC 8033 §5.3: PIE is off until the backlog reaches a third of the limit, and again after
/// congestion.
#[derive(Clone, Copy, Debug)]
struct Switch {
    limit: Limit,
}

impl Switch {
    fn is_reached(&self, queue: Backlog) -> bool {
        match self.limit {
            Limit::Packets(n) => u64::from(queue.packets).saturating_mul(3) >= n,
            Limit::Bytes(n) => queue.bytes.saturating_mul(3) >= n,
        }
    }
}

impl Standard {
    pub(super) fn new(p: &PieParams, env: &Env) -> Standard {
        let is_draft = p.dialect == "ietf_draft";
        Standard {
            gains: p.gains(),
            tune: p.tune,
            tupdate: p.period(),
            target: p.target,
            max_burst: p.max_burst,
            exempt_bytes: p.mean_packet(env).saturating_mul(2),
            calm_prob: if is_draft { f64::INFINITY } else { 0.2 },
            ecn: p.ecn,
            ecn_mark_limit: p.ecn_mark_limit,
            derandomise: p.derandomise,
            cap_step: p.cap_step,
            idle_decay: p.idle_decay,
            source: if p.delay == super::DelaySource::Rate {
                Source::Rate(DequeueTime::new(p.dq_threshold.0, p.rate_weight))
            } else {
                Source::Stamps { zero_when_empty: p.dialect != "rfc8033_basic" }
            },
            switch: p.on_off.then_some(Switch { limit: env.limit }),
            is_off: p.on_off,
            drop_prob: 0.0,
            scaled_prob: ScaledProb::default(),
            accumulator: match is_draft {
                true => Accumulator::overdue_above(),
                false => Accumulator::default(),
            },
            delay: Span::ZERO,
            delay_old: Span::ZERO,
            burst_allowance: p.max_burst,
        }
    }

    fn is_below_half_target(&self, delay: Span) -> bool {
        delay.times(2) < self.target
    }

    /// RFC 8033 §4.4: whether there is no congestion, in which case the next burst gets the full
    /// allowance.
    fn is_uncongested(&self) -> bool {
        self.drop_prob == 0.0
            && self.is_below_half_target(self.delay)
            && self.is_below_half_target(self.delay_old)
    }

    /// RFC 8033 §4.1: whether the delay or the backlog is too small to drop anything.
    fn is_exempt(&self, queue: Backlog) -> bool {
        let calm = self.drop_prob < self.calm_prob && self.is_below_half_target(self.delay_old);
        calm || queue.bytes <= self.exempt_bytes
    }

    /// RFC 8033 §5.4: derandomised selection, with one draw at most.
    #[inline(always)]
    fn selects(&mut self, rng: &mut Rng) -> bool {
        if self.drop_prob == 0.0 {
            self.accumulator.clear();
            return false;
        }
        if !self.derandomise {
            return rng.uniform() < self.drop_prob;
        }
        match self.accumulator.add(self.scaled_prob) {
            SignalTiming::TooEarly => false,
            SignalTiming::Open => rng.uniform() < self.drop_prob,
            SignalTiming::Overdue => true,
        }
    }

    #[inline(always)]
    pub(super) fn on_enqueue(
        &mut self,
        now: Time,
        head: Head,
        queue: Backlog,
        rng: &mut Rng,
    ) -> Verdict {
        if self.is_off {
            self.maybe_switch_on(now, queue);
            return Verdict::Pass;
        }
        if self.is_uncongested() {
            self.burst_allowance = self.max_burst;
        }
        let protected = self.burst_allowance > Span::ZERO || self.is_exempt(queue);
        if protected || !self.selects(rng) {
            return Verdict::Pass;
        }
        self.accumulator.clear();
        let mark = self.ecn && self.drop_prob < self.ecn_mark_limit && head.ecn.can_mark();
        Verdict::signal(mark, Cause::Random)
    }

    /// RFC 8033 Appendix B: initialises the state when an accepted arrival switches PIE on.
    #[inline(never)]
    fn maybe_switch_on(&mut self, now: Time, queue: Backlog) {
        if !self.switch.is_some_and(|switch| switch.is_reached(queue)) {
            return;
        }
        self.is_off = false;
        self.set_prob(0.0);
        self.delay_old = Span::ZERO;
        self.burst_allowance = self.max_burst;
        self.accumulator.clear();
        if let Source::Rate(time) = &mut self.source {
            self.delay = Span::ZERO;
            time.restart(now);
        }
    }

    /// RFC 8033 Appendix B switches PIE off when p and both delays are 0. PIE would then be
    /// switched off immediately, because the delay is also 0 before a rate is known; so here the
    /// queue must be empty too (fact aqm-77).
    fn maybe_switch_off(&mut self, delay_old: Span, queue: Backlog) {
        let over = self.drop_prob == 0.0
            && self.delay == Span::ZERO
            && delay_old == Span::ZERO
            && queue.packets == 0;
        if over && self.switch.is_some() {
            self.is_off = true;
            if let Source::Rate(time) = &mut self.source {
                time.stop();
            }
        }
    }

    pub(super) fn on_overflow(&mut self, queue: Backlog) {
        self.accumulator.clear(); // RFC 8033 Appendix B: any drop restarts the sum
        if queue.packets == 0 {
            self.delay = Span::ZERO;
        }
    }

    #[inline(always)]
    pub(super) fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) {
        match &mut self.source {
            Source::Stamps { zero_when_empty } => {
                let zero = *zero_when_empty && queue.packets == 0;
                self.delay = if zero { Span::ZERO } else { head.sojourn(now) };
            }
            Source::Rate(time) => time.on_dequeue(now, head.bytes, queue.bytes),
        }
    }

    /// The periodic update (RFC 8033 §4.2).
    pub(super) fn update(&mut self, queue: Backlog) {
        if self.is_off {
            return;
        }
        if let Source::Rate(time) = &self.source {
            self.delay = time.delay(queue.bytes);
        }
        let delay_old = self.delay_old;
        self.control();
        self.maybe_switch_off(delay_old, queue);
        self.burst_allowance = self.burst_allowance.saturating_sub(self.tupdate);
    }

    /// RFC 8033 §4.2: one update of the drop probability.
    fn control(&mut self) {
        self.set_prob(self.next_prob());
        self.delay_old = self.delay;
    }

    fn next_prob(&self) -> f64 {
        let p = self.drop_prob;
        let (delay, delay_old) = (self.delay.as_secs(), self.delay_old.as_secs());
        let step = self.gains.step(delay, delay_old) * self.tune.factor(p);
        let mut p = p + if self.cap_step { capped(p, step) } else { step };
        if self.delay == Span::ZERO && self.delay_old == Span::ZERO {
            p *= self.idle_decay;
        }
        p.clamp(0.0, 1.0)
    }

    fn set_prob(&mut self, p: f64) {
        self.drop_prob = p;
        self.scaled_prob = ScaledProb::new(p);
    }

    /// Whether updates change nothing until a packet arrives. The delay remains that of the last
    /// departure, so the probability settles at a bound.
    pub(super) fn is_at_rest(&self) -> bool {
        let has_delay_of_next =
            matches!(self.source, Source::Stamps { .. }) || self.delay == Span::ZERO;
        let settled = self.delay == self.delay_old
            && has_delay_of_next
            && self.burst_allowance == Span::ZERO
            && (self.switch.is_none() || self.delay != Span::ZERO)
            && self.next_prob() == self.drop_prob;
        settled || self.is_off
    }

    /// Whether drops are suppressed: switched off, in a burst, or while at most two packets are
    /// queued.
    pub(super) fn is_protected(&self, queue: Backlog) -> bool {
        self.burst_allowance > Span::ZERO || self.is_idle(queue)
    }

    /// Whether drops are suppressed outside of bursts too.
    pub(super) fn is_idle(&self, queue: Backlog) -> bool {
        self.is_off || queue.bytes <= self.exempt_bytes
    }

    pub(super) fn drop_prob(&self) -> f64 {
        self.drop_prob
    }

    pub(super) fn delay(&self) -> f64 {
        self.delay.as_secs()
    }

    pub(super) fn delay_at_update(&self) -> f64 {
        self.delay_old.as_secs()
    }

    pub(super) fn burst_allowance(&self) -> f64 {
        self.burst_allowance.as_secs()
    }

    pub(super) fn accumulator(&self) -> f64 {
        self.accumulator.value()
    }
}
