//! The classes of the kernel's scheduler at the bottleneck.

use serde::{Deserialize, Serialize};

use super::{KernelQdisc, Plan};

/// A scheduler of the kernel with its classes, as netlink must report them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelClasses {
    /// The scheduler.
    pub scheduler: KernelQdisc,
    /// The classes with options, each with its number and that of its parent.
    pub classes: Vec<(u32, u32, KernelQdisc)>,
    /// The DSCPs that filters lead to a class, each with the class's number.
    pub filters: Vec<(u8, u32)>,
    /// The classes with a queue.
    pub leaves: Vec<KernelLeaf>,
    /// The index of each DSCP's leaf; `None` for packets that belong to no class.
    pub leaf_of: Vec<Option<usize>>,
}

/// A class with a queue.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelLeaf {
    /// The number of the class.
    pub class: u32,
    /// The handle of its queue.
    pub handle: u32,
    /// Its queue.
    pub qdisc: KernelQdisc,
    /// Whether the queue is created by netlink instead of tc.
    pub by_netlink: bool,
    /// Whether its queue drops at the head.
    pub drops_at_head: bool,
    /// Whether its queue's signals are random.
    pub is_random: bool,
}

impl Plan {
    /// The leaf in the kernel of packets with a DSCP, by index; `None` without classes.
    pub fn leaf_of(&self, dscp: u8) -> Option<usize> {
        *self.classes.as_ref()?.leaf_of.get(usize::from(dscp))?
    }

    /// Whether the kernel's queue of packets with a DSCP drops at its head, and whether its signals
    /// are random.
    pub fn signals_of(&self, dscp: u8) -> (bool, bool) {
        match (&self.classes, self.leaf_of(dscp)) {
            (Some(classes), Some(leaf)) => {
                let leaf = &classes.leaves[leaf];
                (leaf.drops_at_head, leaf.is_random)
            }
            _ => (self.drops_at_head, self.is_random),
        }
    }
}
