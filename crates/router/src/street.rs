//! The router without its devices: packets of bytes through a discipline and a transmitter. It reads no
//! clock and opens nothing; a host feeds it and takes what leaves.

use std::sync::Arc;

use sojourn_aqm::{
    Backlog, Cause, Departure, Ecn, Env, Packet, Qdisc, QdiscSpec, Rate, Rng, Sink, Span, Stage,
    Time, Var, registry, units,
};
use sojourn_link::{Opportunities, Transmitter};
use sojourn_measure::Interval;
use sojourn_scenario::resolved::Trace;

use crate::chronicle::{Chronicle, Counts, Memory};
use crate::header::{self, Header};
use crate::line::Passenger;
use crate::plan;
use crate::seen::Story;

/// A packet with its bytes.
pub struct Parcel {
    bytes: Vec<u8>,
    /// As it came.
    pub(crate) header: Header,
    /// Bytes that the link accounts it with.
    pub(crate) link_bytes: u32,
    /// Its flow, as the host numbers it.
    pub(crate) flow: u32,
    /// Where and why it was marked here.
    pub(crate) marked: Option<(Stage, Cause)>,
    /// Its story, by place; none where stories are not kept.
    pub(crate) story: Option<usize>,
}

impl Packet for Parcel {
    fn bytes(&self) -> u32 {
        self.link_bytes
    }

    fn ecn(&self) -> Ecn {
        header::ecn(self.bytes[1])
    }

    fn set_ce(&mut self) {
        header::set_ce(&mut self.bytes);
    }

