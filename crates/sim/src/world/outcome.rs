//! Collects the measurements at the end of the warm-up and of the run.

use sojourn_aqm::Time;
use sojourn_measure::activity::{self, FlowTimes};
use sojourn_measure::{BUILTIN_VARS, FlowCount, Outcome, ecn_share, exercise, summary};
use sojourn_record::Run;
use sojourn_scenario::Resolved;

use super::{FlowEnds, SimulatedFlow, World};

impl World {
    /// The results of a finished simulation.
    pub(crate) fn into_results(self, plan: &Resolved) -> Run {
        let connections = self.ecn_connections(plan);
        let mut run = summary::collect(self.into_outcome(plan), plan);
        ecn_share::add_to_summary(&mut run, &connections);
        exercise::warn(&mut run, plan);
        run
    }

    /// Takes all records out of a finished simulation.
    fn into_outcome(mut self, plan: &Resolved) -> Outcome {
        self.count_unfinished();
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
        // Events at the end of the warm-up count.
        let before = Time::from_nanos(self.warmup.as_nanos().saturating_sub(1));
        self.path.settle(before, &mut self.probe);
        self.probe.end_warmup(self.path.totals(self.warmup, &self.probe));
        self.at_warmup = self.flows.iter().map(|flow| flow.ends.delivered_bytes()).collect();
        for (index, flow) in self.flows.iter_mut().enumerate() {
            if let FlowEnds::Datagrams(flow) = &mut flow.ends {
                let first = flow.count_from_now();
                self.probe.notes.losses.count_from(index, first);
                self.path.count_datagrams_from(index, first);
            }
        }
        self.path.end_warmup();
    }

    /// The delivered data and other counts of each flow since the warm-up.
    fn counts(&self, plan: &Resolved) -> Vec<FlowCount> {
        let times = |(flow, &(start, stop)): (&SimulatedFlow, &(Time, Time))| {
            let last_arrival = match &flow.ends {
                FlowEnds::Datagrams(flow) => flow.last_arrival,
                FlowEnds::Stream(_) | FlowEnds::Page(_) => Time::ZERO,
            };
            FlowTimes { start, stop, last_arrival }
        };
        let times: Vec<FlowTimes> = self.flows.iter().zip(&self.times).map(times).collect();
        let active = activity::active(plan, &times, &self.probe.transfers);
        let count = |index: usize| {
            let flow = &self.flows[index].ends;
            let delivered_bytes = flow.delivered_bytes() - self.at_warmup[index];
            let count =
                FlowCount { delivered_bytes, active: active[index], ..FlowCount::default() };
            match flow {
                FlowEnds::Datagrams(flow) => FlowCount {
                    received: flow.received,
                    lost: self.probe.notes.losses.of(index) + self.path.datagram_losses().of(index),
                    ..count
                },
                FlowEnds::Stream(_) | FlowEnds::Page(_) => count,
            }
        };
        (0..self.flows.len()).map(count).collect()
    }

    /// Counts transfers unfinished at the end, or cut off when their flow stopped.
    fn count_unfinished(&mut self) {
        for SimulatedFlow { ends, group, .. } in &self.flows {
            let stats = &mut self.probe.classes[self.class_of[*group as usize]];
            let unfinished = stats.unfinished.get_or_insert_default();
            let under_way = match ends {
                FlowEnds::Stream(stream) => stream.under_way(self.end),
                FlowEnds::Page(page) => page.under_way(self.end),
                FlowEnds::Datagrams(_) => None,
            };
            if let Some((_, elapsed)) = under_way.filter(|&(start, _)| start >= self.warmup) {
                unfinished.add(elapsed.as_nanos());
            }
        }
    }
}
