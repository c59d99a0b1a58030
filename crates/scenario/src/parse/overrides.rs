//! Overrides: a dotted key and a value that replace what the text says, as given by `--set`.

use serde_json::{Map, Value};
use sojourn_aqm::registry;

use super::from_toml;
use crate::error::{ScenarioError, join};

/// Sets `key` (`links.bottleneck.rate`, `flows[0].count`, `flows.bulk.count`) to a TOML value. A
/// text may come without quotes (`5mbit`). Returns the path that was set.
pub(super) fn apply(root: &mut Value, key: &str, text: &str) -> Result<String, ScenarioError> {
    let refuse = |message: String| ScenarioError::new(format!("--set {key}"), message);
    let value = parse_value(text).map_err(refuse)?;
    let segments = segments(key).map_err(refuse)?;
    let (last, parents) = segments.split_last().expect("a key has at least one segment");
    let (mut here, mut path) = (root, String::new());
    for segment in parents {
        let step = enter(here, segment, &path).map_err(refuse)?;
        (here, path) = (step.0, step.1);
    }
    let (slot, path) = slot(here, last, &path).map_err(refuse)?;
    *slot = value;
    Ok(path)
}

/// A TOML value. What is none, such as `5mbit`, is a text, unless it begins like another value.
fn parse_value(text: &str) -> Result<Value, String> {
    let text = text.trim();
    match from_toml::parse_value(text) {
        Ok(value) => Ok(value),
        Err(why) if text.is_empty() || text.starts_with(['"', '\'', '[', '{']) => {
            Err(format!("`{text}` is not a TOML value: {why}"))
        }
        Err(_) => Ok(Value::String(text.to_owned())),
    }
}

/// `flows[0].count` and `flows.0.count` both become `flows`, `0`, `count`.
fn segments(key: &str) -> Result<Vec<String>, String> {
    let spread = key.trim().replace('[', ".").replace(']', "");
    let segments: Vec<String> = spread.split('.').map(|s| s.trim().to_owned()).collect();
    if segments.iter().any(String::is_empty) {
        return Err("not a dotted key; write for example links.bottleneck.rate=5mbit".to_owned());
    }
    Ok(segments)
}

type Step<'v> = Result<(&'v mut Value, String), String>;

/// The value of a key inside `here`; a table that was left out is created.
fn enter<'v>(here: &'v mut Value, segment: &str, path: &str) -> Step<'v> {
    let (value, path) = slot(here, segment, path)?;
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    Ok((value, path))
}

/// The value of a key inside `here`; a missing one is created as null.
fn slot<'v>(here: &'v mut Value, segment: &str, path: &str) -> Step<'v> {
    match here {
        Value::Object(table) if path == "links" && !table.contains_key(segment) => {
            let known: Vec<&str> = table.keys().map(String::as_str).collect();
            Err(format!("there is no link `{segment}`{}", registry::hint(segment, &known)))
        }
        Value::Object(table) => {
            let value = table.entry(segment.to_owned()).or_insert(Value::Null);
            Ok((value, join(path, segment)))
        }
        Value::Array(items) => item(items, segment, path),
        other => Err(format!(
            "`{path}` is {}, not a table; set it as a whole or write it as a table",
            describe(other)
        )),
    }
}

/// An entry of a list, by index or by name.
fn item<'v>(items: &'v mut [Value], segment: &str, path: &str) -> Step<'v> {
    let names: Vec<&str> = items.iter().filter_map(|item| item["name"].as_str()).collect();
    let index = match segment.parse::<usize>() {
        Ok(index) => Some(index).filter(|&index| index < items.len()),
        Err(_) => items.iter().position(|item| item["name"].as_str() == Some(segment)),
    };
    let Some(index) = index else {
        let hint = registry::hint(segment, &names);
        let last = items.len().saturating_sub(1);
        return Err(format!("`{path}` has no entry `{segment}`; places are 0 to {last}{hint}"));
    };
    Ok((&mut items[index], format!("{path}[{index}]")))
}

fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}
