//! PI: a proportional-integral controller of the backlog, the ancestor of PIE.
//!
//! Source: ns-2.35 `pi.cc`, `PIQueue::calculate_p` and `PIQueue::drop_early`, based on Hollot,
//! Misra, Towsley and Gong 2001, whose text was not read.
//!
//! Deviations from ns-2: a draw hits when `u < p`, not `u <= p` (fact aqm-1); there is no byte
//! mode. ns-2 appends an arrival to a full queue and then removes the tail, which is the same
//! arrival. Linux and ns-3 have no PI.

use crate::law::{Aqm, Cause, Env, Law, Var, Verdict};
use crate::packet::{Backlog, Head};
use crate::params;
use crate::params::Hertz;
use crate::parts::periodic::Periodic;
use crate::rng::Rng;
use crate::time::{Span, Time};

params! {
    /// Parameters of PI.
    pub struct PiParams {
        dialects: "ns2" = "ns-2.35 pi.cc";
        /// Gain on the backlog's distance from `q_ref`, per packet.
        a: f64, NOT_NEGATIVE, "ns-2 pi.cc: a_ 1.822e-5" => 1.822e-5;
        /// Gain on the previous backlog's distance, per packet.
        b: f64, NOT_NEGATIVE, "ns-2 pi.cc: b_ 1.816e-5" => 1.816e-5;
        /// Updates per second.
        sample_rate: Hertz, POSITIVE, "ns-2 pi.cc: w_ 170" => Hertz(170.0);
        /// Backlog aimed at, in packets.
        q_ref: f64, NOT_NEGATIVE, "ns-2 pi.cc: qref_ 50" => 50.0;
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, ANY, "ns-2 pi.cc: setbit_ off" => false;
    } behaviour {
        "the backlog counts": "packets", "ns-2 pi.cc without bytes_";
        "an arrival is signalled": "when u < p",
            "our choice: never at p = 0, always at 1; ns-2 pi.cc: u <= p";
        "where there is no room": "the arrival is dropped", "ns-2 pi.cc: appended, then removed";
    }
    check: |params| match (params.sample_rate.0 <= 1e6, params.a.max(params.b) <= 1.0) {
        (true, true) => Ok(()),
        (false, _) => {
            Err("sample_rate must be at most 1000000hz, a microsecond between updates".into())
        }
        (_, false) => {
            Err("a and b must be at most 1: a gain of 1 moves p from 0 to 1 for one packet".into())
        }
    };
}

/// The law.
#[derive(Clone, Debug)]
pub struct Pi {
    params: PiParams,
    timer: Periodic,
    prob: f64,
    q_old: f64,
}

impl Aqm for Pi {
    fn on_enqueue(&mut self, _now: Time, head: Head, _queue: Backlog, rng: &mut Rng) -> Verdict {
        match rng.uniform() < self.prob {
            true => Verdict::signal(self.params.ecn && head.ecn.can_mark(), Cause::Random),
            false => Verdict::Pass,
        }
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.timer.next())
    }

    fn on_timer(&mut self, now: Time, queue: Backlog) {
        let PiParams { a, b, q_ref, .. } = self.params;
        let q = f64::from(queue.packets);
        self.prob = (self.prob + a * (q - q_ref) - b * (self.q_old - q_ref)).clamp(0.0, 1.0);
        self.q_old = q;
        self.timer.advance(now);
    }

    fn on_idle_timers(&mut self, now: Time) {
        // If p and q are zero, an update changes nothing as long as a >= b or q_ref is 0.
        let PiParams { a, b, q_ref, .. } = self.params;
        for _ in 0..Periodic::MOST_CAUGHT_UP {
            if !self.timer.next().is_due(now) {
                return;
            }
            if self.prob == 0.0 && self.q_old == 0.0 && (b - a) * q_ref <= 0.0 {
                self.timer.advance(now);
            } else {
                self.on_timer(self.timer.next(), Backlog::EMPTY);
            }
        }
        self.timer.advance(now);
    }

    fn observe(&self, out: &mut [f64]) {
        out[0] = self.prob;
        out[1] = self.q_old;
    }
}

