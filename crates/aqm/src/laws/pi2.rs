//! PI2: a PI controller whose output is squared before it becomes the drop probability, which
//! replaces PIE's table and most of its special cases.
//!
//! Source: Tahiliani and Tewari 2017 ("Implementation of PI2 Queuing Discipline for Classic TCP
//! Traffic in ns-3"), for classic traffic only: gains on p', delay from the departure rate.
//!
//! Deviations from the paper: its formula omits the previous p' (a misprint); p' is clamped to
//! 0..=1; two draws that must both hit replace one draw against p'^2 (fact aqm-90).
//!
//! Deviations of `classic` from the PI2 authors' Linux `sch_pi2.c` (2015): that code controls p_s =
//! 2 p' with twice the gains, so that p' stays below 1/2; it decays p by 2 % per idle update; its
//! rate has weight 1/8, not 1/2; its first update comes after 500 ms; it marks scalable traffic
//! with p_s. `linux` follows all of these, with doubles where the kernel has 32-bit integers.
//!
//! Deviations of `classic` from the ns-3 port: half its gains (it applies Linux's to p' directly,
//! which is twice too strong); an upper bound; fewer than two packets are exempt, not up to two; no
//! decay when idle; two draws. `ns3` follows all of these.
//!
//! Deviations of `rfc9332` from RFC 9332 Appendix A.1: for classic traffic, none known; there is no
//! L queue. Its delay is the age of the packet at the head, which grows while the link stalls.
//! `coupled` is the single queue of `sch_pi2.c` with p' as in `classic`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::effective::Effective;
use crate::law::{Aqm, Cause, Env, Law, Var, Verdict};
use crate::packet::{Backlog, Ecn, Head};
use crate::params::{Bytes, Hertz, OrAuto, OrOff};
use crate::parts::departure_rate::DepartureRate;
use crate::parts::gains::Gains;
use crate::parts::periodic::{Periodic, in_jiffies};
use crate::rng::Rng;
use crate::time::{Span, Time};
use crate::units::Limit;
use crate::{params, words};

