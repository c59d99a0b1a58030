//! The rows that an engine produces.

use sojourn_aqm::{Cause, CauseClass, Ecn, Span, Stage, Time, Var};

use crate::histogram::Histogram;

/// All data of one run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Queue names; rows refer to a queue by its index in this list.
    pub queues: Vec<String>,
    /// The state variables of each queue, by queue; rows refer to a variable by its index.
    pub vars: Vec<Vec<Var>>,
    /// Flow names; rows refer to a flow by its index in this list.
    pub flows: Vec<String>,
    /// The class of each flow.
    pub classes: Vec<String>,
    /// One packet at one queue.
    pub packets: Vec<PacketRow>,
    /// One drop or mark.
    pub signals: Vec<SignalRow>,
    /// The states before the signals, concatenated.
    pub evidence: Vec<f64>,
    /// The variables in a queue's evidence, by queue; empty for a queue without signals.
    pub evidence_vars: Vec<&'static [Var]>,
    /// One flow at one sample.
    pub flow_samples: Vec<FlowRow>,
    /// One variable of one queue at one sample.
    pub states: Vec<StateRow>,
    /// One variable of one flow's congestion control at one sample.
    pub flow_states: Vec<FlowStateRow>,
    /// One value of one bin of time.
    pub bins: Vec<BinRow>,
    /// The classes in the order of their first flow; bins refer to a class by its index.
    pub class_names: Vec<String>,
    /// One finished short transfer.
    pub transfers: Vec<TransferRow>,
    /// One stream of a flow over a transport library.
    pub streams: Vec<StreamRow>,
    /// One command of the user.
    pub programs: Vec<ProgramRow>,
    /// One flow of the user's programs.
    pub program_flows: Vec<ProgramFlowRow>,
    /// One number of the run.
    pub summary: Vec<SummaryRow>,
    /// Distributions, for quantiles and plots without per-packet rows.
    pub histograms: Vec<HistogramOf>,
    /// Sojourn times of dropped packets.
    pub drop_delays: Vec<DropDelaysOf>,
    /// Fingerprint of the stream of events.
    pub digest: u64,
    /// Packets through all queues.
    pub packets_handled: u64,
    /// Events handled.
    pub events: u64,
    /// Settings that are legal but probably mistakes.
    pub warnings: Vec<String>,
}

/// The fate of a packet at a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It left towards the link.
    Sent,
    /// It was dropped.
    Dropped(Stage, Cause),
    /// It was still queued when the run ended.
    Waiting,
}

impl Fate {
    /// The word used in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Fate::Sent => "sent",
            Fate::Dropped(..) => "dropped",
            Fate::Waiting => "waiting",
        }
    }
}

/// Table `packets`: one packet at one queue, in the order of their fates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketRow {
    /// The queue.
    pub queue: u32,
    /// The flow.
    pub flow: u32,
    /// Sequence number within the flow, in packets; for an ACK the number acknowledged.
    pub seq: u32,
    /// Size as accounted by the link.
    pub bytes: u32,
    /// When it arrived.
    pub arrived: Time,
    /// When it left or was dropped; `None` while it is queued.
    pub left: Option<Time>,
    /// Its fate.
    pub fate: Fate,
    /// The stage and cause of its mark here, if any.
    pub marked: Option<(Stage, Cause)>,
    /// Its ECN field on arrival.
    pub ecn_in: Ecn,
}

/// Table `signals`: one drop or mark at one queue, in chronological order, with the state of the
/// AQM just before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignalRow {
    /// The queue.
    pub queue: u32,
    /// When it was dropped or marked.
    pub t: Time,
    /// The flow.
    pub flow: u32,
    /// Sequence number within the flow, as in [`PacketRow`].
    pub seq: u32,
    /// Size as accounted by the link.
    pub bytes: u32,
    /// Its sojourn time at that moment.
    pub sojourn: Span,
    /// Whether it was marked (otherwise dropped).
    pub is_mark: bool,
    /// Whether a link made it as a copy; not in the table.
    pub is_copy: bool,
    /// The stage.
    pub stage: Stage,
    /// The cause.
    pub cause: Cause,
    /// The index in [`Run::evidence`] of its values, one for each of the queue's variables.
    pub evidence: usize,
}

/// Table `flows`: one flow at one sample. Bytes are payload; counts are totals since the start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowRow {
    /// The flow.
    pub flow: u32,
    /// The sample's time.
    pub t: Time,
    /// Bytes sent, including retransmissions.
    pub sent_bytes: u64,
    /// Payload delivered in order to the receiver's application.
    pub delivered_bytes: u64,
    /// Bytes retransmitted.
    pub retransmitted_bytes: u64,
    /// Bytes in flight, by the sender's estimate.
    pub inflight_bytes: u64,
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Smoothed round-trip time.
    pub srtt: Span,
    /// Bytes received with CE.
    pub ce_bytes: u64,
}

/// Table `states`: one variable of one queue at one sample, in long form.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StateRow {
    /// The queue.
    pub queue: u32,
    /// The sample's time.
    pub t: Time,
    /// The variable's index in [`Run::vars`].
    pub var: u16,
    /// Its value, in the variable's unit.
    pub value: f64,
}

