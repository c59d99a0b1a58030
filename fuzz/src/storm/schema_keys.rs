//! Keys of the scenario, and words that stand for a value, from its schema: `Link.rate`,
//! `Varying(bucket).line`, `Cake.ack_filter=aggressive`. A key is prefixed with the type that it
//! belongs to, and with the `kind` of a table that has one.

use std::collections::BTreeSet;

use serde_json::Value;

/// All keys and words.
pub(super) fn all() -> BTreeSet<String> {
    let schema = Schema::new();
    let mut found = BTreeSet::new();
    schema.find("", &schema.root, None, &mut found);
    found
}

/// The schema of scenarios.
pub(super) struct Schema {
    root: Value,
}

impl Schema {
    pub(super) fn new() -> Schema {
        let root = sojourn_scenario::schema_json();
        Schema { root: serde_json::from_str(&root).expect("a schema is JSON") }
    }

    /// The keys and words in a scenario's document.
    #[cfg(test)]
    fn of(&self, document: &Value) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.find("", &self.root, Some(document), &mut found);
        found
    }

    /// The keys and words of `value`, or, without a value, all that the schema permits. `at` is the
    /// name of the type or the key that `schema` describes.
    fn find(&self, at: &str, schema: &Value, value: Option<&Value>, found: &mut BTreeSet<String>) {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().expect("a reference has a last part");
            return self.find(name, &self.root["$defs"][name], value, found);
        }
        for branches in ["anyOf", "oneOf"].iter().filter_map(|key| schema[key].as_array()) {
            for branch in branches.iter().filter(|one| value.is_none_or(|it| self.fits(one, it))) {
                self.find(at, branch, value, found);
            }
        }
        self.words(at, schema, value, found);
        let kind = schema["properties"]["kind"]["const"].as_str();
        let at = kind.map_or(at.to_owned(), |kind| format!("{at}({kind})"));
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            let below = value.map(|it| &it[key]);
            if below.is_none_or(|it| !it.is_null()) {
                let name = format!("{at}.{key}");
                found.insert(name.clone());
                self.find(&name, inner, below, found);
            }
        }
        self.entries(&at, schema, value, found);
    }

    /// The words that a key is limited to.
    fn words(&self, at: &str, schema: &Value, value: Option<&Value>, found: &mut BTreeSet<String>) {
        let listed = schema["enum"].as_array().into_iter().flatten();
        for word in listed.chain(schema.get("const")) {
            if value.is_none_or(|it| it == word) {
                let word = word.as_str().map_or_else(|| word.to_string(), str::to_owned);
                found.insert(format!("{at}={word}"));
            }
        }
    }

    /// The entries of a list, or of a table with free keys.
    fn entries(
        &self,
        at: &str,
        schema: &Value,
        value: Option<&Value>,
        found: &mut BTreeSet<String>,
    ) {
        let inner = |key: &str| schema.get(key).filter(|inner| inner.is_object());
        let Some(inner) = inner("items").or_else(|| inner("additionalProperties")) else { return };
        let entries: Vec<Option<&Value>> = match value {
            None => vec![None],
            Some(Value::Array(entries)) => entries.iter().map(Some).collect(),
            Some(Value::Object(entries)) => entries.values().map(Some).collect(),
            Some(_) => vec![],
        };
        entries.into_iter().for_each(|entry| self.find(at, inner, entry, found));
    }

    /// Whether a value is of the type, the kind or the word of a branch.
    fn fits(&self, branch: &Value, value: &Value) -> bool {
        if let Some(name) = branch["$ref"].as_str() {
            let name = name.rsplit('/').next().expect("a reference has a last part");
            return self.fits(&self.root["$defs"][name], value);
        }
        if let Some(word) = branch.get("const") {
            return word == value;
        }
        let kind = &branch["properties"]["kind"]["const"];
        match value {
            Value::Object(table) => {
                branch["type"] != "string" && (kind.is_null() || table.get("kind") == Some(kind))
            }
            Value::Array(_) => branch["type"] != "string" && branch["type"] != "object",
            _ => branch["type"] != "object" && branch["type"] != "array",
        }
    }
}

#[cfg(test)]
mod tests {
    use sojourn_scenario::aqms::{AqmInfo, class_name};

    use super::*;
    use crate::storm::Kind;

    const SCENARIOS: u64 = 1_000;

    /// Parameters of AQMs are omitted, because `Settings` draws them from the registry's own list.
    #[test]
    fn every_key_of_the_schema_is_drawn() {
        let schema = Schema::new();
        let mut drawn = BTreeSet::new();
        for number in 0..SCENARIOS {
            let document: Value = toml::from_str(&Kind::Scenarios.text(1, number)).expect("TOML");
            drawn.extend(schema.of(&document));
        }
        let mut missing = all();
        let aqms: Vec<String> =
            AqmInfo::all().iter().map(|aqm| format!("{}(", class_name(&aqm.name))).collect();
        missing.retain(|key| !drawn.contains(key) && !aqms.iter().any(|aqm| key.starts_with(aqm)));
        assert!(missing.is_empty(), "{missing:#?}");
    }
}
