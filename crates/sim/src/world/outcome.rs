//! Collects the measurements at the end of the warm-up and of the run.

use sojourn_aqm::Time;
use sojourn_measure::activity::{self, FlowTimes};
use sojourn_measure::{BUILTIN_VARS, FlowCount, Outcome, ecn_share, exercise, summary};
use sojourn_record::Run;
use sojourn_scenario::Resolved;

use super::{DatagramEnds, FlowEnds, SimulatedFlow, World};
use crate::SimError;
use crate::app::endpoint::{EndpointFlow, LibraryFailure};

impl World {
    /// The results of a finished simulation.
    pub(crate) fn into_results(mut self, plan: &Resolved) -> Run {
        let connections = self.ecn_connections(plan);
        let mut remarks = std::mem::take(&mut self.remarks);
        remarks.extend(self.lost_connections(plan));
        let mut run = summary::collect(self.into_outcome(plan), plan);
        run.warnings.extend(remarks);
        ecn_share::add_to_summary(&mut run, &connections);
        exercise::warn(&mut run, plan);
        run
    }

    /// Returns the failure of a transport library as an error.
    pub(crate) fn check_libraries(&self) -> Result<(), SimError> {
        match self.failure.get() {
            Some(LibraryFailure { transport, sentence }) => {
                Err(SimError::invalid(&format!("endpoint[{transport}]"), sentence))
            }
            None => Ok(()),
        }
    }

    /// One warning for every connection of a library that ended before its flow did.
    fn lost_connections(&self, plan: &Resolved) -> Vec<String> {
        let of_flow = |flow: &SimulatedFlow| {
            let (at, why) = flow.ends.library()?.lost.as_ref()?;
            let name = &plan.flows[flow.group as usize].name;
            Some(format!("flows `{name}`: a connection was lost at {:.3} s: {why}", at.as_secs()))
        };
        self.flows.iter().filter_map(of_flow).collect()
    }

    /// Takes all records out of a finished simulation.
    fn into_outcome(mut self, plan: &Resolved) -> Outcome {
        // A link that defers its work reports signals late.
        self.probe.notes.signals.sort_by_key(|row| (row.t, row.queue));
        self.count_unfinished();
        self.add_unfinished_streams();
        self.count_frames();
        let totals = self.path.totals(self.end, &self.probe);
        let links = self.utilisations.iter().zip(&self.probe.links).zip(&totals);
        Outcome {
            uses: links.map(|((link, stats), end)| link.used(&stats.at_warmup, end)).collect(),
            wire_losses: self.path.wire_losses(),
            vars: self
                .path
                .links()
                .iter()
                .map(|link| [&BUILTIN_VARS, link.vars()].concat())
                .collect(),
            counts: self.counts(plan),
            flow_samples: self.flow_samples,
            flow_states: self.flow_states,
            bins: self.bins.map(|bins| bins.into_rows(&self.probe.links)).unwrap_or_default(),
            events: self.events,
            probe: self.probe,
        }
    }

    /// Ends the warm-up: summaries count from now on.
    pub(super) fn end_warmup(&mut self) {
        // Events at the end of the warm-up are counted.
        let before = Time::from_nanos(self.warmup.as_nanos().saturating_sub(1));
        self.path.settle(before, &mut self.probe);
        self.probe.end_warmup(self.path.totals(self.warmup, &self.probe));
        self.at_warmup = self.flows.iter().map(|flow| flow.ends.delivered_bytes()).collect();
        for (index, flow) in self.flows.iter_mut().enumerate() {
            let FlowEnds::Datagrams(ends) = &mut flow.ends else { continue };
            match &mut **ends {
                DatagramEnds::Source(flow) => {
                    let first = flow.count_from(self.warmup);
                    self.probe.notes.losses.count_from(index, first);
                    self.path.count_datagrams_from(index, first);
                }
                DatagramEnds::Library(flow) => flow.count_from(self.warmup),
            }
        }
        self.path.end_warmup();
    }

    /// The delivered data and other counts of each flow since the warm-up.
    fn counts(&self, plan: &Resolved) -> Vec<FlowCount> {
        let times = |(flow, &(start, stop)): (&SimulatedFlow, &(Time, Time))| {
            let last_arrival = flow.ends.source().map_or(Time::ZERO, |flow| flow.last_arrival);
            FlowTimes { start, stop, last_arrival }
        };
        let times: Vec<FlowTimes> = self.flows.iter().zip(&self.times).map(times).collect();
        let active = activity::active(plan, &times, &self.probe.transfers);
        let count = |index: usize| {
            let flow = &self.flows[index].ends;
            let delivered_bytes = flow.delivered_bytes() - self.at_warmup[index];
            let count =
                FlowCount { delivered_bytes, active: active[index], ..FlowCount::default() };
            match flow.source() {
                Some(flow) => FlowCount {
                    received: flow.received,
                    lost: self.probe.notes.losses.with(self.path.datagram_losses(), index),
                    ..count
                },
                None => {
                    let (received, lost) =
                        flow.library().map_or((0, 0), EndpointFlow::voice_counts);
                    FlowCount { received, lost, ..count }
                }
            }
        };
        (0..self.flows.len()).map(count).collect()
    }

    /// Counts the frames of video that were shown.
    fn count_frames(&mut self) {
        for (SimulatedFlow { ends, class, .. }, &(_, stop)) in
            self.flows.iter_mut().zip(&self.times)
        {
            let (FlowEnds::Datagrams(ends), end) = (ends, stop.min(self.end)) else { continue };
            let counts = match &mut **ends {
                DatagramEnds::Source(flow) => flow.take_frames(end),
                DatagramEnds::Library(flow) => flow.take_frames(end),
            };
            if let Some(counts) = counts {
                self.probe.classes[*class as usize].frames.add(&counts);
            }
        }
    }

    /// Records the streams of transport libraries that were incomplete at the end.
    fn add_unfinished_streams(&mut self) {
        let libraries = self.flows.iter().filter_map(|flow| flow.ends.library());
        let rows = libraries.flat_map(|library| library.unfinished_streams(self.end));
        self.probe.streams.extend(rows);
    }

    /// Counts transfers that were unfinished at the end, or cut off when their flow stopped.
    fn count_unfinished(&mut self) {
        for (SimulatedFlow { ends, class, .. }, &(_, stop)) in self.flows.iter().zip(&self.times) {
            let stats = &mut self.probe.classes[*class as usize];
            let unfinished = stats.unfinished.get_or_insert_default();
            let under_way = match ends {
                FlowEnds::Stream(stream) => stream.under_way(self.end),
                FlowEnds::Page(page) => page.under_way(self.end),
                FlowEnds::Datagrams(_) => {
                    let end = stop.min(self.end);
                    let start = ends.library().and_then(EndpointFlow::under_way_since);
                    start.map(|start| (start, end.since(start)))
                }
            };
            if let Some((_, elapsed)) = under_way.filter(|&(start, _)| start >= self.warmup) {
                unfinished.add(elapsed.as_nanos());
            }
        }
    }
}
