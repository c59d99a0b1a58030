//! PIE in the integer arithmetic of FreeBSD's dummynet: probabilities in 31 bits, gains in 13, time
//! in ticks of its clock.
//!
//! Source: FreeBSD 14 sys/netpfil/ipfw, `dn_aqm_pie.c` (`aqm_pie_enqueue`, `aqm_pie_dequeue`,
//! `calculate_drop_prob`, `init_activate_pie`), `dn_aqm_pie.h` (`drop_early`), and for flow queues
//! `dn_sched_fq_pie.c` (`pie_enqueue`, `fq_activate_pie`, `fq_calculate_drop_prob`). The switches
//! that ipfw sets by default are those of sbin/ipfw/dummynet.c, `process_extra_parms`.
//!
//! Deviations: those of [`crate::parts::dummynet`]. All flow queues are updated at common times; in
//! FreeBSD each is updated one `tupdate` after it became active, and so on. `on_off` compares with
//! a third of the whole limit in flow queues too, where FreeBSD has a few bytes. A draw is the
//! upper 31 bits of a number from the law's own stream.

use alloc::string::String;

use super::{DelaySource, PieParams};
use crate::law::{Cause, Env, Verdict};
use crate::packet::{Backlog, Head};
use crate::parts::dummynet::in_ticks;
use crate::rng::Rng;
use crate::time::{Span, Time};
use crate::units::Limit;

/// `PIE_MAX_PROB`: probability 1.
const ONE: i64 = (1 << 31) - 1;
/// `PIE_FIX_POINT_BITS`: fractional bits of gains and of the limit on marking.
const SCALE_BITS: u32 = 13;
/// `PIE_DQ_THRESHOLD_BITS`: a measurement takes 2^14 bytes.
const DQ_BITS: u32 = 14;

/// The controller and its decision.
#[derive(Clone, Debug)]
pub(in crate::laws) struct FreeBsdPie {
    target: u32,
    tupdate: u32,
    max_burst: u32,
    alpha: i64,
    beta: i64,
    exempt_bytes: u64,
    ecn: bool,
    mark_limit: i64,
    derandomise: bool,
    cap_step: bool,
    /// The limit, if PIE is off below a third of it.
    switch: Option<Limit>,
    is_active: bool,
    prob: i64,
    accumulator: u64,
    burst_allowance: u32,
    delay: u32,
    /// `delay` at the last update.
    delay_old: u32,
    /// `None` where the delay is that of the last departure.
    departures: Option<Departures>,
}

/// The time that 2^14 bytes need to leave.
#[derive(Clone, Copy, Default, Debug)]
struct Departures {
    /// Start of the measurement.
    since: Option<Time>,
    bytes: u64,
    /// The average; 0 if unknown.
    micros: u64,
}

fn in_micros(span: Span) -> u32 {
    u32::try_from(span.as_nanos() / 1_000).unwrap_or(u32::MAX)
}

/// In units of 2^-13, rounded down.
fn scaled(value: f64) -> i64 {
    (value * f64::from(1 << SCALE_BITS)) as i64
}

/// Refuses what `fq_pie_config` cuts off.
pub(super) fn check(p: &PieParams) -> Result<(), String> {
    let is_long = [p.target, p.tupdate, p.max_burst].iter().any(|&it| it > Span::from_secs(5));
    if p.dialect == "freebsd" && (is_long || p.alpha.0.max(p.beta.0) > 7.0) {
        let why = "times must be at most 5s, gains at most 7hz in this dialect (dn_sched_fq_pie.c)";
        return Err(why.into());
    }
    Ok(())
}

