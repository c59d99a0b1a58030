//! Applications: data over TCP, and datagrams.

pub mod datagrams;
pub mod observer;
pub mod page;
pub mod setup;
pub mod stream;

use sojourn_aqm::{Span, Time};
use sojourn_link::SerialLink;

use crate::delay_line::ScheduledDelayLine;
use crate::network::{Group, Network};
use crate::packet::Packet;

/// A sender's own link to the first queue. Nothing else uses it, so that its queue needs no events:
/// a packet starts when the one before it has left.
#[derive(Debug)]
pub struct AccessLink {
    link: SerialLink,
    wire: ScheduledDelayLine,
    delay: Span,
}

impl AccessLink {
    /// An idle access link; `wire` has no delay of its own.
    pub fn new(link: SerialLink, delay: Span, wire: ScheduledDelayLine) -> AccessLink {
        debug_assert_eq!(wire.delay(), Span::ZERO);
        AccessLink { link, wire, delay }
    }

    /// Sends a packet towards the first queue: on the uplink of its group, if no other of this flow
    /// is still before that and it overtakes none there.
    #[inline(never)]
    pub(crate) fn send(
        &mut self,
        now: Time,
        packet: &Packet,
        uplink: usize,
        network: &mut Network,
    ) {
        let arrival = self.link.pass(now, packet.ip_bytes) + self.delay;
        if !(self.wire.is_empty() && network.send_up(uplink, arrival, packet)) {
            self.wire.push_any(arrival, packet, &mut network.agenda);
        }
    }

    /// Where packets are until they reach the first queue, unless they are on the uplink.
    #[inline]
    pub fn wire(&mut self) -> &mut ScheduledDelayLine {
        &mut self.wire
    }
}

/// The timers of a flow, outside of it: most alarms are early, as a timer has moved away since they
/// were set. These let the world notice without touching the flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowTimers {
    /// The next of those that a packet at the receiver may set.
    pub(crate) receiver: Time,
    /// The next of those that a packet at the sender may set.
    pub(crate) sender: Time,
    /// The next of all others.
    pub(crate) rest: Time,
}

impl FlowTimers {
    /// The next of all.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.receiver.min(self.sender).min(self.rest)
    }

    /// Those of the receiver, to be moved.
    #[inline]
    pub(crate) fn of_receiver(&mut self) -> &mut Time {
        &mut self.receiver
    }

    /// Those of the sender, to be moved.
    #[inline]
    pub(crate) fn of_sender(&mut self) -> &mut Time {
        &mut self.sender
    }
}

/// Where the two ends of a flow send packets.
pub struct Outbox<'a> {
    /// Now.
    pub now: Time,
    /// The sender's access link.
    pub access: &'a mut AccessLink,
    /// What lies between the ends of flows.
    pub(crate) network: &'a mut Network,
    /// The flow's group.
    pub(crate) group: &'a Group,
    /// Its number, modulo 256.
    pub number: u8,
    /// Which of its connections the flow uses; to routers they are separate flows.
    pub lane: u8,
}

impl Outbox<'_> {
    /// The outbox of one of the flow's connections.
    pub fn on_lane(&mut self, lane: u8) -> Outbox<'_> {
        let Outbox { now, group, number, .. } = *self;
        let (access, network) = (&mut *self.access, &mut *self.network);
        Outbox { now, access, network, group, number, lane }
    }

    /// From the sender towards the receiver.
    #[inline]
    pub fn send(&mut self, mut packet: Packet) {
        (packet.lane, packet.group) = (self.lane, self.number);
        packet.leg = self.group.first_legs.forward;
        let Outbox { now, access, network, group, .. } = self;
        access.send(*now, &packet, group.uplink, network);
    }

    /// From the receiver towards the sender.
    #[inline(always)]
    pub fn reply(&mut self, packet: &mut Packet) {
        (packet.lane, packet.group) = (self.lane, self.number);
        packet.leg = self.group.first_legs.backward;
        self.network.send_back(self.now, self.group, packet);
    }
}
