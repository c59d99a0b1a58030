//! serde's errors in our words: where, what is wrong, and what would be right.

use serde::de::DeserializeOwned;
use serde_json::Value;
use sojourn_aqm::registry;

use super::locations::Locations;
use crate::error::{ScenarioError, join};

/// Deserializes a value from a tree.
pub(super) fn deserialize<T: DeserializeOwned>(
    tree: Value,
    locations: &Locations,
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

/// Keys whose values are enums of plain texts.
const ENUM_KEYS: [&str; 3] = [".arrivals", ".receiver_ecn", ".accecn_option"];

/// The path and the message, reworded.
fn reword(path: &str, message: &str) -> (String, String) {
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown field") || message.starts_with("unknown variant") {
        let typed = quoted.next().unwrap_or_default();
        let known: Vec<&str> = quoted.collect();
        let hint = registry::hint(typed, &known);
        return match message.starts_with("unknown field") {
            true => (with_key(path, typed), format!("there is no key `{typed}` here{hint}")),
            // An enum is the value itself; a table names its variant in `kind`.
            false if ENUM_KEYS.iter().any(|key| path.ends_with(key)) => {
                (path.to_owned(), format!("there is no `{typed}`{hint}"))
            }
            false => (join(path, "kind"), format!("there is no kind `{typed}`{hint}")),
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
        .replace("expected a boolean", "expected `true` or `false`")
        .replace("expected struct ", "expected a table ")
}

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
        "kind" if path.ends_with("jitter") => "kind = \"uniform\"",
        "kind" if path.ends_with("loss") => "kind = \"bernoulli\"",
        "wlan" => "wlan = \"office\", with [wlans.office]",
        "kind" if path.ends_with("sizes") => "kind = \"lognormal\"",
        "kind" => "kind = \"taildrop\"",
        "rate" if path.ends_with("loss") => "rate = 0.01",
        "rate" => "rate = \"10mbit\"",
        "path" => "path = [\"bottleneck\"]",
        "rtt" => "rtt = \"100ms\"",
        "app" => "app = { kind = \"bulk\" }",
        "packet" => "packet = \"218B\"",
        "sizes" => "sizes = [\"15kB\", \"44kB\"]",
        "think" => "think = \"9.5s\"",
        "on" => "on = \"500ms\"",
        "off" => "off = \"500ms\"",
        "steps" => "steps = [[\"0s\", \"100mbit\"], [\"50s\", \"20mbit\"]]",
        "frames" => "frames = [\"20kB\", \"4kB\"]",
        "interval" => "interval = \"40ms\"",
        "every" => "every = \"4s\"",
        "rates" => "rates = [\"500kbit\", \"2mbit\"]",
        "at" => "at = [\"1s\"]",
        "length" => "length = \"100ms\"",
        "burst" => "burst = \"5kB\"",
        "line" => "line = \"100mbit\"",
        "bytes" => "bytes = \"1514B\"",
        "max" => "max = \"5ms\"",
        "mean" => "mean = \"5ms\"",
        "deviation" => "deviation = \"5ms\"",
        "enter" => "enter = 0.01",
        "leave" => "leave = 0.2",
        "file" if path.ends_with("app") => "file = \"traffic.csv\"",
        "file" => "file = \"cellular.down\"",
        _ => "the key with a value",
    }
}
