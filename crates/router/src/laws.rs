//! Laws of a plan that are not in the registry: their names in the plan, and the laws that the
//! process executing the plan has loaded.

use std::fmt;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use sojourn_aqm::custom::{CustomLaw, Failures, LawFailure};
use sojourn_aqm::{CustomLaws, QdiscSpec, SpecError};

/// A law as named by a plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedLaw {
    /// Its name in text forms; for a Python law also the name of its class.
    pub name: String,
    /// The file with its code.
    pub file: String,
    /// The code, with its digest.
    pub source: String,
}

impl PlannedLaw {
    /// If the law of a queue is not in the registry, adds it to the list of a plan.
    ///
    /// # Errors
    /// Returns a sentence if the law has no file from which another process could load it.
    pub(crate) fn note(spec: &QdiscSpec, laws: &mut Vec<PlannedLaw>) -> Result<(), String> {
        let Some(law) = &spec.custom else { return Ok(()) };
        let (name, source) = (law.name().to_owned(), law.source().to_owned());
        let Some(file) = law.file() else {
            return Err(format!(
                "the law `{name}` is in no file that another process could load; write it to one \
                 and name that, such as mine.py:{name}"
            ));
        };
        if laws.iter().all(|known| known.name != name) {
            laws.push(PlannedLaw { name, file: file.to_owned(), source });
        }
        Ok(())
    }
}

/// The laws that a router's process has loaded, and their first failure.
#[derive(Clone, Default)]
pub struct LoadedLaws {
    laws: CustomLaws,
    #[cfg(target_os = "linux")] // the router runs only on Linux
    first: Arc<First>,
}

#[derive(Default)]
struct First(Mutex<Option<String>>);

impl Failures for First {
    fn report(&self, failure: LawFailure) {
        let mut first = self.0.lock().expect("nobody panics while holding it");
        first.get_or_insert_with(|| failure.to_string());
    }
}

impl LoadedLaws {
    /// A set of loaded laws.
    ///
    /// # Errors
    ///
    /// Returns a sentence if two of them have the same name.
    pub fn new(laws: impl IntoIterator<Item = CustomLaw>) -> Result<LoadedLaws, String> {
        let first = Arc::new(First::default());
        let failures = Arc::clone(&first) as Arc<dyn Failures>;
        let laws = laws.into_iter().map(|law| law.reporting_to(Arc::clone(&failures)));
        let laws = CustomLaws::new(laws).map_err(|error| error.message)?;
        Ok(LoadedLaws {
            laws,
            #[cfg(target_os = "linux")]
            first,
        })
    }

    /// Parses a queue's text form, which may name a loaded law.
    pub(crate) fn parse(&self, text: &str) -> Result<QdiscSpec, SpecError> {
        QdiscSpec::parse_with(text, &self.laws)
    }

    /// The first failure of a loaded law, if any.
    #[cfg(target_os = "linux")]
    pub(crate) fn failure(&self) -> Option<String> {
        self.first.0.lock().expect("nobody panics while holding it").clone()
    }
}

impl fmt::Debug for LoadedLaws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.laws.fmt(f)
    }
}
