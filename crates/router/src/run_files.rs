//! The files of a run: the plan, then `result.json` and the captures, and finally the status.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::forwarding::recorder::LinkCounts;
use crate::forwarding::wire::WireCounts;
use crate::plan::Plan;

/// The file with the plan, which exists before the run.
pub const PLAN: &str = "plan.json";
/// The file with [`RunResult`].
pub const RESULT: &str = "result.json";
/// The file with [`crate::captures::InterfaceCapture`]s, for a bottleneck in the kernel.
pub const INTERFACE_CAPTURES: &str = "router.bin";
/// The file with [`crate::captures::PacketRecord`]s, for our router.
pub const PACKET_RECORDS: &str = "packets.bin";
/// The file with the frames of a wireless LAN, for ns-3.
pub const FRAMES: &str = "frames.bin";
/// The file of the capture that counts what programs deliver; it has no rows.
pub const PROGRAM_CAPTURES: &str = "programs.bin";
/// The file with [`crate::captures::EndpointCapture`]s at the senders.
pub const SENDER_CAPTURES: &str = "senders.bin";
/// The file with [`crate::captures::EndpointCapture`]s at the receivers.
pub const RECEIVER_CAPTURES: &str = "receivers.bin";
/// The files with [`crate::captures::CapturedHeaders`], if captures are wanted: at the senders, at
/// the receivers, at the kernel's router, and at the links of our router or of ns-3.
pub const HEADERS: [&str; 4] =
    ["senders.headers", "receivers.headers", "router.headers", "links.headers"];
/// The file with [`SignalState`]s of our router's links, if captures are wanted.
pub const SIGNAL_STATES: &str = "signal-states.json";
/// The file with the outcome of the run; until it exists, the run has not ended.
pub const STATUS: &str = "status.json";
/// The kernel module with our AQMs, if the plan needs it; exists before the run.
pub const MODULE: &str = "sch_sojourn.ko";
/// The folder with the output of the user's programs: `INDEX.out` and `INDEX.err`.
pub const OUTPUTS: &str = "outputs";
/// The file with the simulated time reached so far, nanoseconds, and after a space the command of a
/// program that polls, if any.
pub const PROGRESS: &str = "progress";

/// The state of a law before a drop or mark.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SignalState {
    /// The index of the link.
    pub link: u16,
    /// The number of the packet among the link's arrivals.
    pub arrival: usize,
    /// The values as the bits of their `f64`, because JSON has no NaN.
    pub bits: Vec<u64>,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Status {
    /// Whether all results were written.
    pub ok: bool,
    /// The reason, if not.
    pub failure: String,
}

/// One flow at one sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FlowSample {
    /// The flow.
    pub flow: u32,
    /// When the sample was taken, in nanoseconds.
    pub at_ns: u64,
    /// Delivered to the receiver's application.
    pub delivered_bytes: u64,
    /// The kernel's report about its connections.
    #[serde(rename = "account")]
    pub tcp: TcpTotals,
}

/// The kernel's `tcp_info` of a flow's connections, added up; the RTT is that of the last one
/// added, as in the simulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TcpTotals {
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Payload retransmitted.
    pub retransmitted_bytes: u64,
    /// Payload in flight, by the sender's estimate.
    pub inflight_bytes: u64,
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Bytes delivered with a CE mark.
    pub ce_bytes: u64,
    /// Smoothed round-trip time, microseconds.
    pub srtt_us: u32,
    /// Slow start threshold of the last connection, segments.
    pub ssthresh: u32,
    /// State of the last connection: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub state: u8,
    /// Further values from the kernel; ns-3 does not report them.
    #[serde(default)]
    pub limits: Option<SenderLimits>,
}

/// What limits a flow's connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SenderLimits {
    /// Microseconds during which data was outstanding or unsent, and the parts of it in which only
    /// the receiver's window, and only the send buffer, held the sender back.
    pub times_us: [u64; 3],
    /// Pacing rate of the last connection, bytes per second.
    pub pacing_rate: u64,
    /// Smallest round-trip time of the last connection, microseconds.
    pub min_rtt_us: u32,
}

/// Counts of a traffic program, like the simulator's counts of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProgramCounts {
    /// Bytes delivered to the receiver's application.
    pub delivered_bytes: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams for which the socket had no room.
    pub refused: u64,
}

/// A finished transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Transfer {
    /// The flow.
    pub flow: u32,
    /// When it was requested, nanoseconds.
    pub start_ns: u64,
    /// Its size.
    pub bytes: u64,
    /// Time until the last byte arrived, nanoseconds.
    pub completion_ns: u64,
}

/// A transfer that did not finish.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unfinished {
    /// The flow.
    pub flow: u32,
    /// When it was requested, nanoseconds.
    pub start_ns: u64,
    /// How long it had been running at the end of the run or of the flow, in nanoseconds.
    pub seen_ns: u64,
}

/// The delay of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OneWay {
    /// The flow.
    pub flow: u32,
    /// The number of the datagram; datagrams that the socket refused get no number.
    pub number: u32,
    /// When it arrived, nanoseconds.
    pub at_ns: u64,
    /// Its one-way delay, nanoseconds.
    pub delay_ns: u64,
}