params! {
    /// Parameters of PI2.
    pub struct Pi2Params {
        dialects:
            "classic" = "Tahiliani and Tewari 2017: classic traffic, gains on p'",
            "rfc9332" = "RFC 9332 Appendix A: the base AQM of DualPI2, without the L queue",
            "coupled" = "one queue for classic and scalable traffic (Linux sch_pi2.c), gains on p'",
            "linux" = "Linux sch_pi2.c: gains on p_s = k p'",
            "ns3" = "the ns-3 port: Linux's gains on p', no upper bound";
        /// Queue delay aimed at.
        target: Span, POSITIVE, "Tahiliani and Tewari 2017, Table III" => Span::from_millis(20),
            "rfc9332": "RFC 9332 Appendix A.1" => Span::from_millis(15);
        /// Time between two updates of the probability.
        tupdate: Span, POSITIVE, "Tahiliani and Tewari 2017, Table III" => Span::from_millis(30),
            "rfc9332": "RFC 9332 Appendix A.1: min(target, RTT_max / 3)" => Span::from_millis(16);
        /// Integral gain on p' (`linux`: on p_s).
        alpha: Hertz, NOT_NEGATIVE, "Tahiliani and Tewari 2017, Table III" => Hertz(0.3125),
            "rfc9332": "RFC 9332 Appendix A.1: 0.1 T / RTT_max^2" => Hertz(0.16),
            "linux" | "ns3": "Linux sch_pi2.c: 10 sixteenths" => Hertz(0.625);
        /// Proportional gain on p' (`linux`: on p_s).
        beta: Hertz, NOT_NEGATIVE, "Tahiliani and Tewari 2017, Table III" => Hertz(3.125),
            "rfc9332": "RFC 9332 Appendix A.1: 0.3 / RTT_max" => Hertz(3.2),
            "linux" | "ns3": "Linux sch_pi2.c: 100 sixteenths" => Hertz(6.25);
        /// Where the delay comes from.
        delay: Estimator, ANY, "Tahiliani and Tewari 2017 §II" => Estimator::Rate,
            "rfc9332": "RFC 9332 Appendix A.1: age of the packet at the head" => Estimator::Head;
        /// Backlog that starts a measurement of the departure rate, and bytes that must leave to
        /// finish it.
        dq_threshold: Bytes, POSITIVE, "Tahiliani and Tewari 2017, Table III" => Bytes(10_000);
        /// Weight of a new sample in the average departure rate.
        rate_weight: f64, FRACTION, "Tahiliani and Tewari 2017, Table II" => 0.5,
            "linux": "Linux sch_pi2.c" => 0.125;
        /// Backlogs below twice this size are not signalled; `auto` is the largest packet of the
        /// link.
        mtu_bytes: OrAuto<Bytes>, POSITIVE, "Linux sch_pi2.c: psched_mtu" => OrAuto(None);
        /// Factor on the probability at each update where this and the previous delay are 0.
        idle_decay: f64, FRACTION, "Tahiliani and Tewari 2017: none" => 1.0,
            "linux" | "ns3": "Linux sch_pi2.c, the ns-3 port: 0.98" => 0.98;
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, ANY, "Linux sch_pi2.c: off" => false,
            "coupled": "Linux sch_pi2.c with ecn: it takes marks to couple" => true;
        /// Which packets are of scalable traffic, marked with k p' where `ecn` is on.
        scalable: Scalable, ANY, "Tahiliani and Tewari 2017: none" => Scalable::None,
            "coupled" | "linux": "Linux sch_pi2.c: ecn_scal" => Scalable::Any;
        /// k: how much more often than p' scalable packets are marked.
        coupling_k: f64, POSITIVE, "RFC 9332 §2.4; Linux sch_pi2.c: 2" => 2.0;
        /// When the probability is updated first; `auto` is one `tupdate` after the start.
        first_update: OrAuto<Span>, POSITIVE,
            "our choice: one period, as between updates" => OrAuto(None),
            "linux": "Linux sch_pi2.c: half a second" => OrAuto(Some(Span::from_millis(500)));
        /// Timer interrupts of the kernel per second, to which `tupdate` is rounded up.
        hz: OrOff<u64>, POSITIVE, "timers are exact" => OrOff(None),
            "linux": "Linux kernel/Kconfig.hz: 250" => OrOff(Some(250));
    }
    behaviour {
        "what is controlled": "p', in 0 to 1", "Tahiliani and Tewari 2017",
            "linux": "p_s = k p', in 0 to 1", "Linux sch_pi2.c",
            "ns3": "p', without an upper bound", "the ns-3 port";
        "a classic packet is signalled": "when two draws are both < p'", "Linux sch_pi2.c",
            "ns3": "when one draw is <= p'^2", "the ns-3 port";
        "never signalled": "while less than two packets wait", "Linux sch_pi2.c",
            "ns3": "while two packets or fewer wait", "the ns-3 port";
    }
    check: |params| check(params);
}

fn check(params: &Pi2Params) -> Result<(), String> {
    if params.coupling_k < 1.0 {
        let k = params.coupling_k;
        return Err(format!("coupling_k `{k}` must be at least 1 (RFC 9332 §2.4)"));
    }
    Ok(())
}

words! {
    /// Where PI2's delay comes from.
    pub enum Estimator {
        /// The sojourn time of the last departure, 0 once the queue is empty.
        Stamps = "stamps",
        /// The backlog over a measured departure rate.
        Rate = "rate",
        /// The age of the packet at the head, 0 for an empty queue.
        Head = "head",
    }
}

words! {
    /// How scalable traffic is recognised.
    pub enum Scalable {
        /// Not at all.
        None = "none",
        /// By ECT(1) and CE (RFC 9331 §4.1).
        Ect1 = "ect1",
        /// By any ECN field but Not-ECT.
        Any = "any",
    }
}

