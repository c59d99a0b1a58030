use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::signals::Recur;
use super::*;
use crate::params::Params;
use crate::testing::{Log, Numbered, assert_near, env, full_packets, ms};
use crate::time::Span;

fn dual(dialect: &str) -> DualQueue<Numbered> {
    DualQueue::new(&DualPi2Params::of_dialect(dialect).unwrap(), &env())
}

fn rng() -> Rng {
    Rng::stream(1, "test", 0)
}

fn packet(id: u64, ecn: Ecn) -> Numbered {
    Numbered { ecn, ..Numbered::new(id, id, 1514) }
}

fn offer(dual: &mut DualQueue<Numbered>, now: Time, ecn: Ecn, count: u64) {
    let mut log = Log::default();
    (0..count).for_each(|id| dual.enqueue(now, packet(id, ecn), &mut rng(), &mut log));
    assert!(log.dropped.is_empty());
}

fn observed(dual: &DualQueue<Numbered>) -> [f64; 6] {
    let mut out = [0.0; 6];
    dual.observe(&mut out);
    out
}

/// RFC 9332 Appendix A.1 with tupdate = 16 ms; the values were computed independently.
#[test]
fn the_controller_follows_the_golden_trace() {
    let mut signals = dual("rfc9332").signals;
    signals.update(Span::from_millis(20));
    signals.base_prob = 0.1;
    let delays = [30, 40, 50, 60, 60, 40, 20, 10, 0, 0, 0];
    let expected = [
        0.134400, 0.170400, 0.208000, 0.247200, 0.254400, 0.194400, 0.131200, 0.098400, 0.064000,
        0.061600, 0.059200,
    ];
    for (delay, prob) in delays.into_iter().zip(expected) {
        signals.update(Span::from_millis(delay));
        assert_near(signals.base_prob, prob, 1e-6);
    }
}

/// RFC 9957 §1 and §4.2.1: a flow that builds the queue goes to the classic queue, and the others
/// keep their low delay. 20 Mbit/s: a packet of 1514 B takes 606 us.
#[test]
fn a_protected_queue_sends_the_flow_that_builds_it_to_the_classic_one() {
    let of = |protection: bool| {
        let mut params = DualPi2Params::of_dialect("linux").unwrap();
        params.protection = protection;
        let mut dual = DualQueue::<Numbered>::new(&params, &env());
        dual.on_rate(Time::ZERO, Rate::from_bps(20_000_000));
        let mut log = Log::default();
        let arrives = |flow, bytes| Numbered { ecn: Ecn::Ect1, ..Numbered::new(flow, flow, bytes) };
        (0..20).for_each(|_| dual.enqueue(ms(1), arrives(7, 1514), &mut rng(), &mut log));
        dual.enqueue(ms(1), arrives(8, 200), &mut rng(), &mut log);
        (dual.low.packets(), dual.classic.packets())
    };
    assert_eq!(of(false), (21, 0));
    // The third packet finds 1.2 ms and scores 2.9 ms; their product is below 4 ms times 1 ms. The
    // fourth finds 1.8 ms and scores 5.8 ms. The small packet scores 0.4 ms.
    assert_eq!(of(true), (4, 17));
}

/// The calls, counted from 1, on which thinning fires.
fn fires(prob: f64, calls: u32) -> Vec<u32> {
    let mut recur = Recur::default();
    (1..=calls).filter(|_| recur.next(prob)).collect()
}

/// RFC 9332 Appendix A.1, `recur`: the sum must exceed 1, so the first call is never true.
#[test]
fn thinning_is_true_whenever_the_sum_of_probabilities_exceeds_one() {
    assert_eq!(fires(0.3, 27), [4, 7, 11, 14, 17, 21, 24, 27]);
    assert_eq!(fires(0.5, 11), [3, 5, 7, 9, 11]);
    assert_eq!(fires(1.0, 5), [2, 3, 4, 5]);
    assert_eq!(fires(0.25, 13), [5, 9, 13]);
}

/// RFC 9332 §2.4: p_C = p'^2, p_CL = k p' with k = 2.
#[test]
fn the_classic_signal_is_the_square_and_the_coupled_one_twice_the_base() {
    let mut signals = dual("rfc9332").signals;
    for (base, classic, coupled) in [(0.1, 0.01, 0.2), (0.25, 0.0625, 0.5), (0.5, 0.25, 1.0)] {
        signals.base_prob = base;
        let [c, _, l, _] = signals.observe();
        assert_near(c, classic, 1e-12);
        assert_near(l, coupled, 1e-12);
    }
}

