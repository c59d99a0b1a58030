//! What an enqueue and a dequeue cost together, for every entry of the registry, beside an empty FIFO.

use std::hint::black_box;
use std::time::Instant;

use sojourn_aqm::registry::{self, PRESETS};
use sojourn_aqm::{Cause, Ecn, Env, Limit, Packet, Qdisc, QdiscSpec, Rate, Rng, Sink, Stage, Time};

/// Pairs in a run; the fastest of several runs counts.
const PAIRS: u64 = 200_000;
const RUNS: usize = 7;

/// As large as the packet of the simulator.
#[derive(Clone, Copy)]
struct Parcel {
    flow: u64,
    ecn: Ecn,
    _rest: [u64; 6],
}

impl Packet for Parcel {
    fn bytes(&self) -> u32 {
        1500
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow(&self) -> u64 {
        self.flow
    }
}

struct Deaf;

impl Sink<Parcel> for Deaf {
    fn dropped(&mut self, _: Parcel, _: Time, _: Stage, _: Cause) {}
    fn marked(&mut self, _: &mut Parcel, _: Time, _: Stage, _: Cause) {}
}

/// A discipline that is kept at a backlog.
struct Bench {
    qdisc: Box<dyn Qdisc<Parcel>>,
    rng: Rng,
    now: u64,
    next_flow: u64,
    flows: u64,
    backlog: u32,
}

impl Bench {
    fn new(kind: &str, backlog: u32, flows: u64) -> Option<Bench> {
        let limit = 20_000;
        let spec = QdiscSpec::parse(&format!("{kind}:limit={limit}p")).ok();
        let spec = spec.or_else(|| QdiscSpec::parse(&format!("{kind}:limit=16000p")).ok())?;
        let rate = Some(Rate::from_bps(1_000_000_000));
        let env = Env { limit: Limit::Packets(limit), mtu_bytes: 1514, rate, salt: 1 };
        let qdisc = registry::build(&spec, &env).ok()?;
        let rng = Rng::stream(1, "bench", 0);
        let mut bench = Bench { qdisc, rng, now: 0, next_flow: 0, flows, backlog };
        bench.pairs(u64::from(backlog));
        Some(bench)
    }

    /// Arrivals at the rate of the link, more where a law has dropped: the backlog stays.
    fn pairs(&mut self, pairs: u64) {
        for _ in 0..pairs {
            self.now += 12_000;
            let now = Time::from_nanos(self.now);
            while let Some(due) = self.qdisc.next_timer().filter(|&due| due <= now) {
                self.qdisc.on_timer(due);
            }
            self.offer(now);
            if self.qdisc.backlog().packets < self.backlog {
                self.offer(now);
            }
            if self.qdisc.backlog().packets >= self.backlog {
                black_box(self.qdisc.dequeue(now, &mut self.rng, &mut Deaf));
            }
        }
    }

    fn offer(&mut self, now: Time) {
        self.next_flow = (self.next_flow + 1) % self.flows;
        let parcel = Parcel { flow: self.next_flow, ecn: Ecn::Ect0, _rest: [0; 6] };
        self.qdisc.enqueue(now, parcel, &mut self.rng, &mut Deaf);
    }

    fn nanos(&mut self) -> f64 {
        let start = Instant::now();
        self.pairs(PAIRS);
        start.elapsed().as_secs_f64() * 1e9 / PAIRS as f64
    }
}

/// The cost, how much more it is than that of an empty FIFO measured in turns with it, and where the
/// discipline did not hold that many packets, how many it held.
fn cell(kind: &str, backlog: u32, flows: u64) -> String {
    let Some(mut bench) = Bench::new(kind, backlog, flows) else { return "-".to_owned() };
    let mut empty = Bench::new("taildrop", 0, 1).expect("tail drop builds");
    let (mut nanos, mut least) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..RUNS {
        least = least.min(empty.nanos());
        nanos = nanos.min(bench.nanos());
    }
    let held = match bench.qdisc.backlog().packets {
        held if held * 10 >= backlog * 9 => String::new(),
        held => format!(", holds {held}"),
    };
    format!("{nanos:.0} ({:+.0}{held})", nanos - least)
}

/// The table.
pub fn table() {
    println!("\n### Nanoseconds per enqueue and dequeue, every entry\n");
    println!(
        "At a held backlog, arrivals in turn from that many flows; laws that drop are offered two \
         packets for one until the backlog is back; where they never let it come back, the cell says \
         how many packets wait. In brackets: how much more than an empty FIFO, measured in turns with \
         it. To reach: 15 for one queue, 60 under flow queues.\n"
    );
    println!(
        "| AQM | 100 packets, 10 flows | 10,000 packets, 10 flows | 10,000 packets, 1,000 flows |\n\
         |---|---:|---:|---:|"
    );
    let laws = registry::laws().into_iter().map(|law| format!("fq({})", law.name));
    let names = registry::entries().into_iter().map(|entry| entry.name.to_owned());
    let presets = PRESETS.iter().map(|preset| preset.name.to_owned());
    for kind in names.chain(presets).chain(laws) {
        let [few, many, flows] =
            [(100, 10), (10_000, 10), (10_000, 1_000)].map(|(b, f)| cell(&kind, b, f));
        println!("| {kind} | {few} | {many} | {flows} |");
    }
}
