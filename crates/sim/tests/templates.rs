//! Links after templates, in whole simulations, against published delays.

use std::io;

use sojourn_record::rows::Scope;
use sojourn_scenario::{Format, Scenario, Source};

use crate::common::{metric, run};

/// A metric of the one-way delay, in milliseconds, of 2,000 datagrams over one link, sent at
/// random, on average `apart_ms` milliseconds apart.
fn owd_ms(template: &str, apart_ms: u64, name: &str) -> f64 {
    let (duration_ms, bps) = (2_000 * apart_ms, 800_000 / apart_ms);
    let text = format!(
        r#"
name = "lone"
duration = "{duration_ms}ms"
[links.x]
template = "{template}"
[[flows]]
name = "probe"
path = ["x"]
access = {{ sender = "1ns", receiver = "1ns" }}
app = {{ kind = "cbr", rate = "{bps}bit", packet = "100B", arrivals = "poisson" }}
"#
    );
    let source = Source { format: Format::Toml, origin: "", sets: &[] };
    let none = |_: &str| Err(io::ErrorKind::NotFound.into());
    let scenario = Scenario::load(&text, &source, &none).unwrap();
    1e3 * metric(&run(scenario.resolved()), Scope::Class, "probe", name)
}

/// One packet per second, so each finds the link idle.
const LONE: u64 = 1_000;

#[track_caller]
fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() < tolerance, "{found}, not {expected}");
}

/// 3GPP TR 36.881: 7.5 ms down; 17 ms up if requests are possible every 10 ms, 14.5 ms if every 5
/// ms. A tenth of the blocks arrives 8 ms later; the mean of 2,000 waits of up to 10 ms is within
/// 0.3 ms.
#[test]
fn lone_packets_over_lte_take_the_times_of_3gpp() {
    for (template, published) in [
        ("lte:rate=1gbit", 7.5),
        ("lte:rate=1gbit,direction=up", 17.0),
        ("lte:rate=1gbit,direction=up,request=5ms", 14.5),
        ("lte:rate=1gbit,direction=up,request=20ms", 22.0),
    ] {
        let mean = owd_ms(template, LONE, "owd_mean");
        let tolerance = if template.ends_with("20ms") { 0.6 } else { 0.35 };
        assert_near(mean, published + 0.8, tolerance);
    }
}

/// In steady traffic no packet waits for an opportunity to request.
#[test]
fn steady_traffic_over_lte_needs_few_requests() {
    let mean = owd_ms("lte:rate=1gbit,direction=up,request=80ms", 1, "owd_mean");
    assert!(mean < 20.0, "{mean}");
}

/// Half a cycle passes until the report, and a cycle until its burst, plus 20 km of fibre; 100 B
/// take 20 us.
#[test]
fn lone_packets_over_gpon_take_a_cycle_and_a_half() {
    assert_near(owd_ms("gpon", LONE, "owd_mean"), 1.6, 0.05);
    assert_near(owd_ms("gpon:cycle=500us", LONE, "owd_mean"), 0.85, 0.05);
    assert!(owd_ms("gpon", LONE, "owd_max") < 2.2);
}

/// A packet waits two to three MAP intervals, plus the modem's processing time.
#[test]
fn lone_packets_over_docsis_wait_half_a_map_interval() {
    assert_near(owd_ms("docsis:rate=20mbit", LONE, "owd_mean"), 5.375, 0.1);
}
