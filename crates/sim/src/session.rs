//! A run in steps: the caller advances it, observes it and may change its queues between steps. The
//! results equal those of [`crate::run`] for the same scenario: observation changes no decision, so
//! the digest is the same, natively and in WebAssembly. A queue replaced during the run hands over
//! its packets with their arrival times, so no packet and no sojourn time is lost; the new law
//! starts from its initial state.

use sojourn_aqm::{Time, Var};
use sojourn_measure::BUILTIN_VARS;
use sojourn_record::Run;
use sojourn_record::rows::{FlowRow, PacketRow, SignalRow, StateRow};
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::Link as LinkPlan;

use crate::assemble::Timing;
use crate::packet::Packet;
use crate::sightings::{Sighting, Wanted};
use crate::world::World;
use crate::{Custom, SimError, assemble};

/// A run that can be paused.
pub struct Session {
    world: World,
    plan: Resolved,
    /// The link whose queue is observed.
    link: usize,
    now: Time,
    waiting: Vec<WaitingPacket>,
    /// Packets that have left the queue and that the caller has not taken yet.
    left: Vec<PacketRow>,
    is_over: bool,
}

/// A packet in the observed queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitingPacket {
    /// When it arrived.
    pub arrived: Time,
    /// Its flow.
    pub flow: u32,
    /// Its sequence number within the flow.
    pub seq: u32,
    /// Its size in bytes as accounted by the link.
    pub bytes: u32,
}

/// Records since the last call of [`Session::take`].
#[derive(Clone, Debug, Default)]
pub struct Observations {
    /// Samples of every queue; variables are indices into [`Session::vars`].
    pub states: Vec<StateRow>,
    /// Samples of every flow.
    pub flows: Vec<FlowRow>,
    /// Drops and marks at every queue.
    pub signals: Vec<SignalRow>,
    /// The state before each signal, as in [`Run::evidence`].
    pub evidence: Vec<f64>,
    /// The variables of that state, by queue.
    pub evidence_vars: Vec<&'static [Var]>,
    /// Packets that left the observed queue, by departure or drop.
    pub packets: Vec<PacketRow>,
}

impl Session {
    /// A run at time zero that samples every `plan.record.sample` and observes one link.
    ///
    /// # Errors
    /// [`SimError::Invalid`] when the scenario cannot be built.
    ///
    /// # Panics
    /// If the link is unknown.
    pub fn new(plan: &Resolved, link: usize) -> Result<Session, SimError> {
        assert!(link < plan.links.len(), "the watched link is one of the scenario's");
        let mut plan = plan.clone();
        let record = &mut plan.record;
        (record.packets, record.signals) = (true, true);
        (record.states, record.flows, record.bins) = (true, true, None);
        let mut world = assemble::world(&plan, &Custom::default(), Timing::Events, &|_| true)?;
        world.path.sightings().keep(Wanted::ArrivalsAt(link));
        Ok(Session {
            world,
            plan,
            link,
            now: Time::ZERO,
            waiting: Vec::new(),
            left: Vec::new(),
            is_over: false,
        })
    }

    /// The scenario with its current queues.
    pub fn plan(&self) -> &Resolved {
        &self.plan
    }

    /// The simulated time that has been reached.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether the run has reached its end.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The variables sampled for a queue, starting with those that every queue has.
    pub fn vars(&self, link: usize) -> Vec<Var> {
        [&BUILTIN_VARS, self.world.path.links()[link].vars()].concat()
    }

    /// Advances to `until`, inclusive, or by at most `events` events.
    pub fn advance(&mut self, until: Time, events: u64) {
        let mut left = events;
        while left > 0 && self.step(until) {
            left -= 1;
        }
        if left > 0 {
            self.now = self.now.max(until.min(self.world.end));
        }
        self.note_waiting();
    }

    /// Advances until a packet arrives at or leaves the observed queue, at most to `until`.
    pub fn advance_one_packet(&mut self, until: Time) {
        while !self.has_packet() && self.step(until) {}
        self.note_waiting();
    }

