//! What a path does to packets beside queueing them: token buckets, devices, jitter, loss, access links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::choice::tagged;
use crate::text::{RateText, SizeText, SpanText};

/// A token bucket in front of a faster line, as `tbf` and `htb` shape.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bucket {
    /// Rate at which tokens arrive: the long-run rate of the link.
    pub rate: RateText,
    /// Depth of the bucket: so much may leave at the rate of the line after a pause. It is full at
    /// the start.
    pub burst: SizeText,
    /// Rate of the line behind the bucket, not less than `rate`.
    pub line: RateText,
    /// When a packet may leave: as soon as the bucket holds its bytes (`false`, as `tbf` does), or as
    /// soon as the bucket is not in debt, which it may leave behind (`true`, as a class of `htb` does).
    #[serde(default)]
    pub overdraft: bool,
}

/// What waits below the queue, out of its sight: the ring of a network device.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// A packet is handed down while no more than this is in the device, the packet being sent
    /// included: the rule of Linux's byte queue limits. With `1514B` two frames of 1514 B fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<SizeText>,
    /// In place of `bytes`: a packet is handed down while fewer than these are in the device, the
    /// packet being sent included: the rule of a ring of descriptors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub packets: Option<u32>,
    /// Bytes that the line adds to every packet beyond the `framing` that the queue counts. With
    /// `framing = "14B"`, `24B` make the 38 B that Ethernet occupies.
    #[serde(default = "no_bytes")]
    pub overhead: SizeText,
}

/// Extra delay of each packet on a wire, a table of kind `uniform`, `exponential` or `lognormal`. Draws
/// are independent.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Jitter {
    /// Between nothing and `max`, every value as likely as the others.
    #[schemars(title = "UniformJitter")]
    Uniform(UniformJitter),
    /// Exponentially distributed.
    #[schemars(title = "ExponentialJitter")]
    Exponential(ExponentialJitter),
    /// Log-normally distributed: mostly small, now and then large.
    #[schemars(title = "LogNormalJitter")]
    LogNormal(LogNormalJitter),
}

/// Between nothing and `max`, every value as likely as the others.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformJitter {
    /// The largest extra delay.
    pub max: SpanText,
    /// Whether packets may overtake each other. Otherwise a packet waits for the one before it.
    #[serde(default)]
    pub reorder: bool,
}

/// Exponentially distributed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialJitter {
    /// Mean extra delay.
    pub mean: SpanText,
    /// Whether packets may overtake each other. Otherwise a packet waits for the one before it.
    #[serde(default)]
    pub reorder: bool,
}

/// Log-normally distributed: mostly small, now and then large.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogNormalJitter {
    /// Mean extra delay.
    pub mean: SpanText,
    /// Standard deviation of the extra delay.
    pub deviation: SpanText,
    /// Whether packets may overtake each other. Otherwise a packet waits for the one before it.
    #[serde(default)]
    pub reorder: bool,
}

/// Random loss on a wire, a table of kind `bernoulli` or `gilbert-elliott`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Loss {
    /// Each packet is lost with the same probability, whatever happened to others.
    #[schemars(title = "BernoulliLoss")]
    Bernoulli(BernoulliLoss),
    /// Loss in bursts: the wire changes between a good and a bad state, packet by packet (Gilbert
    /// 1960, Elliott 1963).
    #[schemars(title = "GilbertElliottLoss")]
    GilbertElliott(GilbertElliottLoss),
}

/// Each packet is lost with the same probability, whatever happened to others.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BernoulliLoss {
    /// Probability of loss.
    #[schemars(range(min = 0, max = 1))]
    pub rate: f64,
}

/// Loss in bursts: the wire changes between a good and a bad state, packet by packet (Gilbert 1960,
/// Elliott 1963).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottLoss {
    /// Probability, at each packet, to change from the good to the bad state.
    #[schemars(range(min = 0, max = 1))]
    pub enter: f64,
    /// Probability, at each packet, to change from the bad to the good state.
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

/// The access links of a group of flows: what lies between a sender and the first link of its path,
/// and between the last one and the receiver.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// One-way propagation delay on the sender's side.
    #[serde(default = "no_time")]
    pub sender: SpanText,
    /// One-way propagation delay on the receiver's side.
    #[serde(default = "no_time")]
    pub receiver: SpanText,
    /// Propagation delay on the sender's side on the way back, if not that of the way there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_back: Option<SpanText>,
    /// Propagation delay on the receiver's side on the way back, if not that of the way there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_back: Option<SpanText>,
    /// Rate of the links on the sender's side. Each sender has its uplink to itself, the way back is
    /// shared by the group. Without it, what senders send takes time at `access_rate`, and what they
    /// receive takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_rate: Option<RateText>,
    /// Rate of the link on the receiver's side, in both directions; the group shares it. Without it
    /// nothing takes time there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_rate: Option<RateText>,
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

fn no_bytes() -> SizeText {
    SizeText(0)
}

fn no_time() -> SpanText {
    SpanText(sojourn_aqm::Span::ZERO)
}

fn always() -> f64 {
    1.0
}
