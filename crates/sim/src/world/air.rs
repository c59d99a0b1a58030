//! Wireless LANs: links whose servers contend for one medium.

use sojourn_aqm::Time;

use super::World;
use crate::wlan::medium::{Attempt, Medium, Sent};

/// A wireless LAN.
pub struct Cell {
    /// What its transmitters contend for.
    pub medium: Medium,
    /// They are the servers of these links; to the medium they are stations, in this order.
    pub links: Vec<usize>,
    /// Who sent in the exchange that has just ended.
    pub sent: Vec<Sent>,
}

impl World {
    /// An exchange on a wireless LAN has ended, or somebody wants to join.
    pub(super) fn on_medium<const NOTES: bool>(&mut self, now: Time, place: usize) {
        let mut sent = std::mem::take(&mut self.cells[place].sent);
        self.cells[place].medium.end(now, &mut sent);
        for Sent { station, attempt, airtime } in sent.drain(..) {
            let link = self.cells[place].links[station];
            let (links, agenda, probe, mut onward) = self.behind(link);
            let mut ear = probe.ear::<NOTES>(now, link);
            ear.transmitted(airtime, attempt);
            if attempt != Attempt::Failed {
                let packet = links[link].on_settled(now, agenda, &mut ear);
                if attempt == Attempt::Received {
                    onward.forward(now, packet, agenda);
                }
            }
        }
        let Cell { medium, links, sent: empty } = &mut self.cells[place];
        *empty = sent;
        for (station, &link) in links.iter().enumerate() {
            if let Some(bytes) = self.links[link].wants_to_send() {
                medium.offer(now, station, bytes);
            }
        }
        self.agenda.set(self.slots.media + place, medium.next());
    }
}
