//! Groups of flows, as written: path, delays, transport, application.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_aqm::Span;

use super::algorithm::AlgorithmSpec;
use super::algorithm_schema;
use super::apps::App;
use super::quantities::{OffloadText, RateText, SizeText, SpanText, StartText, StartTimes};

/// TCP: the most accurate feedback of marks that the receiver grants: `none`, `classic` (RFC 3168)
/// or `accecn` (RFC 9768), the default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ReceiverEcn {
    /// The receiver does not support ECN.
    None,
    /// Marks are echoed until the sender has reduced (RFC 3168).
    Classic,
    /// Marks are counted (RFC 9768), or echoed where the sender asks for that.
    #[default]
    AccEcn,
}

/// TCP: when the receiver sends the AccECN option: `always` where there is room, the default,
/// `sparingly` (after changes, while marks arrive, and three times per round trip), or `never`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum AccEcnOption {
    /// On every acknowledgement that has room for it.
    #[default]
    Always,
    /// After a change, while marks arrive, and three times per round trip.
    Sparingly,
    /// Never, as if a middlebox removed it.
    Never,
}

/// Flows that differ in their random streams only.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowGroup {
    /// Name of the group; without it the kind of its application, numbered where that is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The traffic class that summaries pool the group under; without it the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Number of flows.
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
    /// is shared between the access links of both ends. It may be left out if `access` gives the
    /// delays of both sides. Written like `100ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<SpanText>,
    /// The delays of the access links, side by side, such as `{ sender = "201ms", receiver = "1ms"
    /// }`, and their rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Rate of each sender's own access link; without it ten times the fastest initial rate on the
    /// path. Written like `100mbit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_rate: Option<RateText>,
    /// TCP: the rules that both ends follow: `linux` (6.1), `linux-7.2`, the same two paced
    /// (`linux-fq`, `linux-7.2-fq`), `linux-2.6`, `newreno`, `sack`, `reno`, `tahoe`, or those of a
    /// paper: `madpie`, `codel-act`, `pi2-ns3`, `pie-ns2`, `kids-3.8`. `sojourn explain linux-2.6`
    /// shows the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "linux"))]
    pub tcp: Option<String>,
    /// TCP: the congestion control, a name, a text such as `cubic:hystart=false`, or a table with
    /// `kind` and its parameters. Without it that of the `tcp` profile, `cubic` for `linux`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "algorithm_schema::congestion_control")]
    pub cc: Option<AlgorithmSpec>,
    /// Whether ECN is negotiated (TCP, RFC 3168), or datagrams are sent as ECN-capable. With the
    /// profiles of today's Linux `dctcp` and `prague` negotiate it in any case.
    #[serde(default)]
    pub ecn: bool,
    /// TCP: whether the sender asks for accurate feedback of marks (AccECN, RFC 9768) even if its
    /// congestion control does not need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accecn: Option<bool>,
    /// TCP: the most accurate feedback of marks that the receiver grants: `none`, `classic`
    /// (RFC 3168) or `accecn` (RFC 9768), the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_ecn: Option<ReceiverEcn>,
    /// TCP: when the receiver sends the AccECN option: `always` where there is room, the default,
    /// `sparingly` (after changes, while marks arrive, and three times per round trip), or `never`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accecn_option: Option<AccEcnOption>,
    /// TCP: whether a SYN that is sent again no longer requests classic ECN, as Linux with
    /// `tcp_ecn_fallback` (RFC 3168 §6.1.1.1). Without it as the `tcp` profile: `true` for `linux`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn_fallback: Option<bool>,
    /// TCP: size of a full segment at IP level, headers included. Without it that of the `tcp`
    /// profile, `1500B` for `linux`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1500B"))]
    pub packet: Option<SizeText>,
    /// TCP: size of the IP and TCP headers, and so of a pure ACK. Without it that of the `tcp`
    /// profile: `52B` for `linux`, IPv4 and TCP with timestamps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "52B"))]
    pub header: Option<SizeText>,
    /// TCP: initial window in packets, if not that of the `tcp` profile (`linux`: 10, RFC 6928).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub initial_window: Option<u32>,
    /// TCP: packets that one ACK covers at most: 2 with delayed ACKs, 1 without. If not written, as
    /// the `tcp` profile has it (`linux`: 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub ack_every: Option<u32>,
    /// TCP: the window that the receiver offers, written like `128kB`. Without it that of the `tcp`
    /// profile: `linux` has one that grows with what arrives, to more than the path can hold; with
    /// the others the receiver is never the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<SizeText>,
    /// TCP: whether that window starts with 64 kB and grows with what arrives, as in Linux; then
    /// `receive_window` is where it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autotuning: Option<bool>,
    /// TCP: segmentation offload of the senders: `off`, the default, where every packet is sent for
    /// itself, or the most that TCP hands down at once, such as `tso:64kB`: it leaves in a burst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "off"))]
    pub offload: Option<OffloadText>,
    /// When the flows start: `0s`, or each at a random time within `0s..1s`.
    #[serde(default = "at_once")]
    pub start: StartText,
    /// When their applications stop, if before the end. Written like `30s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<SpanText>,
    /// What the flows carry.
    pub app: App,
}

/// The access links of a group of flows: between a sender and the first link of its path, and
/// between the last link and the receiver.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// One-way propagation delay on the sender's side.
    #[serde(default = "no_time")]
    pub sender: SpanText,
    /// One-way propagation delay on the receiver's side.
    #[serde(default = "no_time")]
    pub receiver: SpanText,
    /// Propagation delay on the sender's side on the way back. Without it that of the way there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_back: Option<SpanText>,
    /// Propagation delay on the receiver's side on the way back. Without it that of the way there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_back: Option<SpanText>,
    /// Rate of the links on the sender's side. Each sender has its uplink to itself, the way back
    /// is shared by the group. Without it, what senders send takes time at `access_rate`, and what
    /// they receive takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_rate: Option<RateText>,
    /// Rate of the link on the receiver's side, in both directions; the group shares it. Without it
    /// nothing takes time there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_rate: Option<RateText>,
}

impl FlowGroup {
    /// The keys that were written and belong to TCP.
    pub(crate) fn tcp_keys(&self) -> impl Iterator<Item = &'static str> {
        let keys = [
            ("tcp", self.tcp.is_some()),
            ("cc", self.cc.is_some()),
            ("accecn", self.accecn.is_some()),
            ("receiver_ecn", self.receiver_ecn.is_some()),
            ("accecn_option", self.accecn_option.is_some()),
            ("ecn_fallback", self.ecn_fallback.is_some()),
            ("packet", self.packet.is_some()),
            ("header", self.header.is_some()),
            ("initial_window", self.initial_window.is_some()),
            ("ack_every", self.ack_every.is_some()),
            ("receive_window", self.receive_window.is_some()),
            ("autotuning", self.autotuning.is_some()),
            ("offload", self.offload.is_some()),
        ];
        keys.into_iter().filter(|&(_, written)| written).map(|(key, _)| key)
    }
}

fn one() -> u32 {
    1
}

fn at_once() -> StartText {
    StartText(StartTimes { earliest: Span::ZERO, latest: Span::ZERO })
}

fn no_time() -> SpanText {
    SpanText(Span::ZERO)
}
