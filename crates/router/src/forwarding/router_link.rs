//! A link of the router: packets of bytes through a discipline and a transmitter. It reads no clock
//! and opens nothing; the host passes packets in and takes those that leave.

use std::sync::Arc;

use sojourn_aqm::{
    Backlog, Cause, Departure, Env, Packet, Qdisc, QdiscSpec, Rate, Rng, Sink, Span, Stage, Time,
    Var, registry, units,
};
use sojourn_link::{Opportunities, Transmitter};
use sojourn_measure::Interval;
use sojourn_scenario::resolved::Trace;

use super::delay_line::InFlightPacket;
use super::raw_packet::RawPacket;
use super::recorder::{LinkCounts, Recorder, Recording};
use crate::captures::PacketRecord;
use crate::plan::{RouterLinkPlan, Service};

/// A link of the router with its queue.
pub struct RouterLink {
    queue: Box<dyn Qdisc<RawPacket>>,
    rng: Rng,
    server: Server,
    framing_bytes: u32,
    recorder: Recorder,
    data_packets: u64,
    drop_list: Vec<u64>,
    mark_list: Vec<u64>,
}

/// How it sends.
enum Server {
    /// Packets one after the other, at a rate that may change.
    Steady {
        transmitter: Transmitter,
        /// Rates to come, the next one last.
        rates: Vec<(Time, Rate)>,
        /// The packet being sent, and when its last bit leaves.
        in_service: Option<(Time, RawPacket)>,
        /// A discipline that shapes holds its packets until then.
        held_until: Option<Time>,
    },
    /// At recorded opportunities.
    Recorded {
        opportunities: Opportunities,
        /// The next one that is used; `None` while no packet waits.
        next: Option<Time>,
        /// The packet being sent, and how many of its bytes are still to go.
        in_service: Option<(RawPacket, u32)>,
    },
}

impl Server {
    /// An idle server, and the rate that it begins with.
    fn new(service: &Service) -> Result<(Server, Rate), String> {
        match service {
            Service::Rates(rates) => {
                let (_, first) = *rates.first().ok_or("there is no rate")?;
                let first = Rate::from_bps(first);
                let later = rates[1..].iter().rev();
                let later = later.map(|&(at, bps)| (Time::from_nanos(at), Rate::from_bps(bps)));
                let server = Server::Steady {
                    transmitter: Transmitter::new(first),
                    rates: later.collect(),
                    in_service: None,
                    held_until: None,
                };
                Ok((server, first))
            }
            Service::Recorded(trace) => {
                let opportunities = Opportunities::new(Arc::new(Trace::clone(trace)));
                let server = Server::Recorded { opportunities, next: None, in_service: None };
                Ok((server, trace.mean_rate()))
            }
        }
    }

    /// When it next has something to do.
    fn next_timer(&self) -> Option<Time> {
        match self {
            Server::Recorded { next, .. } => *next,
            Server::Steady { rates, in_service, held_until, .. } => {
                let done = in_service.as_ref().map(|(at, _)| *at);
                let change = rates.last().map(|(at, _)| *at);
                [done, change, *held_until].into_iter().flatten().min()
            }
        }
    }
}

impl RouterLink {
    /// A link with the queue and the rates of a plan.
    ///
    /// # Errors
    /// A sentence, if the queue cannot be made.
    pub fn new(
        plan: &RouterLinkPlan,
        seed: u64,
        recording: Recording,
    ) -> Result<RouterLink, String> {
        let spec = QdiscSpec::parse(&plan.queue).map_err(|error| error.message)?;
        let (server, rate) = Server::new(&plan.service)?;
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
        Ok(RouterLink {
            queue: make(&spec, &env).map_err(|error| error.message)?,
            rng: Rng::stream(seed, "queue", index),
            server,
            framing_bytes: plan.framing_bytes,
            recorder,
            data_packets: 0,
            drop_list: plan.drop_list.clone(),
            mark_list: plan.mark_list.clone(),
        })
    }

    /// A packet arrives; `flow` is the number of its flow where records are kept. What is not IPv4
    /// is ignored.
    pub fn arrive(&mut self, now: Time, bytes: Vec<u8>, flow: u32) {
        let Some(mut packet) = RawPacket::new(bytes, flow, self.framing_bytes) else { return };
        packet.record = self.recorder.arrived(now, &packet);
        let is_data = packet.header.payload_bytes > 0;
        if is_data {
            self.data_packets += 1;
        }
        let listed = |list: &[u64]| is_data && list.contains(&self.data_packets);
        let mut sink = self.recorder.sink(now);
        if listed(&self.drop_list) {
            return sink.dropped(packet, now, Stage::Enqueue, Cause::Deterministic);
        }
        if listed(&self.mark_list) && packet.ecn().can_mark() {
            packet.set_ce();
            sink.marked(&mut packet, now, Stage::Enqueue, Cause::Deterministic);
        }
        self.queue.enqueue(now, packet, &mut self.rng, &mut sink);
        self.wake(now);
    }