/// RFC 9332 Appendix A.2, laqm.
#[test]
fn the_ramp_goes_from_800_to_1200_microseconds() {
    let signals = dual("rfc9332").signals;
    for (micros, prob) in [(800, 0.0), (1000, 0.5), (1200, 1.0), (5000, 1.0)] {
        assert_near(signals.ramp(Span::from_micros(micros)), prob, 1e-12);
    }
}

/// RFC 9332 Appendix A.1: the delay is compared with the target of 15 ms.
#[test]
fn a_low_latency_delay_below_target_drives_the_probability_to_zero() {
    let mut dual = dual("rfc9332");
    dual.signals.base_prob = 0.3;
    offer(&mut dual, ms(0), Ecn::Ect1, 1);
    for n in 1..200 {
        let now = ms(5 + 16 * n);
        while dual.low.pop().is_some() {}
        offer(&mut dual, ms(16 * n), Ecn::Ect1, 1);
        dual.on_timer(now);
    }
    assert_eq!(observed(&dual)[1], 0.0);
}

/// RFC 9332 Appendix A.1: the controller uses the longer of the two delays.
#[test]
fn an_overload_of_low_latency_traffic_raises_the_probability() {
    let mut dual = dual("rfc9332");
    offer(&mut dual, ms(0), Ecn::Ect1, 100);
    dual.on_timer(ms(16));
    dual.on_timer(ms(32));
    assert!(observed(&dual)[1] > 0.05);
}

/// RFC 9332 §2.3.
#[test]
fn ect1_and_ce_go_to_the_low_latency_queue_and_nothing_else() {
    let mut dual = dual("rfc9332");
    for (ecn, low, classic) in
        [(Ecn::NotEct, 0, 1), (Ecn::Ect0, 0, 2), (Ecn::Ect1, 1, 2), (Ecn::Ce, 2, 2)]
    {
        offer(&mut dual, ms(0), ecn, 1);
        assert_eq!((dual.low.packets(), dual.classic.packets()), (low, classic));
    }
}

/// Linux sch_dualpi2.c, must_drop and do_step_aqm: the backlog is below 2 * 1514 B.
#[test]
fn linux_signals_small_backlogs_by_its_step_only() {
    let mut signals = dual("linux").signals;
    signals.base_prob = 1.0;
    let mut judge = |place, waited: u64, left: u64, ecn| {
        let head = Head { bytes: 1514, ecn, enqueued: ms(10) };
        let left = Backlog { bytes: left, ..full_packets(2) };
        signals.judge(place, ms(10 + waited), head, left, 1, &mut rng())
    };
    assert_eq!(judge(Place::Classic, 0, 3027, Ecn::NotEct), Verdict::Pass);
    assert_eq!(judge(Place::Low, 1, 3027, Ecn::Ect1), Verdict::Pass);
    assert!(matches!(judge(Place::Low, 2, 3027, Ecn::Ect1), Verdict::Mark(_)));
    assert!(matches!(judge(Place::Classic, 0, 3028, Ecn::NotEct), Verdict::Drop(_)));
}

/// RFC 9332 §4.2.2: the classic queue gets a sixteenth, the other queue the rest.
#[test]
fn the_classic_queue_has_its_share_and_no_more() {
    for (dialect, share) in [("rfc9332", 1.0 / 16.0), ("linux", 0.1)] {
        let mut dual = dual(dialect);
        offer(&mut dual, ms(0), Ecn::Ect1, 2000);
        offer(&mut dual, ms(0), Ecn::Ect0, 2000);
        let mut left = || dual.dequeue(ms(0), &mut rng(), &mut Log::default()).unwrap().packet.ecn;
        let classic = (0..1600).filter(|_| left() == Ecn::Ect0).count();
        assert_near(classic as f64, 1600.0 * share, 2.0);
    }
}

