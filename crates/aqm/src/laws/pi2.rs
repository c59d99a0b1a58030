//! PI2: a PI controller whose output is squared before it becomes the drop probability, which makes
//! PIE's table and most of its special cases needless.
//!
//! Source: Tahiliani and Tewari 2017 ("Implementation of PI2 Queuing Discipline for Classic TCP
//! Traffic in ns-3"), for classic traffic only: gains on p', delay from the departure rate.
//!
//! Deviations from the paper: its formula leaves out the previous p' (a misprint); p' is bounded to
//! 0..=1; the square is taken by two draws that must both hit, not by one draw against p'^2.
//!
//! Deviations from the authors' Linux `sch_pi2.c`: it controls p_s = 2 p' with twice the gains, so
//! that p' stays below 1/2; it decays p by 2 % per idle update; its rate has weight 1/8, not 1/2;
//! no scalable traffic here.
//!
//! Deviations from the ns-3 port: half its gains (it applies Linux's to p' directly, twice too
//! strong); an upper bound; `<`, not `<=`, two packets are exempt; no decay when idle.

use crate::law::{Aqm, Cause, Env, Law, Var, Verdict};
use crate::packet::{Backlog, Head};
use crate::params;
use crate::params::{Bytes, Hertz, OrAuto};
use crate::parts::departure_rate::DepartureRate;
use crate::parts::gains::Gains;
use crate::parts::periodic::Periodic;
use crate::rng::Rng;
use crate::time::{Span, Time};

params! {
    /// Parameters of PI2.
    pub struct Pi2Params {
        dialects: "classic" = "Tahiliani and Tewari 2017: classic traffic, gains on p'";
        /// Queue delay aimed at.
        target: Span, POSITIVE, "Tahiliani and Tewari 2017, Table II" => Span::from_millis(20);
        /// Time between two updates of the probability.
        tupdate: Span, POSITIVE, "Tahiliani and Tewari 2017, Table II" => Span::from_millis(30);
        /// Integral gain on p'.
        alpha: Hertz, NOT_NEGATIVE, "Tahiliani and Tewari 2017, Table II" => Hertz(0.3125);
        /// Proportional gain on p'.
        beta: Hertz, NOT_NEGATIVE, "Tahiliani and Tewari 2017, Table II" => Hertz(3.125);
        /// How much must wait to start, and leave to finish, a measurement of the departure rate.
        dq_threshold: Bytes, POSITIVE, "Tahiliani and Tewari 2017, Table II" => Bytes(10_000);
        /// Weight of a new sample in the average departure rate.
        rate_weight: f64, FRACTION, "Tahiliani and Tewari 2017, Table II" => 0.5;
        /// Less than twice this backlog is never too much; `auto` is the largest packet of the
        /// link.
        mtu_bytes: OrAuto<Bytes>, POSITIVE, "Linux sch_pi2.c: psched_mtu" => OrAuto(None);
        /// Whether packets that can be marked are marked instead of dropped.
        ecn: bool, ANY, "Linux sch_pi2.c: off" => false;
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct Pi2 {
    gains: Gains,
    exempt_bytes: u64,
    ecn: bool,
    timer: Periodic,
    departures: DepartureRate,
    /// p', the probability before squaring.
    base_prob: f64,
    /// Delay at the last update, in seconds.
    delay: f64,
}

impl Pi2 {
    fn update(&mut self, queue: Backlog) {
        let delay = self.departures.delay(queue.bytes);
        let step = self.gains.step(delay, self.delay);
        self.base_prob = (self.base_prob + step).clamp(0.0, 1.0);
        self.delay = delay;
    }

    fn is_at_rest(&self) -> bool {
        self.base_prob == 0.0 && self.delay == 0.0
    }
}

impl Aqm for Pi2 {
    fn on_enqueue(&mut self, _now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        if queue.bytes < self.exempt_bytes {
            return Verdict::Pass;
        }
        // "Think twice to drop": the second draw only if the first one hits (lab decision §15).
        if rng.uniform() < self.base_prob && rng.uniform() < self.base_prob {
            return Verdict::signal(self.ecn && head.ecn.can_mark(), Cause::Random);
        }
        Verdict::Pass
    }

    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, _rng: &mut Rng) -> Verdict {
        self.departures.on_dequeue(now, head.bytes, queue.bytes);
        Verdict::Pass
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.timer.next())
    }

    fn on_timer(&mut self, now: Time, queue: Backlog) {
        self.update(queue);
        self.timer.advance(now);
    }

    fn on_idle_timers(&mut self, now: Time) {
        while self.timer.next() <= now {
            if self.is_at_rest() {
                self.timer.advance(now);
            } else {
                self.on_timer(self.timer.next(), Backlog::EMPTY);
            }
        }
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
        Var { name: "drop_prob", unit: "1", doc: "p'^2: probability of a signal" },
        Var { name: "base_prob", unit: "1", doc: "p': output of the controller" },
        Var { name: "delay", unit: "s", doc: "Queue delay at the last update" },
    ];

    fn new(params: &Pi2Params, env: &Env) -> Self {
        let p = params;
        Pi2 {
            gains: Gains { alpha: p.alpha.0, beta: p.beta.0, target: p.target.as_secs() },
            exempt_bytes: p.mtu_bytes.0.map_or(u64::from(env.mtu_bytes), |b| b.0).saturating_mul(2),
            ecn: p.ecn,
            timer: Periodic::new(p.tupdate),
            departures: DepartureRate::new(p.dq_threshold.0, p.rate_weight),
            base_prob: 0.0,
            delay: 0.0,
        }
    }
}

#[cfg(test)]
#[path = "pi2_tests.rs"]
mod tests;
