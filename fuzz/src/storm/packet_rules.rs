//! Invariants of the rows of packets for each queue and flow: order, rate, backlog and sums.

use std::collections::BTreeMap;

use sojourn_aqm::contract::host::most_waiting;
use sojourn_aqm::registry::Discipline;
use sojourn_aqm::{Limit, QdiscSpec, Span, Time};
use sojourn_record::Run;
use sojourn_record::rows::{Fate, PacketRow};
use sojourn_scenario::resolved::{Capacity, Link, Resolved};

/// A link carries the remainder of a nanosecond over to its next packet.
const ROUNDING: Span = Span::from_nanos(1);

/// A packet and its class.
pub(super) type Classed<'a> = (Option<usize>, &'a PacketRow);

/// Checks the rows of packets, if all are recorded.
///
/// # Errors
/// The problem, in a sentence.
pub(super) fn judge(plan: &Resolved, run: &Run) -> Result<(), String> {
    if !plan.record.packets {
        return Ok(());
    }
    for (queue, link) in plan.links.iter().enumerate() {
        let rows: Vec<&PacketRow> =
            run.packets.iter().filter(|row| row.queue as usize == queue).collect();
        line_rate(link, &rows)?;
        counted_backlog(run, queue, &rows)?;
        if link.scheduler.is_none() {
            order(link, &link.queue, &rows)?;
            backlog(link, most_waiting(&link.queue, link.limit), &rows)?;
        }
    }
    sums_of_flows(plan, run)
}

pub(super) fn sent<'a>(rows: &'a [&PacketRow]) -> impl Iterator<Item = (Time, &'a PacketRow)> {
    let rows = rows.iter().filter(|row| row.fate == Fate::Sent);
    rows.map(|&row| (row.left.expect("what was sent has left"), row))
}

/// A queue sends its packets in order of arrival.
pub(super) fn order(link: &Link, queue: &QdiscSpec, rows: &[&PacketRow]) -> Result<(), String> {
    if queue.discipline != Discipline::Fifo || is_wireless(link) {
        return Ok(());
    }
    let mut last = Time::ZERO;
    for (_, row) in sent(rows) {
        if row.arrived < last {
            return Err(format!("{}: overtook one that arrived at {last:?}: {row:?}", link.name));
        }
        last = row.arrived;
    }
    Ok(())
}

/// A link of constant rate starts no packet before the previous one has left at that rate.
fn line_rate(link: &Link, rows: &[&PacketRow]) -> Result<(), String> {
    let Capacity::Constant(rate) = link.capacity else { return Ok(()) };
    if link.device.is_some() {
        return Ok(());
    }
    let mut free = Time::ZERO;
    for (left, row) in sent(rows) {
        if left + ROUNDING < free {
            return Err(format!("{}: busy until {free:?}: {row:?}", link.name));
        }
        free = left + rate.time_for(u64::from(row.bytes));
    }
    Ok(())
}

/// The backlog never exceeds the limit of a queue.
pub(super) fn backlog(link: &Link, limit: Limit, rows: &[&PacketRow]) -> Result<(), String> {
    if is_wireless(link) {
        return Ok(()); // each station may have a queue of this limit
    }
    let mut changes: BTreeMap<Time, i64> = BTreeMap::new();
    let (most, of): (u64, fn(&PacketRow) -> i64) = match limit {
        Limit::Packets(packets) => (packets, |_| 1),
        Limit::Bytes(bytes) => (bytes, |row| i64::from(row.bytes)),
    };
    for row in rows {
        *changes.entry(row.arrived).or_default() += of(row);
        if let Some(left) = row.left {
            *changes.entry(left).or_default() -= of(row);
        }
    }
    let mut waiting = 0;
    for (at, change) in changes {
        waiting += change;
        if waiting < 0 || waiting.unsigned_abs() > most {
            return Err(format!("{}: {waiting} of {limit} wait at {at:?}", link.name));
        }
    }
    Ok(())
}

/// The sampled backlog equals the packets that have arrived and not left. A sample includes the
/// events of its time, unless other events of that time follow.
fn counted_backlog(run: &Run, queue: usize, rows: &[&PacketRow]) -> Result<(), String> {
    let mut arrivals: Vec<Time> = rows.iter().map(|row| row.arrived).collect();
    let mut leaves: Vec<Time> = rows.iter().filter_map(|row| row.left).collect();
    arrivals.sort_unstable();
    leaves.sort_unstable();
    let place = run.vars[queue].iter().position(|var| var.name == "backlog_packets");
    let samples = run
        .states
        .iter()
        .filter(|row| row.queue as usize == queue && Some(usize::from(row.var)) == place);
    for row in samples {
        let before = |times: &[Time]| times.partition_point(|&at| at < row.t) as f64;
        let until = |times: &[Time]| times.partition_point(|&at| at <= row.t) as f64;
        let least = before(&arrivals) - until(&leaves);
        let most = until(&arrivals) - before(&leaves);
        if row.value < least || row.value > most {
            return Err(format!("from {least} to {most} packets wait: {row:?}"));
        }
    }
    Ok(())
}

/// No flow delivers more than the last link of its path has sent.
fn sums_of_flows(plan: &Resolved, run: &Run) -> Result<(), String> {
    let groups = plan.flows.iter().flat_map(|g| std::iter::repeat_n(g, g.count as usize));
    let lasts: Vec<usize> = groups.map(|group| *group.path.last().expect("a path")).collect();
    let mut carried = vec![0u64; lasts.len()];
    for row in run.packets.iter().filter(|row| row.fate == Fate::Sent) {
        let flow = row.flow as usize;
        if lasts[flow] == row.queue as usize {
            carried[flow] += u64::from(row.bytes);
        }
    }
    for row in &run.flow_samples {
        let carried = carried[row.flow as usize];
        if row.delivered_bytes > carried {
            return Err(format!("its last link has sent {carried} bytes: {row:?}"));
        }
    }
    Ok(())
}

fn is_wireless(link: &Link) -> bool {
    link.capacity.wireless_lan().is_some()
}
