//! Expectations, as written: `[[expect]]`. No engine reads them; `sojourn test` decides them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, SeqAccess, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sojourn_aqm::{Rate, Span, units};

use super::algorithm::Scalar;

/// An expectation about a metric, which `sojourn test` decides over seeds. Runs do not depend on
/// it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The metric of table `summary`, such as `delay_p95`.
    pub metric: String,
    /// Names of links (or leaf classes, LINK.CLASS) for a metric of queues, of traffic classes for
    /// a metric of classes. It may be left out if there is only one.
    #[serde(default, skip_serializing_if = "Names::is_empty")]
    #[schemars(extend("default" = []))]
    pub of: Names,
    /// The value is below this: `20ms`, `5%`, `0.3`. With `against`, a fraction of the reference's
    /// value: `90%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<Bound>,
    /// The value is above this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<Bound>,
    /// The value is between these two: `["10ms", "20ms"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<[Bound; 2]>,
    /// The reference: another AQM under the same seeds (`pie`), another engine (`linux`), or
    /// `baseline`, the values that `sojourn test --update-baseline` stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// With `against`: the value differs from the reference's by less than this, either way: `5%`
    /// of it, or an amount in the metric's unit, such as `1ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equivalent: Option<Bound>,
    /// Probability with which the decision holds.
    #[serde(default = "confidence")]
    #[schemars(range(min = 0.5, max = 1))]
    pub confidence: f64,
    /// Still undecided after this many seeds, it is reported as such.
    #[serde(default = "max_seeds")]
    #[schemars(range(min = 1))]
    pub max_seeds: u32,
    /// What it holds for: AQMs (`"pie"`), or tables with `aqm`, `engine` and `set`. The default is
    /// the scenario as it is, in the simulator.
    #[serde(
        default,
        rename = "for",
        deserialize_with = "some_cases",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub cases: Vec<ExpectationCase>,
}

fn some_cases<'de, D: Deserializer<'de>>(given: D) -> Result<Vec<ExpectationCase>, D::Error> {
    let cases = Vec::deserialize(given)?;
    match cases.is_empty() {
        true => Err(de::Error::custom("is empty; name AQMs, or leave it out")),
        false => Ok(cases),
    }
}

impl Expectation {
    /// The reference that stands for stored values.
    pub const BASELINE: &'static str = "baseline";
    /// References that are engines: the same AQM there.
    pub const ENGINES: [&'static str; 3] = ["sim", "linux", "ns3"];

    /// Its bounds, by their keys.
    pub fn bounds(&self) -> impl Iterator<Item = (&'static str, Bound)> {
        let single =
            [("below", self.below), ("above", self.above), ("equivalent", self.equivalent)];
        let within = self.within.iter().flatten().map(|&bound| ("within", bound));
        single.into_iter().filter_map(|(key, bound)| Some((key, bound?))).chain(within)
    }
}

/// What an expectation holds for: an AQM, or a table.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ExpectationCase {
    /// The AQM, in its text form.
    Aqm(String),
    /// AQM, engine and changed keys.
    Table(ExpectationVariant),
}

/// A variant of the scenario that an expectation holds for.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectationVariant {
    /// The AQM, in its text form. The default is the scenario's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aqm: Option<String>,
    /// The engine: `sim` (the default), `linux` or `ns3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Dotted keys and values that override the scenario: `{ "flows.bulk.count" = 50 }`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, ScalarSchema>")]
    pub set: BTreeMap<String, Scalar>,
}

impl ExpectationCase {
    /// As a table.
    pub fn variant(&self) -> ExpectationVariant {
        match self {
            ExpectationCase::Aqm(aqm) => {
                ExpectationVariant { aqm: Some(aqm.clone()), ..ExpectationVariant::default() }
            }
            ExpectationCase::Table(variant) => variant.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for ExpectationCase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CaseVisitor)
    }
}

struct CaseVisitor;

impl<'de> de::Visitor<'de> for CaseVisitor {
    type Value = ExpectationCase;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an AQM such as \"pie\", or a table with `aqm`, `engine` or `set`")
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<ExpectationCase, E> {
        Ok(ExpectationCase::Aqm(text.to_owned()))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ExpectationCase, A::Error> {
        ExpectationVariant::deserialize(MapAccessDeserializer::new(map)).map(ExpectationCase::Table)
    }
}

/// Names: one text, or a list.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Names(
    /// The names.
    pub Vec<String>,
);

impl Names {
    /// Whether no name is given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NamesVisitor)
    }
}

struct NamesVisitor;

impl<'de> de::Visitor<'de> for NamesVisitor {
    type Value = Names;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name or a list of names")
    }
    fn visit_str<E: de::Error>(self, name: &str) -> Result<Names, E> {
        Ok(Names(vec![name.to_owned()]))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Names, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = items.next_element()? {
            names.push(name);
        }
        Ok(Names(names))
    }
}

impl JsonSchema for Names {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Names")
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = json_schema!({ "type": "array", "items": { "type": "string" } });
        json_schema!({ "anyOf": [{ "type": "string" }, names] })
    }
}

