//! What the senders of a group have sent, from their access links to the first queue.

use sojourn_aqm::Time;

use crate::agenda::Agenda;
use crate::packet::Packet;
use crate::ring::Ring;

/// Packets of all flows of a group in the order in which they reach the first queue; those of one
/// instant in the order of their flows. A packet that would overtake others stays on a wire of its
/// access link.
#[derive(Debug)]
pub(crate) struct Uplink {
    /// Its number, as the agenda counts them.
    place: usize,
    /// The link to which it leads.
    pub(crate) link: usize,
    /// Whether that link takes packets when it looks for them; else an alarm says when the next
    /// one arrives.
    pub(crate) is_pulled: bool,
    under_way: Ring<(Time, Packet)>,
    /// The last packet that has entered.
    last: Arrival,
}

/// When a packet arrives, and its flow: the order of arrivals over uplinks.
pub(crate) type Arrival = (Time, u32);

impl Uplink {
    /// An empty uplink to a link.
    pub(crate) fn new(place: usize, link: usize) -> Uplink {
        let under_way = Ring::default();
        Uplink { place, link, is_pulled: false, under_way, last: (Time::ZERO, 0) }
    }

    /// Whether a packet that arrives then overtakes no other.
    #[inline(always)]
    pub(crate) fn can_take(&self, arrival: Arrival) -> bool {
        arrival >= self.last
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
        is_next
    }

    /// Sets the alarm for the next packet, which is of this flow.
    pub(crate) fn set_alarm(&self, (arrival, flow): Arrival, agenda: &mut Agenda) {
        agenda.set(agenda.of_uplink(self.place, flow as usize), arrival);
    }

    /// When the next packet arrives; never, if there is none.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Time {
        self.under_way.front().map_or(Time::NEVER, |&(arrival, _)| arrival)
    }

    /// Takes the next packet if it arrives before `limit`, with the time at which it does. It
    /// stays where it is until another enters.
    #[inline]
    pub(crate) fn take_before(&mut self, limit: Arrival) -> Option<&mut (Time, Packet)> {
        let (arrival, packet) = self.under_way.front()?;
        if (*arrival, packet.flow) < limit { self.under_way.pop_front() } else { None }
    }

    /// Takes the packet that arrives now and sets the alarm for the next.
    #[inline(always)]
    pub(crate) fn pop(&mut self, now: Time, agenda: &mut Agenda) -> &mut Packet {
        let next = |(arrival, packet): &(Time, Packet)| (*arrival, packet.flow as usize);
        let taken = self.under_way.pop_front_before(next);
        let ((arrival, packet), next) = taken.expect("the alarm is set for a packet");
        debug_assert_eq!(*arrival, now, "a packet arrives at the time it announced");
        let (next, flow) = next.unwrap_or((Time::NEVER, 0));
        agenda.set_due(agenda.of_uplink(self.place, flow), next);
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
            let enters = uplink.can_take((arrival, flow));
            if enters && !uplink.push_behind(arrival, &packet) && uplink.push_any(arrival, &packet)
            {
                uplink.set_alarm((arrival, flow), &mut agenda);
            }
            enters
        });
        assert_eq!(entered, [true, false, false, true, true, true]);
        for (ns, flow) in [(5, 3), (5, 3), (5, 4), (6, 0)] {
            assert_eq!(agenda.next(), (Time::from_nanos(ns), flow as usize));
            assert_eq!(uplink.pop(Time::from_nanos(ns), &mut agenda).flow, flow);
        }
        assert_eq!(agenda.next().0, crate::agenda::horizon(slots.count()), "none is left");
    }
}
