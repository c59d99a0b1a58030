//! Every law and discipline by name: one line each.

mod presets;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::law::{Aqm, Env, Law, Var};
use crate::laws;
use crate::nearest::nearest;
use crate::packet::Packet;
use crate::params::{Behaviour, Dialect, ParamError, ParamSpec, Params};
use crate::qdisc::{Qdisc, Scheme};
use crate::qdiscs::{self, fifo, fq};
use crate::spec::{Discipline, QdiscSpec, SpecError};
use crate::watch::{Watched, WatchedScheme};

pub use presets::{PRESETS, Preset, Setting};

/// What an entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A law, for one queue or under flow queues.
    Law,
    /// A discipline that brings its own laws: [`Scheme`].
    Scheme,
}

/// What the registry tells of a law or a scheme without making one.
#[derive(Clone, Copy)]
pub struct Entry {
    /// What it is.
    pub role: Role,
    /// Its name: `codel`.
    pub name: &'static str,
    /// One line.
    pub doc: &'static str,
    /// Its dialects, the default first.
    pub dialects: &'static [Dialect],
    /// Its parameters.
    pub params: fn() -> &'static [ParamSpec],
    /// In what its dialects differ beside them.
    pub behaviours: fn() -> &'static [Behaviour],
    /// The parameters without effect in a dialect.
    pub unused: fn(dialect: &str) -> &'static [&'static str],
    /// The default of a parameter in a dialect, as text.
    pub default_of: fn(dialect: &str, param: &str) -> Option<String>,
    /// Its state variables.
    pub vars: &'static [Var],
}

crate::params! {
    /// The parameters that a scheme leaves to an arrangement of queues: none.
    pub struct NoParams {
        dialects: "none" = "a scheme declares all of its parameters itself";
    }
}

fn scheme_entry<S: Scheme>() -> Entry {
    Entry {
        role: Role::Scheme,
        name: S::NAME,
        doc: S::DOC,
        dialects: S::Params::DIALECTS,
        params: S::Params::specs,
        behaviours: S::Params::behaviours,
        unused: S::Params::unused,
        default_of: |dialect, param| S::Params::of_dialect(dialect)?.get(param),
        vars: S::VARS,
    }
}

fn law_entry<L: Law>() -> Entry {
    Entry {
        role: Role::Law,
        name: L::NAME,
        doc: L::DOC,
        dialects: L::Params::DIALECTS,
        params: L::Params::specs,
        behaviours: L::Params::behaviours,
        unused: L::Params::unused,
        default_of: |dialect, param| L::Params::of_dialect(dialect)?.get(param),
        vars: L::VARS,
    }
}

macro_rules! registry {
    (laws { $($law:ty;)* } schemes { $($scheme:ty;)* }) => {
        /// Every law, in the order in which lists show them.
        pub fn laws() -> Vec<Entry> {
            alloc::vec![$(law_entry::<$law>()),*]
        }

        /// Every scheme, in the order in which lists show them.
        pub fn schemes() -> Vec<Entry> {
            alloc::vec![$(scheme_entry::<$scheme>()),*]
        }

        /// Makes a discipline.
        ///
        /// # Errors
        /// [`SpecError`] when a parameter is unknown or not legal.
        pub fn build<P: Packet + Send + 'static>(
            spec: &QdiscSpec,
            env: &Env,
        ) -> Result<Box<dyn Qdisc<P>>, SpecError> {
            $(if spec.law == <$law as Law>::NAME {
                return arrange::<P, $law>(spec, env);
            })*
            $(if spec.law == <$scheme as Scheme>::NAME {
                let (NoParams { .. }, params) = configure(spec)?;
                return Ok(<$scheme as Scheme>::build(&params, env));
            })*
            Err(unknown_law(&spec.law))
        }

        /// Makes a law alone, for a host whose queue is its own.
        ///
        /// # Errors
        /// [`SpecError`] when a parameter is unknown or not legal, or `spec` is more than a law in
        /// one queue.
        pub fn build_law(spec: &QdiscSpec, env: &Env) -> Result<Box<dyn Aqm>, SpecError> {
            $(if spec.law == <$law as Law>::NAME && spec.discipline == Discipline::Fifo {
                return alone::<$law>(spec, env);
            })*
            let why = format!("`{}` brings queues of its own; name a law, such as `codel`", spec.kind());
            Err(SpecError::new("kind", why))
        }

        /// The same, watched: before each drop and mark it tells [`Sink::evidence`](crate::Sink) how
        /// the state variables of the law, or of the scheme, stood. What it does is the same.
        ///
        /// # Errors
        /// As [`build`].
        pub fn build_watched<P: Packet + Send + 'static>(
            spec: &QdiscSpec,
            env: &Env,
        ) -> Result<Box<dyn Qdisc<P>>, SpecError> {
            $(if spec.law == <$law as Law>::NAME {
                return arrange::<P, Watched<$law>>(spec, env);
            })*
            Ok(Box::new(WatchedScheme::new(build(spec, env)?)))
        }

        /// Every parameter of a discipline with its value, defaults filled in.
        ///
        /// # Errors
        /// [`SpecError`] when a parameter is unknown or not legal.
        pub fn settings(spec: &QdiscSpec) -> Result<Vec<(&'static str, String)>, SpecError> {
            $(if spec.law == <$law as Law>::NAME {
                return settings_of::<$law>(spec);
            })*
            $(if spec.law == <$scheme as Scheme>::NAME {
                let (none, params) = configure::<NoParams, <$scheme as Scheme>::Params>(spec)?;
                return Ok(all_settings(&none, &params));
            })*
            Err(unknown_law(&spec.law))
        }
    };
}

