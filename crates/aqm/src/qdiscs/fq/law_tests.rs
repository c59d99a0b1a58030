//! Laws under flow queues: equivalence with one queue, backlogs and calls of hooks.

use super::tests::{fill, fq_of, offer, rng};
use super::*;
use crate::law::{Aqm, Cause, Law, Stage, Verdict};
use crate::laws::codel::CoDel;
use crate::laws::pie::Pie;
use crate::laws::taildrop::TailDropParams;
use crate::packet::{Ecn, Head};
use crate::qdiscs::fifo::Fifo;
use crate::testing::{Log, Numbered, env, law, ms};
use crate::time::Span;

/// Asserts that a law with one flow queue decides as in a FIFO, including timers.
fn assert_one_queue_is_a_fifo<L: Law>() {
    let mut fq: Fq<Numbered, L> = fq_of(&[("flows", "1")]);
    let mut fifo = Fifo::new(law::<L>(&[]), Limit::Packets(10_240));
    let hosts: [&mut dyn Qdisc<Numbered>; 2] = [&mut fq, &mut fifo];
    let [by_fq, by_fifo] = hosts.map(trace);
    assert!(by_fq.1.dropped.len() > 100, "{} drops", by_fq.1.dropped.len());
    let first_difference = by_fq.0.iter().zip(&by_fifo.0).position(|(a, b)| a != b);
    assert_eq!(first_difference, None, "the same packets leave");
    assert_eq!(by_fq.0.len(), by_fifo.0.len());
    assert!(by_fq.1.dropped == by_fifo.1.dropped, "the same packets are dropped");
}

/// Departures and drops during overload, drain and silence, repeated.
fn trace(qdisc: &mut dyn Qdisc<Numbered>) -> (Vec<u64>, Log) {
    let (mut log, mut left, mut now) = (Log::default(), Vec::new(), Time::ZERO);
    let mut chance = Rng::stream(10, "trace", 5);
    let mut rng = Rng::stream(10, "law", 0);
    for id in 0..60_000 {
        let silence = if id % 7_000 == 0 { 2_000_000_000 } else { 1_000_000 };
        now += Span::from_nanos(chance.below(silence));
        while let Some(due) = qdisc.next_timer().filter(|&due| due <= now) {
            qdisc.on_timer(due);
        }
        let load = [0.62, 0.5, 0.3][id as usize / 2_000 % 3];
        if chance.uniform() < load {
            qdisc.enqueue(now, Numbered::new(id, id % 5, 1000), &mut rng, &mut log);
        } else {
            left.extend(qdisc.dequeue(now, &mut rng, &mut log).map(|d| d.packet.id));
        }
    }
    (left, log)
}

/// One queue under RFC 8290 is RFC 8289.
#[test]
fn codel_in_one_flow_queue_is_codel() {
    assert_one_queue_is_a_fifo::<CoDel>();
}

#[test]
fn pie_in_one_flow_queue_is_pie() {
    assert_one_queue_is_a_fifo::<Pie>();
}

#[test]
fn pi2_and_madpie_in_one_flow_queue_are_themselves() {
    assert_one_queue_is_a_fifo::<crate::laws::pi2::Pi2>();
    assert_one_queue_is_a_fifo::<crate::laws::madpie::Madpie>();
}

/// RFC 8033 §4.1: a backlog of two packets is never signalled; here the backlog of each queue
/// counts.
#[test]
fn flows_with_two_packets_each_lose_nothing_under_fq_pie() {
    let mut fq: Fq<Numbered, Pie> = fq_of(&[("flows", "65536")]); // so that no two flows collide
    let mut log = Log::default();
    for id in 0..80 {
        offer(&mut fq, Numbered::new(id, id % 40, 1514), &mut log);
    }
    for id in 80..20_000 {
        let now = ms(id);
        while let Some(due) = fq.next_timer().filter(|&due| due <= now) {
            fq.on_timer(due);
        }
        let left = fq.dequeue(now, &mut rng(), &mut log).unwrap();
        fq.enqueue(now, Numbered::new(id, left.packet.flow, 1514), &mut rng(), &mut log);
    }
    assert_eq!(fq.backlog().packets, 80, "80 ms of standing queue, far above target");
    assert!(log.dropped.is_empty());
}

