//! Tables that differ by their `kind`.

use serde::de::{self, MapAccess};

/// Reads the `kind` of a table; the loader has put it first.
pub(crate) fn read_kind<'de, A: MapAccess<'de>>(map: &mut A) -> Result<String, A::Error> {
    match map.next_key::<String>()? {
        Some(key) if key == "kind" => map.next_value(),
        _ => Err(de::Error::missing_field("kind")),
    }
}

/// The error of a `kind` that is none of these. Unlike serde's error of an unknown variant it is
/// about the key `kind`, not about the table.
pub(crate) fn unknown_kind<E: de::Error>(kind: &str, known: &[&str]) -> E {
    if kind == "python" && known.contains(&"bulk") {
        return E::custom(
            "a scenario is data and names no code; give a custom application as \
             sojourn.run(..., apps={NAME OF THE FLOWS: CLASS})",
        );
    }
    E::custom(format!("unknown kind `{kind}`, expected `{}`", known.join("`, `")))
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
                        let kind = $crate::document::tagged::read_kind(&mut map)?;
                        let rest = serde::de::value::MapAccessDeserializer::new(map);
                        match kind.as_str() {
                            $($kind => <$table>::deserialize(rest).map($name::$variant),)+
                            _ => Err($crate::document::tagged::unknown_kind(&kind, &[$($kind),+])),
                        }
                    }
                }
                deserializer.deserialize_any(Visitor)
            }
        }
    };
}
pub(crate) use tagged;
