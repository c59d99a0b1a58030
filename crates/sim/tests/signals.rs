//! The table `signals`, which gives the cause of each drop.

use sojourn_aqm::Cause;
use sojourn_record::Run;
use sojourn_record::rows::Scope;

use crate::common::*;

fn recorded(aqm: &str) -> Run {
    let mut plan = scenario(20, vec![link("b", aqm, 125_000)], vec![bulk(8, "cubic")]);
    plan.record.signals = true;
    run(&plan)
}

#[test]
fn recording_signals_does_not_change_what_happens_and_off_records_none() {
    for aqm in ["madpie", "fq_codel", "dualpi2"] {
        let plan = scenario(20, vec![link("b", aqm, 125_000)], vec![bulk(8, "cubic")]);
        let (off, on) = (run(&plan), recorded(aqm));
        assert_eq!(off.digest, on.digest, "{aqm}");
        assert!(off.signals.is_empty() && off.evidence.is_empty(), "{aqm}");
        let rate = metric(&on, Scope::Queue, "b", "drop_rate");
        let arrived = metric(&on, Scope::Queue, "b", "arrived");
        assert_eq!(on.signals.len() as f64, (rate * arrived).round(), "{aqm}: none can be marked");
        assert!(on.packets.is_empty(), "{aqm}");
    }
}

/// MADPIE's share of certain drops is a count over the table, and each of its rows shows that a
/// drop was due.
#[test]
fn every_certain_drop_of_madpie_was_due() {
    let run = recorded("madpie");
    let vars = run.evidence_vars[0];
    let due = vars.iter().position(|var| var.name == "drop_due").unwrap();
    let certain = run.signals.iter().filter(|row| row.cause == Cause::DelayBound);
    let dues: Vec<f64> = certain.map(|row| run.evidence[row.evidence + due]).collect();
    assert!(dues.len() > 5 && dues.iter().all(|&due| due == 1.0), "{dues:?}");
    assert_eq!(run.evidence.len(), run.signals.len() * vars.len());
}
