//! Links with classes against arithmetic by hand.

use sojourn_aqm::qdiscs::classes::{HfscNode, HtbNode, ServiceCurve};
use sojourn_aqm::{Framing, QdiscSpec, Rate, Span};
use sojourn_record::Run;
use sojourn_record::rows::{Fate, Scope};
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

/// The rate of a flow over the link, in Mbit/s.
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
    // At most one packet of 1000 bytes, 80 us at 100 Mbit/s, is ahead of the call.
    let (delay, has_drops) = worst(&run, 0);
    assert!(delay <= Span::from_micros(80) && !has_drops, "{delay}");
    // The other flow gets the rest of 10 Mbit/s, and fills its buffer of 125 packets.
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

/// Both share a limit of 10 Mbit/s; the call sends 200 B every 2 ms, for which its curve allows 1
/// ms.
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

/// Sums over the leaves of link `b`: of a count, and of the packets counted with a rate.
fn over_leaves(run: &Run, of: impl Fn(&str) -> f64) -> f64 {
    let leaves = run.summary.iter().filter(|row| row.scope == Scope::Leaf && row.metric == "sent");
    leaves.map(|row| of(&row.name)).sum()
}

#[test]
fn what_leaves_count_is_what_their_link_counts() {
    let classes =
        vec![class(None, 10_000, 10_000), class(Some(0), 500, 700), class(Some(0), 8_000, 10_000)];
    let kind = SchedulerKind::Htb { classes, framing: Framing::NONE };
    let mut plan = call_and_stream(kind, &["all", "call", "rest"]);
    plan.links[0].queue = QdiscSpec::parse("codel:ecn=true").unwrap();
    let mut flows = bulk(2, "cubic");
    flows.path = vec![0];
    plan.flows.push(flows);
    plan.warmup = Span::from_millis(1_003);
    let run = run(&plan);
    let of_link = |name: &str| metric(&run, Scope::Queue, "b", name);
    let of_leaf = |leaf: &str, name: &str| metric(&run, Scope::Leaf, leaf, name);
    for name in ["arrived", "sent", "waiting"] {
        assert_eq!(over_leaves(&run, |leaf| of_leaf(leaf, name)), of_link(name), "{name}");
    }
    for name in ["drop_rate", "mark_rate", "drop_rate_overflow", "drop_rate_deterministic"] {
        let packets = over_leaves(&run, |leaf| of_leaf(leaf, "arrived") * of_leaf(leaf, name));
        assert!((packets - of_link("arrived") * of_link(name)).abs() < 1e-6, "{name}");
    }
    assert!(of_leaf("b.call", "drop_rate") > 0.1, "0.8 Mbit/s into 0.7");
    // The link may be sending a packet when the warm-up ends, and another at the end.
    let bits = 9.0 * (over_leaves(&run, |it| of_leaf(it, "throughput")) - of_link("throughput"));
    assert!(bits.abs() <= 2.0 * 1500.0 * 8.0, "{bits}");
}

#[test]
fn packets_that_no_class_has_have_a_row_of_their_own() {
    let line = ServiceCurve { m1: None, d: Span::ZERO, m2: Some(mbit(10)) };
    let node = HfscNode { parent: None, rt: None, ls: Some(line), ul: Some(line) };
    let mut plan = call_and_stream(SchedulerKind::Hfsc(vec![node]), &["call"]);
    plan.links[0].scheduler.as_mut().unwrap().default = None;
    let run = run(&plan);
    assert_eq!(metric(&run, Scope::Leaf, "b.(unclassified)", "drop_rate"), 1.0);
    assert_eq!(metric(&run, Scope::Leaf, "b.call", "drop_rate"), 0.0);
}

#[test]
fn a_queue_that_clears_the_dscp_leaves_no_rows_of_leaves() {
    let mut plan = call_and_stream(SchedulerKind::Prio, &["call", "rest"]);
    plan.links[0].queue = QdiscSpec::parse("cake:wash=true").unwrap();
    assert!(run(&plan).summary.iter().all(|row| row.scope != Scope::Leaf));
}

/// A class of 5 Mbit/s that may not borrow, next to a busy one, under CoDel. Its buckets hold one
/// packet, and a packet at the line's 100 Mbit/s takes 0.12 ms, so its packets leave at most 2.4 +
/// 0.12 ms earlier or later than on a line of 5 Mbit/s.
#[test]
fn a_class_gives_its_flows_what_a_line_of_its_rate_gives_them() {
    let mut alone = link("b", "codel", 125_000);
    alone.capacity = Capacity::Constant(mbit(5));
    let alone = run(&scenario(60, vec![alone], vec![bulk(2, "reno")]));
    let classes = vec![class(None, 5_000, 5_000), class(None, 50_000, 50_000)];
    let named = |name: &str, dscp| Class { name: name.into(), dscp, queue: None };
    let kind = SchedulerKind::Htb { classes, framing: Framing::NONE };
    let classes = vec![named("bulk", vec![]), named("busy", vec![EF])];
    let mut line = link("b", "codel", 125_000);
    line.capacity = Capacity::Constant(mbit(100));
    line.scheduler = Some(Scheduler { kind, default: Some(0), classes });
    let mut busy = cbr("busy", 1, mbit(60), 1000);
    busy.dscp = EF;
    let shared = run(&scenario(60, vec![line], vec![bulk(2, "reno"), busy]));
    let of = |run, scope, name| {
        ["delay_mean", "delay_p95", "throughput", "drop_rate"]
            .map(|it| metric(run, scope, name, it))
    };
    let [mean, p95, throughput, drop_rate] = of(&alone, Scope::Queue, "b");
    let found = of(&shared, Scope::Leaf, "b.bulk");
    assert!((found[0] - mean).abs() < 0.00252, "{} {mean}", found[0]);
    assert!((found[1] - p95).abs() < 0.00252, "{} {p95}", found[1]);
    assert!((found[2] / throughput - 1.0).abs() < 0.02, "{} {throughput}", found[2]);
    assert!((found[3] / drop_rate - 1.0).abs() < 0.1, "{} {drop_rate}", found[3]);
}
