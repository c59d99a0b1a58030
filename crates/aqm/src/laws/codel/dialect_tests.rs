use alloc::vec::Vec;

use super::*;
use crate::law::Cause;
use crate::packet::Ecn;
use crate::params::Params;
use crate::testing::{at, drop_times, drops_in_call, full_packets, law_of, rng, var, waited};

const ABOVE: Span = Span::from_millis(20);
const BELOW: Span = Span::from_millis(1);
const TEXTS: [&str; 4] = ["rfc8289", "draft", "act", "act_pollere"];
const BUILDS: [&str; 2] = ["linux", "ns3"];

/// A law whose first packet was below target, so that all dialects start in the same state.
fn fresh(dialect: &str) -> CoDel {
    let mut codel = law_of(dialect, &[]);
    assert_eq!(drops_in_call(&mut codel, Time::from_nanos(1 << 29), BELOW), 0);
    codel
}

/// Fact aqm-13: the law dequeues every millisecond, below target from 1000 to 1100 ms.
#[test]
fn every_text_resumes_by_its_own_rule() {
    let rows: [(&str, u64, f64, [u64; 5]); 4] = [
        ("rfc8289", 1200, 26.0, [1220, 1239, 1258, 1277, 1295]),
        ("draft", 1200, 25.0, [1220, 1240, 1259, 1278, 1297]),
        ("act", 1120, 25.0, [1140, 1160, 1179, 1198, 1217]),
        ("act_pollere", 1120, 25.0, [1140, 1160, 1179, 1198, 1217]),
    ];
    let sojourn = |t| if (1_000_000..1_100_000).contains(&t) { BELOW } else { ABOVE };
    for (dialect, entry, count, following) in rows {
        let mut codel = fresh(dialect);
        let before = drop_times(&mut codel, (0, 1_001_000, 1000), sojourn);
        assert_eq!(before.last(), Some(&984_000), "{dialect}");
        assert_eq!((var(&codel, "dropping"), var(&codel, "count")), (0.0, 27.0), "{dialect}");
        let times = drop_times(&mut codel, (1_001_000, 1000 * entry + 1000, 1000), sojourn);
        assert_eq!(times, [1000 * entry], "{dialect}");
        assert_eq!(var(&codel, "count"), count, "{dialect}");
        let span = (1000 * entry + 1000, 1000 * following[4] + 1000, 1000);
        assert_eq!(drop_times(&mut codel, span, sojourn), following.map(|t| 1000 * t), "{dialect}");
    }
}

/// Fact aqm-12: all texts start with the same drops; with a strict comparison they start one call
/// later.
#[test]
fn drops_from_a_standing_queue_start_alike_in_every_text_and_a_call_later_in_the_builds() {
    for dialect in TEXTS {
        let times = drop_times(&mut fresh(dialect), (0, 690_000, 1000), |_| ABOVE);
        let millis: Vec<u64> = times.iter().map(|t| t / 1000).collect();
        let expected = [100, 200, 271, 329, 379, 424, 464, 502, 538, 571, 603, 633, 662, 689];
        assert_eq!(millis, expected, "{dialect}");
    }
    // In whole ticks, with 100 ticks between calls and an interval of exactly 1000 calls.
    for dialect in BUILDS {
        let mut codel: CoDel = law_of(dialect, &[("interval", "102400us")]);
        let first_drop = |codel: &mut CoDel| {
            (0..2000).find(|i| {
                let now = Time::from_nanos((1 << 30) + i * 102_400);
                drops_in_call(codel, now, ABOVE) > 0
            })
        };
        assert_eq!(first_drop(&mut codel), Some(1001), "{dialect}");
    }
}

