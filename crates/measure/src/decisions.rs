//! Compares the decisions of two AQMs on the same arrivals.

use std::collections::BTreeSet;

use sojourn_aqm::{CauseClass, Stage};
use sojourn_record::Run;
use sojourn_record::rows::SignalRow;

/// A drop or mark of a packet, identified by its `seq`, which is unique among the packets of both
/// runs.
type Decision = (u32, bool, Stage, CauseClass);

fn decision(row: &SignalRow) -> Decision {
    (row.seq, row.is_mark, row.stage, row.cause.class())
}

/// How the decisions of two runs differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Differences {
    /// Packets that were treated differently: dropped or marked in one run only, at a different
    /// stage, or for a different cause.
    pub packets: usize,
    /// The earliest signal that only one of the runs has: the run, and the index of its row.
    pub first: Option<(usize, usize)>,
}

/// Compares the signals of two runs.
pub fn compare(runs: &[Run; 2]) -> Differences {
    let made = runs.each_ref().map(|run| run.signals.iter().map(decision).collect());
    Differences { packets: different_packets(&made), first: first_difference(runs, &made) }
}

fn first_difference(runs: &[Run; 2], made: &[BTreeSet<Decision>; 2]) -> Option<(usize, usize)> {
    let first_of = |side: usize| {
        let is_alone = |row: &SignalRow| !made[1 - side].contains(&decision(row));
        let place = runs[side].signals.iter().position(is_alone)?;
        Some((runs[side].signals[place].t, side, place))
    };
    let (_, side, place) = [first_of(0), first_of(1)].into_iter().flatten().min()?;
    Some((side, place))
}

fn different_packets(made: &[BTreeSet<Decision>; 2]) -> usize {
    let differing = made[0].symmetric_difference(&made[1]).map(|decision| decision.0);
    differing.collect::<BTreeSet<u32>>().len()
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::{Cause, Span, Time};

    use super::*;

    fn row(ns: u64, seq: u32, is_mark: bool, cause: Cause) -> SignalRow {
        SignalRow {
            queue: 0,
            t: Time::from_nanos(ns),
            flow: 0,
            seq,
            bytes: 1500,
            sojourn: Span::ZERO,
            is_mark,
            is_copy: false,
            stage: Stage::Enqueue,
            cause,
            evidence: 0,
        }
    }

    fn run(signals: &[SignalRow]) -> Run {
        Run { signals: signals.to_vec(), ..Run::default() }
    }

    #[test]
    fn equal_decisions_do_not_differ_even_at_other_times() {
        let runs = [1, 2].map(|ns| run(&[row(ns, 7, true, Cause::Random)]));
        assert_eq!(compare(&runs), Differences { packets: 0, first: None });
    }

    #[test]
    fn a_packet_that_was_treated_in_two_ways_counts_once() {
        let a = run(&[row(1, 7, true, Cause::Random), row(5, 9, false, Cause::Overflow)]);
        let b = run(&[row(1, 7, false, Cause::Random), row(5, 9, false, Cause::Overflow)]);
        assert_eq!(compare(&[a, b]), Differences { packets: 1, first: Some((0, 0)) });
    }

    #[test]
    fn the_first_difference_is_the_earliest_of_either_run() {
        let common = row(1, 1, false, Cause::Overflow);
        let a = run(&[common, row(9, 3, false, Cause::Overflow)]);
        let b = run(&[common, row(4, 2, false, Cause::Overflow)]);
        assert_eq!(compare(&[a, b]), Differences { packets: 2, first: Some((1, 1)) });
    }
}
