//! Applications: data over TCP, and datagrams.

pub mod datagrams;
pub mod observer;
pub mod page;
pub mod setup;
pub mod stream;

use sojourn_aqm::{Span, Time};
use sojourn_link::SerialLink;

use crate::agenda::Agenda;
use crate::delay_line::ScheduledDelayLine;
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

    /// Sends a packet towards the first queue.
    #[inline]
    pub fn send(&mut self, now: Time, packet: Packet, agenda: &mut Agenda) {
        let left = self.link.pass(now, packet.ip_bytes);
        self.wire.push_at(left + self.delay, packet, agenda);
    }

    /// Takes the packet that reaches the first queue now.
    #[inline]
    pub fn pop(&mut self, now: Time, agenda: &mut Agenda) -> Packet {
        self.wire.pop(now, agenda)
    }
}

/// Where the two ends of a flow send packets.
pub struct Outbox<'a> {
    /// Now.
    pub now: Time,
    /// The sender's access link.
    pub access: &'a mut AccessLink,
    /// The receiver's wire towards the sender.
    pub back: &'a mut ScheduledDelayLine,
    /// The agenda.
    pub agenda: &'a mut Agenda,
    /// Which of its connections the flow uses; to routers they are separate flows.
    pub lane: u8,
}

impl Outbox<'_> {
    /// The outbox of one of the flow's connections.
    pub fn on_lane(&mut self, lane: u8) -> Outbox<'_> {
        Outbox { now: self.now, access: self.access, back: self.back, agenda: self.agenda, lane }
    }

    /// From the sender towards the receiver.
    #[inline]
    pub fn send(&mut self, mut packet: Packet) {
        packet.lane = self.lane;
        self.access.send(self.now, packet, self.agenda);
    }

    /// From the receiver towards the sender.
    #[inline]
    pub fn reply(&mut self, mut packet: Packet) {
        packet.lane = self.lane;
        self.back.push(self.now, packet, self.agenda);
    }
}
