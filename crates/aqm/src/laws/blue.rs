//! BLUE: one probability, raised when the queue overflows and lowered when the link is idle.
//!
//! Source: Feng, Shin, Kandlur and Saha 2002, whose text was not read; the constants are those of
//! the port of BLUE to ns-2.
//!
//! Deviations from the ns-2 port: increases and decreases share one freeze time, as in the paper;
//! the trigger by backlog is optional (`length_trigger`). Linux and ns-3 have no separate BLUE:
//! Linux uses the idea in `sch_sfb.c` and `sch_cake.c`.

use crate::law::{Aqm, Cause, Env, Law, Var, Verdict};
use crate::packet::{Backlog, Head};
use crate::params;
use crate::params::OrOff;
use crate::rng::Rng;
use crate::time::{Span, Time};

params! {
    /// Parameters of BLUE.
    pub struct BlueParams {
        dialects: "event" = "raised by overflow, lowered by idling, as in the ns-2 port";
        /// Minimum time between two changes of the probability.
        freeze_time: Span, NOT_NEGATIVE, "ns-2 port of BLUE: 100 ms" => Span::from_millis(100);
        /// How much an overflow raises the probability.
        d1: f64, PROBABILITY, "ns-2 port of BLUE: 0.0025" => 0.0025;
        /// How much idling lowers it.
        d2: f64, PROBABILITY, "ns-2 port of BLUE: 0.00025" => 0.00025;
        /// Packets in the queue above which an arrival raises the probability like an overflow.
        length_trigger: OrOff<u64>, POSITIVE,
            "ns-2 port of BLUE: overflow only" => OrOff(None);
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, ANY, "our choice: off, as for the other laws" => false;
    } behaviour {
        "freeze time": "is the same for rises and falls",
            "Feng, Shin, Kandlur and Saha 2002; the ns-2 port has two";
        "an idle link": "is detected by a dequeue from the empty queue", "ns-2 port of BLUE";
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct Blue {
    params: BlueParams,
    prob: f64,
    changed: Option<Time>,
}

impl Blue {
    fn change(&mut self, now: Time, step: f64) {
        let freeze = self.params.freeze_time;
        if self.changed.is_none_or(|then| now.since(then) > freeze) {
            self.prob = (self.prob + step).clamp(0.0, 1.0);
            self.changed = Some(now);
        }
    }
}

impl Aqm for Blue {
    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        if self.params.length_trigger.0.is_some_and(|most| u64::from(queue.packets) > most) {
            self.change(now, self.params.d1);
        }
        match rng.uniform() < self.prob {
            true => Verdict::signal(self.params.ecn && head.ecn.can_mark(), Cause::Random),
            false => Verdict::Pass,
        }
    }

    fn on_overflow(&mut self, now: Time, _queue: Backlog) {
        self.change(now, self.params.d1);
    }

    fn on_empty(&mut self, now: Time) {
        self.change(now, -self.params.d2);
    }

    fn observe(&self, out: &mut [f64]) {
        out[0] = self.prob;
    }
}

impl Law for Blue {
    type Params = BlueParams;
    const NAME: &'static str = "blue";
    const DOC: &'static str =
        "One drop probability moved by overflow and idling (Feng, Shin, Kandlur and Saha 2002)";
    const VARS: &'static [Var] =
        &[Var { name: "drop_prob", unit: "1", doc: "Probability of a signal" }];

    fn new(params: &BlueParams, _env: &Env) -> Self {
        Blue { params: params.clone(), prob: 0.0, changed: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::testing::{assert_near, full_packets, judge, law, ms, var};

    fn after_overflows(at: &[u64]) -> Blue {
        let mut blue = law::<Blue>(&[]);
        at.iter().for_each(|&t| blue.on_overflow(ms(t), Backlog::EMPTY));
        blue
    }

    /// Feng, Shin, Kandlur and Saha 2002: at most one change per freeze time.
    #[test]
    fn two_overflows_within_the_freeze_time_are_one_step() {
        assert_eq!(var(&after_overflows(&[0, 50]), "drop_prob"), 0.0025);
        assert_eq!(var(&after_overflows(&[0, 100]), "drop_prob"), 0.0025, "more than 100 ms");
        assert_eq!(var(&after_overflows(&[0, 150]), "drop_prob"), 0.005);
    }

    #[test]
    fn spaced_overflows_add_up_to_one_at_most() {
        let times = |n| (0..n).map(|i| i * 101).collect::<alloc::vec::Vec<u64>>();
        assert_near(var(&after_overflows(&times(37)), "drop_prob"), 37.0 * 0.0025, 1e-12);
        assert_eq!(var(&after_overflows(&times(500)), "drop_prob"), 1.0);
    }

    /// The ns-2 port of BLUE raises by 0.0025 and lowers by 0.00025.
    #[test]
    fn ten_idles_undo_one_overflow() {
        let mut blue = after_overflows(&[0]);
        (1..=9).for_each(|n| blue.on_empty(ms(101 * n)));
        assert!(var(&blue, "drop_prob") > 2e-4);
        blue.on_empty(ms(1010));
        assert_near(var(&blue, "drop_prob"), 0.0, 1e-12);
    }

    /// Feng, Shin, Kandlur and Saha 2002: increases and decreases share one `last_update`.
    #[test]
    fn idling_and_overflow_share_the_freeze_time() {
        let mut blue = after_overflows(&[0]);
        blue.on_empty(ms(50));
        assert_eq!(var(&blue, "drop_prob"), 0.0025);
    }

    #[test]
    fn arrivals_are_signalled_with_the_probability_and_marked_with_ecn() {
        let verdict = |ecn_on: &str, u, ecn| {
            let mut blue = law::<Blue>(&[("d1", "0.5"), ("ecn", ecn_on)]);
            blue.on_overflow(ms(0), Backlog::EMPTY);
            judge(&mut blue, full_packets(5), u, ecn)
        };
        let below = 0.5 - f64::EPSILON;
        assert_eq!(verdict("false", 0.5, Ecn::Ect0), Verdict::Pass);
        assert_eq!(verdict("false", below, Ecn::Ect0), Verdict::Drop(Cause::Random));
        assert_eq!(verdict("true", below, Ecn::Ect0), Verdict::Mark(Cause::Random));
        assert_eq!(verdict("true", below, Ecn::NotEct), Verdict::Drop(Cause::Random));
    }

    #[test]
    fn a_backlog_above_the_trigger_raises_the_probability_like_an_overflow() {
        let prob = |trigger: &str, packets| {
            let mut blue = law::<Blue>(&[("length_trigger", trigger)]);
            judge(&mut blue, full_packets(packets), 0.999, Ecn::NotEct);
            var(&blue, "drop_prob")
        };
        assert_eq!((prob("10", 10), prob("10", 11), prob("off", 11)), (0.0, 0.0025, 0.0));
    }
}
