//! Reads and changes a path between events. Where a link may defer work, call [`Path::settle`]
//! first.

use sojourn_aqm::{Cause, Qdisc, Sink, Stage, Time};
use sojourn_link::Impairment;
use sojourn_measure::{DatagramLosses, LinkTotals, Probe};

use super::Path;
use super::link::ScheduledLink;
use crate::packet::{Packet, PacketKind};
use crate::sightings::Sightings;

impl Path {
    /// The links.
    pub(crate) fn links(&self) -> &[ScheduledLink] {
        &self.links
    }

    /// The totals of each link at `at`, once all events up to `at` have been handled.
    pub(crate) fn totals(&self, at: Time, probe: &Probe) -> Vec<LinkTotals> {
        let links = self.links.iter().zip(&probe.links);
        links.map(|(link, stats)| stats.totals(at, link.reserve(at))).collect()
    }

    /// Ends the warm-up: wires count their losses from now on.
    pub(crate) fn end_warmup(&mut self) {
        self.onward.impairments.iter_mut().flatten().for_each(Impairment::end_warmup);
    }

    /// The losses of the wire behind each link that has any impairment.
    pub(crate) fn wire_losses(&self) -> Vec<Option<(u64, u64)>> {
        let impairments = self.onward.impairments.iter();
        impairments.map(|wire| wire.as_ref().map(Impairment::counted)).collect()
    }

    /// Datagrams that wires have lost.
    pub(crate) fn datagram_losses(&self) -> &DatagramLosses {
        &self.onward.losses
    }

    /// The packets of a flow lost on wires since the last call, if the losses of the flow are
    /// noted.
    pub(crate) fn noted_losses(
        &mut self,
        flow: u32,
    ) -> impl Iterator<Item = (PacketKind, u32)> + use<'_> {
        self.onward.losses.take_noted(flow)
    }

    /// Starts noting the losses of a flow.
    pub(crate) fn note_losses(&mut self, flow: u32) {
        self.onward.losses.note(flow);
    }

    /// Starts counting the datagrams of a flow from `first` on.
    pub(crate) fn count_datagrams_from(&mut self, flow: usize, first: u32) {
        self.onward.losses.count_from(flow, first);
    }

    /// Packets seen at every capture point, if capturing.
    pub(crate) fn sightings(&mut self) -> &mut Sightings {
        &mut self.onward.sightings
    }

    /// Replaces the discipline of a link.
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

    /// Replaces a link that has not been used yet.
    #[cfg(test)]
    pub(crate) fn replace_link(&mut self, place: usize, link: sojourn_link::Link<Packet>) {
        let timers = self.agenda.slots().timers;
        let [service, timer] = [place, timers + place].map(|slot| self.agenda.alarm(slot));
        let alarms = super::LinkAlarms { service, timer };
        let service = super::Service::Events;
        self.links[place] = ScheduledLink::new(link, (0, None), alarms, service, &mut self.agenda);
    }

    /// Counts the packets still queued at the end, so that every packet is accounted for.
    pub(crate) fn empty_queues<const NOTES: bool>(&mut self, end: Time, probe: &mut Probe) {
        for (queue, link) in self.links.iter_mut().enumerate() {
            empty_queue::<NOTES>(link, queue, end, probe);
        }
    }
}

/// Records the packets still in one queue at the end.
pub(crate) fn empty_queue<const NOTES: bool>(
    link: &mut ScheduledLink,
    queue: usize,
    end: Time,
    probe: &mut Probe,
) {
    let counters = probe.links[queue].total;
    let waiting = u64::from(link.backlog().packets);
    let dropped: u64 = counters.dropped.iter().sum();
    // Every packet left exactly once; eviction and head drop count as leaving.
    assert_eq!(counters.arrived, counters.sent + dropped + waiting, "a packet was lost");
    let mut drops = Drops(Vec::new());
    let mut departures = Vec::new();
    link.drain(end, &mut drops, |packet, enqueued| departures.push((packet, enqueued)));
    let mut probe = probe.at_link::<NOTES>(end, queue);
    for (packet, enqueued) in drops.0.iter().chain(&departures) {
        probe.waiting(packet, *enqueued);
    }
}

/// Packets dropped by a law while its queue is emptied at the end of the run; they also count as
/// waiting packets.
struct Drops(Vec<(Packet, Time)>);

impl Sink<Packet> for Drops {
    fn dropped(&mut self, packet: Packet, enqueued: Time, _stage: Stage, _cause: Cause) {
        self.0.push((packet, enqueued));
    }

    fn marked(&mut self, _packet: &mut Packet, _enqueued: Time, _stage: Stage, _cause: Cause) {}
}
