//! The record of each packet, either written by our router or obtained by matching arrivals with
//! departures at the interfaces of the kernel's router.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use sojourn_aqm::{Cause, Ecn, Stage, Time};
use sojourn_record::rows::Fate;

use crate::captures::{
    CapturedKind, INTERFACE_CAPTURE_BYTES, InterfaceCapture, PACKET_RECORD_BYTES, PacketRecord,
};
use crate::plan::{Bottleneck, Direction, Plan};
use crate::run_files::{INTERFACE_CAPTURES, KernelCounters, PACKET_RECORDS, RunResult};

/// The records of all packets that arrived before the end, in order of arrival.
pub(super) fn read(
    folder: &Path,
    plan: &Plan,
    result: &RunResult,
) -> Result<Vec<PacketRecord>, String> {
    let end = Time::from_nanos(plan.duration_ns);
    let mut records = match &plan.bottleneck {
        Bottleneck::Sojourn(_) => Vec::new(),
        Bottleneck::Kernel { .. } => {
            let captures = rows(
                folder,
                INTERFACE_CAPTURES,
                InterfaceCapture::read as fn(&[u8; INTERFACE_CAPTURE_BYTES]) -> _,
            )?;
            matched(&captures, plan, result.kernel_counters.as_ref())
        }
    };
    if plan.router_links().next().is_some() {
        records.extend(rows(
            folder,
            PACKET_RECORDS,
            PacketRecord::read as fn(&[u8; PACKET_RECORD_BYTES]) -> _,
        )?);
    }
    if records.iter().any(|record| record.left.is_some_and(|left| left < record.arrived)) {
        return Err("the record has a packet that left before it arrived".to_owned());
    }
    records.retain(|record| record.arrived < end);
    records.sort_by_key(|record| record.arrived);
    for record in &mut records {
        if record.left.is_some_and(|left| left >= end) {
            (record.left, record.fate) = (None, Fate::Waiting);
        }
    }
    Ok(records)
}

/// The rows of a file.
pub(super) fn rows<T, const BYTES: usize>(
    folder: &Path,
    name: &str,
    read: fn(&[u8; BYTES]) -> Option<T>,
) -> Result<Vec<T>, String> {
    let bytes = fs::read(folder.join(name)).map_err(|e| format!("{name}: {e}"))?;
    let (rows, rest) = bytes.as_chunks::<BYTES>();
    let rows: Option<Vec<T>> = rows.iter().map(read).collect();
    rows.filter(|_| rest.is_empty()).ok_or_else(|| format!("{name}: is incomplete"))
}

/// Removes packets that end connections or answer duplicates of a SYN-ACK: packets towards the
/// receivers without payload, except for the acknowledgement that completes a handshake. The
/// simulator has no such packets (fact linux-28).
///
/// The user's programs send acknowledgements in both directions, and these count.
pub(super) fn counted(mut records: Vec<PacketRecord>, plan: &Plan) -> Vec<PacketRecord> {
    let first_of_programs = plan.first_of_programs();
    let mut first_of_connections: BTreeSet<(u32, u32)> = BTreeSet::new();
    records.retain(|record| match (record.kind, record.direction) {
        (CapturedKind::Syn, Direction::Forward) => {
            first_of_connections.insert((record.flow, record.seq.wrapping_add(1)));
            true
        }
        (CapturedKind::Empty, Direction::Forward) if record.flow < first_of_programs => {
            first_of_connections.contains(&(record.flow, record.seq))
        }
        _ => true,
    });
    records
}

/// The identity of a packet: its flow, IP identification, number and kind. The number is TCP's
/// sequence number, or the one that our program writes into a datagram's payload. The IP
/// identification distinguishes a retransmission from the original, but repeats after 65,536
/// packets (RFC 791 §3.1).
type PacketId = (u32, u16, u32, u8);

