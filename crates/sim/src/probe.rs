//! The probe: told of every fate and sample, the only way out of a world.

use sojourn_aqm::{Backlog, Cause, Departure, Evidence, Sink, Span, Stage, Time, Var};
use sojourn_record::Histogram;
use sojourn_record::rows::{Fate, PacketRow, SignalRow, StateRow, TransferRow};

use crate::packet::Packet;
use crate::wlan::medium::Attempt;

/// Sums since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that left towards the link.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets dropped, by cause.
    pub dropped: [u64; 3],
    /// Packets marked, by cause.
    pub marked: [u64; 3],
    /// Bytes carried by a recorded link.
    pub carried_bytes: u64,
    /// Frames that a wireless link sent, every attempt counted.
    pub frames: u64,
    /// Those of them that were not received.
    pub failed: u64,
    /// Packets that a wireless link gave up.
    pub given_up: u64,
}

impl Counters {
    /// What was added since.
    pub fn since(&self, then: &Counters) -> Counters {
        let less = |now: [u64; 3], then: [u64; 3]| std::array::from_fn(|i| now[i] - then[i]);
        Counters {
            arrived: self.arrived - then.arrived,
            sent: self.sent - then.sent,
            sent_bytes: self.sent_bytes - then.sent_bytes,
            dropped: less(self.dropped, then.dropped),
            marked: less(self.marked, then.marked),
            carried_bytes: self.carried_bytes - then.carried_bytes,
            frames: self.frames - then.frames,
            failed: self.failed - then.failed,
            given_up: self.given_up - then.given_up,
        }
    }
}

/// What happened since the last sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interval {
    /// Packets that left.
    pub departed: u64,
    /// The sum of their sojourn times.
    pub delay_sum_ns: u64,
    /// The largest of them.
    pub delay_max_ns: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
    /// Bytes that left.
    pub bytes: u64,
}

impl Interval {
    /// The values of [`crate::summary::BUILTIN_VARS`], given what waits now and how long it was.
    pub fn values(&self, backlog: Backlog, every: Span) -> [f64; 7] {
        let mean_ns = self.delay_sum_ns as f64 / self.departed as f64;
        [
            f64::from(backlog.packets),
            backlog.bytes as f64,
            mean_ns / 1e9,
            self.delay_max_ns as f64 / 1e9,
            self.drops as f64,
            self.marks as f64,
            self.bytes as f64 * 8.0 / every.as_secs(),
        ]
    }
}

/// What is counted at one link.
#[derive(Clone, Debug)]
pub struct LinkStats {
    /// Since the start.
    pub total: Counters,
    /// The same at the end of the warm-up.
    pub at_warmup: Counters,
    /// Since the last sample.
    pub interval: Interval,
    /// Sojourn times after the warm-up.
    pub delays: Histogram,
    /// Time that the server was busy between warm-up and end.
    pub busy: Span,
    /// Time that it was busy from the start, what it is sending now counted whole.
    pub busy_total: Span,
    /// When it has sent that.
    pub busy_end: Time,
    window: (Time, Time),
}

impl LinkStats {
    /// Nothing counted yet; `window` is from the end of the warm-up to the end of the run.
    pub fn new(window: (Time, Time)) -> LinkStats {
        LinkStats {
            total: Counters::default(),
            at_warmup: Counters::default(),
            interval: Interval::default(),
            delays: Histogram::default(),
            busy: Span::ZERO,
            busy_total: Span::ZERO,
            busy_end: Time::ZERO,
            window,
        }
    }
}

/// What is counted for one class of traffic after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct ClassStats {
    /// One-way delays of datagrams, and of data packets if wanted.
    pub one_way: Histogram,
    /// Round trips of data packets as an observer beside the sender sees them, if wanted.
    pub rtt: Histogram,
    /// Completion times of short transfers.
    pub completion: Histogram,
}

/// A running fingerprint of the stream of events.
#[derive(Clone, Copy, Debug)]
pub struct Digest(u64);

