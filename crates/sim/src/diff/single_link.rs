//! A single link that receives the arrivals recorded in a run.

use sojourn_aqm::{Packet as _, Time, Var};
use sojourn_measure::summary::{self, QueueSeen};
use sojourn_measure::{BUILTIN_VARS, Probe, Utilisation};
use sojourn_record::Run;
use sojourn_record::rows::{PacketRow, SignalRow};
use sojourn_scenario::Resolved;

use crate::alarms::Slot;
use crate::packet::Packet;
use crate::path::{Agenda, ScheduledLink, Service, Slots, empty_queue};
use crate::sightings::Sighting;
use crate::{SimError, assemble};

/// Events of one instant happen in the same order as in a simulation: the server, the discipline's
/// timer, arrivals.
const SERVER: Slot = 0;
const TIMER: Slot = 1;
const ARRIVAL: Slot = 2;
/// Arrivals take the slot of a wire.
const SLOTS: Slots = Slots { media: 1, timers: 1, wires: 2, accesses: 3, count: 3, uplinks: 0 };

/// Recorded arrivals at a link, in order. A packet's sequence number is replaced by its index among
/// them, so that rows about different packets can be distinguished; laws never read this number.
#[derive(Debug)]
pub(super) struct RecordedArrivals {
    packets: Vec<(Time, Packet)>,
    /// The original sequence numbers of all segments.
    seqs: Vec<u32>,
}

impl RecordedArrivals {
    /// The arrivals that a run has recorded.
    pub(super) fn new(sightings: Vec<Sighting>) -> RecordedArrivals {
        let arrivals = sightings.into_iter().map(|Sighting { t, packet, .. }| (t, packet));
        let mut packets: Vec<(Time, Packet)> = arrivals.collect();
        let mut seqs = Vec::with_capacity(packets.len());
        for (_, packet) in &mut packets {
            let place = u32::try_from(seqs.len()).expect("fewer than 2^32 arrivals fit in memory");
            // A discipline may split a super-packet.
            seqs.extend((0..packet.segments()).map(|further| packet.seq + further));
            packet.seq = place;
        }
        RecordedArrivals { packets, seqs }
    }

    /// How many packets arrive.
    pub(super) fn count(&self) -> usize {
        self.packets.len()
    }

    /// When the packet at this index arrives; `NEVER` past the last one.
    fn time(&self, place: usize) -> Time {
        self.packets.get(place).map_or(Time::NEVER, |&(at, _)| at)
    }

    /// The row with the packet's original sequence number.
    pub(super) fn with_seq(&self, row: SignalRow) -> SignalRow {
        SignalRow { seq: self.seqs[row.seq as usize], ..row }
    }

    /// Restores the original sequence numbers in all rows.
    pub(super) fn restore_seqs(&self, run: &mut Run) {
        for row in &mut run.signals {
            *row = self.with_seq(*row);
        }
        for row in &mut run.packets {
            *row = PacketRow { seq: self.seqs[row.seq as usize], ..*row };
        }
    }
}

/// A position in the order of events: the time, the slot, and the number of earlier arrivals.
pub(super) type Position = (Time, Slot, usize);

/// The link, its alarms, and the remaining arrivals.
pub(super) struct SingleLink<'a> {
    arrivals: &'a RecordedArrivals,
    arrived: usize,
    agenda: Agenda,
    link: ScheduledLink,
    probe: Probe,
    end: Time,
}

impl<'a> SingleLink<'a> {
    /// The idle link of the plan.
    ///
    /// # Errors
    /// [`SimError::Invalid`] for an AQM that cannot be built.
    pub(super) fn new(
        plan: &Resolved,
        link: usize,
        arrivals: &'a RecordedArrivals,
    ) -> Result<SingleLink<'a>, SimError> {
        let mut plan = plan.clone();
        plan.record.signals = true; // so that the AQM is watched
        let mut agenda = Agenda::new(&SLOTS);
        let built = assemble::link(&plan, link, (SERVER, TIMER), Service::Events, &mut agenda)?;
        let end = Time::ZERO + plan.duration;
        let mut probe = Probe::new(1, 0, (Time::ZERO, end));
        (probe.notes.wants_packets, probe.notes.wants_signals) = (true, true);
        let start = probe.links[0].totals(Time::ZERO, built.reserve(Time::ZERO));
        probe.end_warmup([start]);
        agenda.set(agenda.alarm(ARRIVAL), arrivals.time(0));
        Ok(SingleLink { arrivals, arrived: 0, agenda, link: built, probe, end })
    }

    /// The next event, if there is one before the end.
    pub(super) fn next(&self) -> Option<Position> {
        let (now, slot) = self.agenda.next().at();
        (now < self.end).then_some((now, slot, self.arrived))
    }

    /// Handles the next event.
    pub(super) fn step(&mut self) {
        let (now, slot) = self.agenda.next().at();
        let SingleLink { arrivals, arrived, agenda, link, probe, .. } = self;
        let mut probe = probe.at_link::<true>(now, 0);
        match slot {
            SERVER => {
                link.on_service(now, agenda, &mut probe, |_, _, _| {});
                link.end_service(now, Time::NEVER, agenda);
            }
            TIMER => link.on_timer(now, agenda, &mut probe),
            _ => {
                let (_, mut packet) = arrivals.packets[*arrived];
                *arrived += 1;
                agenda.set(agenda.alarm(ARRIVAL), arrivals.time(*arrived));
                link.arrive(now, &mut packet, agenda, &mut probe, |_, _, _| {});
            }
        }
    }

    /// Packets and bytes in the queue, and the variables of the discipline.
    pub(super) fn state(&self) -> Vec<(Var, f64)> {
        let backlog = self.link.backlog();
        let mut values = vec![f64::NAN; self.link.vars().len()];
        self.link.observe(&mut values);
        let waiting = [f64::from(backlog.packets), backlog.bytes as f64];
        let waiting = BUILTIN_VARS.into_iter().zip(waiting);
        waiting.chain(self.link.vars().iter().copied().zip(values)).collect()
    }

    /// Steps until signal `number` has been given; returns the event in which it was given, and the
    /// state before that event.
    pub(super) fn before_signal(&mut self, number: usize) -> (Position, Vec<(Var, f64)>) {
        loop {
            let position = self.next().expect("the signal was given before");
            let before = self.state();
            self.step();
            if self.probe.notes.signals.len() > number {
                return (position, before);
            }
        }
    }
}

/// Replays all arrivals. Rows identify packets by their index.
///
/// # Errors
/// [`SimError::Invalid`] for an AQM that cannot be built.
pub(super) fn replay(
    plan: &Resolved,
    link: usize,
    arrivals: &RecordedArrivals,
) -> Result<Run, SimError> {
    let mut single = SingleLink::new(plan, link, arrivals)?;
    while single.next().is_some() {
        single.step();
    }
    let SingleLink { link: mut built, mut probe, end, .. } = single;
    empty_queue::<true>(&mut built, 0, end, &mut probe);
    probe.notes.packets.sort_by_key(|row| row.seq);
    let stats = &probe.links[0];
    let totals = stats.totals(end, built.reserve(end));
    let used = Utilisation::of(&plan.links[link]).used(&stats.at_warmup, &totals);
    let queue = QueueSeen {
        name: plan.links[link].name.clone(),
        used: Some(used),
        vars: built.vars().to_vec(),
    };
    let (flows, classes) = summary::flow_names(plan);
    let tables = summary::collect_queues(probe, vec![queue], plan.duration.as_secs());
    Ok(Run { flows, classes, ..tables })
}
