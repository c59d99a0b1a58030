//! Applications, against arithmetic by hand and queueing theory (docs/facts/traffic.md).

use std::sync::Arc;

use sojourn_aqm::{Ecn, Rate, Span, Time};
use sojourn_record::Run;
use sojourn_record::rows::Scope;
use sojourn_scenario::resolved::{
    Adaptation, App, Arrivals, Capacity, Chunks, Datagrams, DelayChanges, FlowGroup, Loss,
    Recording, Schedule, Sizes, Tcp, Transfers, Web,
};

use crate::common::*;

fn datagrams(packet_bytes: u32, rate: Rate) -> Datagrams {
    Datagrams { packet_bytes, rate, ecn: Ecn::NotEct }
}

/// When the packets of a run arrived at its queue, in microseconds.
fn arrivals(run: &Run) -> Vec<u64> {
    run.packets.iter().map(|row| row.arrived.as_nanos() / 1_000).collect()
}

/// Runs flows whose packets reach the only queue without delay.
fn at_queue(seconds: u64, mut flows: Vec<FlowGroup>) -> Run {
    for flow in &mut flows {
        (flow.access_delay, flow.access_rate) = (Span::ZERO, mbit(1_000_000));
    }
    let mut plan = scenario(seconds, vec![link("b", "taildrop", 400_000)], flows);
    plan.record.packets = true;
    run(&plan)
}

/// The backlog is derived: 15 Mbit/s more arrive than leave.
#[test]
fn a_burst_leaves_the_backlog_that_arrivals_exceed_departures_by() {
    for (length, bytes, delay) in [(100, 187_500, 0.150), (200, 375_000, 0.300)] {
        let datagrams = datagrams(1_000, mbit(25));
        let at = vec![Span::from_secs(1)];
        let app = App::Bursts { datagrams, at, length: ms(length) };
        let run = at_queue(3, vec![group("burst", 1, app)]);
        let came = arrivals(&run);
        assert_eq!(came.len() as u64, length * 25_000 / 8 / 1_000 + u64::from(length == 100));
        assert_eq!(came[0], 1_000_000);
        // 25 Mbit/s arrive, 10 Mbit/s leave; the last packet waits for all earlier ones.
        let waited = metric(&run, Scope::Queue, "b", "delay_max");
        assert!((waited - delay).abs() < 0.000_9, "{waited}");
        let backlog = came.len() as u64 * 1_000 - length * 1_250;
        assert!(backlog.abs_diff(bytes) < 1_000, "{backlog}");
    }
}

#[test]
fn bursts_come_at_their_times_from_the_start_of_the_flow() {
    let app = App::Bursts {
        datagrams: datagrams(1_000, mbit(8)),
        at: vec![ms(10), ms(20)],
        length: Span::from_micros(1_500), // two packets of 1 ms start within
    };
    let mut flow = group("burst", 1, app);
    flow.start = (ms(100), ms(100));
    assert_eq!(arrivals(&at_queue(1, vec![flow])), [110_000, 111_000, 120_000, 121_000]);
}

/// Derivation: two flows of rate r over capacity C lose 1 - C/(2r).
#[test]
fn overload_without_tcp_loses_what_does_not_fit() {
    for (rate, loss) in [(mbit(6), 1.0 / 6.0), (mbit(10), 0.5)] {
        let mut plan =
            scenario(60, vec![link("b", "taildrop", 100_000)], vec![cbr("udp", 2, rate, 1_000)]);
        plan.warmup = Span::from_secs(5);
        let drops = metric(&run(&plan), Scope::Queue, "b", "drop_rate");
        assert!((drops - loss).abs() < 0.001, "{drops} against {loss}");
    }
}

