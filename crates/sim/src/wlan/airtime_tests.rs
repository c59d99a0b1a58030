use sojourn_aqm::{Cause, Env, QdiscSpec, Stage, registry};

use super::*;
use crate::packet::PacketKind;

/// The links of two stations; packets to the first take hop 0, packets to the second hop 1.
const LINKS: [usize; 2] = [7, 9];

struct Ignore;

impl Sink<Packet> for Ignore {
    fn dropped(&mut self, _: Packet, _: Time, _: Stage, _: Cause) {}
    fn marked(&mut self, _: &mut Packet, _: Time, _: Stage, _: Cause) {}
}

fn queues(spec: &str) -> AirtimeQueues {
    let env = Env { limit: Limit::Packets(1000), mtu_bytes: 1500, rate: None, salt: 0 };
    let spec = QdiscSpec::parse(spec).unwrap();
    let station = |link| StationQueue::new(link, registry::build(&spec, &env).unwrap());
    AirtimeQueues::new(vec![Some(0), Some(1)], LINKS.map(station).into())
}

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

fn rng() -> Rng {
    Rng::stream(1, "queue", 0)
}

/// Enqueues a packet to a station.
fn arrive(queues: &mut AirtimeQueues, now: Time, station: u32) {
    let packet = Packet::new(PacketKind::Data, station, 0, 0, 1500, now);
    queues.enqueue(now, Packet { hop: station, ..packet }, &mut rng(), &mut Ignore);
}

/// The station of the next packet.
fn leave(queues: &mut AirtimeQueues, now: Time) -> Option<u32> {
    queues.dequeue(now, &mut rng(), &mut Ignore).map(|departure| departure.packet.hop)
}

/// By hand: a frame takes 2138 us to the slow station and 298 us to the fast one. Both start with
/// 256 us; each may overdraw its deficit once per turn, and the overdraft is paid back.
#[test]
fn two_stations_with_frames_of_unequal_length_use_equal_airtime() {
    let mut queues = queues("taildrop");
    let (mut now, mut used, mut frames) = (at(0), [0; 2], [0; 2]);
    for _ in 0..50_000 {
        for station in [0, 1] {
            while queues.stations[station as usize].queue.backlog().packets < 2 {
                arrive(&mut queues, now, station);
            }
        }
        let station = leave(&mut queues, now).unwrap() as usize;
        let airtime = [298, 2138][station];
        now += Span::from_micros(airtime);
        queues.on_airtime(now, LINKS[station], Span::from_micros(airtime));
        (used[station], frames[station]) = (used[station] + airtime, frames[station] + 1);
    }
    let difference = used[0].abs_diff(used[1]);
    assert!(difference <= 2 * 2138, "{used:?}");
    assert!((frames[0] as f64 / frames[1] as f64 - 2138.0 / 298.0).abs() < 0.01, "{frames:?}");
}

/// It starts with 256 us and uses 600 us; two rounds pay back the debt of 344 us.
#[test]
fn a_station_in_debt_waits_until_the_rounds_of_the_others_have_paid_it() {
    let mut queues = queues("taildrop");
    (0..9).for_each(|_| arrive(&mut queues, at(0), 0));
    (0..9).for_each(|_| arrive(&mut queues, at(0), 1));
    queues.on_airtime(at(0), LINKS[1], Span::from_micros(600));
    let mut order = Vec::new();
    for _ in 0..5 {
        let station = leave(&mut queues, at(0)).unwrap();
        order.push(station);
        queues.on_airtime(at(0), LINKS[station as usize], Span::from_micros(300));
    }
    // Deficits in microseconds: station 0 has 256; station 1 has -344, and -88 after its first
    // turn. Station 0 sends and has -44, then 212 after its next turn; station 1 has 168 after its
    // own turn, but station 0 is first. From then on they alternate.
    assert_eq!(order, [0, 0, 1, 0, 1]);
}

