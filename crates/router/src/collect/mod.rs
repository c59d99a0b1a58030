//! Turns the captures of a run into the result tables. Packets are reported to the simulator's
//! probe in order of time, so both engines count in the same way.

mod buffer;
mod collector;
mod datagrams;
mod frames;
mod headers;
mod hidden;
mod latency;
mod observed_link;
mod packet_records;
mod programs;
mod tables;
#[cfg(test)]
mod test_plan;
mod validity;
mod video;

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};
use sojourn_measure::{EcnConnections, ecn_share, exercise, summary};
use sojourn_record::Run;
use sojourn_scenario::Resolved;

use crate::plan::Plan;
use crate::run_files::{RESULT, RunResult};
use collector::Collector;
pub use headers::{CapturedPacket, PacketSignal, headers};

/// The results of a run.
pub struct Collected {
    /// Its tables.
    pub run: Run,
    /// Configuration, values read back, and measurements that are not in the tables.
    pub facts: Value,
    /// Reasons why it is not a valid experiment, one sentence each.
    pub invalid: Vec<String>,
}

/// Reads the results in `folder`. `virtual_time` tells whether the run's clock stood still while
/// programs computed.
///
/// # Errors
///
/// Returns a sentence if a file is missing or incomplete.
pub fn collect(
    folder: &Path,
    scenario: &Resolved,
    plan: &Plan,
    virtual_time: bool,
) -> Result<Collected, String> {
    let result = read_result(folder)?;
    let (run, invalid) = measured(folder, scenario, plan, &result, virtual_time)?;
    Ok(Collected { run, facts: facts(plan, &result, virtual_time), invalid })
}

/// Reads the results of an ns-3 run. The facts are the settings that its runner read back.
///
/// # Errors
///
/// Returns a sentence if a file is missing or incomplete.
pub fn collect_ns3(folder: &Path, scenario: &Resolved, plan: &Plan) -> Result<Collected, String> {
    let result = read_result(folder)?;
    let (run, invalid) = measured(folder, scenario, plan, &result, true)?;
    Ok(Collected { run, facts: json!({ "read_back": result.before }), invalid })
}

fn read_result(folder: &Path) -> Result<RunResult, String> {
    let text = fs::read(folder.join(RESULT)).map_err(|e| format!("{RESULT}: {e}"))?;
    serde_json::from_slice(&text).map_err(|e| format!("{RESULT}: {e}"))
}

/// The tables of a run, and the reasons why it is not a valid experiment.
fn measured(
    folder: &Path,
    scenario: &Resolved,
    plan: &Plan,
    result: &RunResult,
    virtual_time: bool,
) -> Result<(Run, Vec<String>), String> {
    let arranged = programs::arranged(scenario, plan, result)?;
    let (scenario, plan, result) = match &arranged {
        Some(all) => (&all.scenario, &all.plan, &all.result),
        None => (scenario, plan, result),
    };
    let mut records = packet_records::read(folder, plan, result)?;
    if let Some(arranged) = &arranged {
        arranged.renumber(&mut records);
    }
    let mut invalid = validity::invalid_reasons(result, &records, virtual_time);
    let late = validity::lateness(virtual_time);
    invalid.extend(buffer::exceeded(scenario, plan, &records, late));
    let records = packet_records::counted(records, plan);
    let mut collector = Collector::new(scenario, plan, result, late);
    collector.expect_frames(frames::read(folder, scenario, plan)?);
    collector.feed(&records);
    invalid.extend(validity::bottleneck_elsewhere(plan, collector.probe()));
    for (index, excess) in collector.excesses() {
        invalid.extend(validity::too_fast(&scenario.links[index].name, excess));
    }
    let fates = datagrams::fates(scenario, plan, result, &records);
    if let Some(arranged) = &arranged {
        invalid.extend(arranged.failures(folder));
        arranged.add_durations(collector.probe_mut());
    }
    let outcome = collector.outcome(folder, (scenario, plan), result, &fates)?;
    let mut run = summary::collect(outcome, scenario);
    ecn_share::add_to_summary(&mut run, &ecn_connections(scenario, plan, result));
    exercise::warn(&mut run, scenario);
    if let Some(arranged) = &arranged {
        arranged.add_tables(folder, &mut run);
    }
    run.warnings.extend(plan.warnings.iter().cloned());
    Ok((run, invalid))
}

/// The connections of each class that requested ECN.
fn ecn_connections(scenario: &Resolved, plan: &Plan, result: &RunResult) -> Vec<EcnConnections> {
    let mut of_class = vec![EcnConnections::default(); scenario.classes().len()];
    let class_of = collector::class_of(scenario, plan);
    for ((flow, class), &(established, capable)) in plan.flows.iter().zip(class_of).zip(&result.ecn)
    {
        if scenario.flows[flow.group].app.tcp().is_some_and(|tcp| tcp.ecn.is_some()) {
            of_class[class].add(EcnConnections { established, capable });
        }
    }
    of_class
}

/// The run's entry in the manifest.
fn facts(plan: &Plan, result: &RunResult, virtual_time: bool) -> Value {
    let accuracy_ns = if virtual_time { validity::CLOCK_READ_NS } else { result.latest_ns };
    json!({
        "hz": plan.hz,
        "virtual_time": virtual_time,
        "commands": plan.commands,
        "qdisc": plan.kernel_qdisc,
        "settings": plan.settings,
        "bottleneck": without_trace(&plan.bottleneck),
        "wire": plan.wire,
        "back": plan.reverse.as_ref().map(|reverse| json!({
            "router": without_trace(&reverse.link),
            "wire": reverse.wire,
            "groups": reverse.groups,
        })),
        "wire_counts": result.wire_counts,
        "qdiscs_before": result.before,
        "qdiscs_after": result.after,
        "module": result.module,
        "router": result.link_counts,
        "offloads_on": result.offloads,
        "broken_connections": result.broken,
        "latest_ns": result.latest_ns,
        "delay_accuracy_ns": accuracy_ns,
    })
}

/// A bottleneck or a link of our router, without the times of recorded opportunities, which are in
/// a file named by the scenario.
fn without_trace(bottleneck: &impl Serialize) -> Value {
    let mut value = json!(bottleneck);
    for path in ["/sojourn/service/recorded", "/service/recorded"] {
        if let Some(recording) = value.pointer_mut(path) {
            recording["opportunities_ms"] = Value::Null;
        }
    }
    value
}
