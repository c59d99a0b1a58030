//! Two AQMs on the same arrivals.

use sojourn_aqm::{Cause, Span, Stage, registry};
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::{App, Ecn};
use sojourn_sim::Custom;
use sojourn_sim::diff::{Diff, diff};

use crate::common::*;

/// The same scenario with this AQM on its link.
fn under(plan: &Resolved, aqm: &str) -> Resolved {
    Resolved { links: vec![link("b", aqm, 125_000)], ..plan.clone() }
}

fn diff_of(plan: &Resolved, a: &str, b: &str) -> Diff {
    diff([&under(plan, a), &under(plan, b)], &Custom::default(), 0, &|_| true).unwrap()
}

/// TCP with and without ECN, and datagrams that do not react.
fn mix(seconds: u64) -> Resolved {
    let mut marked = tcp("cubic");
    marked.ecn = Some(Ecn::default());
    let marked = group("ecn", 3, App::Bulk { tcp: marked, bytes: None });
    scenario(seconds, vec![], vec![bulk(3, "reno"), marked, cbr("cbr", 2, mbit(1), 1000)])
}

/// A packet takes 1 ms, and packets arrive every 0.5 ms: the sixth finds two in the queue.
#[test]
fn two_limits_differ_at_the_first_packet_that_only_one_has_room_for() {
    let plan = scenario(1, vec![], vec![cbr("flood", 1, mbit(20), 1250)]);
    let found = diff_of(&plan, "taildrop:limit=2p", "taildrop:limit=3p");
    let first = found.first.expect("limits differ");
    let arrived = found.sides[0].packets[0].arrived;
    assert_eq!((first.packet, first.side), (5, 0));
    assert_eq!(first.signal.t.since(arrived), Span::from_micros(2500));
    assert_eq!(first.signal.seq, found.sides[0].packets[5].seq);
    assert_eq!((first.signal.stage, first.signal.cause), (Stage::Enqueue, Cause::Overflow));
    let waiting = first.states.each_ref().map(|state| (state[0].0.name, state[0].1));
    assert_eq!(waiting, [("backlog_packets", 2.0); 2]);
    // From then on, one AQM drops every second packet when two are queued, and the other when three
    // are queued.
    let drops = found.sides.each_ref().map(|side| side.signals.len());
    assert!(drops[0] - drops[1] <= 1 && drops[1] > 900, "{drops:?}");
}

#[test]
fn the_replay_of_the_first_repeats_the_run() {
    let mut plan = under(&mix(5), "pie:ecn=true");
    let found = diff_of(&plan, "pie:ecn=true", "taildrop");
    (plan.record.packets, plan.record.signals) = (true, true);
    let mut ran = run(&plan);
    ran.packets.sort_by_key(|row| (row.arrived, row.flow, row.seq));
    let mut replayed = found.sides[0].packets.clone();
    replayed.sort_by_key(|row| (row.arrived, row.flow, row.seq));
    assert_eq!(ran.packets, replayed);
    assert_eq!(ran.signals, found.sides[0].signals);
    assert_eq!(ran.evidence, found.sides[0].evidence);
    assert!(ran.signals.iter().any(|row| row.is_mark) && found.different > 0);
}

#[test]
fn an_aqm_does_not_differ_from_itself() {
    let plan = mix(3);
    let in_queues = registry::laws().into_iter().map(|law| format!("fq({})", law.name));
    for name in registry::names().map(str::to_owned).chain(in_queues) {
        let found = diff_of(&plan, &name, &name);
        assert!(found.first.is_none() && found.different == 0, "{name}");
        assert!(found.arrivals > 1000, "{name}");
        assert_eq!(found.sides[0].digest, found.sides[1].digest, "{name}");
    }
}

#[test]
fn every_dialect_of_pie_differs_from_the_default() {
    let plan = mix(20);
    for dialect in registry::law("pie").unwrap().dialects.iter().skip(1) {
        let found = diff_of(&plan, "pie", &format!("pie@{}", dialect.name));
        let first = found.first.unwrap_or_else(|| panic!("{}: no difference", dialect.name));
        let row = first.signal;
        let own =
            found.sides[first.side].signals.iter().filter(|s| s.seq == row.seq && s.t == row.t);
        assert!(own.count() >= 1, "{}", dialect.name);
        let other = &found.sides[1 - first.side].signals;
        let before = |s: &&sojourn_record::rows::SignalRow| s.t < row.t;
        let counts =
            [other, &found.sides[first.side].signals].map(|s| s.iter().filter(before).count());
        assert_eq!(counts[0], counts[1], "{}: alike until then", dialect.name);
    }
}