impl Digest {
    /// Mixes in one event. Every bit of the input reaches every bit of the digest.
    #[inline]
    pub fn mix(&mut self, now: Time, what: u64) {
        let x = (self.0 ^ now.as_nanos()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ (x >> 29) ^ what).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        self.0 = x ^ (x >> 32);
    }

    /// The fingerprint so far.
    pub fn value(self) -> u64 {
        self.0
    }
}

/// What is written down packet by packet, where that is wanted.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Whether every packet is wanted.
    pub wants_packets: bool,
    /// Whether every drop and mark is wanted.
    pub wants_signals: bool,
    /// The link whose arrivals are wanted.
    pub taped: Option<u16>,
    /// Rows of the table `packets`.
    pub packets: Vec<PacketRow>,
    /// Rows of the table `signals`.
    pub signals: Vec<SignalRow>,
    /// The state before each signal.
    pub evidence: Vec<f64>,
    /// The variables of the evidence, by link.
    pub evidence_vars: Vec<&'static [Var]>,
    /// The arrivals.
    pub tape: Vec<(Time, Packet)>,
}

/// Everything a world writes down.
#[derive(Debug)]
pub struct Probe {
    /// By link.
    pub links: Vec<LinkStats>,
    /// By class.
    pub classes: Vec<ClassStats>,
    /// What is written down packet by packet.
    pub notes: Notes,
    /// Rows of the table `states`, if wanted.
    pub states: Vec<StateRow>,
    /// Rows of the table `transfers`.
    pub transfers: Vec<TransferRow>,
    /// The fingerprint.
    pub digest: Digest,
    /// Whether the warm-up is over.
    pub counting: bool,
}

impl Probe {
    /// A probe for a number of links and classes.
    pub fn new(links: usize, classes: usize, window: (Time, Time)) -> Probe {
        Probe {
            links: vec![LinkStats::new(window); links],
            classes: vec![ClassStats::default(); classes],
            notes: Notes { evidence_vars: vec![&[]; links], ..Notes::default() },
            states: Vec::new(),
            transfers: Vec::new(),
            digest: Digest(0),
            counting: false,
        }
    }

    /// The ear for what happens at one link now.
    #[inline]
    pub fn ear<const NOTES: bool>(&mut self, now: Time, link: usize) -> Ear<'_, NOTES> {
        Ear {
            now,
            link: link as u16,
            counting: self.counting,
            stats: &mut self.links[link],
            notes: &mut self.notes,
            digest: &mut self.digest,
        }
    }

    /// The warm-up is over: summaries count from here on.
    pub fn end_warmup(&mut self) {
        self.counting = true;
        for link in &mut self.links {
            link.at_warmup = link.total;
        }
    }
}

/// Listens at one link. Without `NOTES` nothing is written down packet by packet, and nothing asks.
pub struct Ear<'a, const NOTES: bool> {
    now: Time,
    link: u16,
    counting: bool,
    stats: &'a mut LinkStats,
    notes: &'a mut Notes,
    digest: &'a mut Digest,
}

