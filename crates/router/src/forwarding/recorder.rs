//! Records the packets of a router link: counts them, keeps a record of each, or passes them to a
//! probe, which counts and samples as for a simulated link.

use sojourn_aqm::{Backlog, Cause, Evidence, Sink, Span, Stage, Time};
use sojourn_link::LinkObserver;
use sojourn_measure::{Interval, LinkProbe, PacketKind, PacketView, Probe};
use sojourn_record::rows::{Fate, StateRow};

use super::raw_packet::RawPacket;
use crate::captures::{CapturedKind, PacketRecord};
use crate::plan::Direction;

/// Packets of a link, counted since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct LinkCounts {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets sent.
    pub sent: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
}

/// The records of a link's packets.
#[derive(Debug, Default)]
pub struct Records {
    /// In order of arrival.
    pub packets: Vec<PacketRecord>,
    /// The law's state before drops and marks, with the index of the packet, if they are kept.
    pub states: Option<Vec<(usize, Vec<f64>)>>,
    /// The state before the next drop or mark.
    before: Vec<f64>,
}

impl Records {
    /// Empty records; `states`: whether the law's state is kept too.
    pub fn new(states: bool) -> Records {
        Records { states: states.then(Vec::new), ..Records::default() }
    }

    /// Records the state before a drop or mark. Only decisions of the law have such a state.
    fn decided(&mut self, packet: &RawPacket) {
        let before = std::mem::take(&mut self.before);
        if let Some(states) = self.states.as_mut().filter(|_| !before.is_empty()) {
            states.push((index_of(packet), before));
        }
    }
}

/// The records kept in addition to the counts.
#[derive(Debug)]
pub enum Recording {
    /// Nothing.
    Off,
    /// The record of every packet.
    Records(Records),
    /// All events are reported to a probe, as those of its link with this index.
    Probe(Box<Probe>, u32),
}

/// The counts and the recording of a link.
#[derive(Debug)]
pub(super) struct Recorder {
    counts: LinkCounts,
    recording: Recording,
    direction: Direction,
}

impl Recorder {
    pub(super) fn new(recording: Recording, direction: Direction) -> Recorder {
        Recorder { counts: LinkCounts::default(), recording, direction }
    }

    pub(super) fn counts(&self) -> LinkCounts {
        self.counts
    }

    pub(super) fn recording(&self) -> &Recording {
        &self.recording
    }

    pub(super) fn into_recording(self) -> Recording {
        self.recording
    }

    /// Records an arrival; returns the index of its record.
    pub(super) fn arrived(&mut self, now: Time, packet: &RawPacket) -> Option<usize> {
        self.counts.arrived += 1;
        match &mut self.recording {
            Recording::Off => None,
            Recording::Records(records) => {
                records.before.clear();
                records.packets.push(new_record(now, packet, self.direction));
                Some(records.packets.len() - 1)
            }
            Recording::Probe(probe, link) => {
                probe.at_link::<true>(now, *link as usize).arrived();
                None
            }
        }
    }

    /// Whether the state of the law is needed before each drop and mark.
    pub(super) fn wants_evidence(&self) -> bool {
        match &self.recording {
            Recording::Off => false,
            Recording::Records(records) => records.states.is_some(),
            Recording::Probe(probe, _) => probe.notes.wants_signals,
        }
    }

    /// The receiver of events from the link and its discipline.
    pub(super) fn at(&mut self, now: Time) -> RecorderAt<'_> {
        RecorderAt { now, recorder: self }
    }

    /// Samples the built-in state variables and then the law's own; returns the events since the
    /// last sample. `None` without a probe.
    pub(super) fn sample(
        &mut self,
        now: Time,
        every: Span,
        backlog: Backlog,
        own: &[f64],
    ) -> Option<Interval> {
        let Recording::Probe(probe, queue) = &mut self.recording else { return None };
        let interval = std::mem::take(&mut probe.links[*queue as usize].interval);
        let values = interval.values(backlog, every).into_iter().chain(own.iter().copied());
        let rows = values.enumerate().map(|(var, value)| StateRow {
            queue: *queue,
            t: now,
            var: var as u16,
            value,
        });
        probe.states.extend(rows);
        Some(interval)
    }
}

/// Records the events of one instant.
pub(super) struct RecorderAt<'a> {
    now: Time,
    recorder: &'a mut Recorder,
}

