//! Wireless LANs: links whose servers contend for one medium.

use sojourn_aqm::Time;

use super::World;
use crate::wlan::medium::{Attempt, Medium, Sent};

/// A wireless LAN.
pub(crate) struct WirelessLan {
    /// What its transmitters contend for.
    pub(crate) medium: Medium,
    /// They are the servers of these links; to the medium they are stations, in this order.
    pub(crate) links: Vec<usize>,
    /// What was sent in the exchange that has just ended; kept for its memory.
    pub(crate) sent: Vec<Sent>,
}

impl World {
    /// An exchange on a wireless LAN has ended, or a station wants to join the contention.
    pub(super) fn on_medium<const NOTES: bool>(&mut self, now: Time, place: usize) {
        let mut sent = std::mem::take(&mut self.wireless_lans[place].sent);
        self.wireless_lans[place].medium.end(now, &mut sent);
        for Sent { station, attempt, airtime, rate } in sent.drain(..) {
            let link = self.wireless_lans[place].links[station];
            let World { links, agenda, probe, onward, .. } = self;
            let mut probe = probe.at_link::<NOTES>(now, link);
            let head = links[link].head().filter(|_| attempt == Attempt::Received);
            probe.sent_frame(airtime, rate, head.map(|packet| packet.link_bytes));
            if attempt == Attempt::Failed {
                continue;
            }
            let packet = links[link].take_head(now, agenda, &mut probe);
            match attempt {
                Attempt::Received => onward.forward(link, now, packet, agenda),
                Attempt::GivenUp => probe.gave_up(&packet),
                Attempt::Failed => unreachable!("a failed frame is sent again"),
            }
        }
        let WirelessLan { medium, links, sent: empty } = &mut self.wireless_lans[place];
        *empty = sent;
        for (station, &link) in links.iter().enumerate() {
            if let Some(packet) = self.links[link].head() {
                let radio = self.onward.legs[packet.leg as usize].radio as usize;
                medium.offer(now, station, packet.link_bytes, radio);
            }
        }
        let alarm = self.slots.alarm(self.slots.media + place);
        self.agenda.set(alarm, medium.next());
    }
}
