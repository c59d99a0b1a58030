//! Episodes: when a reduction of the window begins and ends, and how the window comes down in between.

use super::{Reason, Sender, State};
use crate::cc::Steers;
use crate::tcp::descent::{Descent, Step};
use crate::tcp::profile::{Moderation, Style};
use crate::tcp::scoreboard::Marked;

impl Sender {
    /// Recovery and Loss end when the point is acknowledged, Cwr when something beyond it is. Without
    /// SACK all wait for something beyond, so that late duplicates are not taken for a new loss (RFC
    /// 6582 §3.2 step 2).
    pub(super) fn leave_finished_episode(&mut self) {
        let una = self.board.una();
        let repaired = una > self.point || self.profile.sack && una == self.point;
        match self.state {
            State::Recovery if repaired => {
                self.leave_reduction();
                self.reordering.end_recovery();
            }
            State::Cwr if una > self.point => self.leave_reduction(),
            State::Loss if repaired => {
                self.state = State::Open;
                self.frto = false;
            }
            State::Open | State::Disorder | State::Cwr | State::Recovery | State::Loss => {}
        }
    }

    fn leave_reduction(&mut self) {
        self.window.cwnd = self.descent.final_window(&self.window);
        self.state = State::Open; // the undo stays: duplicates are told a round trip later
    }

    /// Starts a reduction when a loss was found or a mark was echoed, once per window. After a timeout
    /// only the loss of a retransmission starts one.
    pub(super) fn enter_episode(&mut self, echoed: bool, marked: Marked) {
        let lost = self.board.lost() > 0;
        match self.state {
            State::Open | State::Disorder if lost => {
                self.start_reduction(self.profile.recovery, Reason::Loss);
                self.state = State::Recovery;
            }
            State::Loss if marked.again > 0 => {
                self.start_reduction(self.profile.recovery, Reason::Loss);
                self.frto = false;
                self.state = State::Recovery;
            }
            State::Cwr if lost => self.state = State::Recovery,
            State::Open | State::Disorder if echoed => {
                self.start_reduction(self.profile.on_mark, Reason::Mark);
                self.undo = None;
                self.state = State::Cwr;
            }
            State::Open | State::Disorder | State::Cwr | State::Recovery | State::Loss => {}
        }
    }

    /// After an odd acknowledgement that began nothing: is something still odd? (Linux
    /// `tcp_try_keep_open`.)
    pub(super) fn keep_open(&mut self) {
        if self.state > State::Cwr {
            return;
        }
        self.forget_retransmissions();
        if self.state < State::Cwr {
            let odd = self.board.sacked() + self.board.lost() > 0 || self.board.has_sent_again();
            self.state = if odd { State::Disorder } else { State::Open };
        }
    }

    pub(super) fn start_reduction(&mut self, style: Style, reason: Reason) {
        self.forget_retransmissions();
        self.undo = Some(self.undo_of_now());
        self.window.ssthresh = self.reduced(reason);
        self.descent = match self.needs.steers {
            Steers::Everything => Descent::Steered,
            _ => Descent::start(style, &mut self.window, self.board.outstanding()),
        };
        self.window.credit = 0;
        self.probe = None;
        self.point = self.board.nxt();
        self.tell_reduced = self.segments.ecn && self.accurate.is_none();
    }

    /// The threshold after a reduction of what the profile reduces: the window, or what is in flight.
    pub(super) fn reduced(&mut self, reason: Reason) -> u32 {
        let mut base = self.window;
        if self.profile.reduce_in_flight {
            base.cwnd = self.board.outstanding().max(1);
        }
        match reason {
            Reason::Mark => self.cc.reduce_on_mark(&base),
            Reason::Loss => self.cc.reduce(&base),
            Reason::Timeout => self.cc.reduce_on_timeout(&base),
        }
    }

    /// After an odd acknowledgement no burst leaves.
    pub(super) fn moderate(&mut self) {
        let due = match (self.profile.moderation, self.state) {
            (_, State::Cwr | State::Recovery) | (Moderation::Never, _) => false,
            (Moderation::Disordered, state) => state != State::Open,
            (Moderation::Always, _) => true,
        };
        if due {
            let most = self.board.in_flight() + self.reordering.metric();
            self.window.cwnd = self.window.cwnd.min(most);
        }
    }

    pub(super) fn descend(&mut self, delivered: u32, advanced: bool, marked: u32) {
        let in_flight = self.board.in_flight();
        let safe = advanced && marked == 0;
        let lowest = self.cc.lowest_while_halving(self.window.ssthresh);
        let step = Step { delivered, in_flight, advanced, safe, lowest };
        self.descent.on_ack(&step, &mut self.window);
    }
}
