//! TCP endpoints: sender, receiver, and the rules that profiles are made of.

pub mod accecn;
pub mod accecn_option;
mod cwnd_reduction;
mod delayed_ack;
mod delivery_rate;
mod ecn_ability;
mod initial_window;
mod memory;
pub mod negotiation;
mod pacing;
mod pipe;
pub mod profile;
mod prr;
mod ranges;
mod rate_halving;
mod receive_buffer;
pub mod receive_window;
pub mod receiver;
mod recent_stamp;
mod reordering;
pub(crate) mod rtt;
pub mod rules;
mod sack_blocks;
mod scoreboard;
pub mod sender;
mod timer_wheel;
mod waiting_buffers;

pub use profile::Profile;
pub use receiver::{Answer, Receiver};
pub use sender::{Segments, Sender};
