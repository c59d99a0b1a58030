//! The one place that knows how scenarios are read and run.

use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::PyList;
use sojourn_aqm::nearest::nearest;
use sojourn_aqm::{QdiscSpec, Time};
use sojourn_scenario::Resolved;

use crate::errors::Refusal;

/// The version of everything in this repository.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a scenario was read from.
#[derive(Clone, Debug)]
pub struct Source {
    /// The text.
    pub text: String,
    /// The file, as messages name it.
    pub origin: String,
    /// Dotted keys and TOML values that override the text.
    pub sets: Vec<(String, String)>,
}

/// A resolved scenario with its source.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Where it came from.
    pub source: Source,
    /// What engines read.
    pub resolved: Resolved,
}

/// Reads, checks and resolves a scenario.
pub fn load(source: Source, format: &str, folder: &Path) -> Result<Loaded, Refusal> {
    let _ = (format, folder);
    Err(Refusal::new(source.origin, "scenarios cannot be read yet"))
}

/// The place of a link, or a refusal with the nearest name.
pub fn link_index(resolved: &Resolved, link: &str) -> Result<usize, Refusal> {
    let names: Vec<&str> = resolved.links.iter().map(|link| link.name.as_str()).collect();
    names.iter().position(|name| *name == link).ok_or_else(|| {
        let near = nearest(link, names.iter().copied());
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let known = names.join(", ");
        Refusal::new("links", format!("there is no link `{link}`{hint} Known: {known}"))
    })
}

/// Another AQM on a link; its buffer stays unless the AQM sets its own limit.
pub fn with_queue(loaded: &Loaded, link: &str, aqm: &str) -> Result<Loaded, Refusal> {
    let index = link_index(&loaded.resolved, link)?;
    let mut spec = parse_aqm(aqm)?;
    let mut changed = loaded.clone();
    let link = &mut changed.resolved.links[index];
    spec.set_default("limit", &link.limit.to_string());
    link.queue = spec;
    Ok(changed)
}

/// Reads an AQM in its text form.
pub fn parse_aqm(text: &str) -> Result<QdiscSpec, Refusal> {
    QdiscSpec::parse(text).map_err(|error| Refusal::new(text, error.message))
}

/// The resolved scenario as JSON.
pub fn resolved_json(resolved: &Resolved) -> serde_json::Value {
    serde_json::json!({ "name": resolved.name })
}

/// Simulates.
pub fn run(
    resolved: &Resolved,
    keep_going: &dyn Fn(Time) -> bool,
) -> Result<sojourn_record::Run, Refusal> {
    keep_going(Time::ZERO);
    Err(Refusal::new(resolved.name.clone(), "the simulator is not there yet"))
}

/// Every congestion control.
pub fn ccs(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    Ok(PyList::empty(py))
}

/// The JSON Schema of a scenario.
pub fn schema_json() -> String {
    "{}".to_owned()
}
