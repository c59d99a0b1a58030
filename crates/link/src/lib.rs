//! Links, generic over the packet: the simulator sends its own packet type through them, the
//! user-space router real packets.
//!
//! A [`Link`] is a queueing discipline and the [`Server`] that empties it. Behind it are an
//! [`Impairment`] (random loss, jitter) and a [`DelayLine`] (propagation). No part reads a clock or
//! keeps an event queue: each part says when it next needs a call, and the host makes the call
//! then.
//!
//! A [`LinkObserver`] receives the events of a link. The host reports arrivals itself, because it
//! may drop or mark a packet before it offers the packet to the link.

#![warn(unreachable_pub)]

mod correlated;
mod delay_line;
mod discipline;
mod duplication;
mod impairment;
mod line;
mod link;
mod netem_delay;
mod observer;
mod opportunities;
mod policer;
mod propagation;
mod queue;
mod serial_link;
mod server;
mod shaper;
#[cfg(not(target_arch = "wasm32"))]
mod slots;
mod token_bucket;
mod transmitter;
mod tx_ring;

pub use delay_line::DelayLine;
pub use discipline::discipline;
pub use duplication::Duplication;
pub use impairment::{Impairment, Impairs};
pub use line::Line;
pub use link::Link;
pub use observer::LinkObserver;
pub use opportunities::Opportunities;
pub use policer::Policer;
pub use propagation::Propagation;
pub use serial_link::SerialLink;
pub use server::Server;
pub use shaper::Shaper;
pub use token_bucket::{TokenBucket, TokenReserve};
pub use transmitter::Transmitter;
pub use tx_ring::TxRing;
