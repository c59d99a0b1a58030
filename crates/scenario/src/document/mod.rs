//! The scenario as written: every key that a file may have. The comments here become the
//! descriptions in the JSON Schema, in `docs/reference/scenario.md` and in Python.

pub mod algorithm;
mod algorithm_schema;
pub mod apps;
pub mod capacity;
pub mod engines;
pub mod expect;
pub mod flows;
pub mod framing;
pub mod ip_fields;
pub mod links;
mod loss;
pub mod quantities;
pub mod scheduler;
pub mod sizes;
mod tagged;
pub mod topology;
pub mod wire;
pub mod wlan;

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sojourn_aqm::{Span, units};

use self::engines::Engines;
use self::expect::Expectation;
use self::flows::FlowGroup;
use self::links::Link;
use self::quantities::SpanText;
use self::topology::Topology;
use self::wlan::Wlan;

/// A scenario: its links, the flows over them, and how long they run.
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
    /// Time at the start that summaries leave out.
    #[serde(default = "no_time")]
    pub warmup: SpanText,
    /// What is recorded besides the summary.
    #[serde(default)]
    pub record: Record,
    /// A shape of network that generates links, and the paths of flows with a `route`.
    // Left out when written: `links` and `flows` hold what it has generated.
    #[serde(default, skip_serializing_if = "always")]
    pub topology: Option<Topology>,
    /// The links, by name: words of letters, digits, `_` and `-`. At least one, unless a `topology`
    /// generates them.
    #[serde(deserialize_with = "links::complete")]
    #[schemars(with = "Option<BTreeMap<String, Link>>", extend("minProperties" = 1))]
    pub links: BTreeMap<String, Link>,
    /// The wireless LANs, by name. Links act as their transmitters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub wlans: BTreeMap<String, Wlan>,
    /// The groups of flows.
    #[schemars(length(min = 1))]
    pub flows: Vec<FlowGroup>,
    /// Settings of individual engines.
    #[serde(default, skip_serializing_if = "Engines::is_default")]
    pub engine: Engines,
    /// What is expected of the runs; `sojourn test` decides it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expectation>,
}

/// What is recorded besides the summary.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Record {
    /// One row per packet per queue. This table is large.
    pub packets: bool,
    /// One row per drop and mark, with the state of the AQM just before it.
    pub signals: bool,
    /// Samples of every flow.
    pub flows: bool,
    /// Samples of every queue.
    pub states: bool,
    /// Time between samples. `auto` is a thousandth of the duration, rounded up to a millisecond.
    pub sample: Sample,
    /// Width of bins, such as `1s`. Goodput of every flow and class, and throughput, utilisation,
    /// drop rate and mark rate of every queue are reported per bin. Without it, no bins are
    /// reported.
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
    /// A given time.
    Every(Span),
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

fn always<T>(_: &T) -> bool {
    true
}

fn no_time() -> SpanText {
    SpanText(Span::ZERO)
}
