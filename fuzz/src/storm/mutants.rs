//! Legal scenarios with mistakes: in their text as people make them, or in their values.

use toml::Value;

use super::choice::Choice;
use super::pools;
use crate::words::Edited;

/// Shipped scenarios, shortened so that a million of them can be run.
const SHIPPED: &[&str] = &[
    include_str!("../../../python/sojourn/scenarios/dumbbell-cubic.toml"),
    include_str!("../../../python/sojourn/scenarios/traffic-mix.toml"),
    include_str!("../../../python/sojourn/scenarios/cellular-two-way.toml"),
    include_str!("../../../python/sojourn/scenarios/rate-steps.toml"),
    include_str!("../../../python/sojourn/scenarios/two-way.toml"),
    include_str!("../../../python/sojourn/scenarios/unresponsive.toml"),
    include_str!("../../../python/sojourn/scenarios/wlan.toml"),
    include_str!("../../../python/sojourn/scenarios/onoff.toml"),
    include_str!("../../../python/sojourn/scenarios/rfc7928/bursts.toml"),
];

/// The text of a mutant.
pub fn text(seed: u64, number: u64) -> String {
    let mut choice = Choice::of("mutants", seed, number);
    let mut document = shortened(SHIPPED[choice.below(SHIPPED.len())]);
    for _ in 0..choice.below(5) {
        change(&mut document, &mut choice);
    }
    let text = toml::to_string(&document).unwrap_or_default();
    if choice.chance(0.75) {
        return text;
    }
    let edited: Option<Edited> = choice.generated();
    edited.map_or(text.clone(), |edited| edited.of(&[&text]))
}

/// A scenario of a fifth of a second.
fn shortened(text: &str) -> toml::Table {
    let mut document: toml::Table = text.parse().expect("a shipped scenario is TOML");
    document.insert("duration".to_owned(), "200ms".into());
    document.insert("warmup".to_owned(), "50ms".into());
    if let Some(Value::Array(flows)) = document.get_mut("flows") {
        for group in flows.iter_mut().filter_map(Value::as_table_mut) {
            group.insert("start".to_owned(), "0s..50ms".into());
            group.remove("stop");
        }
    }
    document
}

/// One mistake in the values, anywhere.
fn change(document: &mut toml::Table, choice: &mut Choice) {
    let mut table = document;
    // Descend into a table, or stay.
    while choice.chance(0.85) {
        let keys: Vec<String> = table.keys().cloned().collect();
        let inner = |key: &String| matches!(table[key], Value::Table(_) | Value::Array(_));
        let inner: Vec<&String> = keys.iter().filter(|key| inner(key)).collect();
        if inner.is_empty() {
            break;
        }
        let key = inner[choice.below(inner.len())].clone();
        let below = match &mut table[&key] {
            Value::Table(below) => Some(below),
            Value::Array(list) if !list.is_empty() => {
                let place = choice.below(list.len());
                if choice.chance(0.1) {
                    let copy = list[place].clone();
                    list.push(copy);
                }
                list[place].as_table_mut()
            }
            _ => None,
        };
        // The borrow of `table` ends if nothing lies below.
        match below {
            Some(below) => table = below,
            None => return,
        }
    }
    change_here(table, choice);
}

fn change_here(table: &mut toml::Table, choice: &mut Choice) {
    let keys: Vec<String> = table.keys().cloned().collect();
    let known = pools::key(choice).to_owned();
    let own = if keys.is_empty() { known.clone() } else { keys[choice.below(keys.len())].clone() };
    match choice.below(10) {
        0 => drop(table.remove(&own)),
        1..=3 => drop(table.insert(known.clone(), pools::value(&known, choice))),
        _ => drop(table.insert(own.clone(), pools::value(&own, choice))),
    }
}
