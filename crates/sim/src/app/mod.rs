//! Applications: data over TCP, and datagrams.

pub mod datagrams;
pub mod observer;
pub mod page;
pub mod setup;
pub mod stream;

use sojourn_aqm::Time;
use sojourn_measure::{ClassStats, Probe};

use crate::packet::{HostPair, Packet};
use crate::path::Path;

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

    /// The next timer of the receiver, to be moved.
    #[inline]
    pub(crate) fn of_receiver(&mut self) -> &mut Time {
        &mut self.receiver
    }

    /// The next timer of the sender, to be moved.
    #[inline]
    pub(crate) fn of_sender(&mut self) -> &mut Time {
        &mut self.sender
    }
}

/// Where the two ends of a flow send packets.
pub struct Outbox<'a> {
    /// Now.
    pub now: Time,
    /// The links and wires between them.
    pub(crate) path: &'a mut Path,
    /// The counters of flows.
    pub(crate) probe: &'a mut Probe,
    /// The class of the flow's group, by place.
    pub(crate) class: usize,
    /// Its group, by place, which is that of its route.
    pub(crate) group: u32,
    /// The hosts that send and receive it.
    pub(crate) hosts: HostPair,
    /// Which of its connections the flow uses; to routers they are separate flows.
    pub lane: u8,
}

impl Outbox<'_> {
    /// The outbox of one of the flow's connections.
    pub fn on_lane(&mut self, lane: u8) -> Outbox<'_> {
        let Outbox { now, class, group, hosts, .. } = *self;
        let (path, probe) = (&mut *self.path, &mut *self.probe);
        Outbox { now, path, probe, class, group, hosts, lane }
    }

    /// From the sender towards the receiver.
    #[inline]
    pub fn send(&mut self, mut packet: Packet) {
        (packet.lane, packet.hosts) = (self.lane, self.hosts);
        self.path.send(self.now, &mut packet);
    }

    /// From the receiver towards the sender.
    #[inline(always)]
    pub fn reply(&mut self, packet: &mut Packet) {
        (packet.lane, packet.hosts) = (self.lane, self.hosts);
        self.path.reply(self.now, self.group, packet);
    }

    /// What is counted of the flow's class, once the warm-up is over.
    #[inline]
    pub(crate) fn counted(&mut self) -> Option<&mut ClassStats> {
        self.probe.counting.then(|| &mut self.probe.classes[self.class])
    }
}
