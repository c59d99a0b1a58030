//! The live router: its plan, and the process that routes packets.

use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_aqm::CustomLaws;
use sojourn_record::files;
use sojourn_record::manifest::Manifest;
use sojourn_router::live::options::Options;
use sojourn_router::live::plan::LivePlan;
use sojourn_router::live::{self, LiveResult};

use crate::engine::VERSION;
use crate::errors::Refusal;
use crate::law::{self, CustomLaw};
use crate::scenario::Scenario;

/// The plan that follows from the options `words`; both are JSON. AQMs may name these laws. The
/// paths are those of the scenario, if there is one.
#[pyfunction]
#[pyo3(signature = (words, laws=Vec::new(), scenario=None))]
pub fn router_plan(
    words: &str,
    laws: Vec<CustomLaw>,
    scenario: Option<&Scenario>,
) -> PyResult<String> {
    let options: Options = serde_json::from_str(words).map_err(invalid)?;
    let laws = CustomLaws::new(laws.into_iter().map(|custom| custom.law));
    let laws = laws.map_err(|error| Refusal::new("aqm", error.message))?;
    let scenario = scenario.map(|scenario| &scenario.loaded.scenario);
    let plan = options.plan(scenario, &laws);
    let plan = plan.map_err(|(option, message)| Refusal::new(option, message))?;
    Ok(serde_json::to_string(&plan).expect("a plan is plain"))
}

/// Routes packets by a plan until the other end of the pipe `control` is closed; writes JSON lines
/// with the status to `status`. Both are file descriptors. Results go to the folder `out` unless it
/// is empty.
#[pyfunction]
pub fn router_run(
    py: Python<'_>,
    plan: &str,
    status: &str,
    control: &str,
    out: &str,
) -> PyResult<()> {
    let plan: LivePlan = serde_json::from_str(plan).map_err(invalid)?;
    let laws = law::load(py, &plan.laws)?;
    py.detach(|| {
        live::run(&plan, &laws, Path::new(status), Path::new(control), |result| match out {
            "" => Ok(()),
            folder => keep(&plan, result, Path::new(folder)),
        })
    })?;
    Ok(())
}

fn keep(plan: &LivePlan, result: &LiveResult, folder: &Path) -> Result<(), String> {
    let manifest = Manifest {
        scenario: serde_json::json!({ "name": "router" }),
        effective: serde_json::json!([]),
        transports: serde_json::json!({}),
        name: "router".to_owned(),
        seed: plan.seed,
        engine: "router",
        version: VERSION,
        wall_s: result.wall_s,
        facts: result.facts.clone(),
        invalid: result.invalid.clone(),
    };
    let written = files::write(&result.run, &manifest.of(&result.run), folder);
    written.map(drop).map_err(|error| format!("--out {}: {error}", folder.display()))
}

fn invalid(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}
