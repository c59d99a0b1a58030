//! The probe: every fate and sample of a run goes through it.

use sojourn_aqm::Time;
use sojourn_record::rows::{StateRow, TransferRow};

use crate::{ClassStats, Digest, LinkProbe, LinkStats, LinkTotals, Notes};

/// Everything an engine writes down while it runs.
#[derive(Debug)]
pub struct Probe {
    /// By link.
    pub links: Vec<LinkStats>,
    /// By class.
    pub classes: Vec<ClassStats>,
    /// Records per packet.
    pub notes: Notes,
    /// Rows of the table `states`, if wanted.
    pub states: Vec<StateRow>,
    /// Rows of the table `transfers`.
    pub transfers: Vec<TransferRow>,
    /// Whether the warm-up is over.
    pub counting: bool,
}

impl Probe {
    /// A probe for a number of links and classes.
    pub fn new(links: usize, classes: usize, window: (Time, Time)) -> Probe {
        Probe {
            links: (0..links).map(|place| LinkStats::new(place as u16, window)).collect(),
            classes: vec![ClassStats::default(); classes],
            notes: Notes { evidence_vars: vec![&[]; links], ..Notes::default() },
            states: Vec::new(),
            transfers: Vec::new(),
            counting: false,
        }
    }

    /// Takes reports of what happens at one link now. Without `NOTES` nothing is written down
    /// packet by packet, and nothing checks whether it should be.
    #[inline]
    pub fn at_link<const NOTES: bool>(&mut self, now: Time, link: usize) -> LinkProbe<'_, NOTES> {
        LinkProbe { now, stats: &mut self.links[link], notes: &mut self.notes }
    }

    /// The warm-up is over: summaries count from here on. `totals` are those of each link.
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

    /// The totals of each link at a time, none of which has a bucket.
    pub fn totals(&self, at: Time) -> Vec<LinkTotals> {
        self.links.iter().map(|link| link.totals(at, None)).collect()
    }
}
