use std::sync::Arc;

use sojourn_aqm::Span;
use sojourn_endpoint::{
    Carries, ConfiguredStack, Datagram, Endpoint, HostSettings, MediaFrame, Read, Transmit,
};
use sojourn_record::Run;
use sojourn_scenario::{Resolved, Scenario, Source};

use super::*;
use crate::assemble::{Timing, world};
use crate::{Custom, SimError, run_with};

/// How a library misbehaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Fault {
    #[default]
    None,
    Panics,
    SendsBytes(usize),
    SendsCe,
    Spins,
    TakesTooMuch,
    TakesAll,
    ReadsTooMuch,
    NeverQuiet,
    SaysWhy,
}

/// A library that, once asked, sends 1,000 bytes every millisecond regardless of losses.
#[derive(Clone, Copy, Debug, Default)]
struct Steady {
    fault: Fault,
    has_ecn: bool,
    hold: Span,
}

struct End {
    stack: Steady,
    role: Peer,
    events: Vec<ConnectionEvent>,
    due: Time,
    /// Bytes still to send; `finish` follows them.
    to_send: u64,
    has_to_send_now: bool,
    arrived: u64,
}

impl Stack for Steady {
    fn describe(&self) -> String {
        "steady 1".to_owned()
    }

    fn carries(&self) -> Carries {
        Carries::UdpPayload
    }

    fn has_ecn(&self) -> bool {
        self.has_ecn
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
            has_to_send_now: false,
            arrived: 0,
        }))
    }
}

impl Endpoint for End {
    fn connect(&mut self, now: Time) {
        self.events.push(ConnectionEvent::Connected);
        self.due = now;
    }

    fn input(&mut self, now: Time, datagram: Datagram<'_>) {
        if self.role == Peer::Server && self.due == Time::NEVER {
            self.due = now;
        }
        self.arrived += datagram.bytes.len() as u64;
        self.events.push(ConnectionEvent::Readable(0));
    }

    fn output(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let bytes = std::mem::take(&mut self.has_to_send_now).then_some(1000)?;
        let (ecn, bytes) = match (self.stack.fault, self.stack.has_ecn) {
            (Fault::SendsBytes(bytes), _) => (Ecn::NotEct, bytes),
            (Fault::SendsCe, _) => (Ecn::Ce, bytes),
            (_, true) => (Ecn::Ect0, bytes),
            (_, false) => (Ecn::NotEct, bytes),
        };
        buffer.resize(bytes, 7);
        Some(Transmit { ecn, earliest: now + self.stack.hold })
    }

    fn deadline(&mut self) -> Time {
        self.due
    }

    fn expire(&mut self, now: Time) {
        match self.stack.fault {
            Fault::Panics if now > Time::from_nanos(500_000_000) => panic!("no window"),
            Fault::Spins if self.role == Peer::Server => return,
            _ => {}
        }
        self.due = now + Span::from_millis(if self.role == Peer::Server { 1 } else { 500 });
        self.has_to_send_now = self.role == Peer::Client || self.to_send > 0;
        self.to_send = self.to_send.saturating_sub(1000);
    }

    fn event(&mut self) -> Option<ConnectionEvent> {
        let endless = ConnectionEvent::Readable(9);
        self.events.pop().or((self.stack.fault == Fault::NeverQuiet).then_some(endless))
    }

    fn write(&mut self, _now: Time, _stream: u64, bytes: u64, _finish: bool) -> u64 {
        self.to_send = 1 << 30;
        match (self.stack.fault, self.role) {
            (Fault::TakesTooMuch, Peer::Server) => bytes + 1,
            (Fault::TakesAll, Peer::Server) => bytes,
            (_, Peer::Server) => 0,
            (_, Peer::Client) => bytes,
        }
    }

    fn read(&mut self, _now: Time, _stream: u64) -> Read {
        let more = u64::from(self.stack.fault == Fault::ReadsTooMuch);
        let bytes = std::mem::take(&mut self.arrived) + more;
        Read { bytes, is_finished: self.role == Peer::Server }
    }

    fn close(&mut self, _now: Time) {}

