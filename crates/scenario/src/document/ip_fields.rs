//! Fields of the IP header as written: ECN and the differentiated services code point.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sojourn_aqm::Ecn;

/// Whether the packets of a group are ECN-capable: `true` or `false`, or the code point of its
/// datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EcnKey {
    /// `false`.
    #[default]
    No,
    /// `true`: negotiated by TCP, ECT(0) for datagrams.
    Yes,
    /// A code point, for datagrams alone.
    Code(Ecn),
}

const CODES: [(&str, Ecn); 3] = [("off", Ecn::NotEct), ("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1)];

impl EcnKey {
    /// The code point of datagrams.
    pub fn of_datagrams(self) -> Ecn {
        match self {
            EcnKey::No => Ecn::NotEct,
            EcnKey::Yes => Ecn::Ect0,
            EcnKey::Code(code) => code,
        }
    }
}

/// The name of a code point that a sender sets.
pub(crate) fn code_name(code: Ecn) -> &'static str {
    CODES.iter().find(|&&(_, known)| known == code).map_or("ce", |&(name, _)| name)
}

struct EcnVisitor;

impl de::Visitor<'_> for EcnVisitor {
    type Value = EcnKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, \"off\", \"ect0\" or \"ect1\"")
    }
    fn visit_bool<E: de::Error>(self, yes: bool) -> Result<EcnKey, E> {
        Ok(if yes { EcnKey::Yes } else { EcnKey::No })
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<EcnKey, E> {
        let found = CODES.iter().find(|&&(name, _)| name == text.trim());
        found.map(|&(_, code)| EcnKey::Code(code)).ok_or_else(|| {
            E::custom(format!(
                "`{text}` is not an ECN field of a sender; write true or false, or for datagrams \
                 \"off\", \"ect0\" or \"ect1\""
            ))
        })
    }
}

impl<'de> Deserialize<'de> for EcnKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EcnVisitor)
    }
}

impl Serialize for EcnKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            EcnKey::No => serializer.serialize_bool(false),
            EcnKey::Yes => serializer.serialize_bool(true),
            EcnKey::Code(code) => serializer.serialize_str(code_name(code)),
        }
    }
}

impl JsonSchema for EcnKey {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Ecn")
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "boolean" },
                { "type": "string", "enum": ["off", "ect0", "ect1"] },
            ],
        })
    }
}

/// A differentiated services code point as written: a number from 0 to 63, or its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DscpKey(
    /// The code point.
    pub u8,
);

/// The code point of a name: class selectors (RFC 2474 §4.2.2), assured forwarding (RFC 2597 §6),
/// expedited forwarding (RFC 3246 §2.7), lower effort (RFC 8622 §2) and non-queue-building (RFC
/// 9956).
fn named(text: &str) -> Option<u8> {
    let digits = |name: &str| -> Option<Vec<u8>> {
        let digit = |c: char| c.to_digit(10).map(|digit| digit as u8);
        text.strip_prefix(name)?.chars().map(digit).collect()
    };
    match (text, digits("cs").as_deref(), digits("af").as_deref()) {
        ("be", ..) => Some(0),
        ("ef", ..) => Some(46),
        ("le", ..) => Some(1),
        ("nqb", ..) => Some(45),
        (_, Some(&[class @ 0..=7]), _) => Some(8 * class),
        (_, _, Some(&[class @ 1..=4, drop @ 1..=3])) => Some(8 * class + 2 * drop),
        _ => None,
    }
}

const EXPECTED: &str = "write a number from 0 to 63 or a name such as \"ef\", \"cs5\" or \"nqb\"";

impl DscpKey {
    /// Whether the key is left out of a document.
    pub(crate) fn is_default(&self) -> bool {
        self.0 == 0
    }
}

struct DscpVisitor;

impl de::Visitor<'_> for DscpVisitor {
    type Value = DscpKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number from 0 to 63 or a name such as \"ef\", \"cs5\" or \"nqb\"")
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<DscpKey, E> {
        match u8::try_from(number) {
            Ok(code) if code < 64 => Ok(DscpKey(code)),
            _ => Err(E::custom(format!("{number} is not a six-bit code point; {EXPECTED}"))),
        }
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<DscpKey, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<DscpKey, E> {
        named(text)
            .map(DscpKey)
            .ok_or_else(|| E::custom(format!("`{text}` is not a code point; {EXPECTED}")))
    }
}

impl<'de> Deserialize<'de> for DscpKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DscpVisitor)
    }
}

impl Serialize for DscpKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.0)
    }
}

impl JsonSchema for DscpKey {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Dscp")
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": 63 },
                { "type": "string", "pattern": "^(be|cs[0-7]|af[1-4][1-3]|ef|le|nqb)$" },
            ],
        })
    }
}
