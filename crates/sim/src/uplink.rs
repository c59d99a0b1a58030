//! What the senders of a group have sent, from their access links to the first queue.

use sojourn_aqm::Time;

use crate::agenda::Agenda;
use crate::packet::Packet;
use crate::ring::Ring;

/// Packets of all flows of a group in the order in which they reach the first queue; those of one
/// instant in the order of their flows. Only the next one needs an alarm. A packet that would
/// overtake others stays on a wire of its access link.
#[derive(Clone, Debug)]
pub(crate) struct Uplink {
    /// Its number, as the agenda counts them.
    place: usize,
    under_way: Ring<(Time, Packet)>,
    /// When the last packet that has entered arrives, and its flow.
    last: (Time, u32),
}

impl Uplink {
    /// An empty uplink.
    pub(crate) fn new(place: usize) -> Uplink {
        Uplink { place, under_way: Ring::default(), last: (Time::ZERO, 0) }
    }

    /// A packet enters that arrives at `arrival`, if it is the last then. Returns whether it is.
    #[inline(always)]
    pub(crate) fn push_last(
        &mut self,
        arrival: Time,
        packet: &Packet,
        agenda: &mut Agenda,
    ) -> bool {
        if (arrival, packet.flow) < self.last {
            return false;
        }
        self.last = (arrival, packet.flow);
        if !self.under_way.push_behind((arrival, *packet)) {
            self.push_any(arrival, packet, agenda);
        }
        true
    }

    /// Apart, as a call in between makes the caller save its registers.
    #[inline(never)]
    fn push_any(&mut self, arrival: Time, packet: &Packet, agenda: &mut Agenda) {
        let is_next = self.under_way.is_empty();
        self.under_way.push_back_made(|| (arrival, *packet));
        if is_next {
            agenda.set(agenda.of_uplink(self.place, packet.flow as usize), arrival);
        }
    }

    /// Takes the packet that arrives now and sets the alarm for the next. It stays where it is
    /// until another enters.
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
        let (mut agenda, mut uplink) = (Agenda::new(&slots), Uplink::new(0));
        let packet = |flow| Packet::new(PacketKind::Data, flow, 0, 0, 1_000, Time::ZERO);
        let pushed = [(5, 3), (4, 8), (5, 2), (5, 3), (5, 4), (6, 0)];
        let entered = pushed
            .map(|(ns, flow)| uplink.push_last(Time::from_nanos(ns), &packet(flow), &mut agenda));
        assert_eq!(entered, [true, false, false, true, true, true]);
        for (ns, flow) in [(5, 3), (5, 3), (5, 4), (6, 0)] {
            assert_eq!(agenda.next(), (Time::from_nanos(ns), flow as usize));
            assert_eq!(uplink.pop(Time::from_nanos(ns), &mut agenda).flow, flow);
        }
        assert_eq!(agenda.next().0, crate::agenda::horizon(slots.count()), "none is left");
    }
}
