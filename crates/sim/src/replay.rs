//! One link alone, fed with arrivals that were taped in a run.

use sojourn_aqm::{Time, Var};
use sojourn_record::Run;
use sojourn_record::rows::{PacketRow, SignalRow};
use sojourn_scenario::Resolved;

use crate::agenda::{Agenda, Slot};
use crate::link::Link;
use crate::packet::Packet;
use crate::probe::Probe;
use crate::world::sampling::empty_queue;
use crate::{SimError, build, summary};

/// Alarms of one instant ring in the order of a world: the server, the queue's timer, arrivals.
const SERVER: Slot = 0;
const TIMER: Slot = 1;
const ARRIVAL: Slot = 2;

/// Arrivals at a link in their order. On the tape a packet's sequence number is its place on it, so that
/// whatever is written of it can be told apart; laws never look at it.
#[derive(Debug)]
pub struct Tape {
    arrivals: Vec<(Time, Packet)>,
    seqs: Vec<u32>,
}

impl Tape {
    /// From what was heard at the link.
    pub fn new(mut arrivals: Vec<(Time, Packet)>) -> Tape {
        let seqs = arrivals.iter().map(|(_, packet)| packet.seq).collect();
        for (place, (_, packet)) in arrivals.iter_mut().enumerate() {
            packet.seq = u32::try_from(place).expect("fewer than 2^32 arrivals fit into memory");
        }
        Tape { arrivals, seqs }
    }

    /// How many packets arrive.
    pub fn arrivals(&self) -> usize {
        self.arrivals.len()
    }

    /// The row with the sequence number that the packet had in the run.
    pub fn named(&self, row: SignalRow) -> SignalRow {
        SignalRow { seq: self.seqs[row.seq as usize], ..row }
    }

    /// Gives all rows the sequence numbers that the packets had in the run.
    pub fn name_packets(&self, run: &mut Run) {
        for row in &mut run.signals {
            *row = self.named(*row);
        }
        for row in &mut run.packets {
            *row = PacketRow { seq: self.seqs[row.seq as usize], ..*row };
        }
    }
}

/// A place in the order of events: the time, the alarm, and how many packets arrived before.
pub type Moment = (Time, Slot, usize);

/// The link, its alarms, and what is left of the tape.
pub struct Bench<'a> {
    tape: &'a Tape,
    arrived: usize,
    agenda: Agenda,
    link: Link,
    probe: Probe,
    end: Time,
}

impl<'a> Bench<'a> {
    /// The link as it is in the plan, idle.
    ///
    /// # Errors
    /// [`SimError::Invalid`] for an AQM that cannot be made.
    pub fn new(plan: &Resolved, link: usize, tape: &'a Tape) -> Result<Bench<'a>, SimError> {
        let mut plan = plan.clone();
        plan.record.signals = true; // so that the AQM is watched
        let mut agenda = Agenda::new(ARRIVAL + 1);
        let built = build::link(&plan, link, (SERVER, ARRIVAL, TIMER), &mut agenda)?;
        let end = Time::ZERO + plan.duration;
        let mut probe = Probe::new(1, 0, (Time::ZERO, end));
        (probe.notes.wants_packets, probe.notes.wants_signals) = (true, true);
        probe.end_warmup();
        agenda.set(ARRIVAL, tape.arrivals.first().map_or(Time::NEVER, |&(at, _)| at));
        Ok(Bench { tape, arrived: 0, agenda, link: built, probe, end })
    }

    /// The next event, if there is one before the end.
    pub fn next(&self) -> Option<Moment> {
        let (now, slot) = self.agenda.next();
        (now < self.end).then_some((now, slot, self.arrived))
    }

    /// Lets it happen.
    pub fn step(&mut self) {
        let (now, slot) = self.agenda.next();
        let Bench { tape, arrived, agenda, link, probe, .. } = self;
        let mut ear = probe.ear::<true>(now, 0);
        match slot {
            SERVER => link.on_done(now, agenda, &mut ear, |_, _| {}),
            TIMER => link.on_timer(now, agenda),
            _ => {
                let (_, packet) = tape.arrivals[*arrived];
                *arrived += 1;
                agenda.set(ARRIVAL, tape.arrivals.get(*arrived).map_or(Time::NEVER, |next| next.0));
                link.arrive(now, packet, agenda, &mut ear);
            }
        }
    }

    /// How many packets and bytes wait, and the variables of the discipline.
    pub fn state(&self) -> Vec<(Var, f64)> {
        let backlog = self.link.backlog();
        let mut values = vec![f64::NAN; self.link.vars().len()];
        self.link.observe(&mut values);
        let waits = summary::BUILTIN_VARS
            .into_iter()
            .zip([f64::from(backlog.packets), backlog.bytes as f64]);
        waits.chain(self.link.vars().iter().copied().zip(values)).collect()
    }

    /// Steps until the signal of that number has been given: the event it was given in, and the state before.
    pub fn before_signal(&mut self, number: usize) -> (Moment, Vec<(Var, f64)>) {
        loop {
            let moment = self.next().expect("the signal was given before");
            let before = self.state();
            self.step();
            if self.probe.notes.signals.len() > number {
                return (moment, before);
            }
        }
    }
}

/// Plays the whole tape. Rows name packets by their place on it.
///
/// # Errors
/// [`SimError::Invalid`] for an AQM that cannot be made.
pub fn replay(plan: &Resolved, link: usize, tape: &Tape) -> Result<Run, SimError> {
    let mut bench = Bench::new(plan, link, tape)?;
    while bench.next().is_some() {
        bench.step();
    }
    let name = &plan.links[link].name;
    let Bench { mut link, mut probe, end, .. } = bench;
    empty_queue::<true>(&mut link, 0, end, &mut probe);
    probe.notes.packets.sort_by_key(|row| row.seq);
    Ok(summary::collect_link(&link, probe, name, plan))
}
