//! Silence: the retransmission timer, whether its expiry was justified, and idle applications.

use sojourn_aqm::Time;

use super::super::profile::{Detection, Idle};
use super::super::reordering::DUPLICATES;
use super::super::scoreboard::Delivery;
use super::{Alarm, Reason, Sender, State};
use crate::cc::Steers;
use crate::packet::Packet;

/// Packets that may leave where F-RTO found that the timeout was right (Linux `tcp_process_frto`).
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
        let tried = before_recovery || self.timeouts > 0 || self.profile.frto_starts_over;
        self.frto = self.profile.undo && tried;
        self.timeouts += 1;
        self.probe = None;
        self.window.cwnd = self.board.in_flight() + 1;
        self.window.credit = 0;
        self.state = State::Loss;
        self.point = self.board.nxt();
        self.tell_reduced = self.segments.ecn;
        self.rtt.back_off();
        self.set_alarm(now, Alarm::Timeout, now + self.rtt.timeout());
        self.retransmit(now, una, emit);
    }

    /// F-RTO (RFC 5682 with SACK): was the timeout spurious?
    pub(super) fn judge_timeout(&mut self, now: Time, delivery: &Delivery) {
        if !self.frto {
            return;
        }
        if delivery.original {
            // What was sent before the timeout has arrived: nothing was lost.
            self.board.forget_losses();
            self.withdraw_reduction();
        } else if self.board.nxt() > self.point {
            // New data went out and the answer is a duplicate: the loss was real.
            self.frto &= delivery.advanced && delivery.sacked == 0;
            if !self.frto && self.profile.frto_starts_over {
                self.board.mark_all_lost(now, false);
                self.window.cwnd = self.board.in_flight() + FRTO_RESTART;
                self.window.credit = 0;
                self.point = self.board.nxt();
            }
        } else if delivery.advanced && self.board.una() < self.point {
            self.point = self.board.nxt();
            self.frto = self.board.nxt() < self.segments.count.min(self.offered);
            self.only_new = self.frto;
        }
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
