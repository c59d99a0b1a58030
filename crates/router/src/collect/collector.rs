//! Replays packet records to a probe in order of time, and takes samples at the same times as the
//! simulator.

use std::collections::VecDeque;
use std::path::Path;

use sojourn_aqm::{Span, Time};
use sojourn_measure::bins::Totals;
use sojourn_measure::{
    BUILTIN_VARS, Bins, Outcome, PacketKind, PacketView, Probe, Utilisation, activity,
};
use sojourn_record::rows::{Fate, StateRow, TransferRow};
use sojourn_scenario::Resolved;

use super::datagrams::DatagramFates;
use super::frames::Frame;
use super::observed_link::{Excess, ObservedLink};
use super::{latency, tables, video};
use crate::captures::{CapturedKind, PacketRecord};
use crate::plan::{Direction, Flow, Plan};
use crate::run_files::RunResult;

/// Replays packet records to a probe.
pub(super) struct Collector {
    probe: Probe,
    states: bool,
    every: Span,
    last_sample: Time,
    next_sample: Time,
    warmup: Time,
    end: Time,
    /// The links in the order of the scenario.
    links: Vec<ObservedLink>,
    /// The capacity against which each link's utilisation is measured.
    utilisations: Vec<Utilisation>,
    /// The index of the link of each flow's packets, by direction.
    link_of: Vec<[usize; 2]>,
    /// The links whose laws are sampled, in sampling order, with the number of state variables of
    /// each.
    sampled: Vec<(usize, usize)>,
    /// Remaining samples of the laws of our router.
    law_samples: VecDeque<Vec<f64>>,
    /// Series per bin, if they are recorded.
    bins: Option<Bins>,
    /// Bytes that each flow had delivered by the end of each remaining bin.
    delivered: VecDeque<Vec<u64>>,
    /// The index of each flow's class.
    class_of: Vec<usize>,
    /// Payload per segment and the first sequence number of each flow's connection.
    numbering: Vec<(u32, u32)>,
    /// The first flow of the user's programs.
    first_of_programs: u32,
    events: u64,
}

/// An event of a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum RecordEvent {
    Leaves,
    Arrives,
}

impl Collector {
    /// `late` is how late a packet or a rate change may be.
    pub(super) fn new(
        scenario: &Resolved,
        plan: &Plan,
        result: &RunResult,
        late: Span,
    ) -> Collector {
        let warmup = Time::ZERO + scenario.warmup;
        let end = Time::ZERO + scenario.duration;
        let links: Vec<ObservedLink> =
            scenario.links.iter().map(|link| ObservedLink::new(link, late)).collect();
        let mut probe = Probe::new(links.len(), scenario.classes().len(), (warmup, end));
        probe.count_leaves(&scenario.links);
        probe.notes.wants_packets = scenario.record.packets;
        probe.notes.wants_signals = scenario.record.signals;
        if scenario.warmup == Span::ZERO {
            let totals = probe.totals(Time::ZERO);
            probe.end_warmup(totals);
        }
        let values = |bits: &Vec<u64>| bits.iter().map(|&bits| f64::from_bits(bits)).collect();
        let bins = scenario.record.bins;
        Collector {
            probe,
            states: scenario.record.states,
            every: scenario.record.sample,
            last_sample: Time::ZERO,
            next_sample: Time::ZERO + scenario.record.sample,
            warmup,
            end,
            link_of: link_of(scenario, plan),
            sampled: sampled(scenario, plan),
            bins: bins.map(|width| Bins::new(width, plan.flows.len(), links.len())),
            links,
            utilisations: scenario.links.iter().map(Utilisation::of).collect(),
            law_samples: result.law_samples.iter().map(values).collect(),
            delivered: result.bins.iter().cloned().collect(),
            class_of: class_of(scenario, plan),
            first_of_programs: plan.first_of_programs(),
            numbering: plan.flows.iter().map(|flow| (flow.payload_bytes, 0)).collect(),
            events: 0,
        }
    }

    /// For each link whose rate is known, how far its departures ran ahead of that rate.
    pub(super) fn excesses(&self) -> impl Iterator<Item = (usize, &Excess)> {
        let excesses = self.links.iter().map(|link| link.excess.as_ref());
        excesses.enumerate().filter_map(|(index, excess)| Some((index, excess?)))
    }

    pub(super) fn probe(&self) -> &Probe {
        &self.probe
    }

    pub(super) fn probe_mut(&mut self) -> &mut Probe {
        &mut self.probe
    }

    /// Sets the frames of each link that is a transmitter of a wireless LAN.
    pub(super) fn expect_frames(&mut self, frames: Vec<VecDeque<Frame>>) {
        for (link, frames) in self.links.iter_mut().zip(frames) {
            link.expect_frames(frames);
        }
    }

    /// The index of a record's link.
    fn link_of(&self, record: &PacketRecord) -> usize {
        self.link_of[record.flow as usize][record.direction as usize]
    }

