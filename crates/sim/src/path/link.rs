//! A link of the simulator: a [`sojourn_link::Link`] with its alarms.

use sojourn_aqm::{Backlog, Packing, Qdisc, Sink, Span, Time, Var};
use sojourn_link::{Duplication, Link, TokenReserve};
use sojourn_measure::LinkProbe;

use super::agenda::Agenda;
use crate::alarms::Alarm;
use crate::packet::Packet;

/// The alarms of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkAlarms {
    /// The alarm of its server.
    pub(crate) service: Alarm,
    /// The alarm of its discipline.
    pub(crate) timer: Alarm,
}

/// How a link's services are scheduled; chosen when the simulation is built.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Service {
    /// Each service has an event.
    Events,
    /// A service may be deferred past its due time by up to `slack`, the least delay behind the
    /// link, because no packet that it sends arrives earlier. Overdue services run before anything
    /// else enters the link or reads from it. Arrivals from the feeder may be deferred in the same
    /// way.
    Late {
        /// The longest deferral.
        slack: Span,
        /// The feeder from which the link pulls arrivals.
        feeder: Feeder,
    },
    /// The link contends for the medium of a wireless LAN, which decides when it sends.
    Wireless {
        /// The alarm of the medium.
        medium: Alarm,
        /// Whether it already contends.
        contends: bool,
    },
}

/// The one wire or uplink, if any, from which a link pulls its arrivals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Feeder {
    /// Each arrival has an event.
    None,
    /// An uplink, by index.
    Uplink(usize),
    /// A wire that leads only to this link, by index; nothing else leads to the link.
    Wire(usize),
}

/// The server of a link with a feeder; the feeder holds this handle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateServer {
    alarm: Alarm,
    slack: Span,
}

impl LateServer {
    /// Schedules the server for the next packet, which arrives at `arrival`.
    pub(crate) fn expect(self, arrival: Time, agenda: &mut Agenda) {
        agenda.advance(self.alarm, arrival + self.slack);
    }
}

/// A link that keeps its alarms up to date.
pub(crate) struct ScheduledLink {
    link: Link<Packet>,
    framing_bytes: u32,
    /// How packets are packed; `None` if every packet is one segment and just framed.
    packing: Option<Packing>,
    alarms: LinkAlarms,
    /// The time set in the discipline's alarm.
    timer: Time,
    /// The time set in the server's alarm. A feeder may have set the alarm earlier.
    due: Time,
    service: Service,
    /// Whether a packet goes on the wire as soon as its departure time is known.
    sends_ahead: bool,
    /// Which arriving packets are copied.
    pub(super) duplication: Option<Box<Duplication>>,
}

impl ScheduledLink {
    /// An idle link.
    pub(crate) fn new(
        link: Link<Packet>,
        (framing_bytes, packing): (u32, Option<Packing>),
        alarms: LinkAlarms,
        service: Service,
        agenda: &mut Agenda,
    ) -> ScheduledLink {
        let (timer, due) = (link.next_timer(), Time::NEVER);
        agenda.set(alarms.timer, timer);
        let sends_ahead = false;
        let duplication = None;
        ScheduledLink {
            link,
            framing_bytes,
            packing,
            alarms,
            timer,
            due,
            service,
            sends_ahead,
            duplication,
        }
    }

    /// Lets the link copy arriving packets. It must have no feeder.
    pub(crate) fn duplicating(self, duplication: Option<Duplication>) -> ScheduledLink {
        debug_assert!(duplication.is_none() || self.feeder() == Feeder::None);
        ScheduledLink { duplication: duplication.map(Box::new), ..self }
    }

    /// Lets a steady link forward packets ahead of time (see [`Link::enqueue_ahead`]) if nothing on
    /// the wire depends on when they are forwarded.
    pub(crate) fn sending_ahead(self, sends_ahead: bool) -> ScheduledLink {
        ScheduledLink { sends_ahead: sends_ahead && self.link.is_steady(), ..self }
    }

    /// The feeder from which it pulls arrivals.
    #[inline]
    pub(crate) fn feeder(&self) -> Feeder {
        match self.service {
            Service::Late { feeder, .. } => feeder,
            Service::Events | Service::Wireless { .. } => Feeder::None,
        }
    }

