//! Senders of TCP under any acknowledgements: of unsent data, with any SACK blocks, all kinds of
//! mark feedback, closed windows, and timers that fire on time.

use bolero::TypeGenerator;
use sojourn_aqm::{Rng, Span, Time};
use sojourn_sim::cc::{self, Start};
use sojourn_sim::packet::{Block, CeBytes, Packet, PacketKind};
use sojourn_sim::tcp::profile::{PROFILES, Style};
use sojourn_sim::tcp::sender::State;
use sojourn_sim::tcp::{Segments, Sender};

use crate::target;

/// An event of a sender.
#[derive(Clone, Debug, TypeGenerator)]
enum Event {
    /// An acknowledgement. Numbers are relative to a number slightly below SND.UNA.
    Ack { ack: u8, blocks: [(u8, u8); 3], window: Option<u8>, marks: Marks, age_ms: u8 },
    /// A plain ACK: acknowledges this many more segments.
    Advance(u8),
    /// Milliseconds pass, and timers expire at their times.
    Wait(u16),
    /// The next timer expires.
    Ring,
    /// The application provides more segments.
    Data(u8),
}

/// The mark feedback of an acknowledgement, right or wrong.
#[derive(Clone, Debug, TypeGenerator)]
struct Marks {
    echo: bool,
    ace: u8,
    bytes: Option<u32>,
}

/// A sender and its events.
#[derive(Clone, Debug, TypeGenerator)]
struct Script {
    profile: u8,
    control: u8,
    ecn: bool,
    accurate: bool,
    initial_window: u8,
    rtt_ms: Option<u8>,
    count: u16,
    offered: u16,
    events: Vec<Event>,
}

/// A sender with its host's state.
struct Host {
    sender: Sender,
    /// In recoveries, ns-2's Sack1 recounts its pipe instead of the data in flight.
    counts_pipe: bool,
    now: Time,
    /// Segments of the application.
    count: u32,
    una: u32,
    nxt: u32,
    /// One past the highest segment that was ever offered.
    offered: u32,
    /// New segments sent by the present event.
    new: u32,
}

impl Host {
    fn new(script: &Script) -> Host {
        let controls = cc::controls();
        let name = controls[usize::from(script.control) % controls.len()].name;
        let mut control = (cc::configure(name).expect("it is registered").factory)();
        let initial_window = u32::from(script.initial_window % 32).max(1);
        let rtt = script.rtt_ms.map(|ms| Span::from_millis(u64::from(ms)));
        control.on_start(&Start {
            now: Time::ZERO,
            flow: 0,
            initial_window,
            payload_bytes: 1000,
            packet_bytes: 1052,
            rtt,
            ecn: script.ecn,
            rng: Rng::stream(1, "fuzz", 0),
        });
        let count = u32::from(script.count);
        let segments = Segments {
            flow: 0,
            connection: 1,
            payload_bytes: 1000,
            header_bytes: 52,
            ecn: script.ecn,
            accurate: script.ecn && script.accurate,
            count,
            last_payload_bytes: 1000,
            initial_window,
        };
        let profile = PROFILES[usize::from(script.profile) % PROFILES.len()];
        let mut sender = Sender::new(segments, profile, control);
        if let Some(rtt) = rtt {
            sender.on_established(rtt);
        }
        let (now, offered) = (Time::ZERO, u32::from(script.offered));
        sender.set_receive_window(offered, 0);
        let counts_pipe = profile.recovery == Style::Pipe;
        Host { sender, counts_pipe, now, count, una: 0, nxt: 0, offered, new: 0 }
    }

    /// Lets the sender act, and checks the segments that it sends.
    fn act(&mut self, act: impl FnOnce(&mut Sender, Time, &mut dyn FnMut(Packet))) {
        let Host { sender, now, count, una, nxt, offered, new, .. } = self;
        *new = 0;
        let mut emit = |packet: Packet| {
            if packet.kind == PacketKind::WindowProbe {
                return;
            }
            assert!(packet.seq < *count, "what the application does not have is not sent");
            assert!(packet.seq >= *una, "acknowledged data is not retransmitted");
            assert!(packet.seq <= *nxt, "new segments leave in order");
            if packet.seq == *nxt {
                assert!(*nxt < *offered, "nothing leaves beyond what was ever offered");
                (*nxt, *new) = (*nxt + 1, *new + 1);
            }
        };
        act(sender, *now, &mut emit);
    }

