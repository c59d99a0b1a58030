//! PIE of the draft, optional features of the default, and parameters without effect.

use super::*;
use crate::law::Cause;
use crate::packet::Ecn;
use crate::testing::{
    arrival, assert_near, bytes, env, full_packets, law_of, law_of_in, ms, var, waited,
};
use crate::units::Limit;

const DROP: Verdict = Verdict::Drop(Cause::Random);

/// The PIE of the draft.
fn draft(limit: Limit, settings: &[(&str, &str)]) -> Pie {
    law_of_in(&Env { limit, ..env() }, "ietf_draft", settings)
}

/// Schwarzkopf, Veith and Menth 2016 §II; fact aqm-77.
#[test]
fn the_draft_is_off_below_a_third_of_the_limit_and_after_congestion() {
    let mut pie = draft(Limit::Packets(300), &[("max_burst", "0s")]);
    let congested = |pie: &mut Pie, packets: u32, updates: u32| {
        for _ in 0..updates {
            let queue = full_packets(packets);
            let now = pie.next_timer().unwrap();
            for i in 0..12 {
                let then = now + Span::from_millis(i);
                pie.on_dequeue(then, arrival(then, Ecn::NotEct), queue, &mut Rng::scripted(0.5));
            }
            pie.on_enqueue(now, arrival(now, Ecn::NotEct), queue, &mut Rng::scripted(0.999));
            pie.on_timer(now, queue);
        }
        var(pie, "drop_prob")
    };
    assert_eq!(congested(&mut pie, 99, 50), 0.0);
    assert!(congested(&mut pie, 100, 50) > 0.0);
    assert!(congested(&mut pie, 50, 50) > 0.0, "it stays on below");
    while var(&pie, "drop_prob") > 0.0 {
        pie.on_timer(pie.next_timer().unwrap(), Backlog::EMPTY);
    }
    (0..3).for_each(|_| pie.on_timer(pie.next_timer().unwrap(), Backlog::EMPTY));
    assert_eq!(congested(&mut pie, 99, 50), 0.0, "off again");
}

/// Schwarzkopf et al. 2016 §II drops above 8.5; RFC 8033 Appendix B also drops at 8.5 (`>=`).
#[test]
fn the_draft_draws_up_to_a_sum_of_exactly_8_5() {
    let mut pie = draft(Limit::Packets(1000), &[("on_off", "false"), ("max_burst", "0s")]);
    let Controller::Standard(inner) = &mut pie.controller else { panic!("not the draft") };
    inner.drop_prob = 0.1;
    inner.scaled_prob = crate::parts::accumulator::ScaledProb::new(0.1);
    inner.delay_old = Span::from_millis(30);
    let mut gap = || {
        let rng = || Rng::scripted(0.999);
        let head = arrival(Time::ZERO, Ecn::NotEct);
        (1..).find(|_| pie.on_enqueue(Time::ZERO, head, full_packets(9), &mut rng()) == DROP)
    };
    assert_eq!((gap(), gap()), (Some(86), Some(86)));
}

/// RFC 8033 Appendix A: the sojourn time counts, regardless of the backlog behind the packet; fact
/// aqm-79.
#[test]
fn appendix_a_keeps_the_delay_of_a_packet_that_left_nothing() {
    for (dialect, delay) in [("rfc8033", 0.0), ("rfc8033_basic", 0.04)] {
        let mut pie: Pie = law_of(dialect, &[]);
        let head = waited(ms(100), Span::from_millis(40));
        pie.on_dequeue(ms(100), head, Backlog::EMPTY, &mut Rng::scripted(0.5));
        assert_eq!(var(&pie, "delay"), delay, "{dialect}");
    }
}

/// RFC 8033 Appendix B: the default dialect offers its estimator as an option.
#[test]
fn the_default_takes_its_delay_from_the_rate_on_request() {
    let mut pie: Pie = law_of("rfc8033", &[("delay", "rate"), ("dq_threshold", "10kB")]);
    for i in 0..=10 {
        let head = Head { bytes: 1000, ecn: Ecn::NotEct, enqueued: ms(i) };
        pie.on_dequeue(ms(i), head, bytes(20_000), &mut Rng::scripted(0.5));
    }
    pie.on_timer(pie.next_timer().unwrap(), bytes(30_000));
    assert_near(var(&pie, "delay"), 0.03, 1e-9);
}

/// Parameters without effect are refused, and so are gains that the kernel cannot hold.
#[test]
fn parameters_without_effect_are_refused() {
    let refusal = |text: &str| crate::QdiscSpec::parse(text).unwrap_err().message;
    assert!(refusal("pie:heuristics=linux2013").contains("no effect in dialect rfc8033"));
    assert!(refusal("pie@linux:cap_step=false").contains("no effect in dialect linux"));
    assert!(refusal("pie@docsis:ecn=true").contains("no effect in dialect docsis"));
    assert!(refusal("pie@linux:alpha=0.1hz").contains("sixteenths"));
    assert!(crate::QdiscSpec::parse("pie@linux:alpha=0.1875hz,delay=rate").is_ok());
    assert!(crate::QdiscSpec::parse("pie@paper2013:heuristics=linux2013").is_ok());
}
