//! The scenario as it is written: what may stand in the file, word by word. The comments here are
//! the descriptions in the JSON Schema and in Python.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sojourn_aqm::{Span, units};

use crate::choice::{Choice, tagged};
use crate::engines::Engines;
use crate::flows::FlowGroup;
use crate::paths::{Bucket, Device, Jitter, Loss};
use crate::schema;
use crate::text::{BufferText, RateText, SizeText, SpanText};
use crate::wlan::{Wireless, Wlan};

/// A scenario: which links there are, who talks over them, for how long.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Scenario")]
pub struct Document {
    /// Name of the scenario.
    pub name: String,
    /// Seed of every random stream; the same seed gives the same run.
    #[serde(default = "one")]
    pub seed: u64,
    /// Simulated time, such as `60s`.
    pub duration: SpanText,
    /// Time at the start that no summary counts.
    #[serde(default = "no_time")]
    pub warmup: SpanText,
    /// What is recorded beside the summary.
    #[serde(default)]
    pub record: Record,
    /// The links, by name: words of letters, digits, `_` and `-`.
    #[schemars(extend("minProperties" = 1))]
    pub links: BTreeMap<String, Link>,
    /// The wireless LANs, by name. Links are their transmitters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub wlans: BTreeMap<String, Wlan>,
    /// The groups of flows.
    #[schemars(length(min = 1))]
    pub flows: Vec<FlowGroup>,
    /// What single engines must know beside the scenario.
    #[serde(default, skip_serializing_if = "Engines::is_default")]
    pub engine: Engines,
}

/// What is recorded beside the summary.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Record {
    /// One row per packet per queue: large.
    pub packets: bool,
    /// One row per drop and mark, with the state of the AQM just before it.
    pub signals: bool,
    /// Samples of every flow.
    pub flows: bool,
    /// Samples of every queue.
    pub states: bool,
    /// Time between samples. `auto` is a thousandth of the duration, rounded up to a millisecond.
    pub sample: Sample,
    /// Width of bins, such as `1s`: goodput of every flow and class, throughput, utilisation, drop and
    /// mark rate of every queue, bin by bin. Without it there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<SpanText>,
    /// Distributions of the path RTT and the one-way delay of TCP data packets, by class.
    pub latency: bool,
}

impl Default for Record {
    fn default() -> Self {
        Record {
            packets: false,
            signals: false,
            flows: false,
            states: true,
            sample: Sample::Auto,
            bins: None,
            latency: false,
        }
    }
}

/// Time between samples: `auto` or a time such as `10ms`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sample {
    /// A thousandth of the duration, rounded up to a millisecond.
    Auto,
    /// This long.
    Every(Span),
}

/// A link in one direction: a queue, a transmitter, a wire.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// How fast it sends: a rate, a `schedule` of rates, a token `bucket`, a `trace` recorded on a
    /// real link, or `wireless`, what other transmitters of a wireless LAN leave it.
    pub rate: Capacity,
    /// Propagation delay.
    #[serde(default = "no_time")]
    pub delay: SpanText,
    /// Bytes of framing added to every packet. Rates, limits and AQMs count them: `14B` is what
    /// Linux counts on Ethernet, `38B` what Ethernet occupies.
    #[serde(default = "no_bytes")]
    pub framing: SizeText,
    /// How much may wait: it becomes the `limit` of the queue. `1bdp` is the initial rate times the
    /// largest `rtt` of the flows through the link. Without it the queue has its own default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferText>,
    /// The AQM: a text such as `pie@linux:target=5ms`, or a table with `kind`, `dialect` and any of
    /// its parameters.
    #[serde(default = "tail_drop")]
    #[schemars(schema_with = "schema::queue")]
    pub queue: Choice,
    /// What waits below the queue, out of its sight, such as `{ bytes = "1514B" }`. Without it the
    /// queue hands down one packet at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// Extra delay of each packet on the wire, such as `{ kind = "uniform", max = "5ms" }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// Random loss on the wire, such as `{ kind = "bernoulli", rate = 0.01 }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// Whether the wire clears the ECN field of every packet, marks included (ECN bleaching).
    #[serde(default)]
    pub ecn_bleaching: bool,
}

