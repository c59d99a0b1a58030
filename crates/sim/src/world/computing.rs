//! Links that need no events: those to which nothing but the answers of one group comes, so that
//! their arrivals are known in their order as the receivers send them.
//!
//! What a link counts is read at certain times only: at the end of the warm-up, of a bin and of the
//! run, and when queues are sampled. What arrives before the next of them is worked out at once,
//! the rest stays on the wire until then.

use sojourn_aqm::{Span, Time};
use sojourn_scenario::Resolved;

use super::World;

/// What happens at the end of a bin, and when a queue is sampled, is read with it.
const MOMENT: Span = Span::from_nanos(1);

impl World {
    /// From now on, before the first event, departures from links are computed where that is
    /// possible. Nobody may record packets or signals, or replace queues.
    pub(crate) fn compute_links(&mut self, plan: &Resolved) {
        let ways = plan.flows.iter().flat_map(|group| group.path.iter().chain(&group.reverse));
        let mut feeders = vec![0; plan.links.len()];
        ways.for_each(|&link| feeders[link] += 1);
        for (place, group) in plan.flows.iter().enumerate() {
            let Some(&link) = group.reverse.first().filter(|&&link| feeders[link] == 1) else {
                continue;
            };
            // An impaired wire counts packets when they leave, by the time of leaving.
            let is_perfect = self.network.onward.impairments[link].is_none();
            if is_perfect && self.network.links[link].compute() {
                self.groups[place].computed = Some(link);
            }
        }
        self.network.computed_until = self.next_reading();
        self.network.serve_late();
    }

    /// When what links have counted is read next, where what happens from then on is not read yet.
    fn next_reading(&self) -> Time {
        let warmup = if self.network.probe.counting { Time::NEVER } else { self.warmup };
        let bins = self.bins.as_ref().map_or(Time::NEVER, |bins| bins.over_at() + MOMENT);
        let sampling = &self.sampling;
        let sample =
            if sampling.states { sampling.last + sampling.every + MOMENT } else { Time::NEVER };
        warmup.min(bins).min(sample).min(self.end)
    }

    /// What was read is read again later.
    pub(super) fn compute_to_next_reading(&mut self) {
        self.network.computed_until = self.next_reading();
        for group in 0..self.groups.len() {
            if let Some(link) = self.groups[group].computed {
                self.network.pass_answers(link, self.groups[group].back);
            }
        }
    }
}
