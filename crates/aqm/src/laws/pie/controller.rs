//! One interface to the PIE of every dialect, selected at construction. MADPIE uses it too.

use super::docsis::Docsis;
use super::freebsd::FreeBsdPie;
use super::linux::LinuxPie;
use super::linux2013::Linux2013Pie;
use super::ns2::Ns2Pie;
use super::ns3::Ns3Pie;
use super::paper::Paper;
use super::standard::Standard;
use super::{PieParams, Timer};
use crate::law::{Env, Verdict};
use crate::packet::{Backlog, Head};
use crate::rng::Rng;
use crate::time::{Rate, Time};

/// The PIE of a dialect.
#[derive(Clone, Debug)]
pub(in crate::laws) enum Controller {
    Standard(Standard),
    Paper(Paper),
    Linux(LinuxPie),
    Linux2013(Linux2013Pie),
    Ns2(Ns2Pie),
    Ns3(Ns3Pie),
    Docsis(Docsis),
    FreeBsd(FreeBsdPie),
}

/// Evaluates `$call` with `$pie` bound to the controller of any variant.
macro_rules! each {
    ($controller:expr, $pie:ident => $call:expr) => {
        match $controller {
            Controller::Standard($pie) => $call,
            Controller::Paper($pie) => $call,
            Controller::Linux($pie) => $call,
            Controller::Linux2013($pie) => $call,
            Controller::Ns2($pie) | Controller::Ns3(Ns3Pie { pie: $pie, .. }) => $call,
            Controller::Docsis($pie) => $call,
            Controller::FreeBsd($pie) => $call,
        }
    };
}

impl Controller {
    /// The PIE of these parameters, and its timer.
    pub(in crate::laws) fn new(params: &PieParams, env: &Env) -> (Controller, Timer) {
        let controller = match params.dialect {
            "paper2013" => Controller::Paper(Paper::new(params, env)),
            "linux" => Controller::Linux(LinuxPie::new(params, env)),
            "linux2013" => Controller::Linux2013(Linux2013Pie::new(params, env)),
            "ns2" => Controller::Ns2(Ns2Pie::from_params(params, env)),
            "ns3" => Controller::Ns3(Ns3Pie::new(params, env)),
            "docsis" => Controller::Docsis(Docsis::new(params, env)),
            "freebsd" => Controller::FreeBsd(FreeBsdPie::new(params, env)),
            _ => Controller::Standard(Standard::new(params, env)),
        };
        (controller, params.timer())
    }

    /// The defaults of PIE and MADPIE are inlined; the other dialects take one more call (1 to 2
    /// ns, measured).
    #[inline(always)]
    pub(in crate::laws) fn on_enqueue(
        &mut self,
        now: Time,
        head: Head,
        queue: Backlog,
        rng: &mut Rng,
    ) -> Verdict {
        match self {
            Controller::Standard(pie) => pie.on_enqueue(now, head, queue, rng),
            Controller::Ns2(pie) => pie.on_enqueue(head, queue, rng),
            other => other.on_enqueue_of_others(head, queue, rng),
        }
    }

    #[inline(never)]
    fn on_enqueue_of_others(&mut self, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        match self {
            Controller::Standard(_) | Controller::Ns2(_) => unreachable!("called directly"),
            Controller::Paper(pie) => pie.on_enqueue(head, queue, rng),
            Controller::Linux(pie) => pie.on_enqueue(head, queue, rng),
            Controller::Linux2013(pie) => pie.on_enqueue(head, queue, rng),
            Controller::Ns3(pie) => pie.on_enqueue(head, queue, rng),
            Controller::Docsis(pie) => pie.on_enqueue(head, queue, rng),
            Controller::FreeBsd(pie) => pie.on_enqueue(head, queue, rng),
        }
    }

    pub(in crate::laws) fn on_overflow(&mut self, queue: Backlog) {
        match self {
            Controller::Standard(pie) => pie.on_overflow(queue),
            Controller::Paper(_) | Controller::Linux2013(_) => {} // neither sum nor stamps
            Controller::Linux(pie) => pie.on_overflow(queue),
            Controller::Ns2(pie) | Controller::Ns3(Ns3Pie { pie, .. }) => pie.on_overflow(queue),
            Controller::Docsis(pie) => pie.on_overflow(queue),
            Controller::FreeBsd(pie) => pie.on_overflow(queue),
        }
    }

