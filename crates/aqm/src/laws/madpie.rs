//! MADPIE, maximum and average queuing delay with PIE: PIE plus one deterministic drop per update
//! interval while the queue delay exceeds a second, higher bound.
//!
//! Source: Kuhn and Ros 2016 ("Improving PIE's performance over high-delay paths"), §II. The
//! underlying PIE is any dialect of [`super::pie`] with all its parameters; by default the authors'
//! ns-2 code. The burst allowance described by the study is that of `paper2013` (fact papers-8).
//! The study's values apply to every dialect; dialects differ only in their PIE.
//!
//! Where the paper is silent, we chose (fact aqm-100): alpha and beta are PIE's; a flag stays set
//! until it is used (`deterministic_clear` changes that); neither kind of drop happens during the
//! burst allowance (`deterministic_in_burst` changes that) or while at most two packets are queued;
//! a deterministic drop becomes a mark like a random one, but without the 10 % limit. In `ns2` the
//! probability has no upper bound, as in the authors' ns-2 code.
//!
//! Deviations from Linux and ns-3: neither has MADPIE.

use alloc::string::String;
use alloc::vec::Vec;

use crate::effective::Effective;
use crate::law::{Aqm, Cause, Env, Law, Var, Verdict};
use crate::laws::pie::{Controller, DelaySource, Heuristics, PieParams, Timer, Tune, unused};
use crate::packet::{Backlog, Head};
use crate::params;
use crate::params::rules::contradiction;
use crate::params::{Bytes, Hertz, OrAuto, OrOff, Params};
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};

