//! Marks segments lost by RACK, by distance below a SACK or after a timeout, and unmarks them.

use std::cmp::Reverse;

use sojourn_aqm::{Span, Time};

use super::{EVER_RETRANSMITTED, LOST, RETRANSMITTED, Record, Retransmission, SACKED};
use super::{Scoreboard, Transmission};

/// The result of loss detection.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Marked {
    /// Segments newly marked lost.
    pub(crate) segments: u32,
    /// How many of these are retransmissions.
    pub(crate) again: u32,
    /// Whether the reordering timer will decide about other segments.
    pub(crate) waits: bool,
}

impl Scoreboard {
    /// RFC 8985 §6.2 step 5, `RACK_detect_loss()`: marks segments sent before the newest arrival
    /// and more than a round trip plus the reordering `window` ago. Also returns when the last of
    /// those still within the window will be due.
    pub(crate) fn detect_lost(&mut self, now: Time, window: Span) -> (Marked, Option<Time>) {
        let timeout = self.last_rtt + window;
        let at_once = self.judge_overtaken(now, timeout);
        let (later, last_due) = match self.waiting.is_empty() {
            true => (0, None),
            false => self.detect_lost_waiting(now, timeout),
        };
        let (again, due) = self.detect_lost_again(now, window);
        let due = last_due.max(due);
        (Marked { segments: at_once + later + again, again, waits: due.is_some() }, due)
    }

    /// RACK for first transmissions.
    fn detect_lost_waiting(&mut self, now: Time, timeout: Span) -> (u32, Option<Time>) {
        let mut marked = 0;
        while let Some(sent) = self.first_waiting()
            && sent.sent + timeout <= now
            && sent < self.newest
        {
            self.mark_lost(sent.seq);
            marked += 1;
        }
        (marked, self.last_waiting().map(|sent| sent.sent + timeout))
    }

    /// Moves first transmissions sent before the newest arrival to `waiting`, each once, so that a
    /// segment within the reordering window is not revisited for every later arrival. If `waiting`
    /// is empty, transmissions that are already overdue are marked lost instead. Returns how many
    /// were marked.
    fn judge_overtaken(&mut self, now: Time, timeout: Span) -> u32 {
        let mut marked = 0;
        let mut seq = self.judged.max(self.una);
        while seq < self.nxt {
            let Record { sent, flags } = *self.record(seq);
            let recent = Transmission { sent, seq } >= self.newest;
            if recent && flags & EVER_RETRANSMITTED == 0 {
                break;
            }
            if flags == 0 && self.waiting.is_empty() && sent + timeout <= now {
                self.mark_lost(seq);
                marked += 1;
            } else if flags & (SACKED | LOST | RETRANSMITTED) == 0 {
                self.wait(Transmission { sent, seq });
            }
            seq += 1;
        }
        self.judged = seq;
        marked
    }

    /// Inserts in order of sending, which is the order of segment numbers except for retransmitted
    /// segments after [`Scoreboard::forget_losses`].
    fn wait(&mut self, transmission: Transmission) {
        if self.waiting.back().is_none_or(|&last| last <= transmission) {
            return self.waiting.push_back(transmission);
        }
        let place = self.waiting.partition_point(|&earlier| earlier < transmission);
        self.waiting.insert(place, transmission);
    }

    /// The first undecided transmission; drops those before it.
    fn first_waiting(&mut self) -> Option<Transmission> {
        while let Some(&first) = self.waiting.front() {
            if self.is_undecided(first) {
                return Some(first);
            }
            self.waiting.pop_front();
        }
        None
    }

    /// The last undecided transmission sent before the newest arrival; drops decided ones from the
    /// end.
    fn last_waiting(&mut self) -> Option<Transmission> {
        while let Some(&last) = self.waiting.back() {
            if self.is_undecided(last) {
                break;
            }
            self.waiting.pop_back();
        }
        let overtaken = self.waiting.partition_point(|&sent| sent < self.newest);
        overtaken.checked_sub(1).map(|place| self.waiting[place])
    }

    /// Whether a transmission has neither arrived nor been marked lost.
    fn is_undecided(&mut self, transmission: Transmission) -> bool {
        let Transmission { sent, seq } = transmission;
        if seq < self.una {
            return false;
        }
        let record = *self.record(seq);
        record.sent == sent && record.flags & (SACKED | LOST | RETRANSMITTED) == 0
    }

    /// RACK for retransmissions.
    fn detect_lost_again(&mut self, now: Time, window: Span) -> (u32, Option<Time>) {
        // Retransmissions are in order of sending; usually all were sent after the newest arrival.
        let first = self.retransmissions.front();
        if first.is_none_or(|first| first.transmission.sent > self.newest.sent) {
            return (0, None);
        }
        let timeout = self.last_rtt + window;
        let mut marked = 0;
        while let Some(Retransmission { transmission, .. }) = self.oldest_retransmission() {
            if transmission >= self.newest {
                break;
            }
            if now < transmission.sent + timeout {
                return (marked, Some(transmission.sent + timeout));
            }
            self.mark_lost(transmission.seq);
            marked += 1;
        }
        (marked, None)
    }

