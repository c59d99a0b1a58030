use super::*;
use crate::packet::Ecn;
use crate::params::Params;
use crate::testing::{Log, Numbered, env};

fn sfq(settings: &[(&str, &str)]) -> Queues<Numbered> {
    let mut params = SfqParams::of_dialect("linux").unwrap();
    settings.iter().for_each(|(name, text)| params.set(name, text).unwrap());
    params.check().unwrap();
    Queues::new(&params, None, &env())
}

fn sfq_red(settings: &[(&str, &str)]) -> Queues<Numbered> {
    let mut params = SfqRedParams::of_dialect("linux").unwrap();
    settings.iter().for_each(|(name, text)| params.set(name, text).unwrap());
    params.check().unwrap();
    let (red, p) = (params.curve().unwrap(), &params);
    let red = Red { curve: red, ecn: p.ecn, hard_drop: p.hard_drop };
    let mut queues = sfq(&[("limit", "1000p")]);
    (queues.red, queues.headdrop) = (Some(red), p.headdrop);
    queues
}

fn rng() -> Rng {
    Rng::stream(1, "test", 0)
}

fn fill(queues: &mut Queues<Numbered>, flow: u64, count: u64, bytes: u32) -> Log {
    let (mut log, mut rng) = (Log::default(), rng());
    for i in 0..count {
        let packet = Numbered::new(flow * 1000 + i, flow, bytes);
        queues.enqueue(Time::ZERO, packet, &mut rng, &mut log);
    }
    log
}

fn take(queues: &mut Queues<Numbered>, count: usize) -> Vec<Numbered> {
    let mut next = || queues.dequeue(Time::ZERO, &mut rng(), &mut Log::default());
    (0..count).map_while(|_| next().map(|departure| departure.packet)).collect()
}

/// Linux 6.1 sch_sfq.c, sfq_dequeue.
#[test]
fn three_backlogged_flows_have_a_third_each() {
    let mut queues = sfq(&[]);
    (1..=3).for_each(|flow| drop(fill(&mut queues, flow, 40, 1514)));
    let left = take(&mut queues, 90);
    for flow in 1..=3 {
        assert_eq!(left.iter().filter(|p| p.flow == flow).count(), 30, "{flow}");
    }
}

/// Linux 6.1 sch_sfq.c, sfq_dequeue: `allot` counts bytes.
#[test]
fn bytes_are_shared_not_packets() {
    let mut queues = sfq(&[("limit", "1000p")]);
    fill(&mut queues, 1, 40, 1500);
    fill(&mut queues, 2, 120, 500);
    let left = take(&mut queues, 100);
    let bytes = |flow| left.iter().filter(|p| p.flow == flow).map(|p| p.bytes as i64).sum::<i64>();
    assert!((bytes(1) - bytes(2)).abs() <= 1514 + 1500, "{} {}", bytes(1), bytes(2));
}

/// Linux 6.1 sch_sfq.c, sfq_drop, drops the tail or, with `headdrop`, the head.
#[test]
fn the_longest_queue_loses_its_tail() {
    let mut queues = sfq(&[]);
    fill(&mut queues, 1, 100, 1000);
    fill(&mut queues, 2, 27, 1000);
    let log = fill(&mut queues, 3, 1, 1000);
    assert_eq!(log.dropped, [(1099, Stage::Queued, Cause::Overflow)]);
    assert_eq!(queues.backlog().packets, 127);
    let mut heads = sfq(&[("headdrop", "true")]);
    fill(&mut heads, 1, 127, 1000);
    assert_eq!(fill(&mut heads, 3, 1, 1000).dropped_ids(), [1000]);
}

/// Linux 6.1 sch_sfq.c: 128 flows with a slot each, under a limit of 127 packets.
#[test]
fn of_128_flows_with_one_packet_each_one_loses_it() {
    let mut queues = sfq(&[]);
    let mut slots = Vec::new();
    let alone = (0u64..).filter(|&flow| {
        let slot = queues.slot_of(flow);
        let is_new = !slots.contains(&slot);
        slots.push(slot);
        is_new
    });
    let flows: Vec<u64> = alone.take(128).collect();
    let drops = flows.iter().map(|&flow| fill(&mut queues, flow, 1, 100).dropped.len());
    assert_eq!(drops.collect::<Vec<_>>(), [vec![0; 127], vec![1]].concat());
}