impl Scalable {
    fn includes(self, ecn: Ecn) -> bool {
        match self {
            Scalable::None => false,
            Scalable::Ect1 => matches!(ecn, Ecn::Ect1 | Ecn::Ce),
            Scalable::Any => ecn.can_mark(),
        }
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct Pi2 {
    gains: Gains,
    form: Form,
    exempt_below_bytes: u64,
    exempt_below_packets: u32,
    ecn: bool,
    scalable: Scalable,
    coupling_k: f64,
    idle_decay: f64,
    timer: Periodic,
    estimator: Estimator,
    departures: DepartureRate,
    /// The controller's output: p', in `linux` p_s = k p'.
    output: f64,
    /// p', the probability before squaring.
    base_prob: f64,
    /// Stamps: the sojourn time of the last departure, in seconds.
    last_delay: f64,
    /// Head: arrival time of the packet at the head.
    head: Option<Time>,
    /// Delay at the last update, in seconds.
    delay: f64,
}

/// How the controller's output becomes a probability.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// p' is controlled; two draws must hit.
    Base,
    /// p_s is controlled, and divided by k before it is squared.
    Scaled,
    /// p' is controlled without an upper bound; a single draw at or below its square hits.
    Unbounded,
}

impl Pi2 {
    fn update(&mut self, now: Time, queue: Backlog) {
        let delay = match self.estimator {
            Estimator::Stamps => self.last_delay,
            Estimator::Rate => self.departures.delay(queue.bytes),
            Estimator::Head => self.head.map_or(0.0, |enqueued| now.since(enqueued).as_secs()),
        };
        let step = self.gains.step(delay, self.delay);
        let is_idle = delay == 0.0 && self.delay == 0.0;
        let decay = if is_idle { self.idle_decay } else { 1.0 };
        let most = if self.form == Form::Unbounded { f64::MAX } else { 1.0 };
        self.output = (self.output + step).clamp(0.0, most) * decay;
        self.base_prob =
            if self.form == Form::Scaled { self.output / self.coupling_k } else { self.output };
        self.delay = delay;
    }

    fn is_at_rest(&self) -> bool {
        self.output == 0.0 && self.delay == 0.0 && self.last_delay == 0.0
    }

    /// Whether the backlog is too small for a signal.
    fn is_exempt(&self, queue: Backlog) -> bool {
        queue.bytes < self.exempt_below_bytes || queue.packets < self.exempt_below_packets
    }

    fn selects(&self, rng: &mut Rng) -> bool {
        let u = rng.uniform();
        if self.form == Form::Unbounded {
            return u <= self.base_prob * self.base_prob;
        }
        // "Think twice to drop": the second number is drawn only if the first hits (fact aqm-90).
        u < self.base_prob && rng.uniform() < self.base_prob
    }

    /// Scalable packets are marked with k p', and never dropped here.
    #[inline(never)]
    fn judge_scalable(&self, rng: &mut Rng) -> Verdict {
        if rng.uniform() < self.base_prob * self.coupling_k {
            return Verdict::Mark(Cause::Random);
        }
        Verdict::Pass
    }
}

impl Aqm for Pi2 {
    fn on_enqueue(&mut self, _now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        if self.is_exempt(queue) {
            return Verdict::Pass;
        }
        if self.ecn && self.scalable.includes(head.ecn) {
            return self.judge_scalable(rng);
        }
        if self.selects(rng) {
            return Verdict::signal(self.ecn && head.ecn.can_mark(), Cause::Random);
        }
        Verdict::Pass
    }

    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, _rng: &mut Rng) -> Verdict {
        match self.estimator {
            Estimator::Stamps if queue.packets == 0 => self.last_delay = 0.0,
            Estimator::Stamps => self.last_delay = head.sojourn(now).as_secs(),
            Estimator::Rate => self.departures.on_dequeue(now, head.bytes, queue.bytes),
            Estimator::Head => {}
        }
        Verdict::Pass
    }

