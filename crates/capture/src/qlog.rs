//! Logs of TCP senders in qlog, in the form that qvis reads: a file for each flow, with a trace for
//! each connection.
//!
//! Sources: draft-ietf-quic-qlog-main-schema-02 and draft-ietf-quic-qlog-quic-events-01 (version
//! 0.3). These drafts define QUIC's events, not TCP's: every transmission of a segment gets a new
//! packet number, and an acknowledgement lists the transmissions that it newly covers. A
//! retransmission declares the earlier transmissions lost, unless it is a tail loss probe (RFC 8985
//! §7): the first retransmission of the highest segment, before anything sent later was
//! acknowledged.
//!
//! Of a transport library only the statistics that it reports are logged: its packets are its own.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sojourn_aqm::Time;
use sojourn_record::Run;
use sojourn_record::rows::FlowRow;
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::FlowGroup;
use sojourn_sim::capture::{Point, Sighting};
use sojourn_sim::packet::{Packet, PacketKind};
use sojourn_sim::tcp::profile::profile;

use crate::conversations::{Conversation, Conversations};

const VERSION: &str = "0.3";

/// Writes a file for each TCP flow that sent anything, and for each flow of a transport library.
pub(crate) fn write(
    plan: &Resolved,
    run: &Run,
    sightings: &[Sighting],
    folder: &Path,
) -> io::Result<Vec<PathBuf>> {
    let conversations = Conversations::of(plan, sightings);
    let mut logs = logs(plan, run, sightings, &conversations);
    logs.extend(libraries(plan, run));
    let mut files = Vec::new();
    for (flow, log) in logs {
        let name = &run.flows[flow as usize];
        let path = folder.join(format!("{}.qlog", file_name(flow, name)));
        let mut file = BufWriter::new(File::create(&path)?);
        serde_json::to_writer(&mut file, &document(name, log))?;
        file.write_all(b"\n")?;
        file.flush()?;
        files.push(path);
    }
    Ok(files)
}

/// The name of a flow; its number if the name is not legal for a file.
fn file_name(flow: u32, name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match !name.is_empty() && !name.starts_with('.') && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("flow-{flow}"),
    }
}

fn document(name: &str, log: Log) -> Value {
    let log_protocol = log.transport.as_deref().unwrap_or("TCP");
    let traces = log.traces.into_iter().enumerate().map(|(number, trace)| {
        json!({
            "title": format!("{name}, connection {}", number + 1),
            "vantage_point": { "name": name, "type": "client" },
            "common_fields": {
                "ODCID": format!("{number:08x}"),
                "group_id": format!("{number:08x}"),
                "time_format": "relative",
                "reference_time": 0,
                "protocol_type": [log_protocol],
            },
            "events": trace.events,
        })
    });
    json!({
        "qlog_version": VERSION,
        "qlog_format": "JSON",
        "title": name,
        "traces": traces.collect::<Vec<_>>(),
    })
}

/// The connections of a flow, in the order of their first packets.
#[derive(Default)]
struct Log {
    traces: Vec<Trace>,
    /// Traces by connection and lane.
    index: BTreeMap<(u16, u8), usize>,
    /// The sample that was written last.
    sampled: Option<[u64; 3]>,
    /// The scenario's name for a transport library, in capitals.
    transport: Option<String>,
}

/// A connection.
#[derive(Default)]
struct Trace {
    events: Vec<Value>,
    /// Segments not yet acknowledged.
    outstanding: BTreeMap<u32, Segment>,
    /// The highest segment sent.
    highest: Option<u32>,
    /// The latest transmission that was acknowledged.
    newest_acked: Option<u64>,
    sends_probes: bool,
    sent: u64,
    received: u64,
}

/// The transmissions of a segment that were neither acknowledged nor lost.
#[derive(Default)]
struct Segment {
    numbers: Vec<u64>,
    is_repeated: bool,
}

