//! @NAME@: say here which library this is an adapter of, and which version.
//!
//! It begins as a small working transport: one stream in each direction, a window of bytes that
//! grows by one datagram per round trip and is halved after a loss, and go-back-N. It has neither
//! ECN nor pacing. A datagram is its kind, the flag of the last byte, an offset, and payload.

use std::collections::VecDeque;

use sojourn_aqm::{Ecn, Span, Time};
use sojourn_endpoint::{
    Carries, ConnectionEvent, Datagram, Endpoint, HostSettings, Peer, Read, Stack, Stats,
    StreamNumber, Transmit,
};
use sojourn_endpoint_c::{export::FromSettings, export_stack};

const HELLO: u8 = 1;
const WELCOME: u8 = 2;
const DATA: u8 = 3;
const ACK: u8 = 4;
const BYE: u8 = 5;
const HEADER_BYTES: u64 = 10;
const LEAST_TIMEOUT: Span = Span::from_millis(200);
const FIRST_TIMEOUT: Span = Span::from_millis(1000);

export_stack!(MyStack);

/// The library with its settings.
#[derive(Debug)]
pub struct MyStack {
    /// Datagrams sent in the first round trip.
    window: u64,
}

impl FromSettings for MyStack {
    fn from_settings(settings: &[(&str, &str)]) -> Result<MyStack, String> {
        let mut window = 10;
        for &(name, value) in settings {
            let known = value.parse().ok().filter(|datagrams| (1..=10_000).contains(datagrams));
            window = match (name, known) {
                ("window", Some(datagrams)) => datagrams,
                ("window", None) => {
                    return Err("window: write the number of datagrams, 1 to 10000".to_owned());
                }
                _ => return Err("its only setting is `window`".to_owned()),
            };
        }
        Ok(MyStack { window })
    }
}

impl Stack for MyStack {
    fn describe(&self) -> String {
        format!("window={}", self.window)
    }

    fn carries(&self) -> Carries {
        Carries::UdpPayload
    }

    fn has_ecn(&self) -> bool {
        false
    }

    fn unrepeatable(&self) -> Option<&'static str> {
        None
    }

    fn open(&self, host: HostSettings, _now: Time) -> Result<Box<dyn Endpoint>, String> {
        let headers = u64::from(Carries::UdpPayload.header_bytes()) + HEADER_BYTES;
        let payload_bytes = u64::from(host.mtu).checked_sub(headers).filter(|&bytes| bytes > 0);
        let payload_bytes = payload_bytes.ok_or("the path carries no payload")?;
        let window_bytes = self.window * payload_bytes;
        let due = Time::NEVER;
        Ok(Box::new(End { role: host.role, payload_bytes, window_bytes, due, ..End::default() }))
    }
}

/// One end of a connection. Amounts of data are bytes since the start; its end counts as one.
struct End {
    role: Peer,
    payload_bytes: u64,
    due: Time,
    events: VecDeque<ConnectionEvent>,
    to_say: Option<u8>,
    is_open: bool,
    written: u64,
    sent: u64,
    acked: u64,
    highest: u64,
    recovered_at: u64,
    window_bytes: u64,
    lost_bytes: u64,
    has_end: bool,
    is_blocked: bool,
    duplicates: u32,
    /// The offset whose round trip is timed, and since when.
    timed: Option<(u64, Time)>,
    rtt: Option<Span>,
    received: u64,
    unread: u64,
    is_complete: bool,
}

impl Default for End {
    fn default() -> End {
        End {
            role: Peer::Client,
            payload_bytes: 0,
            due: Time::NEVER,
            events: VecDeque::new(),
            to_say: None,
            is_open: false,
            written: 0,
            sent: 0,
            acked: 0,
            highest: 0,
            recovered_at: 0,
            window_bytes: 0,
            lost_bytes: 0,
            has_end: false,
            is_blocked: false,
            duplicates: 0,
            timed: None,
            rtt: None,
            received: 0,
            unread: 0,
            is_complete: false,
        }
    }
}

