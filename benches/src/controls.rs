//! The sender's cost per acknowledgement for every congestion control. It includes scoreboard,
//! timers and sending, but neither network nor receiver.

use std::collections::VecDeque;
use std::time::Instant;

use sojourn_aqm::{Ecn, Rng, Span, Time};
use sojourn_sim::cc::{self, Feedback, Start};
use sojourn_sim::packet::{CeBytes, Packet, PacketKind};
use sojourn_sim::tcp::profile::LINUX;
use sojourn_sim::tcp::{Segments, Sender};

/// Acknowledgements per run; the fastest of several runs counts.
const ACKS: u32 = 300_000;
const RUNS: usize = 7;
/// A path that holds 100 packets: one per 400 us, 40 ms long.
const GAP: Span = Span::from_micros(400);
const RTT: Span = Span::from_millis(40);
/// One packet in this many is marked, so that windows stay finite.
const MARKED: u32 = 200;

/// A sender over a loss-free path, with every second packet acknowledged.
struct Loop {
    sender: Sender,
    now: Time,
    /// Returning acknowledgements with their arrival times.
    acks: VecDeque<(Time, Packet)>,
    free_at: Time,
    marks: u32,
}

impl Loop {
    fn new(control: &str) -> Loop {
        let mut cc = (cc::configure(control).expect("a registered control").factory)();
        let (now, rng) = (Time::ZERO, Rng::stream(1, "bench", 0));
        let (initial_window, payload_bytes) = (10, 1448);
        cc.on_start(&Start {
            now,
            flow: 0,
            initial_window,
            payload_bytes,
            packet_bytes: payload_bytes + 52,
            rtt: Some(RTT),
            ecn: true,
            rng,
        });
        let segments = Segments {
            flow: 0,
            connection: 1,
            payload_bytes,
            header_bytes: 52,
            ecn: true,
            accurate: cc.needs().feedback == Feedback::Accurate,
            count: u32::MAX,
            last_payload_bytes: payload_bytes,
            initial_window,
        };
        let mut sender = Sender::new(segments, LINUX, cc);
        sender.on_established(RTT);
        let acks = VecDeque::new();
        let mut path = Loop { sender, now, acks, free_at: now, marks: 0 };
        path.act(|sender, now, mut emit| sender.send(now, &mut emit));
        path
    }

    /// Lets the sender act, and transports the packets that it sends.
    fn act(&mut self, act: impl FnOnce(&mut Sender, Time, &mut dyn FnMut(Packet))) {
        let Loop { sender, now, acks, free_at, marks } = self;
        let mut emit = |packet: Packet| {
            *free_at = (*free_at).max(*now) + GAP;
            if packet.ecn != Ecn::NotEct && packet.seq.is_multiple_of(MARKED) {
                *marks += 1;
            }
            if packet.seq % 2 == 1 {
                let mut ack = Packet::new(PacketKind::Ack, 0, 1, packet.seq + 1, 52, packet.sent);
                ack.signal = packet.seq % MARKED == 1;
                ack.ace = ((*marks + 5) % 8) as u8;
                ack.ce_bytes = Some(CeBytes::new(*marks * 1448));
                acks.push_back((*free_at + RTT, ack));
            }
        };
        act(sender, *now, &mut emit);
    }

    fn run(&mut self, acks: u32) {
        let mut taken = 0;
        while taken < acks {
            let timer = self.sender.next_timer();
            match self.acks.front() {
                Some(&(at, ack)) if at <= timer => {
                    self.acks.pop_front();
                    self.now = at;
                    self.act(|sender, now, mut emit| sender.on_ack(now, &ack, &mut emit));
                    taken += 1;
                }
                _ => {
                    self.now = timer;
                    self.act(|sender, now, mut emit| sender.on_timer(now, &mut emit));
                }
            }
        }
    }
}

fn nanos_per_ack(control: &str) -> f64 {
    let once = || {
        let mut path = Loop::new(control);
        path.run(1_000);
        let start = Instant::now();
        path.run(ACKS);
        start.elapsed().as_secs_f64() * 1e9 / f64::from(ACKS)
    };
    (0..RUNS).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// The table.
pub fn table() {
    println!("\n### Nanoseconds per acknowledgement at the sender, every congestion control\n");
    println!(
        "Two packets sent for each, no loss, one packet in {MARKED} marked; scoreboard and timers \
         included, and pacing and delivery rate where the control needs them.\n"
    );
    println!("| congestion control | ns per acknowledgement |\n|---|---:|");
    for entry in cc::controls() {
        println!("| {} | {:.0} |", entry.name, nanos_per_ack(entry.name));
    }
}
