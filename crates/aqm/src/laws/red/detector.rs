//! The part of RED that Adaptive RED shares: the average, the curve and the spacing of signals, in
//! the procedure of Floyd or of the ns simulators.
//!
//! Source: ns-2.35 `red.cc`, `REDQueue::estimator`, `calculate_p_new`, `modify_p`, `drop_early` and
//! `enque`; ns-3 `RedQueueDisc`, the functions of the same names.

use alloc::format;
use alloc::vec::Vec;

use super::GapMode;
use crate::effective::{Effective, digits};
use crate::law::{Cause, Env, Verdict};
use crate::packet::{Backlog, Head};
use crate::rng::Rng;
use crate::time::{Rate, Time};
use crate::units::Limit;

/// Configuration of the detector; `None` means automatic.
#[derive(Clone, Copy, Debug)]
#[repr(C)] // see `Detector`
pub(in crate::laws) struct Setup {
    pub(in crate::laws) style: Style,
    pub(in crate::laws) ecn: bool,
    pub(in crate::laws) hard_drop: bool,
    pub(in crate::laws) gap_mode: GapMode,
    pub(in crate::laws) min_th: Option<Limit>,
    pub(in crate::laws) max_th: Option<Limit>,
    pub(in crate::laws) weight: Option<f64>,
    /// Early signals mark while p_b is at most this.
    pub(in crate::laws) mark_limit: f64,
    pub(in crate::laws) target_delay: f64,
    pub(in crate::laws) mean_packet_bytes: f64,
}

/// The state of the queue at an arrival.
#[derive(Clone, Copy, Debug)]
pub(in crate::laws) struct Found {
    pub(in crate::laws) queue: Backlog,
    /// Whether the last dequeue found the queue empty, so that the link was idle too.
    pub(in crate::laws) was_idle: bool,
}

/// The source of the procedure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::laws) enum Style {
    Floyd,
    /// ns-2 `red.cc`, `REDQueue::enque`: acts on more than one packet (byte), never on the first
    /// arrival above `min_th`, and when `u <= p_a`; the gentle slope starts at the initial `max_p`.
    Ns2,
    /// As ns-2, but a forced signal does not change the count (ns-3 `RedQueueDisc::DoEnqueue`).
    Ns3,
}

/// The average, the curve and the spreading of signals. Fields that every arrival touches come
/// first: 1,000 flows of `fq(ared)` have 7.2 first-level cache misses per packet, and 9.3 in the
/// order that the compiler would choose.
#[derive(Clone, Debug)]
#[repr(C)]
pub(in crate::laws) struct Detector {
    /// Arrivals since the last signal while the average is above `min_th` (`count`; `None`: -1).
    since_signal: Option<u32>,
    /// ns-2, ns-3 (`old`): the average was above `min_th` at the last arrival that could have been
    /// signalled.
    has_crossed: bool,
    /// Whether average and thresholds count bytes, not packets.
    counts_bytes: bool,
    /// ns-3 (`m_countBytes`): bytes that arrived since the last signal.
    bytes_since_signal: u64,
    average: Average,
    pub(in crate::laws) curve: Curve,
    setup: Setup,
}

/// Signal probability over average backlog.
#[derive(Clone, Copy, Debug)]
pub(in crate::laws) struct Curve {
    pub(in crate::laws) min_th: f64,
    pub(in crate::laws) max_th: f64,
    pub(in crate::laws) max_p: f64,
    gentle: bool,
    /// Where the gentle slope starts; `None`: at the current `max_p`.
    gentle_from: Option<f64>,
}

/// Position of an average on the curve.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Region {
    Below,
    Early { p_b: f64 },
    Forced,
}

impl Curve {
    fn region(&self, average: f64) -> Region {
        if average < self.min_th {
            Region::Below
        } else if average < self.max_th {
            let part = (average - self.min_th) / (self.max_th - self.min_th);
            Region::Early { p_b: self.max_p * part }
        } else if self.gentle && average < 2.0 * self.max_th {
            let part = (average - self.max_th) / self.max_th;
            let start = self.gentle_from.unwrap_or(self.max_p);
            Region::Early { p_b: start + (1.0 - start) * part }
        } else {
            Region::Forced
        }
    }
}

impl Detector {
    pub(in crate::laws) fn new(setup: Setup, max_p: f64, gentle: bool, env: &Env) -> Detector {
        // Explicit thresholds determine the unit, otherwise the limit does (as in ns-3).
        let unit = setup.min_th.or(setup.max_th).unwrap_or(env.limit);
        let counts_bytes = matches!(unit, Limit::Bytes(_));
        let packet_rate = env.rate.map(|rate| rate.bytes_per_sec() / setup.mean_packet_bytes);
        let (min_th, max_th) = thresholds(&setup, counts_bytes, packet_rate);
        let gentle_from = (setup.style != Style::Floyd).then_some(max_p);
        Detector {
            setup,
            counts_bytes,
            curve: Curve { min_th, max_th, max_p, gentle, gentle_from },
            average: Average::new(weight(&setup, packet_rate), packet_rate),
            since_signal: None,
            has_crossed: false,
            bytes_since_signal: 0,
        }
    }

