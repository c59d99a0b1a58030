//! The plan of a live router, as plain data; it is part of the manifest.

use serde::{Deserialize, Serialize};

use crate::laws::PlannedLaw;
use crate::plan::{RouterLinkPlan, WirePlan};

/// Addresses of the near and the far end, from the shared address space (RFC 6598), which sites do
/// not use internally.
pub const ADDRESSES: [&str; 2] = ["100.64.0.1", "100.64.0.2"];
/// Their IPv6 addresses: unique local ones (RFC 4193), which are not routed on the Internet.
pub const IPV6_ADDRESSES: [&str; 2] = ["fd00:6440::1", "fd00:6440::2"];
/// The smallest MTU of a link with IPv6 (RFC 8200 §5).
pub const LEAST_IPV6_MTU: u32 = 1280;
/// Names of the interfaces at both ends.
pub const INTERFACES: [&str; 2] = ["sojourn-near", "sojourn-far"];

/// One path through the router.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PathPlan {
    /// `forward` or `reverse`.
    pub name: String,
    /// Its queue and rate; `None`: the path only delays packets.
    pub link: Option<RouterLinkPlan>,
    /// Its delay, nanoseconds.
    pub delay_ns: u64,
    /// Loss, jitter and changes of the delay behind the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<WirePlan>,
}

/// The network namespace of an end of the router.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndNetns {
    /// A new one.
    New,
    /// The namespace in which the router was started.
    Host,
    /// An existing one, by its file.
    Join(String),
}

/// The task of the router.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LivePlan {
    /// Seed of every random stream.
    pub seed: u64,
    /// How long it runs, in nanoseconds; `None`: until the near command or the user ends it.
    pub duration_ns: Option<u64>,
    /// Forward and reverse.
    pub paths: [PathPlan; 2],
    /// Near and far end.
    pub ends: [EndNetns; 2],
    /// The commands at the near and the far end: a program and its arguments, or nothing.
    pub commands: [Vec<String>; 2],
    /// How long the router spins before a packet is due, in nanoseconds.
    pub spin_ns: u64,
    /// Lateness of a packet that makes the run invalid, in nanoseconds.
    pub stall_ns: u64,
    /// Largest IP packet, bytes.
    pub mtu_bytes: u32,
    /// Whether every packet gets a row.
    pub packets: bool,
    /// Whether every drop and mark gets a row, with the AQM's state before it.
    pub signals: bool,
    /// The laws in its queues that are not in the registry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub laws: Vec<PlannedLaw>,
    /// Sentences about the parts of a scenario that the router uses and ignores.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}
