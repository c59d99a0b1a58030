//! PIE, proportional integral controller enhanced: drops arrivals with a probability that a
//! controller of queue delay updates periodically.
//!
//! Source of the default, `rfc8033`: RFC 8033, Appendix B without the on/off switch (§5.3), and
//! with the corrections below. Every other dialect lists its sources and deviations at the top of
//! its file: [`standard`] (`rfc8033`, `rfc8033_basic`, `ietf_draft`), [`paper`], [`linux`],
//! [`linux2013`], [`ns2`] (`ns2`, `ns3`), [`ns3`], [`docsis`], [`freebsd`]. Parameters without
//! effect in a dialect are refused, not ignored ([`unused`]).
//!
//! Deviations of `rfc8033` from RFC 8033:
//! - The delay is the sojourn time of the last packet that left, as in its Appendix A and §6, and 0
//!   once the queue is empty, as in Linux and ns-3 (fact aqm-79). Appendix B estimates a departure
//!   rate.
//! - The burst allowance is tested before the drop decision (§4.4, Appendix A), not after it as in
//!   Appendix B, where accumulator and random generator advance although nothing can be dropped.
//! - A marked packet is enqueued, and the accumulator is cleared on marks as well as on drops; the
//!   pseudo-code of Appendix B leaves both open (fact aqm-76).
//! - The accumulator is an integer in units of 2^-56, so that 0.85 and 8.5 are met exactly (fact
//!   aqm-2).
//!
//! Deviations of `rfc8033` from Linux `sch_pie.c`: the probability cannot exceed 1; no kick of 2 %
//! above 250 ms; decay by 0.98, not 63/64; ECN strictly below 10 %; the half-target exemption uses
//! the delay at the last update; the burst allowance falls at updates, not between departures, and
//! is renewed by an arrival; the first update comes after one `tupdate`, not after 500 ms.
//!
//! Deviations of `rfc8033` from ns-3 (mid-2026): ns-3 holds the probability at 0 during a burst,
//! allows a burst at the first arrival and again only after calm, derandomises on request only, and
//! does not clear its accumulator on a mark.

mod controller;
mod docsis;
mod freebsd;
mod linux;
mod linux2013;
mod ns2;
mod ns3;
mod paper;
mod scaling;
mod standard;
mod unused;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub(in crate::laws) use controller::Controller;
pub(in crate::laws) use scaling::Tune;
pub(in crate::laws) use unused::unused;

use crate::effective::Effective;
use crate::law::{Aqm, Env, Law, Var, Verdict};
use crate::packet::{Backlog, Head};
use crate::params::{Bytes, Hertz, OrAuto, OrOff, StepTable};
use crate::parts::gains::Gains;
pub(in crate::laws) use crate::parts::periodic::Periodic as Timer;
use crate::parts::periodic::between_expiries;
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};
use crate::{params, words};

