//! The promises of every registry entry to its host; a registered law is covered automatically.
//!
//! Random hosts enqueue and dequeue packets under overload, under light load and after idle times,
//! and check the promises of `Aqm` and `Qdisc` after every operation.

#[path = "contract/effects.rs"]
mod effects;

use std::sync::Mutex;

use sojourn_aqm::contract::host::{Host, Ledger};
use sojourn_aqm::contract::{traffic, values};
use sojourn_aqm::params::ParamSpec;
use sojourn_aqm::registry::{self, PRESETS};
use sojourn_aqm::{Cause, Limit, QdiscSpec, Stage};

/// Operations per entry and kind of limit; every entry runs under a limit in packets and under one
/// in bytes. `make contract-long` asks for more.
fn operations() -> u64 {
    let asked = std::env::var("SOJOURN_OPERATIONS");
    asked.map_or(1_000_000, |text| text.parse().expect("SOJOURN_OPERATIONS is a whole number"))
}

/// A smaller number for some checks: a twentieth, but at least one round of all phases.
fn some_operations() -> u64 {
    (operations() / 20).max(ROUND)
}

/// How many operations have run; kept in a file for the line at the end of `make test`.
fn tally(operations: u64) {
    static DONE: Mutex<u64> = Mutex::new(0);
    let mut done = DONE.lock().expect("no other test failed while it counted");
    *done += operations;
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/tally-operations");
    std::fs::write(file, done.to_string()).expect("the target folder is writable");
}

/// The operations of one phase of the random traffic, and of one round of all phases.
const PHASE: u64 = 2_500;
const ROUND: u64 = 7 * PHASE;

const LIMIT_PACKETS: u64 = 400;
const LIMIT_BYTES: u64 = 400_000;

/// Entries that never signal: they drop on overflow only.
const SILENT: &[&str] = &["taildrop", "sfq"];

/// Entries that always mark ECN-capable packets, without a parameter `ecn`.
const ALWAYS_ECN: &[&str] = &["step", "sfb", "dualpi2", "cake"];

/// Runs random traffic; asserts the promises.
trait RandomTraffic {
    fn run_phases(&mut self, operations: u64);
}

impl RandomTraffic for Host {
    #[track_caller]
    fn run_phases(&mut self, operations: u64) {
        let done = traffic::run(self, operations);
        self.insist();
        tally(done);
    }
}

fn has(law: &str, name: &str) -> bool {
    let entry = registry::entry(law).expect("it comes from the registry");
    (entry.params)().iter().any(|param| param.name == name)
}

fn has_ecn(law: &str) -> bool {
    has(law, "ecn")
}

/// Every entry of the registry, as kinds: `pie`, `fq(pie)`, `fq_pie`.
fn kinds() -> Vec<(String, &'static str)> {
    let laws = registry::laws();
    let plain = registry::entries().into_iter().map(|entry| (entry.name.to_string(), entry.name));
    let queued = laws.iter().map(|law| (format!("fq({})", law.name), law.name));
    let presets = PRESETS.iter().map(|preset| (preset.name.to_string(), preset.law));
    plain.chain(queued).chain(presets).collect()
}

fn spec(kind: &str, law: &str, limit: Limit, ecn: bool) -> QdiscSpec {
    let has_flows = kind.starts_with("fq(") || kind.starts_with("fq_");
    let flows = if has_flows { ",flows=16" } else { "" };
    let ecn = if has_ecn(law) { format!(",ecn={ecn}") } else { String::new() };
    QdiscSpec::parse(&format!("{kind}:limit={limit}{flows}{ecn}")).expect("a legal description")
}

fn run(kind: &str, law: &str, limit: Limit, ecn: bool, seed: u64, operations: u64) -> Ledger {
    let mut host = Host::new(&spec(kind, law, limit, ecn), limit, seed);
    host.run_phases(operations);
    host.ledger
}

#[test]
fn every_entry_keeps_its_promises_under_a_limit_in_packets() {
    let limit = Limit::Packets(LIMIT_PACKETS);
    for (kind, law) in kinds() {
        let ledger = run(&kind, law, limit, false, 1, operations());
        assert_eq!(ledger.signals() > 0, !SILENT.contains(&law), "{kind}: {:?}", ledger.drops);
        let may_mark = ALWAYS_ECN.contains(&law);
        assert!(ledger.marks == 0 || may_mark, "{kind}: nothing is marked with ecn off");
    }
}

#[test]
fn every_entry_keeps_its_promises_under_a_limit_in_bytes_and_marks_with_ecn() {
    let limit = Limit::Bytes(LIMIT_BYTES);
    for (kind, law) in kinds() {
        let ledger = run(&kind, law, limit, true, 2, operations());
        let marks = has_ecn(law) || ALWAYS_ECN.contains(&law);
        assert_eq!(ledger.marks > 0, marks, "{kind}: {} marks", ledger.marks);
    }
}

#[test]
fn every_entry_gives_the_same_events_for_the_same_seed() {
    let limit = Limit::Packets(LIMIT_PACKETS);
    for (kind, law) in kinds() {
        let digest = |seed| run(&kind, law, limit, false, seed, some_operations()).digest;
        let first = digest(3);
        assert_eq!(first, digest(3), "{kind}");
        assert_ne!(first, digest(4), "{kind}: the digest would notice");
    }
}

/// Dialects that differ only in the limit, which these tests set.
const SAME_UNDER_ONE_LIMIT: &[&str] = &["taildrop@bytes"];

