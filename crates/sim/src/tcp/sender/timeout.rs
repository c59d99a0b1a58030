//! The retransmission timeout, F-RTO, and idle applications.

use sojourn_aqm::Time;

use super::episode::Reason;
use super::{Sender, State, Timer};
use crate::cc::WindowControl;
use crate::packet::Packet;
use crate::tcp::cwnd_reduction::CwndReduction;
use crate::tcp::profile::{Detection, Idle};
use crate::tcp::reordering::DUPLICATE_THRESHOLD;
use crate::tcp::scoreboard::Delivery;

/// Packets that may leave after F-RTO confirmed the timeout; one fewer if it had no new data to
/// send (Linux 2.6 `tcp_process_frto`).
const FRTO_RESTART: u32 = 3;

/// State of the retransmission timeout and F-RTO.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeoutState {
    /// Timeouts since the acknowledgement number last advanced (Linux `icsk_retransmits`).
    pub(super) count: u32,
    /// Whether F-RTO is judging the last timeout (Linux `frto`).
    pub(super) frto: bool,
    /// SND.NXT at the start of the episode in which F-RTO judges a timeout; the episode may have
    /// begun with an earlier loss or timeout (Linux 2.6 `frto_highmark`).
    frto_high_mark: u32,
    /// Whether F-RTO sends new data on this acknowledgement instead of lost segments (RFC 5682 §2.1
    /// step 2b).
    frto_sends_new: bool,
    /// How often the connection's hash was redrawn, modulo 256.
    pub(super) rehashes: u8,
}

impl Sender {
    /// Sets how often the hash was redrawn during connection setup.
    pub fn set_rehashes(&mut self, count: u8) {
        self.timeouts.rehashes = count;
    }

    /// Data below this was sent before the timeout that F-RTO judges.
    pub(super) fn point_of_last_timeout(&self) -> u32 {
        if self.timeouts.frto { self.timeouts.frto_high_mark } else { self.episode.recovery_point }
    }

    /// Whether new data goes first on this acknowledgement.
    pub(super) fn take_frto_sends_new(&mut self) -> bool {
        std::mem::take(&mut self.timeouts.frto_sends_new)
    }

    /// Handles the expired retransmission timer (RFC 6298 §5.4 to §5.6, Linux
    /// `tcp_retransmit_timer`, `tcp_enter_loss`).
    pub(super) fn on_timeout(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        debug_assert!(self.board.outstanding() > 0, "the timer runs for outstanding data");
        let in_flight = self.board.in_flight();
        self.board.mark_all_lost(now, self.profile.detection == Detection::Rack);
        self.report_losses(now);
        self.distrust_reordering();
        if self.is_new_loss() {
            self.episode.undo = Some(self.undo_record());
            self.window.ssthresh = self.reduced_ssthresh(Reason::Timeout, in_flight);
        }
        self.cc.on_timeout();
        self.start_frto();
        self.timeouts.count += 1;
        // Linux `tcp_write_timeout`: another path may work better.
        self.timeouts.rehashes = self.timeouts.rehashes.wrapping_add(u8::from(self.profile.rehash));
        self.tail_probe = None;
        self.window.cwnd = self.board.in_flight() + 1;
        self.window.credit = 0;
        self.episode.state = State::Loss;
        self.episode.recovery_point = self.board.nxt();
        self.episode.keeps_timer = false;
        self.queue_cwr();
        self.rtt.back_off();
        self.timers.set(now, Timer::Retransmission, now + self.rtt.timeout());
        self.pace(now, 1);
        self.retransmit(now, self.board.una(), emit);
    }

    /// Resets the reordering metric after a timeout that followed several SACKs (Linux
    /// `tcp_enter_loss`).
    fn distrust_reordering(&mut self) {
        let disordered =
            self.episode.state <= State::Disorder && self.board.sacked() >= DUPLICATE_THRESHOLD;
        if disordered || self.profile.detection != Detection::Rack {
            self.reordering.on_timeout();
        }
    }

    /// Whether the timeout reduces the threshold; repeated timeouts of one segment reduce it only
    /// once (RFC 5681 §3.1). In Linux, the reduction of a recovery that the timeout ends counts as
    /// the first.
    fn is_new_loss(&self) -> bool {
        let again = self.profile.reduces_again && self.episode.state != State::Loss;
        let progressed = self.episode.state == State::Loss && self.timeouts.count == 0;
        again
            || self.episode.state < State::Cwr
            || self.board.una() >= self.episode.recovery_point
            || progressed
    }

