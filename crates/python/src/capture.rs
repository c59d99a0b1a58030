//! Captures of a run.

use std::path::Path;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_aqm::Time;
use sojourn_capture::{CapturePlace, FileFormat, RealPacket, Signal, write_packets};
use sojourn_record::manifest;
use sojourn_router::captures::CapturePoint;
use sojourn_router::collect::{self, CapturedPacket, PacketSignal};
use sojourn_router::plan::Plan;
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
    let format = format_of(file_format)?;
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

fn format_of(word: &str) -> PyResult<FileFormat> {
    match word {
        "pcapng" => Ok(FileFormat::PcapNg),
        "pcap" => Ok(FileFormat::Pcap),
        "qlog" => Ok(FileFormat::Qlog),
        other => Err(PyValueError::new_err(format!("no format {other}"))),
    }
}

/// Writes captures of the real packets of a run of another engine, whose results are in `results`,
/// into a folder, as `pcapng` or `pcap`; returns the files. `about` states their origin.
#[pyfunction]
pub fn write_captures(
    py: Python<'_>,
    scenario: &Scenario,
    plan: &str,
    results: &str,
    folder: &str,
    file_format: &str,
    about: &str,
) -> PyResult<Vec<String>> {
    let loaded = Arc::clone(&scenario.loaded);
    let format = format_of(file_format)?;
    let plan: Plan =
        serde_json::from_str(plan).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let files = py.detach(|| {
        let resolved = loaded.scenario.resolved();
        let packets = collect::headers(Path::new(results), resolved, &plan);
        let packets: Vec<RealPacket> =
            packets.map_err(PyValueError::new_err)?.into_iter().map(real_packet).collect();
        let files = write_packets(resolved, about, &packets, Path::new(folder), format);
        PyResult::Ok(files?)
    })?;
    Ok(files.into_iter().map(|file| file.to_string_lossy().into_owned()).collect())
}

fn real_packet(packet: CapturedPacket) -> RealPacket {
    let CapturedPacket { at, point, link, bytes, headers, signal } = packet;
    let place = match point {
        CapturePoint::Sender => CapturePlace::Sender,
        CapturePoint::Receiver => CapturePlace::Receiver,
        CapturePoint::Arrived => CapturePlace::In(link),
        CapturePoint::Sent => CapturePlace::Out(link),
    };
    let signal = signal.map(|PacketSignal { is_mark, rule, sojourn, state }| Signal {
        is_mark,
        rule,
        sojourn,
        state,
    });
    RealPacket { t: at, place, bytes: u32::from(bytes), headers, signal }
}
