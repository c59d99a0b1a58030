//! What every entry of the registry owes its host, tested for each of them without being asked: a
//! new law is covered by being registered.
//!
//! Random hosts offer and take packets through fat times, lean times and silence, and check after
//! every single operation what `Aqm` and `Qdisc` promise.

use std::collections::BTreeMap;

use sojourn_aqm::params::{Kind, ParamSpec};
use sojourn_aqm::registry::{self, PRESETS};
use sojourn_aqm::{
    Backlog, Cause, Ecn, Env, Limit, Packet, Qdisc, QdiscSpec, Rate, Rng, Sink, Stage, Time,
};

/// Operations per entry and limit kind; every entry runs under a limit in packets and one in bytes.
const OPERATIONS: u64 = 1_000_000;
const FLOWS: u64 = 40;
const LIMIT_PACKETS: u64 = 400;
const LIMIT_BYTES: u64 = 400_000;

/// Probabilities that may exceed 1, with the reason.
const UNBOUNDED: &[(&str, &str)] = &[
    ("madpie", "drop_prob"), // the ns-2 code has no upper bound (spec aqm.md §13.6 item 14)
    ("pie@ns2", "drop_prob"),
    ("pie@linux", "drop_prob"), // its bound does not hold (spec aqm.md §13.6 item 5)
    ("pie@linux", "accumulator"),
    ("pie@docsis", "drop_prob"), // 13.6 for a packet of mean size (RFC 8034)
    ("pi2@ns3", "drop_prob"),    // the port has no upper bound (spec aqm.md §15)
    ("pi2@ns3", "base_prob"),
];

/// Entries that never signal: overflow is all they know.
const SILENT: &[&str] = &["taildrop", "sfq"];

/// Entries that mark whatever can be marked and cannot be told not to.
const ALWAYS_ECN: &[&str] = &["step", "sfb", "dualpi2", "cake"];

#[derive(Clone, Copy, Debug)]
struct TestPacket {
    id: usize,
    flow: u64,
    bytes: u32,
    ecn: Ecn,
    /// Whether it came as ECT(1) or CE.
    is_l4s: bool,
}

impl Packet for TestPacket {
    fn bytes(&self) -> u32 {
        self.bytes
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        assert!(self.ecn.can_mark(), "only what can be marked is marked");
        self.ecn = Ecn::Ce;
    }
    fn flow(&self) -> u64 {
        self.flow
    }
}

/// Everything a host knows of its packets.
#[derive(Default)]
struct Ledger {
    now: Time,
    /// By packet number: when it was offered, until it is gone.
    offered: Vec<Option<Time>>,
    inside_packets: u32,
    inside_bytes: u64,
    last_of_flow: BTreeMap<(u64, bool), usize>,
    /// Whether a flow that changes its ECN field may overtake itself (RFC 9332 has a queue for each).
    is_dual: bool,
    drops: BTreeMap<(Stage, Cause), u64>,
    marks: u64,
    /// FNV-1a over everything that happened.
    digest: u64,
}

impl Ledger {
    fn offer(&mut self, packet: &TestPacket) {
        assert_eq!(packet.id, self.offered.len());
        self.offered.push(Some(self.now));
        self.inside_packets += 1;
        self.inside_bytes += u64::from(packet.bytes);
    }

    fn gone(&mut self, packet: &TestPacket, enqueued: Time, what: u64) {
        let offered = self.offered[packet.id].take();
        assert_eq!(offered, Some(enqueued), "a packet leaves once, with the time it came");
        self.inside_packets -= 1;
        self.inside_bytes -= u64::from(packet.bytes);
        self.note(packet, what);
    }

    fn departed(&mut self, packet: &TestPacket, enqueued: Time) {
        self.gone(packet, enqueued, 1);
        let stream = (packet.flow, self.is_dual && packet.is_l4s);
        let before = self.last_of_flow.insert(stream, packet.id);
        assert!(before.is_none_or(|id| id < packet.id), "a flow keeps its order");
    }