    fn start_frto(&mut self) {
        let old = self.profile.frto_starts_over;
        let (una, point) = (self.board.una(), self.episode.recovery_point);
        let in_episode = self.episode.state >= State::Recovery && old;
        self.timeouts.frto_high_mark =
            if in_episode && point > una { point } else { self.board.nxt() };
        let tries = self.episode.state < State::Recovery || self.timeouts.count > 0 || old;
        self.timeouts.frto = self.profile.undo && tries;
    }

    /// F-RTO with SACK: determines whether the timeout was spurious (RFC 5682 §3.1, Linux
    /// `tcp_process_loss`). Returns true if the timeout was not spurious and an old stack reset the
    /// window.
    pub(super) fn process_frto(&mut self, now: Time, delivery: &Delivery) -> bool {
        if !self.timeouts.frto {
            return false;
        }
        let old = self.profile.frto_starts_over;
        let sent_new = self.board.nxt() > self.episode.recovery_point;
        if old && self.board.una() >= self.timeouts.frto_high_mark {
            self.mark_all_and_restart(now, if sent_new { FRTO_RESTART } else { FRTO_RESTART - 1 });
        } else if delivery.original && (sent_new || !old) {
            // Step 3b: data sent before the timeout has arrived, so nothing was lost.
            self.board.forget_losses();
            // A control that sets the window in every state has no threshold to which the window
            // could fall.
            let reduces = old && self.needs.window_control != WindowControl::Full;
            if reduces { self.reduce_after_spurious_timeout() } else { self.undo_reduction() }
        } else if sent_new {
            // Step 3a: new data caused a duplicate, so the loss was real.
            self.timeouts.frto &= delivery.advanced && delivery.sacked == 0;
            if !self.timeouts.frto && old {
                self.mark_all_and_restart(now, FRTO_RESTART);
            }
        } else if delivery.advanced && self.board.una() < self.episode.recovery_point {
            // Step 2b: new data, if there is any.
            self.episode.recovery_point = self.board.nxt();
            self.timeouts.frto = self.may_send_new_segment();
            self.timeouts.frto_sends_new = self.timeouts.frto;
            if !self.timeouts.frto && old {
                self.mark_all_and_restart(now, FRTO_RESTART - 1);
            }
        }
        old && self.episode.state == State::Loss && !self.timeouts.frto
    }

    /// Handles a justified timeout: everything not SACKed is lost (Linux 2.6
    /// `tcp_enter_frto_loss`).
    fn mark_all_and_restart(&mut self, now: Time, packets: u32) {
        self.timeouts.frto = false;
        self.board.mark_all_lost(now, false);
        self.window.cwnd = self.board.in_flight() + packets;
        self.window.credit = 0;
        self.episode.recovery_point = self.board.nxt();
    }

    /// Halves the window even though the timeout was spurious (Linux 2.6
    /// `tcp_ratehalving_spur_to_response`).
    fn reduce_after_spurious_timeout(&mut self) {
        self.episode.undo = None;
        self.timeouts.frto = false;
        self.timeouts.count = 0;
        self.window.cwnd = self.board.in_flight() + 1;
        self.window.credit = 0;
        let outstanding = self.board.outstanding();
        self.episode.reduction =
            CwndReduction::start(self.profile.on_mark, &mut self.window, outstanding);
        self.episode.recovery_point = self.board.nxt();
        self.episode.state = State::Cwr;
    }

    /// After an idle period, halves the window for every timeout that has passed (RFC 2861 §3,
    /// Linux `tcp_cwnd_restart`), or restarts it (RFC 5681 §4.1).
    pub(super) fn restart_after_idle(&mut self, now: Time) {
        if self.board.outstanding() > 0 || self.board.nxt() == 0 {
            return;
        }
        let (idle, timeout) = (now.since(self.sent.last_at), self.rtt.timeout());
        if self.needs.window_control == WindowControl::Full {
            // Linux `tcp_slow_start_after_idle_check`: no restart with `cong_control`.
            return self.tell_idle(now);
        }
        if idle <= timeout {
            return;
        }
        let restart_window = self.segments.initial_window.min(self.window.cwnd);
        match self.profile.idle {
            Idle::Keep => return,
            Idle::Restart => self.window.cwnd = restart_window,
            Idle::Halve => {
                self.window.ssthresh = self.window.three_quarters();
                let mut left = idle;
                while left > timeout && self.window.cwnd > restart_window {
                    left = left - timeout;
                    self.window.cwnd = (self.window.cwnd / 2).max(restart_window);
                }
            }
        }
        self.usage.restart(now);
    }
}