params! {
    /// Parameters of PIE.
    pub struct PieParams {
        dialects:
            "rfc8033" = "RFC 8033 Appendix B without on/off, delays from time stamps",
            "rfc8033_basic" = "RFC 8033 Appendix A: neither derandomised nor capped",
            "paper2013" = "Pan et al. 2013, on request with the heuristics of their Linux code",
            "ietf_draft" =
                "draft-ietf-aqm-pie as Schwarzkopf, Veith and Menth 2016 report and correct it",
            "linux" = "Linux sch_pie.c in its integers",
            "linux2013" = "the authors' Linux module of 2013 in its integers",
            "ns2" = "the authors' ns-2 code of 2013-2014, without DOCSIS",
            "ns3" = "ns-3 PieQueueDisc of mid-2026",
            "docsis" = "RFC 8034 as implemented by CableLabs, docsis-ns3",
            "freebsd" = "FreeBSD dummynet (pfSense, OPNsense) in its integers";
        /// Queue delay aimed at.
        target: Span, POSITIVE, "RFC 8033 §4.2: QDELAY_REF" => Span::from_millis(15),
            "paper2013" | "linux2013": "Pan et al. 2013: ref_del" => Span::from_millis(20),
            "ietf_draft": "Schwarzkopf, Veith and Menth 2016" => Span::from_millis(16),
            "ns2": "Kuhn and Ros 2016; ns-3 of 2016" => Span::from_millis(20),
            "docsis": "RFC 8034" => Span::from_millis(10);
        /// Time between two updates of the drop probability.
        tupdate: Span, POSITIVE, "RFC 8033 §4.2: T_UPDATE" => Span::from_millis(15),
            "paper2013" | "ns2" | "linux2013": "Pan et al. 2013: T_update" => Span::from_millis(30),
            "ietf_draft": "Schwarzkopf, Veith and Menth 2016" => Span::from_millis(16),
            "docsis": "RFC 8034" => Span::from_millis(16);
        /// Integral gain.
        alpha: Hertz, NOT_NEGATIVE, "RFC 8033 §4.2: 1/8" => Hertz(0.125),
            "linux": "Linux sch_pie.c: 2 sixteenths" => Hertz(0.125),
            "docsis": "RFC 8034" => Hertz(0.25);
        /// Proportional gain.
        beta: Hertz, NOT_NEGATIVE, "RFC 8033 §4.2: 1 + 1/4" => Hertz(1.25),
            "linux": "Linux sch_pie.c: 20 sixteenths" => Hertz(1.25),
            "docsis": "RFC 8034" => Hertz(2.5);
        /// How long a burst may last, after a time without congestion, before packets are dropped.
        max_burst: Span, ANY, "RFC 8033 §4.4: MAX_BURST" => Span::from_millis(150),
            "paper2013" | "ns2" | "linux2013": "Pan et al. 2013" => Span::from_millis(100),
            "docsis": "RFC 8034" => Span::from_millis(142);
        /// Backlogs up to twice this size are not signalled; `auto` is the largest packet of the
        /// link.
        mtu_bytes: OrAuto<Bytes>, POSITIVE, "RFC 8033 §4.1: MEAN_PKTSIZE, a large packet"
            => OrAuto(None),
            "linux" | "linux2013": "Linux sch_pie.c: psched_mtu" => OrAuto(None),
            "ns2" | "ns3": "ns-2, ns-3: mean packet size" => OrAuto(Some(Bytes(1000))),
            "docsis": "RFC 8034: MEAN_PKTSIZE" => OrAuto(Some(Bytes(1024))),
            "freebsd": "FreeBSD dn_aqm_pie.h: MEAN_PKTSIZE" => OrAuto(Some(Bytes(800)));
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, ANY, "RFC 8033 §5.1: optional; Linux sch_pie.c: off" => false;
        /// Drop probability from which even ECN-capable packets are dropped.
        ecn_mark_limit: f64, PROBABILITY, "RFC 8033 §5.1: 10 %" => 0.1,
            "paper2013": "Pan et al. 2013 §III-B: none; Linux of 2013: 10 %" => 1.0,
            "linux": "Linux sch_pie.c: up to and including 10 %" => 0.1;
        /// Whether signals are spaced more evenly (RFC 8033 §5.4, derandomisation).
        derandomise: bool, ANY, "RFC 8033 §5.4" => true,
            "rfc8033_basic": "RFC 8033 Appendix A: not" => false,
            "ns2": "the ns-2 code: not without DOCSIS" => false,
            "ns3": "ns-3: UseDerandomization off" => false;
        /// Whether the probability grows by at most 2 percentage points per update once it is 10 %.
        cap_step: bool, ANY, "RFC 8033 §5.5" => true,
            "rfc8033_basic": "RFC 8033 Appendix A: not" => false,
            "ietf_draft": "Schwarzkopf, Veith and Menth 2016 mention none" => false;
        /// Factor on the probability at each update where this and the previous delay are 0.
        idle_decay: f64, FRACTION, "RFC 8033 §4.2: 0.98" => 0.98,
            "ietf_draft": "Schwarzkopf, Veith and Menth 2016 mention none" => 1.0;
        /// Where the delay comes from.
        delay: DelaySource, ANY,
            "RFC 8033 §4.3: either; Appendix A: time stamps" => DelaySource::Stamps,
            "paper2013" | "ns2": "Pan et al. 2013 §III" => DelaySource::Rate,
            "freebsd": "FreeBSD pie_sysctl" => DelaySource::Rate,
            "ietf_draft": "Schwarzkopf, Veith and Menth 2016" => DelaySource::Rate;
        /// Backlog that starts a measurement of the departure rate, and bytes that must leave to
        /// finish it.
        dq_threshold: Bytes, POSITIVE, "RFC 8033 §5.2: 2^14 B" => Bytes(16_384),
            "paper2013" | "ns2" | "linux2013": "Pan et al. 2013: 10 KB" => Bytes(10_000);
        /// Weight of a new sample in the average time of departure (`paper2013`, `ns2`, `ns3`: in
        /// the average rate).
        rate_weight: f64, FRACTION, "RFC 8033 §5.2: 1/4" => 0.25,
            "paper2013": "Pan et al. 2013 give none; their ns-2 code: 1/2" => 0.5,
            "ns2" | "ns3": "ns-2, ns-3: 1/2" => 0.5;
        /// How steps shrink while the probability is small.
        tune: Tune, ANY, "RFC 8033 §4.2" => Tune::Rfc8033,
            "paper2013": "Pan et al. 2013 §III" => Tune::Paper2013,
            "ns2": "the ns-2 code" => Tune::Ns2,
            "docsis": "RFC 8034" => Tune::Docsis;
        /// Whether PIE is off until the backlog reaches a third of the limit, and again after
        /// congestion.
        on_off: bool, ANY, "RFC 8033 §5.3: optional; our choice: off, as Linux and ns-3" => false,
            "ietf_draft": "Schwarzkopf, Veith and Menth 2016" => true;
        /// Rules of the authors' Linux code of 2013 in addition to those of the paper.
        heuristics: Heuristics, ANY, "Pan et al. 2013: none" => Heuristics::None;
        /// Whether the product with 98 in the idle decay has 32 bits, as in the module of 2013.
        decay_wraps: bool, ANY, "RFC 8033: no" => false,
            "linux2013": "patch 678 of cerowrt-3.10, calculate_probability" => true;
        /// Whether smaller packets are dropped less often.
        byte_mode: bool, ANY, "RFC 7567 §4.4 recommends against it" => false,
            "docsis": "RFC 8034" => true;
        /// Queue delay that activates PIE until the probability and the delay are 0 again.
        active_threshold: OrOff<Span>, ANY, "ns-3 PieQueueDisc: ActiveThreshold" => OrOff(None);
        /// Sojourn time above which ECT(1) and CE are marked; `l4s` makes it hold.
        ce_threshold: OrOff<Span>, ANY, "ns-3 PieQueueDisc: CeThreshold" => OrOff(None);
        /// Whether only `ce_threshold` marks ECT(1) and CE, which are not dropped early.
        l4s: bool, ANY, "ns-3 PieQueueDisc: UseL4s" => false;
        /// When the probability is updated first; `auto` is one `tupdate` after the start.
        first_update: OrAuto<Span>, POSITIVE,
            "our choice: one period, as between updates" => OrAuto(None),
            "linux" | "linux2013": "Linux sch_pie.c: half a second"
                => OrAuto(Some(Span::from_millis(500)));
        // The timer expires a step of the kernel's timer wheel after it is due (fact aqm-4).
        /// Timer interrupts of the kernel per second, to which `tupdate` and `first_update` are
        /// rounded up.
        hz: OrOff<u64>, POSITIVE, "RFC 8033: timers are exact" => OrOff(None),
            "linux" | "linux2013": "Linux kernel/Kconfig.hz: 250" => OrOff(Some(250));
    } behaviour {
        "burst allowance falls": "by tupdate, at each update", "RFC 8033 §4.4",
            "paper2013": "by the time a rate measurement took, at its end", "Pan et al. 2013 §III",
            "linux": "by the time since the last departure (delay=rate: by that of a measurement)",
                "Linux sch_pie.c",
            "linux2013": "by the time a rate measurement took, at its end", "the module of 2013",
            "docsis": "by tupdate, at each update", "RFC 8034";
        "burst allowance is renewed": "by an arrival while p = 0 and both delays < target/2",
            "RFC 8033 §4.4",
            "paper2013": "by a rate measurement with p = 0 and both delays < target/2",
                "Pan et al. 2013 §III",
            "ietf_draft": "when it is switched on", "RFC 8033 Appendix B",
            "linux": "by an update with p = 0 and both delays < target/2", "Linux sch_pie.c",
            "linux2013": "by an update with p = 0, both delays < target/2 and a known rate",
                "the module of 2013",
            "ns2": "by the first arrival, and again after 1.5 s of calm", "the ns-2 code",
            "ns3": "by the first arrival, and again after 1.5 s of calm", "ns-3 PieQueueDisc",
            "docsis": "by the first drop after a quiet update", "RFC 8034; CableLabs docsis-ns3";
        "a queue listed again": "keeps its state", "our choice, as Linux",
            "freebsd": "starts with p = 0 and a burst allowance", "FreeBSD fq_activate_pie";
        "p during a burst": "moves as usual", "RFC 8033 §4.4",
            "ns2" | "ns3": "is held at 0", "the ns-2 code; ns-3 PieQueueDisc",
            "docsis": "is held at 0", "RFC 8034";
        "never signalled":
            "while delay at the last update < target/2 and p < 0.2, or B <= 2 packets",
            "RFC 8033 §4.1",
            "paper2013": "nothing is exempt (heuristics=linux2013: as RFC 8033, B < 2 packets)",
                "Pan et al. 2013 §III",
            "ietf_draft": "while delay at the last update < target/2, or B <= 2 packets",
                "Schwarzkopf, Veith and Menth 2016",
            "linux": "while the last delay < target/2 and p < 0.2, or B < 2 packets",
                "Linux sch_pie.c",
            "linux2013": "while delay at the last update < target/2 and p < 0.2, or B < 2 packets",
                "the module of 2013",
            "docsis": "as rfc8033; and while inactive, after over a second of quiet and below a \
                       third of the limit",
                "RFC 8034; CableLabs docsis-ns3";
        "limits of p": "0 to 1", "RFC 8033 §4.2",
            "linux": "0, no upper limit: p may exceed 1, as the kernel's clamp has no effect",
                "Linux sch_pie.c, pie_calculate_probability",
            "ns2": "0, no upper limit", "the ns-2 code",
            "docsis": "0 to 13.6, for a packet of mean size", "RFC 8034";
        "extra step at high delay": "none", "RFC 8033",
            "paper2013": "none (heuristics=linux2013: +2 points above 250 ms)", "Pan et al. 2013",
            "linux": "+2 points above 250 ms", "Linux sch_pie.c",
            "linux2013": "+2 points above 250 ms", "the module of 2013",
            "ns2": "+2 points above 200 ms", "the ns-2 code",
            "docsis": "+2 points above 200 ms", "RFC 8034";
        "p decays": "by idle_decay, when both delays are 0", "RFC 8033 §4.2",
            "paper2013": "never (heuristics=linux2013: by 2 % when both delays are 0)",
                "Pan et al. 2013",
            "linux": "by 1/64, when both delays are 0 and the queue is empty", "Linux sch_pie.c",
            "linux2013": "by 2 %, to below 1 % if p > 1.02 %, when both delays are 0 and the \
                          queue is empty", "the module of 2013",
            "docsis": "by idle_decay, when both delays are < 5 ms", "RFC 8034",
            "freebsd": "by 1/64, when both delays are 0", "FreeBSD calculate_drop_prob";
        "ECN marks while": "p < ecn_mark_limit", "RFC 8033 §5.1",
            "linux": "p <= ecn_mark_limit", "Linux sch_pie.c",
            "linux2013": "p <= ecn_mark_limit", "the module of 2013",
            "docsis": "never", "RFC 8034 has no ECN";
        "a mark clears the accumulator": "yes",
            "our choice: as a drop does; RFC 8033 Appendix B leaves it open",
            "paper2013" | "rfc8033_basic": "does not exist", "Pan et al. 2013; RFC 8033 Appendix A",
            "linux2013": "does not exist", "the module of 2013",
            "linux": "only a mark by random draw", "Linux sch_pie.c",
            "ns3": "no", "ns-3 PieQueueDisc",
            "freebsd": "only a mark by random draw", "FreeBSD drop_early",
            "docsis": "there are no marks", "RFC 8034";
        "random numbers": "one per arrival while the accumulator is between 0.85 and 8.5",
            "RFC 8033 §5.4",
            "rfc8033_basic" | "paper2013": "one per arrival that is not exempt",
                "RFC 8033 Appendix A; Pan et al. 2013",
            "linux2013": "one per arrival that is not exempt", "the module of 2013",
            "ns2": "one per arrival outside a burst, exempt or not", "the ns-2 code",
            "ns3": "one per arrival outside a burst that is not exempt; derandomised: while the \
                    accumulator is between 0.85 and 8.5", "ns-3 PieQueueDisc::DropEarly";
    } check: |params| check(params);
    unused: |dialect| unused(dialect);
}

