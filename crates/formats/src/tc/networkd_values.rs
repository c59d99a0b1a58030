//! The keys of systemd-networkd's sections about disciplines, and their values
//! (systemd.network(5), systemd.time(7)).

use super::units::show_time;

/// How a value is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// An integer.
    Count,
    /// Bytes with suffixes of 1024.
    Bytes,
    /// Bits per second with suffixes of 1000.
    Rate,
    /// A time; a bare number is in seconds.
    Time,
    /// A time in whole seconds.
    Seconds,
    /// Integers.
    Several,
    /// A percentage.
    Percent,
    /// A boolean: the words of tc for both.
    Switch(&'static str, &'static str),
    /// One of several words, with those of tc.
    Choice(&'static [(&'static str, &'static str)]),
}

/// A key, and the word of tc before its value.
pub(super) struct Key {
    pub(super) name: &'static str,
    word: &'static str,
    form: Form,
}

/// A section.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) is_class: bool,
    /// In the order in which tc needs the words.
    pub(super) keys: &'static [Key],
}

const fn key(name: &'static str, word: &'static str, form: Form) -> Key {
    Key { name, word, form }
}

const fn table(name: &'static str, kind: &'static str, keys: &'static [Key]) -> Table {
    Table { name, kind, is_class: false, keys }
}

use Form::{Bytes, Choice, Count, Percent, Rate, Seconds, Switch, Time};

const LIMIT: Key = key("PacketLimit", "limit", Count);
const TARGET: Key = key("TargetSec", "target", Time);
const INTERVAL: Key = key("IntervalSec", "interval", Time);
const ECN: Key = key("ECN", "", Switch("ecn", "noecn"));
const CE_THRESHOLD: Key = key("CEThresholdSec", "ce_threshold", Time);

const CAKE: [Key; 14] = [
    // tc's `raw` resets the overhead and cells before it.
    key("UseRawPacketSize", "", Switch("raw", "")),
    key("Bandwidth", "bandwidth", Rate),
    key("AutoRateIngress", "", Switch("autorate-ingress", "")),
    key("OverheadBytes", "overhead", Count),
    key("MPUBytes", "mpu", Count),
    key("CompensationMode", "", Choice(&[("none", "noatm"), ("atm", "atm"), ("ptm", "ptm")])),
    key(
        "FlowIsolationMode",
        "",
        Choice(&[
            ("none", "flowblind"),
            ("src-host", "srchost"),
            ("dst-host", "dsthost"),
            ("hosts", "hosts"),
            ("flows", "flows"),
            ("dual-src-host", "dual-srchost"),
            ("dual-dst-host", "dual-dsthost"),
            ("triple", "triple-isolate"),
        ]),
    ),
    key("NAT", "", Switch("nat", "nonat")),
    key(
        "PriorityQueueingPreset",
        "",
        Choice(&[
            ("besteffort", "besteffort"),
            ("precedence", "precedence"),
            ("diffserv3", "diffserv3"),
            ("diffserv4", "diffserv4"),
            ("diffserv8", "diffserv8"),
        ]),
    ),
    key("FirewallMark", "fwmark", Count),
    key("Wash", "", Switch("wash", "nowash")),
    key("SplitGSO", "", Switch("split-gso", "no-split-gso")),
    key("RTTSec", "rtt", Time),
    key(
        "AckFilter",
        "",
        Choice(&[
            ("aggressive", "ack-filter-aggressive"),
            ("yes", "ack-filter"),
            ("no", "no-ack-filter"),
        ]),
    ),
];

const TBF: [Key; 7] = [
    key("Rate", "rate", Rate),
    key("BurstBytes", "burst", Bytes),
    key("LatencySec", "latency", Time),
    key("LimitBytes", "limit", Bytes),
    key("MPUBytes", "mpu", Bytes),
    key("PeakRate", "peakrate", Rate),
    key("MTUBytes", "mtu", Bytes),
];

const FQ: [Key; 9] = [
    LIMIT,
    key("FlowLimit", "flow_limit", Count),
    key("QuantumBytes", "quantum", Bytes),
    key("InitialQuantumBytes", "initial_quantum", Bytes),
    key("MaximumRate", "maxrate", Rate),
    key("Buckets", "buckets", Count),
    key("OrphanMask", "orphan_mask", Count),
    key("Pacing", "", Switch("pacing", "nopacing")),
    CE_THRESHOLD,
];

const FQ_CODEL: [Key; 8] = [
    LIMIT,
    key("Flows", "flows", Count),
    key("QuantumBytes", "quantum", Bytes),
    TARGET,
    INTERVAL,
    key("MemoryLimitBytes", "memory_limit", Bytes),
    ECN,
    CE_THRESHOLD,
];

const HTB_CLASS: [Key; 8] = [
    key("Rate", "rate", Rate),
    key("CeilRate", "ceil", Rate),
    key("Priority", "prio", Count),
    key("QuantumBytes", "quantum", Bytes),
    key("MTUBytes", "mtu", Bytes),
    key("OverheadBytes", "overhead", Bytes),
    key("BufferBytes", "burst", Bytes),
    key("CeilBufferBytes", "cburst", Bytes),
];

const NETEM: [Key; 5] = [
    LIMIT,
    key("DelaySec", "delay", Time),
    // The jitter stands behind the delay, without a word.
    key("DelayJitterSec", "", Time),
    key("LossRate", "loss", Percent),
    key("DuplicateRate", "duplicate", Percent),
];

