//! PIE in the integer arithmetic of Linux `sch_pie.c` since its alignment with RFC 8033 (2019):
//! probabilities in 56 bits of a 64-bit word, time in psched ticks of 64 ns.
//!
//! Source: Linux 6.1 `sch_pie.c`, `pie_drop_early`, `pie_process_dequeue` and
//! `pie_calculate_probability`; `pie.h`, `pie_vars_init`. As in Linux, the probability may exceed 1
//! (fact aqm-73), and a mark made because the sum is overdue does not clear the sum (fact aqm-74).
//!
//! Deviations: a draw is the upper 56 bits of a number from the law's own stream. An eviction that
//! empties a queue sets its delay to 0, which never happens to a single queue of the kernel. The
//! rate estimate has 64 bits; the kernel's products wrap at 32 bits (from a backlog of 16 MiB on).

use super::{DelaySource, PieParams};
use crate::law::{Cause, Env, Verdict};
use crate::packet::{Backlog, Head};
use crate::rng::Rng;
use crate::time::{Span, Time};

/// Probability 1: 56 bits, all set.
const ONE: u64 = u64::MAX >> 8;
const TICKS_PER_SEC: u64 = ticks(Span::from_secs(1));
const KICK_ABOVE: u64 = ticks(Span::from_millis(250));
/// Rates have 8 fractional bits, because whole bytes per tick would be too coarse.
const RATE_SHIFT: u32 = 8;

/// Converts to psched ticks of 64 ns.
const fn ticks(span: Span) -> u64 {
    span.as_nanos() >> 6
}

fn ticks_at(time: Time) -> u64 {
    time.as_nanos() >> 6
}

/// The controller and its decision.
#[derive(Clone, Debug)]
pub(in crate::laws) struct LinuxPie {
    target: u64,
    max_burst: u64,
    /// Gains in sixteenths of a Hz.
    alpha: u64,
    beta: u64,
    mtu_bytes: u64,
    byte_mode: bool,
    ecn: bool,
    mark_limit: u64,
    estimates_rate: bool,
    dq_threshold: u64,
    prob: u64,
    accumulator: u64,
    delay: u64,
    delay_old: u64,
    burst_allowance: u64,
    /// Bytes per tick, times 256; 0 before the first sample.
    rate: u64,
    /// Stamp mode: the last departure. Rate mode: the start of the measurement.
    stamp: Option<u64>,
    /// Rate mode: bytes counted in the measurement.
    counted: Option<u64>,
}

impl LinuxPie {
    pub(super) fn new(p: &PieParams, env: &Env) -> LinuxPie {
        let sixteenths = |hertz: f64| libm::round(hertz * 16.0) as u64;
        LinuxPie {
            target: ticks(p.target),
            max_burst: ticks(p.max_burst),
            alpha: sixteenths(p.alpha.0),
            beta: sixteenths(p.beta.0),
            mtu_bytes: p.mean_packet(env),
            byte_mode: p.byte_mode,
            ecn: p.ecn,
            mark_limit: scaled(p.ecn_mark_limit),
            estimates_rate: p.delay == DelaySource::Rate,
            dq_threshold: p.dq_threshold.0,
            prob: 0,
            accumulator: 0,
            delay: 0,
            delay_old: 0,
            burst_allowance: ticks(p.max_burst),
            rate: 0,
            stamp: None,
            counted: None,
        }
    }

    pub(super) fn on_enqueue(&mut self, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        if !self.selects(head, queue, rng) {
            return Verdict::Pass;
        }
        if self.ecn && self.prob <= self.mark_limit && head.ecn.can_mark() {
            return Verdict::Mark(Cause::Random);
        }
        self.accumulator = 0;
        Verdict::Drop(Cause::Random)
    }

