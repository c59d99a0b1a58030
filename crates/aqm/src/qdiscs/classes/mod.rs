//! Schedulers of classes: each leaf holds a queue under any AQM, and the scheduler decides which
//! leaf is next.
//!
//! [`Prio`] serves the first leaf with a packet (Linux `sch_prio.c`). [`Htb`] gives each class a
//! rate and a ceiling, and lends a class's unused rate to others (Linux `sch_htb.c`). [`Hfsc`]
//! gives each class service curves (Linux `sch_hfsc.c`). [`Ets`] has bands in strict priority and
//! bands that take turns (Linux `sch_ets.c`, `sch_drr.c`). The DSCP of a packet chooses its leaf.

mod ets;
mod hfsc;
mod htb;
mod leaf;
mod prio;

pub use ets::Ets;
pub use hfsc::{Hfsc, HfscNode, ServiceCurve};
pub use htb::{Htb, HtbNode, MOST_CLASSES, MOST_DEPTH, PRIORITIES};
pub use prio::Prio;

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::qdisc::Qdisc;

/// The number of differentiated services code points.
pub const CODE_POINTS: usize = 64;

/// Checks the classes of all DSCPs: each must be below `count`.
fn check_map(class_of: &[u8; CODE_POINTS], count: usize) {
    assert!(class_of.iter().all(|&class| usize::from(class) < count), "each DSCP has a class");
}

/// The leaves of a tree of `count` classes, by class, each built from its queue; `None` for a class
/// with children.
fn leaves<P, L>(
    count: usize,
    is_leaf: impl Fn(usize) -> bool,
    queues: Vec<Box<dyn Qdisc<P>>>,
    leaf: impl Fn(Box<dyn Qdisc<P>>) -> L,
) -> Vec<Option<L>> {
    assert!(count <= MOST_CLASSES, "the plan has been checked");
    let mut queues = queues.into_iter();
    let mut of = |class| is_leaf(class).then(|| leaf(queues.next().expect("one queue per leaf")));
    let leaves = (0..count).map(&mut of).collect();
    assert!(queues.next().is_none(), "one queue per leaf");
    leaves
}

#[cfg(test)]
mod tests;
