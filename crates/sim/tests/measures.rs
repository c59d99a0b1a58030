//! What is measured, against hand-made arithmetic: bins, path RTT, one-way delay, states of
//! senders.

mod common;

use common::*;
use sojourn_aqm::{Rate, Span, Time};
use sojourn_record::Run;
use sojourn_record::rows::{BinRow, Scope};
use sojourn_scenario::resolved::{App, Capacity, Tcp};

/// The values of one series, bin by bin.
fn series(run: &Run, scope: Scope, index: u32, metric: &str) -> Vec<f64> {
    let of = |row: &&BinRow| row.scope == scope && row.index == index && row.metric == metric;
    run.bins.iter().filter(of).map(|row| row.value).collect()
}

#[test]
fn bins_are_consecutive_and_add_up_to_the_run() {
    let mut plan = scenario(20, vec![link("b", "codel", 125_000)], vec![bulk(3, "cubic")]);
    plan.record.bins = Some(Span::from_secs(1));
    let binned = run(&plan);
    let goodput = series(&binned, Scope::Class, 0, "goodput");
    assert_eq!(goodput.len(), 20);
    let whole = metric(&binned, Scope::Class, "bulk", "goodput");
    let mean = goodput.iter().sum::<f64>() / 20.0;
    assert!((mean - whole).abs() < 1.0, "{mean} {whole}");
    let of_flows: f64 = (0..3).map(|flow| series(&binned, Scope::Flow, flow, "goodput")[7]).sum();
    assert!((of_flows - goodput[7]).abs() < 1.0);
    let used = series(&binned, Scope::Queue, 0, "utilisation");
    let mean = used.iter().sum::<f64>() / 20.0;
    assert!((mean - metric(&binned, Scope::Queue, "b", "utilisation")).abs() < 1e-6);
    assert!(used.iter().all(|&used| (0.0..=1.0).contains(&used)), "{used:?}");
    let starts: Vec<Time> = binned.bins.iter().map(|row| row.t).collect();
    assert!(starts.is_sorted() && starts[0] == Time::ZERO);
    // Measuring does not change what happens.
    plan.record.bins = None;
    assert_eq!(run(&plan).digest, binned.digest);
}

#[test]
fn bins_show_the_schedule_of_a_link_and_what_is_dropped() {
    let mut slow = link("b", "taildrop", 10_000);
    let steps = [(0, 10), (4, 2)].map(|(at, rate)| (Time::ZERO + Span::from_secs(at), mbit(rate)));
    slow.capacity = Capacity::Schedule(steps.to_vec());
    let mut plan = scenario(10, vec![slow], vec![cbr("d", 1, mbit(5), 1_000)]);
    plan.record.bins = Some(Span::from_secs(2));
    let run = run(&plan);
    let rounded = |metric: &str| {
        let values = series(&run, Scope::Queue, 0, metric);
        values.iter().map(|value| (value * 100.0).round() / 100.0).collect::<Vec<_>>()
    };
    assert_eq!(rounded("utilisation"), [0.5, 0.5, 1.0, 1.0, 1.0]);
    // 3 of 5 Mbit/s exceed the rate; the first bin at 2 Mbit/s fills the buffer of 10 packets.
    assert_eq!(rounded("drop_rate"), [0.0, 0.0, 0.59, 0.6, 0.6]);
    assert_eq!(rounded("mark_rate"), [0.0; 5]);
}

#[test]
fn the_path_rtt_of_a_lone_packet_is_propagation_and_serialisation() {
    let tcp = Tcp { payload_bytes: 1_000, header_bytes: 40, ..tcp("reno") };
    let mut flow = group("lone", 1, App::Bulk { tcp, bytes: Some(1_000) });
    flow.access_rate = mbit(100);
    (flow.sender_downlink, flow.receiver_rate) = (Some(mbit(100)), Some(mbit(100)));
    (flow.return_delay, flow.return_egress_delay) = (ms(1), ms(1));
    flow.reverse = vec![1];
    let links = vec![link("down", "taildrop", 125_000), link("up", "taildrop", 125_000)];
    let mut plan = scenario(2, links, vec![flow]);
    plan.record.latency = true;
    let run = run(&plan);
    assert!((metric(&run, Scope::Class, "lone", "rtt_mean") - 0.101_036_8).abs() < 1e-9);
    assert!((metric(&run, Scope::Class, "lone", "owd_mean") - 0.050_998_4).abs() < 1e-9);
    assert_eq!(run.histograms.iter().filter(|h| h.metric == "rtt").count(), 1);
}

#[test]
fn the_path_rtt_is_base_rtt_and_queue_and_costs_nothing_when_off() {
    let mut flow = group("bulk", 1, App::Bulk { tcp: tcp("reno"), bytes: None });
    if let App::Bulk { tcp, .. } = &mut flow.app {
        tcp.ack_every = Some(1);
    }
    let mut plan = scenario(100, vec![link("b", "taildrop", 125_000)], vec![flow]);
    plan.warmup = Span::from_secs(20);
    let off = run(&plan);
    plan.record.latency = true;
    let on = run(&plan);
    assert_eq!(on.digest, off.digest);
    assert!(off.histograms.iter().all(|h| h.metric != "rtt"));
    let queue = metric(&on, Scope::Queue, "b", "delay_p50");
    let rtt = metric(&on, Scope::Class, "bulk", "rtt_p50");
    // Access 0.12 ms, bottleneck 1.2 ms; quantiles of a histogram are known to 0.1 %.
    assert!((rtt - queue - 0.101_32).abs() < 0.002, "{rtt} {queue}");
    // 600 s would not be larger: the histogram has a bin for each 0.1 %.
    let rtts = on.histograms.iter().find(|h| h.metric == "rtt").unwrap();
    assert!(rtts.histogram.bins().count() < 3_000);
}

#[test]
fn samples_of_flows_show_threshold_and_state() {
    let mut plan = scenario(30, vec![link("b", "taildrop", 60_000)], vec![bulk(1, "reno")]);
    plan.record.flows = true;
    let run = run(&plan);
    let of = |var: &str| {
        run.flow_states.iter().filter(|row| row.var == var).map(|row| row.value).collect::<Vec<_>>()
    };
    let (thresholds, states) = (of("ssthresh"), of("state"));
    assert_eq!(thresholds.len(), states.len());
    assert!(thresholds[1].is_infinite(), "nothing was lost at first");
    assert!(thresholds.last().unwrap().is_finite());
    assert!(states.iter().all(|state| (0.0..=4.0).contains(state)) && states.contains(&3.0));
}

#[test]
fn the_one_way_delay_of_a_call_is_reported_by_class() {
    let mut call = cbr("call", 1, Rate::from_bps(87_000), 218);
    call.access_delay = ms(5);
    let plan = scenario(10, vec![link("b", "taildrop", 125_000)], vec![call]);
    let p50 = metric(&run(&plan), Scope::Class, "call", "owd_p50");
    // 5 + 48 + 1 ms, 218 B at 100 and at 10 Mbit/s.
    assert!((p50 - 0.054_191_84).abs() < 1e-4, "{p50}");
}
