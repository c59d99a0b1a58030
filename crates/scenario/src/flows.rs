//! Flows as they are written: who talks, over which path, with which application.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::apps::App;
use crate::choice::Choice;
use crate::paths::Access;
use crate::schema;
use crate::text::{RateText, SizeText, SpanText, StartText};

/// A number of flows that are alike but for their random streams.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowGroup {
    /// Name of the group; without it the kind of its application, numbered where that is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The traffic class that summaries pool the group under; without it the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// How many flows.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub count: u32,
    /// Names of the links from sender to receiver.
    #[schemars(length(min = 1))]
    pub path: Vec<String>,
    /// Names of the links from receiver to sender. Without them ACKs return over a wire that never
    /// queues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reverse: Vec<String>,
    /// Base round-trip time: the sum of all propagation delays. What the links do not account for
    /// is shared between the access links of both ends. It may be left out where `access` says how
    /// much each side delays. Written like `100ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<SpanText>,
    /// The delays of the access links, side by side, such as `{ sender = "201ms", receiver = "1ms" }`,
    /// and their rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Rate of each sender's own access link; without it ten times the fastest initial rate on the
    /// path. Written like `100mbit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_rate: Option<RateText>,
    /// TCP: the rules that both ends follow: `linux` (modern), `linux-fq` (the same, paced),
    /// `linux-2.6`, `newreno`, `sack`, or those of a paper: `madpie`, `codel-act`, `pi2-ns3`,
    /// `pie-ns2`, `kids-3.8`. `sojourn explain linux-2.6` tells the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "linux"))]
    pub tcp: Option<String>,
    /// TCP: the congestion control, a name, a text such as `cubic:hystart=false`, or a table with
    /// `kind` and its parameters. Without it that of the `tcp` profile, `cubic` for `linux`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::congestion_control")]
    pub cc: Option<Choice>,
    /// Whether ECN is negotiated (TCP, RFC 3168), or datagrams are sent as ECN-capable.
    #[serde(default)]
    pub ecn: bool,
    /// TCP: size of a full segment at IP level, headers included. Without it that of the `tcp` profile,
    /// `1500B` for `linux`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1500B"))]
    pub packet: Option<SizeText>,
    /// TCP: size of the IP and TCP headers, and so of a pure ACK. Without it that of the `tcp` profile:
    /// `52B` for `linux`, IPv4 and TCP with timestamps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "52B"))]
    pub header: Option<SizeText>,
    /// TCP: initial window in packets, if not that of the `tcp` profile (`linux`: 10, RFC 6928).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub initial_window: Option<u32>,
    /// TCP: packets that one ACK covers at most: 2 with delayed ACKs, 1 without. If not written, as the
    /// `tcp` profile has it (`linux`: 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub ack_every: Option<u32>,
    /// TCP: the window that the receiver offers; without it the receiver is never the limit. Written
    /// like `128kB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<SizeText>,
    /// TCP: whether that window starts with 64 kB and grows with what arrives, as in Linux; then
    /// `receive_window` is where it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autotuning: Option<bool>,
    /// When the flows start: `0s`, or each at a random time within `0s..1s`.
    #[serde(default = "at_once")]
    pub start: StartText,
    /// When their applications stop, if before the end. Written like `30s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<SpanText>,
    /// What the flows carry.
    pub app: App,
}

impl FlowGroup {
    /// The keys that were written and mean something to TCP only.
    pub(crate) fn tcp_keys(&self) -> impl Iterator<Item = &'static str> {
        let keys = [
            ("tcp", self.tcp.is_some()),
            ("cc", self.cc.is_some()),
            ("packet", self.packet.is_some()),
            ("header", self.header.is_some()),
            ("initial_window", self.initial_window.is_some()),
            ("ack_every", self.ack_every.is_some()),
            ("receive_window", self.receive_window.is_some()),
            ("autotuning", self.autotuning.is_some()),
        ];
        keys.into_iter().filter(|&(_, written)| written).map(|(key, _)| key)
    }
}

fn one() -> u32 {
    1
}

fn at_once() -> StartText {
    StartText(crate::text::Start {
        earliest: sojourn_aqm::Span::ZERO,
        latest: sojourn_aqm::Span::ZERO,
    })
}
