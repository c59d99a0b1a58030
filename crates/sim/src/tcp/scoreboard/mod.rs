//! What is known of every outstanding segment, and RACK's judgement of which are lost (endpoints sheet
//! §1.2, §1.9; RFC 8985).
//!
//! Without SACK, each duplicate acknowledgement counts as one anonymous segment SACKed, as in Linux; that
//! is RFC 6582's inflated window in other words.
//!
//! Constant work per segment, whatever the window: a ring of records by segment number, a tree of SACKed
//! ranges so that a repeated block costs one look-up, and two cursors in the order of sending, one over first
//! transmissions and one over retransmissions, which only move forward.

mod losses;

pub use losses::Marked;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use sojourn_aqm::{Span, Time};

use super::ranges::Ranges;
use super::rtt::is_stamped_before;
use crate::packet::Block;

const SACKED: u8 = 1;
const LOST: u8 = 2;
/// A retransmission of it is believed to be in the network.
const RETRANSMITTED: u8 = 4;
/// It has been retransmitted at some time.
const EVER_RETRANSMITTED: u8 = 8;

#[derive(Clone, Copy, Debug, Default)]
struct Record {
    sent: Time,
    flags: u8,
}

/// A transmission, in the order in which RACK compares them: by time, then by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Transmission {
    /// When it left.
    pub sent: Time,
    /// Its number.
    pub seq: u32,
}

/// A segment sent again.
#[derive(Clone, Copy, Debug)]
struct Retransmission {
    transmission: Transmission,
    /// The next new segment at that time.
    nxt: u32,
}

/// What one acknowledgement brought.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// Segments newly delivered, cumulatively or by SACK, each counted once.
    pub packets: u32,
    /// Segments newly SACKed.
    pub sacked: u32,
    /// The acknowledgement number advanced.
    pub advanced: bool,
    /// When the oldest newly acknowledged segment that was never retransmitted had been sent; of
    /// newly SACKed ones only if none was acknowledged cumulatively. Karn's rule: none where a segment
    /// that was sent again is acknowledged with them.
    pub oldest_sent: Option<Time>,
    /// When the newest such segment had been sent; of newly SACKed ones first.
    pub newest_sent: Option<Time>,
    /// A segment sent before the last timeout and never retransmitted has arrived.
    pub original: bool,
    /// A segment sent once arrived after others that were sent this many segments later at most.
    pub reordered: Option<u32>,
    /// The newly delivered transmission that was sent last.
    pub newest: Option<Transmission>,
}

/// What the sender knows when an acknowledgement comes in.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When it does.
    pub now: Time,
    /// Transmissions of numbers below it precede the last timeout.
    pub point: u32,
    /// The smallest round trip guards against acknowledgements of the original of a segment sent again.
    pub min_rtt: Option<Span>,
    /// The timestamp echoed, where segments carry one.
    pub echo: Option<Time>,
}

/// The outstanding segments of one connection.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    /// SACK is negotiated; if not, `sacked` counts duplicates.
    sack: bool,
    records: Vec<Record>,
    una: u32,
    nxt: u32,
    sacked: u32,
    lost: u32,
    retransmitted: u32,
    ranges: Ranges,
    /// Marked lost and perhaps not yet sent again; entries are checked when they come up.
    to_retransmit: BinaryHeap<Reverse<u32>>,
    /// First transmissions below this number have been judged or wait for it.
    judged: u32,
    /// Overtaken, and not yet due, in the order of sending.
    waiting: VecDeque<Transmission>,
    retransmissions: VecDeque<Retransmission>,
    /// The most recent transmission that is known to have arrived.
    newest: Transmission,
    /// The round trip of the last arrival taken in.
    last_rtt: Span,
    /// Segments judged lost that nobody has asked for, where somebody will.
    fresh_losses: Option<Vec<u32>>,
}

impl Scoreboard {
    /// No segment outstanding.
    pub fn new(sack: bool) -> Scoreboard {
        Scoreboard {
            sack,
            records: vec![Record::default(); 16],
            una: 0,
            nxt: 0,
            sacked: 0,
            lost: 0,
            retransmitted: 0,
            ranges: Ranges::default(),
            to_retransmit: BinaryHeap::new(),
            judged: 0,
            waiting: VecDeque::new(),
            retransmissions: VecDeque::new(),
            newest: Transmission::default(),
            last_rtt: Span::ZERO,
            fresh_losses: None,
        }
    }

    /// From now on keeps the numbers of segments judged lost, for [`Scoreboard::take_fresh_losses`].
    pub fn keep_fresh_losses(&mut self) {
        self.fresh_losses = Some(Vec::new());
    }

    /// The segments judged lost since the last time, in the order of judgement.
    pub fn take_fresh_losses(&mut self) -> Vec<u32> {
        self.fresh_losses.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The lowest segment not acknowledged.
    #[inline]
    pub fn una(&self) -> u32 {
        self.una
    }

    /// The lowest segment never sent.
    #[inline]
    pub fn nxt(&self) -> u32 {
        self.nxt
    }

    /// Segments sent and not acknowledged.
    #[inline]
    pub fn outstanding(&self) -> u32 {
        self.nxt - self.una
    }

    /// Segments believed to be in the network.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.outstanding() + self.retransmitted - self.sacked - self.lost
    }

