//! Builds the tables of a run from its measurements.

use std::collections::BTreeMap;

use sojourn_aqm::Var;
use sojourn_record::Histogram;
use sojourn_record::rows::{BinRow, DropDelaysOf, FlowRow, FlowStateRow, Run, Scope, SummaryRow};
use sojourn_scenario::resolved::{App, Codec, FlowGroup, Resolved};
use sojourn_scenario::wlan_timing::OfdmRate;

use crate::completion::{self, Quantile};
use crate::fairness::jain;
use crate::metrics::{self, Metric, Statistic};
use crate::queue_rows::{CAUSES, push_delays, push_histogram, summarise_fates};
use crate::{
    ClassStats, Counters, FlowCount, LinkStats, LinkUse, Probe, WAITED, activity, emodel, leaves,
    playback,
};

/// Variables of every queue, in addition to those of its discipline, in the order of the samples.
pub const BUILTIN_VARS: [Var; 7] = [
    Var { name: "backlog_packets", unit: "packets", doc: "packets waiting" },
    Var { name: "backlog_bytes", unit: "bytes", doc: "bytes waiting" },
    Var {
        name: "delay_mean",
        unit: "s",
        doc: "mean sojourn time of departures since the last sample",
    },
    Var { name: "delay_max", unit: "s", doc: "largest of them" },
    Var { name: "drops", unit: "packets", doc: "packets dropped since the last sample" },
    Var { name: "marks", unit: "packets", doc: "packets marked since the last sample" },
    Var { name: "rate", unit: "bit/s", doc: "rate of departures since the last sample" },
];

/// The measurements of an engine at the end of a run.
pub struct Outcome {
    /// Counters of queues and classes.
    pub probe: Probe,
    /// How each link was used after the warm-up.
    pub uses: Vec<LinkUse>,
    /// The state variables of each queue; those common to all queues come first.
    pub vars: Vec<Vec<Var>>,
    /// The results of each flow after the warm-up.
    pub counts: Vec<FlowCount>,
    /// Packets offered to the path behind each link, and how many of them were lost at random;
    /// `None` if the path loses none.
    pub wire_losses: Vec<Option<(u64, u64)>>,
    /// Rows of the table `flows`.
    pub flow_samples: Vec<FlowRow>,
    /// Rows of the table `flow_states`.
    pub flow_states: Vec<FlowStateRow>,
    /// Rows of the table of bins.
    pub bins: Vec<BinRow>,
    /// Events handled.
    pub events: u64,
}

/// Builds the tables of a run.
pub fn collect(outcome: Outcome, plan: &Resolved) -> Run {
    let mut summary = Vec::new();
    let mut histograms = Vec::new();
    let Outcome { mut probe, uses, vars, counts, wire_losses, events, .. } = outcome;
    let (flow_samples, flow_states) = (outcome.flow_samples, outcome.flow_states);
    let (bins, class_names) = (outcome.bins, plan.classes());
    let seconds = (plan.duration - plan.warmup).as_secs();
    for (link, row) in plan.links.iter().enumerate() {
        let stats = &mut probe.links[link];
        summarise_queue(&mut summary, &row.name, stats, uses[link], seconds);
        if let Some((offered, lost)) = wire_losses[link] {
            summary.extend(wire_rows(&row.name, offered, lost));
        }
        push_histogram(&mut histograms, Scope::Queue, &row.name, "delay", &mut stats.delays);
        leaves::summarise(stats.leaves.take(), seconds, &mut summary, &mut histograms);
    }
    let (flows, flow_classes) = flow_names(plan);
    let (mut of_class, mut groups) = (BTreeMap::new(), BTreeMap::new());
    for (count, class) in counts.iter().zip(&flow_classes) {
        of_class.entry(class.as_str()).or_insert_with(Vec::new).push(*count);
    }
    for group in &plan.flows {
        groups.entry(group.class.as_str()).or_insert_with(Vec::new).push(group);
    }
    let playback = playback::of_classes(plan, &probe.transfers, &counts);
    for (class, name) in class_names.iter().enumerate() {
        let stats = &mut probe.classes[class];
        let counts = of_class.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        summarise_class(&mut summary, name, &groups[name.as_str()], counts, stats);
        if let Some(playback) = playback.get(name.as_str()) {
            playback.summarise(&mut |metric, value| summary.push(metric.row(name, value)));
        }
        push_histogram(&mut histograms, Scope::Class, name, "owd", &mut stats.one_way);
        push_histogram(&mut histograms, Scope::Class, name, "rtt", &mut stats.rtt);
        push_histogram(&mut histograms, Scope::Class, name, "pair_rtt", &mut stats.pair_rtt);
        push_histogram(&mut histograms, Scope::Class, name, "completion", &mut stats.completion);
        push_histogram(&mut histograms, Scope::Class, name, "frame_delay", &mut stats.frame_delay);
        if let Some(unfinished) = &mut stats.unfinished {
            push_histogram(&mut histograms, Scope::Class, name, "unfinished", unfinished);
        }
    }
    let packets_handled = probe.links.iter().map(|link| link.total.arrived).sum();
    summary.push(metrics::EVENTS.row("", events as f64));
    summary.push(metrics::PACKETS.row("", packets_handled as f64));
    Run {
        queues: plan.links.iter().map(|link| link.name.clone()).collect(),
        vars,
        flows,
        classes: flow_classes,
        digest: probe.digest(),
        packets: probe.notes.packets,
        signals: probe.notes.signals,
        evidence: probe.notes.evidence,
        evidence_vars: probe.notes.evidence_vars,
        flow_samples,
        flow_states,
        bins,
        class_names,
        states: probe.states,
        transfers: probe.transfers,
        streams: probe.streams,
        summary,
        histograms,
        packets_handled,
        events,
        drop_delays: drop_delays(probe.links),
        warnings: plan.warnings.clone(),
        ..Run::default() // without programs
    }
}

