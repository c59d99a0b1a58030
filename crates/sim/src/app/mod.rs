//! Applications: data over TCP, and datagrams.

pub mod datagrams;
pub(crate) mod endpoint;
pub mod observer;
pub mod page;
pub mod setup;
pub mod stream;

use sojourn_aqm::Time;
use sojourn_measure::{ClassStats, Probe};
use sojourn_record::rows::TransferRow;
use sojourn_traffic::FinishedTransfer;

use crate::packet::{Labels, Packet, PacketKind};
use crate::path::Path;

/// Lower bounds on the timers of a flow, stored outside it. Most alarms fire early, because the
/// timer has moved since they were set; these let us notice without touching the flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowTimers {
    /// The earliest timer that a packet at the receiver may set.
    pub(crate) receiver: Time,
    /// The earliest timer that a packet at the sender may set.
    pub(crate) sender: Time,
    /// The earliest of all other timers.
    pub(crate) rest: Time,
}

impl FlowTimers {
    /// The earliest of all timers.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.receiver.min(self.sender).min(self.rest)
    }

    /// Whether only timers of the sender may be due.
    #[inline]
    pub(crate) fn is_of_sender(&self, now: Time) -> bool {
        self.receiver.min(self.rest) > now
    }

    /// The earliest timer of the receiver, for updating.
    #[inline]
    pub(crate) fn of_receiver(&mut self) -> &mut Time {
        &mut self.receiver
    }

    /// The earliest timer of the sender, for updating.
    #[inline]
    pub(crate) fn of_sender(&mut self) -> &mut Time {
        &mut self.sender
    }
}

/// Everything that the two ends of a flow need for sending packets.
pub struct Outbox<'a> {
    /// Now.
    pub now: Time,
    /// The links and wires between them.
    pub(crate) path: &'a mut Path,
    /// The counters of flows.
    pub(crate) probe: &'a mut Probe,
    /// The index of the class of the flow's group.
    pub(crate) class: u32,
    /// The index of its group, and of its route.
    pub(crate) group: u32,
    /// The labels common to its packets, including the connection's number: routers see a flow's
    /// connections as separate flows.
    pub(crate) labels: Labels,
}

impl Outbox<'_> {
    /// The outbox of one of the flow's connections.
    pub fn on_lane(&mut self, lane: u8) -> Outbox<'_> {
        let Outbox { now, class, group, labels, .. } = *self;
        let (path, probe) = (&mut *self.path, &mut *self.probe);
        Outbox { now, path, probe, class, group, labels: labels.on_lane(lane) }
    }

    /// Sends a packet from the sender towards the receiver.
    #[inline]
    pub fn send(&mut self, mut packet: Packet) {
        packet.labels = packet.labels.with(self.labels);
        self.path.send(self.now, &mut packet);
    }

    /// Sends a packet from the receiver towards the sender.
    #[inline(always)]
    pub fn reply(&mut self, packet: &mut Packet) {
        packet.labels = packet.labels.with(self.labels);
        self.path.reply(self.now, self.group, packet);
    }

    /// Packets of a flow lost since the last call, if the losses of the flow are noted.
    pub(crate) fn noted_losses(&mut self, flow: u32) -> impl Iterator<Item = (PacketKind, u32)> {
        let at_links = self.probe.notes.losses.take_noted(flow);
        at_links.chain(self.path.noted_losses(flow))
    }

    /// Starts noting the losses of a flow.
    pub(crate) fn note_losses(&mut self, flow: u32) {
        self.probe.notes.losses.note(flow);
        self.path.note_losses(flow);
    }

    /// The counters of the flow's class; `None` during the warm-up.
    #[inline]
    pub(crate) fn counted(&mut self) -> Option<&mut ClassStats> {
        self.probe.counting.then(|| &mut self.probe.classes[self.class as usize])
    }
}

/// Records a completed transfer; it counts if it was requested after the warm-up.
#[cold]
pub(crate) fn record_transfer(
    (now, warmup): (Time, Time),
    flow: u32,
    FinishedTransfer { start, bytes }: FinishedTransfer,
    out: &mut Outbox<'_>,
) {
    let Outbox { probe, class, .. } = out;
    let completion = now.since(start);
    probe.transfers.push(TransferRow { flow, start, bytes, completion });
    if start >= warmup {
        probe.classes[*class as usize].completion.add(completion.as_nanos());
    }
}
