//! The router as a product: its plan, and the process that routes.

use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_record::files;
use sojourn_record::manifest::Manifest;
use sojourn_router::live::words::Words;
use sojourn_router::live::{self, Finished, Live};

use crate::engine::VERSION;
use crate::errors::Refusal;

/// The plan that options mean; both are JSON.
#[pyfunction]
pub fn router_plan(words: &str) -> PyResult<String> {
    let words: Words = serde_json::from_str(words).map_err(said)?;
    let live = words.live().map_err(|(option, message)| Refusal::new(option, message))?;
    Ok(serde_json::to_string(&live).expect("a plan is plain"))
}

/// Routes as a plan says until the other end of the pipe `control` is closed; lines of JSON go to `told`.
/// Both are files. Results go to the folder `out` unless it is empty.
#[pyfunction]
pub fn router_run(
    py: Python<'_>,
    plan: &str,
    told: &str,
    control: &str,
    out: &str,
) -> PyResult<()> {
    let plan: Live = serde_json::from_str(plan).map_err(said)?;
    py.detach(|| {
        live::run(&plan, Path::new(told), Path::new(control), |finished| match out {
            "" => Ok(()),
            folder => keep(&plan, finished, Path::new(folder)),
        })
    })?;
    Ok(())
}

fn keep(plan: &Live, finished: &Finished, folder: &Path) -> Result<(), String> {
    let manifest = Manifest {
        scenario: serde_json::json!({ "name": "router" }),
        transports: serde_json::json!({}),
        name: "router".to_owned(),
        seed: plan.seed,
        engine: "router",
        version: VERSION,
        wall_s: finished.wall_s,
        facts: finished.facts.clone(),
        invalid: finished.invalid.clone(),
    };
    let written = files::write(&finished.run, &manifest.of(&finished.run), folder);
    written.map(drop).map_err(|error| format!("--out {}: {error}", folder.display()))
}

fn said(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}
