//! Whether a run exercised what it is meant to: its flows, and any AQM.

use sojourn_record::Run;
use sojourn_record::rows::Scope;
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::{App, FlowGroup, Link};

/// Adds a warning for each class that delivered nothing; if all delivered, adds one if no AQM had
/// anything to decide.
pub fn warn(run: &mut Run, plan: &Resolved) {
    let idle: Vec<String> = plan.classes().into_iter().filter(|c| is_idle(run, c)).collect();
    for class in &idle {
        if plan.flows.iter().any(|flow| flow.class == *class && may_count(flow, plan)) {
            run.warnings.push(format!(
                "class {class}: nothing was delivered after the warm-up, {} to {}; look at its \
                 start and stop, and at rates, losses and buffers on its path",
                plan.warmup, plan.duration
            ));
        }
    }
    if idle.is_empty() {
        warn_of_idle_queues(run, plan);
    }
}

/// Whether a class delivered nothing.
fn is_idle(run: &Run, class: &str) -> bool {
    value(run, Scope::Class, class, "goodput") == 0.0
}

/// Whether the scenario lets these flows run after the warm-up; otherwise the scenario warns
/// itself.
fn may_count(flow: &FlowGroup, plan: &Resolved) -> bool {
    flow.start.1 < plan.duration && flow.stop.is_none_or(|stop| stop > plan.warmup)
}

/// Adds a warning if flows send all they can and yet no queue had anything to decide: nothing was
/// dropped or marked, and at every link the 95th percentile of the queue delay was at most the time
/// of one packet. A comparison of AQMs is then meaningless, because the bottleneck is elsewhere.
fn warn_of_idle_queues(run: &mut Run, plan: &Resolved) {
    let is_greedy = |app: &App| app.bulk() == Some(None);
    let has_greedy = plan.flows.iter().any(|flow| is_greedy(&flow.app));
    if !has_greedy || plan.links.iter().any(|link| has_decided(run, link)) {
        return;
    }
    run.warnings.push(
        "no AQM had anything to do: nothing was dropped or marked and queues were nearly empty, \
         although bulk flows send all they can; the bottleneck is elsewhere (look at access_rate, \
         receive_window, device and the rate of the link)"
            .to_owned(),
    );
}

/// Whether a link dropped, marked or noticeably delayed packets.
fn has_decided(run: &Run, link: &Link) -> bool {
    let of = |metric: &str| value(run, Scope::Queue, &link.name, metric);
    let packet = link.capacity.initial_rate().time_for(u64::from(link.mtu_bytes));
    of("drop_rate") > 0.0 || of("mark_rate") > 0.0 || of("delay_p95") > packet.as_secs()
}

/// A value of the summary; zero if it is absent.
fn value(run: &Run, scope: Scope, name: &str, metric: &str) -> f64 {
    let mut rows = run.summary.iter();
    let found = rows.find(|row| row.scope == scope && row.name == name && row.metric == metric);
    found.map_or(0.0, |row| row.value)
}
