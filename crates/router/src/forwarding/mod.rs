//! Forwarding without devices and clock: a link with its queue and the wire behind it, on top of
//! `sojourn-link`. The caller passes packets in with the time, and takes those that leave.

pub mod raw_packet;
pub mod recorder;
pub mod router_link;
pub mod wire;
