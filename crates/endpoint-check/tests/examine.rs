//! The findings of the check for libraries with one fault each.

use std::sync::Arc;

use sojourn_aqm::contract::Finding;
use sojourn_aqm::{Ecn, Span, Time};
use sojourn_endpoint::{
    Carries, ConfiguredStack, ConnectionEvent, Datagram, Endpoint, HostSettings, Peer, Read, Stack,
    Stats, StreamNumber, Transmit,
};
use sojourn_endpoint_check::examine;
use sojourn_endpoint_quinn::{Quinn, QuinnSettings};

/// A server that says that it paces at 8 Mbit/s: a datagram of 1,200 bytes every 1.2 ms.
#[derive(Clone, Copy, Debug)]
struct Paced {
    /// Datagrams at one instant, and the time between such bursts.
    burst: (u32, Span),
    bytes: usize,
    /// Data that it takes from the application in total.
    takes: u64,
    quantum_bytes: Option<u64>,
    ecn: Option<Ecn>,
}

/// Between two datagrams of 1,200 bytes at 8 Mbit/s.
const PAUSE: Span = Span::from_micros(1200);

const GOOD: Paced =
    Paced { burst: (1, PAUSE), bytes: 1200, takes: 50_000, quantum_bytes: Some(3600), ecn: None };

struct End {
    stack: Paced,
    role: Peer,
    events: Vec<ConnectionEvent>,
    due: Time,
    to_send: u32,
    /// Data that it still takes.
    left: u64,
    arrived: u64,
}

impl Stack for Paced {
    fn describe(&self) -> String {
        "paced 1".to_owned()
    }

    fn carries(&self) -> Carries {
        Carries::UdpPayload
    }

    fn has_ecn(&self) -> bool {
        self.ecn.is_some()
    }

    fn unrepeatable(&self) -> Option<&'static str> {
        None
    }

    fn open(&self, host: HostSettings, _now: Time) -> Result<Box<dyn Endpoint>, String> {
        Ok(Box::new(End {
            stack: *self,
            role: host.role,
            events: Vec::new(),
            due: Time::NEVER,
            to_send: 0,
            left: self.takes,
            arrived: 0,
        }))
    }
}

impl Endpoint for End {
    fn connect(&mut self, _now: Time) {
        self.events.push(ConnectionEvent::Connected);
    }

    fn input(&mut self, now: Time, datagram: Datagram<'_>) {
        if self.role == Peer::Server {
            self.due = self.due.min(now);
        }
        self.arrived += datagram.bytes.len() as u64;
        self.events.push(ConnectionEvent::Readable(0));
    }

    fn output(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        self.to_send = self.to_send.checked_sub(1)?;
        buffer.resize(self.stack.bytes, 0);
        Some(Transmit { ecn: self.stack.ecn.unwrap_or(Ecn::NotEct), earliest: now })
    }

    fn deadline(&mut self) -> Time {
        self.due
    }

    fn expire(&mut self, now: Time) {
        let (datagrams, pause) = self.stack.burst;
        (self.to_send, self.due) = (datagrams, now + pause);
    }

    fn event(&mut self) -> Option<ConnectionEvent> {
        self.events.pop()
    }

    fn write(&mut self, _now: Time, _stream: StreamNumber, bytes: u64, _finish: bool) -> u64 {
        if self.role == Peer::Client {
            self.to_send = 1;
            return bytes;
        }
        let taken = bytes.min(self.left);
        self.left -= taken;
        taken
    }

    fn read(&mut self, _now: Time, _stream: StreamNumber) -> Read {
        let bytes = std::mem::take(&mut self.arrived);
        Read { bytes, is_finished: self.role == Peer::Server }
    }

    fn close(&mut self, _now: Time) {}

    fn stats(&self) -> Stats {
        Stats {
            cwnd_bytes: Some(100_000),
            pacing_bps: Some(8e6),
            quantum_bytes: self.stack.quantum_bytes,
            ..Stats::default()
        }
    }
}