impl End {
    fn set_timer(&mut self, now: Time) {
        let twice = |rtt: Span| LEAST_TIMEOUT.max(Span::from_nanos(2 * rtt.as_nanos()));
        let wait = self.rtt.map_or(FIRST_TIMEOUT, twice);
        self.due = if self.sent > self.acked { now + wait } else { Time::NEVER };
    }

    /// Sends everything after the last acknowledged byte again, in half the window.
    fn go_back(&mut self, now: Time) {
        self.window_bytes = (self.window_bytes / 2).max(2 * self.payload_bytes);
        self.lost_bytes += self.payload_bytes.min(self.sent - self.acked);
        self.recovered_at = self.highest;
        self.sent = self.acked;
        self.duplicates = 0;
        self.timed = None;
        self.set_timer(now);
    }

    fn on_ack(&mut self, now: Time, acked: u64) {
        if acked > self.highest || acked < self.acked {
            return;
        }
        if acked == self.acked {
            self.duplicates += 1;
            if self.duplicates == 3 && acked >= self.recovered_at {
                self.go_back(now);
            }
            return;
        }
        if let Some((_, since)) = self.timed.take_if(|(timed, _)| acked >= *timed) {
            let sample = now.since(since).as_nanos();
            let smooth = |rtt: Span| (7 * rtt.as_nanos() + sample) / 8;
            self.rtt = Some(Span::from_nanos(self.rtt.map_or(sample, smooth)));
        }
        self.window_bytes += self.payload_bytes * (acked - self.acked) / self.window_bytes;
        self.acked = acked;
        self.sent = self.sent.max(acked);
        self.duplicates = 0;
        if self.is_blocked && self.written.saturating_sub(acked) <= self.window_bytes {
            self.is_blocked = false;
            self.events.push_back(ConnectionEvent::Writable(0));
        }
        self.set_timer(now);
    }

    fn on_data(&mut self, offset: u64, length: u64, is_last: bool) {
        self.to_say = Some(ACK);
        if offset == self.received {
            self.received += length + u64::from(is_last);
            self.unread += length;
            self.is_complete |= is_last;
            self.events.push_back(ConnectionEvent::Readable(0));
        }
    }

    /// The length of the next datagram with data.
    fn next_length(&self) -> Option<u64> {
        let in_flight = self.sent - self.acked;
        let all = self.written + u64::from(self.has_end);
        if !self.is_open || self.sent >= all || in_flight >= self.window_bytes {
            return None;
        }
        let length = self.payload_bytes.min(self.written.saturating_sub(self.sent));
        // More may be written soon: no small datagram while others are in flight.
        let waits = length < self.payload_bytes && !self.has_end && in_flight > 0;
        (!waits).then_some(length)
    }
}

impl Endpoint for End {
    fn connect(&mut self, now: Time) {
        self.to_say = Some(HELLO);
        self.due = now + FIRST_TIMEOUT;
    }

    fn input(&mut self, now: Time, datagram: Datagram<'_>) {
        let Some((header, payload)) = datagram.bytes.split_first_chunk::<10>() else { return };
        let [kind, is_last, offset @ ..] = *header;
        let offset = u64::from_le_bytes(offset);
        match kind {
            HELLO => self.to_say = Some(WELCOME),
            WELCOME if self.is_open => return,
            WELCOME => self.due = Time::NEVER,
            DATA => return self.on_data(offset, payload.len() as u64, is_last != 0),
            ACK => return self.on_ack(now, offset),
            _ => {
                let reason = "the peer has closed".to_owned();
                return self.events.push_back(ConnectionEvent::Closed(reason));
            }
        }
        if !self.is_open {
            self.events.push_back(ConnectionEvent::Connected);
        }
        self.is_open = true;
    }

