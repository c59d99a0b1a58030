//! One end of a connection, driven by the simulator, which turns its datagrams into packets.

use std::collections::VecDeque;

use sojourn_aqm::{Ecn, Time};
use sojourn_endpoint::{ConnectionEvent, Datagram, Peer, Read, StreamNumber, Transmit};

use super::guard::Guarded;
use super::in_flight::InFlight;
use crate::app::Outbox;
use crate::packet::{Packet, PacketKind};

/// The most calls of `expire` at one instant without a datagram: with more, simulated time would
/// stand still.
const MOST_IDLE_EXPIRIES: u32 = 1_000;
/// The most datagrams at one instant: with more, a run would never end.
const MOST_AT_ONCE: u32 = 100_000;

/// The most events at one instant: with more, a run would never end.
const MOST_EVENTS: u32 = 100_000;

/// The network as the hosts of a flow see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// The flow.
    pub(super) flow: u32,
    /// Bytes of headers on every datagram.
    pub(super) header_bytes: u32,
    /// The largest packet.
    pub(super) mtu: u32,
    /// Whether hosts pass the ECN field on.
    pub(super) ecn: bool,
}

/// One end, and the contents of its datagrams in flight.
pub(super) struct Side {
    pub(super) end: Guarded,
    role: Peer,
    link: Link,
    pub(super) in_flight: InFlight,
    /// Datagrams to be sent later, with their times, in order.
    held: VecDeque<(Time, Ecn, Vec<u8>)>,
    /// When its timer expires; not before now.
    pub(super) due: Time,
    /// Bytes that it has sent: UDP payload, or IP packets.
    pub(super) sent_bytes: u64,
    /// Bytes of the datagrams that have arrived and that the application has not read.
    unread_bytes: u64,
}

impl Side {
    pub(super) fn new(end: Guarded, role: Peer, link: Link) -> Side {
        let (in_flight, held) = (InFlight::default(), VecDeque::new());
        Side { end, role, link, in_flight, held, due: Time::NEVER, sent_bytes: 0, unread_bytes: 0 }
    }

    /// Begins another connection with this end. Datagrams in flight still arrive.
    pub(super) fn replace(&mut self, end: Guarded) {
        self.end = end;
        self.held.clear();
        self.due = Time::NEVER;
    }

    /// A datagram arrives.
    pub(super) fn input(&mut self, now: Time, packet: &Packet, content: &[u8]) {
        let datagram = Datagram { ecn: packet.ecn, bytes: content };
        self.unread_bytes += content.len() as u64;
        self.end.call(now, "input", |end| end.input(now, datagram));
    }

    /// The library's next event. `events` counts the events at this instant.
    pub(super) fn event(&mut self, now: Time, events: &mut u32) -> Option<ConnectionEvent> {
        *events += 1;
        if *events > MOST_EVENTS {
            let why = format!("more than {MOST_EVENTS} events at one instant");
            self.end.fail(now, "event", &why);
        }
        self.end.call(now, "event", |end| end.event()).flatten()
    }

    /// Reads all that has arrived in order on a stream.
    pub(super) fn read(&mut self, now: Time, stream: StreamNumber) -> Read {
        let asked = self.end.call(now, "read", |end| end.read(now, stream));
        let read = asked.unwrap_or_default();
        match self.unread_bytes.checked_sub(read.bytes) {
            Some(left) => self.unread_bytes = left,
            None => {
                let (bytes, unread) = (read.bytes, self.unread_bytes);
                let why = format!("{bytes} bytes, of {unread} in unread datagrams");
                self.end.fail(now, "read", &why);
                return Read::default();
            }
        }
        read
    }

    /// Sends all datagrams that the library has to send now; returns how many it sent.
    pub(super) fn flush(&mut self, out: &mut Outbox<'_>) -> u32 {
        let (now, mut sent) = (out.now, 0);
        loop {
            let mut buffer = self.in_flight.buffer();
            let asked = self.end.call(now, "output", |end| end.output(now, &mut buffer));
            let Some(transmit) = asked.flatten() else {
                self.in_flight.recycle(buffer);
                break;
            };
            if let Err(why) = self.check(transmit, buffer.len(), sent) {
                self.end.fail(now, "output", &why);
                break;
            }
            sent += 1;
            match transmit.earliest > now || !self.held.is_empty() {
                true => self.held.push_back((transmit.earliest, transmit.ecn, buffer)),
                false => self.send(transmit.ecn, buffer, out),
            }
        }
        self.release(out);
        sent
    }

    /// Checks that a host may send this datagram.
    fn check(&self, transmit: Transmit, bytes: usize, sent: u32) -> Result<(), String> {
        let most = (self.link.mtu - self.link.header_bytes) as usize;
        if !(1..=most).contains(&bytes) {
            return Err(format!(
                "a datagram of {bytes} bytes; it may have 1 to {most} on this path"
            ));
        }
        if transmit.ecn == Ecn::Ce {
            return Err("a datagram with CE; senders use Not-ECT, ECT(0) or ECT(1)".to_owned());
        }
        if sent >= MOST_AT_ONCE {
            return Err(format!("more than {MOST_AT_ONCE} datagrams at one instant"));
        }
        Ok(())
    }

    /// Sends held datagrams that may leave.
    fn release(&mut self, out: &mut Outbox<'_>) {
        while self.held.front().is_some_and(|(earliest, ..)| *earliest <= out.now)
            && let Some((_, ecn, content)) = self.held.pop_front()
        {
            self.send(ecn, content, out);
        }
    }

    fn send(&mut self, ecn: Ecn, content: Vec<u8>, out: &mut Outbox<'_>) {
        let Link { flow, header_bytes, .. } = self.link;
        let bytes = content.len() as u32;
        self.sent_bytes += u64::from(bytes);
        let number = self.in_flight.push(content);
        let kind = match self.role {
            Peer::Server => PacketKind::Datagram,
            Peer::Client => PacketKind::Echo,
        };
        let mut packet = Packet::new(kind, flow, 0, number, header_bytes + bytes, out.now);
        packet.ecn = if self.link.ecn { ecn } else { Ecn::NotEct };
        match self.role {
            Peer::Server => out.send(packet),
            Peer::Client => out.reply(&mut packet),
        }
    }

    /// Lets the library act if its timer is due.
    pub(super) fn expire(&mut self, out: &mut Outbox<'_>) {
        self.release(out);
        let now = out.now;
        self.end.call(now, "expire", |end| end.expire(now));
    }

    /// Updates when its timer expires next.
    pub(super) fn set_due(&mut self, now: Time) {
        let deadline = self.end.call(now, "deadline", |end| end.deadline());
        let held = self.held.front().map_or(Time::NEVER, |(earliest, ..)| *earliest);
        self.due = deadline.unwrap_or(Time::NEVER).max(now).min(held);
    }

    /// Whether the timer may expire again after `idle` expiries at one instant that sent no
    /// datagram.
    pub(super) fn may_expire_again(&mut self, now: Time, idle: u32) -> bool {
        if idle < MOST_IDLE_EXPIRIES {
            return true;
        }
        let why = format!("still due after {idle} calls of expire at one instant");
        self.end.fail(now, "deadline", &why);
        self.due = Time::NEVER;
        false
    }
}
