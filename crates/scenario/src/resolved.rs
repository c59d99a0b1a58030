//! The resolved scenario: every default filled in, every `2bdp` a number. Engines read only this.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sojourn_aqm::{Limit, QdiscSpec, Rate, Span, Time};

pub use crate::apps::Arrivals;
pub use crate::carried::{App, Datagrams, Recording, Shape, Sizes, Web};
pub use crate::engines::{LinuxBottleneck, LinuxEngine, LinuxPlace};
use crate::plain;
pub use crate::wlan::Cell;

/// A whole run.
#[derive(Clone, PartialEq, Debug)]
pub struct Resolved {
    /// Its name.
    pub name: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Simulated time.
    pub duration: Span,
    /// Time at the start that no summary counts; less than the duration.
    pub warmup: Span,
    /// What is recorded beside the summary.
    pub record: Record,
    /// The links; flows name them by their place in this list.
    pub links: Vec<Link>,
    /// The wireless LANs; links name them by their place in this list.
    pub wlans: Vec<Cell>,
    /// The groups of flows.
    pub flows: Vec<FlowGroup>,
    /// What the engine `linux` must know beside the rest.
    pub linux: LinuxEngine,
    /// What is legal but probably not meant, one sentence each.
    pub warnings: Vec<String>,
}

/// What is recorded beside the summary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// One row per packet per queue.
    pub packets: bool,
    /// One row per drop and mark, with the state of the AQM just before it.
    pub signals: bool,
    /// Samples of every flow.
    pub flows: bool,
    /// Samples of every queue.
    pub states: bool,
    /// Time between samples.
    pub sample: Span,
    /// Width of bins, if any are wanted.
    pub bins: Option<Span>,
    /// Distributions of RTT and one-way delay of data packets.
    pub latency: bool,
}

/// A link in one direction: queue, transmitter, wire.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// How fast it sends.
    pub capacity: Capacity,
    /// Propagation delay.
    pub delay: Span,
    /// Bytes of framing added to every packet; rates, limits and laws count them.
    pub framing_bytes: u32,
    /// The queue, its `limit` filled in from the scenario's `buffer`.
    pub queue: QdiscSpec,
    /// The limit of that queue.
    pub limit: Limit,
    /// Largest packet that any flow sends through it, framing included.
    pub mtu_bytes: u32,
    /// What waits below the queue.
    pub device: Option<Device>,
    /// Extra delay on the wire.
    pub jitter: Option<Jitter>,
    /// Random loss on the wire.
    pub loss: Option<Loss>,
}

/// A device below a queue. It takes a packet while it holds at most so many bytes, or fewer than so many
/// packets, the one being sent included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Device {
    /// The limit, bytes as the queue counts them.
    pub limit: Limit,
    /// Bytes that the line adds to what the queue counts.
    pub overhead_bytes: u32,
}

/// Extra delay of each packet on a wire.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Jitter {
    /// How it is distributed.
    pub extra: Extra,
    /// Whether packets may overtake each other.
    pub reorder: bool,
}

/// A distribution of extra delays.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Extra {
    /// Uniform from zero to this.
    Uniform(#[serde(with = "plain::span")] Span),
    /// Exponential with this mean.
    Exponential(#[serde(with = "plain::span")] Span),
    /// Log-normal.
    LogNormal {
        /// Its mean.
        #[serde(with = "plain::span")]
        mean: Span,
        /// Its standard deviation.
        #[serde(with = "plain::span")]
        deviation: Span,
    },
}

/// Random loss on a wire; all are probabilities from 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Loss {
    /// Each packet with this probability.
    Bernoulli(f64),
    /// Gilbert and Elliott's two states.
    GilbertElliott {
        /// From the good to the bad state, at each packet.
        enter: f64,
        /// From the bad to the good state, at each packet.
        leave: f64,
        /// Of loss in the bad state.
        bad: f64,
        /// Of loss in the good state.
        good: f64,
    },
}

/// How fast a link sends.
#[derive(Clone, PartialEq, Debug)]
pub enum Capacity {
    /// Always the same rate.
    Constant(Rate),
    /// Rates from given times on; the first entry is at time zero, times increase strictly. The packet
    /// in service finishes at its old rate.
    Schedule(Vec<(Time, Rate)>),
    /// A token bucket in front of a line.
    Bucket(Bucket),
    /// Delivery opportunities recorded on a real link.
    Trace(Arc<Trace>),
    /// What the other transmitters of a wireless LAN leave.
    Wireless {
        /// The LAN, by its place.
        wlan: usize,
        /// What a transmitter that is alone carries of packets of 1500 B.
        alone: Rate,
    },
}

