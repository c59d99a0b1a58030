//! Forwarding without devices or a clock: a link with its queue and the wire behind it, on top of
//! `sojourn-link`. The caller passes in packets with the time, and takes the packets that leave.

pub mod raw_packet;
pub mod recorder;
pub mod router_link;
pub mod wire;
