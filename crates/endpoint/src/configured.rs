//! The stacks of a caller: a scenario names a transport, the caller chooses the library for it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::Stack;

/// A stack that a caller has chosen.
#[derive(Clone)]
pub struct ConfiguredStack {
    /// The stack's description in manifests: [`Stack::describe`], and for a library in a file also
    /// the digest of its content.
    pub in_full: String,
    /// The stack.
    pub stack: Arc<dyn Stack>,
}

impl ConfiguredStack {
    /// A stack that is compiled in.
    pub fn new(stack: Arc<dyn Stack>) -> ConfiguredStack {
        ConfiguredStack { in_full: stack.describe(), stack }
    }

    /// A warning if runs with one seed may differ. `transport` is the scenario's name of the stack.
    pub fn doubt(&self, transport: &str) -> Option<String> {
        let why = self.stack.unrepeatable()?;
        Some(format!("endpoint[{transport}]: {why}, so runs with one seed may differ"))
    }
}

impl fmt::Debug for ConfiguredStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_full)
    }
}

/// Stacks of a caller, by the `transport` of the flows that use them.
pub type Stacks = BTreeMap<String, ConfiguredStack>;
