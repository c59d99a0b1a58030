//! Converts TOML to a tree of values.

use serde_json::{Map, Number, Value};
use toml::de::{DeTable, DeValue};

use super::lines::line_at;
use super::locations::Locations;
use crate::error::ScenarioError;

/// Parses a TOML document.
pub(super) fn parse<'a>(
    text: &'a str,
    origin: &'a str,
) -> Result<(Value, Locations<'a>), ScenarioError> {
    let locations = Locations::new(origin, text);
    let parsed = DeTable::parse(text).map_err(|error| {
        let line = line_at(text, error.span().map_or(0, |span| span.start));
        ScenarioError::new(locations.line(line), format!("not TOML: {}", error.message()))
    })?;
    let root = table(parsed.get_ref());
    let root = root.map_err(|flaw| ScenarioError::new(locations.locate(&flaw.path), flaw.what))?;
    Ok((root, locations))
}

/// Parses one TOML value, as in an override.
pub(super) fn parse_value(text: &str) -> Result<Value, String> {
    let parsed = DeValue::parse(text).map_err(|error| error.message().to_owned())?;
    value(parsed.get_ref()).map_err(|flaw| flaw.what.to_owned())
}

/// A value that the tree cannot represent: its path relative to the converted value, and the
/// reason.
struct Flaw {
    path: String,
    what: &'static str,
}

impl Flaw {
    /// The same flaw, seen from the enclosing table or list.
    fn within(self, part: &str) -> Flaw {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Flaw { path: format!("{part}{dot}{}", self.path), ..self }
    }
}

fn table(table: &DeTable) -> Result<Value, Flaw> {
    let mut values = Map::new();
    for (key, item) in table {
        let item = value(item.get_ref()).map_err(|flaw| flaw.within(key.get_ref()))?;
        values.insert(key.get_ref().to_string(), item);
    }
    Ok(Value::Object(values))
}

fn value(item: &DeValue) -> Result<Value, Flaw> {
    let refuse = |what: &'static str| Err(Flaw { path: String::new(), what });
    match item {
        DeValue::String(text) => Ok(Value::String(text.to_string())),
        DeValue::Boolean(flag) => Ok(Value::Bool(*flag)),
        DeValue::Table(items) => table(items),
        DeValue::Array(items) => {
            // A schedule may have a hundred thousand pairs: no spare capacity.
            let mut list = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                let item = value(item.get_ref());
                list.push(item.map_err(|flaw| flaw.within(&format!("[{index}]")))?);
            }
            Ok(Value::Array(list))
        }
        DeValue::Datetime(_) => refuse("a date is not a value here; write a text such as \"10s\""),
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

fn number(integer: i128) -> Option<Number> {
    let unsigned = u64::try_from(integer).ok().map(Number::from);
    unsigned.or_else(|| i64::try_from(integer).ok().map(Number::from))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_key_and_entry_has_its_line() {
        let text = "name = \"x\"\n\n[a]\nb = [1,\n 2]\n[[c]]\nd = 1\n[[c]]\nd = 2\n";
        let (root, locations) = parse(text, "").unwrap();
        assert_eq!(
            root,
            json!({ "name": "x", "a": { "b": [1, 2] }, "c": [{ "d": 1 }, { "d": 2 }] })
        );
        let paths = ["name", "a", "a.b", "a.b[0]", "a.b[1]", "c[0].d", "c[1]", "c[1].d"];
        let lines = paths.map(|path| locations.locate(path));
        let expected = [1, 3, 4, 4, 5, 7, 8, 9].iter().zip(paths);
        let expected: Vec<_> =
            expected.map(|(line, path)| format!("line {line}: {path}")).collect();
        assert_eq!(lines.as_slice(), expected);
    }

    #[test]
    fn numbers_fit_into_64_bits() {
        assert_eq!(parse_value("18446744073709551615").unwrap(), json!(u64::MAX));
        assert_eq!(parse_value("-9223372036854775808").unwrap(), json!(i64::MIN));
        assert_eq!(parse_value("0xff").unwrap(), json!(255));
        assert_eq!(parse_value("-1.5").unwrap(), json!(-1.5));
        for beyond in ["18446744073709551616", "-9223372036854775809"] {
            assert_eq!(parse_value(beyond).unwrap_err(), "the number does not fit into 64 bits");
        }
        assert_eq!(parse_value("inf").unwrap_err(), "the number must be finite");
        assert!(parse_value("2024-01-01").unwrap_err().contains("a date is not a value here"));
    }
}
