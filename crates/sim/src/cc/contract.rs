//! What a congestion control and a sender owe each other.

use sojourn_aqm::{Ecn, Rng, Span, Time, Var};

use super::Window;
pub use crate::tcp::delivery_rate::RateSample;

/// What an acknowledgement tells a congestion control.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Now.
    pub now: Time,
    /// Packets newly delivered.
    pub delivered: u32,
    /// The newest round-trip sample, if this acknowledgement gave one.
    pub rtt: Option<Span>,
    /// The acknowledgement number.
    pub una: u32,
    /// The next number to send.
    pub nxt: u32,
    /// Whether packets are paced, so that trains of acknowledgements say nothing of the queue.
    pub paced: bool,
}

/// What an acknowledgement tells a congestion control that steers its window itself, after losses have
/// been judged.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The acknowledgement.
    pub ack: Ack,
    /// Packets believed in the network, now and before this acknowledgement.
    pub in_flight: u32,
    /// The same before this acknowledgement.
    pub prior_in_flight: u32,
    /// Packets judged lost by this acknowledgement.
    pub lost: u32,
    /// Packets that it reports as marked; with classic feedback at most one.
    pub marks: u32,
    /// Whether the window is what limits the flow.
    pub limited: bool,
    /// Whether losses are being repaired.
    pub stage: Stage,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// Packets delivered and lost in all; zero without samples of the delivery rate.
    pub delivered_total: u64,
    /// The same of packets lost.
    pub lost_total: u64,
    /// The delivery rate, if it was asked for and this acknowledgement gave a sample.
    pub rate: Option<RateSample>,
}

/// Whether losses are being repaired.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// No.
    Open,
    /// After a loss was found.
    Recovery,
    /// After a timeout.
    Loss,
}

/// How much of the window's fate a congestion control takes into its own hands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Steers {
    /// Growth, while the window limits the flow. Reductions are the sender's affair.
    #[default]
    Growth,
    /// The window at every acknowledgement, marks included. The sender comes down after losses.
    Window,
    /// The window in every state.
    Everything,
}

/// How the receiver tells of marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Feedback {
    /// Until the sender says that it has reduced (RFC 3168).
    #[default]
    Classic,
    /// Every run of marks exactly (RFC 8257 §3.2).
    Runs,
    /// Counters of marked packets and bytes (RFC 9768).
    Accurate,
}

/// What a congestion control asks of both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// How much it steers itself.
    pub steers: Steers,
    /// How it wants to hear of marks.
    pub feedback: Feedback,
    /// Its data is ECT(1), for queues of low latency (RFC 9331); with classic feedback it does without ECN.
    pub low_latency: bool,
    /// It wants ECN for all that a connection sends, the SYN and its answer too (Linux
    /// `TCP_CONG_NEEDS_ECN`; RFC 8311 §4.3).
    pub needs_ecn: bool,
    /// Samples of the delivery rate.
    pub rate_samples: bool,
    /// Pacing; so much may leave at once.
    pub pacing: Option<Span>,
}

impl Needs {
    /// The ECN field of what is ECN-capable.
    pub const fn ect(&self) -> Ecn {
        if self.low_latency { Ecn::Ect1 } else { Ecn::Ect0 }
    }
}

/// What is known when a connection is established.
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
    /// Randomness of this connection alone.
    pub rng: Rng,
}

/// A congestion control: it grows the window and says how far a reduction goes. When reductions happen
/// and how the window gets there is the sender's affair, unless it [`Steers`] that itself.
pub trait CongestionControl: Send {
    /// What it asks of both ends.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// The connection is established.
    fn on_start(&mut self, start: &Start) {
        let _ = start;
    }
    /// The threshold after a loss at the present window; at least 2.
    fn reduce(&mut self, window: &Window) -> u32;
    /// The threshold after a mark, where that differs from a loss.
    fn reduce_on_mark(&mut self, window: &Window) -> u32 {
        self.reduce(window)
    }
    /// The threshold after a timeout, where that differs from a loss.
    fn reduce_on_timeout(&mut self, window: &Window) -> u32 {
        self.reduce(window)
    }
    /// An acknowledgement of an ECN-capable flow with [`Feedback::Runs`], before any reduction it causes.
    fn on_echo(&mut self, ack: &Ack, echoed: bool) {
        let _ = (ack, echoed);
    }
    /// Growth on an acknowledgement outside reductions, when the window is what limits the flow; for
    /// [`Steers::Growth`].
    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        let _ = (ack, window);
    }
    /// Every acknowledgement that is left to a control which steers more than growth.
    fn on_progress(&mut self, progress: &Progress, window: &mut Window) {
        let _ = (progress, window);
    }
    /// A packet was judged lost; the sample has no interval. Only with samples of the delivery rate.
    fn on_lost(&mut self, now: Time, lost: &RateSample, window: &mut Window) {
        let _ = (now, lost, window);
    }
    /// A round-trip sample, in every state and before [`CongestionControl::grow`].
    fn on_rtt(&mut self, ack: &Ack, window: &mut Window) {
        let _ = (ack, window);
    }
    /// Where rate halving stops, if a recovery lasts (Linux `min_cwnd`, until 3.1).
    fn lowest_while_halving(&self, ssthresh: u32) -> u32 {
        ssthresh
    }
    /// The retransmission timer expired.
    fn on_timeout(&mut self) {}
    /// A reduction turned out to have been unnecessary and is withdrawn; the sender has restored the
    /// window, unless the control steers everything.
    fn undo(&mut self, window: &mut Window) {
        let _ = window;
    }
    /// Sending resumes after `idle` with nothing in flight.
    fn on_idle(&mut self, now: Time, idle: Span) {
        let _ = (now, idle);
    }
    /// Packets per second to send at; none where the rule of the stack is good enough.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
    /// It holds back on purpose: samples of the delivery rate count as limited by the application.
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