    fn selects(&mut self, head: Head, queue: Backlog, rng: &mut Rng) -> bool {
        let calm = self.delay < self.target / 2 && self.prob < ONE / 5;
        if self.burst_allowance > 0 || calm || self.is_small(queue) {
            return false;
        }
        let prob = self.prob_for(head.bytes);
        if prob == 0 {
            self.accumulator = 0;
        } else {
            self.accumulator = self.accumulator.saturating_add(prob);
        }
        if self.accumulator < ONE / 100 * 85 {
            return false;
        }
        if self.accumulator >= ONE / 2 * 17 {
            return true; // the sum is not cleared (fact aqm-74)
        }
        let hit = rng.next_u64() >> 8 < prob;
        if hit {
            self.accumulator = 0;
        }
        hit
    }

    /// Byte mode: smaller packets are signalled less often.
    fn prob_for(&self, bytes: u32) -> u64 {
        let bytes = u64::from(bytes);
        if self.byte_mode && bytes <= self.mtu_bytes {
            bytes.saturating_mul(self.prob / self.mtu_bytes)
        } else {
            self.prob
        }
    }

    fn is_small(&self, queue: Backlog) -> bool {
        queue.bytes < self.mtu_bytes.saturating_mul(2)
    }

    pub(super) fn on_overflow(&mut self, queue: Backlog) {
        self.accumulator = 0;
        if queue.packets == 0 && !self.estimates_rate {
            self.delay = 0;
        }
    }

