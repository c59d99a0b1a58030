//! Schedulers against arithmetic by hand.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::{CODE_POINTS, Ets, Hfsc, HfscNode, Htb, HtbNode, Prio, ServiceCurve};
use crate::framing::{Cells, Framing, Packing};
use crate::law::{Cause, Stage};
use crate::packet::{Ecn, Packet};
use crate::qdisc::{Qdisc, Sink};
use crate::registry::{self, QdiscSpec};
use crate::testing::{assert_near, env, ms, rng};
use crate::time::{Rate, Span, Time};

/// A packet whose class is its DSCP.
#[derive(Clone, Copy, Debug)]
struct Classed {
    class: u8,
    bytes: u32,
}

impl Packet for Classed {
    fn bytes(&self) -> u32 {
        self.bytes
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ce(&mut self) {}
    fn flow(&self) -> u64 {
        u64::from(self.class)
    }
    fn dscp(&self) -> u8 {
        self.class
    }
}

/// Counts drops.
#[derive(Default)]
struct Dropped(u32);

impl Sink<Classed> for Dropped {
    fn dropped(&mut self, _: Classed, _: Time, _: Stage, _: Cause) {
        self.0 += 1;
    }
    fn marked(&mut self, _: &mut Classed, _: Time, _: Stage, _: Cause) {}
}

fn queues(aqm: &str, count: usize) -> Vec<Box<dyn Qdisc<Classed>>> {
    let spec = QdiscSpec::parse(aqm).unwrap();
    (0..count).map(|_| registry::build(&spec, &env()).unwrap()).collect()
}

/// A class with tc's defaults; rates in kbit/s.
fn class(parent: Option<usize>, rate: u64, ceil: u64) -> HtbNode {
    HtbNode {
        parent,
        rate: Rate::from_bps(rate * 1000),
        ceil: Rate::from_bps(ceil * 1000),
        burst_bytes: 1600,
        cburst_bytes: 1600,
        quantum_bytes: (rate * 1000 / 80).clamp(1000, 200_000),
        priority: 0,
    }
}

/// A tree in which a packet's DSCP is the index of its class.
fn tree(classes: Vec<HtbNode>) -> Htb {
    let is_leaf = |class: usize| classes.iter().all(|other| other.parent != Some(class));
    let of = |dscp| (dscp < classes.len() && is_leaf(dscp)).then_some(dscp as u8);
    Htb { class_of: core::array::from_fn(of), classes, framing: Framing::NONE }
}

fn built(tree: &Htb) -> Box<dyn Qdisc<Classed>> {
    let leaves = (0..tree.classes.len()).filter(|&class| tree.is_leaf(class)).count();
    tree.build(queues("taildrop", leaves))
}

/// The rates of classes that always have packets of 1000 bytes, in kbit/s, on a line of 100 Mbit/s.
fn rates(tree: &Htb, busy: &[u8]) -> Vec<f64> {
    rates_of(built(tree), busy)
}

fn rates_of(mut qdisc: Box<dyn Qdisc<Classed>>, busy: &[u8]) -> Vec<f64> {
    let (mut rng, mut sink) = (rng(), Dropped::default());
    let mut sent = [0_u64; CODE_POINTS];
    for &class in busy.iter().cycle().take(20 * busy.len()) {
        qdisc.enqueue(Time::ZERO, Classed { class, bytes: 1000 }, &mut rng, &mut sink);
    }
    let (mut now, end) = (Time::ZERO, ms(20_000));
    while now < end {
        now = match qdisc.dequeue(now, &mut rng, &mut sink) {
            Some(departure) => {
                sent[usize::from(departure.packet.class)] += 1000;
                qdisc.enqueue(now, departure.packet, &mut rng, &mut sink);
                now + Span::from_micros(80)
            }
            None => qdisc.held_until().expect("a class waits for tokens"),
        };
    }
    busy.iter().map(|&class| sent[usize::from(class)] as f64 * 8.0 / 20_000.0).collect()
}

#[track_caller]
fn assert_rates(tree: &Htb, busy: &[u8], expected: &[f64]) {
    let measured = rates(tree, busy);
    for (one, expected) in measured.iter().zip(expected) {
        assert_near(*one, *expected, 0.005 * expected + 2.0);
    }
}

/// The example of the HTB user guide: classes share the rest of 10 Mbit/s by quantum.
#[test]
fn leaves_get_their_rates_and_share_the_rest_by_quantum() {
    let root = class(None, 10_000, 10_000);
    let plan = tree(vec![root, class(Some(0), 2_000, 10_000), class(Some(0), 4_000, 10_000)]);
    // 4 Mbit/s remain; quanta of 25 and 50 kB give a third and two thirds of it.
    assert_rates(&plan, &[1, 2], &[3_333.0, 6_667.0]);
    assert_rates(&plan, &[1], &[10_000.0]);
}

#[test]
fn a_ceiling_holds_whatever_is_left() {
    let root = class(None, 10_000, 10_000);
    let limited = class(Some(0), 1_000, 3_000);
    let plan = tree(vec![root, limited, class(Some(0), 1_000, 10_000)]);
    assert_rates(&plan, &[1], &[3_000.0]);
    // A quantum of 12.5 kB takes the other class 10 ms, during which a bucket of 1600 bytes
    // overflows.
    let quick = |class| HtbNode { quantum_bytes: 1000, ..class };
    let plan = tree(vec![root, quick(limited), quick(class(Some(0), 1_000, 10_000))]);
    assert_rates(&plan, &[1, 2], &[3_000.0, 7_000.0]);
    let alone = tree(vec![class(None, 2_000, 8_000), class(None, 3_000, 3_000)]);
    assert_rates(&alone, &[0, 1], &[2_000.0, 3_000.0]);
}

#[test]
fn what_is_left_goes_to_the_most_urgent_class() {
    let root = class(None, 10_000, 10_000);
    let late = HtbNode { priority: 1, ..class(Some(0), 4_000, 10_000) };
    let plan = tree(vec![root, class(Some(0), 2_000, 10_000), late]);
    assert_rates(&plan, &[1, 2], &[6_000.0, 4_000.0]);
}

#[test]
fn a_class_borrows_from_the_nearest_ancestor_first() {
    let plan = tree(vec![
        class(None, 10_000, 10_000),
        class(Some(0), 6_000, 10_000),
        class(Some(1), 1_000, 10_000),
        class(Some(1), 1_000, 10_000),
        class(Some(0), 4_000, 10_000),
    ]);
    assert_rates(&plan, &[2, 3, 4], &[3_000.0, 3_000.0, 4_000.0]);
    assert_rates(&plan, &[2, 4], &[6_000.0, 4_000.0]);
}

#[test]
fn shares_count_overhead_and_cells() {
    let packing = Packing { mpu: 0, cells: Cells::Atm };
    let mut plan = tree(vec![class(None, 10_000, 10_000)]);
    plan.framing = Framing { overhead: 40, packing };
    // 1040 bytes take 22 cells, 1166 bytes.
    assert_rates(&plan, &[0], &[10_000.0 * 1000.0 / 1166.0]);
}

/// At 8 Mbit/s a byte takes a microsecond: the class has 1600 bytes of tokens, then debts of 400
/// and 1000 bytes.
#[test]
fn a_class_sends_while_it_is_not_in_debt() {
    let (mut qdisc, mut rng, mut sink) =
        (built(&tree(vec![class(None, 8_000, 8_000)])), rng(), Dropped::default());
    for _ in 0..4 {
        qdisc.enqueue(Time::ZERO, Classed { class: 0, bytes: 1000 }, &mut rng, &mut sink);
    }
    let (mut now, mut times) = (Time::ZERO, Vec::new());
    while !qdisc.is_empty() {
        match qdisc.dequeue(now, &mut rng, &mut sink) {
            Some(_) => times.push(now.as_nanos() / 1000),
            None => now = qdisc.held_until().unwrap(),
        }
    }
    assert_eq!(times, [0, 0, 400, 1_400]);
    assert_eq!(qdisc.held_until(), None, "an empty tree holds nothing back");
}

#[test]
fn an_arrival_of_another_class_passes_those_held_back() {
    let plan = tree(vec![class(None, 8, 8), class(None, 8_000, 8_000)]);
    let (mut qdisc, mut rng, mut sink) = (built(&plan), rng(), Dropped::default());
    for _ in 0..4 {
        qdisc.enqueue(Time::ZERO, Classed { class: 0, bytes: 1000 }, &mut rng, &mut sink);
    }
    while qdisc.dequeue(Time::ZERO, &mut rng, &mut sink).is_some() {}
    assert!(qdisc.held_until() > Some(ms(100)) && qdisc.serves_while_held());
    qdisc.enqueue(ms(1), Classed { class: 1, bytes: 1000 }, &mut rng, &mut sink);
    let left = qdisc.dequeue(ms(1), &mut rng, &mut sink).map(|departure| departure.packet.class);
    assert_eq!(left, Some(1));
}

/// Linux 6.1 sch_htb.c, htb_enqueue: HTB_DIRECT.
#[test]
fn packets_without_a_class_leave_first_and_unshaped() {
    let (mut qdisc, mut rng, mut sink) =
        (built(&tree(vec![class(None, 8, 8)])), rng(), Dropped::default());
    for class in [0, 1, 0, 1].into_iter().chain([1; 999]) {
        qdisc.enqueue(Time::ZERO, Classed { class, bytes: 1000 }, &mut rng, &mut sink);
    }
    assert_eq!((sink.0, qdisc.backlog().packets, qdisc.backlog().bytes), (1, 1002, 1_002_000));
    let mut left = || qdisc.dequeue(Time::ZERO, &mut rng, &mut sink).map(|it| it.packet.class);
    assert!((0..1000).all(|_| left() == Some(1)));
    assert_eq!([left(), left(), left()], [Some(0), Some(0), None]);
}

/// A leaf may drop its last packets at the head.
#[test]
fn a_leaf_that_its_aqm_empties_gives_way() {
    let plan = tree(vec![class(None, 8_000, 8_000), class(None, 8_000, 8_000)]);
    let mut qdisc = plan.build(queues("codel@linux:target=1ms,interval=5ms", 2));
    let (mut rng, mut sink, mut left) = (rng(), Dropped::default(), 0);
    for class in [0, 1].into_iter().cycle().take(400) {
        qdisc.enqueue(Time::ZERO, Classed { class, bytes: 1500 }, &mut rng, &mut sink);
    }
    let mut now = ms(50);
    while !qdisc.is_empty() {
        match qdisc.dequeue(now, &mut rng, &mut sink) {
            Some(_) => left += 1,
            None => now = qdisc.held_until().unwrap_or(now),
        }
    }
    assert!(sink.0 > 10 && sink.0 + left == 400, "{} {left}", sink.0);
}

#[test]
fn prio_serves_the_first_class_that_has_packets() {
    let class_of = core::array::from_fn(|dscp| if dscp < 3 { dscp as u8 } else { 1 });
    assert_eq!(class_of.len(), CODE_POINTS);
    let mut qdisc = Prio { class_of }.build(queues("taildrop", 3));
    let (mut rng, mut sink) = (rng(), Dropped::default());
    for class in [2, 46, 0, 1, 2, 0] {
        qdisc.enqueue(Time::ZERO, Classed { class, bytes: 100 }, &mut rng, &mut sink);
    }
    assert_eq!((qdisc.backlog().packets, qdisc.backlog().bytes), (6, 600));
    let next = |_| qdisc.dequeue(Time::ZERO, &mut rng, &mut sink).map(|it| it.packet.class);
    assert_eq!([0; 7].map(next), [Some(0), Some(0), Some(46), Some(1), Some(2), Some(2), None]);
}

/// Linux 6.1 sch_ets.c, ets_qdisc_dequeue: a band sends only what its deficit covers.
#[test]
fn ets_serves_strict_bands_first_and_then_turns_of_a_quantum() {
    let class_of = core::array::from_fn(|dscp| if dscp < 3 { dscp as u8 } else { 2 });
    let plan = Ets { quanta: vec![None, Some(2000), Some(1000)], class_of };
    let mut qdisc = plan.build(queues("taildrop", 3));
    let (mut rng, mut sink) = (rng(), Dropped::default());
    for class in [1, 2].into_iter().cycle().take(12).chain([0]) {
        qdisc.enqueue(Time::ZERO, Classed { class, bytes: 800 }, &mut rng, &mut sink);
    }
    let mut next = || qdisc.dequeue(Time::ZERO, &mut rng, &mut sink).map(|it| it.packet.class);
    let first: Vec<u8> = (0..11).filter_map(|_| next()).collect();
    // 2000: two of 800 B, 400 B left; 1000: one, 200 B left; then 2400: three; 1200: one.
    assert_eq!(first, [0, 1, 1, 2, 1, 1, 1, 2, 1, 2, 2]);
    assert_eq!(qdisc.backlog().packets, 2);
}

/// Each band waits for its own shaper; the link must wake for the one that can send first.
#[test]
fn ets_is_held_until_the_first_of_its_bands_can_send() {
    let class_of = core::array::from_fn(|dscp| u8::from(dscp > 0));
    let shaped = ["cake:bandwidth=8mbit", "cake:bandwidth=800kbit"];
    let shaped = shaped.map(|aqm| queues(aqm, 1).remove(0));
    let mut qdisc = Ets { quanta: vec![None, Some(1000)], class_of }.build(shaped.into());
    let (mut rng, mut sink) = (rng(), Dropped::default());
    for class in [0, 1, 0, 1] {
        qdisc.enqueue(Time::ZERO, Classed { class, bytes: 1000 }, &mut rng, &mut sink);
    }
    let mut next = || qdisc.dequeue(Time::ZERO, &mut rng, &mut sink).map(|it| it.packet.class);
    assert_eq!([next(), next(), next()], [Some(0), Some(1), None]);
    assert_eq!(qdisc.held_until(), Some(ms(1)));
}

/// A leaf of HTB may overdraw its quantum (fact qdisc-26).
#[test]
fn shares_of_ets_are_those_of_the_quanta() {
    let class_of = core::array::from_fn(|dscp| (dscp > 0) as u8);
    let plan = Ets { quanta: vec![Some(3000), Some(1000)], class_of };
    let mut qdisc = plan.build(queues("codel@linux", 2));
    let (mut rng, mut sink, mut left) = (rng(), Dropped::default(), [0_u32; 2]);
    for class in [0, 1].into_iter().cycle().take(400) {
        qdisc.enqueue(Time::ZERO, Classed { class, bytes: 1500 }, &mut rng, &mut sink);
    }
    for _ in 0..200 {
        let departure = qdisc.dequeue(Time::ZERO, &mut rng, &mut sink).expect("packets wait");
        left[usize::from(departure.packet.class)] += 1;
    }
    assert_eq!(left, [150, 50]);
}

/// PIE's timers run whether or not the other class has packets.
#[test]
fn timers_of_each_class_are_run() {
    let class_of = core::array::from_fn(|dscp| (dscp > 0) as u8);
    let mut qdisc = Prio { class_of }.build(queues("pie", 2));
    let (mut rng, mut sink) = (rng(), Dropped::default());
    for millis in 0..4_000 {
        let now = ms(millis);
        while let Some(due) = qdisc.next_timer().filter(|&due| due <= now) {
            qdisc.on_timer(due);
        }
        for _ in 0..2 {
            qdisc.enqueue(now, Classed { class: 1, bytes: 1000 }, &mut rng, &mut sink);
        }
        qdisc.dequeue(now, &mut rng, &mut sink);
    }
    // Half of the packets exceed the rate; a queue without updates would drop only at its limit.
    assert!(qdisc.backlog().packets < 300, "{}", qdisc.backlog().packets);
}

/// A class of hfsc with its curves rt, ls and ul in kbit/s, milliseconds and kbit/s; zeros mean no
/// curve.
fn curves(parent: Option<usize>, [rt, ls, ul]: [(u64, u64, u64); 3]) -> HfscNode {
    let rate = |kbit: u64| (kbit > 0).then(|| Rate::from_bps(kbit * 1000));
    let curve = |(m1, d, m2): (u64, u64, u64)| {
        let d = Span::from_millis(d);
        (m1 + m2 > 0).then(|| ServiceCurve { m1: rate(m1), d, m2: rate(m2) })
    };
    HfscNode { parent, rt: curve(rt), ls: curve(ls), ul: curve(ul) }
}

fn share(parent: Option<usize>, kbit: u64) -> HfscNode {
    curves(parent, [(0, 0, 0), (0, 0, kbit), (0, 0, 0)])
}

fn limited(node: HfscNode, kbit: u64) -> HfscNode {
    HfscNode { ul: curves(None, [(0, 0, 0), (0, 0, 0), (0, 0, kbit)]).ul, ..node }
}

fn hfsc(classes: Vec<HfscNode>, aqm: &str) -> Box<dyn Qdisc<Classed>> {
    let is_leaf = |class: usize| classes.iter().all(|other| other.parent != Some(class));
    let of = |dscp| (dscp < classes.len() && is_leaf(dscp)).then_some(dscp as u8);
    let leaves = (0..classes.len()).filter(|&class| is_leaf(class)).count();
    let class_of = core::array::from_fn(of);
    Hfsc { classes, class_of }.build(queues(aqm, leaves))
}

#[track_caller]
fn assert_shares(classes: Vec<HfscNode>, busy: &[u8], expected: &[f64]) {
    let measured = rates_of(hfsc(classes, "taildrop"), busy);
    for (one, expected) in measured.iter().zip(expected) {
        assert_near(*one, *expected, 0.005 * expected + 2.0);
    }
}

/// Linux 6.1 sch_hfsc.c: the fit time of the top class comes from its upper limit.
#[test]
fn link_shares_divide_what_the_upper_limit_allows() {
    let top = limited(share(None, 1), 10_000);
    let plan = || vec![top, share(Some(0), 2_000), share(Some(0), 6_000)];
    assert_shares(plan(), &[1, 2], &[2_500.0, 7_500.0]);
    assert_shares(plan(), &[1], &[10_000.0]);
    let plan = vec![top, limited(share(Some(0), 5_000), 1_000), share(Some(0), 5_000)];
    assert_shares(plan, &[1, 2], &[1_000.0, 9_000.0]);
}

#[test]
fn without_an_upper_limit_the_line_is_always_busy() {
    // A line of 100 Mbit/s.
    assert_shares(vec![share(None, 10), share(None, 30)], &[0, 1], &[25_000.0, 75_000.0]);
    assert_shares(vec![share(None, 10), share(None, 30)], &[1], &[100_000.0]);
}

/// Stoica, Zhang and Ng 1997: a real-time curve guarantees its rate regardless of the shares, but
/// no more.
#[test]
fn a_real_time_curve_is_guaranteed_and_gives_nothing_beyond_it() {
    let top = limited(share(None, 1), 10_000);
    let real_time = curves(Some(0), [(0, 0, 3_000), (0, 0, 1), (0, 0, 0)]);
    assert_shares(vec![top, real_time, share(Some(0), 9_999)], &[1, 2], &[3_000.0, 7_000.0]);
    let alone = curves(Some(0), [(0, 0, 3_000), (0, 0, 0), (0, 0, 0)]);
    assert_shares(vec![top, alone, share(Some(0), 1)], &[1, 2], &[3_000.0, 7_000.0]);
}

/// On a line of 8 Mbit/s, a byte takes a microsecond.
fn delay_of_a_packet(curve: (u64, u64, u64)) -> u64 {
    let real_time = curves(None, [curve, (0, 0, 800), (0, 0, 0)]);
    let mut qdisc = hfsc(vec![real_time, share(None, 7_200)], "taildrop");
    let (mut rng, mut sink) = (rng(), Dropped::default());
    for _ in 0..200 {
        qdisc.enqueue(Time::ZERO, Classed { class: 1, bytes: 1000 }, &mut rng, &mut sink);
    }
    let (mut now, arrival) = (Time::ZERO, ms(50));
    loop {
        if now == arrival {
            qdisc.enqueue(now, Classed { class: 0, bytes: 1000 }, &mut rng, &mut sink);
        }
        let left = qdisc.dequeue(now, &mut rng, &mut sink).expect("it is always busy");
        if left.packet.class == 0 {
            return now.since(arrival).as_nanos() / 1_000_000;
        }
        now += Span::from_micros(1000);
    }
}

#[test]
fn a_concave_curve_lowers_the_delay_without_a_higher_rate() {
    // 1000 bytes are served within 2 ms, but in the long run only 800 kbit/s are served. It is
    // eligible at once.
    assert_eq!(delay_of_a_packet((4_000, 2, 800)), 0);
}

#[test]
fn an_empty_tree_holds_nothing_and_a_held_one_says_until_when() {
    let mut qdisc = hfsc(vec![limited(share(None, 8_000), 8_000)], "taildrop");
    let (mut rng, mut sink) = (rng(), Dropped::default());
    for _ in 0..3 {
        qdisc.enqueue(Time::ZERO, Classed { class: 0, bytes: 1000 }, &mut rng, &mut sink);
    }
    let (mut now, mut times) = (Time::ZERO, Vec::new());
    while !qdisc.is_empty() {
        match qdisc.dequeue(now, &mut rng, &mut sink) {
            Some(_) => times.push(now.as_nanos() / 1000),
            None => now = qdisc.held_until().unwrap(),
        }
    }
    assert_eq!(times, [0, 1000, 2000]);
    assert!(qdisc.dequeue(now, &mut rng, &mut sink).is_none());
    assert_eq!(qdisc.held_until(), None);
}

/// Linux 6.1 sch_hfsc.c, hfsc_enqueue.
#[test]
fn hfsc_drops_packets_without_a_class() {
    let mut qdisc = hfsc(vec![share(None, 8_000)], "taildrop");
    let (mut rng, mut sink) = (rng(), Dropped::default());
    qdisc.enqueue(Time::ZERO, Classed { class: 1, bytes: 1000 }, &mut rng, &mut sink);
    assert_eq!((sink.0, qdisc.backlog().packets), (1, 0));
}

/// The next packet is taken from the AQM ahead of time, but still counts.
#[test]
fn a_leaf_with_real_time_keeps_all_its_packets() {
    let plan = vec![curves(None, [(0, 0, 8_000), (0, 0, 8_000), (0, 0, 0)]), share(None, 8_000)];
    let mut qdisc = hfsc(plan, "codel@linux:target=1ms,interval=5ms");
    let (mut rng, mut sink, mut left) = (rng(), Dropped::default(), 0);
    for class in [0, 1].into_iter().cycle().take(400) {
        qdisc.enqueue(Time::ZERO, Classed { class, bytes: 1500 }, &mut rng, &mut sink);
    }
    assert_eq!((qdisc.backlog().packets, qdisc.backlog().bytes), (400, 600_000));
    let mut now = ms(50);
    while !qdisc.is_empty() {
        match qdisc.dequeue(now, &mut rng, &mut sink) {
            Some(_) => left += 1,
            None => now = qdisc.held_until().unwrap_or(now),
        }
        now += Span::from_micros(500);
    }
    assert!(sink.0 > 10 && sink.0 + left == 400, "{} {left}", sink.0);
}
