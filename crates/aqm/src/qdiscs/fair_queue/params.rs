//! The parameters of fq.

use alloc::format;
use alloc::string::String;

use crate::params::{Bytes, OrAuto, OrOff, Params as _};
use crate::time::{Rate, Span};
use crate::units::Limit;
use crate::{params, words};

words! {
    /// The kernel whose `sch_fq.c` is followed: the first with that code.
    pub enum FqKernel {
        /// One band, a limit on the whole backlog, no fast path.
        Linux5_10 = "linux-5.10",
        /// Three bands and a fast path.
        Linux6_12 = "linux-6.12",
        /// An arrival that departs earlier than its throttled flow wakes it.
        Linux7_2 = "linux-7.2",
    }
}

/// The bands of priorities 0 to 15, a digit each (Linux sch_generic.c, `sch_default_prio2band`).
const PRIOMAP: u64 = 1_222_120_011_111_111;
/// Linux uapi pkt_sched.h: `FQ_MIN_WEIGHT`.
const LEAST_WEIGHT: u64 = 1 << 14;
const WEIGHTS: [Bytes; BANDS] = [Bytes(9 << 16), Bytes(3 << 16), Bytes(1 << 16)];
/// Linux uapi pkt_sched.h: `FQ_BANDS`.
pub(super) const BANDS: usize = 3;

params! {
    /// Parameters of fq.
    pub struct FairQueueParams {
        dialects: "linux" = "Linux sch_fq.c";
        /// Limit on the backlog of each band, with `kernel=linux-5.10` on all packets; arrivals
        /// beyond it are dropped.
        limit: Limit, POSITIVE, "Linux sch_fq.c: 10000p" => Limit::Packets(10_000);
        /// Packets that one flow may hold.
        flow_limit: u64, POSITIVE, "Linux sch_fq.c: 100" => 100;
        /// Hash buckets of the table of flows; a power of two.
        buckets: u64, ANY, "Linux sch_fq.c: 1024" => 1024;
        /// Bits of the hash that identify forwarded packets.
        orphan_mask: u64, ANY, "Linux sch_fq.c: 1023" => 1023;
        /// Bytes that a flow may send per round; `auto` is two largest packets.
        quantum: OrAuto<Bytes>, ANY_QUANTUM, "Linux sch_fq.c: 2 psched_mtu" => OrAuto(None);
        /// Bytes that a new flow may send in its first round; `auto` is ten largest packets.
        initial_quantum: OrAuto<Bytes>, ANY, "Linux sch_fq.c: 10 psched_mtu" => OrAuto(None);
        /// Whether `maxrate` and the rates of sockets delay packets. Departure times always do.
        pacing: bool, ANY, "Linux sch_fq.c: on" => true;
        /// Rate to which every flow is paced.
        maxrate: OrOff<Rate>, POSITIVE, "Linux sch_fq.c: off" => OrOff(None);
        /// A flow paced at this rate or less sends one packet per round.
        low_rate_threshold: Rate, POSITIVE, "Linux sch_fq.c: 550kbit" => Rate::from_bps(550_000);
        /// A flow that was inactive for longer may send a quantum at once.
        refill_delay: Span, ANY, "Linux sch_fq.c: 40ms" => Span::from_millis(40);
        /// Delay after the time at which a packet was due from which on it is marked.
        ce_threshold: OrOff<Span>, ANY, "Linux sch_fq.c: off" => OrOff(None);
        /// How late a timer may release packets.
        timer_slack: Span, ANY, "Linux sch_fq.c: 10us" => Span::from_micros(10);
        /// How far ahead a packet's departure time may lie.
        horizon: Span, ANY, "Linux sch_fq.c: 10s" => Span::from_secs(10);
        /// Whether a packet beyond `horizon` is dropped; else it departs at `horizon`.
        horizon_drop: bool, ANY, "Linux sch_fq.c: on" => true;
        /// The bands of priorities 0 to 15, a digit each.
        priomap: u64, ANY, "Linux sch_generic.c: sch_default_prio2band" => PRIOMAP;
        /// Bytes that band 0 may send per round.
        weight0: Bytes, ANY, "Linux sch_fq.c: 9 << 16" => WEIGHTS[0];
        /// Bytes that band 1 may send per round.
        weight1: Bytes, ANY, "Linux sch_fq.c: 3 << 16" => WEIGHTS[1];
        /// Bytes that band 2 may send per round.
        weight2: Bytes, ANY, "Linux sch_fq.c: 1 << 16" => WEIGHTS[2];
        /// Timer interrupts per second, in which the kernel counts idle times.
        hz: u64, POSITIVE, "Linux kernel/Kconfig.hz: 250" => 250;
        /// Whose `sch_fq.c`: that of Linux 5.10 and 6.1, of 6.12, or of 7.2. `@linux-6.1` sets it.
        kernel: FqKernel, ANY, "Linux 7.2.13 sch_fq.c" => FqKernel::Linux7_2;
    }
    behaviour {
        "bands": "three in weighted rounds, except with kernel=linux-5.10",
            "Linux 6.12 sch_fq.c, fq_dequeue (fact qdisc-23)";
        "priority 7": "is served before all flows with kernel=linux-5.10, else by its band",
            "Linux 6.1 sch_fq.c, fq_classify";
        "a packet that finds no flow ready": "passes the flows, except with maxrate or \
            kernel=linux-5.10", "Linux 6.12 sch_fq.c, fq_fastpath_check";
        "a flow is forgotten": "3 s after it was found empty, when another one in its bucket is \
            looked up; with kernel=linux-5.10 only if there are many",
            "Linux sch_fq.c, fq_gc";
    }
    check: |params| check(params);
}

