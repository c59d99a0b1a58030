//! Errors as Python sees them.

use std::io;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use sojourn_scenario::ErrorKind;

create_exception!(
    sojourn._core,
    ScenarioError,
    PyValueError,
    "A scenario, a parameter or a trace is not what it should be."
);
create_exception!(
    sojourn._core,
    ControlError,
    PyException,
    "A congestion control written in Python failed; the cause is what it raised."
);
create_exception!(
    sojourn._core,
    LawError,
    PyException,
    "An AQM law that is not built in failed; the cause is what it raised, if it did."
);
create_exception!(
    sojourn._core,
    AppError,
    PyException,
    "An application written in Python failed; the cause is what it raised."
);
create_exception!(sojourn._core, Cancelled, PyException, "The run was cancelled.");

const LONGEST_WORD: usize = 160;

/// An error in the user's input, and its place.
#[derive(Clone, Debug)]
pub struct Refusal {
    place: String,
    message: String,
    kind: ErrorKind,
}

impl Refusal {
    /// An error with a place and a message.
    pub fn new(place: impl Into<String>, message: impl Into<String>) -> Refusal {
        let (place, message) = (place.into(), message.into());
        Refusal { place, message, kind: ErrorKind::Invalid }
    }
}

impl From<sojourn_scenario::ScenarioError> for Refusal {
    fn from(error: sojourn_scenario::ScenarioError) -> Refusal {
        Refusal { place: error.place, message: error.message, kind: error.kind }
    }
}

/// The text for a terminal. Parts that echo the input are made harmless: very long words are cut,
/// control characters escaped.
#[pyfunction]
pub fn shortened(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter.is_control() && !matches!(letter, '\n' | '\t') {
            true => safe.extend(letter.escape_default()),
            false => safe.push(letter),
        }
    }
    safe.split_inclusive(char::is_whitespace).map(cut).collect()
}

/// A word and its trailing white space.
fn cut(piece: &str) -> String {
    let word = piece.trim_end();
    let letters: Vec<char> = word.chars().collect();
    if letters.len() <= LONGEST_WORD {
        return piece.to_owned();
    }
    let head: String = letters[..80].iter().collect();
    let tail: String = letters[letters.len() - 20..].iter().collect();
    format!("{head}...{tail} ({} characters){}", letters.len(), &piece[word.len()..])
}

impl From<Refusal> for PyErr {
    /// `ScenarioError` with `place` and `message`; if a file cannot be read, Python's `OSError` for
    /// the reason.
    fn from(refusal: Refusal) -> PyErr {
        let Refusal { place, message, kind } = refusal;
        let (place, message) = (shortened(&place), shortened(&message));
        let text = if place.is_empty() { message.clone() } else { format!("{place}: {message}") };
        if let ErrorKind::Unreadable(reason) = kind {
            return io::Error::new(reason, text).into();
        }
        let error = ScenarioError::new_err(text);
        let set = Python::attach(|py| {
            let value = error.value(py);
            value.setattr("place", place)?;
            value.setattr("message", message)
        });
        set.err().unwrap_or(error)
    }
}