/// Linux sch_dualpi2.c, dequeue_packet: at rest the credit is -80 per byte of an MTU; each byte of
/// the low-latency queue adds 10, and that queue is also served at 0. With tenths of a byte the sum
/// would be larger.
#[test]
fn linux_serves_low_latency_until_its_credits_exceed_zero() {
    let mut dual = dual("linux");
    offer(&mut dual, ms(0), Ecn::Ect0, 2);
    let half = Numbered { bytes: 757, ..packet(0, Ecn::Ect1) };
    (0..20).for_each(|_| dual.enqueue(ms(0), half, &mut rng(), &mut Log::default()));
    let mut left = || dual.dequeue(ms(0), &mut rng(), &mut Log::default()).unwrap().packet.ecn;
    let served: Vec<Ecn> = (0..18).map(|_| left()).collect();
    assert_eq!((&served[..17], served[17]), (&[Ecn::Ect1; 17][..], Ecn::Ect0));
}

/// Linux sch_dualpi2.c, dualpi2_qdisc_dequeue: the credit changes after the verdict.
#[test]
fn linux_gives_no_credit_for_what_it_drops() {
    let mut dual = dual("linux");
    dual.signals.base_prob = 1.0;
    offer(&mut dual, ms(0), Ecn::Ect1, 5);
    offer(&mut dual, ms(0), Ecn::Ect0, 5);
    let mut log = Log::default();
    assert!(dual.dequeue(ms(0), &mut rng(), &mut log).is_some());
    assert_eq!(log.dropped.len(), 8);
    assert_eq!(dual.scheduler.credit, dual.scheduler.at_rest);
}

/// RFC 9332 Appendix A, pass 2, written out with its own lists.
struct Literal {
    low: VecDeque<(Time, Numbered)>,
    classic: VecDeque<(Time, Numbered)>,
    base: f64,
    old: f64,
    counters: [f64; 3],
    credit: f64,
}

impl Literal {
    fn new() -> Literal {
        let (low, classic) = (VecDeque::new(), VecDeque::new());
        let credit = 1514.0 * (1.0 / 16.0 - 15.0 / 16.0);
        Literal { low, classic, base: 0.0, old: 0.0, counters: [0.0; 3], credit }
    }

    fn update(&mut self, now: Time) {
        let age = |queue: &VecDeque<(Time, Numbered)>| {
            queue.front().map_or(0.0, |&(t, _)| now.since(t).as_secs())
        };
        let cur = age(&self.classic).max(age(&self.low));
        self.base += 0.16 * (cur - 0.015) + 3.2 * (cur - self.old);
        self.base = self.base.clamp(0.0, 1.0);
        self.old = cur;
    }

    fn recur(&mut self, which: usize, likelihood: f64) -> bool {
        self.counters[which] += likelihood;
        if self.counters[which] > 1.0 + 1e-12 {
            self.counters[which] -= 1.0;
            return true;
        }
        false
    }

    /// (number, marked) of the departing packet; records the dropped ones.
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<u64>) -> Option<(u64, bool)> {
        while self.low.len() + self.classic.len() > 0 {
            let low_turn = !self.low.is_empty() && (self.classic.is_empty() || self.credit <= 0.0);
            let (coupled, squared) = (2.0 * self.base, self.base * self.base);
            if low_turn {
                let (at, packet) = self.low.pop_front().unwrap();
                if !self.classic.is_empty() {
                    self.credit += f64::from(packet.bytes) / 16.0;
                }
                let waited = now.since(at).as_secs();
                if coupled < 1.0 {
                    let native = match waited {
                        _ if self.low.len() <= 1 => 0.0,
                        w if w >= 0.0012 => 1.0,
                        w if w > 0.0008 => (w - 0.0008) / 0.0004,
                        _ => 0.0,
                    };
                    return Some((packet.id, self.recur(0, native.max(coupled))));
                }
                if self.recur(1, squared) {
                    dropped.push(packet.id);
                    continue;
                }
                return Some((packet.id, self.recur(0, 1.0)));
            }
            let (_, packet) = self.classic.pop_front().unwrap();
            if !self.low.is_empty() {
                self.credit -= f64::from(packet.bytes) * 15.0 / 16.0;
            }
            if self.recur(2, squared) {
                if packet.ecn == Ecn::NotEct || squared >= 0.25 {
                    dropped.push(packet.id);
                    continue;
                }
                return Some((packet.id, true));
            }
            return Some((packet.id, false));
        }
        self.credit = 1514.0 * (1.0 / 16.0 - 15.0 / 16.0);
        None
    }
}

