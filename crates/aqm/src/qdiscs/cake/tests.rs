use super::*;
use crate::packet::Ecn;
use crate::params::Params;
use crate::testing::{assert_near, env, ms};
use crate::time::Span;

fn params(settings: &[(&str, &str)]) -> CakeParams {
    let mut params = CakeParams::of_dialect("besteffort").unwrap();
    settings.iter().for_each(|(name, text)| params.set(name, text).unwrap());
    params.check().unwrap();
    params
}

/// A packet with hosts.
#[derive(Clone, Copy, Debug)]
struct Addressed {
    flow: u64,
    source: u64,
}

impl Packet for Addressed {
    fn bytes(&self) -> u32 {
        1514
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ce(&mut self) {}
    fn flow(&self) -> u64 {
        self.flow
    }
    fn src_host(&self) -> u64 {
        self.source
    }
}

#[derive(Default)]
struct Drops(Vec<Cause>);

impl Sink<Addressed> for Drops {
    fn dropped(&mut self, _: Addressed, _: Time, _: Stage, cause: Cause) {
        self.0.push(cause);
    }
    fn marked(&mut self, _: &mut Addressed, _: Time, _: Stage, _: Cause) {}
}

fn cake(settings: &[(&str, &str)]) -> CakeQueues<Addressed> {
    CakeQueues::new(&params(settings), &env())
}

fn rng() -> Rng {
    Rng::stream(1, "test", 0)
}

/// Linux 6.1 `cake_set_rate`: the target is 1.5 times 1514 B, the quantum rate/4096 but at least
/// 300 B.
#[test]
fn quantum_and_target_follow_the_rate() {
    let at = |rate: &str| {
        let params = params(&[("bandwidth", rate)]);
        let cobalt = params.cobalt(params.bandwidth.0, 1514);
        (cobalt.target, cobalt.interval, CakeParams::quantum(params.bandwidth.0))
    };
    let us = Span::from_micros;
    assert_eq!(at("1mbit"), (us(18_168), us(113_168), 300));
    assert_eq!(at("10mbit"), (us(5_000), us(100_000), 305));
    assert_eq!(at("100mbit").2, 1514);
}

/// Linux 6.1 `cake_dequeue`: host B has 9 bulk flows, each with a quantum of 1514/9, rounded at
/// random; host A has one flow.
#[test]
fn the_flows_of_a_busy_host_share_its_quantum() {
    let mut cake = cake(&[]);
    let mut rng = rng();
    for flow in 0..10 {
        for _ in 0..50 {
            let packet = Addressed { flow, source: u64::from(flow > 0) };
            cake.enqueue(ms(0), packet, &mut rng, &mut Drops::default());
        }
    }
    let mut from_a = 0;
    for _ in 0..200 {
        let left = cake.dequeue(ms(0), &mut rng, &mut Drops::default()).unwrap();
        from_a += u32::from(left.packet.source == 0);
        if from_a == 50 {
            break;
        }
    }
    assert_eq!(from_a, 50, "half of the link is more than enough for all of host A");
    let busy = (0..1024).find(|&index| {
        cake.states[index as usize].phase == Phase::Bulk && cake.share(0, index, &mut rng) < 1000
    });
    let shares = (0..10_000).map(|_| cake.share(0, busy.unwrap(), &mut rng) as f64);
    assert_near(shares.sum::<f64>() / 1e4, 1514.0 / 9.0, 0.1);
}

/// Linux 6.1 sch_cake.c, cake_dequeue: COBALT of an empty queue decays at each visit of the
/// scheduler, which comes only while packets are queued.
#[test]
fn an_empty_queue_decays_one_step_at_each_visit() {
    let mut cake = cake(&[]);
    let mut rng = rng();
    let packet = |flow| Addressed { flow, source: flow };
    let mut log = Drops::default();
    for t in 0..400 {
        (0..2).for_each(|_| cake.enqueue(ms(t), packet(1), &mut rng, &mut log));
        cake.dequeue(ms(t), &mut rng, &mut log);
    }
    let busy = cake.place(0, &packet(1)) as usize;
    let now = |n: u64| ms(2_000 + 1_000 * n);
    while cake.dequeue(now(0), &mut rng, &mut log).is_some() {}
    assert_eq!(cake.states[busy].phase, Phase::Bulk, "nobody has looked");
    let visits = (1..).find(|&n| {
        cake.enqueue(now(n), packet(2), &mut rng, &mut log);
        cake.dequeue(now(n), &mut rng, &mut log);
        cake.states[busy].phase == Phase::Idle
    });
    assert!(visits.unwrap() > 1, "one step at a time");
    assert_eq!(cake.tins[0].shares.sources.load(cake.states[busy].hosts.source()), 0);
}

#[test]
fn the_shaper_sends_at_its_rate_and_gives_the_time_of_the_next_packet() {
    let mut cake = cake(&[("bandwidth", "10mbit")]);
    let mut rng = rng();
    let mut log = Drops::default();
    for flow in 0..100 {
        cake.enqueue(ms(0), Addressed { flow, source: flow }, &mut rng, &mut log);
    }
    let (mut now, mut sent) = (ms(0), 0);
    while cake.backlog().packets > 0 {
        match cake.dequeue(now, &mut rng, &mut log) {
            Some(_) => sent += 1,
            None => now = cake.held_until().expect("packets are queued"),
        }
    }
    assert_eq!(now.since(ms(0)), Span::from_nanos(1_211_200 * 99));
    assert_eq!((sent, log.0.len()), (100, 0));
}

/// Linux 6.1 sch_cake.c, cake_get_flow_quantum: the share is (1514 * 65535 + 16 random bits) /
/// 65536.
#[test]
fn the_share_of_a_flow_alone_is_now_and_then_one_byte_less() {
    let cake = cake(&[]);
    let mut rng = rng();
    let shares: std::vec::Vec<i64> = (0..10_000).map(|_| cake.share(0, 0, &mut rng)).collect();
    assert!(shares.iter().all(|share| [1513, 1514].contains(share)));
    let less = shares.iter().filter(|&&share| share == 1513).count();
    assert_near(less as f64 / 1e4, 1514.0 / 65_536.0, 0.005);
}

/// Linux 6.1 sch_cake.c, cake_drop, drops from the head of the fattest queue and calls
/// cobalt_queue_full.
#[test]
fn the_fattest_queue_loses_its_head_and_its_cobalt_is_notified() {
    let mut cake = cake(&[("limit", "20p")]);
    let mut rng = rng();
    let mut log = Drops::default();
    (0..25).for_each(|_| {
        cake.enqueue(ms(0), Addressed { flow: 1, source: 1 }, &mut rng, &mut log);
    });
    assert_eq!(log.0, [Cause::Overflow; 5]);
    assert!((0..1024).any(|index| !cake.flows.law(index).is_at_rest(ms(0))));
}

/// Linux 6.1 sch_cake.c, cake_enqueue: idle time is not saved, and an arrival behind other packets
/// does not advance the clock.
#[test]
fn the_shaper_saves_up_no_time_while_nothing_waits() {
    let mut cake = cake(&[("bandwidth", "10mbit")]);
    let (mut rng, mut log) = (rng(), Drops::default());
    let packet = Addressed { flow: 1, source: 1 };
    (0..3).for_each(|_| cake.enqueue(ms(1_000), packet, &mut rng, &mut log));
    assert!(cake.dequeue(ms(1_000), &mut rng, &mut log).is_some());
    assert!(cake.dequeue(ms(1_000), &mut rng, &mut log).is_none(), "one packet at a time");
    let next = cake.held_until().expect("two wait");
    assert_eq!(next.since(ms(1_000)), Span::from_nanos(1_211_200));
    // The host is 2 ms late: missed departures are sent at once, even after an arrival.
    let late = next + Span::from_millis(2);
    cake.enqueue(late, packet, &mut rng, &mut log);
    assert!(cake.dequeue(late, &mut rng, &mut log).is_some());
    assert!(cake.dequeue(late, &mut rng, &mut log).is_some());
}

/// Fact qdisc-18.
#[test]
fn the_backlog_is_bounded_by_the_limit_and_by_four_intervals_of_the_bandwidth() {
    let bound = |settings: &[(&str, &str)]| params(settings).limits().1;
    assert_eq!(bound(&[]), 15_503_360);
    assert_eq!(bound(&[("bandwidth", "1mbit")]), 4 << 20);
    // The bandwidths are 100 Mbit/s and 1 Gbit/s over 400 ms.
    assert_eq!(bound(&[("bandwidth", "100mbit")]), 5_000_000);
    assert_eq!(bound(&[("bandwidth", "1gbit")]), 15_503_360);
    let large = ("limit", "100MB");
    assert_eq!(bound(&[large, ("bandwidth", "1mbit")]), 100_000_000, "memlimit replaces it");
    assert_eq!(params(&[("limit", "20p")]).limits(), (Limit::Packets(20), u64::MAX));
}

/// Linux 6.1 sch_cake.c, cake_enqueue: `buffer_used += skb->truesize` (fact qdisc-20).
#[test]
fn a_limit_in_bytes_is_one_of_the_kernels_buffers() {
    let mut cake = cake(&[("limit", "230400B")]);
    let mut drops = Drops::default();
    for _ in 0..101 {
        cake.enqueue(Time::ZERO, Addressed { flow: 1, source: 1 }, &mut rng(), &mut drops);
    }
    assert_eq!((drops.0, cake.backlog().packets), (std::vec![Cause::Overflow], 100));
    while cake.dequeue(ms(3000), &mut rng(), &mut Drops::default()).is_some() {}
    assert_eq!(cake.flows.buffers().used(), 0);
}

#[test]
fn another_salt_puts_flows_into_other_queues() {
    let places = |salt| {
        let mut cake: CakeQueues<Addressed> =
            CakeQueues::new(&params(&[]), &crate::law::Env { salt, ..env() });
        let place = |flow| cake.place(0, &Addressed { flow, source: flow });
        (0..8).map(place).collect::<Vec<_>>()
    };
    assert_ne!(places(1), places(2));
    assert_ne!(places(1), places(4));
}

#[test]
fn flows_and_hosts_of_different_numbers_have_different_places() {
    for salt in 1..5 {
        let mut cake: CakeQueues<Addressed> =
            CakeQueues::new(&params(&[]), &crate::law::Env { salt, ..env() });
        let mut places = [const { Vec::new() }; 3];
        for flow in 0..8 {
            let index = cake.place(0, &Addressed { flow, source: flow }) as usize;
            let hosts = cake.states[index].hosts;
            let of = [index, hosts.source() as usize, hosts.destination() as usize];
            places.iter_mut().zip(of).for_each(|(places, place)| places.push(place));
        }
        for mut places in places {
            places.sort_unstable();
            places.dedup();
            assert!(places.len() >= 7, "{places:?}"); // two of 1024 places may be one
        }
    }
}

/// Linux 6.1 sch_cake.c, cake_hash: `flowblind` puts every packet into the first queue.
#[test]
fn without_isolation_all_flows_are_in_one_queue() {
    let places = |isolation: &str| {
        let mut cake = cake(&[("isolation", isolation)]);
        let mut places: Vec<u32> =
            (0..20).map(|flow| cake.place(0, &Addressed { flow, source: flow })).collect();
        places.sort_unstable();
        places.dedup();
        places.len()
    };
    assert_eq!(places("flowblind"), 1);
    assert!(places("flows") > 15);
}
