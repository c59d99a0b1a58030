use alloc::vec::Vec;

use super::*;
use crate::packet::Ecn;
use crate::testing::{
    arrival, bytes, env, full_packets, law, law_of, law_of_in, learn_rate, ms, var, waited,
};
use crate::time::Span;
use crate::units::Limit;

const DETERMINISTIC: Verdict = Verdict::Drop(Cause::DelayBound);
/// The probability cannot move.
const FROZEN: [(&str, &str); 2] = [("alpha", "0hz"), ("beta", "0hz")];

/// A MADPIE that has used up its burst allowance and measured its departure rate, 1 MB/s. Its next
/// timer is `settled_at()`.
fn settled(settings: &[(&str, &str)]) -> Madpie {
    let mut madpie: Madpie = law(settings);
    judge(&mut madpie, 0.5, Ecn::NotEct);
    for i in 1..settled_at().as_nanos() / 30_000_000 {
        madpie.on_timer(ms(30 * i), bytes(20_000));
    }
    learn_rate(|now, head, queue| {
        madpie.on_dequeue(now, head, queue, &mut Rng::scripted(0.5));
    });
    assert_eq!(var(&madpie, "burst_allowance"), 0.0);
    assert_eq!(madpie.next_timer(), Some(settled_at()));
    madpie
}

fn settled_at() -> Time {
    ms(300)
}

/// Runs a timer at a delay of `delay_ms`.
fn tick(madpie: &mut Madpie, delay_ms: u64) {
    madpie.on_timer(madpie.next_timer().unwrap(), bytes(delay_ms * 1000));
}

fn judge(madpie: &mut Madpie, u: f64, ecn: Ecn) -> Verdict {
    let now = Time::ZERO;
    madpie.on_enqueue(now, arrival(now, ecn), full_packets(50), &mut Rng::scripted(u))
}

/// Offers `n` arrivals that PIE lets pass; returns which are dropped deterministically.
fn dropped_of(madpie: &mut Madpie, n: usize) -> Vec<usize> {
    (0..n).filter(|_| judge(madpie, 0.999_999, Ecn::NotEct) == DETERMINISTIC).collect()
}

/// Kuhn and Ros 2016 §II, with p held at 0.
#[test]
fn exactly_the_next_arrival_is_dropped_after_a_timer_above_the_bound() {
    let mut madpie = settled(&FROZEN);
    for _ in 0..3 {
        tick(&mut madpie, 40);
        assert_eq!(dropped_of(&mut madpie, 100), [0]);
    }
}

/// Kuhn and Ros 2016 §II: one drop per update of 30 ms makes 33.3 per second.
#[test]
fn ten_updates_above_the_bound_give_ten_deterministic_drops() {
    let mut madpie = settled(&FROZEN);
    let mut drops = 0;
    for _ in 0..10 {
        tick(&mut madpie, 40);
        drops += dropped_of(&mut madpie, 30).len();
    }
    assert_eq!(drops, 10);
    let span = madpie.next_timer().unwrap().since(settled_at()).as_secs();
    assert!((10.0 / span - 33.3).abs() < 0.1, "at most one per tupdate");
}

/// Kuhn and Ros 2016 §II: the flag applies only to packets that PIE does not drop.
#[test]
fn a_random_drop_leaves_the_deterministic_one_due() {
    let mut madpie = settled(&[]);
    (0..50).for_each(|_| tick(&mut madpie, 40));
    assert!(var(&madpie, "drop_prob") > 0.01);
    assert_eq!(judge(&mut madpie, 0.0, Ecn::NotEct), Verdict::Drop(Cause::Random));
    assert_eq!(judge(&mut madpie, 0.999, Ecn::NotEct), DETERMINISTIC);
    assert_eq!(judge(&mut madpie, 0.999, Ecn::NotEct), Verdict::Pass);
}

