//! Counters of a link, of a class of traffic, and of a flow.

use sojourn_aqm::{Backlog, CauseClass, Span, Stage, Time};
use sojourn_link::TokenReserve;
use sojourn_record::Histogram;
use sojourn_scenario::wlan_timing::OfdmRate;

use crate::delay_over_time::DelayOverTime;
use crate::transmissions::{Carried, PacketInService, Transmissions};
use crate::{Digest, FrameCounts, Leaves};

/// The number of [`CauseClass`]es.
const CAUSES: usize = 4;

/// Counts since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that left towards the link.
    pub sent: u64,
    /// Packets dropped, by cause.
    pub dropped: [u64; CAUSES],
    /// Packets marked, by cause.
    pub marked: [u64; CAUSES],
    /// Frames sent by a wireless link at each rate, counting every attempt.
    pub frames: [u64; OfdmRate::COUNT],
    /// Frames that were not received.
    pub failed: u64,
    /// Packets that a wireless link gave up.
    pub given_up: u64,
}

impl Counters {
    /// The difference from an earlier value.
    pub fn since(&self, then: &Counters) -> Counters {
        fn less<const N: usize>(now: [u64; N], then: [u64; N]) -> [u64; N] {
            std::array::from_fn(|i| now[i] - then[i])
        }
        Counters {
            arrived: self.arrived - then.arrived,
            sent: self.sent - then.sent,
            dropped: less(self.dropped, then.dropped),
            marked: less(self.marked, then.marked),
            frames: less(self.frames, then.frames),
            failed: self.failed - then.failed,
            given_up: self.given_up - then.given_up,
        }
    }
}

/// The fates of the packets that arrived in a span of time, even if decided later.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fates {
    /// Packets that arrived.
    pub arrived: u64,
    /// Arrivals that were dropped, by cause.
    pub dropped: [u64; CAUSES],
    /// Arrivals that were marked, by cause.
    pub marked: [u64; CAUSES],
}

/// A drop or mark of a packet that arrived in an earlier bin of the series.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LateSignal {
    pub arrived: Time,
    pub is_mark: bool,
}

/// Counters since the last sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interval {
    /// Packets that left.
    pub departed: u64,
    /// The sum of their sojourn times, which can exceed 64 bits (10^10 packets of 1.9 s).
    pub delay_sum_ns: u128,
    /// The largest sojourn time.
    pub delay_max_ns: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
    /// Bytes that left.
    pub bytes: u64,
}

impl Interval {
    /// The values of [`BUILTIN_VARS`](crate::BUILTIN_VARS), given the backlog and the time since
    /// the last sample.
    pub fn values(&self, backlog: Backlog, since_last: Span) -> [f64; 7] {
        let mean_ns = self.delay_sum_ns as f64 / self.departed as f64;
        [
            f64::from(backlog.packets),
            backlog.bytes as f64,
            mean_ns / 1e9,
            self.delay_max_ns as f64 / 1e9,
            self.drops as f64,
            self.marks as f64,
            self.bytes as f64 * 8.0 / since_last.as_secs(),
        ]
    }
}

/// The counters of one link.
#[derive(Clone, Debug)]
pub struct LinkStats {
    /// Counts since the start.
    pub total: Counters,
    /// Fates of the packets that arrived after the warm-up.
    pub fates: Fates,
    /// All totals at the end of the warm-up.
    pub at_warmup: LinkTotals,
    /// Counts since the last sample.
    pub interval: Interval,
    /// Sojourn times, after the warm-up, of packets that were sent.
    pub delays: Histogram,
    /// Sojourn times of packets that were dropped after queueing, by stage ([`WAITED`]) and cause.
    pub drop_delays: [[Histogram; CAUSES]; 2],
    /// The queue delay over time, after the warm-up.
    pub delay_over_time: DelayOverTime,
    /// Its leaf classes, if they are counted.
    pub(crate) leaves: Option<Box<Leaves>>,
    /// The fingerprint of all events.
    pub(crate) digest: Digest,
    /// The bytes carried by the server.
    pub(crate) transmissions: Transmissions,
    /// When the current bin of the series began.
    pub(crate) bin_began: Time,
    /// Drops and marks in the current bin of packets that arrived in earlier bins.
    pub(crate) late: Vec<LateSignal>,
    /// Airtime, before the current bin, of frames that ended in that bin.
    pub(crate) airtime_before_bin: Span,
    pub(crate) window: (Time, Time),
    /// The index of the link.
    pub(crate) place: u32,
    /// Packets that have arrived and neither left nor been dropped; modulo 2^64, because an engine
    /// may report a departure before the arrival.
    waiting: u64,
}

/// The stages at which a dropped packet had been queued, in the order of
/// [`LinkStats::drop_delays`].
pub const WAITED: [Stage; 2] = [Stage::Queued, Stage::Dequeue];

/// The totals of a link up to a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkTotals {
    /// The time.
    pub at: Time,
    /// Whether events exactly at that time are counted.
    pub includes_at: bool,
    /// Counts since the start.
    pub counts: Counters,
    /// The bytes carried by its server.
    pub carried: Carried,
    /// The last transmission that began.
    pub present: PacketInService,
    /// The bits of that transmission not carried yet, assuming an even rate.
    pub bits_to_come: u64,
    /// The reserve of its token bucket; `None` without a bucket.
    pub reserve: Option<TokenReserve>,
}

