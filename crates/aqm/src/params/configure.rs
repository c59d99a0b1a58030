//! From a dialect and settings to checked parameters.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::spec_error::hint;
use super::{Dialect, ParamError, ParamSpec, Params, SpecError};

/// The checked parameters of `kind` in a dialect (`None`: the default dialect), after applying
/// these settings.
///
/// ```
/// use sojourn_aqm::laws::pie::PieParams;
/// use sojourn_aqm::params::configure;
///
/// let pie: PieParams = configure("pie", Some("linux"), [("target", "5ms")]).expect("legal");
/// assert_eq!(pie.dialect, "linux");
/// let error = configure::<PieParams>("pie", None, [("targt", "5ms")]).unwrap_err();
/// assert!(error.message.contains("did you mean `target`"));
/// ```
///
/// # Errors
/// [`SpecError`] when the dialect or a parameter is unknown, a value is not legal or has no effect
/// in the dialect, or two values contradict each other.
pub fn configure<'a, P: Params>(
    kind: &str,
    dialect: Option<&str>,
    settings: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<P, SpecError> {
    let dialect = dialect.unwrap_or(P::DIALECTS[0].name);
    let mut params = Unchecked::<P>::of_dialect(kind, dialect, &[])?;
    let settings: Vec<(&str, &str)> = settings.into_iter().collect();
    set_all(kind, dialect, &mut [&mut params], &[], &settings)?;
    Ok(params.params)
}

/// Parameters that are still being set, and the dialect whose defaults they had.
pub(crate) struct Unchecked<P> {
    pub(crate) params: P,
    dialect: &'static str,
}

impl<P: Params> Unchecked<P> {
    /// The defaults of a dialect. `others` are further dialects of the kind; the message names them
    /// too.
    pub(crate) fn of_dialect(
        kind: &str,
        dialect: &str,
        others: &[Dialect],
    ) -> Result<Unchecked<P>, SpecError> {
        let found = P::DIALECTS.iter().find(|known| known.name == dialect);
        let params = found.and_then(|found| Some((P::of_dialect(found.name)?, found.name)));
        let Some((params, dialect)) = params else {
            return Err(no_dialect(kind, dialect, others, P::DIALECTS));
        };
        Ok(Unchecked { params, dialect })
    }

    /// The defaults of a dialect, or of the first dialect if the name is unknown.
    pub(crate) fn of_dialect_or_first(dialect: &str) -> Unchecked<P> {
        let named = P::DIALECTS.iter().find(|known| known.name == dialect);
        let dialect = named.unwrap_or(&P::DIALECTS[0]).name;
        let params = P::of_dialect(dialect).expect("a declared dialect has defaults");
        Unchecked { params, dialect }
    }
}

fn no_dialect(kind: &str, dialect: &str, others: &[Dialect], own: &[Dialect]) -> SpecError {
    let known: Vec<&str> = others.iter().chain(own).map(|known| known.name).collect();
    let why = format!("{kind} has no dialect `{dialect}`{}", hint(dialect, &known));
    SpecError::new("dialect", why)
}

/// One of the parameter sets that a description may set.
pub(crate) trait ParamSet {
    fn specs(&self) -> &'static [ParamSpec];
    fn set(&mut self, name: &str, text: &str) -> Result<(), ParamError>;
    /// Returns the dialect if parameter `name` has no effect in it but differs from its default.
    fn without_effect(&self, name: &str) -> Option<&'static str>;
    fn check(&self) -> Result<(), String>;
}

impl<P: Params> ParamSet for Unchecked<P> {
    fn specs(&self) -> &'static [ParamSpec] {
        P::specs()
    }

    fn set(&mut self, name: &str, text: &str) -> Result<(), ParamError> {
        self.params.set(name, text)
    }

    fn without_effect(&self, name: &str) -> Option<&'static str> {
        let defaults = P::of_dialect(self.dialect).expect("the parameters were made of it");
        let is_unused = P::unused(self.dialect).contains(&name);
        (is_unused && self.params.get(name) != defaults.get(name)).then_some(self.dialect)
    }

    fn check(&self) -> Result<(), String> {
        self.params.check()
    }
}

/// Sets parameters of `kind`: first `defaults`, then the user's settings, each in the parameter set
/// that declares it. Then checks all sets.
pub(crate) fn set_all(
    kind: &str,
    dialect: &str,
    sets: &mut [&mut dyn ParamSet],
    defaults: &[(&str, &str)],
    by_user: &[(&str, &str)],
) -> Result<(), SpecError> {
    for (name, text) in defaults.iter().chain(by_user) {
        set_one(kind, dialect, sets, name, text)?;
    }
    for (name, text) in by_user {
        if let Some(dialect) = sets.iter().find_map(|set| set.without_effect(name)) {
            return Err(has_no_effect(kind, dialect, name, text));
        }
    }
    let checked = sets.iter().try_for_each(|set| set.check());
    checked.map_err(|why| SpecError::new("", why))
}

fn set_one(
    kind: &str,
    dialect: &str,
    sets: &mut [&mut dyn ParamSet],
    name: &str,
    text: &str,
) -> Result<(), SpecError> {
    for set in sets.iter_mut() {
        match set.set(name, text) {
            Ok(()) => return Ok(()),
            Err(ParamError::Unknown) => {}
            Err(ParamError::Invalid(why)) => {
                let spec = set.specs().iter().find(|spec| spec.name == name);
                let source = spec.map(|spec| spec.source_of(dialect)).unwrap_or_default();
                return Err(SpecError::new(name, format!("{why} ({name}: {source})")));
            }
        }
    }
    let known: Vec<&str> = sets.iter().flat_map(|set| set.specs()).map(|spec| spec.name).collect();
    Err(SpecError::new(name, format!("{kind} has no parameter `{name}`{}", hint(name, &known))))
}

/// The error for a setting without effect in the dialect.
pub(crate) fn has_no_effect(kind: &str, dialect: &str, name: &str, text: &str) -> SpecError {
    let why = format!(
        "{name} `{text}` has no effect in dialect {dialect}; leave it out (`sojourn explain \
         {kind}` shows what has)"
    );
    SpecError::new(name, why)
}
