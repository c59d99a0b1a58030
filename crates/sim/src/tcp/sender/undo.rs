//! Withdrawing a reduction that turns out to have been unnecessary (endpoints sheet §1.11): every
//! retransmission of the episode arrived a second time, as D-SACK tells (RFC 2883), or what was sent
//! before a timeout arrives after all (F-RTO).

use super::{Sender, State};
use crate::cc::{Steers, Window};
use crate::packet::Packet;

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
    /// Before a reduction.
    pub(super) fn of(window: &Window, una: u32) -> Undo {
        Undo { cwnd: window.cwnd, ssthresh: window.ssthresh, una, retransmissions: 0 }
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
    /// Counts a retransmission of the present episode.
    pub(super) fn count_retransmission(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.retransmissions += 1;
        }
    }

    /// A segment arrived twice. When that is so for every retransmission, nothing had been lost.
    pub(super) fn take_needless(&mut self, seq: u32) {
        let counts = |undo: &&mut Undo| undo.retransmissions > 0 && seq >= undo.una;
        let Some(undo) = self.undo.as_mut().filter(counts) else { return };
        undo.retransmissions -= 1;
        if undo.retransmissions == 0 && self.profile.undo {
            self.withdraw_reduction();
        }
    }

    /// Window and threshold are again what they were, and nothing counts as lost.
    pub(super) fn withdraw_reduction(&mut self) {
        if let Some(undo) = self.undo.take() {
            if self.needs.steers != Steers::Everything {
                self.window.cwnd = self.window.cwnd.max(undo.cwnd);
                self.window.ssthresh = self.window.ssthresh.max(undo.ssthresh);
            }
            self.cc.undo(&mut self.window);
        }
        self.board.forget_losses();
        self.state = State::Open;
        self.frto = false;
    }
}
