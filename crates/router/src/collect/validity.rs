//! Decides whether a run was a valid experiment.

use serde_json::Value;
use sojourn_aqm::Span;
use sojourn_measure::Probe;
use sojourn_record::rows::Fate;
use sojourn_scenario::resolved::App;

use super::observed_link::Excess;
use crate::captures::PacketRecord;
use crate::plan::{Direction, Plan};
use crate::run_files::RunResult;

/// In virtual time the clock advances by this much each time it is read (fact linux-1), which
/// limits the accuracy of the delay between two time stamps.
pub(super) const CLOCK_READ_NS: u64 = 256;
/// A run in real time is invalid if the event loop woke later than this.
const STALL_NS: u64 = 5_000_000;

/// The kernel's counters are read shortly after the end, and packets may be dropped in between.
const EDGE_PACKETS: u64 = 5;

/// Reasons not to trust a run, one sentence each.
pub(super) fn invalid_reasons(
    result: &RunResult,
    records: &[PacketRecord],
    virtual_time: bool,
) -> Vec<String> {
    let mut reasons = Vec::new();
    if !result.offloads.is_empty() {
        let on = result.offloads.join(", ");
        reasons
            .push(format!("offloads stayed on, so the queue held packets of many segments: {on}"));
    }
    reasons.extend(overflowed_delays(&result.after));
    if result.capture_lost > 0 {
        reasons.push(format!(
            "the recorder had no room for {} packets; run at a lower rate",
            result.capture_lost
        ));
    }
    if !virtual_time && result.latest_ns > STALL_NS {
        let ms = result.latest_ns as f64 / 1e6;
        reasons.push(format!(
            "the host stalled for {ms:.1} ms; run on a quiet host, or in virtual time \
             (`sojourn kernel build`)"
        ));
    }
    if !result.broken.is_empty() {
        reasons.push(format!("connections broke: {}", result.broken.join(", ")));
    }
    reasons.extend(drops_disagree(result, records));
    reasons.extend(wire_missed(result, records));
    reasons
}

fn overflowed_delays(after: &Value) -> Vec<String> {
    let rows = ["senders", "router"].iter().flat_map(|space| after[space].as_array()).flatten();
    let overflowed = rows.filter(|row| row["kind"] == "netem").filter_map(|row| {
        let drops = row["drops"].as_u64().filter(|&drops| drops > 0)?;
        Some(format!("the delay element at {} dropped {drops} packets", row["dev"]))
    });
    overflowed.collect()
}

/// Whether the drops in the captures differ from those that the kernel counted.
fn drops_disagree(result: &RunResult, records: &[PacketRecord]) -> Option<String> {
    let counted = result.kernel_counters.as_ref()?.dropped;
    let is_drop = |s: &&PacketRecord| {
        s.direction == Direction::Forward && matches!(s.fate, Fate::Dropped(..))
    };
    let seen = records.iter().filter(is_drop).count() as u64;
    (counted.abs_diff(seen) > EDGE_PACKETS).then(|| {
        format!("the kernel counted {counted} drops at the bottleneck, the record shows {seen}")
    })
}

/// Whether the packets that left a link differ from those that entered its wire.
fn wire_missed(result: &RunResult, records: &[PacketRecord]) -> Option<String> {
    [Direction::Forward, Direction::Reverse].into_iter().find_map(|direction| {
        let seen = result.wire_counts[direction as usize]?.seen;
        let sent =
            records.iter().filter(|s| s.direction == direction && s.fate == Fate::Sent).count()
                as u64;
        (sent.abs_diff(seen) > EDGE_PACKETS).then(|| {
            format!("the link sent {sent} packets, and {seen} arrived at the wire behind it")
        })
    })
}

/// Flows with unlimited data fill the queue of their bottleneck; if no packet was queued at any
/// link, the bottleneck was elsewhere.
pub(super) fn bottleneck_elsewhere(plan: &Plan, probe: &Probe) -> Option<String> {
    let waited = probe.links.iter().any(|link| link.delays.max_ns().unwrap_or(0) > 0);
    let is_greedy = |app: &App| matches!(app, App::Bulk { bytes: None, .. });
    let has_greedy = plan.flows.iter().any(|flow| is_greedy(&flow.app));
    (has_greedy && !waited).then(|| {
        "no packet ever waited at a link, so the bottleneck was elsewhere; look at access_rate"
            .to_owned()
    })
}