/// The sojourn times of the packets that each queue dropped.
fn drop_delays(links: Vec<LinkStats>) -> Vec<DropDelaysOf> {
    let mut rows = Vec::new();
    for (queue, link) in links.into_iter().enumerate() {
        for (stage, of_stage) in WAITED.into_iter().zip(link.drop_delays) {
            for (cause, histogram) in CAUSES.into_iter().zip(of_stage) {
                if histogram.count() > 0 {
                    rows.push(DropDelaysOf { queue: queue as u32, stage, cause, histogram });
                }
            }
        }
    }
    rows
}

/// A queue measured separately.
pub struct QueueSeen {
    /// Its name.
    pub name: String,
    /// How its link was used; `None` if packets passed without a queue, so there are no rows.
    pub used: Option<LinkUse>,
    /// The state variables of its discipline, which follow those common to all queues.
    pub vars: Vec<Var>,
}

/// The tables of standalone queues, one for each link of the probe, over `seconds`.
pub fn collect_queues(mut probe: Probe, queues: Vec<QueueSeen>, seconds: f64) -> Run {
    let (mut summary, mut histograms) = (Vec::new(), Vec::new());
    for (stats, queue) in probe.links.iter_mut().zip(&queues) {
        if let Some(used) = queue.used {
            summarise_queue(&mut summary, &queue.name, stats, used, seconds);
            push_histogram(&mut histograms, Scope::Queue, &queue.name, "delay", &mut stats.delays);
        }
    }
    let (queues, vars) = queues.into_iter().map(|queue| (queue.name, queue.vars)).unzip();
    Run {
        queues,
        vars,
        packets_handled: probe.links.iter().map(|link| link.total.arrived).sum(),
        digest: probe.digest(),
        packets: probe.notes.packets,
        signals: probe.notes.signals,
        evidence: probe.notes.evidence,
        evidence_vars: probe.notes.evidence_vars,
        states: probe.states,
        summary,
        histograms,
        drop_delays: drop_delays(probe.links),
        ..Run::default()
    }
}

/// The name of each flow of a scenario, and its class.
pub fn flow_names(plan: &Resolved) -> (Vec<String>, Vec<String>) {
    let names = plan.flows.iter().flat_map(|group| {
        (0..group.count).map(move |i| match group.count {
            1 => group.name.clone(),
            _ => format!("{}.{}", group.name, i + 1),
        })
    });
    let classes =
        plan.flows.iter().flat_map(|g| std::iter::repeat_n(g.class.clone(), g.count as usize));
    (names.collect(), classes.collect())
}

/// The playout delay of voice calls is this quantile of the packets' delays; packets that arrive
/// later are not counted as lost.
const PLAYOUT_QUANTILE: f64 = 0.99;

fn summarise_queue(
    rows: &mut Vec<SummaryRow>,
    name: &str,
    stats: &LinkStats,
    used: LinkUse,
    seconds: f64,
) {
    let mut row = |metric: &Metric, value| rows.push(metric.row(name, value));
    push_delays(&mut row, &stats.delays, &metrics::DELAY);
    let over_time = stats.delay_over_time.mean_s(seconds);
    if stats.delays.count() > 0 || over_time > 0.0 {
        row(&metrics::DELAY_TIME_MEAN, over_time);
    }
    let counts = stats.counted();
    row(&metrics::UTILISATION, used.utilisation);
    row(&metrics::THROUGHPUT, used.throughput);
    let fates = &stats.fates;
    row(&metrics::ARRIVED, fates.arrived as f64);
    row(&metrics::SENT, counts.sent as f64);
    let all = &stats.total;
    let waiting = all.arrived - all.sent - all.dropped.iter().sum::<u64>();
    row(&metrics::WAITING, waiting as f64);
    summarise_frames(&mut row, &counts);
    summarise_fates(&mut row, fates);
}

