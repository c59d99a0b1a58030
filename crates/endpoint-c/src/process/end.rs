//! One end of a connection, whose library is in a process.

use std::collections::VecDeque;

use sojourn_aqm::Time;
use sojourn_endpoint::{ConnectionEvent, Datagram, Endpoint, Read, Stats, StreamNumber, Transmit};

use super::channel::{Channel, MALFORMED};
use super::wire::{Item, Request};
use crate::described::{code, ecn, event_of, too_long};

/// One end. The process answers with everything up to the next event; the host takes the parts one
/// by one.
pub(super) struct ProcessEnd {
    channel: Channel,
    datagram_bytes: u32,
    /// The rest of the last answer: events, datagrams and pauses that the host has not taken.
    ahead: VecDeque<Item>,
    /// Whether nothing follows this rest at this instant.
    is_quiet: bool,
    now: Time,
    due: Time,
    stats: Stats,
    failure: Option<String>,
    has_failed: bool,
}

impl ProcessEnd {
    pub(super) fn new(channel: Channel, datagram_bytes: u32) -> ProcessEnd {
        ProcessEnd {
            channel,
            datagram_bytes,
            ahead: VecDeque::new(),
            is_quiet: true,
            now: Time::ZERO,
            due: Time::NEVER,
            stats: Stats::default(),
            failure: None,
            has_failed: false,
        }
    }

    fn fail(&mut self, why: String) {
        self.has_failed = true;
        self.failure.get_or_insert(why);
    }

    /// Sends a request and keeps the answer; returns the value in it.
    fn ask(&mut self, now: Time, request: &Request<'_>) -> Option<(u64, u64)> {
        self.now = now;
        self.is_quiet = false;
        if self.has_failed {
            return None;
        }
        let answer = self.channel.ask(now, request).map_err(|why| self.fail(why)).ok()?;
        let mut value = None;
        for item in answer {
            match item {
                Item::Quiet { deadline, stats } => {
                    (self.due, self.is_quiet) = (Time::from_nanos(deadline), true);
                    self.stats = stats;
                }
                Item::Value { first, second, stats } => {
                    (value, self.stats) = (Some((first, second)), stats);
                }
                Item::Failed(why) => self.fail(why),
                Item::Datagram { .. } | Item::Event { .. } | Item::Pause => {
                    self.ahead.push_back(item);
                }
                Item::Described { .. } | Item::Refused(_) | Item::Opened => {
                    self.fail(MALFORMED.to_owned());
                }
            }
        }
        value
    }

    /// The value of an answer that has one.
    fn value(&mut self, now: Time, request: &Request<'_>) -> (u64, u64) {
        let value = self.ask(now, request);
        if value.is_none() {
            self.fail(MALFORMED.to_owned());
        }
        value.unwrap_or_default()
    }
}

impl Endpoint for ProcessEnd {
    fn connect(&mut self, now: Time) {
        self.ask(now, &Request::Connect);
    }

    fn input(&mut self, now: Time, datagram: Datagram<'_>) {
        let (ecn, bytes) = (code(datagram.ecn), datagram.bytes);
        self.ask(now, &Request::Input { ecn, bytes });
    }

    fn output(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if matches!(self.ahead.front(), Some(Item::Pause)) {
            self.ahead.pop_front();
            self.ask(now, &Request::More);
        }
        if !matches!(self.ahead.front(), Some(Item::Datagram { .. })) {
            return None;
        }
        let Some(Item::Datagram { earliest, ecn: field, length, stats, bytes }) =
            self.ahead.pop_front()
        else {
            unreachable!("it was in front")
        };
        self.stats = stats;
        if bytes.len() as u64 != length {
            self.fail(too_long(length, self.datagram_bytes));
            return None;
        }
        let ecn = ecn(field).map_err(|why| self.fail(why)).ok()?;
        buffer.extend_from_slice(&bytes);
        Some(Transmit { ecn, earliest: Time::from_nanos(earliest) })
    }

    fn deadline(&mut self) -> Time {
        self.due
    }

    fn expire(&mut self, now: Time) {
        self.ask(now, &Request::Expire);
    }

    fn event(&mut self) -> Option<ConnectionEvent> {
        if self.ahead.is_empty() && !self.is_quiet {
            self.ask(self.now, &Request::GoOn);
        }
        if !matches!(self.ahead.front(), Some(Item::Event { .. })) {
            return None;
        }
        let Some(Item::Event { kind, stream, reason }) = self.ahead.pop_front() else {
            unreachable!("it was in front")
        };
        let reason = Some(reason).filter(|reason| !reason.is_empty());
        event_of(kind, stream, reason).map_err(|why| self.fail(why)).ok()
    }

    fn write(&mut self, now: Time, stream: StreamNumber, bytes: u64, finish: bool) -> u64 {
        self.value(now, &Request::Write { stream, bytes, finish }).0
    }

    fn read(&mut self, now: Time, stream: StreamNumber) -> Read {
        let (bytes, is_finished) = self.value(now, &Request::Read { stream });
        Read { bytes, is_finished: is_finished != 0 }
    }

    fn close(&mut self, now: Time) {
        self.ask(now, &Request::Close);
    }

    fn stats(&self) -> Stats {
        self.stats
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.take()
    }
}