impl<const NOTES: bool> Ear<'_, NOTES> {
    /// A packet arrives.
    #[inline]
    pub fn arrived(&mut self, packet: &Packet) {
        self.stats.total.arrived += 1;
        if NOTES && self.notes.taped == Some(self.link) {
            self.notes.tape.push((self.now, *packet));
        }
    }

    /// A packet leaves the queue.
    #[inline]
    pub fn departed(&mut self, departure: &Departure<Packet>) {
        let Departure { packet, enqueued } = departure;
        let sojourn = self.now.since(*enqueued).as_nanos();
        let stats = &mut *self.stats;
        stats.total.sent += 1;
        stats.total.sent_bytes += u64::from(packet.link_bytes);
        let interval = &mut stats.interval;
        interval.departed += 1;
        interval.delay_sum_ns += sojourn;
        interval.delay_max_ns = interval.delay_max_ns.max(sojourn);
        interval.bytes += u64::from(packet.link_bytes);
        if self.counting {
            stats.delays.add(sojourn);
        }
        self.digest.mix(self.now, event(self.link, packet, 0));
        if NOTES {
            self.write(packet, *enqueued, Fate::Sent);
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

    /// A wireless link has used the medium until now.
    #[inline]
    pub fn transmitted(&mut self, airtime: Span, attempt: Attempt) {
        let (from, to) = self.stats.window;
        let start = Time::from_nanos(self.now.as_nanos() - airtime.as_nanos());
        self.stats.busy_total = self.stats.busy_total + airtime;
        self.stats.busy_end = self.now;
        self.stats.busy = self.stats.busy + self.now.min(to).since(start.max(from));
        let total = &mut self.stats.total;
        total.frames += 1;
        total.failed += u64::from(attempt != Attempt::Received);
        total.given_up += u64::from(attempt == Attempt::GivenUp);
    }

    /// A packet still waits at the end of the run.
    pub fn waiting(&mut self, packet: &Packet, enqueued: Time) {
        if NOTES {
            self.write(packet, enqueued, Fate::Waiting);
        }
    }

    fn write(&mut self, packet: &Packet, arrived: Time, fate: Fate) {
        if !self.notes.wants_packets {
            return;
        }
        self.notes.packets.push(PacketRow {
            queue: self.link,
            flow: packet.flow,
            seq: packet.seq,
            bytes: packet.link_bytes,
            arrived,
            left: (fate != Fate::Waiting).then_some(self.now),
            fate,
            marked: packet.marked,
            ecn_in: packet.ecn_in,
        });
    }

    /// A mark or a drop: when the packet had been accepted, where, why.
    fn write_signal(&mut self, packet: &Packet, is_mark: bool, made: (Time, Stage, Cause)) {
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
            bytes: packet.link_bytes,
            sojourn: self.now.since(enqueued),
            is_mark,
            stage,
            cause,
            evidence: notes.evidence.len() - vars.len(),
        });
    }
}

impl<const NOTES: bool> Sink<Packet> for Ear<'_, NOTES> {
    fn dropped(&mut self, packet: Packet, enqueued: Time, stage: Stage, cause: Cause) {
        self.stats.total.dropped[cause as usize] += 1;
        self.stats.interval.drops += 1;
        let code = 1 + 4 * (stage as u64) + (cause as u64);
        self.digest.mix(self.now, event(self.link, &packet, code));
        if NOTES {
            self.write_signal(&packet, false, (enqueued, stage, cause));
            self.write(&packet, enqueued, Fate::Dropped(stage, cause));
        }
    }

    fn marked(&mut self, packet: &mut Packet, enqueued: Time, stage: Stage, cause: Cause) {
        self.stats.total.marked[cause as usize] += 1;
        self.stats.interval.marks += 1;
        packet.marked = Some((stage, cause));
        let code = 16 + 4 * (stage as u64) + (cause as u64);
        self.digest.mix(self.now, event(self.link, packet, code));
        if NOTES {
            self.write_signal(packet, true, (enqueued, stage, cause));
        }
    }

    fn evidence(&mut self, evidence: Evidence<'_>) {
        if NOTES && self.notes.wants_signals {
            self.notes.evidence_vars[usize::from(self.link)] = evidence.vars;
            self.notes.evidence.extend_from_slice(evidence.values);
        }
    }
}

/// Listens at the end of the run, when queues are emptied: what the law would still drop counts as
/// waiting.
pub struct Remains(pub Vec<(Packet, Time)>);

impl Sink<Packet> for Remains {
    fn dropped(&mut self, packet: Packet, enqueued: Time, _stage: Stage, _cause: Cause) {
        self.0.push((packet, enqueued));
    }

    fn marked(&mut self, _packet: &mut Packet, _enqueued: Time, _stage: Stage, _cause: Cause) {}
}

/// What happened to which packet where, in 64 bits.
#[inline]
fn event(link: u16, packet: &Packet, code: u64) -> u64 {
    u64::from(packet.seq)
        ^ u64::from(packet.flow) << 32
        ^ code << 52
        ^ u64::from(link) << 58
        ^ (packet.kind as u64) << 49
}
