//! TCP endpoints, one file per concern.

pub mod accecn;
pub mod delayed_ack;
pub mod delivery_rate;
pub mod descent;
pub mod halving;
pub mod initial_window;
pub mod negotiation;
pub mod offer;
pub mod pacing;
pub mod pipe;
pub mod profile;
pub mod prr;
pub mod ranges;
pub mod receiver;
pub mod reordering;
pub mod rtt;
pub mod rules;
pub mod scoreboard;
pub mod sender;
pub mod wheel;

pub use profile::Profile;
pub use receiver::{Answer, Receiver};
pub use sender::{Segments, Sender};
