//! Datagrams of one size at a constant rate, all the time or in on periods (endpoints sheet §4.1).

use sojourn_aqm::{Ecn, Rate, Rng, Span, Time};
use sojourn_scenario::resolved::Datagrams;

use super::Outbox;
use crate::packet::{Kind, Packet};
use crate::transmitter::Transmitter;

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

    /// Whether a datagram is sent now; if so, the next one is due later.
    pub fn take(&mut self, now: Time) -> bool {
        if self.next > now || self.next >= self.stop {
            return false;
        }
        self.next = now + self.pacer.next(self.packet_bytes);
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

/// Source and sink of one flow of datagrams.
#[derive(Debug)]
pub struct DatagramFlow {
    flow: u32,
    ecn: Ecn,
    pace: Pace,
    /// Datagrams sent.
    pub sent: u32,
    /// Datagrams received.
    pub received: u32,
    /// Of these, marked.
    pub ce: u32,
}

impl DatagramFlow {
    /// A flow that sends from `start` until before `stop`.
    pub fn new(
        flow: u32,
        datagrams: &Datagrams,
        periods: Option<Periods>,
        times: (Time, Time),
        rng: Rng,
    ) -> DatagramFlow {
        DatagramFlow {
            flow,
            ecn: if datagrams.ecn { Ecn::Ect0 } else { Ecn::NotEct },
            pace: Pace::new(datagrams.packet_bytes, datagrams.rate, periods, times, rng),
            sent: 0,
            received: 0,
            ce: 0,
        }
    }

    /// When it sends next.
    pub fn next_timer(&self) -> Time {
        self.pace.next_timer()
    }

    /// It is time to send.
    pub fn on_timer(&mut self, out: &mut Outbox<'_>) {
        if !self.pace.take(out.now) {
            return;
        }
        let mut packet =
            Packet::new(Kind::Datagram, self.flow, 0, self.sent, self.packet_bytes(), out.now);
        packet.ecn = self.ecn;
        out.send(packet);
        self.sent += 1;
    }

    /// A datagram arrives; returns its one-way delay.
    pub fn on_arrival(&mut self, now: Time, packet: &Packet) -> Span {
        self.received += 1;
        self.ce += u32::from(packet.ecn == Ecn::Ce);
        now.since(packet.sent)
    }

    /// Bytes of one datagram.
    pub fn packet_bytes(&self) -> u32 {
        self.pace.packet_bytes
    }
}