    /// The curve in use at the link's rate.
    pub(in crate::laws) fn effective(&self) -> Vec<Effective> {
        let unit = if self.counts_bytes { "B" } else { "p" };
        let Curve { min_th, max_th, .. } = self.curve;
        alloc::vec![
            Effective::filled("min_th", format!("{}{unit}", digits(min_th))),
            Effective::filled("max_th", format!("{}{unit}", digits(max_th))),
            Effective::filled("w_q", digits(self.average.weight)),
        ]
    }

    /// An arrival: sample the backlog, then pass, mark or drop the packet.
    pub(in crate::laws) fn judge(
        &mut self,
        now: Time,
        head: Head,
        queue: Backlog,
        rng: &mut Rng,
    ) -> Verdict {
        let was_idle = self.learn(now, queue);
        self.decide(now, head, Found { queue, was_idle }, rng)
    }

    /// Samples the backlog at an arrival. Returns whether the link was idle.
    #[inline]
    pub(in crate::laws) fn learn(&mut self, now: Time, queue: Backlog) -> bool {
        let was_idle = self.average.idle_since.is_some();
        let backlog = if self.counts_bytes { queue.bytes as f64 } else { f64::from(queue.packets) };
        self.average.sample(now, backlog);
        was_idle
    }

    /// Passes, marks or drops an arrival whose backlog has been sampled.
    pub(in crate::laws) fn decide(
        &mut self,
        now: Time,
        head: Head,
        found: Found,
        rng: &mut Rng,
    ) -> Verdict {
        let Found { queue, was_idle } = found;
        let can_mark = self.setup.ecn && head.ecn.can_mark();
        let verdict = match self.setup.style {
            Style::Floyd => self.verdict(can_mark, rng),
            Style::Ns2 | Style::Ns3 => self.ns_verdict(can_mark, head.bytes, queue, rng),
        };
        if was_idle && matches!(verdict, Verdict::Drop(_)) && queue.packets == 0 {
            // The link was idle and remains idle: a dequeue that would record this may never come.
            // If the link is busy with the last packet, the next dequeue starts the idle time.
            self.average.idle_since = Some(now);
        }
        verdict
    }

    fn verdict(&mut self, can_mark: bool, rng: &mut Rng) -> Verdict {
        match self.curve.region(self.average.value) {
            Region::Below => {
                self.since_signal = None;
                Verdict::Pass
            }
            Region::Early { p_b } if self.hits(p_b, rng) => {
                Verdict::signal(can_mark && p_b <= self.setup.mark_limit, Cause::Random)
            }
            Region::Early { .. } => Verdict::Pass,
            Region::Forced => {
                self.since_signal = Some(0);
                Verdict::signal(can_mark && !self.setup.hard_drop, Cause::Forced)
            }
        }
    }

    /// The procedure of ns-2 and ns-3, which count every arrival.
    #[inline(never)]
    fn ns_verdict(&mut self, can_mark: bool, bytes: u32, queue: Backlog, rng: &mut Rng) -> Verdict {
        let count = self.since_signal.unwrap_or(0).saturating_add(1);
        self.since_signal = Some(count);
        self.bytes_since_signal = self.bytes_since_signal.saturating_add(u64::from(bytes));
        let more_than_one = if self.counts_bytes { queue.bytes > 1 } else { queue.packets > 1 };
        match self.curve.region(self.average.value) {
            Region::Forced if more_than_one => {
                if self.setup.style == Style::Ns2 {
                    self.since_signal = Some(0);
                }
                Verdict::signal(can_mark && !self.setup.hard_drop, Cause::Forced)
            }
            Region::Early { p_b } if more_than_one => self.ns_early(p_b, bytes, can_mark, rng),
            _ => {
                self.has_crossed = false;
                Verdict::Pass
            }
        }
    }

