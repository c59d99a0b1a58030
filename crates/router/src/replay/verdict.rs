//! Whether a run was a valid experiment.

use serde_json::Value;
use sojourn_measure::Probe;
use sojourn_record::rows::Fate;

use super::is_greedy;
use crate::plan::{Direction, Plan};
use crate::record_files::RunResult;
use crate::seen::Story;

/// What reading the clock once costs in virtual time: the grain of a delay between two stamps.
pub const GRAIN_NS: u64 = 256;
/// In real time a loop that wakes later than this has missed what it should measure.
const STALL_NS: u64 = 5_000_000;

/// The kernel's counters are read a moment after the end, and packets are dropped meanwhile.
const EDGE_PACKETS: u64 = 5;

/// Reasons not to trust a run, one sentence each.
pub fn doubts(result: &RunResult, told: &[Story], virtual_time: bool) -> Vec<String> {
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
    doubts.extend(drops_disagree(result, told));
    doubts.extend(wire_missed(result, told));
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
fn drops_disagree(result: &RunResult, told: &[Story]) -> Option<String> {
    let counted = result.counted?.dropped;
    let is_drop = |s: &&Story| s.way == Direction::Forward && matches!(s.fate, Fate::Dropped(..));
    let seen = told.iter().filter(is_drop).count() as u64;
    (counted.abs_diff(seen) > EDGE_PACKETS).then(|| {
        format!("the kernel counted {counted} drops at the bottleneck, the record shows {seen}")
    })
}

/// What left a link and what its wire took.
fn wire_missed(result: &RunResult, told: &[Story]) -> Option<String> {
    [Direction::Forward, Direction::Back].into_iter().find_map(|way| {
        let seen = result.wires[way as usize]?.seen;
        let sent = told.iter().filter(|s| s.way == way && s.fate == Fate::Sent).count() as u64;
        (sent.abs_diff(seen) > EDGE_PACKETS)
            .then(|| format!("the link sent {sent} packets, and {seen} came to the wire behind it"))
    })
}

/// Flows that send without end fill the queue of their bottleneck, if it is there.
pub fn elsewhere(plan: &Plan, probe: &Probe) -> Option<String> {
    let waited = probe.links.iter().any(|link| link.delays.max_ns().unwrap_or(0) > 0);
    (is_greedy(plan) && !waited).then(|| {
        "no packet ever waited at a link, so the bottleneck was elsewhere; look at access_rate"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record_files::Counted;
    use crate::replay::sample::plan;
    use crate::seen::Kind;
    use crate::wire::WireCounts;
    use serde_json::json;
    use sojourn_aqm::{Cause, Ecn, Stage, Time};

    /// A run of which nothing bad is to be said: the kernel counted as many drops as were seen.
    fn result(plan: &Plan) -> RunResult {
        let mut result = RunResult::new(plan, Vec::new(), Value::Null);
        result.counted = Some(Counted { at_ns: 2_000_000_000, waiting: 0, dropped: 7 });
        let router = json!([{ "dev": "r0", "kind": "netem", "drops": 0 }]);
        let senders = json!([{ "dev": "s0", "kind": "netem", "drops": 0 }]);
        result.after = json!({ "router": router, "senders": senders });
        result
    }

    fn dropped(count: usize) -> Vec<Story> {
        let story = Story {
            flow: 0,
            way: Direction::Forward,
            seq: 0,
            bytes: 1500,
            kind: Kind::Data,
            ecn_in: Ecn::NotEct,
            arrived: Time::ZERO,
            left: Some(Time::ZERO),
            fate: Fate::Dropped(Stage::Dequeue, Cause::Deterministic),
            marked: None,
        };
        vec![story; count]
    }

    /// The one doubt that a change brings about.
    fn doubt(change: impl FnOnce(&mut RunResult), virtual_time: bool) -> String {
        let plan = plan();
        let mut result = result(&plan);
        assert_eq!(doubts(&result, &dropped(7), virtual_time), Vec::<String>::new());
        change(&mut result);
        let mut found = doubts(&result, &dropped(7), virtual_time);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    #[test]
    fn offloads_that_stayed_on_are_a_doubt() {
        let said = doubt(|result| result.offloads.push("out: gso".to_owned()), true);
        assert!(said.contains("out: gso"), "{said}");
    }

    #[test]
    fn a_delay_element_that_dropped_is_a_doubt() {
        let said = doubt(|result| result.after["senders"][0]["drops"] = json!(3), true);
        assert!(said.contains("\"s0\" dropped 3 packets"), "{said}");
    }

    #[test]
    fn a_host_that_stalled_is_a_doubt_in_real_time_only() {
        let said = doubt(|result| result.latest_ns = 22_000_000, false);
        assert!(said.contains("stalled for 22.0 ms"), "{said}");
        let plan = plan();
        let late = RunResult { latest_ns: 22_000_000, ..result(&plan) };
        assert_eq!(doubts(&late, &dropped(7), true), Vec::<String>::new());
    }

    #[test]
    fn packets_that_the_recorder_lost_are_a_doubt() {
        let said = doubt(|result| result.recorder_lost = 4, true);
        assert!(said.contains("no room for 4 packets"), "{said}");
    }

    #[test]
    fn connections_that_broke_are_a_doubt() {
        let said = doubt(|result| result.broken.push("flow 0: reset".to_owned()), true);
        assert!(said.contains("flow 0: reset"), "{said}");
    }

    #[test]
    fn drops_that_the_kernel_counted_otherwise_are_a_doubt() {
        let said = doubt(|result| result.counted.as_mut().unwrap().dropped = 70, true);
        assert!(said.contains("counted 70 drops at the bottleneck, the record shows 7"), "{said}");
    }

    #[test]
    fn packets_that_never_came_to_the_wire_are_a_doubt() {
        let seen = |seen| Some(WireCounts { seen, offered: 0, lost: 0 });
        let plan = plan();
        let told: Vec<Story> =
            dropped(20).into_iter().map(|story| Story { fate: Fate::Sent, ..story }).collect();
        let mut result = result(&plan);
        result.counted.as_mut().unwrap().dropped = 0;
        for (count, doubted) in [(20, 0), (14, 1)] {
            result.wires[0] = seen(count);
            let found = doubts(&result, &told, true);
            assert_eq!(found.len(), doubted, "{found:?}");
        }
    }

    #[test]
    fn greedy_flows_that_never_waited_had_their_bottleneck_elsewhere() {
        let window = (Time::ZERO, Time::from_nanos(1));
        let mut probe = Probe::new(1, 1, window);
        let plan = plan();
        assert!(elsewhere(&plan, &probe).unwrap().contains("bottleneck was elsewhere"));
        probe.links[0].delays.add(1_000_000);
        assert_eq!(elsewhere(&plan, &probe), None);
    }
}
