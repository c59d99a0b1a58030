//! The simulation loop: handles every event between time zero and the end.
//!
//! The life of a packet: a flow sends it over its [path](crate::path) to the receiver, which
//! replies over the same path; the reply allows the flow to send again.
//!
//! Events of one instant are handled in this order: path, flows, sampler, end of bins. A flow has
//! several *timers* and one *alarm*, which is never later than the earliest of them.

mod ahead;
mod bins;
pub(crate) mod ecn_share;
mod flow;
mod outcome;
mod sampling;
mod stepping;

use sojourn_aqm::{Packet as _, Span, Time};
use sojourn_endpoint::Peer;
use sojourn_measure::{Bins, Probe, Utilisation};
use sojourn_record::rows::{FlowRow, FlowStateRow};

pub(crate) use self::flow::{DatagramEnds, FlowEnds, SimulatedFlow};
use crate::alarms::{Alarms, Due, Slot};
use crate::app::endpoint::FirstFailure;
use crate::app::{FlowTimers, Outbox, record_transfer};
use crate::packet::{Packet, PacketKind};
use crate::path::{Arrived, End, Path};
use crate::prefetch::MANY_FLOWS;

/// What to sample, and when.
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

/// The state of a whole simulation. Assembled by [`crate::assemble`].
pub(crate) struct World {
    /// The links and wires between the ends of flows.
    pub(crate) path: Path,
    /// The alarms of the flows, in order, then those of the sampler and of the end of bins.
    pub(crate) alarms: Alarms<1>,
    /// The slot of the sampler.
    pub(crate) sampler: Slot,
    /// Counters and histograms.
    pub(crate) probe: Probe,
    /// How the utilisation of each link is computed.
    pub(crate) utilisations: Vec<Utilisation>,
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
    /// Per-bin series, if requested.
    pub(crate) bins: Option<Bins>,
    /// Whether to record delays of data packets.
    pub(crate) latency: bool,
    /// Sampling.
    pub(crate) sampling: Sampling,
    /// The sampled values of one queue; kept to reuse the allocation.
    pub(crate) sampled_values: Vec<f64>,
    /// When summaries begin to count.
    pub(crate) warmup: Time,
    /// When the run ends; events at that time are not handled.
    pub(crate) end: Time,
    /// Events handled.
    pub(crate) events: u64,
    /// The first failure of a transport library, which ends the run.
    pub(crate) failure: FirstFailure,
    /// Warnings about its transport libraries, for the result.
    pub(crate) remarks: Vec<String>,
}

/// The next event of the path and the next other event.
#[derive(Clone, Copy, Debug)]
struct Next {
    path: Due,
    alarm: Due,
}

impl Next {
    /// When the earlier of the two is due.
    fn time(&self) -> Time {
        self.path.time.min(self.alarm.time)
    }
}

/// The number of events between two calls of `keep_going`.
const EVENTS_PER_CHECK: u64 = 1 << 14;