fn check(params: &FairQueueParams) -> Result<(), String> {
    let refuse = |name: &str, rule: &str| {
        let value = params.get(name).unwrap_or_default();
        Err(format!("{name} must be {rule} (Linux sch_fq.c), not {value}"))
    };
    let at_most = |value: u64, most: u32| value <= u64::from(most);
    let initial = params.initial_quantum.0.map_or(1, |bytes| bytes.0);
    if !params.buckets.is_power_of_two() || !(2..=1 << 18).contains(&params.buckets) {
        return refuse("buckets", "a power of two from 2 to 262144");
    }
    if !at_most(params.orphan_mask, u32::MAX) {
        return refuse("orphan_mask", "at most 4294967295");
    }
    if !at_most(initial, i32::MAX as u32) {
        return refuse("initial_quantum", "at most 2147483647B");
    }
    if params.maxrate.0.is_some_and(|rate| !at_most(bytes_per_sec(rate), u32::MAX - 1)) {
        return refuse("maxrate", "less than 34.36gbit");
    }
    if !at_most(bytes_per_sec(params.low_rate_threshold), u32::MAX) {
        return refuse("low_rate_threshold", "less than 34.36gbit");
    }
    check_bands(params)
}

fn check_bands(params: &FairQueueParams) -> Result<(), String> {
    let weights = params.weights();
    if params.kernel == FqKernel::Linux5_10 && (params.priomap, weights) != (PRIOMAP, WEIGHTS) {
        let why = "have no effect before Linux 6.12, which has bands; leave them out";
        return Err(format!("priomap and weights {why}"));
    }
    if params.bands_of_priorities().is_none() {
        let digits = "sixteen digits, each 0, 1 or 2";
        return Err(format!("priomap must be {digits} (Linux sch_fq.c), not {}", params.priomap));
    }
    let range = LEAST_WEIGHT..=i32::MAX as u64;
    match weights.iter().find(|weight| !range.contains(&weight.0)) {
        Some(Bytes(wrong)) => Err(format!(
            "weights must be from 16384B to 2147483647B (Linux pkt_sched.h), not {wrong}B"
        )),
        None => Ok(()),
    }
}

/// A rate as the kernel keeps it.
pub(super) fn bytes_per_sec(rate: Rate) -> u64 {
    rate.as_bps() / 8
}

impl FairQueueParams {
    pub(super) fn weights(&self) -> [Bytes; BANDS] {
        [self.weight0, self.weight1, self.weight2]
    }

    /// The band of each priority; `None` if `priomap` has other digits.
    pub(super) fn bands_of_priorities(&self) -> Option<[u8; 16]> {
        let mut rest = self.priomap;
        let mut bands = [0; 16];
        for band in bands.iter_mut().rev() {
            *band = (rest % 10) as u8;
            rest /= 10;
        }
        (rest == 0 && bands.iter().all(|&band| usize::from(band) < BANDS)).then_some(bands)
    }
}