/// Compares with the literal form of the RFC, packet by packet over random traffic.
#[test]
fn the_discipline_does_what_the_literal_form_of_the_rfc_does() {
    let (mut fates, mut signalled) = (0, 0);
    for seed in 0..20 {
        let mut chance = Rng::stream(seed, "oracle", 0);
        let (mut dual, mut literal) = (dual("rfc9332"), Literal::new());
        let (mut now, mut alarm) = (0, ms(16));
        for id in 0..20_000 {
            now += chance.below(1_000_000);
            while alarm.as_nanos() <= now {
                dual.on_timer(alarm);
                literal.update(alarm);
                alarm += Span::from_millis(16);
            }
            let at = Time::from_nanos(now);
            let load = [0.7, 0.5, 0.3, 0.5][(id / 2_500) as usize % 4];
            if chance.uniform() < load && dual.total().packets < 9_000 {
                let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][chance.below(3) as usize];
                let bytes = [100, 1514][chance.below(2) as usize];
                let packet = Numbered { bytes, ..packet(id, ecn) };
                dual.enqueue(at, packet, &mut rng(), &mut Log::default());
                let queue = if ecn == Ecn::Ect1 { &mut literal.low } else { &mut literal.classic };
                queue.push_back((at, packet));
                continue;
            }
            let (mut log, mut dropped) = (Log::default(), Vec::new());
            let left = dual.dequeue(at, &mut rng(), &mut log).map(|departure| departure.packet);
            let expected = literal.dequeue(at, &mut dropped);
            assert_eq!(left.map(|p| (p.id, p.ecn == Ecn::Ce)), expected, "seed {seed}, {id}");
            assert_eq!(log.dropped_ids(), dropped, "seed {seed}, {id}");
            fates += 1;
            signalled += log.marked.len() + dropped.len();
        }
        assert_eq!(dual.signals.base_prob, literal.base);
    }
    assert!(fates > 150_000 && signalled > 20_000, "{fates} {signalled}");
}

/// RFC 9332 A.1: an arrival must leave room for an MTU.
#[test]
fn a_limit_in_bytes_keeps_room_for_a_largest_packet() {
    let mut params = DualPi2Params::of_dialect("rfc9332").unwrap();
    params.set("limit", "3028B").unwrap();
    let mut dual = DualQueue::<Numbered>::new(&params, &env());
    let mut log = Log::default();
    for (id, bytes) in [(1, 100), (2, 1414), (3, 60)] {
        let packet = Numbered { bytes, ..packet(id, Ecn::Ect0) };
        dual.enqueue(ms(0), packet, &mut rng(), &mut log);
    }
    assert!(log.dropped.is_empty(), "1514 wait and 1514 fit");
    dual.enqueue(ms(0), packet(4, Ecn::Ect0), &mut rng(), &mut log);
    assert_eq!(log.dropped_ids(), [4]);
}

/// The verdicts on 200 ECT heads of a queue at a base probability, as (drops, marks).
fn fates(params: &DualPi2Params, place: Place, base_prob: f64) -> (usize, usize) {
    let mut signals = DualQueue::<Numbered>::new(params, &env()).signals;
    signals.base_prob = base_prob;
    let mut rng = rng();
    let ecn = if place == Place::Low { Ecn::Ect1 } else { Ecn::Ect0 };
    let verdicts: Vec<Verdict> = (0..200)
        .map(|_| {
            let head = Head { bytes: 1514, ecn, enqueued: ms(10) };
            signals.judge(place, ms(10), head, full_packets(9), 1, &mut rng)
        })
        .collect();
    let count = |wanted: fn(&Verdict) -> bool| verdicts.iter().filter(|v| wanted(v)).count();
    (count(|v| matches!(v, Verdict::Drop(_))), count(|v| matches!(v, Verdict::Mark(_))))
}

/// Overload protection, RFC 9332 §4.2.3 and Appendix A.2: below saturation both queues mark ECT
/// packets; from p_C = 1/k^2 (k p' = 1) on, both drop them with equal probability and mark the
/// rest. Linux draws at random, and starts above that point.
#[test]
fn saturation_drops_ect_packets() {
    for dialect in ["rfc9332", "linux"] {
        let params = DualPi2Params::of_dialect(dialect).unwrap();
        let (drops, marks) = fates(&params, Place::Classic, 0.45);
        assert!(drops == 0 && marks > 20, "{dialect}: {drops} {marks}");
        let (drops, marks) = fates(&params, Place::Low, 0.45);
        assert!(drops == 0 && marks > 160, "{dialect}: {drops} {marks}");
        let (drops, marks) = fates(&params, Place::Classic, 0.8);
        assert!(drops > 100 && marks == 0, "{dialect}: {drops} {marks}");
        let (drops, marks) = fates(&params, Place::Low, 0.8);
        assert!(drops > 100 && drops + marks >= 199, "{dialect}: {drops} {marks}");
    }
    let params = DualPi2Params::of_dialect("rfc9332").unwrap();
    assert!(fates(&params, Place::Classic, 0.5).0 > 0, "p_C = p_Cmax saturates");
    let params = DualPi2Params::of_dialect("linux").unwrap();
    assert_eq!(fates(&params, Place::Classic, 0.5).0, 0, "Linux: only k p' > 1 does");
}

