use sojourn_record::rows::Fate;
use sojourn_scenario::resolved::{Duplicate, Trace};

use super::super::recorder::Records;
use super::*;
use crate::plan::Direction;

fn recording() -> Recording {
    Recording::Records(Records::new(false))
}

fn plan(queue: &str, limit: &str) -> RouterLinkPlan {
    RouterLinkPlan {
        queue: queue.to_owned(),
        index: 0,
        direction: Direction::Forward,
        limit: limit.to_owned(),
        framing_bytes: 0,
        mtu_bytes: 1500,
        service: RouterCapacity::Rates(vec![(0, 10_000_000)]),
        duplicate: None,
        drop_list: Vec::new(),
        mark_list: Vec::new(),
        delays: Vec::new(),
    }
}

/// A datagram of 1500 bytes, ECT(0).
fn packet() -> Vec<u8> {
    let mut bytes = vec![0u8; 1500];
    (bytes[0], bytes[1], bytes[9]) = (0x45, 2, 17);
    bytes[2..4].copy_from_slice(&1500u16.to_be_bytes());
    bytes
}

#[test]
fn packets_leave_in_order_at_serialisation_time_intervals() {
    let mut link =
        RouterLink::new(&plan("taildrop", "100p"), &LoadedLaws::default(), 1, recording()).unwrap();
    (0..3).for_each(|flow| link.arrive(Time::ZERO, packet(), flow));
    let mut leaving = Vec::new();
    while link.next_timer() < Time::NEVER {
        let now = link.next_timer();
        link.on_timer(now, |due, _| leaving.push(due.as_nanos()));
    }
    assert_eq!(leaving, [1_200_000, 2_400_000, 3_600_000]);
    let delays = link.records().iter().map(|s| s.left.unwrap().as_nanos()).collect::<Vec<_>>();
    assert_eq!(delays, [0, 1_200_000, 2_400_000]);
}

#[test]
fn a_copy_of_a_packet_passes_the_queue_behind_it() {
    let always = ("b".to_owned(), Duplicate { rate: 1.0, correlation: 0.0 });
    let copying = RouterLinkPlan { duplicate: Some(always), ..plan("taildrop", "100p") };
    let mut link = RouterLink::new(&copying, &LoadedLaws::default(), 1, recording()).unwrap();
    link.arrive(Time::ZERO, packet(), 3);
    link.arrive(Time::ZERO, packet(), u32::MAX);
    let flows: Vec<u32> = link.records().iter().map(|record| record.flow).collect();
    assert_eq!(flows, [3, 3, u32::MAX]);
}

#[test]
fn a_late_host_keeps_the_rate() {
    let mut link =
        RouterLink::new(&plan("taildrop", "100p"), &LoadedLaws::default(), 1, recording()).unwrap();
    (0..10).for_each(|flow| link.arrive(Time::ZERO, packet(), flow));
    let mut left = 0;
    link.on_timer(Time::from_nanos(6_100_000), |_, _| left += 1);
    assert_eq!(left, 5);
}

/// Netravali et al. 2015 (Mahimahi, link_queue.cc): an opportunity carries bytes of several
/// packets; unused capacity is lost.
#[test]
fn a_recorded_link_sends_what_its_opportunities_carry() {
    let trace = Box::new(Trace {
        file: String::new(),
        sha256: String::new(),
        opportunities_ms: vec![1, 1, 5],
        opportunity_bytes: 1000,
    });
    let recorded =
        RouterLinkPlan { service: RouterCapacity::Recorded(trace), ..plan("taildrop", "9p") };
    let mut link = RouterLink::new(&recorded, &LoadedLaws::default(), 1, recording()).unwrap();
    (0..3).for_each(|flow| link.arrive(Time::ZERO, packet(), flow));
    let mut leaving = Vec::new();
    while link.next_timer() < Time::NEVER {
        let now = link.next_timer();
        link.on_timer(now, |due, _| leaving.push(due.as_nanos() / 1_000_000));
    }
    // 1000 B can be sent at 1, 1, 5, 6, 6 ms: the third packet of 1500 B has been sent at the fifth
    // opportunity.
    assert_eq!(leaving, [1, 5, 6]);
    let taken = link.records().iter().map(|s| s.left.unwrap().as_nanos() / 1_000_000);
    assert_eq!(taken.collect::<Vec<_>>(), [1, 1, 6]);
    // The opportunity at 10 ms was lost, because the queue was empty then.
    link.arrive(Time::from_nanos(10_000_000), packet(), 0);
    assert_eq!(link.next_timer(), Time::from_nanos(11_000_000));
}

#[test]
fn listed_packets_are_dropped_and_marked_whatever_the_queue_decides() {
    let lists = RouterLinkPlan { drop_list: vec![2], mark_list: vec![3], ..plan("taildrop", "9p") };
    let mut link = RouterLink::new(&lists, &LoadedLaws::default(), 1, recording()).unwrap();
    (0..4).for_each(|flow| link.arrive(Time::ZERO, packet(), flow));
    assert_eq!(link.counts(), LinkCounts { arrived: 4, sent: 1, dropped: 1, marked: 1 });
    let records = link.records();
    assert_eq!(records[1].fate, Fate::Dropped(Stage::Enqueue, Cause::Deterministic));
    assert!(records[2].marked.is_some() && records[3].marked.is_none());
}

