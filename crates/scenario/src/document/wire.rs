//! Delay and jitter on the wire behind a link, and copies, damage and reordering of packets, as
//! written.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess};
use serde::{Deserialize, Deserializer, Serialize};
use sojourn_aqm::{Span, units};

use super::loss::is_nothing;
#[cfg(not(target_arch = "wasm32"))]
use super::quantities::SizeText;
use super::quantities::SpanText;
use super::tagged::tagged;

pub use super::loss::{BernoulliLoss, FourStateLoss, GilbertElliottLoss, Loss, LossSchedule};

/// Propagation delay: a time, or a table of kind `schedule`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Delay {
    /// A constant delay.
    Constant(SpanText),
    /// A table tagged by its kind.
    Varying(VaryingDelay),
}

/// A delay that varies.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum VaryingDelay {
    /// A list of delays and the times from which they hold.
    #[schemars(title = "DelaySchedule")]
    Schedule(DelaySchedule),
}

/// A list of delays and the times from which they hold.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelaySchedule {
    /// Pairs of time and delay: `[["0s", "20ms"], ["15s", "35ms"]]`. The first time is `0s`, and
    /// times increase. A packet has the delay of the time at which it enters the wire.
    #[schemars(length(min = 1))]
    pub steps: Vec<(SpanText, SpanText)>,
    /// Whether packets may overtake each other when the delay falls. If not, a packet waits for the
    /// one before it.
    #[serde(default)]
    pub reorder: bool,
}

/// Extra delay of each packet on a wire, a table of kind `uniform`, `exponential`, `lognormal`,
/// `netem`, `schedule`, `blocks` or `slots`. Draws are independent.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Jitter {
    /// Uniform between zero and `max`.
    #[schemars(title = "UniformJitter")]
    Uniform(UniformJitter),
    /// Exponentially distributed.
    #[schemars(title = "ExponentialJitter")]
    Exponential(ExponentialJitter),
    /// Log-normally distributed: mostly small, occasionally large.
    #[schemars(title = "LogNormalJitter")]
    LogNormal(LogNormalJitter),
    /// Delays of a distribution of netem.
    #[schemars(title = "NetemJitter")]
    Netem(NetemJitter),
    /// Uniform between zero and a maximum that changes at given times.
    #[schemars(title = "JitterSchedule")]
    Schedule(JitterSchedule),
    /// Packets leave in blocks, in order, as on a medium that a scheduler grants.
    #[schemars(title = "BlocksJitter")]
    Blocks(BlocksJitter),
    /// Packets leave in slots, in order: `slot` of netem. The web page does not have them.
    #[cfg(not(target_arch = "wasm32"))]
    #[schemars(title = "SlotsJitter")]
    Slots(SlotsJitter),
}

/// Uniform between zero and `max`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformJitter {
    /// The largest extra delay.
    pub max: SpanText,
    /// Whether packets may overtake each other. If not, a packet waits for the one before it.
    #[serde(default)]
    pub reorder: bool,
}

/// Exponentially distributed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialJitter {
    /// Mean extra delay.
    pub mean: SpanText,
    /// Whether packets may overtake each other. If not, a packet waits for the one before it.
    #[serde(default)]
    pub reorder: bool,
}

/// Log-normally distributed: mostly small, occasionally large.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogNormalJitter {
    /// Mean extra delay.
    pub mean: SpanText,
    /// Standard deviation of the extra delay.
    pub deviation: SpanText,
    /// Whether packets may overtake each other. If not, a packet waits for the one before it.
    #[serde(default)]
    pub reorder: bool,
}

/// Delays of a distribution of netem.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetemJitter {
    /// Extra delay at the centre of the distribution. Draws below zero add nothing.
    pub mean: SpanText,
    /// The jitter of netem: half the width of `uniform`, the standard deviation of others.
    pub deviation: SpanText,
    /// The distribution, from the formulas of iproute2's tables.
    #[serde(default)]
    pub distribution: NetemDistribution,
    /// Whether packets may overtake each other, as behind a netem without rate. If not, a packet
    /// waits for the one before it.
    #[serde(default)]
    pub reorder: bool,
}

/// A distribution of delays that netem knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NetemDistribution {
    /// From `mean - deviation` to `mean + deviation`.
    Uniform,
    /// Normal, up to four deviations below and 3.5 above the mean.
    #[default]
    Normal,
    /// Pareto of shape 3, from 2/3 of the deviation below the mean to four above it.
    Pareto,
    /// A quarter normal and three quarters Pareto.
    ParetoNormal,
}

/// Uniform between zero and a maximum that changes at given times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JitterSchedule {
    /// Pairs of time and largest extra delay: `[["0s", "2ms"], ["15s", "0ms"]]`. The first time is
    /// `0s`, and times increase. The time at which a packet enters the wire counts.
    #[schemars(length(min = 1))]
    pub steps: Vec<(SpanText, SpanText)>,
    /// Whether packets may overtake each other. If not, a packet waits for the one before it.
    #[serde(default)]
    pub reorder: bool,
}

/// Packets leave in blocks, in order, as on a medium that a scheduler grants.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlocksJitter {
    /// A block leaves at every multiple of this time, if packets have entered since the last.
    pub every: SpanText,
    /// A packet after a pause leaves at a multiple of this time instead, when the sender may
    /// request a grant. The default is `every`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<SpanText>,
    /// How long after a block a pause begins: the time from a request to the use of its grant,
    /// which `delay` includes.
    #[serde(default = "none")]
    pub pause: SpanText,
    /// Probability that a block is corrupted and sent again.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub retransmit: f64,
    /// How much later a block arrives that is sent again. Later blocks wait for it.
    #[serde(default = "none")]
    pub round_trip: SpanText,
}

