//! The result of a run while it grows.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;
use sojourn_aqm::Time;

use crate::plan::Plan;
use crate::record_files::{Count, Diary, RESULT, RunResult, Sample};
use crate::traffic::Program;

impl RunResult {
    /// Nothing has happened yet.
    pub fn new(plan: &Plan, offloads: Vec<String>, before: Value) -> RunResult {
        RunResult {
            at_warmup: vec![Count::default(); plan.flows.len()],
            counts: Vec::new(),
            samples: Vec::new(),
            law: Vec::new(),
            bins: Vec::new(),
            diary: Diary::default(),
            broken: Vec::new(),
            offloads,
            before,
            after: Value::Null,
            recorder_lost: 0,
            streets: Vec::new(),
            wires: [None, None],
            latest_ns: 0,
        }
    }

    /// The loop was woken so long after its alarm.
    pub fn late(&mut self, ns: u64) {
        self.latest_ns = self.latest_ns.max(ns);
    }

    /// Asks the kernel about every connection.
    pub fn sample(&mut self, now: Time, programs: &[Box<dyn Program>]) {
        for (flow, program) in programs.iter().enumerate() {
            let delivered_bytes = program.count().delivered_bytes;
            let Some(account) = program.account() else { continue };
            let (flow, at_ns) = (flow as u32, now.as_nanos());
            self.samples.push(Sample { flow, at_ns, delivered_bytes, account });
        }
    }

    /// Writes it.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::write(folder.join(RESULT), serde_json::to_vec(self)?)
    }
}
