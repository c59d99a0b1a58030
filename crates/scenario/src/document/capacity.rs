//! The rate of a link, as written in a scenario.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, MapAccess, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use sojourn_aqm::units;

use super::framing::{LinkCells, is_zero, no_bytes};
use super::quantities::{RateText, SizeText, SpanText, StepRateText};
use super::tagged::tagged;
use super::wlan::Wireless;

/// How fast a link sends: a rate, or a table of kind `schedule`, `bucket`, `trace` or `wireless`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Capacity {
    /// A constant rate.
    Constant(RateText),
    /// A table tagged by its kind.
    Varying(Varying),
}

/// A rate that varies.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Varying {
    /// A list of rates and the times from which they hold. The rest of the packet in service is
    /// sent at the new rate, unless `in_service` says otherwise.
    #[schemars(title = "Schedule")]
    Schedule(Schedule),
    /// A token bucket in front of a faster line, as in the shapers `tbf` and `htb`.
    #[schemars(title = "Bucket")]
    Bucket(Bucket),
    /// Delivery opportunities recorded on a real link, in Mahimahi's format: each line is the time
    /// of one opportunity in milliseconds. The trace repeats forever; its last line is the period.
    #[schemars(title = "Trace")]
    Trace(Trace),
    /// One transmitter of a wireless LAN: the access point or a station.
    #[schemars(title = "Wireless")]
    Wireless(Wireless),
}

/// A list of rates and the times from which they hold. The rest of the packet in service is sent at
/// the new rate, unless `in_service` says otherwise.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Pairs of time and rate: `[["0s", "100mbit"], ["50s", "20mbit"]]`. The first time is `0s`,
    /// and times increase. `0bit` is an outage: nothing is sent, and the packet in service waits.
    #[schemars(length(min = 1))]
    pub steps: Vec<(SpanText, StepRateText)>,
    /// What a change of rate does to the packet in service: `new-rate` sends the rest of it at the
    /// new rate, `old-rate` all of it at the old one, as ns-2 and ns-3 do.
    #[serde(default)]
    pub in_service: InService,
}

/// What a change of rate does to the packet in service.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum InService {
    /// The rest of it is sent at the new rate.
    #[default]
    NewRate,
    /// All of it is sent at the old rate. The end of a transmission is computed when it starts, as
    /// in ns-2.35 (link/delay.cc, LinkDelay::recv) and ns-3.44
    /// (PointToPointNetDevice::TransmitStart).
    OldRate,
}

impl InService {
    /// As written.
    pub const fn word(self) -> &'static str {
        match self {
            InService::NewRate => "new-rate",
            InService::OldRate => "old-rate",
        }
    }
}

/// A token bucket in front of a faster line, as in the shapers `tbf` and `htb`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bucket {
    /// Rate at which tokens arrive: the long-run rate of the link.
    pub rate: RateText,
    /// Depth of the bucket: how much may leave at the line rate after a pause. The bucket is full
    /// at the start.
    pub burst: SizeText,
    /// Rate of the line behind the bucket, not less than `rate`.
    pub line: RateText,
    /// When a packet may leave: once the bucket holds enough tokens for it (`false`, like `tbf`),
    /// or whenever the bucket is not in debt, even if the packet puts it into debt (`true`, like a
    /// class of `htb`).
    #[serde(default)]
    pub overdraft: bool,
    /// Bytes that the bucket counts for a packet on top of what the queue counts (`overhead` of
    /// `tbf` and `htb`).
    #[serde(default = "no_bytes", skip_serializing_if = "is_zero")]
    pub overhead: SizeText,
    /// Least size of a packet with this overhead, as the bucket counts it.
    #[serde(default = "no_bytes", skip_serializing_if = "is_zero")]
    pub mpu: SizeText,
    /// Cells that the bucket counts: `atm` takes 53 bytes for every 48 (`linklayer atm` of `tbf`
    /// and `htb`), `ptm` one more for every 64.
    #[serde(default, skip_serializing_if = "LinkCells::is_none")]
    pub cells: LinkCells,
}

/// Delivery opportunities recorded on a real link, in Mahimahi's format: each line is the time of
/// one opportunity in milliseconds. The trace repeats forever; its last line is the period.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// The trace file, relative to the scenario's folder.
    pub file: String,
    /// Bytes that one opportunity carries. Mahimahi's 1504 B are 1500 B of IP and the 4 B header of
    /// its TUN device. Packets here are counted at IP level, so `1500B` describes the same link. If
    /// `framing = "4B"` counts that header, write `1504B`.
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

fn one_packet() -> SizeText {
    SizeText(1500)
}
