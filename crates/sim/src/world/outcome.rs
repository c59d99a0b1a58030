//! What a world has measured when its run is over.

use sojourn_link::Impairment;
use sojourn_measure::{BUILTIN_VARS, Bins, Outcome};

use super::World;

impl World {
    /// Takes everything out of a world that has run.
    pub(crate) fn into_outcome(self) -> Outcome {
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
}
