//! Flows of datagrams (endpoints sheet §4.1). What differs between them, when the next one leaves and how
//! large it is, is a [`Pattern`].

use std::sync::Arc;

use sojourn_aqm::{Ecn, Rng, Span, Time};
use sojourn_scenario::resolved::{App, Arrivals, Datagrams, Recording, Sizes};

use super::Outbox;
use crate::draw;
use crate::packet::{Kind, Packet};
use crate::transmitter::Transmitter;

/// When datagrams leave.
#[derive(Clone, Debug)]
enum Pattern {
    /// One after the other, at a mean rate.
    Steady { pacer: Transmitter, arrivals: Arrivals },
    /// At a rate during exponential on periods; silence in between.
    OnOff { pacer: Transmitter, on: Span, off: Span, off_at: Time },
    /// At a rate during bursts; those to come begin at these times, the next one last.
    Bursts { pacer: Transmitter, ends: Time, length: Span, to_come: Vec<Time> },
    /// Frames at even intervals, this much of the present one still to send.
    Frames { sizes: Sizes, interval: Span, began: Time, left: u64 },
    /// Recorded amounts, the one at `place` partly sent.
    Replay { recording: Arc<Recording>, start: Time, place: usize, sent: u64 },
}

/// Source and sink of one flow of datagrams.
#[derive(Debug)]
pub struct DatagramFlow {
    flow: u32,
    packet_bytes: u32,
    ecn: Ecn,
    pattern: Pattern,
    rng: Rng,
    next: Time,
    stop: Time,
    /// Datagrams sent.
    pub sent: u32,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Datagrams received.
    pub received: u32,
    /// Their bytes.
    pub received_bytes: u64,
    /// Of these, marked.
    pub ce_bytes: u64,
}

impl DatagramFlow {
    /// A flow that sends from `start` until before `stop`; nothing for an application over TCP.
    pub fn new(
        flow: u32,
        app: &App,
        (start, stop): (Time, Time),
        mut rng: Rng,
    ) -> Option<DatagramFlow> {
        let pacer = |datagrams: &Datagrams| Transmitter::new(datagrams.rate);
        let mut first = start;
        let (pattern, ecn) = match app {
            App::Cbr { datagrams, arrivals } => {
                (Pattern::Steady { pacer: pacer(datagrams), arrivals: *arrivals }, datagrams.ecn)
            }
            App::OnOff { datagrams, on, off } => {
                let off_at = start + exponential(&mut rng, *on);
                let pacer = pacer(datagrams);
                (Pattern::OnOff { pacer, on: *on, off: *off, off_at }, datagrams.ecn)
            }
            App::Bursts { datagrams, at, length } => {
                let mut to_come: Vec<Time> = at.iter().rev().map(|&at| start + at).collect();
                first = to_come.pop().unwrap_or(Time::NEVER);
                let (pacer, ends) = (pacer(datagrams), first + *length);
                (Pattern::Bursts { pacer, ends, length: *length, to_come }, datagrams.ecn)
            }
            App::Video { frames, interval, ecn, .. } => {
                let (sizes, left) = (frames.clone(), draw::size(&mut rng, frames));
                (Pattern::Frames { sizes, interval: *interval, began: start, left }, *ecn)
            }
            App::Replay { recording, ecn, .. } => {
                first = recording.amounts.first().map_or(Time::NEVER, |&(at, _)| start + at);
                let recording = Arc::clone(recording);
                (Pattern::Replay { recording, start, place: 0, sent: 0 }, *ecn)
            }
            App::Bulk { .. } | App::Files { .. } | App::Web { .. } | App::Chunks { .. } => {
                return None;
            }
        };
        Some(DatagramFlow {
            flow,
            packet_bytes: app.packet_bytes(),
            ecn: if ecn { Ecn::Ect0 } else { Ecn::NotEct },
            pattern,
            rng,
            next: first,
            stop,
            sent: 0,
            sent_bytes: 0,
            received: 0,
            received_bytes: 0,
            ce_bytes: 0,
        })
    }

    /// When it sends next.
    pub fn next_timer(&self) -> Time {
        if self.next < self.stop { self.next } else { Time::NEVER }
    }

    /// It is time to send.
    pub fn on_timer(&mut self, out: &mut Outbox<'_>) {
        if self.next > out.now || self.next >= self.stop {
            return;
        }
        let bytes = self.pattern.bytes(self.packet_bytes);
        let mut packet = Packet::new(Kind::Datagram, self.flow, 0, self.sent, bytes, out.now);
        packet.ecn = self.ecn;
        out.send(packet);
        self.sent += 1;
        self.sent_bytes += u64::from(bytes);
        self.next = self.pattern.after(out.now, bytes, &mut self.rng);
    }

    /// A datagram arrives; returns its one-way delay.
    pub fn on_arrival(&mut self, now: Time, packet: &Packet) -> Span {
        let bytes = u64::from(packet.ip_bytes);
        self.received += 1;
        self.received_bytes += bytes;
        self.ce_bytes += if packet.ecn == Ecn::Ce { bytes } else { 0 };
        now.since(packet.sent)
    }
}

impl Pattern {
    /// Size of the datagram that leaves now, of at most `most` bytes.
    fn bytes(&self, most: u32) -> u32 {
        let left = match self {
            Pattern::Steady { .. } | Pattern::OnOff { .. } | Pattern::Bursts { .. } => return most,
            Pattern::Frames { left, .. } => *left,
            Pattern::Replay { recording, place, sent, .. } => recording.amounts[*place].1 - sent,
        };
        left.min(u64::from(most)) as u32
    }

    /// A datagram has left now: when does the next leave?
    fn after(&mut self, now: Time, bytes: u32, rng: &mut Rng) -> Time {
        match self {
            Pattern::Steady { pacer, arrivals } => {
                let even = pacer.next(bytes);
                now + match arrivals {
                    Arrivals::Constant => even,
                    Arrivals::Uniform => even.half() + Span::from_nanos(rng.below(even.as_nanos())),
                    Arrivals::Poisson => exponential(rng, even),
                }
            }
            Pattern::OnOff { pacer, on, off, off_at } => {
                let mut next = now + pacer.next(bytes);
                while next >= *off_at {
                    let on_again = *off_at + exponential(rng, *off);
                    next = next.max(on_again);
                    *off_at = on_again + exponential(rng, *on);
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
        }
    }
}

fn exponential(rng: &mut Rng, mean: Span) -> Span {
    Span::from_secs_f64(rng.exponential(mean.as_secs()))
}
