//! The golden traces in `testdata/golden`, whose README describes them: one test for all files.

use std::path::{Path, PathBuf};

use sojourn_aqm::laws::{ared, codel, madpie, pi2, pie, red, taildrop};
use sojourn_aqm::params::Params;
use sojourn_aqm::{Backlog, Ecn, Env, Head, Law, Limit, Rate, Rng, Span, Time, Verdict, units};
use toml::{Table, Value};

const MTU: u64 = 1514;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden")
}

fn text<'a>(table: &'a Table, key: &str) -> &'a str {
    table[key].as_str().unwrap_or_else(|| panic!("{key} is text"))
}

fn time(text: &str) -> Time {
    Time::ZERO + units::span(text).expect("a time")
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
    let (packets, bytes) = match units::limit(text).expect("a backlog") {
        Limit::Packets(n) => (n, n * MTU),
        Limit::Bytes(n) => (n.div_ceil(MTU), n),
    };
    Backlog { packets: packets as u32, bytes, link_bytes: bytes }
}

/// A generator whose next number lies in that range.
fn drawing(from: f64, to: f64) -> Rng {
    let streams = (0..).map(|index| Rng::stream(1, "golden", index));
    streams.take(1_000_000).find(|rng| (from..=to).contains(&rng.clone().uniform())).expect("one")
}

/// A law on its way through a trace.
struct Trace<L> {
    name: String,
    law: L,
    now: Time,
    tolerance: f64,
    relative_tolerance: f64,
}

impl<L: Law> Trace<L> {
    fn run(name: &str, file: &Table) -> usize {
        let rate = Some(Rate::from_bps(10_000_000));
        let env = Env { limit: Limit::Packets(1000), mtu_bytes: MTU as u32, rate, salt: 0 };
        let mut params = L::Params::of_dialect(text(file, "dialect")).expect("a dialect");
        for (param, value) in file["params"].as_table().expect("a table of parameters") {
            params.set(param, value.as_str().expect("text")).expect("a legal value");
        }
        params.check().expect("legal together");
        let mut trace = Trace {
            name: name.to_owned(),
            law: L::new(&params, &env),
            now: Time::ZERO,
            tolerance: file.get("tolerance").map_or(0.0, number),
            relative_tolerance: file.get("relative_tolerance").map_or(0.0, number),
        };
        if let Some(until) = file.get("idle_until") {
            trace.now = time(until.as_str().expect("a time"));
            trace.law.on_idle_timers(trace.now);
        }
        let steps = file["step"].as_array().expect("a list of steps");
        steps.iter().map(|step| trace.step(step.as_table().expect("a table"))).sum()
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
        self.law.on_dequeue(self.now, head, queue, &mut drawing(0.0, 1.0))
    }

    fn dequeue(&mut self, step: &Table) -> usize {
        let sojourn = units::span(text(step, "sojourn")).expect("a time");
        let every = units::span(text(step, "every")).expect("a time");
        let queue = backlog(text(step, "backlog"));
        let until = time(text(step, "until"));
        let mut drops = Vec::new();
        self.now = time(text(step, "from"));
        while self.now < until {
            while self.take(MTU as u32, sojourn, queue) != Verdict::Pass {
                drops.push(self.now);
            }
            self.now += every;
        }
        let expected: Vec<Time> = texts(step, "dropped_at").into_iter().map(time).collect();
        assert_eq!(drops, expected, "{}", self.name);
        let state = step.get("state").and_then(Value::as_table);
        for (var, value) in state.into_iter().flatten() {
            self.check(var, number(value));
        }
        expected.len() + state.map_or(0, Table::len)
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
                self.take(MTU as u32, sojourn, queue);
            } else {
                queue = backlog(input);
            }
            self.law.on_timer(due, queue);
            if let Some(&value) = values.get(index) {
                self.check(text(step, "var"), value);
            }
        }
        values.len()
    }

    fn enqueue(&mut self, step: &Table) -> usize {
        let u = numbers(step, "u");
        let rng = drawing(u[0], u[1]);
        let queue = backlog(text(step, "backlog"));
        let head = Head { bytes: MTU as u32, ecn: Ecn::NotEct, enqueued: self.now };
        let count = number(&step["count"]) as u64;
        let is_dropped = |_: &u64| {
            let verdict = self.law.on_enqueue(self.now, head, queue, &mut rng.clone());
            verdict != Verdict::Pass
        };
        let dropped: Vec<f64> = (1..=count).filter(is_dropped).map(|n| n as f64).collect();
        assert_eq!(dropped, numbers(step, "dropped"), "{}", self.name);
        count as usize
    }

    fn check(&self, var: &str, expected: f64) {
        let index = L::VARS.iter().position(|v| v.name == var).expect("a variable of the law");
        let mut values = vec![f64::NAN; L::VARS.len()];
        self.law.observe(&mut values);
        let allowed = self.tolerance + self.relative_tolerance * expected.abs();
        let off = (values[index] - expected).abs();
        assert!(off <= allowed, "{}: {var} is {}, not {expected}", self.name, values[index]);
    }
}

fn run(name: &str, file: &Table) -> usize {
    match text(file, "law") {
        "taildrop" => Trace::<taildrop::TailDrop>::run(name, file),
        "red" => Trace::<red::Red>::run(name, file),
        "ared" => Trace::<ared::Ared>::run(name, file),
        "codel" => Trace::<codel::CoDel>::run(name, file),
        "pie" => Trace::<pie::Pie>::run(name, file),
        "pi2" => Trace::<pi2::Pi2>::run(name, file),
        "madpie" => Trace::<madpie::Madpie>::run(name, file),
        other => panic!("{name}: there is no law {other} here"),
    }
}

#[test]
fn every_golden_trace_is_met() {
    let entries = std::fs::read_dir(folder()).expect("the traces are there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let mut compared = 0;
    for path in &paths {
        let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).expect("readable");
        let file: Table = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
        let values = run(&name, &file);
        assert!(values > 0, "{name} compares nothing");
        compared += values;
    }
    assert!(paths.len() >= 24, "{} traces", paths.len());
    println!("{} golden traces, {compared} values", paths.len());
}
