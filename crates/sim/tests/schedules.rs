//! Links with a schedule of rates: the packet in service, outages and utilisation.

use std::sync::Arc;

use sojourn_aqm::{Rate, Span, Time};
use sojourn_record::rows::{BinRow, Scope};
use sojourn_scenario::resolved::{Capacity, FlowGroup, InService, Link, Schedule, Trace};

use crate::common::*;

fn at(s: u64) -> Time {
    Time::ZERO + Span::from_secs(s)
}

/// A full link around a second at 1 kbit/s, given `in_service`: throughput, utilisation, the
/// largest delay, and the throughput in each second after the dip.
fn dip(dip: Option<Rate>, in_service: InService) -> ([f64; 3], Vec<f64>) {
    let steps = vec![(at(0), Some(mbit(10))), (at(5), dip), (at(6), Some(mbit(10)))];
    let mut seen = link("b", "codel", 1_500_000);
    seen.delay = ms(10);
    seen.capacity = Capacity::Schedule(Schedule::new(steps).with_in_service(in_service));
    let flow =
        FlowGroup { rtt: ms(40), egress_delay: ms(9), return_delay: ms(20), ..bulk(1, "cubic") };
    let mut plan = scenario(20, vec![seen], vec![flow]);
    plan.record.bins = Some(Span::from_secs(1));
    let run = run(&plan);
    let found = ["throughput", "utilisation", "delay_max"];
    let is_rate = |row: &&BinRow| row.scope == Scope::Queue && row.metric == "throughput";
    let after = run.bins.iter().filter(is_rate).map(|row| row.value).skip(8).collect();
    (found.map(|name| metric(&run, Scope::Queue, "b", name)), after)
}

/// When the packet in service took 12 s, the link counted as used: 3.68 Mbit/s and 96.8 %.
#[test]
fn a_second_without_bandwidth_does_not_block_a_link_for_longer() {
    for rate in [Some(Rate::from_bps(1_000)), Some(Rate::from_bps(64)), None] {
        let ([throughput, utilisation, delay_max], after) = dip(rate, InService::NewRate);
        assert!((8.4e6..9.5e6).contains(&throughput), "{rate:?}: {throughput}");
        assert!((0.88..=0.95).contains(&utilisation), "{rate:?}: {utilisation}");
        assert!(delay_max < 1.5, "{rate:?}: {delay_max}");
        assert!(after.iter().all(|bps| *bps > 8.5e6), "{rate:?}: {after:?}");
    }
    let ([throughput, utilisation, _], after) =
        dip(Some(Rate::from_bps(1_000)), InService::OldRate);
    assert!(throughput < 5e6 && utilisation < 0.5, "{throughput} {utilisation}");
    assert!(after[1] < 1e4, "one packet takes 12 s: {after:?}");
}

/// One second at 24 Mbit/s and one at 2.4 Mbit/s, as rates and as opportunities of 1500 B. With
/// rates this used to be 49.2 %, the share of time in which the link was sending.
#[test]
fn a_link_is_used_the_same_as_a_schedule_and_as_a_trace() {
    let rates =
        (0..60).map(|s| (at(s), if s % 2 == 0 { mbit(24) } else { Rate::from_bps(2_400_000) }));
    let fast = (1..=1_000).flat_map(|ms| [ms, ms]);
    let trace = Trace {
        file: String::new(),
        sha256: String::new(),
        opportunities_ms: fast.chain((1_005..=2_000).step_by(5)).collect(),
        opportunity_bytes: 1_500,
    };
    let used = [Capacity::Schedule(Schedule::of_rates(rates)), Capacity::Trace(Arc::new(trace))];
    for capacity in used {
        let seen = Link { capacity, delay: ms(10), ..link("b", "codel", 1_500_000) };
        let flow = FlowGroup {
            rtt: ms(100),
            egress_delay: ms(39),
            return_delay: ms(50),
            ..bulk(1, "reno")
        };
        let run = run(&scenario(60, vec![seen], vec![flow]));
        let [throughput, used] =
            ["throughput", "utilisation"].map(|name| metric(&run, Scope::Queue, "b", name));
        assert!((used - throughput / 13.2e6).abs() < 1e-3, "{used} of {throughput}");
        assert!((0.18..0.23).contains(&used), "{used}");
    }
}