impl World {
    /// Runs to the end and returns true. Returns false as soon as `keep_going` does; it is called
    /// with the current time every [`EVENTS_PER_CHECK`] events.
    pub(crate) fn run<const NOTES: bool>(&mut self, keep_going: &dyn Fn(Time) -> bool) -> bool {
        let mut stage_end = self.warmup.min(self.end);
        loop {
            let next = self.next();
            let now = next.time();
            if now >= stage_end {
                if now >= self.warmup && !self.probe.counting {
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
            self.handle::<NOTES>(next);
            // Called after the event: a call between finding and handling an event makes the
            // compiled code find the event twice, which costs 1 % of all instructions.
            if self.events.is_multiple_of(EVENTS_PER_CHECK) && !keep_going(now) {
                return false;
            }
        }
        self.end_run::<NOTES>();
        true
    }

    /// The next event of the path, and of the flows, sampler and bins.
    #[inline]
    fn next(&self) -> Next {
        Next { path: self.path.next(), alarm: self.alarms.next() }
    }

    /// Closes and counts everything still in progress at the end of the run.
    fn end_run<const NOTES: bool>(&mut self) {
        // Events at the end are not handled.
        let last = Time::from_nanos(self.end.as_nanos() - 1);
        self.path.settle(last, &mut self.probe);
        if self.bins.as_ref().is_some_and(|bins| bins.over_at() == self.end) {
            self.end_bin(self.end);
        }
        if self.sampling.states {
            self.sample_links(self.end);
        }
        self.path.empty_queues::<NOTES>(self.end, &mut self.probe);
    }

    /// Handles the next event; at one instant, those of the path come first.
    #[inline]
    fn handle<const NOTES: bool>(&mut self, Next { path, alarm }: Next) {
        if alarm.time < path.time {
            return self.on_alarm(alarm.time, alarm.slot);
        }
        let now = path.time;
        let arrived = self.path.on_event::<NOTES>(path, &mut self.probe);
        let Some(Arrived { packet: &packet, end, wire }) = arrived else { return };
        if self.flows.len() >= MANY_FLOWS {
            self.prefetch_flows(wire, end);
        }
        match end {
            End::Receiver => self.receive(now, &packet),
            End::Sender => self.answer(now, &packet),
            End::Link => unreachable!("a link is not an endpoint"),
        }
    }

    /// Handles the alarm of a flow, of the sampler or of the end of a bin.
    #[inline(never)]
    fn on_alarm(&mut self, now: Time, slot: Slot) {
        match slot {
            _ if slot < self.flows.len() => self.on_flow_alarm(now, slot),
            _ if slot == self.sampler => self.sample(now),
            _ => self.end_bin(now),
        }
    }

    /// The slot of the alarm that ends bins, which is the last slot.
    pub(crate) fn binner_slot(&self) -> Slot {
        self.sampler + 1
    }

    /// Sets the alarm of a slot.
    #[inline]
    pub(crate) fn set_alarm(&mut self, slot: Slot, due: Time) {
        self.alarms.set(self.alarms.alarm(slot, (0, slot)), due);
    }

    /// The flow with this index, and its outbox.
    #[inline(always)]
    fn with_outbox(&mut self, now: Time, flow: usize) -> (&mut SimulatedFlow, Outbox<'_>) {
        let World { flows, path, probe, .. } = self;
        let flow = &mut flows[flow];
        let SimulatedFlow { class, group, labels, .. } = *flow;
        (flow, Outbox { now, path, probe, class, group, labels })
    }

    /// Lets a flow act with an outbox. `act` returns the earliest timer that it may have set. If
    /// the alarm of the flow is later, it is moved to that timer.
    #[inline]
    fn with_flow(
        &mut self,
        now: Time,
        flow: usize,
        timer: impl FnOnce(&mut FlowTimers) -> &mut Time,
        act: impl FnOnce(&mut FlowEnds, &mut Outbox<'_>) -> Time,
    ) {
        let (simulated, mut out) = self.with_outbox(now, flow);
        let due = act(&mut simulated.ends, &mut out);
        *timer(&mut simulated.timers) = due;
        if due < simulated.alarm {
            simulated.alarm = due;
            self.set_alarm(flow, due);
        }
    }

    /// Handles a packet at its receiver.
    #[inline]
    fn receive(&mut self, now: Time, packet: &Packet) {
        if self.latency
            && self.probe.counting
            && matches!(packet.kind, PacketKind::Data | PacketKind::SuperPacket)
        {
            let class = self.flows[packet.flow as usize].class;
            let one_way = &mut self.probe.classes[class as usize].one_way;
            (0..packet.segments()).for_each(|_| one_way.add(now.since(packet.sent).as_nanos()));
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
                FlowEnds::Datagrams(ends) => match &mut **ends {
                    DatagramEnds::Source(flow) => {
                        let delay = flow.on_arrival(packet, out);
                        if let Some(delay) = delay
                            && let Some(counted) = out.counted()
                        {
                            counted.one_way.add(delay.as_nanos());
                        }
                        Time::NEVER
                    }
                    DatagramEnds::Library(flow) => flow.on_packet(Peer::Client, packet, out),
                },
            },
        );
    }

    /// Handles a reply at the sender.
    #[inline]
    fn answer(&mut self, now: Time, packet: &Packet) {
        self.with_flow(now, packet.flow as usize, FlowTimers::of_sender, |flow, out| match flow {
            FlowEnds::Stream(stream) => {
                stream.on_ack(packet, out);
                stream.sender_timer()
            }
            FlowEnds::Page(page) => {
                page.on_ack(packet, out);
                page.next_timer()
            }
            FlowEnds::Datagrams(ends) => match &mut **ends {
                DatagramEnds::Source(flow) => {
                    if let Some(rtt) = flow.on_echo(packet, out)
                        && let Some(counted) = out.counted()
                    {
                        counted.rtt.add(rtt.as_nanos());
                    }
                    Time::NEVER
                }
                DatagramEnds::Library(flow) => flow.on_packet(Peer::Server, packet, out),
            },
        });
    }

    /// Handles the alarm of a flow. Its timers may have moved since it was set.
    #[inline]
    fn on_flow_alarm(&mut self, now: Time, flow: usize) {
        let mut due = self.flows[flow].timers.next();
        if due <= now {
            due = self.on_timer(now, flow);
        }
        self.flows[flow].alarm = due;
        self.alarms.set_due(self.alarms.alarm(flow, (0, flow)), due);
        if self.flows.len() >= MANY_FLOWS {
            self.prefetch_next_timer();
        }
    }

    /// Handles expired timers of a flow. Returns when the next one is due.
    #[inline(never)]
    fn on_timer(&mut self, now: Time, flow: usize) -> Time {
        let (flow, mut out) = self.with_outbox(now, flow);
        match &mut flow.ends {
            FlowEnds::Stream(stream) if flow.timers.is_of_sender(now) => {
                stream.on_sender_timer(&mut out);
                flow.timers.sender = stream.sender_timer();
                return flow.timers.next();
            }
            FlowEnds::Stream(stream) => stream.on_timer(&mut out),
            FlowEnds::Datagrams(ends) => match &mut **ends {
                DatagramEnds::Source(flow) => flow.on_timer(&mut out),
                DatagramEnds::Library(flow) => flow.on_timer(&mut out),
            },
            FlowEnds::Page(page) => page.on_timer(&mut out),
        }
        flow.timers = flow.ends.timers();
        flow.timers.next()
    }
}

#[cfg(test)]
mod kernel_windows_tests;