    fn ns_early(&mut self, p_b: f64, bytes: u32, can_mark: bool, rng: &mut Rng) -> Verdict {
        if !self.has_crossed {
            self.has_crossed = true;
            (self.since_signal, self.bytes_since_signal) = (Some(1), u64::from(bytes));
            return Verdict::Pass;
        }
        let (mode, u) = (self.setup.gap_mode, rng.uniform());
        let hit = if self.setup.style == Style::Ns3 && self.counts_bytes {
            let mean = self.setup.mean_packet_bytes;
            let count = libm::floor(self.bytes_since_signal as f64 / mean);
            u <= scaled_p_a(mode, p_b, count, f64::from(bytes) / mean)
        } else {
            is_hit(mode, p_b, self.since_signal.unwrap_or(0), Draw { u, or_equal: true })
        };
        if !hit {
            return Verdict::Pass;
        }
        (self.since_signal, self.bytes_since_signal) = (Some(0), 0);
        Verdict::signal(can_mark && p_b <= self.setup.mark_limit, Cause::Random)
    }

    fn hits(&mut self, p_b: f64, rng: &mut Rng) -> bool {
        let count = self.since_signal.map_or(0, |count| count.saturating_add(1));
        let draw = Draw { u: rng.uniform(), or_equal: false };
        let hit = is_hit(self.setup.gap_mode, p_b, count, draw);
        self.since_signal = Some(if hit { 0 } else { count });
        hit
    }

    /// ns-3 `RedQueueDisc::DoDequeue` uses the time of the latest call on an empty queue.
    pub(in crate::laws) fn on_empty(&mut self, now: Time) {
        let is_first = self.average.idle_since.is_none();
        if is_first || self.setup.style == Style::Ns3 {
            self.average.idle_since = Some(now);
        }
    }

    pub(in crate::laws) fn on_rate(&mut self, rate: Rate) {
        let packet_rate = Some(rate.bytes_per_sec() / self.setup.mean_packet_bytes);
        let (min_th, max_th) = thresholds(&self.setup, self.counts_bytes, packet_rate);
        self.curve = Curve { min_th, max_th, ..self.curve };
        self.average.weight = weight(&self.setup, packet_rate);
        self.average.packet_rate = packet_rate;
    }

    /// The average at this time, in the unit of the thresholds.
    pub(in crate::laws) fn average_at(&self, now: Time) -> f64 {
        self.average.at(now)
    }

    /// Whether the average falls without arrivals.
    pub(in crate::laws) fn decays(&self) -> bool {
        self.average.idle_since.is_some() && self.average.packet_rate.is_some()
    }

    #[cfg(test)]
    pub(in crate::laws) fn weight(&self) -> f64 {
        self.average.weight
    }

    pub(in crate::laws) fn average_packets(&self) -> f64 {
        let unit = if self.counts_bytes { self.setup.mean_packet_bytes } else { 1.0 };
        self.average.value / unit
    }

    pub(in crate::laws) fn prob(&self) -> f64 {
        match self.curve.region(self.average.value) {
            Region::Below => 0.0,
            Region::Early { p_b } => p_b,
            Region::Forced => 1.0,
        }
    }
}

/// A random draw for a packet, and whether a draw equal to the probability hits (ns-2, ns-3).
#[derive(Clone, Copy, Debug)]
struct Draw {
    u: f64,
    or_equal: bool,
}

/// Whether the draw hits the packet that comes `count` arrivals after the last signal: `u < p_a`.
/// With uniform gaps p_a = p_b / (1 - count p_b), with `wait` p_a = p_b / (2 - count p_b), and p_a
/// = 1 if the quotient is not a probability (ns-2.35 `red.cc`, `REDQueue::modify_p`). The
/// inequality is multiplied by the denominator, whose rounding would make a p_a of exactly 1/2 too
/// large (fact aqm-44).
fn is_hit(mode: GapMode, p_b: f64, count: u32, draw: Draw) -> bool {
    // Tolerates the rounding of count * p_b where the product should be 1, as in 10 * 0.1.
    const TOLERANCE: f64 = 1e-12;
    let count = f64::from(count);
    let reach = match mode {
        GapMode::Geometric => p_b,
        GapMode::Uniform => p_b * (1.0 + count * draw.u),
        GapMode::Wait if count * p_b < 1.0 - TOLERANCE => return false,
        GapMode::Wait => p_b * (1.0 + count * draw.u) / 2.0,
    };
    draw.u < reach || (draw.or_equal && draw.u <= reach)
}

/// p_a for a packet of `size` mean packets, `count` mean packets after the last signal, under a
/// limit in bytes (ns-3.44 `red-queue-disc.cc`, `RedQueueDisc::ModifyP`).
fn scaled_p_a(mode: GapMode, p_b: f64, count: f64, size: f64) -> f64 {
    let passed = count * p_b;
    let p_a = match mode {
        GapMode::Geometric => p_b,
        GapMode::Uniform if passed < 1.0 => p_b / (1.0 - passed),
        GapMode::Wait if passed < 1.0 => 0.0,
        GapMode::Wait if passed < 2.0 => p_b / (2.0 - passed),
        GapMode::Uniform | GapMode::Wait => 1.0,
    };
    if p_a < 1.0 { (p_a * size).min(1.0) } else { 1.0 }
}

