//! Reassembles frames of video from the arrivals of datagrams. The source is run again to find the
//! frame of each datagram.

use std::collections::BTreeMap;

use sojourn_aqm::{Rng, Time};
use sojourn_measure::{ClassStats, Frames};
use sojourn_scenario::resolved::App;
use sojourn_traffic::DatagramSource;

use crate::plan::{Flow, Plan};
use crate::run_files::{OneWay, RunResult};

/// Adds the frames of all flows to their classes. A flow whose socket refused a datagram gets no
/// frames, because that datagram has no number.
pub(super) fn add(plan: &Plan, result: &RunResult, class_of: &[usize], classes: &mut [ClassStats]) {
    let shows = |index: usize| {
        let refused = result.counts.get(index).map_or(0, |counts| counts.refused);
        matches!(plan.flows[index].app, App::Video { .. }) && refused == 0
    };
    let mut arrivals: BTreeMap<usize, Vec<&OneWay>> =
        (0..plan.flows.len()).filter(|&index| shows(index)).map(|index| (index, vec![])).collect();
    for row in &result.log.one_way {
        if let Some(rows) = arrivals.get_mut(&(row.flow as usize)) {
            rows.push(row);
        }
    }
    for (index, rows) in arrivals {
        of_flow(plan, &plan.flows[index], rows, &mut classes[class_of[index]]);
    }
}

fn of_flow(plan: &Plan, flow: &Flow, mut arrivals: Vec<&OneWay>, class: &mut ClassStats) {
    let rng = Rng::stream(plan.seed, &format!("{}/app", flow.name), u64::from(flow.index));
    let end = Time::from_nanos(flow.stop_ns.unwrap_or(plan.duration_ns).min(plan.duration_ns));
    let times = (Time::from_nanos(flow.start_ns), end);
    let Some(mut source) = DatagramSource::new(&flow.app, times, rng) else { return };
    let (mut frames, warmup) = (Frames::default(), Time::from_nanos(plan.warmup_ns));
    for number in 0.. {
        let at = source.next_timer();
        if at == Time::NEVER || source.take(at).is_none() {
            break;
        }
        frames.on_sent(at, number);
    }
    arrivals.sort_by_key(|row| row.at_ns);
    let (before, after) =
        arrivals.split_at(arrivals.partition_point(|row| row.at_ns < plan.warmup_ns));
    for row in before {
        frames.on_arrival(Time::from_nanos(row.at_ns), row.number);
    }
    frames.count_from(warmup);
    for row in after {
        if let Some(delay) = frames.on_arrival(Time::from_nanos(row.at_ns), row.number) {
            class.frame_delay.add(delay.as_nanos());
        }
    }
    class.frames.add(&frames.finish(end));
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::{Ecn, Span};
    use sojourn_scenario::resolved::Sizes;

    use super::*;
    use crate::collect::test_plan::plan;

    /// Frames of two datagrams every 100 ms, which arrive 20 and 30 ms later; the last ten of 20
    /// arrive after the warm-up.
    #[test]
    fn frames_are_put_together_from_the_log_of_datagrams() {
        let plan = plan();
        let (frames, interval) = (Sizes::List(vec![3_000]), Span::from_millis(100));
        let app = App::Video { packet_bytes: 1_500, ecn: Ecn::NotEct, frames, interval };
        let flow = Flow { app, start_ns: 0, ..plan.flows[0].clone() };
        let arrivals: Vec<OneWay> = (0..40)
            .map(|number| {
                let (frame, part) = (u64::from(number / 2), u64::from(number % 2));
                let delay_ns = (20 + 10 * part) * 1_000_000;
                OneWay { flow: 0, number, at_ns: frame * 100_000_000 + delay_ns, delay_ns }
            })
            .collect();
        let mut class = ClassStats::default();
        of_flow(&plan, &flow, arrivals.iter().collect(), &mut class);
        assert_eq!(class.frame_delay.count(), 10);
        assert_eq!(class.frame_delay.max_ns(), Some(30_000_000));
    }
}
