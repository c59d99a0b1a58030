//! The hosts between which CAKE is fair.

use alloc::vec;
use alloc::vec::Vec;

use super::ways::Ways;
use crate::rng::Rng;

/// The places of a queue's two hosts, packed into one word because each turn compares both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct HostPair(u64);

impl HostPair {
    pub(super) fn new(source: u32, destination: u32) -> HostPair {
        HostPair(u64::from(source) << 32 | u64::from(destination))
    }

    pub(super) fn source(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub(super) fn destination(self) -> u32 {
        self.0 as u32
    }
}

/// The flows' shares per turn, which depend on the load of their hosts.
#[derive(Debug)]
pub(super) struct Shares {
    pub(super) quantum: u64,
    pub(super) sources: Hosts,
    pub(super) destinations: Hosts,
}

impl Shares {
    /// Shares of a quantum in bytes.
    pub(super) fn new(quantum: u64, sources: Hosts, destinations: Hosts) -> Shares {
        Shares { quantum, sources, destinations }
    }

    /// Adds `more` to the number of bulk queues of both hosts.
    pub(super) fn count_bulk(&mut self, hosts: HostPair, more: i32) {
        self.sources.count_bulk(hosts.source(), more);
        self.destinations.count_bulk(hosts.destination(), more);
    }

    /// A flow's share of the quantum.
    pub(super) fn of(&self, hosts: HostPair) -> Share {
        let loads =
            [self.sources.load(hosts.source()), self.destinations.load(hosts.destination())];
        let load = loads[0].max(loads[1]).max(1);
        Share::of(self.quantum * u64::from(65_535 / load))
    }
}

/// A share of the quantum, to be rounded at random.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    bytes: i64,
    /// The fraction, in units of 2^-64 byte.
    rest: u64,
}

impl Share {
    /// A share from a number of 1/65,536 bytes.
    pub(super) fn of(exact: u64) -> Share {
        Share { bytes: (exact >> 16) as i64, rest: exact << 48 }
    }

    /// The share rounded to bytes (Linux 6.1 sch_cake.c, cake_get_flow_quantum). The kernel adds 16
    /// random bits to the exact share and truncates: the carry of the sum gives the extra byte.
    #[inline]
    pub(super) fn rounded(self, rng: &mut Rng) -> i64 {
        self.bytes + i64::from(self.rest.overflowing_add(rng.next_u64()).1)
    }
}

/// Hosts of one side.
#[derive(Debug)]
pub(super) struct Hosts {
    ways: Ways,
    /// Number of bulk queues, by place of the host.
    bulk: Vec<u32>,
    counts_for_fairness: bool,
}

impl Hosts {
    /// Hosts without queues.
    pub(super) fn new(places: usize, counts_for_fairness: bool) -> Hosts {
        Hosts { ways: Ways::new(places), bulk: vec![0; places], counts_for_fairness }
    }

    /// The place of a host, by its hash.
    pub(super) fn place(&mut self, hash: u64) -> u32 {
        self.ways.place(hash, |place| self.bulk[place] == 0).index as u32
    }

    fn count_bulk(&mut self, place: u32, more: i32) {
        let bulk = &mut self.bulk[place as usize];
        *bulk = bulk.checked_add_signed(more).expect("a bulk queue has been counted");
    }

    /// The number by which the quantum of this host's flows is divided.
    pub(super) fn load(&self, place: u32) -> u32 {
        if self.counts_for_fairness { self.bulk[place as usize] } else { 0 }
    }
}
