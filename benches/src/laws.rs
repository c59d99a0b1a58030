//! The cost of a packet under a law in the registry, and under the same law in a library.
//!
//! Reports nanoseconds per packet for `codel`, `pie` and each library's law. Many short runs
//! alternate and the best counts, so that on a busy machine each law gets an undisturbed moment.
//! With valgrind, reports instructions per packet as well.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use sojourn_aqm::{
    Cause, CustomLaws, Ecn, Env, Limit, Packet, QdiscSpec, Rate, Rng, Sink, Stage, Time, registry,
};
use sojourn_law::host::load;

use super::{Counted, collected, number};

const PACKETS: u64 = 100_000;
const ROUNDS: usize = 200;

struct Datagram;

impl Packet for Datagram {
    fn bytes(&self) -> u32 {
        1500
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ce(&mut self) {}
    fn flow(&self) -> u64 {
        0
    }
}

/// Counts results, so the compiler cannot remove them as unused.
#[derive(Default)]
struct Count(u64);

impl Sink<Datagram> for Count {
    fn dropped(&mut self, _: Datagram, _: Time, _: Stage, _: Cause) {
        self.0 += 1;
    }
    fn marked(&mut self, _: &mut Datagram, _: Time, _: Stage, _: Cause) {}
}

/// Nanoseconds per packet with ten to twenty queued packets, and the number dropped.
fn cost(text: &str, packets: u64, laws: &CustomLaws) -> (f64, u64) {
    let spec = QdiscSpec::parse_with(text, laws).expect("a legal description");
    let rate = Some(Rate::from_bps(10_000_000));
    let env = Env { limit: Limit::Packets(1000), mtu_bytes: 1514, rate, salt: 0 };
    let mut qdisc = registry::build::<Datagram>(&spec, &env).expect("it is built");
    let (mut rng, mut count) = (Rng::stream(1, "cost", 0), Count::default());
    let started = Instant::now();
    for step in 0..packets {
        let now = Time::from_nanos(step * 1_200_000);
        while let Some(due) = qdisc.next_timer().filter(|&due| due <= now) {
            qdisc.on_timer(due);
        }
        qdisc.enqueue(now, Datagram, &mut rng, &mut count);
        if step > 12 {
            qdisc.dequeue(now, &mut rng, &mut count);
        }
    }
    (started.elapsed().as_secs_f64() * 1e9 / packets as f64, count.0)
}

/// Instructions per packet; `None` without valgrind.
fn instructions(name: &str, files: &[&str]) -> Option<f64> {
    let counted = |packets: u64| {
        let mut child = Command::new(std::env::current_exe().expect("this program has a path"));
        child.args(["law", name, &packets.to_string()]).args(files);
        Counted { packets, instructions: collected(&child) }
    };
    counted(2 * PACKETS).per_packet_beyond(&counted(PACKETS))
}

fn laws(files: &[&str]) -> CustomLaws {
    let loaded = files
        .iter()
        .map(|file| load(Path::new(file), Path::new(file), file, "here").expect("a law"));
    CustomLaws::new(loaded).expect("every law has a name of its own")
}

/// Runs `packets` packets under a single law, for profilers.
pub fn once(name: &str, packets: &str, files: &[&str]) {
    cost(name, number(packets), &laws(files));
}

/// Prints a line for each law.
pub fn table(files: &[&str]) {
    let laws = laws(files);
    let own = laws.iter().map(|law| law.name());
    let names: Vec<&str> = ["codel", "pie"].into_iter().chain(own).collect();
    let mut best = vec![(f64::INFINITY, 0); names.len()];
    for _ in 0..ROUNDS {
        for (name, best) in names.iter().zip(&mut best) {
            let (ns, drops) = cost(name, PACKETS, &laws);
            *best = (best.0.min(ns), drops);
        }
    }
    for (name, (ns, drops)) in names.iter().zip(best) {
        let count = instructions(name, files).map_or("-".to_owned(), |n| format!("{n:.0}"));
        println!("{name:<12} {ns:6.1} ns and {count:>4} instructions per packet, {drops} drops");
    }
}