/// The log of the traffic programs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProgramLog {
    /// Finished transfers.
    pub transfers: Vec<Transfer>,
    /// Transfers that did not finish.
    pub unfinished: Vec<Unfinished>,
    /// Delays of datagrams.
    pub one_way: Vec<OneWay>,
}

/// The outcome of the user's programs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgramsReport {
    /// When the run ended, nanoseconds: with the last program, or with the plan.
    pub ended_ns: u64,
    /// The commands, in the order of the plan.
    pub commands: Vec<CommandReport>,
    /// Their flows, in order of appearance.
    pub flows: Vec<ProgramFlow>,
    /// Whether there were more flows than are numbered.
    pub has_more_flows: bool,
}

/// The outcome of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CommandReport {
    /// When it started, nanoseconds; `None` if the run ended before.
    pub start_ns: Option<u64>,
    /// When it ended by itself, nanoseconds; `None` if the end of the run stopped it.
    pub end_ns: Option<u64>,
    /// Its exit code, if it had one.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Bytes that it wrote to standard output and to standard error.
    pub written_bytes: [u64; 2],
}

/// A flow of the user's programs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgramFlow {
    /// The protocol's number.
    pub protocol: u8,
    /// Address and port in front of the link.
    pub server: ([u8; 4], u16),
    /// Address and port behind it.
    pub client: ([u8; 4], u16),
    /// When its first and its last packet were seen, nanoseconds.
    pub times_ns: Option<(u64, u64)>,
    /// Bytes delivered to the client, then to the server.
    pub delivered: [u64; 2],
    /// The congestion control of the end that sends more, if its sockets were sampled.
    #[serde(default)]
    pub cc: Option<String>,
}

/// The counters of the kernel's discipline at the bottleneck.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelCounters {
    /// When they were read, on the scenario's clock.
    pub at_ns: u64,
    /// Packets queued at that time.
    pub waiting: u64,
    /// Packets dropped until then.
    pub dropped: u64,
    /// Packets queued in each leaf of a scheduler.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_leaves: Vec<u64>,
}

/// Our kernel discipline's report about itself.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ModuleReport {
    /// The AQM in its text form.
    pub aqm: String,
    /// Drops by cause; causes that did not occur are left out.
    pub drops: BTreeMap<String, u64>,
    /// Marks by cause; causes that did not occur are left out.
    pub marks: BTreeMap<String, u64>,
    /// The state variables, as text.
    pub vars: BTreeMap<String, String>,
}

/// The results of traffic programs, kernel and clock.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// The counts of each flow at the end of the warm-up.
    pub at_warmup: Vec<ProgramCounts>,
    /// The counts of each flow at the end.
    pub counts: Vec<ProgramCounts>,
    /// Samples of flows.
    pub samples: Vec<FlowSample>,
    /// Samples of the state variables of our router's laws, forward link first, each as the bits of
    /// its `f64`, because JSON has no NaN.
    pub law_samples: Vec<Vec<u64>>,
    /// Bytes that each flow had delivered by the end of each bin.
    pub bins: Vec<Vec<u64>>,
    /// Transfers and delays.
    pub log: ProgramLog,
    /// For each flow: the number of connections established, and of those that negotiated ECN.
    pub ecn: Vec<(u32, u32)>,
    /// Connections that were aborted, one sentence each.
    pub broken: Vec<String>,
    /// Offloads that could not be switched off.
    pub offloads: Vec<String>,
    /// All disciplines as shown by `tc` after set-up.
    pub before: Value,
    /// All disciplines as shown by `tc` at the end.
    pub after: Value,
    /// Packets for which the capture sockets had no room.
    pub capture_lost: u64,
    /// The counters of the kernel's discipline at the bottleneck, at the end.
    pub kernel_counters: Option<KernelCounters>,
    /// The report of our discipline in the kernel, at the end.
    pub module: Option<ModuleReport>,
    /// The counts of our router's links, the forward one first.
    pub link_counts: Vec<LinkCounts>,
    /// The counts of the wires behind the links, forward and reverse, if they lose packets or delay
    /// them unevenly.
    pub wire_counts: [Option<WireCounts>; 2],
    /// The largest lateness of the event loop, nanoseconds.
    pub latest_ns: u64,
    /// The outcome of the user's programs.
    #[serde(default)]
    pub programs: Option<ProgramsReport>,
}

impl RunResult {
    /// The result before the run begins.
    pub fn new(plan: &Plan, offloads: Vec<String>, before: Value) -> RunResult {
        RunResult {
            at_warmup: vec![ProgramCounts::default(); plan.flows.len()],
            counts: Vec::new(),
            samples: Vec::new(),
            law_samples: Vec::new(),
            bins: Vec::new(),
            log: ProgramLog::default(),
            ecn: Vec::new(),
            broken: Vec::new(),
            offloads,
            before,
            after: Value::Null,
            capture_lost: 0,
            kernel_counters: None,
            module: None,
            link_counts: Vec::new(),
            wire_counts: [None, None],
            latest_ns: 0,
            programs: None,
        }
    }
}
