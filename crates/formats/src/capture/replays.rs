//! Sorts captured packets into recordings that the simulator replays.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Packets are sorted within a window of this length: captures of several interfaces, or of several
/// queues of one interface, are nearly in order.
const SORTED_WITHIN_NS: u64 = 1_000_000_000;

/// The key of a recording: direction, DSCP, and whether packets are not-ECT, ECT(1) or ECT(0).
pub(super) type Class = (usize, u8, u8);

/// Packets not yet returned by [`Replays::take`].
#[derive(Default)]
pub(super) struct Replays {
    waiting: BTreeMap<Class, Vec<(u64, u32)>>,
    latest_ns: u64,
    released_ns: u64,
    /// Packets that arrived after later ones had been returned.
    pub(super) late: u64,
}

impl Replays {
    /// Adds a packet, at a time since the start of the capture.
    pub(super) fn add(&mut self, t_ns: u64, way: usize, dscp: u8, ecn: u8, bytes: u32) {
        if t_ns < self.released_ns {
            self.late += 1;
            return;
        }
        self.latest_ns = self.latest_ns.max(t_ns);
        // A CE packet was marked on the path; we assume that it was ECT(0).
        let class = (way, dscp, if ecn == 3 { 2 } else { ecn });
        self.waiting.entry(class).or_default().push((t_ns, bytes));
    }

    /// Returns lines `time,bytes` of every class that no later packet can precede; with `at_end`,
    /// all lines.
    pub(super) fn take(&mut self, at_end: bool) -> Vec<(Class, String)> {
        let until = if at_end { u64::MAX } else { self.latest_ns.saturating_sub(SORTED_WITHIN_NS) };
        self.released_ns = self.released_ns.max(until);
        let mut taken = Vec::new();
        for (&class, packets) in &mut self.waiting {
            packets.sort_by_key(|&(t, _)| t);
            let count = packets.partition_point(|&(t, _)| t < until);
            let mut text = String::new();
            for (t, bytes) in packets.drain(..count) {
                let (seconds, rest) = (t / 1_000_000_000, t % 1_000_000_000);
                let _ = writeln!(text, "{seconds}.{rest:09},{bytes}");
            }
            taken.push((class, text));
        }
        taken
    }
}
