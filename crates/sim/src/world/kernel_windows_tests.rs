//! Congestion windows of a real kernel under given losses and marks (testdata/kernel), compared
//! with those of the profile `linux` under the same losses and marks (fact tcp-4).

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;

use sojourn_aqm::{
    Backlog, Cause, Departure, Packet as _, Qdisc, Rate, Rng, Sink, Span, Stage, Time, Var,
};
use sojourn_link::{Link, Server};
use sojourn_scenario::{Resolved, Scenario, Source};

use crate::assemble;
use crate::packet::{Packet, PacketKind};

/// A queue that drops and marks exactly the data packets with the given numbers, counted from 1.
struct Listed {
    queue: VecDeque<(Packet, Time)>,
    seen: u64,
    drops: Vec<u64>,
    marks: Vec<u64>,
}

impl Qdisc<Packet> for Listed {
    fn enqueue(&mut self, now: Time, mut packet: Packet, _: &mut Rng, sink: &mut dyn Sink<Packet>) {
        if packet.kind == PacketKind::Data {
            self.seen += 1;
            if self.drops.contains(&self.seen) {
                return sink.dropped(packet, now, Stage::Enqueue, Cause::Deterministic);
            }
            if self.marks.contains(&self.seen) && packet.ecn().can_mark() {
                packet.set_ce();
                sink.marked(&mut packet, now, Stage::Enqueue, Cause::Deterministic);
            }
        }
        self.queue.push_back((packet, now));
    }

    fn dequeue(
        &mut self,
        _now: Time,
        _rng: &mut Rng,
        _sink: &mut dyn Sink<Packet>,
    ) -> Option<Departure<Packet>> {
        let (packet, enqueued) = self.queue.pop_front()?;
        Some(Departure { packet, enqueued })
    }

    fn backlog(&self) -> Backlog {
        let bytes = self.queue.iter().map(|(packet, _)| u64::from(packet.bytes())).sum();
        Backlog { packets: self.queue.len() as u32, bytes, link_bytes: bytes }
    }

    fn vars(&self) -> &'static [Var] {
        &[]
    }

    fn observe(&self, _out: &mut [f64]) {}
}

/// A recording: its congestion control, its duration, the numbers of dropped and marked packets,
/// and its windows as (microsecond, segments).
struct Recording {
    cc: String,
    duration: Span,
    drops: Vec<u64>,
    marks: Vec<u64>,
    windows: Vec<(u64, u64)>,
}

fn recording(name: &str) -> Recording {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/kernel");
    let text = fs::read_to_string(path.join(format!("{name}.txt"))).unwrap();
    let numbers = |line: &str| line.split(' ').filter_map(|word| word.parse().ok()).collect();
    let comment = |word: &str| {
        numbers(text.lines().find_map(|line| line.strip_prefix(&format!("# {word} "))).unwrap())
    };
    let head = text.lines().next().unwrap();
    let (_, facts) = head.split_once(": ").unwrap();
    let seconds = facts.rsplit(' ').next().unwrap().trim_end_matches('s');
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    Recording {
        cc: facts.split(',').next().unwrap().to_owned(),
        duration: Span::from_secs(seconds.parse().unwrap()),
        drops: comment("dropped"),
        marks: comment("marked"),
        windows: rows
            .map(|row| {
                let row: Vec<u64> = numbers(row);
                (row[0], row[1])
            })
            .collect(),
    }
}

/// The scenario of the recordings.
fn scenario(recorded: &Recording) -> Resolved {
    let ecn = if recorded.marks.is_empty() { "false" } else { "true" };
    let text = format!(
        r#"
        name = "kernel-windows"
        duration = "{}ms"
        record = {{ flows = true, sample = "500us" }}
        [links.bottleneck]
        rate = "100mbit"
        delay = "10ms"
        buffer = "15MB"
        queue = "taildrop"
        [[flows]]
        name = "bulk"
        path = ["bottleneck"]
        rtt = "50ms"
        access_rate = "1gbit"
        cc = "{}"
        ecn = {ecn}
        app = {{ kind = "bulk" }}
        "#,
        recorded.duration.as_nanos() / 1_000_000,
        recorded.cc
    );
    let no_traces = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let loaded = Scenario::load(&text, &Source::default(), &no_traces);
    loaded.expect("a valid scenario").resolved().clone()
}

/// The simulator's window in segments, every half millisecond.
fn simulated(recorded: &Recording) -> Vec<(u64, u64)> {
    let scenario = scenario(recorded);
    let mut world =
        assemble::world(&scenario, &crate::Custom::default(), assemble::Timing::Events, &|_| true)
            .unwrap();
    let (drops, marks) = (recorded.drops.clone(), recorded.marks.clone());
    let queue = Box::new(Listed { queue: VecDeque::new(), seen: 0, drops, marks });
    let server = Server::steady(Rate::from_bps(100_000_000));
    let link = Link::new(queue, Rng::stream(1, "queue", 0), server);
    world.path.replace_link(0, link);
    assert!(world.run::<false>(&|_| true));
    let row =
        |row: &sojourn_record::rows::FlowRow| (row.t.as_nanos() / 1000, row.cwnd_bytes / 1448);
    world.flow_samples.iter().map(row).collect()
}

/// The window at a given time.
fn at(windows: &[(u64, u64)], t_us: u64) -> u64 {
    windows[..windows.partition_point(|row| row.0 <= t_us)].last().map_or(0, |row| row.1)
}

/// The windows of kernel and simulator every 10 ms, after the first round trip with data.
fn pairs(name: &str) -> Vec<(u64, u64)> {
    let recorded = recording(name);
    let simulated = simulated(&recorded);
    let end = recorded.duration.as_nanos() / 1000;
    let times = (110_000..end).step_by(10_000);
    times.map(|t_us| (at(&recorded.windows, t_us), at(&simulated, t_us))).collect()
}

/// Nearly all samples differ by at most one segment. The others lie in the few milliseconds of a
/// reduction, when PRR adjusts the window at slightly different acknowledgements.
fn agrees(name: &str) {
    let pairs = pairs(name);
    let near = pairs.iter().filter(|(kernel, sim)| kernel.abs_diff(*sim) <= 1).count();
    let share = near as f64 / pairs.len() as f64;
    println!("{name}: {share:.4} of {}", pairs.len());
    assert!(share >= 0.97, "{name}: {share:.3} of the windows are within a segment");
    let last = pairs.last().expect("there are samples");
    assert!(last.0.abs_diff(last.1) <= 1, "{name}: {last:?} at the end");
    let most = pairs.iter().map(|(kernel, _)| kernel).max().expect("there are samples");
    assert!(*most > 40, "{name}: a window of {most} has not grown");
}

#[test]
fn reno_follows_the_kernel_through_losses() {
    agrees("reno-drops");
}

#[test]
fn reno_follows_the_kernel_through_the_loss_of_twelve_in_a_row() {
    agrees("reno-tail");
}

#[test]
fn reno_follows_the_kernel_through_marks() {
    agrees("reno-marks");
}

#[test]
fn cubic_follows_the_kernel_through_losses() {
    agrees("cubic-drops");
}

#[test]
fn cubic_follows_the_kernel_through_marks() {
    agrees("cubic-marks");
}

#[test]
fn dctcp_follows_the_kernel_through_marks() {
    agrees("dctcp-marks");
}
