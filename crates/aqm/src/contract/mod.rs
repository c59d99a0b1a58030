//! The contract of laws and disciplines as a program: a host that checks every promise, random
//! traffic for it, and [`examine`], which reports the promises that a law keeps. The tests of the
//! registry and `sojourn check` use the same code.

mod examine;
pub mod host;
pub mod traffic;
pub mod values;

pub use examine::{Finding, Subject, examine, repeats};
