//! Chooses how the services of each link are scheduled, and from which feeder it pulls arrivals.
//!
//! A link pulls arrivals from its only uplink or, if no uplink leads to it, from its only wire;
//! these need no events. All other arrivals have events. At one instant wires come before uplinks,
//! so a link that pulls from an uplink may have wires too, but not the reverse.
//!
//! Wires as feeders replaced departures computed on arrival, which saved 10 to 14 % of the
//! instructions of R1 to R5 (`benches`) but needed tail drop, one rate and one group. They save
//! 2.5 to 4.4 %, under any AQM and rate, and cost nothing where data share the way back (U1 to
//! U5).

use std::collections::BTreeSet;

use sojourn_aqm::Span;
use sojourn_scenario::resolved::Resolved;

use crate::path::{Agenda, End, Feeder, Hop, Route, Service, Slots, Uplink, Wire};

/// The longest that a service is deferred: packets that arrive in the meantime take memory.
const MOST_SLACK: Span = Span::from_millis(20);

/// Whether something records when each packet arrives and leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Timing {
    /// Every arrival and service has an event.
    Events,
    /// Services on which nothing else depends may be deferred.
    Late,
}

/// The wires and uplinks that lead to the links and away from them.
pub(super) struct Topology<'a> {
    pub(super) routes: &'a [Route],
    pub(super) hops: &'a [Hop],
    pub(super) uplinks: &'a [Uplink],
    pub(super) wires: &'a [(Wire, End)],
}

/// The service of every link.
pub(super) fn services(
    plan: &Resolved,
    timing: Timing,
    topology: &Topology<'_>,
    (slots, agenda): (&Slots, &Agenda),
) -> Vec<Service> {
    let service = |place: usize| match plan.links[place].capacity.wireless_lan() {
        Some(wlan) => {
            Service::Wireless { medium: agenda.alarm(slots.media + wlan), contends: false }
        }
        None if timing == Timing::Events => Service::Events,
        None => match topology.least_delay_behind(place).min(MOST_SLACK) {
            Span::ZERO => Service::Events,
            slack => Service::Late { slack, feeder: topology.feeder_of(place) },
        },
    };
    (0..plan.links.len()).map(service).collect()
}

impl Topology<'_> {
    /// The least delay of the wires on which a link sends.
    fn least_delay_behind(&self, link: usize) -> Span {
        let behind = self.hops.iter().filter(|hop| hop.link as usize == link);
        let delays = behind.map(|hop| self.wires[hop.wire as usize].0.delay());
        delays.min().unwrap_or(Span::ZERO)
    }

    /// The one feeder of a link, if it has one.
    fn feeder_of(&self, link: usize) -> Feeder {
        let uplinks = self.uplinks.iter().enumerate().filter(|(_, uplink)| uplink.link == link);
        let uplinks: Vec<usize> = uplinks.map(|(place, _)| place).collect();
        match (&uplinks[..], self.only_wire_to(link)) {
            (&[uplink], _) => Feeder::Uplink(uplink),
            (&[], Some(wire)) => Feeder::Wire(wire),
            _ => Feeder::None,
        }
    }

    /// The only wire to a link, if it leads to no other.
    fn only_wire_to(&self, link: usize) -> Option<usize> {
        let to_link = |&(_, to): &(usize, usize)| to == link;
        let wires: BTreeSet<usize> =
            self.wires_to_links().filter(to_link).map(|(wire, _)| wire).collect();
        let only = *wires.first().filter(|_| wires.len() == 1)?;
        self.wires_to_links().all(|(wire, to)| wire != only || to == link).then_some(only)
    }

    /// Wires that lead to links, each with the link, as often as a route takes it.
    fn wires_to_links(&self) -> impl Iterator<Item = (usize, usize)> {
        let link_at = |hop: usize| self.hops[hop].link as usize;
        let leads_on = |wire: usize| self.wires[wire].1 == End::Link;
        let back = self.routes.iter().filter(move |route| leads_on(route.back));
        let back = back.map(move |route| (route.back, link_at(route.backward as usize)));
        let onward = self.hops.iter().enumerate().map(|(place, hop)| (place, hop.wire as usize));
        let onward = onward.filter(move |&(_, wire)| leads_on(wire));
        back.chain(onward.map(move |(place, wire)| (wire, link_at(place + 1))))
    }
}
