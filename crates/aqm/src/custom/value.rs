//! Parameter values whose kind is known only at run time.

use alloc::format;
use alloc::string::{String, ToString};

use crate::params::{Bytes, Hertz, ParamSpec, Quantity, SignedBytes, ValueKind};
use crate::time::{Rate, Span};
use crate::units::Limit;

/// A value of a parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// A time.
    Span(Span),
    /// A frequency.
    Hertz(f64),
    /// A pure number.
    Number(f64),
    /// A whole number.
    Whole(u64),
    /// A size.
    Bytes(u64),
    /// A size that may be negative.
    SignedBytes(i64),
    /// A queue limit.
    Limit(Limit),
    /// A rate.
    Rate(Rate),
    /// True or false.
    Bool(bool),
    /// A word, by its place in [`ParamSpec::words`].
    Word(usize),
    /// `off` or `auto`.
    Absent,
}

impl Value {
    /// Reads a value of a parameter's kind.
    ///
    /// # Errors
    /// A sentence with the error and the remedy.
    pub fn parse(spec: &ParamSpec, text: &str) -> Result<Value, String> {
        let text = text.trim();
        if spec.absent == Some(text) {
            return Ok(Value::Absent);
        }
        let value = match spec.kind {
            ValueKind::Span => Span::parse(text).map(Value::Span),
            ValueKind::Hertz => Hertz::parse(text).map(|hertz| Value::Hertz(hertz.0)),
            ValueKind::Number => f64::parse(text).map(Value::Number),
            ValueKind::Whole => u64::parse(text).map(Value::Whole),
            ValueKind::Bytes => Bytes::parse(text).map(|bytes| Value::Bytes(bytes.0)),
            ValueKind::SignedBytes => {
                SignedBytes::parse(text).map(|bytes| Value::SignedBytes(bytes.0))
            }
            ValueKind::Limit => Limit::parse(text).map(Value::Limit),
            ValueKind::Rate => Rate::parse(text).map(Value::Rate),
            ValueKind::Bool => bool::parse(text).map(Value::Bool),
            ValueKind::Word => word(spec.words, text),
        };
        value.map_err(|why| match spec.absent {
            Some(absent) => format!("{why}, or `{absent}`"),
            None => why,
        })
    }

    /// Text that [`Value::parse`] reads back.
    pub fn show(&self, spec: &ParamSpec) -> String {
        match self {
            Value::Span(v) => v.show(),
            Value::Hertz(v) => Hertz(*v).show(),
            Value::Number(v) => v.show(),
            Value::Whole(v) => v.show(),
            Value::Bytes(v) => Bytes(*v).show(),
            Value::SignedBytes(v) => SignedBytes(*v).show(),
            Value::Limit(v) => v.show(),
            Value::Rate(v) => v.show(),
            Value::Bool(v) => v.show(),
            Value::Word(index) => spec.words[*index].to_string(),
            Value::Absent => spec.absent.unwrap_or_default().to_string(),
        }
    }

    /// The value as a number in base units, for rules; `None` if it is absent or not a number.
    pub fn magnitude(&self) -> Option<f64> {
        match self {
            Value::Span(v) => v.magnitude(),
            Value::Hertz(v) | Value::Number(v) => Some(*v),
            Value::Whole(v) | Value::Bytes(v) => Some(*v as f64),
            Value::SignedBytes(v) => Some(*v as f64),
            Value::Limit(v) => v.magnitude(),
            Value::Rate(v) => v.magnitude(),
            Value::Bool(_) | Value::Word(_) | Value::Absent => None,
        }
    }
}

fn word(words: &[&str], text: &str) -> Result<Value, String> {
    let found = words.iter().position(|word| *word == text);
    found.map(Value::Word).ok_or_else(|| format!("`{text}` is not one of {}", words.join(", ")))
}
