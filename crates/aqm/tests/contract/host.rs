//! A host that follows the contract of `Aqm` and `Qdisc` exactly, and checks after every operation
//! what they promise. The contract tests drive it at random, those of `fuzz` with a fuzzer's input.

use std::collections::BTreeMap;

use sojourn_aqm::registry;
use sojourn_aqm::{
    Backlog, Cause, Ecn, Env, Limit, Packet, Qdisc, QdiscSpec, Rate, Rng, Sink, Stage, Time,
};

/// How many timers may fire in one idle time.
const MOST_TIMERS: u32 = 100_000;

/// Probabilities that may exceed 1, with the reason.
const UNBOUNDED: &[(&str, &str)] = &[
    ("madpie", "drop_prob"), // the ns-2 code has no upper bound (fact aqm-70)
    ("pie@ns2", "drop_prob"),
    ("pie@linux", "drop_prob"), // its bound has no effect (fact aqm-73)
    ("pie@linux", "accumulator"),
    ("pie@docsis", "drop_prob"), // 13.6 for a packet of mean size (RFC 8034; fact aqm-82)
    ("pi2@ns3", "drop_prob"),    // the port has no upper bound
    ("pi2@ns3", "base_prob"),
];

#[derive(Clone, Copy, Debug)]
pub struct TestPacket {
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
    fn src_host(&self) -> u64 {
        self.flow % 3
    }
    fn dst_host(&self) -> u64 {
        self.flow % 7
    }
}

/// The host's account of its packets.
#[derive(Default)]
pub struct Ledger {
    pub now: Time,
    /// By packet number: when it was offered, until it is gone.
    offered: Vec<Option<Time>>,
    inside_packets: u32,
    inside_bytes: u64,
    last_of_flow: BTreeMap<(u64, bool), usize>,
    /// Whether a flow that changes its ECN field may overtake itself (RFC 9332 has a queue for
    /// each).
    is_dual: bool,
    /// Whether flows may lose their queue while packets of theirs wait in it: Linux `sch_cake.c`,
    /// `cake_hash`, gives the tag of a queue to the ninth flow of a set, which happens here with
    /// few queues.
    is_crowded: bool,
    pub drops: BTreeMap<(Stage, Cause), u64>,
    pub marks: u64,
    /// FNV-1a over everything that happened.
    pub digest: u64,
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
        assert_eq!(offered, Some(enqueued), "a packet leaves once, with its arrival time");
        self.inside_packets -= 1;
        self.inside_bytes -= u64::from(packet.bytes);
        self.note(packet, what);
    }

    fn departed(&mut self, packet: &TestPacket, enqueued: Time) {
        self.gone(packet, enqueued, 1);
        let stream = (packet.flow, self.is_dual && packet.is_l4s);
        let before = self.last_of_flow.insert(stream, packet.id);
        let in_order = before.is_none_or(|id| id < packet.id);
        assert!(in_order || self.is_crowded, "a flow keeps its order");
    }

    fn note(&mut self, packet: &TestPacket, what: u64) {
        for word in [self.now.as_nanos(), packet.id as u64, what] {
            self.digest = (self.digest ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub fn signals(&self) -> u64 {
        let by_law = |cause: &Cause| *cause != Cause::Overflow;
        let drops = self.drops.iter().filter(|((_, cause), _)| by_law(cause)).map(|(_, n)| n);
        drops.sum::<u64>() + self.marks
    }
}

impl Sink<TestPacket> for Ledger {
    fn dropped(&mut self, packet: TestPacket, enqueued: Time, stage: Stage, cause: Cause) {
        assert!(stage != Stage::Enqueue || enqueued == self.now, "an arrival is dropped now");
        *self.drops.entry((stage, cause)).or_default() += 1;
        self.gone(&packet, enqueued, 2 + ((stage as u64) << 8) + ((cause.class() as u64) << 16));
    }
    fn marked(&mut self, packet: &mut TestPacket, enqueued: Time, stage: Stage, cause: Cause) {
        assert_eq!(packet.ecn, Ecn::Ce);
        assert_eq!(self.offered[packet.id], Some(enqueued), "a mark comes with the arrival time");
        assert!(stage != Stage::Enqueue || enqueued == self.now, "an arrival is marked now");
        self.marks += 1;
        self.note(packet, 3 + ((stage as u64) << 8) + ((cause.class() as u64) << 16));
    }
}

/// A host that follows the contract to the letter: it asks for the timer only when it may have
/// changed.
pub struct Host {
    name: String,
    pub qdisc: Box<dyn Qdisc<TestPacket>>,
    limit: Limit,
    pub chance: Rng,
    law_chance: Rng,
    pub ledger: Ledger,
    alarm: Option<Time>,
    vars: Vec<f64>,
}

impl Host {
    pub fn new(spec: &QdiscSpec, limit: Limit, seed: u64) -> Host {
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
                is_crowded: spec.law == "cake" && spec.to_string().contains("flows="),
                ..Ledger::default()
            },
        }
    }

    /// Time passes and timers fire. A law with more timers than a test can wait for stops the
    /// clock.
    pub fn pass(&mut self, nanos: u64) {
        let then = Time::from_nanos(self.ledger.now.as_nanos().saturating_add(nanos));
        for _ in 0..MOST_TIMERS {
            let Some(due) = self.alarm.filter(|&due| due <= then) else {
                self.ledger.now = then;
                return;
            };
            self.ledger.now = due;
            self.qdisc.on_timer(due);
            self.alarm = self.qdisc.next_timer();
            assert!(self.alarm.is_none_or(|next| next > due), "{}: a timer moves on", self.name);
        }
    }

    pub fn offer(&mut self, flow: u64, bytes: u32, ecn: Ecn) {
        let id = self.ledger.offered.len();
        let is_l4s = matches!(ecn, Ecn::Ect1 | Ecn::Ce);
        let packet = TestPacket { id, flow, bytes, ecn, is_l4s };
        let nothing_waited = self.qdisc.backlog() == Backlog::EMPTY;
        self.ledger.offer(&packet);
        self.qdisc.enqueue(self.ledger.now, packet, &mut self.law_chance, &mut self.ledger);
        if nothing_waited {
            self.alarm = self.qdisc.next_timer();
        }
    }

    pub fn take(&mut self) {
        let now = self.ledger.now;
        let departure = self.qdisc.dequeue(now, &mut self.law_chance, &mut self.ledger);
        match departure {
            Some(departure) => self.ledger.departed(&departure.packet, departure.enqueued),
            None => {
                let is_held = self.qdisc.held_until().is_some_and(|until| until > now);
                let is_empty = self.qdisc.backlog() == Backlog::EMPTY;
                assert!(
                    is_empty || is_held,
                    "{}: it is work-conserving, or says until when it holds packets",
                    self.name
                );
            }
        }
    }

    /// What must hold after every operation.
    pub fn check(&mut self) {
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
}
