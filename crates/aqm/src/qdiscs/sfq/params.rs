//! The parameters of SFQ, plain and with RED.

use alloc::format;
use alloc::string::String;

use crate::params;
use crate::params::{Bytes, OrAuto, OrOff};
use crate::parts::linux_red::{Curve, usual_burst};
use crate::parts::tc_weight::weight_log;
use crate::time::Span;
use crate::units::Limit;

/// An Ethernet frame, by which tc turns packets into bytes.
const FRAME_BYTES: u64 = 1514;
/// Linux `sch_sfq.c`: SFQ_MAX_DEPTH.
const DEFAULT_LIMIT: Limit = Limit::Packets(127);

params! {
    /// Parameters of SFQ.
    pub struct SfqParams {
        dialects: "linux" = "Linux sch_sfq.c";
        /// Limit on the backlog of all queues together; beyond it the longest queue loses a packet.
        limit: Limit, POSITIVE, "Linux sch_sfq.c: SFQ_MAX_DEPTH" => DEFAULT_LIMIT;
        /// Hash slots; a power of two.
        divisor: u64, QUEUES, "Linux sch_sfq.c: SFQ_DEFAULT_HASH_DIVISOR" => 1024;
        /// Queues that can be active at once.
        flows: u64, POSITIVE, "Linux sch_sfq.c: SFQ_DEFAULT_FLOWS" => 128;
        /// Packets that one queue may hold.
        depth: u64, POSITIVE, "Linux sch_sfq.c: SFQ_MAX_DEPTH" => 127;
        /// Bytes a queue may send per round; `auto` is the largest packet of the link.
        quantum: OrAuto<Bytes>, QUANTUM, "Linux sch_sfq.c: psched_mtu" => OrAuto(None);
        /// Time between two changes of the hash.
        perturb: OrOff<Span>, POSITIVE, "Linux sch_sfq.c: never" => OrOff(None);
        /// Whether a full queue loses its head, not its tail or the arrival.
        headdrop: bool, ANY, "Linux sch_sfq.c: off" => false;
    }
    behaviour {
        "a new queue": "is served last in the round", "Linux sch_sfq.c";
        "a queue is charged": "the bytes it sends, unless it empties", "Linux sch_sfq.c";
        "dropped where there is no room": "a packet of the queue with most packets; of several, \
            the queue that changed last; if every queue has one packet, the next one in the round",
            "Linux sch_sfq.c";
        "a new hash": "re-sorts queued packets, in order; a packet without a free queue, or with a \
            full one, is dropped", "Linux sch_sfq.c";
    }
    check: |params| shape(params.limit, params.divisor, params.flows, params.depth);
}

params! {
    /// Parameters of SFQ with RED in every queue.
    pub struct SfqRedParams {
        dialects: "linux" = "Linux sch_sfq.c with its RED; thresholds as tc computes them";
        /// Limit on the backlog of all queues together; beyond it the longest queue loses a packet.
        limit: Limit, POSITIVE, "Linux sch_sfq.c: SFQ_MAX_DEPTH" => DEFAULT_LIMIT;
        /// Hash slots; a power of two.
        divisor: u64, QUEUES, "Linux sch_sfq.c: SFQ_DEFAULT_HASH_DIVISOR" => 1024;
        /// Queues that can be active at once.
        flows: u64, POSITIVE, "Linux sch_sfq.c: SFQ_DEFAULT_FLOWS" => 128;
        /// Packets that one queue may hold.
        depth: u64, POSITIVE, "Linux sch_sfq.c: SFQ_MAX_DEPTH" => 127;
        /// Bytes a queue may send per round; `auto` is the largest packet of the link.
        quantum: OrAuto<Bytes>, QUANTUM, "Linux sch_sfq.c: psched_mtu" => OrAuto(None);
        /// Time between two changes of the hash.
        perturb: OrOff<Span>, POSITIVE, "Linux sch_sfq.c: never" => OrOff(None);
        /// Whether a full queue loses its head, not its tail or the arrival.
        headdrop: bool, ANY, "Linux sch_sfq.c: off" => false;
        /// Size of a queue from which the thresholds follow, not a limit; `auto` is `depth`
        /// Ethernet frames.
        red_flow_limit: OrAuto<Bytes>, POSITIVE,
            "our choice: what a queue can hold; tc has no default" => OrAuto(None);
        /// Average size of a queue below which RED does nothing; `auto` is a third of `max_th`.
        min_th: OrAuto<Bytes>, POSITIVE, "tc q_sfq.c: max / 3" => OrAuto(None);
        /// Average size from which every arrival is signalled; `auto` is a quarter of
        /// `red_flow_limit`, at least three mean packets.
        max_th: OrAuto<Bytes>, POSITIVE, "tc q_sfq.c: limit / 4" => OrAuto(None);
        /// Signal probability where the average reaches `max_th`.
        max_p: f64, FRACTION, "tc q_sfq.c: probability 0.02" => 0.02;
        /// Mean packet size.
        mean_packet_bytes: Bytes, POSITIVE, "tc q_sfq.c: avpkt 1000" => Bytes(1000);
        /// Packets in a row that RED lets pass, from which the weight of the average follows;
        /// `auto` is (2 min + max) / 3 mean packets.
        burst: OrAuto<u64>, POSITIVE, "tc q_sfq.c" => OrAuto(None);
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool, ANY, "tc q_sfq.c: off" => false;
        /// Whether an average above `max_th` drops what it could mark.
        hard_drop: bool, ANY, "tc q_sfq.c: off" => false;
    }
    behaviour {
        "RED judges": "arrivals at a queue that is not empty", "Linux sch_sfq.c";
        "after an idle time": "the average is 0: it does not outlive its queue", "Linux sch_sfq.c";
        "a mark with headdrop": "goes to the head if that can be marked, else to the arrival",
            "Linux sch_sfq.c";
        "random numbers": "one per signal", "Linux red.h";
    }
    check: |params| {
        shape(params.limit, params.divisor, params.flows, params.depth)?;
        params.curve().map(drop)
    };
}

