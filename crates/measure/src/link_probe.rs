//! Counts the events reported by a link.

use sojourn_aqm::{Cause, Ecn, Evidence, Sink, Span, Stage, Time};
use sojourn_link::LinkObserver;
use sojourn_record::rows::{Fate, PacketRow, SignalRow};
use sojourn_scenario::wlan_timing::OfdmRate;

use crate::counters::WAITED;
use crate::digest::event;
use crate::{LinkStats, Measured, Notes, PacketView};

/// A probe at one link at one time.
pub struct LinkProbe<'a, const NOTES: bool> {
    pub(crate) now: Time,
    pub(crate) stats: &'a mut LinkStats,
    pub(crate) notes: &'a mut Notes,
}

impl<const NOTES: bool> LinkProbe<'_, NOTES> {
    /// Sets the time of the events reported from now on.
    #[inline]
    pub fn set_time(&mut self, now: Time) {
        self.now = now;
    }

    /// Counts an arriving packet.
    #[inline]
    pub fn arrived(&mut self) {
        if self.stats.is_empty() {
            self.stats.delay_over_time.begin(self.now);
        }
        self.stats.arrives(self.now);
    }

    /// Counts a packet that leaves the queue.
    #[inline(always)]
    pub fn departed(&mut self, packet: &impl Measured, enqueued: Time) {
        let packet = packet.view();
        let sojourn = self.now.since(enqueued).as_nanos();
        let stats = &mut *self.stats;
        // Done first, so that the packet's fields need not stay in registers during the histogram
        // update.
        stats.digest.mix(self.now, event(&packet, 0));
        if let Some(leaves) = &mut stats.leaves {
            leaves.departed(self.now, &packet, enqueued);
        }
        stats.one_less();
        stats.total.sent += 1;
        let interval = &mut stats.interval;
        interval.departed += 1;
        interval.delay_sum_ns += u128::from(sojourn);
        interval.delay_max_ns = interval.delay_max_ns.max(sojourn);
        interval.bytes += u64::from(packet.bytes);
        stats.delay_over_time.end(self.now, sojourn, stats.window.0);
        if stats.counts_at(self.now) {
            stats.delays.add(sojourn);
        }
        if NOTES {
            self.write(&packet, enqueued, Fate::Sent);
        }
    }

    /// Records that the server sends this many bytes for `span` from now on; the line adds
    /// `overhead`.
    #[inline]
    pub fn busy(&mut self, bytes: u32, overhead: u32, span: Span) {
        self.stats.transmissions.begin(self.now, (bytes, overhead), span);
    }

    /// Counts bytes carried by a recorded link.
    #[inline]
    pub fn carried(&mut self, bytes: u32) {
        self.stats.transmissions.add(bytes, Span::ZERO);
    }

    /// Counts a frame sent by a wireless link at a rate. It kept the medium busy until now;
    /// `received` is the size of the packet in it, if it was received.
    #[inline]
    pub fn sent_frame(&mut self, airtime: Span, rate: OfdmRate, received: Option<u32>) {
        self.sent_other_frame(airtime, received);
        self.stats.total.frames[rate.index()] += 1;
        self.stats.total.failed += u64::from(received.is_none());
    }

    /// Counts a frame at a rate that 802.11g lacks, which no per-rate counter includes.
    #[inline]
    pub fn sent_other_frame(&mut self, airtime: Span, received: Option<u32>) {
        let stats = &mut *self.stats;
        let start = Time::from_nanos(self.now.as_nanos() - airtime.as_nanos());
        stats.transmissions.add(received.unwrap_or(0), airtime);
        stats.airtime_before_bin = stats.airtime_before_bin + stats.bin_began.since(start);
        if stats.counts_at(self.now) {
            let before = &mut stats.at_warmup.carried.busy;
            *before = *before + stats.window.0.since(start);
        }
    }

    /// Counts a packet that a wireless link has given up.
    #[inline]
    pub fn gave_up(&mut self, packet: &impl Measured) {
        self.gave_up_counted();
        self.lose(&packet.view());
    }

    /// Counts a packet that a wireless link has given up and whose loss is counted elsewhere.
    pub fn gave_up_counted(&mut self) {
        self.stats.total.given_up += 1;
    }

    fn lose(&mut self, packet: &PacketView) {
        if packet.kind.is_datagram() {
            self.notes.losses.add(packet.kind, packet.flow, packet.seq);
        }
    }

    /// Counts a packet still in the queue at the end of the run. Call in the order of departure.
    pub fn waiting(&mut self, packet: &impl Measured, enqueued: Time) {
        let sojourn = self.now.since(enqueued).as_nanos();
        self.stats.delay_over_time.end(self.now, sojourn, self.stats.window.0);
        if let Some(leaves) = &mut self.stats.leaves {
            leaves.waiting(&packet.view(), enqueued);
        }
        if NOTES {
            self.write(&packet.view(), enqueued, Fate::Waiting);
        }
    }

    /// Counts a dropped packet.
    pub fn dropped(&mut self, packet: &impl Measured, enqueued: Time, stage: Stage, cause: Cause) {
        let packet = packet.view();
        self.stats.one_less();
        self.stats.signals(enqueued, false, cause.class());
        if let Some(leaves) = &mut self.stats.leaves {
            leaves.dropped(&packet, enqueued, cause.class());
        }
        self.stats.interval.drops += 1;
        self.lose(&packet);
        if self.stats.counts_at(self.now) && stage != Stage::Enqueue {
            let waited = usize::from(stage == WAITED[1]);
            let sojourn = self.now.since(enqueued).as_nanos();
            self.stats.drop_delays[waited][cause.class() as usize].add(sojourn);
        }
        let code = 1 + 4 * (stage as u64) + (cause.class() as u64);
        self.stats.digest.mix(self.now, event(&packet, code));
        if NOTES {
            self.write_signal(&packet, false, (enqueued, stage, cause));
            self.write(&packet, enqueued, Fate::Dropped(stage, cause));
        }
    }

    /// Counts a marked packet. If this queue has already marked the packet (such as on arrival),
    /// only the first mark counts. If the packet arrived marked, the mark counts at the queue that
    /// set it.
    pub fn marked(
        &mut self,
        packet: &mut impl Measured,
        enqueued: Time,
        stage: Stage,
        cause: Cause,
    ) {
        let PacketView { marked, ecn_in, .. } = packet.view();
        if marked.is_some() || ecn_in == Ecn::Ce {
            return;
        }
        self.stats.signals(enqueued, true, cause.class());
        self.stats.interval.marks += 1;
        packet.note_mark(stage, cause);
        let packet = packet.view();
        if let Some(leaves) = &mut self.stats.leaves {
            leaves.marked(&packet, enqueued, cause.class());
        }
        let code = 16 + 4 * (stage as u64) + (cause.class() as u64);
        self.stats.digest.mix(self.now, event(&packet, code));
        if NOTES {
            self.write_signal(&packet, true, (enqueued, stage, cause));
        }
    }

    /// Records the state of the law before the next drop or mark to be reported.
    pub fn evidence(&mut self, evidence: Evidence<'_>) {
        if NOTES && self.notes.wants_signals {
            self.notes.evidence_vars[self.stats.place as usize] = evidence.vars;
            self.notes.evidence.extend_from_slice(evidence.values);
        }
    }

    fn write(&mut self, packet: &PacketView, arrived: Time, fate: Fate) {
        if !self.notes.wants_packets {
            return;
        }
        self.notes.packets.push(PacketRow {
            queue: self.stats.place,
            flow: packet.flow,
            seq: packet.seq,
            bytes: packet.bytes,
            arrived,
            left: (fate != Fate::Waiting).then_some(self.now),
            fate,
            marked: packet.marked,
            ecn_in: packet.ecn_in,
        });
    }

    /// Writes a row for a mark or drop. `made` is the time at which the packet was accepted, the
    /// stage and the cause.
    fn write_signal(&mut self, packet: &PacketView, is_mark: bool, made: (Time, Stage, Cause)) {
        let (enqueued, stage, cause) = made;
        if !self.notes.wants_signals {
            return;
        }
        let notes = &mut *self.notes;
        let vars = notes.evidence_vars[self.stats.place as usize];
        notes.signals.push(SignalRow {
            queue: self.stats.place,
            t: self.now,
            flow: packet.flow,
            seq: packet.seq,
            bytes: packet.bytes,
            sojourn: self.now.since(enqueued),
            is_mark,
            is_copy: packet.is_copy,
            stage,
            cause,
            evidence: notes.evidence.len() - vars.len(),
        });
    }
}

