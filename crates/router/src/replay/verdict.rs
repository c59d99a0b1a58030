//! Whether a run was a valid experiment.

use serde_json::Value;
use sojourn_record::rows::Fate;
use sojourn_sim::probe::Probe;

use super::is_greedy;
use super::stories::bottleneck_row;
use crate::plan::{Bottleneck, Plan};
use crate::record_files::RunResult;
use crate::seen::Story;

/// What reading the clock once costs in virtual time: the grain of a delay between two stamps.
pub const GRAIN_NS: u64 = 256;
/// In real time a loop that wakes later than this has missed what it should measure.
const STALL_NS: u64 = 5_000_000;

/// The kernel's counters are read a moment after the record ends, and packets go on meanwhile.
const EDGE_PACKETS: u64 = 5;

/// Reasons not to trust a run, one sentence each.
pub fn doubts(plan: &Plan, result: &RunResult, told: &[Story], virtual_time: bool) -> Vec<String> {
    let mut doubts = Vec::new();
    if !result.offloads.is_empty() {
        let on = result.offloads.join(", ");
        doubts
            .push(format!("offloads stayed on, so the queue held packets of many segments: {on}"));
    }
    doubts.extend(overflowed_delays(&result.after));
    if result.recorder_lost > 0 {
        doubts.push(format!(
            "the recorder had no room for {} packets; run at a lower rate",
            result.recorder_lost
        ));
    }
    if !virtual_time && result.latest_ns > STALL_NS {
        let ms = result.latest_ns as f64 / 1e6;
        doubts.push(format!(
            "the host stalled for {ms:.1} ms; run on a quiet host, or in virtual time \
             (`sojourn kernel build`)"
        ));
    }
    if !result.broken.is_empty() {
        doubts.push(format!("connections broke: {}", result.broken.join(", ")));
    }
    doubts.extend(drops_disagree(plan, result, told));
    doubts
}

fn overflowed_delays(after: &Value) -> Vec<String> {
    let rows = ["senders", "router"].iter().flat_map(|space| after[space].as_array()).flatten();
    let overflowed = rows.filter(|row| row["kind"] == "netem").filter_map(|row| {
        let drops = row["drops"].as_u64().filter(|&drops| drops > 0)?;
        Some(format!("the delay element at {} dropped {drops} packets", row["dev"]))
    });
    overflowed.collect()
}

/// The drops that the record shows and those that the kernel counted.
fn drops_disagree(plan: &Plan, result: &RunResult, told: &[Story]) -> Option<String> {
    if !matches!(plan.bottleneck, Bottleneck::Kernel { .. }) {
        return None;
    }
    let counted = bottleneck_row(&result.after, plan)?["drops"].as_u64()?;
    let seen = told.iter().filter(|story| matches!(story.fate, Fate::Dropped(..))).count() as u64;
    (counted.abs_diff(seen) > EDGE_PACKETS).then(|| {
        format!("the kernel counted {counted} drops at the bottleneck, the record shows {seen}")
    })
}

/// Flows that send without end fill the queue of their bottleneck, if it is there.
pub fn elsewhere(plan: &Plan, probe: &Probe) -> Option<String> {
    let waited = probe.links[0].delays.max_ns().unwrap_or(0) > 0;
    (is_greedy(plan) && !waited).then(|| {
        "no packet ever waited at the link, so the bottleneck was elsewhere; look at access_rate"
            .to_owned()
    })
}
