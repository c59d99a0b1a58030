//! The cost of large windows: one flow over 500 ms whose window does not respond to losses, with
//! and without loss. The work per acknowledgement must not grow with the window.

use std::process::Command;

use sojourn_scenario::Resolved;

use super::{Counted, best, collected, dumbbell, verdict};

/// BBR v1, which does not respond to losses, over an RTT of 500 ms.
pub struct Window {
    /// Rate of the bottleneck.
    pub mbit: u64,
    /// Packets lost per 1000.
    pub per_mille: u64,
    /// Simulated seconds.
    pub seconds: u64,
}

impl Window {
    fn plan(&self) -> Resolved {
        let loss = format!("{{ kind = \"bernoulli\", rate = {} }}", self.per_mille as f64 / 1000.0);
        let mut sets = vec![
            ("links.bottleneck.delay", "248ms"),
            ("links.bottleneck.buffer", "0.4bdp"),
            ("flows.bulk.rtt", "500ms"),
            ("flows.bulk.cc", "bbr"),
            ("record.flows", "true"),
            ("record.sample", "500ms"),
        ];
        if self.per_mille > 0 {
            sets.push(("links.bottleneck.loss", &loss));
        }
        dumbbell("taildrop", 1, self.mbit, self.seconds).plan_with(&sets)
    }

    /// Packets through the bottleneck, and packets in flight in the second half of the run.
    pub fn run(&self) -> (u64, u64) {
        let run = sojourn_sim::run(&self.plan(), &|_| true).expect("the bench is a valid scenario");
        let late = &run.flow_samples[run.flow_samples.len() / 2..];
        let in_flight: u64 = late.iter().map(|row| row.inflight_bytes / 1448).sum();
        (run.packets_handled, in_flight / late.len().max(1) as u64)
    }

    fn child(&self) -> Command {
        let program = std::env::current_exe().expect("this program has a path");
        let mut command = Command::new(program);
        command.arg("window");
        command.args([self.mbit, self.per_mille, self.seconds].map(|n| n.to_string()));
        command
    }
}

/// The maximum growth of instructions per packet when ten times as many packets are in flight.
const GROWTH: f64 = 1.2;

/// Prints the cost per delivered packet, in time and in instructions, at two window sizes.
pub fn table() {
    println!("\n### Large windows: one BBR flow over 500 ms, 4,000 and 40,000 packets in flight\n");
    println!(
        "Work for an acknowledgement must not grow with the window. Time does a little, because a \
         larger scoreboard does not fit into the caches; instructions should not.\n"
    );
    println!(
        "| loss | rate | packets in flight | ns per packet | instructions per packet \
         | goal: instructions |"
    );
    println!("|---:|---:|---:|---:|---:|---:|");
    for per_mille in [0, 10] {
        let mut smaller = None;
        // At both rates the number of packets is the same once the window is open.
        for (mbit, short, long) in [(100, 20, 80), (1_000, 16, 22)] {
            let [short, long] = [short, long].map(|seconds| Window { mbit, per_mille, seconds });
            let (_, in_flight) = long.run();
            let nanos = best(|| long.run().0);
            let [few, many] = [&short, &long].map(|bench| Counted {
                packets: bench.run().0,
                instructions: collected(&bench.child()),
            });
            let instructions = many.per_packet_beyond(&few);
            let goal = match (smaller, instructions) {
                (Some(smaller), Some(larger)) => {
                    let growth: f64 = larger / smaller;
                    format!("{growth:.2}, at most {GROWTH}: {}", verdict(growth <= GROWTH))
                }
                _ => "-".to_owned(),
            };
            smaller = smaller.or(instructions);
            let count = instructions.map_or("-".to_owned(), |count| format!("{count:.0}"));
            let loss = per_mille as f64 / 10.0;
            println!("| {loss} % | {mbit} Mbit/s | {in_flight} | {nanos:.0} | {count} | {goal} |");
        }
    }
}