    /// FACK: a SACK of data sent after a retransmission means that the retransmission is lost
    /// (Linux `tcp_mark_lost_retrans`). Returns how many were marked.
    pub(crate) fn mark_overtaken(&mut self) -> u32 {
        let mut marked = 0;
        while let Some(Retransmission { transmission, nxt }) = self.oldest_retransmission()
            && self.highest() > nxt
        {
            self.mark_lost(transmission.seq);
            marked += 1;
        }
        marked
    }

    /// The oldest retransmission in flight; drops those before it.
    fn oldest_retransmission(&mut self) -> Option<Retransmission> {
        while let Some(&retransmission) = self.retransmissions.front() {
            let Transmission { sent, seq } = retransmission.transmission;
            let Record { sent: last_sent, flags } = *self.record(seq);
            let current = flags & (SACKED | RETRANSMITTED) == RETRANSMITTED && last_sent == sent;
            if seq >= self.una && current {
                return Some(retransmission);
            }
            self.retransmissions.pop_front();
        }
        None
    }

    /// Marks every segment below `limit` that has neither arrived nor been retransmitted. Returns
    /// how many were marked.
    pub(crate) fn mark_below(&mut self, limit: u32) -> u32 {
        let mut marked = 0;
        let limit = limit.min(self.nxt);
        for seq in self.judged.max(self.una)..limit {
            if self.record(seq).flags & (SACKED | LOST | RETRANSMITTED) == 0 {
                self.mark_lost(seq);
                marked += 1;
            }
        }
        self.judged = self.judged.max(limit);
        marked
    }

    /// Marks a segment lost, including any retransmission of it.
    fn mark_lost(&mut self, seq: u32) {
        let flags = self.record(seq).flags;
        debug_assert!(flags & SACKED == 0, "a segment that has arrived is not lost");
        if flags & LOST == 0 {
            self.lost += 1;
            self.limit_duplicates();
        }
        if flags & RETRANSMITTED != 0 {
            self.retransmitted -= 1;
        }
        let record = self.record(seq);
        record.flags = (record.flags | LOST) & !RETRANSMITTED;
        self.to_retransmit.push(Reverse(seq));
        if let Some(fresh) = &mut self.fresh_losses {
            fresh.push(seq);
        }
    }

    /// Records a tail loss probe that repeats a segment. Linux does not count it as a
    /// retransmission in flight (`tcp_send_loss_probe` leaves `retrans_out` unchanged).
    pub(crate) fn send_probe(&mut self, now: Time, seq: u32) {
        let record = self.record(seq);
        debug_assert!(record.flags & SACKED == 0, "a SACKed segment is not retransmitted");
        record.sent = now;
        record.flags |= EVER_RETRANSMITTED;
        if seq < self.judged {
            self.wait(Transmission { sent: now, seq });
        }
    }

    /// Whether a retransmission is in flight or the head was retransmitted (Linux
    /// `tcp_any_retrans_done`).
    pub(crate) fn has_sent_again(&mut self) -> bool {
        let head_again =
            self.outstanding() > 0 && self.record(self.una).flags & EVER_RETRANSMITTED != 0;
        self.retransmitted > 0 || head_again
    }

    /// After a timeout, marks the head and every other segment; with `rack`, only those other
    /// segments that were last sent at least RACK's round-trip time ago (RFC 8985 §6.3, Linux
    /// `tcp_timeout_mark_lost`).
    pub(crate) fn mark_all_lost(&mut self, now: Time, rack: bool) {
        if !self.sack {
            self.sacked = 0;
        }
        for seq in self.una..self.nxt {
            let Record { sent, flags } = *self.record(seq);
            let in_flight = flags & SACKED == 0 && flags & (LOST | RETRANSMITTED) != LOST;
            if in_flight && (!rack || seq == self.una || now >= sent + self.last_rtt) {
                self.mark_lost(seq);
            }
        }
        if self.una < self.nxt && self.record(self.una).flags & SACKED != 0 {
            self.forget_sack();
        }
    }

    /// Handles reneging by the receiver: the head was SACKed at a timeout (RFC 2018 §8).
    fn forget_sack(&mut self) {
        for seq in self.una..self.nxt {
            if self.record(seq).flags & SACKED != 0 {
                self.record(seq).flags &= !SACKED;
                self.sacked -= 1;
                self.mark_lost(seq);
            }
        }
        self.ranges.clear();
        self.last_blocks = Default::default();
    }

    /// Unmarks all losses because they were spurious. Retransmissions stay in flight, and every
    /// segment is examined again (Linux `tcp_undo_cwnd_reduction`).
    pub(crate) fn forget_losses(&mut self) {
        for seq in self.una..self.nxt {
            let flags = self.record(seq).flags;
            if flags & LOST != 0 {
                self.lost -= 1;
                self.record(seq).flags &= !LOST;
            }
        }
        self.to_retransmit.clear();
        self.waiting.clear();
        self.judged = self.una;
    }
}