/// Fact aqm-19: the gaps are 50.0 ms (second), 56.25 (third), 48.8 (fourth), then 44.15.
#[test]
fn builds_space_their_first_drops_by_the_newton_step() {
    for dialect in BUILDS {
        let mut codel: CoDel = law_of(dialect, &[]);
        let times = drop_times(&mut codel, (0, 430_000, 10), |_| ABOVE);
        let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]) as f64 / 1000.0).collect();
        for (gap, expected) in gaps.iter().zip([100.0, 50.0, 56.25, 48.78, 44.15]) {
            assert!((gap - expected).abs() < 0.025, "{dialect}: {gaps:?}");
        }
        assert_eq!(times.len(), 6, "{dialect}: {times:?}");
    }
}

/// Puts the law into the dropping state, lets it count to `count`, then leaves that state. Returns
/// the `drop_next` left behind. Uses the schedule of an exact square root.
fn leave_with_count(codel: &mut CoDel, count: u32) -> Time {
    let spacing = |n: u32| Span::from_nanos((1e8 / f64::from(n).sqrt()) as u64);
    drop_times(codel, (0, 100_001, 100_000), |_| ABOVE);
    let mut drop_next = at(100_000) + spacing(1);
    for n in 2..=count {
        assert_eq!(drops_in_call(codel, drop_next, ABOVE), 1);
        drop_next += spacing(n);
    }
    assert_eq!(drops_in_call(codel, drop_next, BELOW), 0);
    assert_eq!((var(codel, "dropping"), var(codel, "count")), (0.0, f64::from(count)));
    drop_next
}

/// Waits for a whole interval, enters the dropping state at `now`, and returns the count.
fn enter(codel: &mut CoDel, now: Time) -> f64 {
    let before = Time::from_nanos(now.as_nanos() - 100_000_000);
    assert_eq!(drops_in_call(codel, before, ABOVE), 0);
    assert_eq!(drops_in_call(codel, now, ABOVE), 1);
    var(codel, "count")
}

/// draft-nichols-tsvwg-codel-01 §4.5 resumes with count - 2 within 8 intervals.
#[test]
fn the_draft_resumes_two_below_within_8_intervals() {
    let count_after = |pause: Span| {
        let mut codel = fresh("draft");
        let drop_next = leave_with_count(&mut codel, 20);
        enter(&mut codel, drop_next + pause)
    };
    assert_eq!(count_after(Span::from_millis(500)), 18.0);
    assert_eq!(count_after(Span::from_nanos(799_999_999)), 18.0);
    assert_eq!(count_after(Span::from_millis(800)), 1.0);
    assert_eq!(count_after(Span::from_millis(1000)), 1.0);
}

/// Schwarzkopf et al. 2016 Listing 2, rounded down (fact aqm-18).
#[test]
fn act_takes_two_away_and_from_128_on_a_64th() {
    let map = [(2, 1), (3, 1), (10, 8), (100, 98), (128, 126), (129, 126), (130, 127)];
    for dialect in ["act", "act_pollere"] {
        for (count, resumed) in map.into_iter().chain([(200, 196), (300, 295), (1300, 1279)]) {
            let mut codel = fresh(dialect);
            let drop_next = leave_with_count(&mut codel, count);
            let after = enter(&mut codel, drop_next + Span::from_millis(200));
            assert_eq!(after, f64::from(resumed), "{dialect}: {count}");
        }
        let mut codel = fresh(dialect);
        let drop_next = leave_with_count(&mut codel, 100);
        assert_eq!(enter(&mut codel, drop_next + Span::from_millis(800)), 1.0, "{dialect}");
    }
}

/// Schwarzkopf, Veith and Menth 2016 §II-B: the wait is interval / sqrt(count), 10 ms with a last
/// count of 100.
#[test]
fn act_drops_again_after_interval_over_the_root_of_the_count_left_behind() {
    let wait = |dialect, pause_ms| {
        let mut codel = fresh(dialect);
        let start = leave_with_count(&mut codel, 100) + Span::from_millis(pause_ms);
        let call = |i: u64| start + Span::from_micros(100 * i);
        (0..2000u64).find(|&i| drops_in_call(&mut codel, call(i), ABOVE) > 0).unwrap() / 10
    };
    assert_eq!(wait("act", 100), 10);
    assert_eq!(wait("act_pollere", 100), 10);
    assert_eq!(wait("draft", 100), 100);
    assert_eq!(wait("rfc8289", 100), 100);
    // The paper's prose (§II-B) always shortens the wait, Pollere's code only within 8 intervals.
    assert_eq!(wait("act", 900), 10);
    assert_eq!(wait("act_pollere", 900), 100);
}

