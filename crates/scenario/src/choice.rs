//! Choices: an AQM or a congestion control, written as text (`pie@linux:target=5ms`) or as a table
//! (`{ kind = "pie", dialect = "linux", target = "5ms" }`), and tables that differ by their `kind`.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, MapAccess};
use serde::{Deserialize, Deserializer, Serialize};

/// An AQM or a congestion control with its parameters; what they mean is checked by those who know.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Choice {
    /// `kind[@dialect][:param=value,...]`
    Text(String),
    /// The same as a table.
    Table(ChoiceTable),
}

/// A choice as a table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ChoiceTable {
    /// What is chosen.
    pub kind: String,
    /// Which published way to build it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The parameters, by name.
    #[serde(flatten)]
    pub settings: BTreeMap<String, Scalar>,
}

/// A value that stands for its text.
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

impl ChoiceTable {
    /// The parameters as (name, text), by name.
    pub fn texts(&self) -> Vec<(String, String)> {
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

impl fmt::Display for Choice {
    /// The text form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = match self {
            Choice::Text(text) => return f.write_str(text),
            Choice::Table(table) => table,
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

impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ChoiceVisitor)
    }
}

struct ChoiceVisitor;

impl<'de> de::Visitor<'de> for ChoiceVisitor {
    type Value = Choice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name, a text `name:parameter=value`, or a table with `kind`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Choice, E> {
        Ok(Choice::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Choice, A::Error> {
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
        Ok(Choice::Table(ChoiceTable { kind, dialect, settings }))
    }
}

/// Reads the `kind` of a table; the loader has put it first.
pub(crate) fn read_kind<'de, A: MapAccess<'de>>(map: &mut A) -> Result<String, A::Error> {
    match map.next_key::<String>()? {
        Some(key) if key == "kind" => map.next_value(),
        _ => Err(de::Error::missing_field("kind")),
    }
}

/// Lets an enum be read from tables that differ by their `kind`. What serde derives for tagged
/// enums forgets where in the table an error was; this does not.
macro_rules! tagged {
    ($name:ident, $expecting:literal, { $($kind:literal => $variant:ident($table:ty)),+ }) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;

                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<$name, A::Error> {
                        let kind = $crate::choice::read_kind(&mut map)?;
                        let rest = serde::de::value::MapAccessDeserializer::new(map);
                        match kind.as_str() {
                            $($kind => <$table>::deserialize(rest).map($name::$variant),)+
                            _ => Err(serde::de::Error::unknown_variant(&kind, &[$($kind),+])),
                        }
                    }
                }
                deserializer.deserialize_any(Visitor)
            }
        }
    };
}
pub(crate) use tagged;
