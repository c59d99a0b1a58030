//! The engine `ns3`: the input of its runner, and its results.

use std::path::Path;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_aqm::Span;
use sojourn_router::plan::Plan;
use sojourn_router::{collect, ns3};
use sojourn_scenario::{Resolved, ScenarioError};
use sojourn_sim::assemble::transports;
use sojourn_sim::cc::CustomControls;
use sojourn_sim::tcp::profile::{RtoFloor, Style, profile};

use crate::engine::transports_json;
use crate::errors::Refusal;
use crate::run::{Account, Run};
use crate::scenario::Scenario;

/// A run of ns-3: the plan used to count its results, as JSON, and the input of its runner, which
/// captures packets with their headers if `captures`.
#[pyfunction]
#[pyo3(signature = (scenario, captures=false))]
pub fn ns3_plan(scenario: &Scenario, captures: bool) -> Result<(String, String), Refusal> {
    let loaded = &scenario.loaded;
    let resolved = loaded.scenario.resolved();
    let run = rules(resolved).and_then(|rules| ns3::plan(resolved, &rules, captures));
    let run = run.map_err(|error| error.in_file(&loaded.source.origin))?;
    Ok((serde_json::to_string(&run.plan).expect("a plan is plain"), run.text))
}

/// The default of `ns3::TcpSocketBase::ClockGranularity`.
const CLOCK_GRANULARITY: Span = Span::from_millis(1);

/// Each group's TCP rules that map to attributes of ns-3; `None` for datagrams.
fn rules(resolved: &Resolved) -> Result<Vec<Option<ns3::SocketRules>>, ScenarioError> {
    let own = transports(resolved, &CustomControls::new())
        .map_err(|error| ScenarioError::new("flows", error.to_string()))?;
    let mut rules = vec![None; resolved.flows.len()];
    for ((index, _, tcp), own) in resolved.tcp_groups().zip(own) {
        let profile = profile(&tcp.profile)
            .map_err(|message| ScenarioError::new(format!("flows[{index}].tcp"), message))?;
        let (least_rto, least_variation) = match profile.rto.floor {
            RtoFloor::Variance(floor) => (floor, floor),
            RtoFloor::Whole(floor) => (floor, CLOCK_GRANULARITY),
        };
        rules[index] = Some(ns3::SocketRules {
            sack: profile.sack,
            limited_transmit: profile.limited_transmit,
            is_gradual: matches!(
                profile.recovery,
                Style::Proportional | Style::ProportionalEager | Style::Halving
            ),
            initial_window: own.initial_window,
            ack_every: own.ack_every,
            ack_delay: profile.ack.delay,
            initial_rto: profile.rto.initial,
            least_rto,
            least_variation,
        });
    }
    Ok(rules)
}

/// Reads the results of a run in `folder`.
#[pyfunction]
pub fn ns3_collect(
    py: Python<'_>,
    scenario: &Scenario,
    plan: &str,
    folder: &str,
    version: &str,
    wall_s: f64,
) -> PyResult<Run> {
    let loaded = Arc::clone(&scenario.loaded);
    let plan: Plan =
        serde_json::from_str(plan).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let resolved = loaded.scenario.resolved();
    let mut collected = py
        .detach(|| collect::collect_ns3(Path::new(folder), resolved, &plan))
        .map_err(PyValueError::new_err)?;
    collected.facts["version"] = version.into();
    let account = Account { engine: "ns3", facts: collected.facts, invalid: collected.invalid };
    let transports = transports_json(&loaded.scenario, &CustomControls::new());
    Ok(Run { run: Arc::new(collected.run), loaded, transports, wall_s, account })
}
