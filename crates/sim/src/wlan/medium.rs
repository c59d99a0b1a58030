//! Which station sends next: the distributed coordination function of 802.11 (IEEE 802.11-2012
//! §9.3).
//!
//! Slots are arithmetic: an exchange of frames is one event, however many slots were counted before
//! it.
//!
//! Leaves out: hidden stations (every station receives every other), RTS and CTS, the
//! retransmission of a frame whose acknowledgement was lost (acknowledgements are never lost), and
//! rate control (one fixed rate). After a frame that was not received all stations
//! wait an EIFS (fact wlan-5).

use sojourn_aqm::{Rng, Span, Time};
use sojourn_scenario::resolved::Wlan;
use sojourn_scenario::wlan_timing::{WINDOW_MAX, WINDOW_MIN};

/// What became of a transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Attempt {
    /// The frame was acknowledged.
    Received,
    /// It was not, and will be sent again.
    Failed,
    /// It was not, for the last time.
    GivenUp,
}

/// A transmission that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sent {
    /// The station that sent, by place.
    pub(crate) station: usize,
    /// With what result.
    pub(crate) attempt: Attempt,
    /// How long its frame and the answer kept the medium busy.
    pub(crate) airtime: Span,
}

/// Whether a station may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Backoff {
    /// After idle slots.
    Slots(u32),
    /// At once if the medium is idle; a busy medium makes it draw.
    Done,
}

/// One transmitter.
#[derive(Debug)]
struct Station {
    /// How long its frame is on the air, if it has one.
    frame: Option<Span>,
    backoff: Backoff,
    /// Backoffs are drawn from zero to this.
    window: u32,
    /// Transmissions of this frame so far.
    attempts: u32,
    is_sending: bool,
    /// Whether its next transmission would not be received although it were alone.
    is_spoiled: bool,
    backoffs: Rng,
    errors: Rng,
}

/// The medium of one cell.
#[derive(Debug)]
pub(crate) struct Medium {
    cell: Wlan,
    stations: Vec<Station>,
    /// From when idle slots count.
    slots_from: Time,
    /// The exchange on the air: when it ends, and whether it is received.
    on_air: Option<(Time, bool)>,
}

impl Medium {
    /// An idle medium. `stream` names the random streams of each station.
    pub(crate) fn new(cell: &Wlan, stations: usize, stream: impl Fn(usize, &str) -> Rng) -> Medium {
        let station = |place| Station {
            frame: None,
            backoff: Backoff::Done,
            window: WINDOW_MIN,
            attempts: 0,
            is_sending: false,
            is_spoiled: false,
            backoffs: stream(place, "backoff"),
            errors: stream(place, "frame-error"),
        };
        Medium {
            cell: cell.clone(),
            stations: (0..stations).map(station).collect(),
            slots_from: Time::ZERO,
            on_air: None,
        }
    }

    /// A station has a packet to send; nothing changes where it had one already.
    pub(crate) fn offer(&mut self, now: Time, place: usize, packet_bytes: u32) {
        if self.stations[place].frame.is_some() {
            return;
        }
        self.catch_up(now);
        let is_idle = self.on_air.is_none() && now >= self.slots_from;
        let station = &mut self.stations[place];
        station.frame = Some(self.cell.data_frame(packet_bytes));
        station.is_spoiled = station.errors.uniform() < self.cell.error_rate;
        match (station.backoff, is_idle) {
            (Backoff::Slots(_), _) => {}
            (Backoff::Done, false) => station.draw(),
            (Backoff::Done, true) => {
                station.is_sending = true;
                self.take_the_air(now);
            }
        }
    }

    /// When the next exchange ends, if no station joins before it starts.
    pub(crate) fn next(&self) -> Time {
        if let Some((end, _)) = self.on_air {
            return end;
        }
        let Some((start, slots)) = self.next_start() else { return Time::NEVER };
        let first = |station: &&Station| station.backoff == Backoff::Slots(slots);
        start + self.exchange(self.contenders().filter(first)).0
    }

