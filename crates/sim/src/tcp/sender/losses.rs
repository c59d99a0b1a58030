//! What stands for a loss: time (RACK), distance (FACK), or duplicates.

use sojourn_aqm::{Span, Time};

use super::{Alarm, Sender, State};
use crate::tcp::profile::{Detection, Style};
use crate::tcp::reordering::DUPLICATES;
use crate::tcp::scoreboard::{Delivery, Marked};

/// Linux gives the reordering timer at least this (two jiffies).
const REORDER_SLACK: Span = Span::from_millis(2);

impl Sender {
    /// Marks what is lost.
    pub(super) fn detect_losses(&mut self, now: Time, advanced: bool) -> Marked {
        if !self.profile.sack {
            return self.detect_by_duplicates(advanced);
        }
        match self.profile.detection {
            Detection::Rack => self.detect_by_time(now),
            Detection::Fack => self.detect_by_distance(now, advanced),
            Detection::Duplicates => self.detect_by_sacks(),
        }
    }

    fn detect_by_time(&mut self, now: Time) -> Marked {
        self.reordering.update(self.board.una(), self.board.nxt());
        let many = self.board.sacked() >= self.reordering.metric();
        let at_once = !self.reordering.seen() && (self.state >= State::Recovery || many);
        let window = match self.rtt.min() {
            Some(min) if !at_once => {
                let quarters = self.reordering.steps() * (min.as_nanos() / 4);
                Span::from_nanos(quarters).min(self.rtt.smoothed())
            }
            _ => Span::ZERO,
        };
        let (marked, due) = self.board.detect_lost(now, window);
        if let Some(due) = due {
            // Linux gives the timeout as the longest wait.
            let due = (due + REORDER_SLACK).min(now + self.rtt.timeout());
            self.set_alarm(now, Alarm::Reordering, due);
        }
        marked
    }

    /// Linux 2.6 and 3.x: what lies further below the highest SACK than anything was reordered, is lost;
    /// once more was reordered, what has so many SACKed above it (`tcp_update_scoreboard`).
    fn detect_by_distance(&mut self, now: Time, advanced: bool) -> Marked {
        let Sender { reordering, board, state, .. } = self;
        let (una, metric) = (board.una(), reordering.metric());
        let mut limit = match reordering.raised() {
            true => board.sacked_from_top(metric).unwrap_or(una),
            false => board.highest().saturating_sub(metric),
        };
        if *state == State::Recovery && !self.profile.marks_new_data {
            limit = limit.min(self.point);
        }
        // In a recovery a duplicate says that the head is lost; so does a head that has waited for a
        // whole timeout (`tcp_head_timedout`).
        let hoe = *state == State::Recovery && !advanced;
        let overdue = !reordering.raised()
            && board.outstanding() > 0
            && now.since(board.head_sent()) > self.rtt.timeout();
        if hoe || overdue {
            limit = limit.max(una + 1);
        }
        let again = if *state == State::Recovery { board.mark_overtaken() } else { 0 };
        let marked = again + board.mark_below(limit);
        let early = self.detect_early(now);
        Marked { segments: marked + early, again, waits: self.alarm == Alarm::Reordering }
    }

    /// RFC 5827, delayed by a quarter of a round trip as in Linux 3.5 to 4.x: with fewer than four
    /// segments outstanding, all but the head SACKed and nothing left to send, the head is lost.
    fn detect_early(&mut self, now: Time) -> u32 {
        let outstanding = self.board.outstanding();
        let due = self.profile.early_retransmit
            && !self.reordering.raised()
            && (2..4).contains(&outstanding)
            && self.board.sacked() + 1 == outstanding
            && self.board.retransmitted() == 0
            && self.board.nxt() == self.segments.count.min(self.offered);
        if !due {
            if self.alarm == Alarm::Reordering {
                self.restart_timer(now);
            }
            return 0;
        }
        let delay = Span::from_nanos(self.rtt.smoothed().as_nanos() / 4).max(REORDER_SLACK);
        if self.alarm != Alarm::Reordering && self.due > now + delay {
            self.set_alarm(now, Alarm::Reordering, now + delay);
        }
        if self.alarm == Alarm::Reordering && self.due > now {
            return 0;
        }
        self.board.mark_below(self.board.una() + 1)
    }

    /// RFC 6675: three SACKed above. In a recovery of ns-2's Sack1 every hole is lost.
    fn detect_by_sacks(&mut self) -> Marked {
        let holes = self.state == State::Recovery && self.profile.recovery == Style::Pipe;
        let above = if holes { 1 } else { DUPLICATES };
        let limit = self.board.sacked_from_top(above).unwrap_or(0);
        Marked { segments: self.board.mark_below(limit), ..Marked::default() }
    }

    /// As many duplicates as the threshold, and in a recovery every acknowledgement that stops short of
    /// its end, say that the head is lost (RFC 6582 §3.2).
    fn detect_by_duplicates(&mut self, advanced: bool) -> Marked {
        let una = self.board.una();
        let lost = match self.state {
            State::Open | State::Disorder | State::Cwr => {
                self.board.sacked() >= self.reordering.metric()
            }
            State::Recovery => advanced && una < self.point,
            State::Loss => false,
        };
        let segments = if lost { self.board.mark_below(una + 1) } else { 0 };
        Marked { segments, ..Marked::default() }
    }

    /// A duplicate acknowledgement, where there is no SACK, says that one packet has arrived. More of
    /// them than packets can have arrived say that some were reordered.
    pub(super) fn take_duplicate(&mut self, delivery: &mut Delivery) {
        let counts = self.state != State::Loss || self.board.nxt() > self.point;
        if !counts || self.board.outstanding() == 0 {
            return;
        }
        if self.board.count_duplicate() {
            delivery.packets += 1;
            delivery.sacked += 1;
        } else {
            self.reordering.observe(self.board.outstanding());
        }
    }
}
