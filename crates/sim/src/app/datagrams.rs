//! A simulated flow of datagrams, both ends.

use sojourn_aqm::{Ecn, Rng, Span, Time};
use sojourn_measure::{FrameCounts, Frames};
use sojourn_scenario::resolved::App;
use sojourn_traffic::{CustomApp, DatagramSource, UDP_HEADER_BYTES};

use super::Outbox;
use crate::packet::{Packet, PacketKind};

/// Source and sink of one flow of datagrams.
#[derive(Debug)]
pub struct DatagramFlow {
    flow: u32,
    ecn: Ecn,
    source: DatagramSource,
    /// Datagrams sent.
    pub sent: u32,
    /// Payload of the datagrams sent.
    pub sent_bytes: u64,
    /// Whether the receiver sends datagrams back.
    echoes: bool,
    /// The number of the first datagram whose fate is counted.
    first_counted: u32,
    /// Counted datagrams that arrived or, with echoes, returned to the sender.
    pub received: u64,
    /// Payload of all datagrams received.
    pub received_bytes: u64,
    /// Payload received with CE.
    pub ce_bytes: u64,
    /// When the last datagram arrived.
    pub last_arrival: Time,
    /// If links copy packets: which datagrams have arrived, and which have returned.
    seen: [Vec<bool>; 2],
    /// The frames of video.
    frames: Option<Box<Frames>>,
    /// Round trips or one-way delays since the last sample.
    delays: Delays,
    /// All datagrams that have arrived, and the number after the highest of them.
    arrived: (u32, u32),
}

/// Delays since the last sample.
#[derive(Clone, Copy, Debug, Default)]
struct Delays {
    sum: Span,
    count: u32,
    /// The sum of the differences between consecutive delays.
    changes: Span,
    last: Span,
}

impl Delays {
    fn add(&mut self, delay: Span) {
        if self.last > Span::ZERO {
            let change = self.last.as_nanos().abs_diff(delay.as_nanos());
            self.changes = self.changes + Span::from_nanos(change);
        }
        (self.sum, self.count, self.last) = (self.sum + delay, self.count + 1, delay);
    }
}

/// A flow's datagrams since the last sample.
#[derive(Clone, Copy, Debug)]
pub struct DelaySample {
    /// Mean delay: of the round trip with echoes, else one-way.
    pub mean_s: f64,
    /// Mean difference between consecutive delays.
    pub jitter_s: f64,
    /// Datagrams so far that have not arrived, though a later one has.
    pub missing: u32,
    /// Whether the receiver sends datagrams back.
    pub is_round_trip: bool,
}

impl DatagramFlow {
    /// A flow that sends from `start` until before `stop`, with the application `custom` if the
    /// caller supplies one. `None` if the application runs over TCP.
    pub fn new(
        flow: u32,
        app: &App,
        custom: Option<Box<dyn CustomApp>>,
        times: (Time, Time),
        rng: Rng,
    ) -> Option<DatagramFlow> {
        let shows_frames = custom.is_none() && matches!(app, App::Video { .. });
        let source = match custom {
            Some(custom) if app.tcp().is_none() => DatagramSource::custom(custom, times, rng),
            _ => DatagramSource::new(app, times, rng)?,
        };
        Some(DatagramFlow {
            flow,
            ecn: app.datagrams_ecn(),
            source,
            echoes: matches!(app, App::Echo { .. }),
            sent: 0,
            sent_bytes: 0,
            first_counted: 0,
            received: 0,
            received_bytes: 0,
            ce_bytes: 0,
            last_arrival: Time::ZERO,
            seen: Default::default(),
            frames: shows_frames.then(Box::default),
            delays: Delays::default(),
            arrived: (0, 0),
        })
    }

    /// When the next datagram is due.
    pub fn next_timer(&self) -> Time {
        self.source.next_timer()
    }

    /// Sends the datagrams that are due.
    pub fn on_timer(&mut self, out: &mut Outbox<'_>) {
        let Some(bytes) = self.source.take(out.now) else { return };
        let mut packet = Packet::new(PacketKind::Datagram, self.flow, 0, self.sent, bytes, out.now);
        packet.ecn = self.ecn;
        if let Some(frames) = &mut self.frames {
            frames.on_sent(out.now, self.sent);
        }
        out.send(packet);
        self.sent += 1;
        self.sent_bytes += payload(bytes);
    }

