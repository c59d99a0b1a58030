//! What senders have sent, from their access links to the first queue.

use sojourn_aqm::Time;

use crate::agenda::Agenda;
use crate::link::LateServer;
use crate::packet::Packet;
use crate::ring::Ring;

/// Packets of all flows that are as far before the same link, in the order in which they reach it;
/// those of one instant in the order of their flows. A packet that would overtake others stays on a
/// wire of its access link.
#[derive(Debug)]
pub(crate) struct Uplink {
    /// Its number, as the agenda counts them.
    place: usize,
    /// The link to which it leads.
    pub(crate) link: usize,
    /// The server of that link, if it takes packets by itself; else an alarm says when the next one
    /// arrives.
    feeds: Option<LateServer>,
    under_way: Ring<(Time, Packet)>,
    /// When the next packet arrives; never, if there is none.
    next_arrival: Time,
    /// When the last packet that has entered arrives, and its flow.
    last: (Time, u32),
}

impl Uplink {
    /// An empty uplink to a link.
    pub(crate) fn new(place: usize, link: usize) -> Uplink {
        let under_way = Ring::default();
        let (next_arrival, last) = (Time::NEVER, (Time::ZERO, 0));
        Uplink { place, link, feeds: None, under_way, next_arrival, last }
    }

    /// The same, from which a link takes packets by itself.
    pub(crate) fn feeding(&mut self, server: Option<LateServer>) {
        self.feeds = server;
    }

    /// Whether a packet that arrives then overtakes no other.
    #[inline(always)]
    pub(crate) fn can_take(&self, arrival: Time, flow: u32) -> bool {
        (arrival, flow) >= self.last
    }

    /// A packet enters that overtakes no other. Returns whether it follows another, as most do,
    /// which takes no call; else the caller calls [`Uplink::push_any`].
    #[inline(always)]
    pub(crate) fn push_behind(&mut self, arrival: Time, packet: &Packet) -> bool {
        self.last = (arrival, packet.flow);
        self.under_way.push_behind((arrival, *packet))
    }

    /// A packet enters that overtakes no other. Returns whether it is the next to arrive.
    pub(crate) fn push_any(&mut self, arrival: Time, packet: &Packet) -> bool {
        let is_next = self.under_way.is_empty();
        self.under_way.push_back_made(|| (arrival, *packet));
        if is_next {
            self.next_arrival = arrival;
        }
        is_next
    }

    /// Sets the alarm for the next packet, which is of this flow.
    pub(crate) fn set_alarm(&self, arrival: Time, flow: u32, agenda: &mut Agenda) {
        match self.feeds {
            Some(server) => server.expect(arrival, agenda),
            None => agenda.set(agenda.of_uplink(self.place, flow as usize), arrival),
        }
    }

    /// When the next packet arrives; never, if there is none.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Time {
        self.next_arrival
    }

    /// Takes the next packet, which is there. It stays where it is until another enters.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> &mut Packet {
        self.take_before_next().0
    }

    /// The same, with the next one then.
    #[inline(always)]
    fn take_before_next(&mut self) -> (&mut Packet, (Time, u32)) {
        let Uplink { under_way, next_arrival, .. } = self;
        let taken = under_way.pop_front_before(|&(arrival, Packet { flow, .. })| (arrival, flow));
        let ((_, packet), next) = taken.expect("one that arrives is there");
        let next = next.unwrap_or((Time::NEVER, 0));
        *next_arrival = next.0;
        (packet, next)
    }

    /// Takes the next packet if it arrives now and is not of a later flow than this.
    pub(crate) fn take_of(&mut self, now: Time, flow: u32) -> Option<Packet> {
        let &(arrival, packet) = self.under_way.front()?;
        (arrival == now && packet.flow <= flow).then(|| *self.take())
    }

    /// Takes the packet whose alarm is due and sets that for the next.
    #[inline(always)]
    pub(crate) fn pop(&mut self, agenda: &mut Agenda) -> &mut Packet {
        let place = self.place;
        let (packet, (arrival, flow)) = self.take_before_next();
        agenda.set_due(agenda.of_uplink(place, flow as usize), arrival);
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agenda::Slots;
    use crate::packet::PacketKind;

    #[test]
    fn what_would_overtake_others_does_not_enter() {
        let slots = Slots {
            media: 0,
            timers: 0,
            wires: 0,
            accesses: 0,
            flows: 9,
            sampler: 18,
            binner: 19,
            uplinks: 1,
        };
        let (mut agenda, mut uplink) = (Agenda::new(&slots), Uplink::new(0, 0));
        let packet = |flow| Packet::new(PacketKind::Data, flow, 0, 0, 1_000, Time::ZERO);
        let pushed = [(5, 3), (4, 8), (5, 2), (5, 3), (5, 4), (6, 0)];
        let entered = pushed.map(|(ns, flow)| {
            let (arrival, packet) = (Time::from_nanos(ns), packet(flow));
            let enters = uplink.can_take(arrival, flow);
            if enters && !uplink.push_behind(arrival, &packet) && uplink.push_any(arrival, &packet)
            {
                uplink.set_alarm(arrival, flow, &mut agenda);
            }
            enters
        });
        assert_eq!(entered, [true, false, false, true, true, true]);
        for (ns, flow) in [(5, 3), (5, 3), (5, 4), (6, 0)] {
            assert_eq!(agenda.next(), (Time::from_nanos(ns), flow as usize));
            assert_eq!(uplink.pop(&mut agenda).flow, flow);
        }
        assert_eq!(agenda.next().0, crate::agenda::horizon(slots.count()), "none is left");
    }
}
