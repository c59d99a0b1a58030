//! Silence: the retransmission timer, whether its expiry was justified, and idle applications.

use sojourn_aqm::Time;

use super::super::descent::Descent;
use super::super::profile::{Detection, Idle};
use super::super::reordering::DUPLICATES;
use super::super::scoreboard::Delivery;
use super::{Alarm, Reason, Sender, State};
use crate::cc::Steers;
use crate::packet::Packet;

/// Packets that may leave where F-RTO found that the timeout was right; one less where it asked with no new
/// data (Linux `tcp_process_frto`).
const FRTO_RESTART: u32 = 3;

impl Sender {
    /// The retransmission timer has expired (endpoints sheet §1.11).
    pub(super) fn on_timeout(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        debug_assert!(
            self.board.outstanding() > 0,
            "the timer runs only while data is outstanding"
        );
        self.board.mark_all_lost(now, self.profile.detection == Detection::Rack);
        self.tell_losses(now);
        let una = self.board.una();
        let progressed = self.state == State::Loss && self.timeouts == 0;
        let fresh = self.state < State::Cwr || una >= self.point || progressed;
        let before_recovery = self.state < State::Recovery;
        let disordered = self.state <= State::Disorder && self.board.sacked() >= DUPLICATES;
        if disordered || self.profile.detection != Detection::Rack {
            self.reordering.time_out();
        }
        if fresh {
            self.undo = Some(self.undo_of_now());
            self.window.ssthresh = self.reduced(Reason::Timeout);
        }
        self.cc.on_timeout();
        let amid = self.state >= State::Recovery && self.profile.frto_starts_over;
        self.frto_mark = if amid && self.point > una { self.point } else { self.board.nxt() };
        let tried = before_recovery || self.timeouts > 0 || self.profile.frto_starts_over;
        self.frto = self.profile.undo && tried;
        self.timeouts += 1;
        self.probe = None;
        self.window.cwnd = self.board.in_flight() + 1;
        self.window.credit = 0;
        self.state = State::Loss;
        self.point = self.board.nxt();
        self.tell_reduced = self.segments.ecn && self.accurate.is_none();
        self.rtt.back_off();
        self.set_alarm(now, Alarm::Timeout, now + self.rtt.timeout());
        self.retransmit(now, una, emit);
    }

    /// F-RTO (RFC 5682 with SACK): was the timeout spurious? Returns whether it was not and all starts over.
    pub(super) fn judge_timeout(&mut self, now: Time, delivery: &Delivery) -> bool {
        if !self.frto {
            return false;
        }
        let old = self.profile.frto_starts_over;
        let asked = self.board.nxt() > self.point;
        if old && self.board.una() >= self.frto_mark {
            self.start_over(now, if asked { FRTO_RESTART } else { FRTO_RESTART - 1 });
        } else if delivery.original && (asked || !old) {
            // What was sent before the timeout has arrived: nothing was lost.
            self.board.forget_losses();
            // A control that steers everything has no threshold to come down to.
            let keeps = old && self.needs.steers != Steers::Everything;
            if keeps { self.keep_reduction() } else { self.withdraw_reduction() }
        } else if asked {
            // New data went out and the answer is a duplicate: the loss was real.
            self.frto &= delivery.advanced && delivery.sacked == 0;
            if !self.frto && old {
                self.start_over(now, FRTO_RESTART);
            }
        } else if delivery.advanced && self.board.una() < self.point {
            self.point = self.board.nxt();
            self.frto = self.board.nxt() < self.segments.count.min(self.offered);
            self.only_new = self.frto;
            if !self.frto && old {
                self.start_over(now, FRTO_RESTART - 1);
            }
        }
        old && self.state == State::Loss && !self.frto
    }

    /// The timeout was right: all that is not SACKed is lost (Linux 2.6 `tcp_enter_frto_loss`).
    fn start_over(&mut self, now: Time, packets: u32) {
        self.frto = false;
        self.board.mark_all_lost(now, false);
        self.window.cwnd = self.board.in_flight() + packets;
        self.window.credit = 0;
        self.point = self.board.nxt();
    }

    /// The timeout was spurious, and the window comes down to half all the same (Linux 2.6
    /// `tcp_ratehalving_spur_to_response`).
    fn keep_reduction(&mut self) {
        self.undo = None;
        self.frto = false;
        self.timeouts = 0;
        self.window.cwnd = self.board.in_flight() + 1;
        self.window.credit = 0;
        let outstanding = self.board.outstanding();
        self.descent = Descent::start(self.profile.on_mark, &mut self.window, outstanding);
        self.point = self.board.nxt();
        self.state = State::Cwr;
    }

    /// After an idle period the window is halved for every timeout that has passed (RFC 2861, Linux
    /// `tcp_cwnd_restart`), or restarts (RFC 5681 §4.1).
    pub(super) fn restart_after_idle(&mut self, now: Time) {
        if self.board.outstanding() > 0 || self.board.nxt() == 0 {
            return;
        }
        let (idle, timeout) = (now.since(self.last_sent), self.rtt.timeout());
        if self.needs.steers == Steers::Everything {
            return self.cc.on_idle(now, idle); // Linux: no restart where the control has the window
        }
        if idle <= timeout {
            return;
        }
        let floor = self.segments.initial_window.min(self.window.cwnd);
        match self.profile.idle {
            Idle::Keep => return,
            Idle::Restart => self.window.cwnd = floor,
            Idle::Halve => {
                self.window.ssthresh = self.window.three_quarters();
                let mut left = idle;
                while left > timeout && self.window.cwnd > floor {
                    left = left - timeout;
                    self.window.cwnd = (self.window.cwnd / 2).max(floor);
                }
            }
        }
        self.usage.restart(now);
    }
}
