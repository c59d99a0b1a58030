//! Links with classes against arithmetic by hand.

use sojourn_aqm::qdiscs::classes::{HfscNode, HtbNode, ServiceCurve};
use sojourn_aqm::{Framing, QdiscSpec, Rate, Span};
use sojourn_record::Run;
use sojourn_record::rows::Fate;
use sojourn_scenario::resolved::{Capacity, Class, Resolved, Scheduler, SchedulerKind};

use crate::common::*;

const EF: u8 = 46;

fn class(parent: Option<usize>, kbit: u64, ceil: u64) -> HtbNode {
    HtbNode {
        parent,
        rate: Rate::from_bps(kbit * 1000),
        ceil: Rate::from_bps(ceil * 1000),
        burst_bytes: 1600,
        cburst_bytes: 1600,
        quantum_bytes: 1500,
        priority: 0,
    }
}

/// A call of 0.8 Mbit/s and a stream of 20 Mbit/s over a line of 100 Mbit/s, with a scheduler.
fn call_and_stream(kind: SchedulerKind, names: &[&str]) -> Resolved {
    let named = |name: &&str| Class {
        name: (*name).to_owned(),
        dscp: if *name == "call" { vec![EF] } else { vec![] },
        queue: None,
    };
    let classes: Vec<Class> = names.iter().map(named).collect();
    let default = classes.iter().position(|class| class.name == "rest");
    let mut line = link("b", "taildrop", 125_000);
    line.capacity = Capacity::Constant(mbit(100));
    line.scheduler = Some(Scheduler { kind, default, classes });
    let mut call = cbr("call", 1, Rate::from_bps(800_000), 200);
    call.dscp = EF;
    let mut plan = scenario(10, vec![line], vec![call, cbr("stream", 1, mbit(20), 1000)]);
    plan.record.packets = true;
    plan
}

/// The longest queue delay of a flow's packets that were sent, and whether any was dropped.
fn worst(run: &Run, flow: u32) -> (Span, bool) {
    let of = run.packets.iter().filter(|row| row.flow == flow);
    let delays = of.clone().filter(|row| row.fate == Fate::Sent);
    let delays = delays.filter_map(|row| row.left.map(|left| left.since(row.arrived)));
    let has_drops = of.clone().any(|row| matches!(row.fate, Fate::Dropped(..)));
    (delays.max().unwrap_or_default(), has_drops)
}

/// What a flow sent over the link, in Mbit/s.
fn rate(run: &Run, flow: u32) -> f64 {
    let sent = run.packets.iter().filter(|row| row.flow == flow && row.fate == Fate::Sent);
    sent.map(|row| u64::from(row.bytes)).sum::<u64>() as f64 * 8.0 / 10.0 / 1e6
}

#[test]
fn a_class_within_its_rate_is_not_delayed_by_one_that_is_held_back() {
    let classes = vec![
        class(None, 10_000, 10_000),
        class(Some(0), 1_000, 10_000),
        class(Some(0), 8_000, 10_000),
    ];
    let kind = SchedulerKind::Htb { classes, framing: Framing::NONE };
    let run = run(&call_and_stream(kind, &["all", "call", "rest"]));
    // At most one packet of 1000 bytes at 100 Mbit/s, 80 us, is in front of the call.
    let (delay, has_drops) = worst(&run, 0);
    assert!(delay <= Span::from_micros(80) && !has_drops, "{delay}");
    // The rest gets what the call leaves of 10 Mbit/s, and fills its buffer of 125 packets.
    assert!((rate(&run, 1) - 9.2).abs() < 0.05, "{}", rate(&run, 1));
    let (delay, has_drops) = worst(&run, 1);
    let full = 125_000.0 * 8.0 / 9.2e6;
    assert!(has_drops && (delay.as_secs() / full - 1.0).abs() < 0.1, "{delay}");
}

#[test]
fn a_class_without_urgency_gets_what_more_urgent_ones_leave() {
    let mut plan = call_and_stream(SchedulerKind::Prio, &["call", "rest"]);
    plan.links[0].capacity = Capacity::Constant(mbit(10));
    let run = run(&plan);
    let (delay, has_drops) = worst(&run, 0);
    assert!(delay <= Span::from_micros(800) && !has_drops, "{delay}");
    assert!((rate(&run, 1) - 9.2).abs() < 0.05, "{}", rate(&run, 1));
}

#[test]
fn each_class_has_the_aqm_that_it_names() {
    let mut plan = call_and_stream(SchedulerKind::Prio, &["call", "rest"]);
    plan.links[0].capacity = Capacity::Constant(mbit(10));
    let classes = &mut plan.links[0].scheduler.as_mut().unwrap().classes;
    let codel = QdiscSpec::parse("codel").unwrap();
    classes[1].queue = Some((codel, sojourn_aqm::Limit::Packets(1000)));
    let run = run(&plan);
    let (delay, _) = worst(&run, 1);
    assert!(delay > Span::from_millis(100), "a buffer of 1000 packets instead of 125: {delay}");
    let of_law = |row: &sojourn_record::rows::PacketRow| {
        matches!(row.fate, Fate::Dropped(_, sojourn_aqm::Cause::Target))
    };
    assert!(run.packets.iter().any(of_law), "CoDel drops");
}

/// A limit of 10 Mbit/s for both; the call has 200 B every 2 ms, for which its curve allows 1 ms.
#[test]
fn a_real_time_curve_bounds_the_delay_of_a_call_next_to_a_full_class() {
    let line = |mbit_s: u64| ServiceCurve { m1: None, d: Span::ZERO, m2: Some(mbit(mbit_s)) };
    let node = |parent, rt, ls, ul| HfscNode { parent, rt, ls, ul };
    let real_time = ServiceCurve { m1: Some(mbit(2)), d: Span::from_millis(1), m2: Some(mbit(1)) };
    let kind = SchedulerKind::Hfsc(vec![
        node(None, None, Some(line(10)), Some(line(10))),
        node(Some(0), Some(real_time), None, None),
        node(Some(0), None, Some(line(10)), None),
    ]);
    let found = run(&call_and_stream(kind, &["all", "call", "rest"]));
    let (delay, has_drops) = worst(&found, 0);
    // A packet of 1000 B of the other class may be in service for 0.08 ms.
    assert!(delay < Span::from_micros(1_100) && !has_drops, "{delay}");
    assert!((rate(&found, 0) - 0.8).abs() < 0.01, "{}", rate(&found, 0));
    assert!((rate(&found, 1) - 9.2).abs() < 0.1, "{}", rate(&found, 1));
}
