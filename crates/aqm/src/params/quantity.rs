//! The types of parameter values, their units and their text.

use alloc::format;
use alloc::string::{String, ToString};

use super::ValueKind;
use crate::time::{Rate, Span};
use crate::units::{self, Limit};

/// A type of parameter values.
///
/// ```
/// use sojourn_aqm::{Span, params::Quantity};
/// let span = Span::parse("1.5ms").expect("a time");
/// assert_eq!((span.show().as_str(), span.magnitude()), ("1.5ms", Some(0.0015)));
/// ```
pub trait Quantity: Sized {
    /// The kind, for documentation and schema.
    const KIND: ValueKind;
    /// The word for "no value", if one is legal.
    const ABSENT: Option<&'static str> = None;
    /// The legal words, if the kind is [`ValueKind::Word`].
    const WORDS: &'static [&'static str] = &[];
    /// Reads a value.
    ///
    /// # Errors
    /// A sentence with the error and the remedy.
    fn parse(text: &str) -> Result<Self, String>;
    /// Text that [`Quantity::parse`] reads back.
    fn show(&self) -> String;
    /// The value as a number in base units, for the rules; `None` if it is absent or not a number.
    fn magnitude(&self) -> Option<f64>;
}

macro_rules! quantity {
    ($ty:ty, $kind:ident, $parse:expr, $show:expr, $magnitude:expr) => {
        impl Quantity for $ty {
            const KIND: ValueKind = ValueKind::$kind;
            fn parse(text: &str) -> Result<Self, String> {
                $parse(text)
            }
            fn show(&self) -> String {
                $show(self)
            }
            fn magnitude(&self) -> Option<f64> {
                $magnitude(self)
            }
        }
    };
}

/// A frequency in 1/s: the gain of a controller.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Hertz(pub f64);

/// A size in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Bytes(pub u64);

/// A difference in bytes, which may be negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SignedBytes(pub i64);

quantity!(Span, Span, units::span, |v: &Span| v.to_string(), |v: &Span| Some(v.as_secs()));
quantity!(Rate, Rate, units::rate, |v: &Rate| v.to_string(), |v: &Rate| Some(v.as_bps() as f64));
quantity!(Limit, Limit, units::limit, |v: &Limit| v.to_string(), |v: &Limit| match v {
    Limit::Packets(n) | Limit::Bytes(n) => Some(*n as f64),
});
quantity!(f64, Number, units::number, |v: &f64| format!("{v}"), |v: &f64| Some(*v));
quantity!(u64, Whole, units::whole, |v: &u64| format!("{v}"), |v: &u64| Some(*v as f64));
quantity!(
    Hertz,
    Hertz,
    |t| units::hertz(t).map(Hertz),
    |v: &Hertz| format!("{}hz", v.0),
    |v: &Hertz| Some(v.0)
);
quantity!(
    Bytes,
    Bytes,
    |t| units::bytes(t).map(Bytes),
    |v: &Bytes| units::show_bytes(v.0),
    |v: &Bytes| Some(v.0 as f64)
);
quantity!(
    SignedBytes,
    SignedBytes,
    |t| units::signed_bytes(t).map(SignedBytes),
    |v: &SignedBytes| units::show_signed_bytes(v.0),
    |v: &SignedBytes| Some(v.0 as f64)
);
quantity!(
    bool,
    Bool,
    |text: &str| match text.trim() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(format!("`{other}` is neither `true` nor `false`")),
    },
    |v: &bool| v.to_string(),
    |_: &bool| None
);

/// A value or the word `off`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OrOff<T>(pub Option<T>);

/// A value or the word `auto`: computed from the link when the law is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OrAuto<T>(pub Option<T>);

macro_rules! optional {
    ($wrapper:ident, $word:literal) => {
        impl<T: Quantity> Quantity for $wrapper<T> {
            const KIND: ValueKind = T::KIND;
            const ABSENT: Option<&'static str> = Some($word);
            const WORDS: &'static [&'static str] = T::WORDS;
            fn parse(text: &str) -> Result<Self, String> {
                match text.trim() {
                    $word => Ok($wrapper(None)),
                    text => T::parse(text)
                        .map(|v| $wrapper(Some(v)))
                        .map_err(|e| format!(concat!("{}, or `", $word, "`"), e)),
                }
            }
            fn show(&self) -> String {
                self.0.as_ref().map_or_else(|| $word.to_string(), Quantity::show)
            }
            fn magnitude(&self) -> Option<f64> {
                self.0.as_ref().and_then(Quantity::magnitude)
            }
        }
    };
}
optional!(OrOff, "off");
optional!(OrAuto, "auto");
