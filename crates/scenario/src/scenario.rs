//! A scenario that has been read, checked and resolved, and can be varied.

use std::sync::Arc;

use sojourn_aqm::registry;

use crate::choice::Choice;
use crate::document::Document;
use crate::error::ScenarioError;
use crate::explain;
use crate::json;
use crate::overrides;
use crate::resolve::{self, ReadTrace, Recordings, resolve_over};
use crate::resolved::{App, Capacity, Resolved};
use crate::text::{Buffer, BufferText};
use crate::tree;

/// The notation of a scenario's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// TOML.
    #[default]
    Toml,
    /// JSON of the same shape.
    Json,
}

/// What comes along with a scenario's text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source<'a> {
    /// The notation.
    pub format: Format,
    /// Name of the file, for error messages; empty where there is none.
    pub origin: &'a str,
    /// Dotted keys and TOML values that override the text, in their order.
    pub sets: &'a [(String, String)],
}

/// What an engine checks of a scenario that is legal in itself.
pub type EngineCheck<'a> = dyn Fn(&Resolved) -> Result<(), ScenarioError> + 'a;

/// A scenario as it was written, and what it resolves to.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    document: Document,
    resolved: Resolved,
}

impl Scenario {
    /// Reads, checks and resolves a scenario. `read` delivers the text of a trace file.
    ///
    /// # Errors
    /// [`ScenarioError`] with file, line, dotted path and remedy.
    pub fn load(
        text: &str,
        source: &Source<'_>,
        read: &ReadTrace<'_>,
    ) -> Result<Scenario, ScenarioError> {
        Scenario::load_for(text, source, read, &|_| Ok(()))
    }

    /// The same for an engine that checks what only it knows; the place of its error is a dotted path,
    /// to which file and line are added.
    ///
    /// # Errors
    /// [`ScenarioError`] with file, line, dotted path and remedy.
    pub fn load_for(
        text: &str,
        source: &Source<'_>,
        read: &ReadTrace<'_>,
        check: &EngineCheck<'_>,
    ) -> Result<Scenario, ScenarioError> {
        let (mut root, mut places) = match source.format {
            Format::Toml => tree::from_toml(text, source.origin)?,
            Format::Json => tree::from_json(text, source.origin)?,
        };
        for (key, value) in source.sets {
            let path = overrides::apply(&mut root, key, value)?;
            places.overridden.insert(path);
        }
        tree::put_kinds_first(&mut root);
        let document: Document = explain::typed(root, &places)?;
        let resolved = resolve::resolve(&document, read)
            .and_then(|resolved| check(&resolved).map(|()| resolved))
            .map_err(|error| ScenarioError { place: places.locate(&error.place), ..error })?;
        Ok(Scenario { document, resolved })
    }

    /// The scenario as it was written.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// What engines read.
    pub fn resolved(&self) -> &Resolved {
        &self.resolved
    }

    /// The same scenario with another AQM, in its text form, on a link. The link's buffer stays, be
    /// it written as `buffer` or as the `limit` of the old queue.
    ///
    /// # Errors
    /// [`ScenarioError`] when there is no such link, or the AQM is not legal.
    pub fn with_queue(&self, link: &str, aqm: &str) -> Result<Scenario, ScenarioError> {
        let mut document = self.document.clone();
        let known: Vec<&str> = self.document.links.keys().map(String::as_str).collect();
        let place = format!("links.{link}.queue");
        let written = document.links.get_mut(link).ok_or_else(|| {
            let hint = registry::hint(link, &known);
            ScenarioError::new("links", format!("there is no link `{link}`{hint}"))
        })?;
        let old = resolve::queue(&place, &written.queue)?;
        let new = resolve::queue(&place, &Choice::Text(aqm.to_owned()))?;
        let sets_limit =
            |spec: &sojourn_aqm::QdiscSpec| spec.settings.iter().any(|(name, _)| name == "limit");
        if written.buffer.is_none() && sets_limit(&old) && !sets_limit(&new) {
            let resolved = self.resolved.links.iter().find(|l| l.name == link);
            written.buffer = resolved.map(|link| BufferText(Buffer::Limit(link.limit)));
        }
        written.queue = Choice::Text(aqm.trim().to_owned());
        let resolved = resolve_over(&document, self.capacities(), &self.recordings())?;
        Ok(Scenario { document, resolved })
    }

    /// The same scenario under another seed.
    pub fn with_seed(&self, seed: u64) -> Scenario {
        let mut scenario = self.clone();
        scenario.document.seed = seed;
        scenario.resolved.seed = seed;
        scenario
    }

    /// The resolved scenario as JSON for manifests: every default filled in, every quantity with
    /// its unit, every parameter of every AQM.
    pub fn resolved_json(&self) -> String {
        json::resolved(&self.resolved).to_string()
    }

    /// The scenario as it was written, overrides included, as JSON that [`Scenario::load`] reads.
    pub fn document_json(&self) -> String {
        serde_json::to_string(&self.document).expect("a document has text keys only")
    }

    fn recordings(&self) -> Recordings {
        let flows = self.resolved.flows.iter().enumerate();
        let recorded = flows.filter_map(|(index, group)| match &group.app {
            App::Replay { recording, .. } => Some((index, Arc::clone(recording))),
            _ => None,
        });
        recorded.collect()
    }

    fn capacities(&self) -> Vec<Capacity> {
        self.resolved.links.iter().map(|link| link.capacity.clone()).collect()
    }
}
