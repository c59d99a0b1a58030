//! The parameters of DualPI2.

use crate::params;
use crate::params::Hertz;
use crate::time::{Rate, Span};
use crate::units::Limit;

params! {
    /// Parameters of DualPI2.
    pub struct DualPi2Params {
        dialects: "rfc9332" = "RFC 9332 Appendix A, pass 2: deterministic thinning, a ramp for L4S",
            "linux" = "Linux sch_dualpi2.c: random, a step at 1 ms for L4S";
        /// Limit on the backlog of both queues together.
        limit: Limit, POSITIVE, "Linux sch_dualpi2.c: 10000; RFC 9332: 250 ms at the link's rate"
            => Limit::Packets(10_000);
        /// Queue delay aimed at in the classic queue.
        target: Span, POSITIVE, "RFC 9332 A.1" => Span::from_millis(15);
        /// Time between two updates of the probability.
        tupdate: Span, POSITIVE, "RFC 9332 A.1: 16 ms in the text, 15 ms by its formula"
            => Span::from_millis(16);
        /// Integral gain on p'.
        alpha: Hertz, NOT_NEGATIVE, "RFC 9332 A.1: 0.1 tupdate / rtt_max^2" => Hertz(0.16),
            "linux": "sch_dualpi2.c: 41/256" => Hertz(41.0 / 256.0);
        /// Proportional gain on p'.
        beta: Hertz, NOT_NEGATIVE, "RFC 9332 A.1: 3.2 in the text, 3 by its formula" => Hertz(3.2),
            "linux": "sch_dualpi2.c: 819/256" => Hertz(819.0 / 256.0);
        /// Coupling: marks in the low-latency queue per p'.
        k: f64, POSITIVE, "RFC 9332 §2.1" => 2.0;
        /// Sojourn time from which the low-latency queue marks on its own.
        l_min_th: Span, NOT_NEGATIVE, "RFC 9332 A.1" => Span::from_micros(800),
            "linux": "sch_dualpi2.c: step_thresh" => Span::from_millis(1);
        /// From `l_min_th` plus this it marks every packet; 0 is a step.
        l_range: Span, NOT_NEGATIVE, "RFC 9332 A.1" => Span::from_micros(400),
            "linux": "sch_dualpi2.c: a step" => Span::ZERO;
        /// It marks on its own only with more packets than this behind the head.
        l_min_len: u64, ANY, "RFC 9332 A.1: Th_len" => 1,
            "linux": "sch_dualpi2.c: min_qlen_step" => 0;
        /// Minimum share of the link for the classic queue.
        c_weight: f64, PROBABILITY, "RFC 9332 §4.2.2" => 1.0 / 16.0,
            "linux": "sch_dualpi2.c: classic_protection" => 0.1;
        /// Whether saturation drops ECN-capable packets; if not, p' stays below 1/k and the limit
        /// bounds the queue.
        drop_overload: bool, ANY, "RFC 9332 §4.2.3" => true;
        /// Whether a super-packet is split on arrival; if not, it is one packet.
        split_gso: bool, ANY, "Linux sch_dualpi2.c: split_gso" => true;
        /// Whether packets of flows that build the low-latency queue go to the classic queue, once
        /// it delays them by more than `l_min_th` + `l_range`.
        protection: bool, ANY, "RFC 9957: in DOCSIS only" => false;
        /// Queuing score that is critical at that delay; at a multiple of the delay, a part of it.
        protection_score: Span, POSITIVE, "RFC 9957 §4.1: CRITICALqLSCORE_us"
            => Span::from_micros(4_000);
        /// Congested bytes per second for which a flow's score does not grow.
        protection_aging: Rate, POSITIVE, "RFC 9957 §4.1: LG_AGING, 2^19 B/s"
            => Rate::from_bps(8 << 19);
    } behaviour {
        "thinning": "deterministic: whenever a sum of probabilities passes 1",
            "RFC 9332 Appendix A.2: recur",
            "linux": "random", "Linux sch_dualpi2.c";
        "the low-latency queue's own marks": "a ramp from l_min_th", "RFC 9332 Appendix A.2: laqm",
            "linux": "a step above l_min_th", "Linux sch_dualpi2.c";
        "saturated": "from k p' = 1", "RFC 9332 Appendix A.2",
            "linux": "above k p' = 1", "Linux sch_dualpi2.c";
        "saturated, low latency": "dropped with p'^2, else marked", "RFC 9332 §4.2.3",
            "linux": "dropped when two draws are < p', else marked", "Linux sch_dualpi2.c";
        "never signalled": "nothing is exempt", "RFC 9332 Appendix A.2",
            "linux": "while fewer than two packets are queued, except by the step",
                "Linux sch_dualpi2.c";
    }
    check: |params| match params.k >= 1.0 {
        true => Ok(()),
        false => Err(alloc::format!("k `{}` must be at least 1 (RFC 9332 §2.1)", params.k)),
    };
}
