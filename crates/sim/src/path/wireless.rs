//! Wireless LANs: links whose servers contend for one medium.

use sojourn_aqm::{Span, Time};
use sojourn_measure::Probe;

use super::Path;
use crate::wlan::medium::{Attempt, Medium, Sent};

/// A wireless LAN.
pub(crate) struct WirelessLan {
    /// The medium for which its transmitters contend.
    pub(crate) medium: Medium,
    /// The links whose servers transmit on it; the medium numbers them as stations in this order.
    pub(crate) links: Vec<usize>,
    /// The links among them that serve stations by airtime.
    pub(crate) by_airtime: Vec<usize>,
    /// Packets sent in the exchange that has just ended; kept to reuse the allocation.
    pub(crate) sent: Vec<Sent>,
}

impl Path {
    /// Handles the end of an exchange on a wireless LAN, or a station that joins the contention.
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
                Attempt::Failed => unreachable!("a failed frame is retransmitted"),
            }
        }
        let WirelessLan { medium, links, sent: empty, .. } = &mut self.wireless_lans[place];
        *empty = sent;
        for (station, &link) in links.iter().enumerate() {
            if !medium.has_packet(station)
                && let Some(packet) = self.links[link].head()
            {
                let radio = self.onward.hops[packet.hop as usize].radio as usize;
                medium.offer(now, station, packet.link_bytes, radio);
            }
        }
        let alarm = self.agenda.alarm(self.agenda.slots().media + place);
        self.agenda.set(alarm, medium.next());
    }

    /// Accounts airtime after a link has sent. A link that serves stations by airtime accounts the
    /// airtime of its packets to a station, delivered or not, and of those received from a station
    /// (Linux 6.1 drivers/net/wireless/ath/ath9k, `ath_tx_count_airtime` and
    /// `ath_rx_count_airtime`).
    #[inline]
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
