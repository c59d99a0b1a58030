//! TCP scripts, run against the endpoint.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use sojourn_scripts::{ScriptOutcome, run};

/// How a script ended, the deciding line, and two texts: either the reason and an empty text, or
/// the expected and the actual behaviour.
type Ended = (&'static str, u32, String, String);

/// Runs a TCP script in packetdrill's form. `files` holds the texts of the commands that it names,
/// by name.
#[pyfunction]
pub fn run_tcp_script(py: Python<'_>, text: &str, files: BTreeMap<String, String>) -> Ended {
    let verdict = py.detach(|| run(text, &|name| files.get(name).cloned()));
    match verdict {
        Ok(ScriptOutcome::Passed) => ("passed", 0, String::new(), String::new()),
        Ok(ScriptOutcome::NotApplicable { line, reason }) => {
            ("not applicable", line, reason, String::new())
        }
        Ok(ScriptOutcome::Failed { line, expected, got }) => ("failed", line, expected, got),
        Err(error) => ("unreadable", error.line, error.message, String::new()),
    }
}
