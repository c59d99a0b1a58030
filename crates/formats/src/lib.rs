//! Readers and writers of other tools' formats, independent of the engines: text or bytes in, text
//! out. No file is opened here, so the same code runs in the command and in the browser.

pub mod capture;
pub mod tc;

use std::fmt;

/// An input that cannot be read: place and remedy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormatError {
    /// The place, such as `line 3`; empty for the whole text.
    pub place: String,
    /// One sentence with the remedy.
    pub message: String,
}

impl FormatError {
    /// An error about a line, counted from 1.
    pub fn at(line: usize, message: impl Into<String>) -> FormatError {
        FormatError { place: format!("line {line}"), message: message.into() }
    }

    /// An error about the whole text.
    pub fn whole(message: impl Into<String>) -> FormatError {
        FormatError { place: String::new(), message: message.into() }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_str() {
            "" => f.write_str(&self.message),
            place => write!(f, "{place}: {}", self.message),
        }
    }
}

impl std::error::Error for FormatError {}
