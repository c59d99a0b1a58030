//! Arrivals at links and their services, immediate or deferred.

use std::{iter, mem};

use sojourn_aqm::Time;
use sojourn_measure::{LinkProbe, Probe};

use super::Path;
use super::agenda::{Agenda, Slots};
use super::link::{Feeder, ScheduledLink};
use super::onward::Onward;
use super::uplink::Uplink;
use crate::alarms::Slot;
use crate::packet::Packet;
use crate::ring::Ring;
use crate::sightings::Point;

impl Path {
    /// Handles an arrival at a link over a wire. Out of line, so that the main loop inlines the
    /// code for packets from an uplink.
    #[inline(never)]
    pub(super) fn arrive_over_wire<const NOTES: bool>(
        &mut self,
        now: Time,
        wire: usize,
        probe: &mut Probe,
    ) {
        let mut packet = *self.onward.wires[wire].0.pop(now, &mut self.agenda);
        self.arrive::<NOTES>(now, &mut packet, probe);
    }

    /// Handles a packet that reaches its first link without passing an uplink. At one instant,
    /// packets from access links arrive in the order of their flows.
    #[inline(never)]
    pub(super) fn arrive_from_access<const NOTES: bool>(
        &mut self,
        now: Time,
        flow: usize,
        probe: &mut Probe,
    ) {
        let mut packet = *self.accesses[flow].wire.pop(now, &mut self.agenda);
        let place = self.onward.hops[packet.hop as usize].link as usize;
        if let Feeder::Uplink(uplink) = self.links[place].feeder() {
            self.catch_up_at::<NOTES>(place, (now, now), probe);
            while let Some(mut before) = self.uplinks[uplink].take_of(now, packet.flow) {
                self.arrive::<NOTES>(now, &mut before, probe);
            }
        }
        self.arrive::<NOTES>(now, &mut packet, probe);
    }

    /// Handles the arrival of a packet at the next link of its route.
    #[inline(always)]
    pub(super) fn arrive<const NOTES: bool>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        probe: &mut Probe,
    ) {
        let place = self.onward.hops[packet.hop as usize].link as usize;
        if self.links[place].duplication.is_some() {
            return self.arrive_with_copy::<NOTES>(now, packet, probe);
        }
        if NOTES {
            self.onward.sightings.note(now, Point::Arrived(place), packet);
        }
        let Path { links, uplinks, agenda, onward, .. } = self;
        let mut probe = probe.at_link::<NOTES>(now, place);
        let link = &mut links[place];
        if link.next_service() <= now || next_arrival(link, uplinks, onward) < now {
            catch_up((link, uplinks), (now, now), agenda, &mut probe, onward);
        }
        link.arrive(now, packet, agenda, &mut probe, |left, packet, agenda| {
            onward.forward::<NOTES>(left, packet, agenda);
        });
    }

    /// [`Path::arrive`] at a link that copies packets. It copies nothing while the packet and its
    /// copy arrive (Linux 6.1 `sch_netem.c`, `netem_enqueue`).
    #[cold]
    #[inline(never)]
    fn arrive_with_copy<const NOTES: bool>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        probe: &mut Probe,
    ) {
        let place = self.onward.hops[packet.hop as usize].link as usize;
        let mut duplication = self.links[place].duplication.take();
        let copies = duplication.as_mut().is_some_and(|it| it.copies());
        if copies && packet.kind.is_datagram() {
            probe.notes.losses.copy(packet.kind, packet.flow, packet.seq);
        }
        let mut copy = copies.then(|| packet.copied());
        for each in iter::once(packet).chain(&mut copy) {
            self.arrive::<NOTES>(now, each, probe);
        }
        self.links[place].duplication = duplication;
    }

    /// Handles the alarm of a server.
    #[inline]
    pub(super) fn on_server<const NOTES: bool>(
        &mut self,
        now: Time,
        place: usize,
        probe: &mut Probe,
    ) {
        let Path { links, uplinks, agenda, onward, .. } = self;
        let link = &mut links[place];
        let mut probe = probe.at_link::<NOTES>(now, place);
        if NOTES && !link.may_defer() {
            link.on_service(now, agenda, &mut probe, |left, packet, agenda| {
                onward.forward::<NOTES>(left, packet, agenda);
            });
        } else {
            catch_up((link, uplinks), (now, now), agenda, &mut probe, onward);
        }
        let next_arrival = next_arrival(link, uplinks, onward);
        link.end_service(now, next_arrival, agenda);
    }

    /// Handles the alarm of a wireless LAN or of a queue timer.
    #[inline(never)]
    pub(super) fn on_rare<const NOTES: bool>(&mut self, now: Time, slot: Slot, probe: &mut Probe) {
        let Slots { media, timers, .. } = *self.agenda.slots();
        match slot < timers {
            true => self.on_medium::<NOTES>(now, slot - media, probe),
            false => self.catch_up_at::<NOTES>(slot - timers, (now, now), probe),
        }
    }

    /// Brings a link up to now, including the arrivals from its feeder before `limit`.
    pub(super) fn catch_up_at<const NOTES: bool>(
        &mut self,
        place: usize,
        (now, limit): (Time, Time),
        probe: &mut Probe,
    ) {
        let Path { links, uplinks, agenda, onward, .. } = self;
        let mut probe = probe.at_link::<NOTES>(now, place);
        catch_up((&mut links[place], uplinks), (now, limit), agenda, &mut probe, onward);
    }
}