    fn note(&mut self, packet: &TestPacket, what: u64) {
        for word in [self.now.as_nanos(), packet.id as u64, what] {
            self.digest = (self.digest ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn signals(&self) -> u64 {
        let by_law = |cause: &Cause| *cause != Cause::Overflow;
        let drops = self.drops.iter().filter(|((_, cause), _)| by_law(cause)).map(|(_, n)| n);
        drops.sum::<u64>() + self.marks
    }
}

impl Sink<TestPacket> for Ledger {
    fn dropped(&mut self, packet: TestPacket, enqueued: Time, stage: Stage, cause: Cause) {
        assert!(stage != Stage::Enqueue || enqueued == self.now, "an arrival is dropped now");
        *self.drops.entry((stage, cause)).or_default() += 1;
        self.gone(&packet, enqueued, 2 + ((stage as u64) << 8) + ((cause as u64) << 16));
    }
    fn marked(&mut self, packet: &mut TestPacket, stage: Stage, cause: Cause) {
        assert_eq!(packet.ecn, Ecn::Ce);
        self.marks += 1;
        self.note(packet, 3 + ((stage as u64) << 8) + ((cause as u64) << 16));
    }
}

/// A host that follows the contract to the letter: it asks for the timer only when it may have
/// changed.
struct Host {
    name: String,
    qdisc: Box<dyn Qdisc<TestPacket>>,
    limit: Limit,
    chance: Rng,
    law_chance: Rng,
    ledger: Ledger,
    alarm: Option<Time>,
    vars: Vec<f64>,
}

impl Host {
    fn new(spec: &QdiscSpec, limit: Limit, seed: u64) -> Host {
        let rate = Some(Rate::from_bps(10_000_000));
        let env = Env { limit, mtu_bytes: 1514, rate, salt: seed };
        let qdisc = registry::build::<TestPacket>(spec, &env).expect("the entry builds");
        Host {
            name: spec.to_string(),
            alarm: qdisc.next_timer(),
            vars: vec![f64::NAN; qdisc.vars().len()],
            qdisc,
            limit,
            chance: Rng::stream(seed, "host", 0),
            law_chance: Rng::stream(seed, "law", 0),
            ledger: Ledger {
                digest: 0xcbf2_9ce4_8422_2325,
                is_dual: spec.law == "dualpi2",
                ..Ledger::default()
            },
        }
    }

    /// One phase of traffic: how likely an operation is an arrival, and the silence before it.
    fn phase(&mut self, arrivals: f64, silence_ns: u64, operations: u64) {
        self.pass(silence_ns);
        let rate = Rate::from_bps(1_000_000 * (1 + self.chance.below(20)));
        self.qdisc.on_rate(self.ledger.now, rate);
        for _ in 0..operations {
            let step = self.chance.below(1_200_000);
            self.pass(step);
            if self.chance.uniform() < arrivals {
                self.offer()
            } else {
                self.take()
            }
            self.check();
        }
    }

    fn pass(&mut self, nanos: u64) {
        let then = Time::from_nanos(self.ledger.now.as_nanos() + nanos);
        while let Some(due) = self.alarm.filter(|&due| due <= then) {
            self.ledger.now = due;
            self.qdisc.on_timer(due);
            self.alarm = self.qdisc.next_timer();
            assert!(self.alarm.is_none_or(|next| next > due), "{}: a timer moves on", self.name);
        }
        self.ledger.now = then;
    }

    fn offer(&mut self) {
        let sizes = [64, 350, 1000, 1514, 1514, 1514];
        let ecns = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
        let ecn = ecns[self.chance.below(5) as usize];
        let packet = TestPacket {
            id: self.ledger.offered.len(),
            flow: self.chance.below(FLOWS).pow(2) / FLOWS, // some flows are fatter
            bytes: sizes[self.chance.below(6) as usize],
            ecn,
            is_l4s: matches!(ecn, Ecn::Ect1 | Ecn::Ce),
        };
        let nothing_waited = self.qdisc.backlog() == Backlog::EMPTY;
        self.ledger.offer(&packet);
        self.qdisc.enqueue(self.ledger.now, packet, &mut self.law_chance, &mut self.ledger);
        if nothing_waited {
            self.alarm = self.qdisc.next_timer();
        }
    }

    fn take(&mut self) {
        let now = self.ledger.now;
        let departure = self.qdisc.dequeue(now, &mut self.law_chance, &mut self.ledger);
        match departure {
            Some(departure) => self.ledger.departed(&departure.packet, departure.enqueued),
            None => {
                let is_held = self.qdisc.held_until().is_some_and(|until| until > now);
                let is_empty = self.qdisc.backlog() == Backlog::EMPTY;
                assert!(is_empty || is_held, "{}: it works, or says until when not", self.name);
            }
        }
    }

    fn check(&mut self) {
        let (name, ledger) = (&self.name, &self.ledger);
        let backlog = self.qdisc.backlog();
        assert_eq!(backlog.packets, ledger.inside_packets, "{name}: packets are conserved");
        assert_eq!(backlog.bytes, ledger.inside_bytes, "{name}: bytes are conserved");
        assert_eq!(backlog.link_bytes, backlog.bytes, "{name}: one discipline feeds the link");
        let within = match self.limit {
            Limit::Packets(n) => u64::from(backlog.packets) <= n,
            Limit::Bytes(n) => backlog.bytes <= n,
        };
        assert!(within, "{name}: never above the limit");
        assert_eq!(self.qdisc.next_timer(), self.alarm, "{name}: the timer changes as promised");
        if ledger.offered.len() % 16 == 0 {
            self.check_vars();
        }
    }

    fn check_vars(&mut self) {
        self.vars.fill(f64::NAN);
        self.qdisc.observe(&mut self.vars);
        for (var, &value) in self.qdisc.vars().iter().zip(&self.vars) {
            let name = &self.name;
            assert!(value.is_finite() && value >= 0.0, "{name}: {} = {value}", var.name);
            let exempt = UNBOUNDED.iter().any(|&(law, v)| name.contains(law) && v == var.name);
            let is_prob = var.name.ends_with("_prob") || var.name == "max_p";
            assert!(!is_prob || exempt || value <= 1.0, "{name}: {} = {value}", var.name);
        }
    }

    /// Fat times, lean times, balance and silence, over and over.
    fn live(&mut self, operations: u64) {
        let phases =
            [(0.7, 0), (0.5, 0), (0.3, 0), (0.52, 7_000_000), (0.9, 0), (0.1, 0), (0.5, 3 << 30)];
        let length = 2500;
        for round in 0..operations / length {
            let (arrivals, silence) = phases[round as usize % phases.len()];
            self.phase(arrivals, silence, length);
        }
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
    let flows = if kind.starts_with("fq") { ",flows=16" } else { "" };
    let ecn = if has_ecn(law) { format!(",ecn={ecn}") } else { String::new() };
    QdiscSpec::parse(&format!("{kind}:limit={limit}{flows}{ecn}")).expect("a legal description")
}

fn run(kind: &str, law: &str, limit: Limit, ecn: bool, seed: u64, operations: u64) -> Ledger {
    let mut host = Host::new(&spec(kind, law, limit, ecn), limit, seed);
    host.live(operations);
    host.ledger
}

#[test]
fn every_entry_keeps_its_promises_under_a_limit_in_packets() {
    let limit = Limit::Packets(LIMIT_PACKETS);
    for (kind, law) in kinds() {
        let ledger = run(&kind, law, limit, false, 1, OPERATIONS);
        assert_eq!(ledger.signals() > 0, !SILENT.contains(&law), "{kind}: {:?}", ledger.drops);
        let may_mark = ALWAYS_ECN.contains(&law);
        assert!(ledger.marks == 0 || may_mark, "{kind}: nothing is marked with ecn off");
    }
}

#[test]
fn every_entry_keeps_its_promises_under_a_limit_in_bytes_and_marks_with_ecn() {
    let limit = Limit::Bytes(LIMIT_BYTES);
    for (kind, law) in kinds() {
        let ledger = run(&kind, law, limit, true, 2, OPERATIONS);
        let marks = has_ecn(law) || ALWAYS_ECN.contains(&law);
        assert_eq!(ledger.marks > 0, marks, "{kind}: {} marks", ledger.marks);
    }
}

#[test]
fn every_entry_gives_the_same_events_for_the_same_seed() {
    let limit = Limit::Packets(LIMIT_PACKETS);
    for (kind, law) in kinds() {
        let digest = |seed| run(&kind, law, limit, false, seed, 50_000).digest;
        assert_eq!(digest(3), digest(3), "{kind}");
        assert_ne!(digest(3), digest(4), "{kind}: the digest would notice");
    }
}

/// Dialects that differ from the default in their limit alone, which these tests set.
const SAME_UNDER_ONE_LIMIT: &[&str] = &["taildrop@bytes"];

/// Dialects without ECN: they refuse `ecn=true`.
const WITHOUT_ECN: &[&str] = &["pie@docsis"];

/// Every dialect of every law but the default ones, which the tests above cover.
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
            host.live(200_000);
            let signals = host.ledger.signals() > 0;
            assert_eq!(signals, !SILENT.contains(&law), "{text}: {:?}", host.ledger.drops);
            let marking = text.contains("ecn=true") || ALWAYS_ECN.contains(&law);
            assert_eq!(host.ledger.marks > 0, marking, "{text}: {} marks", host.ledger.marks);
        }
        let queued = format!("fq({dialect}):limit=400p,flows=16");
        let spec = QdiscSpec::parse(&queued).expect("a legal description");
        Host::new(&spec, Limit::Packets(400), 8).live(100_000);
    }
}

#[test]
fn every_dialect_gives_the_same_events_for_the_same_seed() {
    let digest = |text: &str, seed| {
        let spec = QdiscSpec::parse(&format!("{text}:limit=400p")).expect("a legal description");
        let mut host = Host::new(&spec, Limit::Packets(400), seed);
        host.live(50_000);
        host.ledger.digest
    };
    for (dialect, law) in dialects() {
        assert_eq!(digest(&dialect, 3), digest(&dialect, 3), "{dialect}");
        let same = digest(&dialect, 3) == digest(law, 3);
        let expected = SAME_UNDER_ONE_LIMIT.contains(&dialect.as_str());
        assert_eq!(same, expected, "{dialect} differs from the default");
    }
}

/// Values at the edges of what each kind of parameter can be; the rules refuse some of them.
fn edges(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Span => &["0s", "50us", "1s", "18446744073s"],
        Kind::Hertz => &["0hz", "0.000000001hz", "99999999hz"],
        Kind::Number => &["0", "1e-300", "0.5", "1", "1e300"],
        Kind::Whole => &["0", "1", "64", "65536", "18446744073709551615"],
        Kind::Bytes => &["0B", "1B", "256B", "1MiB", "18446744073709551615B"],
        Kind::Limit => &["0p", "1p", "7B", "1000000p", "18446744073709551615B"],
        Kind::Rate => &["1bit", "100gbit"],
        Kind::Bool => &["true", "false"],
        Kind::Word => &[],
    }
}