/// M/D/1: the mean wait is rho s / (2 (1 - rho)) with service time s (Pollaczek 1930, Khinchine
/// 1932).
#[test]
fn poisson_arrivals_wait_as_in_an_m_d_1_queue() {
    for load in [0.5, 0.8] {
        let rate = Rate::from_bps((load * 10e6) as u64);
        let app = App::Cbr {
            datagrams: datagrams(1_000, rate),
            arrivals: Arrivals::Poisson,
            voice: None,
        };
        let waits: Vec<f64> = (0..10)
            .map(|seed| {
                let mut flow = group("poisson", 1, app.clone());
                flow.access_rate = mbit(1_000_000);
                let mut plan = scenario(300, vec![link("b", "taildrop", 10_000_000)], vec![flow]);
                (plan.seed, plan.warmup) = (seed, Span::from_secs(5));
                metric(&run(&plan), Scope::Queue, "b", "delay_mean")
            })
            .collect();
        let (mean, half) = confidence(&waits);
        let theory = load * 0.8e-3 / (2.0 * (1.0 - load));
        assert!((mean - theory).abs() < half, "{mean} +- {half} against {theory}");
        assert!(half < 0.05 * theory, "the interval is wide: {half} of {theory}");
    }
}

/// Mean and half of its 99 % interval from ten values (Student: 3.25 with nine degrees of freedom).
fn confidence(values: &[f64]) -> (f64, f64) {
    assert_eq!(values.len(), 10, "the quantile is that of nine degrees of freedom");
    let mean = values.iter().sum::<f64>() / 10.0;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 9.0;
    (mean, 3.25 * (variance / 10.0).sqrt())
}

#[test]
fn uniform_gaps_are_between_half_and_one_and_a_half_intervals() {
    let app =
        App::Cbr { datagrams: datagrams(1_000, mbit(1)), arrivals: Arrivals::Uniform, voice: None };
    let came = arrivals(&at_queue(100, vec![group("jittered", 1, app)]));
    let gaps: Vec<u64> = came.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| (3_999..=12_001).contains(gap)));
    assert!(gaps.iter().any(|&gap| gap < 4_500) && gaps.iter().any(|&gap| gap > 11_500));
    let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
    assert!((mean - 8_000.0).abs() < 4.0 * 2_310.0 / (gaps.len() as f64).sqrt(), "{mean}");
}

/// Fact traffic-3.
#[test]
fn a_call_of_87_kbit_sends_every_20_046_us() {
    let run = at_queue(10, vec![cbr("voip", 1, Rate::from_bps(87_000), 218)]);
    let came = arrivals(&run);
    assert_eq!(came.last().unwrap() / (came.len() as u64 - 1), 20_045); // 20.0459 ms, rounded down
}

#[test]
fn frames_of_video_come_evenly_in_as_many_datagrams_as_they_need() {
    let app = App::Video {
        packet_bytes: 1_200,
        ecn: Ecn::NotEct,
        frames: Sizes::List(vec![2_500]),
        interval: ms(40),
    };
    let run = at_queue(1, vec![group("video", 1, app)]);
    let sizes: Vec<u32> = run.packets.iter().take(6).map(|row| row.bytes).collect();
    assert_eq!(sizes, [1_200, 1_200, 100, 1_200, 1_200, 100]);
    assert_eq!(run.packets.len(), 25 * 3);
    assert_eq!(arrivals(&run)[3], 40_000);
}

#[test]
fn recorded_transfers_begin_at_their_times_whether_or_not_others_have_ended() {
    let amounts = vec![(ms(0), 500_000), (ms(5), 1_000), (ms(80), 2_000)];
    let recording = Recording { file: String::new(), sha256: String::new(), amounts };
    let plan = Transfers::Recorded(Arc::new(recording));
    let mut flow = group("downloads", 3, App::Transfers { tcp: tcp("cubic"), plan });
    flow.start = (ms(100), ms(100));
    let run = run(&scenario(20, vec![link("b", "taildrop", 100_000)], vec![flow]));
    let mut rows: Vec<(u64, u64)> =
        run.transfers.iter().map(|row| (row.start.as_nanos() / 1_000_000, row.bytes)).collect();
    // The first transfer, of 500 kB, is the last to end.
    assert_eq!(rows.last(), Some(&(100, 500_000)));
    rows.sort_unstable();
    assert_eq!(rows, [(100, 500_000), (105, 1_000), (180, 2_000)]);
}

