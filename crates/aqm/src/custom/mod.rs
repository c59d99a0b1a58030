//! Laws that are not in the registry: written in Python, or loaded from a library.
//!
//! A [`CustomLaw`] has the same data as a built-in law's registry entry (name, parameters, state
//! variables) and a constructor. It is part of a [`QdiscSpec::custom`](crate::QdiscSpec), so every
//! host builds it like any other law. [`Guarded`] detects breaches of the contract and reports them
//! to [`Failures`]; they never stop the host.
//!
//! There is no global table of laws. A law's name comes from its code, not its file, so tables do
//! not depend on folder names. A library exports a table of C functions and owns no memory: the
//! host owns the queue state and the random generator's four words, so a hook is one indirect call.
//! A plan for another process (the live router, a guest) names each law by file and digest; that
//! process loads the law again. A scenario never names code; only the command line and the API do.

mod declaration;
mod guarded;
mod params;
mod value;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;

use crate::law::{Aqm, Env, Var};
use crate::params::{Dialect, ParamSpec, SpecError};
use crate::time::Time;

pub use declaration::{Declaration, ParamDeclaration, VarDeclaration};
pub(crate) use guarded::Guarded;
pub(crate) use params::CustomParams;
pub use value::Value;

/// The only dialect of a custom law.
pub const DIALECT: Dialect = Dialect { name: "own", doc: "the law's own file" };

/// A failure inside a law.
#[derive(Debug)]
pub struct LawFailure {
    /// Where the law is written: file and line.
    pub place: String,
    /// The law's name.
    pub law: &'static str,
    /// The hook: `on_dequeue`.
    pub hook: &'static str,
    /// When it was called.
    pub at: Time,
    /// Arrival time of the packet in hand, if any.
    pub enqueued: Option<Time>,
    /// The error and its remedy.
    pub why: String,
    /// The exception raised by the law's language, if any.
    pub cause: Option<Box<dyn Any + Send>>,
}

impl fmt::Display for LawFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at_s = self.at.as_secs();
        write!(f, "{}: {}.{} at {at_s:.9} s", self.place, self.law, self.hook)?;
        if let Some(enqueued) = self.enqueued {
            write!(f, " (packet accepted at {:.9} s)", enqueued.as_secs())?;
        }
        write!(f, ": {}", self.why)
    }
}

/// Receives the failures of laws. Only the first failure counts: from then on the law passes every
/// packet, and the host ends the run.
pub trait Failures: Send + Sync {
    /// A law has failed.
    fn report(&self, failure: LawFailure);
}

/// Default for hosts without their own handler: panics.
struct Panic;

impl Failures for Panic {
    fn report(&self, failure: LawFailure) {
        panic!("{failure}");
    }
}

/// The optional and per-packet hooks that a law implements; hooks that it does not implement are
/// not called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hooks {
    /// [`Aqm::on_enqueue`].
    pub on_enqueue: bool,
    /// [`Aqm::on_dequeue`].
    pub on_dequeue: bool,
    /// [`Aqm::on_empty`].
    pub on_empty: bool,
    /// [`Aqm::next_timer`] and [`Aqm::on_timer`].
    pub timers: bool,
    /// [`Aqm::on_idle_timers`]. Without it, missed timers are called one by one.
    pub on_idle_timers: bool,
}

impl Hooks {
    /// Every hook.
    pub const ALL: Hooks = Hooks {
        on_enqueue: true,
        on_dequeue: true,
        on_empty: true,
        timers: true,
        on_idle_timers: true,
    };
    /// No hook.
    pub const NONE: Hooks = Hooks {
        on_enqueue: false,
        on_dequeue: false,
        on_empty: false,
        timers: false,
        on_idle_timers: false,
    };
}

/// Constructs laws of one kind.
pub trait Maker: Send + Sync {
    /// Checks rules between parameters, and rules that the declaration cannot express.
    ///
    /// # Errors
    /// A sentence.
    fn check(&self, values: &[Value]) -> Result<(), String> {
        let _ = values;
        Ok(())
    }

    /// The hooks that the laws have.
    fn hooks(&self) -> Hooks {
        Hooks { on_idle_timers: false, ..Hooks::ALL }
    }