/// Lives through every legal edge of a parameter, and tells how many there were.
fn at_edges(kind: &str, param: &ParamSpec, limit: Limit) -> u32 {
    let word = param.absent.into_iter().chain(param.words.iter().copied());
    let texts = edges(param.kind)
        .iter()
        .copied()
        .chain(word)
        .map(|value| format!("{kind}:limit={limit},{}={value}", param.name));
    let legal = texts.filter_map(|text| QdiscSpec::parse(&text).ok());
    legal.map(|spec| Host::new(&spec, limit, 6).live(5_000)).count() as u32
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

/// What a user may write must not bring a law down, however odd: it is legal or it is refused.
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

/// The tests above would prove little if nothing overflowed.
#[test]
fn the_hosts_of_these_tests_meet_every_kind_of_loss() {
    let limit = Limit::Packets(LIMIT_PACKETS);
    let fifo = run("taildrop", "taildrop", limit, false, 5, 50_000);
    assert!(fifo.drops[&(Stage::Enqueue, Cause::Overflow)] > 1000);
    let fq = run("fq_codel", "codel", limit, false, 5, 50_000);
    assert!(fq.drops[&(Stage::Queued, Cause::Overflow)] > 100);
    assert!(fq.drops[&(Stage::Dequeue, Cause::Deterministic)] > 100);
    let pie = run("pie", "pie", limit, false, 5, 50_000);
    assert!(pie.drops[&(Stage::Enqueue, Cause::Random)] > 100);
}
