//! Reads the golden traces in `testdata/golden`, whose README describes them, and lives through each. Who
//! answers is not said here: the tests of this crate show the Rust API, those of `crates/capi` the
//! door to C.

use std::path::{Path, PathBuf};

use sojourn_aqm::{Backlog, Ecn, Head, Limit, Rng, Span, Time, Verdict, units};
use toml::{Table, Value};

pub const MTU: u32 = 1514;

/// Rate of the link in bits per second.
pub const RATE_BPS: u64 = 10_000_000;

/// A law behind some door.
pub trait Law {
    fn new(text: &str) -> Self;
    /// Starts chance anew: the next number is the first of the stream `queue` 0 of that seed.
    fn seed(&mut self, seed: u64);
    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog) -> Verdict;
    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) -> Verdict;
    fn next_timer(&self) -> Option<Time>;
    fn on_timer(&mut self, now: Time, queue: Backlog);
    fn on_idle_timers(&mut self, now: Time);
    fn var(&mut self, name: &str) -> f64;
}

/// What became of a packet in a discipline.
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
pub struct Parcel {
    pub id: u64,
    pub flow: u64,
    pub bytes: u32,
    pub ecn: Ecn,
}

/// A discipline behind some door.
pub trait Discipline {
    fn new(text: &str) -> Self;
    fn enqueue(&mut self, now: Time, parcel: Parcel);
    /// The number of the packet that leaves, and when it had been accepted.
    fn dequeue(&mut self, now: Time) -> Option<(u64, Time)>;
    fn next_timer(&self) -> Option<Time>;
    fn on_timer(&mut self, now: Time);
    fn var(&mut self, name: &str) -> f64;
    /// What was dropped and marked since the last call.
    fn fates(&mut self) -> Vec<Fate>;
}

/// Lives through every trace; returns how many there are and how many values were compared.
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
        let file: Table = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
        let values = match file.contains_key("law") {
            true => LawTrace::<L>::run(&name, &file),
            false => DisciplineTrace::<D>::run(&name, &file),
        };
        assert!(values > 0, "{name} compares nothing");
        compared += values;
    }
    (paths.len(), compared)
}

/// A law on its way through a trace.
struct LawTrace<L> {
    name: String,
    law: L,
    now: Time,
    tolerance: Tolerance,
}

impl<L: Law> LawTrace<L> {
    fn run(name: &str, file: &Table) -> usize {
        let params = file["params"].as_table().expect("a table of parameters");
        let param =
            |(name, value): (&String, &Value)| format!("{name}={}", value.as_str().expect("text"));
        let params = params.iter().map(param).collect::<Vec<_>>().join(",");
        let colon = if params.is_empty() { "" } else { ":" };
        let aqm = format!("{}@{}{colon}{params}", text(file, "law"), text(file, "dialect"));
        let mut trace = LawTrace {
            name: name.to_owned(),
            law: L::new(&aqm),
            now: Time::ZERO,
            tolerance: Tolerance::new(file),
        };
        if let Some(until) = file.get("idle_until") {
            trace.now = time(until.as_str().expect("a time"));
            trace.law.on_idle_timers(trace.now);
        }
        steps(file).map(|step| trace.step(step)).sum()
    }

    /// Returns how many values were compared.
    fn step(&mut self, step: &Table) -> usize {
        match text(step, "call") {
            "dequeue" => self.dequeue(step),
            "learn_rate" => self.learn_rate(step),
            "update" => self.update(step),
            "enqueue" => self.enqueue(step),
            other => panic!("{}: there is no call {other}", self.name),
        }
    }

    fn take(&mut self, bytes: u32, sojourn: Span, queue: Backlog) -> Verdict {
        let enqueued = Time::from_nanos(self.now.as_nanos() - sojourn.as_nanos());
        let head = Head { bytes, ecn: Ecn::NotEct, enqueued };
        self.law.on_dequeue(self.now, head, queue)
    }

    fn dequeue(&mut self, step: &Table) -> usize {
        let (sojourn, every) = (span(step, "sojourn"), span(step, "every"));
        let queue = backlog(text(step, "backlog"));
        let until = time(text(step, "until"));
        let mut drops = Vec::new();
        self.now = time(text(step, "from"));
        while self.now < until {
            while self.take(MTU, sojourn, queue) != Verdict::Pass {
                drops.push(self.now);
            }
            self.now += every;
        }
        let expected: Vec<Time> = texts(step, "dropped_at").into_iter().map(time).collect();
        assert_eq!(drops, expected, "{}", self.name);
        let law = &mut self.law;
        expected.len() + self.tolerance.check_state(&self.name, step, |var| law.var(var))
    }

