//! A single link with one of our disciplines: the requests to it, and the outcomes.

use std::collections::BTreeSet;

use sojourn_aqm::{
    Cause, Env, Evidence, Limit, Qdisc, QdiscSpec, Rng, Sink, Stage, Time, registry,
};

use crate::arrivals::{RATE, TestPacket};
use crate::trees;

/// Largest packet: Ethernet.
pub(crate) const MTU_BYTES: u32 = 1514;
/// Salt of flow hashing.
pub(crate) const SALT: u64 = 42;
/// Seed of a law's draws.
pub(crate) const SEED: u64 = 7;

/// The fate of a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum PacketOutcome {
    Dropped,
    Marked,
    Left,
}

/// Outcomes with the operation in which they occurred and the number of the packet, in the order of
/// operations. Outcomes of the same operation are not ordered.
pub(crate) type Outcomes = BTreeSet<(u32, u32, PacketOutcome)>;

/// The requests to a discipline, as bytes for the kernel's program, and their number.
#[derive(Default)]
pub(crate) struct Operations {
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: u32,
}

impl Operations {
    fn push(&mut self, now: Time, packet: Option<&TestPacket>) {
        use sojourn_aqm::Packet as _;
        let of = |value: fn(&TestPacket) -> u64| packet.map_or(0, value);
        let long = [
            now.as_nanos(),
            of(|packet| packet.flow),
            of(|packet| packet.src_host()),
            of(|packet| packet.dst_host()),
            of(|packet| packet.departure().map_or(0, Time::as_nanos)),
            of(|packet| packet.socket().unwrap_or(0)),
        ];
        let short = [
            u32::from(packet.is_none()),
            packet.map_or(0, |packet| packet.id),
            packet.map_or(0, |packet| packet.bytes),
            packet.map_or(0, |packet| packet.ecn as u32),
            packet.map_or(0, |packet| u32::from(packet.dscp())),
            packet.map_or(0, |packet| packet.buffer_bytes()),
            packet.and_then(|packet| packet.segment).map_or(0, |segment| segment.payload()),
            packet.map_or(0, |packet| u32::from(packet.priority())),
            packet.and_then(|packet| packet.pacing_rate()).map_or(0, |rate| {
                u32::try_from(rate.as_bps() / 8).expect("the rates of sockets here are low")
            }),
        ];
        let segment = packet.and_then(|packet| packet.segment);
        self.bytes.extend(long.iter().flat_map(|word| word.to_ne_bytes()));
        self.bytes.extend(short.iter().flat_map(|word| word.to_ne_bytes()));
        self.bytes.extend(segment.map_or([0; 60], |segment| segment.header()));
        self.count += 1;
    }
}

/// Collects the actions of a discipline.
#[derive(Default)]
struct Collected {
    operation: u32,
    outcomes: Outcomes,
}

impl Sink<TestPacket> for Collected {
    fn dropped(&mut self, packet: TestPacket, _: Time, _: Stage, _: Cause) {
        self.outcomes.insert((self.operation, packet.id, PacketOutcome::Dropped));
    }
    fn marked(&mut self, packet: &mut TestPacket, _: Time, _: Stage, _: Cause) {
        self.outcomes.insert((self.operation, packet.id, PacketOutcome::Marked));
    }
    fn evidence(&mut self, _: Evidence<'_>) {}
}

/// A link with a queue. As in the kernel, the queue is asked for a packet after every arrival at an
/// idle link, and after every departure.
struct SingleLink {
    qdisc: Box<dyn Qdisc<TestPacket>>,
    rng: Rng,
    operations: Operations,
    collected: Collected,
    /// When the link will be free again; `None` if it is idle.
    busy_until: Option<Time>,
    /// Whether the link is free but the discipline holds all packets back until then.
    is_held: bool,
}

impl SingleLink {
    fn run_timers(&mut self, now: Time) {
        while let Some(due) = self.qdisc.next_timer().filter(|&due| due <= now) {
            self.qdisc.on_timer(due);
        }
    }

    fn begin(&mut self, now: Time, packet: Option<&TestPacket>) {
        self.run_timers(now);
        self.collected.operation = self.operations.count;
        self.operations.push(now, packet);
    }

    fn arrive(&mut self, now: Time, packet: TestPacket) {
        self.begin(now, Some(&packet));
        self.qdisc.enqueue(now, packet, &mut self.rng, &mut self.collected);
        if self.busy_until.is_none() || self.is_held && self.qdisc.serves_while_held() {
            self.serve(now);
        }
    }

    fn serve(&mut self, now: Time) {
        self.begin(now, None);
        let departure = self.qdisc.dequeue(now, &mut self.rng, &mut self.collected);
        let left = departure.map(|departure| departure.packet);
        if let Some(packet) = left {
            let outcome = (self.collected.operation, packet.id, PacketOutcome::Left);
            self.collected.outcomes.insert(outcome);
        }
        let busy = left.map(|packet| now + RATE.time_for(u64::from(packet.bytes)));
        self.is_held = busy.is_none();
        self.busy_until = busy.or_else(|| self.qdisc.held_until());
    }
}

/// Sends all arrivals through one of our disciplines at the head of a link; `linux` in its spec
/// means the kernel of that series.
///
/// # Errors
/// The error in the spec.
pub(crate) fn replay(
    aqm: &str,
    series: (u32, u32),
    arrivals: &[(Time, TestPacket)],
) -> Result<(Operations, Outcomes), String> {
    let limit = Limit::Packets(1000);
    let env = Env { limit, mtu_bytes: MTU_BYTES, rate: Some(RATE), salt: SALT };
    let of_registry = || {
        let spec = QdiscSpec::parse(aqm).map_err(|error| format!("{aqm}: {error}"))?;
        registry::build(&registry::of_series(&spec, series), &env)
            .map_err(|error| format!("{aqm}: {error}"))
    };
    let tree = trees::build(aqm, &env);
    let qdisc = tree.map_or_else(of_registry, Ok)?;
    let mut link = SingleLink {
        qdisc,
        rng: Rng::stream(SEED, "law", 0),
        operations: Operations::default(),
        collected: Collected::default(),
        busy_until: None,
        is_held: false,
    };
    for &(at, packet) in arrivals {
        while let Some(free) = link.busy_until.filter(|&free| free <= at) {
            link.serve(free);
        }
        link.arrive(at, packet);
    }
    Ok((link.operations, link.collected.outcomes))
}

/// Reads the output of the kernel's program.
///
/// # Panics
/// If these are not outcomes.
pub(crate) fn read_outcomes(law: &str, bytes: &[u8]) -> Outcomes {
    let word = |bytes: &[u8]| u32::from_ne_bytes(bytes.try_into().expect("four bytes"));
    let outcome = |kind| match kind {
        0 => PacketOutcome::Dropped,
        1 => PacketOutcome::Marked,
        2 => PacketOutcome::Left,
        _ => panic!("outcome {kind} does not exist"),
    };
    let rows = bytes.chunks_exact(12);
    let mut outcomes: Outcomes =
        rows.map(|row| (word(&row[..4]), word(&row[8..]), outcome(word(&row[4..8])))).collect();
    if law != "cake" {
        return outcomes;
    }
    // A packet that CoDel marks and BLUE drops (sch_cake.c, cobalt_should_drop) counts as dropped.
    let dropped: Outcomes =
        outcomes.iter().filter(|row| row.2 == PacketOutcome::Dropped).copied().collect();
    outcomes.retain(|&(operation, packet, outcome)| {
        outcome != PacketOutcome::Marked
            || !dropped.contains(&(operation, packet, PacketOutcome::Dropped))
    });
    outcomes
}
