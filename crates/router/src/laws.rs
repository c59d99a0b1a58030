//! Laws of a plan that are not in the registry: how a plan names them, since another process
//! carries it out, and what that process has loaded.

use std::fmt;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use sojourn_aqm::custom::{CustomLaw, Failures, LawFailure};
use sojourn_aqm::{CustomLaws, QdiscSpec, SpecError};

/// A law as a plan names it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedLaw {
    /// Its name in text forms; of a law in Python also that of its class.
    pub name: String,
    /// Where its code is.
    pub file: String,
    /// The code, with its digest.
    pub source: String,
}

impl PlannedLaw {
    /// The law of a queue, if it is not in the registry, for the list of a plan.
    ///
    /// # Errors
    /// A sentence: the law has no file, so that no other process can load it.
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

/// The laws that the process of a router has loaded, and the first of their failures.
#[derive(Clone, Default)]
pub struct LoadedLaws {
    laws: CustomLaws,
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
    /// These laws.
    ///
    /// # Errors
    /// A sentence, when two of them have one name.
    pub fn new(laws: impl IntoIterator<Item = CustomLaw>) -> Result<LoadedLaws, String> {
        let first = Arc::new(First::default());
        let failures = Arc::clone(&first) as Arc<dyn Failures>;
        let laws = laws.into_iter().map(|law| law.reporting_to(Arc::clone(&failures)));
        let laws = CustomLaws::new(laws).map_err(|error| error.message)?;
        Ok(LoadedLaws { laws, first })
    }

    /// A queue in its text form, which may name one of them.
    pub(crate) fn parse(&self, text: &str) -> Result<QdiscSpec, SpecError> {
        QdiscSpec::parse_with(text, &self.laws)
    }

    /// What went wrong in one of them, if anything did.
    pub(crate) fn failure(&self) -> Option<String> {
        self.first.0.lock().expect("nobody panics while holding it").clone()
    }
}

impl fmt::Debug for LoadedLaws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.laws.fmt(f)
    }
}