    /// Inlined like `on_enqueue`.
    #[inline(always)]
    pub(in crate::laws) fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) -> Verdict {
        match self {
            Controller::Standard(pie) => pie.on_dequeue(now, head, queue),
            Controller::Ns2(pie) => pie.on_dequeue(now, head, queue),
            other => return other.on_dequeue_of_others(now, head, queue),
        }
        Verdict::Pass
    }

    #[inline(never)]
    fn on_dequeue_of_others(&mut self, now: Time, head: Head, queue: Backlog) -> Verdict {
        match self {
            Controller::Standard(_) | Controller::Ns2(_) => unreachable!("called directly"),
            Controller::Paper(pie) => pie.on_dequeue(now, head, queue),
            Controller::Linux(pie) => pie.on_dequeue(now, head, queue),
            Controller::Linux2013(pie) => pie.on_dequeue(now, head, queue),
            Controller::Ns3(pie) => return pie.on_dequeue(now, head, queue),
            Controller::Docsis(pie) => pie.on_dequeue(now, head, queue),
            Controller::FreeBsd(pie) => pie.on_dequeue(now, head, queue),
        }
        Verdict::Pass
    }

    pub(super) fn on_listing(&mut self, now: Time, is_listed: bool) {
        if let Controller::FreeBsd(pie) = self {
            pie.on_listing(now, is_listed);
        }
    }

    pub(in crate::laws) fn on_rate(&mut self, rate: Rate) {
        if let Controller::Docsis(pie) = self {
            pie.on_rate(rate);
        }
    }

    /// The periodic update, with the current backlog.
    pub(in crate::laws) fn update(&mut self, queue: Backlog) {
        each!(self, pie => pie.update(queue));
    }

    /// Whether updates of an empty queue change nothing.
    pub(in crate::laws) fn is_at_rest(&self) -> bool {
        each!(self, pie => pie.is_at_rest())
    }

    /// Whether drops are suppressed: in a burst, or while at most two packets are queued.
    pub(in crate::laws) fn is_protected(&self, queue: Backlog) -> bool {
        each!(self, pie => pie.is_protected(queue))
    }

    /// Whether drops are suppressed outside of bursts too: while at most two packets are queued, or
    /// while PIE is off.
    pub(in crate::laws) fn is_idle(&self, queue: Backlog) -> bool {
        each!(self, pie => pie.is_idle(queue))
    }

    /// The probability; above 1 only in dialects without that bound.
    pub(in crate::laws) fn drop_prob(&self) -> f64 {
        each!(self, pie => pie.drop_prob())
    }

    /// The current delay estimate, in seconds.
    pub(in crate::laws) fn delay(&self) -> f64 {
        each!(self, pie => pie.delay())
    }

    /// The delay at the last update, in seconds.
    pub(in crate::laws) fn delay_at_update(&self) -> f64 {
        match self {
            Controller::Standard(pie) => pie.delay_at_update(),
            Controller::Paper(pie) => pie.delay(),
            Controller::Linux(pie) => pie.delay_at_update(),
            Controller::Linux2013(pie) => pie.delay(),
            Controller::Ns2(pie) | Controller::Ns3(Ns3Pie { pie, .. }) => pie.delay(),
            Controller::Docsis(pie) => pie.delay_at_update(),
            Controller::FreeBsd(pie) => pie.delay(),
        }
    }

    /// The remaining burst allowance, in seconds.
    pub(in crate::laws) fn burst_allowance(&self) -> f64 {
        each!(self, pie => pie.burst_allowance())
    }

    /// The sum of probabilities; 0 in the dialect that has no sum.
    pub(in crate::laws) fn accumulator(&self) -> f64 {
        match self {
            Controller::Standard(pie) => pie.accumulator(),
            Controller::Paper(_) | Controller::Linux2013(_) => 0.0,
            Controller::Linux(pie) => pie.accumulator(),
            Controller::Ns2(pie) | Controller::Ns3(Ns3Pie { pie, .. }) => pie.accumulator(),
            Controller::Docsis(pie) => pie.accumulator(),
            Controller::FreeBsd(pie) => pie.accumulator(),
        }
    }
}
