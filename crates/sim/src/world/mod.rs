//! The world: everything that happens between time zero and the end, one event after the other.
//!
//! The life of a packet, in the order of the code: a flow sends it over its access link; it arrives
//! at a link's queue, waits, is served, and travels over wires and further links to the receiver,
//! which answers over its own wires and links; the answer lets the flow send again.
//!
//! Events of one instant happen in this order: servers, wireless LANs, queue timers, wires, access
//! links, flows, the sampler; departures come before arrivals.

mod ahead;
mod bins;
pub(crate) mod ecn_share;
mod flow;
mod outcome;
mod sampling;
mod stepping;
mod wireless;

use sojourn_aqm::{Span, Time};
use sojourn_measure::{Bins, Utilisation};
use sojourn_record::rows::{FlowRow, FlowStateRow, TransferRow};
use sojourn_traffic::FinishedTransfer;

pub(crate) use self::flow::{FlowEnds, SimulatedFlow};
pub(crate) use self::sampling::empty_queue;
pub(crate) use self::wireless::WirelessLan;
use crate::agenda::{Kind, Slot, Slots};
use crate::app::{FlowTimers, Outbox};
use crate::network::{End, Group, Network, RecordedLink};
use crate::packet::{Packet, PacketKind};
use crate::prefetch::MANY_FLOWS;

/// What is sampled and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampling {
    /// Samples of queues.
    pub(crate) states: bool,
    /// Samples of flows.
    pub(crate) flows: bool,
    /// Time between samples.
    pub(crate) every: Span,
    /// When queues were sampled last.
    pub(crate) last: Time,
}

/// Everything there is. Built by [`crate::assemble`].
pub(crate) struct World {
    /// What lies between the ends of flows.
    pub(crate) network: Network,
    /// Their order.
    pub(crate) slots: Slots,
    /// What their use is measured against.
    pub(crate) utilisations: Vec<Utilisation>,
    /// The link whose arrivals are recorded, and the arrivals so far.
    pub(crate) recorded_arrivals: RecordedLink,
    /// The wireless LANs.
    pub(crate) wireless_lans: Vec<WirelessLan>,
    /// The groups.
    pub(crate) groups: Vec<Group>,
    /// The flows.
    pub(crate) flows: Vec<SimulatedFlow>,
    /// Rows of the table `flows`.
    pub(crate) flow_samples: Vec<FlowRow>,
    /// Rows of the table `flow_states`.
    pub(crate) flow_states: Vec<FlowStateRow>,
    /// When each flow starts and stops.
    pub(crate) times: Vec<(Time, Time)>,
    /// Bytes delivered to each flow's receiver at the end of the warm-up.
    pub(crate) at_warmup: Vec<u64>,
    /// Series bin by bin, if wanted.
    pub(crate) bins: Option<Bins>,
    /// Whether delays of data packets are wanted.
    pub(crate) latency: bool,
    /// Sampling.
    pub(crate) sampling: Sampling,
    /// Of one queue; kept for its memory.
    pub(crate) sampled_values: Vec<f64>,
    /// When summaries begin to count.
    pub(crate) warmup: Time,
    /// When the run ends; what would happen then does not.
    pub(crate) end: Time,
    /// Events handled.
    pub(crate) events: u64,
}

/// How many events lie between two calls of `keep_going`.
const EVENTS_PER_CHECK: u64 = 1 << 14;

impl World {
    /// Runs to the end and returns true, or until `keep_going`, called now and then with the time,
    /// returns false; then returns false.
    pub(crate) fn run<const NOTES: bool>(&mut self, keep_going: &dyn Fn(Time) -> bool) -> bool {
        let mut stage_end = self.warmup.min(self.end);
        loop {
            let (now, slot) = self.network.agenda.next();
            if now >= stage_end {
                if now >= self.warmup && !self.network.probe.counting {
                    self.end_warmup();
                    stage_end = self.end;
                    continue; // settling the links may have set alarms
                }
                if now >= self.end {
                    break;
                }
                stage_end = self.end;
            }
            self.events += 1;
            if self.events.is_multiple_of(EVENTS_PER_CHECK) && !keep_going(now) {
                return false;
            }
            self.handle::<NOTES>(now, self.network.agenda.next_kind(), slot);
        }
        self.end_run::<NOTES>();
        true
    }

