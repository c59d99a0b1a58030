//! Overrides: a dotted key and a value that replace a value of the text, as given by `--set`.

use serde_json::{Map, Value};
use sojourn_aqm::registry;

use super::from_toml;
use crate::error::{ScenarioError, join};

/// Sets `key` (`links.bottleneck.rate`, `flows[0].count`, `flows.bulk.count`) to a TOML value. A
/// text may be written without quotes (`5mbit`). Returns the path that was set.
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

/// Parses a TOML value. Anything else, such as `5mbit`, is a text, unless it begins like a TOML
/// value.
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

/// The value of a key inside `here`; creates the table if it was left out.
fn enter<'v>(here: &'v mut Value, segment: &str, path: &str) -> Step<'v> {
    let (value, path) = slot(here, segment, path)?;
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    Ok((value, path))
}

/// The value of a key inside `here`; creates a missing one as null.
fn slot<'v>(here: &'v mut Value, segment: &str, path: &str) -> Step<'v> {
    match here {
        Value::Object(table) if path == "links" && !table.contains_key(segment) => {
            let known: Vec<&str> = table.keys().map(String::as_str).collect();
            Err(format!("unknown link `{segment}`{}", registry::hint(segment, &known)))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn root() -> Value {
        json!({
            "name": "demo",
            "links": { "a": { "rate": "1mbit" } },
            "flows": [{ "name": "x", "count": 1 }, { "count": 2 }],
            "empty": [],
        })
    }

    /// The result of an override: the tree, and the path that was set.
    fn set(key: &str, text: &str) -> Result<(Value, String), String> {
        let mut root = root();
        let path = apply(&mut root, key, text).map_err(|error| error.to_string())?;
        Ok((root, path))
    }

    #[track_caller]
    fn value_at(key: &str, text: &str, pointer: &str) -> Value {
        set(key, text).unwrap().0.pointer(pointer).unwrap().clone()
    }

    #[test]
    fn entries_of_a_list_have_an_index_and_may_have_a_name() {
        for key in ["flows[0].count", "flows.0.count", "flows.x.count", " flows [0] .count "] {
            let (root, path) = set(key, "7").unwrap();
            assert_eq!(path, "flows[0].count", "{key}");
            assert_eq!(root["flows"], json!([{ "name": "x", "count": 7 }, { "count": 2 }]));
        }
        assert_eq!(value_at("flows[1]", "{ count = 3 }", "/flows/1"), json!({ "count": 3 }));
    }

    #[test]
    fn an_entry_that_is_not_there_is_refused_with_the_range() {
        let error = |key| set(key, "1").unwrap_err();
        assert_eq!(
            error("flows[2].count"),
            "--set flows[2].count: `flows` has no entry `2`; places are 0 to 1; \
             did you mean `x`? Known: x"
        );
        assert!(error("flows.y.count").contains("no entry `y`"));
        assert!(error("empty[0]").contains("places are 0 to 0"));
    }

    #[test]
    fn tables_that_were_left_out_are_created_but_links_are_not() {
        let (root, path) = set("engine.linux.hz", "250").unwrap();
        assert_eq!(
            (root["engine"].clone(), path.as_str()),
            (json!({ "linux": { "hz": 250 } }), "engine.linux.hz")
        );
        assert!(set("links.b.rate", "1mbit").unwrap_err().contains("unknown link `b`"));
        assert!(set("links.b", "{}").unwrap_err().contains("unknown link `b`"));
        assert_eq!(value_at("links.a.delay", "3ms", "/links/a/delay"), json!("3ms"));
    }

    #[test]
    fn a_value_is_toml_and_otherwise_a_text() {
        let value = |text| value_at("name", text, "/name");
        assert_eq!(value("5mbit"), json!("5mbit"));
        assert_eq!(value(" 5 "), json!(5));
        assert_eq!(value("0.5"), json!(0.5));
        assert_eq!(value("true"), json!(true));
        assert_eq!(value("\"5\""), json!("5"));
        assert_eq!(value("'5'"), json!("5"));
        assert_eq!(value("[1, 2]"), json!([1, 2]));
        assert_eq!(value("pie:target=5ms"), json!("pie:target=5ms"));
        for broken in ["", "\"x", "'x", "[1", "{ a = "] {
            let error = set("name", broken).unwrap_err();
            assert!(error.contains("is not a TOML value"), "{broken}: {error}");
        }
    }

    #[test]
    fn a_value_that_has_no_keys_is_described() {
        let kinds = [("name.x", "a text"), ("flows[0].count.x", "a number")];
        for (key, what) in kinds {
            assert!(set(key, "1").unwrap_err().contains(&format!("is {what}, not a table")));
        }
        let described = [json!(null), json!(true), json!(1), json!("a"), json!([]), json!({})];
        let words = ["nothing", "true or false", "a number", "a text", "a list", "a table"];
        assert_eq!(described.each_ref().map(describe), words);
    }

    #[test]
    fn a_key_has_no_empty_part() {
        for key in ["", ".", "a..b", "a.", "flows[].count"] {
            assert!(set(key, "1").unwrap_err().contains("not a dotted key"), "{key}");
        }
    }
}
