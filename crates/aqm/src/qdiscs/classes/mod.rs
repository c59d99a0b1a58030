//! Schedulers of classes: each leaf holds a queue under any AQM, and the scheduler decides which
//! leaf is next.
//!
//! [`Prio`] serves the first leaf that has a packet (Linux `sch_prio.c`). [`Htb`] gives each class
//! a rate and a ceiling, and lends what a class leaves unused (Linux `sch_htb.c`). [`Hfsc`] gives
//! each class service curves (Linux `sch_hfsc.c`). The DSCP of a packet chooses its leaf.

mod hfsc;
mod htb;
mod leaf;
mod prio;

pub use hfsc::{Hfsc, HfscNode, ServiceCurve};
pub use htb::{Htb, HtbNode, MOST_CLASSES, MOST_DEPTH, PRIORITIES};
pub use prio::Prio;

/// The number of differentiated services code points.
pub const CODE_POINTS: usize = 64;

#[cfg(test)]
mod tests;