#[test]
fn drawn_transfers_are_one_for_each_flow() {
    let sizes = Sizes::List(vec![10_000]);
    let (every, arrivals) = (ms(50), Arrivals::Poisson);
    let plan = Transfers::Drawn { sizes, every, arrivals };
    let flow = group("downloads", 300, App::Transfers { tcp: tcp("cubic"), plan });
    let run = run(&scenario(60, vec![link("b", "taildrop", 100_000)], vec![flow]));
    assert_eq!(run.transfers.len(), 300);
    // The last of 300 starts at 15 s, with a standard deviation of 0.05 s sqrt(300).
    let last = run.transfers.iter().map(|row| row.start).max().unwrap().as_secs();
    assert!((last - 15.0).abs() < 3.0 * 0.87, "{last}");
}

#[test]
fn a_recording_is_replayed_with_its_times_and_sizes() {
    let amounts = vec![(ms(5), 300), (ms(5), 3_200), (ms(80), 40)];
    let recording = Recording { file: String::new(), sha256: String::new(), amounts };
    let recording = Arc::new(recording);
    let app = App::Replay { packet_bytes: 1_500, ecn: Ecn::NotEct, recording };
    let mut flow = group("replay", 1, app);
    flow.start = (ms(100), ms(100));
    let run = at_queue(1, vec![flow]);
    let rows: Vec<(u64, u32)> =
        arrivals(&run).into_iter().zip(run.packets.iter().map(|row| row.bytes)).collect();
    // At 1 Tbit/s a packet takes 12 ns.
    let expected =
        [(105_000, 300), (105_000, 1_500), (105_000, 1_500), (105_000, 200), (180_000, 40)];
    assert_eq!(rows, expected);
    // Each datagram has 28 B of headers; 0.9 s count.
    assert_eq!(metric(&run, Scope::Class, "replay", "goodput"), 3_400.0 * 8.0 / 0.9);
}

#[test]
fn a_video_player_climbs_to_the_highest_rate_that_the_path_carries() {
    let rates = vec![mbit(1), mbit(2), mbit(20)];
    let (every, buffer, adaptation) = (Span::from_secs(4), None, Adaptation::Throughput);
    let chunks = Chunks { every, rates, buffer, adaptation };
    let app = App::Chunks { tcp: tcp("cubic"), chunks };
    let run = run(&scenario(60, vec![link("b", "taildrop", 125_000)], vec![group("tv", 1, app)]));
    let sizes: Vec<u64> = run.transfers.iter().map(|row| row.bytes).collect();
    // The lowest bitrate comes first; 20 Mbit/s never fit into 10.
    assert_eq!(sizes[0], 500_000);
    assert!(sizes[3..].iter().all(|&bytes| bytes == 1_000_000), "{sizes:?}");
    let starts: Vec<u64> = run.transfers.iter().map(|row| row.start.as_nanos()).collect();
    assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == 4_000_000_000), "{starts:?}");
}

/// 10 Mbit/s, interrupted by an outage.
fn outage(from_ms: u64, to_ms: u64) -> Capacity {
    let rates = [(0, Some(mbit(10))), (from_ms, None), (to_ms, Some(mbit(10)))];
    let steps = rates.map(|(at_ms, rate)| (Time::ZERO + ms(at_ms), rate));
    Capacity::Schedule(Schedule::new(steps.to_vec()))
}

