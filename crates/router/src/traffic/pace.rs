//! When datagrams are sent: at a constant rate, all the time or in on periods.

use sojourn_aqm::{Rate, Rng, Span, Time};
use sojourn_sim::transmitter::Transmitter;

/// Mean lengths of on and off periods.
#[derive(Clone, Copy, Debug)]
pub struct Periods {
    /// Mean of an on period.
    pub on: Span,
    /// Mean of an off period.
    pub off: Span,
}

/// When a flow of datagrams sends.
#[derive(Debug)]
pub struct Pace {
    packet_bytes: u32,
    pacer: Transmitter,
    periods: Option<Periods>,
    rng: Rng,
    next: Time,
    off_at: Time,
    stop: Time,
}

impl Pace {
    /// Datagrams of `packet_bytes` from `start` until before `stop`.
    pub fn new(
        packet_bytes: u32,
        rate: Rate,
        periods: Option<Periods>,
        (start, stop): (Time, Time),
        rng: Rng,
    ) -> Pace {
        let pacer = Transmitter::new(rate);
        let mut pace =
            Pace { packet_bytes, pacer, periods, rng, next: start, off_at: Time::NEVER, stop };
        if let Some(periods) = periods {
            pace.off_at = start + pace.draw(periods.on);
        }
        pace
    }

    fn draw(&mut self, mean: Span) -> Span {
        Span::from_secs_f64(self.rng.exponential(mean.as_secs()))
    }

    /// When it sends next.
    pub fn next_timer(&self) -> Time {
        if self.next < self.stop { self.next } else { Time::NEVER }
    }

    /// Whether a datagram is sent now; if so, the next one is due later. The next is due by when this
    /// one was, so that a late host keeps the rate.
    pub fn take(&mut self, now: Time) -> bool {
        if self.next > now || self.next >= self.stop {
            return false;
        }
        self.next += self.pacer.next(self.packet_bytes);
        while let Some(periods) = self.periods
            && self.next >= self.off_at
        {
            let on_again = self.off_at + self.draw(periods.off);
            self.next = self.next.max(on_again);
            self.off_at = on_again + self.draw(periods.on);
        }
        true
    }
}
