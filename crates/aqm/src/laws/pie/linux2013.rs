//! PIE in the integer arithmetic of its authors' Linux module of 2013: probabilities in 32 bits,
//! time in psched ticks of 64 ns, delay from a measured departure rate.
//!
//! Source: repository dtaht/cerowrt-3.10, `target/linux/generic/patches-3.10/678-pie-backport-pie-
//! to-linux-3.10.patch` ("pie v4", 2013-12-15): `drop_early`, `pie_process_dequeue`,
//! `calculate_probability`, `pie_vars_init`. Mainline's first `sch_pie.c` (Linux 3.14) uses the
//! same expression for the decay. The product `prob * 98` has 32 bits and wraps at probabilities
//! above 1.02 %, so an update that finds the queue empty a second time resets the probability to
//! below 1 % (fact aqm-131). `decay_wraps=false` computes it in 64 bits.
//!
//! Deviations: a draw is the upper 32 bits of a number from the law's own stream. Linux has
//! [`super::linux`] today; ns-3 has no such dialect.

use super::PieParams;
use crate::law::{Cause, Env, Verdict};
use crate::packet::{Backlog, Head};
use crate::rng::Rng;
use crate::time::{Span, Time};

/// Probability 1: 32 bits, all set.
const ONE: u32 = u32::MAX;
const TICKS_PER_SEC: u32 = ticks(Span::from_secs(1)) as u32;
const KICK_ABOVE: u64 = ticks(Span::from_millis(250));
/// Rates have 8 fractional bits, because whole bytes per tick would be too coarse.
const RATE_SHIFT: u32 = 8;

/// Converts to psched ticks of 64 ns.
const fn ticks(span: Span) -> u64 {
    span.as_nanos() >> 6
}

/// The controller and its decision.
#[derive(Clone, Debug)]
pub(in crate::laws) struct Linux2013Pie {
    target: u64,
    max_burst: u64,
    /// Gains in sixteenths of a Hz.
    alpha: u32,
    beta: u32,
    mtu_bytes: u64,
    byte_mode: bool,
    ecn: bool,
    mark_limit: u32,
    dq_threshold: u64,
    decay_wraps: bool,
    prob: u32,
    delay: u64,
    delay_old: u64,
    burst_allowance: u64,
    /// Bytes per tick, times 256; 0 before the first sample.
    rate: u32,
    /// Start of the measurement and bytes counted in it.
    measurement: Option<(u64, u64)>,
}

impl Linux2013Pie {
    pub(super) fn new(p: &PieParams, env: &Env) -> Linux2013Pie {
        let sixteenths = |hertz: f64| libm::round(hertz * 16.0) as u32;
        Linux2013Pie {
            target: ticks(p.target),
            max_burst: ticks(p.max_burst),
            alpha: sixteenths(p.alpha.0),
            beta: sixteenths(p.beta.0),
            mtu_bytes: p.mean_packet(env),
            byte_mode: p.byte_mode,
            ecn: p.ecn,
            mark_limit: scaled(p.ecn_mark_limit),
            dq_threshold: p.dq_threshold.0,
            decay_wraps: p.decay_wraps,
            prob: 0,
            delay: 0,
            delay_old: 0,
            burst_allowance: ticks(p.max_burst),
            rate: 0,
            measurement: None,
        }
    }

    pub(super) fn on_enqueue(&mut self, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        let calm = self.delay < self.target / 2 && self.prob < ONE / 5;
        if calm || self.is_protected(queue) {
            return Verdict::Pass;
        }
        let draw = (rng.next_u64() >> 32) as u32;
        if draw >= self.prob_for(head.bytes) {
            return Verdict::Pass;
        }
        let may_mark = self.ecn && self.prob <= self.mark_limit && head.ecn.can_mark();
        Verdict::signal(may_mark, Cause::Random)
    }

    /// Byte mode: smaller packets are signalled less often.
    fn prob_for(&self, bytes: u32) -> u32 {
        if self.byte_mode && u64::from(bytes) <= self.mtu_bytes {
            (u64::from(self.prob) / self.mtu_bytes) as u32 * bytes
        } else {
            self.prob
        }
    }

