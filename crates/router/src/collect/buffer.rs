//! Checks whether the packets that are queued according to a record fit into the link's buffer, and
//! leave it within the time that the link needs to send a full buffer. A record that credits
//! departures to the wrong arrivals, as may happen after 65,536 packets identified only by 16 bits,
//! fails both checks.

use sojourn_aqm::{Limit, Rate, Span, Time};
use sojourn_record::rows::Fate;
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::{Capacity, FlowGroup, Link};

use crate::captures::PacketRecord;
use crate::plan::{Bottleneck, Plan};

/// Extra packets: one in transfer to or from the queue, and one that a shaper's rounding lets in
/// early.
const EDGE_PACKETS: u64 = 2;
/// Disciplines that send in order of arrival.
const FIFO: [&str; 13] = [
    "taildrop", "codel", "cobalt", "pie", "pi", "pi2", "madpie", "red", "ared", "choke", "blue",
    "sfb", "step",
];
/// Kernel disciplines whose limit is in bytes, regardless of the scenario's unit.
const COUNTS_BYTES: [&str; 3] = ["red", "ared", "cake"];

/// The capacity of a link's buffer.
struct Buffer {
    bytes: u64,
    /// `None` if the limit is in bytes.
    packets: Option<u64>,
    /// The longest time that a packet can be queued, if it follows from the limit.
    longest: Option<Span>,
}

/// The backlog of each link over time, and how long packets were queued.
#[derive(Clone, Copy, Default)]
struct Held {
    packets: u64,
    bytes: u64,
    most_packets: u64,
    most_bytes: u64,
    longest: Span,
}

/// Why the records cannot be true, one sentence per link. `late` is the largest lateness of the
/// event loop.
pub(super) fn exceeded(
    scenario: &Resolved,
    plan: &Plan,
    records: &[PacketRecord],
    late: Span,
) -> Vec<String> {
    let link_of = super::collector::link_of(scenario, plan);
    let mut held = vec![Held::default(); scenario.links.len()];
    for (_, change, index) in waits(records) {
        let record = &records[index];
        let link = link_of[record.flow as usize][record.direction as usize];
        let bytes = u64::from(scenario.links[link].bytes_of(u32::from(record.bytes)));
        held[link].change(change, bytes, record);
    }
    // A transmitter of a wireless LAN may have a queue for each station.
    let is_wired =
        |(_, (link, _)): &(usize, (&Link, &Held))| link.capacity.wireless_lan().is_none();
    let links = scenario.links.iter().zip(&held).enumerate().filter(is_wired);
    let check = |(index, (link, held)): (usize, (&Link, &Held))| {
        let is_way_back =
            |flow: &FlowGroup| flow.app.tcp().is_some() && flow.reverse.contains(&index);
        let mut buffer = buffer(link, plan, late);
        if scenario.flows.iter().any(is_way_back) {
            // ACKs with SACK blocks are larger than the scenario says; the number of ACKs is still
            // checked.
            (buffer.bytes, buffer.longest) = (u64::MAX, None);
        }
        reason(link, &buffer, held)
    };
    links.filter_map(check).collect()
}

/// Departures come before arrivals of the same time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Leaves,
    Arrives,
}

/// Arrivals and departures of sent packets, ordered by time. Drops are not included, because their
/// time is inferred: a packet dropped at the head is in the queue until the one behind it leaves.
fn waits(records: &[PacketRecord]) -> Vec<(Time, Change, usize)> {
    let mut changes = Vec::new();
    for (index, record) in records.iter().enumerate() {
        if record.fate == Fate::Sent
            && let Some(left) = record.left.filter(|&left| left > record.arrived)
        {
            changes.push((record.arrived, Change::Arrives, index));
            changes.push((left, Change::Leaves, index));
        }
    }
    changes.sort_unstable();
    changes
}

impl Held {
    fn change(&mut self, change: Change, bytes: u64, record: &PacketRecord) {
        match change {
            Change::Arrives => {
                self.packets += 1;
                self.bytes += bytes;
                self.most_packets = self.most_packets.max(self.packets);
                self.most_bytes = self.most_bytes.max(self.bytes);
            }
            Change::Leaves => {
                self.packets -= 1;
                self.bytes -= bytes;
                let waited = record.left.map_or(Span::ZERO, |left| left.since(record.arrived));
                self.longest = self.longest.max(waited);
            }
        }
    }
}

/// The capacity of a link's buffer. The units of the kernel's limits may differ from the
/// scenario's; a packet has at most `mtu_bytes`.
fn buffer(link: &Link, plan: &Plan, late: Span) -> Buffer {
    if link.scheduler.is_some() {
        // Each class has a separate buffer.
        return Buffer { bytes: u64::MAX, packets: None, longest: None };
    }
    let mtu_bytes = u64::from(link.queue_mtu_bytes());
    let kind = link.queue.kind();
    let is_kernels = matches!(plan.bottleneck, Bottleneck::Kernel { .. }) && plan.module.is_none();
    let (bytes, packets) = match link.limit {
        Limit::Bytes(bytes) => (bytes.saturating_add(EDGE_PACKETS * mtu_bytes), None),
        Limit::Packets(packets) => {
            let packets = packets.saturating_add(EDGE_PACKETS);
            let is_exact = !(is_kernels && COUNTS_BYTES.contains(&kind.as_str()));
            (packets.saturating_mul(mtu_bytes), is_exact.then_some(packets))
        }
    };
    let rate = lowest_rate(&link.capacity).filter(|_| FIFO.contains(&kind.as_str()));
    // One hundredth more, for the shaper's rounding to whole bytes (fact linux-23).
    let longest = rate.map(|rate| rate.time_for(bytes.saturating_add(bytes / 100)) + late);
    Buffer { bytes, packets, longest }
}

