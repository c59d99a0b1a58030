//! The data that a page gets about a scenario and a run.

use serde_json::{Value, json};
use sojourn_aqm::{Cause, Span, Time, Var};
use sojourn_record::rows::{Fate, FlowRow, PacketRow, SignalRow};
use sojourn_record::{Histogram, Run};
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::{FlowGroup, Link};
use sojourn_sim::session::{Observations, Session};

/// The most flows whose samples a page gets; it has no room for more curves.
const MOST_CURVES: u32 = 64;
/// The most queued packets that a page gets; it always gets their number.
const MOST_WAITING: usize = 400;
/// Points of a distribution function.
const MOST_POINTS: usize = 300;

fn secs(time: Time) -> f64 {
    time.since(Time::ZERO).as_secs()
}

/// A number that JSON can represent; null for one that is not finite.
fn number(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { Value::Null }
}

/// Name, unit and meaning of state variables.
pub(crate) fn vars(vars: &[Var]) -> Value {
    vars.iter().map(|v| json!({ "name": v.name, "unit": v.unit, "doc": v.doc })).collect()
}

/// The content of a scenario, for forms and estimates.
pub(crate) fn scenario(plan: &Resolved, watched: usize, document: &Value) -> Value {
    let links: Vec<Value> = plan.links.iter().map(link).collect();
    json!({
        "name": plan.name,
        "seed": plan.seed.to_string(),
        "duration_s": plan.duration.as_secs(),
        "sample_s": plan.record.sample.as_secs(),
        "links": links,
        "watched": plan.links[watched].name,
        "groups": groups(plan),
        "warnings": plan.warnings,
        "packets_estimated": packets_estimated(plan),
        "document": document,
    })
}

fn link(link: &Link) -> Value {
    json!({
        "name": link.name,
        "queue": link.queue.to_string(),
        "limit": link.limit.to_string(),
        "rate_bps": link.capacity.initial_rate().as_bps(),
        "delay_s": link.delay.as_secs(),
    })
}

fn groups(plan: &Resolved) -> Vec<Value> {
    let group = |group: &FlowGroup| json!({ "name": group.name, "count": group.count });
    plan.flows.iter().map(group).collect()
}

/// The packets that the links would carry if all were busy with packets of 1500 B.
fn packets_estimated(plan: &Resolved) -> f64 {
    let bps: f64 = plan.links.iter().map(|l| l.capacity.initial_rate().as_bps() as f64).sum();
    bps * plan.duration.as_secs() / (8.0 * 1500.0)
}

/// A session that has just been opened.
pub(crate) fn opened(number: usize, session: &Session, link: usize) -> Value {
    let plan = session.plan();
    json!({
        "session": number,
        "link": plan.links[link].name,
        "queue": plan.links[link].queue.to_string(),
        "duration_s": plan.duration.as_secs(),
        "warmup_s": plan.warmup.as_secs(),
        "sample_s": plan.record.sample.as_secs(),
        "vars": vars(&session.vars(link)),
        "groups": groups(plan),
        "curves": MOST_CURVES,
    })
}

/// Events of a session since the last call.
///
/// `samples` are rows of the watched link, time first, then its variables; `flows` rows of (time,
/// flow, cwnd, bytes in flight, bytes delivered, smoothed RTT in s); `waiting` rows of (flow,
/// bytes, seconds waited).
pub(crate) fn taken(session: &mut Session, link: usize) -> Value {
    let seen = session.take();
    let now = session.now();
    let waiting = session.waiting();
    let waiting_rows: Vec<Value> = waiting
        .iter()
        .take(MOST_WAITING)
        .map(|one| json!([one.flow, one.bytes, now.since(one.arrived).as_secs()]))
        .collect();
    json!({
        "now_s": secs(now),
        "is_over": session.is_over(),
        "digest": format!("{:016x}", session.digest()),
        "samples": samples(&seen, link),
        "flows": flow_samples(&seen),
        "signals": signals(&seen, link),
        "signal_vars": seen.evidence_vars.get(link).map_or(Value::Null, |of| vars(of)),
        "left": left(&seen),
        "waiting": waiting_rows,
        "waiting_count": waiting.len(),
    })
}

fn samples(seen: &Observations, link: usize) -> Vec<Value> {
    let mut rows: Vec<Vec<Value>> = Vec::new();
    let mut last = None;
    for row in seen.states.iter().filter(|row| row.queue as usize == link) {
        if last != Some(row.t) || row.var == 0 {
            rows.push(vec![json!(secs(row.t))]);
            last = Some(row.t);
        }
        rows.last_mut().expect("one was begun").push(number(row.value));
    }
    rows.into_iter().map(Value::from).collect()
}

