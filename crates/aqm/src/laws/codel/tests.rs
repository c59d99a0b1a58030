use alloc::vec::Vec;

use super::*;
use crate::law::Cause;
use crate::packet::Ecn;
use crate::qdisc::Qdisc;
use crate::qdiscs::fifo::Fifo;
use crate::testing::{
    Log, Numbered, arrival, at, drop_times, drops_in_call, full_packets, law, ms, rng, var, waited,
};
use crate::units::Limit;

const ABOVE: Span = Span::from_millis(20);
const BELOW: Span = Span::from_millis(1);

fn codel() -> CoDel {
    law(&[])
}

/// RFC 8289 §5.6.
#[test]
fn first_drop_comes_at_the_first_dequeue_a_whole_interval_after_the_first_above_target() {
    let times = drop_times(&mut codel(), (300, 100_400, 100), |_| ABOVE);
    assert_eq!(times, [100_300]);
}

/// RFC 8289 §5.6, `control_law`: drop n + 1 comes interval / sqrt(n) after drop n.
#[test]
fn drop_n_plus_1_follows_drop_n_by_interval_over_sqrt_n() {
    let times = drop_times(&mut codel(), (0, 464_100, 100), |_| ABOVE);
    let after_first: Vec<u64> = times.iter().map(|t| t - times[0]).collect();
    assert_eq!(after_first, [0, 100_000, 170_800, 228_500, 278_500, 323_200, 364_000]);
}

/// RFC 8289 §5.6, summed.
#[test]
fn thirty_three_drops_in_the_first_second_and_662_in_five() {
    let times = drop_times(&mut codel(), (0, 5_100_100, 100), |_| ABOVE);
    let within = |span| times.iter().filter(|&&t| t <= times[0] + span).count();
    assert_eq!((within(1_000_000), within(5_000_000)), (33, 662));
}

/// RFC 8289 §5.6 compares with `<`.
#[test]
fn a_sojourn_of_exactly_target_counts_as_above() {
    let target = Span::from_millis(5);
    assert_eq!(drop_times(&mut codel(), (0, 100_100, 100), |_| target), [100_000]);
    let less = Span::from_nanos(4_999_999);
    assert!(drop_times(&mut codel(), (0, 300_000, 100), |_| less).is_empty());
}

/// RFC 8289 §5.6: `first_above_time_` is cleared.
#[test]
fn one_packet_below_target_starts_a_new_interval() {
    let dip = |t| if t == 99_000 { BELOW } else { ABOVE };
    assert_eq!(drop_times(&mut codel(), (0, 199_200, 100), dip), [199_100]);
}

/// RFC 8289 §4.4 and §5.6 compare the backlog of the whole link, after removal, with `<=`.
#[test]
fn nothing_is_dropped_while_at_most_an_mtu_stays_behind_on_the_link() {
    let stays = |bytes: u64, link_bytes: u64| {
        let mut codel = codel();
        let queue = Backlog { packets: 1, bytes, link_bytes };
        (0..400).all(|i| {
            let now = at(i * 1_000);
            codel.on_dequeue(now, waited(now, ABOVE), queue, &mut rng()) == Verdict::Pass
        })
    };
    assert!(stays(1514, 1514));
    assert!(!stays(1515, 1515));
    assert!(!stays(0, 1515), "another queue's packets count");
}

/// RFC 8289 §4.4 and §5.6.
#[test]
fn the_last_packet_is_never_dropped_however_long_it_waited() {
    let mut fifo = Fifo::new(codel(), Limit::Packets(10));
    let mut log = Log::default();
    for id in 0..1000 {
        let now = ms(20 * id);
        fifo.enqueue(now, Numbered::new(id, 0, 1514), &mut rng(), &mut log);
        assert!(fifo.dequeue(now + ABOVE, &mut rng(), &mut log).is_some());
    }
    assert!(log.dropped.is_empty());
}