/// The largest lateness of the event loop, and thus of a packet or a rate change.
pub(super) fn lateness(virtual_time: bool) -> Span {
    Span::from_nanos(if virtual_time { 0 } else { STALL_NS })
}

/// Checks that a link did not exceed its rate. Three things are allowed: the kernel's shaper may
/// make up for a late timer with one packet (`hicredit`), the previous packet is still being sent
/// when the next one leaves, and the shaper rounds the cost of a packet down to 200ths of a byte
/// (fact linux-23).
pub(super) fn too_fast(link: &str, excess: &Excess) -> Option<String> {
    (excess.longest > Span::ZERO).then(|| {
        format!(
            "packets left link {link} up to {} before those in front of them can have been sent, \
             so the kernel sent more than the link's rate",
            excess.longest
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::captures::CapturedKind;
    use crate::collect::observed_link::ObservedLink;
    use crate::collect::test_plan::plan;
    use crate::forwarding::wire::WireCounts;
    use crate::run_files::KernelCounters;
    use serde_json::json;
    use sojourn_aqm::{Cause, Ecn, Stage, Time};
    use sojourn_scenario::{Scenario, Source};

    /// A valid run, in which the kernel counted as many drops as were captured.
    fn result(plan: &Plan) -> RunResult {
        let mut result = RunResult::new(plan, Vec::new(), Value::Null);
        result.kernel_counters = Some(KernelCounters {
            at_ns: 2_000_000_000,
            waiting: 0,
            dropped: 7,
            in_leaves: vec![],
        });
        let router = json!([{ "dev": "r0", "kind": "netem", "drops": 0 }]);
        let senders = json!([{ "dev": "s0", "kind": "netem", "drops": 0 }]);
        result.after = json!({ "router": router, "senders": senders });
        result
    }

    fn dropped(count: usize) -> Vec<PacketRecord> {
        let record = PacketRecord {
            flow: 0,
            direction: Direction::Forward,
            seq: 0,
            bytes: 1500,
            kind: CapturedKind::Data,
            ecn_in: Ecn::NotEct,
            dscp: 0,
            arrived: Time::ZERO,
            left: Some(Time::ZERO),
            fate: Fate::Dropped(Stage::Dequeue, Cause::Deterministic),
            marked: None,
        };
        vec![record; count]
    }

    /// The only reason found after a change of the valid result.
    fn reason(change: impl FnOnce(&mut RunResult), virtual_time: bool) -> String {
        let plan = plan();
        let mut result = result(&plan);
        assert_eq!(invalid_reasons(&result, &dropped(7), virtual_time), Vec::<String>::new());
        change(&mut result);
        let mut found = invalid_reasons(&result, &dropped(7), virtual_time);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    #[test]
    fn offloads_that_stayed_on_make_a_run_invalid() {
        let found = reason(|result| result.offloads.push("out: gso".to_owned()), true);
        assert!(found.contains("out: gso"), "{found}");
    }

    #[test]
    fn a_delay_element_that_dropped_makes_a_run_invalid() {
        let found = reason(|result| result.after["senders"][0]["drops"] = json!(3), true);
        assert!(found.contains("\"s0\" dropped 3 packets"), "{found}");
    }

    #[test]
    fn a_stalled_host_makes_a_run_invalid_in_real_time_only() {
        let found = reason(|result| result.latest_ns = 22_000_000, false);
        assert!(found.contains("stalled for 22.0 ms"), "{found}");
        let plan = plan();
        let late = RunResult { latest_ns: 22_000_000, ..result(&plan) };
        assert_eq!(invalid_reasons(&late, &dropped(7), true), Vec::<String>::new());
    }

    #[test]
    fn packets_lost_by_the_capture_make_a_run_invalid() {
        let found = reason(|result| result.capture_lost = 4, true);
        assert!(found.contains("no room for 4 packets"), "{found}");
    }

    #[test]
    fn broken_connections_make_a_run_invalid() {
        let found = reason(|result| result.broken.push("flow 0: reset".to_owned()), true);
        assert!(found.contains("flow 0: reset"), "{found}");
    }

    #[test]
    fn another_number_of_drops_in_the_kernel_makes_a_run_invalid() {
        let found = reason(|result| result.kernel_counters.as_mut().unwrap().dropped = 70, true);
        assert!(
            found.contains("counted 70 drops at the bottleneck, the record shows 7"),
            "{found}"
        );
    }

    #[test]
    fn packets_that_did_not_enter_the_wire_make_a_run_invalid() {
        let seen = |seen| Some(WireCounts { seen, offered: 0, lost: 0 });
        let plan = plan();
        let sent: Vec<PacketRecord> = dropped(20)
            .into_iter()
            .map(|record| PacketRecord { fate: Fate::Sent, ..record })
            .collect();
        let mut result = result(&plan);
        result.kernel_counters.as_mut().unwrap().dropped = 0;
        for (count, reasons) in [(20, 0), (14, 1)] {
            result.wire_counts[0] = seen(count);
            let found = invalid_reasons(&result, &sent, true);
            assert_eq!(found.len(), reasons, "{found:?}");
        }
    }

    /// How far packets of 1500 bytes that leave at these times run ahead of a rate.
    fn ran_ahead(rate: &str, virtual_time: bool, times_us: &[u64]) -> Option<String> {
        let text = format!(
            "name = \"t\"\nduration = \"4s\"\n[links.up]\nrate = {rate}\n[[flows]]\n\
             path = [\"up\"]\nrtt = \"10ms\"\napp = {{ kind = \"bulk\" }}"
        );
        let unread = |path: &str| Err(std::io::Error::other(path.to_owned()));
        let scenario = Scenario::load(&text, &Source::default(), &unread).expect("a scenario");
        let link = &scenario.resolved().links[0];
        let mut link = ObservedLink::new(link, lateness(virtual_time));
        times_us.iter().for_each(|us| link.departs(Time::from_nanos(us * 1000), 1500));
        too_fast("up", link.excess.as_ref().expect("rates"))
    }

    /// 1500 bytes take 1.2 ms at 10 Mbit/s.
    #[test]
    fn departures_above_the_rate_of_the_link_make_a_run_invalid() {
        let found = |gap_us: u64, virtual_time: bool| {
            let times: Vec<_> = (0..100).map(|n| n * gap_us).collect();
            ran_ahead("\"10mbit\"", virtual_time, &times)
        };
        assert_eq!(found(1200, true), None);
        assert_eq!(found(1180, true), None, "ahead by 1.98 ms in the end, less than two packets");
        let why = found(1170, true).expect("ahead by 2.97 ms");
        assert!(why.contains("link up up to 2.97ms before"), "{why}");
        assert_eq!(found(1170, false), None, "in real time the event loop may be late");
        assert!(found(1000, false).is_some());
    }

    /// 1500 bytes take 6 ms at 2 Mbit/s, and a 200th of a byte takes 20 ns.
    #[test]
    fn departures_above_the_rate_by_less_than_the_shaper_rounds_are_valid_however_many() {
        let found = |packets_per_us: u64| {
            let times: Vec<_> = (0..2_000_000).map(|n| n * 6_000 - n / packets_per_us).collect();
            ran_ahead("\"2mbit\"", true, &times)
        };
        assert_eq!(found(50), None, "20 ns a packet, 40 ms in the end");
        assert!(found(20).is_some(), "50 ns a packet");
    }

    /// 1500 bytes take 1.2 ms at 10 Mbit/s and 6 ms at 2 Mbit/s.
    #[test]
    fn departures_above_a_rate_that_changes_make_a_run_invalid() {
        let rate = r#"{ kind = "schedule", steps = [["0s", "10mbit"], ["1s", "2mbit"]] }"#;
        let found = |changed_us: u64, gap_us: u64, virtual_time: bool| {
            let fast = (0..changed_us).step_by(1200);
            let slow = (0..50).map(|n| changed_us + n * gap_us);
            ran_ahead(rate, virtual_time, &fast.chain(slow).collect::<Vec<_>>())
        };
        assert_eq!(found(1_000_000, 6_000, true), None);
        assert!(found(1_000_000, 1_200, true).is_some(), "the rate did not change");
        assert!(found(1_000_000, 5_000, true).is_some(), "it changed to 2.4 Mbit/s");
        // 4 ms at 10 Mbit/s correspond to 20 ms at 2 Mbit/s.
        assert!(found(1_004_000, 6_000, true).is_some(), "it changed too late");
        assert_eq!(found(1_004_000, 6_000, false), None, "in real time it may");
    }

    #[test]
    fn greedy_flows_that_never_waited_make_a_run_invalid() {
        let window = (Time::ZERO, Time::from_nanos(1));
        let mut probe = Probe::new(1, 1, window);
        let plan = plan();
        assert!(bottleneck_elsewhere(&plan, &probe).unwrap().contains("bottleneck was elsewhere"));
        probe.links[0].delays.add(1_000_000);
        assert_eq!(bottleneck_elsewhere(&plan, &probe), None);
    }
}
