//! Rewords serde's errors: place, problem, and remedy.

use serde::de::DeserializeOwned;
use serde_json::Value;
use sojourn_aqm::registry;

use super::locations::Locations;
use crate::error::{ScenarioError, join};

/// Deserializes a value from a tree.
pub(super) fn deserialize<T: DeserializeOwned>(
    tree: Value,
    locations: &Locations<'_>,
) -> Result<T, ScenarioError> {
    serde_path_to_error::deserialize(tree).map_err(|error| {
        let path = match error.path().to_string() {
            path if path == "." => String::new(),
            path => path,
        };
        let (path, message) = reword(&path, &error.inner().to_string());
        ScenarioError::new(locations.locate(&path), message)
    })
}

/// The path and the message, reworded.
fn reword(path: &str, message: &str) -> (String, String) {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = ["field", "variant", "kind"]
        .into_iter()
        .find(|what| message.strip_prefix("unknown ").is_some_and(|rest| rest.starts_with(what)));
    if let Some(what) = unknown {
        let typed = quoted.next().unwrap_or_default();
        let known: Vec<&str> = quoted.collect();
        let hint = registry::hint(typed, &known);
        return match what {
            "field" => (with_key(path, typed), format!("unknown key `{typed}`{hint}")),
            "kind" => (join(path, "kind"), format!("unknown kind `{typed}`{hint}")),
            // For an enum of plain texts, the value itself is wrong.
            _ => (path.to_owned(), format!("unknown value `{typed}`{hint}")),
        };
    }
    if let (true, Some(key)) = (message.starts_with("missing field"), quoted.next()) {
        let example = example(path, key);
        return (join(path, key), format!("this key is missing; write for example {example}"));
    }
    (path.to_owned(), in_plain_words(message))
}

/// The path of an unknown key. serde's path may already end in it.
fn with_key(path: &str, key: &str) -> String {
    match path == key || path.ends_with(&format!(".{key}")) {
        true => path.to_owned(),
        false => join(path, key),
    }
}

fn in_plain_words(message: &str) -> String {
    let plain = message.strip_prefix("invalid type: ").or(message.strip_prefix("invalid value: "));
    plain
        .unwrap_or(message)
        .replace("string ", "text ")
        .replace("a string", "a text")
        .replace("a sequence", "a list")
        .replace("a map", "a table")
        .replace("expected u32", "expected a whole number from 0 to 4294967295")
        .replace("expected u64", "expected a whole number from 0")
        .replace("expected f64", "expected a number")
        .replace("expected a boolean", "expected `true` or `false`")
        .replace("expected struct ", "expected a table ")
}

/// Keys of a link whose `rate` is a share of packets.
const SHARES: [&str; 4] = ["loss", "duplicate", "corrupt", "reorder"];