    fn on_overflow(&mut self, _now: Time, queue: Backlog) {
        if queue.packets == 0 {
            self.last_delay = 0.0;
        }
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.timer.next())
    }

    fn on_head(&mut self, enqueued: Option<Time>) {
        self.head = enqueued;
    }

    fn on_timer(&mut self, now: Time, queue: Backlog) {
        self.update(now, queue);
        self.timer.advance(now);
    }

    fn on_idle_timers(&mut self, now: Time) {
        self.head = None;
        for _ in 0..Periodic::MOST_CAUGHT_UP {
            if !self.timer.next().is_due(now) {
                return;
            }
            if self.is_at_rest() {
                self.timer.advance(now);
            } else {
                self.on_timer(self.timer.next(), Backlog::EMPTY);
            }
        }
        self.timer.advance(now);
    }

    fn observe(&self, out: &mut [f64]) {
        out[0] = self.base_prob * self.base_prob;
        out[1] = self.base_prob;
        out[2] = self.delay;
    }
}

impl Law for Pi2 {
    type Params = Pi2Params;
    const NAME: &'static str = "pi2";
    const DOC: &'static str =
        "A PI controller of queue delay whose output is squared (Tahiliani and Tewari 2017)";
    const VARS: &'static [Var] = &[
        Var { name: "drop_prob", unit: "1", doc: "p'^2: probability of a classic signal" },
        Var { name: "base_prob", unit: "1", doc: "p': the probability before squaring" },
        Var { name: "delay", unit: "s", doc: "Queue delay at the last update" },
    ];

    fn new(params: &Pi2Params, env: &Env) -> Self {
        let p = params;
        let period = p.period();
        let (exempt_below_bytes, exempt_below_packets) = p.exempt(env);
        Pi2 {
            gains: Gains { alpha: p.alpha.0, beta: p.beta.0, target: p.target.as_secs() },
            form: match p.dialect {
                "linux" => Form::Scaled,
                "ns3" => Form::Unbounded,
                _ => Form::Base,
            },
            exempt_below_bytes,
            exempt_below_packets,
            ecn: p.ecn,
            scalable: p.scalable,
            coupling_k: p.coupling_k,
            idle_decay: p.idle_decay,
            timer: Periodic::starting(Time::ZERO + p.first_update.0.unwrap_or(period), period),
            estimator: p.delay,
            departures: DepartureRate::new(p.dq_threshold.0, p.rate_weight),
            output: 0.0,
            base_prob: 0.0,
            last_delay: 0.0,
            head: None,
            delay: 0.0,
        }
    }

    fn effective(params: &Pi2Params, env: &Env) -> Vec<Effective> {
        core::iter::once(Effective::instead("tupdate", params.tupdate, params.period(), "hz"))
            .chain(Effective::of_mtu("mtu_bytes", params.mtu_bytes, env.mtu_bytes))
            .collect()
    }
}

impl Pi2Params {
    /// Time between two updates.
    fn period(&self) -> Span {
        self.hz.0.map_or(self.tupdate, |hz| in_jiffies(self.tupdate, hz))
    }

    /// Smallest backlog at which signals are allowed: two packets (Linux `sch_pi2.c`); in the ns-3
    /// port anything above two packets, in the unit of the limit.
    fn exempt(&self, env: &Env) -> (u64, u32) {
        let mtu_bytes = self.mtu_bytes.0.map_or(u64::from(env.mtu_bytes), |bytes| bytes.0);
        let two = mtu_bytes.saturating_mul(2);
        match (self.dialect, env.limit) {
            ("ns3", Limit::Packets(_)) => (0, 3),
            ("ns3", Limit::Bytes(_)) => (two.saturating_add(1), 0),
            _ => (two, 0),
        }
    }
}

#[cfg(test)]
#[path = "pi2_tests.rs"]
mod tests;