/// How fast a link sends: a rate, or a table of kind `schedule`, `bucket`, `trace` or `wireless`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Capacity {
    /// Always this rate.
    Constant(RateText),
    /// A table tagged by its kind.
    Varying(Varying),
}

/// A rate that varies.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Varying {
    /// Given rates from given times on. The packet in service finishes at its old rate.
    #[schemars(title = "Schedule")]
    Schedule(Schedule),
    /// A token bucket in front of a faster line, as `tbf` and `htb` shape.
    #[schemars(title = "Bucket")]
    Bucket(Bucket),
    /// Delivery opportunities recorded on a real link, in Mahimahi's format. One line is the
    /// millisecond of one opportunity. The trace repeats for ever with the period of its last line.
    #[schemars(title = "Trace")]
    Trace(Trace),
    /// One transmitter of a wireless LAN: the access point or a station.
    #[schemars(title = "Wireless")]
    Wireless(Wireless),
}

/// Given rates from given times on. The packet in service finishes at its old rate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Pairs of time and rate: `[["0s", "100mbit"], ["50s", "20mbit"]]`. The first is at `0s`,
    /// times increase.
    #[schemars(length(min = 1))]
    pub steps: Vec<(SpanText, RateText)>,
}

/// Delivery opportunities recorded on a real link, in Mahimahi's format. One line is the
/// millisecond of one opportunity. The trace repeats for ever with the period of its last line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// The trace file, relative to the scenario's folder.
    pub file: String,
    /// Bytes that one opportunity carries. Mahimahi's 1504 B are 1500 B of IP and the 4 B header of
    /// its TUN device; packets here are counted at IP level, so that `1500B` is the same link.
    /// Where `framing = "4B"` counts that header, write `1504B`.
    #[serde(default = "one_packet")]
    pub opportunity: SizeText,
}

tagged!(Varying, "a rate, or a table of kind `schedule`, `bucket`, `trace` or `wireless`", {
    "schedule" => Schedule(Schedule),
    "bucket" => Bucket(Bucket),
    "trace" => Trace(Trace),
    "wireless" => Wireless(Wireless)
});

impl<'de> Deserialize<'de> for Capacity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CapacityVisitor)
    }
}

struct CapacityVisitor;

impl<'de> de::Visitor<'de> for CapacityVisitor {
    type Value = Capacity;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rate such as \"10mbit\", or a table of kind `schedule`, `bucket`, ")?;
        f.write_str("`trace` or `wireless`")
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Capacity, E> {
        units::rate(text).map(|rate| Capacity::Constant(RateText(rate))).map_err(E::custom)
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Capacity, E> {
        self.visit_str(&number.to_string())
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Capacity, E> {
        self.visit_str(&number.to_string())
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Capacity, E> {
        self.visit_str(&number.to_string())
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Capacity, A::Error> {
        Varying::deserialize(MapAccessDeserializer::new(map)).map(Capacity::Varying)
    }
}

impl<'de> Deserialize<'de> for Sample {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "auto" => Ok(Sample::Auto),
            text => units::span(text)
                .map(Sample::Every)
                .map_err(|why| de::Error::custom(format!("{why}, or `auto`"))),
        }
    }
}

impl Serialize for Sample {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Sample::Auto => serializer.serialize_str("auto"),
            Sample::Every(span) => serializer.collect_str(span),
        }
    }
}

impl JsonSchema for Sample {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Sample")
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Time between samples: `auto` or a time such as `10ms`.",
            "pattern": r"^(auto|[0-9]+(\.[0-9]*)? *(ns|us|ms|s))$",
            "examples": ["auto", "10ms"],
        })
    }
}

fn one() -> u64 {
    1
}

fn no_time() -> SpanText {
    SpanText(Span::ZERO)
}

fn no_bytes() -> SizeText {
    SizeText(0)
}

fn one_packet() -> SizeText {
    SizeText(1500)
}

fn tail_drop() -> Choice {
    Choice::Text("taildrop".to_owned())
}
