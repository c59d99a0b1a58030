use std::vec::Vec;

use super::*;
use crate::QdiscSpec;
use crate::packet::Ecn;
use crate::registry;
use crate::testing::{Numbered, env};

/// The calls of a sink, in order: evidence as (name, value), and signals.
#[derive(Default)]
struct Recorded {
    evidence: Vec<Vec<(&'static str, f64)>>,
    signals: Vec<(Stage, Cause)>,
}

impl Sink<Numbered> for Recorded {
    fn dropped(&mut self, _: Numbered, _: Time, stage: Stage, cause: Cause) {
        self.signals.push((stage, cause));
    }
    fn marked(&mut self, _: &mut Numbered, _enqueued: Time, stage: Stage, cause: Cause) {
        self.signals.push((stage, cause));
    }
    fn evidence(&mut self, evidence: Evidence<'_>) {
        assert_eq!(self.evidence.len(), self.signals.len(), "evidence comes before its signal");
        assert_eq!(evidence.vars.len(), evidence.values.len());
        let names = evidence.vars.iter().map(|var| var.name);
        self.evidence.push(names.zip(evidence.values.iter().copied()).collect());
    }
}

/// Enqueues a packet every 0.5 ms for two seconds, and dequeues one every millisecond.
fn overload(name: &str, watched: bool) -> (Recorded, Vec<u64>) {
    let spec = QdiscSpec::parse(name).unwrap();
    let make = if watched { registry::build_watched } else { registry::build };
    let mut qdisc = make(&spec, &env()).unwrap();
    let (mut recorded, mut rng, mut left) =
        (Recorded::default(), Rng::stream(1, "watch", 0), Vec::new());
    for step in 0..4000_u64 {
        let now = Time::from_nanos(step * 500_000);
        while let Some(due) = qdisc.next_timer().filter(|&due| due <= now) {
            qdisc.on_timer(due);
        }
        let ecn = if step % 3 == 0 { Ecn::Ect0 } else { Ecn::NotEct };
        let packet = Numbered { ecn, ..Numbered::new(step, step % 5, 1500) };
        qdisc.enqueue(now, packet, &mut rng, &mut recorded);
        if step % 2 == 0 {
            left.extend(qdisc.dequeue(now, &mut rng, &mut recorded).map(|d| d.packet.id));
        }
    }
    (recorded, left)
}

#[test]
fn every_signal_of_every_watched_entry_comes_with_evidence_and_nothing_else_changes() {
    let names: Vec<_> = registry::names().collect();
    let in_queues = registry::laws().into_iter().map(|law| std::format!("fq({})", law.name));
    // Their laws learn that their queue is listed, too.
    let listed = ["fq(codel@freebsd)", "fq(pie@freebsd)"].map(std::string::String::from);
    let names = names.into_iter().map(std::string::String::from);
    for name in names.chain(in_queues).chain(listed) {
        let ((plain, left), (watched, left_too)) = (overload(&name, false), overload(&name, true));
        assert_eq!((&plain.signals, left), (&watched.signals, left_too), "{name}");
        assert!(plain.evidence.is_empty(), "{name}: no evidence unless it is watched");
        assert_eq!(watched.evidence.len(), watched.signals.len(), "{name}");
    }
}

/// MADPIE's flag is 1 before its certain drop, which clears it.
#[test]
fn evidence_is_from_before_the_decision() {
    let (recorded, _) = overload("madpie", true);
    let flag = |row: &Vec<(&str, f64)>| row.iter().find(|(name, _)| *name == "drop_due").unwrap().1;
    let certain = recorded.signals.iter().zip(&recorded.evidence);
    let flags: Vec<f64> =
        certain.filter(|(s, _)| s.1 == Cause::DelayBound).map(|(_, e)| flag(e)).collect();
    assert!(!flags.is_empty() && flags.iter().all(|&flag| flag == 1.0), "{flags:?}");
}

#[test]
fn flow_queues_show_the_state_of_the_queue_that_lost_the_packet() {
    let (recorded, _) = overload("fq(codel)", true);
    let names: Vec<&str> = recorded.evidence[0].iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["dropping", "count", "sojourn", "drop_next"]);
    let count = |row: &Vec<(&str, f64)>| row[1].1;
    assert_eq!(count(&recorded.evidence[0]), 0.0, "before the first drop nothing was counted");
}