/// Writes the frame metrics of a wireless transmitter.
fn summarise_frames(row: &mut impl FnMut(&Metric, f64), counts: &Counters) {
    const { assert!(metrics::FRAME_SHARES.len() == OfdmRate::COUNT) };
    let frames: u64 = counts.frames.iter().sum();
    if frames == 0 {
        return;
    }
    let share = |count: u64| count as f64 / frames as f64;
    let rates_bps: u64 = (counts.frames.iter().zip(OfdmRate::all()))
        .map(|(count, rate)| count * rate.rate().as_bps())
        .sum();
    row(&metrics::FRAMES, frames as f64);
    row(&metrics::FRAME_RATE, share(rates_bps));
    row(&metrics::FRAME_FAILURE_RATE, share(counts.failed));
    row(&metrics::GIVEN_UP, counts.given_up as f64);
    for (metric, count) in metrics::FRAME_SHARES.iter().zip(counts.frames) {
        row(metric, share(count));
    }
}

/// The rows of random losses behind a link; these packets count as sent.
pub fn wire_rows(name: &str, offered: u64, lost: u64) -> impl Iterator<Item = SummaryRow> {
    let rate = (offered > 0).then(|| lost as f64 / offered as f64);
    let rate = rate.map(|rate| metrics::WIRE_LOSS_RATE.row(name, rate));
    [metrics::WIRE_LOST.row(name, lost as f64)].into_iter().chain(rate)
}

const MINUTE_NS: f64 = 60e9;

fn summarise_class(
    rows: &mut Vec<SummaryRow>,
    name: &str,
    groups: &[&FlowGroup],
    counts: &[FlowCount],
    stats: &ClassStats,
) {
    let mut row = |metric: &Metric, value| rows.push(metric.row(name, value));
    let goodputs: Vec<f64> = counts.iter().filter_map(goodput).collect();
    row(&metrics::FLOWS, counts.len() as f64);
    let active_s = activity::together(counts.iter().map(|count| count.active).collect()).as_secs();
    if active_s > 0.0 {
        let delivered: u64 = counts.iter().map(|count| count.delivered_bytes).sum();
        row(&metrics::GOODPUT, delivered as f64 * 8.0 / active_s);
        row(&metrics::GOODPUT_PER_FLOW, goodputs.iter().sum::<f64>() / goodputs.len() as f64);
    }
    let bulk = groups.iter().any(|group| group.app.bulk().is_some());
    if bulk && goodputs.len() > 1 && goodputs.iter().any(|&goodput| goodput > 0.0) {
        row(&metrics::JAIN, jain(&goodputs));
    }
    push_completion(&mut row, stats);
    push_delays(&mut row, &stats.handshake, &metrics::HANDSHAKE);
    push_delays(&mut row, &stats.one_way, &metrics::OWD);
    push_delays(&mut row, &stats.rtt, &metrics::RTT);
    push_delays(&mut row, &stats.frame_delay, &metrics::FRAME_DELAY);
    stats.frames.summarise(&mut row);
    let echoes = groups.iter().all(|group| matches!(group.app, App::Echo { .. }));
    if let Some(mean_ns) = stats.rtt.mean_ns().filter(|_| echoes) {
        row(&metrics::ROUND_TRIPS_PER_MINUTE, MINUTE_NS / mean_ns);
    }
    let lost: u64 = counts.iter().map(|count| count.lost).sum();
    let received: u64 = counts.iter().map(|count| count.received).sum();
    if lost + received > 0 {
        let loss = lost as f64 / (lost + received) as f64;
        row(&metrics::LOSS_RATE, loss);
        let delay_ns = stats.one_way.quantile_ns(PLAYOUT_QUANTILE);
        if let (Some(delay_ns), Some(codec)) = (delay_ns, codec_of(groups)) {
            let rating = emodel::rating(codec, delay_ns / 1e9, loss);
            row(&metrics::VOICE_R, rating);
            row(&metrics::VOICE_MOS, emodel::opinion(rating));
        }
    }
}

