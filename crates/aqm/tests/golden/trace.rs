//! Reads the golden traces in `testdata/golden`, whose README describes them, and replays each. The
//! interface is a trait: the tests of this crate implement it with the Rust API, those of
//! `crates/capi` with the C bindings.

#[path = "file.rs"]
mod file;

use std::path::{Path, PathBuf};

use file::{Call, Inputs, LawStep, QueueStep, Script, State, Tolerance, Trace};
use sojourn_aqm::{Backlog, Ecn, Head, Rng, Span, Time, Verdict};

pub use file::MTU;

/// Rate of the link in bits per second.
pub const RATE_BPS: u64 = 10_000_000;

/// A law, through one interface or another.
pub trait Law {
    fn new(text: &str) -> Self;
    /// Reseeds the generator: the next number is the first of the stream `queue` 0 of that seed.
    fn seed(&mut self, seed: u64);
    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog) -> Verdict;
    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) -> Verdict;
    fn next_timer(&self) -> Option<Time>;
    fn on_timer(&mut self, now: Time, queue: Backlog);
    fn on_idle_timers(&mut self, now: Time);
    fn var(&mut self, name: &str) -> f64;
}

/// A packet that a discipline dropped or marked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fate {
    pub id: u64,
    /// `dropped` or `marked`.
    pub what: &'static str,
    pub stage: &'static str,
    pub cause: &'static str,
}

/// A packet of a trace.
#[derive(Clone, Copy, Debug)]
pub struct TracePacket {
    pub id: u64,
    pub flow: u64,
    pub bytes: u32,
    pub ecn: Ecn,
}

/// A discipline, through one interface or another.
pub trait Discipline {
    fn new(text: &str) -> Self;
    fn enqueue(&mut self, now: Time, packet: TracePacket);
    /// The number of the packet that leaves, and the time when it was accepted.
    fn dequeue(&mut self, now: Time) -> Option<(u64, Time)>;
    fn next_timer(&self) -> Option<Time>;
    fn on_timer(&mut self, now: Time);
    fn var(&mut self, name: &str) -> f64;
    /// The packets dropped and marked since the last call.
    fn fates(&mut self) -> Vec<Fate>;
}

