//! All that the live page shows of a set-up: its queue, its scenario, what is wrong or unknown.

use super::aqm::AqmOfTc;
use super::check::{TcCircumstances, TcFinding, check};
use super::line::lines;
use super::scenario::{ASSUMED_RTT_NS, TcImport, TcWish, chosen_line, scenario};
use super::tree::{TcNote, TcNoteKind, TcSetup};
use super::units;
use crate::FormatError;

/// A set-up with its scenario, or the reason why it has none, and its findings.
#[derive(Clone, PartialEq, Debug)]
pub struct TcReport {
    /// The devices that have a queue.
    pub devices: Vec<String>,
    /// The queue that the scenario has, or would have if its rate were known.
    pub queue: Option<TcQueue>,
    /// The scenario.
    pub scenario: Result<TcImport, FormatError>,
    /// What is wrong or doubtful.
    pub findings: Vec<TcFinding>,
    /// Parts that were not understood or have no counterpart.
    pub unknown: Vec<String>,
}

/// A discipline that holds the queue of a device.
#[derive(Clone, PartialEq, Debug)]
pub struct TcQueue {
    /// The device; empty if the text names none.
    pub device: String,
    /// Its kind, such as `fq_codel`.
    pub kind: String,
    /// Our AQM.
    pub aqm: AqmOfTc,
}

/// Bulk transfers at a time, as `sojourn tc check` assumes.
const USUAL_LOAD: u64 = 4;

/// All about a set-up.
///
/// # Errors
/// For a wished rate or time that cannot be read.
pub fn report(setup: &TcSetup, wish: &TcWish) -> Result<TcReport, FormatError> {
    let rate = wish.rate.as_deref().map(units::rate).transpose().map_err(FormatError::whole)?;
    let rtt = wish.rtt.as_deref().map(|it| units::time(it, 1e6)).transpose();
    let rtt_ns = rtt.map_err(FormatError::whole)?.unwrap_or(ASSUMED_RTT_NS);
    let given = TcCircumstances { line_bps: rate, framing: None, rtt_ns, load: USUAL_LOAD };
    let line = chosen_line(setup, wish).unwrap_or_default();
    let missing = line.as_ref().map_or_else(Vec::new, |it| it.missing.clone());
    let queue = line.and_then(|line| {
        let kind = line.queue?.kind;
        Some(TcQueue { device: line.device, kind, aqm: line.aqm? })
    });
    let scenario = scenario(setup, wish);
    let unknown = match &scenario {
        Ok(import) => import.unknown.clone(),
        Err(_) => missing.into_iter().chain(not_understood(setup)).collect(),
    };
    let has_queue = lines(setup).into_iter().filter(|it| it.chain != ["noqueue"]);
    let devices = has_queue.map(|it| it.device).collect();
    Ok(TcReport { devices, queue, scenario, findings: check(setup, given), unknown })
}

/// Words that were not understood and values that tc rounded, each with its line.
pub fn not_understood(setup: &TcSetup) -> impl Iterator<Item = String> {
    let is_not = |it: &&TcNote| matches!(it.kind, TcNoteKind::Unknown | TcNoteKind::Rounded);
    setup.notes.iter().filter(is_not).map(|it| format!("line {}: {}", it.line, it.text))
}