    fn has_packet(&mut self) -> bool {
        let packets = &self.world.probe.notes.packets;
        let has_left = packets.iter().any(|row| row.queue as usize == self.link);
        has_left || !self.world.path.sightings().is_empty()
    }

    /// Handles the next event if it is due by `until`; returns whether one was handled.
    fn step(&mut self, until: Time) -> bool {
        if self.is_over {
            return false;
        }
        match self.world.next_event() {
            Some(due) if due > until => false,
            Some(due) => {
                self.now = due;
                self.world.handle_next::<true>();
                true
            }
            None if until >= self.world.end => {
                self.world.end_after_last::<true>();
                (self.now, self.is_over) = (self.world.end, true);
                false
            }
            None => false,
        }
    }

    /// Updates the list of queued packets.
    fn note_waiting(&mut self) {
        let link = self.link;
        let arrivals = self.world.path.sightings().take();
        for Sighting { t, mut packet, .. } in arrivals {
            packet.resize(|bytes| self.plan.links[link].bytes_of(bytes));
            let Packet { flow, seq, link_bytes: bytes, .. } = packet;
            self.waiting.push(WaitingPacket { arrived: t, flow, seq, bytes });
        }
        for row in self.world.probe.notes.packets.drain(..) {
            if row.queue as usize != link {
                continue;
            }
            let is_it = |one: &WaitingPacket| {
                (one.flow, one.seq, one.arrived) == (row.flow, row.seq, row.arrived)
            };
            if let Some(place) = self.waiting.iter().position(is_it) {
                let whole = &mut self.waiting[place];
                if row.bytes < whole.bytes {
                    // The first segment of a super-packet that the discipline has split.
                    (whole.seq, whole.bytes) = (whole.seq + 1, whole.bytes - row.bytes);
                } else {
                    self.waiting.remove(place);
                }
            }
            self.left.push(row);
        }
    }

    /// The packets in the observed queue, in order of arrival.
    pub fn waiting(&self) -> &[WaitingPacket] {
        &self.waiting
    }

    /// Takes the records since the last call.
    pub fn take(&mut self) -> Observations {
        let notes = &mut self.world.probe.notes;
        self.world.flow_states.clear();
        Observations {
            states: std::mem::take(&mut self.world.probe.states),
            flows: std::mem::take(&mut self.world.flow_samples),
            signals: std::mem::take(&mut notes.signals),
            evidence: std::mem::take(&mut notes.evidence),
            evidence_vars: notes.evidence_vars.clone(),
            packets: std::mem::take(&mut self.left),
        }
    }

    /// Replaces a link's discipline by that of `changed`; the old one hands over its queue (see
    /// [`sojourn_link::Link::replace_discipline`]). Call [`Session::take`] first, because the
    /// variables change.
    ///
    /// # Errors
    /// [`SimError::Invalid`] for a discipline that cannot be built; in that case nothing has
    /// changed.
    ///
    /// # Panics
    /// If the run is over or the link is unknown.
    pub fn set_queue(&mut self, link: usize, changed: &LinkPlan) -> Result<(), SimError> {
        assert!(!self.is_over, "a finished run has no queues");
        let mut plan = self.plan.clone();
        plan.links[link].queue = changed.queue.clone();
        plan.links[link].limit = changed.limit;
        let rate = plan.links[link].capacity.rate_at(self.now);
        let discipline = assemble::discipline(&plan, link, rate)?;
        self.world.replace_discipline(self.now, link, discipline);
        self.plan = plan;
        self.note_waiting();
        Ok(())
    }

    /// The fingerprint so far.
    pub fn digest(&self) -> u64 {
        self.world.probe.digest()
    }

    /// The results of a finished run; its tables hold the records that the caller has not taken.
    ///
    /// # Panics
    /// If the run is not over.
    pub fn finish(self) -> Run {
        assert!(self.is_over, "a run has results when it is over");
        self.world.into_results(&self.plan)
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
