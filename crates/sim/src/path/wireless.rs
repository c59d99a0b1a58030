//! Wireless LANs: links whose servers contend for one medium.

use sojourn_aqm::{Span, Time};
use sojourn_measure::Probe;

use super::Path;
use super::link::ScheduledLink;
use super::route::Hop;
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
        let Path { links, agenda, onward, wireless_lans, .. } = self;
        let WirelessLan { medium, links: stations, by_airtime, sent } = &mut wireless_lans[place];
        medium.end(now, sent);
        for &Sent { station, attempt, airtime, rate } in &*sent {
            let sender = stations[station];
            for &link in &*by_airtime {
                account_airtime(now, links, link, (sender, attempt, airtime), &onward.hops);
            }
            let link = &mut links[sender];
            let mut probe = probe.at_link::<NOTES>(now, sender);
            let head = link.head().filter(|_| attempt == Attempt::Received);
            probe.sent_frame(airtime, rate, head.map(|packet| packet.link_bytes));
            if attempt == Attempt::Failed {
                continue;
            }
            link.take_head(now, agenda, &mut probe, |packet, agenda, probe| match attempt {
                Attempt::Received => onward.forward::<NOTES>(now, packet, agenda),
                Attempt::GivenUp => probe.gave_up(packet),
                Attempt::Failed => unreachable!("a failed frame is retransmitted"),
            });
        }
        sent.clear();
        for (station, &link) in stations.iter().enumerate() {
            if !medium.has_packet(station)
                && let Some(packet) = links[link].head()
            {
                let radio = onward.hops[packet.hop as usize].radio as usize;
                medium.offer(now, station, packet.link_bytes, radio);
            }
        }
        agenda.set(agenda.alarm(agenda.slots().media + place), medium.next());
    }
}

/// Accounts airtime at a link that serves stations by airtime, after any link of the LAN has sent.
/// The airtime of its own packets counts for their station, delivered or not, and so does that of
/// packets received from a station (Linux 6.1 drivers/net/wireless/ath/ath9k,
/// `ath_tx_count_airtime` and `ath_rx_count_airtime`).
#[inline(never)]
fn account_airtime(
    now: Time,
    links: &mut [ScheduledLink],
    link: usize,
    (sender, attempt, airtime): (usize, Attempt, Span),
    hops: &[Hop],
) {
    let station = match (link == sender, attempt) {
        (true, _) => {
            let packet = links[link].head().expect("a packet was sent");
            hops[packet.hop as usize].station.map(|station| station as usize)
        }
        (false, Attempt::Received) => Some(sender),
        (false, Attempt::Failed | Attempt::GivenUp) => None,
    };
    if let Some(station) = station {
        links[link].on_airtime(now, station, airtime);
    }
}
