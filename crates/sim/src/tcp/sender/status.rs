//! What others may know of a sender.

use sojourn_aqm::{Span, Time};

use super::{Sender, State, Times};
use crate::cc::{CongestionControl, Window};
use crate::tcp::negotiation::Mode;

impl Sender {
    /// The window.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Where the connection stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// Packets believed in the network.
    pub fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    /// The congestion control, for its state variables.
    pub fn control(&self) -> &dyn CongestionControl {
        &*self.cc
    }

    /// Smoothed round-trip time.
    pub fn smoothed_rtt(&self) -> Span {
        self.rtt.smoothed()
    }

    /// Payload sent, and payload sent again.
    pub fn bytes_sent(&self) -> (u64, u64) {
        (self.sent_bytes, self.retransmitted_bytes)
    }

    /// How long it was busy so far, and why it waited.
    pub fn times(&self, now: Time) -> Times {
        self.chrono.times(now)
    }

    /// How marks are fed back.
    pub fn ecn_mode(&self) -> Mode {
        match (self.segments.ecn, &self.accurate) {
            (_, Some(_)) => Mode::Accurate,
            (true, None) => Mode::Classic,
            (false, None) => Mode::NotEcn,
        }
    }

    /// Whether its data is ECN-capable. In accurate mode it is not where something clears the field on the
    /// way.
    pub fn is_ecn_capable(&self) -> bool {
        self.segments.ecn
    }

    /// Whether everything has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.board.una() >= self.segments.count
    }
}