    fn stats(&self) -> Stats {
        Stats::default()
    }

    fn failure(&mut self) -> Option<String> {
        (self.stack.fault == Fault::SaysWhy).then(|| "no entropy".to_owned())
    }
}

const SCENARIO: &str = "name = 'l'\nduration = '2s'\nwarmup = '1s'\nrecord.latency = true\n\
                        [links.b]\nrate = '4mbit'\ndelay = '10ms'\nbuffer = '20p'\n\
                        queue = 'taildrop'\nloss = { kind = 'bernoulli', rate = 0.05 }\n\
                        [links.r]\nrate = '1mbit'\nqueue = 'taildrop'\n\
                        [[flows]]\nname = 'd'\npath = ['b']\nreverse = ['r']\nrtt = '40ms'\n\
                        transport = 'x'\napp = { kind = 'bulk' }\n";

fn load(text: &str) -> Resolved {
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let loaded = Scenario::load(text, &Source::default(), &none).expect("it is legal");
    loaded.resolved().clone()
}

fn custom(name: &str, stack: Steady) -> Custom {
    let stacks = [(name.to_owned(), ConfiguredStack::new(Arc::new(stack)))].into();
    Custom { stacks, ..Custom::default() }
}

fn run(text: &str, name: &str, stack: Steady) -> Result<Run, SimError> {
    run_with(&load(text), &custom(name, stack), &|_| true)
}

fn refusal(text: &str, name: &str, stack: Steady) -> String {
    run(text, name, stack).expect_err("it is refused").to_string()
}

fn value(run: &Run, metric: &str) -> f64 {
    let row = run.summary.iter().find(|row| row.metric == metric);
    row.unwrap_or_else(|| panic!("no {metric}")).value
}

/// 1,000 bytes and a 28-byte header every millisecond are 8.2 Mbit/s; the link carries 4 Mbit/s.
#[test]
fn datagrams_of_a_library_queue_and_are_dropped_like_others() {
    let run = run(SCENARIO, "x", Steady::default()).expect("it runs");
    let expected = 4e6 * 0.95 * 1000.0 / 1028.0;
    let goodput = value(&run, "goodput");
    assert!((goodput / expected - 1.0).abs() < 0.05, "{goodput}, expected {expected}");
    assert!(value(&run, "drop_rate") > 0.4);
    assert!(value(&run, "owd_mean") > 0.01);
}

#[test]
fn what_a_dropped_or_lost_packet_contained_is_freed() {
    let plan = load(SCENARIO);
    let custom = custom("x", Steady::default());
    let mut world = world(&plan, &custom, Timing::Late, &|_| true).expect("it can be built");
    assert!(world.run::<false>(&|_| true));
    let flow = world.flows[0].ends.library().expect("it has a library");
    assert!(flow.server.sent_bytes > 1_900_000);
    // The link holds 21 packets; a wire of 10 ms and an access link of 20 ms hold 15; losses go
    // unnoticed for up to 10 ms.
    assert!(flow.server.in_flight.len() <= 60, "{}", flow.server.in_flight.len());
    assert!(flow.client.in_flight.len() <= 2);
}

#[test]
fn a_datagram_is_held_until_its_earliest_time() {
    let at_once = run(SCENARIO, "x", Steady::default()).expect("it runs");
    let hold = Span::from_millis(300);
    let held = run(SCENARIO, "x", Steady { hold, ..Steady::default() }).expect("it runs");
    let sent = |run: &Run| value(run, "events");
    assert!(sent(&held) < sent(&at_once));
    assert!(value(&held, "goodput") > 0.0);
}

