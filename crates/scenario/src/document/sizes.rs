//! Sizes of files, frames and objects, as written: a list to draw from, or a distribution.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, MapAccess, SeqAccess, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};

use super::quantities::SizeText;
use super::tagged::tagged;

/// Sizes: a list such as `["15kB", "44kB"]`, with equal probabilities, or a distribution.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Sizes {
    /// A list of sizes with equal probabilities.
    List(#[schemars(length(min = 1))] Vec<SizeText>),
    /// Drawn from a distribution.
    Drawn(Drawn),
}

/// A distribution of sizes. A draw outside the limits is repeated.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Drawn {
    /// Uniform between the two limits.
    #[schemars(title = "UniformSizes")]
    Uniform(UniformSizes),
    /// Exponentially distributed.
    #[schemars(title = "ExponentialSizes")]
    Exponential(ExponentialSizes),
    /// Log-normally distributed, like the objects of web pages.
    #[schemars(title = "LogNormalSizes")]
    LogNormal(LogNormalSizes),
    /// Pareto distributed: a few sizes make up most of the bytes.
    #[schemars(title = "ParetoSizes")]
    Pareto(ParetoSizes),
}

/// Uniform between the two limits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformSizes {
    /// The smallest size.
    pub min: SizeText,
    /// The largest size.
    pub max: SizeText,
}

/// Exponentially distributed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialSizes {
    /// Mean before the limits are applied.
    pub mean: SizeText,
    /// The smallest size.
    #[serde(default = "one_byte")]
    pub min: SizeText,
    /// The largest size.
    pub max: SizeText,
}

/// Log-normally distributed, like the objects of web pages.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogNormalSizes {
    /// Mean before the limits are applied.
    pub mean: SizeText,
    /// Standard deviation before the limits are applied.
    pub deviation: SizeText,
    /// The smallest size.
    #[serde(default = "one_byte")]
    pub min: SizeText,
    /// The largest size.
    pub max: SizeText,
}

/// Pareto distributed: a few sizes make up most of the bytes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParetoSizes {
    /// Shape, positive; below 2 the distribution is heavy-tailed.
    pub shape: f64,
    /// The smallest size.
    pub min: SizeText,
    /// The largest size.
    pub max: SizeText,
}

tagged!(Drawn, "a list of sizes, or a table with `kind`: uniform, exponential, lognormal or \
                pareto", {
    "uniform" => Uniform(UniformSizes),
    "exponential" => Exponential(ExponentialSizes),
    "lognormal" => LogNormal(LogNormalSizes),
    "pareto" => Pareto(ParetoSizes)
});

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SizesVisitor)
    }
}

struct SizesVisitor;

impl<'de> de::Visitor<'de> for SizesVisitor {
    type Value = Sizes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of sizes such as [\"15kB\"], or a table with `kind`")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Sizes, A::Error> {
        let mut sizes = Vec::new();
        while let Some(size) = items.next_element()? {
            sizes.push(size);
        }
        Ok(Sizes::List(sizes))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Sizes, A::Error> {
        Drawn::deserialize(MapAccessDeserializer::new(map)).map(Sizes::Drawn)
    }
}

fn one_byte() -> SizeText {
    SizeText(1)
}
