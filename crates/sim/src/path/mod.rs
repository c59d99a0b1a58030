//! Everything between the two endpoints of a flow.
//!
//! A packet of a sender passes its [access link](access), an [uplink], and the [links](link) of its
//! [route]. Each link is a queue and a transmitter with a [wire] behind it; the last wire ends at
//! the receiver. Replies pass back over their own wires and links.
//!
//! The simulation makes five calls: [`Path::send`] and [`Path::reply`] put packets in;
//! [`Path::next`] returns the time of the next event; [`Path::on_event`] handles it and returns a
//! packet that has arrived at an endpoint; and [`Path::settle`] brings every link up to date, so
//! that its counters can be [read](reading). The probe observes all of this and affects none of it.
//!
//! # Decisions
//!
//! **Terms.** A *link* has a queue and a rate; a *wire* has delay, loss and jitter (in netdev
//! terms, a device and a cable). A *route* is a sequence of *hops*, each a link and the wire on
//! which it sends. An *uplink* is the wire before a first link, shared by all flows at the same
//! delay.
//!
//! **A steady link sends ahead.** When transmission of a packet starts, its departure time is
//! known, so it goes on the wire at once. If no packet follows, no event ends its service. The
//! discipline is still asked for a packet, with that departure time as `now`
//! ([`sojourn_link::Link::settle`]), because CoDel leaves its drop state when the queue is empty.
//!
//! **A link may defer its work while nothing else can notice.** A packet that it sends arrives only
//! after the delay of the wire behind it. So neither its services nor the arrivals from its only
//! [`link::Feeder`] need events. The link [catches up](serving), handling each at its own time,
//! when another packet arrives, when its counters are read, or at an alarm deferred by that delay.
//! The choice is made once per link, when the simulation is built ([`link::Service`]). Runs that
//! record packets use an event for each service and arrival; `tests/late_services.rs` checks that
//! both give the same results.

mod access;
mod agenda;
mod link;
mod onward;
mod reading;
mod route;
mod serving;
mod uplink;
mod wire;
mod wireless;

use sojourn_aqm::{Span, Time};
use sojourn_link::SerialLink;
use sojourn_measure::Probe;

pub(crate) use self::access::AccessLink;
use self::agenda::Kind;
pub(crate) use self::agenda::{Agenda, Slots};
pub(crate) use self::link::{Feeder, LinkAlarms, ScheduledLink, Service};
pub(crate) use self::onward::Onward;
pub(crate) use self::reading::empty_queue;
pub(crate) use self::route::{End, Hop, Route};
pub(crate) use self::uplink::Uplink;
pub(crate) use self::wire::Wire;
pub(crate) use self::wireless::WirelessLan;
use crate::alarms::Due;
use crate::packet::Packet;
use crate::sightings::Point;

/// Links, wires, and their alarms.
pub(crate) struct Path {
    agenda: Agenda,
    links: Vec<ScheduledLink>,
    uplinks: Vec<Uplink>,
    onward: Onward,
    /// Indexed by flow.
    accesses: Vec<AccessLink>,
    /// Indexed by group.
    routes: Vec<Route>,
    wireless_lans: Vec<WirelessLan>,
}

/// A packet that has arrived at an endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived<'a> {
    /// The packet.
    pub(crate) packet: &'a Packet,
    /// The end of its flow that it has reached.
    pub(crate) end: End,
    /// The index of the wire over which it came.
    pub(crate) wire: usize,
}

impl Path {
    /// A path without packets in flight.
    pub(crate) fn new(
        agenda: Agenda,
        (links, uplinks, onward): (Vec<ScheduledLink>, Vec<Uplink>, Onward),
        routes: Vec<Route>,
        wireless_lans: Vec<WirelessLan>,
    ) -> Path {
        let mut path =
            Path { agenda, links, uplinks, onward, accesses: Vec::new(), routes, wireless_lans };
        for link in &path.links {
            match link.feeder() {
                Feeder::None => {}
                Feeder::Uplink(uplink) => path.uplinks[uplink].feeding(link.late_server()),
                Feeder::Wire(wire) => path.onward.wires[wire].0.feeding(link.late_server()),
            }
        }
        path
    }

    /// Adds the next flow with its access link, on the route with this index.
    pub(crate) fn add_flow(&mut self, route: usize, link: SerialLink, delay: Span) {
        let slot = self.agenda.slots().accesses + self.accesses.len();
        let wire = Wire::new(Span::ZERO, self.agenda.alarm(slot));
        self.accesses.push(AccessLink::new(link, delay, &self.routes[route], wire));
    }

