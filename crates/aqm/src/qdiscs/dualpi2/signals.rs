//! The coupled signals: the controller, and the verdict on the packet at the head of each queue.

use super::linux::LinuxController;
use super::params::DualPi2Params;
use crate::law::{Cause, Env, Verdict};
use crate::packet::{Backlog, Head};
use crate::parts::gains::Gains;
use crate::rng::Rng;
use crate::time::{Span, Time};

/// One of the two queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// The low-latency queue (L4S).
    Low,
    /// The classic queue.
    Classic,
}

/// The controller and its thinning.
#[derive(Clone, Debug)]
pub(super) struct Coupled {
    params: DualPi2Params,
    controller: Controller,
    /// p'.
    pub(super) base_prob: f64,
    delay: Span,
    mtu_bytes: u64,
    low_mark: Recur,
    low_drop: Recur,
    classic: Recur,
}

/// The controller of p'.
#[derive(Clone, Debug)]
enum Controller {
    Rfc(Gains),
    Linux(LinuxController),
}

/// Deterministic thinning (RFC 9332 Appendix A.2, `recur`): true whenever the sum of probabilities
/// exceeds 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recur(f64);

impl Recur {
    pub(super) fn next(&mut self, prob: f64) -> bool {
        // A sum of doubles that should be exactly 1 may be slightly above 1.
        const TOLERANCE: f64 = 1e-12;
        self.0 += prob;
        let exceeds = self.0 > 1.0 + TOLERANCE;
        if exceeds {
            self.0 -= 1.0;
        }
        exceeds
    }
}

impl Coupled {
    pub(super) fn new(params: &DualPi2Params, env: &Env) -> Coupled {
        let p = params;
        let gains = Gains { alpha: p.alpha.0, beta: p.beta.0, target: p.target.as_secs() };
        Coupled {
            params: p.clone(),
            controller: match p.dialect == "linux" {
                true => Controller::Linux(LinuxController::new(p)),
                false => Controller::Rfc(gains),
            },
            base_prob: 0.0,
            delay: Span::ZERO,
            mtu_bytes: u64::from(env.mtu_bytes),
            low_mark: Recur::default(),
            low_drop: Recur::default(),
            classic: Recur::default(),
        }
    }

    /// RFC 9332 A.1 `dualpi2_update`; the printed code lacks the clamp.
    pub(super) fn update(&mut self, delay: Span) {
        self.base_prob = match &mut self.controller {
            Controller::Linux(controller) => controller.update(delay),
            Controller::Rfc(gains) => {
                let most = if self.params.drop_overload { 1.0 } else { 1.0 / self.params.k };
                let step = gains.step(delay.as_secs(), self.delay.as_secs());
                (self.base_prob + step).clamp(0.0, most)
            }
        };
        self.delay = delay;
    }

    /// p_C, p', k p' (at most 1) and the delay.
    pub(super) fn observe(&self) -> [f64; 4] {
        let coupled = (self.params.k * self.base_prob).min(1.0);
        [self.classic_prob(), self.base_prob, coupled, self.delay.as_secs()]
    }

    pub(super) fn classic_prob(&self) -> f64 {
        self.base_prob * self.base_prob
    }

    /// The ramp of the low-latency queue.
    pub(super) fn ramp(&self, sojourn: Span) -> f64 {
        let (min, range) = (self.params.l_min_th, self.params.l_range);
        match sojourn {
            s if s <= min => 0.0,
            s if s >= min + range => 1.0,
            s => (s - min).as_secs() / range.as_secs(),
        }
    }

    /// The verdict on the head of a queue. `left` is the backlog of both queues without that
    /// packet, `low` the number of packets in the low-latency queue.
    pub(super) fn judge(
        &mut self,
        place: Place,
        now: Time,
        head: Head,
        left: Backlog,
        low: u32,
        rng: &mut Rng,
    ) -> Verdict {
        let least = self.params.l_min_len.saturating_add(u64::from(!self.is_linux()));
        let native = match u64::from(low) >= least {
            true => self.ramp(head.sojourn(now)),
            false => 0.0,
        };
        match (place, self.is_linux()) {
            (Place::Low, false) => self.low_by_rfc(native),
            (Place::Classic, false) => self.classic_by_rfc(head),
            (Place::Low, true) => self.low_by_linux(native, left, rng),
            (Place::Classic, true) => self.classic_by_linux(head, left, rng),
        }
    }

    pub(super) fn is_linux(&self) -> bool {
        matches!(self.controller, Controller::Linux(_))
    }

    /// RFC 9332 A.2, figure 7, lines for lq.
    fn low_by_rfc(&mut self, native: f64) -> Verdict {
        let coupled = self.params.k * self.base_prob;
        if coupled < 1.0 {
            return mark_if(self.low_mark.next(native.max(coupled)), Cause::Deterministic);
        }
        let classic_prob = self.classic_prob();
        if self.params.drop_overload && self.low_drop.next(classic_prob) {
            return Verdict::Drop(Cause::Overload);
        }
        mark_if(self.low_mark.next(coupled.min(1.0)), Cause::Deterministic)
    }

    /// RFC 9332 A.2, figure 7, lines for cq.
    fn classic_by_rfc(&mut self, head: Head) -> Verdict {
        let prob = self.classic_prob();
        if !self.classic.next(prob) {
            return Verdict::Pass;
        }
        let most = 1.0 / (self.params.k * self.params.k);
        let may_mark = prob < most || !self.params.drop_overload;
        let cause = overloaded(may_mark, head, Cause::Overload, Cause::Deterministic);
        Verdict::signal(may_mark && head.ecn.can_mark(), cause)
    }

    /// Linux `must_drop` for the low-latency queue, then its step.
    fn low_by_linux(&mut self, native: f64, left: Backlog, rng: &mut Rng) -> Verdict {
        let coupled = self.params.k * self.base_prob;
        if !self.is_small(left) {
            if coupled > 1.0 && self.squared_hit(rng) {
                return Verdict::Drop(Cause::RandomOverload);
            }
            if coupled > 1.0 || rng.uniform() < coupled {
                return Verdict::Mark(Cause::Random);
            }
        }
        mark_if(native >= 1.0 || (native > 0.0 && rng.uniform() < native), Cause::CeThreshold)
    }

    fn classic_by_linux(&mut self, head: Head, left: Backlog, rng: &mut Rng) -> Verdict {
        if self.is_small(left) || !self.squared_hit(rng) {
            return Verdict::Pass;
        }
        let may_mark = self.params.k * self.base_prob <= 1.0;
        let cause = overloaded(may_mark, head, Cause::RandomOverload, Cause::Random);
        Verdict::signal(may_mark && head.ecn.can_mark(), cause)
    }

    /// Linux sch_dualpi2.c, must_drop: no signal while fewer than two packets are queued in total.
    fn is_small(&self, left: Backlog) -> bool {
        left.bytes < 2 * self.mtu_bytes
    }

    /// True with probability p'^2: two draws that must both be below p'.
    fn squared_hit(&self, rng: &mut Rng) -> bool {
        rng.uniform() < self.base_prob && rng.uniform() < self.base_prob
    }
}

/// The cause of a signal in the classic queue: overload, if it drops an ECN-capable packet.
fn overloaded(may_mark: bool, head: Head, overload: Cause, otherwise: Cause) -> Cause {
    if !may_mark && head.ecn.can_mark() { overload } else { otherwise }
}

fn mark_if(hit: bool, cause: Cause) -> Verdict {
    if hit { Verdict::Mark(cause) } else { Verdict::Pass }
}