    /// A measurement counts the packet in hand; when it ends, its duration is subtracted from the
    /// burst allowance.
    pub(super) fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) {
        let now = now.as_nanos() >> 6;
        let enough_waits = queue.bytes >= self.dq_threshold;
        if self.measurement.is_none() && enough_waits {
            self.measurement = Some((now, 0));
        }
        let Some((start, counted)) = &mut self.measurement else { return };
        *counted = counted.saturating_add(u64::from(head.bytes));
        let elapsed = now.saturating_sub(*start) as u32;
        if *counted < self.dq_threshold || elapsed == 0 {
            return;
        }
        let sample = (*counted as u32).wrapping_shl(RATE_SHIFT) / elapsed;
        self.rate = match self.rate {
            0 => sample,
            rate => (rate - (rate >> 3)).wrapping_add(sample >> 3),
        };
        self.measurement = enough_waits.then_some((now, 0));
        self.burst_allowance = self.burst_allowance.saturating_sub(u64::from(elapsed));
    }

    /// The periodic update.
    pub(super) fn update(&mut self, queue: Backlog) {
        self.delay_old = self.delay;
        self.delay = match self.rate {
            0 => 0,
            rate => u64::from((queue.bytes as u32).wrapping_shl(RATE_SHIFT) / rate),
        };
        let saturated = self.control();
        let idle = self.delay == 0 && self.delay_old == 0;
        if idle && queue.bytes == 0 && !saturated {
            self.prob = self.decayed();
        }
        self.maybe_restart();
    }

    /// Caps, kicks and adds the step within the bounds of a 32-bit word. Returns whether it
    /// overflowed.
    fn control(&mut self) -> bool {
        let (alpha, beta) = self.scaled_gains();
        let integral = alpha.wrapping_mul(self.delay.wrapping_sub(self.target));
        let proportional = beta.wrapping_mul(self.delay.wrapping_sub(self.delay_old));
        let mut delta = integral.wrapping_add(proportional) as i32;
        if delta > (ONE / 50) as i32 && self.prob >= ONE / 10 {
            delta = (ONE / 100 * 2) as i32;
        }
        if self.delay > KICK_ABOVE {
            delta = delta.wrapping_add((ONE / 50) as i32);
        }
        let before = self.prob;
        self.prob = before.wrapping_add(delta as u32);
        if delta > 0 && self.prob < before {
            self.prob = ONE;
            return true;
        }
        if delta <= 0 && self.prob > before {
            self.prob = 0;
        }
        false
    }

    /// The gains per tick of delay, smaller while the probability is small.
    fn scaled_gains(&self) -> (u64, u64) {
        let shift = match self.prob {
            p if p < ONE / 100 => 7,
            p if p < ONE / 10 => 5,
            _ => 4,
        };
        let per_tick = |sixteenths: u32| u64::from((sixteenths * (ONE / TICKS_PER_SEC)) >> shift);
        (per_tick(self.alpha), per_tick(self.beta))
    }

    /// 98 % of the probability; with the module's 32 bits, a probability above 1.02 % yields less
    /// than 1 %.
    fn decayed(&self) -> u32 {
        if self.decay_wraps {
            self.prob.wrapping_mul(98) / 100
        } else {
            (u64::from(self.prob) * 98 / 100) as u32
        }
    }

    /// After calm (`pie_vars_init`): grants a new burst allowance and restarts measurements.
    fn maybe_restart(&mut self) {
        let calm = self.delay < self.target / 2 && self.delay_old < self.target / 2;
        if calm && self.prob == 0 && self.rate > 0 {
            self.burst_allowance = self.max_burst;
            self.rate = 0;
            self.measurement = None;
        }
    }

    /// Whether updates of an empty queue change nothing.
    pub(super) fn is_at_rest(&self) -> bool {
        self.prob == 0 && self.delay == 0 && self.delay_old == 0 && self.rate == 0
    }

    /// Whether drops are suppressed: in a burst, or while fewer than two packets are queued.
    pub(super) fn is_protected(&self, queue: Backlog) -> bool {
        self.burst_allowance > 0 || self.is_idle(queue)
    }

    /// Whether drops are suppressed outside of bursts too.
    pub(super) fn is_idle(&self, queue: Backlog) -> bool {
        queue.bytes < self.mtu_bytes.saturating_mul(2)
    }

    pub(super) fn drop_prob(&self) -> f64 {
        f64::from(self.prob) / f64::from(ONE)
    }

    pub(super) fn delay(&self) -> f64 {
        seconds(self.delay)
    }

    pub(super) fn burst_allowance(&self) -> f64 {
        seconds(self.burst_allowance)
    }

    #[cfg(test)]
    pub(super) fn started(mut self, p: f64, delay: Span) -> Linux2013Pie {
        self.prob = scaled(p);
        (self.delay, self.delay_old) = (ticks(delay), ticks(delay));
        self.burst_allowance = 0;
        self
    }
}

/// A probability in the module's scale.
fn scaled(prob: f64) -> u32 {
    (prob * f64::from(ONE)) as u32
}

fn seconds(ticks: u64) -> f64 {
    ticks as f64 / f64::from(TICKS_PER_SEC)
}