impl LinkStats {
    /// Zero counters for the link with this index; `window` is from the end of the warm-up to the
    /// end of the run.
    pub fn new(place: u32, window: (Time, Time)) -> LinkStats {
        LinkStats {
            total: Counters::default(),
            fates: Fates::default(),
            at_warmup: LinkTotals::default(),
            interval: Interval::default(),
            delays: Histogram::default(),
            drop_delays: Default::default(),
            delay_over_time: DelayOverTime::default(),
            leaves: None,
            digest: Digest::default(),
            transmissions: Transmissions::default(),
            bin_began: Time::ZERO,
            late: Vec::new(),
            airtime_before_bin: Span::ZERO,
            window,
            place,
            waiting: 0,
        }
    }

    /// The counts since the end of the warm-up.
    pub fn counted(&self) -> Counters {
        self.total.since(&self.at_warmup.counts)
    }

    /// The totals at `at`, when its bucket holds `reserve`. No later transmission may have begun.
    pub fn totals(&self, at: Time, reserve: Option<TokenReserve>) -> LinkTotals {
        LinkTotals {
            at,
            includes_at: false,
            counts: self.total,
            carried: self.transmissions.until(at),
            present: self.transmissions.present(),
            bits_to_come: self.transmissions.bits_to_come(at),
            reserve,
        }
    }

    /// Counts an arriving packet.
    #[inline]
    pub(crate) fn arrives(&mut self, now: Time) {
        self.total.arrived += 1;
        self.waiting = self.waiting.wrapping_add(1);
        self.fates.arrived += u64::from(self.counts_at(now));
    }

    /// Whether summaries count events now, after the warm-up.
    #[inline]
    pub(crate) fn counts_at(&self, now: Time) -> bool {
        now >= self.window.0
    }

    /// Counts a drop or mark of a packet that arrived at `arrived`.
    pub(crate) fn signals(&mut self, arrived: Time, is_mark: bool, cause: CauseClass) {
        let count = |dropped: &mut [u64; CAUSES], marked: &mut [u64; CAUSES]| {
            let counts = if is_mark { marked } else { dropped };
            counts[cause as usize] += 1;
        };
        count(&mut self.total.dropped, &mut self.total.marked);
        if self.counts_at(arrived) {
            count(&mut self.fates.dropped, &mut self.fates.marked);
        }
        // The first bin begins with the run; events at the end of a bin belong to it.
        if self.bin_began > Time::ZERO && arrived <= self.bin_began {
            self.late.push(LateSignal { arrived, is_mark });
        }
    }

    /// Counts a packet that leaves the queue, or is dropped from it.
    #[inline]
    pub(crate) fn one_less(&mut self) {
        self.waiting = self.waiting.wrapping_sub(1);
    }

    /// Whether the queue is empty.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting == 0
    }
}

/// The counters of one class of traffic after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct ClassStats {
    /// One-way delays of datagrams, and of data packets if wanted.
    pub one_way: Histogram,
    /// Round trips of data packets seen by an observer at the sender, if wanted.
    pub rtt: Histogram,
    /// Round trips of data packets and acknowledgements by synthetic packet pairs, if wanted.
    pub pair_rtt: Histogram,
    /// Completion times of short transfers that were requested after the warm-up.
    pub completion: Histogram,
    /// How long transfers that did not finish were observed; `None` if unknown.
    pub unfinished: Option<Histogram>,
    /// Handshakes of transport libraries that began after the warm-up.
    pub handshake: Histogram,
    /// Delays of frames of video from sending to showing them.
    pub frame_delay: Histogram,
    /// What receivers of video in datagrams have shown.
    pub frames: FrameCounts,
}

/// The results of a flow after the warm-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowCount {
    /// Payload delivered: in-order payload of streams, all payload of datagrams.
    pub delivered_bytes: u64,
    /// Datagrams sent after the warm-up and received by the end of the run.
    pub received: u64,
    /// Datagrams sent after the warm-up and lost. Datagrams in flight at the end are in neither
    /// count.
    pub lost: u64,
    /// The interval after the warm-up in which it was active; empty (both ends equal) if it never
    /// was.
    pub active: (Time, Time),
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::{Cause, Ecn};

    use super::*;

    #[test]
    fn a_queue_is_empty_when_every_packet_was_sent_or_dropped_for_any_cause() {
        let with = |arrived: usize| {
            let mut probe = crate::Probe::new(1, 0, (Time::ZERO, Time::NEVER));
            let mut link = probe.at_link::<false>(Time::ZERO, 0);
            let (flow, kind, bytes) = (3, crate::PacketKind::Data, 1_000);
            let (ecn_in, marked) = (Ecn::NotEct, None);
            let packet = crate::PacketView {
                flow,
                seq: 0,
                kind,
                bytes,
                ecn_in,
                dscp: 0,
                marked,
                is_copy: false,
            };
            (0..arrived).for_each(|_| link.arrived());
            for cause in [Cause::Overflow, Cause::Random, Cause::Deterministic] {
                link.dropped(&packet, Time::ZERO, Stage::Enqueue, cause);
            }
            (0..2).for_each(|_| link.departed(&packet, Time::ZERO));
            probe.links[0].is_empty()
        };
        assert_eq!([with(5), with(6)], [true, false]);
    }
}