words! {
    /// Where PIE's delay comes from.
    pub enum DelaySource {
        /// The sojourn time of the last departure.
        Stamps = "stamps",
        /// The backlog over a measured departure rate.
        Rate = "rate",
    }
}

words! {
    /// Rules in addition to the paper's.
    pub enum Heuristics {
        /// None.
        None = "none",
        /// Rules of the authors' Linux code of 2013, as preserved in the Linux `sch_pi2.c` of 2015.
        Linux2013 = "linux2013",
    }
}

fn check(params: &PieParams) -> Result<(), String> {
    let dialect = params.dialect;
    let in_sixteenths = |gain: Hertz| gain.0 <= 2.0 && libm::floor(gain.0 * 16.0) == gain.0 * 16.0;
    let is_of_kernel = matches!(dialect, "linux" | "linux2013");
    if is_of_kernel && !(in_sixteenths(params.alpha) && in_sixteenths(params.beta)) {
        let rule = "must be whole sixteenths of a hertz, at most 2hz, in dialect";
        return Err(format!("alpha and beta {rule} {dialect} (tc-pie)"));
    }
    freebsd::check(params)
}

impl PieParams {
    fn gains(&self) -> Gains {
        Gains { alpha: self.alpha.0, beta: self.beta.0, target: self.target.as_secs() }
    }

