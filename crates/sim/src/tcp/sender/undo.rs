//! Undo of unnecessary reductions, which are detected in three ways: every retransmission of the
//! episode arrived as a duplicate, according to D-SACKs (RFC 2883, RFC 3708); an echoed timestamp
//! is older than the first retransmission (Eifel, RFC 3522); data sent before a timeout arrives
//! after all (F-RTO).

use sojourn_aqm::Time;

use super::{Sender, State};
use crate::cc::WindowControl;
use crate::packet::Block;
use crate::tcp::rtt::is_stamped_before;

/// The values changed by a reduction (Linux `tcp_init_undo`; RFC 4015 §3: `pipe_prev`).
#[derive(Clone, Copy, Debug)]
pub(super) struct UndoRecord {
    prior_cwnd: u32,
    prior_ssthresh: u32,
    /// SND.UNA before the reduction: duplicates below it belong to earlier episodes (Linux
    /// `undo_marker`).
    una: u32,
    /// Retransmissions of the episode not reported by a D-SACK (Linux `undo_retrans`).
    retransmissions: u32,
}

impl UndoRecord {
    /// Forbids an undo after a mark: the reduction stands, even if the losses turn out to be
    /// spurious.
    pub(super) fn forbid(&mut self) {
        (self.prior_cwnd, self.prior_ssthresh) = (0, 0);
    }
}

impl Sender {
    /// The record before a reduction. Retransmissions still in flight are counted, because D-SACKs
    /// may report them too (Linux `tcp_init_undo`).
    pub(super) fn undo_record(&self) -> UndoRecord {
        let prior_ssthresh = match self.episode.state {
            State::Cwr | State::Recovery => self.window.ssthresh,
            State::Open | State::Disorder | State::Loss => self.window.three_quarters(),
        };
        let retransmissions =
            self.board.retransmitted() + u32::from(self.is_probing_with_retransmission());
        UndoRecord {
            prior_cwnd: self.window.cwnd,
            prior_ssthresh,
            una: self.board.una(),
            retransmissions,
        }
    }

    /// Counts a retransmission of the current episode.
    pub(super) fn count_retransmission(&mut self, now: Time) {
        let first = &mut self.episode.first_retransmission;
        *first = (*first).min(now);
        if let Some(undo) = &mut self.episode.undo {
            undo.retransmissions += 1;
        }
    }

    /// Clears the time of the first retransmission, unless one is outstanding (Linux
    /// `tcp_retrans_stamp_cleanup`).
    pub(super) fn clear_first_retransmission(&mut self) {
        if !self.board.has_sent_again() {
            self.episode.first_retransmission = Time::NEVER;
        }
    }

    /// The Eifel detection algorithm (RFC 3522 §3.2 step 5, Linux `tcp_packet_delayed`): the
    /// acknowledgement number advances in response to a segment sent at `echo`. If that was before
    /// the first retransmission, an original filled the hole.
    pub(super) fn process_timestamp_echo(&mut self, echo: Time, prior_una: u32) {
        let first = self.episode.first_retransmission;
        let is_original = first != Time::NEVER && is_stamped_before(echo, first);
        let judges = self.episode.undo.is_some() && self.profile.timestamps && self.profile.undo;
        if !is_original || !judges {
            return;
        }
        let partial =
            self.episode.state == State::Recovery && self.board.una() < self.episode.recovery_point;
        if partial {
            self.reordering.observe(self.board.highest() - prior_una);
        }
        // Linux `tcp_try_undo_partial`: while a retransmission is outstanding, the decision is
        // deferred.
        if !partial || self.board.retransmitted() == 0 {
            self.clear_first_retransmission();
            self.board.forget_losses();
            self.undo_reduction();
        }
    }

    /// Processes a D-SACK, which reports a duplicate. If every retransmission was a duplicate,
    /// nothing was lost (Linux `tcp_try_undo_dsack`).
    pub(super) fn process_dsack(&mut self, block: Block, of_probe: bool) {
        if !of_probe {
            self.reordering.on_dsack();
        }
        let counts = |undo: &&mut UndoRecord| undo.retransmissions > 0 && block.start >= undo.una;
        let Some(undo) = self.episode.undo.as_mut().filter(counts) else { return };
        undo.retransmissions -= 1;
        if undo.retransmissions == 0 && self.profile.undo {
            self.undo_reduction();
        }
    }

    /// Restores window and threshold (Linux `tcp_undo_cwnd_reduction`).
    pub(super) fn undo_reduction(&mut self) {
        if let Some(undo) = self.episode.undo.take() {
            if self.needs.window_control != WindowControl::Full {
                self.window.cwnd = self.window.cwnd.max(undo.prior_cwnd);
                self.window.ssthresh = self.window.ssthresh.max(undo.prior_ssthresh);
            }
            if undo.prior_cwnd > 0 {
                self.cc.undo(&mut self.window);
            } else if self.profile.marked_undo && self.needs.window_control != WindowControl::Full {
                // After a timeout, much more is in flight than the one packet of the window, from
                // which the next reduction would start.
                self.window.cwnd = self.window.cwnd.max(self.window.ssthresh);
            }
        }
        self.episode.state = State::Open;
        self.timeouts.count = 0;
        self.timeouts.frto = false;
    }
}
