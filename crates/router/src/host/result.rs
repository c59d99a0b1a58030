//! The result of a run, collected while it runs.

use std::fs;
use std::io;
use std::path::Path;

use sojourn_aqm::Time;

use crate::run_files::{FlowSample, RESULT, RunResult};
use crate::traffic::Program;

impl RunResult {
    /// Records that the loop woke this long after its alarm.
    pub(super) fn late(&mut self, ns: u64) {
        self.latest_ns = self.latest_ns.max(ns);
    }

    /// Samples every flow that has connections.
    pub(super) fn sample(&mut self, now: Time, programs: &[Box<dyn Program>]) {
        for (flow, program) in programs.iter().enumerate() {
            let delivered_bytes = program.counts().delivered_bytes;
            let Some(tcp) = program.tcp_totals() else { continue };
            let (flow, at_ns) = (flow as u32, now.as_nanos());
            self.samples.push(FlowSample { flow, at_ns, delivered_bytes, tcp });
        }
    }

    /// Writes the result.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        fs::write(folder.join(RESULT), serde_json::to_vec(self)?)
    }
}
