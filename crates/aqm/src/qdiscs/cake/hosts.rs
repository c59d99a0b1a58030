//! The hosts between which CAKE is fair.

use alloc::vec;
use alloc::vec::Vec;

use super::ways::Ways;

/// Hosts of one side.
#[derive(Debug)]
pub(super) struct Hosts {
    ways: Ways,
    /// By place: queues that are bulk.
    pub(super) bulk: Vec<u32>,
    counts_for_fairness: bool,
}

impl Hosts {
    /// Hosts without queues.
    pub(super) fn new(places: usize, counts_for_fairness: bool) -> Hosts {
        Hosts { ways: Ways::new(places), bulk: vec![0; places], counts_for_fairness }
    }

    /// The place of a host, by its hash.
    pub(super) fn place(&mut self, hash: u64) -> usize {
        self.ways.place(hash, |place| self.bulk[place] == 0).index
    }

    /// The number by which the quantum of a flow of this host is divided.
    pub(super) fn load(&self, place: usize) -> u32 {
        if self.counts_for_fairness { self.bulk[place] } else { 0 }
    }
}