/// Matches arrivals with departures until the kernel's counters were read. Packets that did not
/// leave were dropped, except for the last ones, as many as the kernel reports as queued.
///
/// An identity may still repeat, such as that of a retransmission 65,536 packets after the
/// original. The earlier packet must then have been dropped, because no buffer holds that many
/// packets. [`super::buffer`] checks the outcome.
fn matched(
    captures: &[InterfaceCapture],
    plan: &Plan,
    counters: Option<&KernelCounters>,
) -> Vec<PacketRecord> {
    let until_ns = counters.map_or(u64::MAX, |counters| counters.at_ns);
    let in_time = |capture: &&InterfaceCapture| {
        u64::try_from(capture.at_ns).is_ok_and(|at_ns| at_ns <= until_ns)
    };
    let mut records: Vec<PacketRecord> = Vec::new();
    let mut pending: BTreeMap<PacketId, VecDeque<usize>> = BTreeMap::new();
    let first_of_programs = plan.first_of_programs();
    for capture in captures.iter().filter(in_time) {
        let id = (capture.flow, capture.ident, capture.seq, capture.kind as u8);
        let at = Time::from_nanos(capture.at_ns as u64);
        match capture.leaves {
            false => {
                let same = pending.entry(id).or_default();
                if !is_datagram_of_program(capture, first_of_programs) {
                    same.clear();
                }
                same.push_back(records.len());
                records.push(new_record(capture, at));
            }
            true => {
                // The check of the kernel's counters reports departures without an arrival.
                if let Some(index) = pending.get_mut(&id).and_then(VecDeque::pop_front) {
                    complete(&mut records[index], capture, at, plan);
                }
            }
        }
    }
    let lost: Vec<usize> =
        (0..records.len()).filter(|&index| records[index].fate == Fate::Waiting).collect();
    let dropped = without_waiting(&records, lost, plan, counters);
    drop_all(&mut records, &dropped, plan);
    records
}

/// Of the packets that did not leave, those that were dropped: without the last ones of each queue,
/// as many as the kernel reports there.
fn without_waiting(
    records: &[PacketRecord],
    mut lost: Vec<usize>,
    plan: &Plan,
    counters: Option<&KernelCounters>,
) -> Vec<usize> {
    let Some(KernelCounters { waiting, in_leaves, .. }) = counters else { return lost };
    let mut in_leaves = in_leaves.clone();
    // All other queued packets are in no class.
    let mut others = waiting.saturating_sub(in_leaves.iter().sum());
    let mut dropped = Vec::new();
    while let Some(index) = lost.pop() {
        let leaf = plan.leaf_of(records[index].dscp);
        let waiting = leaf.and_then(|leaf| in_leaves.get_mut(leaf)).unwrap_or(&mut others);
        match waiting.checked_sub(1) {
            Some(rest) => *waiting = rest,
            None => dropped.push(index),
        }
    }
    dropped.reverse();
    dropped
}

/// Datagrams of programs may be identical in all captured fields: the same payload, and no
/// identification. They leave in order of arrival.
fn is_datagram_of_program(capture: &InterfaceCapture, first_of_programs: u32) -> bool {
    capture.kind == CapturedKind::Datagram && capture.flow >= first_of_programs
}

fn new_record(capture: &InterfaceCapture, at: Time) -> PacketRecord {
    PacketRecord {
        flow: capture.flow,
        direction: Direction::Forward,
        seq: capture.seq,
        bytes: capture.bytes,
        kind: capture.kind,
        ecn_in: capture.ecn,
        dscp: capture.dscp,
        arrived: at,
        left: None,
        fate: Fate::Waiting,
        marked: None,
    }
}

fn complete(record: &mut PacketRecord, capture: &InterfaceCapture, at: Time, plan: &Plan) {
    record.left = Some(at);
    record.fate = Fate::Sent;
    if capture.ecn == Ecn::Ce && record.ecn_in != Ecn::Ce {
        record.marked = Some(signal(plan, record.dscp));
    }
}

/// The stage and the cause of the kernel's drops and marks of packets with a DSCP.
fn signal(plan: &Plan, dscp: u8) -> (Stage, Cause) {
    let (drops_at_head, is_random) = plan.signals_of(dscp);
    let stage = if drops_at_head { Stage::Dequeue } else { Stage::Enqueue };
    let cause = match (is_random, drops_at_head) {
        (true, _) => Cause::Random,
        (false, true) => Cause::Deterministic,
        (false, false) => Cause::Overflow,
    };
    (stage, cause)
}

