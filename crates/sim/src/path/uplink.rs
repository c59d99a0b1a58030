//! An uplink: packets on their way from the senders' access links to the first queue.

use sojourn_aqm::Time;

use super::agenda::Agenda;
use super::link::LateServer;
use crate::packet::Packet;
use crate::ring::Ring;

/// The most packets that a packet may overtake on an uplink.
const MOST_OVERTAKEN: usize = 8;

/// Packets of all flows with the same delay to the same link, in order of arrival there; packets of
/// one instant are in the order of their flows. A packet that would overtake many others stays on a
/// wire of its access link.
#[derive(Debug)]
pub(crate) struct Uplink {
    /// Its index in the agenda.
    place: usize,
    /// The link to which it leads.
    pub(crate) link: usize,
    /// The server of that link, if it pulls packets. Otherwise an alarm is set for the next
    /// arrival.
    feeds: Option<LateServer>,
    /// Packets with the times at which they arrive.
    pub(super) in_flight: Ring<(Time, Packet)>,
    /// The arrival time of the last packet that entered, and its flow.
    last: (Time, u32),
}

impl Uplink {
    /// An empty uplink to a link.
    pub(crate) fn new(place: usize, link: usize) -> Uplink {
        let (in_flight, last) = (Ring::default(), (Time::ZERO, 0));
        Uplink { place, link, feeds: None, in_flight, last }
    }

    /// Lets a link pull packets from the uplink.
    pub(crate) fn feeding(&mut self, server: Option<LateServer>) {
        self.feeds = server;
    }

    /// Whether a packet with this arrival time overtakes no other.
    #[inline(always)]
    pub(crate) fn can_take(&self, arrival: Time, flow: u32) -> bool {
        (arrival, flow) >= self.last
    }

    /// Appends a packet that overtakes no other. No call is needed while the uplink holds packets,
    /// which is the usual case.
    #[inline(always)]
    pub(crate) fn push(&mut self, arrival: Time, packet: &Packet, agenda: &mut Agenda) {
        self.last = (arrival, packet.flow);
        if !self.in_flight.push_behind((arrival, *packet)) {
            self.push_any(arrival, packet, agenda);
        }
    }

    /// Inserts a packet that overtakes a few others; returns false, and changes nothing, if it
    /// would overtake more.
    pub(crate) fn insert(&mut self, arrival: Time, packet: &Packet, agenda: &mut Agenda) -> bool {
        let mut later = 0;
        while let Some((at, next)) = self.in_flight.get_back(later)
            && (*at, next.flow) > (arrival, packet.flow)
        {
            if later == MOST_OVERTAKEN {
                return false;
            }
            later += 1;
        }
        let is_next = later == self.in_flight.len();
        self.in_flight.insert_before(later, (arrival, *packet));
        self.schedule(is_next, (arrival, packet.flow), agenda);
        true
    }

    /// Out of line, so that the caller need not spill registers.
    #[inline(never)]
    fn push_any(&mut self, arrival: Time, packet: &Packet, agenda: &mut Agenda) {
        let is_next = self.in_flight.is_empty();
        self.in_flight.push_back_made(|| (arrival, *packet));
        self.schedule(is_next, (arrival, packet.flow), agenda);
    }

    #[inline]
    fn schedule(&self, is_next: bool, (arrival, flow): (Time, u32), agenda: &mut Agenda) {
        if is_next {
            match self.feeds {
                Some(server) => server.expect(arrival, agenda),
                None => agenda.set(agenda.of_uplink(self.place, flow as usize), arrival),
            }
        }
    }

    /// When the next packet arrives; `NEVER` if the uplink is empty.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Time {
        self.in_flight.front().map_or(Time::NEVER, |&(arrival, _)| arrival)
    }

    /// Takes the next packet if it arrives now and belongs to `flow` or an earlier flow.
    pub(crate) fn take_of(&mut self, now: Time, flow: u32) -> Option<Packet> {
        let &(arrival, packet) = self.in_flight.front()?;
        if arrival > now || packet.flow > flow {
            return None;
        }
        self.in_flight.pop_front_before(|_| ());
        Some(packet)
    }

    /// Takes the packet whose alarm is due and sets the alarm for the next. The packet stays in
    /// place until another enters.
    #[inline(always)]
    pub(crate) fn pop(&mut self, agenda: &mut Agenda) -> &mut Packet {
        let Uplink { place, in_flight, .. } = self;
        let taken = in_flight.pop_front_before(|&(arrival, Packet { flow, .. })| (arrival, flow));
        let ((_, packet), next) = taken.expect("the alarm is set for a packet");
        let (arrival, flow) = next.unwrap_or((Time::NEVER, 0));
        agenda.set_due(agenda.of_uplink(*place, flow as usize), arrival);
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketKind;
    use crate::path::agenda::Slots;

    #[test]
    fn what_overtakes_a_few_others_enters_at_its_place() {
        let slots = Slots { media: 0, timers: 0, wires: 0, accesses: 0, count: 9, uplinks: 1 };
        let (mut agenda, mut uplink) = (Agenda::new(&slots), Uplink::new(0, 0));
        let packet = |flow| Packet::new(PacketKind::Data, flow, 0, 0, 1_000, Time::ZERO);
        let pushed = [(5, 3), (4, 8), (5, 2), (5, 3), (5, 4), (6, 0)];
        let is_last = pushed.map(|(ns, flow)| {
            let (arrival, packet) = (Time::from_nanos(ns), packet(flow));
            let is_last = uplink.can_take(arrival, flow);
            match is_last {
                true => uplink.push(arrival, &packet, &mut agenda),
                false => assert!(uplink.insert(arrival, &packet, &mut agenda)),
            }
            is_last
        });
        assert_eq!(is_last, [true, false, false, true, true, true]);
        for (ns, flow) in [(4, 8), (5, 2), (5, 3), (5, 3), (5, 4), (6, 0)] {
            assert_eq!(agenda.next().at(), (Time::from_nanos(ns), flow as usize));
            assert_eq!(uplink.pop(&mut agenda).flow, flow);
        }
        assert_eq!(agenda.next().time, slots.horizon(), "none is left");
        let mut put = |ns| uplink.insert(Time::from_nanos(ns), &packet(1), &mut agenda);
        assert_eq!(
            (7..7 + MOST_OVERTAKEN as u64).map(&mut put).filter(|&enters| enters).count(),
            8
        );
        assert_eq!([7, 6].map(&mut put), [true, false]);
    }
}