/// RFC 8289 §5.5 compared with Schwarzkopf, Veith and Menth 2016 Listing 1: the second packet of
/// the call is below target.
#[test]
fn the_drop_that_ends_a_dropping_state_counts_in_the_rfc_only() {
    for (dialect, count) in [("rfc8289", 2.0), ("draft", 1.0), ("act", 1.0), ("act_pollere", 1.0)] {
        let mut codel = fresh(dialect);
        drop_times(&mut codel, (0, 100_001, 100_000), |_| ABOVE);
        let now = at(200_000);
        let mut judge =
            |sojourn| codel.on_dequeue(now, waited(now, sojourn), full_packets(1000), &mut rng());
        assert_eq!(judge(ABOVE), Verdict::Drop(Cause::Target));
        assert_eq!(judge(BELOW), Verdict::Pass);
        assert_eq!((var(&codel, "dropping"), var(&codel, "count")), (0.0, count), "{dialect}");
    }
}

/// Schwarzkopf, Veith and Menth 2016, Listings 1 and 2, compared over random sojourn times with
/// pauses.
#[test]
fn act_is_the_draft_until_it_enters_the_dropping_state_again() {
    let mut chance = Rng::stream(9, "act", 7);
    for _ in 0..50 {
        let (mut act, mut draft) = (fresh("act"), fresh("draft"));
        let (mut now, mut entries) = (at(0), 0);
        while entries < 2 {
            now += Span::from_micros(chance.below(3000));
            let sojourn = if chance.below(400) == 0 { BELOW } else { ABOVE };
            let was_dropping = var(&draft, "dropping");
            let drops = [&mut act, &mut draft].map(|codel| drops_in_call(codel, now, sojourn));
            entries += u32::from(var(&act, "dropping") > was_dropping);
            assert!(entries >= 2 || drops[0] == drops[1], "entry {entries}");
        }
    }
}

/// Pollere's ns-2 `codel.cc` of July 2012 starts with a `first_above_time_` in the past.
#[test]
fn the_very_first_packet_may_be_dropped_at_once_by_pollere() {
    let at_once = |dialect| drops_in_call(&mut law_of::<CoDel>(dialect, &[]), at(0), ABOVE);
    assert_eq!((at_once("act_pollere"), at_once("act")), (1, 0));
}

/// RFC 8289 §5.6 and Linux 6.1.192 `codel_impl.h`, `codel_dequeue`, clear `first_above_time` where
/// the queue is found empty; ns-3 `DoDequeue` returns earlier.
#[test]
fn an_empty_queue_restarts_the_interval_everywhere_but_in_ns3() {
    for dialect in TEXTS.iter().chain(&BUILDS) {
        let mut codel = fresh(dialect);
        drops_in_call(&mut codel, at(0), ABOVE);
        codel.on_empty(at(50_000));
        let drops = drops_in_call(&mut codel, at(101_000), ABOVE);
        assert_eq!(drops == 1, *dialect == "ns3", "{dialect}");
    }
}

/// Fact aqm-132.
#[test]
fn codel_of_linux_5_10_keeps_first_above_where_the_queue_is_empty() {
    let drops = |kernel| {
        let mut codel: CoDel = law_of("linux", &[("kernel", kernel)]);
        drops_in_call(&mut codel, at(0), ABOVE);
        codel.on_empty(at(50_000));
        drops_in_call(&mut codel, at(101_000), ABOVE)
    };
    assert_eq!(["linux-5.10", "linux-6.1", "linux-7.2"].map(drops), [1, 0, 0]);
}