/// `min_th` and `max_th` in the unit of the average (ns-2.35 `red.cc`, `REDQueue::initParams`).
/// Without a known rate: 5 and 15 packets, the defaults of ns-3.
fn thresholds(setup: &Setup, counts_bytes: bool, packet_rate: Option<f64>) -> (f64, f64) {
    let set = |limit| match limit {
        Limit::Packets(n) | Limit::Bytes(n) => n as f64,
    };
    let automatic = || {
        let packets = packet_rate.map_or(5.0, |rate| (setup.target_delay * rate / 2.0).max(5.0));
        packets * if counts_bytes { setup.mean_packet_bytes } else { 1.0 }
    };
    match (setup.min_th.map(set), setup.max_th.map(set)) {
        (Some(min), Some(max)) => (min, max),
        (Some(min), None) => (min, 3.0 * min),
        (None, Some(max)) => (max / 3.0, max),
        (None, None) => (automatic(), 3.0 * automatic()),
    }
}

/// The weight of a sample: as set, or for a time constant of one second's worth of packets (ns-2
/// `red.cc`, `REDQueue::initParams`, `q_weight_` 0); in `ns2` of ten round trips of 0.1 s or of
/// three packet times (-1), because the delay of the link is unknown here. If the rate is unknown,
/// 0.002, the default of ns-3 `RedQueueDisc`.
fn weight(setup: &Setup, packet_rate: Option<f64>) -> f64 {
    let packets = |rate: f64| match setup.style {
        Style::Ns2 => 10.0 * (3.0 / rate).max(0.1) * rate,
        Style::Floyd | Style::Ns3 => rate,
    };
    let automatic = || packet_rate.map_or(0.002, |rate| -libm::expm1(-1.0 / packets(rate)));
    setup.weight.unwrap_or_else(automatic)
}

/// The exponentially weighted moving average of the backlog.
#[derive(Clone, Copy, Debug)]
struct Average {
    value: f64,
    weight: f64,
    /// Mean packets per second of the link; without it the average does not decay while idle.
    packet_rate: Option<f64>,
    /// Start of the current idle time.
    idle_since: Option<Time>,
}

impl Average {
    fn new(weight: f64, packet_rate: Option<f64>) -> Average {
        Average { value: 0.0, weight, packet_rate, idle_since: Some(Time::ZERO) }
    }

    fn sample(&mut self, now: Time, backlog: f64) {
        self.value = self.at(now);
        self.idle_since = None;
        self.value += self.weight * (backlog - self.value);
    }

    /// The average now, decayed as if packets of mean size had passed while the queue was idle.
    fn at(&self, now: Time) -> f64 {
        match (self.idle_since, self.packet_rate) {
            (Some(since), Some(rate)) => {
                let missed = libm::floor(now.since(since).as_secs() * rate);
                self.value * libm::pow(1.0 - self.weight, missed)
            }
            _ => self.value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fact aqm-44: p_a at counts 1 to 9, and the count at which a draw of exactly 1/2 hits.
    #[test]
    fn the_probability_of_a_hit_grows_with_the_count_and_reaches_one_half_at_8() {
        let p_a = [0.1111, 0.125, 0.1429, 0.1667, 0.2, 0.25, 0.3333, 0.5, 1.0];
        let hits = |count, u, or_equal| is_hit(GapMode::Uniform, 0.1, count, Draw { u, or_equal });
        for (count, expected) in (1..).zip(p_a) {
            assert!(hits(count, expected - 5e-5, false), "count {count}");
            assert!(count == 9 || !hits(count, expected + 5e-5, true), "count {count}");
        }
        assert!(hits(8, 0.5, true) && !hits(8, 0.5, false) && hits(9, 0.5, false));
    }

    /// ns-3.44 `red-queue-disc.cc`, `RedQueueDisc::ModifyP`: p_a is scaled by the packet's size
    /// unless it is 1.
    #[test]
    fn ns_3_scales_the_probability_by_packet_size_under_a_limit_in_bytes() {
        let wait = |count, size| scaled_p_a(GapMode::Wait, 0.1, count, size);
        assert_eq!((wait(9.0, 2.0), wait(15.0, 0.5)), (0.0, 0.1));
        assert_eq!((wait(20.0, 0.5), wait(19.5, 9.0)), (1.0, 1.0));
        let uniform = |count, size| scaled_p_a(GapMode::Uniform, 0.1, count, size);
        assert_eq!((uniform(5.0, 2.0), uniform(5.0, 0.5)), (0.4, 0.1));
        assert_eq!((uniform(9.5, 0.1), uniform(10.0, 0.1)), (1.0, 1.0));
    }
}