params! {
    /// Parameters of MADPIE.
    pub struct MadpieParams {
        dialects:
            "ns2" = "Kuhn and Ros 2016 on the PIE of its authors' ns-2 code",
            "paper2013" = "Kuhn and Ros 2016 on the PIE of Pan et al. 2013",
            "rfc8033" = "Kuhn and Ros 2016 on the PIE of RFC 8033",
            "rfc8033_basic" = "Kuhn and Ros 2016 on the PIE of RFC 8033 Appendix A",
            "ietf_draft" = "Kuhn and Ros 2016 on the PIE of draft-ietf-aqm-pie",
            "linux" = "Kuhn and Ros 2016 on the PIE of Linux sch_pie.c",
            "linux2013" = "Kuhn and Ros 2016 on the PIE of the Linux module of 2013",
            "ns3" = "Kuhn and Ros 2016 on the PIE of ns-3",
            "docsis" = "Kuhn and Ros 2016 on the PIE of RFC 8034";
        /// Queue delay aimed at.
        target: Span, POSITIVE, "Kuhn and Ros 2016 §III" => Span::from_millis(20);
        /// Queue delay above which one packet per update is dropped deterministically.
        deterministic_target: Span, POSITIVE, "Kuhn and Ros 2016 §IV (§III: 30 ms)"
            => Span::from_millis(25);
        /// Whether a pending deterministic drop is cancelled if the delay has fallen.
        deterministic_clear: bool, ANY, "Kuhn and Ros 2016 §II mention no reset" => false;
        /// Whether a deterministic drop may happen during the burst allowance.
        deterministic_in_burst: bool, ANY, "our choice: not; Kuhn and Ros 2016 are silent" => false;
        /// Time between two updates.
        tupdate: Span, POSITIVE, "Kuhn and Ros 2016 §III" => Span::from_millis(30);
        /// Integral gain.
        alpha: Hertz, NOT_NEGATIVE, "PIE's authors' ns-2 code" => Hertz(0.125);
        /// Proportional gain.
        beta: Hertz, NOT_NEGATIVE, "PIE's authors' ns-2 code" => Hertz(1.25);
        /// How long a burst may last before packets are dropped.
        max_burst: Span, ANY, "Kuhn and Ros 2016 §III; PIE's authors' ns-2 code"
            => Span::from_millis(100);
        /// Backlog that starts a measurement of the departure rate, and bytes that must leave to
        /// finish it.
        dq_threshold: Bytes, POSITIVE, "PIE's authors' ns-2 code" => Bytes(10_000);
        /// Backlogs up to twice this size are not signalled; `auto` is the largest packet of the
        /// link.
        mean_packet_bytes: OrAuto<Bytes>, POSITIVE, "PIE's authors' ns-2 code"
            => OrAuto(Some(Bytes(1_000))),
            "paper2013" | "rfc8033" | "rfc8033_basic" | "ietf_draft":
                "RFC 8033 §4.1: MEAN_PKTSIZE, a large packet" => OrAuto(None),
            "linux" | "linux2013": "Linux sch_pie.c: psched_mtu" => OrAuto(None),
            "docsis": "RFC 8034: MEAN_PKTSIZE" => OrAuto(Some(Bytes(1_024)));
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, ANY, "Kuhn and Ros 2016 §II: drop or mark; off in its study" => false;
        /// Drop probability from which random signals drop even ECN-capable packets.
        ecn_mark_limit: f64, PROBABILITY, "RFC 8033 §5.1: 10 %" => 0.1,
            "paper2013": "Pan et al. 2013 §III-B: none" => 1.0;
        /// Whether random signals are spaced more evenly (RFC 8033 §5.4).
        derandomise: bool, ANY, "as in pie" => true,
            "ns2" | "ns3" | "rfc8033_basic": "as in pie" => false;
        /// Whether the probability grows by at most 2 percentage points per update once it is 10 %.
        cap_step: bool, ANY, "as in pie" => true,
            "rfc8033_basic" | "ietf_draft": "as in pie" => false;
        /// Factor on the probability at each update where this and the previous delay are 0.
        idle_decay: f64, FRACTION, "as in pie" => 0.98,
            "ietf_draft": "as in pie" => 1.0;
        /// Where the delay comes from.
        delay: DelaySource, ANY, "as in pie" => DelaySource::Stamps,
            "ns2" | "paper2013" | "ietf_draft": "as in pie" => DelaySource::Rate;
        /// Weight of a new sample in the average time of departure, or the average rate.
        rate_weight: f64, FRACTION, "as in pie" => 0.25,
            "ns2" | "ns3" | "paper2013": "as in pie" => 0.5;
        /// How steps shrink while the probability is small.
        tune: Tune, ANY, "as in pie" => Tune::Rfc8033,
            "ns2": "as in pie" => Tune::Ns2,
            "paper2013": "as in pie" => Tune::Paper2013,
            "docsis": "as in pie" => Tune::Docsis;
        /// Whether PIE is off until the backlog reaches a third of the limit, and again after
        /// congestion.
        on_off: bool, ANY, "as in pie" => false,
            "ietf_draft": "as in pie" => true;
        /// Rules of the authors' Linux code of 2013 in addition to those of the paper.
        heuristics: Heuristics, ANY, "as in pie" => Heuristics::None;
        /// Whether the product with 98 in the idle decay has 32 bits, as in the module of 2013.
        decay_wraps: bool, ANY, "as in pie" => false,
            "linux2013": "as in pie" => true;
        /// Whether smaller packets are dropped at random less often.
        byte_mode: bool, ANY, "as in pie" => false,
            "docsis": "as in pie" => true;
        /// Queue delay that activates PIE until the probability and the delay are 0 again.
        active_threshold: OrOff<Span>, ANY, "as in pie" => OrOff(None);
        /// Sojourn time above which ECT(1) and CE are marked; `l4s` makes it hold.
        ce_threshold: OrOff<Span>, ANY, "as in pie" => OrOff(None);
        /// Whether only `ce_threshold` marks ECT(1) and CE, which are not dropped early.
        l4s: bool, ANY, "as in pie" => false;
        /// When the probability is updated first; `auto` is one `tupdate` after the start.
        first_update: OrAuto<Span>, POSITIVE, "as in pie" => OrAuto(None),
            "linux" | "linux2013": "as in pie" => OrAuto(Some(Span::from_millis(500)));
        /// Timer interrupts of the kernel per second, to which `tupdate` and `first_update` are
        /// rounded up.
        hz: OrOff<u64>, POSITIVE, "as in pie" => OrOff(None),
            "linux" | "linux2013": "as in pie" => OrOff(Some(250));
    } behaviour {
        "random signals": "as in pie@ns2", "Kuhn and Ros 2016 §II: an ns-2 study",
            "paper2013": "as in pie@paper2013", "Pan et al. 2013",
            "rfc8033": "as in pie@rfc8033", "RFC 8033",
            "rfc8033_basic": "as in pie@rfc8033_basic", "RFC 8033 Appendix A",
            "ietf_draft": "as in pie@ietf_draft", "Schwarzkopf, Veith and Menth 2016",
            "linux": "as in pie@linux", "Linux sch_pie.c",
            "linux2013": "as in pie@linux2013", "the module of 2013",
            "ns3": "as in pie@ns3", "ns-3 PieQueueDisc",
            "docsis": "as in pie@docsis", "RFC 8034";
        "a deterministic signal becomes due":
            "at an update with a delay above deterministic_target", "Kuhn and Ros 2016 §II";
        "it hits": "the next arrival that PIE neither signals nor exempts",
            "Kuhn and Ros 2016 §II";
        "no deterministic signal": "during a burst, or while at most two packets are queued",
            "our choice: what PIE exempts; the paper is silent",
            "linux" | "linux2013": "during a burst, or while fewer than two packets are queued",
                "our choice: what PIE exempts; the paper is silent",
            "docsis": "during a burst, while inactive, or while at most two packets are queued",
                "our choice: what PIE exempts; the paper is silent";
        "a deterministic signal marks while": "ecn is on, at any probability",
            "our choice: ecn_mark_limit is PIE's, for its random signals";
    }
    check: |params| check(params);
    unused: |dialect| unused(dialect);
}

