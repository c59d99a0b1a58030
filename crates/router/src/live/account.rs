//! What the router tells: a line now and then while it runs, the tables at the end.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use serde_json::{Value, json};
use sojourn_aqm::Time;
use sojourn_measure::summary;
use sojourn_measure::{BUILTIN_VARS, Interval, Notes, Probe, QueueSeen};
use sojourn_record::Run;
use sojourn_record::rows::{HistogramOf, Scope, SummaryRow};

use super::turn::{BEAT, Turn};
use super::{ADDRESSES, Finished, INTERFACES, devices};
use crate::chronicle::Memory;
use crate::header::Header;
use crate::street::Street;

/// What happened at both queues since the last beat.
pub type Intervals = [Option<Interval>; 2];

/// Addresses, ports and protocol.
type FlowKey = ([[u8; 4]; 2], [u16; 2], u8);

/// Numbers the flows of packets, if packets are written down.
pub struct Flows {
    wanted: bool,
    numbers: BTreeMap<FlowKey, u32>,
    names: Vec<String>,
}

impl Flows {
    /// No flows yet.
    pub fn new(wanted: bool) -> Flows {
        Flows { wanted, numbers: BTreeMap::new(), names: Vec::new() }
    }

    /// The number of a packet's flow; none if it is not IPv4.
    pub fn number(&mut self, packet: &[u8]) -> Option<u32> {
        if !self.wanted {
            return (packet.first()? >> 4 == 4).then_some(0);
        }
        let header = Header::read(packet)?;
        let key = (header.addresses, header.ports, header.protocol);
        let names = &mut self.names;
        Some(*self.numbers.entry(key).or_insert_with(|| {
            names.push(name(&header));
            names.len() as u32 - 1
        }))
    }
}

fn name(header: &Header) -> String {
    let [from, to] = header.addresses.map(std::net::Ipv4Addr::from);
    let [from_port, to_port] = header.ports;
    format!("{from}:{from_port}-{to}:{to_port}/{}", header.protocol)
}

/// The lines for the user. A reader who is slow misses some.
pub struct Told {
    file: File,
    since: Intervals,
    at: Time,
    passed: [(u64, u64); 2],
}

impl Told {
    /// Lines go to `file`.
    pub fn new(file: File) -> Told {
        Told { file, since: [None, None], at: Time::ZERO, passed: [(0, 0); 2] }
    }

    /// Both devices are up.
    pub fn begun(&mut self, devices: &[Value; 2]) {
        let pid = std::process::id();
        let ends = ADDRESSES.iter().zip(INTERFACES).zip(devices);
        let ends: Vec<Value> = ends
            .map(|((address, name), shown)| {
                json!({ "address": address, "interface": name, "mtu": shown["mtu"] })
            })
            .collect();
        self.line(&json!({ "begun": { "pid": pid, "ends": ends } }));
    }

    /// A beat is over; `tells`: the user hears of it.
    pub fn beat(&mut self, at: Time, intervals: &Intervals, turn: &Turn<'_>, tells: bool) {
        for (sum, new) in self.since.iter_mut().zip(intervals) {
            if let Some(new) = new {
                add(sum.get_or_insert_default(), new);
            }
        }
        if !tells {
            return;
        }
        let seconds = at.since(self.at).as_secs();
        let ways: Vec<Value> = (0..2).map(|way| self.way(way, turn, seconds)).collect();
        let late = &turn.lateness;
        self.line(&json!({
            "t_s": at.as_secs(),
            "ways": ways,
            "late_p99_s": late.quantile_ns(0.99).map(secs),
            "late_max_s": late.max_ns().map(secs),
        }));
        (self.since, self.at) = ([None, None], at);
    }

    fn way(&mut self, way: usize, turn: &Turn<'_>, seconds: f64) -> Value {
        let (packets, bytes) = turn.ways[way].passed;
        let (packets_then, bytes_then) = std::mem::replace(&mut self.passed[way], (packets, bytes));
        let mut value = json!({
            "name": turn.live.ways[way].name,
            "throughput_bps": (bytes - bytes_then) as f64 * 8.0 / seconds,
            "packets": packets - packets_then,
        });
        if let (Some(street), Some(since)) = (turn.ways[way].street(), &self.since[way]) {
            let counts = street.counts();
            let mean = (since.departed > 0).then(|| secs(since.delay_sum_ns / since.departed));
            value["queue"] = json!({
                "delay_mean_s": mean,
                "delay_max_s": secs(since.delay_max_ns),
                "backlog_packets": street.backlog().packets,
                "dropped": counts.dropped,
                "marked": counts.marked,
                "arrived": counts.arrived,
            });
        }
        value
    }

    /// The last line, which is waited for.
    pub fn last(&mut self, value: &Value) {
        let _ = fcntl(&self.file, FcntlArg::F_SETFL(OFlag::empty()));
        self.line(value);
    }

    fn line(&mut self, value: &Value) {
        // Who does not listen is not told; the run goes on.
        let _ = self.file.write_all(format!("{value}\n").as_bytes());
    }
}

