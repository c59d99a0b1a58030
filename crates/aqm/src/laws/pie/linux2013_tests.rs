//! PIE of the Linux module of 2013.

use super::linux2013::Linux2013Pie;
use super::*;
use crate::packet::Ecn;
use crate::testing::{arrival, assert_near, bytes, env, full_packets, ms, params_of, rng, waited};

/// A running module, its burst allowance used up.
fn module(p: f64, delay_us: u64, settings: &[(&str, &str)]) -> Linux2013Pie {
    let params = params_of("linux2013", settings);
    Linux2013Pie::new(&params, &env()).started(p, Span::from_micros(delay_us))
}

/// The probability after an update that finds the queue empty again, with gains of 0.
fn after_idle_update(p: f64, settings: &[(&str, &str)]) -> f64 {
    let mut pie = module(p, 0, &[&[("alpha", "0hz"), ("beta", "0hz")], settings].concat());
    pie.update(bytes(0));
    pie.drop_prob()
}

/// Fact aqm-131.
#[test]
fn decay_of_the_module_wraps_above_1_02_percent() {
    assert_near(after_idle_update(0.0102, &[]), 0.0102 * 0.98, 1e-9);
    for p in [0.0103, 0.05, 0.1, 0.3, 0.9] {
        let found = after_idle_update(p, &[]);
        assert!(found < 0.01, "{p} decays to {found}, not to {}", 0.98 * p);
    }
    assert_near(after_idle_update(0.3, &[("decay_wraps", "false")]), 0.3 * 0.98, 1e-9);
}

#[test]
fn steps_are_an_eighth_a_half_and_one_by_probability() {
    for (p, factor) in [(0.005, 1.0 / 8.0), (0.05, 0.5), (0.3, 1.0)] {
        let mut pie = module(p, 40_000, &[]);
        filled_rate(&mut pie);
        pie.update(bytes(58_593)); // 40 ms at the estimated rate
        let expected = factor * 0.125 * 0.020;
        assert_near(pie.drop_prob() - p, expected, 0.07 * expected);
    }
}

/// Departures at 10 Mbit/s. Seven packets in the time of six count as 11.8 Mbit/s, and the rate is
/// a whole number of 256ths of a byte per tick.
fn filled_rate(pie: &mut Linux2013Pie) {
    for i in 0..10 {
        let now = Time::ZERO + Span::from_micros(1_000_000 + 1_200 * i);
        pie.on_dequeue(now, waited(now, Span::ZERO), full_packets(40));
    }
}

#[test]
fn a_rate_measurement_takes_its_time_off_the_burst_allowance() {
    let mut pie = Linux2013Pie::new(&params_of("linux2013", &[]), &env());
    let head = arrival(ms(0), Ecn::NotEct);
    assert_eq!(pie.on_enqueue(head, full_packets(40), &mut rng()), Verdict::Pass);
    for i in 0..=7 {
        pie.on_dequeue(ms(10 * i), waited(ms(10 * i), Span::ZERO), full_packets(40));
    }
    assert_near(pie.burst_allowance(), 0.1 - 0.06, 1e-6);
}
