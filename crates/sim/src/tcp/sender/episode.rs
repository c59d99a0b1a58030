//! States of a connection: when a window reduction begins and ends.

use sojourn_aqm::Time;

use super::Sender;
use super::undo::UndoRecord;
use crate::cc::WindowControl;
use crate::tcp::cwnd_reduction::CwndReduction;
use crate::tcp::profile::Style;
use crate::tcp::scoreboard::{Delivery, Marked};

/// The state of a connection (Linux `tcp_ca_state`).
///
/// ```text
/// Open --SACK--> Disorder --loss--> Recovery --recovery point acknowledged--> Open
///   |               |                ^      ^
///   +----- ECE -----+---> Cwr --loss-+      +--retransmission lost-- Loss --acknowledged--> Open
///                                                      any state --timeout--> Loss
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum State {
    /// Normal operation.
    Open,
    /// Segments are SACKed, none is marked lost.
    Disorder,
    /// The window is being reduced for marks.
    Cwr,
    /// The window is being reduced for a loss, and losses are being repaired.
    Recovery,
    /// The retransmission timer has expired.
    Loss,
}

/// Why the window is reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reason {
    Loss,
    Mark,
    Timeout,
}

/// The current episode, or the state left by the last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Episode {
    pub(super) state: State,
    /// SND.NXT when the reduction or the timeout began: RFC 6675's `RecoveryPoint`, Linux's
    /// `high_seq`; RFC 6582's `recover` is one less.
    pub(super) recovery_point: u32,
    pub(super) reduction: CwndReduction,
    /// The state that an undo would restore.
    pub(super) undo: Option<UndoRecord>,
    /// Whether a partial acknowledgement has arrived.
    partially_acknowledged: bool,
    /// Whether the last acknowledgement left the retransmission timer unchanged.
    pub(super) keeps_timer: bool,
    /// When the first retransmission of the episode was sent (Linux `retrans_stamp`).
    pub(super) first_retransmission: Time,
}

impl Default for Episode {
    fn default() -> Episode {
        Episode {
            state: State::Open,
            recovery_point: 0,
            reduction: CwndReduction::AtOnce { due: false },
            undo: None,
            partially_acknowledged: false,
            keeps_timer: false,
            first_retransmission: Time::NEVER,
        }
    }
}

impl Sender {
    /// Determines from an acknowledgement whether the current episode was spurious or has ended.
    /// Returns whether a timeout was confirmed and the window reset.
    #[inline]
    pub(super) fn judge_episode(
        &mut self,
        now: Time,
        delivery: &Delivery,
        echo: Time,
        prior_una: u32,
    ) -> bool {
        if self.episode.state == State::Open {
            self.episode.first_retransmission = Time::NEVER;
        }
        // Linux 2.6 ignores timestamps during F-RTO: its state is Disorder (`tcp_enter_frto`).
        let frto_decides = self.timeouts.frto && self.profile.frto_starts_over;
        if delivery.advanced && self.episode.state >= State::Recovery && !frto_decides {
            self.process_timestamp_echo(echo, prior_una);
        }
        let restarted = self.episode.state == State::Loss && self.process_frto(now, delivery);
        self.leave_finished_episode(delivery.advanced);
        restarted
    }

    /// Recovery and Loss end when the recovery point is acknowledged, Cwr when data beyond that
    /// point is acknowledged. Without SACK, all three end only when data beyond the recovery point
    /// is acknowledged, so that late duplicates do not start another recovery (RFC 6582 §3.2 step
    /// 1). A stack that does not repair on partial acknowledgements leaves Recovery on the first
    /// acknowledgement that advances.
    #[inline]
    fn leave_finished_episode(&mut self, advanced: bool) {
        let (una, point) = (self.board.una(), self.episode.recovery_point);
        let repaired = una > point || self.profile.sack && una == point;
        match self.episode.state {
            State::Recovery if advanced && !self.profile.repairs_on_partial_acks => {
                self.board.reset_duplicates();
                self.end_reduction();
            }
            State::Recovery if repaired => {
                self.end_reduction();
                self.reordering.end_recovery();
            }
            // RFC 6582 §3.2 step 3: the full acknowledgement sets the window.
            State::Recovery if una == point && self.episode.reduction.is_at_once() => {
                self.window.cwnd = self.window.ssthresh;
            }
            State::Cwr if una > point => self.end_reduction(),
            State::Loss if repaired => {
                self.episode.state = State::Open;
                self.timeouts.frto = false;
            }
            State::Open | State::Disorder | State::Cwr | State::Recovery | State::Loss => {}
        }
    }