fn check(params: &MadpieParams) -> Result<(), String> {
    if params.deterministic_target > params.target {
        params.pie().check()
    } else {
        let source = "Kuhn and Ros 2016 §II";
        Err(contradiction(params, "deterministic_target", "greater than", "target", source))
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct Madpie {
    pie: Controller,
    timer: Timer,
    ecn: bool,
    deterministic_target: f64,
    deterministic_clear: bool,
    deterministic_in_burst: bool,
    /// Whether to drop the next packet that PIE lets pass.
    is_drop_due: bool,
}

impl Aqm for Madpie {
    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        let verdict = self.pie.on_enqueue(now, head, queue, rng);
        if verdict == Verdict::Pass && self.is_drop_due && !self.is_exempt(queue) {
            self.is_drop_due = false;
            return Verdict::signal(self.ecn && head.ecn.can_mark(), Cause::DelayBound);
        }
        verdict
    }

    fn on_overflow(&mut self, _now: Time, queue: Backlog) {
        self.pie.on_overflow(queue);
    }

    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, _rng: &mut Rng) -> Verdict {
        self.pie.on_dequeue(now, head, queue)
    }

    fn on_rate(&mut self, _now: Time, rate: Rate) {
        self.pie.on_rate(rate);
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.timer.next())
    }

    fn on_timer(&mut self, now: Time, queue: Backlog) {
        self.pie.update(queue);
        if self.pie.delay_at_update() > self.deterministic_target {
            self.is_drop_due = true;
        } else if self.deterministic_clear {
            self.is_drop_due = false;
        }
        self.timer.advance(now);
    }

    fn on_idle_timers(&mut self, now: Time) {
        for _ in 0..Timer::MOST_CAUGHT_UP {
            if !self.timer.next().is_due(now) {
                return;
            }
            let rests = self.pie.is_at_rest() && !(self.is_drop_due && self.deterministic_clear);
            if rests {
                self.timer.advance(now);
            } else {
                self.on_timer(self.timer.next(), Backlog::EMPTY);
            }
        }
        self.timer.advance(now);
    }

    fn observe(&self, out: &mut [f64]) {
        out[0] = self.pie.drop_prob();
        out[1] = self.pie.delay_at_update();
        out[2] = self.pie.burst_allowance();
        out[3] = f64::from(u8::from(self.is_drop_due));
    }
}

impl Law for Madpie {
    type Params = MadpieParams;
    const NAME: &'static str = "madpie";
    const DOC: &'static str =
        "PIE plus one deterministic drop per update above a delay bound (Kuhn and Ros 2016)";
    const VARS: &'static [Var] = &[
        Var { name: "drop_prob", unit: "1", doc: "Probability in the controller; may exceed 1" },
        Var { name: "delay", unit: "s", doc: "Queue delay at the last update" },
        Var { name: "burst_allowance", unit: "s", doc: "Time for which nothing is dropped yet" },
        Var { name: "drop_due", unit: "1", doc: "1 while a deterministic drop is due, else 0" },
    ];

    fn new(params: &MadpieParams, env: &Env) -> Self {
        let (pie, timer) = Controller::new(&params.pie(), env);
        Madpie {
            pie,
            timer,
            ecn: params.ecn,
            deterministic_target: params.deterministic_target.as_secs(),
            deterministic_clear: params.deterministic_clear,
            deterministic_in_burst: params.deterministic_in_burst,
            is_drop_due: false,
        }
    }

    fn effective(params: &MadpieParams, env: &Env) -> Vec<Effective> {
        let mut values = params.pie().effective(env);
        let packet = params.mean_packet_bytes;
        values.retain(|value| value.name == "tupdate");
        values.extend(Effective::of_mtu("mean_packet_bytes", packet, env.mtu_bytes));
        values
    }
}

impl Madpie {
    /// Whether an arrival is exempt from the deterministic drop.
    fn is_exempt(&self, queue: Backlog) -> bool {
        if self.deterministic_in_burst {
            self.pie.is_idle(queue)
        } else {
            self.pie.is_protected(queue)
        }
    }
}

impl MadpieParams {
    /// The parameters of the dialect's PIE.
    fn pie(&self) -> PieParams {
        PieParams {
            dialect: self.dialect,
            target: self.target,
            tupdate: self.tupdate,
            alpha: self.alpha,
            beta: self.beta,
            max_burst: self.max_burst,
            mtu_bytes: self.mean_packet_bytes,
            ecn: self.ecn,
            ecn_mark_limit: self.ecn_mark_limit,
            derandomise: self.derandomise,
            cap_step: self.cap_step,
            idle_decay: self.idle_decay,
            delay: self.delay,
            dq_threshold: self.dq_threshold,
            rate_weight: self.rate_weight,
            tune: self.tune,
            on_off: self.on_off,
            heuristics: self.heuristics,
            decay_wraps: self.decay_wraps,
            byte_mode: self.byte_mode,
            active_threshold: self.active_threshold,
            ce_threshold: self.ce_threshold,
            l4s: self.l4s,
            first_update: self.first_update,
            hz: self.hz,
        }
    }
}

#[cfg(test)]
#[path = "madpie_tests.rs"]
mod tests;
