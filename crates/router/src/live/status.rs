//! The JSON lines that report the router's status while it runs, and its end.

use std::fs::File;
use std::io::Write;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use serde_json::{Value, json};
use sojourn_aqm::Time;
use sojourn_measure::Interval;

use super::plan::{ADDRESSES, INTERFACES, IPV6_ADDRESSES};
use super::state::{Intervals, RouterState};
use crate::linux::Failure;

/// Writes the lines. A slow reader misses some lines.
pub(super) struct StatusWriter {
    file: File,
    since: Intervals,
    at: Time,
    passed: [(u64, u64); 2],
}

impl StatusWriter {
    /// Writes lines to `file`.
    pub(super) fn new(file: File) -> StatusWriter {
        StatusWriter { file, since: [None, None], at: Time::ZERO, passed: [(0, 0); 2] }
    }

    /// Writes the line that reports that both devices are up, with or without IPv6.
    pub(super) fn begun(
        &mut self,
        devices: &[Value; 2],
        ipv6: &Result<(), Failure>,
        remarks: &[String],
    ) {
        let pid = std::process::id();
        let end = |end: usize| {
            json!({
                "address": ADDRESSES[end],
                "ipv6_address": ipv6.is_ok().then_some(IPV6_ADDRESSES[end]),
                "interface": INTERFACES[end],
                "mtu": devices[end]["mtu"],
            })
        };
        let no_ipv6 = ipv6.as_ref().err();
        let ends = [end(0), end(1)];
        self.line(&json!({
            "begun": { "pid": pid, "ends": ends, "no_ipv6": no_ipv6, "remarks": remarks }
        }));
    }

    /// Adds a sample to the totals of the next line.
    pub(super) fn add(&mut self, intervals: &Intervals) {
        for (sum, new) in self.since.iter_mut().zip(intervals) {
            if let Some(new) = new {
                add(sum.get_or_insert_default(), new);
            }
        }
    }

    /// Writes a line that covers the time since the last line.
    pub(super) fn report(&mut self, at: Time, router: &RouterState<'_>) {
        let seconds = at.since(self.at).as_secs();
        let paths: Vec<Value> = (0..2).map(|index| self.path(index, router, seconds)).collect();
        let late = &router.lateness;
        self.line(&json!({
            "t_s": at.as_secs(),
            "paths": paths,
            "late_p99_s": late.quantile_ns(0.99).map(|ns| ns / 1e9),
            "late_max_s": late.max_ns().map(secs),
        }));
        (self.since, self.at) = ([None, None], at);
    }

    fn path(&mut self, index: usize, router: &RouterState<'_>, seconds: f64) -> Value {
        let path = &router.paths[index];
        let (packets, bytes) = path.passed();
        let (packets_then, bytes_then) =
            std::mem::replace(&mut self.passed[index], (packets, bytes));
        let mut value = json!({
            "name": router.plan.paths[index].name,
            "throughput_bps": (bytes - bytes_then) as f64 * 8.0 / seconds,
            "packets": packets - packets_then,
        });
        if let (Some(link), Some(since)) = (path.link(), &self.since[index]) {
            let counts = link.counts();
            let mean = (since.departed > 0)
                .then(|| since.delay_sum_ns as f64 / since.departed as f64 / 1e9);
            value["queue"] = json!({
                "delay_mean_s": mean,
                "delay_max_s": secs(since.delay_max_ns),
                "backlog_packets": link.backlog().packets,
                "dropped": counts.dropped,
                "marked": counts.marked,
                "arrived": counts.arrived,
            });
        }
        value
    }

    /// Writes the last line, waiting for a slow reader.
    pub(super) fn last(&mut self, value: &Value) {
        let _ = fcntl(&self.file, FcntlArg::F_SETFL(OFlag::empty()));
        self.line(value);
    }

    fn line(&mut self, value: &Value) {
        // A failed write is ignored: the run continues without a reader.
        let _ = self.file.write_all(format!("{value}\n").as_bytes());
    }
}

fn secs(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn add(sum: &mut Interval, new: &Interval) {
    sum.departed += new.departed;
    sum.delay_sum_ns += new.delay_sum_ns;
    sum.delay_max_ns = sum.delay_max_ns.max(new.delay_max_ns);
    sum.drops += new.drops;
    sum.marks += new.marks;
    sum.bytes += new.bytes;
}
