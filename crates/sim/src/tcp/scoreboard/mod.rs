//! The scoreboard: the state of every outstanding segment (RFC 6675 §3), and which of them are lost
//! (RFC 8985 §6.2).
//!
//! Without SACK, each duplicate acknowledgement counts as one anonymous SACKed segment (Linux
//! `tcp_add_reno_sack`), which has the effect of RFC 6582's inflated window.
//!
//! The work per segment does not depend on the window. A ring holds the records by segment number.
//! A set of SACKed ranges makes a repeated block cost one lookup. Two cursors in order of sending,
//! one over first transmissions and one over retransmissions, only move forward.

mod arrivals;
mod duplicates;
mod losses;

pub(crate) use arrivals::{Arrival, Delivery, Untouched};
pub(crate) use losses::Marked;

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use sojourn_aqm::{Span, Time};

use super::ranges::Ranges;
use crate::packet::{Block, SACK_BLOCKS};
use crate::prefetch::{Prefetch, prefetch};

const SACKED: u8 = 1;
const LOST: u8 = 2;
/// A retransmission of the segment is in flight.
const RETRANSMITTED: u8 = 4;
/// The segment was retransmitted at some time.
const EVER_RETRANSMITTED: u8 = 8;

#[derive(Clone, Copy, Debug, Default)]
struct Record {
    sent: Time,
    flags: u8,
}

/// A transmission, in RACK's order: by time, then by number (RFC 8985 §6.2, `RACK_sent_after()`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Transmission {
    /// When it left.
    pub(crate) sent: Time,
    /// Its number.
    pub(crate) seq: u32,
}

impl Transmission {
    /// Its position in that order, as one number: comparing two numbers takes half as many
    /// instructions as comparing two pairs.
    #[inline]
    fn place(self) -> u128 {
        u128::from(self.sent.as_nanos()) << 64 | u128::from(self.seq)
    }
}

impl Ord for Transmission {
    #[inline]
    fn cmp(&self, other: &Transmission) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for Transmission {
    #[inline]
    fn partial_cmp(&self, other: &Transmission) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A retransmission.
#[derive(Clone, Copy, Debug)]
struct Retransmission {
    transmission: Transmission,
    /// SND.NXT when it was sent.
    nxt: u32,
}

/// The outstanding segments of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    /// Whether SACK was negotiated; without it, `sacked` counts duplicates.
    sack: bool,
    records: Vec<Record>,
    una: u32,
    nxt: u32,
    sacked: u32,
    lost: u32,
    retransmitted: u32,
    ranges: Ranges,
    /// The blocks of the last acknowledgement that had any; all are contained in `ranges`.
    last_blocks: [Block; SACK_BLOCKS],
    /// Segments marked lost, lowest first. Entries may be outdated and are checked when taken.
    to_retransmit: BinaryHeap<Reverse<u32>>,
    /// First transmissions below this number were examined or are in `waiting`.
    judged: u32,
    /// Transmissions sent before the newest delivered one and still within the reordering window,
    /// in order of sending.
    waiting: VecDeque<Transmission>,
    retransmissions: VecDeque<Retransmission>,
    /// The most recently sent transmission known to have arrived (`RACK.xmit_ts`, `RACK.end_seq`).
    newest: Transmission,
    /// The round trip of the last processed arrival (`RACK.rtt`).
    last_rtt: Span,
    /// Whether anything has arrived since losses were last detected (Linux `rack.advanced`).
    advanced: bool,
    /// Segments newly marked lost, if the sender needs them.
    fresh_losses: Option<Vec<u32>>,
}

impl Scoreboard {
    /// A scoreboard without outstanding segments.
    pub(crate) fn new(sack: bool) -> Scoreboard {
        Scoreboard {
            sack,
            records: vec![Record::default(); 16],
            una: 0,
            nxt: 0,
            sacked: 0,
            lost: 0,
            retransmitted: 0,
            ranges: Ranges::default(),
            last_blocks: Default::default(),
            to_retransmit: BinaryHeap::new(),
            judged: 0,
            waiting: VecDeque::new(),
            retransmissions: VecDeque::new(),
            newest: Transmission::default(),
            last_rtt: Span::ZERO,
            advanced: false,
            fresh_losses: None,
        }
    }

    /// Records the numbers of segments marked lost from now on, for
    /// [`Scoreboard::take_fresh_losses`].
    pub(crate) fn keep_fresh_losses(&mut self) {
        self.fresh_losses = Some(Vec::new());
    }

    /// Whether [`Scoreboard::take_fresh_losses`] has any.
    #[inline]
    pub(crate) fn has_fresh_losses(&self) -> bool {
        self.fresh_losses.as_ref().is_some_and(|fresh| !fresh.is_empty())
    }

