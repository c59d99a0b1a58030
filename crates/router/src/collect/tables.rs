//! Makes table rows from the samples and counts of traffic programs, the kernel and our router's
//! laws.

use sojourn_aqm::{Span, Time, Var};
use sojourn_measure::FlowCount;
use sojourn_measure::activity::FlowTimes;
use sojourn_record::rows::{FlowRow, FlowStateRow};
use sojourn_scenario::resolved::{App, Resolved};

use super::datagrams::DatagramFates;
use crate::forwarding::recorder::Recording;
use crate::forwarding::router_link::RouterLink;
use crate::laws::LoadedLaws;
use crate::plan::{Flow, Plan};
use crate::run_files::{FlowSample, RunResult, SenderLimits};

/// The totals of each flow since the warm-up.
pub(super) fn flow_counts(
    result: &RunResult,
    fates: &[DatagramFates],
    active: &[(Time, Time)],
) -> Vec<FlowCount> {
    let delivered = result.counts.iter().zip(&result.at_warmup);
    let delivered = delivered.map(|(end, then)| end.delivered_bytes - then.delivered_bytes);
    let flows = delivered.zip(fates).zip(active);
    let count = |((delivered_bytes, fates), active): ((u64, &DatagramFates), &(Time, Time))| {
        let DatagramFates { received, lost } = *fates;
        FlowCount { delivered_bytes, received, lost, active: *active }
    };
    flows.map(count).collect()
}

/// When each flow starts and stops, and when its last datagram arrived.
pub(super) fn flow_times(plan: &Plan, result: &RunResult) -> Vec<FlowTimes> {
    let times = |flow: &Flow| FlowTimes {
        start: Time::from_nanos(flow.start_ns),
        stop: flow.stop_ns.map_or(Time::NEVER, Time::from_nanos),
        last_arrival: Time::ZERO,
    };
    let mut flows: Vec<FlowTimes> = plan.flows.iter().map(times).collect();
    for row in &result.log.one_way {
        let last = &mut flows[row.flow as usize].last_arrival;
        *last = (*last).max(Time::from_nanos(row.at_ns));
    }
    flows
}

/// Samples of flows. Samples due at the end are left out, as in the simulator.
fn samples<'a>(plan: &Plan, result: &'a RunResult) -> impl Iterator<Item = &'a FlowSample> {
    let end_ns = plan.duration_ns;
    result.samples.iter().filter(move |sample| sample.at_ns < end_ns)
}

/// Samples of flows.
pub(super) fn flow_rows(plan: &Plan, result: &RunResult) -> Vec<FlowRow> {
    let rows =
        samples(plan, result).map(|FlowSample { flow, at_ns, delivered_bytes, tcp }| FlowRow {
            flow: *flow,
            t: Time::from_nanos(*at_ns),
            sent_bytes: tcp.sent_bytes,
            delivered_bytes: *delivered_bytes,
            retransmitted_bytes: tcp.retransmitted_bytes,
            inflight_bytes: tcp.inflight_bytes,
            cwnd_bytes: tcp.cwnd_bytes,
            srtt: Span::from_micros(u64::from(tcp.srtt_us)),
            ce_bytes: tcp.ce_bytes,
        });
    rows.collect()
}

/// The state of the kernel's senders, in the same form as that of the simulator's.
pub(super) fn flow_state_rows(plan: &Plan, result: &RunResult) -> Vec<FlowStateRow> {
    /// Linux 6.1 include/net/tcp.h, `TCP_INFINITE_SSTHRESH`: no reduction yet.
    const INFINITE: u32 = 0x7fff_ffff;
    let has_one = |flow: u32| !matches!(plan.flows[flow as usize].app, App::Web { .. });
    // A flow without a connection has no threshold.
    let open = samples(plan, result).filter(|s| s.tcp.ssthresh > 0 && has_one(s.flow));
    let rows = open.flat_map(|&FlowSample { flow, at_ns, tcp, .. }| {
        let ssthresh = match tcp.ssthresh {
            INFINITE => f64::INFINITY,
            packets => f64::from(packets),
        };
        let of_sender = [("ssthresh", ssthresh), ("state", f64::from(tcp.state))];
        let of_kernel = tcp.limits.map(limit_vars).into_iter().flatten();
        let t = Time::from_nanos(at_ns);
        let all = of_sender.into_iter().chain(of_kernel);
        all.map(move |(var, value)| FlowStateRow { flow, t, var, value })
    });
    rows.collect()
}

/// What limits a sender, as state variables.
fn limit_vars(limits: SenderLimits) -> [(&'static str, f64); 5] {
    let seconds = |us: u64| us as f64 / 1e6;
    let [busy, rwnd_limited, sndbuf_limited] = limits.times_us.map(seconds);
    let pacing_rate = match limits.pacing_rate {
        u64::MAX => f64::INFINITY,
        bytes => bytes as f64,
    };
    [
        ("busy_time", busy),
        ("rwnd_limited", rwnd_limited),
        ("sndbuf_limited", sndbuf_limited),
        ("tcp_pacing_rate", pacing_rate),
        ("tcp_min_rtt", seconds(u64::from(limits.min_rtt_us))),
    ]
}

/// The state variables of the law at a link of our router, given the link's index in the scenario.
/// The kernel does not expose those of its disciplines.
pub(super) fn law_vars(scenario: &Resolved, plan: &Plan, link: usize) -> &'static [Var] {
    let own = scenario.links.iter().filter_map(|link| link.queue.custom.clone());
    let laws = LoadedLaws::new(own).expect("the scenario was checked");
    let link = plan.router_links().find(|each| usize::from(each.index) == link);
    let link = link.and_then(|link| RouterLink::new(link, &laws, plan.seed, Recording::Off).ok());
    link.map_or(&[], |link| link.vars())
}

/// Whether summaries count events at a time.
pub(super) fn is_counted(at: Time, plan: &Plan) -> bool {
    at.as_nanos() >= plan.warmup_ns
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::collect::test_plan::plan;
    use crate::run_files::TcpTotals;

    #[test]
    fn flows_are_not_sampled_at_the_end() {
        let plan = plan();
        let mut result = RunResult::new(&plan, Vec::new(), Value::Null);
        let tcp = TcpTotals { ssthresh: 10, ..TcpTotals::default() };
        let at = |at_ns| FlowSample { flow: 0, at_ns, delivered_bytes: 0, tcp };
        result.samples = vec![at(1_000_000_320), at(2_000_000_384)];
        assert_eq!(flow_rows(&plan, &result).len(), 1, "the run lasts 2 s");
        assert_eq!(flow_state_rows(&plan, &result).len(), 2, "of one time");
    }

    #[test]
    fn what_limits_a_sender_is_shown_where_it_is_known() {
        let plan = plan();
        let mut result = RunResult::new(&plan, Vec::new(), Value::Null);
        let limits = SenderLimits { pacing_rate: u64::MAX, min_rtt_us: 10, ..Default::default() };
        let tcp = TcpTotals { ssthresh: 10, limits: Some(limits), ..TcpTotals::default() };
        result.samples = vec![FlowSample { flow: 0, at_ns: 1, delivered_bytes: 0, tcp }];
        let rows = flow_state_rows(&plan, &result);
        let value = |var| rows.iter().find(|row| row.var == var).expect("a row").value;
        assert_eq!((value("tcp_pacing_rate"), value("tcp_min_rtt")), (f64::INFINITY, 1e-5));
    }
}
