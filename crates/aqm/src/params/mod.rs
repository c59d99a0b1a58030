//! Parameters: each declared once, with name, unit (in the type), meaning, source, rule and
//! default.
//!
//! One [`params!`](crate::params!) declaration yields the text form (which refuses unknown names),
//! the JSON Schema, the Python dataclass, `sojourn explain pie.target` and the documentation page.
//! One parser reads `kind@dialect:name=value,...` for AQMs and congestion controls. Values cross
//! every interface as text with a unit. Gains are in `hz`, so that tc's "2" (sixteenths) cannot be
//! mistaken for 2 Hz.

mod behaviour;
mod configure;
mod kind;
mod nearest;
mod quantity;
pub mod rules;
mod spec_error;
mod spec_text;
mod step_table;

pub use behaviour::Behaviour;
pub use configure::configure;
pub(crate) use configure::{ParamSet, Unchecked, has_no_effect, set_all};
pub use kind::ValueKind;
pub use nearest::nearest;
pub use quantity::{Bytes, Hertz, OrAuto, OrOff, Quantity, SignedBytes};
pub use rules::Rule;
pub use spec_error::{SpecError, hint};
pub use spec_text::SpecText;
pub use step_table::StepTable;

use alloc::format;
use alloc::string::String;

/// A dialect: one published version of a law.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dialect {
    /// Its name after the `@`: `rfc8033`.
    pub name: &'static str,
    /// The text or code that it follows, with source.
    pub doc: &'static str,
}

/// A declared parameter, for documentation and schema.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// Its name.
    pub name: &'static str,
    /// Its meaning.
    pub doc: &'static str,
    /// The kind of value, with its unit.
    pub kind: ValueKind,
    /// `off` or `auto`, if that word is a legal value too.
    pub absent: Option<&'static str>,
    /// The legal words, if the kind is [`ValueKind::Word`].
    pub words: &'static [&'static str],
    /// The rule for values: `must be positive`.
    pub rule: &'static str,
    /// Where the default of each dialect comes from: (dialect, source). The first row belongs to
    /// the default dialect, and to all dialects without a row.
    pub sources: &'static [(&'static str, &'static str)],
}

impl ParamSpec {
    /// The source of the default in a dialect.
    pub fn source_of(&self, dialect: &str) -> &'static str {
        let own = self.sources.iter().find(|(name, _)| *name == dialect);
        own.unwrap_or(&self.sources[0]).1
    }
}

/// Why a parameter was refused. The caller adds the place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParamError {
    /// The parameter is unknown.
    Unknown,
    /// The text is not a value of this kind, or breaks the rule. The sentence names the remedy.
    Invalid(String),
}

/// A set of declared parameters. Implemented by [`params!`](crate::params!).
///
/// ```
/// use sojourn_aqm::laws::pie::PieParams;
/// use sojourn_aqm::params::{ParamError, Params};
///
/// let mut pie = PieParams::of_dialect("rfc8033").expect("PIE has that dialect");
/// pie.set("target", "5ms").expect("a legal value");
/// assert_eq!(pie.set("aim", "5ms"), Err(ParamError::Unknown));
/// ```
pub trait Params: Clone + Send + 'static {
    /// The dialects; the first is the default.
    const DIALECTS: &'static [Dialect];
    /// The declared parameters, in the order of declaration.
    fn specs() -> &'static [ParamSpec];
    /// Differences in behaviour between dialects, other than parameters.
    fn behaviours() -> &'static [Behaviour] {
        &[]
    }
    /// The parameters that have no effect in a dialect.
    fn unused(dialect: &str) -> &'static [&'static str] {
        let _ = dialect;
        &[]
    }
    /// The defaults of a dialect; `None` if the dialect is unknown.
    fn of_dialect(dialect: &str) -> Option<Self>;
    /// Sets one parameter from text.
    ///
    /// # Errors
    /// [`ParamError`], when the parameter is unknown or the value is not legal.
    fn set(&mut self, name: &str, text: &str) -> Result<(), ParamError>;
    /// The value of a parameter as text that [`Params::set`] reads back.
    fn get(&self, name: &str) -> Option<String>;
    /// Checks rules between parameters.
    ///
    /// # Errors
    /// A sentence that names the contradictory pair and the rule.
    fn check(&self) -> Result<(), String>;
}

/// Reads a value and tests its rule. Used by [`params!`](crate::params!).
///
/// # Errors
/// [`ParamError::Invalid`] with a sentence.
pub fn read<T: Quantity>(text: &str, rule: Rule) -> Result<T, ParamError> {
    let value = T::parse(text).map_err(ParamError::Invalid)?;
    match value.magnitude() {
        Some(x) if !(rule.holds)(x) => {
            Err(ParamError::Invalid(format!("`{}` {}", text.trim(), rule.text)))
        }
        _ => Ok(value),
    }
}

