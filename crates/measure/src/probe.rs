//! The probe: every fate and sample of a run goes through it.

use sojourn_aqm::Time;
use sojourn_record::rows::{StateRow, TransferRow};

use crate::{ClassStats, Digest, LinkProbe, LinkStats, Notes};

/// Everything an engine writes down while it runs.
#[derive(Debug)]
pub struct Probe {
    /// By link.
    pub links: Vec<LinkStats>,
    /// By class.
    pub classes: Vec<ClassStats>,
    /// What is written down packet by packet.
    pub notes: Notes,
    /// Rows of the table `states`, if wanted.
    pub states: Vec<StateRow>,
    /// Rows of the table `transfers`.
    pub transfers: Vec<TransferRow>,
    /// The fingerprint.
    pub digest: Digest,
    /// Whether the warm-up is over.
    pub counting: bool,
}

impl Probe {
    /// A probe for a number of links and classes.
    pub fn new(links: usize, classes: usize, window: (Time, Time)) -> Probe {
        Probe {
            links: vec![LinkStats::new(window); links],
            classes: vec![ClassStats::default(); classes],
            notes: Notes { evidence_vars: vec![&[]; links], ..Notes::default() },
            states: Vec::new(),
            transfers: Vec::new(),
            digest: Digest::default(),
            counting: false,
        }
    }

    /// Takes reports of what happens at one link now. Without `NOTES` nothing is written down
    /// packet by packet, and nothing checks whether it should be.
    #[inline]
    pub fn at_link<const NOTES: bool>(&mut self, now: Time, link: usize) -> LinkProbe<'_, NOTES> {
        LinkProbe {
            now,
            link: link as u16,
            counting: self.counting,
            stats: &mut self.links[link],
            notes: &mut self.notes,
            digest: &mut self.digest,
        }
    }

    /// The warm-up is over: summaries count from here on.
    pub fn end_warmup(&mut self) {
        self.counting = true;
        for link in &mut self.links {
            link.at_warmup = link.total;
        }
    }
}
