//! The error type of this crate: place, problem, and remedy.

use std::fmt;
use std::io;

/// An error in a scenario, a parameter or a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// The place: `links.bottleneck.queue.target`, preceded by file and line if the text came from
    /// a file: `demo.toml:12: links.bottleneck.queue.target`. May be empty.
    pub place: String,
    /// The problem and its remedy.
    pub message: String,
    /// The kind of failure.
    pub kind: ErrorKind,
}

/// The kind of failure of a [`ScenarioError`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// The scenario is wrong.
    Invalid,
    /// A trace file could not be read.
    Unreadable(io::ErrorKind),
}

impl ScenarioError {
    /// Makes an error at a dotted path.
    pub fn new(place: impl Into<String>, message: impl Into<String>) -> ScenarioError {
        ScenarioError { place: place.into(), message: message.into(), kind: ErrorKind::Invalid }
    }

    /// Puts the file in front of the error's place.
    #[must_use]
    pub fn in_file(self, origin: &str) -> ScenarioError {
        let place = match (origin, self.place.as_str()) {
            ("", _) => self.place,
            (origin, "") => origin.to_owned(),
            (origin, place) => format!("{origin}: {place}"),
        };
        ScenarioError { place, ..self }
    }

    /// Makes the error of a trace file that could not be read.
    pub(crate) fn unreadable(place: String, file: &str, error: &io::Error) -> ScenarioError {
        let message = format!("cannot read the trace `{file}`: {error}");
        ScenarioError { place, message, kind: ErrorKind::Unreadable(error.kind()) }
    }
}

/// The dotted path of a key inside a table.
pub(crate) fn join(parent: &str, key: &str) -> String {
    if parent.is_empty() { key.to_owned() } else { format!("{parent}.{key}") }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ScenarioError {}