/// Linux 6.1 net/mac80211/tx.c, __ieee80211_schedule_txq: at the front.
#[test]
fn the_first_packet_of_a_station_that_was_idle_is_sent_next() {
    let mut queues = queues("taildrop");
    (0..3).for_each(|_| arrive(&mut queues, at(0), 0));
    assert_eq!(leave(&mut queues, at(0)), Some(0));
    arrive(&mut queues, at(10), 1);
    assert_eq!(leave(&mut queues, at(10)), Some(1));
}

/// Linux 6.1 net/mac80211/sta_info.c, ieee80211_sta_register_airtime.
#[test]
fn airtime_counts_up_to_100_ms_after_a_station_had_a_packet() {
    let deficit_after = |millis: u64| {
        let mut queues = queues("taildrop");
        arrive(&mut queues, at(0), 0);
        leave(&mut queues, at(0));
        queues.on_airtime(at(millis * 1_000), LINKS[0], Span::from_micros(56));
        queues.stations[0].deficit
    };
    assert_eq!((deficit_after(100), deficit_after(101)), (200_000, 256_000));
    let mut never = queues("taildrop");
    never.on_airtime(at(0), LINKS[0], Span::from_micros(56));
    assert_eq!(never.stations[0].deficit, 256_000, "a station that only sends is not charged");
}

#[test]
fn the_backlog_is_the_sum_over_stations_and_leaves_in_order_within_each() {
    let mut queues = queues("taildrop");
    assert!(queues.is_empty());
    for seq in 0..4 {
        for hop in [0, 1] {
            let packet = Packet::new(PacketKind::Data, hop, 0, seq, 1000, at(0));
            queues.enqueue(at(0), Packet { hop, ..packet }, &mut rng(), &mut Ignore);
        }
    }
    let expected = Backlog { packets: 8, bytes: 8000, link_bytes: 8000 };
    assert_eq!((queues.backlog(), queues.is_empty()), (expected, false));
    let mut next = [0, 0];
    while let Some(departure) = queues.dequeue(at(1), &mut rng(), &mut Ignore) {
        let packet = departure.packet;
        assert_eq!((packet.seq, departure.enqueued), (next[packet.hop as usize], at(0)));
        next[packet.hop as usize] += 1;
        queues.on_airtime(at(1), LINKS[packet.hop as usize], Span::from_micros(300));
    }
    assert_eq!(next, [4, 4]);
    assert_eq!(queues.backlog(), Backlog::EMPTY);
}

/// The limit applies to each station, so a slow one cannot fill the space of another.
#[test]
fn a_full_queue_of_one_station_drops_nothing_of_another() {
    let mut queues = queues("taildrop:limit=3p");
    (0..10).for_each(|_| arrive(&mut queues, at(0), 0));
    (0..3).for_each(|_| arrive(&mut queues, at(0), 1));
    assert_eq!(queues.backlog().packets, 6);
    assert!(queues.on_limit(Limit::Packets(4)));
    (0..2).for_each(|_| arrive(&mut queues, at(0), 1));
    assert_eq!(queues.backlog().packets, 7);
}

/// PIE updates its probability every 15 ms (RFC 8033 §4.2).
#[test]
fn the_timers_of_a_stations_law_are_handled_before_its_next_packet() {
    let mut queues = queues("pie");
    assert_eq!(queues.next_timer(), None, "the host has none to set");
    arrive(&mut queues, at(100_000), 1);
    assert!(queues.stations[1].queue.next_timer().is_some_and(|due| due > at(100_000)));
    leave(&mut queues, at(200_000));
    assert!(queues.stations[1].queue.next_timer().is_some_and(|due| due > at(200_000)));
}

/// CAKE with a rate holds packets back; packets of another station need not wait for them.
#[test]
fn a_station_whose_discipline_shapes_does_not_hold_up_another() {
    let mut queues = queues("cake:bandwidth=1mbit");
    (0..2).for_each(|_| arrive(&mut queues, at(0), 0));
    assert_eq!(leave(&mut queues, at(0)), Some(0));
    assert_eq!(leave(&mut queues, at(1)), None);
    let due = queues.held_until().unwrap();
    assert!(due > at(1));
    arrive(&mut queues, at(2), 1);
    assert_eq!(leave(&mut queues, at(3)), Some(1));
    assert_eq!(leave(&mut queues, due), Some(0));
}
