//! The end of a bin of the per-bin time series.

use sojourn_aqm::Time;
use sojourn_measure::bins::Totals;

use super::World;

impl World {
    /// Ends a bin. An incomplete bin at the end of a run is not recorded.
    pub(super) fn end_bin(&mut self, now: Time) {
        if now < self.end {
            self.path.settle(now, &mut self.probe);
        }
        let Some(mut bins) = self.bins.take() else { return };
        let delivered: Vec<u64> =
            self.flows.iter().map(|flow| flow.ends.delivered_bytes()).collect();
        let class_of: Vec<usize> = self.flows.iter().map(|flow| flow.class as usize).collect();
        let reserves: Vec<_> = self.path.links().iter().map(|link| link.reserve(now)).collect();
        bins.end(
            now,
            Totals {
                delivered: &delivered,
                class_of: &class_of,
                classes: self.probe.classes.len(),
                // A bin ends after all other events of the same instant; the run ends before them.
                includes_end: now < self.end,
                links: &mut self.probe.links,
                reserves: &reserves,
                utilisations: &self.utilisations,
            },
        );
        self.set_alarm(self.binner_slot(), bins.over_at());
        self.bins = Some(bins);
    }
}