    /// Keeps the undo record, because D-SACKs arrive a round trip later.
    fn end_reduction(&mut self) {
        self.window.cwnd = self.episode.reduction.final_cwnd(&self.window);
        self.episode.state = State::Open;
    }

    /// Records a partial acknowledgement, and whether it leaves the retransmission timer alone: in
    /// the Impatient variant all but the first of a recovery do (RFC 6582 §3.2 step 3, §4).
    #[inline]
    pub(super) fn note_partial_ack(&mut self, advanced: bool) {
        let Episode { state, recovery_point, partially_acknowledged, .. } = self.episode;
        let partial = advanced && state == State::Recovery && self.board.una() < recovery_point;
        self.episode.keeps_timer = partial && partially_acknowledged && self.profile.impatient;
        self.episode.partially_acknowledged |= partial;
    }

    /// Starts a reduction if a loss was found or a mark echoed, at most once per window of data.
    /// After a timeout, only the loss of a retransmission starts one.
    #[inline]
    pub(super) fn enter_episode(&mut self, now: Time, echoed: bool, marked: Marked) {
        let lost = self.board.lost() > 0;
        match self.episode.state {
            State::Open | State::Disorder if lost => {
                self.start_reduction(self.profile.recovery, Reason::Loss);
                self.begin_repair(now);
            }
            State::Loss if marked.again > 0 => {
                self.start_reduction(self.profile.recovery, Reason::Loss);
                self.timeouts.frto = false;
                self.episode.state = State::Recovery;
            }
            State::Cwr if lost => {
                self.cc.on_loss_after_mark(&mut self.window);
                self.begin_repair(now);
            }
            State::Open | State::Disorder if echoed => {
                self.start_reduction(self.profile.on_mark, Reason::Mark);
                self.episode.undo = None;
                self.episode.state = State::Cwr;
            }
            State::Open | State::Disorder | State::Cwr | State::Recovery | State::Loss => {}
        }
    }

    /// Starts a recovery, or retransmits as after a timeout if the stack has no recovery.
    fn begin_repair(&mut self, now: Time) {
        self.episode.state = match self.profile.recovery {
            Style::SlowStart => {
                self.board.mark_all_lost(now, false);
                self.window.cwnd = 1;
                State::Loss
            }
            Style::Proportional
            | Style::ProportionalEager
            | Style::Halving
            | Style::Pipe
            | Style::AtOnce => State::Recovery,
        };
    }

    /// Sets the state after a dubious acknowledgement that started no episode: Disorder or Open
    /// (Linux `tcp_try_keep_open`).
    pub(super) fn try_keep_open(&mut self) {
        if self.episode.state > State::Cwr {
            return;
        }
        self.clear_first_retransmission();
        if self.episode.state < State::Cwr {
            let disordered =
                self.board.sacked() + self.board.lost() > 0 || self.board.has_sent_again();
            self.episode.state = if disordered { State::Disorder } else { State::Open };
        }
    }

    pub(super) fn start_reduction(&mut self, style: Style, reason: Reason) {
        self.clear_first_retransmission();
        self.episode.undo = Some(self.undo_record());
        let in_flight = self.board.outstanding() - self.board.sacked();
        self.window.ssthresh = self.reduced_ssthresh(reason, in_flight);
        self.episode.partially_acknowledged = false;
        self.episode.reduction = match self.needs.window_control {
            WindowControl::Full => CwndReduction::LeftToControl,
            WindowControl::Growth | WindowControl::Window => {
                CwndReduction::start(style, &mut self.window, self.board.outstanding())
            }
        };
        self.window.credit = 0;
        self.tail_probe = None;
        self.episode.recovery_point = self.board.nxt();
        self.queue_cwr();
    }

    /// The threshold after a reduction, computed from the window or from the flight size (RFC 5681
    /// §3.1, equation 4), depending on the profile.
    pub(super) fn reduced_ssthresh(&mut self, reason: Reason, in_flight: u32) -> u32 {
        let mut base = self.window;
        if self.profile.reduce_in_flight {
            base.cwnd = in_flight.max(1);
        }
        match reason {
            Reason::Mark => self.cc.reduce_on_mark(&base),
            Reason::Loss => self.cc.reduce(&base),
            Reason::Timeout => self.cc.reduce_on_timeout(&base),
        }
    }
}
