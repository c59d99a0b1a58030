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
            diary: Diary::default(),
            broken: Vec::new(),
            offloads,
            before,
            after: Value::Null,
            recorder_lost: 0,
            street: None,
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
            let Some((info, sent, again)) = program.sample() else { continue };
            self.samples.push(Sample {
                flow: flow as u32,
                at_ns: now.as_nanos(),
                sent_bytes: sent + info.bytes_sent,
                delivered_bytes,
                retransmitted_bytes: again + info.bytes_retrans,
                // Linux: tcp_packets_in_flight.
                inflight: (info.unacked + info.retrans).saturating_sub(info.sacked + info.lost),
                cwnd: info.cwnd,
                ssthresh: info.ssthresh,
                state: info.ca_state,
                mss: info.mss,
                srtt_us: info.rtt_us,
                delivered_ce: info.delivered_ce,
            });
        }
    }

    /// Writes it.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::write(folder.join(RESULT), serde_json::to_vec(self)?)
    }
}
