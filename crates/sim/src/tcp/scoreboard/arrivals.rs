//! The arrivals that an acknowledgement reports: cumulatively and by SACK.

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
    /// The acknowledgement number advanced.
    pub(crate) advanced: bool,
    /// When the oldest newly acknowledged segment that was never retransmitted was sent; of newly
    /// SACKed ones only if none was acknowledged cumulatively. Karn's rule: none if a retransmitted
    /// segment is acknowledged with them.
    pub(crate) oldest_sent: Option<Time>,
    /// When the newest such segment was sent; newly SACKed ones come first.
    pub(crate) newest_sent: Option<Time>,
    /// A segment sent before the last timeout, and never retransmitted, has arrived.
    pub(crate) original: bool,
    /// The largest reordering distance: a segment sent only once arrived after others that lie this
    /// many segments above it.
    pub(crate) reordered: Option<u32>,
    /// The most recently sent of the newly delivered transmissions.
    pub(crate) newest: Option<Transmission>,
}

/// Segments that were acknowledged and of which there was nothing to say but that they were sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Untouched {
    /// How many.
    pub(crate) packets: u32,
    /// When the first and the last of them was sent.
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
    /// The timestamp echoed, if segments carry one.
    pub(crate) echo: Option<Time>,
}

impl Scoreboard {
    /// Whether nothing is SACKed or lost.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        self.sacked == 0 && self.lost == 0 && self.ranges.is_empty()
    }

    /// Takes in an acknowledgement without SACK blocks while nothing is SACKed or lost, if it
    /// advances over segments of which there is nothing to say but that they were sent: the same as
    /// [`Scoreboard::acknowledge`]. If not, nothing changes.
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

    /// A transmission has arrived.
    #[inline]
    fn note_newest(&mut self, now: Time, transmission: Transmission) {
        // Linux `tcp_rack_advance`: also the round trip of an arrival that is not the newest.
        self.last_rtt = now.since(transmission.sent);
        self.newest = self.newest.max(transmission);
        self.advanced = true;
    }

    /// Takes in one acknowledgement, and notes what it delivers.
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
            arrival.echo = None; // Linux compares it only for what is acknowledged cumulatively
            self.take_sack(sack, highest, &arrival, delivery);
        }
        self.measure_reordering(delivery);
    }

    /// The same for an acknowledgement that does not advance and has SACK blocks.
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

    /// From the number to the distance (Linux `tcp_check_sack_reordering`).
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
        // Linux `tcp_clean_rtx_queue`: the timeout takes its sample from what was acknowledged
        // cumulatively if that gives one, the congestion control from what was SACKed. Linux
        // processes SACKed segments first, and RACK's round trip is that of the last segment.
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

    /// Takes in the report of one SACK block.
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

    /// Delivers the lowest segments, up to `ack`, of which there is nothing to say but that they
    /// were sent: nearly all of them. As first transmissions they left in the order of their
    /// numbers, so that the first and the last speak for all. Returns the next segment.
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

    /// Delivers segments of which some were SACKed, marked lost or sent again.
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

    /// Whether something has arrived since the last call that shows what else is lost (Linux
    /// `tcp_rack_mark_lost`).
    pub(crate) fn take_advanced(&mut self) -> bool {
        std::mem::take(&mut self.advanced)
    }

    /// Counts a segment as arrived, for the first time. One that is acknowledged cumulatively is
    /// not looked at again.
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
        // RFC 8985 §6.2 step 2: too early to acknowledge the retransmission, or in answer to
        // something sent before it, so the original has arrived.
        let of_original = flags & EVER_RETRANSMITTED != 0
            && (min_rtt.is_some_and(|min| now.since(sent) < min)
                || echo.is_some_and(|echo| is_stamped_before(echo, sent)));
        if !of_original {
            self.note_newest(now, transmission);
        }
    }
}