/// Records the drops. A drop at the head happens when the next packet of the flow leaves, any other
/// on arrival.
fn drop_all(records: &mut [PacketRecord], dropped: &[usize], plan: &Plan) {
    let mut next_left: BTreeMap<u32, Time> = BTreeMap::new();
    let mut later = records.len();
    for &index in dropped.iter().rev() {
        while later > index {
            later -= 1;
            if let Some(left) = records[later].left {
                next_left.insert(records[later].flow, left);
            }
        }
        let record = &mut records[index];
        let (stage, cause) = signal(plan, record.dscp);
        let at_head = next_left.get(&record.flow).copied().unwrap_or(record.arrived);
        record.left = Some(if stage == Stage::Dequeue { at_head } else { record.arrived });
        record.fate = Fate::Dropped(stage, cause);
    }
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::Span;

    use super::*;
    use crate::collect::test_plan::plan;
    use crate::planning::tests_of_classes;
    use crate::planning::tests_of_programs::{BOTH, line, wish};
    use crate::planning::{Kernel, plan_with_programs};

    fn record(flow: u32, seq: u32, kind: CapturedKind, direction: Direction) -> PacketRecord {
        PacketRecord {
            flow,
            direction,
            seq,
            bytes: 52,
            kind,
            ecn_in: Ecn::NotEct,
            dscp: 0,
            arrived: Time::ZERO,
            left: None,
            fate: Fate::Waiting,
            marked: None,
        }
    }

    #[test]
    fn of_what_carries_nothing_the_end_of_a_handshake_alone_counts() {
        use CapturedKind::{Data, Empty, Syn};
        let kept = [
            record(0, 99, Syn, Direction::Forward),
            record(0, 100, Empty, Direction::Forward),
            record(0, 100, Data, Direction::Forward),
            record(0, 1548, Empty, Direction::Reverse),
            record(0, 299, Syn, Direction::Forward),
            record(0, 300, Empty, Direction::Forward),
        ];
        let ends = [
            record(0, 1548, Empty, Direction::Forward),
            record(0, 1549, Empty, Direction::Forward),
            record(1, 100, Empty, Direction::Forward),
        ];
        let mut all = kept.to_vec();
        all.extend(ends);
        assert_eq!(counted(all, &plan()), kept);
    }

    /// The older packet waits in its class, the newer one was dropped in another.
    #[test]
    fn the_packets_that_wait_are_the_last_ones_of_each_class() {
        let plan = tests_of_classes::planned();
        let data =
            |dscp| PacketRecord { dscp, ..record(0, 1, CapturedKind::Data, Direction::Forward) };
        let records = [46, 0].map(data);
        let dropped = |in_leaves: Vec<u64>| {
            let waiting = in_leaves.iter().sum();
            let counters = KernelCounters { at_ns: 0, waiting, dropped: 1, in_leaves };
            without_waiting(&records, vec![0, 1], &plan, Some(&counters))
        };
        assert_eq!(dropped(vec![1, 0]), [1]);
        assert_eq!(dropped(vec![0, 1]), [0]);
        assert_eq!(without_waiting(&records, vec![0, 1], &plan, None), [0, 1]);
    }

    /// A flow of 200,000 packets, one every 100 us, of which every tenth leaves, 1 ms later.
    fn nine_of_ten_dropped(number: impl Fn(u32) -> u32) -> Vec<InterfaceCapture> {
        let capture = |n: u32, leaves: bool| InterfaceCapture {
            at_ns: i64::from(n) * 100_000 + if leaves { 1_000_000 } else { 0 },
            flow: 0,
            seq: number(n),
            bytes: 1000,
            ident: n as u16,
            ecn: Ecn::NotEct,
            dscp: 0,
            leaves,
            kind: CapturedKind::Datagram,
        };
        let arrivals = (0..200_000).map(|n| capture(n, false));
        let departures = (0..200_000).step_by(10).map(|n| capture(n, true));
        let mut captures: Vec<_> = arrivals.chain(departures).collect();
        captures.sort_by_key(|capture| (capture.at_ns, !capture.leaves));
        captures
    }

    #[test]
    fn datagrams_of_programs_that_are_alike_leave_in_the_order_of_arrival() {
        let (line, kernel) =
            (line(""), Kernel { hz: 1000, delays_in_router: false, release: None });
        let plan = plan_with_programs(&line, kernel, wish(&BOTH)).unwrap();
        let capture = |at_ns: i64, leaves: bool| InterfaceCapture {
            at_ns,
            flow: plan.first_of_programs(),
            seq: 5,
            bytes: 100,
            ident: 0,
            ecn: Ecn::NotEct,
            dscp: 0,
            leaves,
            kind: CapturedKind::Datagram,
        };
        let captures = [(1, false), (2, false), (5, true), (6, true)].map(|(a, b)| capture(a, b));
        let left: Vec<_> = matched(&captures, &plan, None).iter().map(|r| r.left).collect();
        assert_eq!(left, [5, 6].map(|ns| Some(Time::from_nanos(ns))));
    }

    #[test]
    fn a_departure_is_never_that_of_a_packet_dropped_65536_packets_earlier() {
        for (what, number) in [("datagrams", (|n| n) as fn(u32) -> u32), ("no number", |_| 5)] {
            let records = matched(&nine_of_ten_dropped(number), &plan(), None);
            let sent: Vec<&PacketRecord> =
                records.iter().filter(|record| record.fate == Fate::Sent).collect();
            assert_eq!((records.len(), sent.len()), (200_000, 20_000), "{what}");
            for (n, record) in sent.iter().enumerate() {
                let arrived = Time::from_nanos(n as u64 * 1_000_000);
                assert_eq!(record.arrived, arrived, "{what}: departure {n}");
                assert_eq!(record.left, Some(arrived + Span::from_millis(1)), "{what}");
            }
        }
    }
}
