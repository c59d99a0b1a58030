//! A link of the simulator: a [`sojourn_link::Link`] with its alarms.

use sojourn_aqm::{Backlog, Sink, Time, Var};
use sojourn_link::Link;
use sojourn_measure::LinkProbe;

use crate::agenda::{Agenda, Slot};
use crate::packet::Packet;

/// The alarms of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkSlots {
    /// Its server.
    pub(crate) service: Slot,
    /// Its discipline.
    pub(crate) timer: Slot,
    /// The medium that it contends for, if it is wireless.
    pub(crate) medium: Option<Slot>,
}

/// A link that keeps its alarms up to date.
pub(crate) struct ScheduledLink {
    link: Link<Packet>,
    framing_bytes: u32,
    slots: LinkSlots,
}

impl ScheduledLink {
    /// An idle link.
    pub(crate) fn new(
        link: Link<Packet>,
        framing_bytes: u32,
        slots: LinkSlots,
        agenda: &mut Agenda,
    ) -> ScheduledLink {
        agenda.set(slots.timer, link.next_timer());
        ScheduledLink { link, framing_bytes, slots }
    }

    /// A packet arrives at the queue.
    #[inline]
    pub(crate) fn arrive<const NOTES: bool>(
        &mut self,
        now: Time,
        mut packet: Packet,
        agenda: &mut Agenda,
        probe: &mut LinkProbe<'_, NOTES>,
    ) {
        packet.link_bytes = packet.ip_bytes + self.framing_bytes;
        packet.ecn_in = packet.ecn;
        packet.marked = None;
        probe.arrived();
        let joins = self.may_join();
        if self.link.enqueue(now, packet, probe) {
            agenda.set(self.slots.timer, self.link.next_timer());
            self.schedule(now, agenda, joins);
        }
    }

    /// The server has finished something: hands every packet that has left to `forward`.
    #[inline]
    pub(crate) fn on_service<const NOTES: bool>(
        &mut self,
        now: Time,
        agenda: &mut Agenda,
        probe: &mut LinkProbe<'_, NOTES>,
        mut forward: impl FnMut(Packet, &mut Agenda),
    ) {
        let joins = self.may_join();
        self.link.on_service(now, probe, |packet| forward(packet, agenda));
        self.schedule(now, agenda, joins);
    }

    /// The timer of the discipline is due.
    pub(crate) fn on_timer(&mut self, now: Time, agenda: &mut Agenda) {
        self.link.on_timer(now);
        agenda.set(self.slots.timer, self.link.next_timer());
    }

    /// Whether it is wireless and has nothing to send: its next packet makes it join the contention.
    #[inline]
    fn may_join(&self) -> bool {
        self.slots.medium.is_some() && self.link.head_bytes().is_none()
    }

    #[inline]
    fn schedule(&self, now: Time, agenda: &mut Agenda, joins: bool) {
        agenda.set(self.slots.service, self.link.next_service());
        if let Some(medium) = self.slots.medium.filter(|_| joins)
            && self.link.head_bytes().is_some()
        {
            agenda.advance(medium, now);
        }
    }

    /// The size of the packet with which it contends for a medium, if there is one.
    pub(crate) fn head_bytes(&self) -> Option<u32> {
        self.link.head_bytes()
    }

    /// The medium is done with that packet: returns it, and takes the next.
    pub(crate) fn take_head<const NOTES: bool>(
        &mut self,
        now: Time,
        agenda: &mut Agenda,
        probe: &mut LinkProbe<'_, NOTES>,
    ) -> Packet {
        let packet = self.link.take_head(now, probe);
        agenda.set(self.slots.service, self.link.next_service());
        packet
    }

    /// Empties the queue at the end of a run; see [`Link::drain`].
    pub(crate) fn drain(
        &mut self,
        now: Time,
        sink: &mut dyn Sink<Packet>,
        take: impl FnMut(Packet, Time),
    ) {
        self.link.drain(now, sink, take);
    }

    /// What waits.
    pub(crate) fn backlog(&self) -> Backlog {
        self.link.backlog()
    }

    /// The state variables of the discipline.
    pub(crate) fn vars(&self) -> &'static [Var] {
        self.link.vars()
    }

    /// Their values.
    pub(crate) fn observe(&self, out: &mut [f64]) {
        self.link.observe(out);
    }
}