/// Puts the law into the dropping state at `at(100_000)`, lets it drop until `count`, then leaves
/// that state. Returns the `drop_next` left behind.
fn leave_with_count(codel: &mut CoDel, count: u32) -> Time {
    let interval = 100_000_000.0;
    let spacing = |n: u32| Span::from_nanos((interval / f64::from(n).sqrt()) as u64);
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

/// Enters the dropping state at `now`.
fn enter(codel: &mut CoDel, now: Time) -> f64 {
    let before = Time::from_nanos(now.as_nanos() - 100_000_000);
    assert_eq!(drops_in_call(codel, before, ABOVE), 0);
    assert_eq!(drops_in_call(codel, now, ABOVE), 1);
    var(codel, "count")
}

/// RFC 8289 §5.5: count - lastcount, within 16 intervals.
#[test]
fn count_resumes_where_it_worked_within_16_intervals_of_the_next_drop() {
    let count_after = |pause: Span| {
        let mut codel = codel();
        let drop_next = leave_with_count(&mut codel, 20);
        enter(&mut codel, drop_next + pause)
    };
    assert_eq!(count_after(Span::from_millis(500)), 19.0);
    assert_eq!(count_after(Span::from_millis(1000)), 19.0);
    assert_eq!(count_after(Span::from_nanos(1_599_999_999)), 19.0);
    assert_eq!(count_after(Span::from_millis(1600)), 1.0);
}

/// RFC 8289 §5.5: a delta of 0 gives a count of 1.
#[test]
fn a_dropping_state_with_a_single_drop_leaves_nothing_to_resume() {
    let mut codel = codel();
    let drop_next = leave_with_count(&mut codel, 1);
    assert_eq!(enter(&mut codel, drop_next + Span::from_millis(200)), 1.0);
}

/// RFC 8289 §5.5: the packet after the entering drop is sent regardless of its sojourn time; after
/// any other drop the schedule decides again.
#[test]
fn a_late_call_may_drop_several_packets_but_the_entering_one_drops_one() {
    let mut codel = codel();
    assert_eq!(drops_in_call(&mut codel, at(0), ABOVE), 0);
    assert_eq!(drops_in_call(&mut codel, at(900_000), ABOVE), 1);
    // The drops are due at +100.0, +170.7, +228.5 and +278.5 ms after the first.
    assert_eq!(drops_in_call(&mut codel, at(1_150_000), ABOVE), 3);
}

/// Linux `codel_impl.h`, `codel_dequeue`: one mark per call, in place of a drop.
#[test]
fn with_ecn_each_call_marks_at_most_once_and_nothing_is_dropped() {
    let mut codel: CoDel = law(&[("ecn", "true")]);
    let mut marks = 0;
    for i in 0..=51_000 {
        let now = at(i * 100);
        let head = Head { ecn: Ecn::Ect0, ..waited(now, ABOVE) };
        match codel.on_dequeue(now, head, full_packets(1000), &mut rng()) {
            Verdict::Pass => {}
            Verdict::Mark(cause) => marks += u32::from(cause == Cause::Target),
            Verdict::Drop(_) => panic!("an ECN-capable packet was dropped"),
        }
    }
    assert_eq!(marks, 662, "as many as there would be drops (RFC 8289 §5.6)");
}

/// Linux `codel_impl.h` marks any departing packet strictly above the threshold.
#[test]
fn ce_threshold_marks_every_packet_above_it_and_no_other() {
    let mut codel: CoDel = law(&[("ce_threshold", "1ms")]);
    let mut judge = |ecn, sojourn| {
        let head = Head { ecn, ..waited(at(0), sojourn) };
        codel.on_dequeue(at(0), head, full_packets(10), &mut rng())
    };
    let just_above = Span::from_nanos(1_000_001);
    assert_eq!(judge(Ecn::Ect1, just_above), Verdict::Mark(Cause::CeThreshold));
    assert_eq!(judge(Ecn::Ect1, Span::from_millis(1)), Verdict::Pass);
    assert_eq!(judge(Ecn::NotEct, just_above), Verdict::Pass);
}

/// RFC 8289 §5.4.
#[test]
fn overflow_and_arrivals_leave_the_state_alone() {
    let mut codel = codel();
    leave_with_count(&mut codel, 3);
    let before = alloc::format!("{codel:?}");
    codel.on_overflow(at(0), full_packets(1000));
    codel.on_enqueue(at(0), arrival(at(0), Ecn::NotEct), full_packets(1000), &mut rng());
    assert_eq!(alloc::format!("{codel:?}"), before);
}

/// RFC 8289 §5.5 and §5.6: without a packet, the sojourn time counts as not above target.
#[test]
fn an_empty_queue_ends_the_interval_and_the_dropping_state() {
    let mut codel = codel();
    drop_times(&mut codel, (0, 50_001, 50_000), |_| ABOVE);
    codel.on_empty(at(60_000));
    assert_eq!(drop_times(&mut codel, (60_000, 160_001, 50_000), |_| ABOVE), [160_000]);
    codel.on_empty(at(170_000));
    assert_eq!(var(&codel, "dropping"), 0.0);
}

/// Fact aqm-12.
#[test]
fn drops_from_a_standing_queue_come_at_the_computed_times() {
    let mut codel = codel();
    let times: Vec<u64> =
        drop_times(&mut codel, (0, 690_000, 1000), |_| ABOVE).iter().map(|t| t / 1000).collect();
    assert_eq!(times, [100, 200, 271, 329, 379, 424, 464, 502, 538, 571, 603, 633, 662, 689]);
}

/// Fact aqm-12: the drops are at 100, 200 and 271 ms.
#[test]
fn the_next_drop_comes_when_the_state_variable_says() {
    let mut codel = codel();
    assert_eq!(var(&codel, "drop_next"), 0.0);
    drop_times(&mut codel, (0, 150_000, 1000), |_| ABOVE);
    assert_eq!(var(&codel, "drop_next"), at(200_000).as_secs());
    drop_times(&mut codel, (150_000, 250_000, 1000), |_| ABOVE);
    let late = var(&codel, "drop_next") - at(270_711).as_secs();
    assert!(late.abs() < 1e-6, "{late}");
}

/// Fact aqm-13.
#[test]
fn after_a_pause_the_count_resumes_and_the_next_drops_follow_from_it() {
    let mut codel = codel();
    let sojourn = |t| if (1_000_000..1_100_000).contains(&t) { BELOW } else { ABOVE };
    let before = drop_times(&mut codel, (0, 1_000_000, 1000), sojourn);
    assert_eq!(before.last(), Some(&984_000));
    assert_eq!(var(&codel, "count"), 27.0);
    assert_eq!(drop_times(&mut codel, (1_000_000, 1_201_000, 1000), sojourn), [1_200_000]);
    assert_eq!(var(&codel, "count"), 26.0);
    let after = drop_times(&mut codel, (1_201_000, 1_296_000, 1000), sojourn);
    assert_eq!(after, [1_220_000, 1_239_000, 1_258_000, 1_277_000, 1_295_000]);
}