/// A player of chunks of 2 s that buffers 8 s, on a link of 10 Mbit/s that is down from 10 to 30 s.
/// At 10 s it has at most 8 s to play, and at least the 6 s of a buffer without room for another
/// chunk.
#[test]
fn a_player_stalls_once_in_an_outage_longer_than_its_buffer() {
    let (every, buffer) = (Span::from_secs(2), Some(Span::from_secs(8)));
    let chunks = Chunks { every, rates: vec![mbit(1)], buffer, adaptation: Adaptation::Buffer };
    let player = group("tv", 1, App::Chunks { tcp: tcp("cubic"), chunks });
    let mut down = link("b", "taildrop", 125_000);
    down.capacity = outage(10_000, 30_000);
    let run = run(&scenario(60, vec![down], vec![player]));
    let found = |name| metric(&run, Scope::Class, "tv", name);
    assert_eq!(["stalls", "rate_switches", "video_rate"].map(found), [1.0, 0.0, 1e6]);
    let first = run.transfers[0].completion.as_secs();
    assert_eq!(["startup_mean", "startup_max"].map(found), [first; 2]);
    // Retransmission timers may double until 15 s after the outage.
    let stalled = found("stall_time");
    assert!((12.0..14.0 + 15.0).contains(&stalled), "{stalled}");
    assert!((found("stalled_share") - stalled / (60.0 - first)).abs() < 1e-12);
}

/// A frame is two packets of 1500 B. The second packet has left its sender after 0.24 ms, finds the
/// first in service until 2.32 ms, is sent by 3.52 ms, and arrives 49 ms later.
#[test]
fn a_frame_is_shown_when_its_last_packet_has_arrived() {
    let (frames, interval) = (Sizes::List(vec![3_000]), ms(40));
    let app = App::Video { packet_bytes: 1_500, ecn: Ecn::NotEct, frames, interval };
    let run = run(&scenario(2, vec![link("b", "taildrop", 125_000)], vec![group("call", 1, app)]));
    let found = |name| metric(&run, Scope::Class, "call", name);
    assert!((found("frame_delay_mean") - 0.052_52).abs() < 1e-9, "{}", found("frame_delay_mean"));
    assert_eq!(["frames_skipped", "freezes", "frozen_share"].map(found), [0.0; 3]);
}

/// On a link that is down from 0.5 to 1.5 s: one freeze.
#[test]
fn a_call_freezes_once_in_an_outage() {
    let (frames, interval) = (Sizes::List(vec![3_000]), ms(40));
    let app = App::Video { packet_bytes: 1_500, ecn: Ecn::NotEct, frames, interval };
    let mut down = link("b", "taildrop", 125_000);
    down.capacity = outage(500, 1_500);
    let run = run(&scenario(3, vec![down], vec![group("call", 1, app)]));
    let found = |name| metric(&run, Scope::Class, "call", name);
    assert_eq!(found("freezes"), 1.0);
    // The freeze lasts from the frame sent at 480 ms to the one sent at 520 ms, whose first packet
    // leaves at 1.5 s.
    let (shown, next) = (0.480 + 0.052_52, 1.5 + 0.002_4 + 0.049);
    let share = (next - shown) / (3.0 - 0.052_52);
    assert!((found("frozen_share") - share).abs() < 1e-9, "{} {share}", found("frozen_share"));
}

/// Pages of one size: the main object and four others of one segment each, over two connections.
fn small_pages() -> Web {
    Web {
        main: Sizes::List(vec![1_000]),
        object: Sizes::List(vec![1_000]),
        objects: Some(4),
        parallel: 2,
        request_bytes: 328,
        reading: Span::from_secs(1),
        parsing: Span::from_nanos(1),
    }
}

/// Request and SYN cross in one round trip, SYN-ACK and data in the second, while objects fit into
/// the initial window.
#[test]
fn a_page_takes_two_round_trips_for_every_object_in_a_row() {
    let app = App::Web { tcp: tcp("cubic"), web: small_pages() };
    let run = run(&scenario(30, vec![link("b", "taildrop", 125_000)], vec![group("web", 1, app)]));
    assert!(run.transfers.len() > 10, "{}", run.transfers.len());
    for page in &run.transfers {
        assert_eq!(page.bytes, 5_000);
        // The main object comes first, then two objects in sequence on each connection: three times
        // two round trips of 100 ms, and some transmissions of about 1 ms.
        let seconds = page.completion.as_secs();
        assert!((0.600..0.612).contains(&seconds), "{seconds}");
    }
}

