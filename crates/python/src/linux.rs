//! The engine `linux`: its plan, the work in the guest, and its results.

use std::path::Path;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
#[cfg(target_os = "linux")]
use sojourn_router::host::Place;
use sojourn_router::plan::Plan;
use sojourn_router::{collect, planning};
use sojourn_sim::cc::CustomControls;

use crate::engine::transports_json;
use crate::errors::Refusal;
#[cfg(target_os = "linux")]
use crate::law;
use crate::run::{Account, Run};
use crate::scenario::Scenario;

/// Where a scenario asks the kernel to run, its bottleneck, and its timer frequency.
#[pyfunction]
pub fn linux_wish(scenario: &Scenario) -> (&'static str, &'static str, u32) {
    let linux = scenario.loaded.scenario.resolved().linux;
    (linux.place.word(), linux.bottleneck().word(), linux.hz)
}

/// The plan of a scenario on real hosts, as JSON: for a kernel of `hz`, which is by default the
/// scenario's, and of a `version` if known. With `delays_in_router`, our router applies the delays
/// itself. `programs` are those of the user, as JSON.
#[pyfunction]
#[pyo3(signature = (scenario, hz=None, delays_in_router=false, version=None, programs=None))]
pub fn linux_plan(
    scenario: &Scenario,
    hz: Option<u32>,
    delays_in_router: bool,
    version: Option<&str>,
    programs: Option<&str>,
) -> Result<String, Refusal> {
    let loaded = &scenario.loaded;
    let resolved = loaded.scenario.resolved();
    let release = version.and_then(planning::release_of);
    let hz = hz.unwrap_or(resolved.linux.hz);
    let kernel = planning::Kernel { hz, delays_in_router, release };
    let plan = match programs {
        Some(wish) => {
            let wish = serde_json::from_str(wish).expect("the package writes it");
            planning::plan_with_programs(resolved, kernel, wish)
        }
        None => planning::plan(resolved, kernel),
    };
    let plan = plan.map_err(|error| error.in_file(&loaded.source.origin))?;
    Ok(serde_json::to_string(&plan).expect("a plan is plain"))
}

/// A plan with captures of headers at both ends of the flows and on both sides of each queue.
#[pyfunction]
pub fn linux_plan_capturing(scenario: &Scenario, plan: &str) -> Result<String, Refusal> {
    let loaded = &scenario.loaded;
    let plan = serde_json::from_str(plan).expect("the package writes it");
    let plan = planning::with_header_captures(loaded.scenario.resolved(), plan);
    let plan = plan.map_err(|error| error.in_file(&loaded.source.origin))?;
    Ok(serde_json::to_string(&plan).expect("a plan is plain"))
}

/// The TCP profile that represents a kernel's own TCP.
#[pyfunction]
pub fn linux_tcp(version: &str) -> &'static str {
    planning::release_of(version).map_or("linux", planning::own_profile)
}

/// Carries out the plan in `folder`. In a guest (`place` is `guest` in virtual time, `uml` in real
/// time) the folder is `/run`, and the guest is powered off afterwards; on a `host` it is mounted
/// there only for this process and its children.
#[pyfunction]
pub fn linux_host(py: Python<'_>, folder: &str, place: &str) -> PyResult<()> {
    #[cfg(target_os = "linux")]
    {
        let place = Place::of(place).ok_or_else(|| {
            PyValueError::new_err(format!("place: {place}; must be guest, uml or host"))
        })?;
        let load = |laws: &[_]| {
            Python::attach(|py| law::load(py, laws).map_err(|error| error.to_string()))
        };
        py.detach(|| sojourn_router::host::run(Path::new(folder), place, load));
        Ok(())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (py, folder, place);
        Err(pyo3::exceptions::PyOSError::new_err("the engine linux needs Linux"))
    }
}

/// Reads the results of a run in `folder`.
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
    let invalid = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let plan: Plan = serde_json::from_str(plan).map_err(invalid)?;
    let mut facts: serde_json::Value = serde_json::from_str(facts).map_err(invalid)?;
    let resolved = loaded.scenario.resolved();
    let collected = py
        .detach(|| collect::collect(Path::new(folder), resolved, &plan, virtual_time))
        .map_err(PyValueError::new_err)?;
    if let (Some(all), Some(more)) = (facts.as_object_mut(), collected.facts.as_object()) {
        all.extend(more.clone());
    }
    let account = Account { engine: "linux", facts, invalid: collected.invalid };
    let transports = transports_json(&loaded.scenario, &CustomControls::new());
    Ok(Run { run: Arc::new(collected.run), loaded, transports, wall_s, account })
}