#[test]
fn breaches_of_the_contract_end_the_run_with_one_sentence() {
    for (fault, sentence) in [
        (Fault::Panics, "expire: it panicked: no window"),
        (Fault::SendsBytes(0), "output: a datagram of 0 bytes; it may have 1 to 1472 on this path"),
        (Fault::SendsBytes(70_000), "output: a datagram of 70000 bytes; it may have 1 to 1472"),
        (Fault::SendsCe, "output: a datagram with CE"),
        (Fault::Spins, "deadline: still due after 1000 calls of expire at one instant"),
        (Fault::TakesTooMuch, "write: it took 1048577 of 1048576 bytes"),
        (
            Fault::TakesAll,
            "write: it took 269484032 bytes at one instant; a few congestion windows",
        ),
        (Fault::ReadsTooMuch, "read: 1001 bytes, of 1000 in unread datagrams"),
        (Fault::NeverQuiet, "event: more than 100000 events at one instant"),
        (Fault::SaysWhy, "connect: no entropy"),
    ] {
        let message = refusal(SCENARIO, "x", Steady { fault, ..Steady::default() });
        assert!(message.starts_with("endpoint[x]: flows `d`, flow 0, "), "{message}");
        assert!(message.contains(sentence), "{message}");
    }
}

#[test]
fn a_transport_without_a_library_and_a_library_without_flows_are_refused() {
    let plain = SCENARIO.replace("transport = 'x'\n", "");
    let steady = Steady::default;
    assert!(refusal(SCENARIO, "y", steady()).contains("endpoint[y]: no flows have this transport"));
    assert!(refusal(&plain, "x", steady()).contains("no flows have a `transport`"));
    let none = run_with(&load(SCENARIO), &Custom::default(), &|_| true).expect_err("no library");
    assert!(none.to_string().contains("flows[0].transport: no library is given for `x`"), "{none}");
}

#[test]
fn a_library_without_ecn_is_refused_where_ecn_is_the_experiment() {
    let asks = SCENARIO.replace("transport", "ecn = true\ntransport");
    let message = refusal(&asks, "x", Steady::default());
    assert!(message.contains("steady 1 has no ECN, and flows[0] has ecn = true"), "{message}");
    let l4s = SCENARIO.replace("queue = 'taildrop'\nloss", "queue = 'dualpi2'\nloss");
    let message = refusal(&l4s, "x", Steady::default());
    assert!(message.contains("links.b is an L4S queue"), "{message}");
    run(&asks, "x", Steady { has_ecn: true, ..Steady::default() }).expect("it has ECN");
}

#[test]
fn the_ecn_field_passes_only_where_the_hosts_pass_it_on() {
    let marking =
        SCENARIO.replace("'taildrop'\nloss", "'codel:ecn=true'\nloss").replace("20p", "1000p");
    let marking = marking.replace("warmup = '1s'", "warmup = '0s'");
    let stack = Steady { has_ecn: true, ..Steady::default() };
    let marks = |text: &str| value(&run(text, "x", stack).expect("it runs"), "mark_rate");
    assert_eq!(marks(&marking), 0.0);
    assert!(marks(&marking.replace("transport", "ecn = true\ntransport")) > 0.0);
}

#[test]
fn a_stopped_flow_sends_nothing_more() {
    let stops = SCENARIO.replace("transport", "stop = '900ms'\ntransport");
    let run = run(&stops, "x", Steady::default()).expect("it runs");
    assert!(!run.summary.iter().any(|row| row.metric == "goodput" && row.value > 0.0));
}

/// A library that sends every second frame it is offered, one datagram each, and claims `more`
/// bytes than it was offered.
#[derive(Clone, Copy, Debug, Default)]
struct Camera {
    more: u64,
}

#[derive(Default)]
struct CameraEnd {
    more: u64,
    offered: u32,
    leaving: Option<u32>,
    events: Vec<ConnectionEvent>,
    unread: u64,
}

impl Stack for Camera {
    fn describe(&self) -> String {
        "camera 1".to_owned()
    }

    fn carries(&self) -> Carries {
        Carries::UdpPayload
    }

    fn has_ecn(&self) -> bool {
        false
    }

    fn carries_video(&self) -> bool {
        true
    }

    fn unrepeatable(&self) -> Option<&'static str> {
        None
    }

    fn open(&self, _host: HostSettings, _now: Time) -> Result<Box<dyn Endpoint>, String> {
        Ok(Box::new(CameraEnd { more: self.more, ..CameraEnd::default() }))
    }
}