fn flow_samples(seen: &Observations) -> Vec<Value> {
    let shown = seen.flows.iter().filter(|row| row.flow < MOST_CURVES);
    let row = |row: &FlowRow| {
        let srtt = if row.srtt == Span::ZERO { Value::Null } else { json!(row.srtt.as_secs()) };
        let (cwnd, in_flight) = (row.cwnd_bytes, row.inflight_bytes);
        json!([secs(row.t), row.flow, cwnd, in_flight, row.delivered_bytes, srtt])
    };
    shown.map(row).collect()
}

fn signals(seen: &Observations, link: usize) -> Vec<Value> {
    let at_link = seen.signals.iter().filter(|row| row.queue as usize == link);
    at_link.map(|row| signal(seen, row, link)).collect()
}

fn signal(seen: &Observations, row: &SignalRow, link: usize) -> Value {
    let count = seen.evidence_vars.get(link).map_or(0, |vars| vars.len());
    let evidence = seen.evidence.get(row.evidence..row.evidence + count).unwrap_or(&[]);
    json!({
        "t": secs(row.t),
        "flow": row.flow,
        "seq": row.seq,
        "bytes": row.bytes,
        "sojourn_s": row.sojourn.as_secs(),
        "is_mark": row.is_mark,
        "stage": row.stage.word(),
        "cause": row.cause.class().word(),
        "rule": rule(row.cause),
        "state": evidence.iter().map(|&value| number(value)).collect::<Vec<_>>(),
    })
}

/// The rule behind a drop or mark, in words.
fn rule(cause: Cause) -> &'static str {
    match cause {
        Cause::Overflow => "the queue had no room",
        Cause::Random => "a random draw fell below the drop probability",
        Cause::Deterministic => "a deterministic rule of the law was due",
        Cause::Target => {
            "sojourn times had stayed above the target for an interval, and the \
                          schedule of drops was due"
        }
        Cause::CeThreshold => "the delay or backlog was above the threshold of immediate marks",
        Cause::Forced => "the average queue was above the maximum threshold",
        Cause::Overload => "DualPI2 was in overload and drops what it could mark",
        Cause::RandomOverload => "DualPI2 was in overload and a random draw chose this packet",
        Cause::DelayBound => "the delay at the last update was above the bound",
        Cause::BinOverflow => "the bins of this flow held too much",
        Cause::Penalty => "the flow does not respond, and its rate limit was reached",
        Cause::Match => "a waiting packet drawn at random was of the same flow",
        Cause::Policed => "the policer lacked tokens for it",
        Cause::FlowLimit => "its flow was full",
        Cause::Horizon => "its departure was too far ahead",
    }
}

/// Packets that left the watched queue: rows of (time, flow, whether it was sent).
fn left(seen: &Observations) -> Vec<Value> {
    let rows = seen.packets.iter().rev().take(MOST_WAITING).rev();
    let row = |row: &PacketRow| {
        let left = row.left.map_or(Value::Null, |left| json!(secs(left)));
        json!([left, row.flow, row.fate == Fate::Sent])
    };
    rows.map(row).collect()
}

/// The numbers of a run, as `sojourn run` prints them.
pub(crate) fn summary(run: &Run) -> Vec<Value> {
    let rows = run.summary.iter();
    rows.map(|r| json!([r.scope.word(), r.name, r.metric, number(r.value), r.unit])).collect()
}

/// The distribution function of the watched queue's delays: rows of (upper edge in s, share).
pub(crate) fn delay_cdf(run: &Run, queue: &str) -> Vec<Value> {
    let found = run.histograms.iter().find(|h| h.name == queue && h.metric == "delay");
    found.map_or_else(Vec::new, |found| cdf(&found.histogram))
}

fn cdf(histogram: &Histogram) -> Vec<Value> {
    let bins: Vec<_> = histogram.bins().collect();
    let (every, all) = (bins.len().div_ceil(MOST_POINTS).max(1), histogram.count() as f64);
    let mut below = 0;
    let mut points = Vec::new();
    for (place, bin) in bins.iter().enumerate() {
        below += bin.count;
        if (place + 1) % every == 0 || place + 1 == bins.len() {
            points.push(json!([bin.upper_ns as f64 * 1e-9, below as f64 / all]));
        }
    }
    points
}
