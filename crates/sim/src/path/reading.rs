//! What is read of a path, and done to it, between events: after [`Path::settle`] where a link may
//! be late.

use sojourn_aqm::{Cause, Qdisc, Sink, Stage, Time};
use sojourn_link::Impairment;
use sojourn_measure::{DatagramLosses, LinkTotals, Probe};

use super::Path;
use super::link::ScheduledLink;
use crate::packet::Packet;
use crate::sightings::Sightings;

impl Path {
    /// The links.
    pub(crate) fn links(&self) -> &[ScheduledLink] {
        &self.links
    }

    /// The totals of each link at `at`, up to which everything has happened.
    pub(crate) fn totals(&self, at: Time, probe: &Probe) -> Vec<LinkTotals> {
        let links = self.links.iter().zip(&probe.links);
        links.map(|(link, stats)| stats.totals(at, link.reserve(at))).collect()
    }

    /// The warm-up is over: wires count their losses from here on.
    pub(crate) fn end_warmup(&mut self) {
        self.onward.impairments.iter_mut().flatten().for_each(Impairment::end_warmup);
    }

    /// What the wire behind each link has lost, if it loses any.
    pub(crate) fn wire_losses(&self) -> Vec<Option<(u64, u64)>> {
        let impairments = self.onward.impairments.iter();
        impairments.map(|wire| wire.as_ref().map(Impairment::counted)).collect()
    }

    /// Datagrams that wires have lost.
    pub(crate) fn datagram_losses(&self) -> &DatagramLosses {
        &self.onward.losses
    }

    /// Those of a flow count from this one on.
    pub(crate) fn count_datagrams_from(&mut self, flow: usize, first: u32) {
        self.onward.losses.count_from(flow, first);
    }

    /// Packets at every place, if they are captured.
    pub(crate) fn sightings(&mut self) -> &mut Sightings {
        &mut self.onward.sightings
    }

    /// Puts another discipline in the place of a link's.
    pub(crate) fn replace_discipline(
        &mut self,
        now: Time,
        link: usize,
        discipline: Box<dyn Qdisc<Packet>>,
        probe: &mut Probe,
    ) {
        let mut probe = probe.at_link::<true>(now, link);
        self.links[link].replace_discipline(now, discipline, &mut self.agenda, &mut probe);
    }

    /// Puts a link in the place of one from which nothing has happened yet.
    #[cfg(test)]
    pub(crate) fn replace_link(&mut self, place: usize, link: sojourn_link::Link<Packet>) {
        let timers = self.agenda.slots().timers;
        let [service, timer] = [place, timers + place].map(|slot| self.agenda.alarm(slot));
        let alarms = super::LinkAlarms { service, timer };
        let service = super::Service::Events;
        self.links[place] = ScheduledLink::new(link, 0, alarms, service, &mut self.agenda);
    }

    /// Counts what still waits at the end, so that every packet has a fate.
    pub(crate) fn empty_queues<const NOTES: bool>(&mut self, end: Time, probe: &mut Probe) {
        for (queue, link) in self.links.iter_mut().enumerate() {
            empty_queue::<NOTES>(link, queue, end, probe);
        }
    }
}

/// Records what still waits in one queue at the end.
pub(crate) fn empty_queue<const NOTES: bool>(
    link: &mut ScheduledLink,
    queue: usize,
    end: Time,
    probe: &mut Probe,
) {
    let counters = probe.links[queue].total;
    let waiting = u64::from(link.backlog().packets);
    let dropped: u64 = counters.dropped.iter().sum();
    // Eviction and drops at the head included, every packet left exactly once.
    assert_eq!(counters.arrived, counters.sent + dropped + waiting, "a packet was lost");
    let mut drops = Drops(Vec::new());
    let mut departures = Vec::new();
    link.drain(end, &mut drops, |packet, enqueued| departures.push((packet, enqueued)));
    let mut probe = probe.at_link::<NOTES>(end, queue);
    for (packet, enqueued) in drops.0.iter().chain(&departures) {
        probe.waiting(packet, *enqueued);
    }
}

/// What a law drops while its queue is emptied at the end of the run, which counts as waiting too.
struct Drops(Vec<(Packet, Time)>);

impl Sink<Packet> for Drops {
    fn dropped(&mut self, packet: Packet, enqueued: Time, _stage: Stage, _cause: Cause) {
        self.0.push((packet, enqueued));
    }

    fn marked(&mut self, _packet: &mut Packet, _enqueued: Time, _stage: Stage, _cause: Cause) {}
}
