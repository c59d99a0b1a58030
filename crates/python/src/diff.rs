//! Two AQMs on the same arrivals.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_aqm::{Time, Var};
use sojourn_sim::Custom;
use sojourn_sim::diff::{self as sim, First};

use crate::cancel::Cancel;
use crate::control::Failure;
use crate::engine;
use crate::run::Run;
use crate::scenario::Scenario;

/// The replays of two AQMs, and their first difference.
#[pyclass(frozen, module = "sojourn._core")]
pub struct Diff {
    arrivals: usize,
    different: usize,
    first: Option<First>,
    flows: Vec<String>,
    sides: [Py<Run>; 2],
}

/// Runs the first scenario and replays the arrivals at `link` under both AQMs; releases the GIL.
#[pyfunction]
#[pyo3(signature = (first, second, link, cancel=None))]
pub fn diff(
    py: Python<'_>,
    first: &Scenario,
    second: &Scenario,
    link: &str,
    cancel: Option<&Cancel>,
) -> PyResult<Diff> {
    let loaded = [Arc::clone(&first.loaded), Arc::clone(&second.loaded)];
    let place = engine::place_of(&loaded[0].scenario, link)?;
    let (cancel, failure) = (cancel.cloned().unwrap_or_default(), Failure::default());
    let custom = Custom { stacks: (*first.stacks).clone(), ..Custom::default() };
    let result = py.detach(|| {
        let plan =
            |loaded: &Arc<engine::Loaded>| engine::plan_reporting_to(&loaded.scenario, &failure);
        let plans = loaded.each_ref().map(plan);
        let goes_on = |now: Time| cancel.goes_on(now, &failure);
        sim::diff(plans.each_ref(), &custom, place, &goes_on)
    });
    failure.check()?;
    let found = engine::finished(result)?;
    let sim::Diff { arrivals, different, first, sides: [a, b] } = found;
    let flows = a.flows.clone();
    let [own, others] = loaded;
    let sides = [Py::new(py, Run::new(a, own))?, Py::new(py, Run::new(b, others))?];
    Ok(Diff { arrivals, different, first, flows, sides })
}

#[pymethods]
impl Diff {
    #[getter]
    fn arrivals(&self) -> usize {
        self.arrivals
    }

    #[getter]
    fn different(&self) -> usize {
        self.different
    }

    /// The replays, packets in the order of arrival.
    #[getter]
    fn sides(&self, py: Python<'_>) -> (Py<Run>, Py<Run>) {
        let [a, b] = &self.sides;
        (a.clone_ref(py), b.clone_ref(py))
    }

    /// The first signal that only one of them gave, as the stub describes.
    #[getter]
    fn first<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(first) = &self.first else { return Ok(None) };
        let signal = &first.signal;
        let dict = PyDict::new(py);
        dict.set_item("side", first.side)?;
        dict.set_item("packet", first.packet)?;
        dict.set_item("t_ns", signal.t.as_nanos())?;
        dict.set_item("flow", &self.flows[signal.flow as usize])?;
        dict.set_item("seq", signal.seq)?;
        dict.set_item("bytes", signal.bytes)?;
        dict.set_item("sojourn_ns", signal.sojourn.as_nanos())?;
        dict.set_item("fate", if signal.is_mark { "marked" } else { "dropped" })?;
        dict.set_item("stage", signal.stage.word())?;
        dict.set_item("cause", signal.cause.class().word())?;
        dict.set_item("evidence", state(&first.evidence))?;
        dict.set_item("states", first.states.each_ref().map(|of| state(of)))?;
        Ok(Some(dict))
    }
}

/// Name, value and unit of every variable.
fn state(values: &[(Var, f64)]) -> Vec<(&'static str, f64, &'static str)> {
    values.iter().map(|(var, value)| (var.name, *value, var.unit)).collect()
}