    /// Replays the records, which must be in order of arrival.
    pub(super) fn feed(&mut self, records: &[PacketRecord]) {
        let mut packets: Vec<PacketView> =
            records.iter().map(|record| self.packet(record)).collect();
        for (at, event, index) in events(records) {
            self.advance(at);
            self.events += 1;
            let (record, packet) = (&records[index], &mut packets[index]);
            let link = self.link_of(record);
            let mut observer = self.probe.at_link::<true>(at, link);
            match event {
                RecordEvent::Arrives => {
                    self.links[link].arrives(at, record, packet, &mut observer);
                }
                RecordEvent::Leaves => {
                    self.links[link].leaves(at, record, *packet, &mut observer);
                }
            }
        }
        for (record, packet) in records.iter().zip(&packets) {
            if record.fate == Fate::Waiting {
                let link = self.link_of(record);
                self.probe.at_link::<true>(self.end, link).waiting(packet, record.arrived);
            }
        }
    }

    /// Handles the samples, bins and rate changes before `at`.
    fn advance(&mut self, at: Time) {
        while self.next_sample < at {
            if self.states {
                self.sample();
            }
            self.next_sample += self.every;
        }
        while let Some(over) = self.bins.as_ref().map(Bins::over_at).filter(|&over| over < at) {
            self.carry(over);
            self.end_bin();
        }
        self.carry(at);
    }

    /// Transmits, on all links until `at`, the packets that have left the queues. Ends the warm-up
    /// if it falls within that time.
    fn carry(&mut self, at: Time) {
        if !self.probe.counting && self.warmup <= at {
            carry(&mut self.links, &mut self.probe, self.warmup);
            let totals = self.probe.totals(self.warmup);
            self.probe.end_warmup(totals);
        }
        carry(&mut self.links, &mut self.probe, at);
    }

    /// Ends the current bin.
    fn end_bin(&mut self) {
        let Some(bins) = &mut self.bins else { return };
        let delivered = self.delivered.pop_front().expect("the guest counts at the end of each");
        let totals = Totals {
            delivered: &delivered,
            class_of: &self.class_of,
            includes_end: false,
            classes: self.probe.classes.len(),
            links: &mut self.probe.links,
            reserves: &[],
            utilisations: &self.utilisations,
        };
        bins.end(bins.over_at(), totals);
    }

    /// Writes rows in the order of the links, regardless of the order in which the run sampled
    /// their laws.
    fn sample(&mut self) {
        let law = self.law_samples.pop_front().unwrap_or_default();
        let mut of_link = vec![&law[..0]; self.links.len()];
        let mut rest = law.as_slice();
        for &(link, count) in &self.sampled {
            (of_link[link], rest) = rest.split_at(count.min(rest.len()));
        }
        let since_last =
            self.next_sample.since(std::mem::replace(&mut self.last_sample, self.next_sample));
        for (index, link) in self.links.iter().enumerate() {
            let own = of_link[index];
            let interval = std::mem::take(&mut self.probe.links[index].interval);
            let values = interval.values(link.backlog(), since_last).into_iter();
            let rows = values.chain(own.iter().copied()).enumerate().map(|(var, value)| StateRow {
                queue: index as u32,
                t: self.next_sample,
                var: var as u16,
                value,
            });
            self.probe.states.extend(rows);
        }
    }

    /// A recorded packet in the probe's form.
    fn packet(&mut self, record: &PacketRecord) -> PacketView {
        let (payload, first) = &mut self.numbering[record.flow as usize];
        let segment = |first: u32, payload: u32| record.seq.wrapping_sub(first) / payload;
        let (kind, seq) = match (record.kind, record.direction) {
            (CapturedKind::Syn, Direction::Forward) => {
                *first = record.seq.wrapping_add(1);
                (PacketKind::Syn, 0)
            }
            (CapturedKind::Data, Direction::Forward) => {
                (PacketKind::Data, segment(*first, *payload))
            }
            (CapturedKind::Empty, Direction::Forward) if record.flow >= self.first_of_programs => {
                (PacketKind::Ack, 0)
            }
            (CapturedKind::Empty, Direction::Forward) => (PacketKind::HandshakeAck, 0),
            (CapturedKind::Datagram, Direction::Forward) => (PacketKind::Datagram, record.seq),
            (CapturedKind::Syn, Direction::Reverse) => (PacketKind::SynAck, 0),
            (CapturedKind::Data | CapturedKind::Empty, Direction::Reverse) => {
                (PacketKind::Ack, segment(*first, *payload))
            }
            (CapturedKind::Datagram, Direction::Reverse) => (PacketKind::Request, record.seq),
        };
        let link = &self.links[self.link_of(record)];
        PacketView {
            flow: record.flow,
            seq,
            kind,
            bytes: link.bytes_of(record.bytes),
            ecn_in: record.ecn_in,
            dscp: record.dscp,
            marked: None,
            is_copy: false,
        }
    }

