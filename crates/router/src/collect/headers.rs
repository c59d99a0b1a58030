//! The packets of a run as captured with their headers, each with the fate from its record.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use sojourn_aqm::{Cause, Span, Stage, Time, Var};
use sojourn_record::rows::Fate;
use sojourn_scenario::Resolved;

use super::{collector, packet_records, read_result, tables};
use crate::captures::{CapturePoint, CapturedHeaders, PacketRecord};
use crate::header::Header;
use crate::plan::{Bottleneck, Direction, Plan};
use crate::run_files::{HEADERS, RunResult, SIGNAL_STATES, SignalState};

/// A captured packet.
#[derive(Clone, PartialEq, Debug)]
pub struct CapturedPacket {
    /// When the packet passed the place.
    pub at: Time,
    /// The place.
    pub point: CapturePoint,
    /// The index of the link, for places at a link.
    pub link: usize,
    /// Bytes from the IP header on.
    pub bytes: u16,
    /// The first bytes.
    pub headers: Vec<u8>,
    /// Its drop or mark, where it arrives at a queue.
    pub signal: Option<PacketSignal>,
}

/// The drop or mark of a packet.
#[derive(Clone, PartialEq, Debug)]
pub struct PacketSignal {
    /// Whether it was marked; otherwise it was dropped.
    pub is_mark: bool,
    /// The stage and the cause, if the engine reports them.
    pub rule: Option<(Stage, Cause)>,
    /// Its time in the queue until then, if known.
    pub sojourn: Option<Span>,
    /// The state of the law just before, if known.
    pub state: Vec<(&'static Var, f64)>,
}

/// Number of the arrivals at a link.
type Arrival = (usize, usize);

/// The captured packets of a run in `folder`, by time.
///
/// # Errors
/// A sentence if a file is incomplete, packets are missing, or captures and records do not match.
pub fn headers(
    folder: &Path,
    scenario: &Resolved,
    plan: &Plan,
) -> Result<Vec<CapturedPacket>, String> {
    let result = read_result(folder)?;
    if result.capture_lost > 0 {
        let lost = result.capture_lost;
        return Err(format!("the captures had no room for {lost} packets: take a lower rate"));
    }
    let rows = rows(folder)?;
    let mut signals = signals(folder, scenario, plan, &result, &rows)?;
    let mut packets = Vec::with_capacity(rows.len());
    let mut arrivals: BTreeMap<u16, usize> = BTreeMap::new();
    for row in rows {
        let number = arrivals.entry(row.link).or_default();
        let mut signal = None;
        if row.point == CapturePoint::Arrived {
            signal = signals.remove(&(usize::from(row.link), *number));
            *number += 1;
        }
        packets.extend(within(row, plan).map(|packet| CapturedPacket { signal, ..packet }));
    }
    packets.sort_by_key(|packet| packet.at);
    Ok(packets)
}

/// A row of a flow, if it is within the time of the run.
fn within(row: CapturedHeaders, plan: &Plan) -> Option<CapturedPacket> {
    let at_ns = u64::try_from(row.at_ns).ok().filter(|&at_ns| at_ns < plan.duration_ns)?;
    let header = Header::read(&row.bytes).filter(|_| row.flow != u32::MAX)?;
    Some(CapturedPacket {
        at: Time::from_nanos(at_ns),
        point: row.point,
        link: usize::from(row.link),
        bytes: header.bytes,
        headers: row.bytes,
        signal: None,
    })
}

/// The rows of all files that exist.
fn rows(folder: &Path) -> Result<Vec<CapturedHeaders>, String> {
    let mut rows = Vec::new();
    for name in HEADERS {
        match fs::read(folder.join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{name}: {error}")),
            Ok(file) => {
                let read = CapturedHeaders::read_all(&file);
                rows.extend(read.ok_or_else(|| format!("{name}: is incomplete"))?);
            }
        }
    }
    Ok(rows)
}

/// The drops and marks by arrival. At a link, records and captures have the packets of flows in the
/// same order.
fn signals(
    folder: &Path,
    scenario: &Resolved,
    plan: &Plan,
    result: &RunResult,
    rows: &[CapturedHeaders],
) -> Result<HashMap<Arrival, PacketSignal>, String> {
    let mut numbered: BTreeMap<usize, Vec<(usize, &CapturedHeaders)>> = BTreeMap::new();
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.point == CapturePoint::Arrived) {
        let link = usize::from(row.link);
        let number = numbers.entry(link).or_default();
        let is_counted = u64::try_from(row.at_ns).is_ok_and(|at_ns| at_ns < plan.duration_ns);
        if is_counted && row.flow != u32::MAX {
            numbered.entry(link).or_default().push((*number, row));
        }
        *number += 1;
    }
    for arrivals in numbered.values_mut() {
        arrivals.sort_by_key(|(_, row)| row.at_ns);
    }
    let mut left: BTreeMap<usize, _> =
        numbered.iter().map(|(link, arrivals)| (*link, arrivals.iter())).collect();
    let mut states = states(folder)?;
    let mut vars: BTreeMap<usize, &'static [Var]> = BTreeMap::new();
    let mut signals = HashMap::new();
    for record in packet_records::read(folder, plan, result)? {
        let link = link_of(&record, scenario, plan);
        let arrival = left.get_mut(&link).and_then(Iterator::next);
        let same = |row: &CapturedHeaders| {
            row.flow == record.flow && row.at_ns == record.arrived.as_nanos() as i64
        };
        let &(number, _) = arrival.filter(|(_, row)| same(row)).ok_or(
            "the captures and the records of packets differ: take fewer flows or a lower rate",
        )?;
        let Some(mut signal) = signal(&record, plan) else { continue };
        if let Some(bits) = states.remove(&(link, number)) {
            let vars = vars.entry(link).or_insert_with(|| tables::law_vars(scenario, plan, link));
            signal.state = vars.iter().zip(bits.into_iter().map(f64::from_bits)).collect();
        }
        signals.insert((link, number), signal);
    }
    Ok(signals)
}

