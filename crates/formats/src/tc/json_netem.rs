//! The options of netem in the output of `tc -j`, as the words that tc prints as text: times in
//! seconds, shares from 0 to 1, rates in bytes per second (iproute2 6.1 tc/q_netem.c).

use serde_json::{Map, Value};

type Part = Map<String, Value>;

/// The words of netem.
pub(super) fn words(given: &Part) -> Vec<String> {
    let mut all = Vec::new();
    for (key, value) in given {
        match (key.as_str(), value) {
            ("delay", Value::Object(parts)) => {
                let delay = nanos(parts, "delay").unwrap_or("0".to_owned());
                all.extend(["delay".to_owned(), delay]);
                all.extend(nanos(parts, "jitter"));
                all.extend(nanos(parts, "jitter").and_then(|_| share(parts, "correlation")));
            }
            ("loss-random", Value::Object(parts)) => {
                all.push("loss".to_owned());
                all.extend(share(parts, "loss"));
                all.extend(share(parts, "correlation"));
            }
            ("loss-gemodel" | "loss-state", Value::Object(parts)) => {
                let model = key.trim_start_matches("loss-");
                all.extend(["loss".to_owned(), model.to_owned()]);
                for name in ["p13", "p31", "p32", "p23", "p14", "p", "r", "1-h", "1-k"] {
                    if parts.contains_key(name) {
                        let share = share(parts, name).unwrap_or("0%".to_owned());
                        all.extend([name.to_owned(), share]);
                    }
                }
            }
            ("corrupt" | "duplicate" | "reorder", Value::Object(parts)) => {
                all.push(key.clone());
                all.extend(share(parts, key));
                all.extend(share(parts, "correlation"));
            }
            ("rate", Value::Object(parts)) => {
                let bytes = parts.get("rate").and_then(Value::as_f64).unwrap_or(0.0);
                all.extend(["rate".to_owned(), format!("{}bit", bytes * 8.0)]);
                for name in ["packetoverhead", "cellsize", "celloverhead"] {
                    let number = parts.get(name).and_then(Value::as_i64).filter(|it| *it != 0);
                    let words = number.map(|it| [name.to_owned(), it.to_string()]);
                    all.extend(words.into_iter().flatten());
                }
            }
            ("slot", _) => all.push("slot".to_owned()),
            ("gap", Value::Number(number)) if number.as_u64() == Some(0) => {}
            (_, Value::Bool(false) | Value::Object(_)) => {}
            (_, Value::Bool(true) | Value::Null) => all.push(key.clone()),
            (_, value) => all.extend([key.clone(), value.to_string()]),
        }
    }
    all
}

/// A share as a percentage; none if it is zero.
fn share(parts: &Part, name: &str) -> Option<String> {
    let share = parts.get(name).and_then(Value::as_f64).filter(|it| *it > 0.0)?;
    Some(format!("{}%", share * 100.0))
}

fn nanos(parts: &Part, name: &str) -> Option<String> {
    let seconds = parts.get(name).and_then(Value::as_f64).filter(|it| *it > 0.0)?;
    Some(format!("{}ns", (seconds * 1e9).round()))
}
