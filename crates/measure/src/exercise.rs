//! Checks whether a run exercised its flows and at least one AQM.

use std::collections::{BTreeMap, BTreeSet};

use sojourn_record::Run;
use sojourn_record::rows::Scope;
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::{App, FlowGroup, Link};

/// Adds a warning for each class that delivered nothing; if all classes delivered, adds one if no
/// AQM had any decision to make.
pub fn warn(run: &mut Run, plan: &Resolved) {
    let active = active_classes(run);
    let may_count: BTreeSet<&str> = plan
        .flows
        .iter()
        .filter(|flow| may_count(flow, plan))
        .map(|flow| flow.class.as_str())
        .collect();
    let mut idle = plan.classes();
    idle.retain(|class| !active.contains(class));
    for class in idle.iter().filter(|class| may_count.contains(class.as_str())) {
        run.warnings.push(format!(
            "class {class}: nothing was delivered after the warm-up, {} to {}; look at its \
             start and stop, and at rates, losses and buffers on its path",
            plan.warmup, plan.duration
        ));
    }
    if idle.is_empty() {
        warn_of_idle_queues(run, plan);
    }
}

/// The classes that delivered something.
fn active_classes(run: &Run) -> BTreeSet<String> {
    let rows = run.summary.iter().filter(|row| row.scope == Scope::Class && row.value != 0.0);
    rows.filter(|row| row.metric == "goodput").map(|row| row.name.clone()).collect()
}

/// Whether the scenario lets these flows run after the warm-up. If not, resolving the scenario has
/// already given a warning.
fn may_count(flow: &FlowGroup, plan: &Resolved) -> bool {
    flow.start.1 < plan.duration && flow.stop.is_none_or(|stop| stop > plan.warmup)
}

/// Adds a warning if flows send as fast as they can but no queue had any decision to make: nothing
/// was dropped or marked, and at every link the 95th percentile of the queue delay was at most the
/// time of one packet. A comparison of AQMs is then meaningless: the bottleneck is elsewhere, or
/// windows have not reached it.
fn warn_of_idle_queues(run: &mut Run, plan: &Resolved) {
    let is_greedy = |app: &App| app.bulk() == Some(None);
    let has_greedy = plan.flows.iter().any(|flow| is_greedy(&flow.app));
    if !has_greedy || has_decided(run, plan) {
        return;
    }
    run.warnings.push(
        "no AQM had anything to do: nothing was dropped or marked and queues were nearly empty, \
         although bulk flows send all they can; the bottleneck is elsewhere (look at access_rate, \
         receive_window, device and the rate of the link), or windows still grow after an \
         earlier loss or mark, by a packet per round trip (lengthen warmup and duration)"
            .to_owned(),
    );
}

/// Whether any link dropped, marked or noticeably delayed packets.
fn has_decided(run: &Run, plan: &Resolved) -> bool {
    let packet_s =
        |link: &Link| link.capacity.initial_rate().time_for(u64::from(link.mtu_bytes)).as_secs();
    let names = plan.links.iter().map(|link| (link.name.as_str(), packet_s(link)));
    let packets_s: BTreeMap<&str, f64> = names.collect();
    run.summary.iter().filter(|row| row.scope == Scope::Queue).any(|row| match row.metric {
        "drop_rate" | "mark_rate" => row.value > 0.0,
        "delay_p95" => packets_s.get(&*row.name).is_some_and(|&packet_s| row.value > packet_s),
        _ => false,
    })
}