fn secs(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn add(sum: &mut Interval, new: &Interval) {
    sum.departed += new.departed;
    sum.delay_sum_ns += new.delay_sum_ns;
    sum.delay_max_ns = sum.delay_max_ns.max(new.delay_max_ns);
    sum.drops += new.drops;
    sum.marks += new.marks;
    sum.bytes += new.bytes;
}

/// Rows as (scope, name, metric, value, unit).
pub fn summary(run: &Run) -> Value {
    let rows = run.summary.iter();
    rows.map(|row| json!([row.scope.word(), row.name, row.metric, row.value, row.unit])).collect()
}

/// Makes the tables.
pub fn finish(
    turn: Turn<'_>,
    offloads: Vec<String>,
    before: [Value; 2],
    after: [Value; 2],
) -> Finished {
    let wall_s = turn.now().as_secs();
    let overflowed = after.each_ref().map(devices::overflowed);
    let invalid = doubts(&turn, &offloads, overflowed);
    let facts = json!({
        "plan": turn.live,
        "devices_before": before,
        "devices_after": after,
        "offloads_on": offloads,
        "overflowed": overflowed,
        "refused": turn.refused,
        "foreign": turn.foreign,
        "sample_ns": BEAT.as_nanos(),
        "passed": turn.ways.each_ref().map(|way| json!({
            "packets": way.passed.0, "bytes": way.passed.1,
        })),
    });
    Finished { run: Arc::new(tables(turn, wall_s)), facts, invalid, wall_s }
}

/// Reasons not to trust a run, one sentence each.
fn doubts(turn: &Turn<'_>, offloads: &[String], overflowed: [u64; 2]) -> Vec<String> {
    let mut doubts = Vec::new();
    if !offloads.is_empty() {
        let on = offloads.join(", ");
        doubts.push(format!("offloads stayed on, so queues held packets of many segments: {on}"));
    }
    let latest_ns = turn.lateness.max_ns().unwrap_or(0);
    if latest_ns > turn.live.stall_ns {
        doubts.push(format!(
            "the host stalled: something was {:.1} ms late, and --stall allows {:.1} ms; run on a \
             quiet host, with --realtime or --spin",
            latest_ns as f64 / 1e6,
            turn.live.stall_ns as f64 / 1e6,
        ));
    }
    for (name, packets) in INTERFACES.iter().zip(overflowed).filter(|(_, packets)| *packets > 0) {
        doubts.push(format!(
            "{packets} packets were lost at {name} before the router took them, so the bottleneck \
             was this machine; choose a lower rate"
        ));
    }
    if turn.refused > 0 {
        doubts
            .push(format!("{} packets were refused by the device behind the router", turn.refused));
    }
    doubts
}

fn tables(turn: Turn<'_>, seconds: f64) -> Run {
    let Turn { live, ways, lateness, flows, .. } = turn;
    let mut queues = Vec::new();
    let mut whole = Probe::new(live.ways.len(), 0, (Time::ZERO, Time::NEVER));
    for (index, way) in ways.into_iter().enumerate() {
        let name = live.ways[index].name.clone();
        let vars = way.street().map_or(&[][..], Street::vars);
        let vars = [&BUILTIN_VARS, vars].concat();
        let Some(Memory::Probe(mut probe, _)) = way.into_memory() else {
            queues.push(QueueSeen { name, utilisation: None, vars });
            continue;
        };
        let seen = probe.links.swap_remove(index);
        let utilisation = Some(seen.busy.as_secs() / seconds);
        queues.push(QueueSeen { name, utilisation, vars });
        whole.links[index] = seen;
        whole.states.append(&mut probe.states);
        whole.notes.packets.append(&mut probe.notes.packets);
        append_signals(&mut whole.notes, probe.notes, index);
        whole.digest.mix(Time::ZERO, probe.digest.value());
    }
    whole.notes.signals.sort_by_key(|signal| signal.t);
    let mut run = summary::collect_queues(whole, queues, seconds);
    run.classes = vec!["live".to_owned(); flows.names.len()];
    run.flows = flows.names;
    let (scope, name) = (Scope::Run, "router".to_owned());
    for (metric, q) in [("late_p50", 0.5), ("late_p99", 0.99), ("late_max", 1.0)] {
        let ns = if q < 1.0 { lateness.quantile_ns(q) } else { lateness.max_ns() };
        let Some(value) = ns.map(secs) else { continue };
        run.summary.push(SummaryRow { scope, name: String::new(), metric, value, unit: "s" });
    }
    run.histograms.push(HistogramOf { scope, name, metric: "late", histogram: lateness });
    run
}

/// Adds the drops and marks of a way to those of both; each names the place of its evidence.
fn append_signals(whole: &mut Notes, mut notes: Notes, way: usize) {
    let before = whole.evidence.len();
    for signal in &mut notes.signals {
        signal.evidence += before;
    }
    whole.signals.append(&mut notes.signals);
    whole.evidence.append(&mut notes.evidence);
    whole.evidence_vars[way] = notes.evidence_vars[way];
}