/// The number of drops in a call that comes 20 ms late, when drops are due every 200 us or less,
/// and the time of the next drop.
fn after_idle_time(kernel: &str) -> (usize, f64) {
    let settings = [("kernel", kernel), ("interval", "200us"), ("target", "100us")];
    let mut codel: CoDel = law_of("linux", &settings);
    for ms in 0..4 {
        drops_in_call(&mut codel, at(ms * 1_000), ABOVE);
    }
    (drops_in_call(&mut codel, at(23_000), ABOVE), var(&codel, "drop_next"))
}

/// Fact aqm-133.
#[test]
fn codel_of_linux_7_2_drops_at_most_256_at_a_departure_and_then_waits_from_there() {
    let (drops, next) = after_idle_time("linux-7.2");
    assert_eq!(drops, 256);
    let wait = next - at(23_000).as_secs();
    assert!(wait > 0.0 && wait < 0.000_2, "{wait}");
    let (drops, _) = after_idle_time("linux-6.1");
    assert!(drops > 1000, "{drops}");
}

/// Fact aqm-134.
#[test]
fn codel_of_linux_7_2_waits_a_tick_at_least() {
    let spacing = |kernel| {
        let settings = [("kernel", kernel), ("interval", "1.1us"), ("target", "1.1us")];
        let mut codel: CoDel = law_of("linux", &settings);
        drops_in_call(&mut codel, at(0), ABOVE);
        let entered = at(1_000);
        assert_eq!(drops_in_call(&mut codel, entered, ABOVE), 1);
        (var(&codel, "drop_next") * 1e9 / 1024.0).round() as u64 - (entered.as_nanos() >> 10)
    };
    assert_eq!(["linux-6.1", "linux-7.2"].map(spacing), [0, 1]);
}

/// Linux `codel_should_drop` tests `<=` 1514 B on the link; ns-3 `OkToDrop` tests `<` 1500 B in the
/// queue.
#[test]
fn builds_exempt_a_packet_by_their_own_tests() {
    let exempts = |dialect: &str, queue: Backlog| {
        let mut codel = fresh(dialect);
        (0..400).all(|i| {
            let now = at(i * 1_000);
            codel.on_dequeue(now, waited(now, ABOVE), queue, &mut rng()) == Verdict::Pass
        })
    };
    let queue = |bytes, link_bytes| Backlog { packets: 1, bytes, link_bytes };
    assert!(exempts("linux", queue(1514, 1514)) && !exempts("linux", queue(0, 1515)));
    assert!(exempts("ns3", queue(1499, 90_000)) && !exempts("ns3", queue(1500, 1500)));
}

/// Marks at every call that signals; returns their times in microseconds.
fn mark_times(codel: &mut CoDel, (from, to, step): (u64, u64, u64)) -> Vec<u64> {
    let is_marked = |&t: &u64| {
        let head = crate::packet::Head { ecn: Ecn::Ect0, ..waited(at(t), ABOVE) };
        match codel.on_dequeue(at(t), head, full_packets(1000), &mut rng()) {
            Verdict::Pass => false,
            Verdict::Mark(_) => true,
            Verdict::Drop(_) => panic!("an ECN-capable packet was dropped"),
        }
    };
    (from..to).step_by(step as usize).filter(is_marked).collect()
}

/// Linux `codel_impl.h`, `codel_dequeue`: one mark per call, in place of a drop.
#[test]
fn with_ecn_nothing_is_dropped_in_any_dialect() {
    for dialect in CoDelParams::DIALECTS {
        let mut codel = law_of(dialect.name, &[("ecn", "true")]);
        let marks = mark_times(&mut codel, (0, 5_100_000, 100)).len();
        assert!((600..800).contains(&marks), "{}: {marks}", dialect.name);
    }
}

