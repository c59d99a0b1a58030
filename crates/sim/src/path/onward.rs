//! The wires behind the links, with their loss and jitter.

use sojourn_aqm::{Ecn, Time};
use sojourn_link::Impairment;
use sojourn_measure::DatagramLosses;

use super::agenda::Agenda;
use super::route::{End, Hop};
use super::wire::Wire;
use crate::packet::Packet;
use crate::sightings::{Point, Sightings};

/// The wires behind the links.
pub(crate) struct Onward {
    /// All wires, with where they end. The first wires, in the order of the links, lead from a link
    /// to the next link of a route.
    pub(crate) wires: Vec<(Wire, End)>,
    /// The routes of all groups, concatenated.
    pub(crate) hops: Vec<Hop>,
    /// Loss, jitter and bleaching on the wire behind each link.
    pub(crate) impairments: Vec<Option<Impairment>>,
    /// Datagrams lost on wires; losses at links are counted by the probe.
    pub(crate) losses: DatagramLosses,
    /// Packets seen at every capture point, if capturing.
    pub(crate) sightings: Sightings,
}

impl Onward {
    /// Puts a packet on the wire that leaves a link at `now`, which may be in the future.
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

    /// [`Onward::forward`] without capture.
    #[inline(never)]
    fn forward_clean(&mut self, now: Time, packet: &mut Packet, agenda: &mut Agenda) {
        let Hop { wire, is_impaired, .. } = self.hops[packet.hop as usize];
        if is_impaired {
            return self.forward_impaired(now, packet, agenda);
        }
        packet.hop += 1;
        self.wires[wire as usize].0.push(now, packet, agenda);
    }

    /// [`Onward::forward`] on an impaired wire, which may lose the packet.
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
        match impairment.pass(now, packet.ip_bytes) {
            None if packet.kind.is_datagram() => {
                self.losses.add(packet.kind, packet.flow, packet.seq);
            }
            None => {}
            Some(start) if impairment.reorders() => wire.insert(start, packet, agenda),
            Some(start) => wire.push(start, packet, agenda),
        }
    }
}
