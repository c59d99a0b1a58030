//! What lies between the ends of flows.

mod onward;

use sojourn_aqm::{Span, Time};
use sojourn_measure::{LinkProbe, Probe};

pub(crate) use self::onward::Onward;
use crate::agenda::Agenda;
use crate::link::ScheduledLink;
use crate::packet::Packet;
use crate::uplink::Uplink;

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
    /// What lies between its senders and the first link.
    pub(crate) uplink: Uplink,
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
        let link = &mut links[link];
        if link.overdue(now).is_some() {
            serve_overdue(link, now, agenda, &mut probe, onward);
        }
        link.arrive(now, packet, agenda, &mut probe, |left, packet, agenda| {
            onward.forward(left, packet, agenda);
        });
    }

    /// The alarm of a server is due.
    #[inline]
    pub(crate) fn on_server<const NOTES: bool>(&mut self, now: Time, link: usize) {
        let Network { links, agenda, probe, onward, .. } = self;
        let mut probe = probe.at_link::<NOTES>(now, link);
        serve_overdue(&mut links[link], now, agenda, &mut probe, onward);
        links[link].end_service(now, agenda);
    }

    /// The timer of a discipline is due.
    pub(crate) fn on_timer<const NOTES: bool>(&mut self, now: Time, link: usize) {
        let Network { links, agenda, probe, onward, .. } = self;
        let mut probe = probe.at_link::<NOTES>(now, link);
        serve_overdue(&mut links[link], now, agenda, &mut probe, onward);
        links[link].on_timer(now, agenda, &mut probe);
    }

    /// From now on services may come late where that changes nothing.
    pub(crate) fn serve_late(&mut self) {
        let mut least_delays = vec![None; self.links.len()];
        for leg in &self.onward.legs {
            let delay = self.onward.wires[leg.wire as usize].0.delay();
            let least: &mut Option<Span> = &mut least_delays[leg.link as usize];
            *least = Some(least.map_or(delay, |least| least.min(delay)));
        }
        for (link, least_delay) in self.links.iter_mut().zip(least_delays) {
            link.serve_late(least_delay.unwrap_or(Span::ZERO));
        }
    }

    /// A receiver of a group sends a packet towards the sender.
    #[inline(always)]
    pub(crate) fn send_back(&mut self, now: Time, group: &Group, mut packet: Packet) {
        let wire = &mut self.onward.wires[group.back].0;
        let Some(link) = group.computed else {
            return wire.push(now, &packet, &mut self.agenda);
        };
        let arrival = wire.enter(now, packet.ip_bytes);
        if arrival >= self.computed_until {
            wire.keep(arrival, packet);
        } else if let Some(left) =
            self.links[link].pass(arrival, &mut packet, (&mut self.probe, link))
        {
            self.onward.forward(left, &mut packet, &mut self.agenda);
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

    /// Brings every link to where it is when everything up to now has happened.
    pub(crate) fn settle(&mut self, now: Time) {
        let Network { links, agenda, probe, onward, .. } = self;
        for (place, link) in links.iter_mut().enumerate() {
            link.settle_computed(now, (probe, place));
            let mut probe = probe.at_link::<false>(now, place);
            serve_overdue(link, now, agenda, &mut probe, onward);
            link.settle(now, &mut probe);
        }
    }
}

/// The server of a link does what was due by now, each as of its time: packets go on the wire. The
/// time of the probe is now, before and after. Apart, so that an arrival alone saves nothing.
#[inline(never)]
fn serve_overdue<const NOTES: bool>(
    link: &mut ScheduledLink,
    now: Time,
    agenda: &mut Agenda,
    probe: &mut LinkProbe<'_, NOTES>,
    onward: &mut Onward,
) {
    while let Some(due) = link.overdue(now) {
        probe.set_time(due);
        link.on_service(due, agenda, probe, |left, packet, agenda| {
            onward.forward(left, packet, agenda);
        });
    }
    probe.set_time(now);
}
