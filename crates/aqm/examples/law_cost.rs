//! Runs a law alone in a ten-line loop, for an instruction counter: `tests/beyond/packet_costs.py`
//! runs it under valgrind.
//!
//!     law_cost AQM LOAD PACKETS
//!
//! Packets of 1500 bytes leave at 10 Mbit/s. `light` offers 90 % of that, evenly; `reno` offers the
//! window of eight Reno flows over 100 ms: one packet more per flow and RTT, a 16th less per
//! signal. Only [`arrive`], [`depart`] and [`update`], which do the law's work, are counted. Prints
//! how often each was called, and the signals.

use std::collections::VecDeque;

use sojourn_aqm::{
    Aqm, Backlog, Ecn, Env, Head, Limit, QdiscSpec, Rate, Rng, Time, Verdict, registry,
};

const BYTES: u32 = 1500;
/// Time of a packet at 10 Mbit/s.
const PACKET_NS: u64 = 1_200_000;
const RTT_NS: u64 = 100_000_000;
const FLOWS: f64 = 8.0;

#[inline(never)]
fn arrive(law: &mut dyn Aqm, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> bool {
    law.on_enqueue(now, head, queue, rng) == Verdict::Pass
}

#[inline(never)]
fn depart(law: &mut dyn Aqm, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> bool {
    law.on_dequeue(now, head, queue, rng) == Verdict::Pass
}

#[inline(never)]
fn update(law: &mut dyn Aqm, due: Time, head: Option<Time>, queue: Backlog) {
    law.on_head(head);
    law.on_timer(due, queue);
}

/// The senders' rate, in packets per transmission time of a packet.
enum Load {
    Light,
    Reno { window: f64 },
}

impl Load {
    fn offered(&mut self, queued: usize) -> f64 {
        let Load::Reno { window } = self else { return 0.9 };
        let share = PACKET_NS as f64 / (RTT_NS + queued as u64 * PACKET_NS) as f64;
        *window += FLOWS * share;
        *window * share
    }

    fn on_signal(&mut self) {
        if let Load::Reno { window } = self {
            *window *= 1.0 - 0.5 / FLOWS;
        }
    }
}

fn backlog(queue: &VecDeque<Time>) -> Backlog {
    let bytes = queue.len() as u64 * u64::from(BYTES);
    Backlog { packets: queue.len() as u32, bytes, link_bytes: bytes }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [aqm, load, packets] = &args[..] else { panic!("AQM, LOAD and PACKETS are needed") };
    let mut load = match load.as_str() {
        "light" => Load::Light,
        "reno" => Load::Reno { window: FLOWS },
        _ => panic!("LOAD is light or reno"),
    };
    let packets: u64 = packets.parse().expect("a number of packets");
    let spec = QdiscSpec::parse(aqm).expect("a legal AQM");
    let rate = Some(Rate::from_bps(10_000_000));
    let env = Env { limit: Limit::Packets(1000), mtu_bytes: 1514, rate, salt: 0 };
    let mut law = registry::build_law(&spec, &env).expect("a law");
    let (mut rng, mut queue) = (Rng::stream(1, "cost", 0), VecDeque::new());
    let [mut arrivals, mut departures, mut updates, mut signals] = [0_u64; 4];
    let mut due = 0.0;
    for now in (1..=packets).map(|step| Time::from_nanos(step * PACKET_NS)) {
        while let Some(at) = law.next_timer().filter(|&at| at <= now) {
            update(law.as_mut(), at, queue.front().copied(), backlog(&queue));
            updates += 1;
        }
        due += load.offered(queue.len());
        while due >= 1.0 && queue.len() < 1000 {
            due -= 1.0;
            let head = Head { enqueued: now, bytes: BYTES, ecn: Ecn::NotEct };
            arrivals += 1;
            if arrive(law.as_mut(), now, head, backlog(&queue), &mut rng) {
                queue.push_back(now);
            } else {
                signals += 1;
                load.on_signal();
            }
        }
        loop {
            let Some(enqueued) = queue.pop_front() else {
                law.on_empty(now);
                break;
            };
            let head = Head { enqueued, bytes: BYTES, ecn: Ecn::NotEct };
            departures += 1;
            if depart(law.as_mut(), now, head, backlog(&queue), &mut rng) {
                break;
            }
            signals += 1;
            load.on_signal();
        }
    }
    println!("{arrivals} {departures} {updates} {signals}");
}
