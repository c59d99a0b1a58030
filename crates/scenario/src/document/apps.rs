//! Applications, as written: one table for each kind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_aqm::Span;

use super::quantities::{RateText, SizeText, SpanText};
use super::sizes::{Drawn, LogNormalSizes, Sizes};
use super::tagged::tagged;

/// The application of a flow: a table tagged by its `kind`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum App {
    /// Data over TCP, unlimited or of a given amount.
    #[schemars(title = "Bulk")]
    Bulk(Bulk),
    /// A user who fetches files over TCP, one after the other. Each file uses a new connection, and
    /// the user thinks between files.
    #[schemars(title = "Files")]
    Files(Files),
    /// Transfers over TCP that begin whether or not earlier ones have ended: one for each flow of
    /// the group.
    #[schemars(title = "Transfers")]
    Transfers(Transfers),
    /// A user who reads web pages over TCP: a main object, then its embedded objects over
    /// several connections.
    #[schemars(title = "Web")]
    Web(Web),
    /// A player that fetches video in chunks over TCP and picks each chunk's rate from a ladder.
    #[schemars(title = "Chunks")]
    Chunks(Chunks),
    /// Requests in datagrams at even intervals, which the receiver sends back: ping under load.
    #[schemars(title = "Echo")]
    Echo(Echo),
    /// Datagrams at a constant mean rate.
    #[schemars(title = "Cbr")]
    Cbr(Cbr),
    /// Voice calls in one direction, rated by the E-model: a packet every 20 ms.
    #[schemars(title = "Voice")]
    Voice(Voice),
    /// Datagrams at a constant rate during exponential on periods, with silence in between.
    #[schemars(title = "OnOff")]
    OnOff(OnOff),
    /// Bursts of datagrams at given times.
    #[schemars(title = "Bursts")]
    Bursts(Bursts),
    /// Video in datagrams: a frame of varying size at even intervals.
    #[schemars(title = "Video")]
    Video(Video),
    /// Datagrams as recorded in a file.
    #[schemars(title = "Replay")]
    Replay(Replay),
}

/// Data over TCP, unlimited or of a given amount.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bulk {
    /// How much to send, such as `1MB`; unlimited if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<SizeText>,
}

/// A user who fetches files over TCP, one after the other. Each file uses a new connection, and the
/// user thinks between files.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// The sizes of files: a list such as `["15kB", "44kB"]`, with equal probabilities, or a
    /// distribution.
    pub sizes: Sizes,
    /// Mean of the exponential time between the end of one file and the start of the next, such as
    /// `9.5s`.
    pub think: SpanText,
}

/// Transfers over TCP that begin whether or not earlier ones have ended: one for each flow of the
/// group. Their starts and sizes are drawn, or recorded in a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transfers {
    /// The sizes: a list such as `["15kB", "44kB"]`, with equal probabilities, or a distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// Mean time between the starts of two transfers, such as `50ms`. The first comes one such time
    /// after `start`; `count` is the number of transfers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<SpanText>,
    /// How the starts are spaced: exponentially (`poisson`, the default), with uniform gaps between
    /// 0.5 and 1.5 times the mean (`uniform`), or evenly (`constant`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "poisson"))]
    pub arrivals: Option<Arrivals>,
    /// Instead of the three: a file, relative to the scenario's folder. Each line is `time,bytes`,
    /// one transfer that begins that many seconds after `start`. Times must not decrease; a header
    /// line `time,bytes` is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Requests in datagrams at even intervals, which the receiver sends back with the same size and
/// ECN field: ping under load. Its flows have round-trip times and `round_trips_per_minute`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Echo {
    /// Time between requests, such as `200ms`.
    pub interval: SpanText,
    /// Size of a request, headers included.
    #[serde(default = "ping")]
    pub packet: SizeText,
}

/// Datagrams at a constant mean rate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cbr {
    /// Rate of each flow, headers included, such as `87kbit`.
    pub rate: RateText,
    /// Size of a datagram, headers included, such as `218B`.
    pub packet: SizeText,
    /// How the datagrams are spaced: evenly (`constant`), with uniform gaps between 0.5 and 1.5
    /// times the mean (`uniform`, like ns-2's `random_`), or exponentially (`poisson`).
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Whether the flows are voice calls, rated as G.711 with packet-loss concealment in packets of
    /// 20 ms.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub voice: bool,
}

/// Voice calls in one direction, rated by the E-model: a packet every 20 ms, without silence
/// suppression. RTP, UDP and IPv4 headers take 40 B of each packet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Voice {
    /// The codec: `g711` with packet-loss concealment (packets of 200 B), or `g729` (60 B).
    pub codec: CodecName,
}

/// A voice codec, as written in a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum CodecName {
    /// ITU-T G.711, 64 kbit/s, with the packet-loss concealment of its Appendix I.
    G711,
    /// ITU-T G.729 Annex A, 8 kbit/s.
    G729,
    /// Refused at resolution with the reason.
    #[schemars(skip)]
    Opus,
}

/// How datagrams are spaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Constant,
    /// Uniform gaps between 0.5 and 1.5 times the mean.
    Uniform,
    /// Exponential gaps: Poisson arrivals.
    Poisson,
}

/// Datagrams at a constant rate during exponential on periods, with silence in between.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Rate of each flow while it is on, headers included, such as `2mbit`.
    pub rate: RateText,
    /// Size of a datagram, headers included, such as `218B`.
    pub packet: SizeText,
    /// Mean length of on periods, such as `500ms`.
    pub on: SpanText,
    /// Mean length of off periods, such as `500ms`.
    pub off: SpanText,
}

