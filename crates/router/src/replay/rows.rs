//! Rows of tables from what the programs, the kernel and our router's law said.

use sojourn_aqm::{Span, Time, Var};
use sojourn_measure::FlowCount;
use sojourn_record::rows::{FlowRow, FlowStateRow};
use sojourn_scenario::resolved::App;

use crate::chronicle::Memory;
use crate::plan::Plan;
use crate::record_files::{Count, RunResult, Sample};
use crate::street::Street;

/// What each flow has achieved after the warm-up.
pub fn flow_counts(result: &RunResult) -> Vec<FlowCount> {
    let count = |count: &Count| FlowCount {
        delivered_bytes: count.delivered_bytes,
        sent: count.sent,
        received: count.received,
    };
    let pairs = result.counts.iter().zip(&result.at_warmup);
    pairs.map(|(end, then)| count(end).since(count(then))).collect()
}

/// Samples of flows.
pub fn flow_rows(result: &RunResult) -> Vec<FlowRow> {
    let rows =
        result.samples.iter().map(|Sample { flow, at_ns, delivered_bytes, account }| FlowRow {
            flow: *flow,
            t: Time::from_nanos(*at_ns),
            sent_bytes: account.sent_bytes,
            delivered_bytes: *delivered_bytes,
            retransmitted_bytes: account.retransmitted_bytes,
            inflight_bytes: account.inflight_bytes,
            cwnd_bytes: account.cwnd_bytes,
            srtt: Span::from_micros(u64::from(account.srtt_us)),
            ce_bytes: account.ce_bytes,
        });
    rows.collect()
}

/// Where the kernel's senders stand, as the simulator tells it of its own.
pub fn flow_state_rows(plan: &Plan, result: &RunResult) -> Vec<FlowStateRow> {
    /// `TCP_INFINITE_SSTHRESH`: before the first reduction.
    const INFINITE: u32 = 0x7fff_ffff;
    let has_one = |flow: u32| !matches!(plan.flows[flow as usize].app, App::Web { .. });
    // Without a connection there is no threshold.
    let open = result.samples.iter().filter(|s| s.account.ssthresh > 0 && has_one(s.flow));
    let rows = open.flat_map(|&Sample { flow, at_ns, account, .. }| {
        let ssthresh = match account.ssthresh {
            INFINITE => f64::INFINITY,
            packets => f64::from(packets),
        };
        let of_sender = [("ssthresh", ssthresh), ("state", f64::from(account.state))];
        let t = Time::from_nanos(at_ns);
        of_sender.map(|(var, value)| FlowStateRow { flow, t, var, value })
    });
    rows.collect()
}

/// The variables of the law of our router of a way; the kernel does not tell its own.
pub fn law_vars(plan: &Plan, way: usize) -> &'static [Var] {
    let street = plan.streets().find(|street| street.way as usize == way);
    let made = street.and_then(|street| Street::new(street, plan.seed, Memory::Nothing).ok());
    made.map_or(&[], |street| street.vars())
}