/// Linux 6.1 sch_sfq.c, SFQ_MAX_DEPTH.
#[test]
fn a_queue_is_never_deeper_than_127() {
    let mut queues = sfq(&[("limit", "1000p")]);
    let log = fill(&mut queues, 1, 128, 1000);
    assert_eq!(log.dropped, [(1127, Stage::Enqueue, Cause::Overflow)]);
}

/// Linux 6.1 sch_sfq.c, sfq_enqueue.
#[test]
fn a_queue_that_becomes_active_again_has_a_fresh_quantum_and_is_served_last() {
    let mut queues = sfq(&[]);
    fill(&mut queues, 1, 1, 1500);
    take(&mut queues, 1);
    fill(&mut queues, 2, 3, 1514);
    fill(&mut queues, 1, 3, 500);
    let allot = queues.queues.iter().filter(|q| !q.packets.is_empty()).map(|q| q.allot);
    assert_eq!(allot.collect::<Vec<_>>(), [1514, 1514]);
    let flows: Vec<u64> = take(&mut queues, 4).iter().map(|p| p.flow).collect();
    assert_eq!(flows, [2, 1, 1, 1]);
}

/// Linux 6.1 sch_sfq.c, sfq_change; a limit of one packet is refused too.
#[test]
fn sizes_that_linux_refuses_are_refused() {
    let check = |name: &str, text: &str| {
        let mut params = SfqParams::of_dialect("linux").unwrap();
        params.set(name, text).unwrap();
        params.check()
    };
    assert!(check("limit", "1p").unwrap_err().contains("from 2p"));
    assert!(check("limit", "16257p").is_err() && check("limit", "16256p").is_ok());
    assert!(check("divisor", "1000").unwrap_err().contains("power of two"));
    assert!(check("depth", "128").is_err() && check("flows", "1025").is_err());
}

#[test]
fn a_new_hash_keeps_packets_and_order() {
    let mut queues = sfq(&[("perturb", "10s")]);
    for flow in 0..5 {
        fill(&mut queues, flow, 10, 1000);
    }
    let salt = queues.salt;
    let now = Time::from_nanos(25_000_000_000);
    let mut order = [0; 5];
    let mut log = Log::default();
    while let Some(departure) = queues.dequeue(now, &mut rng(), &mut log) {
        let packet = departure.packet;
        assert_eq!(packet.id % 1000, order[packet.flow as usize]);
        order[packet.flow as usize] += 1;
    }
    assert_ne!(queues.salt, salt);
    assert_eq!((order, queues.next_perturb), ([10; 5], Time::from_nanos(30_000_000_000)));
}

/// Linux 6.1 sch_sfq.c, sfq_enqueue: RED restarts with each activation, and does not judge the
/// first packet.
#[test]
fn an_average_does_not_survive_an_empty_queue_and_the_first_packet_always_passes() {
    let mut queues = sfq_red(&[("max_p", "1")]);
    fill(&mut queues, 1, 100, 1514);
    let index = queues.tail.unwrap() as usize;
    assert!(queues.queues[index].red.average > 0);
    while !take(&mut queues, 1).is_empty() {}
    assert!(fill(&mut queues, 1, 1, 1514).dropped.is_empty());
    assert_eq!(queues.queues[queues.tail.unwrap() as usize].red.average, 0);
}

/// Linux 6.1 sch_sfq.c: `vars` of RED belong to a slot.
#[test]
fn only_the_queue_above_its_threshold_is_signalled() {
    let settings = [("min_th", "3kB"), ("max_th", "6kB"), ("max_p", "1"), ("burst", "4")];
    let mut queues = sfq_red(&settings);
    let log = queues.red.unwrap().curve.weight_log;
    let fat = fill(&mut queues, 1, 100, 1000);
    assert!(fat.dropped.len() > 50);
    queues.queues[queues.tail.unwrap() as usize].red.average = 6000 << log;
    assert_eq!(fill(&mut queues, 1, 1, 1000).dropped.len(), 1);
    assert!(fill(&mut queues, 2, 3, 1000).dropped.is_empty());
}

