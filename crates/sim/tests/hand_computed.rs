//! Small simulations with every summary row computed by hand. A packet of 1000 B leaves its sender
//! after 0.08 ms (100 Mbit/s) and arrives 1 ms later at the link, which takes 0.8 ms to send it (10
//! Mbit/s); it reaches the receiver 48 ms and 1 ms later. Quantiles are the middle of a bin of the
//! histogram, at most the maximum: bins are 1 us wide up to 2.048 ms, 16 us from 16.384 ms, 32 us
//! from 32.768 ms, 64 us from 65.536 ms.

use std::sync::Arc;

use sojourn_aqm::{Ecn, Framing, Rate, Span};
use sojourn_record::Run;
use sojourn_record::rows::Scope;
use sojourn_scenario::resolved::{
    App, Bucket, Capacity, Codec, FlowGroup, Link, Loss, Policer, Radio, RateControl, Recording,
    Tcp, Trace, Wlan,
};
use sojourn_scenario::wlan_timing::OfdmRate;

use crate::common::{calls, cbr, group, link, mbit, metric, ms, run, scenario, tcp};

const QUEUE: Scope = Scope::Queue;
const CLASS: Scope = Scope::Class;

/// One flow that sends bursts of packets of one size, each at a time in microseconds.
fn bursts(packet_bytes: u32, sent: &[(u64, u64)]) -> FlowGroup {
    let amount = |&(at_us, packets): &(u64, u64)| {
        (Span::from_micros(at_us), packets * u64::from(packet_bytes))
    };
    let amounts = sent.iter().map(amount).collect();
    let recording = Recording { file: String::new(), sha256: String::new(), amounts };
    group("d", 1, App::Replay { packet_bytes, ecn: Ecn::Ect0, recording: Arc::new(recording) })
}

/// Checks that the summary of a queue or class has exactly these rows, in this order.
fn assert_rows(run: &Run, scope: Scope, name: &str, expected: &[(&str, f64)]) {
    let found: Vec<_> = run.summary.iter().filter(|r| r.scope == scope && r.name == name).collect();
    let names = |row: &&sojourn_record::rows::SummaryRow| row.metric;
    let metrics: Vec<_> = found.iter().map(names).collect();
    assert_eq!(metrics, expected.iter().map(|row| row.0).collect::<Vec<_>>());
    for (row, &(metric, value)) in found.iter().zip(expected) {
        let tolerance = 1e-12 * value.abs();
        assert!((row.value - value).abs() <= tolerance, "{metric}: {} not {value}", row.value);
    }
}

/// The rows of a queue whose sojourn times have these moments, which dropped and marked nothing.
fn quiet(delays: [f64; 6], used: [f64; 2], counts: [f64; 3]) -> Vec<(&'static str, f64)> {
    let names =
        ["delay_mean", "delay_p50", "delay_p95", "delay_p99", "delay_max", "delay_time_mean"];
    let mut rows: Vec<_> = names.into_iter().zip(delays).collect();
    rows.extend(["utilisation", "throughput"].into_iter().zip(used));
    rows.extend(["arrived", "sent", "waiting"].into_iter().zip(counts));
    rows.extend(drop_and_mark_rates([0.0; 7]));
    rows
}

fn drop_and_mark_rates(rates: [f64; 7]) -> impl Iterator<Item = (&'static str, f64)> {
    let names = [
        "drop_rate",
        "mark_rate",
        "drop_rate_overflow",
        "drop_rate_random",
        "mark_rate_random",
        "drop_rate_deterministic",
        "mark_rate_deterministic",
    ];
    names.into_iter().zip(rates)
}

/// The rows of a class of datagrams.
fn datagrams(goodput: f64, owd: [f64; 5], loss: Option<f64>) -> Vec<(&'static str, f64)> {
    let names = ["owd_mean", "owd_p50", "owd_p95", "owd_p99", "owd_max"];
    let mut rows = vec![("flows", 1.0), ("goodput", goodput), ("goodput_per_flow", goodput)];
    rows.extend(names.into_iter().zip(owd));
    rows.extend(loss.map(|loss| ("loss_rate", loss)));
    rows
}

/// Samples of a variable of queue 0.
fn samples(run: &Run, name: &str) -> Vec<f64> {
    let builtin = sojourn_measure::summary::BUILTIN_VARS.iter().position(|var| var.name == name);
    let var = builtin.expect("a variable of every queue") as u16;
    run.states.iter().filter(|row| row.var == var).map(|row| row.value).collect()
}

