//! Datagrams: constant and variable bit rate, on/off, bursts, video frames and recorded traffic. A
//! [`Pattern`] says when the next datagram leaves and how large it is.

use std::sync::Arc;

use sojourn_aqm::{Rng, Span, Time};
use sojourn_link::Transmitter;
use sojourn_scenario::draw;
use sojourn_scenario::resolved::{App, Arrivals, Datagrams, Recording, Sizes};

use crate::CustomApp;

/// IP and UDP header of a datagram, bytes (RFC 791, RFC 768).
pub const UDP_HEADER_BYTES: u32 = 28;

/// When datagrams leave.
#[derive(Debug)]
enum Pattern {
    /// At a mean rate (ns-2 `Traffic/CBR`; `random_` for uniform gaps).
    Steady { pacer: Transmitter, arrivals: Arrivals },
    /// One datagram per interval.
    Even { interval: Span },
    /// At a rate during exponential on periods, nothing during off periods (ns-2
    /// `Traffic/Exponential`).
    OnOff { pacer: Transmitter, on: Span, off: Span, off_at: Time },
    /// At a rate during bursts; `to_come` holds the start times of later bursts, the next one last.
    Bursts { pacer: Transmitter, ends: Time, length: Span, to_come: Vec<Time> },
    /// Frames at even intervals; `left` bytes of the current one are unsent.
    Frames { sizes: Sizes, interval: Span, began: Time, left: u64 },
    /// Recorded amounts; the one at `place` is partly sent.
    Replay { recording: Arc<Recording>, start: Time, place: usize, sent: u64 },
    /// As specified by a custom application; the next datagram has `bytes`.
    Custom { app: Box<dyn CustomApp>, bytes: u32 },
}

/// When the datagrams of a flow leave, and how large they are.
#[derive(Debug)]
pub struct DatagramSource {
    packet_bytes: u32,
    pattern: Pattern,
    rng: Rng,
    next: Time,
    stop: Time,
}

impl DatagramSource {
    /// A source that sends from `start` until before `stop`; `None` for an application over TCP.
    pub fn new(app: &App, (start, stop): (Time, Time), mut rng: Rng) -> Option<DatagramSource> {
        let pacer = |datagrams: &Datagrams| Transmitter::new(datagrams.rate);
        let mut next = start;
        let pattern = match app {
            App::Cbr { datagrams, arrivals, .. } => {
                Pattern::Steady { pacer: pacer(datagrams), arrivals: *arrivals }
            }
            App::Echo { interval, .. } => Pattern::Even { interval: *interval },
            App::OnOff { datagrams, on, off } => {
                let off_at = start + draw::exponential(&mut rng, *on);
                Pattern::OnOff { pacer: pacer(datagrams), on: *on, off: *off, off_at }
            }
            App::Bursts { datagrams, at, length } => {
                let mut to_come: Vec<Time> = at.iter().rev().map(|&at| start + at).collect();
                next = to_come.pop().unwrap_or(Time::NEVER);
                let (pacer, ends) = (pacer(datagrams), next + *length);
                Pattern::Bursts { pacer, ends, length: *length, to_come }
            }
            App::Video { frames, interval, .. } => {
                let (sizes, left) = (frames.clone(), draw::size(&mut rng, frames));
                Pattern::Frames { sizes, interval: *interval, began: start, left }
            }
            App::Replay { recording, .. } => {
                next = recording.amounts.first().map_or(Time::NEVER, |&(at, _)| start + at);
                Pattern::Replay { recording: Arc::clone(recording), start, place: 0, sent: 0 }
            }
            App::Bulk { .. }
            | App::Endpoint { .. }
            | App::Files { .. }
            | App::Transfers { .. }
            | App::Web { .. }
            | App::Chunks { .. } => return None,
        };
        Some(DatagramSource { packet_bytes: app.packet_bytes(), pattern, rng, next, stop })
    }

    /// A source that sends the datagrams of a custom application, from `start` until before `stop`.
    pub fn custom(
        mut app: Box<dyn CustomApp>,
        (start, stop): (Time, Time),
        mut rng: Rng,
    ) -> DatagramSource {
        let (next, bytes) = app.next_datagram(start, &mut rng).unwrap_or((Time::NEVER, 0));
        let pattern = Pattern::Custom { app, bytes };
        DatagramSource { packet_bytes: 0, pattern, rng, next, stop }
    }

    /// When the next datagram leaves.
    #[inline]
    pub fn next_timer(&self) -> Time {
        if self.next < self.stop { self.next } else { Time::NEVER }
    }