/// A law that records the calls of its hooks. It drops packets of 13 bytes.
#[derive(Clone, Debug)]
struct Counter {
    next: Time,
    ticks: u64,
    seen: Vec<(&'static str, Backlog)>,
}

impl Aqm for Counter {
    fn on_enqueue(&mut self, _: Time, head: Head, queue: Backlog, _: &mut Rng) -> Verdict {
        self.seen.push(("enqueue", queue));
        if head.bytes == 13 { Verdict::Drop(Cause::Deterministic) } else { Verdict::Pass }
    }
    fn on_dequeue(&mut self, _: Time, _: Head, queue: Backlog, _: &mut Rng) -> Verdict {
        self.seen.push(("dequeue", queue));
        Verdict::Pass
    }
    fn on_overflow(&mut self, _: Time, queue: Backlog) {
        self.seen.push(("overflow", queue));
    }
    fn on_empty(&mut self, _: Time) {
        self.seen.push(("empty", Backlog::EMPTY));
    }
    fn next_timer(&self) -> Option<Time> {
        Some(self.next)
    }
    fn on_timer(&mut self, _: Time, queue: Backlog) {
        self.seen.push(("timer", queue));
        self.ticks += 1;
        self.next += Span::from_millis(10);
    }
}

impl Law for Counter {
    type Params = TailDropParams;
    const NAME: &'static str = "counter";
    const DOC: &'static str = "Counts its timer calls";
    const VARS: &'static [Var] = &[];
    fn new(_: &TailDropParams, _: &Env) -> Self {
        Counter { next: ms(10), ticks: 0, seen: Vec::new() }
    }
}

fn counter(fq: &Fq<Numbered, Counter>, flow: u64) -> &Counter {
    fq.flows.law(fq.queue_of(flow))
}

fn ticks(fq: &Fq<Numbered, Counter>, flow: u64) -> u64 {
    counter(fq, flow).ticks
}

/// RFC 8289 §4.4 applies CoDel's MTU test to the backlog of the whole link; the other numbers are
/// those of the queue.
#[test]
fn a_law_sees_its_own_backlog_and_the_bytes_of_the_whole_link() {
    let mut fq: Fq<Numbered, Counter> = fq_of(&[("limit", "6p")]);
    fill(&mut fq, 1, 1, 400);
    fill(&mut fq, 2, 3, 1000);
    fq.on_timer(ms(10));
    fq.dequeue(ms(11), &mut rng(), &mut Log::default());
    fq.dequeue(ms(11), &mut rng(), &mut Log::default());
    for id in 0..5 {
        fq.enqueue(ms(11), Numbered::new(id, 3, 600), &mut rng(), &mut Log::default());
    }
    let saw = |what, packets, bytes, link_bytes| (what, Backlog { packets, bytes, link_bytes });
    assert_eq!(
        counter(&fq, 1).seen[..3],
        [saw("enqueue", 0, 0, 0), saw("timer", 1, 400, 3400), saw("dequeue", 0, 0, 3000),]
    );
    assert_eq!(
        counter(&fq, 2).seen,
        [
            saw("enqueue", 0, 0, 400),
            saw("enqueue", 1, 1000, 1400),
            saw("enqueue", 2, 2000, 2400),
            saw("timer", 3, 3000, 3400),
            saw("dequeue", 2, 2000, 2000),
        ]
    );
    let evictions: Vec<_> = counter(&fq, 3).seen.iter().filter(|s| s.0 == "overflow").collect();
    assert_eq!(
        evictions,
        [
            &saw("overflow", 4, 2400, 4400),
            &saw("overflow", 3, 1800, 3800),
            &saw("overflow", 2, 1200, 3200),
        ]
    );
}

/// An unlisted queue is never dequeued, so `on_dequeue` could not report that it is empty.
#[test]
fn on_empty_is_called_when_a_law_drops_the_first_packet_of_a_queue() {
    let mut fq: Fq<Numbered, Counter> = fq_of(&[]);
    fill(&mut fq, 1, 1, 13);
    assert_eq!(counter(&fq, 1).seen.iter().map(|s| s.0).collect::<Vec<_>>(), ["enqueue", "empty"]);
    let empty_calls = |fq: &Fq<Numbered, Counter>, flow| {
        counter(fq, flow).seen.iter().filter(|s| s.0 == "empty").count()
    };
    let mut fq: Fq<Numbered, Counter> = fq_of(&[]);
    fill(&mut fq, 3, 5, 1514);
    assert!(fq.dequeue(ms(0), &mut rng(), &mut Log::default()).is_some());
    fill(&mut fq, 2, 1, 60);
    fill(&mut fq, 2, 1, 13);
    assert_eq!(empty_calls(&fq, 2), 0, "it holds a packet");
    (0..2).for_each(|_| assert!(fq.dequeue(ms(1), &mut rng(), &mut Log::default()).is_some()));
    assert_eq!(empty_calls(&fq, 2), 1, "it was found empty; it is listed for one more round");
    fq.enqueue(ms(1), Numbered::new(1, 2, 13), &mut rng(), &mut Log::default());
    assert_eq!(empty_calls(&fq, 2), 1, "it is still listed and will be asked");
}

#[test]
fn timers_of_empty_queues_are_caught_up_when_a_packet_arrives() {
    let mut fq: Fq<Numbered, Counter> = fq_of(&[]);
    assert_eq!(fq.next_timer(), None, "an empty queue has no timer");
    fill(&mut fq, 1, 1, 1514);
    assert_eq!(fq.next_timer(), Some(ms(10)));
    fq.on_timer(ms(10));
    fq.on_timer(ms(20));
    assert_eq!((ticks(&fq, 1), ticks(&fq, 2)), (2, 0));
    let mut log = Log::default();
    fq.enqueue(ms(25), Numbered::new(2, 2, 1514), &mut rng(), &mut log);
    assert_eq!((ticks(&fq, 2), fq.next_timer()), (2, Some(ms(30))));
    fq.on_timer(ms(30));
    fq.enqueue(ms(30), Numbered::new(3, 3, 1514), &mut rng(), &mut log);
    assert_eq!(ticks(&fq, 3), 3, "a timer due now is due");
}

/// A host in real time may be late, but a queue that held packets was not idle in the meantime.
#[test]
fn a_queue_that_holds_packets_leaves_its_timer_to_the_host() {
    let mut fq: Fq<Numbered, Counter> = fq_of(&[]);
    fill(&mut fq, 1, 1, 1514);
    fq.enqueue(ms(25), Numbered::new(1, 1, 1514), &mut rng(), &mut Log::default());
    assert_eq!((ticks(&fq, 1), fq.next_timer()), (0, Some(ms(10))));
}

#[test]
fn the_timer_stops_when_nothing_waits_and_is_set_by_the_next_arrival() {
    let mut fq: Fq<Numbered, Counter> = fq_of(&[]);
    let mut log = Log::default();
    fill(&mut fq, 1, 1, 1514);
    assert!(fq.dequeue(ms(5), &mut rng(), &mut log).is_some());
    assert_eq!(fq.next_timer(), Some(ms(10)), "it changes only in on_timer and enqueue");
    fq.on_timer(ms(10));
    assert_eq!((fq.next_timer(), ticks(&fq, 1)), (None, 0));
    fq.enqueue(ms(47), Numbered::new(2, 1, 1514), &mut rng(), &mut log);
    assert_eq!((fq.next_timer(), ticks(&fq, 1)), (Some(ms(50)), 4));
}

#[test]
fn a_million_idle_seconds_cost_one_timer_call() {
    let mut fq: Fq<Numbered, Pie> = fq_of(&[("flows", "65536")]);
    fill(&mut fq, 1, 1, 1514);
    let mut log = Log::default();
    while fq.dequeue(ms(1), &mut rng(), &mut log).is_some() {}
    let mut rings = 0;
    while let Some(due) = fq.next_timer() {
        fq.on_timer(due);
        rings += 1;
    }
    assert_eq!(rings, 1);
    fq.enqueue(ms(1_000_000_000), Numbered::new(2, 1, 1514), &mut rng(), &mut log);
    assert_eq!(fq.next_timer(), Some(ms(1_000_000_005)), "the grid of 15 ms is kept");
}

/// RFC 8033 §6: one probability per queue.
#[test]
fn the_delay_of_one_queue_leaves_the_probability_of_another_alone() {
    let mut fq: Fq<Numbered, Pie> = fq_of(&[]);
    let mut log = Log::default();
    fill(&mut fq, 1, 200, 1514);
    fill(&mut fq, 2, 200, 1514);
    let prob = |fq: &Fq<Numbered, Pie>, flow| {
        crate::testing::var(fq.flows.law(fq.queue_of(flow)), "drop_prob")
    };
    for i in 1..200 {
        // Flow 2 drains immediately; flow 1 always has newer packets queued when a late one leaves.
        fq.on_timer(ms(15 * i));
        fq.dequeue(ms(15 * i), &mut rng(), &mut log);
    }
    assert!(prob(&fq, 1) > 0.0 && prob(&fq, 2) > 0.0);
    assert_eq!(prob(&fq, 3), 0.0);
}

/// RFC 8290 §4.1 and ns-3 FqPieQueueDisc.
#[test]
fn an_arrival_beyond_the_limit_of_fq_pie_takes_packets_from_the_fattest_queue() {
    let mut fq: Fq<Numbered, Pie> = fq_of(&[("limit", "100p")]);
    assert!(fill(&mut fq, 1, 100, 1514).dropped.is_empty());
    let mut log = Log::default();
    offer(&mut fq, Numbered::new(7, 2, 1514), &mut log);
    assert_eq!(log.dropped[0], (1000, Stage::Queued, Cause::Overflow));
    assert_eq!(log.dropped.len(), 50);
}

/// Linux 6.1 sch_fq_pie.c, fq_pie_timer updates 2048 queues in a pass and the rest in the next.
/// Here all are updated at once, regardless of their number.
#[test]
fn every_one_of_thousands_of_queues_is_updated_at_one_timer() {
    for flows in [2048, 4096] {
        let mut fq: Fq<Numbered, Counter> = fq_of(&[("flows", "65536")]);
        let mut log = Log::default();
        (0..flows).for_each(|flow| offer(&mut fq, Numbered::new(flow, flow, 1514), &mut log));
        fq.on_timer(ms(10));
        let waiting = (0..65536).filter(|&index| !fq.flows.is_empty(index));
        assert!(waiting.clone().count() > flows as usize / 2);
        assert!(waiting.clone().all(|index| fq.flows.law(index).ticks == 1));
    }
}

#[test]
fn ect_packets_are_marked_under_fq_codel() {
    let spec = crate::QdiscSpec::parse("fq_codel").unwrap();
    let mut fq = crate::registry::build::<Numbered>(&spec, &env()).unwrap();
    let mut log = Log::default();
    for id in 0..2000 {
        let packet = Numbered { ecn: Ecn::Ect0, ..Numbered::new(id, 7, 1000) };
        fq.enqueue(ms(id), packet, &mut rng(), &mut log);
        if id >= 50 {
            fq.dequeue(ms(id), &mut rng(), &mut log);
        }
    }
    assert!(log.marked.len() > 10 && log.dropped.is_empty(), "{:?}", log.dropped);
}