    /// Collects the input of the summary.
    pub(super) fn outcome(
        mut self,
        folder: &Path,
        (scenario, plan): (&Resolved, &Plan),
        result: &RunResult,
        fates: &[DatagramFates],
    ) -> Result<Outcome, String> {
        let end = self.end;
        self.advance(end);
        if self.bins.as_ref().is_some_and(|bins| bins.over_at() == end) {
            self.end_bin();
        }
        if self.states {
            self.next_sample = end;
            self.sample();
        }
        latency::add(folder, plan, &self.class_of, &mut self.probe.classes)?;
        self.add_program_log(plan, result);
        video::add(plan, result, &self.class_of, &mut self.probe.classes);
        let totals = self.probe.totals(end);
        let links = self.utilisations.iter().zip(&self.probe.links).zip(&totals);
        let uses = links.map(|((link, stats), end)| link.used(&stats.at_warmup, end));
        let times = tables::flow_times(plan, result);
        let active = activity::active(scenario, &times, &self.probe.transfers);
        let forward = scenario.flows[0].path[0];
        let wires = (0..self.links.len()).map(|link| match plan.stations.is_empty() {
            true => result.wire_counts[usize::from(link != forward)],
            false => None,
        });
        let vars = (0..self.links.len())
            .map(|link| [&BUILTIN_VARS, tables::law_vars(scenario, plan, link)].concat());
        Ok(Outcome {
            uses: uses.collect(),
            vars: vars.collect(),
            counts: tables::flow_counts(result, fates, &active),
            wire_losses: wires.map(|wire| Some((wire?.offered, wire?.lost))).collect(),
            flow_samples: tables::flow_rows(plan, result),
            flow_states: tables::flow_state_rows(plan, result),
            bins: self.bins.map(|bins| bins.into_rows(&self.probe.links)).unwrap_or_default(),
            events: self.events,
            probe: self.probe,
        })
    }

    /// Adds the delays of datagrams and the transfers, finished or not, from the logs of the
    /// traffic programs.
    fn add_program_log(&mut self, plan: &Plan, result: &RunResult) {
        for delay in &result.log.one_way {
            if tables::is_counted(Time::from_nanos(delay.at_ns), plan) {
                let class = self.class_of[delay.flow as usize];
                self.probe.classes[class].one_way.add(delay.delay_ns);
            }
        }
        for class in &self.class_of {
            self.probe.classes[*class].unfinished.get_or_insert_default();
        }
        for row in &result.log.unfinished {
            if tables::is_counted(Time::from_nanos(row.start_ns), plan) {
                let class = self.class_of[row.flow as usize];
                let unfinished = &mut self.probe.classes[class].unfinished;
                unfinished.get_or_insert_default().add(row.seen_ns);
            }
        }
        for row in &result.log.transfers {
            let completion = Span::from_nanos(row.completion_ns);
            let start = Time::from_nanos(row.start_ns);
            let (flow, bytes) = (row.flow, row.bytes);
            self.probe.transfers.push(TransferRow { flow, start, bytes, completion });
            if tables::is_counted(start, plan) {
                let class = self.class_of[flow as usize];
                self.probe.classes[class].completion.add(row.completion_ns);
            }
        }
    }
}

/// Transmits, on the links until `at`, the packets that have left their queues.
fn carry(links: &mut [ObservedLink], probe: &mut Probe, at: Time) {
    for (index, link) in links.iter_mut().enumerate() {
        link.carry(at, probe, index);
    }
}

/// Arrivals and departures in order of time. At the same time, departures come first, as in the
/// simulator, except that no packet leaves before it arrives.
fn events(records: &[PacketRecord]) -> Vec<(Time, RecordEvent, usize)> {
    let mut events = Vec::with_capacity(2 * records.len());
    for (index, record) in records.iter().enumerate() {
        events.push((record.arrived, RecordEvent::Arrives, index));
        events.extend(record.left.map(|left| (left, RecordEvent::Leaves, index)));
    }
    events.sort_by_key(|&(at, event, index)| {
        let leaves_at_once = records[index].left == Some(records[index].arrived);
        let order = if leaves_at_once { RecordEvent::Arrives } else { event };
        (at, order, index, event == RecordEvent::Leaves)
    });
    events
}

/// The index of the link that each flow's packets pass, forward and back. A flow without a reverse
/// link leaves no record there.
pub(super) fn link_of(scenario: &Resolved, plan: &Plan) -> Vec<[usize; 2]> {
    let links = |flow: &Flow| {
        let group = &scenario.flows[flow.group];
        [group.path[0], group.reverse.first().copied().unwrap_or(group.path[0])]
    };
    plan.flows.iter().map(links).collect()
}

/// The links whose laws are sampled, in sampling order, with their state variables.
fn sampled(scenario: &Resolved, plan: &Plan) -> Vec<(usize, usize)> {
    let links = plan.router_links().map(|link| usize::from(link.index));
    links.map(|link| (link, tables::law_vars(scenario, plan, link).len())).collect()
}

/// The index of each flow's class.
pub(super) fn class_of(scenario: &Resolved, plan: &Plan) -> Vec<usize> {
    let names = scenario.classes();
    let index = |class: &String| names.iter().position(|name| name == class);
    let of_flow = plan.flows.iter().map(|flow| index(&scenario.flows[flow.group].class));
    of_flow.map(|class| class.expect("every class is listed")).collect()
}
