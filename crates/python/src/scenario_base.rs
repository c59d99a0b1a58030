//! Many scenarios of one text, parsed once: the points of a study.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;

use crate::engine::{self, Source};
use crate::errors::Refusal;
use crate::interruptible::interruptible;
use crate::scenario::Scenario;

/// A scenario's text, parsed once, from which scenarios with different overrides are resolved.
#[pyclass(frozen, module = "sojourn._core")]
pub struct ScenarioBase {
    text: Arc<Text>,
}

struct Text {
    source: Source,
    folder: PathBuf,
    base: sojourn_scenario::ScenarioBase,
}

/// A scenario, its resolved form as JSON, and its links as JSON.
type Member = (Scenario, String, String);

#[pymethods]
impl ScenarioBase {
    /// Reads TOML or JSON text.
    #[new]
    #[pyo3(signature = (text, *, format="toml".to_owned(), origin="", folder=PathBuf::from(".")))]
    fn new(
        py: Python<'_>,
        text: String,
        format: String,
        origin: &str,
        folder: PathBuf,
    ) -> PyResult<ScenarioBase> {
        let source = Source { text, origin: origin.to_owned(), sets: Vec::new() };
        let parsed = interruptible(py, move || {
            engine::base(&source, &format).map(|base| Text { source, folder, base })
        })??;
        Ok(ScenarioBase { text: Arc::new(parsed) })
    }

    /// The scenarios with these overrides; one thread resolves them all.
    fn scenarios(&self, py: Python<'_>, each: Vec<Vec<(String, String)>>) -> PyResult<Vec<Member>> {
        let text = Arc::clone(&self.text);
        let found = interruptible(py, move || {
            each.into_iter().map(|sets| text.member(sets)).collect::<Result<Vec<_>, Refusal>>()
        })?;
        Ok(found?)
    }
}

impl Text {
    fn member(&self, sets: Vec<(String, String)>) -> Result<Member, Refusal> {
        let source = Source { sets, ..self.source.clone() };
        let loaded = engine::load_over(&self.base, source, &self.folder)?;
        let resolved = engine::resolved_json(&loaded.scenario);
        let links = resolved["links"].to_string();
        Ok((loaded.into(), resolved.to_string(), links))
    }
}
