//! Chooses how the services of each link are scheduled, and from which feeder it pulls arrivals.
//!
//! A link pulls arrivals from its only uplink or, if no uplink leads to it, from its only wire.
//! These arrivals need no events; all others do. At one instant, wires come before uplinks, so a
//! link that pulls from an uplink may also have wires, but a link that pulls from a wire may not
//! have uplinks.
//!
//! Before wires could be feeders, departures were computed on arrival. That saved 10 to 14 % of the
//! instructions of R1 to R5 (`benches`) but required tail drop, one rate and one group. Wires as
//! feeders save 2.5 to 4.4 % under any AQM and rate, and cost nothing if data shares the return
//! path (U1 to U5).

use sojourn_aqm::Span;
use sojourn_scenario::resolved::Resolved;

use crate::path::{Agenda, End, Feeder, Hop, Route, Service, Slots, Uplink, Wire};

/// The longest deferral of a service: packets that arrive during the deferral take memory.
const MOST_SLACK: Span = Span::from_millis(20);

/// Whether anything records when each packet arrives and leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Timing {
    /// Every arrival and service has an event.
    Events,
    /// Services may be deferred if nothing else depends on them.
    Late,
}

/// The wires and uplinks that lead to and from the links.
pub(super) struct Topology<'a> {
    pub(super) routes: &'a [Route],
    pub(super) hops: &'a [Hop],
    pub(super) uplinks: &'a [Uplink],
    pub(super) wires: &'a [(Wire, End)],
    /// Per link: whether packets may overtake each other on the wire behind it.
    pub(super) reorders: &'a dyn Fn(usize) -> bool,
}

/// The service of every link.
pub(super) fn services(
    plan: &Resolved,
    timing: Timing,
    topology: &Topology<'_>,
    (slots, agenda): (&Slots, &Agenda),
) -> Vec<Service> {
    let least_delays = topology.least_delays(plan.links.len());
    let feeders = topology.feeders(plan.links.len());
    let service = |place: usize| match plan.links[place].capacity.wireless_lan() {
        Some(wlan) => {
            Service::Wireless { medium: agenda.alarm(slots.media + wlan), contends: false }
        }
        None if timing == Timing::Events => Service::Events,
        None => match least_delays[place].unwrap_or(Span::ZERO).min(MOST_SLACK) {
            Span::ZERO => Service::Events,
            slack => {
                // A feeder's arrivals need no events and are not copied.
                let copies = plan.links[place].duplicate.is_some();
                let feeder = if copies { Feeder::None } else { feeders[place] };
                Service::Late { slack, feeder }
            }
        },
    };
    (0..plan.links.len()).map(service).collect()
}

/// How many components of one kind are connected to another component.
#[derive(Clone, Copy, Debug)]
enum Only {
    None,
    One(usize),
    Several,
}

impl Only {
    fn add(&mut self, place: usize) {
        *self = match *self {
            Only::None => Only::One(place),
            Only::One(known) if known == place => Only::One(place),
            Only::One(_) | Only::Several => Only::Several,
        };
    }
}

impl Topology<'_> {
    /// Per link: the smallest delay of the wires on which it sends.
    fn least_delays(&self, links: usize) -> Vec<Option<Span>> {
        let mut least = vec![None; links];
        for hop in self.hops {
            let delay = self.wires[hop.wire as usize].0.delay();
            let of_link: &mut Option<Span> = &mut least[hop.link as usize];
            *of_link = Some(of_link.map_or(delay, |known| known.min(delay)));
        }
        least
    }

    /// Per link: its only feeder, if it has exactly one. Packets leave a feeder in the order in
    /// which they entered.
    fn feeders(&self, links: usize) -> Vec<Feeder> {
        let [mut uplinks_to, mut wires_to] = [vec![Only::None; links], vec![Only::None; links]];
        let mut links_behind = vec![Only::None; self.wires.len()];
        for (place, uplink) in self.uplinks.iter().enumerate() {
            uplinks_to[uplink.link].add(place);
        }
        for (wire, link) in self.wires_to_links() {
            wires_to[link].add(wire);
            links_behind[wire].add(link);
        }
        let mut keeps_order = vec![true; self.wires.len()];
        for hop in self.hops.iter().filter(|hop| (self.reorders)(hop.link as usize)) {
            keeps_order[hop.wire as usize] = false;
        }
        let can_feed =
            |wire: usize| keeps_order[wire] && matches!(links_behind[wire], Only::One(_));
        let feeder = |(uplink, wire): (&Only, &Only)| match (*uplink, *wire) {
            (Only::One(uplink), _) => Feeder::Uplink(uplink),
            (Only::None, Only::One(wire)) if can_feed(wire) => Feeder::Wire(wire),
            _ => Feeder::None,
        };
        uplinks_to.iter().zip(&wires_to).map(feeder).collect()
    }

    /// Wires that lead to links, each with its link, once per route that uses the wire.
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
