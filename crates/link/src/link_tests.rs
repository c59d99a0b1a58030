use std::sync::Arc;

use sojourn_aqm::{Cause, Ecn, Env, Framing, Limit, QdiscSpec, Rate, Span, Stage, registry};
use sojourn_scenario::resolved::{Bucket, Device, InService, Schedule, Trace};

use super::*;
use crate::{Shaper, TokenBucket, TokenReserve};

/// A packet of 1500 bytes, identified by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Numbered(u32);

impl Packet for Numbered {
    fn bytes(&self) -> u32 {
        1_500
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ce(&mut self) {}
    fn flow(&self) -> u64 {
        0
    }
}

/// Events reported by a link.
#[derive(Default)]
struct Report {
    departed: Vec<u32>,
    dropped: Vec<u32>,
    busy: Span,
    carried: u64,
}

impl Sink<Numbered> for Report {
    fn dropped(&mut self, packet: Numbered, _: Time, _: Stage, _: Cause) {
        self.dropped.push(packet.0);
    }
    fn marked(&mut self, _: &mut Numbered, _: Time, _: Stage, _: Cause) {}
}

impl LinkObserver<Numbered> for Report {
    fn departed(&mut self, packet: &Numbered, _: Time) {
        self.departed.push(packet.0);
    }
    fn busy(&mut self, _bytes: u32, _overhead: u32, span: Span) {
        self.busy = self.busy + span;
    }
    fn carried(&mut self, bytes: u32) {
        self.carried += u64::from(bytes);
    }
}

fn ms(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

fn us(us: u64) -> Time {
    Time::from_nanos(us * 1_000)
}

fn mbit(mbit: u64) -> Rate {
    Rate::from_bps(mbit * 1_000_000)
}

/// A link under a discipline with room for nine packets.
fn link(discipline: &str, server: Server<Numbered>) -> Link<Numbered> {
    let env = Env { limit: Limit::Packets(9), mtu_bytes: 1_500, rate: Some(mbit(12)), salt: 0 };
    let mut spec = QdiscSpec::parse(discipline).expect("a known discipline");
    spec.set_default("limit", "9p");
    let queue = registry::build(&spec, &env).expect("valid parameters");
    Link::new(queue, Rng::stream(1, "queue", 0), server)
}

/// Offers packets `0..count` at time zero.
fn fill(link: &mut Link<Numbered>, count: u32, report: &mut Report) {
    for number in 0..count {
        link.enqueue(Time::ZERO, Numbered(number), report);
    }
}

/// Calls the link whenever it asks, until `end`; returns when each packet left, in microseconds.
fn run(link: &mut Link<Numbered>, end: Time, report: &mut Report) -> Vec<(u64, u32)> {
    let mut left = Vec::new();
    loop {
        let now = link.next_service().min(link.next_timer());
        if now > end || now == Time::NEVER {
            return left;
        }
        if link.next_service() <= now {
            let us = now.as_nanos() / 1_000;
            link.on_service(now, report, |packet| left.push((us, packet.0)));
        }
        if link.next_timer() <= now {
            link.on_timer(now);
        }
    }
}

#[test]
fn packets_leave_in_order_at_serialisation_time_intervals() {
    let (mut link, mut report) = (link("taildrop", Server::steady(mbit(12))), Report::default());
    fill(&mut link, 3, &mut report);
    assert_eq!((report.departed.len(), link.backlog().packets), (1, 2));
    assert_eq!(run(&mut link, ms(9), &mut report), [(1_000, 0), (2_000, 1), (3_000, 2)]);
    assert_eq!(link.next_service(), Time::NEVER);
    assert_eq!(report.busy, Span::from_millis(3));
}

#[test]
fn what_the_queue_has_no_room_for_is_reported() {
    let (mut link, mut report) = (link("taildrop", Server::steady(mbit(12))), Report::default());
    fill(&mut link, 12, &mut report);
    assert_eq!(report.dropped, [10, 11], "one is in service and nine wait");
}

#[test]
fn enqueue_says_when_the_server_was_woken() {
    let (mut link, mut report) = (link("taildrop", Server::steady(mbit(12))), Report::default());
    let woken = [0, 1, 2].map(|number| link.enqueue(Time::ZERO, Numbered(number), &mut report));
    // The first packet goes into service at once, so the second one finds an empty queue too.
    assert_eq!(woken, [true, true, false]);
}

/// 12 Mbit/s, then 6 Mbit/s from half a millisecond on, then 12 Mbit/s again from 4 ms on.
fn dip() -> Schedule {
    Schedule::of_rates([(ms(0), mbit(12)), (us(500), mbit(6)), (ms(4), mbit(12))])
}

/// A bucket that never holds anything back, in front of a line.
fn shaped(schedule: &Schedule) -> Server<Numbered> {
    let (rate, line) = (mbit(1_000), mbit(1_000));
    let bucket =
        Bucket { rate, burst_bytes: 15_000, line, overdraft: false, framing: Framing::NONE };
    Server::shaped(Shaper::new(Some(TokenBucket::new(&bucket)), None, schedule))
}

/// Departures of four packets that arrive together: from a line alone, and from a line below a
/// bucket.
fn four(schedule: &Schedule) -> [Vec<(u64, u32)>; 2] {
    [Server::steady(schedule), shaped(schedule)].map(|server| {
        let (mut link, mut report) = (link("taildrop", server), Report::default());
        fill(&mut link, 4, &mut report);
        run(&mut link, ms(99), &mut report)
    })
}

#[test]
fn a_change_of_rate_applies_to_the_rest_of_the_packet_in_service() {
    // Half of one packet is sent at 12 Mbit/s and half at 6 Mbit/s; half of the third packet has
    // been sent when the rate rises.
    let expected = vec![(1_500, 0), (3_500, 1), (4_750, 2), (5_750, 3)];
    assert_eq!(four(&dip()), [expected.clone(), expected]);
}

#[test]
fn the_packet_in_service_keeps_its_old_rate_where_the_schedule_says_so() {
    let expected = vec![(1_000, 0), (3_000, 1), (5_000, 2), (6_000, 3)];
    assert_eq!(four(&dip().with_in_service(InService::OldRate)), [expected.clone(), expected]);
}

#[test]
fn in_an_outage_nothing_leaves_and_packets_wait_in_the_queue() {
    let steps = vec![(ms(0), Some(mbit(12))), (us(500), None), (ms(4), Some(mbit(12)))];
    let expected = vec![(4_500, 0), (5_500, 1), (6_500, 2), (7_500, 3)];
    assert_eq!(four(&Schedule::new(steps)), [expected.clone(), expected]);

    let steps = vec![(ms(0), None), (ms(4), Some(mbit(12)))];
    let (mut link, mut report) =
        (link("taildrop", Server::steady(&Schedule::new(steps))), Report::default());
    fill(&mut link, 2, &mut report);
    assert_eq!((report.departed.len(), link.backlog().packets), (0, 2));
    assert_eq!(run(&mut link, ms(99), &mut report), [(5_000, 0), (6_000, 1)]);
}

#[test]
fn an_outage_at_the_end_lasts() {
    let steps = vec![(ms(0), Some(mbit(12))), (us(1_500), None)];
    let expected = vec![(1_000, 0)];
    assert_eq!(four(&Schedule::new(steps)), [expected.clone(), expected]);
}

#[test]
fn a_law_learns_of_a_change_of_the_rate_of_its_line() {
    // DOCSIS-PIE's delay is the backlog over the rate. The second packet starts after the change
    // and is in service for 20 ms.
    let falls = Schedule::of_rates([(ms(0), mbit(12)), (ms(1), Rate::from_bps(600_000))]);
    for server in [Server::steady(&falls), shaped(&falls)] {
        let (mut link, mut report) = (link("pie@docsis", server), Report::default());
        fill(&mut link, 6, &mut report);
        link.on_service(ms(1), &mut report, drop);
        link.on_timer(ms(16));
        let delay = link.vars().iter().position(|var| var.name == "delay").expect("PIE has it");
        let mut values = vec![0.0; link.vars().len()];
        link.observe(&mut values);
        assert_eq!(values[delay], 0.08, "6000 bytes at 600 kbit/s");
    }
}

#[test]
fn opportunities_carry_parts_of_packets_and_pass_unused_while_the_queue_is_empty() {
    let trace = Trace {
        file: String::new(),
        sha256: String::new(),
        opportunities_ms: vec![1, 1, 5],
        opportunity_bytes: 1_000,
    };
    let (mut link, mut report) =
        (link("taildrop", Server::recorded(Arc::new(trace))), Report::default());
    fill(&mut link, 3, &mut report);
    // Opportunities of 1000 B come at 1, 1, 5, 6 and 6 ms: the third packet of 1500 B leaves at the
    // fifth.
    assert_eq!(run(&mut link, ms(99), &mut report), [(1_000, 0), (5_000, 1), (6_000, 2)]);
    assert_eq!(report.carried, 4_500);
    // The opportunity at 10 ms was unused, because the queue was empty.
    link.enqueue(ms(10), Numbered(3), &mut report);
    assert_eq!(link.next_service(), ms(11));
}

#[test]
fn a_shaper_holds_back_what_lacks_tokens() {
    let (rate, line) = (mbit(12), mbit(120));
    let bucket =
        Bucket { rate, burst_bytes: 3_000, line, overdraft: false, framing: Framing::NONE };
    let shaper = Shaper::new(Some(TokenBucket::new(&bucket)), None, line);
    let (mut link, mut report) = (link("taildrop", Server::shaped(shaper)), Report::default());
    fill(&mut link, 4, &mut report);
    // Two packets leave at the rate of the line, then one per millisecond; each takes 0.1 ms on the
    // line.
    let left = run(&mut link, ms(99), &mut report);
    assert_eq!(left, [(100, 0), (200, 1), (1_100, 2), (2_100, 3)]);
}

#[test]
fn the_reserve_of_a_shaper_is_what_has_passed_the_bucket_and_waits_for_the_line() {
    let (rate, line) = (mbit(12), mbit(24));
    let bucket =
        Bucket { rate, burst_bytes: 6_000, line, overdraft: false, framing: Framing::NONE };
    let device = Device { limit: Limit::Bytes(3_000), overhead_bytes: 0 };
    let shaper = Shaper::new(Some(TokenBucket::new(&bucket)), Some(device), line);
    let (mut link, mut report) = (link("taildrop", Server::shaped(shaper)), Report::default());
    fill(&mut link, 3, &mut report);
    // Three packets of 1500 bytes are in the device; the first is in service.
    let tokens = |bytes: i64| bytes * 8 * 1_000_000_000;
    let reserve = |left, passed_bytes| TokenReserve {
        tokens: tokens(left),
        taken_bytes: 4_500,
        passed_bytes,
        sending_bytes: 1_500,
    };
    assert_eq!(link.reserve(Time::ZERO), Some(reserve(1_500, 3_000)));
    let half = Time::from_nanos(500_000);
    assert_eq!(run(&mut link, half, &mut report), [(500, 0)]);
    assert_eq!(link.reserve(half), Some(reserve(2_250, 1_500)));
}

#[test]
fn a_device_takes_packets_out_of_the_sight_of_the_discipline() {
    let device = Device { limit: Limit::Bytes(1_500), overhead_bytes: 0 };
    let shaper = Shaper::new(None, Some(device), mbit(12));
    let (mut link, mut report) = (link("taildrop", Server::shaped(shaper)), Report::default());
    fill(&mut link, 4, &mut report);
    assert_eq!((report.departed.len(), link.backlog().packets), (2, 2));
    assert_eq!(run(&mut link, ms(99), &mut report).last(), Some(&(4_000, 3)));
}

#[test]
fn a_discipline_that_shapes_is_asked_again_when_it_said_so() {
    let (mut link, mut report) =
        (link("cake:bandwidth=6mbit", Server::steady(mbit(12))), Report::default());
    fill(&mut link, 3, &mut report);
    let left = run(&mut link, ms(99), &mut report);
    let gaps: Vec<u64> = left.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert!(left.len() == 3 && gaps.iter().all(|gap| gap.abs_diff(2_000) < 10), "{left:?}");
}

#[test]
fn the_host_of_a_shared_medium_takes_the_head() {
    let (mut link, mut report) = (link("taildrop", Server::shared_medium(None)), Report::default());
    assert_eq!(link.head(), None);
    fill(&mut link, 2, &mut report);
    assert_eq!((link.head(), link.backlog().packets), (Some(&Numbered(0)), 1));
    link.take_head(ms(3), &mut report, |packet, _| assert_eq!(*packet, Numbered(0)));
    assert_eq!((link.head(), report.departed.len()), (Some(&Numbered(1)), 2));
    link.take_head(ms(4), &mut report, |packet, _| assert_eq!(*packet, Numbered(1)));
    assert_eq!(link.head(), None);
}

#[test]
fn a_queue_can_be_drained() {
    let (mut link, mut report) = (link("codel", Server::steady(mbit(12))), Report::default());
    fill(&mut link, 4, &mut report);
    let mut waiting = Vec::new();
    link.drain(ms(1), &mut report, |packet, at| waiting.push((packet.0, at)));
    assert_eq!(waiting, [1, 2, 3].map(|number| (number, Time::ZERO)));
    assert_eq!(link.backlog().packets, 0);
}

#[test]
fn a_queue_that_is_replaced_keeps_its_backlog_and_its_law_is_as_if_it_had_been_there() {
    let slow = Server::steady(Rate::from_bps(120_000)); // 100 ms for a packet
    let (mut link, mut report) = (link("taildrop", slow), Report::default());
    let arrivals = [ms(0), ms(10), ms(20), ms(40)];
    for (number, &at) in (0..).zip(&arrivals) {
        link.enqueue(at, Numbered(number), &mut report);
    }
    let env = Env { limit: Limit::Packets(9), mtu_bytes: 1_500, rate: None, salt: 0 };
    let spec = QdiscSpec::parse("pie:limit=9p").expect("a known discipline");
    let pie = registry::build(&spec, &env).expect("valid parameters");
    link.replace_discipline(ms(50), pie, &mut report);
    assert_eq!(link.next_timer(), ms(60), "PIE's updates are 15 ms apart");
    // RFC 8033 §4.4: an arrival without congestion renews the allowance of 150 ms. The last arrival
    // was at 40 ms; one update has followed.
    let burst = link.vars().iter().position(|var| var.name == "burst_allowance");
    let mut values = vec![0.0; link.vars().len()];
    link.observe(&mut values);
    assert_eq!(burst.map(|place| values[place]), Some(0.135));
    let mut waiting = Vec::new();
    link.drain(ms(50), &mut report, |packet, at| waiting.push((packet.0, at)));
    assert_eq!(waiting, [(1, arrivals[1]), (2, arrivals[2]), (3, arrivals[3])]);
    assert!(report.dropped.is_empty());
}

/// The departure times of packets in microseconds, and the variables of a discipline at every
/// arrival, under bursts and pauses and a falling rate.
fn history(discipline: &str, ahead: bool) -> (Vec<(u64, u32)>, Vec<Vec<u64>>) {
    let mut link = link(
        discipline,
        Server::steady(&Schedule::of_rates([(ms(0), mbit(12)), (ms(300), mbit(6))])),
    );
    let (mut left, mut seen, mut report) = (Vec::new(), Vec::new(), Report::default());
    let (mut chance, mut arrival) = (Rng::stream(7, "arrivals", 0), Time::ZERO);
    for number in 0..500 {
        arrival += match chance.next_u64() % 8 {
            0 => Span::from_micros(chance.next_u64() % 20_000),
            _ => Span::from_micros(chance.next_u64() % 1_500),
        };
        while link.next_service().min(link.next_timer()) <= arrival {
            let now = link.next_service().min(link.next_timer());
            link.settle(now, &mut report);
            let mut push = |at: Time, packet: &mut Numbered| {
                left.push((at.as_nanos() / 1_000, packet.0));
            };
            if link.next_service() <= now {
                match ahead {
                    true => link.serve_ahead(now, &mut report, push),
                    false => link.on_service(now, &mut report, |mut packet| push(now, &mut packet)),
                }
            } else {
                link.on_timer(now);
            }
        }
        link.settle(arrival, &mut report);
        let mut values = vec![0.0; link.vars().len()];
        link.observe(&mut values);
        seen.push(values.iter().map(|value| value.to_bits()).collect());
        let mut packet = Numbered(number);
        match ahead {
            true => link.enqueue_ahead(arrival, &mut packet, &mut report, |at, packet| {
                left.push((at.as_nanos() / 1_000, packet.0));
            }),
            false => link.enqueue(arrival, packet, &mut report),
        };
    }
    left.retain(|&(us, _)| us <= arrival.as_nanos() / 1_000);
    (left, seen)
}

#[test]
fn packets_sent_ahead_change_neither_departures_nor_what_a_law_learns() {
    for discipline in [
        "taildrop",
        "codel:target=1ms,interval=10ms",
        "pie",
        "fq_codel",
        "red",
        // An arrival may drop the only other queued packet together with itself.
        "choke:min_th=1,max_th=3,burst=1",
    ] {
        let (left, seen) = history(discipline, false);
        assert!(left.len() > 250, "{discipline}: {}", left.len());
        assert_eq!(history(discipline, true), (left, seen), "{discipline}");
    }
}

#[test]
fn a_packet_behind_one_sent_ahead_starts_when_that_has_left() {
    for discipline in ["taildrop", "codel"] {
        let mut link = link(discipline, Server::steady(mbit(12)));
        let (mut report, mut left) = (Report::default(), Vec::new());
        let half = Time::from_nanos(500_000);
        for (number, at) in [(0, ms(0)), (1, half), (2, half)] {
            link.settle(at, &mut report);
            link.enqueue_ahead(at, &mut Numbered(number), &mut report, |at, packet| {
                left.push((at, packet.0));
            });
            assert_eq!(left, [(ms(1), 0)]);
            assert_eq!(link.next_service(), if number == 0 { Time::NEVER } else { ms(1) });
        }
        link.serve_ahead(ms(1), &mut report, |at, packet| left.push((at, packet.0)));
        assert_eq!((left[1], link.next_service()), ((ms(2), 1), ms(2)));
        link.serve_ahead(ms(2), &mut report, |at, packet| left.push((at, packet.0)));
        assert_eq!((left[2], link.next_service()), ((ms(3), 2), Time::NEVER));
    }
}