/// Replays every trace; returns how many there are and how many values were compared.
pub fn run_all<L: Law, D: Discipline>() -> (usize, usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden");
    let entries = std::fs::read_dir(folder).expect("the traces are there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let mut compared = 0;
    for path in &paths {
        let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).expect("readable");
        let trace = Trace::read(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        let values = match trace.script {
            Script::Law { idle_until, steps } => {
                let law = LawTrace::<L>::new(&name, &trace.aqm, trace.tolerance);
                law.run(idle_until, &steps)
            }
            Script::Discipline { steps } => {
                DisciplineTrace::<D>::new(&name, &trace.aqm, trace.tolerance).run(&steps)
            }
        };
        assert!(values > 0, "{name} compares nothing");
        compared += values;
    }
    (paths.len(), compared)
}

/// A law during the replay of a trace.
struct LawTrace<L> {
    name: String,
    law: L,
    now: Time,
    tolerance: Tolerance,
}

impl<L: Law> LawTrace<L> {
    fn new(name: &str, aqm: &str, tolerance: Tolerance) -> Self {
        LawTrace { name: name.to_owned(), law: L::new(aqm), now: Time::ZERO, tolerance }
    }

    /// Returns how many values were compared.
    fn run(mut self, idle_until: Option<Time>, steps: &[LawStep]) -> usize {
        if let Some(until) = idle_until {
            self.now = until;
            self.law.on_idle_timers(until);
        }
        steps.iter().map(|step| self.step(step)).sum()
    }

    fn step(&mut self, step: &LawStep) -> usize {
        match step {
            LawStep::Dequeue { instants, sojourn, queue, dropped_at, state } => {
                self.dequeue(instants, *sojourn, *queue, dropped_at) + self.check_state(state)
            }
            LawStep::LearnRate { leaving, queue } => {
                let start = self.now;
                for &(bytes, at) in leaving {
                    self.now = start + at;
                    self.take(bytes, Span::ZERO, *queue);
                }
                0
            }
            LawStep::Update { inputs, expected } => self.update(inputs, expected.as_ref()),
            LawStep::Enqueue { count, u, queue, dropped } => {
                self.enqueue(*count, seed_drawing(*u), *queue, dropped)
            }
        }
    }

    fn take(&mut self, bytes: u32, sojourn: Span, queue: Backlog) -> Verdict {
        let enqueued = Time::from_nanos(self.now.as_nanos() - sojourn.as_nanos());
        let head = Head { bytes, ecn: Ecn::NotEct, enqueued };
        self.law.on_dequeue(self.now, head, queue)
    }

    fn dequeue(
        &mut self,
        instants: &[Time],
        sojourn: Span,
        queue: Backlog,
        expected: &[Time],
    ) -> usize {
        let mut drops = Vec::new();
        for &now in instants {
            self.now = now;
            while self.take(MTU, sojourn, queue) != Verdict::Pass {
                drops.push(now);
            }
        }
        assert_eq!(drops, expected, "{}", self.name);
        expected.len()
    }

    fn update(&mut self, inputs: &Inputs, expected: Option<&(String, Vec<f64>)>) -> usize {
        let count = match inputs {
            Inputs::Sojourns(list) => list.len(),
            Inputs::Backlogs(list) => list.len(),
        };
        for index in 0..count {
            let due = self.law.next_timer().expect("a law with a timer");
            self.now = due.max(self.now);
            let queue = match inputs {
                Inputs::Sojourns(list) => {
                    let queue = if list[index] == Span::ZERO { Backlog::EMPTY } else { FIFTY };
                    self.take(MTU, list[index], queue);
                    queue
                }
                Inputs::Backlogs(list) => list[index],
            };
            self.law.on_timer(due, queue);
            if let Some((var, values)) = expected {
                self.tolerance.check(&self.name, var, self.law.var(var), values[index]);
            }
        }
        expected.map_or(0, |(_, values)| values.len())
    }

    fn enqueue(&mut self, count: u64, seed: u64, queue: Backlog, expected: &[u64]) -> usize {
        let head = Head { bytes: MTU, ecn: Ecn::NotEct, enqueued: self.now };
        let is_dropped = |_: &u64| {
            self.law.seed(seed);
            self.law.on_enqueue(self.now, head, queue) != Verdict::Pass
        };
        let dropped: Vec<u64> = (1..=count).filter(is_dropped).collect();
        assert_eq!(dropped, expected, "{}", self.name);
        count as usize
    }

    fn check_state(&mut self, state: &State) -> usize {
        let law = &mut self.law;
        self.tolerance.check_state(&self.name, state, |var| law.var(var))
    }
}

/// The backlog at updates for which the trace gives sojourn times.
const FIFTY: Backlog = Backlog { packets: 50, bytes: 50 * MTU as u64, link_bytes: 50 * MTU as u64 };

/// A discipline during the replay of a trace.
struct DisciplineTrace<D> {
    name: String,
    discipline: D,
    now: Time,
    last_id: u64,
    tolerance: Tolerance,
}

impl<D: Discipline> DisciplineTrace<D> {
    fn new(name: &str, aqm: &str, tolerance: Tolerance) -> Self {
        let (name, discipline) = (name.to_owned(), D::new(aqm));
        DisciplineTrace { name, discipline, now: Time::ZERO, last_id: 0, tolerance }
    }

    /// Returns how many values were compared.
    fn run(mut self, steps: &[QueueStep]) -> usize {
        steps.iter().map(|step| self.step(step)).sum()
    }

    fn step(&mut self, step: &QueueStep) -> usize {
        let mut left = Vec::new();
        self.pass(step.at);
        for index in 0..step.count {
            if index > 0 {
                self.pass(self.now + step.every);
            }
            match &step.call {
                Call::Offer { flows, bytes, ecn } => {
                    let flow = flows[index as usize % flows.len()];
                    self.last_id += 1;
                    let packet = TracePacket { id: self.last_id, flow, bytes: *bytes, ecn: *ecn };
                    self.discipline.enqueue(self.now, packet);
                }
                Call::Take => left.extend(self.discipline.dequeue(self.now)),
            }
        }
        self.check(step, &left)
    }

    /// Timers fire when they are due, before anything else at that time.
    fn pass(&mut self, then: Time) {
        while let Some(due) = self.discipline.next_timer().filter(|&due| due <= then) {
            self.discipline.on_timer(due);
        }
        self.now = then;
    }

    fn check(&mut self, step: &QueueStep, left: &[(u64, Time)]) -> usize {
        let (name, at, now) = (&self.name, step.at, self.now);
        let fates = self.discipline.fates();
        let ids = |what| -> Vec<u64> {
            fates.iter().filter(|fate| fate.what == what).map(|fate| fate.id).collect()
        };
        assert_eq!(ids("dropped"), step.dropped, "{name}: dropped by {at:?}");
        assert_eq!(ids("marked"), step.marked, "{name}: marked by {at:?}");
        let mut compared = step.dropped.len().max(1) + step.marked.len().max(1);
        if let Some(expected) = &step.left {
            let left: Vec<u64> = left.iter().map(|&(id, _)| id).collect();
            assert_eq!(&left, expected, "{name}: left by {at:?}");
            compared += expected.len().max(1);
        }
        if let Some(expected) = &step.waited {
            let waited: Vec<Span> = left.iter().map(|&(_, then)| now.since(then)).collect();
            assert_eq!(&waited, expected, "{name}: waited by {at:?}");
            compared += expected.len().max(1);
        }
        if let Some(why) = &step.why {
            let words = |fate: &Fate| format!("{}, {}", fate.stage, fate.cause);
            assert!(fates.iter().all(|fate| &words(fate) == why), "{name}: {fates:?}");
        }
        let discipline = &mut self.discipline;
        compared + self.tolerance.check_state(name, &step.state, |var| discipline.var(var))
    }
}

impl Tolerance {
    fn check(&self, name: &str, var: &str, measured: f64, expected: f64) {
        let allowed = self.absolute + self.relative * expected.abs();
        let off = (measured - expected).abs();
        assert!(off <= allowed, "{name}: {var} is {measured}, not {expected}");
    }

    /// Returns how many variables there are.
    fn check_state(&self, name: &str, state: &State, mut var: impl FnMut(&str) -> f64) -> usize {
        state.iter().for_each(|(key, value)| self.check(name, key, var(key), *value));
        state.len()
    }
}

/// A seed whose stream begins with a number in that range.
fn seed_drawing((from, to): (f64, f64)) -> u64 {
    let begins = |&seed: &u64| (from..=to).contains(&Rng::stream(seed, "queue", 0).uniform());
    (0..1_000_000).find(begins).expect("one of many")
}