    /// The end has come: what is still open is closed and counted.
    fn end_run<const NOTES: bool>(&mut self) {
        // What would happen at the end does not.
        self.network.settle(Time::from_nanos(self.end.as_nanos() - 1));
        if self.bins.as_ref().is_some_and(|bins| bins.over_at() == self.end) {
            self.end_bin(self.end);
        }
        if self.sampling.states {
            self.sample_links(self.end);
        }
        self.empty_queues::<NOTES>();
    }

    #[inline]
    fn handle<const NOTES: bool>(&mut self, now: Time, kind: Kind, slot: Slot) {
        let Slots { wires, accesses, flows, .. } = self.slots;
        match kind {
            Kind::Wire => self.on_wire::<NOTES>(now, slot - wires),
            Kind::Uplink => {
                let group = self.flows[slot - accesses].group as usize;
                let uplink = self.groups[group].uplink;
                self.network.on_uplink::<NOTES>(now, uplink, &mut self.recorded_arrivals);
            }
            Kind::Access => self.on_access::<NOTES>(now, slot - accesses),
            Kind::Server => self.network.on_server::<NOTES>(now, slot),
            Kind::Flow => self.on_flow_alarm(now, slot - flows),
            Kind::Rare => self.on_rare::<NOTES>(now, slot),
        }
    }

    /// A packet reaches the end of a wire.
    #[inline(always)]
    fn on_wire<const NOTES: bool>(&mut self, now: Time, wire: usize) {
        let (line, end) = &mut self.network.onward.wires[wire];
        let (mut packet, end) = (*line.pop(now, &mut self.network.agenda), *end);
        if end != End::Link && self.flows.len() >= MANY_FLOWS {
            self.prefetch_flows(wire, end);
        }
        match end {
            End::Link => self.arrive_at_next::<NOTES>(now, &mut packet),
            End::Receiver => self.receive(now, &packet),
            End::Sender => self.answer(now, &packet),
        }
    }

    /// A wireless LAN, a queue timer, the sampler or the end of a bin is due.
    #[inline(never)]
    fn on_rare<const NOTES: bool>(&mut self, now: Time, slot: Slot) {
        let Slots { media, timers, sampler, .. } = self.slots;
        match slot {
            _ if slot < timers => return self.on_medium::<NOTES>(now, slot - media),
            _ if slot == sampler => return self.sample(now),
            _ if slot > sampler => return self.end_bin(now),
            _ => {}
        }
        self.network.catch_up_at::<NOTES>(slot - timers, (now, now));
    }

    /// A packet arrives that was not on the uplink of its group.
    fn on_access<const NOTES: bool>(&mut self, now: Time, flow: usize) {
        let World { network, flows, recorded_arrivals, .. } = self;
        let packet = flows[flow].access.wire().pop(now, &mut network.agenda);
        network.arrive_from_access::<NOTES>(now, packet, recorded_arrivals);
    }

    /// A packet arrives over a wire. Apart, so that what a packet does that comes over an uplink is
    /// compiled into the main loop.
    #[inline(never)]
    fn arrive_at_next<const NOTES: bool>(&mut self, now: Time, packet: &mut Packet) {
        self.network.arrive::<NOTES>(now, packet, &mut self.recorded_arrivals);
    }

