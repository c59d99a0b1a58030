//! The engine `linux`: its plan, what happens in the guest, and its results.

use std::path::Path;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_router::plan::Plan;
use sojourn_router::{planning, replay};
use sojourn_sim::cc::Brought;

use crate::engine::transports_json;
use crate::errors::Refusal;
use crate::run::{Account, Run};
use crate::scenario::Scenario;

/// What a guest has to do for a scenario, as JSON.
#[pyfunction]
pub fn linux_plan(scenario: &Scenario) -> Result<String, Refusal> {
    let loaded = &scenario.loaded;
    let plan = planning::plan(loaded.scenario.resolved())
        .map_err(|error| error.in_file(&loaded.source.origin))?;
    Ok(serde_json::to_string(&plan).expect("a plan is plain"))
}

/// Carries out the plan in `folder`, in a guest or in name spaces of its own; then powers the guest off.
#[pyfunction]
pub fn linux_host(py: Python<'_>, folder: &str, power_off: bool) -> PyResult<()> {
    #[cfg(target_os = "linux")]
    {
        py.detach(|| sojourn_router::host::run(Path::new(folder), power_off));
        Ok(())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (py, folder, power_off);
        Err(pyo3::exceptions::PyOSError::new_err("the engine linux needs Linux"))
    }
}

/// Reads what a run has left in `folder`.
#[pyfunction]
pub fn linux_collect(
    py: Python<'_>,
    scenario: &Scenario,
    plan: &str,
    folder: &str,
    facts: &str,
    virtual_time: bool,
    wall_s: f64,
) -> PyResult<Run> {
    let loaded = Arc::clone(&scenario.loaded);
    let said = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let plan: Plan = serde_json::from_str(plan).map_err(said)?;
    let mut facts: serde_json::Value = serde_json::from_str(facts).map_err(said)?;
    let resolved = loaded.scenario.resolved();
    let collected = py
        .detach(|| replay::collect(Path::new(folder), resolved, &plan, virtual_time))
        .map_err(PyValueError::new_err)?;
    if let (Some(all), Some(more)) = (facts.as_object_mut(), collected.facts.as_object()) {
        all.extend(more.clone());
    }
    let account = Account { engine: "linux", facts, invalid: collected.invalid };
    let transports = transports_json(&loaded.scenario, &Brought::new());
    Ok(Run { run: Arc::new(collected.run), loaded, transports, wall_s, account })
}