    fn flow(&self) -> u64 {
        let Header { addresses: [from, to], ports, protocol, .. } = self.header;
        let hosts = u64::from(u32::from_be_bytes(from)) << 32 | u64::from(u32::from_be_bytes(to));
        let rest = u64::from(ports[0]) << 24 | u64::from(ports[1]) << 8 | u64::from(protocol);
        // Any mixing will do: disciplines hash this number again, with their own salt.
        hosts.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ rest.wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    fn src_host(&self) -> u64 {
        u64::from(u32::from_be_bytes(self.header.addresses[0]))
    }

    fn dst_host(&self) -> u64 {
        u64::from(u32::from_be_bytes(self.header.addresses[1]))
    }

    fn dscp(&self) -> u8 {
        self.header.dscp
    }
}

impl Parcel {
    /// It is on the wire.
    fn leaves(self, due: Time) -> Passenger {
        Passenger { due, bytes: self.bytes, flow: self.flow }
    }
}

/// The router.
pub struct Street {
    queue: Box<dyn Qdisc<Parcel>>,
    rng: Rng,
    server: Server,
    framing_bytes: u32,
    chronicle: Chronicle,
    data_packets: u64,
    drop_list: Vec<u64>,
    mark_list: Vec<u64>,
}

/// How it sends.
enum Server {
    /// One packet after the other, at a rate that may change.
    Steady {
        transmitter: Transmitter,
        /// Rates to come, the next one last.
        rates: Vec<(Time, Rate)>,
        /// The packet on the wire and when its last bit leaves.
        in_service: Option<(Time, Parcel)>,
        /// A discipline that shapes holds packets until then.
        held_until: Option<Time>,
    },
    /// At recorded opportunities.
    Recorded {
        opportunities: Opportunities,
        /// The one that is waited for; none while nothing waits.
        next: Option<Time>,
        /// The packet being sent, and how many of its bytes are still to go.
        in_service: Option<(Parcel, u32)>,
    },
}

impl Server {
    /// An idle one, and the rate that it begins with.
    fn new(service: &plan::Service) -> Result<(Server, Rate), String> {
        match service {
            plan::Service::Rates(rates) => {
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
            plan::Service::Recorded(trace) => {
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

impl Street {
    /// A router with the queue and the rates of a plan.
    ///
    /// # Errors
    /// A sentence, where the queue cannot be made.
    pub fn new(plan: &plan::Street, seed: u64, memory: Memory) -> Result<Street, String> {
        let spec = QdiscSpec::parse(&plan.queue).map_err(|error| error.message)?;
        let (server, rate) = Server::new(&plan.service)?;
        let place = u64::from(plan.place);
        let env = Env {
            limit: units::limit(&plan.limit)?,
            mtu_bytes: plan.mtu_bytes,
            rate: Some(rate),
            salt: Rng::stream(seed, "hash", place).next_u64(),
        };
        let chronicle = Chronicle::new(memory, plan.way);
        let watched = chronicle.wants_evidence();
        let make = if watched { registry::build_watched } else { registry::build };
        Ok(Street {
            queue: make(&spec, &env).map_err(|error| error.message)?,
            rng: Rng::stream(seed, "queue", place),
            server,
            framing_bytes: plan.framing_bytes,
            chronicle,
            data_packets: 0,
            drop_list: plan.drop_list.clone(),
            mark_list: plan.mark_list.clone(),
        })
    }

    /// A packet comes. `flow` numbers its flow where its story is kept. What is no IPv4 is dropped.
    pub fn arrive(&mut self, now: Time, bytes: Vec<u8>, flow: u32) {
        let Some(header) = Header::read(&bytes) else { return };
        let link_bytes = u32::from(header.bytes) + self.framing_bytes;
        let mut parcel = Parcel { bytes, header, link_bytes, flow, marked: None, story: None };
        parcel.story = self.chronicle.arrived(now, &parcel);
        if header.payload_bytes > 0 {
            self.data_packets += 1;
        }
        let listed = |list: &[u64]| header.payload_bytes > 0 && list.contains(&self.data_packets);
        let mut ear = self.chronicle.ear(now);
        if listed(&self.drop_list) {
            return ear.dropped(parcel, now, Stage::Enqueue, Cause::Deterministic);
        }
        if listed(&self.mark_list) && parcel.ecn().can_mark() {
            parcel.set_ce();
            ear.marked(&mut parcel, now, Stage::Enqueue, Cause::Deterministic);
        }
        self.queue.enqueue(now, parcel, &mut self.rng, &mut ear);
        self.wake(now);
    }

    /// Something may wait: an idle server begins.
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

    /// When it wants [`Street::on_timer`].
    pub fn next_timer(&self) -> Time {
        let times = [self.server.next_timer(), self.queue.next_timer()];
        times.into_iter().flatten().min().unwrap_or(Time::NEVER)
    }

    /// Does all that is due by `now`, at the times when it was due; `out` gets the packets
    /// that leave, due at that time.
    pub fn on_timer(&mut self, now: Time, out: &mut dyn FnMut(Passenger)) {
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
                    left.into_iter().for_each(|(at, parcel)| out(parcel.leaves(at)));
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

    /// A steady server begins to send the next packet.
    fn serve(&mut self, now: Time) {
        let Server::Steady { transmitter, in_service, held_until, .. } = &mut self.server else {
            unreachable!("only a steady server begins on its own");
        };
        let mut ear = self.chronicle.ear(now);
        match self.queue.dequeue(now, &mut self.rng, &mut ear) {
            Some(Departure { packet, enqueued }) => {
                let span = transmitter.next(packet.link_bytes);
                self.chronicle.sent(now, &packet, enqueued);
                self.chronicle.busy(now, span);
                *in_service = Some((now + span, packet));
            }
            None => *held_until = self.queue.held_until(),
        }
    }

    /// An opportunity carries bytes of the packet in service and of those behind it, as in the simulator.
    fn on_opportunity(&mut self, now: Time, out: &mut dyn FnMut(Passenger)) {
        let Server::Recorded { opportunities, next, in_service } = &mut self.server else {
            unreachable!("only a recorded link has opportunities");
        };
        let mut room = opportunities.bytes();
        opportunities.advance();
        while room > 0 {
            let served = in_service.take().or_else(|| {
                let mut ear = self.chronicle.ear(now);
                let Departure { packet, enqueued } =
                    self.queue.dequeue(now, &mut self.rng, &mut ear)?;
                self.chronicle.sent(now, &packet, enqueued);
                let bytes = packet.link_bytes;
                Some((packet, bytes))
            });
            let Some((parcel, left)) = served else { break };
            let carried = left.min(room);
            room -= carried;
            match left - carried {
                0 => out(parcel.leaves(now)),
                rest => *in_service = Some((parcel, rest)),
            }
        }
        let is_idle = in_service.is_none() && self.queue.backlog().packets == 0;
        *next = (!is_idle).then(|| opportunities.next());
    }

    /// The state variables of its law.
    pub fn vars(&self) -> &'static [Var] {
        self.queue.vars()
    }

    /// Their values.
    pub fn law(&self) -> Vec<f64> {
        let mut values = vec![f64::NAN; self.vars().len()];
        self.queue.observe(&mut values);
        values
    }

    /// What it has counted.
    pub fn counts(&self) -> Counts {
        self.chronicle.counts
    }

    /// The stories of all packets, if they are kept.
    pub fn stories(&self) -> &[Story] {
        match &self.chronicle.memory {
            Memory::Stories(stories) => stories,
            Memory::Nothing | Memory::Probe(..) => &[],
        }
    }

    /// Writes down the state of its queue, where a probe listens; returns what happened since the last
    /// time.
    pub fn sample(&mut self, now: Time, every: Span) -> Option<Interval> {
        let own = self.law();
        self.chronicle.sample(now, every, self.queue.backlog(), &own)
    }

    /// Packets that wait, and their bytes.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// Ends it; what was kept goes to the caller.
    pub fn into_memory(self) -> Memory {
        self.chronicle.memory
    }
}

#[cfg(test)]
mod tests;
