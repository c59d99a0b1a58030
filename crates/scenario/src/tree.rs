//! From text to a tree of values that remembers its lines.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::ScenarioError;
use crate::strict::Strict;

/// Where things stand in the text a scenario was read from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    origin: String,
    lines: BTreeMap<String, usize>,
    /// Keys that an override has set.
    pub(crate) overridden: BTreeSet<String>,
}

impl Places {
    pub(crate) fn new(origin: &str) -> Places {
        Places { origin: origin.to_owned(), ..Places::default() }
    }

    /// Adds the line to a dotted path: `demo.toml:12: links.bottleneck.rate`.
    pub(crate) fn locate(&self, path: &str) -> String {
        for part in ancestors(path) {
            if self.overridden.contains(part) {
                return format!("--set {path}");
            }
            if let Some(line) = self.lines.get(part) {
                return format!("{}: {path}", self.line(*line));
            }
        }
        match (self.origin.as_str(), path) {
            ("", path) => path.to_owned(),
            (origin, "") => origin.to_owned(),
            (origin, path) => format!("{origin}: {path}"),
        }
    }

    fn line(&self, line: usize) -> String {
        match self.origin.as_str() {
            "" => format!("line {line}"),
            origin => format!("{origin}:{line}"),
        }
    }
}

/// The path itself, then what contains it: `a.b[0]`, `a.b`, `a`.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices(['.', '[']).map(|(end, _)| end).collect::<Vec<_>>();
    std::iter::once(path).chain(ends.into_iter().rev().map(|end| &path[..end]))
}

/// The path of a key inside a table.
pub(crate) fn join(parent: &str, key: &str) -> String {
    if parent.is_empty() { key.to_owned() } else { format!("{parent}.{key}") }
}

/// Reads TOML.
pub(crate) fn from_toml(text: &str, origin: &str) -> Result<(Value, Places), ScenarioError> {
    let mut reader = Reader { text, places: Places::new(origin) };
    let table = DeTable::parse(text).map_err(|error| {
        let line = reader.line_of(error.span().map_or(0, |span| span.start));
        ScenarioError::new(reader.places.line(line), format!("not TOML: {}", error.message()))
    })?;
    let root = reader.table(table.get_ref(), "")?;
    Ok((root, reader.places))
}

/// Reads JSON.
pub(crate) fn from_json(text: &str, origin: &str) -> Result<(Value, Places), ScenarioError> {
    let places = Places::new(origin);
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut reader);
    let Strict(root) =
        read.map_err(|error| refused_json(&error.path().to_string(), error.inner(), &places))?;
    reader.end().map_err(|error| refused_json("", &error, &places))?;
    Ok((root, places))
}

fn refused_json(path: &str, error: &serde_json::Error, places: &Places) -> ScenarioError {
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or_default();
    let line = places.line(error.line());
    match error.is_data() {
        true if path == "." => ScenarioError::new(line, message),
        true => ScenarioError::new(format!("{line}: {path}"), message),
        false => ScenarioError::new(line, format!("not JSON: {message}")),
    }
}

/// Reads one TOML value, such as an override gives.
pub(crate) fn toml_value(text: &str) -> Result<Value, String> {
    let value = DeValue::parse(text).map_err(|error| error.message().to_owned())?;
    let mut reader = Reader { text, places: Places::default() };
    reader.value(value.get_ref(), "").map_err(|error| error.message)
}

/// Puts the `kind` of every table first, where the visitors of tagged enums look for it.
pub(crate) fn put_kinds_first(value: &mut Value) {
    match value {
        Value::Object(table) => {
            if let Some(kind) = table.shift_remove("kind") {
                table.shift_insert(0, "kind".to_owned(), kind);
            }
            table.values_mut().for_each(put_kinds_first);
        }
        Value::Array(items) => items.iter_mut().for_each(put_kinds_first),
        _ => {}
    }
}

/// Turns TOML into values, noting the line of every key.
struct Reader<'t> {
    text: &'t str,
    places: Places,
}

impl Reader<'_> {
    fn line_of(&self, offset: usize) -> usize {
        1 + self.text.as_bytes()[..offset.min(self.text.len())]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count()
    }

    fn table(&mut self, table: &DeTable, path: &str) -> Result<Value, ScenarioError> {
        let mut values = Map::new();
        for (key, value) in table {
            let path = join(path, key.get_ref());
            self.places.lines.insert(path.clone(), self.line_of(key.span().start));
            values.insert(key.get_ref().to_string(), self.value(value.get_ref(), &path)?);
        }
        Ok(Value::Object(values))
    }

    fn array(&mut self, items: &[Spanned<DeValue>], path: &str) -> Result<Value, ScenarioError> {
        let mut values = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = format!("{path}[{index}]");
            self.places.lines.insert(path.clone(), self.line_of(item.span().start));
            values.push(self.value(item.get_ref(), &path)?);
        }
        Ok(Value::Array(values))
    }

    fn value(&mut self, value: &DeValue, path: &str) -> Result<Value, ScenarioError> {
        let refuse = |what: &str| Err(ScenarioError::new(self.places.locate(path), what));
        match value {
            DeValue::String(text) => Ok(Value::String(text.to_string())),
            DeValue::Boolean(flag) => Ok(Value::Bool(*flag)),
            DeValue::Table(table) => self.table(table, path),
            DeValue::Array(items) => self.array(items, path),
            DeValue::Datetime(_) => refuse("a date is no value here; write a text such as \"10s\""),
            DeValue::Integer(integer) => {
                match i128::from_str_radix(integer.as_str(), integer.radix()).map(number) {
                    Ok(Some(number)) => Ok(Value::Number(number)),
                    _ => refuse("the number does not fit into 64 bits"),
                }
            }
            DeValue::Float(float) => match float.as_str().parse().ok().and_then(Number::from_f64) {
                Some(number) => Ok(Value::Number(number)),
                None => refuse("the number must be finite"),
            },
        }
    }
}

fn number(integer: i128) -> Option<Number> {
    let unsigned = u64::try_from(integer).ok().map(Number::from);
    unsigned.or_else(|| i64::try_from(integer).ok().map(Number::from))
}