/// A value of a metric, or a fraction of another value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Bound {
    /// `0.3`, `12`
    Plain(f64),
    /// `5%`, stored as 5
    Percent(f64),
    /// `20ms`
    Time(Span),
    /// `10mbit`
    Rate(Rate),
    /// `150kB`
    Bytes(u64),
}

impl Bound {
    /// The number in seconds, bit/s, bytes, or as it is; a percentage as a fraction.
    pub fn size(self) -> f64 {
        match self {
            Bound::Plain(number) => number,
            Bound::Percent(number) => number / 100.0,
            Bound::Time(span) => span.as_secs(),
            Bound::Rate(rate) => rate.as_bps() as f64,
            Bound::Bytes(bytes) => bytes as f64,
        }
    }

    /// Whether two bounds have the same kind of value, so that they can be compared.
    pub fn is_like(self, other: Bound) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }

    /// The kind of value, in words.
    pub fn what(self) -> &'static str {
        match self {
            Bound::Plain(_) => "a plain number",
            Bound::Percent(_) => "a percentage",
            Bound::Time(_) => "a time",
            Bound::Rate(_) => "a rate",
            Bound::Bytes(_) => "a number of bytes",
        }
    }
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Bound, String> {
        let (number, unit) = units::split(text);
        let finite = || match number.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(format!("`{text}` is not a value of a metric; write one such as 20ms or 5%")),
        };
        match unit {
            "" => finite().map(Bound::Plain),
            "%" => finite().map(Bound::Percent),
            "ns" | "us" | "ms" | "s" => units::span(text).map(Bound::Time),
            "bit" | "kbit" | "mbit" | "gbit" => units::rate(text).map(Bound::Rate),
            "B" | "kB" | "MB" | "GB" | "KiB" | "MiB" | "GiB" => {
                units::bytes(text).map(Bound::Bytes)
            }
            _ => Err(format!(
                "`{unit}` is not a unit of a metric; write a value such as 20ms, 5mbit or 5%"
            )),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Plain(number) => number.fmt(f),
            Bound::Percent(number) => write!(f, "{number}%"),
            Bound::Time(span) => span.fmt(f),
            Bound::Rate(rate) => rate.fmt(f),
            Bound::Bytes(bytes) => f.write_str(&units::show_bytes(*bytes)),
        }
    }
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BoundVisitor)
    }
}

struct BoundVisitor;

impl de::Visitor<'_> for BoundVisitor {
    type Value = Bound;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value such as \"20ms\", \"5%\" or 0.3")
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Bound, E> {
        text.trim().parse().map_err(E::custom)
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Bound, E> {
        Ok(Bound::Plain(number as f64))
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Bound, E> {
        Ok(Bound::Plain(number as f64))
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Bound, E> {
        self.visit_str(&number.to_string())
    }
}

impl JsonSchema for Bound {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Bound")
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let text = json_schema!({ "type": "string", "examples": ["20ms"] });
        json_schema!({ "anyOf": [text, { "type": "number" }] })
    }
}

/// The schema of the value of an overridden key.
struct ScalarSchema;

impl JsonSchema for ScalarSchema {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Scalar")
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let text_number_or_bool =
            ["string", "number", "boolean"].map(|kind| json_schema!({ "type": kind }));
        json_schema!({ "anyOf": text_number_or_bool })
    }
}

fn confidence() -> f64 {
    0.95
}

fn max_seeds() -> u32 {
    40
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_a_number_with_or_without_a_unit() {
        let sizes =
            [("20ms", 0.02), ("5%", 0.05), ("9.5mbit", 9.5e6), ("2kB", 2e3), ("-0.5", -0.5)];
        for (text, size) in sizes {
            assert_eq!(text.parse().map(Bound::size), Ok(size), "{text}");
        }
        let error = |text: &str| text.parse::<Bound>().unwrap_err();
        assert!(error("5 furlongs").contains("is not a unit of a metric"));
        assert!(error("1-%").contains("value of a metric"));
    }

    #[test]
    fn what_is_read_is_written_as_the_same_value() {
        for text in ["20ms", "5%", "9.5mbit", "2kB", "0.3"] {
            let read: Bound = serde_json::from_value(text.into()).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), text);
        }
        let number: Bound = serde_json::from_str("3").unwrap();
        assert_eq!(number, Bound::Plain(3.0));
    }

    #[test]
    fn a_case_is_an_aqm_or_a_table() {
        let cases: Vec<ExpectationCase> =
            serde_json::from_str(r#"["pie", {"engine": "linux", "set": {"seed": 2}}]"#).unwrap();
        assert_eq!(cases[0].variant().aqm.as_deref(), Some("pie"));
        assert_eq!(cases[1].variant().set["seed"].to_string(), "2");
        let unknown = serde_json::from_str::<ExpectationCase>(r#"{"aqms": "pie"}"#).unwrap_err();
        assert!(unknown.to_string().contains("unknown field `aqms`"), "{unknown}");
    }
}