impl FreeBsdPie {
    pub(super) fn new(p: &PieParams, env: &Env) -> FreeBsdPie {
        let uses_rate = p.delay == DelaySource::Rate;
        let mut pie = FreeBsdPie {
            target: in_micros(p.target),
            tupdate: in_micros(p.tupdate),
            max_burst: in_micros(p.max_burst),
            alpha: scaled(p.alpha.0),
            beta: scaled(p.beta.0),
            exempt_bytes: p.mean_packet(env).saturating_mul(2),
            ecn: p.ecn,
            mark_limit: scaled(p.ecn_mark_limit) << (31 - SCALE_BITS),
            derandomise: p.derandomise,
            cap_step: p.cap_step,
            switch: p.on_off.then_some(env.limit),
            is_active: false,
            prob: 0,
            accumulator: 0,
            burst_allowance: 0,
            delay: 0,
            delay_old: 0,
            departures: uses_rate.then(Departures::default),
        };
        pie.activate(Time::ZERO);
        pie.is_active = !p.on_off;
        pie
    }

    /// `init_activate_pie`, `fq_activate_pie`. The delay stays.
    fn activate(&mut self, now: Time) {
        self.is_active = true;
        (self.prob, self.delay_old, self.accumulator) = (0, 0, 0);
        self.burst_allowance = self.max_burst;
        if let Some(departures) = &mut self.departures {
            *departures = Departures { since: Some(in_ticks(now)), ..Departures::default() };
        }
    }

    /// `fq_pie_enqueue` restarts a queue's PIE, `fq_pie_dequeue` stops it.
    pub(super) fn on_listing(&mut self, now: Time, is_listed: bool) {
        match is_listed {
            true => self.activate(now),
            false => self.is_active = false,
        }
    }

    pub(super) fn on_enqueue(&mut self, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        let can_signal = self.is_active && self.burst_allowance == 0;
        let mut verdict = Verdict::Pass;
        if can_signal && self.selects(queue, rng) {
            let mark = self.ecn && self.prob < self.mark_limit && head.ecn.can_mark();
            verdict = Verdict::signal(mark, Cause::Random);
        }
        if !self.is_active && self.switch.is_some_and(|limit| is_a_third(limit, queue)) {
            self.activate(head.enqueued);
        }
        self.renew(queue);
        if matches!(verdict, Verdict::Drop(_)) {
            self.accumulator = 0;
        }
        verdict
    }

    /// `drop_early`.
    fn selects(&mut self, queue: Backlog, rng: &mut Rng) -> bool {
        let is_calm = self.delay_old < self.target >> 1 && self.prob < ONE / 5;
        if is_calm || queue.bytes <= self.exempt_bytes {
            return false;
        }
        if self.prob == 0 {
            self.accumulator = 0;
        }
        if self.derandomise {
            self.accumulator += self.prob as u64;
            if self.accumulator < (ONE as f64 * 0.85) as u64 {
                return false;
            }
            if self.accumulator >= (ONE as f64 * 8.5) as u64 {
                return true;
            }
        }
        let is_hit = ((rng.next_u64() >> 33) as i64) < self.prob;
        if is_hit {
            self.accumulator = 0;
        }
        is_hit
    }

    /// The end of `aqm_pie_enqueue`: without congestion, the next burst gets the full allowance,
    /// and PIE may be switched off.
    fn renew(&mut self, queue: Backlog) {
        let half = self.target >> 1;
        if self.is_active && self.prob == 0 && self.delay < half && self.delay_old < half {
            self.burst_allowance = self.max_burst;
            self.is_active = self.switch.is_none() || queue.packets > 0;
        }
    }

    pub(super) fn on_overflow(&mut self, queue: Backlog) {
        self.renew(queue);
        self.accumulator = 0;
    }