    /// The segments marked lost since the last call, in order of marking.
    pub(crate) fn take_fresh_losses(&mut self) -> Vec<u32> {
        self.fresh_losses.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The lowest segment not acknowledged, SND.UNA.
    #[inline]
    pub(crate) fn una(&self) -> u32 {
        self.una
    }

    /// The lowest segment never sent, SND.NXT.
    #[inline]
    pub(crate) fn nxt(&self) -> u32 {
        self.nxt
    }

    /// Segments sent and not acknowledged.
    #[inline]
    pub(crate) fn outstanding(&self) -> u32 {
        self.nxt - self.una
    }

    /// Segments in flight (RFC 6675 `pipe`, Linux `tcp_packets_in_flight`).
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        self.outstanding() + self.retransmitted - self.sacked - self.lost
    }

    /// Segments SACKed above the acknowledgement number.
    #[inline]
    pub(crate) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Segments marked lost, retransmitted or not.
    pub(crate) fn lost(&self) -> u32 {
        self.lost
    }

    #[inline]
    fn record(&mut self, seq: u32) -> &mut Record {
        let mask = self.records.len() - 1;
        &mut self.records[seq as usize & mask]
    }

    /// Records the first transmission of the next segment and returns its number.
    #[inline]
    pub(crate) fn send_new(&mut self, now: Time) -> u32 {
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

    /// Retransmissions in flight.
    pub(crate) fn retransmitted(&self) -> u32 {
        self.retransmitted
    }

    /// The lowest lost segment not retransmitted since.
    #[inline]
    pub(crate) fn next_lost(&mut self) -> Option<u32> {
        if self.to_retransmit.is_empty() { None } else { self.next_lost_of_some() }
    }

    fn next_lost_of_some(&mut self) -> Option<u32> {
        while let Some(&Reverse(seq)) = self.to_retransmit.peek() {
            if seq >= self.una && self.record(seq).flags & (LOST | RETRANSMITTED) == LOST {
                return Some(seq);
            }
            self.to_retransmit.pop();
        }
        None
    }

    /// The number of SACKed segments, and of contiguous ranges that they form.
    pub(crate) fn sacked_rows(&self) -> (u32, u32) {
        if self.sack { (self.sacked, self.ranges.count()) } else { (0, 0) }
    }

    /// How many segments from this lost one on, at most `most`, left together with it and are also
    /// lost.
    pub(crate) fn lost_together(&mut self, seq: u32, most: u32) -> u32 {
        let sent = self.record(seq).sent;
        let others = (seq + 1..self.nxt.min(seq + most)).take_while(|&other| {
            let record = self.record(other);
            record.sent == sent && record.flags & (LOST | RETRANSMITTED) == LOST
        });
        1 + others.count() as u32
    }

    /// Records a retransmission.
    pub(crate) fn retransmit(&mut self, now: Time, seq: u32) {
        let record = self.record(seq);
        debug_assert!(record.flags & SACKED == 0, "a SACKed segment is not retransmitted");
        if record.flags & RETRANSMITTED == 0 {
            self.retransmitted += 1;
        }
        let record = self.record(seq);
        record.sent = now;
        record.flags |= RETRANSMITTED | EVER_RETRANSMITTED;
        let transmission = Transmission { sent: now, seq };
        self.retransmissions.push_back(Retransmission { transmission, nxt: self.nxt });
    }

    /// One past the highest segment known to have arrived.
    #[inline]
    pub(crate) fn highest(&self) -> u32 {
        self.ranges.end().map_or(self.una, |end| end.max(self.una))
    }

    /// The `n`-th highest SACKed segment, counting from one.
    pub(crate) fn sacked_from_top(&self, n: u32) -> Option<u32> {
        self.ranges.nth_highest(n)
    }

    /// Whether a segment is SACKed.
    pub(crate) fn is_sacked(&mut self, seq: u32) -> bool {
        self.record(seq).flags & SACKED != 0
    }

    /// When the lowest outstanding segment was last sent.
    pub(crate) fn head_sent(&mut self) -> Time {
        self.record(self.una).sent
    }
}

impl Prefetch for Scoreboard {
    /// Prefetches the records of the oldest segments, four of which share a cache line, and of the
    /// next one to be sent.
    #[inline]
    fn far(&self) {
        let mask = self.records.len().wrapping_sub(1);
        let places = [self.una, self.una.wrapping_add(4), self.nxt].map(|seq| seq as usize & mask);
        places.iter().filter_map(|&place| self.records.get(place)).for_each(prefetch);
    }
}

#[cfg(test)]
mod tests;