    fn acknowledge(&mut self, ack: &Packet) {
        if ack.seq <= self.nxt {
            self.una = self.una.max(ack.seq);
            self.offered = self.offered.max(ack.seq.saturating_add(ack.window));
        }
        self.act(|sender, now, mut emit| sender.on_ack(now, ack, &mut emit));
        let fits = self.sender.in_flight() <= self.sender.window().cwnd;
        assert!(self.new == 0 || fits || self.counts_pipe, "new data beyond the window");
    }

    fn ring(&mut self) {
        self.now = self.sender.next_timer();
        self.act(|sender, now, mut emit| sender.on_timer(now, &mut emit));
        assert!(self.sender.next_timer() > self.now, "a timer that has expired is set again");
    }

    fn happen(&mut self, event: &Event) {
        match event {
            Event::Ack { ack, blocks, window, marks, age_ms } => {
                // Numbers start four below SND.UNA.
                let number = |n: u8| (self.una + u32::from(n)).saturating_sub(4);
                let sent = self.now.as_nanos().saturating_sub(u64::from(*age_ms) * 1_000_000);
                let stamp = Time::from_nanos(sent);
                let mut packet = Packet::new(PacketKind::Ack, 0, 1, number(*ack), 52, stamp);
                for (block, &(start, length)) in packet.sack.iter_mut().zip(blocks) {
                    let start = number(start);
                    *block = Block { start, end: start + u32::from(length) };
                }
                packet.window = window.map_or(u32::MAX, u32::from);
                packet.signal = marks.echo;
                packet.ace = marks.ace % 8;
                packet.ce_bytes = marks.bytes.map(CeBytes::new);
                self.acknowledge(&packet);
            }
            Event::Advance(segments) => {
                let ack = self.nxt.min(self.una + u32::from(*segments % 8));
                self.acknowledge(&Packet::new(PacketKind::Ack, 0, 1, ack, 52, self.now));
            }
            Event::Wait(millis) => {
                let until = self.now + Span::from_millis(u64::from(*millis));
                for _ in 0..200 {
                    if self.sender.next_timer() > until {
                        break;
                    }
                    self.ring();
                }
                self.now = self.now.max(until.min(self.sender.next_timer()));
            }
            Event::Ring if self.sender.next_timer() < Time::NEVER => self.ring(),
            Event::Ring => {}
            Event::Data(segments) => {
                self.count += u32::from(*segments);
                let count = self.count;
                self.act(|sender, now, mut emit| {
                    sender.append(count);
                    sender.send(now, &mut emit);
                });
            }
        }
    }

    fn check(&self) {
        let (outstanding, flying) = (self.nxt - self.una, self.sender.in_flight());
        // Both copies of a segment are in flight if its loss was withdrawn.
        assert!(flying <= 2 * outstanding, "{flying} in flight of {outstanding} outstanding");
        let window = self.sender.window();
        assert!((1..1 << 24).contains(&window.cwnd), "a window of {}", window.cwnd);
        assert!(window.ssthresh >= 1, "a threshold of {}", window.ssthresh);
        if outstanding > 0 {
            assert!(self.sender.next_timer() < Time::NEVER, "a timer is set while data is unsent");
        }
        let times = self.sender.times(self.now);
        assert!(times.rwnd_limited <= times.busy && times.busy <= self.now.since(Time::ZERO));
        assert!(self.sender.state() != State::Loss || outstanding > 0 || self.una > 0);
    }
}

target! {
    /// No panic, no segment beyond the windows, no counter below zero, no connection without a
    /// timer.
    fn every_sender_survives_any_acknowledgements(script: Script) {
        let mut host = Host::new(script);
        host.act(|sender, now, mut emit| sender.send(now, &mut emit));
        host.check();
        for event in script.events.iter().take(200) {
            host.happen(event);
            host.check();
        }
    }
}