/// After a mark, ns-3 `DoDequeue` schedules from now, Linux `codel_dequeue` from `drop_next`.
#[test]
fn a_late_mark_delays_the_next_one_in_ns3_only() {
    let after_late = |dialect| {
        let mut codel = law_of(dialect, &[("ecn", "true")]);
        let entry = *mark_times(&mut codel, (0, 110_000, 10)).last().expect("it enters");
        // The mark was due after 100 ms; the next call comes after 140 ms. The second spacing is 50
        // ms.
        assert_eq!(mark_times(&mut codel, (entry + 140_000, entry + 140_010, 10)).len(), 1);
        mark_times(&mut codel, (entry + 140_010, entry + 250_000, 10))[0] - entry
    };
    let (linux, ns3) = (after_late("linux"), after_late("ns3"));
    assert!(linux.abs_diff(150_000) < 30, "{linux}");
    assert!(ns3.abs_diff(190_000) < 30, "{ns3}");
}

/// ns-3 `CoDelQueueDisc::DoDequeue` tests `m_useEcn &&`.
#[test]
fn ns3_marks_above_ce_threshold_only_with_ecn() {
    let marks = |dialect, ecn| {
        let mut codel: CoDel = law_of(dialect, &[("ce_threshold", "1ms"), ("ecn", ecn)]);
        let head = crate::packet::Head { ecn: Ecn::Ect1, ..waited(at(0), ABOVE) };
        codel.on_dequeue(at(0), head, full_packets(10), &mut rng()) != Verdict::Pass
    };
    assert!(marks("linux", "false") && marks("ns3", "true") && !marks("ns3", "false"));
}

/// Schwarzkopf, Veith and Menth 2016 §III: CoDel with a frozen count, in both kinds of arithmetic.
#[test]
fn a_frozen_count_drops_at_a_constant_rate() {
    let freezes = |name: &&str| !CoDelParams::unused(name).contains(&"count");
    for dialect in CoDelParams::DIALECTS.iter().map(|dialect| dialect.name).filter(freezes) {
        let mut codel: CoDel = law_of(dialect, &[("count", "25")]);
        drops_in_call(&mut codel, Time::from_nanos(1 << 29), BELOW);
        let times = drop_times(&mut codel, (0, 600_000, 10), |_| ABOVE);
        let gaps: Vec<u64> = times.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(gaps.iter().all(|gap| gap.abs_diff(20_000) <= 10), "{dialect}: {gaps:?}");
        assert!(gaps.len() > 20 && var(&codel, "count") == 25.0, "{dialect}");
    }
}

#[test]
fn counts_and_intervals_beyond_32_bits_are_refused() {
    let refusal = |text: &str| crate::QdiscSpec::parse(text).unwrap_err().message;
    assert!(refusal("codel:count=4294967296").contains("2^32"));
    assert!(refusal("codel@linux:interval=2200s").contains("2199s"));
    assert!(refusal("codel@ns3:interval=1us,target=1ns").contains("1.024us"));
    assert!(crate::QdiscSpec::parse("codel@rfc8289:interval=2200s").is_ok());
}

/// Shifts a run across the wrap of the clock: only differences of ticks matter.
#[test]
fn the_wrap_of_the_clock_at_32_bits_goes_unnoticed() {
    let times = |start: u64| {
        let mut codel: CoDel = law_of("linux", &[]);
        let call = |i: u64| Time::from_nanos(start + (i << 20));
        let drops = |i: &u64| drops_in_call(&mut codel, call(*i), ABOVE) > 0;
        (0..2000).filter(drops).collect::<Vec<u64>>()
    };
    let wrap = 1u64 << 42;
    assert_eq!(times(1 << 30), times(wrap - (700 << 20)));
}

#[test]
fn target_may_equal_interval_as_khademi_et_al_2013_ran_it_but_not_exceed_it() {
    assert!(crate::QdiscSpec::parse("codel:target=5ms,interval=5ms").is_ok());
    let refused = crate::QdiscSpec::parse("codel:target=6ms,interval=5ms").unwrap_err().message;
    assert!(refused.contains("target `6ms` must be at most interval `5ms`"), "{refused}");
}

