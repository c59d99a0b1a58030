use sojourn_aqm::{
    Cause, Departure, Ecn, Env, Limit, Packet as _, Qdisc, QdiscSpec, Rate, Rng, Sink, Span, Stage,
    Time, registry,
};
use sojourn_link::{Line, Link, LinkObserver, Server, Shaper, TokenBucket};
use sojourn_scenario::resolved::{Bucket, Device};

use super::*;

const FLOW: u32 = 3;
const NEIGHBOUR: u32 = 4;

fn segment(seq: u32, bytes: u32) -> Packet {
    let labels = Labels::new(bytes < 1500);
    let packet = Packet::new(PacketKind::Data, FLOW, 1, seq, bytes, Time::ZERO);
    Packet { labels, signal: seq == 7, ecn: Ecn::Ect0, ..packet }
}

/// Segments from `first` on as one packet, the last of 600 B.
fn super_packet(first: u32, count: u32) -> Packet {
    let mut packet = segment(first, 1500);
    for seq in first + 1..first + count {
        let bytes = if seq + 1 == first + count { 600 } else { 1500 };
        packet.append_segment(&segment(seq, bytes));
    }
    packet
}

fn ping() -> Packet {
    Packet::new(PacketKind::Datagram, NEIGHBOUR, 0, 0, 100, Time::ZERO)
}

/// Counts segments by their fate, and packets that a discipline made of super-packets.
#[derive(Debug, Default)]
struct Fates {
    dropped: Vec<u32>,
    marked: u32,
    further: u32,
    busy_bytes: u32,
}

impl Sink<Packet> for Fates {
    fn dropped(&mut self, packet: Packet, _: Time, _: Stage, _: Cause) {
        self.dropped.push(packet.segments());
    }
    fn marked(&mut self, packet: &mut Packet, _: Time, _: Stage, _: Cause) {
        self.marked += packet.segments();
    }
    fn split(&mut self, further: u32) {
        self.further += further;
    }
}

impl LinkObserver<Packet> for Fates {
    fn departed(&mut self, _: &Packet, _: Time) {}
    fn busy(&mut self, bytes: u32, overhead: u32, _: Span) {
        self.busy_bytes += bytes + overhead;
    }
    fn carried(&mut self, _: u32) {}
}

fn queue(aqm: &str) -> Box<dyn Qdisc<Packet>> {
    let rate = Some(Rate::from_bps(10_000_000));
    let env = Env { limit: Limit::Packets(1000), mtu_bytes: 1500, rate, salt: 0 };
    registry::build(&QdiscSpec::parse(aqm).unwrap(), &env).unwrap()
}

fn rng() -> Rng {
    Rng::stream(1, "test", 0)
}

#[test]
fn a_super_packet_is_its_segments_again_once_it_is_split() {
    let mut rest = super_packet(7, 3);
    assert_eq!((rest.segments(), rest.ip_bytes, rest.bytes()), (3, 3600, 3600));
    let mut found = Vec::new();
    while let Some(first) = rest.split_first() {
        found.push(first);
    }
    found.push(rest);
    let expected = [segment(7, 1500), segment(8, 1500), segment(9, 600)];
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
}

/// Linux: they share one IP header until they are split.
#[test]
fn a_mark_of_a_super_packet_marks_every_segment() {
    let mut rest = super_packet(7, 2);
    rest.set_ce();
    let first = rest.split_first().unwrap();
    assert_eq!([first.ecn, rest.ecn], [Ecn::Ce; 2]);
}

#[test]
fn a_link_frames_every_segment() {
    let mut packet = super_packet(7, 3);
    packet.resize(|bytes| (bytes + 38).max(700));
    assert_eq!((packet.bytes(), packet.segment_bytes()), (2 * 1538 + 700, 1538));
}

/// Linux: the fragments of a super-packet share one `struct sk_buff`.
#[test]
fn the_buffer_of_a_super_packet_is_its_payload_and_one_header() {
    assert_eq!(super_packet(7, 3).buffer_bytes(), 3600 - 3 * 52 + 1280);
}

/// When a ping leaves that arrives right after a super-packet of 44 segments, at 10 Mbit/s.
fn ping_behind_a_super_packet(aqm: &str) -> Span {
    let line = Line::from(Rate::from_bps(10_000_000));
    let mut link = Link::new(queue(aqm), rng(), Server::steady(line));
    let mut fates = Fates::default();
    link.enqueue(Time::ZERO, super_packet(0, 44), &mut fates);
    link.enqueue(Time::ZERO, ping(), &mut fates);
    let mut left = None;
    while link.next_service() < Time::NEVER {
        let now = link.next_service();
        link.on_service(now, &mut fates, |packet| {
            left = left.or((packet.flow == NEIGHBOUR).then_some(now));
        });
    }
    assert_eq!(fates.busy_bytes, 43 * 1500 + 600 + 100, "{aqm}: every byte is sent");
    left.unwrap().since(Time::ZERO)
}

