//! How much of the window the application uses: it grows only for flows that it limits, and decays for
//! those that it does not (RFC 2861; Linux `tcp_cwnd_validate`, `tcp_cwnd_application_limited`).

use sojourn_aqm::Time;

use super::{Sender, State};
use crate::cc::Steers;
use crate::tcp::profile::Idle;

/// What a connection has used of its window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// In the present round trip: the most that was outstanding, and whether the window held data back.
    most_outstanding: u32,
    limited: bool,
    round_end: u32,
    /// The most that was outstanding since the window was last full, and when that was.
    used: u32,
    full_at: Time,
}

impl Usage {
    /// An idle period has been dealt with.
    pub(super) fn restart(&mut self, now: Time) {
        (self.used, self.full_at) = (0, now);
    }
}

impl Sender {
    /// Something was sent, or the window let nothing go.
    pub(super) fn note_usage(&mut self, now: Time, held_back: bool) {
        let outstanding = self.board.outstanding();
        let usage = &mut self.usage;
        let new_round = self.board.una() >= usage.round_end;
        if new_round || held_back || !usage.limited && outstanding > usage.most_outstanding {
            usage.most_outstanding = outstanding;
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
            && self.needs.steers != Steers::Everything;
        if decays && now.since(self.usage.full_at) >= self.rtt.timeout() {
            self.give_up_unused();
            self.usage.full_at = now;
        }
    }

    /// The application has not filled the window for a whole timeout: half of what is not used is given
    /// up.
    fn give_up_unused(&mut self) {
        if self.state != State::Open {
            return;
        }
        let used = self.usage.used.max(self.segments.initial_window);
        if used < self.window.cwnd {
            self.window.ssthresh = self.window.three_quarters();
            self.window.cwnd = (self.window.cwnd + used) / 2;
        }
        self.usage.used = 0;
    }

    /// Whether the window may grow.
    pub(super) fn is_window_limited(&self) -> bool {
        !self.profile.validation || self.limits_flow()
    }

    /// In slow start the window may become twice what was outstanding.
    fn limits_flow(&self) -> bool {
        let starting = self.window.in_slow_start();
        self.usage.limited || starting && self.window.cwnd < 2 * self.usage.most_outstanding
    }
}
