//! A link of the router: real packets through the same [`Link`] as in the simulator. It reads no
//! clock and opens nothing; the host passes packets in and takes those that leave.

use std::sync::Arc;

use sojourn_aqm::{
    Backlog, Cause, Env, Packet, Rate, Rng, Sink, Span, Stage, Time, Var, registry, units,
};
use sojourn_link::{Duplication, Link, Server};
use sojourn_measure::Interval;
use sojourn_scenario::resolved::{Schedule, Trace};

use super::raw_packet::{InFlightPacket, RawPacket};
use super::recorder::{LinkCounts, Recorder, Recording};
use crate::captures::PacketRecord;
use crate::header::Header;
use crate::laws::LoadedLaws;
use crate::plan::{RouterCapacity, RouterLinkPlan};

/// A link of the router: a [`Link`] of real packets, and its record of them.
pub struct RouterLink {
    link: Link<RawPacket>,
    framing_bytes: u32,
    has_ipv6: bool,
    recorder: Recorder,
    data_packets: u64,
    drop_list: Vec<u64>,
    mark_list: Vec<u64>,
    duplication: Option<Duplication>,
}

impl RouterLink {
    /// A link with the queue and the rates of a plan, which may name laws from `laws`.
    ///
    /// # Errors
    /// Returns a sentence if the queue cannot be built.
    pub fn new(
        plan: &RouterLinkPlan,
        laws: &LoadedLaws,
        seed: u64,
        recording: Recording,
    ) -> Result<RouterLink, String> {
        let spec = laws.parse(&plan.queue).map_err(|error| error.message)?;
        let (server, rate) = server(&plan.service);
        let index = u64::from(plan.index);
        let env = Env {
            limit: units::limit(&plan.limit)?,
            mtu_bytes: plan.mtu_bytes,
            rate: Some(rate),
            salt: Rng::stream(seed, "hash", index).next_u64(),
        };
        let recorder = Recorder::new(recording, plan.direction);
        let make =
            if recorder.wants_evidence() { registry::build_watched } else { registry::build };
        let discipline = make(&spec, &env).map_err(|error| error.message)?;
        Ok(RouterLink {
            link: Link::new(discipline, Rng::stream(seed, "queue", index), server),
            framing_bytes: plan.framing_bytes,
            has_ipv6: false,
            recorder,
            data_packets: 0,
            drop_list: plan.drop_list.clone(),
            mark_list: plan.mark_list.clone(),
            duplication: plan
                .duplicate
                .as_ref()
                .map(|(name, duplicate)| Duplication::of(name, seed, *duplicate)),
        })
    }

    /// The link, accepting IPv6 packets too, which are ignored otherwise.
    #[must_use]
    pub fn with_ipv6(self) -> RouterLink {
        RouterLink { has_ipv6: true, ..self }
    }

    /// Handles an arrival; `flow` is the number of its flow if records are kept. Ignores packets
    /// that are not IPv4, unless it was created [`RouterLink::with_ipv6`]. Packets outside the
    /// scenario's flows are not copied, so that the others get the simulator's draws.
    pub fn arrive(&mut self, now: Time, bytes: Vec<u8>, flow: u32) {
        let is_counted = flow != u32::MAX;
        let copies = self.duplication.as_mut().filter(|_| is_counted).is_some_and(|it| it.copies());
        let copy = copies.then(|| bytes.clone());
        self.arrive_once(now, bytes, flow);
        if let Some(copy) = copy {
            self.arrive_once(now, copy, flow);
        }
    }

