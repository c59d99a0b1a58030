//! Step marking: marks every ECN-capable packet while the queue is above a threshold.
//!
//! Source: Alizadeh et al. 2010 §3.1 and RFC 8257 §3.1 for a threshold on the backlog at arrival;
//! Linux `sch_dualpi2.c`, `do_step_aqm`, for a threshold on the sojourn time at departure.
//!
//! Deviations from RFC 8257: none known. Deviations from Linux `sch_dualpi2.c`: a packet that
//! cannot be marked passes, as in `codel_impl.h`, `codel_dequeue` (`ce_threshold`); the threshold
//! can only be a time. ns-3 has no such queue disc.

use crate::law::{Aqm, Cause, Env, Law, Var, Verdict};
use crate::packet::{Backlog, Head};
use crate::params;
use crate::params::OrOff;
use crate::rng::Rng;
use crate::time::{Span, Time};
use crate::units::Limit;

params! {
    /// Parameters of step marking.
    pub struct StepParams {
        dialects: "sojourn" = "Linux sch_dualpi2.c: by sojourn time on departure",
            "dctcp" = "RFC 8257 §3.1: by backlog on arrival";
        /// Sojourn time above which a leaving packet is marked.
        sojourn_threshold: OrOff<Span>, ANY,
            "Linux sch_dualpi2.c: 1 ms" => OrOff(Some(Span::from_millis(1))),
            "dctcp": "RFC 8257 §3.1: backlog only" => OrOff(None);
        /// Backlog, the arrival included, above which an arriving packet is marked.
        backlog_threshold: OrOff<Limit>, POSITIVE,
            "Linux sch_dualpi2.c: sojourn only" => OrOff(None),
            "dctcp": "Alizadeh et al. 2010 §4: K = 65 at 10 Gb/s"
                => OrOff(Some(Limit::Packets(65)));
    } behaviour {
        "a packet that cannot be marked": "passes; only the limit drops it", "RFC 8257 §3.1",
            "sojourn": "passes; only the limit drops it",
                "our choice: step marks only, as Linux codel_impl.h; sch_dualpi2.c drops";
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct Step {
    sojourn: Option<Span>,
    backlog: Option<Limit>,
    marks: u64,
}

impl Step {
    fn mark_if(&mut self, above: bool, head: Head) -> Verdict {
        if !(above && head.ecn.can_mark()) {
            return Verdict::Pass;
        }
        self.marks += 1;
        Verdict::Mark(Cause::CeThreshold)
    }
}

impl Aqm for Step {
    fn on_enqueue(&mut self, _now: Time, head: Head, queue: Backlog, _rng: &mut Rng) -> Verdict {
        let above = match self.backlog {
            None => false,
            Some(Limit::Packets(most)) => u64::from(queue.packets) + 1 > most,
            Some(Limit::Bytes(most)) => queue.bytes + u64::from(head.bytes) > most,
        };
        self.mark_if(above, head)
    }

    fn on_dequeue(&mut self, now: Time, head: Head, _queue: Backlog, _rng: &mut Rng) -> Verdict {
        let above = self.sojourn.is_some_and(|most| head.sojourn(now) > most);
        self.mark_if(above, head)
    }

    fn observe(&self, out: &mut [f64]) {
        out[0] = self.marks as f64;
    }
}

impl Law for Step {
    type Params = StepParams;
    const NAME: &'static str = "step";
    const DOC: &'static str =
        "Marks every packet above a threshold of sojourn time or backlog (RFC 8257)";
    const VARS: &'static [Var] = &[Var { name: "marks", unit: "1", doc: "Packets marked so far" }];

    fn new(params: &StepParams, _env: &Env) -> Self {
        Step { sojourn: params.sojourn_threshold.0, backlog: params.backlog_threshold.0, marks: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::params::Params;
    use crate::testing::{arrival, bytes, env, full_packets, law_of, ms, var};

    fn step(dialect: &str) -> (Step, Rng) {
        let params = StepParams::of_dialect(dialect).unwrap();
        (Step::new(&params, &env()), Rng::stream(1, "unused", 0))
    }

    /// Linux `sch_dualpi2.c`, `do_step_aqm`, tests strictly above.
    #[test]
    fn a_sojourn_above_the_threshold_marks_and_one_at_it_does_not() {
        let (mut step, mut rng) = step("sojourn");
        let head = arrival(ms(1), Ecn::Ect1);
        let mut leaves = |now, head| step.on_dequeue(now, head, full_packets(5), &mut rng);
        assert_eq!(leaves(ms(2), head), Verdict::Pass);
        let later = Time::from_nanos(2_000_001);
        assert_eq!(leaves(later, head), Verdict::Mark(Cause::CeThreshold));
        assert_eq!(leaves(later, Head { ecn: Ecn::NotEct, ..head }), Verdict::Pass);
    }

    /// RFC 8257 §3.1: the arrival that makes the queue longer than K is marked.
    #[test]
    fn the_packet_above_k_is_marked_on_arrival() {
        let (mut step, mut rng) = step("dctcp");
        let head = arrival(ms(1), Ecn::Ect0);
        let mut arrives = |packets| step.on_enqueue(ms(1), head, full_packets(packets), &mut rng);
        assert_eq!(arrives(64), Verdict::Pass);
        assert_eq!(arrives(65), Verdict::Mark(Cause::CeThreshold));
    }

    #[test]
    fn a_threshold_in_bytes_counts_the_arrival_and_marks_are_counted() {
        let mut step: Step = law_of("dctcp", &[("backlog_threshold", "10000B")]);
        let mut rng = Rng::stream(1, "unused", 0);
        let head = arrival(ms(1), Ecn::Ect0);
        let mut arrives = |backlog| step.on_enqueue(ms(1), head, bytes(backlog), &mut rng);
        assert_eq!(arrives(10_000 - 1514), Verdict::Pass);
        assert_eq!(arrives(10_000 - 1513), Verdict::Mark(Cause::CeThreshold));
        assert_eq!(arrives(20_000), Verdict::Mark(Cause::CeThreshold));
        assert_eq!(var(&step, "marks"), 2.0);
    }
}
