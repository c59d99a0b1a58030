//! Which outstanding segments are lost: RACK's judgement by time, distance below a SACK, silence; and
//! taking a judgement back.

use std::cmp::Reverse;

use sojourn_aqm::{Span, Time};

use super::{EVER_RETRANSMITTED, LOST, RETRANSMITTED, Record, Retransmission, SACKED};
use super::{Scoreboard, Transmission};

/// Segments newly marked lost.
#[derive(Clone, Copy, Default, Debug)]
pub struct Marked {
    /// All of them.
    pub segments: u32,
    /// Of these, retransmissions.
    pub again: u32,
    /// Others are judged when the reordering timer rings.
    pub waits: bool,
}

impl Scoreboard {
    /// RACK: marks lost what was sent before the newest arrival and is overdue by `window`. Returns how
    /// many were marked, and when the last of those not yet due will be.
    pub fn detect_lost(&mut self, now: Time, window: Span) -> (Marked, Option<Time>) {
        let patience = self.last_rtt + window;
        self.note_overtaken();
        let mut marked = 0;
        while let Some(sent) = self.first_waiting()
            && sent.sent + patience <= now
            && sent < self.newest
        {
            self.mark_lost(sent.seq);
            marked += 1;
        }
        let last_due = self.last_waiting().map(|sent| sent.sent + patience);
        let (again, due) = self.detect_lost_again(now, window);
        let due = last_due.max(due);
        (Marked { segments: marked + again, again, waits: due.is_some() }, due)
    }

    /// First transmissions that later ones have overtaken wait for their judgement, each once: a segment
    /// that is not yet due must not be looked at again with everything sent after it.
    fn note_overtaken(&mut self) {
        self.judged = self.judged.max(self.una);
        while self.judged < self.nxt {
            let seq = self.judged;
            let Record { sent, flags } = *self.record(seq);
            let recent = Transmission { sent, seq } >= self.newest;
            if recent && flags & EVER_RETRANSMITTED == 0 {
                break;
            }
            if flags & (SACKED | LOST | RETRANSMITTED) == 0 {
                self.wait(Transmission { sent, seq });
            }
            self.judged += 1;
        }
    }

    /// In the order of sending, which is that of the numbers but for retransmissions judged lost whose
    /// losses were forgotten.
    fn wait(&mut self, transmission: Transmission) {
        let place = match self.waiting.back() {
            Some(&last) if last > transmission => {
                self.waiting.partition_point(|&earlier| earlier < transmission)
            }
            _ => self.waiting.len(),
        };
        self.waiting.insert(place, transmission);
    }

    /// The first transmission that still waits for its judgement; forgets those before it.
    fn first_waiting(&mut self) -> Option<Transmission> {
        while let Some(&first) = self.waiting.front() {
            if self.is_undecided(first) {
                return Some(first);
            }
            self.waiting.pop_front();
        }
        None
    }

    /// The last that has been overtaken, likewise.
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

    /// Whether a transmission has neither arrived nor been judged.
    fn is_undecided(&mut self, transmission: Transmission) -> bool {
        let Transmission { sent, seq } = transmission;
        if seq < self.una {
            return false;
        }
        let record = *self.record(seq);
        record.sent == sent && record.flags & (SACKED | LOST | RETRANSMITTED) == 0
    }

    /// The same for retransmissions alone.
    fn detect_lost_again(&mut self, now: Time, window: Span) -> (u32, Option<Time>) {
        let patience = self.last_rtt + window;
        let mut marked = 0;
        while let Some(Retransmission { transmission, .. }) = self.oldest_retransmission() {
            if transmission >= self.newest {
                break;
            }
            if now < transmission.sent + patience {
                return (marked, Some(transmission.sent + patience));
            }
            self.mark_lost(transmission.seq);
            marked += 1;
        }
        (marked, None)
    }

    /// FACK: a SACK of data that was sent after a retransmission says that the retransmission is lost
    /// (Linux `tcp_mark_lost_retrans`). Returns how many were marked.
    pub fn mark_overtaken(&mut self) -> u32 {
        let mut marked = 0;
        while let Some(Retransmission { transmission, nxt }) = self.oldest_retransmission()
            && self.highest() > nxt
        {
            self.mark_lost(transmission.seq);
            marked += 1;
        }
        marked
    }

    /// The oldest retransmission that is believed to be in the network; forgets those before it.
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

    /// Marks lost every segment below `limit` that has neither arrived nor been sent again; returns how
    /// many.
    pub fn mark_below(&mut self, limit: u32) -> u32 {
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

    /// Marks a segment lost; a retransmission of it is believed lost as well.
    fn mark_lost(&mut self, seq: u32) {
        let flags = self.record(seq).flags;
        debug_assert!(flags & SACKED == 0, "what has arrived is not lost");
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

    /// Counts a tail loss probe that is a segment sent before. Linux does not take it for a
    /// retransmission in flight (`tcp_send_loss_probe` leaves `retrans_out` alone).
    pub fn send_probe(&mut self, now: Time, seq: u32) {
        let record = self.record(seq);
        debug_assert!(record.flags & SACKED == 0, "a SACKed segment is not sent again");
        record.sent = now;
        record.flags |= EVER_RETRANSMITTED;
        if seq < self.judged {
            self.wait(Transmission { sent: now, seq });
        }
    }

    /// Whether something sent again is in flight or the head has been sent again (Linux
    /// `tcp_any_retrans_done`).
    pub fn has_sent_again(&mut self) -> bool {
        let head_again =
            self.outstanding() > 0 && self.record(self.una).flags & EVER_RETRANSMITTED != 0;
        self.retransmitted > 0 || head_again
    }

    /// The retransmission timer has expired: marks the head lost, and every other segment; with `rack`
    /// only those whose last transmission is older than RACK's round-trip time (Linux
    /// `tcp_timeout_mark_lost`).
    pub fn mark_all_lost(&mut self, now: Time, rack: bool) {
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

    /// The receiver has reneged: a timeout with the head SACKed clears all SACK marks.
    fn forget_sack(&mut self) {
        for seq in self.una..self.nxt {
            if self.record(seq).flags & SACKED != 0 {
                self.record(seq).flags &= !SACKED;
                self.sacked -= 1;
                self.mark_lost(seq);
            }
        }
        self.ranges.clear();
    }

    /// The losses were imagined: forgets them. Retransmissions stay in flight, and every segment is
    /// judged anew.
    pub fn forget_losses(&mut self) {
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