impl Law for Pi {
    type Params = PiParams;
    const NAME: &'static str = "pi";
    const DOC: &'static str =
        "A PI controller of the backlog around a set point (Hollot, Misra, Towsley and Gong 2001)";
    const VARS: &'static [Var] = &[
        Var { name: "drop_prob", unit: "1", doc: "Probability of a signal" },
        Var { name: "q_old", unit: "packets", doc: "Backlog at the last update" },
    ];

    fn new(params: &PiParams, _env: &Env) -> Self {
        let period = Span::from_secs_f64(1.0 / params.sample_rate.0);
        Pi { params: params.clone(), timer: Periodic::new(period), prob: 0.0, q_old: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::testing::{assert_near, full_packets, judge, law, ms, var};

    fn after_one_update(prob: f64, q_old: f64, q: u32) -> f64 {
        let mut pi = law::<Pi>(&[]);
        (pi.prob, pi.q_old) = (prob, q_old);
        pi.on_timer(ms(6), full_packets(q));
        var(&pi, "drop_prob")
    }

    /// Larger gains would add infinities of both signs.
    #[test]
    fn gains_above_one_are_refused() {
        let refusal = |text| crate::QdiscSpec::parse(text).unwrap_err().message;
        assert!(refusal("pi:a=1e300").contains("a and b must be at most 1"));
        assert!(refusal("pi:b=1.1").contains("a and b must be at most 1"));
        assert!(refusal("pi:sample_rate=1000001hz").contains("at most 1000000hz"));
        assert!(crate::QdiscSpec::parse("pi:a=1,b=1,sample_rate=1000000hz").is_ok());
    }

    /// ns-2.35 `PIQueue::calculate_p`: the step is a (q - q_ref) - b (q_old - q_ref).
    #[test]
    fn steps_are_those_of_the_formula() {
        assert_near(after_one_update(0.1, 50.0, 50), 0.1, 1e-15);
        assert_near(after_one_update(0.1, 50.0, 100), 0.1 + 9.11e-4, 1e-12);
        assert_near(after_one_update(0.1, 0.0, 0), 0.1 - 3e-6, 1e-12);
    }

    /// ns-2.35 `pi.cc`, `PIQueue::calculate_p`.
    #[test]
    fn the_probability_stays_between_zero_and_one() {
        assert_eq!(after_one_update(0.0, 0.0, 0), 0.0);
        assert_eq!(after_one_update(0.5, 0.0, 100_000), 1.0);
    }

    /// ns-2.35 `pi.cc`: `w_` is 170.
    #[test]
    fn there_are_170_updates_in_a_second_and_none_between() {
        let mut pi = law::<Pi>(&[]);
        let mut updates = 0;
        while let Some(due) = pi.next_timer().filter(|&due| due <= ms(1000)) {
            pi.on_timer(due, full_packets(200));
            updates += 1;
        }
        assert_eq!(updates, 170);
        let before = var(&pi, "drop_prob");
        let head = crate::testing::arrival(ms(1001), crate::packet::Ecn::NotEct);
        pi.on_enqueue(ms(1001), head, full_packets(900), &mut Rng::stream(1, "test", 0));
        assert_eq!(var(&pi, "drop_prob"), before);
    }

    #[test]
    fn arrivals_are_signalled_with_the_probability_and_marked_with_ecn() {
        let verdict = |ecn_on: &str, u, ecn| {
            let mut pi = Pi { prob: 0.25, ..law(&[("ecn", ecn_on)]) };
            judge(&mut pi, full_packets(5), u, ecn)
        };
        let below = 0.25 - f64::EPSILON;
        assert_eq!(verdict("false", 0.25, Ecn::Ect0), Verdict::Pass);
        assert_eq!(verdict("false", below, Ecn::Ect0), Verdict::Drop(Cause::Random));
        assert_eq!(verdict("true", below, Ecn::Ect0), Verdict::Mark(Cause::Random));
        assert_eq!(verdict("true", below, Ecn::NotEct), Verdict::Drop(Cause::Random));
    }

    /// With b above a, the probability grows while the queue is empty.
    #[test]
    fn an_empty_queue_is_at_rest_only_if_its_updates_change_nothing() {
        let after_a_second = |settings| {
            let mut pi = law::<Pi>(settings);
            pi.on_idle_timers(ms(1000));
            var(&pi, "drop_prob")
        };
        assert_eq!(after_a_second(&[]), 0.0);
        let grown = after_a_second(&[("a", "1e-5"), ("b", "2e-5")]);
        assert_near(grown, 170.0 * 1e-5 * 50.0, 1e-9);
    }
}
