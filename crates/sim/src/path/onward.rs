//! What lies behind the links: wires, and the loss and jitter on them.

use sojourn_aqm::{Ecn, Time};
use sojourn_link::Impairment;
use sojourn_measure::DatagramLosses;

use super::agenda::Agenda;
use super::route::{End, Hop};
use super::wire::Wire;
use crate::packet::{Packet, PacketKind};
use crate::sightings::{Point, Sightings};

/// What lies behind the links.
pub(crate) struct Onward {
    /// All wires, with where they end; first, in the order of the links, those from a link to
    /// the next of a route.
    pub(crate) wires: Vec<(Wire, End)>,
    /// The routes of all groups, one after the other.
    pub(crate) hops: Vec<Hop>,
    /// Loss, jitter and bleaching on the wire behind each link.
    pub(crate) impairments: Vec<Option<Impairment>>,
    /// Datagrams lost on wires; the probe has those lost at links.
    pub(crate) losses: DatagramLosses,
    /// Packets at every place, if they are captured.
    pub(crate) sightings: Sightings,
}

impl Onward {
    /// A packet has left a link at `now`, or will have by then: it goes on the wire.
    #[inline(always)]
    pub(crate) fn forward<const NOTES: bool>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        agenda: &mut Agenda,
    ) {
        if NOTES {
            let link = self.hops[packet.hop as usize].link as usize;
            self.sightings.note(now, Point::Left(link), packet);
        }
        self.forward_clean(now, packet, agenda);
    }

    /// The same where nothing is captured.
    #[inline(never)]
    fn forward_clean(&mut self, now: Time, packet: &mut Packet, agenda: &mut Agenda) {
        let Hop { wire, is_impaired, .. } = self.hops[packet.hop as usize];
        if is_impaired {
            return self.forward_impaired(now, packet, agenda);
        }
        packet.hop += 1;
        self.wires[wire as usize].0.push(now, packet, agenda);
    }

    /// The same on an impaired wire, if the packet is not lost there.
    #[inline(never)]
    fn forward_impaired(&mut self, now: Time, packet: &mut Packet, agenda: &mut Agenda) {
        let Hop { link, wire, .. } = self.hops[packet.hop as usize];
        packet.hop += 1;
        let impairment = self.impairments[link as usize].as_mut();
        let impairment = impairment.expect("the wire of an impaired hop is impaired");
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