/// Mean and maximum include only finished transfers; quantiles include all.
fn push_completion(row: &mut impl FnMut(&Metric, f64), stats: &ClassStats) {
    let (finished, none) = (&stats.completion, Histogram::default());
    let unfinished = stats.unfinished.as_ref().unwrap_or(&none);
    let all = finished.count() + unfinished.count();
    if all == 0 {
        return;
    }
    row(&metrics::TRANSFERS, finished.count() as f64);
    if stats.unfinished.is_some() {
        row(&metrics::UNFINISHED_SHARE, unfinished.count() as f64 / all as f64);
    }
    for metric in &metrics::COMPLETION {
        match metric.statistic {
            Statistic::Mean => finished.mean_ns().into_iter().for_each(|ns| row(metric, ns / 1e9)),
            Statistic::Max => {
                finished.max_ns().into_iter().for_each(|ns| row(metric, ns as f64 / 1e9));
            }
            Statistic::Quantile(q) => match completion::quantile(finished, unfinished, q) {
                Some(Quantile::At(ns)) => row(metric, ns / 1e9),
                Some(Quantile::Above(ns)) => row(bound_of(q), ns as f64 / 1e9),
                None => {}
            },
            Statistic::Single | Statistic::Above(_) => {}
        }
    }
}

/// The metric for the bound of a quantile of completion times that cannot be computed.
fn bound_of(q: f64) -> &'static Metric {
    let bound = metrics::COMPLETION_ABOVE.iter().find(|it| it.statistic == Statistic::Above(q));
    bound.expect("every quantile of completion times has a bound in the table")
}

/// The codec of a class that consists only of voice calls with one codec.
fn codec_of(groups: &[&FlowGroup]) -> Option<Codec> {
    let mut codecs = groups.iter().map(|group| group.app.voice());
    let first = codecs.next()??;
    codecs.all(|codec| codec == Some(first)).then_some(first)
}

