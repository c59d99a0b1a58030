//! A host that follows the contract of `Aqm` and `Qdisc` exactly and checks their promises after
//! every operation. The contract tests drive this host with random operations, the tests of `fuzz`
//! with a fuzzer's input.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::law::{Cause, Env, Stage};
use crate::packet::{Backlog, Ecn, Packet, TcpSegment};
use crate::qdisc::{Qdisc, Sink};
use crate::registry::{self, QdiscSpec};
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};
use crate::units::Limit;

/// Maximum number of timers that may fire in one idle time.
const MOST_TIMERS: u32 = 100_000;

/// How far a departure time is after the arrival, for flows that set one.
const SENDERS_DELAY: Span = Span::from_millis(5);

/// The largest acknowledgement.
const ACK_BYTES: u32 = 64;

/// Probabilities that may exceed 1, with the reason.
const UNBOUNDED: &[(&str, &str)] = &[
    ("madpie", "drop_prob"), // the ns-2 code has no upper bound (fact aqm-70)
    ("pie@ns2", "drop_prob"),
    ("pie@linux", "drop_prob"), // the bound on it has no effect (fact aqm-73)
    ("pie@linux", "accumulator"),
    ("pie@docsis", "drop_prob"), // 13.6 for a packet of mean size (RFC 8034; fact aqm-82)
    ("pi2@ns3", "drop_prob"),    // the port has no upper bound
    ("pi2@ns3", "base_prob"),
];

/// A packet of the host.
#[derive(Clone, Copy, Debug)]
pub struct HostPacket {
    id: usize,
    flow: u64,
    bytes: u32,
    ecn: Ecn,
    dscp: u8,
    /// Whether the packet arrived as ECT(1) or CE.
    is_l4s: bool,
    /// The earliest departure, of some flows.
    departure: Option<Time>,
}

impl Packet for HostPacket {
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
    fn dscp(&self) -> u8 {
        self.dscp
    }
    fn clear_dscp(&mut self) {
        self.dscp = 0;
    }
    /// Small packets are acknowledgements; each one acknowledges more than the previous ones.
    fn tcp(&self) -> Option<TcpSegment> {
        let ack = (self.id as u32).wrapping_mul(1448);
        let pure = TcpSegment { ack, has_ack: true, is_pure_ack: true, ..TcpSegment::default() };
        (self.bytes <= ACK_BYTES).then_some(pure)
    }
    fn departure(&self) -> Option<Time> {
        self.departure
    }
    /// Some flows ask to be paced.
    fn pacing_rate(&self) -> Option<Rate> {
        (self.flow % 8 == 5).then_some(Rate::from_bps(2_000_000))
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
    /// The time.
    pub now: Time,
    /// By packet number: arrival time of each queued packet.
    offered: Vec<Option<Time>>,
    inside_packets: u32,
    inside_bytes: u64,
    last_of_flow: BTreeMap<(u64, bool), usize>,
    /// Whether a flow whose ECN field changes may be reordered (RFC 9332 selects one of two queues
    /// by that field).
    is_dual: bool,
    /// See [`changes_queues`].
    changes_queues: bool,
    /// Number of packets dropped, by stage and cause.
    pub drops: BTreeMap<(Stage, Cause), u64>,
    /// Number of packets marked.
    pub marks: u64,
    /// The first promise that was broken.
    pub broken: Option<String>,
    /// FNV-1a over everything that happened.
    pub digest: u64,
}

impl Ledger {
    /// Records the first promise that does not hold.
    fn promise(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds && self.broken.is_none() {
            self.broken = Some(format!("{} at {:.9} s", what(), self.now.as_secs()));
        }
    }

    fn offer(&mut self, packet: &HostPacket) {
        assert_eq!(packet.id, self.offered.len());
        self.offered.push(Some(self.now));
        self.inside_packets += 1;
        self.inside_bytes += u64::from(packet.bytes);
    }

    fn gone(&mut self, packet: &HostPacket, enqueued: Time, what: u64) {
        let offered = self.offered[packet.id].take();
        self.promise(offered == Some(enqueued), || {
            "a packet leaves once, with its arrival time".to_string()
        });
        self.inside_packets -= 1;
        self.inside_bytes -= u64::from(packet.bytes);
        self.note(packet, what);
    }