    /// The exchange that ends now, if one does: all transmissions in it.
    pub(crate) fn end(&mut self, now: Time, sent: &mut Vec<Sent>) {
        self.catch_up(now);
        let Some((end, is_received)) = self.on_air.filter(|&(end, _)| end <= now) else { return };
        debug_assert_eq!(end, now, "an exchange ends when announced");
        self.on_air = None;
        self.slots_from = now + if is_received { self.cell.difs } else { self.cell.eifs };
        for (place, station) in self.stations.iter_mut().enumerate() {
            if std::mem::take(&mut station.is_sending) {
                let frame = station.frame.expect("a station that sends has a frame");
                let attempt = station.settle(is_received, &self.cell);
                let answer = if is_received { self.cell.sifs_and_ack() } else { Span::ZERO };
                sent.push(Sent { station: place, attempt, airtime: frame + answer });
            }
        }
    }

    /// Counts the idle slots until now, or starts the exchange that has begun by now.
    fn catch_up(&mut self, now: Time) {
        if self.on_air.is_some() || now < self.slots_from {
            return;
        }
        match self.next_start().filter(|&(start, _)| start <= now) {
            Some((start, slots)) => {
                self.count(slots);
                for station in self.stations.iter_mut().filter(|s| s.frame.is_some()) {
                    station.is_sending = station.backoff == Backoff::Slots(0);
                }
                self.take_the_air(start);
            }
            None => {
                let idle = now.since(self.slots_from).as_nanos() / self.cell.slot.as_nanos();
                self.count(u32::try_from(idle).unwrap_or(u32::MAX));
                self.slots_from += self.cell.slot.times(idle);
            }
        }
    }

    /// When the first of the contenders may send, and how many slots from now on that is.
    fn next_start(&self) -> Option<(Time, u32)> {
        let slots = self.contenders().map(|station| match station.backoff {
            Backoff::Slots(slots) => slots,
            Backoff::Done => unreachable!("a contender has drawn, or is on the air"),
        });
        let slots = slots.min()?;
        Some((self.slots_from + self.cell.slot.times(u64::from(slots)), slots))
    }

    fn contenders(&self) -> impl Iterator<Item = &Station> {
        self.stations.iter().filter(|station| station.frame.is_some())
    }

    /// Slots pass. A station without a frame whose backoff is over need not draw before it sends.
    fn count(&mut self, slots: u32) {
        for station in &mut self.stations {
            station.backoff = match station.backoff {
                Backoff::Slots(left) if left <= slots && station.frame.is_none() => Backoff::Done,
                Backoff::Slots(left) => Backoff::Slots(left.saturating_sub(slots)),
                Backoff::Done => Backoff::Done,
            };
        }
    }

    /// The stations that are marked as sending start.
    fn take_the_air(&mut self, start: Time) {
        let (busy, is_received) = self.exchange(self.stations.iter().filter(|s| s.is_sending));
        self.on_air = Some((start + busy, is_received));
    }

    /// How long the medium is busy if these send, and whether one of them is received: only who is
    /// alone.
    fn exchange<'a>(&self, senders: impl Iterator<Item = &'a Station>) -> (Span, bool) {
        let (mut longest, mut count, mut is_spoiled) = (Span::ZERO, 0, false);
        for station in senders {
            longest = longest.max(station.frame.expect("a station that sends has a frame"));
            count += 1;
            is_spoiled |= station.is_spoiled;
        }
        debug_assert!(count > 0, "some station sends");
        match count == 1 && !is_spoiled {
            true => (longest + self.cell.sifs_and_ack(), true),
            false => (longest, false),
        }
    }
}

impl Station {
    fn draw(&mut self) {
        let slots = self.backoffs.below(u64::from(self.window) + 1);
        self.backoff = Backoff::Slots(slots as u32); // at most 1023
    }

    /// The transmission is over; a backoff follows in any case.
    fn settle(&mut self, is_received: bool, cell: &Wlan) -> Attempt {
        self.attempts += 1;
        let attempt = match is_received {
            true => Attempt::Received,
            false if self.attempts < cell.attempts => Attempt::Failed,
            false => Attempt::GivenUp,
        };
        if attempt == Attempt::Failed {
            self.window = (2 * self.window + 1).min(WINDOW_MAX);
            self.is_spoiled = self.errors.uniform() < cell.error_rate;
        } else {
            (self.window, self.attempts, self.frame) = (WINDOW_MIN, 0, None);
        }
        self.draw();
        attempt
    }
}

#[cfg(test)]
#[path = "medium_tests.rs"]
mod tests;