    fn mean_packet(&self, env: &Env) -> u64 {
        self.mtu_bytes.0.map_or(u64::from(env.mtu_bytes), |bytes| bytes.0)
    }

    /// The parameter values in use; MADPIE calls this too.
    pub(in crate::laws) fn effective(&self, env: &Env) -> Vec<Effective> {
        core::iter::once(Effective::instead("tupdate", self.tupdate, self.period(), "hz"))
            .chain(Effective::of_mtu("mtu_bytes", self.mtu_bytes, env.mtu_bytes))
            .collect()
    }

    /// Time between two updates, rounded as the dialect's timer does.
    fn period(&self) -> Span {
        between_expiries(self.tupdate, self.hz.0)
    }

    fn timer(&self) -> Timer {
        let first = self.first_update.0.unwrap_or(self.tupdate);
        Timer::starting(Time::ZERO + between_expiries(first, self.hz.0), self.period())
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct Pie {
    controller: Controller,
    timer: Timer,
}

impl Aqm for Pie {
    #[inline(always)]
    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        self.controller.on_enqueue(now, head, queue, rng)
    }

    fn on_overflow(&mut self, _now: Time, queue: Backlog) {
        self.controller.on_overflow(queue);
    }

    #[inline(always)]
    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, _rng: &mut Rng) -> Verdict {
        self.controller.on_dequeue(now, head, queue)
    }