    /// Segments SACKed beyond a hole.
    #[inline]
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Segments believed lost, retransmitted or not.
    pub fn lost(&self) -> u32 {
        self.lost
    }

    #[inline]
    fn record(&mut self, seq: u32) -> &mut Record {
        let mask = self.records.len() - 1;
        &mut self.records[seq as usize & mask]
    }

    /// Counts a first transmission of the next segment and returns its number.
    #[inline]
    pub fn send_new(&mut self, now: Time) -> u32 {
        if self.outstanding() as usize == self.records.len() {
            self.grow();
        }
        let seq = self.nxt;
        *self.record(seq) = Record { sent: now, flags: 0 };
        self.nxt += 1;
        seq
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.records);
        self.records = vec![Record::default(); old.len() * 2];
        for seq in self.una..self.nxt {
            *self.record(seq) = old[seq as usize & (old.len() - 1)];
        }
    }

    /// Segments sent again and believed to be in the network.
    pub fn retransmitted(&self) -> u32 {
        self.retransmitted
    }

    /// The lowest segment that is lost and has not been sent again since.
    pub fn next_lost(&mut self) -> Option<u32> {
        while let Some(&Reverse(seq)) = self.to_retransmit.peek() {
            if seq >= self.una && self.record(seq).flags & (LOST | RETRANSMITTED) == LOST {
                return Some(seq);
            }
            self.to_retransmit.pop();
        }
        None
    }

    /// Counts a retransmission.
    pub fn retransmit(&mut self, now: Time, seq: u32) {
        let record = self.record(seq);
        debug_assert!(record.flags & SACKED == 0, "a SACKed segment is not sent again");
        if record.flags & RETRANSMITTED == 0 {
            self.retransmitted += 1;
        }
        let record = self.record(seq);
        record.sent = now;
        record.flags |= RETRANSMITTED | EVER_RETRANSMITTED;
        let transmission = Transmission { sent: now, seq };
        self.retransmissions.push_back(Retransmission { transmission, nxt: self.nxt });
    }

    /// Takes in one acknowledgement.
    pub fn acknowledge(&mut self, ack: u32, sack: &[Block], arrival: &Arrival) -> Delivery {
        let mut delivery = Delivery { advanced: ack > self.una, ..Delivery::default() };
        let highest = self.highest();
        let mut again = false;
        for seq in self.una..ack.max(self.una) {
            let flags = self.record(seq).flags;
            again |= flags & EVER_RETRANSMITTED != 0;
            if flags & SACKED == 0 {
                self.deliver(seq, arrival, highest, &mut delivery);
            } else {
                self.sacked -= 1;
            }
        }
        if again {
            (delivery.oldest_sent, delivery.newest_sent) = (None, None);
        }
        if !self.sack && delivery.advanced {
            self.forget_duplicates(&mut delivery);
        }
        self.una = self.una.max(ack);
        self.judged = self.judged.max(self.una);
        self.limit_duplicates();
        if !sack.is_empty() || !self.ranges.is_empty() {
            self.take_sack(sack, highest, arrival, &mut delivery);
        }
        // So far a number; now the distance, as Linux `tcp_check_sack_reordering` has it.
        delivery.reordered = delivery.reordered.map(|seq| self.highest() - seq);
        delivery
    }

    /// One past the highest segment known to have arrived.
    #[inline]
    pub fn highest(&self) -> u32 {
        self.ranges.end().map_or(self.una, |end| end.max(self.una))
    }

    fn take_sack(
        &mut self,
        sack: &[Block],
        highest: u32,
        arrival: &Arrival,
        delivery: &mut Delivery,
    ) {
        let mut ranges = std::mem::take(&mut self.ranges);
        ranges.forget_below(self.una);
        let cumulative = (delivery.oldest_sent.take(), delivery.newest_sent.take());
        // Linux compares the echo with segments acknowledged cumulatively alone.
        let arrival = &Arrival { echo: None, ..*arrival };
        let last_rtt = (delivery.packets > 0).then_some(self.last_rtt);
        for block in sack {
            let block = Block { start: block.start.max(self.una), end: block.end.min(self.nxt) };
            if block.start >= block.end {
                continue;
            }
            ranges.insert(block, |fresh| {
                for seq in fresh.start..fresh.end {
                    self.deliver(seq, arrival, highest, delivery);
                    self.record(seq).flags |= SACKED;
                    self.sacked += 1;
                    delivery.sacked += 1;
                }
            });
        }
        // Linux `tcp_clean_rtx_queue`: the timeout follows what was acknowledged cumulatively, where
        // that gives a sample, the congestion control what was SACKed.
        delivery.oldest_sent = cumulative.0.or(delivery.oldest_sent);
        delivery.newest_sent = delivery.newest_sent.or(cumulative.1);
        // It takes in SACKed segments first, and RACK's round trip is that of the last.
        self.last_rtt = last_rtt.unwrap_or(self.last_rtt);
        self.ranges = ranges;
    }

    /// Counts a segment as arrived, for the first time.
    #[inline]
    fn deliver(&mut self, seq: u32, arrival: &Arrival, highest: u32, delivery: &mut Delivery) {
        let Arrival { now, point, min_rtt, echo } = *arrival;
        let Record { sent, flags } = *self.record(seq);
        delivery.packets += 1;
        if flags & EVER_RETRANSMITTED == 0 {
            delivery.original |= seq < point;
            delivery.oldest_sent = Some(delivery.oldest_sent.map_or(sent, |t| t.min(sent)));
            delivery.newest_sent = Some(delivery.newest_sent.map_or(sent, |t| t.max(sent)));
            if seq < highest {
                delivery.reordered = Some(delivery.reordered.map_or(seq, |low| low.min(seq)));
            }
        }
        if flags & LOST != 0 {
            self.lost -= 1;
        }
        if flags & RETRANSMITTED != 0 {
            self.retransmitted -= 1;
        }
        if flags & (LOST | RETRANSMITTED) != 0 {
            self.record(seq).flags &= !(LOST | RETRANSMITTED);
        }
        let transmission = Transmission { sent, seq };
        delivery.newest = delivery.newest.max(Some(transmission));
        // RFC 8985 §6.2 step 2: too early for the retransmission, or in answer to something before it,
        // so it was the original.
        let of_original = flags & EVER_RETRANSMITTED != 0
            && (min_rtt.is_some_and(|min| now.since(sent) < min)
                || echo.is_some_and(|echo| is_stamped_before(echo, sent)));
        if !of_original {
            // Linux `tcp_rack_advance`: the round trip also of an arrival that is not the newest.
            self.last_rtt = now.since(sent);
            self.newest = self.newest.max(transmission);
        }
    }

    /// An acknowledgement number above the duplicates explains them: they were not delivered anew.
    fn forget_duplicates(&mut self, delivery: &mut Delivery) {
        let acked = delivery.packets;
        delivery.packets = acked.saturating_sub(self.sacked).max(1);
        self.sacked = self.sacked.saturating_sub(acked.saturating_sub(1));
    }

    /// Duplicates stand for arrivals beyond a hole, so there are fewer than the outstanding segments that
    /// are not lost (Linux `tcp_limit_reno_sacked`).
    fn limit_duplicates(&mut self) {
        if !self.sack {
            self.sacked = self.sacked.min(self.outstanding().saturating_sub(self.lost.max(1)));
        }
    }

    /// Counts a duplicate acknowledgement, where there is no SACK. False when more duplicates have come
    /// than segments can have arrived.
    pub fn count_duplicate(&mut self) -> bool {
        debug_assert!(!self.sack, "with SACK the blocks tell what has arrived");
        let possible = self.sacked + self.lost.max(1) < self.outstanding();
        self.sacked += u32::from(possible);
        possible
    }

    /// The `n`-th highest segment SACKed, from one.
    pub fn sacked_from_top(&self, n: u32) -> Option<u32> {
        self.ranges.from_top(n)
    }

    /// Whether a segment is SACKed.
    pub fn is_sacked(&mut self, seq: u32) -> bool {
        self.record(seq).flags & SACKED != 0
    }

    /// When the lowest outstanding segment was last sent.
    pub fn head_sent(&mut self) -> Time {
        self.record(self.una).sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(now: Time) -> Arrival {
        Arrival { now, point: 0, min_rtt: None, echo: None }
    }

    #[test]
    fn duplicates_never_outnumber_what_may_have_arrived() {
        let mut board = Scoreboard::new(false);
        for _ in 0..10 {
            board.send_new(Time::ZERO);
        }
        for _ in 0..9 {
            assert!(board.count_duplicate());
        }
        assert!(!board.count_duplicate(), "the head is missing");
        assert_eq!(board.mark_below(1), 1);
        assert_eq!((board.sacked(), board.in_flight()), (9, 0));
        // A partial acknowledgement explains one duplicate less than it advances, and a hole follows it.
        let _ = board.acknowledge(1, &[], &at(Time::ZERO));
        assert_eq!(board.mark_below(2), 1);
        assert_eq!((board.sacked(), board.lost(), board.in_flight()), (8, 1, 0));
    }

    #[test]
    fn partial_acknowledgements_leave_no_more_duplicates_than_segments() {
        // Found by a random world: without SACK, three duplicates, then one segment after the other.
        let mut board = Scoreboard::new(false);
        (0..6).for_each(|_| {
            board.send_new(Time::ZERO);
        });
        assert!((0..4).all(|_| board.count_duplicate()));
        board.mark_below(1);
        board.retransmit(Time::ZERO, 0);
        for una in 1..=5 {
            board.acknowledge(una, &[], &at(Time::from_nanos(1)));
            board.mark_below(una + 1);
            assert!(board.in_flight() <= board.outstanding(), "{board:?}");
            if let Some(seq) = board.next_lost() {
                board.retransmit(Time::ZERO, seq);
            }
        }
    }
}