/// The states before drops and marks; the last one of a packet is that before its fate.
fn states(folder: &Path) -> Result<HashMap<Arrival, Vec<u64>>, String> {
    let text = match fs::read(folder.join(SIGNAL_STATES)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(HashMap::new()),
        other => other.map_err(|error| format!("{SIGNAL_STATES}: {error}"))?,
    };
    let states: Vec<SignalState> =
        serde_json::from_slice(&text).map_err(|error| format!("{SIGNAL_STATES}: {error}"))?;
    let of = |state: SignalState| ((usize::from(state.link), state.arrival), state.bits);
    Ok(states.into_iter().map(of).collect())
}

/// The link of a record. Flows of programs pass the same links as all others.
fn link_of(record: &PacketRecord, scenario: &Resolved, plan: &Plan) -> usize {
    let forward = scenario.flows[0].path[0];
    if !plan.stations.is_empty() {
        return collector::link_of(scenario, plan)[record.flow as usize][record.direction as usize];
    }
    let reverse = plan.reverse.as_ref().map(|reverse| usize::from(reverse.link.index));
    match record.direction {
        Direction::Forward => forward,
        Direction::Reverse => reverse.unwrap_or(forward),
    }
}

/// The drop or mark of a record. The kernel reports neither when nor by which rule it dropped a
/// packet.
fn signal(record: &PacketRecord, plan: &Plan) -> Option<PacketSignal> {
    let is_told =
        matches!(plan.bottleneck, Bottleneck::Sojourn(_)) || record.direction == Direction::Reverse;
    let sojourn = record.left.map(|left| left.since(record.arrived));
    let (is_mark, rule, sojourn) = match (record.fate, record.marked) {
        (Fate::Dropped(stage, cause), _) => (false, (stage, cause), sojourn.filter(|_| is_told)),
        (_, Some(rule)) => (true, rule, sojourn),
        (Fate::Sent | Fate::Waiting, None) => return None,
    };
    Some(PacketSignal { is_mark, rule: is_told.then_some(rule), sojourn, state: Vec::new() })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::Value;
    use sojourn_aqm::Ecn;
    use sojourn_scenario::{Scenario, Source};

    use super::*;
    use crate::captures::{CapturedKind, InterfaceCapture};
    use crate::collect::test_plan::{TEXT, plan};
    use crate::run_files::{INTERFACE_CAPTURES, KernelCounters, RESULT};

    const MS: i64 = 1_000_000;

    /// A segment of the first flow from the IP header on, without payload.
    fn segment(ident: u16) -> Vec<u8> {
        let mut bytes = vec![0; 40];
        (bytes[0], bytes[9], bytes[32]) = (0x45, 6, 0x50);
        bytes[2..4].copy_from_slice(&1500u16.to_be_bytes());
        bytes[4..6].copy_from_slice(&ident.to_be_bytes());
        bytes[22..24].copy_from_slice(&crate::plan::FIRST_PORT.to_be_bytes());
        bytes
    }

    /// The results of a run in which the second of two packets did not leave; `shift` moves the
    /// captured headers in time.
    fn results(name: &str, shift: i64) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("sojourn-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let capture = |at_ns, ident, leaves| InterfaceCapture {
            at_ns,
            flow: 0,
            seq: 0,
            bytes: 1500,
            ident,
            ecn: Ecn::NotEct,
            dscp: 0,
            leaves,
            kind: CapturedKind::Data,
        };
        let (mut captures, mut rows) = (Vec::new(), Vec::new());
        for (at_ns, ident, leaves) in [(0, 1, false), (MS, 2, false), (2 * MS, 1, true)] {
            capture(at_ns, ident, leaves).write(&mut captures);
            let point = if leaves { CapturePoint::Sent } else { CapturePoint::Arrived };
            let (at_ns, bytes) = (at_ns + shift, segment(ident));
            CapturedHeaders { at_ns, flow: 0, link: 0, point, bytes }.write(&mut rows);
        }
        fs::write(folder.join(INTERFACE_CAPTURES), captures).unwrap();
        fs::write(folder.join(HEADERS[2]), rows).unwrap();
        let mut result = RunResult::new(&plan(), Vec::new(), Value::Null);
        let at_ns = 2_000_000_000;
        result.kernel_counters =
            Some(KernelCounters { at_ns, waiting: 0, dropped: 1, in_leaves: vec![] });
        fs::write(folder.join(RESULT), serde_json::to_vec(&result).unwrap()).unwrap();
        folder
    }

    /// Reads results, and removes them.
    fn read(folder: &Path) -> Result<Vec<CapturedPacket>, String> {
        let none = |_: &str| Err(ErrorKind::NotFound.into());
        let scenario = Scenario::load(TEXT, &Source::default(), &none).unwrap();
        let found = headers(folder, scenario.resolved(), &plan());
        fs::remove_dir_all(folder).unwrap();
        found
    }

    #[test]
    fn a_packet_that_did_not_leave_was_dropped_and_the_kernel_does_not_tell_why() {
        let packets = read(&results("fates", 0)).unwrap();
        let seen: Vec<_> = packets.iter().map(|packet| (packet.point, packet.bytes)).collect();
        let (arrived, sent) = (CapturePoint::Arrived, CapturePoint::Sent);
        assert_eq!(seen, [(arrived, 1500), (arrived, 1500), (sent, 1500)]);
        let signals: Vec<_> = packets.iter().map(|packet| packet.signal.clone()).collect();
        let dropped = PacketSignal { is_mark: false, rule: None, sojourn: None, state: vec![] };
        assert_eq!(signals, [None, Some(dropped), None]);
    }

    #[test]
    fn captures_that_do_not_fit_the_records_are_refused() {
        assert!(read(&results("shifted", 5)).unwrap_err().contains("differ"));
    }
}