#[test]
fn a_lost_request_is_sent_again_and_pages_go_on() {
    let app = App::Web { tcp: tcp("cubic"), web: small_pages() };
    let mut flow = group("web", 5, app);
    flow.reverse = vec![1];
    (flow.return_delay, flow.return_egress_delay) = (ms(1), ms(1));
    let mut up = link("up", "taildrop", 125_000);
    up.loss = Some(sojourn_scenario::resolved::Loss::Bernoulli(0.2));
    let run = run(&scenario(120, vec![link("b", "taildrop", 125_000), up], vec![flow]));
    let late = run.transfers.iter().filter(|page| page.start.as_secs() > 100.0).count();
    assert!(late > 5, "{late}");
    assert!(run.transfers.iter().any(|page| page.completion > Span::from_secs(1)));
}

#[test]
fn a_request_that_reaches_the_server_after_the_stop_is_not_answered() {
    let arrived = |stop| {
        let mut flow = group("web", 1, App::Web { tcp: tcp("cubic"), web: small_pages() });
        flow.stop = Some(stop);
        let run = run(&scenario(2, vec![link("b", "taildrop", 125_000)], vec![flow]));
        metric(&run, Scope::Queue, "b", "arrived")
    };
    // The first request leaves at once and takes 50 ms.
    assert_eq!(arrived(ms(49)), 0.0);
    assert!(arrived(ms(51)) > 0.0);
}

#[test]
fn connections_of_a_page_are_separate_flows_to_a_router() {
    let web = Web { objects: Some(40), parallel: 6, ..small_pages() };
    let app = App::Web { tcp: tcp("cubic"), web };
    let mut plan = scenario(20, vec![link("b", "fq_codel", 125_000)], vec![group("web", 1, app)]);
    plan.record.sample = ms(1);
    let run = run(&plan);
    let var = run.vars[0].iter().position(|var| var.name == "active_queues");
    let Some(var) = var else { panic!("{:?}", run.vars[0]) };
    let most = run.states.iter().filter(|row| usize::from(row.var) == var).map(|row| row.value);
    assert!(most.fold(0.0, f64::max) >= 2.0);
}

#[test]
fn flows_join_and_leave_on_schedule() {
    // 1, 3 and 1 flows of 2 Mbit/s in turn, 10 s each.
    let mut more = cbr("more", 2, mbit(2), 1_000);
    more.start = (Span::from_secs(10), Span::from_secs(10));
    more.stop = Some(Span::from_secs(20));
    let run = at_queue(30, vec![cbr("base", 1, mbit(2), 1_000), more]);
    let per_second = |second: u64| {
        let (from, to) = (second * 1_000_000, (second + 1) * 1_000_000);
        arrivals(&run).iter().filter(|&&at| at >= from && at < to).count() / 250
    };
    assert_eq!([5, 12, 19, 20, 25].map(per_second), [1, 3, 3, 1, 1]);
}

/// Derivation: without a buffer the window swings between W/2 and W, where W fills the path.
#[test]
fn one_reno_flow_without_a_buffer_uses_three_quarters() {
    // The buffer must hold two packets, because one acknowledgement releases two when the window
    // grows; the bandwidth-delay product is 166 packets.
    let used: Vec<f64> = (0..10)
        .map(|seed| {
            let mut flow = group("bulk", 1, App::Bulk { tcp: every_packet("reno"), bytes: None });
            flow.access_rate = mbit(1_000);
            flow.start = (Span::ZERO, ms(1_000));
            let mut bottleneck = link("b", "taildrop", 3_000);
            bottleneck.capacity = Capacity::Constant(mbit(20));
            let mut plan = scenario(300, vec![bottleneck], vec![flow]);
            (plan.seed, plan.warmup) = (seed, Span::from_secs(60));
            metric(&run(&plan), Scope::Queue, "b", "utilisation")
        })
        .collect();
    let (mean, half) = confidence(&used);
    assert!((0.74 - half..0.77 + half).contains(&mean) && half < 0.01, "{mean} +- {half}");
}

