//! Why a test could not be set up.

use std::fmt;

use sojourn_scenario::ScenarioError;
use sojourn_sim::SimError;

/// A setting is wrong. The message names the place, the problem and the remedy.
#[derive(Clone, PartialEq, Eq)]
pub struct SetupError(String);

impl From<ScenarioError> for SetupError {
    fn from(error: ScenarioError) -> SetupError {
        SetupError(error.to_string())
    }
}

impl From<SimError> for SetupError {
    fn from(error: SimError) -> SetupError {
        SetupError(error.to_string())
    }
}

impl SetupError {
    pub(crate) fn new(place: &str, message: impl fmt::Display) -> SetupError {
        SetupError(format!("{place}: {message}"))
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Prints as `Display`, because `unwrap` in a test prints this.
impl fmt::Debug for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SetupError {}
