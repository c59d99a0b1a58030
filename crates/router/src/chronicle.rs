//! What became of the packets of a router: counted, told packet by packet, or told to the simulator's
//! probe, which counts and samples as it does for a simulated link.

use sojourn_aqm::{Backlog, Cause, Evidence, Sink, Span, Stage, Time};
use sojourn_measure::{Interval, Kind as MeasuredKind, PacketView, Probe};
use sojourn_record::rows::{Fate, StateRow};

use crate::plan::Direction;
use crate::seen::{Kind, Story};
use crate::street::Parcel;

/// What the router counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    /// Packets that came.
    pub arrived: u64,
    /// Packets that left.
    pub sent: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
}

/// What is kept beside the counts.
#[derive(Debug)]
pub enum Memory {
    /// Nothing.
    Nothing,
    /// What became of every packet, in the order of arrival.
    Stories(Vec<Story>),
    /// Everything is told to a probe, as of its link of that number.
    Probe(Box<Probe>, u16),
}

/// The counts and the memory; the ear of the discipline.
#[derive(Debug)]
pub struct Chronicle {
    /// The counts.
    pub counts: Counts,
    /// The memory.
    pub memory: Memory,
    /// Which way the packets go.
    way: Direction,
}

impl Chronicle {
    /// Nothing has happened yet.
    pub fn new(memory: Memory, way: Direction) -> Chronicle {
        Chronicle { counts: Counts::default(), memory, way }
    }

    /// A packet comes; returns the place of its story.
    pub fn arrived(&mut self, now: Time, parcel: &Parcel) -> Option<usize> {
        self.counts.arrived += 1;
        match &mut self.memory {
            Memory::Nothing => None,
            Memory::Stories(stories) => {
                stories.push(begun(now, parcel, self.way));
                Some(stories.len() - 1)
            }
            Memory::Probe(probe, link) => {
                probe.at_link::<true>(now, usize::from(*link)).arrived();
                None
            }
        }
    }

    /// A packet begins to leave.
    pub fn sent(&mut self, now: Time, parcel: &Parcel, enqueued: Time) {
        self.counts.sent += 1;
        match &mut self.memory {
            Memory::Nothing => {}
            Memory::Stories(stories) => end(stories, now, parcel, Fate::Sent),
            Memory::Probe(probe, link) => {
                let mut ear = probe.at_link::<true>(now, usize::from(*link));
                ear.departed(&told(parcel), enqueued);
            }
        }
    }

    /// Whether someone wants to know the state of the law before each drop and mark.
    pub fn wants_evidence(&self) -> bool {
        matches!(&self.memory, Memory::Probe(probe, _) if probe.notes.wants_signals)
    }

    /// The link is busy for so long from now on.
    pub fn busy(&mut self, now: Time, span: Span) {
        if let Memory::Probe(probe, link) = &mut self.memory {
            probe.at_link::<true>(now, usize::from(*link)).busy(span);
        }
    }

    /// The discipline's ear at a time.
    pub fn ear(&mut self, now: Time) -> Ear<'_> {
        Ear { now, chronicle: self }
    }

    /// A sample of the state variables, of all queues and then of this one; what happened since the
    /// last one is returned. Nothing without a probe.
    pub fn sample(
        &mut self,
        now: Time,
        every: Span,
        backlog: Backlog,
        own: &[f64],
    ) -> Option<Interval> {
        let Memory::Probe(probe, queue) = &mut self.memory else { return None };
        let interval = std::mem::take(&mut probe.links[usize::from(*queue)].interval);
        let values = interval.values(backlog, every).into_iter().chain(own.iter().copied());
        let rows = values.enumerate().map(|(var, value)| StateRow {
            queue: *queue,
            t: now,
            var: var as u16,
            value,
        });
        probe.states.extend(rows);
        Some(interval)
    }
}

/// Listens at one time.
pub struct Ear<'a> {
    now: Time,
    chronicle: &'a mut Chronicle,
}

impl Sink<Parcel> for Ear<'_> {
    fn dropped(&mut self, parcel: Parcel, enqueued: Time, stage: Stage, cause: Cause) {
        self.chronicle.counts.dropped += 1;
        match &mut self.chronicle.memory {
            Memory::Nothing => {}
            Memory::Stories(stories) => {
                end(stories, self.now, &parcel, Fate::Dropped(stage, cause));
            }
            Memory::Probe(probe, link) => {
                let mut ear = probe.at_link::<true>(self.now, usize::from(*link));
                ear.dropped(&told(&parcel), enqueued, stage, cause);
            }
        }
    }

    fn marked(&mut self, parcel: &mut Parcel, enqueued: Time, stage: Stage, cause: Cause) {
        self.chronicle.counts.marked += 1;
        parcel.marked = Some((stage, cause));
        match &mut self.chronicle.memory {
            Memory::Nothing => {}
            Memory::Stories(stories) => {
                let place = parcel.story.expect("it was told when it came");
                stories[place].marked = parcel.marked;
            }
            Memory::Probe(probe, link) => {
                let mut ear = probe.at_link::<true>(self.now, usize::from(*link));
                ear.marked(&mut told(parcel), enqueued, stage, cause);
            }
        }
    }

    fn evidence(&mut self, evidence: Evidence<'_>) {
        if let Memory::Probe(probe, link) = &mut self.chronicle.memory {
            probe.at_link::<true>(self.now, usize::from(*link)).evidence(evidence);
        }
    }
}

fn begun(now: Time, parcel: &Parcel, way: Direction) -> Story {
    let header = &parcel.header;
    Story {
        flow: parcel.flow,
        way,
        // On the way back a packet of TCP is known by what it acknowledges.
        seq: if way == Direction::Back { header.ack } else { header.seq },
        bytes: header.bytes,
        kind: Kind::of(header),
        ecn_in: header.ecn,
        arrived: now,
        left: None,
        fate: Fate::Waiting,
        marked: None,
    }
}

fn end(stories: &mut [Story], now: Time, parcel: &Parcel, fate: Fate) {
    let story = &mut stories[parcel.story.expect("it was told when it came")];
    (story.left, story.fate) = (Some(now), fate);
}

/// A packet as the probe knows it.
fn told(parcel: &Parcel) -> PacketView {
    let header = &parcel.header;
    let kind = match Kind::of(header) {
        Kind::Syn => MeasuredKind::Syn,
        Kind::Data => MeasuredKind::Data,
        Kind::Datagram => MeasuredKind::Datagram,
    };
    PacketView {
        flow: parcel.flow,
        seq: header.seq,
        kind,
        bytes: parcel.link_bytes,
        ecn_in: header.ecn,
        marked: parcel.marked,
    }
}
