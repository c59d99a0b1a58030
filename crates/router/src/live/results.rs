//! The tables and the manifest of a run.

use std::sync::Arc;

use serde_json::{Value, json};
use sojourn_aqm::{Rate, Time};
use sojourn_link::Opportunities;
use sojourn_measure::metrics::{self, Statistic};
use sojourn_measure::summary;
use sojourn_measure::{BUILTIN_VARS, Notes, Probe, QueueSeen, Utilisation};
use sojourn_record::Run;
use sojourn_record::rows::{HistogramOf, Scope};
use sojourn_scenario::resolved::Trace;

use super::devices;
use super::state::{RouterState, SAMPLE_INTERVAL};
use super::validity::invalid_reasons;
use crate::forwarding::recorder::Recording;
use crate::forwarding::router_link::{RouterLink, schedule_of};
use crate::forwarding::wire::WireCounts;
use crate::plan::RouterCapacity;

/// The results of a run.
pub struct LiveResult {
    /// The tables.
    pub run: Arc<Run>,
    /// Configuration, values read back, and measurements that are not in the tables.
    pub facts: Value,
    /// Reasons why it is not a valid experiment, one sentence each.
    pub invalid: Vec<String>,
    /// How long it ran, seconds.
    pub wall_s: f64,
}

/// The devices as `ip` shows them after set-up and at the end, and the offloads that stayed on.
pub(super) struct DeviceReport {
    pub(super) before: [Value; 2],
    pub(super) after: [Value; 2],
    pub(super) offloads: Vec<String>,
    /// Why the ends have no IPv6 addresses.
    pub(super) no_ipv6: Option<String>,
}

/// Rows as (scope, name, metric, value, unit).
pub(super) fn summary(run: &Run) -> Value {
    let rows = run.summary.iter();
    rows.map(|row| json!([row.scope.word(), row.name, row.metric, row.value, row.unit])).collect()
}

/// Collects the results of a run that has ended at `end`.
pub(super) fn finish(router: RouterState<'_>, devices: &DeviceReport, end: Time) -> LiveResult {
    let wall_s = end.as_secs();
    let overflowed = devices.after.each_ref().map(devices::overflowed);
    let invalid = invalid_reasons(&router, &devices.offloads, overflowed);
    let facts = json!({
        "plan": router.plan,
        "devices_before": devices.before,
        "devices_after": devices.after,
        "offloads_on": devices.offloads,
        "no_ipv6": devices.no_ipv6,
        "overflowed": overflowed,
        "refused": router.refused,
        "foreign": router.foreign,
        "sample_ns": SAMPLE_INTERVAL.as_nanos(),
        "passed": router.paths.each_ref().map(|path| {
            let (packets, bytes) = path.passed();
            json!({ "packets": packets, "bytes": bytes })
        }),
    });
    LiveResult { run: Arc::new(tables(router, end)), facts, invalid, wall_s }
}

fn tables(router: RouterState<'_>, end: Time) -> Run {
    let seconds = end.as_secs();
    let RouterState { plan, paths, lateness, flows, .. } = router;
    let mut queues = Vec::new();
    let mut whole = Probe::new(plan.paths.len(), 0, (Time::ZERO, Time::NEVER));
    let mut wires = Vec::new();
    for (index, mut path) in paths.into_iter().enumerate() {
        let name = plan.paths[index].name.clone();
        wires.extend(path.wire_counts(end).map(|counts| (name.clone(), counts)));
        let vars = path.link().map_or(&[][..], RouterLink::vars);
        let vars = [&BUILTIN_VARS, vars].concat();
        let Some(Recording::Probe(mut probe, _)) = path.into_recording() else {
            queues.push(QueueSeen { name, used: None, vars });
            continue;
        };
        let link = probe.links.swap_remove(index);
        let used = plan.paths[index].link.as_ref().map(|plan| {
            utilisation(&name, &plan.service).used(&link.at_warmup, &link.totals(end, None))
        });
        queues.push(QueueSeen { name, used, vars });
        whole.links[index] = link;
        whole.states.append(&mut probe.states);
        whole.notes.packets.append(&mut probe.notes.packets);
        append_signals(&mut whole.notes, probe.notes, index);
    }
    whole.notes.signals.sort_by_key(|signal| signal.t);
    let mut run = summary::collect_queues(whole, queues, seconds);
    for (name, WireCounts { offered, lost, .. }) in wires {
        run.summary.extend(summary::wire_rows(&name, offered, lost));
    }
    run.flows = flows.into_names();
    run.classes = vec!["live".to_owned(); run.flows.len()];
    let (scope, name) = (Scope::Run, "router".to_owned());
    for metric in &metrics::LATE {
        let q = if let Statistic::Quantile(q) = metric.statistic { q } else { 1.0 };
        let value_ns = lateness.quantile_ns(q);
        run.summary.extend(value_ns.map(|ns| metric.row("", ns / 1e9)));
    }
    run.histograms.push(HistogramOf { scope, name, metric: "late", histogram: lateness });
    run
}

/// How the use of a path's link is measured.
fn utilisation(name: &str, service: &RouterCapacity) -> Utilisation {
    match service {
        RouterCapacity::Rates(rates) => match rates[..] {
            [(_, bps)] => Utilisation::of_rate(name, Rate::from_bps(bps)),
            _ => Utilisation::of_schedule(name, schedule_of(rates)),
        },
        RouterCapacity::Recorded(trace) => {
            Utilisation::of_recording(name, Opportunities::new(Arc::new(Trace::clone(trace))))
        }
    }
}

/// Appends the drops and marks of a path to the common list and adjusts the indices of their
/// evidence.
fn append_signals(whole: &mut Notes, mut notes: Notes, path: usize) {
    let before = whole.evidence.len();
    for signal in &mut notes.signals {
        signal.evidence += before;
    }
    whole.signals.append(&mut notes.signals);
    whole.evidence.append(&mut notes.evidence);
    whole.evidence_vars[path] = notes.evidence_vars[path];
}