    /// Its server, if it has a feeder.
    pub(crate) fn late_server(&self) -> Option<LateServer> {
        match self.service {
            Service::Late { slack, feeder } if feeder != Feeder::None => {
                Some(LateServer { alarm: self.alarms.service, slack })
            }
            _ => None,
        }
    }

    /// How long a service may be deferred past its due time.
    #[inline]
    fn slack(&self) -> Span {
        match self.service {
            Service::Late { slack, .. } => slack,
            Service::Events | Service::Wireless { .. } => Span::ZERO,
        }
    }

    /// Whether its services may be deferred.
    #[inline]
    pub(crate) fn may_defer(&self) -> bool {
        matches!(self.service, Service::Late { .. })
    }

    /// When the next service is due.
    #[inline]
    pub(crate) fn next_service(&self) -> Time {
        self.link.next_service()
    }

    /// When the timer of its discipline is due.
    #[inline]
    pub(crate) fn next_timer(&self) -> Time {
        self.timer
    }

    /// Sets the link's fields of an arriving packet. Only changed fields are written: the packet is
    /// copied next, and the copy would stall on fresh stores (see [`Packet`]).
    #[inline]
    fn enter(&self, packet: &mut Packet) {
        let mut bytes = packet.ip_bytes + self.framing_bytes;
        if let Some(packing) = &self.packing {
            packet.resize(|bytes| packing.bytes(u64::from(bytes + self.framing_bytes)) as u32);
            bytes = packet.link_bytes;
        }
        if packet.link_bytes != bytes {
            packet.link_bytes = bytes;
        }
        if packet.ecn_in != packet.ecn {
            packet.ecn_in = packet.ecn;
        }
        if packet.marked.is_some() {
            packet.marked = None;
        }
    }

