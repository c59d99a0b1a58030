//! From TOML to a tree of values and the lines of its keys.

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::locations::Locations;
use crate::error::{ScenarioError, join};

/// Parses a TOML document.
pub(super) fn parse(text: &str, origin: &str) -> Result<(Value, Locations), ScenarioError> {
    let mut converter = Converter { starts: starts(text), locations: Locations::new(origin) };
    let table = DeTable::parse(text).map_err(|error| {
        let line = converter.line_of(error.span().map_or(0, |span| span.start));
        ScenarioError::new(converter.locations.line(line), format!("not TOML: {}", error.message()))
    })?;
    let root = converter.table(table.get_ref(), "")?;
    Ok((root, converter.locations))
}

/// Parses one TOML value, as in an override.
pub(super) fn parse_value(text: &str) -> Result<Value, String> {
    let value = DeValue::parse(text).map_err(|error| error.message().to_owned())?;
    let mut converter = Converter { starts: starts(text), locations: Locations::default() };
    converter.value(value.get_ref(), "", 1).map_err(|error| error.message)
}

/// Converts TOML to values and notes the line of every key.
struct Converter {
    /// The offsets at which the lines begin, the first one left out.
    starts: Vec<usize>,
    locations: Locations,
}

/// The offsets behind all line ends.
fn starts(text: &str) -> Vec<usize> {
    text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1).collect()
}

impl Converter {
    fn line_of(&self, offset: usize) -> usize {
        1 + self.starts.partition_point(|&start| start <= offset)
    }

    fn table(&mut self, table: &DeTable, path: &str) -> Result<Value, ScenarioError> {
        let mut values = Map::new();
        for (key, value) in table {
            let path = join(path, key.get_ref());
            let line = self.line_of(key.span().start);
            self.locations.set_line(&path, line);
            values.insert(key.get_ref().to_string(), self.value(value.get_ref(), &path, line)?);
        }
        Ok(Value::Object(values))
    }

    /// A list whose own line is known to be `line`.
    fn array(
        &mut self,
        items: &[Spanned<DeValue>],
        path: &str,
        line_of_list: usize,
    ) -> Result<Value, ScenarioError> {
        let mut values = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let line = self.line_of(item.span().start);
            let path = format!("{path}[{index}]");
            // An entry on the line of its list is found by the list's.
            if line != line_of_list {
                self.locations.set_line(&path, line);
            }
            values.push(self.value(item.get_ref(), &path, line)?);
        }
        Ok(Value::Array(values))
    }

    fn value(&mut self, value: &DeValue, path: &str, line: usize) -> Result<Value, ScenarioError> {
        let refuse = |what: &str| Err(ScenarioError::new(self.locations.locate(path), what));
        match value {
            DeValue::String(text) => Ok(Value::String(text.to_string())),
            DeValue::Boolean(flag) => Ok(Value::Bool(*flag)),
            DeValue::Table(table) => self.table(table, path),
            DeValue::Array(items) => self.array(items, path, line),
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
        assert!(parse_value("2024-01-01").unwrap_err().contains("a date is no value here"));
    }
}
