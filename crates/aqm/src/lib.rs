//! Active queue management: the algorithms that keep queues short.
//!
//! There are two traits. A law, [`Aqm`], decides *when to signal* for one queue and never holds a
//! packet. A discipline, [`Qdisc`], holds the packets and decides *in which queue and order they
//! are sent, and which are evicted*. [`Fifo`](qdiscs::fifo::Fifo) turns any law into a discipline,
//! [`Fq`](qdiscs::fq::Fq) puts one under every flow queue.
//!
//! This crate has no clock, no I/O, no thread and no log: time ([`Time`]) and chance ([`Rng`]) are
//! arguments, and a [`Packet`] is any type that implements a few getters. It needs only `alloc`,
//! and computes with + - * / sqrt and `libm`, so the same seed gives the same bytes on every
//! machine.
//!
//! ```
//! use sojourn_aqm::{Backlog, Env, Limit, QdiscSpec, registry};
//!
//! let spec = QdiscSpec::parse("taildrop:limit=100p").unwrap();
//! assert_eq!(registry::settings(&spec).unwrap()[0].1, "100p");
//! ```
#![no_std]
#![warn(unreachable_pub)]
#![cfg_attr(
    not(feature = "registry"),
    allow(dead_code, unused_imports, reason = "the laws' parts")
)]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[cfg(feature = "registry")]
pub mod contract;
#[cfg(feature = "registry")]
pub mod custom;
mod effective;
pub mod framing;
pub mod law;
#[cfg(feature = "registry")]
pub mod laws;
pub mod packet;
pub mod params;
pub mod parts;
pub mod qdisc;
#[cfg(feature = "registry")]
pub mod qdiscs;
#[cfg(feature = "registry")]
pub mod registry;
pub mod rng;
#[cfg(all(test, feature = "registry"))]
mod testing;
pub mod time;
pub mod units;

#[cfg(feature = "registry")]
pub use custom::{CustomLaw, CustomLaws};
pub use effective::Effective;
pub use framing::{Cells, Framing, Packing};
pub use law::{Aqm, Cause, CauseClass, Env, Evidence, Law, Observable, Stage, Var, Verdict};
pub use packet::{Backlog, Ecn, Head, Packet, TcpSegment};
pub use params::SpecError;
pub use qdisc::{Departure, Qdisc, Scheme, Sink, Turn, TurnList};
#[cfg(feature = "registry")]
pub use registry::{Discipline, QdiscSpec};
pub use rng::{Outside, Rng};
pub use time::{Rate, Span, Time};
pub use units::Limit;

/// Re-exports from `alloc` that the macros need in other crates.
#[doc(hidden)]
pub mod __private {
    pub use alloc::format;
    pub use alloc::string::String;
}