impl Capacity {
    /// The rate at time zero; for a token bucket that of its tokens, for a trace its mean rate, for a
    /// wireless LAN that of a lone transmitter.
    pub fn initial_rate(&self) -> Rate {
        match self {
            Capacity::Constant(rate) => *rate,
            Capacity::Schedule(steps) => steps[0].1,
            Capacity::Bucket(bucket) => bucket.rate,
            Capacity::Trace(trace) => trace.mean_rate(),
            Capacity::Wireless { alone, .. } => *alone,
        }
    }
}

/// A token bucket in front of a line, full at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// Rate of the tokens.
    pub rate: Rate,
    /// Depth in bytes.
    pub burst_bytes: u64,
    /// Rate of the line; not below that of the tokens.
    pub line: Rate,
    /// Whether a packet may leave the bucket in debt.
    pub overdraft: bool,
}

/// A recorded link in Mahimahi's format: one line is the millisecond of one delivery opportunity. An
/// opportunity carries up to `opportunity_bytes`, spread over waiting packets; what it cannot carry is
/// lost; the trace repeats for ever with the period of its last timestamp.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// The file as the scenario names it.
    pub file: String,
    /// SHA-256 of the file's content, in hexadecimal.
    pub sha256: String,
    /// Milliseconds since the start, not decreasing; the last is positive.
    pub opportunities_ms: Vec<u32>,
    /// Bytes per opportunity.
    pub opportunity_bytes: u32,
}

impl Trace {
    /// The period after which it repeats.
    pub fn period(&self) -> Span {
        Span::from_millis(u64::from(self.opportunities_ms.last().copied().unwrap_or(0)))
    }

    /// The mean rate over one period.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.opportunities_ms.len() as u128 * u128::from(self.opportunity_bytes) * 8;
        let nanos = u128::from(self.period().as_nanos()).max(1);
        Rate::from_bps((bits * 1_000_000_000 / nanos).max(1) as u64)
    }
}

/// A number of flows that are alike but for their random streams.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowGroup {
    /// Its name, unique.
    pub name: String,
    /// The traffic class that summaries pool it under.
    pub class: String,
    /// How many flows.
    pub count: u32,
    /// Links from sender to receiver, by index.
    pub path: Vec<usize>,
    /// Links from receiver to sender, by index; empty: an uncongested wire.
    pub reverse: Vec<usize>,
    /// Rate of each sender's own access link.
    pub access_rate: Rate,
    /// Rate of the link back to the senders, which the group shares; without it none is waited for.
    pub sender_downlink: Option<Rate>,
    /// Rate of the link to and from the receivers, which the group shares; without it none is waited for.
    pub receiver_rate: Option<Rate>,
    /// Propagation delay from sender to the first link.
    pub access_delay: Span,
    /// Propagation delay from the last link to the receiver.
    pub egress_delay: Span,
    /// Propagation delay from receiver to the first reverse link (or to the sender, without one).
    pub return_delay: Span,
    /// Propagation delay from the last reverse link to the sender; zero without one.
    pub return_egress_delay: Span,
    /// Base round-trip time: the sum of all propagation delays.
    pub rtt: Span,
    /// When a flow starts: uniform between the two (equal: at that time).
    pub start: (Span, Span),
    /// When its application stops, if before the end.
    pub stop: Option<Span>,
    /// The application.
    pub app: App,
}

/// The transport of a TCP flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Tcp {
    /// The rules of both ends, by name: `linux`, `newreno`. The simulator knows them.
    pub profile: String,
    /// The congestion control, as text: `cubic`, `cubic:hystart=false`. The simulator reads it. If not
    /// written, the profile has one.
    pub cc: Option<String>,
    /// Whether ECN is negotiated (RFC 3168).
    pub ecn: bool,
    /// Payload of a full segment, bytes.
    pub payload_bytes: u32,
    /// IP and TCP headers of a data segment, bytes; also the size of a pure ACK.
    pub header_bytes: u32,
    /// Initial window in packets, if not the profile's.
    pub initial_window: Option<u32>,
    /// Packets that one ACK covers at most, if not as many as the profile says.
    pub ack_every: Option<u32>,
    /// What the receiver offers, if it is ever the limit.
    pub receive_window: Option<ReceiveWindow>,
}

/// The window that a receiver offers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReceiveWindow {
    /// At most, bytes of payload.
    pub bytes: u64,
    /// Whether it starts small and grows with what arrives.
    pub autotuned: bool,
}