    /// Lets a flow act with an outbox. That gives the next of the timers that may have been set, to
    /// which the alarm of the flow is moved if it is later.
    #[inline]
    fn with_flow(
        &mut self,
        now: Time,
        flow: usize,
        timer: impl FnOnce(&mut FlowTimers) -> &mut Time,
        act: impl FnOnce(&mut FlowEnds, &mut Outbox<'_>) -> Time,
    ) {
        let World { flows, network, groups, .. } = self;
        let simulated = &mut flows[flow];
        let (ends, mut out) = simulated.with_outbox(now, network, groups);
        let due = act(ends, &mut out);
        *timer(&mut simulated.timers) = due;
        if due < simulated.alarm {
            simulated.alarm = due;
            network.agenda.set(network.agenda.of_flow(flow), due);
        }
    }

    /// A packet reaches its receiver.
    #[inline]
    fn receive(&mut self, now: Time, packet: &Packet) {
        if self.latency && self.network.probe.counting && packet.kind == PacketKind::Data {
            let group = &self.groups[self.flows[packet.flow as usize].group as usize];
            let one_way = &mut self.network.probe.classes[group.class].one_way;
            one_way.add(now.since(packet.sent).as_nanos());
        }
        let warmup = self.warmup;
        self.with_flow(
            now,
            packet.flow as usize,
            FlowTimers::of_receiver,
            |flow, out| match flow {
                FlowEnds::Stream(stream) => {
                    if let Some(finished) = stream.on_data(packet, out) {
                        record_transfer((now, warmup), packet.flow, finished, out);
                    }
                    stream.receiver_timer()
                }
                FlowEnds::Page(page) => {
                    if let Some(finished) = page.on_data(packet, out) {
                        record_transfer((now, warmup), packet.flow, finished, out);
                    }
                    page.next_timer()
                }
                FlowEnds::Datagrams(flow) => {
                    let delay = flow.on_arrival(now, packet);
                    let Outbox { network: Network { probe, .. }, group, .. } = out;
                    if probe.counting {
                        probe.classes[group.class].one_way.add(delay.as_nanos());
                    }
                    Time::NEVER
                }
            },
        );
    }

    /// An answer reaches the sender.
    #[inline]
    fn answer(&mut self, now: Time, packet: &Packet) {
        self.with_flow(now, packet.flow as usize, FlowTimers::of_sender, |flow, out| match flow {
            FlowEnds::Stream(stream) => {
                stream.on_ack(packet, out);
                stream.observed().for_each(|rtt| note_rtt(rtt, out));
                stream.sender_timer()
            }
            FlowEnds::Page(page) => {
                page.on_ack(packet, out);
                page.observed().for_each(|rtt| note_rtt(rtt, out));
                page.next_timer()
            }
            FlowEnds::Datagrams(_) => unreachable!("datagrams are not answered"),
        });
    }

    /// The alarm of a flow is due. Its timers may have moved away since it was set.
    #[inline(never)]
    fn on_flow_alarm(&mut self, now: Time, flow: usize) {
        let mut due = self.flows[flow].timers.next();
        if due <= now {
            due = self.on_timer(now, flow);
        }
        self.flows[flow].alarm = due;
        let agenda = &mut self.network.agenda;
        agenda.set(agenda.of_flow(flow), due);
        if self.flows.len() >= MANY_FLOWS {
            self.prefetch_next_timer();
        }
    }

    /// A timer of a flow is due. Returns when the next one is.
    #[inline(never)]
    fn on_timer(&mut self, now: Time, flow: usize) -> Time {
        let World { flows, network, groups, .. } = self;
        let flow = &mut flows[flow];
        let (ends, mut out) = flow.with_outbox(now, network, groups);
        match ends {
            FlowEnds::Stream(stream) => stream.on_timer(&mut out),
            FlowEnds::Datagrams(flow) => flow.on_timer(&mut out),
            FlowEnds::Page(page) => page.on_timer(&mut out),
        }
        flow.timers = flow.ends.timers();
        flow.timers.next()
    }
}

/// Notes a round trip that was observed after the warm-up.
fn note_rtt(rtt: Span, out: &mut Outbox<'_>) {
    let probe = &mut out.network.probe;
    if probe.counting {
        probe.classes[out.group.class].rtt.add(rtt.as_nanos());
    }
}

/// Records a transfer that a user has waited for; it counts if it was requested after the warm-up.
#[cold]
fn record_transfer(
    (now, warmup): (Time, Time),
    flow: u32,
    FinishedTransfer { start, bytes }: FinishedTransfer,
    out: &mut Outbox<'_>,
) {
    let (probe, class) = (&mut out.network.probe, out.group.class);
    let completion = now.since(start);
    probe.transfers.push(TransferRow { flow, start, bytes, completion });
    if start >= warmup {
        probe.classes[class].completion.add(completion.as_nanos());
    }
}

#[cfg(test)]
mod kernel_windows_tests;