    /// Sends a packet from a sender. The packet enters its flow's uplink at once, unless it would
    /// overtake many packets there, or an earlier packet of the flow has yet to reach the uplink.
    #[inline(never)]
    pub(crate) fn send(&mut self, now: Time, packet: &mut Packet) {
        self.onward.sightings.note(now, Point::Sent, packet);
        let access = &mut self.accesses[packet.flow as usize];
        packet.hop = access.forward;
        let arrival = access.enter(now, packet.ip_bytes);
        if access.wire.is_empty() {
            let uplink = &mut self.uplinks[access.uplink as usize];
            if uplink.can_take(arrival, packet.flow) {
                return uplink.push(arrival, packet, &mut self.agenda);
            }
        }
        self.send_out_of_order(arrival, packet);
    }

    /// Out of line, so that [`Path::send`] need not spill registers.
    #[inline(never)]
    fn send_out_of_order(&mut self, arrival: Time, packet: &Packet) {
        let Path { accesses, uplinks, agenda, .. } = self;
        let access = &mut accesses[packet.flow as usize];
        let uplink = &mut uplinks[access.uplink as usize];
        if !access.wire.is_empty() || !uplink.insert(arrival, packet, agenda) {
            access.wire.push_any(arrival, packet, agenda);
        }
    }

    /// Sends a packet from a receiver towards the sender, over the route with this index.
    #[inline(always)]
    pub(crate) fn reply(&mut self, now: Time, route: u32, packet: &mut Packet) {
        let Route { backward, back, .. } = self.routes[route as usize];
        packet.hop = backward;
        self.onward.sightings.note(now, Point::Sent, packet);
        self.onward.wires[back].0.push(now, packet, &mut self.agenda);
    }

    /// The next event.
    #[inline]
    pub(crate) fn next(&self) -> Due {
        self.agenda.next()
    }

    /// Handles the next event. Returns a packet that has arrived at an endpoint.
    #[inline(always)]
    pub(crate) fn on_event<const NOTES: bool>(
        &mut self,
        next: Due,
        probe: &mut Probe,
    ) -> Option<Arrived<'_>> {
        let Due { time: now, slot, .. } = next;
        let Slots { wires, accesses, .. } = *self.agenda.slots();
        match self.agenda.kind_of(next) {
            Kind::Wire => {
                let wire = slot - wires;
                if self.onward.wires[wire].1 == End::Link {
                    self.arrive_over_wire::<NOTES>(now, wire, probe);
                    return None;
                }
                let Onward { wires, sightings, .. } = &mut self.onward;
                let (line, end) = &mut wires[wire];
                let packet = line.pop(now, &mut self.agenda);
                if NOTES {
                    sightings.note(now, Point::Received, packet);
                }
                return Some(Arrived { packet, end: *end, wire });
            }
            Kind::Uplink => {
                let uplink = self.accesses[slot - accesses].uplink as usize;
                let uplink = &mut self.uplinks[uplink];
                let mut packet = *uplink.pop(&mut self.agenda);
                self.arrive::<NOTES>(now, &mut packet, probe);
            }
            Kind::Access => self.arrive_from_access::<NOTES>(now, slot - accesses, probe),
            Kind::Server => self.on_server::<NOTES>(now, slot, probe),
            Kind::Rare => self.on_rare::<NOTES>(now, slot, probe),
        }
        None
    }

    /// Brings every link up to `now`, inclusive, so that its counters and its state can be read.
    pub(crate) fn settle(&mut self, now: Time, probe: &mut Probe) {
        if probe.notes.wants_signals {
            self.settle_links::<true>(now, probe);
        } else {
            self.settle_links::<false>(now, probe);
        }
    }

    fn settle_links<const NOTES: bool>(&mut self, now: Time, probe: &mut Probe) {
        let after = now + Span::from_nanos(1);
        for place in 0..self.links.len() {
            self.catch_up_at::<NOTES>(place, (now, after), probe);
            self.links[place].settle(now, &mut probe.at_link::<NOTES>(now, place));
        }
    }

    /// The wire with this index, to prefetch its next packets.
    #[inline]
    pub(crate) fn wire(&self, wire: usize) -> &Wire {
        &self.onward.wires[wire].0
    }
}
