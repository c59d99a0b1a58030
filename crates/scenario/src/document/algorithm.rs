//! An AQM or a congestion control as written in a scenario: a text (`pie@linux:target=5ms`) or a
//! table (`{ kind = "pie", dialect = "linux", target = "5ms" }`).

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, MapAccess};
use serde::{Deserialize, Deserializer, Serialize};

/// An AQM or a congestion control with its parameters. The AQM registry checks name and parameters
/// when the scenario is resolved; the engine checks those of congestion controls.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum AlgorithmSpec {
    /// `kind[@dialect][:param=value,...]`
    Text(String),
    /// The same algorithm as a table.
    Table(AlgorithmTable),
}

/// An algorithm as a table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AlgorithmTable {
    /// Its name.
    pub kind: String,
    /// The published variant to use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The parameters, by name.
    #[serde(flatten)]
    pub settings: BTreeMap<String, Scalar>,
}

/// The value of a parameter, which is parsed from its text.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a text, a number, `true` or `false`")]
pub enum Scalar {
    /// `"15ms"`
    Text(String),
    /// `0.5`
    Number(serde_json::Number),
    /// `true`
    Bool(bool),
}

impl AlgorithmTable {
    /// The parameters as (name, text), sorted by name.
    pub fn settings_as_text(&self) -> Vec<(String, String)> {
        self.settings.iter().map(|(name, value)| (name.clone(), value.to_string())).collect()
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Text(text) => f.write_str(text),
            Scalar::Number(number) => number.fmt(f),
            Scalar::Bool(flag) => flag.fmt(f),
        }
    }
}

impl fmt::Display for AlgorithmSpec {
    /// The text form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = match self {
            AlgorithmSpec::Text(text) => return f.write_str(text),
            AlgorithmSpec::Table(table) => table,
        };
        f.write_str(&table.kind)?;
        if let Some(dialect) = &table.dialect {
            write!(f, "@{dialect}")?;
        }
        for (i, (name, value)) in table.settings.iter().enumerate() {
            write!(f, "{}{name}={value}", if i == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for AlgorithmSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AlgorithmVisitor)
    }
}

struct AlgorithmVisitor;

impl<'de> de::Visitor<'de> for AlgorithmVisitor {
    type Value = AlgorithmSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name, a text `name:parameter=value`, or a table with `kind`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<AlgorithmSpec, E> {
        Ok(AlgorithmSpec::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AlgorithmSpec, A::Error> {
        let (mut kind, mut dialect, mut settings) = (None, None, BTreeMap::new());
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "kind" => kind = Some(map.next_value()?),
                "dialect" => dialect = Some(map.next_value()?),
                _ => {
                    settings.insert(key, map.next_value()?);
                }
            }
        }
        let kind = kind.ok_or_else(|| de::Error::missing_field("kind"))?;
        Ok(AlgorithmSpec::Table(AlgorithmTable { kind, dialect, settings }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> AlgorithmSpec {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_table_has_the_text_form_of_its_parameters() {
        let table = read(r#"{"target": "5ms", "kind": "pie", "ecn": true, "alpha": 0.5}"#);
        assert_eq!(table.to_string(), "pie:alpha=0.5,ecn=true,target=5ms");
        let dialect = read(r#"{"kind": "pie", "dialect": "linux", "ecn": false}"#);
        assert_eq!(dialect.to_string(), "pie@linux:ecn=false");
        assert_eq!(read(r#"{"kind": "pie"}"#).to_string(), "pie");
        assert_eq!(read(r#""pie@linux:target=5ms""#).to_string(), "pie@linux:target=5ms");
    }

    #[test]
    fn it_is_serialised_as_it_was_written() {
        for json in [
            r#""pie@linux""#,
            r#"{"kind":"pie"}"#,
            r#"{"kind":"pie","dialect":"linux","alpha":0.5,"ecn":true,"target":"5ms"}"#,
        ] {
            assert_eq!(serde_json::to_string(&read(json)).unwrap(), json);
        }
    }

    #[test]
    fn parameters_are_sorted_texts() {
        let AlgorithmSpec::Table(table) = read(r#"{"kind": "x", "b": 1, "a": "1"}"#) else {
            panic!()
        };
        let one = |name: &str| (name.to_owned(), "1".to_owned());
        assert_eq!(table.settings_as_text(), [one("a"), one("b")]);
    }

    #[test]
    fn a_table_has_a_kind_and_plain_parameters() {
        let error = |json| serde_json::from_str::<AlgorithmSpec>(json).unwrap_err().to_string();
        assert!(error(r#"{"dialect": "linux"}"#).contains("missing field `kind`"));
        assert!(error(r#"{"kind": "x", "a": []}"#).contains("a text, a number, `true` or `false`"));
        assert!(error("7").contains("a name, a text `name:parameter=value`, or a table"));
    }
}
