//! Status of a sender.

use sojourn_aqm::{Span, Time};

use super::{BusyTimes, Sender, State};
use crate::cc::{CongestionControl, Window};
use crate::tcp::negotiation::Mode;

/// Counts of segments and of the timer, as in Linux's `tcp_info`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentCounts {
    /// Sent and not acknowledged (`tcpi_unacked`).
    pub unacked: u32,
    /// SACKed, or reported by duplicates (`tcpi_sacked`).
    pub sacked: u32,
    /// Marked lost, retransmitted or not (`tcpi_lost`).
    pub lost: u32,
    /// Retransmissions in flight (`tcpi_retrans`).
    pub retransmitted: u32,
    /// Delivered packets that arrived with CE (`tcpi_delivered_ce`).
    pub delivered_ce: u32,
    /// The threshold of duplicates (`tcpi_reordering`).
    pub reordering: u32,
}

impl Sender {
    /// The window.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// State of the connection.
    pub fn state(&self) -> State {
        self.episode.state
    }

    /// Packets believed to be in the network.
    pub fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    /// The lowest segment not acknowledged, and the lowest never sent.
    pub fn unacknowledged(&self) -> (u32, u32) {
        (self.board.una(), self.board.nxt())
    }

    /// Counts of segments.
    pub fn counts(&self) -> SegmentCounts {
        SegmentCounts {
            unacked: self.board.outstanding(),
            sacked: self.board.sacked(),
            lost: self.board.lost(),
            retransmitted: self.board.retransmitted(),
            delivered_ce: self.ecn.delivered_ce,
            reordering: self.reordering.metric(),
        }
    }

    /// The congestion control, for its state variables.
    pub fn control(&self) -> &dyn CongestionControl {
        &*self.cc
    }

    /// Smoothed round-trip time.
    pub fn smoothed_rtt(&self) -> Span {
        self.rtt.smoothed()
    }

    /// The retransmission timeout.
    pub fn timeout(&self) -> Span {
        self.rtt.timeout()
    }

    /// Payload bytes sent in total, and retransmitted.
    pub fn bytes_sent(&self) -> (u64, u64) {
        (self.sent.bytes, self.sent.retransmitted_bytes)
    }

    /// How long it has been busy, and how long the receiver's window limited it.
    pub fn times(&self, now: Time) -> BusyTimes {
        self.busy.times(now)
    }

    /// The ECN feedback mode.
    pub fn ecn_mode(&self) -> Mode {
        match (self.segments.ecn, &self.ecn.accurate) {
            (_, Some(_)) => Mode::Accurate,
            (true, None) => Mode::Classic,
            (false, None) => Mode::NotEcn,
        }
    }

    /// Whether its data is ECN-capable; false also in accurate mode if the path clears the ECN
    /// field (RFC 9768 §3.2.2.3).
    pub fn is_ecn_capable(&self) -> bool {
        self.segments.ecn
    }

    /// Whether everything has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.board.una() >= self.segments.count
    }
}
