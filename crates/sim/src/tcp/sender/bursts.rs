//! Segmentation offload: TCP hands several segments down at once, which leave in a burst (Linux 6.1
//! `tcp_tso_autosize`, `tcp_tso_should_defer`).
//!
//! Deviations from Linux: retransmissions leave one by one; bursts do not grow where the round trip
//! is below 3 ms (`tcp_tso_rtt_log`). Small queues (`tcp_small_queue_check`)
//! change nothing here: no other flow passes a sender's own link, so that it is the same where its
//! packets wait. Receivers do not join what arrives (GRO): behind a slower link packets come one by
//! one, and a receiver that looks after each has nothing to join.

use sojourn_aqm::{Span, Time};

use super::{Sender, State};
use crate::tcp::pacing;

/// A burst takes 2^-10 s at the pacing rate (Linux `sk_pacing_shift`).
const BURSTS_PER_S: f64 = 1024.0;
/// A part of the window that is always used at once (Linux `tcp_tso_win_divisor`).
const WINDOW_DIVISOR: u32 = 3;
/// Longest wait for the next acknowledgement, and since the last packet.
const LONGEST_WAIT: Span = Span::from_millis(1);

impl Sender {
    /// The most segments of a burst, of so many bytes at most (Linux `tcp_tso_segs`).
    pub(super) fn largest_burst(&self, offload_bytes: u32) -> u32 {
        let most = (offload_bytes / self.segments.payload_bytes).max(1);
        let usual = || {
            let outstanding = self.board.outstanding();
            pacing::rate_of_window(&self.window, outstanding, self.rtt.smoothed())
        };
        let per_s = self.cc.pacing_rate().or_else(usual).unwrap_or(0.0);
        ((per_s / BURSTS_PER_S) as u32).max(self.cc.least_burst()).min(most)
    }

    /// Whether a burst smaller than it could be waits for the next acknowledgement, which is about
    /// to come. The window has room for `room` segments, receiver and application allow `allowed`.
    pub(super) fn defers_burst(&mut self, now: Time, room: u32, allowed: u32, most: u32) -> bool {
        if most <= 1 || allowed <= 1 || self.episode.state >= State::Recovery {
            return false;
        }
        let limit = room.min(allowed);
        let is_pausing = now.since(self.sent.last_at) > LONGEST_WAIT;
        let is_fraction = limit * WINDOW_DIVISOR >= self.window.cwnd;
        if is_pausing || limit >= most || is_fraction || self.board.outstanding() == 0 {
            return false;
        }
        let srtt = self.rtt.smoothed();
        let wait = (self.board.head_sent() + srtt).since(now);
        wait <= srtt.half().min(LONGEST_WAIT) && room <= allowed
    }
}