/// Bytes delivered by a flow over the time in which it was active, in bit/s; `None` if it never
/// was.
fn goodput(count: &FlowCount) -> Option<f64> {
    let (from, to) = count.active;
    (from < to).then(|| count.delivered_bytes as f64 * 8.0 / to.since(from).as_secs())
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::{Cause, Span, Stage, Time};
    use sojourn_record::rows::SignalRow;

    use super::*;
    use crate::Fates;

    #[test]
    fn jains_index_of_equal_and_of_single_shares() {
        assert_eq!(jain(&[3.0; 4]), 1.0);
        assert_eq!(jain(&[1.0, 0.0, 0.0, 0.0]), 0.25);
    }

    /// Every counter has a different value, so a mix-up of two counters is noticed.
    #[test]
    fn every_row_of_a_queue_is_made_from_the_counters_of_that_queue() {
        let window = (Time::ZERO, Time::ZERO + Span::from_secs(2));
        let mut probe = Probe::new(1, 0, window);
        probe.links[0].total = Counters { arrived: 7, sent: 5, ..Counters::default() };
        let totals = probe.totals(Time::ZERO);
        probe.end_warmup(totals);
        probe.links[0].total = Counters {
            arrived: 1_007,
            sent: 605,
            dropped: [10, 20, 40, 80],
            marked: [0, 80, 160, 0],
            frames: [0, 400, 0, 0, 800, 0, 0, 400],
            failed: 400,
            given_up: 3,
        };
        // Drops and marks of packets that arrived before the warm-up ended are only in the totals.
        let (dropped, marked) = ([9, 19, 39, 78], [0, 79, 159, 0]);
        probe.links[0].fates = Fates { arrived: 1_000, dropped, marked };
        for micros in [100, 300, 200] {
            probe.links[0].delays.add(micros * 1_000);
        }
        let used = Some(LinkUse { utilisation: 0.75, throughput: 360_000.0 });
        let queue = QueueSeen { name: "b".into(), used, vars: vec![] };
        let found = collect_queues(probe, vec![queue], 2.0);
        let rows: Vec<_> = found.summary.iter().map(|row| (row.metric, row.value)).collect();
        let expected = [
            ("delay_mean", 0.0002),
            ("delay_p50", 0.000_200_5),
            ("delay_p95", 0.0003),
            ("delay_p99", 0.0003),
            ("delay_max", 0.0003),
            ("delay_time_mean", 0.0),
            ("utilisation", 0.75),
            ("throughput", 360_000.0),
            ("arrived", 1_000.0),
            ("sent", 600.0),
            ("waiting", 252.0),
            ("frames", 1_600.0),
            ("frame_rate", 27.75e6),
            ("frame_failure_rate", 0.25),
            ("given_up", 3.0),
            ("frame_share_6mbit", 0.0),
            ("frame_share_9mbit", 0.25),
            ("frame_share_12mbit", 0.0),
            ("frame_share_18mbit", 0.0),
            ("frame_share_24mbit", 0.5),
            ("frame_share_36mbit", 0.0),
            ("frame_share_48mbit", 0.0),
            ("frame_share_54mbit", 0.25),
            ("drop_rate", 0.145),
            ("mark_rate", 0.238),
            ("drop_rate_overflow", 0.009),
            ("drop_rate_random", 0.019),
            ("mark_rate_random", 0.079),
            ("drop_rate_deterministic", 0.039),
            ("mark_rate_deterministic", 0.159),
            ("drop_rate_policed", 0.078),
        ];
        assert_eq!(rows, expected);
        assert_eq!(found.packets_handled, 1_007);
    }

    #[test]
    fn rates_and_sums_of_more_packets_than_32_bits_count_are_exact() {
        let mut probe = Probe::new(1, 0, (Time::ZERO, Time::ZERO + Span::from_secs(2)));
        let (dropped, marked) = ([1, 2_500_000_000, 1, 0], [0, 5_000_000_000, 0, 0]);
        let (arrived, sent) = (10_000_000_000, 7_499_999_995);
        probe.links[0].total = Counters { arrived, sent, dropped, marked, ..Counters::default() };
        probe.links[0].fates = Fates { arrived, dropped, marked };
        let used = Some(LinkUse { utilisation: 1.0, throughput: 1e9 });
        let queue = QueueSeen { name: "b".into(), used, vars: vec![] };
        let found = collect_queues(probe, vec![queue], 2.0);
        let value = |metric| found.summary.iter().find(|row| row.metric == metric).unwrap().value;
        assert_eq!(["arrived", "sent", "waiting"].map(value), [1e10, 7_499_999_995.0, 3.0]);
        assert_eq!(["drop_rate_random", "mark_rate"].map(value), [0.25, 0.5]);
        assert_eq!(found.packets_handled, arrived);
    }

    #[test]
    fn what_was_noted_of_queues_alone_is_kept() {
        let mut probe = Probe::new(1, 0, (Time::ZERO, Time::NEVER));
        probe.notes.evidence = vec![1.0];
        probe.links[0].drop_delays[0][1].add(7);
        let signal = SignalRow {
            queue: 0,
            t: Time::ZERO,
            flow: 1,
            seq: 2,
            bytes: 3,
            sojourn: Span::ZERO,
            is_mark: false,
            is_copy: false,
            stage: Stage::Enqueue,
            cause: Cause::Random,
            evidence: 0,
        };
        probe.notes.signals = vec![signal];
        let queue = QueueSeen { name: "b".into(), used: None, vars: vec![] };
        let run = collect_queues(probe, vec![queue], 2.0);
        assert_eq!(
            (run.signals, run.evidence, run.drop_delays.len()),
            (vec![signal], vec![1.0], 1)
        );
    }

    /// Packets still queued at the end were delayed, although none left.
    #[test]
    fn the_mean_over_time_is_known_of_a_queue_that_sent_nothing_and_not_of_one_without_packets() {
        let rows = |waited_ns: u64| {
            let mut probe = Probe::new(1, 0, (Time::ZERO, Time::ZERO + Span::from_secs(2)));
            let end = Time::from_nanos(2_000_000_000);
            if waited_ns > 0 {
                let packet = crate::PacketView {
                    flow: 0,
                    seq: 0,
                    kind: crate::PacketKind::Data,
                    bytes: 100,
                    ecn_in: sojourn_aqm::Ecn::NotEct,
                    dscp: 0,
                    marked: None,
                    is_copy: false,
                };
                let enqueued = Time::from_nanos(2_000_000_000 - waited_ns);
                probe.at_link::<false>(end, 0).waiting(&packet, enqueued);
            }
            let used = Some(LinkUse { utilisation: 0.0, throughput: 0.0 });
            let queue = QueueSeen { name: "b".into(), used, vars: vec![] };
            let summary = collect_queues(probe, vec![queue], 2.0).summary;
            summary.iter().any(|row| row.metric == "delay_time_mean")
        };
        assert_eq!([rows(1_000_000_000), rows(0)], [true, false]);
    }

    #[test]
    fn a_wire_that_carried_nothing_has_no_loss_rate() {
        let metrics = |offered| {
            let mut rows = Vec::new();
            rows.extend(wire_rows("b", offered, 0));
            rows.iter().map(|row| row.metric).collect::<Vec<_>>()
        };
        assert_eq!(metrics(0), ["wire_lost"]);
        assert_eq!(metrics(1), ["wire_lost", "wire_loss_rate"]);
    }
}