impl RecorderAt<'_> {
    /// The probe at this link and instant, if the link reports to a probe.
    fn probe(&mut self) -> Option<LinkProbe<'_, true>> {
        match &mut self.recorder.recording {
            Recording::Probe(probe, link) => Some(probe.at_link(self.now, *link as usize)),
            Recording::Off | Recording::Records(_) => None,
        }
    }
}

impl LinkObserver<RawPacket> for RecorderAt<'_> {
    fn departed(&mut self, packet: &RawPacket, enqueued: Time) {
        self.recorder.counts.sent += 1;
        if let Recording::Records(records) = &mut self.recorder.recording {
            complete(&mut records.packets, self.now, packet, Fate::Sent);
        } else if let Some(mut probe) = self.probe() {
            probe.departed(&packet_view(packet), enqueued);
        }
    }

    fn busy(&mut self, bytes: u32, overhead: u32, span: Span) {
        if let Some(mut probe) = self.probe() {
            probe.busy(bytes, overhead, span);
        }
    }

    fn carried(&mut self, bytes: u32) {
        if let Some(mut probe) = self.probe() {
            probe.carried(bytes);
        }
    }
}

impl Sink<RawPacket> for RecorderAt<'_> {
    fn dropped(&mut self, packet: RawPacket, enqueued: Time, stage: Stage, cause: Cause) {
        self.recorder.counts.dropped += 1;
        if let Recording::Records(records) = &mut self.recorder.recording {
            records.decided(&packet);
            complete(&mut records.packets, self.now, &packet, Fate::Dropped(stage, cause));
        } else if let Some(mut probe) = self.probe() {
            probe.dropped(&packet_view(&packet), enqueued, stage, cause);
        }
    }

    fn marked(&mut self, packet: &mut RawPacket, enqueued: Time, stage: Stage, cause: Cause) {
        // A second mark by this queue adds nothing, as in `LinkProbe::marked`.
        if packet.marked.is_some() {
            return;
        }
        self.recorder.counts.marked += 1;
        if let Recording::Records(records) = &mut self.recorder.recording {
            records.decided(packet);
            records.packets[index_of(packet)].marked = Some((stage, cause));
        } else if let Some(mut probe) = self.probe() {
            probe.marked(&mut packet_view(packet), enqueued, stage, cause);
        }
        packet.marked = Some((stage, cause));
    }

    fn evidence(&mut self, evidence: Evidence<'_>) {
        if let Recording::Records(records) = &mut self.recorder.recording {
            records.before = evidence.values.to_vec();
        } else if let Some(mut probe) = self.probe() {
            probe.evidence(evidence);
        }
    }
}

fn new_record(now: Time, packet: &RawPacket, direction: Direction) -> PacketRecord {
    let header = &packet.header;
    PacketRecord {
        flow: packet.flow,
        direction,
        seq: match (packet.datagram_number(), direction) {
            (Some(number), _) => number,
            (None, Direction::Forward) => header.seq,
            // Towards the senders, a TCP packet is identified by its acknowledgement number.
            (None, Direction::Reverse) => header.ack,
        },
        bytes: header.bytes,
        kind: CapturedKind::of(header),
        ecn_in: header.ecn,
        dscp: header.dscp,
        arrived: now,
        left: None,
        fate: Fate::Waiting,
        marked: None,
    }
}

fn complete(records: &mut [PacketRecord], now: Time, packet: &RawPacket, fate: Fate) {
    let record = &mut records[index_of(packet)];
    (record.left, record.fate) = (Some(now), fate);
}

fn index_of(packet: &RawPacket) -> usize {
    packet.record.expect("its record began on arrival")
}

/// The packet in the probe's form.
fn packet_view(packet: &RawPacket) -> PacketView {
    let header = &packet.header;
    let kind = match CapturedKind::of(header) {
        CapturedKind::Syn => PacketKind::Syn,
        CapturedKind::Data | CapturedKind::Empty => PacketKind::Data,
        CapturedKind::Datagram => PacketKind::Datagram,
    };
    PacketView {
        flow: packet.flow,
        seq: header.seq,
        kind,
        bytes: packet.link_bytes,
        ecn_in: header.ecn,
        dscp: header.dscp,
        marked: packet.marked,
        is_copy: false,
    }
}
