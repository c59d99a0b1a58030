//! Arrivals reported by an acknowledgement, cumulatively and by SACK.

use std::ops::Range;

use sojourn_aqm::{Span, Time};

use super::{EVER_RETRANSMITTED, LOST, RETRANSMITTED, Record, SACKED, Scoreboard, Transmission};
use crate::packet::{Block, SACK_BLOCKS};
use crate::tcp::rtt::is_stamped_before;

/// The segments that one acknowledgement reports as delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivery {
    /// Segments newly delivered, cumulatively or by SACK, each counted once.
    pub(crate) packets: u32,
    /// Segments newly SACKed.
    pub(crate) sacked: u32,
    /// Whether the acknowledgement number advanced.
    pub(crate) advanced: bool,
    /// When the oldest newly acknowledged segment was sent, among those never retransmitted. Newly
    /// SACKed segments count only if none was acknowledged cumulatively. Karn's rule: `None` if a
    /// retransmitted segment is acknowledged with them.
    pub(crate) oldest_sent: Option<Time>,
    /// When the newest such segment was sent; here newly SACKed ones take precedence.
    pub(crate) newest_sent: Option<Time>,
    /// Whether a segment sent before the last timeout, and never retransmitted, has arrived.
    pub(crate) original: bool,
    /// The largest reordering distance: a segment sent only once arrived after others up to this
    /// many segments above it.
    pub(crate) reordered: Option<u32>,
    /// The most recently sent of the newly delivered transmissions.
    pub(crate) newest: Option<Transmission>,
}

/// Newly acknowledged segments that were neither SACKed, lost nor retransmitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Untouched {
    /// Number of these segments.
    pub(crate) packets: u32,
    /// When the first and the last of them were sent.
    pub(crate) oldest_sent: Time,
    pub(crate) newest_sent: Time,
}

/// The context in which an acknowledgement arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// Now.
    pub(crate) now: Time,
    /// Segments below this were first sent before the last timeout.
    pub(crate) point: u32,
    /// The minimum round-trip time, to recognise acknowledgements of the original of a
    /// retransmitted segment.
    pub(crate) min_rtt: Option<Span>,
    /// The echoed timestamp, if segments carry one.
    pub(crate) echo: Option<Time>,
}