/// The rules between the sizes (Linux 6.1 sch_sfq.c, sfq_change).
fn shape(limit: Limit, divisor: u64, flows: u64, depth: u64) -> Result<(), String> {
    let refuse = |why: String| Err(why);
    match limit {
        _ if !divisor.is_power_of_two() => {
            refuse(format!("divisor must be a power of two (Linux sch_sfq.c), not {divisor}"))
        }
        _ if flows > divisor.min(65_408) => refuse(format!(
            "flows must be at most divisor and 65408 (Linux sch_sfq.c), not {flows}"
        )),
        _ if depth > 127 => {
            refuse(format!("depth must be from 1 to 127 (Linux sch_sfq.c), not {depth}"))
        }
        Limit::Packets(n) if n < 2 || n > depth * flows => refuse(format!(
            "limit must be from 2p to depth * flows = {}p (Linux sch_sfq.c), not {n}p",
            depth * flows
        )),
        _ => Ok(()),
    }
}

impl SfqParams {
    /// Queues that can be active at once (Linux 6.1 sch_sfq.c, sfq_change: a `limit` that is given
    /// bounds them).
    pub(super) fn queues(&self) -> u64 {
        match self.limit {
            Limit::Packets(limit) if self.limit != DEFAULT_LIMIT => self.flows.min(limit),
            _ => self.flows,
        }
    }
}

impl SfqRedParams {
    /// The parameters shared with plain SFQ.
    pub(super) fn shape(&self) -> SfqParams {
        SfqParams {
            dialect: self.dialect,
            limit: self.limit,
            divisor: self.divisor,
            flows: self.flows,
            depth: self.depth,
            quantum: self.quantum,
            perturb: self.perturb,
            headdrop: self.headdrop,
        }
    }

    /// The thresholds in bytes and the weight.
    pub(super) fn curve(&self) -> Result<Curve, String> {
        let mean = self.mean_packet_bytes.0;
        let bytes = |set: OrAuto<Bytes>| set.0.map(|bytes| bytes.0);
        let flow_limit = bytes(self.red_flow_limit).unwrap_or(self.depth * FRAME_BYTES);
        let max_th = bytes(self.max_th).unwrap_or((flow_limit / 4).max(mean.saturating_mul(3)));
        let min_th = bytes(self.min_th).unwrap_or(max_th / 3);
        if min_th >= max_th {
            let source = "Linux sch_sfq.c, tc sfq";
            return Err(format!(
                "min_th `{min_th}B` must be less than max_th `{max_th}B` ({source})"
            ));
        }
        let packets = |bytes: u64| bytes as f64 / mean as f64;
        let usual = usual_burst(packets(min_th), packets(max_th), self.min_th.0.is_none());
        let burst = self.burst.0.map_or(usual, |packets| packets as f64);
        let log = weight_log(burst, packets(min_th)).ok_or_else(|| {
            format!(
                "burst ({burst}) is too small for min_th ({min_th}B): no weight of the average \
                 fits (tc tc_red.c)"
            )
        })?;
        Ok(Curve::new(min_th, max_th, self.max_p, log))
    }
}