/// Declares an enum whose values are written as words.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$vmeta:meta])* $variant:ident = $word:literal $(| $alias:literal)*),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $name { $($(#[$vmeta])* $variant),+ }

        impl $crate::params::Quantity for $name {
            const KIND: $crate::params::ValueKind = $crate::params::ValueKind::Word;
            const WORDS: &'static [&'static str] = &[$($word),+];
            fn parse(text: &str) -> Result<Self, $crate::__private::String> {
                match text.trim() {
                    $($word $(| $alias)* => Ok(Self::$variant),)+
                    other => Err($crate::__private::format!(
                        "`{other}` is not one of {}", [$($word),+].join(", ")
                    )),
                }
            }
            fn show(&self) -> $crate::__private::String {
                $crate::__private::String::from(match self { $(Self::$variant => $word),+ })
            }
            fn magnitude(&self) -> Option<f64> { None }
        }
    };
}

/// Declares the parameters of a law or a discipline, and the other rules of behaviour in which its
/// dialects differ.
///
/// ```
/// use sojourn_aqm::params::{Params, Hertz};
/// use sojourn_aqm::{params, Span};
///
/// params! {
///     /// Parameters of an example.
///     pub struct ExampleParams {
///         dialects: "rfc0000" = "the standard", "linux" = "the kernel";
///         /// Queue delay aimed at.
///         target: Span, POSITIVE, "RFC 0000 §5.1" => Span::from_millis(15),
///             "linux": "sch_example.c" => Span::from_millis(20);
///         /// Integral gain.
///         alpha: Hertz, POSITIVE, "RFC 0000 §4.2" => Hertz(0.125);
///     }
/// }
///
/// let mut p = ExampleParams::of_dialect("linux").unwrap();
/// assert_eq!(p.get("target").unwrap(), "20ms");
/// p.set("target", "5ms").unwrap();
/// assert!(p.set("target", "5").is_err());
/// ```
#[macro_export]
macro_rules! params {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        dialects: $($dialect:literal = $dialect_doc:literal),+;
        $($(#[doc = $doc:literal])+ $field:ident : $ty:ty, $rule:ident,
          $source:literal => $default:expr
          $(, $($other:literal)|+ : $other_source:literal => $other_default:expr)*;)*
    } $(behaviour {
        $($rule_name:literal : $rule_text:literal, $rule_source:literal
          $(, $($rule_other:literal)|+ : $other_text:literal, $other_rule_source:literal)*;)*
    })? $(check: $check:expr;)? $(unused: $unused:expr;)?) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $name {
            /// The dialect these parameters belong to.
            pub dialect: &'static str,
            $($(#[doc = $doc])+ pub $field: $ty,)*
        }

        impl $crate::params::Params for $name {
            const DIALECTS: &'static [$crate::params::Dialect] =
                &[$($crate::params::Dialect { name: $dialect, doc: $dialect_doc }),+];

            fn specs() -> &'static [$crate::params::ParamSpec] {
                const SPECS: &[$crate::params::ParamSpec] = &[$($crate::params::ParamSpec {
                    name: stringify!($field),
                    doc: concat!($($doc),+),
                    kind: <$ty as $crate::params::Quantity>::KIND,
                    absent: <$ty as $crate::params::Quantity>::ABSENT,
                    words: <$ty as $crate::params::Quantity>::WORDS,
                    rule: $crate::params::rules::$rule.text,
                    sources: &[
                        (<$name as $crate::params::Params>::DIALECTS[0].name, $source)
                        $(, $(($other, $other_source)),+)*
                    ],
                }),*];
                SPECS
            }

            $(fn behaviours() -> &'static [$crate::params::Behaviour] {
                const BEHAVIOURS: &[$crate::params::Behaviour] = &[$($crate::params::Behaviour {
                    name: $rule_name,
                    rows: &[
                        (
                            <$name as $crate::params::Params>::DIALECTS[0].name,
                            $rule_text,
                            $rule_source,
                        )
                        $(, $(($rule_other, $other_text, $other_rule_source)),+)*
                    ],
                }),*];
                BEHAVIOURS
            })?

            $(fn unused(dialect: &str) -> &'static [&'static str] {
                let unused: fn(&str) -> &'static [&'static str] = $unused;
                unused(dialect)
            })?

            #[allow(unused_mut, unused_variables, clippy::needless_update)]
            fn of_dialect(dialect: &str) -> Option<Self> {
                let found = Self::DIALECTS.iter().find(|d| d.name == dialect)?;
                let mut params = $name { dialect: found.name, $($field: $default),* };
                $($(if [$($other),+].contains(&dialect) {
                    params.$field = $other_default;
                })*)*
                Some(params)
            }

            fn set(&mut self, name: &str, text: &str) -> Result<(), $crate::params::ParamError> {
                match name {
                    $(stringify!($field) => {
                        self.$field = $crate::params::read(text, $crate::params::rules::$rule)?;
                        Ok(())
                    })*
                    _ => {
                        let _ = text;
                        Err($crate::params::ParamError::Unknown)
                    }
                }
            }

            fn get(&self, name: &str) -> Option<$crate::__private::String> {
                match name {
                    $(stringify!($field) => {
                        Some($crate::params::Quantity::show(&self.$field))
                    })*
                    _ => None,
                }
            }

            fn check(&self) -> Result<(), $crate::__private::String> {
                $(let check: fn(&$name) -> Result<(), $crate::__private::String> = $check;
                return check(self);)?
                #[allow(unreachable_code)]
                Ok(())
            }
        }
    };
}