    /// Enqueues an arriving packet. Packets sent ahead go to `forward` with their departure times.
    /// Inlined, because one of the two callers is the main loop.
    #[inline(always)]
    pub(crate) fn arrive<const NOTES: bool>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        agenda: &mut Agenda,
        probe: &mut LinkProbe<'_, NOTES>,
        mut forward: impl FnMut(Time, &mut Packet, &mut Agenda),
    ) {
        self.settle(now, probe);
        self.enter(packet);
        probe.arrived();
        let is_woken = if self.sends_ahead {
            self.link.enqueue_ahead(now, packet, probe, |left, packet| {
                forward(left, packet, agenda);
            })
        } else {
            self.enqueue(now, packet, probe)
        };
        if is_woken {
            self.set_timer(agenda);
            self.set_service(agenda);
            self.contend(now, agenda);
        }
    }

    /// Enqueues a packet that is not sent ahead.
    #[inline(never)]
    fn enqueue<const NOTES: bool>(
        &mut self,
        now: Time,
        packet: &Packet,
        probe: &mut LinkProbe<'_, NOTES>,
    ) -> bool {
        self.link.enqueue(now, *packet, probe)
    }

    /// Finishes a service: hands every packet that has left, or is sent ahead, to `forward` with
    /// its departure time. The caller must set the alarm.
    #[inline]
    pub(crate) fn on_service<const NOTES: bool>(
        &mut self,
        now: Time,
        agenda: &mut Agenda,
        probe: &mut LinkProbe<'_, NOTES>,
        mut forward: impl FnMut(Time, &mut Packet, &mut Agenda),
    ) {
        if self.sends_ahead {
            self.link.serve_ahead(now, probe, |left, packet| forward(left, packet, agenda));
        } else {
            self.link.on_service(now, probe, |mut packet| forward(now, &mut packet, agenda));
        }
    }

    /// Called after the due services: sets the server's alarm, which was due, for the next service
    /// or the next packet from the feeder.
    #[inline]
    pub(crate) fn end_service(&mut self, now: Time, next_arrival: Time, agenda: &mut Agenda) {
        self.due = self.link.next_service().min(next_arrival) + self.slack();
        agenda.set_due(self.alarms.service, self.due);
        self.contend(now, agenda);
    }

    /// Completes the services of packets that were sent ahead and have left by now; see
    /// [`Link::settle`].
    #[inline]
    pub(crate) fn settle<const NOTES: bool>(
        &mut self,
        now: Time,
        probe: &mut LinkProbe<'_, NOTES>,
    ) {
        self.link.settle(now, probe);
    }

    /// Handles the discipline's timer, which is due.
    pub(crate) fn on_timer<const NOTES: bool>(
        &mut self,
        now: Time,
        agenda: &mut Agenda,
        probe: &mut LinkProbe<'_, NOTES>,
    ) {
        self.settle(now, probe);
        self.link.on_timer(now);
        self.set_timer(agenda);
    }

    /// Replaces the discipline; see [`Link::replace_discipline`].
    pub(crate) fn replace_discipline<const NOTES: bool>(
        &mut self,
        now: Time,
        discipline: Box<dyn Qdisc<Packet>>,
        agenda: &mut Agenda,
        probe: &mut LinkProbe<'_, NOTES>,
    ) {
        self.settle(now, probe);
        self.link.replace_discipline(now, discipline, probe);
        self.set_timer(agenda);
        self.set_service(agenda);
    }

    /// Sets the alarm of the discipline. Most disciplines need no alarm.
    #[inline]
    fn set_timer(&mut self, agenda: &mut Agenda) {
        let due = self.link.next_timer();
        if due != self.timer {
            self.timer = due;
            agenda.set(self.alarms.timer, due);
        }
    }

    /// Sets the server's alarm, unless sending ahead has left the due time unchanged. If services
    /// may be deferred, an alarm that is too early does nothing and is set again.
    #[inline]
    fn set_service(&mut self, agenda: &mut Agenda) {
        let due = self.link.next_service();
        match self.service {
            Service::Late { slack, .. } => {
                if due + slack < self.due {
                    self.due = due + slack;
                    agenda.advance(self.alarms.service, due + slack);
                }
            }
            Service::Events | Service::Wireless { .. } => {
                if due != self.due {
                    self.due = due;
                    agenda.set(self.alarms.service, due);
                }
            }
        }
    }

    /// Joins the contention for the medium when the first packet arrives at a wireless link.
    #[inline]
    fn contend(&mut self, now: Time, agenda: &mut Agenda) {
        if let Service::Wireless { medium, contends } = &mut self.service
            && !*contends
            && self.link.head().is_some()
        {
            *contends = true;
            agenda.advance(*medium, now);
        }
    }

    /// A station used this much airtime; see [`Link::on_airtime`].
    pub(crate) fn on_airtime(&mut self, now: Time, station: usize, airtime: Span) {
        self.link.on_airtime(now, station, airtime);
    }

    /// The packet waiting for the medium, if any.
    pub(crate) fn head(&self) -> Option<&Packet> {
        self.link.head()
    }

    /// Called when the medium is done with the head packet: hands it to `take` and takes the next.
    pub(crate) fn take_head<const NOTES: bool>(
        &mut self,
        now: Time,
        agenda: &mut Agenda,
        probe: &mut LinkProbe<'_, NOTES>,
        take: impl FnOnce(&mut Packet, &mut Agenda, &mut LinkProbe<'_, NOTES>),
    ) {
        self.link.take_head(now, probe, |packet, probe| take(packet, agenda, probe));
        self.set_service(agenda);
        if let Service::Wireless { contends, .. } = &mut self.service {
            *contends = self.link.head().is_some();
        }
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

    /// The contents of its token bucket at `now`; `None` without a bucket.
    pub(crate) fn reserve(&self, now: Time) -> Option<TokenReserve> {
        self.link.reserve(now)
    }

    /// The backlog of its queue.
    pub(crate) fn backlog(&self) -> Backlog {
        self.link.backlog()
    }

    /// The state variables of the discipline.
    pub(crate) fn vars(&self) -> &'static [Var] {
        self.link.vars()
    }

    /// Writes the values of the state variables.
    pub(crate) fn observe(&self, out: &mut [f64]) {
        self.link.observe(out);
    }
}
