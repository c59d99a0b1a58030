//! Errors as Python sees them.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    sojourn._core,
    ScenarioError,
    PyValueError,
    "A scenario, a parameter or a trace is not what it should be."
);
create_exception!(sojourn._core, Cancelled, PyException, "The run was cancelled.");

/// What is wrong with what the user gave, and where.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Where: `links.bottleneck.rate`, or empty.
    pub place: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl Refusal {
    /// A refusal.
    pub fn new(place: impl Into<String>, message: impl Into<String>) -> Refusal {
        Refusal { place: place.into(), message: message.into() }
    }
}

impl From<Refusal> for PyErr {
    fn from(refusal: Refusal) -> PyErr {
        let Refusal { place, message } = refusal;
        let text = if place.is_empty() { message.clone() } else { format!("{place}: {message}") };
        let error = ScenarioError::new_err(text);
        let set = Python::attach(|py| {
            let value = error.value(py);
            value.setattr("place", place)?;
            value.setattr("message", message)
        });
        set.err().unwrap_or(error)
    }
}
