//! Tables that are distinguished by their `kind`.

use serde::de::{self, MapAccess};

/// Reads the `kind` of a table, which the loader has moved to the front.
pub(crate) fn read_kind<'de, A: MapAccess<'de>>(map: &mut A) -> Result<String, A::Error> {
    match map.next_key::<String>()? {
        Some(key) if key == "kind" => map.next_value(),
        _ => Err(de::Error::missing_field("kind")),
    }
}

/// The error for an unknown `kind`. Unlike serde's error for an unknown variant, it points at the
/// key `kind`, not at the table.
pub(crate) fn unknown_kind<E: de::Error>(kind: &str, known: &[&str]) -> E {
    if kind == "python" && known.contains(&"bulk") {
        return E::custom(
            "a scenario is data and names no code; give a custom application as \
             sojourn.run(..., apps={NAME OF THE FLOWS: CLASS})",
        );
    }
    E::custom(format!("unknown kind `{kind}`, expected `{}`", known.join("`, `")))
}

/// Deserialises an enum from tables that are distinguished by their `kind`. Unlike serde's derived
/// code for tagged enums, it keeps track of where in the table an error occurred.
macro_rules! tagged {
    ($name:ident, $expecting:literal, {
        $($(#[$attribute:meta])* $kind:literal => $variant:ident($table:ty)),+
    }) => {
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
                            $(
                                $(#[$attribute])*
                                $kind => <$table>::deserialize(rest).map($name::$variant),
                            )+
                            _ => {
                                let known = &[$($(#[$attribute])* $kind),+];
                                Err($crate::document::tagged::unknown_kind(&kind, known))
                            }
                        }
                    }
                }
                deserializer.deserialize_any(Visitor)
            }
        }
    };
}
pub(crate) use tagged;
