//! What stands for a loss: time (RACK), distance (FACK), or duplicates.

use sojourn_aqm::{Span, Time};

use super::{Sender, State};
use crate::tcp::profile::{Detection, Style};
use crate::tcp::scoreboard::Delivery;

/// Segments SACKed, or duplicates, that stand for a loss without waiting (Linux `tcp_reordering`).
const REORDERING: u32 = 3;
/// Linux gives the reordering timer at least this (two jiffies).
const REORDER_SLACK: Span = Span::from_millis(2);

impl Sender {
    /// Marks what is lost; returns how many segments.
    pub(super) fn detect_losses(&mut self, now: Time, advanced: bool) -> u32 {
        if !self.profile.sack {
            return self.detect_by_duplicates(advanced);
        }
        match self.profile.detection {
            Detection::Rack => self.detect_by_time(now),
            Detection::Fack => {
                let highest = self.board.sacked_from_top(1).unwrap_or(0);
                let marked = self.board.mark_below((highest + 1).saturating_sub(REORDERING));
                marked + self.board.detect_lost_again(now, Span::ZERO).0
            }
            Detection::Duplicates => self.detect_by_sacks(),
        }
    }

    fn detect_by_time(&mut self, now: Time) -> u32 {
        let at_once = self.state >= State::Recovery || self.board.sacked() >= REORDERING;
        let window = match self.rtt.min() {
            Some(min) if !at_once => Span::from_nanos(min.as_nanos() / 4).min(self.rtt.smoothed()),
            _ => Span::ZERO,
        };
        let (marked, due) = self.board.detect_lost(now, window);
        self.reorder_timer = due.map_or(Time::NEVER, |due| due + REORDER_SLACK);
        marked
    }

    /// RFC 6675: three SACKed above. In a recovery of ns-2's Sack1 every hole is lost.
    fn detect_by_sacks(&mut self) -> u32 {
        let holes = self.state == State::Recovery && self.profile.recovery == Style::Pipe;
        let above = if holes { 1 } else { REORDERING };
        let limit = self.board.sacked_from_top(above).unwrap_or(0);
        self.board.mark_below(limit)
    }

    /// The third duplicate, and in a recovery every acknowledgement that stops short of its end, say
    /// that the head is lost (RFC 6582 §3.2).
    fn detect_by_duplicates(&mut self, advanced: bool) -> u32 {
        let una = self.board.una();
        let lost = match self.state {
            State::Open | State::Disorder | State::Cwr => self.board.sacked() >= REORDERING,
            State::Recovery => advanced && una < self.point,
            State::Loss => false,
        };
        if lost { self.board.mark_below(una + 1) } else { 0 }
    }

    /// A duplicate acknowledgement, where there is no SACK, says that one packet has arrived.
    pub(super) fn take_duplicate(&mut self, delivery: &mut Delivery) {
        let counts = self.state != State::Loss || self.board.nxt() > self.point;
        if counts && self.board.outstanding() > 0 && self.board.count_duplicate() {
            delivery.packets += 1;
            delivery.sacked += 1;
        }
    }
}
