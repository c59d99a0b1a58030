//! Withdrawing a reduction that turns out to have been unnecessary (endpoints sheet §1.11): every
//! retransmission of the episode arrived a second time, as D-SACK tells (RFC 2883), an echoed timestamp
//! is older than the first of them (RFC 3522), or what was sent before a timeout arrives after all (F-RTO).

use sojourn_aqm::Time;

use super::{Sender, State};
use crate::cc::Steers;
use crate::packet::{Block, Packet};
use crate::tcp::rtt::is_stamped_before;

/// What a reduction changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    cwnd: u32,
    ssthresh: u32,
    /// What had been acknowledged: duplicates below belong to earlier episodes.
    una: u32,
    /// Retransmissions of the episode of which no copy is known to have been needless.
    retransmissions: u32,
}

impl Undo {
    /// A mark was echoed: the reduction stands whatever the losses turn out to be.
    pub(super) fn forbid(&mut self) {
        (self.cwnd, self.ssthresh) = (0, 0);
    }
}

/// Whether the first SACK block tells of a segment that arrived twice: it lies below the number
/// acknowledged or within the second block (RFC 2883 §4).
pub(super) fn is_duplicate(ack: &Packet) -> bool {
    let [first, second, _] = ack.sack;
    let within = !second.is_empty() && second.start <= first.start && first.end <= second.end;
    first.end <= ack.seq || within
}

impl Sender {
    /// Before a reduction. What has been sent again and is still on its way, may be told of twice too
    /// (Linux `tcp_init_undo`).
    pub(super) fn undo_of_now(&self) -> Undo {
        let ssthresh = match self.state {
            State::Cwr | State::Recovery => self.window.ssthresh,
            State::Open | State::Disorder | State::Loss => self.window.three_quarters(),
        };
        let retransmissions = self.board.retransmitted() + u32::from(self.is_probing_again());
        Undo { cwnd: self.window.cwnd, ssthresh, una: self.board.una(), retransmissions }
    }

    /// Counts a retransmission of the present episode.
    pub(super) fn count_retransmission(&mut self, now: Time) {
        self.first_retransmission = self.first_retransmission.min(now);
        if let Some(undo) = &mut self.undo {
            undo.retransmissions += 1;
        }
    }

    /// Nothing that was sent again is in doubt any more (Linux `tcp_retrans_stamp_cleanup`).
    pub(super) fn forget_retransmissions(&mut self) {
        if !self.board.has_sent_again() {
            self.first_retransmission = Time::NEVER;
        }
    }

    /// The acknowledgement number advances in answer to a segment sent at `echo`. If that was before
    /// anything was sent again, the hole was filled by an original that was only late (Linux
    /// `tcp_packet_delayed`). `before`: the number before it.
    pub(super) fn judge_echo(&mut self, echo: Time, before: u32) {
        let first = self.first_retransmission;
        let late = first != Time::NEVER && is_stamped_before(echo, first);
        let judges = self.undo.is_some() && self.profile.timestamps && self.profile.undo;
        if !late || !judges {
            return;
        }
        let partial = self.state == State::Recovery && self.board.una() < self.point;
        if partial {
            self.reordering.observe(self.board.highest() - before);
        }
        // In a recovery that still waits for a retransmission the rest is judged later.
        if !partial || self.board.retransmitted() == 0 {
            self.forget_retransmissions();
            self.board.forget_losses();
            self.withdraw_reduction();
        }
    }

    /// A segment arrived twice. When that is so for every retransmission, nothing had been lost.
    pub(super) fn take_needless(&mut self, block: Block, of_probe: bool) {
        if !of_probe {
            self.reordering.take_needless();
        }
        let counts = |undo: &&mut Undo| undo.retransmissions > 0 && block.start >= undo.una;
        let Some(undo) = self.undo.as_mut().filter(counts) else { return };
        undo.retransmissions -= 1;
        if undo.retransmissions == 0 && self.profile.undo {
            self.withdraw_reduction();
        }
    }

    /// Window and threshold are again what they were.
    pub(super) fn withdraw_reduction(&mut self) {
        if let Some(undo) = self.undo.take() {
            if self.needs.steers != Steers::Everything {
                self.window.cwnd = self.window.cwnd.max(undo.cwnd);
                self.window.ssthresh = self.window.ssthresh.max(undo.ssthresh);
            }
            if undo.cwnd > 0 {
                self.cc.undo(&mut self.window);
            } else if self.profile.marked_undo {
                // After a timeout much more is in flight than the window of 1, from which the next
                // reduction would start.
                self.window.cwnd = self.window.cwnd.max(self.window.ssthresh);
            }
        }
        self.state = State::Open;
        self.timeouts = 0;
        self.frto = false;
    }
}