    fn learn_rate(&mut self, step: &Table) -> usize {
        let start = self.now;
        let queue = backlog(text(step, "backlog"));
        for (bytes, at) in numbers(step, "sizes").into_iter().zip(texts(step, "at")) {
            self.now = start + units::span(at).expect("a time");
            self.take(bytes as u32, Span::ZERO, queue);
        }
        0
    }

    fn update(&mut self, step: &Table) -> usize {
        let by_stamps = step.contains_key("sojourns");
        let inputs = texts(step, if by_stamps { "sojourns" } else { "backlogs" });
        let values = step.get("values").map(|_| numbers(step, "values")).unwrap_or_default();
        for (index, input) in inputs.iter().enumerate() {
            let due = self.law.next_timer().expect("a law with a timer");
            self.now = due.max(self.now);
            let mut queue = backlog("50p");
            if by_stamps {
                let sojourn = units::span(input).expect("a time");
                queue = if sojourn == Span::ZERO { Backlog::EMPTY } else { queue };
                self.take(MTU, sojourn, queue);
            } else {
                queue = backlog(input);
            }
            self.law.on_timer(due, queue);
            if let Some(&value) = values.get(index) {
                let var = text(step, "var");
                self.tolerance.check(&self.name, var, self.law.var(var), value);
            }
        }
        values.len()
    }

    fn enqueue(&mut self, step: &Table) -> usize {
        let u = numbers(step, "u");
        let seed = seed_drawing(u[0], u[1]);
        let queue = backlog(text(step, "backlog"));
        let head = Head { bytes: MTU, ecn: Ecn::NotEct, enqueued: self.now };
        let count = number(&step["count"]) as u64;
        let is_dropped = |_: &u64| {
            self.law.seed(seed);
            self.law.on_enqueue(self.now, head, queue) != Verdict::Pass
        };
        let dropped: Vec<f64> = (1..=count).filter(is_dropped).map(|n| n as f64).collect();
        assert_eq!(dropped, numbers(step, "dropped"), "{}", self.name);
        count as usize
    }
}

/// A discipline on its way through a trace.
struct DisciplineTrace<D> {
    name: String,
    discipline: D,
    now: Time,
    last_id: u64,
    tolerance: Tolerance,
}

impl<D: Discipline> DisciplineTrace<D> {
    fn run(name: &str, file: &Table) -> usize {
        let mut trace = DisciplineTrace {
            name: name.to_owned(),
            discipline: D::new(text(file, "aqm")),
            now: Time::ZERO,
            last_id: 0,
            tolerance: Tolerance::new(file),
        };
        steps(file).map(|step| trace.step(step)).sum()
    }

    /// Returns how many values were compared.
    fn step(&mut self, step: &Table) -> usize {
        let count = step.get("count").map_or(1.0, number) as u64;
        let every = step.get("every").map_or(Span::ZERO, |_| span(step, "every"));
        let mut left = Vec::new();
        self.pass(time(text(step, "at")));
        for index in 0..count {
            if index > 0 {
                self.pass(self.now + every);
            }
            match text(step, "call") {
                "offer" => self.offer(step, index),
                "take" => left.extend(self.discipline.dequeue(self.now)),
                other => panic!("{}: there is no call {other}", self.name),
            }
        }
        self.check(step, &left)
    }

    /// Timers ring when they are due, before whatever else happens then.
    fn pass(&mut self, then: Time) {
        assert!(then >= self.now, "{}: time does not run backwards", self.name);
        while let Some(due) = self.discipline.next_timer().filter(|&due| due <= then) {
            self.discipline.on_timer(due);
        }
        self.now = then;
    }

    fn offer(&mut self, step: &Table, index: u64) {
        let flows = step.get("flows").map_or(vec![0.0], |_| numbers(step, "flows"));
        let ecn = match step.get("ecn").map_or("not-ect", |ecn| ecn.as_str().expect("text")) {
            "not-ect" => Ecn::NotEct,
            "ect0" => Ecn::Ect0,
            "ect1" => Ecn::Ect1,
            "ce" => Ecn::Ce,
            other => panic!("{}: there is no ECN field {other}", self.name),
        };
        self.last_id += 1;
        let parcel = Parcel {
            id: self.last_id,
            flow: flows[index as usize % flows.len()] as u64,
            bytes: step.get("bytes").map_or(MTU, |bytes| number(bytes) as u32),
            ecn,
        };
        self.discipline.enqueue(self.now, parcel);
    }

