//! Links, as written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

use super::algorithm::AlgorithmSpec;
use super::algorithm_schema;
use super::capacity::Capacity;
use super::framing::{LinkCells, is_zero, no_bytes};
use super::quantities::{BufferText, RateText, SizeText};
use super::scheduler::Scheduler;
use super::wire::{Corrupt, Delay, Duplicate, Jitter, Loss, Reorder};

/// A link in one direction: a queue, a transmitter, a wire.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// How fast the link sends: a rate, a `schedule` of rates, a token `bucket`, a `trace` recorded
    /// on a real link, or `wireless`: a transmitter of a wireless LAN. Needed without `template`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Capacity>,
    /// A link after published values, instead of `rate` and other keys that it sets:
    /// `starlink:direction=up,seed=2`, `lte:handover=60s`, `5g:direction=up`, `docsis:rate=20mbit`,
    /// `gpon:onus=16`, `xgpon`, `vdsl:rate=50mbit`, `adsl:rate=8mbit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Propagation delay, or a `schedule` of delays. The base RTT of flows is that at the smallest.
    #[serde(default)]
    pub delay: Delay,
    /// Bytes of framing added to every packet. Rates, limits and AQMs count them. Linux counts
    /// `14B` on Ethernet; an Ethernet frame occupies `38B` more than its packet.
    #[serde(default = "no_bytes")]
    pub framing: SizeText,
    /// Least size of a framed packet, counted by rates, limits and AQMs (`mpu` of tc's `stab`).
    #[serde(default = "no_bytes", skip_serializing_if = "is_zero")]
    pub mpu: SizeText,
    /// Cells that carry the framed packets, counted by rates, limits and AQMs: `atm` sends 53 bytes
    /// for every 48 (`linklayer atm` of tc's `stab`), `ptm` one more for every 64.
    #[serde(default, skip_serializing_if = "LinkCells::is_none")]
    pub cells: LinkCells,
    /// The size of the queue, which becomes its `limit`. `250ms` is the initial rate times this
    /// time, and `1bdp` that times the largest `rtt` of the flows through the link. The default is
    /// the queue's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferText>,
    /// The AQM: a text such as `pie@linux:target=5ms`, or a table with `kind`, `dialect` and any of
    /// its parameters.
    #[serde(default = "tail_drop")]
    #[schemars(schema_with = "algorithm_schema::queue")]
    pub queue: AlgorithmSpec,
    /// Classes with a queue each, and how they share the link: a table of kind `htb`, `hfsc`,
    /// `prio` or `ets`. A packet's DSCP chooses its class. `queue` and `buffer` are then those of
    /// each class that has no queue itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<Scheduler>,
    /// A policer in front of the queue, such as `{ rate = "10mbit", burst = "20kB" }`: drops
    /// arrivals above a rate (`police` of tc with `conform-exceed drop`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policer: Option<Policer>,
    /// The device below the queue, such as `{ bytes = "1514B" }`. Without it, the queue hands down
    /// one packet at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// Extra delay of each packet on the wire, such as `{ kind = "uniform", max = "5ms" }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// Random loss on the wire, such as `{ kind = "bernoulli", rate = 0.01 }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// Random copies of arriving packets, such as `{ rate = 0.01 }`. A copy enters the link, queue
    /// included, with its packet, and the link does not copy it again (`duplicate` of netem).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<Duplicate>,
    /// Packets that skip the delay of the wire and so overtake others, such as
    /// `{ rate = 0.25, gap = 5 }` (`reorder` of netem).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// Packets damaged on the wire, such as `{ rate = 0.001 }`. The receiver drops them by their
    /// checksum (`corrupt` of netem); they count as lost on this wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<Corrupt>,
    /// Whether the wire clears the ECN field of every packet, marks included (ECN bleaching).
    #[serde(default)]
    pub ecn_bleaching: bool,
}

/// A policer in front of a queue: it drops every packet for which its token bucket lacks tokens
/// (Linux `act_police.c`), and all packets above 2040 B, as tc sets it up.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policer {
    /// Rate at which tokens arrive.
    pub rate: RateText,
    /// Depth of the bucket, full at the start.
    pub burst: SizeText,
}

/// The transmit ring of a network device below the queue. The queue no longer counts the packets in
/// it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// A packet is handed down while the device holds at most this many bytes, including the packet
    /// being sent (the rule of Linux's byte queue limits). With `1514B` two frames of 1514 B fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<SizeText>,
    /// An alternative to `bytes`: a packet is handed down while the device holds fewer than this
    /// many packets, including the packet being sent (the rule of a ring of descriptors).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub packets: Option<u32>,
    /// Bytes that the line adds to every packet on top of the `framing` that the queue counts. With
    /// `framing = "14B"`, `24B` makes up the 38 B that Ethernet occupies.
    #[serde(default = "no_bytes")]
    pub overhead: SizeText,
}

/// A link that has a rate, its own or a template's.
struct Complete(Link);

impl<'de> Deserialize<'de> for Complete {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let link = Link::deserialize(deserializer)?;
        match link.rate.is_none() && link.template.is_none() {
            true => Err(de::Error::missing_field("rate")),
            false => Ok(Complete(link)),
        }
    }
}

/// Reads links by name; the error for a link without a rate gives the link's place.
pub(super) fn complete<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Link>, D::Error> {
    let links = BTreeMap::<String, Complete>::deserialize(deserializer)?;
    Ok(links.into_iter().map(|(name, Complete(link))| (name, link)).collect())
}

fn tail_drop() -> AlgorithmSpec {
    AlgorithmSpec::Text("taildrop".to_owned())
}
