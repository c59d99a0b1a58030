//! Jitter and random loss on the wire behind a link, as written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantities::SpanText;
use super::tagged::tagged;

/// Extra delay of each packet on a wire, a table of kind `uniform`, `exponential` or `lognormal`.
/// Draws are independent.
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

/// Random loss on a wire, a table of kind `bernoulli` or `gilbert-elliott`.
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

tagged!(Jitter, "a table with `kind`: uniform, exponential or lognormal", {
    "uniform" => Uniform(UniformJitter),
    "exponential" => Exponential(ExponentialJitter),
    "lognormal" => LogNormal(LogNormalJitter)
});

tagged!(Loss, "a table with `kind`: bernoulli or gilbert-elliott", {
    "bernoulli" => Bernoulli(BernoulliLoss),
    "gilbert-elliott" => GilbertElliott(GilbertElliottLoss)
});

impl Jitter {
    /// Whether packets may overtake each other.
    pub(crate) fn reorders(&self) -> bool {
        match self {
            Jitter::Uniform(jitter) => jitter.reorder,
            Jitter::Exponential(jitter) => jitter.reorder,
            Jitter::LogNormal(jitter) => jitter.reorder,
        }
    }
}

fn always() -> f64 {
    1.0
}
