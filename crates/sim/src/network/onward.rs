//! What packets find behind a link.

use sojourn_aqm::{Ecn, Time};
use sojourn_link::Impairment;
use sojourn_measure::DatagramLosses;

use super::{End, Leg};
use crate::agenda::Agenda;
use crate::delay_line::ScheduledDelayLine;
use crate::packet::{Packet, PacketKind};

/// What packets find behind the links.
pub(crate) struct Onward {
    /// All wires, with where they end; first, in the order of the links, those from a link to
    /// the next of a way.
    pub(crate) wires: Vec<(ScheduledDelayLine, End)>,
    /// The ways of all groups, one after the other.
    pub(crate) legs: Vec<Leg>,
    /// Loss, jitter and bleaching on the wire behind each link.
    pub(crate) impairments: Vec<Option<Impairment>>,
    /// Datagrams lost on wires; the probe has those lost at links.
    pub(crate) losses: DatagramLosses,
}

impl Onward {
    /// A packet has left a link at `now`, or will have by then: it goes on the wire.
    #[inline(never)]
    pub(crate) fn forward(&mut self, now: Time, packet: &mut Packet, agenda: &mut Agenda) {
        let Leg { wire, is_impaired, .. } = self.legs[packet.leg as usize];
        if is_impaired {
            return self.forward_impaired(now, packet, agenda);
        }
        packet.leg += 1;
        self.wires[wire as usize].0.push(now, packet, agenda);
    }

    /// The same on an impaired wire, if the packet is not lost there.
    #[inline(never)]
    fn forward_impaired(&mut self, now: Time, packet: &mut Packet, agenda: &mut Agenda) {
        let Leg { link, wire, .. } = self.legs[packet.leg as usize];
        packet.leg += 1;
        let impairment = self.impairments[link as usize].as_mut();
        let impairment = impairment.expect("the wire of an impaired leg is impaired");
        let wire = &mut self.wires[wire as usize].0;
        if impairment.bleaches() {
            packet.ecn = Ecn::NotEct;
        }
        match impairment.pass(now) {
            None if packet.kind == PacketKind::Datagram => {
                self.losses.add(packet.flow, packet.seq);
            }
            None => {}
            Some(start) if impairment.reorders() => wire.insert(start, *packet, agenda),
            Some(start) => wire.push(start, packet, agenda),
        }
    }
}
