//! Compares our laws with those of the Linux kernel, decision by decision.
//!
//! Usage: `sojourn-kernel-laws [--seconds N] [--show] [--write] [--archive linux-source-R.tar.xz]
//! [LAW|CASE...]`. The same arrivals
//! and the same requests for departures go to our discipline and to the kernel's, with the same
//! random numbers. Every drop, mark and departure must be the same packet in the same operation.
//! `--write` puts the rows of the cases that were run into docs/kernel-laws.md.

mod arrivals;
mod cases;
mod kernel;
mod replay;
mod report;
mod segments;
mod trees;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::arrivals::RecordedArrivals;
use crate::cases::Case;
use crate::kernel::KernelSource;
use crate::replay::{MTU_BYTES, Operations, Outcomes, PacketOutcome, SALT, SEED};
use crate::report::Row;

/// Duration of each load; both together are more than a million arrivals.
const SECONDS: u64 = 65;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let after = |flag| arguments.iter().skip_while(move |argument| *argument != flag).nth(1);
    let seconds = after("--seconds").and_then(|text| text.parse().ok()).unwrap_or(SECONDS);
    let cases = match chosen(&arguments) {
        Ok(cases) => cases,
        Err(why) => {
            eprintln!("kernel-laws: {why}");
            return ExitCode::FAILURE;
        }
    };
    let laws: BTreeSet<&str> = cases.iter().map(|case| case.law).collect();
    let laws: Vec<&str> = laws.into_iter().collect();
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/kernel-laws");
    let archive = after("--archive").map(PathBuf::from);
    let kernel = match KernelSource::unpack(archive, &target, &laws) {
        Ok(kernel) => kernel,
        Err(missing) => {
            println!("kernel-laws: skipped, for {missing}");
            return ExitCode::SUCCESS;
        }
    };
    match compare_all(&kernel, &cases, seconds, has("--show")) {
        Ok(rows) => finish(&kernel, &rows, has("--write"), seconds == SECONDS && !has("--archive")),
        Err(why) => {
            eprintln!("kernel-laws: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The cases of the named laws and the named cases; all cases without a name.
///
/// # Errors
/// An unknown name.
fn chosen(arguments: &[String]) -> Result<Vec<Case>, String> {
    let mut words: Vec<&String> = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--seconds" | "--archive" => _ = rest.next(),
            flag if flag.starts_with("--") => {}
            _ => words.push(argument),
        }
    }
    let is_named = |case: &Case, word: &str| word == case.law || word == case.ours;
    let mut cases = cases::all();
    if let Some(unknown) = words.iter().find(|word| !cases.iter().any(|case| is_named(case, word)))
    {
        return Err(format!("{unknown} is neither a law nor a case of src/cases.rs"));
    }
    if !words.is_empty() {
        cases.retain(|case| words.iter().any(|word| is_named(case, word)));
    }
    Ok(cases)
}

fn compare_all(
    kernel: &KernelSource,
    cases: &[Case],
    seconds: u64,
    is_verbose: bool,
) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    let mut simulated: Option<(&str, RecordedArrivals)> = None;
    for case in cases {
        if !kernel.has(case.law) {
            println!("{}: Linux {} does not have it", case.law, kernel.version);
            continue;
        }
        if kernel.series() < case.since {
            println!("{}: Linux {} lacks its options", case.ours, kernel.version);
            continue;
        }
        let aqm = match trees::is_tree(case.law) {
            true => "taildrop",
            false => case.ours.split(':').next().expect("a text has a first part"),
        };
        let arrivals = match simulated.take().filter(|(known, _)| *known == aqm) {
            Some((_, arrivals)) => arrivals,
            None => arrivals::simulate(aqm, seconds)?,
        };
        let row = compare(kernel, case, &arrivals, is_verbose)?;
        simulated = Some((aqm, arrivals));
        println!("{row}");
        rows.push(row);
    }
    Ok(rows)
}

fn compare(
    kernel: &KernelSource,
    case: &Case,
    arrivals: &RecordedArrivals,
    is_verbose: bool,
) -> Result<Row, String> {
    let program = kernel.compile(case.law)?;
    let (operations, ours) = replay::replay(case.ours, kernel.series(), arrivals)?;
    let common = [format!("mtu={MTU_BYTES}"), format!("salt={SALT}"), format!("seed={SEED}")];
    let own = case.options.split_whitespace().map(str::to_owned);
    let settings: Vec<String> = common.into_iter().chain(own).collect();
    let theirs = kernel.play(&program, &settings, &operations.bytes)?;
    let theirs = replay::read_outcomes(case.law, &theirs);
    if is_verbose {
        show(&ours, &theirs);
    }
    Ok(row(case, arrivals.len(), &operations, &ours, &theirs))
}

/// Prints the outcomes of both around the first difference, for `--show`.
fn show(ours: &Outcomes, theirs: &Outcomes) {
    let Some(&(first, ..)) = ours.symmetric_difference(theirs).next() else { return };
    let around = (first.saturating_sub(8), 0, PacketOutcome::Dropped)
        ..(first + 4, 0, PacketOutcome::Dropped);
    for (who, outcomes) in [("ours", ours), ("the kernel's", theirs)] {
        for (operation, packet, outcome) in outcomes.range(around.clone()) {
            println!("  {who}: operation {operation}, packet {packet}: {outcome:?}");
        }
    }
}

fn row(
    case: &Case,
    arrivals: usize,
    operations: &Operations,
    ours: &Outcomes,
    theirs: &Outcomes,
) -> Row {
    let differing: BTreeSet<u32> =
        ours.symmetric_difference(theirs).map(|&(_, id, _)| id).collect();
    let first = ours.symmetric_difference(theirs).next().map(|&difference| {
        let who = if ours.contains(&difference) { "ours" } else { "the kernel's" };
        format!(
            "{who} alone: operation {}, packet {}, {:?}",
            difference.0, difference.1, difference.2
        )
    });
    let count = |kind| ours.iter().filter(|outcome| outcome.2 == kind).count();
    Row {
        law: case.law,
        ours: case.ours,
        known: case.known,
        arrivals,
        decisions: operations.count,
        dropped: count(PacketOutcome::Dropped),
        marked: count(PacketOutcome::Marked),
        left: count(PacketOutcome::Left),
        differing: differing.len(),
        first,
    }
}

/// Writes the page if requested, and reports all complaints. Only comparisons of the full length
/// enter the page.
fn finish(kernel: &KernelSource, rows: &[Row], write: bool, is_full_length: bool) -> ExitCode {
    if write && let Err(error) = update_page(kernel, rows, is_full_length) {
        eprintln!("kernel-laws: {error}");
        return ExitCode::FAILURE;
    }
    let complaints: Vec<String> =
        rows.iter().filter_map(|row| row.complaint(is_full_length)).collect();
    for complaint in &complaints {
        eprintln!("kernel-laws: {complaint}");
    }
    if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn update_page(kernel: &KernelSource, rows: &[Row], is_full_length: bool) -> Result<(), String> {
    if !is_full_length {
        return Err("docs/evidence/kernel-laws.md is written without --seconds only".to_owned());
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evidence/kernel-laws.md");
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let before = std::fs::read_to_string(&path).map_err(failed)?;
    let page = report::page(&kernel.version, &cases::of_kernel(kernel.series()), rows, &before)?;
    std::fs::write(&path, page).map_err(failed)
}
