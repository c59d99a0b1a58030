//! Everything that can be built, for lists and explanations.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sojourn_aqm::params::{Dialect, ParamSpec, StepTable};
use sojourn_aqm::{Var, registry};
use sojourn_scenario::aqms::AqmInfo;
use sojourn_sim::cc;
use sojourn_sim::tcp::profile::PROFILES;
use sojourn_sim::tcp::rules::RULES;

use crate::engine;
use crate::errors::Refusal;
use crate::law::CustomLaw;

/// Every AQM, as the stub describes.
#[pyfunction]
pub fn aqms(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for info in AqmInfo::all() {
        list.append(aqm(py, &info)?)?;
    }
    Ok(list)
}

/// Describes one AQM by its text form, `fq(pie@linux)` included, in the same form and with the
/// requested dialect.
#[pyfunction]
#[pyo3(signature = (text, laws=Vec::new()))]
pub fn describe_aqm<'py>(
    py: Python<'py>,
    text: &str,
    laws: Vec<CustomLaw>,
) -> PyResult<Bound<'py, PyDict>> {
    let spec = engine::parse_aqm(text, laws)?;
    let dict = aqm(py, &AqmInfo::of(&spec))?;
    let dialect = spec.dialect.as_ref().map(|_| registry::dialect_of(&spec));
    dict.set_item("dialect", dialect)?;
    Ok(dict)
}

/// Renames an AQM in the newest kernel's dialect to the kernel of this version, if that one's
/// decisions differ; returns any other AQM unchanged.
#[pyfunction]
#[pyo3(signature = (text, version, laws=Vec::new()))]
pub fn aqm_of_kernel(text: &str, version: &str, laws: Vec<CustomLaw>) -> Result<String, Refusal> {
    let spec = engine::parse_aqm(text, laws)?;
    let series = sojourn_router::planning::release_of(version);
    Ok(series.map_or_else(|| spec.clone(), |it| registry::of_series(&spec, it)).to_string())
}

/// Every congestion control, in the same form.
#[pyfunction]
pub fn ccs(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for entry in cc::controls() {
        let dict = head(py, "cc", entry.name, entry.doc, entry.dialects)?;
        let params = PyList::empty(py);
        for spec in (entry.params)() {
            let default = |dialect: &str| (entry.default_of)(dialect, spec.name);
            let source = |dialect: &str| spec.source_of(dialect);
            params.append(param(py, spec, entry.dialects, default, source, "cc")?)?;
        }
        dict.set_item("params", params)?;
        dict.set_item("behaviours", PyList::empty(py))?;
        dict.set_item("vars", vars(py, entry.vars)?)?;
        list.append(dict)?;
    }
    Ok(list)
}

/// Every TCP profile: name, meaning, and its rules.
#[pyfunction]
pub fn tcps(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for profile in &PROFILES {
        let rules = PyList::empty(py);
        for rule in &RULES {
            let row = PyDict::new(py);
            row.set_item("name", rule.name)?;
            row.set_item("value", (rule.of)(profile))?;
            row.set_item("doc", rule.doc)?;
            rules.append(row)?;
        }
        let dict = PyDict::new(py);
        dict.set_item("kind", "tcp")?;
        dict.set_item("name", profile.name)?;
        dict.set_item("doc", profile.doc)?;
        dict.set_item("rules", rules)?;
        list.append(dict)?;
    }
    Ok(list)
}

/// Checks an AQM in its text form and returns it in canonical form.
#[pyfunction]
#[pyo3(signature = (text, laws=Vec::new()))]
pub fn check_aqm(text: &str, laws: Vec<CustomLaw>) -> Result<String, Refusal> {
    let spec = engine::parse_aqm(text, laws)?;
    Ok(spec.to_string())
}

/// The JSON Schema of a scenario.
#[pyfunction]
pub fn schema_json() -> String {
    sojourn_scenario::schema_json()
}