    /// A law in its initial state. `values` are in the order of declaration and have passed
    /// [`Maker::check`].
    fn make(&self, values: &[Value], env: &Env, failures: &Arc<dyn Failures>) -> Box<dyn Aqm>;
}

/// A law that is not in the registry.
#[derive(Clone)]
pub struct CustomLaw {
    about: &'static declaration::About,
    maker: Arc<dyn Maker>,
    failures: Arc<dyn Failures>,
}

impl CustomLaw {
    /// A law made from its declaration, for [`crate::registry::declare`]. The declaration's texts
    /// are kept until the program ends, like those of a law in the registry.
    ///
    /// # Errors
    /// [`SpecError`] with the error in the declaration.
    pub(crate) fn new(
        declaration: Declaration,
        maker: Arc<dyn Maker>,
    ) -> Result<CustomLaw, SpecError> {
        let about = declaration.checked()?;
        Ok(CustomLaw { about, maker, failures: Arc::new(Panic) })
    }

    /// The same law, reporting its failures to `failures`.
    pub fn reporting_to(&self, failures: Arc<dyn Failures>) -> CustomLaw {
        CustomLaw { failures, ..self.clone() }
    }

    /// Its name in text forms and tables.
    pub fn name(&self) -> &'static str {
        self.about.name
    }

    /// A one-line description.
    pub fn doc(&self) -> &'static str {
        self.about.doc
    }

    /// Identifier of its code in the manifest: `python:mine.MyLaw sha256=...`.
    pub fn source(&self) -> &'static str {
        self.about.source
    }

    /// The file with its code, if it has one.
    pub fn file(&self) -> Option<&'static str> {
        self.about.file
    }

    /// Its parameters, in the order of declaration.
    pub fn specs(&self) -> &'static [ParamSpec] {
        self.about.specs
    }

    /// Its state variables.
    pub fn vars(&self) -> &'static [Var] {
        self.about.vars
    }

    pub(crate) fn params(&self) -> CustomParams {
        CustomParams::new(self.about, Arc::clone(&self.maker))
    }

    pub(crate) fn make(&self, params: &CustomParams, env: &Env) -> Guarded {
        let law = self.maker.make(params.values(), env, &self.failures);
        Guarded::new(law, self.maker.hooks(), self.about, Arc::clone(&self.failures))
    }
}

impl fmt::Debug for CustomLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CustomLaw({}, {})", self.about.name, self.about.source)
    }
}

impl PartialEq for CustomLaw {
    /// Two laws are equal if name and source are equal.
    fn eq(&self, other: &CustomLaw) -> bool {
        (self.about.name, self.about.source) == (other.about.name, other.about.source)
    }
}

impl Eq for CustomLaw {}

/// The custom laws that a text may name, each name once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CustomLaws(Vec<CustomLaw>);

impl CustomLaws {
    /// No law.
    pub const NONE: &'static CustomLaws = &CustomLaws(Vec::new());

    /// These laws; the same law may be listed several times.
    ///
    /// # Errors
    /// [`SpecError`] when two laws have one name.
    pub fn new(laws: impl IntoIterator<Item = CustomLaw>) -> Result<CustomLaws, SpecError> {
        let mut all: Vec<CustomLaw> = Vec::new();
        for law in laws {
            match all.iter().find(|other| other.name() == law.name()) {
                None => all.push(law),
                Some(other) if *other == law => {}
                Some(other) => return Err(two_of_one_name(other, &law)),
            }
        }
        Ok(CustomLaws(all))
    }

    /// The law of that name.
    pub fn get(&self, name: &str) -> Option<&CustomLaw> {
        self.0.iter().find(|law| law.name() == name)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &CustomLaw> {
        self.0.iter()
    }
}

fn two_of_one_name(one: &CustomLaw, other: &CustomLaw) -> SpecError {
    let why = alloc::format!(
        "two laws have the name `{}`: {} and {}; rename one of them",
        one.name(),
        one.source(),
        other.source()
    );
    SpecError::new("kind", why)
}

#[cfg(test)]
mod tests;
