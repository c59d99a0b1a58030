//! Scenarios: reading, checking, and the few changes a comparison makes.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use sojourn_endpoint::Stacks;

use crate::app::AppClass;
use crate::endpoint::{self, LibraryFile};
use crate::engine::{self, Loaded, Source};
use crate::errors::Refusal;
use crate::interruptible::interruptible;
use crate::law::CustomLaw;

/// A scenario that has been read, checked and resolved. Immutable.
#[pyclass(frozen, module = "sojourn._core")]
pub struct Scenario {
    pub(crate) loaded: Arc<Loaded>,
    /// Applications of the caller, by the name of the flows that have them.
    pub(crate) apps: Arc<Vec<AppClass>>,
    /// Transport libraries of the caller.
    pub(crate) stacks: Arc<Stacks>,
}

impl From<Loaded> for Scenario {
    fn from(loaded: Loaded) -> Scenario {
        Scenario { loaded: Arc::new(loaded), apps: Arc::default(), stacks: Arc::default() }
    }
}

#[pymethods]
impl Scenario {
    /// Reads a scenario from TOML or JSON text.
    #[staticmethod]
    #[pyo3(signature = (
        text, *, format="toml".to_owned(), origin="", folder=PathBuf::from("."), sets=Vec::new()
    ))]
    fn load(
        py: Python<'_>,
        text: String,
        format: String,
        origin: &str,
        folder: PathBuf,
        sets: Vec<(String, String)>,
    ) -> PyResult<Scenario> {
        let source = Source { text, origin: origin.to_owned(), sets };
        let loaded = interruptible(py, move || engine::load(source, &format, &folder))??;
        Ok(loaded.into())
    }

    #[getter]
    fn name(&self) -> &str {
        &self.loaded.scenario.resolved().name
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.loaded.scenario.resolved().seed
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.loaded.scenario.resolved().duration.as_secs()
    }

    /// A run's need for memory, by the key that determines it: (place, what, bytes, whether it
    /// lasts as long as the result).
    fn memory_needs(&self) -> Vec<(String, String, f64, bool)> {
        let needs = sojourn_sim::memory_needs(self.loaded.scenario.resolved());
        needs.into_iter().map(|need| (need.place, need.what, need.bytes, need.stays)).collect()
    }

    /// The memory that the packets of a capture need, in bytes.
    fn capture_bytes(&self) -> f64 {
        sojourn_sim::capture::memory_bytes(self.loaded.scenario.resolved())
    }

    #[getter]
    fn links(&self) -> Vec<&str> {
        self.loaded.scenario.resolved().links.iter().map(|link| link.name.as_str()).collect()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.loaded.scenario.resolved().warnings.clone()
    }

    /// The text it was read from.
    #[getter]
    fn source(&self) -> &str {
        &self.loaded.source.text
    }

    /// The file that it was read from, as named in error messages.
    #[getter]
    fn origin(&self) -> &str {
        &self.loaded.source.origin
    }

    /// The line of the key or entry at a dotted path, such as `expect[0]`; None in JSON.
    fn line_of(&self, path: &str) -> Option<usize> {
        sojourn_scenario::line_of(&self.loaded.source.text, path)
    }

    /// Dotted keys and values that override the text.
    #[getter]
    fn sets(&self) -> Vec<(String, String)> {
        self.loaded.source.sets.clone()
    }

    /// The AQM of a link in its text form.
    fn queue(&self, link: &str) -> Result<String, Refusal> {
        Ok(engine::queue(&self.loaded.scenario, link)?.to_string())
    }

    /// The same scenario with another AQM on `link`; the link's buffer stays.
    fn with_queue(&self, link: &str, aqm: &str) -> Result<Scenario, Refusal> {
        Ok(self.varied(self.loaded.scenario.with_queue(link, aqm)?))
    }

    /// The same scenario with custom laws that its queues may use.
    fn with_laws(&self, laws: Vec<CustomLaw>) -> Result<Scenario, Refusal> {
        let laws = laws.into_iter().map(|custom| custom.law);
        Ok(self.varied(self.loaded.scenario.with_laws(laws)?))
    }

    /// The code of custom laws in its queues.
    #[getter]
    fn law_sources(&self) -> Vec<&'static str> {
        let links = self.loaded.scenario.resolved().links.iter();
        links.filter_map(|link| link.queue.custom.as_ref().map(|law| law.source())).collect()
    }

    /// The same scenario, with these applications for the flows of these names.
    fn with_apps(&self, apps: Vec<AppClass>) -> Scenario {
        let (loaded, stacks) = (Arc::clone(&self.loaded), Arc::clone(&self.stacks));
        Scenario { loaded, apps: Arc::new(apps), stacks }
    }

    /// The same scenario with transport libraries, keyed by its name of the transport.
    fn with_endpoints(
        &self,
        endpoints: Vec<(String, String, Option<LibraryFile>)>,
    ) -> Result<Scenario, Refusal> {
        let stack = |(transport, text, file): (String, String, Option<LibraryFile>)| {
            let stack = endpoint::configured(&transport, &text, file)?;
            Ok((transport, stack))
        };
        let stacks = endpoints.into_iter().map(stack).collect::<Result<Stacks, Refusal>>()?;
        let (loaded, apps) = (Arc::clone(&self.loaded), Arc::clone(&self.apps));
        Ok(Scenario { loaded, apps, stacks: Arc::new(stacks) })
    }

    /// Those libraries in full, as manifests name them.
    #[getter]
    fn endpoint_sources(&self) -> Vec<String> {
        let stacks = self.stacks.iter();
        stacks.map(|(transport, stack)| format!("{transport}={}", stack.in_full)).collect()
    }

    /// Checks that every transport has a library that carries what its flows send, and that every
    /// library is used.
    fn check_endpoints(&self) -> PyResult<()> {
        let plan = self.loaded.scenario.resolved();
        engine::finished(sojourn_sim::check_stacks(plan, &self.stacks))
    }

    /// One warning for every library whose runs with one seed may differ.
    #[getter]
    fn endpoint_warnings(&self) -> Vec<String> {
        self.stacks.iter().filter_map(|(transport, stack)| stack.doubt(transport)).collect()
    }

    /// Whether runs with one seed are the same, as far as its libraries know.
    #[getter]
    fn repeats(&self) -> bool {
        self.stacks.values().all(|stack| stack.stack.unrepeatable().is_none())
    }

    /// The code of those applications.
    #[getter]
    fn app_sources(&self) -> Vec<String> {
        self.apps.iter().map(|(_, _, source)| source.clone()).collect()
    }

    /// Whether a topology generated some of its links.
    #[getter]
    fn has_topology(&self) -> bool {
        self.loaded.scenario.document().topology.is_some()
    }

    /// The same scenario under another seed.
    fn with_seed(&self, seed: u64) -> Scenario {
        self.varied(self.loaded.scenario.with_seed(seed))
    }

    /// The effective parameters of every link's queue: a JSON array.
    fn effective_json(&self) -> String {
        engine::effective_json(&self.loaded.scenario).to_string()
    }

    /// The resolved scenario as JSON.
    fn resolved_json(&self, py: Python<'_>) -> PyResult<String> {
        let loaded = Arc::clone(&self.loaded);
        interruptible(py, move || loaded.scenario.resolved_json())
    }

    /// The scenario as it was written, overrides included, as JSON that `load` reads.
    fn document_json(&self, py: Python<'_>) -> PyResult<String> {
        let loaded = Arc::clone(&self.loaded);
        interruptible(py, move || loaded.scenario.document_json())
    }

    fn __repr__(&self) -> String {
        let resolved = &self.loaded.scenario.resolved();
        format!(
            "<sojourn scenario {}, {}, seed {}>",
            resolved.name, resolved.duration, resolved.seed
        )
    }
}

impl Scenario {
    fn varied(&self, scenario: sojourn_scenario::Scenario) -> Scenario {
        let loaded = Loaded { source: self.loaded.source.clone(), scenario };
        let (apps, stacks) = (Arc::clone(&self.apps), Arc::clone(&self.stacks));
        Scenario { loaded: Arc::new(loaded), apps, stacks }
    }
}
