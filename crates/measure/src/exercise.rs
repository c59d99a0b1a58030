//! Whether a run exercised any AQM at all.

use sojourn_record::Run;
use sojourn_record::rows::Scope;
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::{App, Link};

/// Adds a warning where flows send all they can and yet no queue had anything to decide: nothing
/// was dropped or marked, and at no link did more than one packet wait at the 95th percentile. A
/// comparison of AQMs then says nothing about them, because the bottleneck is elsewhere.
pub fn warn_if_idle(run: &mut Run, plan: &Resolved) {
    let is_greedy = |app: &App| matches!(app, App::Bulk { bytes: None, .. });
    let has_greedy = plan.flows.iter().any(|flow| is_greedy(&flow.app));
    if !has_greedy || plan.links.iter().any(|link| has_decided(run, link)) {
        return;
    }
    run.warnings.push(
        "no AQM had anything to do: nothing was dropped or marked and hardly a packet waited, \
         although bulk flows send all they can; the bottleneck is elsewhere (look at access_rate, \
         receive_window and the rate of the link)"
            .to_owned(),
    );
}

/// Whether packets were signalled or waited at a link.
fn has_decided(run: &Run, link: &Link) -> bool {
    let of = |metric: &str| {
        let found = run
            .summary
            .iter()
            .find(|row| row.scope == Scope::Queue && row.name == link.name && row.metric == metric);
        found.map_or(0.0, |row| row.value)
    };
    let packet = link.capacity.initial_rate().time_for(u64::from(link.mtu_bytes));
    of("drop_rate") > 0.0 || of("mark_rate") > 0.0 || of("delay_p95") > packet.as_secs()
}