/// Linux `sch_fq_codel.c`, `fq_codel_drop`; a frozen count stays.
#[test]
fn packets_dropped_in_an_overload_are_counted_in_linux_only() {
    let count_after = |dialect, settings: &[(&str, &str)]| {
        let mut codel: CoDel = law_of(dialect, settings);
        (0..3).for_each(|_| codel.on_eviction(at(0), full_packets(9)));
        var(&codel, "count")
    };
    assert_eq!((count_after("linux", &[]), count_after("ns3", &[])), (3.0, 0.0));
    assert_eq!(count_after("rfc8289", &[]), 0.0);
    assert_eq!(count_after("linux", &[("count", "25")]), 0.0);
}

/// Linux `codel_impl.h`, `codel_dequeue`: 16 intervals have passed since the machine started.
#[test]
fn packets_lost_to_an_overload_do_not_count_when_the_queue_has_never_dropped() {
    let mut codel: CoDel = law_of("linux", &[]);
    (0..30).for_each(|_| codel.on_eviction(at(0), full_packets(9)));
    drop_times(&mut codel, (0, 102_000, 1000), |_| ABOVE);
    assert_eq!((var(&codel, "dropping"), var(&codel, "count")), (1.0, 1.0));
}

/// Linux `codel.h`: times are whole ticks; `ce_threshold` is 976 ticks, strictly exceeded by 977.
#[test]
fn builds_measure_the_sojourn_time_in_ticks() {
    let marked = |ticks: u64| {
        let mut codel: CoDel = law_of("linux", &[("ce_threshold", "1ms")]);
        let head = crate::packet::Head {
            ecn: Ecn::Ect0,
            ..waited(Time::from_nanos(1 << 30), Span::from_nanos(ticks << 10))
        };
        let verdict =
            codel.on_dequeue(Time::from_nanos(1 << 30), head, full_packets(9), &mut rng());
        assert_eq!(var(&codel, "sojourn"), (ticks << 10) as f64 / 1e9);
        verdict == Verdict::Mark(Cause::CeThreshold)
    };
    assert!(!marked(976) && marked(977));
}

/// Linux `codel_impl.h`, `codel_dequeue`: a queue emptied by drops leaves the dropping state,
/// unless the drop has just entered it.
#[test]
fn a_queue_emptied_by_drops_leaves_the_dropping_state() {
    for dialect in BUILDS {
        for (until, now, dropping) in [(100_000, 110_000, 1.0), (150_000, 220_000, 0.0)] {
            let mut codel = fresh(dialect);
            drop_times(&mut codel, (0, until, 1000), |_| ABOVE);
            let head = waited(at(now), ABOVE);
            let verdict = codel.on_dequeue(at(now), head, full_packets(9), &mut rng());
            assert_eq!(verdict, Verdict::Drop(Cause::Target), "{dialect}");
            codel.on_empty(at(now));
            assert_eq!(var(&codel, "dropping"), dropping, "{dialect}");
        }
    }
}

/// FreeBSD `aqm_codel_enqueue`: the largest packet so far, at least 500 bytes.
#[test]
fn freebsd_spares_a_backlog_up_to_its_largest_packet() {
    let dropped = |largest: u32| {
        let mut codel: CoDel = law_of("freebsd", &[]);
        let head = |now| Head { bytes: largest, ..waited(now, ABOVE) };
        codel.on_enqueue(at(0), head(at(0)), full_packets(0), &mut rng());
        (0..300).any(|i| {
            let now = at(1000 * i);
            let behind = crate::testing::bytes(1000);
            codel.on_dequeue(now, head(now), behind, &mut rng()) != Verdict::Pass
        })
    };
    assert_eq!([400, 999, 1000].map(dropped), [true, true, false]);
}