impl Endpoint for CameraEnd {
    fn connect(&mut self, _now: Time) {
        self.events.push(ConnectionEvent::Connected);
    }

    fn input(&mut self, _now: Time, datagram: Datagram<'_>) {
        let number = datagram.bytes.first_chunk().expect("it has a number");
        self.unread += datagram.bytes.len() as u64;
        self.events.push(ConnectionEvent::Readable(0));
        self.events.push(ConnectionEvent::FrameComplete(u32::from_be_bytes(*number)));
    }

    fn output(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        buffer.extend_from_slice(&self.leaving.take()?.to_be_bytes());
        buffer.resize(972, 0);
        Some(Transmit { ecn: Ecn::NotEct, earliest: now })
    }

    fn deadline(&mut self) -> Time {
        Time::NEVER
    }

    fn expire(&mut self, _now: Time) {}

    fn event(&mut self) -> Option<ConnectionEvent> {
        self.events.pop()
    }

    fn write(&mut self, _now: Time, _stream: u64, _bytes: u64, _finish: bool) -> u64 {
        panic!("a call has no streams")
    }

    fn send_frame(&mut self, _now: Time, frame: MediaFrame) -> u64 {
        self.offered += 1;
        if self.offered.is_multiple_of(2) {
            return 0;
        }
        self.leaving = Some(frame.number);
        frame.most_bytes + self.more
    }

    fn read(&mut self, _now: Time, _stream: u64) -> Read {
        Read { bytes: std::mem::take(&mut self.unread), is_finished: false }
    }

    fn close(&mut self, _now: Time) {}

    fn stats(&self) -> Stats {
        Stats::default()
    }
}

/// A call without losses or competing traffic.
fn call() -> String {
    let video = "app = { kind = 'video', frames = ['900B'], interval = '40ms' }";
    let call = SCENARIO.replace("app = { kind = 'bulk' }", video);
    call.replace("loss = { kind = 'bernoulli', rate = 0.05 }\n", "")
}

fn try_call(text: &str, more: u64) -> Result<Run, SimError> {
    let stacks = [("x".to_owned(), ConfiguredStack::new(Arc::new(Camera { more })))].into();
    run_with(&load(text), &Custom { stacks, ..Custom::default() }, &|_| true)
}

/// A packet of 1,000 bytes takes 2 ms at 4 Mbit/s, and 0.2 ms at the access link's ten times higher
/// rate. The link propagates for 10 ms, and the access links for half of the other 30 ms.
#[test]
fn frames_of_a_call_have_the_metrics_of_video() {
    let run = try_call(&call(), 0).expect("it runs");
    let (delay, goodput) = (value(&run, "frame_delay_mean"), value(&run, "goodput"));
    assert!((delay - 0.0272).abs() < 1e-6, "{delay}");
    // 12 or 13 of the frames sent arrive in each second.
    assert!((12.0..=13.0).contains(&(goodput / (972.0 * 8.0))), "{goodput}");
    assert_eq!((value(&run, "frames_skipped"), value(&run, "freezes")), (0.0, 0.0));
}

#[test]
fn a_frame_that_is_lost_is_skipped() {
    let run = try_call(
        &call().replace("[links.r]", "loss = { kind = 'bernoulli', rate = 0.2 }\n[links.r]"),
        0,
    )
    .expect("it runs");
    assert!((0.01..0.6).contains(&value(&run, "frames_skipped")));
}

#[test]
fn a_larger_frame_than_offered_and_the_wrong_kind_of_library_are_refused() {
    let message = try_call(&call(), 1).expect_err("it is refused").to_string();
    assert!(message.contains("send_frame: 901 bytes of a frame of 900"), "{message}");
    let message = refusal(&call(), "x", Steady::default());
    let sentence =
        "steady 1 carries kind `bulk` or `transfers`, and flows[0].app has kind `video`; ";
    assert!(message.contains(sentence), "{message}");
    let pages = SCENARIO.replace("kind = 'bulk'", "kind = 'web'");
    let message = refusal(&pages, "x", Steady::default());
    assert!(message.contains("and flows[0].app has kind `web`"), "{message}");
}