fn logs(
    plan: &Resolved,
    run: &Run,
    sightings: &[Sighting],
    conversations: &Conversations,
) -> BTreeMap<u32, Log> {
    let sends_probes = |group: &FlowGroup| {
        let tcp = group.app.tcp()?;
        Some(profile(&tcp.profile).is_ok_and(|profile| profile.tail_probes))
    };
    let groups = plan.flows.iter();
    let senders: Vec<Option<bool>> = groups
        .flat_map(|group| std::iter::repeat_n(sends_probes(group), group.count as usize))
        .collect();
    let mut logs: BTreeMap<u32, Log> = BTreeMap::new();
    let mut samples = run.flow_samples.iter().peekable();
    for sighting in sightings {
        while let Some(sample) = samples.next_if(|sample| sample.t <= sighting.t) {
            if let Some(log) = logs.get_mut(&sample.flow) {
                log.on_sample(sample);
            }
        }
        let packet = &sighting.packet;
        let Some(sends_probes) = senders[packet.flow as usize] else { continue };
        if packet.kind == PacketKind::Request {
            continue;
        }
        match (sighting.point, packet.is_reverse()) {
            (Point::Sent, false) => {
                let trace = logs.entry(packet.flow).or_default().trace(packet);
                trace.sends_probes = sends_probes;
                trace.on_sent(sighting.t, packet, conversations.get(packet));
            }
            (Point::Received, true) => {
                let trace = logs.entry(packet.flow).or_default().trace(packet);
                trace.on_received(sighting.t, packet);
            }
            _ => {}
        }
    }
    logs
}

/// The statistics of transport libraries.
fn libraries(plan: &Resolved, run: &Run) -> BTreeMap<u32, Log> {
    let groups = plan.flows.iter();
    let transports: Vec<Option<String>> = groups
        .flat_map(|group| {
            let transport = group.app.transport().map(str::to_ascii_uppercase);
            std::iter::repeat_n(transport, group.count as usize)
        })
        .collect();
    let mut logs: BTreeMap<u32, Log> = BTreeMap::new();
    for sample in &run.flow_samples {
        let Some(transport) = &transports[sample.flow as usize] else { continue };
        let is_known = sample.cwnd_bytes > 0 || sample.srtt.as_nanos() > 0;
        if is_known {
            let log = logs.entry(sample.flow).or_insert_with(|| Log {
                traces: vec![Trace::default()],
                transport: Some(transport.clone()),
                ..Log::default()
            });
            log.on_sample(sample);
        }
    }
    logs
}

impl Log {
    fn trace(&mut self, packet: &Packet) -> &mut Trace {
        let key = (packet.connection, packet.labels.lane());
        let index = *self.index.entry(key).or_insert_with(|| {
            self.traces.push(Trace::default());
            self.traces.len() - 1
        });
        &mut self.traces[index]
    }

    /// A sample of the flow belongs to its newest connection.
    fn on_sample(&mut self, sample: &FlowRow) {
        let values = [sample.srtt.as_nanos(), sample.cwnd_bytes, sample.inflight_bytes];
        if self.sampled.replace(values) == Some(values) {
            return;
        }
        let Some(trace) = self.traces.last_mut() else { return };
        let mut data = json!({ "bytes_in_flight": sample.inflight_bytes });
        // Libraries may know no window.
        if sample.cwnd_bytes > 0 || self.transport.is_none() {
            data["congestion_window"] = json!(sample.cwnd_bytes);
        }
        if sample.srtt.as_nanos() > 0 {
            data["smoothed_rtt"] = json!(sample.srtt.as_nanos() as f64 / 1e6);
        }
        trace.note(sample.t, "recovery:metrics_updated", data);
    }
}

impl Trace {
    fn note(&mut self, t: Time, name: &str, data: Value) {
        let time_ms = t.as_nanos() as f64 / 1e6;
        self.events.push(json!({ "time": time_ms, "name": name, "data": data }));
    }

    fn on_sent(&mut self, t: Time, packet: &Packet, conversation: &Conversation) {
        let number = self.sent;
        self.sent += 1;
        let mut is_probe = false;
        let frames = match packet.kind {
            PacketKind::Data => {
                is_probe = self.transmit(t, packet.seq, number);
                let offset = conversation.start(packet.seq).wrapping_sub(1);
                let length = packet.ip_bytes.saturating_sub(conversation.header_bytes);
                json!([{
                    "frame_type": "stream",
                    "stream_id": 0,
                    "offset": offset,
                    "length": length,
                }])
            }
            PacketKind::WindowProbe => json!([{ "frame_type": "ping" }]),
            _ => json!([]),
        };
        let mut data = packet_data(packet, number, frames);
        if is_probe {
            data["trigger"] = json!("pto_probe");
        }
        self.note(t, "transport:packet_sent", data);
    }

