//! Additions of ns-3's PIE to the ns-2 code from which it derives: a delay threshold that switches
//! PIE on, and a mode in which only a threshold marks ECT(1).
//!
//! Source: ns-3 3.44 `PieQueueDisc`, `DoEnqueue` and `DoDequeue` (the main branch of July 2026 is
//! the same).
//!
//! Deviations: with `delay=rate`, switching PIE on does not restart a running rate measurement.

use super::PieParams;
use super::ns2::Ns2Pie;
use crate::law::{Cause, Env, Verdict};
use crate::packet::{Backlog, Ecn, Head};
use crate::rng::Rng;
use crate::time::{Span, Time};

/// The controller with its switch and its threshold.
#[derive(Clone, Debug)]
pub(in crate::laws) struct Ns3Pie {
    pub(super) pie: Ns2Pie,
    /// Queue delay that switches PIE on; `None`: always on.
    active_threshold: Option<Span>,
    is_active: bool,
    /// Sojourn time above which ECT(1) and CE are marked, if `l4s`.
    ce_threshold: Option<Span>,
    /// Whether ECT(1) and CE are exempt from everything but `ce_threshold`.
    l4s: bool,
}

impl Ns3Pie {
    pub(super) fn new(params: &PieParams, env: &Env) -> Ns3Pie {
        Ns3Pie {
            pie: Ns2Pie::from_params(params, env),
            active_threshold: params.active_threshold.0,
            is_active: params.active_threshold.0.is_none(),
            ce_threshold: params.ce_threshold.0,
            l4s: params.l4s,
        }
    }

    fn is_l4s(&self, ecn: Ecn) -> bool {
        self.l4s && matches!(ecn, Ecn::Ect1 | Ecn::Ce)
    }

    pub(super) fn on_enqueue(&mut self, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        let is_judged = self.is_active && !self.is_l4s(head.ecn);
        let verdict = if is_judged { self.pie.on_enqueue(head, queue, rng) } else { Verdict::Pass };
        if !matches!(verdict, Verdict::Drop(_)) {
            self.switch();
        }
        verdict
    }

    /// Switches PIE on above the threshold, with a fresh burst allowance, and off after congestion.
    fn switch(&mut self) {
        let Some(threshold) = self.active_threshold else { return };
        if !self.is_active && self.pie.last_delay() >= threshold.as_secs() {
            self.is_active = true;
            self.pie.restart();
        }
        const MILLISECOND: f64 = 0.001;
        let is_calm = self.pie.last_delay() < MILLISECOND && self.pie.delay() < MILLISECOND;
        if self.pie.drop_prob() == 0.0 && is_calm {
            self.is_active = false;
        }
    }

    pub(super) fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) -> Verdict {
        if !self.is_l4s(head.ecn) {
            self.pie.on_dequeue(now, head, queue);
            return Verdict::Pass;
        }
        match self.ce_threshold {
            Some(limit) if head.sojourn(now) > limit => Verdict::Mark(Cause::CeThreshold),
            _ => Verdict::Pass,
        }
    }
}
