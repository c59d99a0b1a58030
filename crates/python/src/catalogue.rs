//! What can be built, for lists and explanations.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sojourn_aqm::params::{Dialect, Kind, ParamSpec};
use sojourn_aqm::registry::{self, LawEntry, PRESETS};
use sojourn_aqm::spec::QdiscSpec;

use crate::engine;
use crate::errors::Refusal;

/// Every AQM, as the stub describes.
#[pyfunction]
pub fn aqms(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for law in registry::laws() {
        list.append(aqm(py, "law", law.name, law.doc, &law, &[])?)?;
    }
    for preset in PRESETS {
        let law = registry::law(preset.law).expect("a preset names a registered law");
        list.append(aqm(py, "preset", preset.name, preset.doc, &law, preset.settings)?)?;
    }
    Ok(list)
}

/// Every congestion control, in the same form.
#[pyfunction]
pub fn ccs(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    engine::ccs(py)
}

/// Checks an AQM in its text form and returns it in canonical form.
#[pyfunction]
pub fn check_aqm(text: &str) -> Result<String, Refusal> {
    let spec = engine::parse_aqm(text)?;
    Ok(spec.to_string())
}

/// The JSON Schema of a scenario.
#[pyfunction]
pub fn schema_json() -> String {
    engine::schema_json()
}

type Settings = [(&'static str, &'static str, &'static str)];

fn aqm<'py>(
    py: Python<'py>,
    kind: &str,
    name: &str,
    doc: &str,
    law: &LawEntry,
    preset: &Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let spec = QdiscSpec::parse(name).expect("a registered name is a legal AQM");
    let defaults = defaults_of(name, law.dialects);
    let params = PyList::empty(py);
    let of_law = (law.params)().iter().map(|p| (p, "law"));
    let of_discipline =
        registry::discipline_params(spec.discipline).iter().map(|p| (p, "discipline"));
    for (param, of) in of_law.chain(of_discipline) {
        let dict = describe(py, param, &defaults, preset)?;
        dict.set_item("of", of)?;
        params.append(dict)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("kind", kind)?;
    dict.set_item("name", name)?;
    dict.set_item("doc", doc)?;
    dict.set_item("dialects", dialects(py, law.dialects)?)?;
    dict.set_item("params", params)?;
    let vars = PyList::empty(py);
    for var in law.vars {
        let row = PyDict::new(py);
        row.set_item("name", var.name)?;
        row.set_item("unit", var.unit)?;
        row.set_item("doc", var.doc)?;
        vars.append(row)?;
    }
    dict.set_item("vars", vars)?;
    Ok(dict)
}

/// Every dialect with all its settings.
type Defaults = Vec<(&'static str, Vec<(&'static str, String)>)>;

fn defaults_of(name: &str, dialects: &'static [Dialect]) -> Defaults {
    let of = |dialect: &Dialect| {
        let spec = QdiscSpec::new(name, Some(dialect.name), Vec::new()).expect("a known dialect");
        (dialect.name, registry::settings(&spec).expect("defaults are legal"))
    };
    dialects.iter().map(of).collect()
}

/// A parameter: meaning, kind, rule, and the default of every dialect with its source.
pub fn describe<'py>(
    py: Python<'py>,
    param: &ParamSpec,
    defaults: &Defaults,
    preset: &Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let (texts, sources) = (PyDict::new(py), PyDict::new(py));
    for (dialect, settings) in defaults {
        let text = settings.iter().find(|(name, _)| *name == param.name).map(|(_, text)| text);
        texts.set_item(dialect, text)?;
        let of_preset = preset.iter().find(|(name, ..)| *name == param.name).map(|s| s.2);
        let of_dialect = param.sources.iter().find(|(name, _)| name == dialect);
        let source = of_preset.or(of_dialect.or(param.sources.first()).map(|s| s.1));
        sources.set_item(dialect, source)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("name", param.name)?;
    dict.set_item("doc", param.doc.trim())?;
    dict.set_item("kind", kind_word(param.kind))?;
    dict.set_item("absent", param.absent)?;
    dict.set_item("rule", param.rule)?;
    dict.set_item("words", param.words.to_vec())?;
    dict.set_item("defaults", texts)?;
    dict.set_item("sources", sources)?;
    Ok(dict)
}

/// Dialects as dictionaries.
pub fn dialects<'py>(py: Python<'py>, dialects: &[Dialect]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for dialect in dialects {
        let dict = PyDict::new(py);
        dict.set_item("name", dialect.name)?;
        dict.set_item("doc", dialect.doc)?;
        list.append(dict)?;
    }
    Ok(list)
}

const fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Span => "time",
        Kind::Hertz => "frequency",
        Kind::Number => "number",
        Kind::Whole => "whole number",
        Kind::Bytes => "bytes",
        Kind::Limit => "limit",
        Kind::Rate => "rate",
        Kind::Bool => "bool",
        Kind::Word => "word",
    }
}
