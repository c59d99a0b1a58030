//! Invariants of the result of any run of any scenario.

use std::collections::BTreeMap;

use super::{class_rules, packet_rules};
use sojourn_aqm::{Rate, Span, Time};
use sojourn_record::Run;
use sojourn_record::rows::{Fate, FlowRow, Scope, SummaryRow};
use sojourn_scenario::resolved::{Capacity, FlowGroup, Resolved};

/// Allows for rounding errors in sums of a million terms.
const ROUNDING: f64 = 1e-6;
/// Bulk flows of long runs have stalled if they deliver nothing for this fraction of the run.
const STILL_SHARE: f64 = 0.5;

type Judgement = Result<(), String>;

macro_rules! holds {
    ($what:expr, $($text:tt)*) => {
        let holds: bool = $what;
        if !holds {
            return Err(format!($($text)*));
        }
    };
}

/// Judges a result.
///
/// # Errors
/// The problem, in a sentence.
pub fn judge(plan: &Resolved, run: &Run, is_long: bool) -> Judgement {
    packets(plan, run)?;
    packet_rules::judge(plan, run)?;
    class_rules::judge(plan, run)?;
    run.summary.iter().try_for_each(|row| number(plan, row))?;
    orders(run)?;
    queues(plan, run)?;
    series(plan, run)?;
    flows(plan, run)?;
    distributions(plan, run)?;
    if is_long { moving(plan, run) } else { Ok(()) }
}

/// Each packet has one fate, at a consistent time.
fn packets(plan: &Resolved, run: &Run) -> Judgement {
    let end = Time::ZERO + plan.duration;
    if plan.record.packets {
        let rows = run.packets.len() as u64;
        holds!(rows == run.packets_handled, "{rows} packets of {}", run.packets_handled);
    }
    for row in &run.packets {
        holds!(row.left.is_none_or(|left| left >= row.arrived && left <= end), "time: {row:?}");
        holds!(row.marked.is_none() || row.ecn_in.can_mark(), "marked: {row:?}");
        holds!(row.left.is_none() == (row.fate == Fate::Waiting), "fate: {row:?}");
    }
    for row in &run.signals {
        holds!(row.t <= end && row.sojourn <= plan.duration, "{row:?}");
    }
    Ok(())
}

/// No number is missing, negative or above its bound.
fn number(plan: &Resolved, row: &SummaryRow) -> Judgement {
    let (value, metric) = (row.value, row.metric);
    holds!(value.is_finite(), "{row:?}");
    if metric == "voice_r" {
        holds!(value <= 100.0, "{row:?}"); // very bad calls rate below zero (ITU-T G.107)
        return Ok(());
    }
    holds!(value >= 0.0, "{row:?}");
    let most = match metric {
        "voice_mos" => 4.5,
        "throughput" => peak_bps(plan, &row.name) * (1.0 + ROUNDING) + leftover_bps(plan),
        "frame_rate" => 54e6,
        _ if row.unit == "bit/s" => f64::INFINITY,
        _ if metric.contains("_rate") || metric.ends_with("_share") => 1.0,
        "utilisation" | "jain" => 1.0 + 1e-9,
        _ if row.unit == "s" => plan.duration.as_secs(),
        _ if row.unit == "packets" => 1e15,
        _ => f64::INFINITY,
    };
    holds!(value <= most, "above {most}: {row:?}");
    // The standard's polynomial falls below 1 for ratings from 0 to 6.5.
    holds!(metric != "voice_mos" || value >= 0.98, "{row:?}");
    Ok(())
}