    /// Returns the size in bytes, with headers, of the datagram that is due, if one is. The next
    /// one is scheduled relative to its due time, so a late host keeps the rate.
    pub fn take(&mut self, now: Time) -> Option<u32> {
        if self.next_timer() > now {
            return None;
        }
        let bytes = self.pattern.bytes(self.packet_bytes);
        self.next = self.pattern.after(self.next, bytes, &mut self.rng);
        Some(bytes)
    }
}

impl Pattern {
    /// Size of the datagram that leaves now, of at most `most` bytes.
    fn bytes(&self, most: u32) -> u32 {
        let left = match self {
            Pattern::Steady { .. }
            | Pattern::Even { .. }
            | Pattern::OnOff { .. }
            | Pattern::Bursts { .. } => return most,
            Pattern::Frames { left, .. } => *left,
            Pattern::Replay { recording, place, sent, .. } => recording.amounts[*place].1 - sent,
            Pattern::Custom { bytes, .. } => return *bytes,
        };
        left.min(u64::from(most)) as u32
    }

    /// The departure time of the datagram after one that leaves now.
    fn after(&mut self, now: Time, bytes: u32, rng: &mut Rng) -> Time {
        match self {
            Pattern::Steady { pacer, arrivals } => {
                let even = pacer.next(bytes);
                now + draw::gap(rng, even, *arrivals)
            }
            Pattern::Even { interval } => now + *interval,
            Pattern::OnOff { pacer, on, off, off_at } => {
                let mut next = now + pacer.next(bytes);
                while next >= *off_at {
                    let on_again = *off_at + draw::exponential(rng, *off);
                    next = next.max(on_again);
                    *off_at = on_again + draw::exponential(rng, *on);
                }
                next
            }
            Pattern::Bursts { pacer, ends, length, to_come } => {
                let next = now + pacer.next(bytes);
                if next < *ends {
                    return next;
                }
                let Some(begins) = to_come.pop() else { return Time::NEVER };
                *ends = begins + *length;
                begins
            }
            Pattern::Frames { sizes, interval, began, left } => {
                *left -= u64::from(bytes);
                if *left > 0 {
                    return now;
                }
                *left = draw::size(rng, sizes);
                *began += *interval;
                *began
            }
            Pattern::Replay { recording, start, place, sent } => {
                *sent += u64::from(bytes);
                if *sent == recording.amounts[*place].1 {
                    (*place, *sent) = (*place + 1, 0);
                }
                recording.amounts.get(*place).map_or(Time::NEVER, |&(at, _)| *start + at)
            }
            Pattern::Custom { app, bytes } => match app.next_datagram(now, rng) {
                Some((next, size)) => {
                    *bytes = size;
                    next
                }
                None => Time::NEVER,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::{Ecn, Rate};

    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// 1000 B at 1 Mbit/s: one datagram per 8 ms.
    fn datagrams() -> Datagrams {
        Datagrams { rate: Rate::from_bps(1_000_000), packet_bytes: 1_000, ecn: Ecn::NotEct }
    }

    /// Departure times of the datagrams of a source that starts at 10 ms, until `stop`.
    fn departures(app: &App, stop: Time) -> Vec<(Time, u32)> {
        let mut source = DatagramSource::new(app, (ms(10), stop), Rng::stream(1, "datagrams", 0))
            .expect("datagrams");
        let next = || {
            let at = source.next_timer();
            (at < Time::NEVER).then(|| (at, source.take(at).expect("it is due")))
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn a_constant_rate_sends_from_its_start_until_before_its_stop() {
        let app = App::Cbr { datagrams: datagrams(), arrivals: Arrivals::Constant, voice: None };
        let expected = [10, 18, 26].map(|at| (ms(at), 1_000));
        assert_eq!(departures(&app, ms(34)), expected);
    }

    #[test]
    fn a_late_host_keeps_the_rate() {
        let app = App::Cbr { datagrams: datagrams(), arrivals: Arrivals::Constant, voice: None };
        let times = (Time::ZERO, Time::NEVER);
        let mut source =
            DatagramSource::new(&app, times, Rng::stream(1, "datagrams", 0)).expect("datagrams");
        let sent = std::iter::from_fn(|| source.take(ms(20))).count();
        assert_eq!((sent, source.next_timer()), (3, ms(24)));
    }

    #[test]
    fn bursts_begin_at_their_times_and_last_their_length() {
        let at = vec![Span::ZERO, Span::from_millis(100)];
        let app = App::Bursts { datagrams: datagrams(), at, length: Span::from_millis(16) };
        let expected = [10, 18, 110, 118].map(|at| (ms(at), 1_000));
        assert_eq!(departures(&app, Time::NEVER), expected);
    }
}