/// The findings that do not hold, except the one about lost packets, which this server never
/// retransmits.
fn broken(stack: Paced) -> Vec<Finding> {
    let findings = examine(&ConfiguredStack::new(Arc::new(stack)));
    let lost = "a transfer over a link that loses packets is complete";
    let lossy = findings.iter().find(|it| it.promise == lost);
    assert!(lossy.is_none_or(|it| it.held == Some(false)));
    findings.into_iter().filter(|it| it.held == Some(false) && it.promise != lost).collect()
}

/// Its one broken promise, and the words that must be in the detail.
fn assert_breaks(stack: Paced, promise: &str, words: &str) {
    let broken = broken(stack);
    let [finding] = &broken[..] else { panic!("{broken:?}") };
    assert_eq!(finding.promise, promise);
    assert!(finding.detail.contains(words), "{}", finding.detail);
}

fn times(datagrams: u64) -> Span {
    Span::from_nanos(datagrams * PAUSE.as_nanos())
}

#[test]
fn a_library_that_does_what_it_says_keeps_every_promise() {
    assert_eq!(broken(GOOD), []);
    let twice = Paced { burst: (2, times(2)), ..GOOD };
    assert_eq!(broken(twice), []);
}

/// Nine datagrams every 10.8 ms keep the rate, but exceed the quantum of three.
#[test]
fn bursts_above_the_quantum_are_found() {
    let stack = Paced { burst: (9, times(9)), ..GOOD };
    let broken = broken(stack);
    let promises: Vec<&str> = broken.iter().map(|finding| finding.promise).collect();
    let expected = ["departures follow its pacing rate", "no burst exceeds its quantum"];
    assert_eq!(promises, expected);
    assert!(broken[1].detail.contains("6000 more than its quantum"), "{}", broken[1].detail);
}

/// If the library reports no quantum, the burst of RFC 9002 is allowed.
#[test]
fn without_a_quantum_the_initial_window_of_quic_is_the_limit() {
    let nine = Paced { burst: (9, times(9)), quantum_bytes: None, ..GOOD };
    assert_eq!(broken(nine), []);
    let many = Paced { burst: (40, times(40)), ..nine };
    assert_eq!(broken(many).len(), 2);
}

#[test]
fn a_rate_above_the_reported_one_is_found() {
    let stack = Paced { burst: (1, Span::from_micros(600)), ..GOOD };
    assert_breaks(stack, "departures follow its pacing rate", "% of bytes left earlier than");
}

#[test]
fn data_taken_far_ahead_is_found() {
    let stack = Paced { takes: 8 << 20, ..GOOD };
    assert_breaks(stack, "it takes little data ahead", "at most 8388608 bytes, with a congestion");
    assert_eq!(broken(Paced { takes: 1 << 20, ..GOOD }), []);
}

/// The pacing rate is kept.
#[test]
fn data_in_crumbs_is_found() {
    let stack = Paced { bytes: 400, burst: (1, Span::from_micros(400)), ..GOOD };
    assert_breaks(
        stack,
        "data leaves in full datagrams",
        "0.0 % of bytes are in datagrams of 1104",
    );
}

#[test]
fn a_library_that_claims_ecn_and_sends_not_ect_is_found() {
    let promise = "its datagrams are ECN-capable where hosts pass the field on";
    assert_breaks(Paced { ecn: Some(Ecn::NotEct), ..GOOD }, promise, "0.0 % of bytes");
    assert_eq!(broken(Paced { ecn: Some(Ecn::Ect0), ..GOOD }), []);
}

#[test]
fn a_library_whose_run_fails_has_one_finding() {
    let broken = broken(Paced { bytes: 1473, ..GOOD });
    let [finding] = &broken[..] else { panic!("{broken:?}") };
    assert!(finding.detail.contains("a datagram of 1473 bytes"), "{}", finding.detail);
}

#[test]
fn datagrams_that_only_fit_the_usual_path_are_found() {
    let stack = Paced { bytes: 1400, burst: (1, Span::from_micros(1400)), ..GOOD };
    assert_breaks(stack, "its datagrams fit the path", "1280 bytes");
}

#[test]
fn quinn_keeps_every_promise() {
    let quinn = Quinn::new(QuinnSettings::default());
    let findings = examine(&ConfiguredStack::new(Arc::new(quinn)));
    assert!(findings.iter().all(|it| it.held != Some(false)), "{findings:#?}");
    assert_eq!(findings.len(), 8);
}