/// A user who reads web pages over TCP: a main object, then its embedded objects over
/// several connections.
/// Defaults are those of ns-3's 3GPP model (ns-3.43, three-gpp-http-variables.cc).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Web {
    /// Size of the main object.
    #[serde(default = "main_object")]
    pub main: Sizes,
    /// Size of an embedded object.
    #[serde(default = "embedded_object")]
    pub object: Sizes,
    /// Number of embedded objects of every page. If left out, it is drawn for each page: a Pareto
    /// number of shape 1.1 between 2 and 55, minus 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<u32>,
    /// Number of parallel connections for embedded objects, at most 32. With `transport`: the most
    /// streams at a time, 100 if left out (RFC 9114 §6.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100), extend("default" = 6))]
    pub parallel: Option<u32>,
    /// Size of a request, headers included.
    #[serde(default = "request")]
    pub request: SizeText,
    /// Mean of the exponential time between the completion of a page and the request for the next.
    #[serde(default = "reading")]
    pub reading: SpanText,
    /// Mean of the exponential time between the main object and the requests for its embedded
    /// objects.
    #[serde(default = "parsing")]
    pub parsing: SpanText,
}

/// A player that fetches video in chunks over TCP and picks each chunk's rate from a ladder. It
/// starts with the lowest. Playback starts, and resumes after a stall, when a chunk has arrived.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chunks {
    /// Playing time of a chunk, such as `4s`.
    pub every: SpanText,
    /// The rates of the ladder, increasing, such as `["500kbit", "1mbit", "3mbit"]`.
    #[schemars(length(min = 1))]
    pub rates: Vec<RateText>,
    /// Playing time that the player buffers at most, such as `60s`: it fetches ahead while a chunk
    /// fits. Without it, a request follows `every` after the last, as in live video.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<SpanText>,
    /// How the player picks rates: the highest of at most 0.8 times the throughput of the previous
    /// chunk (`throughput`), or by the level of its `buffer` (`buffer`; BBA-0 of Huang et al. 2014,
    /// its 240 s scaled).
    #[serde(default)]
    pub adaptation: Adaptation,
}

/// How a player picks rates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Adaptation {
    /// By the throughput of the previous chunk.
    #[default]
    Throughput,
    /// By the level of the buffer.
    Buffer,
}

/// Bursts of datagrams at given times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// Rate during a burst, headers included, such as `25mbit`.
    pub rate: RateText,
    /// Size of a datagram, headers included, such as `1000B`.
    pub packet: SizeText,
    /// When the bursts begin, counted from the start of the flow, such as `["1s", "5s"]`.
    #[schemars(length(min = 1))]
    pub at: Vec<SpanText>,
    /// Duration of each burst, such as `100ms`.
    pub length: SpanText,
}

/// Video in datagrams: a frame of varying size at even intervals, sent at once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Video {
    /// Sizes of frames: a list, with equal probabilities, or a distribution. With `transport`: at
    /// the best quality; the library makes them smaller as its rate control demands.
    pub frames: Sizes,
    /// Time between frames, such as `40ms`.
    pub interval: SpanText,
    /// The largest datagram, headers included; a frame is split into as many as it needs.
    #[serde(default = "full_packet")]
    pub packet: SizeText,
}

/// Datagrams as recorded in a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// The file, relative to the scenario's folder. Each line is `time,bytes`, with the time in
    /// seconds since the start of the flow. Times must not decrease; a header line `time,bytes` is
    /// allowed.
    pub file: String,
    /// The largest datagram, headers included; a line's bytes are split into as many as they need.
    #[serde(default = "full_packet")]
    pub packet: SizeText,
}

tagged!(App, "a table with `kind`: bulk, files, transfers, web, chunks, echo, cbr, voice, onoff, \
              bursts, video or replay", {
    "bulk" => Bulk(Bulk),
    "files" => Files(Files),
    "transfers" => Transfers(Transfers),
    "web" => Web(Web),
    "chunks" => Chunks(Chunks),
    "echo" => Echo(Echo),
    "cbr" => Cbr(Cbr),
    "voice" => Voice(Voice),
    "onoff" => OnOff(OnOff),
    "bursts" => Bursts(Bursts),
    "video" => Video(Video),
    "replay" => Replay(Replay)
});

impl App {
    /// Its `kind`, as written.
    pub fn kind(&self) -> &'static str {
        match self {
            App::Bulk(_) => "bulk",
            App::Files(_) => "files",
            App::Transfers(_) => "transfers",
            App::Web(_) => "web",
            App::Chunks(_) => "chunks",
            App::Echo(_) => "echo",
            App::Cbr(_) => "cbr",
            App::Voice(_) => "voice",
            App::OnOff(_) => "onoff",
            App::Bursts(_) => "bursts",
            App::Video(_) => "video",
            App::Replay(_) => "replay",
        }
    }
}

/// Log-normal sizes of ns-3.43, three-gpp-http-variables.cc, in bytes, with its upper limit of 2
/// MB.
fn lognormal(mean: u64, deviation: u64, min: u64) -> Sizes {
    Sizes::Drawn(Drawn::LogNormal(LogNormalSizes {
        mean: SizeText(mean),
        deviation: SizeText(deviation),
        min: SizeText(min),
        max: SizeText(2_000_000),
    }))
}

fn main_object() -> Sizes {
    lognormal(10_710, 25_032, 100)
}

fn embedded_object() -> Sizes {
    lognormal(7_758, 126_168, 50)
}

fn request() -> SizeText {
    SizeText(328)
}

fn reading() -> SpanText {
    SpanText(Span::from_secs(30))
}

fn parsing() -> SpanText {
    SpanText(Span::from_millis(130))
}

/// What `ping` of iputils sends: 56 B of data, ICMP and IPv4 headers.
fn ping() -> SizeText {
    SizeText(84)
}

fn full_packet() -> SizeText {
    SizeText(1500)
}
