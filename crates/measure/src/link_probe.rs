//! Counts what a link reports.

use sojourn_aqm::{Cause, Departure, Evidence, Sink, Span, Stage, Time};
use sojourn_link::LinkObserver;
use sojourn_record::rows::{Fate, PacketRow, SignalRow};

use crate::digest::event;
use crate::{Digest, LinkStats, Measured, Notes, PacketView};

/// A probe at one link at one time.
pub struct LinkProbe<'a, const NOTES: bool> {
    pub(crate) now: Time,
    pub(crate) link: u16,
    pub(crate) counting: bool,
    pub(crate) stats: &'a mut LinkStats,
    pub(crate) notes: &'a mut Notes,
    pub(crate) digest: &'a mut Digest,
}

impl<const NOTES: bool> LinkProbe<'_, NOTES> {
    /// A packet arrives.
    #[inline]
    pub fn arrived(&mut self) {
        self.stats.total.arrived += 1;
    }

    /// A packet leaves the queue.
    #[inline]
    pub fn departed(&mut self, packet: &impl Measured, enqueued: Time) {
        let packet = packet.view();
        let sojourn = self.now.since(enqueued).as_nanos();
        let stats = &mut *self.stats;
        stats.total.sent += 1;
        stats.total.sent_bytes += u64::from(packet.bytes);
        let interval = &mut stats.interval;
        interval.departed += 1;
        interval.delay_sum_ns += sojourn;
        interval.delay_max_ns = interval.delay_max_ns.max(sojourn);
        interval.bytes += u64::from(packet.bytes);
        if self.counting {
            stats.delays.add(sojourn);
        }
        self.digest.mix(self.now, event(self.link, &packet, 0));
        if NOTES {
            self.write(&packet, enqueued, Fate::Sent);
        }
    }

    /// The server is busy for a while from now on.
    #[inline]
    pub fn busy(&mut self, span: Span) {
        let (from, to) = self.stats.window;
        self.stats.busy_total = self.stats.busy_total + span;
        self.stats.busy_end = self.now + span;
        self.stats.busy = self.stats.busy + (self.now + span).min(to).since(self.now.max(from));
    }

    /// A recorded link has carried bytes.
    #[inline]
    pub fn carried(&mut self, bytes: u32) {
        self.stats.total.carried_bytes += u64::from(bytes);
    }

    /// A wireless link has sent a frame, which kept the medium busy until now.
    #[inline]
    pub fn sent_frame(&mut self, airtime: Span, is_received: bool) {
        let (from, to) = self.stats.window;
        let start = Time::from_nanos(self.now.as_nanos() - airtime.as_nanos());
        self.stats.busy_total = self.stats.busy_total + airtime;
        self.stats.busy_end = self.now;
        self.stats.busy = self.stats.busy + self.now.min(to).since(start.max(from));
        self.stats.total.frames += 1;
        self.stats.total.failed += u64::from(!is_received);
    }

    /// A wireless link has given up a packet.
    #[inline]
    pub fn gave_up(&mut self) {
        self.stats.total.given_up += 1;
    }

    /// A packet still waits at the end of the run.
    pub fn waiting(&mut self, packet: &impl Measured, enqueued: Time) {
        if NOTES {
            self.write(&packet.view(), enqueued, Fate::Waiting);
        }
    }

    /// A packet was dropped.
    pub fn dropped(&mut self, packet: &impl Measured, enqueued: Time, stage: Stage, cause: Cause) {
        let packet = packet.view();
        self.stats.total.dropped[cause as usize] += 1;
        self.stats.interval.drops += 1;
        let code = 1 + 4 * (stage as u64) + (cause as u64);
        self.digest.mix(self.now, event(self.link, &packet, code));
        if NOTES {
            self.write_signal(&packet, false, (enqueued, stage, cause));
            self.write(&packet, enqueued, Fate::Dropped(stage, cause));
        }
    }

    /// A packet was marked.
    pub fn marked(
        &mut self,
        packet: &mut impl Measured,
        enqueued: Time,
        stage: Stage,
        cause: Cause,
    ) {
        self.stats.total.marked[cause as usize] += 1;
        self.stats.interval.marks += 1;
        packet.note_mark(stage, cause);
        let packet = packet.view();
        let code = 16 + 4 * (stage as u64) + (cause as u64);
        self.digest.mix(self.now, event(self.link, &packet, code));
        if NOTES {
            self.write_signal(&packet, true, (enqueued, stage, cause));
        }
    }

    /// The state of the law before the drop or mark that is reported next.
    pub fn evidence(&mut self, evidence: Evidence<'_>) {
        if NOTES && self.notes.wants_signals {
            self.notes.evidence_vars[usize::from(self.link)] = evidence.vars;
            self.notes.evidence.extend_from_slice(evidence.values);
        }
    }

    fn write(&mut self, packet: &PacketView, arrived: Time, fate: Fate) {
        if !self.notes.wants_packets {
            return;
        }
        self.notes.packets.push(PacketRow {
            queue: self.link,
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

    /// A mark or a drop: when the packet had been accepted, where, why.
    fn write_signal(&mut self, packet: &PacketView, is_mark: bool, made: (Time, Stage, Cause)) {
        let (enqueued, stage, cause) = made;
        if !self.notes.wants_signals {
            return;
        }
        let notes = &mut *self.notes;
        let vars = notes.evidence_vars[usize::from(self.link)];
        notes.signals.push(SignalRow {
            queue: self.link,
            t: self.now,
            flow: packet.flow,
            seq: packet.seq,
            bytes: packet.bytes,
            sojourn: self.now.since(enqueued),
            is_mark,
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

    fn evidence(&mut self, evidence: Evidence<'_>) {
        LinkProbe::evidence(self, evidence);
    }
}

impl<P: Measured, const NOTES: bool> LinkObserver<P> for LinkProbe<'_, NOTES> {
    #[inline]
    fn departed(&mut self, departure: &Departure<P>) {
        LinkProbe::departed(self, &departure.packet, departure.enqueued);
    }

    #[inline]
    fn busy(&mut self, span: Span) {
        LinkProbe::busy(self, span);
    }

    #[inline]
    fn carried(&mut self, bytes: u32) {
        LinkProbe::carried(self, bytes);
    }
}