    fn check(&mut self, step: &Table, left: &[(u64, Time)]) -> usize {
        let fates = self.discipline.fates();
        let ids = |what| fates.iter().filter(move |fate| fate.what == what).map(|fate| fate.id);
        let waits = left.iter().map(|&(_, enqueued)| self.now.since(enqueued).to_string());
        let mut compared = 0;
        let mut same = |key: &str, measured: Vec<Value>| {
            let expected = step.get(key).map(|list| list.as_array().expect("a list").clone());
            let is_silent = ["dropped", "marked"].contains(&key);
            let expected = expected.or_else(|| is_silent.then(Vec::new));
            if let Some(expected) = expected {
                assert_eq!(measured, expected, "{}: {key} by {}", self.name, text(step, "at"));
                compared += expected.len().max(1);
            }
        };
        let list =
            |ids: &mut dyn Iterator<Item = u64>| ids.map(|id| Value::from(id as i64)).collect();
        same("dropped", list(&mut ids("dropped")));
        same("marked", list(&mut ids("marked")));
        same("left", list(&mut left.iter().map(|&(id, _)| id)));
        same("waited", waits.map(Value::from).collect());
        if let Some(why) = step.get("why").and_then(Value::as_str) {
            let words = |fate: &Fate| format!("{}, {}", fate.stage, fate.cause);
            assert!(fates.iter().all(|fate| words(fate) == why), "{}: {fates:?}", self.name);
        }
        let discipline = &mut self.discipline;
        compared + self.tolerance.check_state(&self.name, step, |var| discipline.var(var))
    }
}

/// How far a value may be from what is expected.
struct Tolerance {
    absolute: f64,
    relative: f64,
}

impl Tolerance {
    fn new(file: &Table) -> Tolerance {
        let of = |key: &str| file.get(key).map_or(0.0, number);
        Tolerance { absolute: of("tolerance"), relative: of("relative_tolerance") }
    }

    fn check(&self, name: &str, var: &str, measured: f64, expected: f64) {
        let allowed = self.absolute + self.relative * expected.abs();
        let off = (measured - expected).abs();
        assert!(off <= allowed, "{name}: {var} is {measured}, not {expected}");
    }

    /// Returns how many variables the step names.
    fn check_state(&self, name: &str, step: &Table, mut var: impl FnMut(&str) -> f64) -> usize {
        let state = step.get("state").and_then(Value::as_table);
        for (key, value) in state.into_iter().flatten() {
            self.check(name, key, var(key), number(value));
        }
        state.map_or(0, Table::len)
    }
}

/// A seed whose stream begins in that range.
fn seed_drawing(from: f64, to: f64) -> u64 {
    let begins = |&seed: &u64| (from..=to).contains(&Rng::stream(seed, "queue", 0).uniform());
    (0..1_000_000).find(begins).expect("one of many")
}

fn steps(file: &Table) -> impl Iterator<Item = &Table> {
    let steps = file["step"].as_array().expect("a list of steps");
    steps.iter().map(|step| step.as_table().expect("a table"))
}

fn text<'a>(table: &'a Table, key: &str) -> &'a str {
    table[key].as_str().unwrap_or_else(|| panic!("{key} is text"))
}

fn time(text: &str) -> Time {
    Time::ZERO + units::span(text).expect("a time")
}

fn span(table: &Table, key: &str) -> Span {
    units::span(text(table, key)).expect("a time")
}

fn texts<'a>(table: &'a Table, key: &str) -> Vec<&'a str> {
    let array = table[key].as_array().unwrap_or_else(|| panic!("{key} is a list"));
    array.iter().map(|value| value.as_str().expect("a list of texts")).collect()
}

fn numbers(table: &Table, key: &str) -> Vec<f64> {
    let array = table[key].as_array().unwrap_or_else(|| panic!("{key} is a list"));
    array.iter().map(number).collect()
}

fn number(value: &Value) -> f64 {
    value.as_float().or(value.as_integer().map(|n| n as f64)).expect("a number")
}

fn backlog(text: &str) -> Backlog {
    let mtu = u64::from(MTU);
    let (packets, bytes) = match units::limit(text).expect("a backlog") {
        Limit::Packets(n) => (n, n * mtu),
        Limit::Bytes(n) => (n.div_ceil(mtu), n),
    };
    Backlog { packets: packets as u32, bytes, link_bytes: bytes }
}
