//! PIE, proportional integral controller enhanced: drops arrivals with a probability that a
//! controller of queue delay updates periodically.
//!
//! Source: RFC 8033, Appendix B without the on/off switch (§5.3), and with the corrections below.
//!
//! Deviations from RFC 8033:
//! - The delay is the sojourn time of the last packet that left, as in its Appendix A and §6, and 0
//!   once the queue is empty, as in Linux and ns-3. Appendix B estimates a departure rate.
//! - The burst allowance is tested before the drop decision (§4.4, Appendix A), not after it as in
//!   Appendix B, where accumulator and generator move on although nothing can be dropped.
//! - A marked packet is enqueued, and the accumulator is cleared on marks as well as on drops; the
//!   pseudo-code of Appendix B leaves both open.
//! - The accumulator is an integer in units of 2^-56, so that 0.85 and 8.5 are met exactly.
//!
//! Deviations from Linux `sch_pie.c`: the probability cannot exceed 1; no 2 % kick above 250 ms;
//! decay by 0.98, not 63/64; ECN below 10 %, not up to and including it; the half-target bypass
//! uses the delay at the last update; the burst allowance falls at updates, not between departures,
//! and is re-armed by an arrival; the first update comes after one `tupdate`, not after 500 ms.
//!
//! Deviations from ns-3 (mid-2026): ns-3 holds the probability at 0 during a burst, forgives a
//! burst at the first arrival and again only after calm, draws before the exemptions are tested,
//! derandomises on request only, and does not clear its accumulator on a mark.

mod ns2;
mod scaling;

pub(in crate::laws) use ns2::{Ns2Pie, Ns2Setup};
use scaling::{Scaling, capped};

use crate::law::{Aqm, Cause, Env, Law, Var, Verdict};
use crate::packet::{Backlog, Head};
use crate::params;
use crate::params::{Bytes, Hertz, OrAuto};
use crate::parts::accumulator::{Accumulator, ScaledProb, Standing};
use crate::parts::gains::Gains;
use crate::parts::periodic::Periodic;
use crate::rng::Rng;
use crate::time::{Span, Time};

