//! What lies between the ends of flows.

mod onward;

use sojourn_aqm::{Span, Time};
use sojourn_measure::{LinkProbe, Probe};

pub(crate) use self::onward::Onward;
use crate::agenda::Agenda;
use crate::link::{Feeder, ScheduledLink};
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
    /// What lies between its senders and the first link, by place.
    pub(crate) uplink: usize,
    /// The wire that receivers answer into.
    pub(crate) back: usize,
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
    /// What lies between senders and links.
    pub(crate) uplinks: Vec<Uplink>,
    /// What lies behind the links.
    pub(crate) onward: Onward,
    /// The probe.
    pub(crate) probe: Probe,
}

/// The link whose arrivals are recorded, if one is, and the arrivals so far.
pub(crate) type RecordedLink = Option<(usize, Vec<(Time, Packet)>)>;

impl Network {
    /// A packet enters an uplink, if it overtakes none there: returns whether it does.
    #[inline(always)]
    pub(crate) fn send_up(&mut self, uplink: usize, arrival: Time, packet: &Packet) -> bool {
        let line = &mut self.uplinks[uplink];
        let can_take = line.can_take(arrival, packet.flow);
        if can_take && !line.push_behind(arrival, packet) {
            self.send_up_any(uplink, arrival, packet);
        }
        can_take
    }

    /// Apart, as a call in between makes the caller save its registers.
    #[inline(never)]
    fn send_up_any(&mut self, uplink: usize, arrival: Time, packet: &Packet) {
        let line = &mut self.uplinks[uplink];
        if line.push_any(arrival, packet) {
            line.set_alarm(arrival, packet.flow, &mut self.agenda);
        }
    }

    /// The next packet of an uplink arrives.
    #[inline]
    pub(crate) fn on_uplink<const NOTES: bool>(
        &mut self,
        now: Time,
        uplink: usize,
        recorded: &mut RecordedLink,
    ) {
        let mut packet = *self.uplinks[uplink].pop(&mut self.agenda);
        self.arrive::<NOTES>(now, &mut packet, recorded);
    }

    /// A packet arrives at its first link that was not on an uplink. Of one instant, packets of
    /// access links come in the order of their flows.
    pub(crate) fn arrive_from_access<const NOTES: bool>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        recorded: &mut RecordedLink,
    ) {
        let place = self.onward.legs[packet.leg as usize].link as usize;
        if let Feeder::Uplink(uplink) = self.links[place].feeder() {
            self.catch_up_at::<NOTES>(place, (now, now));
            while let Some(mut before) = self.uplinks[uplink].take_of(now, packet.flow) {
                self.arrive::<NOTES>(now, &mut before, recorded);
            }
        }
        self.arrive::<NOTES>(now, packet, recorded);
    }

    /// A packet arrives at the next link of its route.
    #[inline(always)]
    pub(crate) fn arrive<const NOTES: bool>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        recorded: &mut RecordedLink,
    ) {
        let place = self.onward.legs[packet.leg as usize].link as usize;
        if NOTES
            && let Some((watched, arrivals)) = recorded
            && *watched == place
        {
            arrivals.push((now, *packet));
        }
        let Network { links, uplinks, agenda, probe, onward, .. } = self;
        let mut probe = probe.at_link::<NOTES>(now, place);
        let link = &mut links[place];
        if link.next_service() <= now || link.feeder() != Feeder::None {
            catch_up((link, uplinks), (now, now), agenda, &mut probe, onward);
        }
        link.arrive(now, packet, agenda, &mut probe, |left, packet, agenda| {
            onward.forward(left, packet, agenda);
        });
    }

    /// The alarm of a server is due.
    #[inline]
    pub(crate) fn on_server<const NOTES: bool>(&mut self, now: Time, place: usize) {
        let Network { links, uplinks, agenda, probe, onward, .. } = self;
        let link = &mut links[place];
        let mut probe = probe.at_link::<NOTES>(now, place);
        if NOTES {
            // Nothing is late then.
            link.on_service(now, agenda, &mut probe, |left, packet, agenda| {
                onward.forward(left, packet, agenda);
            });
        } else {
            catch_up((link, uplinks), (now, now), agenda, &mut probe, onward);
        }
        let next_arrival = match link.feeder() {
            Feeder::None => Time::NEVER,
            Feeder::Uplink(uplink) => uplinks[uplink].next_arrival(),
            Feeder::Wire(wire) => onward.wires[wire].0.next_arrival(),
        };
        link.end_service(now, next_arrival, agenda);
    }

    /// Brings a link to where it is now, after the arrivals from its feeder before `limit`.
    pub(crate) fn catch_up_at<const NOTES: bool>(
        &mut self,
        place: usize,
        (now, limit): (Time, Time),
    ) {
        let Network { links, uplinks, agenda, probe, onward, .. } = self;
        let mut probe = probe.at_link::<NOTES>(now, place);
        let link = &mut links[place];
        catch_up((link, uplinks), (now, limit), agenda, &mut probe, onward);
    }

    /// A receiver of a group sends a packet towards the sender.
    #[inline(always)]
    pub(crate) fn send_back(&mut self, now: Time, group: &Group, packet: &mut Packet) {
        self.onward.wires[group.back].0.push(now, packet, &mut self.agenda);
    }

    /// Brings every link to where it is when everything up to now has happened.
    pub(crate) fn settle(&mut self, now: Time) {
        let after = now + Span::from_nanos(1);
        for place in 0..self.links.len() {
            self.catch_up_at::<false>(place, (now, after));
            let link = &mut self.links[place];
            link.settle(now, &mut self.probe.at_link::<false>(now, place));
        }
    }
}

/// What was due at a link by now, each as of its time: its server sends, the timer of its
/// discipline expires, and packets arrive from its feeder, those before `limit`. Of one instant
/// that is their order. The time of the probe is now, before and after. Out of line, so that an
/// arrival alone saves no registers.
#[inline(never)]
fn catch_up<const NOTES: bool>(
    (link, uplinks): (&mut ScheduledLink, &mut [Uplink]),
    (now, limit): (Time, Time),
    agenda: &mut Agenda,
    probe: &mut LinkProbe<'_, NOTES>,
    onward: &mut Onward,
) {
    let feeder = link.feeder();
    loop {
        let (due, timer) = (link.next_service(), link.next_timer());
        let next = due.min(timer);
        let arrival = match feeder {
            Feeder::None => Time::NEVER,
            Feeder::Uplink(uplink) => uplinks[uplink].next_arrival(),
            Feeder::Wire(wire) => onward.wires[wire].0.next_arrival(),
        };
        if arrival < next.min(limit) {
            probe.set_time(arrival);
            let mut arrive = |onward: &mut Onward, packet: &mut Packet| {
                link.arrive(arrival, packet, agenda, probe, |left, packet, agenda| {
                    onward.forward(left, packet, agenda);
                });
            };
            match feeder {
                Feeder::None => unreachable!("without a feeder nothing arrives"),
                Feeder::Uplink(uplink) => arrive(onward, uplinks[uplink].take()),
                Feeder::Wire(wire) => {
                    let mut packet = *onward.wires[wire].0.take();
                    arrive(onward, &mut packet);
                }
            }
            continue;
        }
        if next > now {
            break;
        }
        probe.set_time(next);
        if due <= timer {
            link.on_service(due, agenda, probe, |left, packet, agenda| {
                onward.forward(left, packet, agenda);
            });
        } else {
            link.on_timer(timer, agenda, probe);
        }
    }
    probe.set_time(now);
}
