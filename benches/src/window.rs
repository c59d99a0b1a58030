//! What large windows cost: one flow over 500 ms that keeps its window whatever is lost, with and without
//! loss. Work per acknowledgement must not grow with the window.

use std::process::Command;

use sojourn_aqm::Span;
use sojourn_scenario::resolved::{App, Loss, Resolved};

use super::{best, collected, dumbbell};

/// BBR v1, which does not answer losses, over a round trip of 500 ms.
pub struct Window {
    /// Rate of the bottleneck.
    pub mbit: u64,
    /// Packets lost of 1000.
    pub per_mille: u64,
    /// Simulated seconds.
    pub seconds: u64,
}

impl Window {
    fn plan(&self) -> Resolved {
        let mut plan = dumbbell("taildrop", 1, self.mbit, self.seconds).plan();
        let (link, group) = (&mut plan.links[0], &mut plan.flows[0]);
        link.delay = Span::from_millis(248);
        let share = self.per_mille as f64 / 1000.0;
        link.loss = (self.per_mille > 0).then_some(Loss::Bernoulli(share));
        (group.return_delay, group.rtt) = (Span::from_millis(250), Span::from_millis(500));
        let App::Bulk { tcp, .. } = &mut group.app else { unreachable!("it is bulk") };
        tcp.cc = Some("bbr".into());
        (plan.record.flows, plan.record.sample) = (true, Span::from_millis(500));
        plan
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

/// Cost per packet, in time and in instructions, at two sizes of the window.
pub fn table() {
    println!("\n### Large windows: one BBR flow over 500 ms\n");
    println!("| rate | loss | packets in flight | ns per packet | instructions per packet |");
    println!("|---:|---:|---:|---:|---:|");
    for (mbit, seconds) in [(100, 60), (1_000, 30)] {
        for per_mille in [0, 10] {
            let bench = |seconds| Window { mbit, per_mille, seconds };
            let (_, in_flight) = bench(seconds).run();
            let nanos = best(|| bench(seconds).run().0);
            // The start is left out: a long run less a short one.
            let (long, short) = (bench(seconds), bench(seconds / 2));
            let counts = [&long, &short].map(|run| (run.run().0, collected(&run.child())));
            let instructions = match counts {
                [(many, Some(long)), (few, Some(short))] => {
                    format!("{:.0}", (long - short) as f64 / (many - few) as f64)
                }
                _ => "-".to_owned(),
            };
            let loss = per_mille as f64 / 10.0;
            println!("| {mbit} Mbit/s | {loss} % | {in_flight} | {nanos:.0} | {instructions} |");
        }
    }
}