/// The maximum rate of a link, bit/s; infinite if a device or a medium decides.
fn peak_bps(plan: &Resolved, link: &str) -> f64 {
    // A leaf class's name begins with the name of its link.
    let is_of = |name: &str| {
        link.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let link = plan.links.iter().find(|row| is_of(&row.name)).expect("a queue is a link's");
    let bps = |rate: Rate| rate.as_bps() as f64;
    match &link.capacity {
        Capacity::Constant(rate) => bps(*rate),
        Capacity::Schedule(schedule) => bps(schedule.highest_rate()),
        Capacity::Bucket(bucket) => bps(bucket.line),
        Capacity::Trace(_) | Capacity::Wireless { .. } => f64::INFINITY,
    }
}

/// A packet in transmission when counting began counts in full.
fn leftover_bps(plan: &Resolved) -> f64 {
    let largest = plan.links.iter().map(|link| f64::from(link.mtu_bytes)).fold(0.0, f64::max);
    largest * 8.0 / (plan.duration - plan.warmup).as_secs()
}

/// Quantiles do not decrease, and none exceeds the largest value.
fn orders(run: &Run) -> Judgement {
    let mut numbers = BTreeMap::new();
    for row in &run.summary {
        let twice = numbers.insert((row.scope as u8, row.name.as_str(), row.metric), row.value);
        holds!(twice.is_none(), "two values: {row:?}");
    }
    for (of, end) in [("delay", "max"), ("owd", "max"), ("rtt", "max"), ("completion", "max")] {
        let ladder = [format!("{of}_p50"), format!("{of}_p95"), format!("{of}_p99")];
        let top = format!("{of}_{end}");
        for row in run.summary.iter().filter(|row| row.metric == ladder[0]) {
            let at = |metric: &str| {
                let same = |r: &&SummaryRow| (r.scope, &r.name) == (row.scope, &row.name);
                run.summary.iter().filter(same).find(|r| r.metric == metric).map(|r| r.value)
            };
            let values: Vec<f64> = ladder.iter().filter_map(|metric| at(metric)).collect();
            holds!(values.is_sorted(), "{} {ladder:?}: {values:?}", row.name);
            // Quantiles of transfers include those that were not finished.
            let max = at(&top).filter(|_| of != "completion").unwrap_or(f64::INFINITY);
            let last = values.last().copied().unwrap_or(0.0);
            holds!(last <= max * 1.001 + 1e-9, "{} {top}: {last} > {max}", row.name);
        }
    }
    Ok(())
}

/// Every packet that entered a queue since the start left, was dropped, or is still queued.
fn queues(plan: &Resolved, run: &Run) -> Judgement {
    for (place, link) in plan.links.iter().enumerate() {
        let value = |metric: &str| {
            let rows = run.summary.iter().filter(|r| r.scope == Scope::Queue);
            rows.filter(|r| r.name == link.name).find(|r| r.metric == metric).map(|r| r.value)
        };
        let of =
            |metric: &str| value(metric).ok_or_else(|| format!("{} without {metric}", link.name));
        let (arrived, sent, waiting) = (of("arrived")?, of("sent")?, of("waiting")?);
        if plan.warmup == Span::ZERO {
            let dropped = value("drop_rate").unwrap_or(0.0) * arrived;
            let out = sent + dropped + waiting;
            holds!((arrived - out).abs() < 0.5, "{}: {arrived} in, {out} out", link.name);
        }
        if plan.record.packets {
            let rows = run.packets.iter().filter(|row| row.queue as usize == place);
            let left = rows.filter(|row| row.fate == Fate::Waiting).count() as f64;
            holds!(left == waiting, "{}: {waiting} wait, {left} rows say so", link.name);
        }
    }
    Ok(())
}

/// Samples and bins: only optional values are missing; all others are numbers.
fn series(plan: &Resolved, run: &Run) -> Judgement {
    let end = Time::ZERO + plan.duration;
    for row in &run.states {
        let var = &run.vars[row.queue as usize][usize::from(row.var)];
        // Without departures, a bin has no delay.
        let may_miss = var.name == "delay_mean" || var.name == "delay_max";
        let is_number = row.value.is_finite() && row.value >= 0.0;
        let signed = row.value.is_finite() && row.value < 0.0 && usize::from(row.var) >= 7;
        holds!(is_number || signed || may_miss && row.value.is_nan(), "{}: {row:?}", var.name);
        holds!(row.t <= end, "{row:?}");
    }
    for row in &run.bins {
        holds!(row.value.is_finite() && row.value >= 0.0, "{row:?}");
        holds!(row.metric != "utilisation" || row.value <= 1.0 + 1e-9, "{row:?}");
        holds!(!row.metric.ends_with("_rate") || row.value <= 1.0, "{row:?}");
    }
    for row in &run.flow_states {
        let fine = !row.value.is_nan() && (row.value.is_finite() || row.var == "ssthresh");
        // A control may not have a value yet.
        holds!(fine || row.value.is_nan() || row.var != "state", "{row:?}");
    }
    Ok(())
}

/// Counters of flows never decrease, and only sent data is delivered.
fn flows(plan: &Resolved, run: &Run) -> Judgement {
    let mut last: BTreeMap<u32, &FlowRow> = BTreeMap::new();
    for row in &run.flow_samples {
        let (sent, delivered) = (row.sent_bytes, row.delivered_bytes);
        holds!(delivered <= sent, "more delivered than sent: {row:?}");
        holds!(row.retransmitted_bytes <= sent, "more retransmitted than sent: {row:?}");
        holds!(row.srtt <= plan.duration, "{row:?}");
        if let Some(before) = last.insert(row.flow, row) {
            holds!(delivered >= before.delivered_bytes && sent >= before.sent_bytes, "{row:?}");
        }
    }
    for row in &run.transfers {
        holds!(row.bytes > 0 && row.completion <= plan.duration, "{row:?}");
        holds!(row.start + row.completion <= Time::ZERO + plan.duration, "{row:?}");
    }
    first_link(plan, &last)
}

/// No link delivered more than it can carry.
fn first_link(plan: &Resolved, last: &BTreeMap<u32, &FlowRow>) -> Judgement {
    let mut flow = 0;
    let mut through = vec![0u64; plan.links.len()];
    for group in &plan.flows {
        for _ in 0..group.count {
            let delivered = last.get(&flow).map_or(0, |row| row.delivered_bytes);
            for &link in &group.path {
                through[link] += delivered;
            }
            flow += 1;
        }
    }
    for (link, bytes) in plan.links.iter().zip(through) {
        let most = peak_bps(plan, &link.name) * plan.duration.as_secs() / 8.0;
        // Replayed and cut datagrams count with their headers, streams only with their payload.
        let what = bytes as f64;
        holds!(what <= most * (1.0 + ROUNDING) + 1.0, "{}: {what} of {most} bytes", link.name);
    }
    Ok(())
}

/// The times of every histogram lie within the run.
fn distributions(plan: &Resolved, run: &Run) -> Judgement {
    for row in &run.histograms {
        let max = row.histogram.max_ns().unwrap_or(0);
        holds!(max <= plan.duration.as_nanos(), "{} {}: {max} ns", row.name, row.metric);
        holds!(row.histogram.mean_ns().is_none_or(f64::is_finite), "{} {}", row.name, row.metric);
    }
    Ok(())
}

/// Bulk flows continue to deliver.
fn moving(plan: &Resolved, run: &Run) -> Judgement {
    let groups = plan.flows.iter().flat_map(|g| std::iter::repeat_n(g, g.count as usize));
    let since = Time::ZERO + Span::from_secs_f64(plan.duration.as_secs() * (1.0 - STILL_SHARE));
    for (flow, group) in groups.enumerate() {
        if !is_endless(group) {
            continue;
        }
        let rows = || run.flow_samples.iter().filter(|row| row.flow as usize == flow);
        let before = rows().take_while(|row| row.t < since).last();
        let after = rows().next_back();
        let (Some(before), Some(after)) = (before, after) else { continue };
        let moved = after.delivered_bytes > before.delivered_bytes;
        let name = &run.flows[flow];
        holds!(moved, "{name} stands still: {} bytes since half time", after.delivered_bytes);
    }
    Ok(())
}

fn is_endless(group: &FlowGroup) -> bool {
    group.app.bulk() == Some(None) && group.stop.is_none()
}