params! {
    /// Parameters of PIE.
    pub struct PieParams {
        dialects: "rfc8033" = "RFC 8033 Appendix B without on/off, delays from time stamps";
        /// Queue delay aimed at.
        target: Span, POSITIVE, "RFC 8033 §4.2: QDELAY_REF" => Span::from_millis(15);
        /// Time between two updates of the drop probability.
        tupdate: Span, POSITIVE, "RFC 8033 §4.2: T_UPDATE" => Span::from_millis(15);
        /// Integral gain.
        alpha: Hertz, NOT_NEGATIVE, "RFC 8033 §4.2: 1/8" => Hertz(0.125);
        /// Proportional gain.
        beta: Hertz, NOT_NEGATIVE, "RFC 8033 §4.2: 1 + 1/4" => Hertz(1.25);
        /// How long a burst may last, after a time without congestion, before packets are dropped.
        max_burst: Span, ANY, "RFC 8033 §4.4: MAX_BURST" => Span::from_millis(150);
        /// Twice this backlog is never too much; `auto` is the largest packet of the link.
        mtu_bytes: OrAuto<Bytes>, POSITIVE, "RFC 8033 §4.1: MEAN_PKTSIZE, a large packet"
            => OrAuto(None);
        /// Whether packets that can be marked are marked instead of dropped.
        ecn: bool, ANY, "RFC 8033 §5.1: optional; Linux sch_pie.c: off" => false;
        /// Drop probability from which packets are dropped even if they could be marked.
        ecn_mark_limit: f64, PROBABILITY, "RFC 8033 §5.1: 10 %" => 0.1;
        /// Whether signals are kept from coming too soon or too late after one another.
        derandomise: bool, ANY, "RFC 8033 §5.4" => true;
        /// Whether the probability grows by at most 2 percentage points per update once it is 10 %.
        cap_step: bool, ANY, "RFC 8033 §5.5" => true;
        /// Factor on the probability at each update with no delay, now and before.
        idle_decay: f64, FRACTION, "RFC 8033 §4.2: 0.98" => 0.98;
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct Pie {
    gains: Gains,
    target: Span,
    max_burst: Span,
    exempt_bytes: u64,
    ecn: bool,
    ecn_mark_limit: f64,
    derandomise: bool,
    cap_step: bool,
    idle_decay: f64,
    timer: Periodic,
    drop_prob: f64,
    /// `drop_prob` once more, so that nothing is converted per packet.
    scaled_prob: ScaledProb,
    accumulator: Accumulator,
    /// Sojourn time of the last packet that left; 0 once it left nothing behind.
    delay: Span,
    /// `delay` at the last update.
    delay_old: Span,
    burst_allowance: Span,
}

impl Pie {
    fn is_below_half_target(&self, delay: Span) -> bool {
        delay.times(2) < self.target
    }

    /// RFC 8033 §4.4: no congestion, so that the next burst gets its full allowance.
    fn is_uncongested(&self) -> bool {
        self.drop_prob == 0.0
            && self.is_below_half_target(self.delay)
            && self.is_below_half_target(self.delay_old)
    }

    /// RFC 8033 §4.1: the delay or the backlog is too small to drop anything.
    fn is_exempt(&self, queue: Backlog) -> bool {
        let calm = self.drop_prob < 0.2 && self.is_below_half_target(self.delay_old);
        calm || queue.bytes <= self.exempt_bytes
    }

    /// RFC 8033 §5.4: chance, kept from extremes. At most one draw.
    fn selects(&mut self, rng: &mut Rng) -> bool {
        if self.drop_prob == 0.0 {
            self.accumulator.clear();
            return false;
        }
        if !self.derandomise {
            return rng.uniform() < self.drop_prob;
        }
        match self.accumulator.add(self.scaled_prob) {
            Standing::TooEarly => false,
            Standing::Open => rng.uniform() < self.drop_prob,
            Standing::Overdue => true,
        }
    }

    /// RFC 8033 §4.2: one update of the drop probability.
    fn update(&mut self) {
        let p = self.drop_prob;
        let (delay, delay_old) = (self.delay.as_secs(), self.delay_old.as_secs());
        let step = self.gains.step(delay, delay_old) * Scaling::Rfc8033.factor(p);
        let mut p = p + if self.cap_step { capped(p, step) } else { step };
        if self.delay == Span::ZERO && self.delay_old == Span::ZERO {
            p *= self.idle_decay;
        }
        self.drop_prob = p.clamp(0.0, 1.0);
        self.scaled_prob = ScaledProb::new(self.drop_prob);
        self.delay_old = self.delay;
    }

    /// Whether updates change nothing until a packet comes.
    fn is_at_rest(&self) -> bool {
        self.drop_prob == 0.0
            && self.delay == Span::ZERO
            && self.delay_old == Span::ZERO
            && self.burst_allowance == Span::ZERO
    }
}

impl Aqm for Pie {
    fn on_enqueue(&mut self, _now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
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

    fn on_overflow(&mut self, _now: Time, queue: Backlog) {
        self.accumulator.clear(); // RFC 8033 Appendix B: any drop starts the sum anew
        if queue.packets == 0 {
            self.delay = Span::ZERO;
        }
    }

    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, _rng: &mut Rng) -> Verdict {
        self.delay = if queue.packets == 0 { Span::ZERO } else { head.sojourn(now) };
        Verdict::Pass
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.timer.next())
    }

    fn on_timer(&mut self, now: Time, _queue: Backlog) {
        self.update();
        self.burst_allowance = self.burst_allowance.saturating_sub(self.timer.period());
        self.timer.advance(now);
    }

    fn on_idle_timers(&mut self, now: Time) {
        while self.timer.next() <= now {
            if self.is_at_rest() {
                self.timer.advance(now);
            } else {
                self.on_timer(self.timer.next(), Backlog::EMPTY);
            }
        }
    }

    fn observe(&self, out: &mut [f64]) {
        out[0] = self.drop_prob;
        out[1] = self.delay.as_secs();
        out[2] = self.burst_allowance.as_secs();
        out[3] = self.accumulator.value();
    }
}

impl Law for Pie {
    type Params = PieParams;
    const NAME: &'static str = "pie";
    const DOC: &'static str =
        "Drops arrivals with a probability from a PI controller of queue delay (RFC 8033)";
    const VARS: &'static [Var] = &[
        Var { name: "drop_prob", unit: "1", doc: "Probability in the controller" },
        Var { name: "delay", unit: "s", doc: "Queue delay as the controller sees it" },
        Var { name: "burst_allowance", unit: "s", doc: "Time for which nothing is dropped yet" },
        Var { name: "accumulator", unit: "1", doc: "Sum of probabilities since the last signal" },
    ];

    fn new(params: &PieParams, env: &Env) -> Self {
        let p = params;
        Pie {
            gains: Gains { alpha: p.alpha.0, beta: p.beta.0, target: p.target.as_secs() },
            target: p.target,
            max_burst: p.max_burst,
            exempt_bytes: p.mtu_bytes.0.map_or(u64::from(env.mtu_bytes), |b| b.0).saturating_mul(2),
            ecn: p.ecn,
            ecn_mark_limit: p.ecn_mark_limit,
            derandomise: p.derandomise,
            cap_step: p.cap_step,
            idle_decay: p.idle_decay,
            timer: Periodic::new(p.tupdate),
            drop_prob: 0.0,
            scaled_prob: ScaledProb::default(),
            accumulator: Accumulator::default(),
            delay: Span::ZERO,
            delay_old: Span::ZERO,
            burst_allowance: p.max_burst,
        }
    }
}

#[cfg(test)]
mod tests;