    fn output(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let (kind, is_last, offset, length) = match self.to_say.take() {
            Some(kind) => (kind, false, self.received, 0),
            None => {
                let (offset, length) = (self.sent, self.next_length()?);
                let is_last = self.has_end && offset + length == self.written;
                self.sent += length + u64::from(is_last);
                if self.timed.is_none() && self.sent > self.highest {
                    self.timed = Some((self.sent, now));
                }
                self.highest = self.highest.max(self.sent);
                if self.due == Time::NEVER {
                    self.set_timer(now);
                }
                (DATA, is_last, offset, length)
            }
        };
        buffer.extend([kind, u8::from(is_last)]);
        buffer.extend(offset.to_le_bytes());
        buffer.resize((HEADER_BYTES + length) as usize, 0);
        Some(Transmit { ecn: Ecn::NotEct, earliest: now })
    }

    fn deadline(&mut self) -> Time {
        self.due
    }

    fn expire(&mut self, now: Time) {
        match self.role {
            _ if now < self.due => {}
            Peer::Client if !self.is_open => self.connect(now),
            _ => self.go_back(now),
        }
    }

    fn event(&mut self) -> Option<ConnectionEvent> {
        self.events.pop_front()
    }

    fn write(&mut self, _now: Time, stream: StreamNumber, bytes: u64, finish: bool) -> u64 {
        if stream != 0 || !self.is_open || self.has_end {
            return 0;
        }
        let ahead = self.written - self.acked;
        let taken = bytes.min((2 * self.window_bytes).saturating_sub(ahead));
        self.written += taken;
        self.is_blocked = taken < bytes;
        self.has_end = finish && taken == bytes;
        taken
    }

    fn read(&mut self, _now: Time, stream: StreamNumber) -> Read {
        if stream != 0 {
            return Read::default();
        }
        Read { bytes: std::mem::take(&mut self.unread), is_finished: self.is_complete }
    }

    fn close(&mut self, _now: Time) {
        self.to_say = Some(BYE);
    }

    fn stats(&self) -> Stats {
        Stats {
            cwnd_bytes: Some(self.window_bytes),
            in_flight_bytes: Some(self.sent - self.acked),
            smoothed_rtt: self.rtt,
            lost_bytes: Some(self.lost_bytes),
            ..Stats::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes on all datagrams of one end but the `lost`th.
    fn deliver(now: Time, from: &mut dyn Endpoint, to: &mut dyn Endpoint, lost: Option<usize>) {
        let mut sent = 0;
        loop {
            let mut buffer = Vec::new();
            let Some(Transmit { ecn, .. }) = from.output(now, &mut buffer) else { return };
            if lost != Some(sent) {
                to.input(now, Datagram { ecn, bytes: &buffer });
            }
            sent += 1;
        }
    }

    #[test]
    fn data_arrives_whole_although_a_datagram_is_lost() {
        let stack = MyStack::from_settings(&[("window", "4")]).expect("it has the setting");
        let [mut client, mut server] = [Peer::Client, Peer::Server].map(|role| {
            let host = HostSettings { role, seed: [0; 32], mtu: 1500 };
            stack.open(host, Time::ZERO).expect("the path carries payload")
        });
        client.connect(Time::ZERO);
        let (mut written, mut read) = (0, Read::default());
        for round in 0..50 {
            let now = Time::ZERO + Span::from_millis(100 * round);
            for end in [&mut client, &mut server] {
                end.expire(now);
            }
            deliver(now, client.as_mut(), server.as_mut(), None);
            written += server.write(now, 0, 20_000 - written, true);
            deliver(now, server.as_mut(), client.as_mut(), (round == 3).then_some(1));
            let more = client.read(now, 0);
            read = Read { bytes: read.bytes + more.bytes, is_finished: more.is_finished };
        }
        assert_eq!((read.bytes, read.is_finished), (20_000, true));
    }
}
