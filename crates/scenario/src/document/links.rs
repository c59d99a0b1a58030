//! Links, as written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_aqm::Span;

use super::algorithm::AlgorithmSpec;
use super::algorithm_schema;
use super::capacity::Capacity;
use super::quantities::{BufferText, SizeText, SpanText};
use super::wire::{Jitter, Loss};

/// A link in one direction: a queue, a transmitter, a wire.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// How fast it sends: a rate, a `schedule` of rates, a token `bucket`, a `trace` recorded on a
    /// real link, or `wireless`, as one transmitter of a wireless LAN.
    pub rate: Capacity,
    /// Propagation delay.
    #[serde(default = "no_time")]
    pub delay: SpanText,
    /// Bytes of framing added to every packet. Rates, limits and AQMs count them: `14B` is what
    /// Linux counts on Ethernet, `38B` what Ethernet occupies.
    #[serde(default = "no_bytes")]
    pub framing: SizeText,
    /// How much may wait: it becomes the `limit` of the queue. `1bdp` is the initial rate times the
    /// largest `rtt` of the flows through the link. Without it the queue has its own default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferText>,
    /// The AQM: a text such as `pie@linux:target=5ms`, or a table with `kind`, `dialect` and any of
    /// its parameters.
    #[serde(default = "tail_drop")]
    #[schemars(schema_with = "algorithm_schema::queue")]
    pub queue: AlgorithmSpec,
    /// The device below the queue, such as `{ bytes = "1514B" }`. Without it the queue hands down
    /// one packet at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// Extra delay of each packet on the wire, such as `{ kind = "uniform", max = "5ms" }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// Random loss on the wire, such as `{ kind = "bernoulli", rate = 0.01 }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// Whether the wire clears the ECN field of every packet, marks included (ECN bleaching).
    #[serde(default)]
    pub ecn_bleaching: bool,
}

/// The ring of a network device below the queue. The queue no longer counts the packets in it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// A packet is handed down while no more than this is in the device, the packet being sent
    /// included: the rule of Linux's byte queue limits. With `1514B` two frames of 1514 B fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<SizeText>,
    /// In place of `bytes`: a packet is handed down while fewer than these are in the device, the
    /// packet being sent included: the rule of a ring of descriptors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub packets: Option<u32>,
    /// Bytes that the line adds to every packet beyond the `framing` that the queue counts. With
    /// `framing = "14B"`, `24B` make the 38 B that Ethernet occupies.
    #[serde(default = "no_bytes")]
    pub overhead: SizeText,
}

fn no_time() -> SpanText {
    SpanText(Span::ZERO)
}

fn no_bytes() -> SizeText {
    SizeText(0)
}

fn tail_drop() -> AlgorithmSpec {
    AlgorithmSpec::Text("taildrop".to_owned())
}
