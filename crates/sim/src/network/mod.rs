//! What lies between the ends of flows.

mod onward;

use sojourn_aqm::Time;
use sojourn_measure::Probe;

pub(crate) use self::onward::Onward;
use crate::agenda::Agenda;
use crate::link::ScheduledLink;
use crate::packet::Packet;

/// Where a wire ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// At the next link of each packet's route.
    Link,
    /// At the receiver of each packet's flow.
    Receiver,
    /// At the sender of each packet's flow.
    Sender,
}

/// A link on the way of a group's packets in one direction, and the wire on which it sends them.
/// The next link of the way is next in the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leg {
    /// The link, by place.
    pub(crate) link: u32,
    /// The wire, by place.
    pub(crate) wire: u32,
    /// On a wireless LAN, how its frames are sent and lost: a place among the LAN's radios.
    pub(crate) radio: u32,
    /// On a wireless LAN, the transmitter to which it sends, if one is known: a place among links.
    pub(crate) station: Option<u32>,
    /// Whether the wire behind the link does more to packets than to delay them evenly.
    pub(crate) is_impaired: bool,
}

/// What the flows of a group share.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Its class, by place.
    pub(crate) class: usize,
    /// Where its ways begin.
    pub(crate) first_legs: FirstLegs,
    /// The wire that receivers answer into.
    pub(crate) back: usize,
    /// The first link of the way back, if its departures are computed.
    pub(crate) computed: Option<usize>,
}

/// Where the two ways of a flow begin in the world's table of routes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstLegs {
    /// From sender to receiver.
    pub(crate) forward: u32,
    /// From receiver to sender; without links on that way it is never read.
    pub(crate) backward: u32,
}

/// Links and wires, with what they count and when their next events are.
pub(crate) struct Network {
    /// All alarms of the world.
    pub(crate) agenda: Agenda,
    /// The links.
    pub(crate) links: Vec<ScheduledLink>,
    /// What lies behind the links.
    pub(crate) onward: Onward,
    /// The probe.
    pub(crate) probe: Probe,
    /// Arrivals at links whose departures are computed are handled up to this time.
    pub(crate) computed_until: Time,
}

/// The link whose arrivals are recorded, if one is, and the arrivals so far.
pub(crate) type RecordedLink = Option<(usize, Vec<(Time, Packet)>)>;

impl Network {
    /// A packet arrives at the next link of its route.
    #[inline(always)]
    pub(crate) fn arrive<const NOTES: bool>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        recorded: &mut RecordedLink,
    ) {
        let link = self.onward.legs[packet.leg as usize].link as usize;
        if NOTES
            && let Some((place, arrivals)) = recorded
            && *place == link
        {
            arrivals.push((now, *packet));
        }
        let Network { links, agenda, probe, onward, .. } = self;
        let mut probe = probe.at_link::<NOTES>(now, link);
        links[link].arrive(now, packet, agenda, &mut probe, |left, packet, agenda| {
            onward.forward(left, packet, agenda);
        });
    }

    /// A server has finished: the packet goes on the wire.
    #[inline]
    pub(crate) fn on_server<const NOTES: bool>(&mut self, now: Time, link: usize) {
        let Network { links, agenda, probe, onward, .. } = self;
        let mut probe = probe.at_link::<NOTES>(now, link);
        links[link].on_service(now, agenda, &mut probe, |left, packet, agenda| {
            onward.forward(left, packet, agenda);
        });
    }

    /// A receiver of a group sends a packet towards the sender.
    #[inline(always)]
    pub(crate) fn send_back(&mut self, now: Time, group: &Group, packet: &mut Packet) {
        let wire = &mut self.onward.wires[group.back].0;
        let Some(link) = group.computed else {
            return wire.push(now, packet, &mut self.agenda);
        };
        let arrival = wire.enter(now, packet.ip_bytes);
        if arrival >= self.computed_until {
            wire.keep(arrival, *packet);
        } else if let Some(left) = self.links[link].pass(arrival, packet, (&mut self.probe, link)) {
            self.onward.forward(left, packet, &mut self.agenda);
        }
    }

    /// What was kept on a wire before a link whose departures are computed passes it.
    pub(crate) fn pass_answers(&mut self, link: usize, wire: usize) {
        let Network { links, onward, probe, agenda, computed_until } = self;
        while let Some(&mut (now, mut packet)) = onward.wires[wire].0.take_before(*computed_until) {
            if let Some(left) = links[link].pass(now, &mut packet, (probe, link)) {
                onward.forward(left, &mut packet, agenda);
            }
        }
    }

    /// Reports what has happened up to now at links whose departures are computed.
    pub(crate) fn settle_computed(&mut self, now: Time) {
        for (place, link) in self.links.iter_mut().enumerate() {
            link.settle_computed(now, (&mut self.probe, place));
        }
    }
}
