//! Groups of flows as written: path, delays, transport, application.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_aqm::Span;

use super::algorithm::AlgorithmSpec;
use super::algorithm_schema;
use super::apps::App;
use super::ip_fields::{DscpKey, EcnKey};
use super::quantities::{OffloadText, RateText, SizeText, SpanText, StartText, StartTimes};

/// TCP: the most accurate feedback of marks that the receiver grants: `none`, `classic` (RFC 3168)
/// or `accecn` (RFC 9768), which is the default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ReceiverEcn {
    /// The receiver does not support ECN.
    None,
    /// The receiver echoes marks until the sender has reduced its window (RFC 3168).
    Classic,
    /// The receiver counts marks (RFC 9768), or echoes them if the sender asks for that.
    #[default]
    AccEcn,
}

/// TCP: when the receiver sends the AccECN option: `always` (the default) whenever there is room,
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
    /// Never, as if a middlebox had removed it.
    Never,
}

/// Flows that differ only in their random streams.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowGroup {
    /// Name of the group. The default is the kind of its application, with a number if that name is
    /// taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The traffic class under which summaries pool the group. The default is the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Number of flows.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub count: u32,
    /// Names of the links from sender to receiver. Needed unless `route` is given.
    #[schemars(with = "Option<Vec<String>>", extend("minItems" = 1))]
    pub path: Vec<String>,
    /// With a `topology`, in place of `path` and `reverse`: `1 to last` (numbers of hosts, or of
    /// nodes of a parking lot), `all to 1`, or `each`. `each` is over every link of a parking lot,
    /// from every host of a star to the next one, and of a fat tree to the host half of the
    /// tree away. A route of several pairs or paths makes a group of `count` flows for each pair,
    /// named like `cross-1-2` and pooled in the class `cross`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    /// Names of the links from receiver to sender. Without them, ACKs return over a wire without a
    /// queue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reverse: Vec<String>,
    /// Base round-trip time, written like `100ms`: the sum of all propagation delays. The part that
    /// the links do not account for is shared between the access links of both ends. It may be left
    /// out if `access` gives the delays of both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<SpanText>,
    /// The delays of the access links, such as `{ sender = "201ms", receiver = "1ms" }`, and their
    /// rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Rate of each sender's access link, written like `100mbit`. The default is ten times the
    /// fastest initial rate on the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_rate: Option<RateText>,
    /// A transport other than the simulator's TCP: a name such as `quic`. The command line says
    /// which library it is, `--endpoint quic=quinn`, or Python's `endpoints=`. Each flow is one
    /// connection, in which files, chunks and the objects of pages are streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// TCP: the rules that both ends follow: `linux` (6.1), `linux-7.2`, the same two with pacing
    /// (`linux-fq`, `linux-7.2-fq`), `linux-2.6`, `newreno`, `sack`, `reno`, `tahoe`, or those of a
    /// paper: `madpie`, `codel-act`, `pi2-ns3`, `pie-ns2`, `kids-3.8`, `pie-3.5`. `sojourn explain
    /// linux-2.6` shows the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "linux"))]
    pub tcp: Option<String>,
    /// TCP: the congestion control: a name, a text such as `cubic:hystart=false`, or a table with
    /// `kind` and its parameters. The default is that of the `tcp` profile: `cubic` for `linux`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "algorithm_schema::congestion_control")]
    pub cc: Option<AlgorithmSpec>,
    /// Whether ECN is negotiated (TCP, RFC 3168), or datagrams are sent as ECN-capable. With the
    /// profiles of current Linux, `dctcp` and `prague` negotiate it in any case. For datagrams the
    /// code point may be written: `ect1` asks for the low-latency queue of L4S (RFC 9331), `ect0`
    /// is the same as `true`.
    #[serde(default)]
    pub ecn: EcnKey,
    /// Differentiated services code point of the packets, in both directions: a number from 0 to 63
    /// or a name such as `ef`, `cs5` or `nqb`. Captures show it, the kernel sees it, and CAKE's
    /// tins (`diffserv`) classify by it.
    #[serde(default, skip_serializing_if = "DscpKey::is_default")]
    pub dscp: DscpKey,
    /// TCP: whether the sender asks for accurate feedback of marks (AccECN, RFC 9768) even if its
    /// congestion control does not need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accecn: Option<bool>,
    /// TCP: the most accurate feedback of marks that the receiver grants: `none`, `classic` (RFC
    /// 3168) or `accecn` (RFC 9768), which is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_ecn: Option<ReceiverEcn>,
    /// TCP: when the receiver sends the AccECN option: `always` (the default) whenever there is
    /// room, `sparingly` (after changes, while marks arrive, and three times per round trip), or
    /// `never`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accecn_option: Option<AccEcnOption>,
    /// TCP: whether a retransmitted SYN no longer requests classic ECN, like Linux with
    /// `tcp_ecn_fallback` (RFC 3168 §6.1.1.1). The default is that of the `tcp` profile: `true` for
    /// `linux`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn_fallback: Option<bool>,
    /// TCP: size of a full segment at IP level, headers included. The default is that of the `tcp`
    /// profile: `1500B` for `linux`. With `transport`: the largest packet that the path carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1500B"))]
    pub packet: Option<SizeText>,
    /// TCP: size of the IP and TCP headers, which is also the size of a pure ACK. The default is
    /// that of the `tcp` profile: `52B` for `linux`, IPv4 and TCP with timestamps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "52B"))]
    pub header: Option<SizeText>,
    /// TCP: initial window in packets. The default is that of the `tcp` profile: 10 for `linux`
    /// (RFC 6928).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub initial_window: Option<u32>,
    /// TCP: the most packets that one ACK covers: 2 with delayed ACKs, 1 without. The default is
    /// that of the `tcp` profile: 2 for `linux`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub ack_every: Option<u32>,
    /// TCP: the window that the receiver offers, written like `128kB`. The default is that of the
    /// `tcp` profile: with `linux` the window grows with the data that arrives, to more than the
    /// path can hold; with the others the receiver is never the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<SizeText>,
    /// TCP: whether the receive window starts at 64 kB and grows with the data that arrives, as in
    /// Linux. `receive_window` is then its maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autotuning: Option<bool>,
    /// TCP: segmentation offload of the senders. `off`, the default, sends every packet separately.
    /// `tso:64kB` sets the most that TCP hands down at once, which leaves in a burst of packets;
    /// with `gso:64kB` it leaves as one super-packet, which `cake` and `dualpi2` split on arrival
    /// (unless `split_gso` is false), as does a token bucket too small for it. Other queues count
    /// it as one packet and drop or mark it whole; a receiver gets its segments together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "off"))]
    pub offload: Option<OffloadText>,
    /// When the flows start: `0s`, or each at a random time within `0s..1s`.
    #[serde(default = "at_once")]
    pub start: StartText,
    /// When their applications stop, if before the end of the run. Written like `30s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<SpanText>,
    /// Name of the host that sends. Groups with the same name share it, which matters where a queue
    /// shares a link between hosts, such as `cake`. By default every group has its own pair of
    /// hosts. Captures use separate addresses for every group in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub src_host: Option<String>,
    /// Name of the host that receives. A host that receives from one group and sends another has
    /// the same name in both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dst_host: Option<String>,
    /// What the flows carry.
    pub app: App,
}

/// The access links of a group of flows: the one between a sender and the first link of its path,
/// and the one between the last link and the receiver.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// One-way propagation delay on the sender's side.
    #[serde(default = "no_time")]
    pub sender: SpanText,
    /// One-way propagation delay on the receiver's side.
    #[serde(default = "no_time")]
    pub receiver: SpanText,
    /// Propagation delay on the sender's side, towards the sender. The default is the delay away
    /// from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_back: Option<SpanText>,
    /// Propagation delay on the receiver's side, away from the receiver. The default is the delay
    /// towards it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_back: Option<SpanText>,
    /// Rate of the links on the sender's side. Each sender has its own uplink; the group shares the
    /// downlink. Without this key, packets from a sender are serialised at `access_rate`, and
    /// packets to it take no serialisation time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_rate: Option<RateText>,
    /// Rate of the link on the receiver's side, in both directions; the group shares it. Without
    /// this key, packets take no serialisation time there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_rate: Option<RateText>,
}

impl FlowGroup {
    /// The TCP keys that the group sets.
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