/// Kuhn and Ros 2016 §II tests strictly above.
#[test]
fn a_delay_of_exactly_the_bound_is_not_above_it() {
    let mut madpie = settled(&FROZEN);
    tick(&mut madpie, 25);
    assert_eq!(dropped_of(&mut madpie, 10), [0; 0]);
    madpie.on_timer(madpie.next_timer().unwrap(), bytes(25_001));
    assert_eq!(dropped_of(&mut madpie, 10), [0]);
}

/// Kuhn and Ros 2016 §II.
#[test]
fn below_the_bound_it_is_pie_to_the_draw() {
    let mut madpie = settled(&[("ecn", "true")]);
    let mut pie = madpie.pie.clone();
    let mut chance = Rng::stream(16, "delays", 2);
    let (mut rng, mut pie_rng) = (Rng::stream(16, "madpie", 0), Rng::stream(16, "madpie", 0));
    let mut signals = 0;
    for i in 0..50_000 {
        let backlog = bytes(18_000 + chance.below(7_001)); // 18 to 25 ms
        if i % 20 == 0 {
            madpie.on_timer(madpie.next_timer().unwrap(), backlog);
            pie.update(backlog);
        }
        let head = arrival(Time::ZERO, [Ecn::NotEct, Ecn::Ect0][i % 2]);
        let verdict = madpie.on_enqueue(Time::ZERO, head, backlog, &mut rng);
        assert_eq!(verdict, pie.on_enqueue(Time::ZERO, head, backlog, &mut pie_rng));
        signals += usize::from(verdict != Verdict::Pass);
    }
    assert!(signals > 0, "there was something to compare");
}

/// Fact aqm-100.
#[test]
fn bursts_and_two_small_packets_are_exempt_and_the_drop_stays_due() {
    let mut madpie: Madpie = law(&FROZEN);
    madpie.is_drop_due = true;
    assert_eq!(judge(&mut madpie, 0.999, Ecn::NotEct), Verdict::Pass, "this one starts the burst");
    assert_eq!(judge(&mut madpie, 0.999, Ecn::NotEct), Verdict::Pass);
    let mut madpie = settled(&FROZEN);
    madpie.is_drop_due = true;
    let head = arrival(Time::ZERO, Ecn::NotEct);
    let mut with =
        |backlog| madpie.on_enqueue(Time::ZERO, head, bytes(backlog), &mut Rng::scripted(0.999));
    assert_eq!(with(2000), Verdict::Pass);
    assert_eq!(with(2001), DETERMINISTIC);
}

/// Fact aqm-100: the effect of the switch.
#[test]
fn a_deterministic_drop_may_happen_in_a_burst_and_never_in_a_nearly_empty_queue() {
    let mut madpie: Madpie = law(&[("deterministic_in_burst", "true")]);
    madpie.is_drop_due = true;
    judge(&mut madpie, 0.999, Ecn::NotEct);
    assert!(var(&madpie, "burst_allowance") > 0.0);
    let mut with = |backlog| {
        madpie.is_drop_due = true;
        let head = arrival(Time::ZERO, Ecn::NotEct);
        madpie.on_enqueue(Time::ZERO, head, bytes(backlog), &mut Rng::scripted(0.999))
    };
    assert_eq!(with(2000), Verdict::Pass);
    assert_eq!(with(2001), DETERMINISTIC);
}

/// Target, period, gains, burst and threshold come from the study; every other default is PIE's.
#[test]
fn every_dialect_of_pie_but_freebsds_is_one_of_madpie_with_its_defaults_and_refusals() {
    let names = PieParams::DIALECTS.iter().map(|dialect| dialect.name);
    let pies: Vec<_> = names.filter(|name| *name != "freebsd").collect();
    assert_eq!(MadpieParams::DIALECTS.len(), pies.len());
    for dialect in pies {
        let madpie = MadpieParams::of_dialect(dialect).expect("every dialect is there");
        let pie = PieParams::of_dialect(dialect).expect("it is listed");
        let studied = PieParams {
            target: madpie.target,
            tupdate: madpie.tupdate,
            alpha: madpie.alpha,
            beta: madpie.beta,
            max_burst: madpie.max_burst,
            dq_threshold: madpie.dq_threshold,
            ..pie
        };
        assert_eq!(
            alloc::format!("{:?}", madpie.pie()),
            alloc::format!("{studied:?}"),
            "{dialect}"
        );
    }
}

