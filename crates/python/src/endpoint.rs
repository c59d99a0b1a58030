//! Transport libraries, parsed from callers' texts.

use std::path::Path;
use std::sync::Arc;

use pyo3::prelude::*;
use sojourn_aqm::params::SpecText;
use sojourn_endpoint::ConfiguredStack;
use sojourn_endpoint_c::host;

use crate::errors::Refusal;

/// The libraries that are compiled in.
const KNOWN: &[&str] = &[
    #[cfg(feature = "quinn")]
    "quinn",
    #[cfg(feature = "smoltcp")]
    "smoltcp",
    #[cfg(feature = "str0m")]
    "str0m",
];

/// The file of a library to load, its name in messages, the name of its code in manifests, and if
/// its endpoints run as processes, the program to start: the file itself, or one that loads it.
pub type LibraryFile = (String, String, String, Option<String>);

/// The library for a transport, such as `quinn:cc=bbr` for `quic`; with the file to load, if the
/// text names one.
pub fn configured(
    transport: &str,
    text: &str,
    file: Option<LibraryFile>,
) -> Result<ConfiguredStack, Refusal> {
    let refused = |why: String| Refusal::new(format!("endpoint[{transport}]"), why);
    let spec = SpecText::parse(text).map_err(|error| refused(error.message))?;
    if let Some((opened, name, source, program)) = file {
        let loaded = match program {
            None => host::load(Path::new(&opened), &name, &source, &spec.settings),
            Some(program) => in_processes((&opened, &program), &name, &source, &spec.settings),
        };
        return loaded.map_err(refused);
    }
    if let Some(dialect) = &spec.dialect {
        return Err(refused(format!("{} has no dialects; leave `@{dialect}` out", spec.kind)));
    }
    match spec.kind.as_str() {
        #[cfg(feature = "quinn")]
        "quinn" => quinn(&spec).map_err(refused),
        #[cfg(feature = "smoltcp")]
        "smoltcp" => smoltcp(&spec).map_err(refused),
        #[cfg(feature = "str0m")]
        "str0m" => str0m(&spec).map_err(refused),
        kind if KNOWN.is_empty() => Err(refused(format!(
            "`{kind}` is not compiled in; `make develop` or `pip install .` installs it"
        ))),
        kind => Err(refused(format!(
            "unknown transport library `{kind}`; known: {}, and files like ./libmine.so",
            KNOWN.join(", ")
        ))),
    }
}

#[cfg(unix)]
fn in_processes(
    (opened, program): (&str, &str),
    name: &str,
    source: &str,
    settings: &[(String, String)],
) -> Result<ConfiguredStack, String> {
    use sojourn_endpoint_c::process::{ProcessCommand, for_other_processes, load};

    let library = (opened != program).then(|| for_other_processes(opened));
    let command = ProcessCommand { program: for_other_processes(program), library };
    load(command, name, source, settings)
}

#[cfg(not(unix))]
fn in_processes(
    _: (&str, &str),
    name: &str,
    _: &str,
    _: &[(String, String)],
) -> Result<ConfiguredStack, String> {
    Err(format!("{name}: processes with the simulator's clock need Linux"))
}

/// The program in C that runs a library in a process.
#[pyfunction]
pub fn endpoint_process() -> &'static str {
    sojourn_endpoint_c::PROCESS
}

/// A rule, whether it held or `None` if it does not apply, how it was tested or what broke it.
type FindingRow = (String, Option<bool>, String);
/// The library in full, whether it has ECN and carries video, why its runs may differ, and every
/// rule.
type Examined = (String, (bool, bool), Option<&'static str>, Vec<FindingRow>);

/// Checks a transport library.
#[pyfunction]
pub fn examine_endpoint(
    py: Python<'_>,
    text: &str,
    file: Option<LibraryFile>,
) -> Result<Examined, Refusal> {
    let ConfiguredStack { in_full, stack } = configured("checked", text, file)?;
    let checked = ConfiguredStack { in_full: in_full.clone(), stack: Arc::clone(&stack) };
    let findings = py.detach(|| sojourn_endpoint_check::examine(&checked));
    let rows = findings.into_iter().map(|it| (it.promise.to_owned(), it.held, it.detail));
    let able = (stack.has_ecn(), stack.carries_video());
    Ok((in_full, able, stack.unrepeatable(), rows.collect()))
}

/// The libraries that are compiled in.
#[pyfunction]
pub fn endpoints() -> Vec<&'static str> {
    KNOWN.to_vec()
}

/// Loads a library from a file and discards it; for a process that only tests this.
#[pyfunction]
pub fn try_endpoint(opened: &str, name: &str, source: &str) -> Result<(), Refusal> {
    let loaded = host::load(Path::new(opened), name, source, &[]);
    loaded.map(|_| ()).map_err(|error| Refusal::new("", error))
}

/// The settings of a library as pairs of texts.
#[cfg(any(feature = "quinn", feature = "smoltcp", feature = "str0m"))]
fn settings(spec: &SpecText) -> impl Iterator<Item = (&str, &str)> {
    spec.settings.iter().map(|(key, value)| (key.as_str(), value.as_str()))
}

#[cfg(feature = "quinn")]
fn quinn(spec: &SpecText) -> Result<ConfiguredStack, String> {
    use sojourn_endpoint_quinn::{Quinn, QuinnSettings};

    let quinn = Quinn::new(QuinnSettings::parse(settings(spec))?);
    Ok(ConfiguredStack::new(Arc::new(quinn)))
}

#[cfg(feature = "smoltcp")]
fn smoltcp(spec: &SpecText) -> Result<ConfiguredStack, String> {
    use sojourn_endpoint_smoltcp::{Smoltcp, SmoltcpSettings};

    let smoltcp = Smoltcp::new(SmoltcpSettings::parse(settings(spec))?);
    Ok(ConfiguredStack::new(Arc::new(smoltcp)))
}

#[cfg(feature = "str0m")]
fn str0m(spec: &SpecText) -> Result<ConfiguredStack, String> {
    use sojourn_endpoint_str0m::{Str0m, Str0mSettings};

    let str0m = Str0m::new(Str0mSettings::parse(settings(spec))?);
    Ok(ConfiguredStack::new(Arc::new(str0m)))
}