registry! {
    laws {
        laws::taildrop::TailDrop;
        laws::red::Red;
        laws::ared::Ared;
        laws::codel::CoDel;
        laws::pie::Pie;
        laws::pi2::Pi2;
        laws::madpie::Madpie;
        laws::cobalt::Cobalt;
        laws::pi::Pi;
        laws::blue::Blue;
        laws::step::Step;
    }
    schemes {
        qdiscs::choke::Choke;
        qdiscs::sfb::Sfb;
        qdiscs::sfq::Sfq;
        qdiscs::sfq::SfqRed;
        qdiscs::dualpi2::DualPi2;
        qdiscs::cake::Cake;
    }
}

/// Every law, then every scheme.
pub fn entries() -> Vec<Entry> {
    laws().into_iter().chain(schemes()).collect()
}

/// The law or scheme of that name.
pub fn entry(name: &str) -> Option<Entry> {
    entries().into_iter().find(|entry| entry.name == name)
}

/// The law of that name.
pub fn law(name: &str) -> Option<Entry> {
    entry(name).filter(|entry| entry.role == Role::Law)
}

/// Every name that is a whole AQM: laws, schemes and presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    entries().into_iter().map(|entry| entry.name).chain(PRESETS.iter().map(|preset| preset.name))
}

/// The preset of that name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// The parameters of a discipline, beside those of its law.
pub fn discipline_params(discipline: Discipline) -> &'static [ParamSpec] {
    match discipline {
        Discipline::Fifo => fifo::FifoParams::specs(),
        Discipline::Fq => fq::FqParams::specs(),
        Discipline::Own => NoParams::specs(),
    }
}

/// In what the dialects of a discipline differ, beside its law's.
pub fn discipline_behaviours(discipline: Discipline) -> &'static [Behaviour] {
    match discipline {
        Discipline::Fifo => fifo::FifoParams::behaviours(),
        Discipline::Fq => fq::FqParams::behaviours(),
        Discipline::Own => NoParams::behaviours(),
    }
}

/// The dialect of an AQM, the default where none was named.
pub fn dialect_of(spec: &QdiscSpec) -> &str {
    let of_pair = || Some(preset(spec.preset?)?.dialects.first()?.name);
    let of_law = || entry(&spec.law).map(|entry| entry.dialects[0].name);
    spec.dialect.as_deref().or_else(of_pair).or_else(of_law).unwrap_or_default()
}

/// The error for a law that does not exist, nearest name first.
pub fn unknown_law(name: &str) -> SpecError {
    let known: Vec<&str> = names().collect();
    SpecError::new("kind", format!("there is no AQM `{name}`{}", hint(name, &known)))
}