/// Of three packets, the second is listed for marking; the second and third find a queue above K.
#[test]
fn a_packet_that_is_marked_twice_counts_once() {
    let step = plan("step@dctcp:backlog_threshold=1p", "9p");
    let listed = RouterLinkPlan { mark_list: vec![2], ..step };
    let mut link = RouterLink::new(&listed, &LoadedLaws::default(), 1, recording()).unwrap();
    (0..4).for_each(|flow| link.arrive(Time::ZERO, packet(), flow));
    let causes: Vec<_> = link.records().iter().map(|record| record.marked).collect();
    let by_list = Some((Stage::Enqueue, Cause::Deterministic));
    let by_law = Some((Stage::Enqueue, Cause::CeThreshold));
    assert_eq!(causes, [None, by_list, by_law, by_law]);
    assert_eq!(link.counts().marked, 3);
}

/// The law marks the third and fourth packet, a list the second.
#[test]
fn the_state_before_a_decision_of_the_law_is_kept_if_wanted() {
    let step = plan("step@dctcp:backlog_threshold=1p", "9p");
    let listed = RouterLinkPlan { mark_list: vec![2], ..step };
    let states = |is_wanted: bool| {
        let recording = Recording::Records(Records::new(is_wanted));
        let mut link = RouterLink::new(&listed, &LoadedLaws::default(), 1, recording).unwrap();
        (0..4).for_each(|flow| link.arrive(Time::ZERO, packet(), flow));
        link.signal_states().to_vec()
    };
    // The law's state is the number of packets that it has marked.
    assert_eq!(states(true), [(2, vec![0.0]), (3, vec![1.0])]);
    assert!(states(false).is_empty());
}

#[test]
fn a_packet_that_is_not_ipv4_is_ignored() {
    let mut link =
        RouterLink::new(&plan("codel", "100p"), &LoadedLaws::default(), 1, recording()).unwrap();
    link.arrive(Time::ZERO, vec![0x60; 40], 0);
    assert_eq!(link.counts().arrived, 0);
}

/// As in the simulator: 10,000 of the first 12,000 bits take 1 ms, the rest 0.1 ms at 20 Mbit/s.
#[test]
fn the_rest_of_a_packet_in_service_is_sent_at_the_new_rate() {
    let service = RouterCapacity::Rates(vec![(0, 10_000_000), (1_000_000, 20_000_000)]);
    let changing = RouterLinkPlan { service, ..plan("taildrop", "9p") };
    let mut link = RouterLink::new(&changing, &LoadedLaws::default(), 1, recording()).unwrap();
    (0..2).for_each(|flow| link.arrive(Time::ZERO, packet(), flow));
    let mut leaving = Vec::new();
    link.on_timer(Time::from_nanos(9_000_000), |due, _| leaving.push(due.as_nanos()));
    assert_eq!(leaving, [1_100_000, 1_700_000]);
    assert_eq!(link.next_timer(), Time::NEVER, "an idle link wants no call for a change of rate");
}

/// Events have the simulator's order, so that a law sees the same backlog in both engines.
#[test]
fn at_one_instant_the_server_comes_before_the_timer() {
    // 1500 B take 1 ms, PI samples the backlog every 10 ms.
    let service = RouterCapacity::Rates(vec![(0, 12_000_000)]);
    let pi = RouterLinkPlan { service, ..plan("pi:sample_rate=100hz", "100p") };
    let mut link = RouterLink::new(&pi, &LoadedLaws::default(), 1, recording()).unwrap();
    (0..40).for_each(|flow| link.arrive(Time::ZERO, packet(), flow));
    link.on_timer(Time::from_nanos(10_000_000), |_, _| {});
    let sampled = link.vars().iter().position(|var| var.name == "q_old").unwrap();
    // Ten packets have left; the eleventh is in service.
    assert_eq!(link.law_state()[sampled], 29.0);
}

/// As in the simulator, a discipline that holds packets back is called again at the time that it
/// gave, not at every arrival.
#[test]
fn an_arrival_wakes_the_server_only_where_nothing_waited() {
    let mut link = RouterLink::new(
        &plan("cake:bandwidth=1mbit", "100p"),
        &LoadedLaws::default(),
        1,
        recording(),
    )
    .unwrap();
    (0..3).for_each(|flow| link.arrive(Time::ZERO, packet(), flow));
    link.on_timer(Time::from_nanos(2_000_000), |_, _| {});
    let held_until = link.next_timer();
    assert!(held_until > Time::from_nanos(10_000_000), "1500 B take 12 ms at 1 Mbit/s");
    link.arrive(Time::from_nanos(3_000_000), packet(), 3);
    assert_eq!((link.next_timer(), link.counts().sent), (held_until, 1));
}
