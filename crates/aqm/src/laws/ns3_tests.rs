//! UseL4s and CeThreshold, common to ns-3's CoDel, COBALT and PIE: ns-3 3.44
//! `CoDelQueueDisc::DoDequeue`, `CobaltQueueDisc::CobaltShouldDrop`, `PieQueueDisc::DoEnqueue` and
//! `DoDequeue`.

use crate::law::{Aqm, Cause, Law, Verdict};
use crate::laws::{cobalt::Cobalt, codel::CoDel, pie::Pie, red::Red};
use crate::packet::{Ecn, Head};
use crate::rng::Rng;
use crate::testing::{full_packets, law_of, ms, var, waited};
use crate::time::Span;

const MARK: Verdict = Verdict::Mark(Cause::CeThreshold);
const L4S: [(&str, &str); 3] = [("l4s", "true"), ("ce_threshold", "1ms"), ("ecn", "true")];

/// The verdict on a packet that leaves between 1.000 s and 1.001 s.
fn leaves(law: &mut impl Aqm, ecn: Ecn, waited_for: Span) -> Verdict {
    let now = ms(1000);
    let head = Head { ecn, ..waited(now, waited_for) };
    law.on_dequeue(now, head, full_packets(100), &mut Rng::stream(1, "test", 0))
}

fn ect1_sees_the_threshold_alone<L: Law>() {
    let mut law: L = law_of("ns3", &L4S);
    let (below, above) = (Span::from_micros(990), Span::from_millis(2));
    for ecn in [Ecn::Ect1, Ecn::Ce] {
        assert_eq!(leaves(&mut law, ecn, below), Verdict::Pass, "{} {ecn:?}", L::NAME);
        assert_eq!(leaves(&mut law, ecn, above), MARK, "{} {ecn:?}", L::NAME);
    }
    for ecn in [Ecn::Ect0, Ecn::NotEct] {
        assert_eq!(leaves(&mut law, ecn, above), Verdict::Pass, "{} {ecn:?}", L::NAME);
    }
}

#[test]
fn with_l4s_the_threshold_marks_ect1_and_ce_and_nothing_else() {
    ect1_sees_the_threshold_alone::<CoDel>();
    ect1_sees_the_threshold_alone::<Cobalt>();
    ect1_sees_the_threshold_alone::<Pie>();
}

#[test]
fn without_l4s_the_threshold_of_cobalt_marks_whatever_can_be_marked() {
    let settings = [("ce_threshold", "1ms"), ("ecn", "true")];
    let mut law: Cobalt = law_of("ns3", &settings);
    let above = Span::from_millis(2);
    assert_eq!(leaves(&mut law, Ecn::Ect0, above), MARK);
    assert_eq!(leaves(&mut law, Ecn::NotEct, above), Verdict::Pass);
    assert_eq!(leaves(&mut law, Ecn::Ect0, Span::from_millis(1)), Verdict::Pass);
}

/// ns-3 3.44 `CobaltQueueDisc::InitializeParams`: the inverse root starts at 2^32 - 1 and
/// `m_dropNext` at 0, so a first packet above the target makes the next one due.
#[test]
fn a_fresh_cobalt_of_ns3_signals_the_second_packet_only_if_the_first_is_above_target() {
    let second = |first| {
        let mut law: Cobalt = law_of("ns3", &[]);
        leaves(&mut law, Ecn::NotEct, first);
        leaves(&mut law, Ecn::NotEct, Span::from_millis(6))
    };
    assert_eq!(second(Span::from_millis(6)), Verdict::Drop(Cause::Target));
    assert_eq!(second(Span::from_millis(5)), Verdict::Pass);
}

/// Fact ns3-1.
#[test]
fn the_blue_of_ns3_loses_its_pace_after_2_to_the_32_nanoseconds() {
    let moves = |dialect: &str, start: u64| {
        let mut law: Cobalt = law_of(dialect, &[]);
        for step in 0..8 {
            law.on_overflow(ms(start + step), full_packets(9));
        }
        var(&law, "blue_prob") * 256.0
    };
    assert_eq!((moves("ns3", 4000), moves("linux", 4000), moves("linux", 5000)), (2.0, 2.0, 2.0));
    assert_eq!(moves("ns3", 5000), 8.0);
}

/// ns-3 3.44 `RedQueueDisc::DoDequeue` sets `m_idleTime` at each call on an empty queue.
#[test]
fn the_idle_time_of_ns3_red_starts_at_the_last_look_and_of_others_at_the_first() {
    let average = |dialect: &str| {
        let settings = [("w_q", "0.5"), ("min_th", "50p"), ("max_th", "90p")];
        let mut red: Red = law_of(dialect, &settings);
        let mut rng = Rng::stream(1, "test", 0);
        red.on_enqueue(ms(1), waited(ms(1), Span::ZERO), full_packets(40), &mut rng);
        red.on_empty(ms(2));
        red.on_empty(ms(1000));
        red.on_enqueue(ms(1001), waited(ms(1001), Span::ZERO), full_packets(0), &mut rng);
        var(&red, "avg_queue")
    };
    assert!(average("floyd") < 1e-6 && average("ns3") > 1.0);
}

#[test]
fn pie_drops_no_ect1_early() {
    let judged = |ecn| {
        let mut pie = congested(&L4S[..1]);
        let head = Head { ecn, ..waited(ms(9000), Span::ZERO) };
        pie.on_enqueue(ms(9000), head, full_packets(100), &mut Rng::scripted(0.0))
    };
    assert_eq!(judged(Ecn::NotEct), Verdict::Drop(Cause::Random));
    assert_eq!((judged(Ecn::Ect1), judged(Ecn::Ce)), (Verdict::Pass, Verdict::Pass));
}

/// A PIE of ns-3 after five seconds of packets that have waited 100 ms.
fn congested(settings: &[(&str, &str)]) -> Pie {
    let mut pie: Pie = law_of("ns3", settings);
    let mut rng = Rng::scripted(0.999);
    for step in 0..333 {
        let now = ms(1000 + step * 15);
        let arrival = Head { ecn: Ecn::NotEct, ..waited(now, Span::ZERO) };
        pie.on_enqueue(now, arrival, full_packets(100), &mut rng);
        pie.on_dequeue(now, waited(now, Span::from_millis(100)), full_packets(100), &mut rng);
        pie.on_timer(now, full_packets(100));
    }
    assert!(var(&pie, "drop_prob") > 0.1);
    pie
}

/// ns-3 3.44 `PieQueueDisc::DoEnqueue`, `m_active`.
#[test]
fn an_active_threshold_keeps_pie_off_and_restarts_it() {
    let drops = |threshold| {
        let mut pie = congested(&[("active_threshold", threshold)]);
        let head = waited(ms(9000), Span::ZERO);
        let verdict = pie.on_enqueue(ms(9000), head, full_packets(100), &mut Rng::scripted(0.0));
        (verdict, var(&pie, "burst_allowance"))
    };
    assert_eq!(drops("101ms"), (Verdict::Pass, 0.0), "it never was on");
    assert_eq!(drops("100ms"), (Verdict::Drop(Cause::Random), 0.0), "on since the start");
    let mut pie: Pie = law_of("ns3", &[("active_threshold", "50ms")]);
    let (mut rng, now) = (Rng::scripted(0.999), ms(1000));
    pie.on_dequeue(now, waited(now, Span::from_millis(50)), full_packets(9), &mut rng);
    pie.on_enqueue(now, waited(now, Span::ZERO), full_packets(9), &mut rng);
    assert_eq!(var(&pie, "burst_allowance"), 0.15, "switched on with a fresh allowance");
}
