//! A scenario that has been parsed, checked and resolved, and from which variants can be made.

use std::sync::Arc;

use sojourn_aqm::{CustomLaw, CustomLaws, registry};

use crate::document::Document;
use crate::document::algorithm::AlgorithmSpec;
use crate::document::quantities::{Buffer, BufferText};
use crate::error::ScenarioError;
use crate::parse::{self, Locations, Source};
use crate::resolve::{self, ReadFile, Recordings, resolve_over};
use crate::resolved::{Capacity, Resolved};

/// An engine's own check of a scenario that is otherwise legal.
pub type EngineCheck<'a> = dyn Fn(&Resolved) -> Result<(), ScenarioError> + 'a;

/// A scenario as written, and its resolved form.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    document: Document,
    resolved: Resolved,
    laws: CustomLaws,
}

impl Scenario {
    /// Parses, checks and resolves a scenario. `read` returns the text of a trace or a recording.
    ///
    /// # Errors
    /// [`ScenarioError`] with file, line, dotted path and remedy.
    pub fn load(
        text: &str,
        source: &Source<'_>,
        read: &ReadFile<'_>,
    ) -> Result<Scenario, ScenarioError> {
        Scenario::load_for(text, source, read, &|_| Ok(()))
    }

    /// Like [`Scenario::load`], followed by an engine's own check. The check's error must have a
    /// dotted path as its place; file and line are added to it.
    ///
    /// # Errors
    /// [`ScenarioError`] with file, line, dotted path and remedy.
    pub fn load_for(
        text: &str,
        source: &Source<'_>,
        read: &ReadFile<'_>,
        check: &EngineCheck<'_>,
    ) -> Result<Scenario, ScenarioError> {
        let (root, mut locations) = parse::tree(text, source.format, source.origin)?;
        let document = parse::over(root, source.sets, &mut locations)?;
        Scenario::of(document, &locations, read, check)
    }

    /// The scenario as written, checked and resolved.
    pub(crate) fn of(
        document: Document,
        locations: &Locations<'_>,
        read: &ReadFile<'_>,
        check: &EngineCheck<'_>,
    ) -> Result<Scenario, ScenarioError> {
        let laws = CustomLaws::default();
        let resolved = resolve::resolve(&document, read, &laws)
            .and_then(|resolved| check(&resolved).map(|()| resolved))
            .map_err(|error| ScenarioError { place: locations.locate(&error.place), ..error })?;
        Ok(Scenario { document, resolved, laws })
    }

    /// The same scenario with custom laws, which queues may use through [`Scenario::with_queue`].
    /// The text of a scenario never names code.
    ///
    /// # Errors
    /// [`ScenarioError`] if two laws have the same name.
    pub fn with_laws(
        &self,
        laws: impl IntoIterator<Item = CustomLaw>,
    ) -> Result<Scenario, ScenarioError> {
        let laws = CustomLaws::new(self.laws.iter().cloned().chain(laws));
        let laws = laws.map_err(|error| ScenarioError::new("", error.message))?;
        Ok(Scenario { laws, ..self.clone() })
    }

    /// The custom laws that queues may use in addition to the registered ones.
    pub fn laws(&self) -> &CustomLaws {
        &self.laws
    }

    /// The scenario as written.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The resolved scenario, which engines read.
    pub fn resolved(&self) -> &Resolved {
        &self.resolved
    }

    /// The same scenario with another AQM on a link, given in its text form. The link keeps its
    /// buffer, whether it was written as `buffer` or as the `limit` of the old queue.
    ///
    /// # Errors
    /// [`ScenarioError`] if the scenario has no such link, or the AQM is not legal.
    pub fn with_queue(&self, link: &str, aqm: &str) -> Result<Scenario, ScenarioError> {
        let mut document = self.document.clone();
        let known: Vec<&str> = self.document.links.keys().map(String::as_str).collect();
        let place = format!("links.{link}.queue");
        let written = document.links.get_mut(link).ok_or_else(|| {
            let hint = registry::hint(link, &known);
            ScenarioError::new("links", format!("unknown link `{link}`{hint}"))
        })?;
        let old = resolve::queue(&place, &written.queue, &self.laws)?;
        let new = resolve::queue(&place, &AlgorithmSpec::Text(aqm.to_owned()), &self.laws)?;
        let sets_limit =
            |spec: &sojourn_aqm::QdiscSpec| spec.settings.iter().any(|(name, _)| name == "limit");
        if written.buffer.is_none() && sets_limit(&old) && !sets_limit(&new) {
            let resolved = self.resolved.links.iter().find(|l| l.name == link);
            written.buffer = resolved.map(|link| BufferText(Buffer::Limit(link.limit)));
        }
        written.queue = AlgorithmSpec::Text(aqm.trim().to_owned());
        let (capacities, recorded) = (self.capacities(), self.recordings());
        let resolved = resolve_over(&document, capacities, &recorded, &self.laws)?;
        Ok(Scenario { document, resolved, laws: self.laws.clone() })
    }

    /// The same scenario with another seed.
    pub fn with_seed(&self, seed: u64) -> Scenario {
        let mut scenario = self.clone();
        scenario.document.seed = seed;
        scenario.resolved.seed = seed;
        scenario
    }

    /// The resolved scenario as JSON for manifests: every default filled in, every quantity with
    /// its unit, every parameter of every AQM.
    pub fn resolved_json(&self) -> String {
        self.resolved.to_json().to_string()
    }

    /// The scenario as written, overrides included, as JSON that [`Scenario::load`] parses.
    pub fn document_json(&self) -> String {
        serde_json::to_string(&self.document).expect("a document has text keys only")
    }

    fn recordings(&self) -> Recordings {
        let flows = self.resolved.flows.iter().enumerate();
        let recorded =
            flows.filter_map(|(index, group)| Some((index, Arc::clone(group.app.recording()?))));
        recorded.collect()
    }

    fn capacities(&self) -> Vec<Capacity> {
        self.resolved.links.iter().map(|link| link.capacity.clone()).collect()
    }
}