fn aqm<'py>(py: Python<'py>, info: &AqmInfo) -> PyResult<Bound<'py, PyDict>> {
    let role = match (info.is_preset, info.is_law) {
        (true, _) => "preset",
        (false, true) => "law",
        (false, false) if info.name != info.law => "preset",
        (false, false) => "discipline",
    };
    let dict = head(py, role, &info.name, info.doc, &info.dialects)?;
    let params = PyList::empty(py);
    let of_law = info.law_params.iter().map(|spec| (spec, "law"));
    let of_discipline = info.discipline_params.iter().map(|spec| (spec, "discipline"));
    for (spec, of) in of_law.chain(of_discipline) {
        let default = |dialect: &str| Some(info.default_of(dialect, spec.name));
        let source = |dialect: &str| info.source_of(dialect, spec);
        let row = param(py, spec, &info.dialects, default, source, of)?;
        let idle = info.dialects.iter().filter(|d| !info.has_effect(d.name, spec.name));
        row.set_item("without_effect", idle.map(|d| d.name).collect::<Vec<_>>())?;
        params.append(row)?;
    }
    dict.set_item("params", params)?;
    dict.set_item("behaviours", behaviours(py, info)?)?;
    dict.set_item("vars", vars(py, info.vars)?)?;
    dict.set_item("step_tables", step_tables(py, info.step_tables)?)?;
    let kernels = info.kernels.iter().map(|kernel| (kernel.word, kernel.release));
    dict.set_item("kernels", kernels.collect::<Vec<_>>())?;
    Ok(dict)
}

/// Tables of step factors: keyed by the parameter that selects one, then by its value, with rows of
/// (drop probability below which the row holds, factor). The last row has no bound: `None`.
fn step_tables<'py>(py: Python<'py>, tables: &[StepTable]) -> PyResult<Bound<'py, PyDict>> {
    let params = PyDict::new(py);
    for table in tables {
        let words = match params.get_item(table.param)? {
            Some(words) => words.cast_into::<PyDict>()?,
            None => PyDict::new(py),
        };
        let rows = table.rows.iter().map(|&(below, factor)| (finite(below), factor));
        words.set_item(table.word, rows.collect::<Vec<_>>())?;
        params.set_item(table.param, words)?;
    }
    Ok(params)
}

/// JSON has no infinity.
fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// State variables: name, unit, meaning.
fn vars<'py>(py: Python<'py>, vars: &[Var]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for var in vars {
        let row = PyDict::new(py);
        row.set_item("name", var.name)?;
        row.set_item("unit", var.unit)?;
        row.set_item("doc", var.doc)?;
        list.append(row)?;
    }
    Ok(list)
}

/// Rule and source of every behaviour in every dialect.
fn behaviours<'py>(py: Python<'py>, info: &AqmInfo) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for behaviour in &info.behaviours {
        let (rules, sources) = (PyDict::new(py), PyDict::new(py));
        for dialect in &info.dialects {
            let (rule, source) = behaviour.of(dialect.name);
            rules.set_item(dialect.name, rule)?;
            sources.set_item(dialect.name, source)?;
        }
        let dict = PyDict::new(py);
        dict.set_item("name", behaviour.name)?;
        dict.set_item("rules", rules)?;
        dict.set_item("sources", sources)?;
        list.append(dict)?;
    }
    Ok(list)
}

/// Name, meaning and dialects.
fn head<'py>(
    py: Python<'py>,
    kind: &str,
    name: &str,
    doc: &str,
    dialects: &[Dialect],
) -> PyResult<Bound<'py, PyDict>> {
    let list = PyList::empty(py);
    for dialect in dialects {
        let row = PyDict::new(py);
        row.set_item("name", dialect.name)?;
        row.set_item("doc", dialect.doc)?;
        list.append(row)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("kind", kind)?;
    dict.set_item("name", name)?;
    dict.set_item("doc", doc)?;
    dict.set_item("dialects", list)?;
    Ok(dict)
}

/// A parameter: meaning, kind, rule, and the default of every dialect with its source.
fn param<'py>(
    py: Python<'py>,
    spec: &ParamSpec,
    dialects: &[Dialect],
    default: impl Fn(&str) -> Option<String>,
    source: impl Fn(&str) -> &'static str,
    of: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let (defaults, sources) = (PyDict::new(py), PyDict::new(py));
    for dialect in dialects {
        defaults.set_item(dialect.name, default(dialect.name))?;
        sources.set_item(dialect.name, source(dialect.name))?;
    }
    let dict = PyDict::new(py);
    dict.set_item("name", spec.name)?;
    dict.set_item("doc", spec.doc.trim())?;
    dict.set_item("kind", spec.kind.word())?;
    dict.set_item("absent", spec.absent)?;
    dict.set_item("rule", spec.rule)?;
    dict.set_item("words", spec.words.to_vec())?;
    dict.set_item("defaults", defaults)?;
    dict.set_item("sources", sources)?;
    dict.set_item("of", of)?;
    Ok(dict)
}
