//! Random loss on the wire behind a link, as written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantities::SpanText;
use super::tagged::tagged;

/// Random loss on a wire, a table of kind `bernoulli`, `gilbert-elliott`, `four-state` or
/// `schedule`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Loss {
    /// Each packet is lost with the same probability.
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

/// Each packet is lost with the same probability.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BernoulliLoss {
    /// Probability of loss.
    #[schemars(range(min = 0, max = 1))]
    pub rate: f64,
    /// Weight of the previous random draw in the next one. As in netem, such draws vary less: rates
    /// below 0.5 lose fewer packets (fact link-11).
    #[serde(default, skip_serializing_if = "is_nothing")]
    #[schemars(range(min = 0, max = 1))]
    pub correlation: f64,
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

/// Each packet is lost with a probability that changes at given times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossSchedule {
    /// Pairs of time and probability: `[["0s", 0.001], ["27s", 0.01]]`. The first time is `0s`, and
    /// times increase.
    #[schemars(length(min = 1))]
    pub steps: Vec<(SpanText, f64)>,
}

tagged!(Loss, "a table with `kind`: bernoulli, gilbert-elliott, four-state or schedule", {
    "bernoulli" => Bernoulli(BernoulliLoss),
    "gilbert-elliott" => GilbertElliott(GilbertElliottLoss),
    "four-state" => FourState(FourStateLoss),
    "schedule" => Schedule(LossSchedule)
});

fn always() -> f64 {
    1.0
}

/// Whether a share is left out.
pub(super) fn is_nothing(share: &f64) -> bool {
    *share == 0.0
}