/// RFC 9332 §4.2.3: without drops on overload p' stops at 1/k, and the limit bounds the queue.
#[test]
fn without_drops_on_overload_everything_is_marked_at_saturation() {
    for dialect in ["rfc9332", "linux"] {
        let mut params = DualPi2Params::of_dialect(dialect).unwrap();
        params.set("drop_overload", "false").unwrap();
        let mut signals = DualQueue::<Numbered>::new(&params, &env()).signals;
        (0..2_000).for_each(|_| signals.update(Span::from_secs(1)));
        assert_near(signals.base_prob, 0.5, 1e-6);
        assert_eq!(fates(&params, Place::Classic, signals.base_prob).0, 0, "{dialect}");
        let (drops, marks) = fates(&params, Place::Low, signals.base_prob);
        assert!(drops == 0 && marks >= 198, "{dialect}: {drops} {marks}");
    }
}

/// Linux `must_drop`: overload means k p' above 1, so at exactly 1 everything is marked.
#[test]
fn linux_drops_no_low_latency_packet_at_exactly_saturation() {
    let params = DualPi2Params::of_dialect("linux").unwrap();
    assert_eq!(fates(&params, Place::Low, 0.5), (0, 200));
}

/// A flood of ECT packets at 10 Mb/s, twenty times the capacity: the share of packets dropped, and
/// the utilisation of the link from 10 to 30 s.
fn flood(dialect: &str, ecn: [Ecn; 2]) -> (f64, f64) {
    const PACKET_NS: u64 = 1_211_200; // 1514 B
    const WINDOW: core::ops::Range<u64> = 10_000_000_000..30_000_000_000;
    let (mut dual, mut log, mut rng) = (dual(dialect), Log::default(), rng());
    let (mut arrival, mut departure, mut id) = (0, 0, 0);
    let (mut offered, mut sent, mut dropped_before) = (0, 0, 0);
    loop {
        let due = dual.next_timer().expect("it always has one").as_nanos();
        let now = arrival.min(departure).min(due);
        let (time, is_counted) = (Time::from_nanos(now), WINDOW.contains(&now));
        if now >= WINDOW.end {
            break;
        } else if now == due {
            dual.on_timer(time);
        } else if now == arrival {
            dual.enqueue(time, packet(id, ecn[id as usize % 2]), &mut rng, &mut log);
            (id, arrival) = (id + 1, arrival + PACKET_NS / 20);
            offered += u64::from(is_counted);
        } else if dual.dequeue(time, &mut rng, &mut log).is_some() {
            departure = now + PACKET_NS;
            sent += u64::from(is_counted);
        } else {
            departure = arrival;
        }
        if !is_counted {
            dropped_before = log.dropped.len();
        }
    }
    let dropped = (log.dropped.len() - dropped_before) as f64 / offered as f64;
    (dropped, (sent * PACKET_NS) as f64 / (WINDOW.end - WINDOW.start) as f64)
}

/// Fact qdisc-14.
#[test]
fn a_flood_into_both_queues_leaves_the_link_idle_by_the_rfc_and_not_in_linux() {
    let (dropped, used) = flood("rfc9332", [Ecn::Ect0, Ecn::Ect1]);
    assert_near(dropped, 0.959, 0.004);
    assert_near(used, 0.86, 0.04);
    for (dialect, ecn) in [
        ("rfc9332", [Ecn::Ect0; 2]),
        ("rfc9332", [Ecn::Ect1; 2]),
        ("linux", [Ecn::Ect0, Ecn::Ect1]),
    ] {
        let (dropped, used) = flood(dialect, ecn);
        assert_near(dropped, 0.95, 0.003);
        assert!(used > 0.999, "{dialect}: {used}");
    }
}
