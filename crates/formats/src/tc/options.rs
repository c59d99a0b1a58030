//! The options of each discipline, for reading and writing: tc's word, the form of its value, and
//! our parameter (iproute2 6.1 tc/q_*.c; Linux 6.1 net/sched).

/// How a value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// No value.
    Flag,
    /// A whole number.
    Count,
    /// An integer, printed with a unit that tc refuses as input (`p`, `pps`).
    Packets,
    /// The same with units of size, such as `limit 1k` of pfifo (iproute2 6.1 tc/q_fifo.c).
    SizedPackets,
    /// A number of bytes, plain in commands.
    Bytes,
    /// A size with tc's units.
    Size,
    /// Bytes, possibly negative.
    Signed,
    /// A time; a bare number counts microseconds.
    Time,
    /// The same, or packets: `3p`.
    TimeOrPackets,
    /// A time; a bare number counts nanoseconds.
    Nanos,
    /// A time; a bare number counts milliseconds.
    Millis,
    /// Integer seconds, printed as `10sec`.
    Seconds,
    /// A rate with tc's units.
    Rate,
    /// A percentage.
    Percent,
    /// A percentage below 100, as an integer.
    WholePercent,
    /// A number.
    Real,
    /// A hexadecimal number.
    Hex,
    /// Any word.
    Text,
    /// A word, `block` and a number.
    Event,
    /// Sixteen numbers.
    Sixteen,
    /// Up to sixteen numbers.
    Bands,
    /// Three numbers.
    Three,
}

