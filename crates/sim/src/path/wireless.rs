//! Wireless LANs: links whose servers contend for one medium.

use sojourn_aqm::{Span, Time};
use sojourn_measure::Probe;

use super::Path;
use crate::wlan::medium::{Attempt, Medium, Sent};

/// A wireless LAN.
pub(crate) struct WirelessLan {
    /// What its transmitters contend for.
    pub(crate) medium: Medium,
    /// They are the servers of these links; to the medium they are stations, in this order.
    pub(crate) links: Vec<usize>,
    /// Those of them that serve stations by airtime.
    pub(crate) by_airtime: Vec<usize>,
    /// What was sent in the exchange that has just ended; kept for its memory.
    pub(crate) sent: Vec<Sent>,
}

impl Path {
    /// An exchange on a wireless LAN has ended, or a station wants to join the contention.
    pub(super) fn on_medium<const NOTES: bool>(
        &mut self,
        now: Time,
        place: usize,
        probe: &mut Probe,
    ) {
        let mut sent = std::mem::take(&mut self.wireless_lans[place].sent);
        self.wireless_lans[place].medium.end(now, &mut sent);
        for Sent { station, attempt, airtime, rate } in sent.drain(..) {
            let link = self.wireless_lans[place].links[station];
            self.account_airtime(now, place, link, attempt, airtime);
            let Path { links, agenda, onward, .. } = self;
            let mut probe = probe.at_link::<NOTES>(now, link);
            let head = links[link].head().filter(|_| attempt == Attempt::Received);
            probe.sent_frame(airtime, rate, head.map(|packet| packet.link_bytes));
            if attempt == Attempt::Failed {
                continue;
            }
            let mut packet = links[link].take_head(now, agenda, &mut probe);
            match attempt {
                Attempt::Received => onward.forward::<NOTES>(now, &mut packet, agenda),
                Attempt::GivenUp => probe.gave_up(&packet),
                Attempt::Failed => unreachable!("a failed frame is sent again"),
            }
        }
        let WirelessLan { medium, links, sent: empty, .. } = &mut self.wireless_lans[place];
        *empty = sent;
        for (station, &link) in links.iter().enumerate() {
            if let Some(packet) = self.links[link].head() {
                let radio = self.onward.hops[packet.hop as usize].radio as usize;
                medium.offer(now, station, packet.link_bytes, radio);
            }
        }
        let alarm = self.agenda.alarm(self.agenda.slots().media + place);
        self.agenda.set(alarm, medium.next());
    }

    /// A link has sent. Who serves stations by airtime accounts what it sends to a station, however
    /// that ends, and what it receives from one (Linux 6.1 drivers/net/wireless/ath/ath9k,
    /// `ath_tx_count_airtime` and `ath_rx_count_airtime`).
    fn account_airtime(
        &mut self,
        now: Time,
        place: usize,
        sender: usize,
        attempt: Attempt,
        airtime: Span,
    ) {
        for &link in &self.wireless_lans[place].by_airtime {
            let station = match (link == sender, attempt) {
                (true, _) => {
                    let packet = self.links[link].head().expect("a packet was sent");
                    self.onward.hops[packet.hop as usize].station.map(|station| station as usize)
                }
                (false, Attempt::Received) => Some(sender),
                (false, Attempt::Failed | Attempt::GivenUp) => None,
            };
            if let Some(station) = station {
                self.links[link].on_airtime(now, station, airtime);
            }
        }
    }
}
