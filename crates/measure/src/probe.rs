//! The probe, which receives every fate and sample of a run.

use sojourn_aqm::Time;
use sojourn_record::rows::{StateRow, StreamRow, TransferRow};
use sojourn_scenario::resolved::Link;

use crate::{ClassStats, Digest, Leaves, LinkProbe, LinkStats, LinkTotals, Notes};

/// All records of an engine during a run.
#[derive(Debug)]
pub struct Probe {
    /// Indexed by link.
    pub links: Vec<LinkStats>,
    /// Indexed by class.
    pub classes: Vec<ClassStats>,
    /// Records per packet.
    pub notes: Notes,
    /// Rows of the table `states`, if wanted.
    pub states: Vec<StateRow>,
    /// Rows of the table `transfers`.
    pub transfers: Vec<TransferRow>,
    /// Rows of the table `streams`.
    pub streams: Vec<StreamRow>,
    /// Whether the warm-up is over.
    pub counting: bool,
}

impl Probe {
    /// A probe for a number of links and classes.
    pub fn new(links: usize, classes: usize, window: (Time, Time)) -> Probe {
        Probe {
            links: (0..links).map(|place| LinkStats::new(place as u32, window)).collect(),
            classes: vec![ClassStats::default(); classes],
            notes: Notes { evidence_vars: vec![&[]; links], ..Notes::default() },
            states: Vec::new(),
            transfers: Vec::new(),
            streams: Vec::new(),
            counting: false,
        }
    }

    /// Counts the leaf classes of links that have a scheduler.
    pub fn count_leaves(&mut self, links: &[Link]) {
        for (stats, link) in self.links.iter_mut().zip(links) {
            stats.leaves = Leaves::of(link, stats.window.0);
        }
    }

    /// The receiver of events at one link at the current time. Without `NOTES`, nothing is recorded
    /// per packet, and whether records are wanted is not even checked.
    #[inline]
    pub fn at_link<const NOTES: bool>(&mut self, now: Time, link: usize) -> LinkProbe<'_, NOTES> {
        LinkProbe { now, stats: &mut self.links[link], notes: &mut self.notes }
    }

    /// Ends the warm-up: summaries count from now on. `totals` are those of each link.
    pub fn end_warmup(&mut self, totals: impl IntoIterator<Item = LinkTotals>) {
        self.counting = true;
        for (link, totals) in self.links.iter_mut().zip(totals) {
            link.at_warmup = totals;
        }
    }

    /// The fingerprint of the events at all links.
    pub fn digest(&self) -> u64 {
        Digest::of_all(self.links.iter().map(|link| link.digest))
    }

    /// The totals of each link at `at`, if no link has a token bucket.
    pub fn totals(&self, at: Time) -> Vec<LinkTotals> {
        self.links.iter().map(|link| link.totals(at, None)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_beyond_65_536_have_their_own_place() {
        let probe = Probe::new(70_000, 0, (Time::ZERO, Time::ZERO));
        assert!(probe.links.iter().enumerate().all(|(place, link)| link.place as usize == place));
    }
}
