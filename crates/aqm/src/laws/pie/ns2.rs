//! The PIE of its authors' ns-2 code (2013-2014, without DOCSIS), the base of MADPIE's study.
//!
//! It differs from RFC 8033 in nearly every detail: the delay is the backlog over a measured
//! departure rate, the probability is held at 0 during a burst and has no upper bound, a burst is
//! forgiven at the first arrival and again only after 1.5 s of calm, and a draw is made for every
//! packet after that. Spec aqm.md §13.4 E gives the procedure step by step.
//!
//! Deviations: the overflow test is the discipline's (accept while it fits), and a packet is hit
//! when `u < p`, not `u <= p`.

use super::scaling::{Scaling, capped};
use crate::law::{Cause, Verdict};
use crate::packet::{Backlog, Head};
use crate::parts::departure_rate::DepartureRate;
use crate::parts::gains::Gains;
use crate::rng::Rng;
use crate::time::{Span, Time};

/// What it is told once.
#[derive(Clone, Debug)]
pub(in crate::laws) struct Ns2Setup {
    pub(in crate::laws) gains: Gains,
    pub(in crate::laws) tupdate: Span,
    pub(in crate::laws) max_burst: Span,
    pub(in crate::laws) dq_threshold: u64,
    pub(in crate::laws) mean_packet_bytes: u64,
    pub(in crate::laws) ecn: bool,
    pub(in crate::laws) ecn_mark_limit: f64,
}

/// The controller and its decision.
#[derive(Clone, Debug)]
pub(in crate::laws) struct Ns2Pie {
    setup: Ns2Setup,
    phase: Phase,
    burst_allowance: Span,
    departures: DepartureRate,
    drop_prob: f64,
    /// Delays at the last update, in seconds.
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
    /// The next arrival starts a burst.
    NoBurst,
    /// The burst is protected, or was until congestion.
    Protecting,
    /// After the burst: so many calm updates in a row.
    InBurst { calm_updates: u64 },
}

impl Ns2Pie {
    pub(in crate::laws) fn new(setup: Ns2Setup) -> Ns2Pie {
        Ns2Pie {
            departures: DepartureRate::new(setup.dq_threshold, 0.5),
            setup,
            phase: Phase::NoBurst,
            burst_allowance: Span::ZERO,
            drop_prob: 0.0,
            delay: 0.0,
        }
    }

    pub(in crate::laws) fn on_enqueue(
        &mut self,
        head: Head,
        queue: Backlog,
        rng: &mut Rng,
    ) -> Verdict {
        if self.burst_allowance > Span::ZERO {
            return Verdict::Pass;
        }
        if self.phase == Phase::NoBurst {
            self.phase = Phase::Protecting;
            self.burst_allowance = self.setup.max_burst;
        }
        let hit = rng.uniform() < self.drop_prob; // drawn for every packet, needed or not
        if self.is_calm() || self.is_small(queue) || !hit {
            return Verdict::Pass;
        }
        let may_mark = self.setup.ecn && self.drop_prob < self.setup.ecn_mark_limit;
        Verdict::signal(may_mark && head.ecn.can_mark(), Cause::Random)
    }

    pub(in crate::laws) fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) {
        self.departures.on_dequeue(now, head.bytes, queue.bytes);
    }

    /// The periodic update, with what waits now.
    pub(in crate::laws) fn update(&mut self, queue: Backlog) {
        let (delay, delay_old) = (self.departures.delay(queue.bytes), self.delay);
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
        let step = self.setup.gains.step(delay, delay_old) * Scaling::Ns2.factor(p);
        let moved = p + capped(p, step);
        let settled = if delay == 0.0 && delay_old == 0.0 {
            moved * 0.98
        } else if delay > 0.2 {
            moved + 0.02
        } else {
            moved
        };
        settled.max(0.0)
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
        queue.bytes <= self.setup.mean_packet_bytes.saturating_mul(2)
    }

    /// Whether nothing at all may be dropped: a burst is forgiven, or next to nothing waits.
    pub(in crate::laws) fn is_protected(&self, queue: Backlog) -> bool {
        self.burst_allowance > Span::ZERO || self.is_small(queue)
    }

    /// Whether updates of an empty queue change nothing.
    pub(in crate::laws) fn is_at_rest(&self) -> bool {
        self.drop_prob == 0.0
            && self.delay == 0.0
            && self.burst_allowance == Span::ZERO
            && self.phase == Phase::NoBurst
            && self.departures.bytes_per_sec().is_none()
    }

    /// Delay at the last update, in seconds.
    pub(in crate::laws) fn delay(&self) -> f64 {
        self.delay
    }

    /// The probability, which may exceed 1.
    pub(in crate::laws) fn drop_prob(&self) -> f64 {
        self.drop_prob
    }

    pub(in crate::laws) fn burst_allowance(&self) -> Span {
        self.burst_allowance
    }
}

#[cfg(test)]
#[path = "ns2_tests.rs"]
mod tests;
