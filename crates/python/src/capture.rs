//! Captures of a run.

use std::path::Path;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_aqm::Time;
use sojourn_capture::FileFormat;
use sojourn_record::manifest;
use sojourn_sim::Custom;

use crate::app;
use crate::cancel::Cancel;
use crate::control::Failure;
use crate::engine;
use crate::scenario::Scenario;

/// Simulates a scenario and writes a capture of each place into a folder, as `pcapng` or `pcap`, or
/// a log of each TCP sender, as `qlog`; returns the files and the digest. Releases the GIL.
#[pyfunction]
#[pyo3(signature = (scenario, folder, file_format="pcapng", cancel=None))]
pub fn capture(
    py: Python<'_>,
    scenario: &Scenario,
    folder: &str,
    file_format: &str,
    cancel: Option<&Cancel>,
) -> PyResult<(Vec<String>, String)> {
    let loaded = Arc::clone(&scenario.loaded);
    let (cancel, failure) = (cancel.cloned().unwrap_or_default(), Failure::default());
    let custom = Custom {
        apps: app::custom_apps(&scenario.apps, py, &failure),
        stacks: (*scenario.stacks).clone(),
        ..Custom::default()
    };
    let format = match file_format {
        "pcapng" => FileFormat::PcapNg,
        "pcap" => FileFormat::Pcap,
        "qlog" => FileFormat::Qlog,
        other => return Err(PyValueError::new_err(format!("no format {other}"))),
    };
    let result = py.detach(|| {
        let mut plan = engine::plan_reporting_to(&loaded.scenario, &failure);
        plan.record.flows |= format == FileFormat::Qlog;
        let goes_on = |now: Time| cancel.goes_on(now, &failure);
        let captured = sojourn_sim::capture::run(&plan, &custom, &goes_on);
        captured.map(|(run, sightings)| {
            let files = sojourn_capture::write(&plan, &run, &sightings, Path::new(folder), format);
            (files, manifest::digest(&run))
        })
    });
    failure.check()?;
    let (files, digest) = engine::finished(result)?;
    let files = files?.into_iter().map(|file| file.to_string_lossy().into_owned());
    Ok((files.collect(), digest))
}