/// The counterpart of an option.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Ours {
    /// The parameter of this name, in its own unit.
    Is(&'static str),
    /// A parameter in hertz, and the number of tc's units per hertz.
    Hertz(&'static str, f64),
    /// A parameter with this value.
    Sets(&'static str, &'static str),
    /// Behaviour that the model always has, or a shaper setting that is read elsewhere.
    Same,
    /// No counterpart.
    Missing,
}

/// A word of tc.
#[derive(Clone, Copy, Debug)]
pub(super) struct OptionWord {
    pub(super) word: &'static str,
    pub(super) form: Form,
    pub(super) ours: Ours,
}

/// A kind of discipline.
#[derive(Debug)]
pub(super) struct KindTable {
    pub(super) kind: &'static str,
    /// Our AQM, with its dialect; empty if the kind has no queue or no counterpart.
    pub(super) aqm: &'static str,
    pub(super) words: &'static [OptionWord],
    /// Parameter values if a state does not show the flag.
    pub(super) when_absent: &'static [(&'static str, &'static str)],
}

const fn word(word: &'static str, form: Form, ours: Ours) -> OptionWord {
    OptionWord { word, form, ours }
}

use Form::{
    Bands, Bytes, Count, Event, Flag, Hex, Millis, Nanos, Packets, Percent, Rate, Real, Seconds,
    Three,
};
use Form::{Signed, Sixteen, Size, SizedPackets, Text, Time, TimeOrPackets, WholePercent};
use Ours::{Hertz, Is, Missing, Same, Sets};

const LIMIT: OptionWord = word("limit", Packets, Is("limit"));
const SIZED_LIMIT: OptionWord = word("limit", SizedPackets, Is("limit"));
const TARGET: OptionWord = word("target", Time, Is("target"));
const ECN: OptionWord = word("ecn", Flag, Sets("ecn", "true"));
const NO_ECN: OptionWord = word("noecn", Flag, Sets("ecn", "false"));
/// pie counts its gains in sixteenths of a hertz (Linux 6.1 sch_pie.c, calculate_probability).
const SIXTEENTHS: f64 = 16.0;

const CODEL: [OptionWord; 6] = [
    LIMIT,
    TARGET,
    word("ce_threshold", Time, Is("ce_threshold")),
    word("interval", Time, Is("interval")),
    ECN,
    NO_ECN,
];

const FQ_CODEL: [OptionWord; 11] = [
    LIMIT,
    word("flows", Count, Is("flows")),
    word("quantum", Bytes, Is("quantum")),
    TARGET,
    word("ce_threshold", Time, Is("ce_threshold")),
    word("ce_threshold_selector", Text, Missing),
    word("interval", Time, Is("interval")),
    word("memory_limit", Size, Is("memory_limit")),
    ECN,
    NO_ECN,
    word("drop_batch", Count, Is("drop_batch")),
];

const PIE: [OptionWord; 11] = [
    LIMIT,
    TARGET,
    word("tupdate", Time, Is("tupdate")),
    word("alpha", Count, Hertz("alpha", SIXTEENTHS)),
    word("beta", Count, Hertz("beta", SIXTEENTHS)),
    ECN,
    NO_ECN,
    word("bytemode", Flag, Sets("byte_mode", "true")),
    word("nobytemode", Flag, Sets("byte_mode", "false")),
    word("dq_rate_estimator", Flag, Sets("delay", "rate")),
    word("no_dq_rate_estimator", Flag, Sets("delay", "stamps")),
];

const FQ_PIE: [OptionWord; 15] = [
    LIMIT,
    word("flows", Count, Is("flows")),
    TARGET,
    word("tupdate", Time, Is("tupdate")),
    word("alpha", Count, Hertz("alpha", SIXTEENTHS)),
    word("beta", Count, Hertz("beta", SIXTEENTHS)),
    word("quantum", Size, Is("quantum")),
    // The law of the kernel never reads it: `sojourn explain fq_pie`.
    word("memory_limit", Size, Same),
    word("ecn_prob", WholePercent, Is("ecn_mark_limit")),
    ECN,
    NO_ECN,
    word("bytemode", Flag, Sets("byte_mode", "true")),
    word("nobytemode", Flag, Sets("byte_mode", "false")),
    word("dq_rate_estimator", Flag, Sets("delay", "rate")),
    word("no_dq_rate_estimator", Flag, Sets("delay", "stamps")),
];

const RED: [OptionWord; 14] = [
    word("limit", Size, Is("limit")),
    word("min", Size, Is("min_th")),
    word("max", Size, Is("max_th")),
    word("avpkt", Size, Is("mean_packet_bytes")),
    word("burst", Count, Is("burst")),
    word("probability", Real, Is("max_p")),
    word("bandwidth", Rate, Is("bandwidth")),
    ECN,
    word("harddrop", Flag, Sets("hard_drop", "true")),
    word("adaptive", Flag, Same),
    word("nodrop", Flag, Missing),
    word("qevent", Event, Missing),
    word("ewma", Count, Missing),
    word("Scell_log", Count, Missing),
];

const CHOKE: [OptionWord; 12] = [
    LIMIT,
    word("min", Packets, Is("min_th")),
    word("max", Packets, Is("max_th")),
    word("avpkt", Size, Is("mean_packet_bytes")),
    word("burst", Count, Is("burst")),
    word("probability", Real, Is("max_p")),
    word("bandwidth", Rate, Same),
    ECN,
    word("harddrop", Flag, Sets("hard_drop", "true")),
    word("adaptive", Flag, Missing),
    word("ewma", Count, Missing),
    word("Scell_log", Count, Missing),
];

const SFQ: [OptionWord; 16] = [
    LIMIT,
    word("quantum", Size, Is("quantum")),
    word("depth", Packets, Is("depth")),
    word("headdrop", Flag, Sets("headdrop", "true")),
    word("flows", Text, Is("flows")),
    word("divisor", Count, Is("divisor")),
    word("perturb", Seconds, Is("perturb")),
    // RED in every queue, for sfq_red.
    word("redflowlimit", Size, Is("red_flow_limit")),
    word("min", Size, Is("min_th")),
    word("max", Size, Is("max_th")),
    word("avpkt", Size, Is("mean_packet_bytes")),
    word("burst", Count, Is("burst")),
    word("probability", Real, Is("max_p")),
    word("ewma", Count, Missing),
    ECN,
    word("harddrop", Flag, Sets("hard_drop", "true")),
];

const SFB: [OptionWord; 9] = [
    LIMIT,
    word("rehash", Millis, Is("rehash_interval")),
    word("db", Millis, Is("warmup")),
    word("max", Packets, Is("bin_max")),
    word("target", Packets, Is("bin_target")),
    word("increment", Real, Is("increment")),
    word("decrement", Real, Is("decrement")),
    word("penalty_rate", Packets, Hertz("penalty_rate", 1.0)),
    word("penalty_burst", Packets, Is("penalty_burst")),
];

/// Bands and their weights (Linux 6.12) become several parameters.
const FQ: [OptionWord; 21] = [
    LIMIT,
    word("flow_limit", Packets, Is("flow_limit")),
    word("buckets", Count, Is("buckets")),
    word("orphan_mask", Count, Is("orphan_mask")),
    word("pacing", Flag, Sets("pacing", "true")),
    word("nopacing", Flag, Sets("pacing", "false")),
    word("bands", Count, Same),
    word("priomap", Sixteen, Same),
    word("weights", Three, Same),
    word("quantum", Bytes, Is("quantum")),
    word("initial_quantum", Bytes, Is("initial_quantum")),
    word("maxrate", Rate, Is("maxrate")),
    // The kernel ignores it.
    word("defrate", Rate, Same),
    word("low_rate_threshold", Rate, Is("low_rate_threshold")),
    word("refill_delay", Time, Is("refill_delay")),
    word("ce_threshold", Time, Is("ce_threshold")),
    word("timer_slack", Nanos, Is("timer_slack")),
    word("horizon", Time, Is("horizon")),
    word("horizon_drop", Flag, Sets("horizon_drop", "true")),
    word("horizon_cap", Flag, Sets("horizon_drop", "false")),
    word("offload_horizon", Time, Missing),
];

const DUALPI2: [OptionWord; 22] = [
    LIMIT,
    word("memlimit", Size, Missing),
    TARGET,
    word("tupdate", Time, Is("tupdate")),
    word("alpha", Real, Hertz("alpha", 1.0)),
    word("beta", Real, Hertz("beta", 1.0)),
    word("step_thresh", TimeOrPackets, Is("l_min_th")),
    word("min_qlen_step", Packets, Is("l_min_len")),
    word("coupling_factor", Count, Is("k")),
    word("drop_on_overload", Flag, Sets("drop_overload", "true")),
    word("overflow", Flag, Sets("drop_overload", "false")),
    word("drop_dequeue", Flag, Same),
    word("drop_enqueue", Flag, Missing),
    word("classic_protection", Percent, Is("c_weight")),
    word("l4s_ect", Flag, Same),
    word("any_ect", Flag, Missing),
    word("split_gso", Flag, Sets("split_gso", "true")),
    word("no_split_gso", Flag, Sets("split_gso", "false")),
    word("max_rtt", Time, Missing),
    word("typical_rtt", Time, Missing),
    word("drop_early", Flag, Missing),
    word("memory_limit", Size, Missing),
];

const TBF: [OptionWord; 10] = [
    word("rate", Rate, Same),
    word("burst", Size, Same),
    word("limit", Size, Is("limit")),
    word("lat", Time, Same),
    word("peakrate", Rate, Missing),
    word("mtu", Size, Missing),
    word("minburst", Size, Missing),
    word("mpu", Signed, Same),
    word("overhead", Signed, Same),
    word("linklayer", Text, Same),
];

const HTB: [OptionWord; 6] = [
    word("r2q", Count, Same),
    word("default", Hex, Same),
    word("direct_packets_stat", Count, Same),
    word("direct_qlen", Count, Same),
    word("ver", Text, Same),
    word("offload", Flag, Missing),
];

/// Options of a class of htb.
pub(super) const HTB_CLASS: [OptionWord; 11] = [
    word("prio", Count, Missing),
    word("quantum", Count, Missing),
    // An option of rate tables, which the kernel no longer uses.
    word("mtu", Count, Same),
    word("rate", Rate, Same),
    word("ceil", Rate, Same),
    word("burst", Size, Same),
    word("cburst", Size, Same),
    word("overhead", Signed, Same),
    word("mpu", Signed, Same),
    word("linklayer", Text, Same),
    word("level", Text, Same),
];

const PRIO: [OptionWord; 4] = [
    word("bands", Count, Same),
    word("priomap", Bands, Same),
    word("multiqueue:", Text, Missing),
    word("multiqueue", Flag, Missing),
];

const CAKE: [OptionWord; 7] = [
    word("bandwidth", Text, Same),
    word("rtt", Time, Same),
    word("overhead", Signed, Same),
    word("mpu", Bytes, Same),
    word("memlimit", Size, Same),
    word("fwmark", Text, Same),
    word("target", Time, Missing),
];

const fn kind(
    kind: &'static str,
    aqm: &'static str,
    words: &'static [OptionWord],
    when_absent: &'static [(&'static str, &'static str)],
) -> KindTable {
    KindTable { kind, aqm, words, when_absent }
}

const NO_FLAG_ECN: &[(&str, &str)] = &[("ecn", "false")];

/// Every kind whose options are read by table. cake, netem and hfsc have separate readers.
pub(super) const KINDS: &[KindTable] = &[
    kind("pfifo", "taildrop", &[SIZED_LIMIT], &[]),
    kind("bfifo", "taildrop@bytes", &[word("limit", Size, Is("limit"))], &[]),
    kind("pfifo_head_drop", "taildrop@head_drop", &[SIZED_LIMIT], &[]),
    kind("pfifo_fast", "taildrop", &PRIO, &[]),
    kind("codel", "codel@linux", &CODEL, NO_FLAG_ECN),
    kind("fq_codel", "fq_codel@linux", &FQ_CODEL, NO_FLAG_ECN),
    kind("pie", "pie@linux", &PIE, NO_FLAG_ECN),
    kind("fq_pie", "fq_pie@linux", &FQ_PIE, NO_FLAG_ECN),
    kind("red", "red@linux", &RED, NO_FLAG_ECN),
    kind("choke", "choke", &CHOKE, NO_FLAG_ECN),
    kind("sfq", "sfq", &SFQ, &[]),
    kind("sfb", "sfb", &SFB, &[]),
    kind("fq", "fq@linux", &FQ, &[]),
    kind("dualpi2", "dualpi2@linux", &DUALPI2, &[]),
    kind("cake", "cake", &CAKE, &[]),
    kind("cake_mq", "", &CAKE, &[]),
    kind("tbf", "", &TBF, &[]),
    kind("htb", "", &HTB, &[]),
    kind("hfsc", "", &[word("default", Hex, Same)], &[]),
    kind("prio", "", &PRIO, &[]),
    kind("ets", "", &[], &[]),
    kind("drr", "", &[], &[]),
    kind("netem", "", &[], &[]),
    kind("mq", "", &[], &[]),
    kind("mqprio", "", &[], &[]),
    kind("ingress", "", &[], &[]),
    kind("clsact", "", &[], &[]),
    kind("noqueue", "", &[], &[]),
];

/// Other spellings of words (iproute2 6.1 tc/q_tbf.c, q_htb.c, q_red.c).
pub(super) fn canonical(word: &str) -> &str {
    match word {
        "buffer" | "maxburst" => "burst",
        "latency" => "lat",
        "adaptative" => "adaptive",
        "cbuffer" | "cmaxburst" => "cburst",
        other => other,
    }
}

/// Whether tc prints the value of an option with a unit.
pub(super) fn has_unit(kind: &str, option: &str) -> bool {
    let words = table(kind).map_or(&[][..], |it| it.words);
    words.iter().find(|it| it.word == option).is_some_and(|it| {
        matches!(
            it.form,
            Packets | SizedPackets | Size | Time | TimeOrPackets | Nanos | Millis | Seconds | Rate
        )
    })
}

/// The table of a kind.
pub(super) fn table(kind: &str) -> Option<&'static KindTable> {
    KINDS.iter().find(|it| it.kind == kind)
}
