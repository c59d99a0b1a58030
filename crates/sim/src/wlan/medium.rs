//! Which station sends next: the distributed coordination function of 802.11 (IEEE 802.11-2012
//! §9.3).
//!
//! Slots are computed, not simulated: an exchange of frames is one event, regardless of the number
//! of slots before it. The links of one wireless LAN are servers without a rate; their medium has
//! one timer, the end of the next exchange. A station that joins before an exchange starts may
//! change it; one that joins later waits for the next.
//!
//! Not modelled: hidden stations (every station receives every other), RTS and CTS, and the
//! retransmission of a frame whose acknowledgement was lost (acknowledgements are never lost).
//! After a frame that was not received, all stations wait an EIFS (fact wlan-5).

use sojourn_aqm::{Rng, Span, Time};
use sojourn_scenario::resolved::{FrameErrors, Radio, Wlan};
use sojourn_scenario::wlan_timing::{OfdmRate, WINDOW_MAX, WINDOW_MIN};

use super::frame::{Attempts, Frame, Timing};
use super::rate::RateChoice;

/// The outcome of a transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Attempt {
    /// The frame was acknowledged.
    Received,
    /// The frame was not received and will be retransmitted.
    Failed,
    /// The frame was not received, and no attempts are left.
    GivenUp,
}

/// A transmission that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sent {
    /// The index of the station that sent.
    pub(crate) station: usize,
    /// The result.
    pub(crate) attempt: Attempt,
    /// How long its frame and the acknowledgement kept the medium busy.
    pub(crate) airtime: Span,
    /// The rate of its frame.
    pub(crate) rate: OfdmRate,
}

/// When a station may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Backoff {
    /// After this many idle slots.
    Slots(u32),
    /// At once if the medium is idle; if it is busy, the station draws a backoff.
    Done,
}

/// One transmitter.
#[derive(Debug)]
struct Station {
    /// Its frame, if it has one.
    frame: Option<Frame>,
    backoff: Backoff,
    /// Backoffs are drawn from zero to this value.
    window: u32,
    is_sending: bool,
    /// Whether its next transmission would be lost even without a collision.
    is_spoiled: bool,
    /// The timing of its next transmission.
    timing: Timing,
    backoffs: Rng,
    errors: Rng,
    /// The rate choice for each radio.
    rates: Vec<RateChoice>,
    attempts: Attempts,
}

/// The next exchange, if no station joins before it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Planned {
    start: Time,
    /// Idle slots before it.
    slots: u32,
    end: Time,
    is_received: bool,
}

/// The medium of one cell.
#[derive(Debug)]
pub(crate) struct Medium {
    cell: Wlan,
    /// How frames are lost, by radio: the LAN's radio first, then those of stations.
    errors: Vec<FrameErrors>,
    stations: Vec<Station>,
    /// The time from which idle slots count.
    slots_from: Time,
    /// The exchange in progress: when it ends, and whether it is received.
    on_air: Option<(Time, bool)>,
    /// The exchange announced by [`Medium::next`].
    planned: Option<Planned>,
}

impl Medium {
    /// An idle medium. `own` are the radios of stations that do not use the LAN's radio; `stream`
    /// names the random streams of each station.
    pub(crate) fn new(
        cell: &Wlan,
        own: &[Radio],
        stations: usize,
        stream: impl Fn(usize, &str) -> Rng,
    ) -> Medium {
        let radios = [&[cell.radio], own].concat();
        let station = |place| {
            let mut samples = stream(place, "rate-samples");
            let rate = |radio: &Radio| RateChoice::new(radio.rate, cell.attempts, &mut samples);
            Station {
                frame: None,
                rates: radios.iter().map(rate).collect(),
                backoff: Backoff::Done,
                window: WINDOW_MIN,
                is_sending: false,
                is_spoiled: false,
                timing: Timing::new(0, 0),
                attempts: Attempts::default(),
                backoffs: stream(place, "backoff"),
                errors: stream(place, "frame-error"),
            }
        };
        Medium {
            cell: cell.clone(),
            stations: (0..stations).map(station).collect(),
            errors: radios.iter().map(FrameErrors::new).collect(),
            slots_from: Time::ZERO,
            on_air: None,
            planned: None,
        }
    }

    /// Whether a station has a packet to send.
    #[inline]
    pub(crate) fn has_packet(&self, place: usize) -> bool {
        self.stations[place].frame.is_some()
    }

    /// Offers a packet of a station without one, to be sent by a radio (0 is the LAN's).
    pub(crate) fn offer(&mut self, now: Time, place: usize, packet_bytes: u32, radio: usize) {
        debug_assert!(!self.has_packet(place), "a station sends its packets one by one");
        self.catch_up(now);
        self.planned = None;
        let is_idle = self.on_air.is_none() && now >= self.slots_from;
        let station = &mut self.stations[place];
        station.frame = Some(station.rates[radio].frame(packet_bytes, radio as u32));
        station.prepare(&self.errors);
        match (station.backoff, is_idle) {
            (Backoff::Slots(_), _) => {}
            (Backoff::Done, false) => station.draw(),
            (Backoff::Done, true) => {
                station.is_sending = true;
                self.take_the_air(now, place);
            }
        }
    }

    /// When the next exchange ends, if no station joins before it starts.
    pub(crate) fn next(&mut self) -> Time {
        if let Some((end, _)) = self.on_air {
            return end;
        }
        self.planned = self.plan();
        self.planned.map_or(Time::NEVER, |planned| planned.end)
    }

