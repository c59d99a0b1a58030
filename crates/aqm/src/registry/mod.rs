//! Every law and discipline by name: one line each.

mod configure;
mod entry;
mod kernels;
mod presets;
mod resolve;
mod spec;
mod watched;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::custom::{CustomLaw, CustomParams, DIALECT, Declaration, Guarded, Maker};
use crate::effective::Effective;
use crate::law::{Aqm, Env, Law, Observable};
use crate::laws;
use crate::packet::Packet;
use crate::params::{Behaviour, ParamSpec, Params, SpecError};
use crate::qdisc::{Qdisc, Scheme};
use crate::qdiscs::{self, fifo, fq};

use configure::{configure, configure_custom};
pub use entry::{Entry, Role};
use entry::{law_entry, scheme_entry};
pub use kernels::{
    CHANGES, Change, KERNELS, KernelRelease, NEWEST, changes_at, declared, kernel_of, kernels_of,
    of_series, unlike,
};
pub use presets::{PRESETS, Preset, Setting};
pub use spec::{Discipline, QdiscSpec};
use watched::{WatchedScheme, watched};

pub use crate::params::hint;

crate::params! {
    /// A scheme arranges its queues itself, so its discipline has no parameters.
    pub struct NoParams {
        dialects: "none" = "a scheme declares all of its parameters itself";
    }
}