    fn departed(&mut self, packet: &HostPacket, enqueued: Time) {
        self.gone(packet, enqueued, 1);
        let stream = (packet.flow, self.is_dual && packet.is_l4s);
        let before = self.last_of_flow.insert(stream, packet.id);
        let in_order = before.is_none_or(|id| id < packet.id);
        let in_order = in_order || self.changes_queues;
        self.promise(in_order, || "a flow keeps its order".to_string());
    }

    fn note(&mut self, packet: &HostPacket, what: u64) {
        let fate = what << 8 | u64::from(packet.dscp);
        for word in [self.now.as_nanos(), packet.id as u64, fate] {
            self.digest = (self.digest ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Signals of the law: marks, and drops other than overflow.
    pub fn signals(&self) -> u64 {
        let by_law = |cause: &Cause| *cause != Cause::Overflow;
        let drops = self.drops.iter().filter(|((_, cause), _)| by_law(cause)).map(|(_, n)| n);
        drops.sum::<u64>() + self.marks
    }
}

impl Sink<HostPacket> for Ledger {
    fn dropped(&mut self, packet: HostPacket, enqueued: Time, stage: Stage, cause: Cause) {
        let is_now = stage != Stage::Enqueue || enqueued == self.now;
        self.promise(is_now, || "an arrival is dropped now".to_string());
        *self.drops.entry((stage, cause)).or_default() += 1;
        self.gone(&packet, enqueued, 2 + ((stage as u64) << 8) + ((cause.class() as u64) << 16));
    }
    fn marked(&mut self, packet: &mut HostPacket, enqueued: Time, stage: Stage, cause: Cause) {
        let is_known = packet.ecn == Ecn::Ce && self.offered[packet.id] == Some(enqueued);
        self.promise(is_known, || "a mark comes with the arrival time".to_string());
        let is_now = stage != Stage::Enqueue || enqueued == self.now;
        self.promise(is_now, || "an arrival is marked now".to_string());
        self.marks += 1;
        self.note(packet, 3 + ((stage as u64) << 8) + ((cause.class() as u64) << 16));
    }
}

/// A strict host, which asks for the next timer only when the timer may have changed.
pub struct Host {
    name: String,
    /// The discipline.
    pub qdisc: Box<dyn Qdisc<HostPacket>>,
    limit: Limit,
    /// Draws of the host.
    pub chance: Rng,
    law_chance: Rng,
    /// The record of all packets.
    pub ledger: Ledger,
    alarm: Option<Time>,
    vars: Vec<f64>,
}

/// The largest backlog under a limit: fq has three bands with a limit each, and outside the bands a
/// queue of 8 packets, each of at most 65,535 B here.
pub fn most_waiting(spec: &QdiscSpec, limit: Limit) -> Limit {
    match limit {
        _ if spec.law != "fq" => limit,
        Limit::Packets(packets) => Limit::Packets(packets.saturating_mul(3).saturating_add(8)),
        Limit::Bytes(bytes) => Limit::Bytes(bytes.saturating_mul(3).saturating_add(8 * 65_535)),
    }
}

/// Whether a flow may change its queue and so be reordered: Linux `sch_cake.c`, `cake_hash`, gives
/// a queue's tag to the ninth flow of a set while the queue holds packets; `sch_fq.c`,
/// `fq_fastpath_check`, passes a packet whose flow shares a throttled queue; queue protection sends
/// single packets to the other queue (RFC 9957 §4.2.1).
fn changes_queues(spec: &QdiscSpec) -> bool {
    let settings = [("cake", "flows"), ("fq", "orphan_mask"), ("dualpi2", "protection")];
    let sets = |key: &str| spec.settings.iter().any(|(set, _)| set == key);
    settings.iter().any(|&(law, key)| spec.law == law && sets(key))
}

impl Host {
    /// A host for the AQM `spec`; `limit` is a parameter of the AQM.
    ///
    /// # Panics
    /// If the AQM cannot be built, which never happens with a checked description.
    pub fn new(spec: &QdiscSpec, limit: Limit, seed: u64) -> Host {
        let rate = Some(Rate::from_bps(10_000_000));
        let env = Env { limit, mtu_bytes: 1514, rate, salt: seed };
        let qdisc = registry::build::<HostPacket>(spec, &env).expect("the entry builds");
        Host {
            name: spec.to_string(),
            alarm: qdisc.next_timer(),
            vars: vec![f64::NAN; qdisc.vars().len()],
            qdisc,
            limit: most_waiting(spec, limit),
            chance: Rng::stream(seed, "host", 0),
            law_chance: Rng::stream(seed, "law", 0),
            ledger: Ledger {
                digest: 0xcbf2_9ce4_8422_2325,
                is_dual: spec.law == "dualpi2",
                changes_queues: changes_queues(spec),
                ..Ledger::default()
            },
        }
    }

    /// Advances the clock and fires timers. The clock stops if the law has more timers than a test
    /// can run.
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
            let moves_on = self.alarm.is_none_or(|next| next > due);
            self.ledger.promise(moves_on, || format!("{}: a timer moves on", self.name));
        }
    }

    /// A packet arrives.
    pub fn offer(&mut self, flow: u64, bytes: u32, ecn: Ecn) {
        let id = self.ledger.offered.len();
        let is_l4s = matches!(ecn, Ecn::Ect1 | Ecn::Ce);
        let departure = (flow % 8 == 6).then_some(self.ledger.now + SENDERS_DELAY);
        let dscp = (flow % 64) as u8;
        let packet = HostPacket { id, flow, bytes, ecn, dscp, is_l4s, departure };
        let nothing_waited = self.qdisc.backlog() == Backlog::EMPTY;
        self.ledger.offer(&packet);
        self.qdisc.enqueue(self.ledger.now, packet, &mut self.law_chance, &mut self.ledger);
        if nothing_waited {
            self.alarm = self.qdisc.next_timer();
        }
    }

    /// The link asks for a packet.
    pub fn take(&mut self) {
        let now = self.ledger.now;
        let departure = self.qdisc.dequeue(now, &mut self.law_chance, &mut self.ledger);
        match departure {
            Some(departure) => self.ledger.departed(&departure.packet, departure.enqueued),
            None => {
                let until = self.qdisc.held_until();
                let is_held = until.is_some_and(|until| until > now);
                self.ledger.digest ^= until.map_or(0, Time::as_nanos);
                let is_empty = self.qdisc.backlog() == Backlog::EMPTY;
                let name = &self.name;
                self.ledger.promise(is_empty || is_held, || {
                    format!("{name}: it is work-conserving, or says until when it holds packets")
                });
            }
        }
    }

    /// Checks the invariants after an operation.
    pub fn check(&mut self) {
        let (name, ledger) = (&self.name, &mut self.ledger);
        let backlog = self.qdisc.backlog();
        let (packets, bytes) = (ledger.inside_packets, ledger.inside_bytes);
        ledger.promise(backlog.packets == packets, || format!("{name}: packets are conserved"));
        let says_empty = self.qdisc.is_empty() == (packets == 0);
        ledger.promise(says_empty, || format!("{name}: it knows whether anything waits"));
        ledger.promise(backlog.bytes == bytes, || format!("{name}: bytes are conserved"));
        let is_one = backlog.link_bytes == backlog.bytes;
        ledger.promise(is_one, || format!("{name}: one discipline feeds the link"));
        let within = match self.limit {
            Limit::Packets(n) => u64::from(backlog.packets) <= n,
            Limit::Bytes(n) => backlog.bytes <= n,
        };
        ledger.promise(within, || format!("{name}: never above the limit"));
        let next = self.qdisc.next_timer();
        ledger.promise(next == self.alarm, || format!("{name}: the timer changes as promised"));
        if ledger.offered.len() % 16 == 0 {
            self.check_vars();
        }
    }

    fn check_vars(&mut self) {
        self.vars.fill(f64::NAN);
        self.qdisc.observe(&mut self.vars);
        for (var, &value) in self.qdisc.vars().iter().zip(&self.vars) {
            let name = &self.name;
            let exempt = UNBOUNDED.iter().any(|&(law, v)| name.contains(law) && v == var.name);
            let is_prob = var.name.ends_with("_prob") || var.name == "max_p";
            let holds = value.is_finite() && value >= 0.0 && (!is_prob || exempt || value <= 1.0);
            self.ledger.promise(holds, || {
                let bounds = if is_prob { "from 0 to 1" } else { "finite and not negative" };
                format!("{name}: the state variable {} is {value}; it must be {bounds}", var.name)
            });
        }
    }

    /// For tests: asserts that all promises have held so far.
    ///
    /// # Panics
    /// With the first promise that was broken.
    #[track_caller]
    pub fn insist(&self) {
        if let Some(broken) = &self.ledger.broken {
            panic!("{broken}");
        }
    }
}
