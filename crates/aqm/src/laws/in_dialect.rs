//! What the tests of dialects share.

use crate::law::{Env, Law};
use crate::params::Params;
use crate::testing::env;

/// A law of that dialect, with these parameters changed from its defaults.
pub(super) fn law_of<L: Law>(dialect: &str, settings: &[(&str, &str)]) -> L {
    law_of_in(&env(), dialect, settings)
}

/// The same in a place of its own.
pub(super) fn law_of_in<L: Law>(env: &Env, dialect: &str, settings: &[(&str, &str)]) -> L {
    let mut params = L::Params::of_dialect(dialect).expect("a dialect of this law");
    for (name, text) in settings {
        params.set(name, text).expect("a legal value");
    }
    params.check().expect("legal together");
    L::new(&params, env)
}
