//! The table of flows: hash buckets, each a tree ordered by key.
//!
//! Source: Linux 7.2 `sch_fq.c`, `fq_classify` and `fq_gc`. A lookup forgets those flows on its
//! path that have been inactive for 3 s.

use alloc::vec::Vec;

use super::flow::{Flow, NONE, State};
use super::trees::Trees;

/// Linux include/linux/hash.h, `GOLDEN_RATIO_64`.
const GOLDEN_RATIO: u64 = 0x61c8_8646_80b5_83eb;
/// Seconds without a packet after which a flow may be forgotten (`FQ_GC_AGE`).
const FORGET_AFTER_SECS: u64 = 3;

/// When a lookup may forget flows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forgetting {
    /// The maximum number of flows per lookup.
    pub(super) most: usize,
    /// Whether to forget only if there are many flows, most of them inactive.
    pub(super) only_if_crowded: bool,
    /// Jiffies per second.
    pub(super) hz: u64,
}

/// The flows by number, and the trees in which they are found.
#[derive(Debug)]
pub(super) struct FlowTable {
    pub(super) flows: Vec<Flow>,
    pub(super) trees: Trees,
    free: Vec<u32>,
    /// Flows to forget; empty between calls.
    stale: Vec<u32>,
    forgetting: Forgetting,
    /// Flows in the table.
    pub(super) count: usize,
    /// Flows without packets; with `kernel=linux-5.10`, flows in no list.
    pub(super) inactive: usize,
}

impl FlowTable {
    pub(super) fn new(buckets: usize, forgetting: Forgetting) -> FlowTable {
        FlowTable {
            flows: Vec::new(),
            trees: Trees::new(buckets),
            free: Vec::new(),
            stale: Vec::new(),
            forgetting,
            count: 0,
            inactive: 0,
        }
    }

    pub(super) fn flow(&mut self, index: u32) -> &mut Flow {
        &mut self.flows[index as usize]
    }

    /// The flow of a key; a new flow gets these credits.
    pub(super) fn find_or_add(&mut self, key: u64, jiffies: u64, credits: i64) -> u32 {
        let bits = self.trees.buckets().ilog2();
        let bucket = (key.wrapping_mul(GOLDEN_RATIO) >> (64 - bits)) as usize;
        self.forget_on_the_way(bucket, key, jiffies);
        let (mut parent, mut at) = (NONE, self.trees.root(bucket));
        while at != NONE {
            if self.trees.key(at) == key {
                return at;
            }
            (parent, at) = (at, self.trees.child(at, key));
        }
        let index = self.place(Flow::new(jiffies, credits));
        self.trees.insert(bucket, parent, key, index);
        self.count += 1;
        self.inactive += 1;
        index
    }

    fn place(&mut self, flow: Flow) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.flows[index as usize] = flow;
                index
            }
            None => {
                self.flows.push(flow);
                // Room for every flow, so that forgetting one allocates nothing.
                self.free.reserve(self.flows.capacity());
                self.flows.len() as u32 - 1
            }
        }
    }

    fn forget_on_the_way(&mut self, bucket: usize, key: u64, jiffies: u64) {
        let Forgetting { most, only_if_crowded, hz } = self.forgetting;
        let is_crowded = self.count >= 2 * self.trees.buckets() && self.inactive > self.count / 2;
        if only_if_crowded && !is_crowded {
            return;
        }
        let mut at = self.trees.root(bucket);
        while at != NONE && self.trees.key(at) != key && self.stale.len() < most {
            let flow = &self.flows[at as usize];
            let is_old =
                |since: u64| jiffies > since.saturating_add(hz.saturating_mul(FORGET_AFTER_SECS));
            if matches!(flow.state, State::Detached { since } if is_old(since)) {
                self.stale.push(at);
            }
            at = self.trees.child(at, key);
        }
        while let Some(index) = self.stale.pop() {
            self.forget(bucket, index);
        }
    }

    fn forget(&mut self, bucket: usize, index: u32) {
        self.trees.remove(bucket, index);
        self.free.push(index);
        self.count -= 1;
        self.inactive -= 1;
    }
}