    /// Records a transmission of a segment. Returns whether it is a tail loss probe; if not,
    /// earlier transmissions are lost.
    fn transmit(&mut self, t: Time, seq: u32, number: u64) -> bool {
        let segment = self.outstanding.entry(seq).or_default();
        let is_again = !segment.numbers.is_empty();
        let is_probe = is_again
            && self.sends_probes
            && !segment.is_repeated
            && self.highest == Some(seq)
            && self.newest_acked < segment.numbers.last().copied();
        segment.is_repeated |= is_again;
        let lost = if is_probe { Vec::new() } else { std::mem::take(&mut segment.numbers) };
        segment.numbers.push(number);
        self.highest = self.highest.max(Some(seq));
        for lost in lost {
            let header = json!({ "packet_type": "1RTT", "packet_number": lost });
            self.note(t, "recovery:packet_lost", json!({ "header": header }));
        }
        is_probe
    }

    fn on_received(&mut self, t: Time, packet: &Packet) {
        let number = self.received;
        self.received += 1;
        let frames = match packet.kind {
            PacketKind::Ack => {
                let mut acked = Vec::new();
                let rest = self.outstanding.split_off(&packet.seq);
                let below = std::mem::replace(&mut self.outstanding, rest).into_values();
                acked.extend(below.flat_map(|segment| segment.numbers));
                for block in packet.sack.iter().filter(|block| !block.is_empty()) {
                    let range = self.outstanding.range(block.start..block.end);
                    let found: Vec<u32> = range.map(|(&segment, _)| segment).collect();
                    let numbers = found.iter().filter_map(|seq| self.outstanding.remove(seq));
                    acked.extend(numbers.flat_map(|segment| segment.numbers));
                }
                self.newest_acked = self.newest_acked.max(acked.iter().max().copied());
                json!([{ "frame_type": "ack", "acked_ranges": ranges(acked) }])
            }
            _ => json!([]),
        };
        let data = packet_data(packet, number, frames);
        self.note(t, "transport:packet_received", data);
    }
}

fn packet_data(packet: &Packet, number: u64, frames: Value) -> Value {
    let is_opening = matches!(packet.kind, PacketKind::Syn | PacketKind::SynAck);
    let packet_type = if is_opening { "initial" } else { "1RTT" };
    json!({
        "header": { "packet_type": packet_type, "packet_number": number },
        "raw": { "length": packet.ip_bytes },
        "frames": frames,
    })
}

/// The first and last number of each run of consecutive numbers.
fn ranges(mut numbers: Vec<u64>) -> Vec<[u64; 2]> {
    numbers.sort_unstable();
    let mut found: Vec<[u64; 2]> = Vec::new();
    for number in numbers {
        match found.last_mut() {
            Some([_, last]) if *last + 1 == number => *last = number,
            _ => found.push([number, number]),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_a_row_are_one_range() {
        assert_eq!(ranges(vec![7, 3, 1, 2, 8]), [[1, 3], [7, 8]]);
        assert!(ranges(Vec::new()).is_empty());
    }

    /// Three segments; the last is sent again as a probe, then again by the timeout, which declares
    /// both lost.
    #[test]
    fn a_tail_loss_probe_declares_nothing_lost() {
        let mut trace = Trace { sends_probes: true, ..Trace::default() };
        let found: Vec<bool> = (0..)
            .zip([1, 2, 3, 3, 3])
            .map(|(number, seq)| trace.transmit(Time::ZERO, seq, number))
            .collect();
        assert_eq!(found, [false, false, false, true, false]);
        let lost = |event: &Value| event["data"]["header"]["packet_number"].as_u64();
        assert_eq!(trace.events.iter().filter_map(lost).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn a_retransmission_after_something_sent_later_was_acknowledged_is_no_probe() {
        let mut trace = Trace { sends_probes: true, ..Trace::default() };
        for (number, seq) in [1, 2, 1].into_iter().enumerate() {
            trace.transmit(Time::ZERO, seq, number as u64);
        }
        trace.newest_acked = Some(2);
        assert!(!trace.transmit(Time::ZERO, 2, 3), "RACK found it lost");
        let mut old = Trace::default();
        old.transmit(Time::ZERO, 1, 0);
        assert!(!old.transmit(Time::ZERO, 1, 1), "a stack without probes");
    }
}
