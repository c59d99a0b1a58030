//! Congestion window validation: the window grows only while it limits the flow, and decays while
//! it does not (RFC 2861, RFC 7661; Linux `tcp_cwnd_validate`, `tcp_cwnd_application_limited`).

use sojourn_aqm::Time;

use super::{Sender, State};
use crate::cc::WindowControl;
use crate::tcp::profile::Idle;

/// The part of its window that a connection has used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CwndUsage {
    /// In the current round trip: the most that was outstanding (Linux `max_packets_out`), and
    /// whether the window held data back (`is_cwnd_limited`).
    max_outstanding: u32,
    limited: bool,
    round_end: u32,
    /// The most that was outstanding since the window was last full (Linux `snd_cwnd_used`), and
    /// when it was last full (`snd_cwnd_stamp`).
    used: u32,
    full_at: Time,
}

impl CwndUsage {
    /// Resets the usage after an idle period, or while the window is full.
    pub(super) fn restart(&mut self, now: Time) {
        (self.used, self.full_at) = (0, now);
    }
}

impl Sender {
    /// Updates the usage after sending, or after the window held all data back.
    #[inline]
    pub(super) fn validate_cwnd(&mut self, now: Time, held_back: bool) {
        let outstanding = self.board.outstanding();
        let usage = &mut self.usage;
        let new_round = self.board.una() >= usage.round_end;
        if new_round || held_back || !usage.limited && outstanding > usage.max_outstanding {
            usage.max_outstanding = outstanding;
            usage.limited = held_back;
            usage.round_end = self.board.nxt();
        }
        if self.limits_flow() {
            self.usage.restart(now);
            return;
        }
        self.usage.used = self.usage.used.max(outstanding);
        let decays = self.profile.validation
            && self.profile.idle == Idle::Halve
            && self.needs.window_control != WindowControl::Full;
        if decays && now.since(self.usage.full_at) >= self.rtt.timeout() {
            self.decay_unused_cwnd();
            self.usage.full_at = now;
        }
    }

    /// After a whole timeout without a full window, gives up half of the unused part (RFC 2861 §3).
    fn decay_unused_cwnd(&mut self) {
        if self.episode.state != State::Open {
            return;
        }
        let used = self.usage.used.max(self.segments.initial_window);
        if used < self.window.cwnd {
            self.window.ssthresh = self.window.three_quarters();
            self.window.cwnd = (self.window.cwnd + used) / 2;
        }
        self.usage.used = 0;
    }

    /// Whether the window may grow (Linux `tcp_is_cwnd_limited`).
    #[inline]
    pub(super) fn is_cwnd_limited(&self) -> bool {
        !self.profile.validation || self.limits_flow()
    }

    /// In slow start the window may grow to twice the segments that were outstanding.
    #[inline]
    fn limits_flow(&self) -> bool {
        let starting = self.window.in_slow_start();
        self.usage.limited || starting && self.window.cwnd < 2 * self.usage.max_outstanding
    }
}