    /// Ends the exchange that ends now, if any; appends all its transmissions to `sent`.
    pub(crate) fn end(&mut self, now: Time, sent: &mut Vec<Sent>) {
        self.catch_up(now);
        let Some((end, is_received)) = self.on_air.filter(|&(end, _)| end <= now) else { return };
        debug_assert_eq!(end, now, "an exchange ends when announced");
        self.on_air = None;
        self.slots_from = now + if is_received { self.cell.difs } else { self.cell.eifs };
        for (place, station) in self.stations.iter_mut().enumerate() {
            if std::mem::take(&mut station.is_sending) {
                let Timing { rate, airtime, answer } = station.timing;
                let airtime = if is_received { airtime + answer } else { airtime };
                let attempt = station.settle(now, is_received, &self.errors);
                sent.push(Sent { station: place, attempt, airtime, rate });
            }
        }
    }

    /// Counts the idle slots until now, or starts the exchange that has begun by now.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        if self.on_air.is_none() && now >= self.slots_from {
            self.count_slots(now);
        }
    }

    #[inline(never)]
    fn count_slots(&mut self, now: Time) {
        let planned = self.planned.take().or_else(|| self.plan());
        debug_assert_eq!(planned, self.plan(), "no station has joined");
        match planned.filter(|planned| planned.start <= now) {
            Some(Planned { slots, end, is_received, .. }) => {
                for station in &mut self.stations {
                    station.count(slots);
                    station.is_sending =
                        station.frame.is_some() && station.backoff == Backoff::Slots(0);
                }
                self.on_air = Some((end, is_received));
            }
            None => {
                let idle = now.since(self.slots_from).as_nanos() / self.cell.slot.as_nanos();
                let slots = u32::try_from(idle).unwrap_or(u32::MAX);
                self.stations.iter_mut().for_each(|station| station.count(slots));
                self.slots_from += self.cell.slot.times(idle);
            }
        }
    }

    /// The exchange of the first contenders, if there are any.
    fn plan(&self) -> Option<Planned> {
        let (mut first, mut exchange) = (None, Exchange::default());
        for station in self.stations.iter().filter(|station| station.frame.is_some()) {
            let Backoff::Slots(slots) = station.backoff else {
                unreachable!("a contender has drawn, or is on the air");
            };
            if first.is_none_or(|first| slots < first) {
                (first, exchange) = (Some(slots), Exchange::default());
            }
            if first == Some(slots) {
                exchange.add(station);
            }
        }
        let slots = first?;
        let start = self.slots_from + self.cell.slot.times(u64::from(slots));
        let Exchange { busy, is_received, .. } = exchange;
        Some(Planned { start, slots, end: start + busy, is_received })
    }

    /// Starts the transmission of the station that sends at once.
    fn take_the_air(&mut self, start: Time, place: usize) {
        let mut exchange = Exchange::default();
        exchange.add(&self.stations[place]);
        self.on_air = Some((start + exchange.busy, exchange.is_received));
    }
}

/// Simultaneous transmissions.
#[derive(Clone, Copy, Debug, Default)]
struct Exchange {
    /// The longest frame.
    longest: Span,
    /// How long the medium is busy, and whether a frame is received: only if there is a single
    /// sender.
    busy: Span,
    is_received: bool,
    count: u32,
}

impl Exchange {
    #[inline]
    fn add(&mut self, station: &Station) {
        let Timing { airtime, answer, .. } = station.timing;
        self.count += 1;
        self.longest = self.longest.max(airtime);
        self.is_received = self.count == 1 && !station.is_spoiled;
        self.busy = if self.is_received { airtime + answer } else { self.longest };
    }
}

impl Station {
    /// Counts down idle slots. A station whose backoff ends while it has no frame need not draw
    /// another before it sends.
    fn count(&mut self, slots: u32) {
        if let Backoff::Slots(left) = &mut self.backoff {
            if *left <= slots && self.frame.is_none() {
                self.backoff = Backoff::Done;
            } else {
                *left = left.saturating_sub(slots);
            }
        }
    }

    fn draw(&mut self) {
        let slots = self.backoffs.below(u64::from(self.window) + 1);
        self.backoff = Backoff::Slots(slots as u32); // at most 1023
    }

    /// Sets the timing of the next transmission of its frame, and draws whether it is lost even
    /// without a collision.
    fn prepare(&mut self, errors: &[FrameErrors]) {
        let frame = self.frame.as_ref().expect("a station that sends has a frame");
        let (timing, error) = self.attempts.of(frame, errors);
        self.timing = timing;
        self.is_spoiled = self.errors.uniform() < error;
    }

    /// Ends the transmission of its frame; a backoff follows in any case.
    fn settle(&mut self, now: Time, is_received: bool, errors: &[FrameErrors]) -> Attempt {
        let frame = self.frame.as_mut().expect("a station that sends has a frame");
        let is_over = frame.was_tried(is_received);
        if is_over {
            self.window = WINDOW_MIN;
            self.rates[frame.radio()].learn(now, frame, is_received);
            self.frame = None;
        } else {
            self.window = (2 * self.window + 1).min(WINDOW_MAX);
            self.prepare(errors);
        }
        self.draw();
        match (is_received, is_over) {
            (true, _) => Attempt::Received,
            (false, false) => Attempt::Failed,
            (false, true) => Attempt::GivenUp,
        }
    }
}

#[cfg(test)]
#[path = "medium_tests.rs"]
mod tests;