fn every_packet(cc: &str) -> Tcp {
    Tcp { ack_every: Some(1), ..tcp(cc) }
}

/// Pings of 1000 B every 100 ms at 8 Mbit/s each way: 1 ms on each of two links, 0.08 ms on the
/// sender's access link of 100 Mbit/s, and 100 ms of propagation.
fn pings(loss: Option<Loss>) -> Run {
    let (mut there, mut back) = (link("b", "taildrop", 100_000), link("c", "taildrop", 100_000));
    for link in [&mut there, &mut back] {
        (link.capacity, link.loss) = (Capacity::Constant(mbit(8)), loss.clone());
    }
    let app = App::Echo { packet_bytes: 1_000, ecn: Ecn::NotEct, interval: ms(100) };
    let mut flow = group("ping", 2, app);
    (flow.reverse, flow.return_delay) = (vec![1], ms(100) - flow.access_delay - flow.egress_delay);
    for link in [&there, &back] {
        flow.return_delay = flow.return_delay - link.delay;
    }
    let mut plan = scenario(60, vec![there, back], vec![flow]);
    plan.record.flows = true;
    run(&plan)
}

#[test]
fn samples_have_the_round_trips_of_the_replies_since_the_last() {
    let run = pings(Some(Loss::Bernoulli(0.2)));
    let rows: Vec<_> = run.flow_states.iter().filter(|row| row.var == "rtt").collect();
    assert!(rows.iter().all(|row| (0.102..0.104).contains(&row.value)));
    // Pings and samples come every 100 ms; lost replies have no row.
    let replies = 2.0 * 600.0 * (1.0 - metric(&run, Scope::Class, "ping", "loss_rate"));
    assert!((rows.len() as f64 - replies).abs() <= 4.0, "{} of {replies}", rows.len());
}

#[test]
fn an_echo_takes_the_propagation_delay_and_its_transmission_both_ways() {
    let run = pings(None);
    let of = |metric_name: &str| metric(&run, Scope::Class, "ping", metric_name);
    // Both flows send at the same times; on the first link, the second waits for the first.
    assert!((of("rtt_max") - 0.103_08).abs() < 0.000_2, "{}", of("rtt_max"));
    assert!((of("rtt_p50") - 0.102_58).abs() < 0.001, "{}", of("rtt_p50"));
    assert_eq!(of("loss_rate"), 0.0);
    assert!((of("round_trips_per_minute") - 60.0 / of("rtt_mean")).abs() < 1e-6);
}

#[test]
fn an_echo_is_lost_on_the_way_there_or_back() {
    let run = pings(Some(Loss::Bernoulli(0.2)));
    let lost = metric(&run, Scope::Class, "ping", "loss_rate");
    // The expected loss is 1 - 0.8^2 of 1200, within three standard deviations.
    assert!((lost - 0.36).abs() < 3.0 * (0.36f64 * 0.64 / 1200.0).sqrt(), "{lost}");
}

#[test]
fn an_echo_takes_the_delay_that_the_wire_has_when_it_enters() {
    let mut link = link("b", "taildrop", 100_000);
    let second = Time::ZERO + Span::from_secs(30);
    let above_least = vec![(Time::ZERO, Span::ZERO), (second, ms(25))];
    link.delay_changes = Some(DelayChanges { above_least, reorder: false });
    let app = App::Echo { packet_bytes: 1_000, ecn: Ecn::NotEct, interval: ms(100) };
    let run = run(&scenario(60, vec![link], vec![group("ping", 1, app)]));
    let of = |metric_name: &str| metric(&run, Scope::Class, "ping", metric_name);
    let (mean, most) = (of("rtt_mean"), of("rtt_max"));
    assert!((most - mean - 0.012_5).abs() < 0.000_1, "{mean} {most}");
}
