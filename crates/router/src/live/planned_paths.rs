//! The result of planning both paths: the paths, or the reason why they are refused.

use super::plan::PathPlan;
use crate::laws::PlannedLaw;

/// Both paths, the laws that they name, and remarks.
#[derive(Debug)]
pub(super) struct PlannedPaths {
    pub(super) paths: [PathPlan; 2],
    pub(super) laws: Vec<PlannedLaw>,
    pub(super) remarks: Vec<String>,
}

/// An option or a place in a scenario, and the reason why it is refused.
pub(super) type Refusal = (String, String);

pub(super) fn refuse<T>(place: &str, message: impl Into<String>) -> Result<T, Refusal> {
    Err((place.to_owned(), message.into()))
}
