//! Running a scenario, and its results.

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use sojourn_aqm::Time;
use sojourn_record::files;
use sojourn_record::manifest::{self, Manifest};
use sojourn_sim::Custom;

use crate::app;
use crate::control::{self, Failure};
use crate::engine::{self, Loaded};
use crate::errors::Cancelled;
use crate::heap;
use crate::scenario::Scenario;
use crate::table::Table;

/// A cancellation flag shared with runs in other threads, which also measures their progress.
#[pyclass(frozen, module = "sojourn._core")]
#[derive(Clone, Default)]
pub struct Cancel {
    shared: Arc<Shared>,
}

impl Cancel {
    /// Notes the simulated time of a single run, and returns whether the run may continue.
    pub(crate) fn goes_on(&self, now: Time, failure: &Failure) -> bool {
        self.shared.simulated_ns.store(now.as_nanos(), Ordering::Relaxed);
        self.shared.may_continue(now, failure)
    }
}

#[derive(Default)]
struct Shared {
    cancelled: AtomicBool,
    simulated_ns: AtomicU64,
    /// Bytes that the core may hold, if they are bounded.
    memory_bytes: Option<u64>,
}

impl Shared {
    /// Whether a run may continue; that it holds too much memory is noted as its failure.
    fn may_continue(&self, now: Time, failure: &Failure) -> bool {
        let held = heap::held_bytes();
        if let Some(bound) = self.memory_bytes.filter(|bound| held > *bound) {
            failure.note(PyMemoryError::new_err(format!(
                "the first {:.3} s of simulated time take {:.1}MB of memory, and {:.1}MB are \
                 allowed: simulate less, or allow more with `--memory`",
                now.as_secs(),
                held as f64 * 1e-6,
                bound as f64 * 1e-6
            )));
        }
        !self.cancelled.load(Ordering::Relaxed) && !failure.has_happened()
    }
}

#[pymethods]
impl Cancel {
    #[new]
    #[pyo3(signature = (memory_bytes=None))]
    fn new(memory_bytes: Option<u64>) -> Cancel {
        Cancel { shared: Arc::new(Shared { memory_bytes, ..Shared::default() }) }
    }

    /// Makes every run that holds this flag stop soon.
    fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was used.
    #[getter]
    fn cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Relaxed)
    }

    /// Adds simulated seconds of another engine.
    fn advance(&self, seconds: f64) {
        self.shared.simulated_ns.fetch_add((seconds.max(0.0) * 1e9) as u64, Ordering::Relaxed);
    }

    /// Simulated seconds so far, summed over all runs that hold this flag.
    fn simulated_s(&self) -> f64 {
        self.shared.simulated_ns.load(Ordering::Relaxed) as f64 * 1e-9
    }
}

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
        let apps: serde_json::Map<String, serde_json::Value> = apps.collect();
        let facts = match apps.is_empty() {
            true => serde_json::Value::Null,
            false => serde_json::json!({ "apps": apps }),
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
    let custom = Custom { controls, apps };
    let loaded = Arc::clone(&scenario.loaded);
    let switch = cancel.cloned().unwrap_or_default().shared;
    let started = Instant::now();
    let result = py.detach(|| {
        let counted = Cell::new(0);
        let keep_going = |now: Time| {
            let now_ns = now.as_nanos();
            switch.simulated_ns.fetch_add(now_ns - counted.replace(now_ns), Ordering::Relaxed);
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
        Ok(Table { run: Arc::clone(&self.run), table: crate::table::named(name)? })
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
        let switch = cancel.cloned().unwrap_or_default().shared;
        let keep_going = || !switch.cancelled.load(Ordering::Relaxed);
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
    /// Results that did not need a simulation of their own.
    pub(crate) fn new(run: sojourn_record::Run, loaded: Arc<Loaded>) -> Run {
        let transports = engine::transports_json(&loaded.scenario, &Custom::default().controls);
        let account = Account::of_simulator(&Custom::default());
        Run { run: Arc::new(run), loaded, transports, wall_s: 0.0, account }
    }

    fn manifest(&self) -> serde_json::Value {
        let resolved = self.loaded.scenario.resolved();
        let facts = Manifest {
            scenario: engine::resolved_json(&self.loaded.scenario),
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
