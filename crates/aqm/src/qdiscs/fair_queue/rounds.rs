//! The rounds of bands and, within each, of flows.
//!
//! Source: Linux 7.2 `sch_fq.c`, `fq_dequeue`. Before Linux 6.12 there was one band.

use super::flow::{Band, Flow, FlowList, NONE};
use super::params::BANDS;

/// A list of a band.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Age {
    New = 0,
    Old = 1,
}

/// The bands, and which of them is served.
#[derive(Debug)]
pub(super) struct Rounds {
    bands: [Band; BANDS],
    serving: usize,
    has_bands: bool,
}

impl Rounds {
    pub(super) fn new(weights: [u64; BANDS], has_bands: bool) -> Rounds {
        let lists = [FlowList::EMPTY; 2];
        let band = |weight: u64| Band { lists, credits: 0, quantum: weight as i64 };
        Rounds { bands: weights.map(band), serving: 0, has_bands }
    }

    /// Appends a flow to a list of its band.
    pub(super) fn append(&mut self, flows: &mut [Flow], index: u32, age: Age) {
        let flow = &mut flows[index as usize];
        flow.next = NONE;
        let band = if self.has_bands { usize::from(flow.band) } else { 0 };
        let list = &mut self.bands[band].lists[age as usize];
        match list.is_empty() {
            true => list.first = index,
            false => flows[list.last as usize].next = index,
        }
        list.last = index;
    }

    /// The flow to serve next, and its list; `None` if no flow is listed. Bands without credits are
    /// skipped and get new credits when their turn comes.
    pub(super) fn next(&mut self) -> Option<(Age, u32)> {
        let mut passed = 0;
        loop {
            if let Some(found) = self.head() {
                return Some(found);
            }
            if !self.has_bands || !self.next_band(&mut passed) {
                return None;
            }
        }
    }

    /// Turns to the next band with credits; returns whether there is one not yet seen empty.
    fn next_band(&mut self, passed: &mut usize) -> bool {
        loop {
            *passed += 1;
            if *passed > BANDS {
                return false;
            }
            self.serving = (self.serving + 1) % BANDS;
            let Band { credits, quantum, .. } = &mut self.bands[self.serving];
            *credits = (*credits + *quantum).min(*quantum);
            if *credits > 0 {
                return true;
            }
            *passed = 0;
        }
    }

    fn head(&self) -> Option<(Age, u32)> {
        let band = &self.bands[self.serving];
        if self.has_bands && band.credits <= 0 {
            return None;
        }
        let head = |age: Age| {
            let list = band.lists[age as usize];
            (!list.is_empty()).then_some((age, list.first))
        };
        head(Age::New).or_else(|| head(Age::Old))
    }

    /// Removes the head of a list of the band being served.
    pub(super) fn remove_head(&mut self, flows: &[Flow], age: Age) {
        let list = &mut self.bands[self.serving].lists[age as usize];
        list.first = flows[list.first as usize].next;
    }

    /// Whether the band being served has old flows.
    pub(super) fn has_old(&self) -> bool {
        !self.bands[self.serving].lists[Age::Old as usize].is_empty()
    }

    /// Charges the band being served for a packet.
    pub(super) fn charge(&mut self, bytes: u32) {
        self.bands[self.serving].credits -= i64::from(bytes);
    }
}