/// A PIE with every rule of the paper's authors under MADPIE.
#[test]
fn any_parameter_of_pie_can_be_set() {
    let given = "madpie@paper2013:heuristics=linux2013,tune=ns2,max_burst=0ms,first_update=1ms";
    assert!(crate::QdiscSpec::parse(given).is_ok());
    assert!(crate::QdiscSpec::parse("madpie@rfc8033:idle_decay=1,on_off=true,delay=rate").is_ok());
    let refusal = crate::QdiscSpec::parse("madpie@linux:idle_decay=0.5").unwrap_err();
    assert!(refusal.message.contains("no effect in dialect linux"), "{}", refusal.message);
}

/// Fact aqm-100: the flag stays set unless `deterministic_clear`.
#[test]
fn a_drop_that_is_due_stays_due_when_the_delay_falls_unless_cleared() {
    let mut keeps = settled(&FROZEN);
    let mut clears = settled(&[&FROZEN[..], &[("deterministic_clear", "true")]].concat());
    for madpie in [&mut keeps, &mut clears] {
        tick(madpie, 40);
        tick(madpie, 20);
    }
    assert_eq!(dropped_of(&mut keeps, 10), [0]);
    assert_eq!(dropped_of(&mut clears, 10), [0; 0]);
}

/// Fact aqm-100: marks as PIE does, but the 10 % limit applies to random signals only.
#[test]
fn a_deterministic_signal_marks_what_can_be_marked_at_any_probability() {
    let mut madpie = settled(&[("ecn", "true")]);
    while var(&madpie, "drop_prob") < 0.1 {
        tick(&mut madpie, 60);
    }
    assert_eq!(judge(&mut madpie, 0.0, Ecn::Ect0), Verdict::Drop(Cause::Random));
    assert_eq!(judge(&mut madpie, 0.999, Ecn::Ect0), Verdict::Mark(Cause::DelayBound));
}

#[test]
fn the_bound_must_lie_above_the_target() {
    let refusal = crate::QdiscSpec::parse("madpie:deterministic_target=20ms").unwrap_err();
    assert!(refusal.message.contains("greater than target"));
}

/// Fact aqm-102, shifted by 300 ms because the burst allowance must be used up first.
#[test]
fn the_arrivals_after_updates_above_the_bound_are_dropped_and_no_others() {
    let mut madpie = settled(&FROZEN);
    let timers = [(0, 24), (30, 26), (60, 30), (90, 25)];
    let mut dropped = Vec::new();
    for at in 0..120 {
        if let Some(&(_, delay)) = timers.iter().find(|&&(due, _)| due == at) {
            tick(&mut madpie, delay);
        }
        if at % 10 == 5 && judge(&mut madpie, 0.999, Ecn::NotEct) == DETERMINISTIC {
            dropped.push(at);
        }
    }
    assert_eq!(dropped, [35, 65]);
}

/// A law of a dialect, already active: RFC 8034 waits for a third of the limit, and so does the
/// draft unless `on_off` is false.
fn awake(dialect: &str, settings: &[(&str, &str)]) -> Madpie {
    let always_on: &[_] = if dialect == "ietf_draft" { &[("on_off", "false")] } else { &[] };
    let env = Env { limit: Limit::Bytes(100_000), ..env() };
    law_of_in(&env, dialect, &[settings, always_on].concat())
}

