//! Forwarding without devices and clock: a link with its queue, a delay line, the wire behind a
//! link. The caller passes packets in with the time, and takes those that leave.

pub mod raw_packet;
pub mod recorder;
pub mod router_link;
pub mod wire;
