//! The interface between a congestion control and a sender.
//!
//! A control declares its needs: whether it sets growth, the window or everything; how marks are
//! reported; whether packets are paced and the delivery rate is sampled. The sender checks these
//! declarations, never a name. Controls written in Python use the same trait, through the Python
//! API only.

use sojourn_aqm::{Ecn, Rng, Span, Time, Var};

use super::Window;

/// An acknowledgement, as a congestion control sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Now.
    pub now: Time,
    /// Packets newly delivered.
    pub delivered: u32,
    /// The newest round-trip sample, if this acknowledgement gave one.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time before this acknowledgement; zero before the first sample.
    pub srtt: Span,
    /// The acknowledgement number.
    pub una: u32,
    /// The next number to send.
    pub nxt: u32,
    /// Whether packets are paced; if so, the spacing of acknowledgements does not reflect the
    /// queue.
    pub paced: bool,
}

/// A sample of the delivery rate (draft-ietf-ccwg-bbr §4.1). Counts are in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RateSample {
    /// Packets delivered over the interval.
    pub delivered: u64,
    /// The interval.
    pub interval: Span,
    /// Packets delivered in total when the packet left.
    pub prior_delivered: u64,
    /// Packets in flight when the packet left, itself included.
    pub in_flight: u32,
    /// Packets lost since the packet left.
    pub lost: u64,
    /// Whether the application, not the network, limited the sender.
    pub app_limited: bool,
}

impl RateSample {
    /// Packets per second.
    pub fn rate(&self) -> f64 {
        self.delivered as f64 / self.interval.as_secs()
    }
}

/// An acknowledgement after loss detection, for a congestion control that sets its window itself.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The acknowledgement.
    pub ack: Ack,
    /// Packets in flight.
    pub in_flight: u32,
    /// Packets in flight before this acknowledgement.
    pub prior_in_flight: u32,
    /// Packets newly marked lost.
    pub lost: u32,
    /// Packets reported as marked; at most one with classic feedback.
    pub marks: u32,
    /// Whether the window limits the flow.
    pub limited: bool,
    /// Whether losses are being repaired.
    pub recovery: RecoveryStage,
    /// How long pacing still holds back the next packet.
    pub pacing_wait: Span,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// Total packets delivered; zero without delivery-rate samples.
    pub delivered_total: u64,
    /// Total packets lost; zero without delivery-rate samples.
    pub lost_total: u64,
    /// The delivery rate, if it was requested and this acknowledgement gave a sample.
    pub rate: Option<RateSample>,
}

/// Whether losses are being repaired.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RecoveryStage {
    /// No losses are being repaired.
    Open,
    /// Repairing a detected loss.
    Recovery,
    /// Repairing after a timeout.
    Loss,
}

/// Which changes of the window a congestion control makes itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum WindowControl {
    /// Growth, while the window limits the flow. The sender carries out reductions.
    #[default]
    Growth,
    /// The window at every acknowledgement, marks included. The sender carries out reductions after
    /// losses.
    Window,
    /// The window in every state.
    Full,
}

/// How the receiver feeds marks back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Feedback {
    /// ECE until the sender answers with CWR (RFC 3168).
    #[default]
    Classic,
    /// Every run of marks exactly (RFC 8257 §3.2).
    Runs,
    /// Counters of marked packets and bytes (RFC 9768).
    Accurate,
}

/// What a congestion control needs from both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// How much of the window it controls itself.
    pub window_control: WindowControl,
    /// How it needs marks fed back.
    pub feedback: Feedback,
    /// Whether its data is ECT(1), for low-latency queues (RFC 9331). Such a control does not fall
    /// back to classic feedback.
    pub low_latency: bool,
    /// Whether all packets of a connection are ECN-capable, including SYN and SYN-ACK (Linux
    /// `TCP_CONG_NEEDS_ECN`; RFC 8311 §4.3).
    pub needs_ecn: bool,
    /// Whether it needs round-trip samples, through [`CongestionControl::on_rtt`].
    pub rtt_samples: bool,
    /// Whether it needs delivery-rate samples.
    pub rate_samples: bool,
    /// Pacing, with bursts of this duration.
    pub pacing: Option<Span>,
    /// Whether the sender's interface has the qdisc `fq`, which does the pacing. TCP hands packets
    /// to `fq` ahead of time, and these count as in flight (Linux `tcp_small_queue_check`).
    pub fq: bool,
}

