//! Shapes of networks, from which links and paths follow, as written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::links::Link;
use super::tagged::tagged;

/// A shape from which links and the paths of flows with a `route` follow, a table of kind
/// `parking-lot`, `star` or `fat-tree`. Links of other names may be added
/// in `links`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Topology {
    /// Links one behind the other. They are named `hop-1`, `hop-2` and so on, from node 1 to the
    /// last node, which has the number `hops` + 1.
    #[schemars(title = "ParkingLot")]
    ParkingLot(ParkingLot),
    /// Hosts around one switch. Host 1 sends over link `up-1` and receives over `down-1`.
    #[schemars(title = "Star")]
    Star(Star),
    /// A data centre's tree of three layers (Al-Fares, Loukissas and Vahdat 2008): as many pods as
    /// a switch has ports, each with half as many edge switches and half as many aggregation
    /// switches; each edge switch has half as many hosts. Hosts are numbered from 1, pod by pod,
    /// edge by edge. Links are `host-up-HOST`, `edge-up-POD-EDGE-AGGREGATION`,
    /// `core-up-POD-AGGREGATION-CORE`, and the same with `down`. Each flow takes one of the
    /// shortest paths, by a hash of its group's name, its hosts and its number; its ACKs take the
    /// same path back.
    #[schemars(title = "FatTree")]
    FatTree(FatTree),
}

/// Links one behind the other.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParkingLot {
    /// Number of links.
    #[schemars(range(min = 1, max = 100_000))]
    pub hops: u32,
    /// Whether there are links in the other direction too, `back-1` parallel to `hop-1` and so on,
    /// over which ACKs return. Without them, ACKs return over a wire without a queue.
    #[serde(default)]
    pub two_way: bool,
    /// Each of the links, with the keys of a link.
    pub link: Link,
    /// By name of a link, the keys in which it differs from the others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, Link>,
}

/// Hosts around one switch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// Number of hosts.
    #[schemars(range(min = 2, max = 10_000))]
    pub hosts: u32,
    /// Each of the links, with the keys of a link.
    pub link: Link,
    /// By name of a link, the keys in which it differs from the others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, Link>,
}

/// A data centre's tree of three layers of switches.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Number of ports of each switch, an even number; 4 ports give 16 hosts.
    #[schemars(range(min = 2, max = 32))]
    pub ports: u32,
    /// Each of the links, with the keys of a link.
    pub link: Link,
    /// By name of a link, the keys in which it differs from the others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, Link>,
}

tagged!(Topology, "a table with `kind`", {
    "parking-lot" => ParkingLot(ParkingLot),
    "star" => Star(Star),
    "fat-tree" => FatTree(FatTree)
});