/// Linux 6.1 sch_cake.c, cake_enqueue; Linux 7.2 sch_dualpi2.c, dualpi2_qdisc_enqueue. 65.1 kB take
/// 52 ms, 1500 B take 1.2 ms.
#[test]
fn a_ping_waits_for_a_super_packet_unless_the_discipline_splits_it() {
    for aqm in ["fq_codel", "sfq", "cake:split_gso=false", "codel", "dualpi2:split_gso=false"] {
        let waits = ping_behind_a_super_packet(aqm);
        assert_eq!(waits, Span::from_micros(52_160), "{aqm}");
    }
    assert_eq!(ping_behind_a_super_packet("cake"), Span::from_micros(2_480));
    // One queue for both: all segments leave first.
    assert_eq!(ping_behind_a_super_packet("dualpi2"), Span::from_micros(52_160));
}

/// The departures of a queue, and its fates.
fn offered(aqm: &str, packets: u32, segments: u32) -> (Vec<Departure<Packet>>, Fates) {
    let (mut queue, mut fates, mut rng) = (queue(aqm), Fates::default(), rng());
    for place in 0..packets {
        queue.enqueue(Time::ZERO, super_packet(place * segments, segments), &mut rng, &mut fates);
    }
    let leaving = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut rng, &mut fates));
    let departures = leaving.collect();
    (departures, fates)
}

/// Linux counts skbs in a limit of packets and in drops; a drop loses every segment.
#[test]
fn a_limit_of_packets_counts_super_packets_and_a_drop_loses_one_whole() {
    // RFC 8290 §4.1 takes half of the fattest queue.
    let expected = [("taildrop", 1), ("pie", 1), ("fq_codel", 2), ("sfq", 1)];
    for (aqm, drops) in expected {
        let (departures, fates) = offered(&format!("{aqm}:limit=2p"), 3, 10);
        assert_eq!(fates.dropped, vec![10; drops], "{aqm}");
        assert_eq!((departures.len(), fates.further), (3 - drops, 0), "{aqm}");
    }
    let (departures, fates) = offered("dualpi2:limit=25p", 3, 10);
    assert_eq!((departures.len(), fates.dropped, fates.further), (25, vec![1; 5], 27));
}

/// Linux 6.1 cake_enqueue: the limit is checked once all segments are queued.
#[test]
fn cake_splits_before_it_makes_room() {
    let (departures, fates) = offered("cake:limit=25p", 3, 10);
    assert_eq!((departures.len(), fates.dropped, fates.further), (25, vec![1; 5], 27));
    let (departures, fates) = offered("cake:limit=2p,split_gso=false", 3, 10);
    assert_eq!((departures.len(), fates.dropped, fates.further), (2, vec![10], 0));
}

/// Linux 6.1 sch_cake.c, cake_overhead, and sch_generic.h, psched_l2t_ns: cake frames every
/// segment.
#[test]
fn cake_without_splitting_charges_the_overhead_of_every_segment() {
    let time = |split: bool| {
        let aqm = format!("cake:bandwidth=10mbit,overhead=38B,split_gso={split}");
        let (mut queue, mut fates, mut rng) = (queue(&aqm), Fates::default(), rng());
        queue.enqueue(Time::ZERO, super_packet(0, 3), &mut rng, &mut fates);
        queue.enqueue(Time::ZERO, ping(), &mut rng, &mut fates);
        let mut now = Time::ZERO;
        while !queue.is_empty() {
            match queue.dequeue(now, &mut rng, &mut fates) {
                Some(_) => {}
                None => now = queue.held_until().unwrap(),
            }
        }
        now.since(Time::ZERO).as_nanos() / 1_000
    };
    // Only the ping's own 138 B do not delay it; without splitting it leaves last, too.
    let whole = (2 * 1538 + 638) * 8 / 10;
    assert_eq!((time(false), time(true)), (whole, whole - (638 - 138) * 8 / 10));
}

/// Linux 6.1 sch_tbf.c, tbf_enqueue.
#[test]
fn a_token_bucket_splits_a_super_packet_that_exceeds_its_burst() {
    let further = |burst_bytes| {
        let rate = Rate::from_bps(10_000_000);
        let framing = sojourn_aqm::Framing::NONE;
        let bucket = Bucket { rate, burst_bytes, line: rate, overdraft: false, framing };
        let device = Device { limit: Limit::Packets(2), overhead_bytes: 24 };
        let shaper = Shaper::new(Some(TokenBucket::new(&bucket)), Some(device), rate);
        let mut link = Link::new(queue("fq_codel"), rng(), Server::shaped(shaper));
        let mut fates = Fates::default();
        link.enqueue(Time::ZERO, super_packet(0, 3), &mut fates);
        let mut segments = 0;
        while link.next_service() < Time::NEVER {
            let now = link.next_service();
            link.on_service(now, &mut fates, |packet| segments += packet.segments());
        }
        assert_eq!((segments, fates.busy_bytes), (3, 3600 + 3 * 24));
        fates.further
    };
    assert_eq!([further(3599), further(3600)], [2, 0]);
}
