//! The common part of the cases of `benches/instructions.toml`.

use std::collections::BTreeMap;
use std::process::Command;

use sojourn_record::rows::{Run, SummaryRow};
use sojourn_scenario::Resolved;

use super::{Counted, collected};

/// Instructions in the usual build.
pub const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.toml");
/// Instructions in the wheels' build.
pub const WHEEL_TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions-wheel.toml");

/// A case of the table.
pub trait Measured: Sync {
    /// Its key in the table.
    fn name(&self) -> &str;

    /// A description in words.
    fn describe(&self) -> String;

    /// Simulated time of the two runs between which packets and instructions are counted, in
    /// milliseconds.
    fn between_ms(&self) -> (u64, u64);

    /// The scenario, lasting `milliseconds`.
    fn plan(&self, milliseconds: u64) -> Resolved;

    /// The goal in instructions per packet.
    fn goal(&self) -> Option<f64> {
        None
    }

    /// A process that runs it for `milliseconds` and reports its memory.
    fn child(&self, milliseconds: u64) -> Command {
        let program = std::env::current_exe().expect("this program has a path");
        let mut command = Command::new(program);
        command.args(["reference", self.name(), &milliseconds.to_string()]);
        command
    }

    /// Packets through the bottleneck in a run of `milliseconds`.
    fn run(&self, milliseconds: u64) -> u64 {
        let run = sojourn_sim::run(&self.plan(milliseconds), &|_| true);
        self.packets_sent(&run.expect("a case is a valid scenario"))
    }

    /// Packets that left through the bottleneck.
    fn packets_sent(&self, run: &Run) -> u64 {
        counted(run, "sent")
    }

    /// Instructions per packet in the steady part; `None` without valgrind.
    fn instructions(&self) -> Option<f64> {
        let counted = |milliseconds: u64| Counted {
            packets: self.run(milliseconds),
            instructions: collected(&self.child(milliseconds)),
        };
        let (short, long) = self.between_ms();
        counted(long).per_packet_beyond(&counted(short))
    }
}

/// A count of the bottleneck's packets.
pub fn counted(run: &Run, metric: &str) -> u64 {
    let is_it = |row: &&SummaryRow| row.name == "bottleneck" && row.metric == metric;
    run.summary.iter().find(is_it).expect("every link counts its packets").value as u64
}

/// The committed instructions per packet, by case.
pub fn committed(table: &str) -> BTreeMap<String, f64> {
    let text = std::fs::read_to_string(table).expect("the table is committed");
    text.parse::<toml::Table>()
        .expect("the table is TOML")
        .into_iter()
        .map(|(name, value)| (name, value.as_integer().expect("a whole number") as f64))
        .collect()
}

/// The committed counts, in the usual build and in wheels.
pub fn both_tables() -> [BTreeMap<String, f64>; 2] {
    [TABLE, WHEEL_TABLE].map(committed)
}