    /// Starts counting frames, and the fates of datagrams sent from now on; returns the number of
    /// the first such datagram.
    pub fn count_from(&mut self, now: Time) -> u32 {
        if let Some(frames) = &mut self.frames {
            frames.count_from(now);
        }
        (self.first_counted, self.received) = (self.sent, 0);
        self.sent
    }

    /// Handles a datagram at the receiver; returns its one-way delay, or `None` for a copy of one
    /// that has arrived. As a host does, the receiver sends copies back.
    pub fn on_arrival(&mut self, packet: &Packet, out: &mut Outbox<'_>) -> Option<Span> {
        let (now, bytes) = (out.now, payload(packet.ip_bytes));
        if self.echoes {
            let mut echo =
                Packet::new(PacketKind::Echo, self.flow, 0, packet.seq, packet.ip_bytes, now);
            (echo.ecn, echo.sent) = (self.ecn, packet.sent);
            out.reply(&mut echo);
        }
        if self.has_seen(0, packet.seq, out) {
            return None;
        }
        if !self.echoes {
            self.received += u64::from(packet.seq >= self.first_counted);
        }
        if let Some(delay) = self.frames.as_mut().and_then(|it| it.on_arrival(now, packet.seq))
            && let Some(counted) = out.counted()
        {
            counted.frame_delay.add(delay.as_nanos());
        }
        self.last_arrival = now;
        self.received_bytes += bytes;
        self.ce_bytes += if packet.ecn == Ecn::Ce { bytes } else { 0 };
        let delay = now.since(packet.sent);
        if !self.echoes {
            self.note(packet.seq, delay);
        }
        Some(delay)
    }

    /// Notes a delay for the next sample.
    fn note(&mut self, seq: u32, delay: Span) {
        self.delays.add(delay);
        self.arrived = (self.arrived.0 + 1, self.arrived.1.max(seq + 1));
    }

    /// Whether a datagram is a copy of one seen before, at the receiver (0) or the sender (1).
    fn has_seen(&mut self, end: usize, seq: u32, out: &Outbox<'_>) -> bool {
        if !out.probe.notes.losses.counts_copies() {
            return false;
        }
        let (seen, seq) = (&mut self.seen[end], seq as usize);
        seen.resize(seen.len().max(seq + 1), false);
        std::mem::replace(&mut seen[seq], true)
    }

    /// Returns the counts of video frames shown by `end`.
    pub fn take_frames(&mut self, end: Time) -> Option<FrameCounts> {
        self.frames.take().map(|frames| frames.finish(end))
    }

    /// Handles an echo at the sender; returns the round-trip time, or `None` for a copy of one that
    /// has returned.
    pub fn on_echo(&mut self, packet: &Packet, out: &Outbox<'_>) -> Option<Span> {
        if self.has_seen(1, packet.seq, out) {
            return None;
        }
        self.received += u64::from(packet.seq >= self.first_counted);
        let rtt = out.now.since(packet.sent);
        self.note(packet.seq, rtt);
        Some(rtt)
    }

    /// The delays since the last call; `None` if nothing came.
    pub fn take_delays(&mut self) -> Option<DelaySample> {
        let Delays { sum, count, changes, last } = self.delays;
        self.delays = Delays { last, ..Delays::default() };
        let mean = |sum: Span| Span::from_nanos(sum.as_nanos() / u64::from(count)).as_secs();
        (count > 0).then(|| DelaySample {
            mean_s: mean(sum),
            jitter_s: mean(changes),
            missing: self.arrived.1 - self.arrived.0,
            is_round_trip: self.echoes,
        })
    }
}

/// Payload of a datagram of `bytes`. The sizes of video frames include headers, so the last
/// datagram of a frame may be smaller than its headers; it then carries no payload.
fn payload(bytes: u32) -> u64 {
    u64::from(bytes.saturating_sub(UDP_HEADER_BYTES))
}
