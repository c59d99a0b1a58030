//! Errors in a description by name and parameters.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::nearest::nearest;

/// An error in the description of an AQM or a congestion control.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecError {
    /// The faulty part: `kind`, `dialect` or a parameter's name; empty for the whole description.
    pub part: String,
    /// A sentence: the error and its remedy.
    pub message: String,
}

impl SpecError {
    /// An error about a part.
    pub fn new(part: &str, message: String) -> SpecError {
        SpecError { part: part.to_owned(), message }
    }

    /// The error for an unregistered name `typed` of a `what` (such as `AQM`); suggests the nearest
    /// `known` name.
    pub fn unknown_kind<'a>(
        what: &str,
        typed: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> SpecError {
        let known: Vec<&str> = known.into_iter().collect();
        SpecError::new("kind", format!("unknown {what} `{typed}`{}", hint(typed, &known)))
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for SpecError {}

impl From<SpecError> for String {
    /// Only the sentence.
    fn from(error: SpecError) -> String {
        error.message
    }
}

/// The end of an error message: `; did you mean "codel"? Known: codel, pie`, with backticks.
pub fn hint(typed: &str, known: &[&str]) -> String {
    let known_list = known.join(", ");
    match nearest(typed, known.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`? Known: {known_list}"),
        None => format!("; known: {known_list}"),
    }
}