    fn on_listing(&mut self, now: Time, is_listed: bool) {
        self.controller.on_listing(now, is_listed);
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.timer.next())
    }

    fn on_timer(&mut self, now: Time, queue: Backlog) {
        self.controller.update(queue);
        self.timer.advance(now);
    }

    fn on_idle_timers(&mut self, now: Time) {
        for _ in 0..Timer::MOST_CAUGHT_UP {
            if !self.timer.next().is_due(now) {
                return;
            }
            if self.controller.is_at_rest() {
                self.timer.advance(now);
            } else {
                self.on_timer(self.timer.next(), Backlog::EMPTY);
            }
        }
        self.timer.advance(now);
    }

    fn on_rate(&mut self, _now: Time, rate: Rate) {
        self.controller.on_rate(rate);
    }

    fn observe(&self, out: &mut [f64]) {
        out[0] = self.controller.drop_prob();
        out[1] = self.controller.delay();
        out[2] = self.controller.burst_allowance();
        out[3] = self.controller.accumulator();
    }
}

impl Law for Pie {
    type Params = PieParams;
    const NAME: &'static str = "pie";
    const DOC: &'static str =
        "Drops arrivals with a probability from a PI controller of queue delay (RFC 8033)";
    const VARS: &'static [Var] = &[
        Var { name: "drop_prob", unit: "1", doc: "Probability in the controller" },
        Var { name: "delay", unit: "s", doc: "Queue delay known to the controller" },
        Var { name: "burst_allowance", unit: "s", doc: "Time for which nothing is dropped yet" },
        Var { name: "accumulator", unit: "1", doc: "Sum of probabilities since the last signal" },
    ];
    const STEP_TABLES: &'static [StepTable] = &scaling::TABLES;

    fn new(params: &PieParams, env: &Env) -> Self {
        let (controller, timer) = Controller::new(params, env);
        Pie { controller, timer }
    }

    fn effective(params: &PieParams, env: &Env) -> Vec<Effective> {
        params.effective(env)
    }
}

#[cfg(test)]
mod docsis_tests;
#[cfg(test)]
mod draft_tests;
#[cfg(test)]
mod edge_tests;
#[cfg(test)]
mod freebsd_tests;
#[cfg(test)]
mod linux2013_tests;
#[cfg(test)]
mod linux_tests;
#[cfg(test)]
mod ns3_tests;
#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod paper_tests;
#[cfg(test)]
mod tests;