    pub(super) fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) {
        if !self.is_active {
            return;
        }
        let now = in_ticks(now);
        match &mut self.departures {
            Some(departures) => departures.on_dequeue(now, head.bytes, queue.bytes),
            None => self.delay = in_micros(now.since(in_ticks(head.enqueued))),
        }
    }

    /// The periodic update, `calculate_drop_prob`.
    pub(super) fn update(&mut self, queue: Backlog) {
        if !self.is_active {
            return;
        }
        match &self.departures {
            Some(it) => self.delay = (queue.bytes.wrapping_mul(it.micros) >> DQ_BITS) as u32,
            None if queue.bytes == 0 => self.delay = 0,
            None => {}
        }
        self.prob = self.next_prob();
        self.delay_old = self.delay;
        self.burst_allowance = self.burst_allowance.saturating_sub(self.tupdate);
    }

    fn next_prob(&self) -> i64 {
        let [delay, old, target] = [self.delay, self.delay_old, self.target].map(i64::from);
        let step = self.alpha * (delay - target) + self.beta * (delay - old);
        let size = step.wrapping_abs().wrapping_mul((ONE << 12) / 1_000_000);
        // RFC 8033 §4.2 has the same table.
        let tune = match self.prob {
            p if p < ONE / 1_000_000 => 11,
            p if p < ONE / 100_000 => 9,
            p if p < ONE / 10_000 => 7,
            p if p < ONE / 1_000 => 5,
            p if p < ONE / 100 => 3,
            p if p < ONE / 10 => 1,
            _ => 0,
        };
        let mut size = size >> (tune + SCALE_BITS + 12);
        if self.cap_step && step >= 0 && self.prob >= ONE / 10 {
            size = size.min(ONE / 50);
        }
        let moved = if step < 0 { self.prob - size } else { self.prob.saturating_add(size) };
        let idle = self.delay == 0 && self.delay_old == 0;
        let decay = if idle && moved > 0 { moved >> 6 } else { 0 };
        (moved - decay).clamp(0, ONE)
    }

    /// Whether updates of an empty queue change nothing.
    pub(super) fn is_at_rest(&self) -> bool {
        let is_settled = self.delay == 0 && self.delay_old == 0 && self.prob == 0;
        !self.is_active || is_settled && self.burst_allowance == 0
    }

    /// Whether drops are suppressed: off, in a burst, or while at most two packets are queued.
    pub(super) fn is_protected(&self, queue: Backlog) -> bool {
        self.burst_allowance > 0 || self.is_idle(queue)
    }

    /// Whether drops are suppressed outside of bursts too.
    pub(super) fn is_idle(&self, queue: Backlog) -> bool {
        !self.is_active || queue.bytes <= self.exempt_bytes
    }

    pub(super) fn drop_prob(&self) -> f64 {
        self.prob as f64 / ONE as f64
    }

    pub(super) fn delay(&self) -> f64 {
        f64::from(self.delay) / 1e6
    }

    pub(super) fn burst_allowance(&self) -> f64 {
        f64::from(self.burst_allowance) / 1e6
    }

    pub(super) fn accumulator(&self) -> f64 {
        self.accumulator as f64 / ONE as f64
    }
}

impl Departures {
    /// Once an average is known, a measurement ends with its 2^14 bytes. The first one goes on for
    /// one packet more, which gives the second sample.
    fn on_dequeue(&mut self, now: Time, bytes: u32, backlog_bytes: u64) {
        if let Some(since) = self.since {
            self.bytes += u64::from(bytes);
            if self.bytes >> DQ_BITS > 0 {
                let sample = now.since(since).as_nanos() / 1_000;
                if self.micros == 0 {
                    self.micros = sample;
                } else {
                    // FreeBSD multiplies the sample in 32 bits.
                    let quarter = u64::from((sample as u32).wrapping_mul(64));
                    self.micros = (quarter + self.micros * 192) >> 8;
                    self.since = None;
                }
            }
        }
        if self.since.is_none() && backlog_bytes >> DQ_BITS > 0 {
            (self.since, self.bytes) = (Some(now), 0);
        }
    }
}

/// Whether the backlog has reached a third of the limit (`one_third_q_size`).
fn is_a_third(limit: Limit, queue: Backlog) -> bool {
    match limit {
        Limit::Packets(most) => u64::from(queue.packets) >= most / 3,
        Limit::Bytes(most) => queue.bytes >= most / 3,
    }
}
