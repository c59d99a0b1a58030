//! What packets find behind a link.

use sojourn_aqm::{Ecn, Time};
use sojourn_link::Impairment;
use sojourn_measure::DatagramLosses;

use super::{End, Leg};
use crate::agenda::Agenda;
use crate::delay_line::ScheduledDelayLine;
use crate::packet::{Packet, PacketKind};

/// What packets find behind a link.
pub(super) struct Onward<'a> {
    /// All wires.
    pub(super) wires: &'a mut [(ScheduledDelayLine, End)],
    /// The routes.
    pub(super) legs: &'a [Leg],
    /// What the wire does to packets.
    pub(super) impairment: &'a mut Option<Impairment>,
    /// Datagrams lost on wires.
    pub(super) losses: &'a mut DatagramLosses,
}

impl Onward<'_> {
    /// A packet has left the link at `now`, or will have by then: it goes on the wire.
    #[inline]
    pub(super) fn forward(&mut self, now: Time, mut packet: Packet, agenda: &mut Agenda) {
        let wire = &mut self.wires[self.legs[packet.leg as usize].wire as usize].0;
        packet.leg += 1;
        match self.impairment {
            None => wire.push(now, packet, agenda),
            Some(impairment) => {
                let is_lost = !impair(impairment, now, packet, wire, agenda);
                if is_lost && packet.kind == PacketKind::Datagram {
                    self.losses.add(packet.flow, packet.seq);
                }
            }
        }
    }
}

/// Puts a packet on an impaired wire, if it is not lost; returns whether it is on its way.
fn impair(
    impairment: &mut Impairment,
    now: Time,
    mut packet: Packet,
    wire: &mut ScheduledDelayLine,
    agenda: &mut Agenda,
) -> bool {
    if impairment.bleaches() {
        packet.ecn = Ecn::NotEct;
    }
    match impairment.pass(now) {
        None => return false,
        Some(start) if impairment.reorders() => wire.insert(start, packet, agenda),
        Some(start) => wire.push(start, packet, agenda),
    }
    true
}
