//! The metadata of a law or a scheme.

use alloc::string::String;

use crate::law::{Law, Var};
use crate::params::{Behaviour, Dialect, ParamSpec, Params, StepTable};
use crate::qdisc::Scheme;

/// The kind of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A law, for one queue or under flow queues.
    Law,
    /// A discipline with its own laws: [`Scheme`].
    Scheme,
}

/// The metadata of a law or a scheme.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its kind.
    pub role: Role,
    /// Its name: `codel`.
    pub name: &'static str,
    /// One line.
    pub doc: &'static str,
    /// Its dialects, the default first.
    pub dialects: &'static [Dialect],
    /// Its parameters.
    pub params: fn() -> &'static [ParamSpec],
    /// Differences between its dialects other than parameters.
    pub behaviours: fn() -> &'static [Behaviour],
    /// The parameters without effect in a dialect.
    pub unused: fn(dialect: &str) -> &'static [&'static str],
    /// The default of a parameter in a dialect, as text.
    pub default_of: fn(dialect: &str, param: &str) -> Option<String>,
    /// Its state variables.
    pub vars: &'static [Var],
    /// How its controller scales its steps, depending on its output: one table per name.
    pub step_tables: &'static [StepTable],
}

pub(super) fn scheme_entry<S: Scheme>() -> Entry {
    let about = About { role: Role::Scheme, name: S::NAME, doc: S::DOC, vars: S::VARS };
    entry_of::<S::Params>(about, &[])
}

pub(super) fn law_entry<L: Law>() -> Entry {
    let about = About { role: Role::Law, name: L::NAME, doc: L::DOC, vars: L::VARS };
    entry_of::<L::Params>(about, L::STEP_TABLES)
}

/// Metadata that is independent of the parameters.
struct About {
    role: Role,
    name: &'static str,
    doc: &'static str,
    vars: &'static [Var],
}

fn entry_of<P: Params>(about: About, step_tables: &'static [StepTable]) -> Entry {
    let About { role, name, doc, vars } = about;
    Entry {
        role,
        name,
        doc,
        dialects: P::DIALECTS,
        params: P::specs,
        behaviours: P::behaviours,
        unused: P::unused,
        default_of: |dialect, param| P::of_dialect(dialect)?.get(param),
        vars,
        step_tables,
    }
}