/// The number of deterministic and of random signals of a dialect at that delay. Its controller
/// cannot move, and the dialect measures its delay by time stamps or from the rate.
fn signals_of(dialect: &str, delay_ms: u64, timers: u32) -> (usize, usize) {
    let mut madpie = awake(dialect, &[&FROZEN[..], &[("max_burst", "0s")]].concat());
    let (mut deterministic, mut random) = (0, 0);
    for i in 0..timers {
        let now = ms(10_000) + Span::from_millis(30).times(i.into());
        for k in 0..=30 {
            let then = now + Span::from_millis(k);
            let head = Head { bytes: 1000, ..waited(then, Span::from_millis(delay_ms)) };
            madpie.on_dequeue(then, head, bytes(delay_ms * 1000), &mut Rng::scripted(0.5));
        }
        madpie.on_timer(madpie.next_timer().unwrap(), bytes(delay_ms * 1000));
        for _ in 0..50 {
            match judge(&mut madpie, 0.999_999, Ecn::NotEct) {
                Verdict::Pass => {}
                verdict if verdict == DETERMINISTIC => deterministic += 1,
                _ => random += 1,
            }
        }
    }
    (deterministic, random)
}

/// Kuhn and Ros 2016 §II on every base: one deterministic drop per update above the bound, none
/// below.
#[test]
fn every_base_gets_one_deterministic_drop_per_update_above_the_bound() {
    for dialect in MadpieParams::DIALECTS.iter().map(|dialect| dialect.name) {
        let (deterministic, random) = signals_of(dialect, 40, 20);
        // A base with a rate estimate needs two rounds to measure its delay.
        assert!((17..=20).contains(&deterministic), "{dialect}: {deterministic}");
        assert_eq!(random, 0, "{dialect}");
        assert_eq!(signals_of(dialect, 22, 20), (0, 0), "{dialect}");
    }
}

/// Kuhn and Ros 2016 §II on every base.
#[test]
fn below_the_bound_every_base_is_its_pie_to_the_draw() {
    for dialect in MadpieParams::DIALECTS.iter().map(|dialect| dialect.name) {
        let mut madpie = awake(dialect, &[("deterministic_target", "10s")]);
        let mut pie = madpie.pie.clone();
        let (mut rng, mut pie_rng) = (Rng::stream(16, "madpie", 0), Rng::stream(16, "madpie", 0));
        let mut signals = 0;
        for i in 0..60_000_u64 {
            let now = ms(1_000 + i);
            let head = Head { bytes: 1000, ..waited(now, Span::from_millis(60)) };
            madpie.on_dequeue(now, head, bytes(60_000), &mut rng);
            pie.on_dequeue(now, head, bytes(60_000));
            if i % 30 == 0 {
                madpie.on_timer(madpie.next_timer().unwrap(), bytes(60_000));
                pie.update(bytes(60_000));
            }
            let head = arrival(now, Ecn::NotEct);
            let verdict = madpie.on_enqueue(now, head, bytes(60_000), &mut rng);
            assert_eq!(
                verdict,
                pie.on_enqueue(now, head, bytes(60_000), &mut pie_rng),
                "{dialect}"
            );
            signals += usize::from(verdict != Verdict::Pass);
        }
        assert!(signals > 100, "{dialect}: {signals}");
    }
}

#[test]
fn its_variables_show_the_drop_that_is_due_and_the_delay_of_the_update() {
    let mut madpie = settled(&FROZEN);
    tick(&mut madpie, 24);
    assert_eq!((var(&madpie, "drop_due"), var(&madpie, "delay")), (0.0, 0.024));
    tick(&mut madpie, 40);
    assert_eq!((var(&madpie, "drop_due"), var(&madpie, "delay")), (1.0, 0.04));
    dropped_of(&mut madpie, 1);
    assert_eq!(var(&madpie, "drop_due"), 0.0);
}

/// As in PIE, an eviction that empties the queue ends its delay.
#[test]
fn an_overflow_that_leaves_the_queue_empty_ends_the_delay_of_its_pie() {
    let delay_after = |queue| {
        let mut madpie: Madpie = law_of("rfc8033", &FROZEN);
        let head = waited(ms(100), Span::from_millis(60));
        madpie.on_dequeue(ms(100), head, full_packets(9), &mut Rng::scripted(0.5));
        madpie.on_overflow(ms(100), queue);
        madpie.on_timer(ms(120), full_packets(9));
        var(&madpie, "delay")
    };
    assert_eq!((delay_after(full_packets(1)), delay_after(Backlog::EMPTY)), (0.06, 0.0));
}
