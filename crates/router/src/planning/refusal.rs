//! The results of planning.

use sojourn_scenario::ScenarioError;

/// A part of a plan, or the reason why the scenario is refused.
pub(crate) type Planned<T> = Result<T, ScenarioError>;

/// Refuses the scenario.
pub(crate) fn refuse<T>(place: impl Into<String>, message: impl Into<String>) -> Planned<T> {
    Err(ScenarioError::new(place, message))
}
