//! The times in which flows were active; goodput is measured over these times.

use sojourn_aqm::{Span, Time};
use sojourn_record::rows::TransferRow;
use sojourn_scenario::resolved::Resolved;

/// When a flow starts, when its application stops (`NEVER`: at the end of the run), and when its
/// last datagram arrived (zero for streams, which deliver nothing after they stop).
#[derive(Clone, Copy, Debug)]
pub struct FlowTimes {
    /// When it starts.
    pub start: Time,
    /// When its application stops.
    pub stop: Time,
    /// When its last datagram arrived.
    pub last_arrival: Time,
}

/// The interval after the warm-up in which each flow was active: from its start until it had
/// stopped and its last datagram had arrived. A bulk transfer of limited size stops when its last
/// byte arrives.
pub fn active(
    plan: &Resolved,
    flows: &[FlowTimes],
    transfers: &[TransferRow],
) -> Vec<(Time, Time)> {
    let has_end: Vec<bool> = plan
        .flows
        .iter()
        .flat_map(|group| {
            let has_end = matches!(group.app.bulk(), Some(Some(_)));
            std::iter::repeat_n(has_end, group.count as usize)
        })
        .collect();
    let mut ends: Vec<Time> = flows.iter().map(|flow| flow.stop.max(flow.last_arrival)).collect();
    for row in transfers.iter().filter(|row| has_end[row.flow as usize]) {
        ends[row.flow as usize] = row.start + row.completion;
    }
    let (begin, over) = (Time::ZERO + plan.warmup, Time::ZERO + plan.duration);
    let clip = |(flow, end): (&FlowTimes, Time)| {
        let from = flow.start.max(begin);
        (from, end.min(over).max(from))
    };
    flows.iter().zip(ends).map(clip).collect()
}

/// Total time in which at least one of several flows was active.
pub(crate) fn together(mut active: Vec<(Time, Time)>) -> Span {
    active.sort_unstable();
    let mut until = Time::ZERO;
    let mut sum = Span::ZERO;
    for (from, to) in active {
        sum = sum + to.since(from.max(until));
        until = until.max(to);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_class_is_that_in_which_any_of_its_flows_was_active() {
        let at = |s: u64| Time::ZERO + Span::from_secs(s);
        let spans = |list: &[(u64, u64)]| list.iter().map(|&(a, b)| (at(a), at(b))).collect();
        let seconds = |list| together(spans(list)).as_secs();
        assert_eq!(seconds(&[(10, 20), (0, 4), (12, 15), (19, 25)]), 19.0);
        assert_eq!(seconds(&[(3, 3)]), 0.0);
        assert_eq!(seconds(&[]), 0.0);
    }
}