    fn arrive_once(&mut self, now: Time, bytes: Vec<u8>, flow: u32) {
        let read = if self.has_ipv6 { Header::read_any } else { Header::read };
        let Some(header) = read(&bytes) else { return };
        let mut packet = RawPacket::new(bytes, header, flow, self.framing_bytes);
        packet.record = self.recorder.arrived(now, &packet);
        let is_data = packet.header.payload_bytes > 0;
        if is_data {
            self.data_packets += 1;
        }
        let listed = |list: &[u64]| is_data && list.contains(&self.data_packets);
        let mut observer = self.recorder.at(now);
        if listed(&self.drop_list) {
            return observer.dropped(packet, now, Stage::Enqueue, Cause::Deterministic);
        }
        if listed(&self.mark_list) && packet.ecn().can_mark() {
            packet.set_ce();
            observer.marked(&mut packet, now, Stage::Enqueue, Cause::Deterministic);
        }
        self.link.enqueue(now, packet, &mut observer);
    }

    /// When it wants [`RouterLink::on_timer`].
    pub fn next_timer(&self) -> Time {
        self.link.next_service().min(self.link.next_timer())
    }

    /// Handles everything due by `now`, each event at its due time and in the simulator's order: at
    /// the same instant the server precedes the discipline's timer. Passes the packets that leave
    /// to `out`, with their departure times.
    pub fn on_timer(&mut self, now: Time, mut out: impl FnMut(Time, InFlightPacket)) {
        loop {
            let due = self.next_timer();
            if due > now {
                return;
            }
            if self.link.next_service() == due {
                let mut observer = self.recorder.at(due);
                self.link.on_service(due, &mut observer, |packet| out(due, packet.transmitted()));
            } else {
                self.link.on_timer(due);
            }
        }
    }

    /// The state variables of its law.
    pub fn vars(&self) -> &'static [Var] {
        self.link.vars()
    }

    /// The current values of the state variables.
    pub fn law_state(&self) -> Vec<f64> {
        let mut values = vec![f64::NAN; self.vars().len()];
        self.link.observe(&mut values);
        values
    }

    /// The packets counted since the start.
    pub fn counts(&self) -> LinkCounts {
        self.recorder.counts()
    }

    /// The records of all packets, in order of arrival, if they are kept.
    pub fn records(&self) -> &[PacketRecord] {
        match self.recorder.recording() {
            Recording::Records(records) => &records.packets,
            Recording::Off | Recording::Probe(..) => &[],
        }
    }

    /// The law's state before drops and marks, with the index of the packet's record, if they are
    /// kept.
    pub fn signal_states(&self) -> &[(usize, Vec<f64>)] {
        match self.recorder.recording() {
            Recording::Records(records) => records.states.as_deref().unwrap_or_default(),
            Recording::Off | Recording::Probe(..) => &[],
        }
    }

    /// Samples the state of its queue, if it reports to a probe; returns the events since the last
    /// sample.
    pub fn sample(&mut self, now: Time, every: Span) -> Option<Interval> {
        let own = self.law_state();
        self.recorder.sample(now, every, self.link.backlog(), &own)
    }

    /// Queued packets and bytes.
    pub fn backlog(&self) -> Backlog {
        self.link.backlog()
    }

    /// Ends the link and returns the recording.
    pub fn into_recording(self) -> Recording {
        self.recorder.into_recording()
    }
}

/// The rates of a plan.
pub(crate) fn schedule_of(rates: &[(u64, u64)]) -> Schedule {
    let step =
        |&(at, bps): &(u64, u64)| (Time::from_nanos(at), (bps > 0).then(|| Rate::from_bps(bps)));
    Schedule::new(rates.iter().map(step).collect())
}

/// An idle server, and its initial rate.
fn server(service: &RouterCapacity) -> (Server<RawPacket>, Rate) {
    match service {
        RouterCapacity::Rates(rates) => {
            let schedule = schedule_of(rates);
            (Server::steady(&schedule), schedule.first_rate())
        }
        RouterCapacity::Recorded(trace) => {
            (Server::recorded(Arc::new(Trace::clone(trace))), trace.mean_rate())
        }
    }
}

#[cfg(test)]
#[path = "router_link_tests.rs"]
mod tests;