#[test]
fn constant_traffic_below_the_rate_of_a_link_never_waits() {
    let mut flow = cbr("d", 1, mbit(8), 1_000);
    flow.start = (Span::from_micros(100), Span::from_micros(100));
    let mut plan = scenario(10, vec![link("b", "taildrop", 10_000)], vec![flow]);
    plan.warmup = Span::from_secs(1);
    let found = run(&plan);
    // Packets arrive 1.18 ms after each whole millisecond, 9000 of them in the 9 s that count.
    let busy = 9_000.0 * 0.0008;
    assert_rows(&found, QUEUE, "b", &quiet([0.0; 6], [busy / 9.0, 8e6], [9e3, 9e3, 0.0]));
    assert_rows(&found, CLASS, "d", &datagrams(7.776e6, [0.05088; 5], Some(0.0)));
    assert_eq!(metric(&found, Scope::Run, "", "packets"), 9_999.0);
}

#[test]
fn packets_of_a_burst_wait_for_those_in_front_of_them() {
    // Three packets arrive at the link at 1.08, 1.16 and 1.24 ms and are served from 1.08, 1.88 and
    // 2.68 ms; a later one is alone.
    let flow = bursts(1_000, &[(0, 3), (50_000, 1)]);
    let found = run(&scenario(1, vec![link("b", "taildrop", 10_000)], vec![flow]));
    let delays = [0.00054, 0.0, 0.00144, 0.00144, 0.00144, 1.6704e-6];
    assert_rows(&found, QUEUE, "b", &quiet(delays, [0.0032, 32_000.0], [4.0, 4.0, 0.0]));
    let owd = [0.05148, 0.050_912, 0.05248, 0.05248, 0.05248];
    assert_rows(&found, CLASS, "d", &datagrams(31_104.0, owd, Some(0.0)));
}