/// Dialects without ECN: they refuse `ecn=true`.
const WITHOUT_ECN: &[&str] = &["pie@docsis", "madpie@docsis"];

/// Every dialect of every law except the default dialects, which the tests above cover.
fn dialects() -> impl Iterator<Item = (String, &'static str)> {
    let of = |law: registry::Entry| {
        let named = move |dialect: &sojourn_aqm::params::Dialect| {
            (format!("{}@{}", law.name, dialect.name), law.name)
        };
        law.dialects[1..].iter().map(named)
    };
    registry::laws().into_iter().flat_map(of)
}

#[test]
fn every_dialect_keeps_its_promises_in_one_queue_and_under_flow_queues() {
    for (dialect, law) in dialects() {
        let with = |ecn: bool| match has_ecn(law) {
            true => format!("{dialect}:ecn={ecn}"),
            false => dialect.clone(),
        };
        let marks = if has(law, "ecn_mark_limit") {
            format!("{},ecn_mark_limit=1", with(true)) // else coarse tables seldom mark here
        } else {
            with(true)
        };
        let marks = if WITHOUT_ECN.contains(&dialect.as_str()) { with(false) } else { marks };
        for (text, limit) in [(&with(false), Limit::Packets(400)), (&marks, Limit::Bytes(400_000))]
        {
            let separator = if text.contains(':') { ',' } else { ':' };
            let spec = QdiscSpec::parse(&format!("{text}{separator}limit={limit}"));
            let mut host = Host::new(&spec.expect("a legal description"), limit, 7);
            host.run_phases(4 * some_operations());
            let signals = host.ledger.signals() > 0;
            assert_eq!(signals, !SILENT.contains(&law), "{text}: {:?}", host.ledger.drops);
            let marking = text.contains("ecn=true") || ALWAYS_ECN.contains(&law);
            assert_eq!(host.ledger.marks > 0, marking, "{text}: {} marks", host.ledger.marks);
        }
        let queued = format!("fq({dialect}):limit=400p,flows=16");
        let spec = QdiscSpec::parse(&queued).expect("a legal description");
        Host::new(&spec, Limit::Packets(400), 8).run_phases(2 * some_operations());
    }
}

#[test]
fn every_dialect_gives_the_same_events_for_the_same_seed() {
    let digest = |text: &str, seed| {
        let spec = QdiscSpec::parse(&format!("{text}:limit=400p")).expect("a legal description");
        let mut host = Host::new(&spec, Limit::Packets(400), seed);
        host.run_phases(some_operations());
        host.ledger.digest
    };
    for (dialect, law) in dialects() {
        let first = digest(&dialect, 3);
        assert_eq!(first, digest(&dialect, 3), "{dialect}");
        let same = first == digest(law, 3);
        let expected = SAME_UNDER_ONE_LIMIT.contains(&dialect.as_str());
        assert_eq!(same, expected, "{dialect} differs from the default");
    }
}

/// Runs every legal edge of a parameter; returns how many there were.
fn at_edges(kind: &str, param: &ParamSpec, limit: Limit) -> u32 {
    let word = param.absent.into_iter().chain(param.words.iter().copied());
    let texts = values::edges(param.kind)
        .iter()
        .copied()
        .chain(word)
        .map(|value| format!("{kind}:limit={limit},{}={value}", param.name));
    let at_an_edge = (operations() / 200).max(PHASE);
    let legal = texts.filter_map(|text| QdiscSpec::parse(&text).ok());
    legal.map(|spec| Host::new(&spec, limit, 6).run_phases(at_an_edge)).count() as u32
}

#[test]
fn every_dialect_keeps_its_promises_at_the_edges_of_its_parameters() {
    let limit = Limit::Packets(100);
    let mut accepted = 0;
    for (dialect, law) in dialects() {
        let law = registry::law(law).expect("an entry");
        for param in (law.params)() {
            accepted += at_edges(&dialect, param, limit);
        }
    }
    assert!(accepted > 300, "{accepted} settings were tried");
}

/// No setting may make a law panic: it must be legal or refused.
#[test]
fn every_entry_keeps_its_promises_at_the_edges_of_its_parameters() {
    let limit = Limit::Packets(100);
    let mut accepted = 0;
    for (kind, law) in kinds() {
        let discipline = QdiscSpec::parse(&kind).expect("an entry").discipline;
        let law = registry::entry(law).expect("an entry");
        let params = (law.params)().iter().chain(registry::discipline_params(discipline));
        for param in params.filter(|param| param.name != "limit") {
            accepted += at_edges(&kind, param, limit);
        }
    }
    assert!(accepted > 300, "{accepted} settings were tried");
}

/// The tests above need overflows to be meaningful.
#[test]
fn the_hosts_of_these_tests_meet_every_kind_of_loss() {
    let limit = Limit::Packets(LIMIT_PACKETS);
    let fifo = run("taildrop", "taildrop", limit, false, 5, 50_000);
    assert!(fifo.drops[&(Stage::Enqueue, Cause::Overflow)] > 1000);
    let fq = run("fq_codel", "codel", limit, false, 5, 50_000);
    assert!(fq.drops[&(Stage::Queued, Cause::Overflow)] > 100);
    assert!(fq.drops[&(Stage::Dequeue, Cause::Target)] > 100);
    let pie = run("pie", "pie", limit, false, 5, 50_000);
    assert!(pie.drops[&(Stage::Enqueue, Cause::Random)] > 100);
}
