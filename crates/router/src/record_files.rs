//! What a run leaves in its folder: `result.json`, the record of packets, and last the status.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chronicle::Counts;
use crate::wire::WireCounts;

/// The file with the plan, which is there before.
pub const PLAN: &str = "plan.json";
/// The file with [`RunResult`].
pub const RESULT: &str = "result.json";
/// The file with [`crate::seen::Passage`]s, for a bottleneck in the kernel.
pub const PASSAGES: &str = "passages.bin";
/// The file with [`crate::seen::Story`]s, for our router.
pub const STORIES: &str = "stories.bin";
/// The file with [`crate::seen::Sighting`]s beside the senders.
pub const BESIDE_SENDERS: &str = "senders.bin";
/// The file with [`crate::seen::Sighting`]s at the receivers.
pub const AT_RECEIVERS: &str = "receivers.bin";
/// The file that says how the run ended; without it, it did not.
pub const STATUS: &str = "status.json";
/// The file with the scenario's time so far, nanoseconds.
pub const PROGRESS: &str = "progress";

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Status {
    /// Whether all results are there.
    pub ok: bool,
    /// If not: why.
    pub failure: String,
}

/// One flow at one sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// The flow.
    pub flow: u32,
    /// When, nanoseconds.
    pub at_ns: u64,
    /// Delivered to the receiver's application.
    pub delivered_bytes: u64,
    /// What the kernel says of its connections.
    pub account: Account,
}

/// The kernel's account of a flow's connections (`tcp_info`), added up; the round-trip time is that of
/// the last one added, as in the simulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Account {
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Payload sent again.
    pub retransmitted_bytes: u64,
    /// Payload believed to be in the network.
    pub inflight_bytes: u64,
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Delivered with a mark.
    pub ce_bytes: u64,
    /// Smoothed round-trip time, microseconds.
    pub srtt_us: u32,
    /// Slow start threshold in segments, and state of the congestion control, of the last one.
    pub ssthresh: u32,
    /// 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub state: u8,
}

/// What a flow has achieved: the same counts as in the simulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Count {
    /// Bytes delivered to the receiver's application.
    pub delivered_bytes: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams received.
    pub received: u64,
}

/// A finished transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Transfer {
    /// The flow.
    pub flow: u32,
    /// When it was asked for, nanoseconds.
    pub start_ns: u64,
    /// Its size.
    pub bytes: u64,
    /// Until the last byte had arrived, nanoseconds.
    pub completion_ns: u64,
}

/// The delay of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OneWay {
    /// The flow.
    pub flow: u32,
    /// When it arrived, nanoseconds.
    pub at_ns: u64,
    /// How long it was under way, nanoseconds.
    pub delay_ns: u64,
}

/// What the programs write down.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Diary {
    /// Finished transfers.
    pub transfers: Vec<Transfer>,
    /// Delays of datagrams.
    pub one_way: Vec<OneWay>,
}

/// What programs, kernel and clock have to say.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// What each flow had achieved at the end of the warm-up.
    pub at_warmup: Vec<Count>,
    /// The same at the end.
    pub counts: Vec<Count>,
    /// Samples of flows.
    pub samples: Vec<Sample>,
    /// Samples of the laws of our routers one after the other, each variable by its bits: JSON has no NaN.
    pub law: Vec<Vec<u64>>,
    /// Bytes that each flow had delivered when each bin was over.
    pub bins: Vec<Vec<u64>>,
    /// Transfers and delays.
    pub diary: Diary,
    /// Connections that ended before they should.
    pub broken: Vec<String>,
    /// Offloads that could not be switched off.
    pub offloads: Vec<String>,
    /// All disciplines as `tc` shows them, after set-up and at the end.
    pub before: Value,
    /// At the end.
    pub after: Value,
    /// Packets that the recorders had no room for.
    pub recorder_lost: u64,
    /// What our routers counted, the forward one first.
    pub streets: Vec<Counts>,
    /// What the wires behind the links counted, forward and back, where they lose packets or delay them
    /// unevenly.
    pub wires: [Option<WireCounts>; 2],
    /// How late the loop was at worst, nanoseconds.
    pub latest_ns: u64,
}
