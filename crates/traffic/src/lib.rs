//! Traffic models: what the users of a network transfer, and when. The simulator carries these
//! transfers over its own transport, the traffic programs of real hosts over sockets.
//!
//! Nothing here sends a packet or reads a clock: the host passes the time in and performs the
//! returned actions. Randomness comes from the host's streams, so two hosts with the same streams
//! transfer the same files, frames and pages.

#![warn(unreachable_pub)]

mod custom_app;
mod datagrams;
mod player;
mod tcp_profiles;
mod transfers;
mod web_user;

pub use custom_app::{AppFactory, ConfiguredApp, CustomApp, CustomApps};
pub use datagrams::{DatagramSource, UDP_HEADER_BYTES};
pub use player::Player;
pub use tcp_profiles::{TCP_PROFILES, TcpProfile, tcp_profile};
pub use transfers::{FinishedTransfer, TransferPlan};
pub use web_user::{Fetch, WebUser};
