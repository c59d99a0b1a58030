//! Delay, jitter and random loss on the wire behind a link, and copies of packets, as written.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess};
use serde::{Deserialize, Deserializer, Serialize};
use sojourn_aqm::{Span, units};

use super::quantities::SpanText;
use super::tagged::tagged;

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
/// `schedule` or `blocks`. Draws are independent.
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
    /// Uniform between zero and a maximum that changes at given times.
    #[schemars(title = "JitterSchedule")]
    Schedule(JitterSchedule),
    /// Packets leave in blocks, in order, as on a medium that a scheduler grants.
    #[schemars(title = "BlocksJitter")]
    Blocks(BlocksJitter),
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

/// Random loss on a wire, a table of kind `bernoulli`, `gilbert-elliott`, `four-state` or
/// `schedule`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Loss {
    /// Each packet is lost with the same probability, independently of the others.
    #[schemars(title = "BernoulliLoss")]
    Bernoulli(BernoulliLoss),
    /// Loss in bursts: the wire alternates between a good and a bad state, changing at packets
    /// (Gilbert 1960, Elliott 1963).
    #[schemars(title = "GilbertElliottLoss")]
    GilbertElliott(GilbertElliottLoss),
    /// Loss in bursts and alone: `loss state` of netem (Linux `sch_netem.c`, `loss_4state`).
    #[schemars(title = "FourStateLoss")]
    FourState(FourStateLoss),
    /// Each packet is lost with a probability that changes at given times.
    #[schemars(title = "LossSchedule")]
    Schedule(LossSchedule),
}

/// Each packet is lost with the same probability, independently of the others.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BernoulliLoss {
    /// Probability of loss.
    #[schemars(range(min = 0, max = 1))]
    pub rate: f64,
}

/// Loss in bursts: the wire alternates between a good and a bad state, changing at packets (Gilbert
/// 1960, Elliott 1963).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottLoss {
    /// Probability that the state changes from good to bad at a packet.
    #[schemars(range(min = 0, max = 1))]
    pub enter: f64,
    /// Probability that the state changes from bad to good at a packet.
    #[schemars(range(min = 0, max = 1))]
    pub leave: f64,
    /// Probability of loss in the bad state.
    #[serde(default = "always")]
    #[schemars(range(min = 0, max = 1))]
    pub bad: f64,
    /// Probability of loss in the good state.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub good: f64,
}

/// Loss in bursts and alone: `loss state` of netem (Linux `sch_netem.c`, `loss_4state`). Packets
/// arrive in states 1 and 2 and are lost in states 3 and 4. State 1 follows state 4.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FourStateLoss {
    /// Probability that a burst of losses (state 3) follows state 1.
    #[schemars(range(min = 0, max = 1))]
    pub p13: f64,
    /// Probability that state 1 follows state 3. The default is `1 - p13`, as in tc.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub p31: Option<f64>,
    /// Probability that packets arriving within a burst (state 2) follow state 3.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub p32: f64,
    /// Probability that state 3 follows state 2.
    #[serde(default = "always")]
    #[schemars(range(min = 0, max = 1))]
    pub p23: f64,
    /// Probability that an isolated loss (state 4) follows state 1.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub p14: f64,
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

/// Each packet is lost with a probability that changes at given times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossSchedule {
    /// Pairs of time and probability: `[["0s", 0.001], ["27s", 0.01]]`. The first time is `0s`, and
    /// times increase.
    #[schemars(length(min = 1))]
    pub steps: Vec<(SpanText, f64)>,
}

tagged!(VaryingDelay, "a time, or a table of kind `schedule`", {
    "schedule" => Schedule(DelaySchedule)
});

tagged!(Jitter, "a table with `kind`: uniform, exponential, lognormal, schedule or blocks", {
    "uniform" => Uniform(UniformJitter),
    "exponential" => Exponential(ExponentialJitter),
    "lognormal" => LogNormal(LogNormalJitter),
    "schedule" => Schedule(JitterSchedule),
    "blocks" => Blocks(BlocksJitter)
});

tagged!(Loss, "a table with `kind`: bernoulli, gilbert-elliott, four-state or schedule", {
    "bernoulli" => Bernoulli(BernoulliLoss),
    "gilbert-elliott" => GilbertElliott(GilbertElliottLoss),
    "four-state" => FourState(FourStateLoss),
    "schedule" => Schedule(LossSchedule)
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
            Jitter::Schedule(jitter) => jitter.reorder,
            Jitter::Blocks(_) => false,
        }
    }
}

fn always() -> f64 {
    1.0
}

fn none() -> SpanText {
    SpanText(Span::ZERO)
}