/// The sections and the kinds of their disciplines.
pub(super) const SECTIONS: &[Table] = &[
    table("CAKE", "cake", &CAKE),
    table("TokenBucketFilter", "tbf", &TBF),
    table("FairQueueing", "fq", &FQ),
    table("FairQueueingControlledDelay", "fq_codel", &FQ_CODEL),
    table("ControlledDelay", "codel", &[LIMIT, TARGET, INTERVAL, ECN, CE_THRESHOLD]),
    table("PIE", "pie", &[LIMIT]),
    table("FlowQueuePIE", "fq_pie", &[LIMIT]),
    table("StochasticFairBlue", "sfb", &[LIMIT]),
    table("StochasticFairnessQueueing", "sfq", &[key("PerturbPeriodSec", "perturb", Seconds)]),
    table("PFIFO", "pfifo", &[LIMIT]),
    table("PFIFOHeadDrop", "pfifo_head_drop", &[LIMIT]),
    table("PFIFOFast", "pfifo_fast", &[]),
    table("BFIFO", "bfifo", &[key("LimitBytes", "limit", Bytes)]),
    table(
        "HierarchyTokenBucket",
        "htb",
        // DefaultClass= is hexadecimal, as tc's `default`.
        &[key("DefaultClass", "default", Form::Count), key("RateToQuantum", "r2q", Count)],
    ),
    Table { name: "HierarchyTokenBucketClass", kind: "htb", is_class: true, keys: &HTB_CLASS },
    table("NetworkEmulator", "netem", &NETEM),
    table("ClassfulMultiQueueing", "mq", &[]),
    table("BandMultiQueueing", "multiq", &[]),
    table("DeficitRoundRobinScheduler", "drr", &[]),
    table(
        "EnhancedTransmissionSelection",
        "ets",
        &[
            key("Bands", "bands", Count),
            key("StrictBands", "strict", Count),
            key("QuantumBytes", "quanta", Form::Several),
            key("PriorityMap", "priomap", Form::Several),
        ],
    ),
    table("GenericRandomEarlyDetection", "gred", &[]),
    table("HeavyHitterFilter", "hhf", &[]),
    table("QuickFairQueueing", "qfq", &[]),
];

/// An entry in tc's words; empty if tc has none for a boolean that is off.
pub(super) fn text_of(key: &Key, value: &str) -> Result<String, String> {
    let text = match key.form {
        Switch(on, off) => return Ok(if boolean(value)? { on } else { off }.to_owned()),
        Choice(words) => {
            let given = match boolean(value) {
                Ok(true) if words.iter().any(|it| it.0 == "yes") => "yes",
                Ok(false) if words.iter().any(|it| it.0 == "no") => "no",
                _ => value,
            };
            let found = words.iter().find(|it| it.0 == given);
            return found.map(|it| it.1.to_owned()).ok_or_else(|| {
                let all: Vec<&str> = words.iter().map(|it| it.0).collect();
                format!("`{value}` is not one of {}", all.join(", "))
            });
        }
        Count => whole(value)?.to_owned(),
        Form::Several => {
            value.split_whitespace().map(whole).collect::<Result<Vec<_>, _>>()?.join(" ")
        }
        Bytes => size(value, 1024.0)?.to_string(),
        Rate => format!("{}bit", size(value, 1000.0)?),
        Time => show_time(span(value)?),
        Seconds => (span(value)? / 1_000_000_000).to_string(),
        Percent => match value.strip_suffix('%').map(str::parse::<f64>) {
            Some(Ok(_)) => value.to_owned(),
            _ => return Err(format!("`{value}` is not a percentage, such as 1%")),
        },
    };
    Ok(format!("{} {text}", key.word).trim().to_owned())
}

fn whole(value: &str) -> Result<&str, String> {
    let digits = value.strip_prefix('-').or(value.strip_prefix("0x")).unwrap_or(value);
    let is_whole = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_hexdigit());
    is_whole.then_some(value).ok_or_else(|| format!("`{value}` is not a whole number"))
}

fn boolean(value: &str) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "yes" | "y" | "true" | "t" | "on" => Ok(true),
        "0" | "no" | "n" | "false" | "f" | "off" => Ok(false),
        _ => Err(format!("`{value}` is not a boolean: write yes or no")),
    }
}

/// A number with a suffix (systemd src/basic/parse-util.c, parse_size).
fn size(value: &str, base: f64) -> Result<u64, String> {
    let refuse = || format!("`{value}` is not a number with a suffix, such as 20M");
    let end = value.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(value.len());
    let number: f64 = value[..end].parse().map_err(|_| refuse())?;
    let power = match value[end..].trim() {
        "" | "B" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return Err(refuse()),
    };
    let total = number * base.powi(power);
    (total < 9e15).then_some(total as u64).ok_or_else(refuse)
}

/// A time span in nanoseconds, such as `1min 30s` (systemd.time(7)).
fn span(value: &str) -> Result<u64, String> {
    let refuse = || format!("`{value}` is not a time: write 5ms or 1s");
    let mut total = 0.0;
    let mut rest = value.trim();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let number: f64 = rest[..end].parse().map_err(|_| refuse())?;
        rest = rest[end..].trim_start();
        let end =
            rest.find(|c: char| c.is_ascii_digit() || c.is_whitespace()).unwrap_or(rest.len());
        let nanos = match &rest[..end] {
            "ns" | "nsec" => 1.0,
            "us" | "usec" | "μs" | "µs" => 1e3,
            "ms" | "msec" => 1e6,
            "" | "s" | "sec" | "second" | "seconds" => 1e9,
            "m" | "min" | "minute" | "minutes" => 60e9,
            _ => return Err(refuse()),
        };
        total += number * nanos;
        rest = rest[end..].trim_start();
    }
    let is_time = total < 9e15 && !value.trim().is_empty();
    is_time.then_some(total.round() as u64).ok_or_else(refuse)
}