/// The lowest rate of a link; `None` if it may be zero.
fn lowest_rate(capacity: &Capacity) -> Option<Rate> {
    let rate = match capacity {
        Capacity::Constant(rate) => *rate,
        Capacity::Schedule(schedule) => schedule.lowest_rate()?,
        Capacity::Bucket(_) | Capacity::Trace(_) | Capacity::Wireless { .. } => return None,
    };
    (rate.as_bps() > 0).then_some(rate)
}

fn reason(link: &Link, buffer: &Buffer, held: &Held) -> Option<String> {
    let Link { name, limit, .. } = link;
    if let Some(longest) = buffer.longest.filter(|&longest| held.longest > longest) {
        return Some(format!(
            "the record shows a packet that waited {} at link {name}, whose buffer of {limit} is \
             sent in {longest} at most; the record is wrong",
            held.longest
        ));
    }
    let is_over = buffer.packets.is_some_and(|packets| held.most_packets > packets)
        || held.most_bytes > buffer.bytes;
    is_over.then(|| {
        format!(
            "the record shows {} packets of {} bytes that waited at link {name} at once, whose \
             buffer holds {limit}; the record is wrong",
            held.most_packets, held.most_bytes
        )
    })
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::Ecn;
    use sojourn_scenario::{Scenario, Source};

    use super::*;
    use crate::captures::CapturedKind;
    use crate::plan::Direction;
    use crate::planning;

    /// The reasons found for packets of 1500 bytes with these times of arrival and departure, in
    /// milliseconds, at a queue of a 10 Mbit/s link.
    fn found(queue: &str, times_ms: &[(u64, u64)]) -> Vec<String> {
        let text = format!(
            "name = \"t\"\nduration = \"4s\"\n[links.up]\nrate = \"10mbit\"\nqueue = \"{queue}\"\n\
             [[flows]]\npath = [\"up\"]\nrtt = \"10ms\"\napp = {{ kind = \"bulk\" }}"
        );
        let unread = |path: &str| Err(std::io::Error::other(path.to_owned()));
        let scenario = Scenario::load(&text, &Source::default(), &unread).expect("a scenario");
        let kernel = planning::Kernel { hz: 1000, delays_in_router: false, release: None };
        let plan = planning::plan(scenario.resolved(), kernel).expect("a plan");
        let record = |&(arrived, left): &(u64, u64)| PacketRecord {
            flow: 0,
            direction: Direction::Forward,
            seq: 0,
            bytes: 1500,
            kind: CapturedKind::Datagram,
            ecn_in: Ecn::NotEct,
            dscp: 0,
            arrived: Time::ZERO + Span::from_millis(arrived),
            left: Some(Time::ZERO + Span::from_millis(left)),
            fate: Fate::Sent,
            marked: None,
        };
        let records: Vec<PacketRecord> = times_ms.iter().map(record).collect();
        exceeded(scenario.resolved(), &plan, &records, Span::ZERO)
    }

    /// 100 packets of 1500 bytes take 120 ms at 10 Mbit/s.
    #[test]
    fn a_packet_that_waits_longer_than_a_full_buffer_takes_is_one_sentence() {
        assert_eq!(found("taildrop:limit=100p", &[(0, 120)]), Vec::<String>::new());
        let why = found("taildrop:limit=100p", &[(0, 130), (5, 135)]);
        assert_eq!(why.len(), 1, "{why:?}");
        assert!(why[0].contains("waited 130ms at link up, whose buffer of 100p"), "{why:?}");
    }

    #[test]
    fn more_packets_at_once_than_the_buffer_holds_are_one_sentence() {
        let at_once = |count: u64| vec![(0, 1000); count as usize];
        let queue = "fq_codel@linux:limit=100p";
        assert_eq!(found(queue, &at_once(102)), Vec::<String>::new(), "in any order");
        let why = found(queue, &at_once(103));
        assert!(why[0].contains("103 packets of 154500 bytes that waited at link up"), "{why:?}");
        let bytes = "cake:limit=150kB";
        assert_eq!(found(bytes, &at_once(100)), Vec::<String>::new());
        assert!(found(bytes, &at_once(103))[0].contains("holds 150kB"));
    }

    #[test]
    fn a_packet_that_leaves_when_another_arrives_makes_room_for_it() {
        let relay: Vec<(u64, u64)> = (0..1000).map(|n| (n, n + 100)).collect();
        assert_eq!(found("taildrop:limit=100p", &relay), Vec::<String>::new());
    }
}
