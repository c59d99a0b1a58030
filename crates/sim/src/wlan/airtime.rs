//! A queue for each station, served so that stations share airtime, not packets, fairly.
//!
//! Source: Høiland-Jørgensen et al. 2017, §3.2 (deficit round robin over airtime, a queue for each
//! station), as Linux 6.1 does it: net/mac80211/tx.c, `ieee80211_next_txq` and
//! `__ieee80211_schedule_txq`; net/mac80211/sta_info.c, `ieee80211_sta_register_airtime`.
//!
//! Deviations from Linux: airtime includes the interframe space and the acknowledgement (fact
//! wlan-7); every station has the whole limit, whereas Linux's stations share it; there are no
//! per-station weights, no multicast, and no limit on the airtime queued below (AQL).

use std::collections::VecDeque;

use sojourn_aqm::{Backlog, Departure, Limit, Qdisc, Rate, Rng, Sink, Span, Time, Var};

use crate::packet::Packet;

/// The increment of a station's deficit in each round (Linux 6.1 include/net/cfg80211.h,
/// IEEE80211_DEFAULT_AIRTIME_WEIGHT, microseconds).
const QUANTUM: Span = Span::from_micros(256);
/// How long a station is still charged for airtime after it was last listed with a packet (Linux
/// 6.1 net/mac80211/ieee80211_i.h, AIRTIME_ACTIVE_DURATION).
const ACTIVE: Span = Span::from_millis(100);

/// The queue of the packets to one station.
pub(crate) struct StationQueue {
    /// The station, as the index of its own link.
    link: usize,
    queue: Box<dyn Qdisc<Packet>>,
    /// Airtime that it may still use in this round, in nanoseconds.
    deficit: i64,
    /// When it was last put on the list with a packet.
    active: Option<Time>,
    is_listed: bool,
}

impl StationQueue {
    /// An empty queue for packets to the station whose own link has this index.
    pub(crate) fn new(link: usize, queue: Box<dyn Qdisc<Packet>>) -> StationQueue {
        // Linux 6.1 net/mac80211/sta_info.c, __sta_info_alloc: the deficit starts at one weight.
        StationQueue { link, queue, deficit: nanos(QUANTUM), active: None, is_listed: false }
    }

    /// Handles this queue's timers that are due by now. The host has one timer for the link as a
    /// whole, so each queue's timers are checked before anything happens to the queue.
    fn catch_up(&mut self, now: Time) {
        while let Some(due) = self.queue.next_timer().filter(|&due| due <= now) {
            self.queue.on_timer(due);
        }
    }

    fn was_active(&self, now: Time) -> bool {
        self.active.is_some_and(|active| now.since(active) <= ACTIVE)
    }
}

/// Queues of stations, served in turn by the airtime that they have used.
pub(crate) struct AirtimeQueues {
    /// The station of a packet, indexed by the hop of its route; `None` for hops of other links.
    station_of_hop: Vec<Option<usize>>,
    stations: Vec<StationQueue>,
    /// The listed stations, the next first.
    list: VecDeque<usize>,
}

impl AirtimeQueues {
    /// `station_of_hop` holds a station index for each hop that crosses the link.
    pub(crate) fn new(
        station_of_hop: Vec<Option<usize>>,
        stations: Vec<StationQueue>,
    ) -> AirtimeQueues {
        AirtimeQueues { station_of_hop, stations, list: VecDeque::new() }
    }

    /// Lists a station that has a packet and is not listed yet. It goes to the front, so only a
    /// negative deficit delays it (`__ieee80211_schedule_txq`).
    fn schedule(&mut self, now: Time, place: usize) {
        let station = &mut self.stations[place];
        if !station.is_listed && !station.queue.is_empty() {
            (station.is_listed, station.active) = (true, Some(now));
            self.list.push_front(place);
        }
    }

    /// Takes the next station that may send from the list (`ieee80211_next_txq`).
    fn next_station(&mut self) -> Option<usize> {
        loop {
            let place = self.list.pop_front()?;
            let station = &mut self.stations[place];
            if station.deficit >= 0 {
                station.is_listed = false;
                return Some(place);
            }
            station.deficit += nanos(QUANTUM);
            self.list.push_back(place);
        }
    }
}

impl Qdisc<Packet> for AirtimeQueues {
    fn enqueue(&mut self, now: Time, packet: Packet, rng: &mut Rng, sink: &mut dyn Sink<Packet>) {
        let place = self.station_of_hop[packet.hop as usize];
        let place = place.expect("every packet on this link belongs to a station");
        let station = &mut self.stations[place];
        station.catch_up(now);
        station.queue.enqueue(now, packet, rng, sink);
        self.schedule(now, place);
    }

    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<Packet>,
    ) -> Option<Departure<Packet>> {
        let mut held = Vec::new();
        let departure = loop {
            let Some(place) = self.next_station() else { break None };
            let station = &mut self.stations[place];
            station.catch_up(now);
            let departure = station.queue.dequeue(now, rng, sink);
            if departure.is_none() && !station.queue.is_empty() {
                held.push(place); // its discipline shapes
                continue;
            }
            self.schedule(now, place);
            if departure.is_some() {
                break departure;
            }
        };
        held.into_iter().rev().for_each(|place| self.schedule(now, place));
        departure
    }

    fn held_until(&self) -> Option<Time> {
        self.stations.iter().filter_map(|station| station.queue.held_until()).min()
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        self.stations.iter_mut().for_each(|station| station.queue.on_rate(now, rate));
    }

    fn on_limit(&mut self, limit: Limit) -> bool {
        self.stations.iter_mut().all(|station| station.queue.on_limit(limit))
    }

    fn on_airtime(&mut self, now: Time, station: usize, airtime: Span) {
        let used = self.stations.iter_mut().find(|known| known.link == station);
        if let Some(station) = used.filter(|station| station.was_active(now)) {
            station.deficit -= nanos(airtime);
        }
    }

    fn backlog(&self) -> Backlog {
        self.stations.iter().fold(Backlog::default(), |sum, station| {
            let own = station.queue.backlog();
            let bytes = sum.bytes + own.bytes;
            Backlog { packets: sum.packets + own.packets, bytes, link_bytes: bytes }
        })
    }

    fn is_empty(&self) -> bool {
        self.stations.iter().all(|station| station.queue.is_empty())
    }

    /// No variables: there would be one set per station.
    fn vars(&self) -> &'static [Var] {
        &[]
    }

    fn observe(&self, _: &mut [f64]) {}
}

fn nanos(span: Span) -> i64 {
    i64::try_from(span.as_nanos()).expect("an exchange lasts less than centuries")
}

#[cfg(test)]
#[path = "airtime_tests.rs"]
mod tests;
