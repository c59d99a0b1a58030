//! The transport of flows over TCP, resolved.

use serde::{Deserialize, Serialize};

use crate::document::flows::{AccEcnOption, ReceiverEcn};

/// The transport of a TCP flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Tcp {
    /// The name of the profile, which sets the rules of both ends: `linux`, `newreno`. Engines
    /// define them.
    pub profile: String,
    /// The congestion control as text: `cubic`, `cubic:hystart=false`. Engines parse it. `None` is
    /// the profile's.
    pub cc: Option<String>,
    /// ECN, if the sender asks for it.
    pub ecn: Option<Ecn>,
    /// Payload of a full segment, bytes.
    pub payload_bytes: u32,
    /// IP and TCP headers of a data segment, bytes; also the size of a pure ACK.
    pub header_bytes: u32,
    /// Initial window in packets; `None` is the profile's.
    pub initial_window: Option<u32>,
    /// The most packets that one ACK covers; `None`: the profile's number.
    pub ack_every: Option<u32>,
    /// The receive window; `None` is a window that never limits the sender.
    pub receive_window: Option<ReceiveWindow>,
    /// The most bytes that the sender hands down at once; `None` sends every packet separately.
    pub offload_bytes: Option<u32>,
    /// Whether they reach queues as one packet.
    pub super_packets: bool,
}

/// The feedback of CE marks, if the sender asks for ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Ecn {
    /// Whether the sender asks for accurate feedback (AccECN, RFC 9768) even if its congestion
    /// control does not need it.
    pub accecn: bool,
    /// The most accurate feedback that the receiver grants.
    pub receiver: ReceiverEcn,
    /// When the receiver sends the AccECN option.
    pub option: AccEcnOption,
    /// Whether a retransmitted SYN no longer requests classic ECN; `None`: as in the profile.
    pub fallback: Option<bool>,
}

/// The receive window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReceiveWindow {
    /// Its maximum, in bytes of payload.
    pub bytes: u64,
    /// Whether the window starts small and grows with the data that arrives.
    pub autotuned: bool,
}