impl Needs {
    /// The ECN field of ECN-capable packets.
    pub const fn ect(&self) -> Ecn {
        if self.low_latency { Ecn::Ect1 } else { Ecn::Ect0 }
    }
}

/// Facts about a connection at the time it is established.
#[derive(Clone, Debug)]
pub struct Start {
    /// Now.
    pub now: Time,
    /// The flow.
    pub flow: u32,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Payload of a full segment.
    pub payload_bytes: u32,
    /// IP size of a full segment.
    pub packet_bytes: u32,
    /// The round trip of the handshake, if it gave a sample.
    pub rtt: Option<Span>,
    /// Whether both ends agreed on ECN.
    pub ecn: bool,
    /// Randomness private to this connection.
    pub rng: Rng,
}

/// A congestion control. It grows the window and decides the target of a reduction. The sender
/// decides when to reduce and how the window reaches that target, unless [`WindowControl`] leaves
/// this to the control.
pub trait CongestionControl: Send {
    /// What it needs from both ends.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// Called when the connection is established.
    fn on_start(&mut self, start: &Start) {
        let _ = start;
    }
    /// The threshold after a loss at the given window; at least 2.
    fn reduce(&mut self, window: &Window) -> u32;
    /// The threshold after a mark; by default the same as after a loss.
    fn reduce_on_mark(&mut self, window: &Window) -> u32 {
        self.reduce(window)
    }
    /// Called when a loss is found during a reduction caused by a mark; no new reduction begins.
    fn on_loss_after_mark(&mut self, window: &mut Window) {
        let _ = window;
    }
    /// The threshold after a timeout; by default the same as after a loss.
    fn reduce_on_timeout(&mut self, window: &Window) -> u32 {
        self.reduce(window)
    }
    /// Handles an acknowledgement of an ECN-capable flow with [`Feedback::Runs`], before any
    /// reduction that the acknowledgement causes.
    fn on_echo(&mut self, ack: &Ack, echoed: bool) {
        let _ = (ack, echoed);
    }
    /// Grows the window on an acknowledgement outside of reductions, while the window limits the
    /// flow. For [`WindowControl::Growth`].
    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        let _ = (ack, window);
    }
    /// Sets the window on an acknowledgement. For [`WindowControl::Window`] and
    /// [`WindowControl::Full`].
    fn on_progress(&mut self, progress: &Progress, window: &mut Window) {
        let _ = (progress, window);
    }
    /// Called when a packet is marked lost, but only with delivery-rate samples; the passed sample
    /// has no interval.
    fn on_lost(&mut self, now: Time, lost: &RateSample, window: &mut Window) {
        let _ = (now, lost, window);
    }
    /// Receives a round-trip sample, in every state and before [`CongestionControl::grow`]. For
    /// [`Needs::rtt_samples`].
    fn on_rtt(&mut self, ack: &Ack, window: &mut Window) {
        let _ = (ack, window);
    }
    /// The window at which rate halving stops in a long recovery (Linux `min_cwnd`, until 3.1).
    fn min_cwnd_of_rate_halving(&self, ssthresh: u32) -> u32 {
        ssthresh
    }
    /// Called when the retransmission timer expires.
    fn on_timeout(&mut self) {}
    /// Undoes an unnecessary reduction. The sender has already restored the window, except with
    /// [`WindowControl::Full`].
    fn undo(&mut self, window: &mut Window) {
        let _ = window;
    }
    /// Called when sending resumes after `idle` with nothing in flight; with delivery-rate samples,
    /// only if the application was the limit. Only a control with [`WindowControl::Full`] sets the
    /// window here.
    fn on_idle(&mut self, now: Time, idle: Span, window: &mut Window) {
        let _ = (now, idle, window);
    }
    /// The pacing rate in packets per second; `None` to use the rate of the stack.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
    /// The smallest burst, in packets, on a host with segmentation offload (Linux
    /// `tcp_min_tso_segs`; the hook `min_tso_segs`).
    fn least_burst(&self) -> u32 {
        2
    }
    /// How many windows the send buffer should hold (Linux `tcp_sndbuf_expand`; the hook
    /// `sndbuf_expand`).
    fn windows_to_buffer(&self) -> u32 {
        2
    }
    /// Whether it deliberately sends less than it could; delivery-rate samples then count as
    /// application-limited.
    fn holds_back(&self) -> bool {
        false
    }
    /// Its state variables.
    fn vars(&self) -> &'static [Var] {
        &[]
    }
    /// Their values, in the same order.
    fn observe(&self, out: &mut [f64]) {
        let _ = out;
    }
}