/// Table `flow_states`: one variable of one flow at one sample, in long form: the state of its
/// sender (`ssthresh` in packets, infinite before the first reduction; `state`, 0 Open, 1 Disorder,
/// 2 Cwr, 3 Recovery, 4 Loss; `ecn_mode`, 0 none, 1 classic, 2 accurate; `ecn_capable`, 0 or 1;
/// `busy_time` and `rwnd_limited` in seconds), and the variables of its congestion control; of
/// datagrams since the last sample, mean `owd` (with echoes `rtt`) and `jitter` (mean difference of
/// consecutive delays) in seconds, and in all, those `missing` before the latest; for a transport
/// library, its `estimate` of the bandwidth in bit/s, if it has one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowStateRow {
    /// The flow.
    pub flow: u32,
    /// The sample's time.
    pub t: Time,
    /// The variable's name.
    pub var: &'static str,
    /// Its value, in the variable's unit.
    pub value: f64,
}

/// Table `bins`: one value of one of consecutive bins of time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BinRow {
    /// The kind of subject that the value describes.
    pub scope: Scope,
    /// The index of that queue, class or flow among its names.
    pub index: u32,
    /// When the bin began.
    pub t: Time,
    /// The metric: `goodput` of flows and classes; `throughput`, `utilisation`, `drop_rate`,
    /// `mark_rate` of queues (rates are relative to the arrivals in the bin, and missing without
    /// arrivals).
    pub metric: &'static str,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
}

/// Table `transfers`: one finished short transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransferRow {
    /// The flow.
    pub flow: u32,
    /// When the user requested it.
    pub start: Time,
    /// Its size.
    pub bytes: u64,
    /// Time until the last byte arrived.
    pub completion: Span,
}

/// Table `streams`: one request and response of a flow over a transport library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamRow {
    /// The flow.
    pub flow: u32,
    /// The number of the stream, from 0 in the order in which the flow opens them.
    pub stream: u64,
    /// When the user requested it.
    pub start: Time,
    /// Bytes of the response that have arrived.
    pub bytes: u64,
    /// Time until the last byte arrived, or until the end of the run or of the flow.
    pub duration: Span,
    /// Whether the last byte arrived.
    pub is_complete: bool,
}

/// Table `programs`: one command run by the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramRow {
    /// The host on which it ran.
    pub host: String,
    /// The text that the shell executed.
    pub command: String,
    /// When it started; `None` if the run ended earlier.
    pub start: Option<Time>,
    /// When it ended by itself; `None` if it was stopped with the run.
    pub end: Option<Time>,
    /// Its exit code, if it had one.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Table `program_flows`: one flow of the user's programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramFlowRow {
    /// The flow.
    pub flow: u32,
    /// The protocol number: 6 is TCP, 17 UDP.
    pub protocol: u8,
    /// Host and port in front of the link.
    pub server: (String, u16),
    /// Host and port behind it.
    pub client: (String, u16),
    /// When its first and its last packet arrived at the client or left it.
    pub times: Option<(Time, Time)>,
    /// Bytes delivered to the client, then to the server.
    pub delivered: [u64; 2],
    /// The congestion control of the end that sends more, if flows are sampled.
    pub cc: Option<String>,
}

/// The kind of subject of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// One queue.
    Queue,
    /// One leaf class of a link's scheduler.
    Leaf,
    /// One traffic class.
    Class,
    /// One flow.
    Flow,
    /// The whole run.
    Run,
}

impl Scope {
    /// The word used in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Scope::Queue => "queue",
            Scope::Leaf => "leaf",
            Scope::Class => "class",
            Scope::Flow => "flow",
            Scope::Run => "run",
        }
    }
}

/// Table `summary`: one number of the run.
#[derive(Clone, PartialEq, Debug)]
pub struct SummaryRow {
    /// The kind of subject that the number describes.
    pub scope: Scope,
    /// The name of that queue, class or flow; empty for the whole run.
    pub name: String,
    /// The metric, such as `delay_p95`.
    pub metric: &'static str,
    /// Its value.
    pub value: f64,
    /// Its unit: `s`, `bit/s`, `1` for fractions, `packets`.
    pub unit: &'static str,
}

/// Table `histograms`: a distribution, in rows of (edges of the bin, count).
#[derive(Clone, Debug)]
pub struct HistogramOf {
    /// The kind of subject that the distribution describes.
    pub scope: Scope,
    /// The name of that queue or class.
    pub name: String,
    /// The metric, such as `delay`; values are nanoseconds.
    pub metric: &'static str,
    /// The distribution.
    pub histogram: Histogram,
}

/// Table `drop_delays`: sojourn times of the packets that one queue dropped at one stage for one
/// cause, in rows like those of [`HistogramOf`].
#[derive(Clone, Debug)]
pub struct DropDelaysOf {
    /// The queue.
    pub queue: u32,
    /// The stage; never enqueue, where packets have no sojourn time yet.
    pub stage: Stage,
    /// The cause.
    pub cause: CauseClass,
    /// The distribution, in nanoseconds.
    pub histogram: Histogram,
}
