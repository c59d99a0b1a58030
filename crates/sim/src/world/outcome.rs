//! What a world has measured when its run is over.

use sojourn_link::Impairment;
use sojourn_measure::{BUILTIN_VARS, Bins, Outcome};

use super::{FlowEnds, World};

impl World {
    /// Takes everything out of a world that has run.
    pub(crate) fn into_outcome(mut self) -> Outcome {
        self.count_unfinished();
        let window = (self.warmup, self.end);
        let links = self.utilisations.iter().zip(&self.probe.links);
        let used = links.map(|(link, stats)| link.used(&stats.counted(), stats.busy, window));
        let losses = self.impairments.iter();
        let counted =
            self.flows.iter().zip(&self.at_warmup).map(|(flow, then)| flow.count().since(*then));
        Outcome {
            utilisations: used.collect(),
            wire_losses: losses.map(|wire| wire.as_ref().map(Impairment::counted)).collect(),
            vars: self.links.iter().map(|link| [&BUILTIN_VARS, link.vars()].concat()).collect(),
            counts: counted.collect(),
            flow_samples: self.flow_samples,
            flow_states: self.flow_states,
            bins: self.bins.map(Bins::into_rows).unwrap_or_default(),
            events: self.events,
            probe: self.probe,
        }
    }

    /// Transfers still under way at the end, or cut off when their flow stopped.
    fn count_unfinished(&mut self) {
        for (flow, &group) in self.flows.iter().zip(&self.group_of) {
            let stats = &mut self.probe.classes[self.groups[group as usize].class];
            let unfinished = stats.unfinished.get_or_insert_default();
            let under_way = match flow {
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