/// An example of a required key.
fn example(path: &str, key: &str) -> &'static str {
    match key {
        "kind" if path.ends_with("app") => "kind = \"bulk\"",
        "kind" if path.ends_with("rate") => "kind = \"schedule\"",
        "kind" if path.ends_with("cc") => "kind = \"cubic\"",
        "name" => "name = \"demo\"",
        "duration" => "duration = \"60s\"",
        "links" => "[links.bottleneck] with rate = \"10mbit\"",
        "flows" => "[[flows]] with path, rtt and app",
        "kind" if path.ends_with("topology") => "kind = \"star\"",
        "hops" => "hops = 3",
        "hosts" => "hosts = 16",
        "ports" => "ports = 4",
        "link" => "link = { rate = \"10mbit\" }",
        "kind" if path.ends_with("jitter") => "kind = \"uniform\"",
        "kind" if path.ends_with("loss") => "kind = \"bernoulli\"",
        "wlan" => "wlan = \"office\", with [wlans.office]",
        "kind" if path.ends_with("sizes") => "kind = \"lognormal\"",
        "kind" => "kind = \"taildrop\"",
        "rate" if SHARES.iter().any(|key| path.ends_with(key)) => "rate = 0.01",
        "p13" => "p13 = 0.01",
        "rate" => "rate = \"10mbit\"",
        "path" => "path = [\"bottleneck\"]",
        "rtt" => "rtt = \"100ms\"",
        "app" => "app = { kind = \"bulk\" }",
        "packet" => "packet = \"218B\"",
        "sizes" => "sizes = [\"15kB\", \"44kB\"]",
        "think" => "think = \"9.5s\"",
        "on" => "on = \"500ms\"",
        "off" => "off = \"500ms\"",
        "steps" if path.ends_with("jitter") || path.ends_with("delay") => {
            "steps = [[\"0s\", \"20ms\"], [\"15s\", \"35ms\"]]"
        }
        "steps" if path.ends_with("loss") => "steps = [[\"0s\", 0.001], [\"27s\", 0.01]]",
        "steps" => "steps = [[\"0s\", \"100mbit\"], [\"50s\", \"20mbit\"]]",
        "frames" => "frames = [\"20kB\", \"4kB\"]",
        "interval" => "interval = \"40ms\"",
        "metric" => "metric = \"delay_p95\"",
        "every" => "every = \"4s\"",
        "rates" => "rates = [\"500kbit\", \"2mbit\"]",
        "at" => "at = [\"1s\"]",
        "length" => "length = \"100ms\"",
        "burst" => "burst = \"5kB\"",
        "line" => "line = \"100mbit\"",
        "bytes" => "bytes = \"1514B\"",
        "max" if path.ends_with("jitter") => "max = \"5ms\"",
        "mean" if path.ends_with("jitter") => "mean = \"5ms\"",
        "deviation" if path.ends_with("jitter") => "deviation = \"5ms\"",
        "min" => "min = \"1kB\"",
        "max" => "max = \"1MB\"",
        "mean" => "mean = \"15kB\"",
        "deviation" => "deviation = \"44kB\"",
        "shape" => "shape = 1.2",
        "enter" => "enter = 0.01",
        "leave" => "leave = 0.2",
        "file" if path.ends_with("app") => "file = \"traffic.csv\"",
        "file" => "file = \"cellular.down\"",
        _ => "the key with a value",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::document::Document;

    /// The error of a document without the key at a JSON pointer.
    fn without(document: &Value, pointer: &str) -> String {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let mut document = document.clone();
        let table = document.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        assert!(table.remove(key).is_some(), "{pointer}");
        deserialize::<Document>(document, &Locations::default()).unwrap_err().to_string()
    }

    /// Pointers to all values inside a value.
    fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
        let below: Vec<(String, &Value)> = match value {
            Value::Object(table) => table.iter().map(|(k, v)| (format!("{at}/{k}"), v)).collect(),
            Value::Array(list) => {
                list.iter().enumerate().map(|(i, v)| (format!("{at}/{i}"), v)).collect()
            }
            _ => Vec::new(),
        };
        for (pointer, value) in below {
            pointers(value, &pointer, found);
            found.push(pointer);
        }
    }

    /// A document with every required key of every table.
    fn full() -> Value {
        let sizes = [
            json!({ "kind": "uniform", "min": "1B", "max": "2B" }),
            json!({ "kind": "exponential", "mean": "1B", "max": "2B" }),
            json!({ "kind": "lognormal", "mean": "1B", "deviation": "1B", "max": "2B" }),
            json!({ "kind": "pareto", "shape": 1.5, "min": "1B", "max": "2B" }),
        ];
        let files = sizes.map(|sizes| json!({ "kind": "files", "sizes": sizes, "think": "1s" }));
        let [rate, packet] = ["1mbit", "1kB"];
        let apps = [
            json!({ "kind": "cbr", "rate": rate, "packet": packet }),
            json!({ "kind": "onoff", "rate": rate, "packet": packet, "on": "1s", "off": "1s" }),
            json!({
                "kind": "bursts", "rate": rate, "packet": packet, "at": ["1s"], "length": "1s",
            }),
            json!({ "kind": "video", "frames": ["1kB"], "interval": "40ms" }),
            json!({ "kind": "chunks", "every": "4s", "rates": ["1mbit"] }),
            json!({ "kind": "replay", "file": "x.csv" }),
        ];
        let flow = |app| json!({ "path": ["a"], "app": app });
        let flows: Vec<Value> = files.into_iter().chain(apps).map(flow).collect();
        json!({
            "name": "x", "duration": "1s", "flows": flows,
            "topology": { "kind": "star", "hosts": 2, "link": {} },
            "links": {
                "a": {
                    "rate": { "kind": "schedule", "steps": [["0s", "1mbit"]] },
                    "jitter": { "kind": "uniform", "max": "1ms" },
                    "loss": { "kind": "bernoulli", "rate": 0.1 },
                },
                "b": {
                    "rate": { "kind": "bucket", "rate": rate, "burst": "1kB", "line": rate },
                    "jitter": { "kind": "exponential", "mean": "1ms" },
                    "loss": { "kind": "gilbert-elliott", "enter": 0.1, "leave": 0.1 },
                },
                "c": {
                    "rate": { "kind": "trace", "file": "x.down" },
                    "jitter": { "kind": "lognormal", "mean": "1ms", "deviation": "1ms" },
                    "loss": { "kind": "four-state", "p13": 0.1 },
                    "duplicate": { "rate": 0.1 },
                    "corrupt": { "rate": 0.1 }, "reorder": { "rate": 0.1 },
                },
                "d": { "rate": { "kind": "wireless", "wlan": "w" } },
            },
        })
    }

    #[test]
    fn a_required_key_has_an_example_of_itself() {
        let full = full();
        deserialize::<Document>(full.clone(), &Locations::default()).unwrap();
        let mut required = Vec::new();
        pointers(&full, "", &mut required);
        let is_required = |pointer: &&String| {
            let key = pointer.rsplit('/').next().unwrap();
            let optional = matches!(
                key,
                "topology"
                    | "jitter"
                    | "loss"
                    | "duplicate"
                    | "corrupt"
                    | "reorder"
                    | "a"
                    | "b"
                    | "c"
                    | "d"
            ) || (key == "min"
                && full.pointer(&pointer.replace("/min", "/mean")).is_some());
            !optional && key.parse::<usize>().is_err()
        };
        let mut checked = 0;
        for pointer in required.iter().filter(is_required) {
            let key = pointer.rsplit('/').next().unwrap();
            let error = without(&full, pointer);
            let (_, example) = error.split_once("this key is missing; write for example ").unwrap();
            let shown = example.split([' ', ']', '.']).next().unwrap().trim_start_matches('[');
            assert_eq!(shown, key, "{error}");
            checked += 1;
        }
        assert!(checked > 60, "{checked}");
    }

    #[test]
    fn examples_depend_on_the_table_around_the_key() {
        let all = full();
        let error = |pointer: &str| without(&all, pointer);
        assert!(error("/links/a/loss/rate").ends_with("rate = 0.01"));
        assert!(error("/links/a/rate").ends_with("rate = \"10mbit\""));
        assert!(error("/links/a/rate/kind").ends_with("kind = \"schedule\""));
        assert!(error("/links/a/jitter/kind").ends_with("kind = \"uniform\""));
        assert!(error("/links/a/loss/kind").ends_with("kind = \"bernoulli\""));
        assert!(error("/flows/0/app/kind").ends_with("kind = \"bulk\""));
        assert!(error("/flows/0/app/sizes/kind").ends_with("kind = \"lognormal\""));
        assert!(error("/links/c/rate/file").ends_with("file = \"cellular.down\""));
        assert!(error("/flows/9/app/file").ends_with("file = \"traffic.csv\""));
        assert!(error("/flows/0/app/sizes/max").ends_with("max = \"1MB\""));
        assert!(error("/links/a/jitter/max").ends_with("max = \"5ms\""));
    }

    #[test]
    fn an_error_at_the_top_has_the_key_as_its_path() {
        let error = deserialize::<Document>(json!({}), &Locations::default());
        assert_eq!(error.unwrap_err().place, "name");
        let error = deserialize::<Document>(json!({ "nam": 1 }), &Locations::default());
        assert_eq!(error.unwrap_err().place, "nam");
        let error = deserialize::<Document>(json!([]), &Locations::default());
        assert_eq!(error.unwrap_err().place, "");
    }
}
