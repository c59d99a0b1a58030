//! The table of metrics: one row each, in the order of comparisons.

use sojourn_record::rows::Scope;

use super::Better::{Always, Neither, Together};
use super::Centre::Median;
use super::Family::Headline;
use super::Improvement::{Higher, Lower};
use super::Output::{Agree, AgreeWide, Atlas, Compare, Diff, Leaf, Live, Router};
use super::Statistic::{Above, Max, Mean, Quantile};
use super::{Margin, Metric, MetricKind, OverBins, Written, metrics};

const IDLE: &str = "an idle link has the least; judged together with utilisation";
const BUSY: &str = "a standing queue raises it too; judged together with delay";
const FILLED: &str =
    "flows that fill the queue raise it themselves, and an idle path has the least";
const DROP: &str = "a drop is also how an AQM signals, and the queue that it shortens is judged";
const MARK: &str = "a mark is a signal and costs no packet";
const LOAD: &str = "it says how much traffic there was";
const STEADY: &str = "a player that stays at the lowest rate has none";
const RADIO: &str = "the rate control chooses it, for the channel";

metrics! {
    /// Time in the queue, without transmission, of the packets that were sent; dropped packets are
    /// in `drop_delays`. The queue of a `device` below is not included, but `owd` and `rtt` include
    /// it.
    DELAY = [
        ("delay_mean", "queue delay mean") {
            statistic: Mean, tables: &[Compare, Live, Leaf, Diff, Router, Agree, Atlas]
        },
        ("delay_p50", "queue delay p50") {
            statistic: Quantile(0.5), tables: &[Compare, Live, Diff, Router, Agree, AgreeWide]
        },
        ("delay_p90", "queue delay p90") {
            statistic: Quantile(0.9), tables: &[Agree],
            written: Written::Never("`sojourn agree` reads it from table `histograms`")
        },
        ("delay_p95", "queue delay p95") {
            statistic: Quantile(0.95), family: Headline("queue delay p95"),
            tables: &[Compare, Live, Leaf, Diff, Router, AgreeWide, Atlas]
        },
        ("delay_p99", "queue delay p99") {
            statistic: Quantile(0.99), centre: Median,
            tables: &[Compare, Live, Diff, Router, Agree, AgreeWide]
        },
        ("delay_max", "queue delay max") {
            statistic: Max, centre: Median, tables: &[Compare, Router]
        },
    ] of Queue, MetricKind::Time, { better: Together(Lower, IDLE) };

    /// Queue delay as a mean over time: at every moment the delay of the packet that leaves next,
    /// zero while the queue is empty. A mean over packets weights fast periods more than slow ones,
    /// and idle periods not at all.
    DELAY_TIME_MEAN = ("delay_time_mean", "queue delay over time") of Queue, MetricKind::Time, {
        better: Together(Lower, IDLE)
    };

    /// Bytes carried after the warm-up, as a share of those that the link could have carried,
    /// framing included; never above 1; [below](#what-a-link-carried).
    UTILISATION = ("utilisation", "utilisation") of Queue, MetricKind::Share, {
        better: Together(Higher, BUSY), margin: Margin::of(0.01), family: Headline("utilisation"),
        tables: &[Compare, Live, Router, Agree, Atlas], bins: Some(OverBins::Mean)
    };

    /// Rate carried by the link after the warm-up, framing included; never above the link's rate.
    THROUGHPUT = ("throughput", "throughput") of Queue, MetricKind::Rate, {
        better: Together(Higher, BUSY), tables: &[Leaf, Router], bins: Some(OverBins::Mean)
    };

    /// Packets that arrived.
    ARRIVED = ("arrived", "arrived") of Queue, MetricKind::Count("packets"), {
        better: Neither(LOAD), tables: &[Router]
    };

    /// Packets that left.
    SENT = ("sent", "sent") of Queue, MetricKind::Count("packets"), { better: Neither(LOAD) };

    /// Packets in the queue when the run ended.
    WAITING = ("waiting", "waiting at the end") of Queue, MetricKind::Count("packets"), {
        better: Together(Lower, IDLE), centre: Median
    };

    /// Packets lost on a wire with `loss`; these count as sent.
    WIRE_LOST = ("wire_lost", "lost on the wire") of Queue, MetricKind::Count("packets"), {
        better: Neither("the scenario sets it")
    };

    /// The share of packets lost on a wire with `loss`.
    WIRE_LOSS_RATE = ("wire_loss_rate", "loss on the wire") of Queue, MetricKind::Share, {
        better: Neither("the scenario sets it")
    };

    /// Frames that a wireless transmitter sent.
    FRAMES = ("frames", "frames") of Queue, MetricKind::Count("frames"), { better: Neither(LOAD) };

    /// The mean rate of a wireless transmitter's frames.
    FRAME_RATE = ("frame_rate", "frame rate") of Queue, MetricKind::Rate, {
        better: Together(Higher, "a rate too high for the channel fails")
    };

    /// The share of a wireless transmitter's frames that failed.
    FRAME_FAILURE_RATE = ("frame_failure_rate", "frame failures") of Queue, MetricKind::Share, {
        better: Together(Lower, "a lower rate fails less and carries less")
    };

    /// Packets that a wireless transmitter gave up.
    GIVEN_UP = ("given_up", "given up") of Queue, MetricKind::Count("packets"), {
        better: Always(Lower)
    };

    /// The share of a wireless transmitter's frames at each rate of 802.11g.
    FRAME_SHARES = [
        ("frame_share_6mbit", "frames at 6 Mbit/s"),
        ("frame_share_9mbit", "frames at 9 Mbit/s"),
        ("frame_share_12mbit", "frames at 12 Mbit/s"),
        ("frame_share_18mbit", "frames at 18 Mbit/s"),
        ("frame_share_24mbit", "frames at 24 Mbit/s"),
        ("frame_share_36mbit", "frames at 36 Mbit/s"),
        ("frame_share_48mbit", "frames at 48 Mbit/s"),
        ("frame_share_54mbit", "frames at 54 Mbit/s"),
    ] of Queue, MetricKind::Share, { better: Neither(RADIO) };

    /// Number of flows.
    FLOWS = ("flows", "flows") of Class, MetricKind::Count("1"), { better: Neither(LOAD) };

    /// Payload delivered to applications (by streams, in order) by all flows of the class together,
    /// per second of the time in which at least one of them was active.
    GOODPUT = ("goodput", "goodput") of Class, MetricKind::Rate, {
        better: Always(Higher), family: Headline("goodput per class"),
        tables: &[Compare, Live, AgreeWide], bins: Some(OverBins::Mean)
    };

    /// Mean of the flows' goodputs, each over the time in which that flow was active.
    GOODPUT_PER_FLOW = ("goodput_per_flow", "goodput per flow") of Class, MetricKind::Rate, {
        better: Always(Higher)
    };

    /// Jain's index of fairness of the per-flow goodputs, for a class with bulk flows, of which all
    /// flows count; 1 means equal.
    JAIN = ("jain", "Jain's index") of Class, MetricKind::Score, {
        better: Always(Higher), centre: Median, margin: Margin::of(0.01),
        tables: &[Compare, AgreeWide]
    };

    /// Completion times of transfers requested after the warm-up; with `kind = "web"` a transfer is
    /// a page, and this metric is its load time. Quantiles include all transfers; unfinished ones
    /// took longer than they were observed (right-censored, Kaplan and Meier 1958). Mean and
    /// maximum include only finished ones.
    COMPLETION = [
        ("completion_mean", "completion mean") { statistic: Mean },
        ("completion_p50", "completion p50") {
            statistic: Quantile(0.5), tables: &[Compare, AgreeWide]
        },
        ("completion_p95", "completion p95") {
            statistic: Quantile(0.95), family: Headline("completion p95"),
            tables: &[Compare, Live, AgreeWide]
        },
        ("completion_p99", "completion p99") { statistic: Quantile(0.99) },
        ("completion_max", "completion max") { statistic: Max },
    ] of Class, MetricKind::Time, { better: Always(Lower), centre: Median, is_long: true };

    /// Replaces a quantile that cannot be computed because too few transfers finished: the longest
    /// observed time, which the quantile exceeds.
    COMPLETION_ABOVE = [
        ("completion_p50_above", "completion p50 above") { statistic: Above(0.5) },
        ("completion_p95_above", "completion p95 above") {
            statistic: Above(0.95), tables: &[Live]
        },
        ("completion_p99_above", "completion p99 above") { statistic: Above(0.99) },
    ] of Class, MetricKind::Time, { better: Always(Lower), centre: Median, is_long: true };

    /// Time from the start of a transport library's connection until data can be written, for
    /// connections that started after the warm-up.
    HANDSHAKE = [
        ("handshake_mean", "handshake mean") { statistic: Mean, centre: super::Centre::Mean },
        ("handshake_p50", "handshake p50") { statistic: Quantile(0.5) },
        ("handshake_p95", "handshake p95") { statistic: Quantile(0.95) },
        ("handshake_max", "handshake max") { statistic: Max },
    ] of Class, MetricKind::Time, { better: Always(Lower), centre: Median };

    /// One-way delay, of datagrams and, with `record.latency`, of TCP's data.
    OWD = [
        ("owd_mean", "one-way delay mean") { statistic: Mean, centre: super::Centre::Mean },
        ("owd_p50", "one-way delay p50") { statistic: Quantile(0.5) },
        ("owd_p95", "one-way delay p95") { statistic: Quantile(0.95), tables: &[Compare, Live] },
        ("owd_p99", "one-way delay p99") { statistic: Quantile(0.99) },
        ("owd_max", "one-way delay max") { statistic: Max },
    ] of Class, MetricKind::Time, { better: Always(Lower), centre: Median };

    /// Time from a video player's first request to its first chunk (`kind = "chunks"`), for players
    /// that started after the warm-up; a player without a chunk counts with the time that it has
    /// waited.
    STARTUP = [
        ("startup_mean", "start-up mean") { statistic: Mean, tables: &[Compare] },
        ("startup_max", "start-up max") { statistic: Max },
    ] of Class, MetricKind::Time, { better: Always(Lower), centre: Median, is_long: true };

    /// Stalls of a video player that began after the warm-up, as a mean over players. A stall lasts
    /// from the end of a chunk until the next has arrived, or the run ends.
    STALLS = ("stalls", "stalls") of Class, MetricKind::Count("1"), {
        better: Always(Lower), centre: Median, tables: &[Compare]
    };

    /// How long a video player stalled after the warm-up, as a mean over players.
    STALL_TIME = ("stall_time", "stalled time") of Class, MetricKind::Time, {
        better: Always(Lower), centre: Median, is_long: true
    };

    /// The share of the time since the first chunk during which players stalled.
    STALLED_SHARE = ("stalled_share", "stalled") of Class, MetricKind::Share, {
        better: Always(Lower), centre: Median, tables: &[Compare]
    };

    /// Mean rate of the chunks that players requested after the warm-up and received.
    VIDEO_RATE = ("video_rate", "video rate") of Class, MetricKind::Rate, {
        better: Always(Higher), tables: &[Compare]
    };

    /// Changes of rate between the chunks of `video_rate`, as a mean over players.
    RATE_SWITCHES = ("rate_switches", "rate switches") of Class, MetricKind::Count("1"), {
        better: Together(Lower, STEADY), centre: Median, tables: &[Compare]
    };

    /// Time from the sending of a video frame (`kind = "video"`) until its last datagram arrives,
    /// for frames shown after the warm-up. A frame is not shown after a later one.
    FRAME_DELAY = [
        ("frame_delay_mean", "frame delay mean") { statistic: Mean },
        ("frame_delay_p50", "frame delay p50") { statistic: Quantile(0.5) },
        ("frame_delay_p95", "frame delay p95") {
            statistic: Quantile(0.95), tables: &[Compare]
        },
        ("frame_delay_p99", "frame delay p99") { statistic: Quantile(0.99) },
        ("frame_delay_max", "frame delay max") { statistic: Max },
    ] of Class, MetricKind::Time, { better: Always(Lower), centre: Median };

    /// The share of video frames that were incomplete when a later one was shown. Frames after the
    /// last one shown are not counted.
    FRAMES_SKIPPED = ("frames_skipped", "frames skipped") of Class, MetricKind::Share, {
        better: Always(Lower), centre: Median, tables: &[Compare]
    };

    /// Freezes of a video call after the warm-up, as a mean over calls that showed a frame. A
    /// freeze is a time between two frames, or from the last one to the end, that is at least three
    /// times the mean of the last 30 and at least 150 ms longer than that mean (`freezeCount` of
    /// the W3C's WebRTC statistics).
    FREEZES = ("freezes", "freezes") of Class, MetricKind::Count("1"), {
        better: Always(Lower), centre: Median, tables: &[Compare]
    };

    /// The share of the time since the first frame during which calls were frozen.
    FROZEN_SHARE = ("frozen_share", "frozen") of Class, MetricKind::Share, {
        better: Always(Lower), centre: Median, tables: &[Compare]
    };

    /// Transfers requested after the warm-up that finished.
    TRANSFERS = ("transfers", "transfers") of Class, MetricKind::Count("1"), {
        better: Always(Higher)
    };

    /// The share of all transfers requested after the warm-up that did not finish by the end of the
    /// run or of the flow.
    UNFINISHED_SHARE = ("unfinished_share", "unfinished") of Class, MetricKind::Share, {
        better: Always(Lower), centre: Median, tables: &[Compare]
    };

    /// The share of the datagrams sent after the warm-up that were lost; with `kind = "echo"`, in
    /// either direction. Datagrams in flight at the end of the run are not counted.
    LOSS_RATE = ("loss_rate", "loss") of Class, MetricKind::Share, {
        better: Always(Lower), family: Headline("loss of real-time traffic"),
        tables: &[Compare, Live, AgreeWide]
    };

    /// The share of connections with ECN-capable data among those that requested ECN and were
    /// established since the start of the run ([ECN](../how-to/ecn.md)).
    ECN_SHARE = ("ecn_share", "connections with ECN") of Class, MetricKind::Share, {
        better: Always(Higher), centre: Median
    };

    /// Rating (ITU-T G.107, the E-model) of a class that consists only of calls with one codec,
    /// `kind = "voice"` or `cbr` with `voice = true`. The playout delay is the 99th percentile of
    /// the packets' delays. G.711 with loss concealment: Ie 0, Bpl 25.1 (published for packets of
    /// 10 ms), 20 ms to fill a packet. G.729A: Ie 11, Bpl 19 (published with voice activity
    /// detection, which is not simulated), 25 ms. Source: ITU-T G.113 Appendix I, Table I.4
    /// (09/2024), as quoted by other works, because its text was not available to us.
    VOICE_R = ("voice_r", "voice rating") of Class, MetricKind::Score, { better: Always(Higher) };

    /// Mean opinion score that follows from `voice_r`, 1 to 4.5.
    VOICE_MOS = ("voice_mos", "MOS") of Class, MetricKind::Score, {
        better: Always(Higher), margin: Margin::of(0.1), tables: &[Compare, Live]
    };

    /// Path RTT as seen by an observer at the sender, with `record.latency`; for flows of `kind =
    /// "echo"` always recorded, from request to reply.
    RTT = [
        ("rtt_mean", "path RTT mean") { statistic: Mean },
        ("rtt_p50", "path RTT p50") { statistic: Quantile(0.5), tables: &[Compare, Live] },
        ("rtt_p95", "path RTT p95") { statistic: Quantile(0.95), tables: &[Compare] },
        ("rtt_p99", "path RTT p99") { statistic: Quantile(0.99) },
        ("rtt_max", "path RTT max") { statistic: Max },
    ] of Class, MetricKind::Time, { better: Together(Lower, FILLED), centre: Median };

    /// A minute divided by the mean RTT of a class of `kind = "echo"`. Responsiveness as defined in
    /// draft-ietf-ippm-responsiveness has the same unit, but measures HTTP requests and handshakes.
    ROUND_TRIPS_PER_MINUTE = ("round_trips_per_minute", "round trips per minute") of Class,
    MetricKind::Count("1/min"), {
        better: Always(Higher), centre: Median, tables: &[Compare, Live]
    };

    /// Retransmitted payload as a share of the payload sent after the first sample.
    RETRANSMITTED = ("retransmitted", "retransmitted") of Class, MetricKind::Share, {
        better: Together(Lower, DROP), tables: &[AgreeWide],
        written: Written::Never("`sojourn agree` computes it from table `flows`")
    };

    /// Of the packets that arrived after the warm-up, the share that this queue dropped. A packet
    /// that arrived before the warm-up ended and was dropped later does not count, and packets in
    /// the queue at the end are not dropped.
    DROP_RATE = ("drop_rate", "drop rate") of Queue, MetricKind::Share, {
        better: Together(Lower, DROP), bins: Some(OverBins::Unknown),
        tables: &[Compare, Live, Leaf, Router, Agree, AgreeWide, Atlas]
    };

    /// The drop rate by cause.
    DROP_RATES = [
        ("drop_rate_overflow", "overflow drop rate"),
        ("drop_rate_random", "random drop rate"),
        ("drop_rate_deterministic", "deterministic drop rate"),
    ] of Queue, MetricKind::Share, {
        better: Together(Lower, DROP), centre: Median, tables: &[Compare]
    };

    /// The share of the packets that arrived after the warm-up that the link's policer dropped;
    /// left out if it dropped none.
    DROP_RATE_POLICED = ("drop_rate_policed", "policed drop rate") of Queue, MetricKind::Share, {
        better: Together(Lower, DROP), centre: Median, tables: &[Compare]
    };

    /// Of the packets that arrived after the warm-up, the share that this queue marked, without
    /// those that arrived marked.
    MARK_RATE = ("mark_rate", "mark rate") of Queue, MetricKind::Share, {
        better: Neither(MARK), centre: Median, bins: Some(OverBins::Unknown),
        tables: &[Compare, Live, Leaf, Router, AgreeWide, Atlas]
    };

    /// The mark rate by cause; overflow marks nothing.
    MARK_RATES = [
        ("mark_rate_random", "random mark rate"),
        ("mark_rate_deterministic", "deterministic mark rate"),
    ] of Queue, MetricKind::Share, { better: Neither(MARK), centre: Median, tables: &[Compare] };

    /// Events that the engine handled.
    EVENTS = ("events", "events") of Run, MetricKind::Count("1"), { better: Neither(LOAD) };

    /// Packets that the engine handled.
    PACKETS = ("packets", "packets") of Run, MetricKind::Count("1"), { better: Neither(LOAD) };

    /// How late the router sent packets; this is the lateness of the machine, not of a queue.
    LATE = [
        ("late_p50", "lateness p50") { statistic: Quantile(0.5) },
        ("late_p99", "lateness p99") { statistic: Quantile(0.99) },
        ("late_max", "lateness max") { statistic: Max },
    ] of Run, MetricKind::Time, {
        better: Always(Lower), written: Written::Only("router", "it alone runs in real time")
    };
}
