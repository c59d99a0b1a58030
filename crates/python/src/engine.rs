//! The only place that knows how scenarios are read and run.

use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use pyo3::prelude::*;
use sojourn_aqm::{CustomLaws, QdiscSpec};
use sojourn_scenario::{Format, Resolved, Scenario, ScenarioBase, ScenarioError};
use sojourn_sim::SimError;
use sojourn_sim::cc::CustomControls;

use crate::control::Failure;
use crate::errors::{Cancelled, Refusal};
use crate::law::CustomLaw;

/// The version of all crates and packages in this repository.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The source of a scenario.
#[derive(Clone, Debug)]
pub struct Source {
    /// The text.
    pub text: String,
    /// The file, as messages name it.
    pub origin: String,
    /// Dotted keys and TOML values that override the text.
    pub sets: Vec<(String, String)>,
}

/// The largest text; a recorded trace of a day takes a tenth of this.
const LARGEST_TEXT_BYTES: u64 = 256_000_000;

/// A scenario with its source.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its source.
    pub source: Source,
    /// Its content.
    pub scenario: Scenario,
}

/// Reads, checks and resolves a scenario, including the checks that only the simulator can make.
pub fn load(source: Source, format: &str, folder: &Path) -> Result<Loaded, Refusal> {
    let format = format_of(format)?;
    let read = |file: &str| read_text(&folder.join(file));
    let words = sojourn_scenario::Source { format, origin: &source.origin, sets: &source.sets };
    let scenario = Scenario::load_for(&source.text, &words, &read, &check)?;
    Ok(Loaded { source, scenario })
}

/// Parses the text of a source; its overrides are not applied.
pub fn base(source: &Source, format: &str) -> Result<ScenarioBase, Refusal> {
    Ok(ScenarioBase::parse(&source.text, format_of(format)?, &source.origin)?)
}

/// Like [`load`], for a text that has been parsed.
pub fn load_over(base: &ScenarioBase, source: Source, folder: &Path) -> Result<Loaded, Refusal> {
    let read = |file: &str| read_text(&folder.join(file));
    let scenario = base.with(&source.sets, &read, &check)?;
    Ok(Loaded { source, scenario })
}

fn check(plan: &Resolved) -> Result<(), ScenarioError> {
    sojourn_sim::check(plan).map_err(in_scenario)
}

fn format_of(name: &str) -> Result<Format, Refusal> {
    match name {
        "toml" => Ok(Format::Toml),
        "json" => Ok(Format::Json),
        other => Err(Refusal::new("format", format!("`{other}` is not toml or json"))),
    }
}

/// Reads a regular file of reasonable size: a device or a pipe might never end.
fn read_text(path: &Path) -> io::Result<String> {
    let facts = fs::metadata(path)?;
    let refused = |why: String| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    if !facts.is_file() {
        return refused("is not a regular file".to_owned());
    }
    if facts.len() > LARGEST_TEXT_BYTES {
        return refused(format!(
            "has {} MB, more than the {} MB that a trace may have",
            facts.len() / 1_000_000,
            LARGEST_TEXT_BYTES / 1_000_000
        ));
    }
    fs::read_to_string(path)
}

/// The AQM of a link.
pub fn queue<'a>(scenario: &'a Scenario, link: &str) -> Result<&'a QdiscSpec, Refusal> {
    place_of(scenario, link).map(|place| &scenario.resolved().links[place].queue)
}

/// The index of a link.
pub fn place_of(scenario: &Scenario, link: &str) -> Result<usize, Refusal> {
    let links = &scenario.resolved().links;
    links.iter().position(|l| l.name == link).ok_or_else(|| {
        let names: Vec<&str> = links.iter().map(|l| l.name.as_str()).collect();
        let hint = sojourn_aqm::registry::hint(link, &names);
        Refusal::new("links", format!("unknown link `{link}`{hint}"))
    })
}

/// Reads an AQM in its text form, which may name one of these laws.
pub fn parse_aqm(text: &str, laws: Vec<CustomLaw>) -> Result<QdiscSpec, Refusal> {
    let laws = CustomLaws::new(laws.into_iter().map(|custom| custom.law));
    let spec = laws.and_then(|laws| QdiscSpec::parse_with(text, &laws));
    spec.map_err(|error| Refusal::new(text, error.message))
}

/// The plan of a run, with laws that report their failures.
pub fn plan_reporting_to(scenario: &Scenario, failure: &Failure) -> Resolved {
    let mut plan = scenario.resolved().clone();
    for link in &mut plan.links {
        let law = link.queue.custom.take();
        link.queue.custom = law.map(|law| law.reporting_to(Arc::new(failure.clone())));
    }
    plan
}

/// The effective parameters of every link's queue, as JSON.
pub fn effective_json(scenario: &Scenario) -> serde_json::Value {
    let of_link = |link: &sojourn_scenario::resolved::Link| {
        let values = link.effective().into_iter().map(|value| {
            serde_json::json!({
                "link": link.name,
                "part": value.part,
                "name": value.name,
                "value": value.value,
                "in_place_of": value.replaces,
                "contradicts": link.contradicts(&value),
            })
        });
        values.collect::<Vec<_>>()
    };
    scenario.resolved().links.iter().flat_map(of_link).collect()
}

/// The resolved scenario as JSON.
pub fn resolved_json(scenario: &Scenario) -> serde_json::Value {
    scenario.resolved().to_json()
}

/// The settings of the TCP flows, every default filled in, as JSON.
pub fn transports_json(scenario: &Scenario, custom: &CustomControls) -> serde_json::Value {
    let transports = sojourn_sim::assemble::transports(scenario.resolved(), custom);
    let as_json = |t: sojourn_sim::assemble::TransportSummary| {
        serde_json::json!({
            "flows": t.flows,
            "cc": t.cc,
            "initial_window": t.initial_window,
            "ack_every": t.ack_every,
            "profile": t.profile,
        })
    };
    transports
        .expect("a scenario that was loaded has been checked")
        .into_iter()
        .map(as_json)
        .collect()
}

/// The result of a simulation, or the exception.
pub fn finished<T>(result: Result<T, SimError>) -> PyResult<T> {
    result.map_err(|error| match error {
        SimError::Cancelled => Cancelled::new_err("the run was cancelled"),
        error @ SimError::Invalid { .. } => Refusal::from(in_scenario(error)).into(),
    })
}

fn in_scenario(error: SimError) -> ScenarioError {
    match error {
        SimError::Invalid { place, message } => ScenarioError::new(place, message),
        SimError::Cancelled => ScenarioError::new("", error.to_string()),
    }
}