/// Packets leave in slots, in order: `slot` of netem (Linux `sch_netem.c`, `get_slot_next`). A slot
/// begins a random time after the last one was full, or after the first packet that has come since
/// the last one began. The web page does not have them.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlotsJitter {
    /// The centre of the time until a slot. Draws below zero are none.
    pub mean: SpanText,
    /// Half the width of `uniform`, the standard deviation of other distributions.
    #[serde(default = "none")]
    pub deviation: SpanText,
    /// The distribution, from the formulas of iproute2's tables.
    #[serde(default = "uniform")]
    pub distribution: NetemDistribution,
    /// A slot is full after this many packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2_147_483_647))]
    pub packets: Option<u32>,
    /// A slot is full after a packet with which it has this many bytes, without framing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<SizeText>,
}

/// Random copies of packets that arrive at a link.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Duplicate {
    /// Probability that a packet is copied.
    #[schemars(range(min = 0, max = 1))]
    pub rate: f64,
    /// Weight of the previous random draw in the next one. As in netem, such draws vary less: rates
    /// below 0.5 copy fewer packets (fact link-11).
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub correlation: f64,
}

/// Packets that overtake the others on the wire.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Probability that a packet skips the delay and the jitter of the wire.
    #[schemars(range(min = 0, max = 1))]
    pub rate: f64,
    /// Weight of the previous random draw in the next one (fact link-11).
    #[serde(default, skip_serializing_if = "is_nothing")]
    #[schemars(range(min = 0, max = 1))]
    pub correlation: f64,
    /// At least this many minus one packets are delayed before the next may skip the delay.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub gap: u32,
}

/// Packets that arrive damaged. The receiver drops them by their checksum.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Corrupt {
    /// Probability that a packet is damaged.
    #[schemars(range(min = 0, max = 1))]
    pub rate: f64,
    /// Weight of the previous random draw in the next one (fact link-11).
    #[serde(default, skip_serializing_if = "is_nothing")]
    #[schemars(range(min = 0, max = 1))]
    pub correlation: f64,
}

tagged!(VaryingDelay, "a time, or a table of kind `schedule`", {
    "schedule" => Schedule(DelaySchedule)
});

tagged!(Jitter, "a table with `kind`: uniform, exponential, lognormal, netem, schedule, blocks or \
    slots", {
    "uniform" => Uniform(UniformJitter),
    "exponential" => Exponential(ExponentialJitter),
    "lognormal" => LogNormal(LogNormalJitter),
    "netem" => Netem(NetemJitter),
    "schedule" => Schedule(JitterSchedule),
    "blocks" => Blocks(BlocksJitter),
    #[cfg(not(target_arch = "wasm32"))]
    "slots" => Slots(SlotsJitter)
});

impl Default for Delay {
    fn default() -> Delay {
        Delay::Constant(SpanText(Span::ZERO))
    }
}

impl Delay {
    /// The smallest delay.
    pub fn least(&self) -> Span {
        match self {
            Delay::Constant(delay) => delay.0,
            Delay::Varying(VaryingDelay::Schedule(schedule)) => {
                schedule.steps.iter().map(|(_, delay)| delay.0).min().unwrap_or(Span::ZERO)
            }
        }
    }

    /// Whether packets may overtake each other.
    pub(crate) fn reorders(&self) -> bool {
        matches!(self, Delay::Varying(VaryingDelay::Schedule(schedule)) if schedule.reorder)
    }
}

impl<'de> Deserialize<'de> for Delay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DelayVisitor)
    }
}

struct DelayVisitor;

impl<'de> de::Visitor<'de> for DelayVisitor {
    type Value = Delay;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a delay such as \"15ms\", or a table of kind `schedule`")
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Delay, E> {
        units::span(text).map(|delay| Delay::Constant(SpanText(delay))).map_err(E::custom)
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Delay, E> {
        self.visit_str(&number.to_string())
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Delay, E> {
        self.visit_str(&number.to_string())
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Delay, E> {
        self.visit_str(&number.to_string())
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Delay, A::Error> {
        VaryingDelay::deserialize(MapAccessDeserializer::new(map)).map(Delay::Varying)
    }
}

impl BlocksJitter {
    /// Blocks that are received at once, each requested when the one before it leaves.
    pub(crate) fn every(every: Span) -> BlocksJitter {
        let (every, zero) = (SpanText(every), none());
        BlocksJitter { every, request: None, pause: zero, retransmit: 0.0, round_trip: zero }
    }
}

impl Jitter {
    /// Whether packets may overtake each other.
    pub(crate) fn reorders(&self) -> bool {
        match self {
            Jitter::Uniform(jitter) => jitter.reorder,
            Jitter::Exponential(jitter) => jitter.reorder,
            Jitter::LogNormal(jitter) => jitter.reorder,
            Jitter::Netem(jitter) => jitter.reorder,
            Jitter::Schedule(jitter) => jitter.reorder,
            Jitter::Blocks(_) => false,
            #[cfg(not(target_arch = "wasm32"))]
            Jitter::Slots(_) => false,
        }
    }
}

fn one() -> u32 {
    1
}

#[cfg(not(target_arch = "wasm32"))]
fn uniform() -> NetemDistribution {
    NetemDistribution::Uniform
}

fn none() -> SpanText {
    SpanText(Span::ZERO)
}