/// Linux 6.1 sch_sfq.c, sfq_rehash: averages restart and sample the re-sorted packets.
#[test]
fn after_a_new_hash_red_has_sampled_the_backlog() {
    let mut queues = sfq_red(&[("max_p", "0.02")]);
    (queues.perturb, queues.next_perturb) = (Some(Span::from_secs(10)), Time::from_nanos(1));
    fill(&mut queues, 1, 40, 1000);
    let index = queues.tail.unwrap() as usize;
    queues.queues[index].red.average = 1 << 40;
    queues.perturb_if_due(Time::from_nanos(2), &mut Log::default());
    let log = queues.red.unwrap().curve.weight_log;
    let learnt = (0..40).fold(0, |average, n| average + 1000 * n - (average >> log));
    assert_eq!(queues.queues[queues.tail.unwrap() as usize].red.average, learnt);
}

/// Linux 6.1 red.h, red_action: RED_HARD_MARK from `max_th` on.
#[test]
fn above_the_maximum_every_arrival_is_dropped() {
    let mut queues = sfq_red(&[("max_p", "1")]);
    fill(&mut queues, 1, 40, 1514);
    let index = queues.tail.unwrap() as usize;
    queues.queues[index].red.average = 60_000 << queues.red.unwrap().curve.weight_log;
    let log = fill(&mut queues, 1, 3, 1514);
    assert_eq!(log.dropped.len(), 3);
    assert!(log.dropped.iter().all(|&(_, _, cause)| cause == Cause::Forced));
}

/// Linux 6.1 sch_sfq.c, sfq_enqueue: with `headdrop` the head is marked instead of the arrival.
#[test]
fn with_headdrop_and_ecn_a_packet_that_waits_is_marked() {
    let mut queues = sfq_red(&[("headdrop", "true"), ("ecn", "true")]);
    let (mut log, mut rng) = (Log::default(), rng());
    for id in 0..60 {
        let packet = Numbered { ecn: Ecn::Ect0, ..Numbered::new(id, 1, 1514) };
        queues.enqueue(Time::ZERO, packet, &mut rng, &mut log);
        let index = queues.tail.unwrap() as usize;
        queues.queues[index].red.average = 50_000 << queues.red.unwrap().curve.weight_log;
    }
    assert!(!log.marked.is_empty() && log.dropped.is_empty());
    assert!(log.marked.iter().all(|&(id, stage, _)| (id, stage) == (0, Stage::Queued)));
}

/// Linux 6.1 red.h, red_cmp_thresh: an average equal to the upper threshold counts as above it.
#[test]
fn at_exactly_the_upper_threshold_every_arrival_is_signalled() {
    let mut queues = sfq_red(&[("min_th", "1000B"), ("max_th", "3000B"), ("burst", "2")]);
    queues.red.as_mut().unwrap().curve.weight_log = 0;
    let log = fill(&mut queues, 1, 4, 1000);
    // Backlogs of 1000 and 2000 B lie between the thresholds; 3000 B is the upper threshold.
    assert_eq!(log.dropped.last(), Some(&(1003, Stage::Enqueue, Cause::Forced)));
}

/// Linux 6.1 sch_sfq.c, sfq_rehash: queued packets are taken out in the order of queue numbers; the
/// highest free number is assigned first (sfq_init), and the round starts in that order.
#[test]
fn a_new_hash_orders_the_round_by_the_numbers_of_the_queues() {
    let mut queues = sfq(&[("perturb", "10s")]);
    (1..=3).for_each(|flow| drop(fill(&mut queues, flow, 2, 1514)));
    queues.perturb_if_due(Time::from_nanos(10_000_000_000), &mut Log::default());
    let flows: Vec<u64> = take(&mut queues, 3).iter().map(|packet| packet.flow).collect();
    assert_eq!(flows, [3, 2, 1], "the first flow has the last queue");
}

/// Linux 6.1 sch_sfq.c, sfq_change: `maxflows = min_t(u32, maxflows, limit)` if a limit is given.
#[test]
fn a_limit_below_the_number_of_queues_bounds_it() {
    let mut queues = sfq(&[("limit", "3p")]);
    let arrive = |queues: &mut Queues<Numbered>, flow| fill(queues, flow, 1, 1000).dropped;
    (1..=3).for_each(|flow| assert!(arrive(&mut queues, flow).is_empty()));
    assert_eq!(arrive(&mut queues, 4), [(4000, Stage::Enqueue, Cause::Overflow)]);
    assert_eq!(sfq(&[]).queues.len(), 128, "the default limit of 127 is given to nobody");
}