    /// Packets may wait: an idle server begins to send.
    fn wake(&mut self, now: Time) {
        match &mut self.server {
            Server::Steady { in_service: None, .. } => self.serve(now),
            Server::Recorded { next: next @ None, opportunities, .. }
                if self.queue.backlog().packets > 0 =>
            {
                *next = Some(opportunities.after(now));
            }
            Server::Steady { .. } | Server::Recorded { .. } => {}
        }
    }

    /// When it wants [`RouterLink::on_timer`].
    pub fn next_timer(&self) -> Time {
        let times = [self.server.next_timer(), self.queue.next_timer()];
        times.into_iter().flatten().min().unwrap_or(Time::NEVER)
    }

    /// Does all that is due by `now`, each at the time when it was due; `out` gets the packets that
    /// leave, with that time.
    pub fn on_timer(&mut self, now: Time, out: &mut dyn FnMut(InFlightPacket)) {
        loop {
            let due = self.next_timer();
            if due > now {
                return;
            }
            if let Server::Steady { transmitter, rates, .. } = &mut self.server
                && let Some((at, rate)) = rates.pop_if(|(at, _)| *at <= due)
            {
                *transmitter = Transmitter::new(rate);
                self.queue.on_rate(at, rate);
            }
            if self.queue.next_timer().is_some_and(|at| at <= due) {
                self.queue.on_timer(due);
            }
            match &mut self.server {
                Server::Steady { in_service, held_until, .. } => {
                    let left = in_service.take_if(|(at, _)| *at <= due);
                    let held = held_until.take_if(|at| *at <= due);
                    let serves = left.is_some() || held.is_some();
                    left.into_iter().for_each(|(at, packet)| out(packet.transmitted(at)));
                    if serves {
                        self.serve(due);
                    }
                }
                Server::Recorded { next, .. } if next.is_some_and(|at| at <= due) => {
                    self.on_opportunity(due, out);
                }
                Server::Recorded { .. } => {}
            }
        }
    }

    /// A steady server begins the transmission of the next packet.
    fn serve(&mut self, now: Time) {
        let Server::Steady { transmitter, in_service, held_until, .. } = &mut self.server else {
            unreachable!("only a steady server begins on its own");
        };
        let mut sink = self.recorder.sink(now);
        match self.queue.dequeue(now, &mut self.rng, &mut sink) {
            Some(Departure { packet, enqueued }) => {
                let span = transmitter.next(packet.link_bytes);
                self.recorder.sent(now, &packet, enqueued);
                self.recorder.busy(now, span);
                *in_service = Some((now + span, packet));
            }
            None => *held_until = self.queue.held_until(),
        }
    }

    /// An opportunity carries bytes of the packet in service and of those behind it, as in the
    /// simulator.
    fn on_opportunity(&mut self, now: Time, out: &mut dyn FnMut(InFlightPacket)) {
        let Server::Recorded { opportunities, next, in_service } = &mut self.server else {
            unreachable!("only a recorded link has opportunities");
        };
        let mut room = opportunities.bytes();
        opportunities.advance();
        while room > 0 {
            let served = in_service.take().or_else(|| {
                let mut sink = self.recorder.sink(now);
                let Departure { packet, enqueued } =
                    self.queue.dequeue(now, &mut self.rng, &mut sink)?;
                self.recorder.sent(now, &packet, enqueued);
                let bytes = packet.link_bytes;
                Some((packet, bytes))
            });
            let Some((packet, left)) = served else { break };
            let carried = left.min(room);
            room -= carried;
            match left - carried {
                0 => out(packet.transmitted(now)),
                rest => *in_service = Some((packet, rest)),
            }
        }
        let is_idle = in_service.is_none() && self.queue.backlog().packets == 0;
        *next = (!is_idle).then(|| opportunities.next());
    }

    /// The state variables of its law.
    pub fn vars(&self) -> &'static [Var] {
        self.queue.vars()
    }

    /// Their present values.
    pub fn law_state(&self) -> Vec<f64> {
        let mut values = vec![f64::NAN; self.vars().len()];
        self.queue.observe(&mut values);
        values
    }

    /// The packets counted since the start.
    pub fn counts(&self) -> LinkCounts {
        self.recorder.counts()
    }

    /// The records of all packets, in the order of arrival, if they are kept.
    pub fn records(&self) -> &[PacketRecord] {
        match self.recorder.recording() {
            Recording::Records(records) => records,
            Recording::Off | Recording::Probe(..) => &[],
        }
    }

    /// Samples the state of its queue, if it reports to a probe; returns what happened since the
    /// last sample.
    pub fn sample(&mut self, now: Time, every: Span) -> Option<Interval> {
        let own = self.law_state();
        self.recorder.sample(now, every, self.queue.backlog(), &own)
    }

    /// The packets that wait, and their bytes.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// Ends it and returns the recording.
    pub fn into_recording(self) -> Recording {
        self.recorder.into_recording()
    }
}

#[cfg(test)]
#[path = "router_link_tests.rs"]
mod tests;
