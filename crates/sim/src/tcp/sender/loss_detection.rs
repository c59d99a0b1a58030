//! Loss detection: by time (RACK), by distance (FACK), or by duplicates (RFC 6675, RFC 6582).

use sojourn_aqm::{Span, Time};

use super::{Sender, State, Timer};
use crate::packet::Packet;
use crate::tcp::profile::{Detection, Style};
use crate::tcp::reordering::DUPLICATE_THRESHOLD;
use crate::tcp::scoreboard::Marked;

/// Added to the reordering timer: two jiffies (Linux `TCP_TIMEOUT_MIN`).
const REORDER_SLACK: Span = Span::from_millis(2);

impl Sender {
    /// Marks lost segments on an acknowledgement.
    #[inline]
    pub(super) fn detect_losses(&mut self, now: Time, advanced: bool) -> Marked {
        if !self.profile.sack {
            return self.detect_by_duplicates(advanced);
        }
        match self.profile.detection {
            Detection::Rack => self.detect_losses_by_rack(now),
            Detection::Fack => self.detect_by_distance(now, advanced),
            Detection::Duplicates => self.detect_by_sacks(),
        }
    }

    /// [`Sender::detect_losses`] for detection by time.
    #[inline]
    pub(super) fn detect_losses_by_rack(&mut self, now: Time) -> Marked {
        self.reordering.update(self.board.una(), self.board.nxt());
        // Linux `tcp_rack_mark_lost`: otherwise segments wait for the timer.
        if self.board.take_advanced() { self.detect_by_time(now) } else { <_>::default() }
    }

    /// RFC 8985 §6.2 steps 4 and 5. If no reordering was seen, the reordering window is zero after
    /// three SACKs and in a recovery, because losses are then certain (Linux `tcp_rack_reo_wnd`).
    fn detect_by_time(&mut self, now: Time) -> Marked {
        let many = self.board.sacked() >= self.reordering.metric();
        let at_once = !self.reordering.seen() && (self.episode.state >= State::Recovery || many);
        let window = match self.rtt.min() {
            Some(min) if !at_once => {
                let window = self.reordering.window_mult() * (min.as_nanos() / 4);
                Span::from_nanos(window).min(self.rtt.smoothed())
            }
            _ => Span::ZERO,
        };
        let (marked, due) = self.board.detect_lost(now, window);
        if let Some(due) = due {
            // Linux `tcp_rack_mark_lost`: no longer than the retransmission timeout.
            let due = (due + REORDER_SLACK).min(now + self.rtt.timeout());
            self.timers.set(now, Timer::Reordering, due);
        }
        marked
    }

    /// FACK in Linux 2.6 and 3.x (`tcp_update_scoreboard`): a segment is lost if its distance below
    /// the highest SACK exceeds any reordering seen. Once the metric was raised, a segment is lost
    /// if that many segments above it are SACKed.
    fn detect_by_distance(&mut self, now: Time, advanced: bool) -> Marked {
        let Sender { reordering, board, .. } = self;
        let recovering = self.episode.state == State::Recovery;
        let (una, metric) = (board.una(), reordering.metric());
        let mut limit = match reordering.raised() {
            true => board.sacked_from_top(metric).unwrap_or(una),
            false => board.highest().saturating_sub(metric),
        };
        if recovering && !self.profile.marks_new_data {
            limit = limit.min(self.episode.recovery_point);
        }
        // In a recovery, a duplicate means that the head is lost; so does a head that has been
        // outstanding for a whole timeout (`tcp_head_timedout`).
        let duplicate = recovering && !advanced;
        let overdue = !reordering.raised()
            && board.outstanding() > 0
            && now.since(board.head_sent()) > self.rtt.timeout();
        if duplicate || overdue {
            limit = limit.max(una + 1);
        }
        let again = if recovering { board.mark_overtaken() } else { 0 };
        let marked = again + board.mark_below(limit);
        let early = self.detect_early(now);
        Marked {
            segments: marked + early,
            again,
            waits: self.timers.pending() == Timer::Reordering,
        }
    }

    /// Early retransmit (RFC 5827 §3.2), delayed by a quarter of a round trip as in Linux 3.5 to
    /// 4.x (`tcp_pause_early_retransmit`): the head is lost if fewer than four segments are
    /// outstanding, all others are SACKed and there is no more data to send.
    fn detect_early(&mut self, now: Time) -> u32 {
        let outstanding = self.board.outstanding();
        let due = self.profile.early_retransmit
            && !self.reordering.raised()
            && (2..4).contains(&outstanding)
            && self.board.sacked() + 1 == outstanding
            && self.board.retransmitted() == 0
            && !self.may_send_new_segment();
        if !due {
            if self.timers.pending() == Timer::Reordering {
                self.restart_timer(now);
            }
            return 0;
        }
        let delay = Span::from_nanos(self.rtt.smoothed().as_nanos() / 4).max(REORDER_SLACK);
        if self.timers.pending() != Timer::Reordering && self.timers.due() > now + delay {
            self.timers.set(now, Timer::Reordering, now + delay);
        }
        if self.timers.pending() == Timer::Reordering && self.timers.due() > now {
            return 0;
        }
        self.board.mark_below(self.board.una() + 1)
    }

    /// RFC 6675 §4, `IsLost()`: three segments above are SACKed. In a recovery of ns-2's Sack1
    /// every hole is lost.
    fn detect_by_sacks(&mut self) -> Marked {
        let holes = self.episode.state == State::Recovery && self.profile.recovery == Style::Pipe;
        let above = if holes { 1 } else { DUPLICATE_THRESHOLD };
        let limit = self.board.sacked_from_top(above).unwrap_or(0);
        Marked { segments: self.board.mark_below(limit), ..Marked::default() }
    }

    /// RFC 6582 §3.2: the head is lost when the number of duplicates reaches the threshold, and in
    /// a recovery after every partial acknowledgement.
    fn detect_by_duplicates(&mut self, advanced: bool) -> Marked {
        let una = self.board.una();
        let point = self.episode.recovery_point;
        // If a recovery ends early, earlier segments are left to the timer: duplicates caused by
        // its retransmissions must not start another recovery (RFC 6582 §3.2 step 1).
        let is_guarded = !self.profile.repairs_on_partial_acks && 0 < point && una <= point;
        let lost = match self.episode.state {
            State::Open | State::Disorder | State::Cwr => {
                !is_guarded && self.board.sacked() >= self.reordering.metric()
            }
            State::Recovery => advanced && una < self.episode.recovery_point,
            State::Loss => false,
        };
        let segments = if lost { self.board.mark_below(una + 1) } else { 0 };
        Marked { segments, ..Marked::default() }
    }

    /// Handles the timer that expires while segments are within the reordering window (Linux
    /// `tcp_rack_reo_timeout`).
    pub(super) fn on_reordering_timeout(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        let recovering = self.episode.state == State::Recovery;
        let marked = match self.profile.detection {
            Detection::Rack => self.detect_by_time(now),
            Detection::Fack | Detection::Duplicates => self.detect_losses(now, false),
        };
        self.report_losses(now);
        // Even after a timeout this counts as a separate loss, whether or not a retransmission was
        // lost.
        self.enter_episode(now, false, Marked { again: marked.segments, ..marked });
        if marked.segments > 0 && self.episode.state == State::Recovery && !recovering {
            self.reduce_cwnd(1, false, marked.segments);
        }
        self.send_allowed(now, false, emit);
        if self.timers.pending() == Timer::Reordering {
            self.restart_timer(now);
        }
    }
}