#[test]
fn samples_hold_the_mean_and_the_largest_delay_since_the_last_one() {
    // The queue holds one packet of 1000 B, so the last of each burst of three is dropped. The
    // largest delay is not that of the last packet, and there is no mean while nothing leaves.
    let flow = bursts(1_000, &[(0, 3), (50_000, 1), (120_000, 2), (310_000, 3)]);
    let mut plan = scenario(1, vec![link("b", "taildrop", 1_000)], vec![flow]);
    plan.duration = ms(400);
    let found = run(&plan);
    let of = |name: &str| samples(&found, name);
    let at: Vec<_> = found.states.iter().filter(|row| row.var == 0).map(|row| row.t).collect();
    assert_eq!(
        at.iter().map(|t| t.as_nanos() / 1_000_000).collect::<Vec<_>>(),
        [100, 200, 300, 400]
    );
    assert_eq!(of("delay_max"), [0.00072, 0.00072, 0.0, 0.00072]);
    assert_eq!(of("delay_mean")[..2], [0.00024, 0.00036]);
    assert!(of("delay_mean")[2].is_nan());
    assert_eq!(of("drops"), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(of("rate"), [240_000.0, 160_000.0, 0.0, 160_000.0]);
}

#[test]
fn the_last_sample_covers_what_is_left_of_the_run() {
    // One packet of 1000 B every millisecond, served at once: 8 Mbit/s in every sample, the last of
    // which covers 50 ms.
    let mut plan =
        scenario(1, vec![link("b", "taildrop", 1_000)], vec![cbr("d", 1, mbit(8), 1_000)]);
    plan.duration = ms(450);
    let rates = samples(&run(&plan), "rate");
    assert_eq!(rates[1..], [8e6; 4], "the first one lacks the delay of the path");
}

#[test]
fn a_full_queue_drops_and_the_edges_of_the_counted_time_are_sharp() {
    let burst = bursts(1_000, &[(498_500, 1), (600_000, 5), (998_500, 3)]);
    let mut plan = scenario(1, vec![link("b", "taildrop", 2_000)], vec![burst]);
    plan.warmup = ms(500);
    let found = run(&plan);
    // One packet is in service when the warm-up ends (until 500.38 ms); another when the run ends
    // (from 999.58 ms), with two behind it. Of five simultaneous packets, one is served, two are
    // queued and two are dropped.
    let mut rows: Vec<_> = quiet(
        [0.00054, 0.0, 0.00144, 0.00144, 0.00144, 3.572e-6],
        [(0.38 + 3.0 * 0.8 + 0.42) / 500.0, 4.0 * 8_000.0 / 0.5],
        [8.0, 4.0, 2.0],
    );
    rows.truncate(11);
    rows.extend(drop_and_mark_rates([0.25, 0.0, 0.25, 0.0, 0.0, 0.0, 0.0]));
    assert_rows(&found, QUEUE, "b", &rows);
    // The first packet was sent before the end of the warm-up and arrives after it. Of the 8 sent
    // later, 3 are received, 2 dropped, and 3 in flight at the end.
    let owd = [0.05148, 0.050_912, 0.05248, 0.05248, 0.05248];
    assert_rows(&found, CLASS, "d", &datagrams(62_208.0, owd, Some(0.4)));
}

/// Linux 6.1 act_police.c: of five packets 0.08 ms apart, in which 8 Mbit/s bring tokens for 80 B,
/// two of 1000 B conform.
#[test]
fn a_policer_drops_what_lacks_tokens_before_it_reaches_the_queue() {
    let mut policed = link("b", "taildrop", 10_000);
    policed.policer = Some(Policer { rate: mbit(8), burst_bytes: 2_000 });
    let found = run(&scenario(1, vec![policed], vec![bursts(1_000, &[(0, 5), (500_000, 1)])]));
    let delays = [0.00024, 0.0, 0.00072, 0.00072, 0.00072, 5.184e-7];
    let mut rows = quiet(delays, [0.0024, 24_000.0], [6.0, 3.0, 0.0]);
    rows.truncate(11);
    rows.extend(drop_and_mark_rates([0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
    rows.push(("drop_rate_policed", 0.5));
    assert_rows(&found, QUEUE, "b", &rows);
}

#[test]
fn every_packet_behind_another_one_is_marked_above_a_threshold_of_one() {
    let aqm = "step@dctcp:backlog_threshold=1p";
    let mut plan = scenario(1, vec![link("b", aqm, 10_000)], vec![bursts(1_000, &[(0, 5)])]);
    plan.record.states = true;
    let found = run(&plan);
    // The first packet is in service, the second alone in the queue; the others are not. Delays are
    // 0, 0.72, ... 2.88 ms; bins at 2.88 ms are 2 us wide.
    let delays = [0.00144, 0.001_44, 0.00288, 0.00288, 0.00288, 5.7024e-6];
    let mut rows = quiet(delays, [0.004, 40_000.0], [5.0, 5.0, 0.0]);
    rows[1].1 = 0.001_440_5;
    rows.truncate(11);
    rows.extend(drop_and_mark_rates([0.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.6]));
    assert_rows(&found, QUEUE, "b", &rows);
    assert_eq!(samples(&found, "marks")[0], 3.0);
}

/// A recorded link whose opportunities of 1000 B come every 10 ms.
fn recorded() -> Link {
    let opportunities_ms = vec![10];
    let (file, sha256, opportunity_bytes) = (String::new(), String::new(), 1_000);
    let trace = Trace { file, sha256, opportunities_ms, opportunity_bytes };
    let capacity = Capacity::Trace(Arc::new(trace));
    Link { capacity, delay: ms(1), ..link("b", "taildrop", 10_000) }
}

#[test]
fn a_recorded_link_is_used_by_the_bytes_it_carried_not_by_those_of_packets_that_began() {
    let mut plan = scenario(1, vec![recorded()], vec![bursts(1_500, &[(0, 2)])]);
    (plan.warmup, plan.duration) = (ms(15), ms(45));
    let found = run(&plan);
    // Packets arrive at the link at 1.12 and 1.24 ms. The first is carried at 10 and 20 ms, the
    // second at 20 and 30 ms. In the 30 ms that count, three opportunities occur, two of which
    // carry 1000 B each; one packet leaves the queue, after 18.76 ms; none arrives, so rates are
    // undefined.
    let used = [2.0 / 3.0, 2_000.0 * 8.0 / 0.03];
    let mut rows = quiet([0.01876; 6], used, [0.0, 1.0, 0.0]);
    rows[5].1 = 0.01876 * 0.005 / 0.03;
    rows.truncate(11);
    assert_rows(&found, QUEUE, "b", &rows);
    // Packets arrive 2 ms after their last byte was carried; nothing is sent after the warm-up.
    let owd = [0.027, 0.022_016, 0.032, 0.032, 0.032];
    assert_rows(&found, CLASS, "d", &datagrams(2_944.0 * 8.0 / 0.03, owd, None));
}

#[test]
fn a_token_bucket_lets_its_burst_pass_and_then_its_rate() {
    let (rate, line) = (mbit(1), mbit(10));
    let bucket =
        Bucket { rate, burst_bytes: 2_000, line, overdraft: false, framing: Framing::NONE };
    let shaped = Link { capacity: Capacity::Bucket(bucket), ..link("b", "taildrop", 10_000) };
    let found = run(&scenario(1, vec![shaped], vec![bursts(1_000, &[(0, 4)])]));
    // Packets leave the queue at 1.08, 1.88, 2.68 and 9.88 ms; transmissions start at 1.08, 1.88,
    // 9.08 (800 B of tokens were missing) and 17.08 ms.
    let delays = [0.00268, 0.000_721, 0.00856, 0.00856, 0.00856, 63.3024e-6];
    // The bucket held 2000 B, and 125 kB flowed in.
    let used = 32.0 / 1_016.0;
    assert_rows(&found, QUEUE, "b", &quiet(delays, [used, 32_000.0], [4.0, 4.0, 0.0]));
    let owd = [0.05708, 0.051_712, 0.06688, 0.06688, 0.06688];
    assert_rows(&found, CLASS, "d", &datagrams(31_104.0, owd, Some(0.0)));
}

#[test]
fn a_call_over_a_wire_that_loses_every_second_packet_is_rated_by_the_e_model() {
    let mut call = calls("call", Rate::from_bps(80_000), 200, Codec::G711);
    call.stop = Some(ms(470));
    // The channel changes state at every packet, and the first packet is in the bad state.
    let loss = Loss::GilbertElliott { enter: 1.0, leave: 1.0, bad: 1.0, good: 0.0 };
    let lossy = Link { loss: Some(loss), ..link("b", "taildrop", 10_000) };
    let found = run(&scenario(1, vec![lossy], vec![call]));
    let mut rows = quiet([0.0; 6], [24.0 * 0.00016, 24.0 * 1_600.0], [24.0, 24.0, 0.0]);
    rows.extend([("wire_lost", 12.0), ("wire_loss_rate", 0.5)]);
    assert_rows(&found, QUEUE, "b", &rows);
    // 0.016 + 1 + 0.16 + 48 + 1 ms. Cole and Rosenbluth 2001: 93.2 - 0.024 x (50.176 + 20) ms - 95
    // x 50 / (50 + 25.1).
    let rating: f64 = 93.2 - 1.684_224 - 4_750.0 / 75.1;
    let mut rows = datagrams(12.0 * 172.0 * 8.0 / 0.510_176, [0.050_176; 5], Some(0.5));
    let opinion = 1.0 + 0.035 * rating + rating * (rating - 60.0) * (100.0 - rating) * 7e-6;
    assert!((rating - 28.266_775).abs() < 1e-6 && (opinion - 1.538_926).abs() < 1e-6, "{opinion}");
    rows.extend([("voice_r", rating), ("voice_mos", opinion)]);
    assert_rows(&found, CLASS, "call", &rows);
}

/// TCP of ns-2: the first packet after the SYN is data.
fn one_way() -> Tcp {
    Tcp { profile: "madpie".into(), payload_bytes: 1_000, header_bytes: 40, ..tcp("reno") }
}

#[test]
fn transfers_that_do_not_finish_count_for_as_long_as_they_were_seen() {
    let of = |name: &str, start: u64, stop: Option<u64>| {
        let transport = one_way();
        let app = App::Bulk { tcp: transport, bytes: Some(1_000) };
        let start = (ms(start), ms(start));
        let stop = stop.map(ms);
        FlowGroup { class: "all".into(), start, stop, ..group(name, 1, app) }
    };
    // It took 150.9504 ms as above; the others were observed for 100 ms (the run ends) and 90 ms
    // (the flow stops). The first of the four is requested during the warm-up.
    let flows = vec![
        of("early", 0, None),
        of("whole", 1_000, None),
        of("late", 1_900, None),
        of("cut", 1_000, Some(1_090)),
    ];
    let mut plan = scenario(2, vec![link("b", "taildrop", 10_000)], flows);
    plan.warmup = ms(500);
    let found = run(&plan);
    let of = |name| metric(&found, CLASS, "all", name);
    assert_eq!(of("transfers"), 1.0);
    assert_eq!(of("unfinished_share"), 2.0 / 3.0);
    // Both others were gone by then, so it is the last of those at risk.
    assert!((of("completion_p95") - 0.150_950_4).abs() < 1e-9);
    assert_eq!(of("completion_max"), 0.150_950_4);

    plan.flows = vec![plan.flows[1].clone(), plan.flows[2].clone(), plan.flows[2].clone()];
    plan.flows[1].start = (ms(1_500), ms(1_500));
    plan.flows[1].app = App::Bulk { tcp: tcp("reno"), bytes: Some(100_000_000) };
    plan.flows[2].name = "later".into();
    let found = run(&plan);
    let has = |name| found.summary.iter().any(|row| row.name == "all" && row.metric == name);
    // One of three ended, and one was observed for 500 ms: half are known to take longer.
    assert!(!has("completion_p95"));
    assert_eq!(metric(&found, CLASS, "all", "completion_p95_above"), 0.5);
}

#[test]
fn a_wireless_frame_that_always_fails_is_sent_as_often_as_allowed_and_given_up() {
    let rate = RateControl::Constant(OfdmRate::new(mbit(54)).unwrap());
    let radio = Radio { rate, error_rate: 1.0, snr: None };
    let wlan = Wlan {
        name: "cell".into(),
        radio,
        attempts: 3,
        slot: Span::from_micros(9),
        difs: Span::from_micros(28),
        eifs: Span::from_micros(88),
    };
    let alone = wlan.lone_rate(&radio);
    let capacity = Capacity::Wireless { wlan: 0, radio: None, alone, airtime_fairness: false };
    let ap = Link { capacity, ..link("ap", "taildrop", 10_000) };
    let mut plan = scenario(1, vec![ap], vec![bursts(1_000, &[(0, 2)])]);
    plan.wlans = vec![wlan];
    let found = run(&plan);
    let of = |name: &str| metric(&found, QUEUE, "ap", name);
    assert_eq!(["arrived", "sent", "waiting"].map(of), [2.0, 2.0, 0.0]);
    assert_eq!(["frames", "frame_failure_rate", "given_up"].map(of), [6.0, 1.0, 2.0]);
    assert_eq!(of("frame_rate"), 54e6);
    assert_eq!(of("throughput"), 0.0);
    // 1036 B and 22 bits, at 216 bits per symbol, are 39 symbols of 4 us; with preamble and signal
    // extension they take 182 us; no acknowledgement follows.
    assert_eq!(of("utilisation"), 6.0 * 0.000_182);
    assert_rows(
        &found,
        CLASS,
        "d",
        &[("flows", 1.0), ("goodput", 0.0), ("goodput_per_flow", 0.0), ("loss_rate", 1.0)],
    );
}

#[test]
fn transfers_are_timed_and_their_shares_compared() {
    let transport = one_way;
    let of = |name: &str, bytes: u64| {
        let app = App::Bulk { tcp: transport(), bytes: Some(bytes) };
        FlowGroup { class: "pair".into(), ..group(name, 1, app) }
    };
    let mut later = of("three", 3_000);
    later.start = (Span::from_secs(1), Span::from_secs(1));
    let plan = scenario(2, vec![link("b", "taildrop", 10_000)], vec![of("one", 1_000), later]);
    let found = run(&plan);
    // A SYN of 40 B takes 0.0032 + 1 + 0.032 + 49 ms, its SYN-ACK 50 ms, the first 1040 B 0.0832 +
    // 1 + 0.832 + 49 ms, and each further packet 0.832 ms more. Each flow is active until then.
    let active = [0.150_950_4, 0.152_614_4];
    let goodputs: [f64; 2] = [8_000.0 / active[0], 24_000.0 / active[1]];
    let sum = goodputs[0] + goodputs[1];
    let squares = goodputs[0] * goodputs[0] + goodputs[1] * goodputs[1];
    let rows = [
        ("flows", 2.0),
        ("goodput", 32_000.0 / (active[0] + active[1])),
        ("goodput_per_flow", sum / 2.0),
        ("jain", sum * sum / (2.0 * squares)),
        ("transfers", 2.0),
        ("unfinished_share", 0.0),
        ("completion_mean", (0.150_950_4 + 0.152_614_4) / 2.0),
        ("completion_p50", 0.151_04),
        // The bin of the second begins at 0.152576 s.
        ("completion_p95", 0.152_576 + 0.9 * 38.4e-6),
        ("completion_p99", 0.152_576 + 0.98 * 38.4e-6),
        ("completion_max", 0.152_614_4),
    ];
    assert_rows(&found, CLASS, "pair", &rows);
    assert_eq!(metric(&found, Scope::Run, "", "packets"), 6.0);
}