impl Scoreboard {
    /// Whether nothing is SACKed or lost.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        self.sacked == 0 && self.lost == 0 && self.ranges.is_empty()
    }

    /// Fast path of [`Scoreboard::acknowledge`] for an acknowledgement without SACK blocks while
    /// nothing is SACKed or lost, if it covers only segments that were never retransmitted.
    /// Otherwise nothing changes and the result is `None`.
    #[inline]
    pub(crate) fn acknowledge_untouched(&mut self, now: Time, ack: u32) -> Option<Untouched> {
        let first = self.una;
        if ack <= first {
            return None;
        }
        let oldest_sent = self.record(first).sent;
        let mut newest_sent = oldest_sent;
        for seq in first..ack {
            let Record { sent, flags } = *self.record(seq);
            if flags != 0 {
                return None;
            }
            newest_sent = sent;
        }
        self.note_newest(now, Transmission { sent: newest_sent, seq: ack - 1 });
        self.una = ack;
        Some(Untouched { packets: ack - first, oldest_sent, newest_sent })
    }

    /// Records the arrival of a transmission.
    #[inline]
    fn note_newest(&mut self, now: Time, transmission: Transmission) {
        // Linux `tcp_rack_advance` also takes the round trip of an arrival that is not the newest.
        self.last_rtt = now.since(transmission.sent);
        self.newest = self.newest.max(transmission);
        self.advanced = true;
    }

    /// Processes one acknowledgement and records the delivered segments.
    #[inline]
    pub(crate) fn acknowledge(
        &mut self,
        ack: u32,
        sack: &[Block],
        mut arrival: Arrival,
        delivery: &mut Delivery,
    ) {
        delivery.advanced = ack > self.una;
        let highest = self.highest();
        let next = self.deliver_untouched(ack, &arrival, highest, delivery);
        if next < ack {
            self.deliver_others(next..ack, &arrival, highest, delivery);
        }
        if !self.sack && delivery.advanced {
            self.forget_duplicates(delivery);
        }
        self.una = self.una.max(ack);
        self.limit_duplicates();
        if !sack.is_empty() || !self.ranges.is_empty() {
            arrival.echo = None; // Linux compares it only for segments acknowledged cumulatively
            self.take_sack(sack, highest, &arrival, delivery);
        }
        self.measure_reordering(delivery);
    }

    /// [`Scoreboard::acknowledge`] for an acknowledgement that does not advance and has SACK
    /// blocks.
    #[inline]
    pub(crate) fn acknowledge_sacked(
        &mut self,
        sack: &[Block],
        arrival: Arrival,
        delivery: &mut Delivery,
    ) {
        debug_assert!(self.sack && arrival.echo.is_none(), "nothing is acknowledged cumulatively");
        self.take_sack(sack, self.highest(), &arrival, delivery);
        self.measure_reordering(delivery);
    }

    /// Converts `reordered` from a segment number to a distance (Linux
    /// `tcp_check_sack_reordering`).
    #[inline]
    fn measure_reordering(&self, delivery: &mut Delivery) {
        delivery.reordered = delivery.reordered.map(|seq| self.highest() - seq);
    }

    #[inline(never)]
    fn take_sack(
        &mut self,
        sack: &[Block],
        highest: u32,
        arrival: &Arrival,
        delivery: &mut Delivery,
    ) {
        self.ranges.forget_below(self.una);
        // Linux `tcp_clean_rtx_queue`: the timeout takes its sample from cumulatively acknowledged
        // segments if these give one; the congestion control prefers SACKed segments. Linux
        // processes SACKed segments first, so RACK's round trip is that of the last cumulatively
        // acknowledged segment.
        let cumulative = (delivery.packets > 0)
            .then(|| (delivery.oldest_sent.take(), delivery.newest_sent.take(), self.last_rtt));
        let mut taken = [Block::default(); SACK_BLOCKS];
        for (&Block { start, end }, taken) in sack.iter().zip(&mut taken) {
            if start == end {
                break;
            }
            *taken = Block { start, end: end.min(self.nxt) };
            let block = Block { start: start.max(self.una), ..*taken };
            // Most blocks repeat those of the last acknowledgement, as in Linux
            // `tcp_sacktag_write_queue` (`recv_sack_cache`).
            if block.start < block.end && !self.last_blocks.contains(&Block { start, end }) {
                self.take_block(block, highest, arrival, delivery);
            }
        }
        self.last_blocks = taken;
        if let Some((oldest_sent, newest_sent, last_rtt)) = cumulative {
            delivery.oldest_sent = oldest_sent.or(delivery.oldest_sent);
            delivery.newest_sent = delivery.newest_sent.or(newest_sent);
            self.last_rtt = last_rtt;
        }
    }

    /// Processes one SACK block.
    #[inline]
    fn take_block(
        &mut self,
        block: Block,
        highest: u32,
        arrival: &Arrival,
        delivery: &mut Delivery,
    ) {
        if let Some(fresh) = self.ranges.append(block) {
            return self.deliver_sacked(fresh, highest, arrival, delivery);
        }
        let mut ranges = std::mem::take(&mut self.ranges);
        ranges.insert(block, |fresh| self.deliver_sacked(fresh, highest, arrival, delivery));
        self.ranges = ranges;
    }

    fn deliver_sacked(
        &mut self,
        fresh: Block,
        highest: u32,
        arrival: &Arrival,
        delivery: &mut Delivery,
    ) {
        for seq in fresh.start..fresh.end {
            self.deliver(seq, arrival, highest, delivery);
        }
        let count = fresh.end - fresh.start;
        self.sacked += count;
        delivery.sacked += count;
    }

    /// Delivers the lowest segments, up to `ack`, that were neither SACKed, lost nor retransmitted:
    /// nearly all of them. First transmissions left in the order of their numbers, so looking at
    /// the first and the last is enough. Returns the next segment.
    #[inline]
    fn deliver_untouched(
        &mut self,
        ack: u32,
        arrival: &Arrival,
        highest: u32,
        delivery: &mut Delivery,
    ) -> u32 {
        let first = self.una;
        if ack <= first {
            return first;
        }
        let oldest = self.record(first).sent;
        let (mut next, mut newest) = (first, oldest);
        while next < ack {
            let Record { sent, flags } = *self.record(next);
            if flags != 0 {
                break;
            }
            newest = sent;
            next += 1;
        }
        if next > first {
            let transmission = Transmission { sent: newest, seq: next - 1 };
            delivery.packets = next - first;
            delivery.original = first < arrival.point;
            (delivery.oldest_sent, delivery.newest_sent) = (Some(oldest), Some(newest));
            delivery.reordered = (first < highest).then_some(first);
            delivery.newest = Some(transmission);
            self.note_newest(arrival.now, transmission);
        }
        next
    }

    /// Delivers segments of which some were SACKed, marked lost or retransmitted.
    #[inline(never)]
    fn deliver_others(
        &mut self,
        segments: Range<u32>,
        arrival: &Arrival,
        highest: u32,
        delivery: &mut Delivery,
    ) {
        let mut again = false;
        for seq in segments {
            let flags = self.record(seq).flags;
            again |= flags & EVER_RETRANSMITTED != 0;
            if flags & SACKED == 0 {
                self.deliver(seq, arrival, highest, delivery);
            } else {
                self.sacked -= 1;
            }
        }
        if again {
            (delivery.oldest_sent, delivery.newest_sent) = (None, None);
        }
    }

    /// Whether any arrival since the last call may reveal further losses (Linux
    /// `tcp_rack_mark_lost`).
    pub(crate) fn take_advanced(&mut self) -> bool {
        std::mem::take(&mut self.advanced)
    }

    /// Counts the first arrival of a segment. A cumulatively acknowledged segment is not visited
    /// again.
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
        self.record(seq).flags = flags & !(LOST | RETRANSMITTED) | SACKED;
        let transmission = Transmission { sent, seq };
        if delivery.newest.is_none_or(|newest| newest < transmission) {
            delivery.newest = Some(transmission);
        }
        // RFC 8985 §6.2 step 2: the acknowledgement arrives too early to be for the retransmission,
        // or echoes a packet sent before the retransmission, so the original has arrived.
        let of_original = flags & EVER_RETRANSMITTED != 0
            && (min_rtt.is_some_and(|min| now.since(sent) < min)
                || echo.is_some_and(|echo| is_stamped_before(echo, sent)));
        if !of_original {
            self.note_newest(now, transmission);
        }
    }
}