    pub(super) fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) {
        let elapsed = if self.estimates_rate {
            self.measure(ticks_at(now), head, queue)
        } else {
            self.stamp_delay(ticks_at(now), head, queue)
        };
        self.burst_allowance = self.burst_allowance.saturating_sub(elapsed);
    }

    /// Stamp mode: the delay of this packet, and the time since the last one.
    fn stamp_delay(&mut self, now: u64, head: Head, queue: Backlog) -> u64 {
        let waited = now.saturating_sub(ticks_at(head.enqueued));
        self.delay = if queue.bytes == 0 { 0 } else { waited };
        let before = self.stamp.replace(now);
        before.map_or(0, |before| now.saturating_sub(before))
    }

    /// Rate mode: a measurement starts with the packet in hand. Returns its duration when it ends.
    fn measure(&mut self, now: u64, head: Head, queue: Backlog) -> u64 {
        if self.counted.is_none() && queue.bytes >= self.dq_threshold {
            (self.stamp, self.counted) = (Some(now), Some(0));
        }
        let (Some(start), Some(counted)) = (self.stamp, &mut self.counted) else { return 0 };
        *counted = counted.saturating_add(u64::from(head.bytes));
        let elapsed = now.saturating_sub(start);
        if *counted < self.dq_threshold || elapsed == 0 {
            return 0;
        }
        let sample = counted.saturating_mul(1 << RATE_SHIFT) / elapsed;
        self.rate = match self.rate {
            0 => sample,
            rate => (rate - (rate >> 3)).saturating_add(sample >> 3),
        };
        if queue.bytes < self.dq_threshold {
            self.counted = None;
        } else {
            (self.stamp, self.counted) = (Some(now), Some(0));
        }
        elapsed
    }

    /// The periodic update.
    pub(super) fn update(&mut self, queue: Backlog) {
        if self.estimates_rate {
            self.delay_old = self.delay;
            let scaled = u128::from(queue.bytes) << RATE_SHIFT;
            self.delay = match self.rate {
                0 => 0,
                rate => u64::try_from(scaled / u128::from(rate)).unwrap_or(u64::MAX),
            };
        }
        let wrapped = self.control();
        let idle = self.delay == 0 && self.delay_old == 0;
        let waits = self.delay == 0 && queue.bytes != 0;
        if idle && !waits && !wrapped {
            self.prob -= self.prob / 64;
        }
        self.maybe_restart();
        if !self.estimates_rate {
            self.delay_old = self.delay;
        }
    }

    /// Caps, kicks and adds the step within the bounds of a 64-bit word. Returns whether it
    /// overflowed.
    fn control(&mut self) -> bool {
        let (alpha, beta) = self.scaled_gains();
        let integral = alpha.wrapping_mul(self.delay.wrapping_sub(self.target));
        let proportional = beta.wrapping_mul(self.delay.wrapping_sub(self.delay_old));
        let mut delta = integral.wrapping_add(proportional) as i64;
        if delta > (ONE / 50) as i64 && self.prob >= ONE / 10 {
            delta = (ONE / 100 * 2) as i64;
        }
        if self.delay > KICK_ABOVE {
            delta = delta.wrapping_add((ONE / 50) as i64);
        }
        let before = self.prob;
        self.prob = before.wrapping_add(delta as u64);
        if delta > 0 && self.prob < before {
            self.prob = ONE;
            return true;
        }
        if delta <= 0 && self.prob > before {
            self.prob = 0;
        }
        false
    }

    /// The gains per tick of delay, divided by powers of two while the probability is small.
    fn scaled_gains(&self) -> (u64, u64) {
        let shift = match self.prob {
            p if p >= ONE / 10 => 0,
            p if p >= ONE / 100 => 1,
            p if p >= ONE / 1_000 => 3,
            p if p >= ONE / 10_000 => 5,
            p if p >= ONE / 100_000 => 7,
            p if p >= ONE / 1_000_000 => 9,
            _ => 11,
        };
        let per_tick = |sixteenths: u64| ((sixteenths * (ONE / TICKS_PER_SEC)) >> 4) >> shift;
        (per_tick(self.alpha), per_tick(self.beta))
    }

    /// After calm (`pie_vars_init`): grants a new burst allowance and restarts measurements.
    fn maybe_restart(&mut self) {
        let calm = self.delay < self.target / 2 && self.delay_old < self.target / 2;
        if calm && self.prob == 0 && (!self.estimates_rate || self.rate > 0) {
            self.burst_allowance = self.max_burst;
            self.accumulator = 0;
            self.rate = 0;
            self.stamp = None;
            self.counted = None;
        }
    }

    /// Whether updates of an empty queue change nothing.
    pub(super) fn is_at_rest(&self) -> bool {
        let fresh = self.burst_allowance == self.max_burst
            && self.accumulator == 0
            && self.stamp.is_none()
            && self.counted.is_none();
        let settled = if self.estimates_rate { self.rate == 0 } else { fresh };
        self.prob == 0 && self.delay == 0 && self.delay_old == 0 && settled
    }

    /// Whether drops are suppressed: in a burst, or with fewer than two packets queued.
    pub(super) fn is_protected(&self, queue: Backlog) -> bool {
        self.burst_allowance > 0 || self.is_idle(queue)
    }

    /// Whether drops are suppressed outside of bursts too.
    pub(super) fn is_idle(&self, queue: Backlog) -> bool {
        self.is_small(queue)
    }

    /// The probability, which may exceed 1.
    pub(super) fn drop_prob(&self) -> f64 {
        self.prob as f64 / ONE as f64
    }

    pub(super) fn delay(&self) -> f64 {
        seconds(self.delay)
    }

    pub(super) fn delay_at_update(&self) -> f64 {
        seconds(if self.estimates_rate { self.delay } else { self.delay_old })
    }

    pub(super) fn burst_allowance(&self) -> f64 {
        seconds(self.burst_allowance)
    }

    pub(super) fn accumulator(&self) -> f64 {
        self.accumulator as f64 / ONE as f64
    }

    #[cfg(test)]
    pub(super) fn started(mut self, p: f64, delay: Span) -> LinuxPie {
        self.prob = scaled(p);
        (self.delay, self.delay_old) = (ticks(delay), ticks(delay));
        self.burst_allowance = 0;
        self
    }
}

/// A probability in the kernel's scale. One tenth is ONE / 10, one unit less than with doubles.
fn scaled(prob: f64) -> u64 {
    if prob == 0.1 { ONE / 10 } else { (prob * ONE as f64) as u64 }
}

fn seconds(ticks: u64) -> f64 {
    ticks as f64 / TICKS_PER_SEC as f64
}
