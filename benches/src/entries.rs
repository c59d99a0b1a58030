//! The cost of an enqueue and a dequeue together, for every registry entry, and the excess over a
//! FIFO without a law.

use std::fmt;
use std::hint::black_box;
use std::ops::RangeInclusive;
use std::time::Instant;

use sojourn_aqm::registry::{self, PRESETS};
use sojourn_aqm::{Cause, Ecn, Env, Limit, Packet, Qdisc, QdiscSpec, Rate, Rng, Sink, Stage, Time};

use super::verdict;

/// Pairs per run, and number of runs; the fastest counts. Runs are short, so some of them are
/// undisturbed.
const PAIRS: u64 = 20_000;
const RUNS: usize = 100;

/// A packet of the same size as the simulator's.
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

/// A discipline whose backlog is held constant.
struct Bench {
    qdisc: Box<dyn Qdisc<Parcel>>,
    rng: Rng,
    now: u64,
    next_flow: u64,
    flows: u64,
    backlog: u32,
}

impl Bench {
    /// `settings` extend the AQM's text, such as `,flows=64`.
    fn new(kind: &str, settings: &str, backlog: u32, flows: u64) -> Option<Bench> {
        let limit = 20_000;
        let text = |limit| format!("{kind}:limit={limit}p{settings}");
        let spec =
            QdiscSpec::parse(&text(limit)).or_else(|_| QdiscSpec::parse(&text(16_000))).ok()?;
        let rate = Some(Rate::from_bps(1_000_000_000));
        let env = Env { limit: Limit::Packets(limit), mtu_bytes: 1514, rate, salt: 1 };
        let qdisc = registry::build(&spec, &env).ok()?;
        let rng = Rng::stream(1, "bench", 0);
        let mut bench = Bench { qdisc, rng, now: 0, next_flow: 0, flows, backlog };
        bench.pairs(u64::from(backlog));
        Some(bench)
    }

    /// Packets arrive at the rate of the link, and more after drops, so that the backlog stays
    /// constant.
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

/// The cost of a pair.
struct Cost {
    nanos: f64,
    /// The excess over an empty FIFO, measured alternately with it.
    excess: f64,
    /// The number of queued packets, if the discipline did not hold as many as requested.
    held: Option<u32>,
}

impl Cost {
    /// `None` if the AQM refuses the settings.
    fn measure(kind: &str, settings: &str, backlog: u32, flows: u64) -> Option<Cost> {
        let mut bench = Bench::new(kind, settings, backlog, flows)?;
        let mut empty = Bench::new("taildrop", "", 0, 1).expect("tail drop builds");
        let (mut nanos, mut least) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..RUNS {
            least = least.min(empty.nanos());
            nanos = nanos.min(bench.nanos());
        }
        let held = bench.qdisc.backlog().packets;
        let held = (held * 10 < backlog * 9).then_some(held);
        Some(Cost { nanos, excess: nanos - least, held })
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} ({:+.0}", self.nanos, self.excess)?;
        match self.held {
            Some(held) => write!(f, ", holds {held})"),
            None => f.write_str(")"),
        }
    }
}

/// The goal: nanoseconds above the cost of an empty FIFO.
const ONE_QUEUE: f64 = 15.0;
const FLOW_QUEUES: f64 = 60.0;

/// The goal of an entry, and the columns of the table to which it applies.
fn goal(kind: &str) -> (f64, RangeInclusive<usize>) {
    let is_law = registry::laws().iter().any(|law| law.name == kind);
    match is_law || matches!(kind, "choke" | "sfb") {
        true => (ONE_QUEUE, 0..=1),
        false => (FLOW_QUEUES, 2..=2),
    }
}

/// Runs a single cell, for profilers.
pub fn once(kind: &str, backlog: u32, flows: u64, pairs: u64) {
    let mut bench = Bench::new(kind, "", backlog, flows).expect("an AQM that can be built");
    bench.pairs(pairs);
}

/// Prints the table of all entries or of the named ones.
pub fn table(only: &[&str]) {
    println!("\n### Nanoseconds per enqueue and dequeue, every entry\n");
    println!(
        "At a held backlog, arrivals in turn from that many flows; laws that drop are offered two \
         packets for one until the backlog is back; where they never let it come back, the cell \
         says how many packets wait. In brackets: how much more than an empty FIFO, measured in \
         turns with it. The goal is {ONE_QUEUE} more at most for one queue, at both backlogs, and \
         {FLOW_QUEUES} for several queues, with 1,000 flows.\n"
    );
    println!(
        "| AQM | 100 packets, 10 flows | 10,000 packets, 10 flows | 10,000 packets, 1,000 flows \
         | goal |\n\
         |---|---:|---:|---:|---:|"
    );
    let laws = registry::laws().into_iter().map(|law| format!("fq({})", law.name));
    let names = registry::entries().into_iter().map(|entry| entry.name.to_owned());
    let presets = PRESETS.iter().map(|preset| preset.name.to_owned());
    let all = names.chain(presets).chain(laws);
    for kind in all.filter(|kind| only.is_empty() || only.contains(&kind.as_str())) {
        let cells = [(100, 10), (10_000, 10), (10_000, 1_000)]
            .map(|(backlog, flows)| Cost::measure(&kind, "", backlog, flows));
        let (most, columns) = goal(&kind);
        let is_met = cells[columns].iter().flatten().all(|cost| cost.excess <= most);
        let [few, many, flows] =
            cells.map(|cost| cost.map_or("-".to_owned(), |cost| cost.to_string()));
        println!("| {kind} | {few} | {many} | {flows} | {most}: {} |", verdict(is_met));
    }
}

/// Prints the cost of empty queues, for laws with a timer each.
pub fn idle() {
    const MOST: f64 = 1.2;
    println!(
        "\n### Idle flow queues: nanoseconds per enqueue and dequeue, 10 flows, 100 packets\n"
    );
    println!(
        "A law is not ticked while its queue is empty, so queues without packets should cost \
         nothing.\n"
    );
    println!(
        "| AQM | 64 queues | 1,024 | 65,536 | goal: 65,536 against 64 |\n|---|---:|---:|---:|---:|"
    );
    for kind in ["fq(taildrop)", "fq(pie)", "fq(pi2)", "fq(madpie)", "fq(ared)"] {
        let [few, usual, many] = [64, 1_024, 65_536].map(|queues| {
            let cost = Cost::measure(kind, &format!(",flows={queues}"), 100, 10);
            cost.expect("flow queues take their number").nanos
        });
        let ratio = many / few;
        let goal = verdict(ratio <= MOST);
        println!(
            "| {kind} | {few:.0} | {usual:.0} | {many:.0} | {ratio:.2}, at most {MOST}: {goal} |"
        );
    }
}
