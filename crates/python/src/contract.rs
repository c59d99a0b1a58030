//! The contract of laws, examined.

use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use sojourn_aqm::contract::{self, Subject};
use sojourn_aqm::custom::{Failures, LawFailure};
use sojourn_aqm::params::ParamSpec;
use sojourn_aqm::{Discipline, QdiscSpec, registry};

use crate::engine;
use crate::errors::Refusal;
use crate::law::CustomLaw;

/// The first failure since the last call.
#[derive(Default)]
struct Noted(Mutex<Option<String>>);

impl Failures for Noted {
    fn report(&self, failure: LawFailure) {
        let mut noted = self.0.lock().expect("nobody panics while holding it");
        noted.get_or_insert_with(|| failure.to_string());
    }
}

/// Every rule of the contract: (rule, whether it held or `None` if it does not apply, how it was
/// tested or what broke it).
#[pyfunction]
#[pyo3(signature = (text, laws=Vec::new(), operations=1_000_000))]
pub fn examine_law(
    py: Python<'_>,
    text: &str,
    laws: Vec<CustomLaw>,
    operations: u64,
) -> Result<Vec<(String, Option<bool>, String)>, Refusal> {
    let spec = engine::parse_aqm(text, laws)?;
    let (params, unused) = match (&spec.custom, registry::law(&spec.law)) {
        (Some(law), _) => (law.specs(), &[][..]),
        (None, Some(law)) => {
            let dialect = spec.dialect.as_deref().unwrap_or(law.dialects[0].name);
            ((law.params)(), (law.unused)(dialect))
        }
        (None, None) => (&[][..], &[][..]),
    };
    let params: Vec<ParamSpec> =
        params.iter().filter(|param| !unused.contains(&param.name)).copied().collect();
    if spec.discipline != Discipline::Fifo {
        return Err(Refusal::new(
            text,
            "the contract is that of a law; name one without `fq(...)`",
        ));
    }
    let findings = py.detach(|| with_failures(spec, &params, operations, contract::examine));
    Ok(findings.into_iter().map(|it| (it.promise.to_owned(), it.held, it.detail)).collect())
}

/// Whether an AQM makes the same decisions twice, with the same seed and `operations` random
/// operations.
#[pyfunction]
pub fn law_repeats(
    py: Python<'_>,
    text: &str,
    laws: Vec<CustomLaw>,
    operations: u64,
) -> Result<bool, Refusal> {
    let spec = engine::parse_aqm(text, laws)?;
    Ok(py.detach(|| with_failures(spec, &[], operations, contract::repeats)))
}

/// Examines a law and collects the failures that it reports.
fn with_failures<T>(
    mut spec: QdiscSpec,
    params: &[ParamSpec],
    operations: u64,
    examine: impl Fn(&Subject<'_>) -> T,
) -> T {
    let noted = Arc::new(Noted::default());
    spec.custom = spec.custom.map(|law| law.reporting_to(Arc::clone(&noted) as Arc<dyn Failures>));
    let failure = || noted.0.lock().expect("nobody panics while holding it").take();
    examine(&Subject { spec, params, failure: &failure, operations })
}
