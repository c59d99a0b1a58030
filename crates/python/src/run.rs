//! Running a scenario, and its results.

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pyo3::prelude::*;
use sojourn_aqm::Time;
use sojourn_record::files;
use sojourn_record::manifest::{self, Manifest};
use sojourn_sim::Custom;

use crate::app;
use crate::cancel::Cancel;
use crate::control::{self, Failure};
use crate::engine::{self, Loaded};
use crate::errors::Cancelled;
use crate::scenario::Scenario;
use crate::table::Table;

/// The results of one run.
#[pyclass(frozen, module = "sojourn._core")]
pub struct Run {
    pub(crate) run: Arc<sojourn_record::Run>,
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) transports: serde_json::Value,
    pub(crate) wall_s: f64,
    pub(crate) account: Account,
}

/// What an engine reports about a run in addition to its tables.
pub struct Account {
    /// The engine.
    pub engine: &'static str,
    /// Facts that only this engine has; null if it has no facts.
    pub facts: serde_json::Value,
    /// Reasons why the run is not a valid experiment.
    pub invalid: Vec<String>,
}

impl Account {
    fn of_simulator(custom: &Custom) -> Account {
        let apps =
            custom.apps.iter().map(|(flows, app)| (flows.clone(), app.source.as_str().into()));
        let stacks = custom.stacks.iter();
        let stacks =
            stacks.map(|(transport, stack)| (transport.clone(), stack.in_full.as_str().into()));
        let brought: [(&str, serde_json::Map<String, serde_json::Value>); 2] =
            [("apps", apps.collect()), ("endpoints", stacks.collect())];
        let brought = brought.into_iter().filter(|(_, named)| !named.is_empty());
        let facts: serde_json::Map<String, serde_json::Value> =
            brought.map(|(kind, named)| (kind.to_owned(), named.into())).collect();
        let facts = match facts.is_empty() {
            true => serde_json::Value::Null,
            false => facts.into(),
        };
        Account { engine: "sim", facts, invalid: Vec::new() }
    }
}

/// Simulates a scenario; releases the GIL, except in congestion controls and laws written in
/// Python.
#[pyfunction]
#[pyo3(signature = (scenario, cancel=None, controls=Vec::new()))]
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    cancel: Option<&Cancel>,
    controls: Vec<(String, Py<PyAny>, String)>,
) -> PyResult<Run> {
    let failure = Failure::default();
    let controls = control::custom_controls(py, controls, &failure)?;
    let apps = app::custom_apps(&scenario.apps, py, &failure);
    let custom = Custom { controls, apps, stacks: (*scenario.stacks).clone() };
    let loaded = Arc::clone(&scenario.loaded);
    let switch = cancel.cloned().unwrap_or_default();
    let started = Instant::now();
    let result = py.detach(|| {
        let counted = Cell::new(0);
        let keep_going = |now: Time| {
            let now_ns = now.as_nanos();
            switch.add_ns(now_ns - counted.replace(now_ns));
            switch.may_continue(now, &failure)
        };
        let plan = engine::plan_reporting_to(&loaded.scenario, &failure);
        let result = sojourn_sim::run_with(&plan, &custom, &keep_going);
        if result.is_ok() {
            keep_going(Time::ZERO + loaded.scenario.resolved().duration);
        }
        result
    });
    failure.check()?;
    let run = engine::finished(result)?;
    let transports = engine::transports_json(&loaded.scenario, &custom.controls);
    let wall_s = started.elapsed().as_secs_f64();
    let account = Account::of_simulator(&custom);
    Ok(Run { run: Arc::new(run), loaded, transports, wall_s, account })
}

#[pymethods]
impl Run {
    #[getter]
    fn digest(&self) -> String {
        manifest::digest(&self.run)
    }

    #[getter]
    fn packets_handled(&self) -> u64 {
        self.run.packets_handled
    }

    #[getter]
    fn events(&self) -> u64 {
        self.run.events
    }

    #[getter]
    fn wall_s(&self) -> f64 {
        self.wall_s
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.run.warnings.clone()
    }

    #[getter]
    fn invalid(&self) -> Vec<String> {
        self.account.invalid.clone()
    }

    /// One of the result tables.
    fn table(&self, name: &str) -> PyResult<Table> {
        Ok(Table::of_run(Arc::clone(&self.run), crate::table::named(name)?))
    }

    /// The summary as rows of (scope, name, metric, value, unit).
    fn summary(&self) -> Vec<(&str, &str, &str, f64, &str)> {
        let rows = self.run.summary.iter();
        rows.map(|r| (r.scope.word(), r.name.as_str(), r.metric, r.value, r.unit)).collect()
    }

    /// Resolved scenario, seed, engine, versions, wall time, digest, warnings.
    fn manifest_json(&self) -> String {
        self.manifest().to_string()
    }

    /// Writes all tables that have rows as Parquet, then the manifest, unless it is cancelled.
    #[pyo3(signature = (folder, cancel=None))]
    fn write(
        &self,
        py: Python<'_>,
        folder: &str,
        cancel: Option<&Cancel>,
    ) -> PyResult<Vec<String>> {
        let switch = cancel.cloned().unwrap_or_default();
        let keep_going = || !switch.is_cancelled();
        let (manifest, folder) = (self.manifest(), Path::new(folder));
        match py.detach(|| files::write_while(&self.run, &manifest, folder, &keep_going)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted && !keep_going() => {
                Err(Cancelled::new_err("the run was cancelled while it was kept"))
            }
            written => Ok(written?),
        }
    }
}

impl Run {
    /// Results that did not need a separate simulation.
    pub(crate) fn new(run: sojourn_record::Run, loaded: Arc<Loaded>) -> Run {
        let transports = engine::transports_json(&loaded.scenario, &Custom::default().controls);
        let account = Account::of_simulator(&Custom::default());
        Run { run: Arc::new(run), loaded, transports, wall_s: 0.0, account }
    }

    /// The effective parameters of the queues. Only the simulator models a release of Linux.
    fn effective(&self) -> serde_json::Value {
        let mut values = engine::effective_json(&self.loaded.scenario);
        if let (false, Some(all)) = (self.account.engine == "sim", values.as_array_mut()) {
            all.retain(|value| value["name"] != sojourn_aqm::registry::LINUX);
        }
        values
    }

    fn manifest(&self) -> serde_json::Value {
        let resolved = self.loaded.scenario.resolved();
        let facts = Manifest {
            scenario: engine::resolved_json(&self.loaded.scenario),
            effective: self.effective(),
            transports: self.transports.clone(),
            name: resolved.name.clone(),
            seed: resolved.seed,
            engine: self.account.engine,
            version: engine::VERSION,
            wall_s: self.wall_s,
            facts: self.account.facts.clone(),
            invalid: self.account.invalid.clone(),
        };
        facts.of(&self.run)
    }
}