impl<P: Measured, const NOTES: bool> Sink<P> for LinkProbe<'_, NOTES> {
    fn dropped(&mut self, packet: P, enqueued: Time, stage: Stage, cause: Cause) {
        LinkProbe::dropped(self, &packet, enqueued, stage, cause);
    }

    fn marked(&mut self, packet: &mut P, enqueued: Time, stage: Stage, cause: Cause) {
        LinkProbe::marked(self, packet, enqueued, stage, cause);
    }

    fn split(&mut self, further: u32) {
        (0..further).for_each(|_| self.arrived());
    }

    fn evidence(&mut self, evidence: Evidence<'_>) {
        LinkProbe::evidence(self, evidence);
    }
}

impl<P: Measured, const NOTES: bool> LinkObserver<P> for LinkProbe<'_, NOTES> {
    #[inline(always)]
    fn departed(&mut self, packet: &P, enqueued: Time) {
        LinkProbe::departed(self, packet, enqueued);
    }

    #[inline]
    fn busy(&mut self, bytes: u32, overhead: u32, span: Span) {
        LinkProbe::busy(self, bytes, overhead, span);
    }

    #[inline]
    fn carried(&mut self, bytes: u32) {
        LinkProbe::carried(self, bytes);
    }
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::{Backlog, Var};
    use sojourn_record::Histogram;

    use super::*;
    use crate::{Counters, PacketKind, Probe};

    const MS: u64 = 1_000_000;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * MS)
    }

    fn packet(seq: u32) -> PacketView {
        let (flow, kind, bytes) = (3, PacketKind::Data, 1_000);
        PacketView {
            flow,
            seq,
            kind,
            bytes,
            ecn_in: Ecn::Ect0,
            dscp: 0,
            marked: None,
            is_copy: false,
        }
    }

    /// A probe of one link that counts from 10 to 20 ms.
    fn probe() -> Probe {
        let mut probe = Probe::new(1, 0, (at(10), at(20)));
        (probe.notes.wants_packets, probe.notes.wants_signals) = (true, true);
        probe
    }

    #[test]
    fn an_interval_has_the_sum_and_the_largest_of_its_delays() {
        let mut probe = probe();
        for (now, enqueued) in [(5, 3), (9, 2), (10, 9)] {
            probe.at_link::<false>(at(now), 0).departed(&packet(0), at(enqueued));
        }
        let interval = probe.links[0].interval;
        assert_eq!((interval.departed, interval.bytes), (3, 3_000));
        assert_eq!((interval.delay_sum_ns, interval.delay_max_ns), (u128::from(10 * MS), 7 * MS));
    }

    /// 2^64 ns are shorter than 10^10 delays of 2 s.
    #[test]
    fn counters_go_on_beyond_ten_thousand_million_packets() {
        const BEFORE: u64 = 10_000_000_000;
        let mut probe = Probe::new(1, 0, (at(0), at(9_000)));
        let link = &mut probe.links[0];
        link.total = Counters {
            arrived: BEFORE,
            sent: BEFORE,
            frames: [BEFORE; OfdmRate::COUNT],
            ..Counters::default()
        };
        link.interval.departed = BEFORE;
        link.interval.delay_sum_ns = u128::from(BEFORE) * 2_000_000_000;
        let mut seen = probe.at_link::<false>(at(4_000), 0);
        seen.arrived();
        let [slowest, ..] = OfdmRate::all();
        seen.sent_frame(Span::from_millis(1), slowest, Some(1_000));
        seen.departed(&packet(0), at(2_000));
        seen.arrived();
        let LinkStats { total, interval, .. } = &probe.links[0];
        assert_eq!((total.arrived, total.sent), (BEFORE + 2, BEFORE + 1));
        assert_eq!(total.frames[..2], [BEFORE + 1, BEFORE]);
        assert!(!probe.links[0].is_empty());
        let [_, _, mean_s, ..] = interval.values(Backlog::default(), Span::from_secs(1));
        assert_eq!((interval.departed, mean_s), (BEFORE + 1, 2.0));
    }

    #[test]
    fn every_fate_of_a_packet_gives_another_digest() {
        let stages = [Stage::Enqueue, Stage::Dequeue, Stage::Queued];
        let causes = [Cause::Overflow, Cause::Random, Cause::Deterministic];
        let mut digests = std::collections::BTreeSet::new();
        for (stage, cause) in stages.into_iter().flat_map(|s| causes.map(|cause| (s, cause))) {
            let mut dropping = probe();
            dropping.at_link::<false>(at(5), 0).dropped(&packet(0), at(3), stage, cause);
            let mut marking = probe();
            marking.at_link::<false>(at(5), 0).marked(&mut packet(0), at(3), stage, cause);
            digests.extend([dropping.digest(), marking.digest()]);
        }
        let mut sending = probe();
        sending.at_link::<false>(at(5), 0).departed(&packet(0), at(3));
        digests.insert(sending.digest());
        assert_eq!(digests.len(), 2 * 9 + 1);
    }

    /// The law `step` marks twice if both thresholds are set.
    #[test]
    fn a_packet_marked_on_arrival_and_again_at_the_head_counts_once() {
        let mut probe = probe();
        let mut link = probe.at_link::<true>(at(12), 0);
        let mut twice = packet(0);
        link.marked(&mut twice, at(12), Stage::Enqueue, Cause::CeThreshold);
        link.marked(&mut twice, at(12), Stage::Dequeue, Cause::Random);
        assert_eq!(twice.marked, Some((Stage::Enqueue, Cause::CeThreshold)));
        assert_eq!(probe.links[0].total.marked.iter().sum::<u64>(), 1);
        assert_eq!((probe.links[0].interval.marks, probe.notes.signals.len()), (1, 1));
    }

    /// A mark that the packet had on arrival is not counted for this queue.
    #[test]
    fn a_packet_that_arrived_marked_is_not_marked_again() {
        let mut probe = probe();
        let mut link = probe.at_link::<true>(at(12), 0);
        let mut arrived = PacketView { ecn_in: Ecn::Ce, ..packet(0) };
        link.marked(&mut arrived, at(12), Stage::Enqueue, Cause::Random);
        assert_eq!(arrived.marked, None);
        assert_eq!(probe.links[0].total.marked.iter().sum::<u64>(), 0);
        assert_eq!((probe.links[0].interval.marks, probe.notes.signals.len()), (0, 0));
    }

    #[test]
    fn a_signal_finds_the_evidence_that_came_before_it() {
        let vars = &[Var { name: "p", unit: "1", doc: "" }, Var { name: "q", unit: "1", doc: "" }];
        let told = |wanted: bool| {
            let mut probe = probe();
            probe.notes.wants_signals = wanted;
            for (seq, values) in [(0, [1.0, 2.0]), (1, [3.0, 4.0])] {
                let mut link = probe.at_link::<true>(at(5), 0);
                Sink::<PacketView>::evidence(&mut link, Evidence { vars, values: &values });
                link.dropped(&packet(seq), at(3), Stage::Enqueue, Cause::Random);
            }
            probe.notes
        };
        let notes = told(true);
        let begins: Vec<_> = notes.signals.iter().map(|signal| signal.evidence).collect();
        assert_eq!((begins, notes.evidence), (vec![0, 2], vec![1.0, 2.0, 3.0, 4.0]));
        let notes = told(false);
        assert!(notes.signals.is_empty() && notes.evidence.is_empty());
        assert_eq!(notes.packets.len(), 2, "these are wanted still");
    }

    #[test]
    fn delays_count_after_the_warm_up_only() {
        let mut probe = probe();
        probe.at_link::<false>(at(9), 0).departed(&packet(0), at(1));
        let totals = probe.totals(at(10));
        probe.end_warmup(totals);
        probe.at_link::<false>(at(11), 0).departed(&packet(1), at(9));
        let link = &probe.links[0];
        assert_eq!((link.delays.count(), link.delays.max_ns()), (1, Some(2 * MS)));
        assert_eq!((link.counted().sent, link.total.sent), (1, 2));
    }

    #[test]
    fn the_time_that_a_server_is_busy_is_clipped_to_the_counted_window() {
        let mut probe = probe();
        probe.at_link::<false>(at(8), 0).busy(1_000, 0, Span::from_millis(4));
        let totals = probe.totals(at(10));
        probe.end_warmup(totals);
        for now in [12, 18] {
            probe.at_link::<false>(at(now), 0).busy(1_000, 0, Span::from_millis(4));
        }
        let link = &probe.links[0];
        let used = link.totals(at(20), None).carried.since(link.at_warmup.carried);
        assert_eq!((used.busy, used.bits), (Span::from_millis(8), 16_000));
    }

    #[test]
    fn airtime_before_the_counted_window_or_the_present_bin_does_not_count() {
        let mut probe = probe();
        let totals = probe.totals(at(10));
        probe.end_warmup(totals);
        probe.links[0].bin_began = at(11);
        probe.at_link::<false>(at(12), 0).sent_frame(
            Span::from_millis(4),
            OfdmRate::all()[0],
            Some(1_000),
        );
        probe.at_link::<false>(at(15), 0).sent_frame(
            Span::from_millis(1),
            OfdmRate::all()[7],
            None,
        );
        probe.at_link::<false>(at(15), 0).gave_up(&packet(0));
        let link = &probe.links[0];
        let used = link.totals(at(20), None).carried.since(link.at_warmup.carried);
        assert_eq!((used.busy, used.bits), (Span::from_millis(3), 8_000));
        assert_eq!(link.airtime_before_bin, Span::from_millis(3));
        let total = link.total;
        assert_eq!(total.frames, [1, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!((total.failed, total.given_up), (1, 1));
    }

    /// Packets arrive at 8 and 9 ms and leave at 12 and 16 ms; the next arrives at 17 ms and stays
    /// in the queue until the end at 20 ms. The 10 ms consist of 2 ms at a delay of 4 ms, 4 ms at 7
    /// ms, 1 ms empty, and 3 ms at 3 ms.
    #[test]
    fn the_mean_over_time_weighs_each_delay_by_how_long_it_lasted() {
        let mut probe = probe();
        probe.at_link::<false>(at(8), 0).arrived();
        probe.at_link::<false>(at(9), 0).arrived();
        probe.end_warmup([]);
        probe.at_link::<false>(at(12), 0).departed(&packet(0), at(8));
        probe.at_link::<false>(at(16), 0).departed(&packet(1), at(9));
        probe.at_link::<false>(at(17), 0).arrived();
        probe.at_link::<false>(at(18), 0).arrived();
        probe.at_link::<false>(at(20), 0).waiting(&packet(2), at(17));
        probe.at_link::<false>(at(20), 0).waiting(&packet(3), at(18));
        let mean_ms = probe.links[0].delay_over_time.mean_s(0.010) * 1e3;
        assert!((mean_ms - (2.0 * 4.0 + 4.0 * 7.0 + 3.0 * 3.0) / 10.0).abs() < 1e-9, "{mean_ms}");
        assert_eq!(probe.links[0].delays.mean_ns(), Some(5.5e6));
    }

    #[test]
    fn a_packet_dropped_after_it_has_waited_adds_to_the_delays_of_drops_alone() {
        let mut probe = probe();
        probe.end_warmup([]);
        let drops = [
            (Stage::Enqueue, Cause::Overflow, 15),
            (Stage::Queued, Cause::Overflow, 14),
            (Stage::Dequeue, Cause::Deterministic, 11),
        ];
        for (stage, cause, enqueued) in drops {
            probe.at_link::<false>(at(15), 0).dropped(&packet(0), at(enqueued), stage, cause);
        }
        let link = &probe.links[0];
        let counts = link.drop_delays.each_ref().map(|of| of.each_ref().map(Histogram::count));
        assert_eq!(counts, [[1, 0, 0, 0], [0, 0, 1, 0]]);
        assert_eq!(link.drop_delays[1][2].max_ns(), Some(4 * MS));
        assert_eq!(link.delays.count(), 0);
    }

    #[test]
    fn a_drop_and_a_mark_have_a_row_with_cause_and_sojourn_time() {
        let mut probe = probe();
        let mut marked = packet(1);
        let (head, random) = (Stage::Dequeue, Cause::Random);
        probe.at_link::<true>(at(7), 0).marked(&mut marked, at(4), head, random);
        assert_eq!(marked.marked, Some((head, random)));
        let overflow = Cause::Overflow;
        probe.at_link::<true>(at(8), 0).dropped(&packet(2), at(8), Stage::Enqueue, overflow);
        let rows: Vec<_> =
            probe.notes.signals.iter().map(|s| (s.seq, s.is_mark, s.cause)).collect();
        assert_eq!(rows, [(1, true, random), (2, false, overflow)]);
        assert_eq!(probe.notes.signals[0].sojourn, Span::from_millis(3));
        let total = probe.links[0].total;
        assert_eq!(total.marked[random as usize], 1);
        assert_eq!(total.dropped[overflow as usize], 1);
        let interval = probe.links[0].interval;
        assert_eq!((interval.marks, interval.drops), (1, 1));
        // A mark alone is not a fate, but a drop is.
        let fates: Vec<_> = probe.notes.packets.iter().map(|row| (row.seq, row.fate)).collect();
        assert_eq!(fates, [(2, Fate::Dropped(Stage::Enqueue, overflow))]);
    }

    #[test]
    fn without_notes_the_digest_is_the_same_and_no_row_is_written() {
        let run = |notes: bool| {
            let mut probe = probe();
            match notes {
                true => probe.at_link::<true>(at(5), 0).departed(&packet(0), at(3)),
                false => probe.at_link::<false>(at(5), 0).departed(&packet(0), at(3)),
            }
            (probe.digest(), probe.notes.packets.len())
        };
        assert_eq!((run(true).0, run(true).1, run(false).1), (run(false).0, 1, 0));
    }
}