macro_rules! registry {
    (laws { $($law:ty;)* } schemes { $($(#[$only:meta])* $scheme:ty;)* }) => {
        /// Every law, in the order in which lists show them.
        pub fn laws() -> Vec<Entry> {
            alloc::vec![$(law_entry::<$law>()),*]
        }

        /// Every scheme, in the order in which lists show them.
        pub fn schemes() -> Vec<Entry> {
            Vec::from([$($(#[$only])* scheme_entry::<$scheme>()),*])
        }

        /// Makes a discipline.
        ///
        /// # Errors
        /// [`SpecError`] when a parameter is unknown or not legal.
        pub fn build<P: Packet + Send + 'static>(
            spec: &QdiscSpec,
            env: &Env,
        ) -> Result<Box<dyn Qdisc<P>>, SpecError> {
            if let Some(law) = &spec.custom {
                return arrange_custom(spec, law, env, |law| law);
            }
            $(if spec.law == <$law as Law>::NAME {
                return arrange::<P, $law, _>(spec, env, |law| law);
            })*
            $($(#[$only])* if spec.law == <$scheme as Scheme>::NAME {
                let (NoParams { .. }, params) = configure(spec)?;
                return Ok(<$scheme as Scheme>::build(&params, env));
            })*
            Err(unknown_law(&spec.law))
        }

        /// Makes a bare law, for a host with its own queue.
        ///
        /// # Errors
        /// [`SpecError`] for an unknown or illegal parameter, or if `spec` is not just a law in one
        /// queue.
        pub fn build_law(spec: &QdiscSpec, env: &Env) -> Result<Box<dyn Aqm>, SpecError> {
            if let (Some(law), Discipline::Fifo) = (&spec.custom, spec.discipline) {
                let (fifo, params) = configure_custom::<fifo::FifoParams>(spec, law)?;
                refuse_exclude_ce(&fifo)?;
                return Ok(Box::new(law.make(&params, &Env { limit: fifo.limit, ..*env })));
            }
            $(if spec.law == <$law as Law>::NAME && spec.discipline == Discipline::Fifo {
                return alone::<$law>(spec, env);
            })*
            let kind = spec.kind();
            let why = format!("`{kind}` has its own queues; name a law, such as `codel`");
            Err(SpecError::new("kind", why))
        }

        /// Makes a discipline that calls [`Sink::evidence`](crate::Sink::evidence) before each drop
        /// and mark, with the state that its law or scheme had before the decision. The decisions
        /// are the same as with [`build`].
        ///
        /// # Errors
        /// As [`build`].
        pub fn build_watched<P: Packet + Send + 'static>(
            spec: &QdiscSpec,
            env: &Env,
        ) -> Result<Box<dyn Qdisc<P>>, SpecError> {
            if let Some(law) = &spec.custom {
                return arrange_custom(spec, law, env, watched);
            }
            $(if spec.law == <$law as Law>::NAME {
                return arrange::<P, $law, _>(spec, env, watched);
            })*
            Ok(Box::new(WatchedScheme::new(build(spec, env)?)))
        }

        /// Every parameter of a discipline with its value, defaults filled in.
        ///
        /// # Errors
        /// [`SpecError`] when a parameter is unknown or not legal.
        pub fn settings(spec: &QdiscSpec) -> Result<Vec<(&'static str, String)>, SpecError> {
            if let Some(law) = &spec.custom {
                return settings_of_custom(spec, law);
            }
            $(if spec.law == <$law as Law>::NAME {
                return settings_of::<$law>(spec);
            })*
            $($(#[$only])* if spec.law == <$scheme as Scheme>::NAME {
                let (none, params) = configure::<NoParams, <$scheme as Scheme>::Params>(spec)?;
                return Ok(all_settings(&none, &params));
            })*
            Err(unknown_law(&spec.law))
        }

        fn effective_values(spec: &QdiscSpec, env: &Env) -> Result<Vec<Effective>, SpecError> {
            if spec.custom.is_some() {
                return Ok(Vec::new());
            }
            $(if spec.law == <$law as Law>::NAME {
                return effective_of::<$law>(spec, env);
            })*
            $($(#[$only])* if spec.law == <$scheme as Scheme>::NAME {
                let (NoParams { .. }, params) = configure(spec)?;
                return Ok(<$scheme as Scheme>::effective(&params, env));
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
        // The generated page has no room for it.
        #[cfg(not(target_arch = "wasm32"))]
        qdiscs::fair_queue::FairQueue;
    }
}

/// The values that an AQM uses on a link instead of given parameters or for open ones, preceded by
/// the Linux release that it follows.
///
/// # Errors
/// [`SpecError`] when a parameter is unknown or not legal.
pub fn effective(spec: &QdiscSpec, env: &Env) -> Result<Vec<Effective>, SpecError> {
    let values = effective_values(spec, env)?;
    let release = kernel_of(spec).map(|kernel| Effective::filled(LINUX, kernel.release));
    Ok(release.into_iter().chain(values).collect())
}

/// The name of the effective value that holds the Linux release.
pub const LINUX: &str = "linux";

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

/// Every name of an AQM: laws, schemes and presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    entries().into_iter().map(|entry| entry.name).chain(PRESETS.iter().map(|preset| preset.name))
}

/// The preset of that name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// The parameters of a discipline, in addition to those of its law.
pub fn discipline_params(discipline: Discipline) -> &'static [ParamSpec] {
    match discipline {
        Discipline::Fifo => fifo::FifoParams::specs(),
        Discipline::Fq => fq::FqParams::specs(),
        Discipline::Own => NoParams::specs(),
    }
}

/// Differences between the dialects of a discipline, in addition to its law's.
pub fn discipline_behaviours(discipline: Discipline) -> &'static [Behaviour] {
    match discipline {
        Discipline::Fifo => fifo::FifoParams::behaviours(),
        Discipline::Fq => fq::FqParams::behaviours(),
        Discipline::Own => NoParams::behaviours(),
    }
}

/// The dialect of an AQM, or the default if it names none; `linux` if it names a kernel.
pub fn dialect_of(spec: &QdiscSpec) -> &str {
    let of_pair = || Some(preset(spec.preset?)?.dialects.first()?.name);
    let own = spec.custom.as_ref().map(|_| DIALECT.name);
    let of_law = || entry(&spec.law).map(|entry| entry.dialects[0].name);
    let named = spec.dialect.as_deref().map(|word| kernels::declared(&spec.law, word));
    named.or(own).or_else(of_pair).or_else(of_law).unwrap_or_default()
}

/// Makes an unregistered law from its declaration.
///
/// # Errors
/// [`SpecError`] with the error in the declaration, or when a registered AQM has its name.
pub fn declare(declaration: Declaration, maker: Arc<dyn Maker>) -> Result<CustomLaw, SpecError> {
    if names().any(|known| known == declaration.name) {
        let Declaration { name, source, .. } = declaration;
        let why =
            format!("two laws have the name `{name}`: {source} and one built in; rename yours");
        return Err(SpecError::new("kind", why));
    }
    CustomLaw::new(declaration, maker)
}

/// Whether the AQM's dialect follows a Linux discipline, which uses the device's MTU, not the size
/// of its packets.
pub fn follows_linux(spec: &QdiscSpec) -> bool {
    let dialect = dialect_of(spec);
    dialect.starts_with("linux") || (spec.law == "cake" && dialect == "besteffort")
}

/// The error for an unknown law; suggests the nearest name.
pub fn unknown_law(name: &str) -> SpecError {
    SpecError::unknown_kind("AQM", name, names())
}

fn arrange<P: Packet + Send + 'static, L: Law, W: Observable + 'static>(
    spec: &QdiscSpec,
    env: &Env,
    wrap: fn(L) -> W,
) -> Result<Box<dyn Qdisc<P>>, SpecError> {
    match spec.discipline {
        Discipline::Fifo => {
            let (discipline, law) = configure::<fifo::FifoParams, L::Params>(spec)?;
            Ok(fifo::build(&discipline, env, &mut |env| wrap(L::new(&law, env))))
        }
        Discipline::Fq => {
            let (discipline, law) = configure::<fq::FqParams, L::Params>(spec)?;
            Ok(fq::build(&discipline, env, &mut |env| wrap(L::new(&law, env))))
        }
        Discipline::Own => Err(unknown_law(&spec.law)),
    }
}

fn arrange_custom<P: Packet + Send + 'static, L: Observable + 'static>(
    spec: &QdiscSpec,
    law: &CustomLaw,
    env: &Env,
    wrap: impl Fn(Guarded) -> L,
) -> Result<Box<dyn Qdisc<P>>, SpecError> {
    match spec.discipline {
        Discipline::Fifo => {
            let (discipline, params) = configure_custom::<fifo::FifoParams>(spec, law)?;
            Ok(fifo::build(&discipline, env, &mut |env| wrap(law.make(&params, env))))
        }
        Discipline::Fq => {
            let (discipline, params) = configure_custom::<fq::FqParams>(spec, law)?;
            Ok(fq::build(&discipline, env, &mut |env| wrap(law.make(&params, env))))
        }
        Discipline::Own => Err(unknown_law(&spec.law)),
    }
}

fn alone<L: Law>(spec: &QdiscSpec, env: &Env) -> Result<Box<dyn Aqm>, SpecError> {
    let (fifo, law) = configure::<fifo::FifoParams, L::Params>(spec)?;
    refuse_exclude_ce(&fifo)?;
    Ok(Box::new(L::new(&law, &Env { limit: fifo.limit, ..*env })))
}

/// A bare law sees only the backlogs that its host passes.
fn refuse_exclude_ce(fifo: &fifo::FifoParams) -> Result<(), SpecError> {
    let why = "exclude_ce has no effect on a law alone; leave it out, and pass it backlogs without \
               CE-marked packets";
    if fifo.exclude_ce { Err(SpecError::new("exclude_ce", why.into())) } else { Ok(()) }
}

fn effective_of<L: Law>(spec: &QdiscSpec, env: &Env) -> Result<Vec<Effective>, SpecError> {
    if spec.discipline == Discipline::Fifo {
        let (fifo, law) = configure::<fifo::FifoParams, L::Params>(spec)?;
        return Ok(L::effective(&law, &Env { limit: fifo.limit, ..*env }));
    }
    let (queues, law) = configure::<fq::FqParams, L::Params>(spec)?;
    Ok(queues.effective(env).into_iter().chain(L::effective(&law, env)).collect())
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

fn settings_of_custom(
    spec: &QdiscSpec,
    law: &CustomLaw,
) -> Result<Vec<(&'static str, String)>, SpecError> {
    match spec.discipline {
        Discipline::Fifo => configure_custom::<fifo::FifoParams>(spec, law).map(joined),
        Discipline::Fq => configure_custom::<fq::FqParams>(spec, law).map(joined),
        Discipline::Own => Err(unknown_law(&spec.law)),
    }
}

fn joined<D: Params>((discipline, law): (D, CustomParams)) -> Vec<(&'static str, String)> {
    let mut all = settings_in(&discipline);
    all.extend(law.settings());
    all
}

fn all_settings<D: Params, L: Params>(discipline: &D, law: &L) -> Vec<(&'static str, String)> {
    let mut all = settings_in(discipline);
    all.extend(settings_in(law));
    all
}

fn settings_in<P: Params>(params: &P) -> Vec<(&'static str, String)> {
    let of = |spec: &ParamSpec| (spec.name, params.get(spec.name).unwrap_or_default());
    P::specs().iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

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
    fn every_law_and_preset_has_a_unique_name_and_legal_defaults() {
        let names: Vec<&str> = names().collect();
        for &name in &names {
            assert_eq!(names.iter().filter(|&&other| other == name).count(), 1, "{name}");
            let spec = QdiscSpec::parse(name).expect("a name alone is a whole description");
            assert!(!settings(&spec).expect("defaults are legal").is_empty());
        }
    }

    /// Fact aqm-3.
    #[test]
    fn a_queue_that_is_in_place_updates_from_the_start() {
        let in_place = |text: &str| QdiscSpec::parse(text).unwrap().in_place().to_string();
        assert_eq!(in_place("pie@linux:hz=1000"), "pie@linux:hz=1000,first_update=auto");
        assert_eq!(in_place("fq_pie@linux"), "fq_pie@linux:first_update=auto");
        for as_written in ["pie@linux:first_update=1s", "pie", "codel@linux", "fq_pie"] {
            assert_eq!(in_place(as_written), as_written);
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
