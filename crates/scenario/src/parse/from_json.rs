//! Converts JSON to a tree of values. Repeated keys and `null`, which other parsers accept, are
//! refused.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::locations::Locations;
use crate::error::ScenarioError;

/// Parses a JSON document.
pub(super) fn parse<'a>(
    text: &str,
    origin: &'a str,
) -> Result<(Value, Locations<'a>), ScenarioError> {
    let locations = Locations::new(origin, "");
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut reader);
    let Strict(root) =
        read.map_err(|error| json_error(&error.path().to_string(), error.inner(), &locations))?;
    reader.end().map_err(|error| json_error("", &error, &locations))?;
    Ok((root, locations))
}

fn json_error(path: &str, error: &serde_json::Error, locations: &Locations<'_>) -> ScenarioError {
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or_default();
    let line = locations.line(error.line());
    match error.is_data() {
        true if path == "." => ScenarioError::new(line, message),
        true => ScenarioError::new(format!("{line}: {path}"), message),
        false => ScenarioError::new(line, format!("not JSON: {message}")),
    }
}

/// A value without repeated keys and without `null`.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::from(number))
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::from(number))
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Number::from_f64(number).map(Value::Number).ok_or(E::custom("the number must be finite"))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }
    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Err(E::custom("`null` is not a value; leave the key out for its default"))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Strict(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if values.contains_key(&key) {
                return Err(de::Error::custom(format!("`{key}` is set twice; remove one of them")));
            }
            let Strict(value) = entries.next_value()?;
            values.insert(key, value);
        }
        Ok(Value::Object(values))
    }
}
