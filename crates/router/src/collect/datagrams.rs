//! The fates of a run's datagrams, by sending time.

use std::collections::BTreeMap;

use sojourn_aqm::{Span, Time};
use sojourn_record::rows::Fate;
use sojourn_scenario::Resolved;

use crate::captures::{CapturedKind, PacketRecord};
use crate::plan::{Direction, Plan};
use crate::run_files::RunResult;

/// Fates of a flow's datagrams that were sent after the warm-up. Those in transit at the end are
/// neither received nor lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct DatagramFates {
    pub(super) received: u64,
    pub(super) lost: u64,
}

/// The fates of each flow's datagrams.
pub(super) fn fates(
    scenario: &Resolved,
    plan: &Plan,
    result: &RunResult,
    records: &[PacketRecord],
) -> Vec<DatagramFates> {
    let of_flow = |flow: usize| {
        let group = &scenario.flows[plan.flows[flow].group];
        let is_of_flow = |record: &&PacketRecord| {
            record.flow as usize == flow
                && record.direction == Direction::Forward
                && record.kind == CapturedKind::Datagram
        };
        let log = result.log.one_way.iter().filter(|row| row.flow as usize == flow);
        let seen = DatagramsSeen {
            at_link: at_link(records.iter().filter(is_of_flow)),
            received: log.map(|row| (row.number, Time::from_nanos(row.at_ns))).collect(),
            propagation: scenario.links[group.path[0]].delay + group.egress_delay,
            end: Time::from_nanos(plan.duration_ns),
        };
        let (then, now) = (result.at_warmup[flow], result.counts[flow]);
        let fates = seen.fates(then.sent as u32, now.sent as u32);
        DatagramFates { lost: fates.lost + now.refused - then.refused, ..fates }
    };
    let own = (plan.first_of_programs() as usize).min(plan.flows.len());
    let mut fates: Vec<DatagramFates> = (0..own).map(of_flow).collect();
    // The datagrams of the user's programs do not carry our numbers.
    fates.resize(plan.flows.len(), DatagramFates::default());
    fates
}

/// The fate of each datagram at the link, and when it left, by number. Of a datagram and its copies
/// the last that was not dropped decides.
fn at_link<'a>(
    records: impl Iterator<Item = &'a PacketRecord>,
) -> BTreeMap<u32, (Fate, Option<Time>)> {
    let mut fates = BTreeMap::new();
    for record in records {
        let fate = fates.entry(record.seq).or_insert((record.fate, record.left));
        if !matches!(record.fate, Fate::Dropped(..)) {
            *fate = (record.fate, record.left);
        }
    }
    fates
}

/// The observed datagrams of a flow.
struct DatagramsSeen {
    /// The fate of each datagram at the link, and when it left, by number.
    at_link: BTreeMap<u32, (Fate, Option<Time>)>,
    /// When each datagram was received, by number.
    received: BTreeMap<u32, Time>,
    /// The shortest time from the link to the receiver.
    propagation: Span,
    end: Time,
}

impl DatagramsSeen {
    /// The fates of the datagrams with numbers from `first` (inclusive) to `sent` (exclusive).
    fn fates(&self, first: u32, sent: u32) -> DatagramFates {
        let longest = self.longest_from_link();
        let mut fates = DatagramFates::default();
        for number in first..sent {
            if self.received.contains_key(&number) {
                fates.received += 1;
                continue;
            }
            // A datagram without a record is still on its way to the link.
            fates.lost += match self.at_link.get(&number) {
                Some((Fate::Dropped(..), _)) => 1,
                Some((Fate::Sent, Some(left))) => u64::from(*left + longest <= self.end),
                _ => 0,
            };
        }
        fates
    }

    /// The longest time that a datagram took from the link to the receiver. A datagram that left
    /// the link longer ago than this at the end of the run, and was not received, is lost.
    fn longest_from_link(&self) -> Span {
        let times = self.received.iter().filter_map(|(&number, &at)| {
            let (_, left) = self.at_link.get(&number)?;
            Some(at.since((*left)?))
        });
        times.fold(self.propagation, Span::max)
    }
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::{Cause, Stage};

    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Datagrams that take 10 ms from the link to the receiver, once 12 ms, in a run of 100 ms.
    fn seen(received: &[(u32, u64)]) -> DatagramsSeen {
        let sent = |ms| (Fate::Sent, Some(at(ms)));
        let dropped = (Fate::Dropped(Stage::Enqueue, Cause::Overflow), Some(at(40)));
        DatagramsSeen {
            at_link: (0..)
                .zip([
                    sent(10),
                    sent(30),
                    dropped,
                    sent(60),
                    sent(87),
                    sent(89),
                    (Fate::Waiting, None),
                ])
                .collect(),
            received: received.iter().map(|&(number, ms)| (number, at(ms))).collect(),
            propagation: Span::from_millis(10),
            end: at(100),
        }
    }

    #[test]
    fn what_is_under_way_at_the_end_is_neither_received_nor_lost() {
        let seen = seen(&[(0, 20), (1, 42), (3, 70)]);
        // Number 2 was dropped, 4 is overdue, 5 may still arrive, 6 is queued, 7 is on its way.
        assert_eq!(seen.fates(0, 8), DatagramFates { received: 3, lost: 2 });
        assert_eq!(seen.fates(3, 8), DatagramFates { received: 1, lost: 1 });
    }

    #[test]
    fn a_path_that_delivers_nothing_loses_what_had_time_to_arrive() {
        // If the longest time is 10 ms, all datagrams that left before 90 ms are overdue.
        assert_eq!(seen(&[]).fates(0, 8), DatagramFates { received: 0, lost: 6 });
    }
}