/// When the next packet arrives from the feeder of a link; `NEVER` without one.
#[inline(always)]
fn next_arrival(link: &ScheduledLink, uplinks: &[Uplink], onward: &Onward) -> Time {
    match link.feeder() {
        Feeder::None => Time::NEVER,
        Feeder::Uplink(uplink) => uplinks[uplink].next_arrival(),
        Feeder::Wire(wire) => onward.wires[wire].0.next_arrival(),
    }
}

/// Handles everything due at a link by now, each event at its own time. At one instant the order
/// is: its server sends, its discipline's timer expires, packets arrive from its feeder (only those
/// before `limit`). The probe's time is now, before and after the call.
#[inline]
fn catch_up<const NOTES: bool>(
    (link, uplinks): (&mut ScheduledLink, &mut [Uplink]),
    times: (Time, Time),
    agenda: &mut Agenda,
    probe: &mut LinkProbe<'_, NOTES>,
    onward: &mut Onward,
) {
    match link.feeder() {
        Feeder::None => catch_up_from(link, None, times, agenda, probe, onward),
        Feeder::Uplink(uplink) => {
            let arrivals = Some(&mut uplinks[uplink].in_flight);
            catch_up_from(link, arrivals, times, agenda, probe, onward);
        }
        Feeder::Wire(wire) => {
            // The link never sends on this wire.
            let mut arrivals = mem::take(&mut onward.wires[wire].0.in_flight);
            catch_up_from(link, Some(&mut arrivals), times, agenda, probe, onward);
            onward.wires[wire].0.in_flight = arrivals;
        }
    }
}

/// Out of line, so that handling a single arrival need not spill registers.
#[inline(never)]
fn catch_up_from<const NOTES: bool>(
    link: &mut ScheduledLink,
    mut arrivals: Option<&mut Ring<(Time, Packet)>>,
    (now, limit): (Time, Time),
    agenda: &mut Agenda,
    probe: &mut LinkProbe<'_, NOTES>,
    onward: &mut Onward,
) {
    let first = arrivals.as_ref().and_then(|arrivals| arrivals.front());
    let mut arrival = first.map_or(Time::NEVER, |&(at, _)| at);
    loop {
        let (due, timer) = (link.next_service(), link.next_timer());
        let next = due.min(timer);
        if arrival < next.min(limit)
            && let Some(arrivals) = &mut arrivals
            && let Some(((at, packet), next)) = arrivals.pop_front_before(|&(at, _)| at)
        {
            arrival = next.unwrap_or(Time::NEVER);
            probe.set_time(*at);
            link.arrive(*at, packet, agenda, probe, |left, packet, agenda| {
                onward.forward::<NOTES>(left, packet, agenda);
            });
            continue;
        }
        if next > now {
            break;
        }
        probe.set_time(next);
        if due <= timer {
            link.on_service(due, agenda, probe, |left, packet, agenda| {
                onward.forward::<NOTES>(left, packet, agenda);
            });
        } else {
            link.on_timer(timer, agenda, probe);
        }
    }
    probe.set_time(now);
}
