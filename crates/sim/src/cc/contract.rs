//! What a congestion control and a sender owe each other.

use sojourn_aqm::{Span, Time};

use super::Window;

/// What an acknowledgement tells a congestion control.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Now.
    pub now: Time,
    /// Packets newly delivered.
    pub delivered: u32,
    /// The newest round-trip sample, if this acknowledgement gave one.
    pub rtt: Option<Span>,
    /// The acknowledgement number, and the next number to send.
    pub una: u32,
    /// The next number to send.
    pub nxt: u32,
}

/// A congestion control: it grows the window and says how far a reduction goes. When reductions happen
/// and how the window gets there is the sender's affair.
pub trait CongestionControl: Send {
    /// The threshold after a loss or a mark at the present window; at least 2.
    fn reduce(&mut self, window: &Window) -> u32;
    /// The threshold after a mark, where that differs from a loss.
    fn reduce_on_mark(&mut self, window: &Window) -> u32 {
        self.reduce(window)
    }
    /// Whether it wants [`CongestionControl::on_echo`], and with it a receiver that echoes every run of
    /// marks exactly (RFC 8257 §3.2) instead of until the sender has reduced.
    fn counts_marks(&self) -> bool {
        false
    }
    /// An acknowledgement of an ECN-capable flow, before any reduction it causes.
    fn on_echo(&mut self, ack: &Ack, echoed: bool) {
        let _ = (ack, echoed);
    }
    /// Growth on an acknowledgement outside reductions, when the window is what limits the flow.
    fn grow(&mut self, ack: &Ack, window: &mut Window);
    /// A round-trip sample, in every state and before [`CongestionControl::grow`].
    fn on_rtt(&mut self, ack: &Ack, window: &mut Window) {
        let _ = (ack, window);
    }
    /// The retransmission timer expired.
    fn on_timeout(&mut self) {}
    /// A reduction turned out to have been unnecessary and is withdrawn.
    fn undo(&mut self) {}
    /// Sending resumes after `idle` with nothing in flight.
    fn on_idle(&mut self, now: Time, idle: Span) {
        let _ = (now, idle);
    }
}