/// ", did you mean `codel`? Known: codel, pie."
pub fn hint(typed: &str, known: &[&str]) -> String {
    let known_list = known.join(", ");
    match nearest(typed, known.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`? Known: {known_list}"),
        None => format!("; known: {known_list}"),
    }
}

fn arrange<P: Packet + Send + 'static, L: Law>(
    spec: &QdiscSpec,
    env: &Env,
) -> Result<Box<dyn Qdisc<P>>, SpecError> {
    match spec.discipline {
        Discipline::Fifo => {
            let (discipline, law) = configure::<fifo::FifoParams, L::Params>(spec)?;
            Ok(fifo::build::<P, L>(&discipline, &law, env))
        }
        Discipline::Fq => {
            let (discipline, law) = configure::<fq::FqParams, L::Params>(spec)?;
            Ok(fq::build::<P, L>(&discipline, &law, env))
        }
        Discipline::Own => Err(unknown_law(&spec.law)),
    }
}

fn alone<L: Law>(spec: &QdiscSpec, env: &Env) -> Result<Box<dyn Aqm>, SpecError> {
    let (fifo, law) = configure::<fifo::FifoParams, L::Params>(spec)?;
    Ok(Box::new(L::new(&law, &Env { limit: fifo.limit, ..*env })))
}

fn settings_of<L: Law>(spec: &QdiscSpec) -> Result<Vec<(&'static str, String)>, SpecError> {
    match spec.discipline {
        Discipline::Fifo => {
            configure::<fifo::FifoParams, L::Params>(spec).map(|(d, l)| all_settings(&d, &l))
        }
        Discipline::Fq => {
            configure::<fq::FqParams, L::Params>(spec).map(|(d, l)| all_settings(&d, &l))
        }
        Discipline::Own => Err(unknown_law(&spec.law)),
    }
}

fn all_settings<D: Params, L: Params>(discipline: &D, law: &L) -> Vec<(&'static str, String)> {
    let of = |name: &str| discipline.get(name).or_else(|| law.get(name)).unwrap_or_default();
    D::specs().iter().chain(L::specs()).map(|spec| (spec.name, of(spec.name))).collect()
}

/// The parameters of discipline and law: defaults of the dialect, then of the preset, then what the
/// user set.
fn configure<D: Params, L: Params>(spec: &QdiscSpec) -> Result<(D, L), SpecError> {
    let own = spec.preset.and_then(preset).map_or(&[][..], |preset| preset.dialects);
    let dialect = dialect_of(spec);
    let of_law = match own.iter().any(|pair| pair.name == dialect) {
        true => L::DIALECTS[0].name,
        false => dialect,
    };
    let mut law = L::of_dialect(of_law).ok_or_else(|| {
        let known: Vec<&str> = own.iter().chain(L::DIALECTS).map(|d| d.name).collect();
        let kind = spec.kind();
        SpecError::new(
            "dialect",
            format!("{kind} has no dialect `{dialect}`{}", hint(dialect, &known)),
        )
    })?;
    let mut discipline = D::of_dialect(dialect)
        .or_else(|| D::of_dialect(D::DIALECTS[0].name))
        .expect("the first dialect exists");
    for (name, text) in spec.preset_settings(dialect).chain(spec.set_by_user()) {
        let result = match discipline.set(name, text) {
            Err(ParamError::Unknown) => law.set(name, text),
            result => result,
        };
        result.map_err(|error| refused::<D, L>(spec, name, error))?;
    }
    refuse_unused(spec, &law, of_law)?;
    discipline.check().and_then(|()| law.check()).map_err(|why| SpecError::new("", why))?;
    Ok((discipline, law))
}

/// A setting without effect in the dialect is a mistake.
fn refuse_unused<L: Params>(spec: &QdiscSpec, law: &L, dialect: &str) -> Result<(), SpecError> {
    let defaults = L::of_dialect(dialect).expect("the law was made of it");
    let is_idle =
        |name: &str| L::unused(dialect).contains(&name) && law.get(name) != defaults.get(name);
    match spec.set_by_user().find(|(name, _)| is_idle(name)) {
        None => Ok(()),
        Some((name, text)) => {
            let kind = spec.kind();
            let why = format!(
                "{name} `{text}` has no effect in dialect {dialect}; leave it out (`sojourn explain \
                 {kind}` shows what has)"
            );
            Err(SpecError::new(name, why))
        }
    }
}

fn refused<D: Params, L: Params>(spec: &QdiscSpec, name: &str, error: ParamError) -> SpecError {
    match error {
        ParamError::Invalid(why) => {
            let specs = L::specs().iter().chain(D::specs());
            let dialect = dialect_of(spec);
            let mut found =
                specs.filter(|spec| spec.name == name).map(|spec| spec.source_of(dialect));
            let source = found.next_back().unwrap_or_default();
            SpecError::new(name, format!("{why} ({name}: {source})"))
        }
        ParamError::Unknown => {
            let known: Vec<&str> = L::specs().iter().chain(D::specs()).map(|s| s.name).collect();
            let kind = spec.kind();
            let hint = hint(name, &known);
            SpecError::new(name, format!("{kind} has no parameter `{name}`{hint}").to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_never_shares_a_parameter_name_with_a_discipline() {
        for discipline in [Discipline::Fifo, Discipline::Fq] {
            let taken: Vec<&str> = discipline_params(discipline).iter().map(|p| p.name).collect();
            for law in laws() {
                for param in (law.params)() {
                    let name = param.name;
                    assert!(!taken.contains(&name), "{}.{name} and {discipline:?}", law.name);
                }
            }
        }
    }

    #[test]
    fn every_law_and_preset_has_a_name_of_its_own_and_legal_defaults() {
        let names: Vec<&str> = names().collect();
        for &name in &names {
            assert_eq!(names.iter().filter(|&&other| other == name).count(), 1, "{name}");
            let spec = QdiscSpec::parse(name).expect("a name alone is a whole description");
            assert!(!settings(&spec).expect("defaults are legal").is_empty());
        }
    }

    #[test]
    fn defaults_are_text_that_is_read_back() {
        for law in entries() {
            let default = law.dialects[0].name;
            for param in (law.params)() {
                let text = (law.default_of)(default, param.name).expect("every parameter has one");
                let spec = format!("{}:{}={text}", law.name, param.name);
                assert!(QdiscSpec::parse(&spec).is_ok(), "{spec}");
            }
        }
    }
}
