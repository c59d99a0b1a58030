//! Congestion controls in whole simulations: properties stated by their sources, on one bottleneck.

use sojourn_aqm::{Ecn as Codepoint, Span};
use sojourn_record::Run;
use sojourn_record::rows::{PacketRow, Scope};
use sojourn_scenario::resolved::{App, Capacity, Ecn, FlowGroup, Resolved};

use crate::common::*;

/// The bandwidth-delay product of 10 Mbit/s and 40 ms: 50 kB, of which 1448 in 1500 are payload.
const BDP_BYTES: f64 = 50_000.0 * 1448.0 / 1500.0;

/// One long flow per control over a link of 10 Mbit/s with a base RTT of 40 ms.
fn bottleneck(aqm: &str, limit_bytes: u64, controls: &[(&str, bool)], seconds: u64) -> Resolved {
    let mut link = link("b", aqm, limit_bytes);
    link.delay = ms(18);
    let flow = |(place, &(cc, ecn)): (usize, &(&str, bool))| {
        let mut tcp = tcp(cc);
        tcp.ecn = ecn.then(Ecn::default);
        let name = format!("{place}-{}", cc.split(':').next().unwrap());
        let group = group(&name, 1, App::Bulk { tcp, bytes: None });
        FlowGroup { return_delay: ms(20), rtt: ms(40), start: (Span::ZERO, ms(100)), ..group }
    };
    let flows = controls.iter().enumerate().map(flow).collect();
    let mut plan = scenario(seconds, vec![link], flows);
    plan.warmup = Span::from_secs(seconds / 4);
    plan.record.flows = true;
    plan.record.sample = ms(10);
    plan
}

fn goodput(run: &Run, class: &str) -> f64 {
    metric(run, Scope::Class, class, "goodput")
}

/// Packets in flight after the warm-up, in bandwidth-delay products, sorted.
fn in_flight(run: &Run, plan: &Resolved) -> Vec<f64> {
    let counted = |row: &&sojourn_record::rows::FlowRow| row.t.as_secs() > plan.warmup.as_secs();
    let of = |row: &sojourn_record::rows::FlowRow| row.inflight_bytes as f64 / BDP_BYTES;
    let mut all: Vec<f64> = run.flow_samples.iter().filter(counted).map(of).collect();
    all.sort_by(f64::total_cmp);
    all
}

#[test]
fn one_bbr_flow_fills_the_link_with_one_to_two_bdp_in_flight() {
    for cc in ["bbr", "bbr3"] {
        let plan = bottleneck("taildrop", 500_000, &[(cc, false)], 60);
        let run = run(&plan);
        let utilisation = metric(&run, Scope::Queue, "b", "utilisation");
        // The pacing rate is 1 % below the bandwidth, and ProbeRTT leaves capacity unused for at
        // least 2 % of the time: v1 has four packets in flight for 200 ms every ten seconds, v3
        // half a BDP for 200 ms every five.
        assert!(utilisation > 0.96, "{cc}: {utilisation}");
        let in_flight = in_flight(&run, &plan);
        let at = |part: f64| in_flight[(part * (in_flight.len() - 1) as f64) as usize];
        assert!(at(0.5) >= 1.0 && at(0.95) <= 2.0, "{cc}: {} to {}", at(0.5), at(0.95));
        let dropped = metric(&run, Scope::Queue, "b", "drop_rate_overflow");
        assert_eq!(dropped, 0.0, "{cc}");
    }
}

#[test]
fn bbr_v1_takes_a_shallow_buffer_from_cubic_and_leaves_it_a_deep_one() {
    // Hock, Bless and Zitterbart 2017: v1 ignores losses, so loss-based flows starve if the buffer
    // is below a BDP; in a deep buffer, its window of two BDP limits it.
    let share = |buffer_bytes| {
        let plan = bottleneck("taildrop", buffer_bytes, &[("bbr", false), ("cubic", false)], 120);
        let run = run(&plan);
        let (bbr, cubic) = (goodput(&run, "0-bbr"), goodput(&run, "1-cubic"));
        bbr / (bbr + cubic)
    };
    let shares = [25_000, 400_000].map(share);
    assert!(shares[0] > 0.8 && shares[1] < 0.5, "{shares:?}");
}

#[test]
fn the_state_variables_of_bbr_are_recorded() {
    let plan = bottleneck("taildrop", 500_000, &[("bbr", false)], 40);
    let run = run(&plan);
    let series = |var: &str| -> Vec<f64> {
        run.flow_states.iter().filter(|row| row.var == var).map(|row| row.value).collect()
    };
    let modes = series("mode");
    // Startup, Drain, ProbeBW, and after ten seconds ProbeRTT.
    let mut changes = modes.clone();
    changes.dedup();
    assert_eq!(changes[..5], [0.0, 1.0, 2.0, 3.0, 2.0], "{changes:?}");
    let last = |var: &str| *series(var).last().unwrap();
    let capacity = 10e6 / 8.0 / 1500.0;
    assert!((last("btlbw") / capacity - 1.0).abs() < 0.02, "{}", last("btlbw"));
    assert!((last("min_rtt") / 0.0414 - 1.0).abs() < 0.02, "{}", last("min_rtt"));
    let gains = series("pacing_gain");
    for gain in [739.0 / 256.0, 88.0 / 256.0, 1.25, 0.75, 1.0] {
        assert!(gains.contains(&gain), "{gain}");
    }
}

#[test]
fn bbr_v3_learns_from_losses_and_shares_a_shallow_buffer_with_cubic() {
    // A buffer of half a BDP: v1 takes more than four fifths (above).
    let plan = bottleneck("taildrop", 25_000, &[("bbr3", false), ("cubic", false)], 120);
    let shared = run(&plan);
    let (bbr3, cubic) = (goodput(&shared, "0-bbr3"), goodput(&shared, "1-cubic"));
    assert!((0.35..0.65).contains(&(bbr3 / (bbr3 + cubic))), "{bbr3} and {cubic}");
    // Alone, it fills the path: a BDP of 33 packets, 17 packets in the buffer, and one or two in
    // service.
    let alone = run(&bottleneck("taildrop", 25_000, &[("bbr3", false)], 60));
    let mut bounds = alone.flow_states.iter().filter(|row| row.var == "inflight_hi");
    let bound = bounds.next_back().unwrap().value;
    assert!((45.0..=54.0).contains(&bound), "{bound}");
    let dropped = metric(&alone, Scope::Queue, "b", "drop_rate_overflow");
    assert!(dropped > 0.0 && dropped < 0.01, "probing costs few losses: {dropped}");
}

/// Sojourn times of a flow's packets after 10 s, in milliseconds, sorted.
fn sojourn_ms(run: &Run, flow: u32) -> Vec<f64> {
    let counted = |row: &&PacketRow| row.flow == flow && row.arrived.as_secs() > 10.0;
    let of = |row: &PacketRow| Some(row.left?.since(row.arrived).as_secs() * 1e3);
    let mut all: Vec<f64> = run.packets.iter().filter(counted).filter_map(of).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// The same bottleneck at 100 Mbit/s, where a packet takes 0.12 ms, under DualPI2 with a step at 1
/// ms.
fn low_latency(controls: &[(&str, bool)]) -> Resolved {
    let mut plan = bottleneck("dualpi2@linux", 5_000_000, controls, 30);
    plan.links[0].capacity = Capacity::Constant(mbit(100));
    plan.flows.iter_mut().for_each(|flow| flow.access_rate = mbit(1000));
    plan.record.packets = true;
    plan
}

#[test]
fn prague_alone_stays_at_the_step_of_a_millisecond() {
    let run = run(&low_latency(&[("prague", true)]));
    let delays = sojourn_ms(&run, 0);
    let at = |part: f64| delays[(part * (delays.len() - 1) as f64) as usize];
    assert!((0.1..1.2).contains(&at(0.5)) && at(0.99) < 2.0, "{} {}", at(0.5), at(0.99));
    let utilisation = metric(&run, Scope::Queue, "b", "utilisation");
    assert!(utilisation > 0.97, "{utilisation}");
}

#[test]
fn prague_keeps_its_queue_below_a_millisecond_next_to_cubic() {
    let run = run(&low_latency(&[("prague", true), ("cubic", true)]));
    let [low, classic] = [0, 1].map(|flow| sojourn_ms(&run, flow));
    let at = |of: &[f64], part: f64| of[(part * (of.len() - 1) as f64) as usize];
    assert!(at(&low, 0.99) < 1.0, "{}", at(&low, 0.99));
    // The classic queue stays at its own target of 15 ms, and neither flow starves.
    assert!((12.0..18.0).contains(&at(&classic, 0.5)), "{}", at(&classic, 0.5));
    let (prague, cubic) = (goodput(&run, "0-prague"), goodput(&run, "1-cubic"));
    assert!((0.5..4.0).contains(&(prague / cubic)), "{prague} and {cubic}");
    assert!(metric(&run, Scope::Queue, "b", "utilisation") > 0.98);
}

/// RFC 9332 §2.5.1: ECT(1) selects the low-latency queue, whether or not the sender responds.
#[test]
fn unresponsive_datagrams_with_ect1_go_through_the_low_latency_queue() {
    let delays = |ecn: Codepoint| {
        let mut plan = low_latency(&[("cubic", true)]);
        plan.flows.push(cbr("calls", 1, mbit(20), 1200));
        let App::Cbr { datagrams, .. } = &mut plan.flows[1].app else { unreachable!("a cbr") };
        datagrams.ecn = ecn;
        let delays = sojourn_ms(&run(&plan), 1);
        delays[delays.len() / 2]
    };
    let [low, classic] = [Codepoint::Ect1, Codepoint::Ect0].map(delays);
    assert!(low < 0.5 && classic > 10.0 * low, "{low} and {classic}");
}

#[test]
fn prague_without_ecn_is_reno() {
    // tcp_prague.c `prague_init`: `prague_reno`, not paced; the runs are identical packet by
    // packet.
    let of = |cc| {
        let mut plan = bottleneck("taildrop", 50_000, &[(cc, false)], 60);
        plan.flows[0].name = "flow".into();
        run(&plan)
    };
    let (prague, reno) = (of("prague"), of("reno"));
    assert!(metric(&prague, Scope::Queue, "b", "utilisation") > 0.97);
    assert_eq!(prague.digest, reno.digest);
}

/// Prague flows over 20 Mbit/s and a round trip of 2 ms, which is a BDP of 3.3 packets. Returns the
/// fraction of packets marked and the utilisation, as medians of five seeds: with five or ten
/// flows, one to eight of forty seeds settle in another cycle with up to 45 % more marks.
fn crowd(cc: &str, flows: u32) -> [f64; 2] {
    let mut plan = low_latency(&[(cc, true)]);
    plan.links[0].capacity = Capacity::Constant(mbit(20));
    plan.links[0].delay = ms(1);
    let group = &mut plan.flows[0];
    (group.count, group.rtt) = (flows, ms(2));
    (group.access_delay, group.egress_delay, group.return_delay) = (Span::ZERO, Span::ZERO, ms(1));
    let runs = [1, 2, 3, 4, 5].map(|seed| {
        plan.seed = seed;
        run(&plan)
    });
    let median = |name| {
        let mut of_seed = runs.each_ref().map(|run| metric(run, Scope::Queue, "b", name));
        of_seed.sort_by(f64::total_cmp);
        of_seed[2]
    };
    ["mark_rate", "utilisation"].map(median)
}

#[test]
fn prague_has_the_rate_of_its_marks_at_any_short_round_trip() {
    // tcp_prague.c 0.7: "from 0us till 25ms [...] very close to r [Mbps] = 1/p - 1"; this also
    // holds below two packets per round trip, which are 12 Mbit/s here.
    for flows in [5, 10, 20, 40] {
        let [marked, utilisation] = crowd("prague", flows);
        assert!(utilisation > 0.9, "{flows} flows: {utilisation}");
        let rate = utilisation * 20.0 / f64::from(flows);
        let expected = 1.0 / (rate + 1.0);
        assert!((marked / expected - 1.0).abs() < 0.25, "{flows}: {marked} for {expected}");
    }
    // Controlled by its window alone, it leaves more capacity unused.
    let [by_rate, by_window] = ["prague", "prague:cwnd_transit=0"].map(|cc| crowd(cc, 10)[1]);
    assert!(by_rate > by_window, "{by_rate} and {by_window}");
}

/// Fact tcp-57.
#[test]
fn packets_in_pairs_give_dctcp_seven_tenths_of_the_published_alpha() {
    let share = |access: u64| {
        let mut link = link("b", "step@dctcp:backlog_threshold=65p", 3_000_000);
        link.capacity = Capacity::Constant(mbit(100));
        let mut tcp = tcp("dctcp");
        tcp.ecn = Some(Ecn::default());
        let flow = FlowGroup {
            access_rate: mbit(access),
            return_delay: ms(5),
            rtt: ms(10),
            ..group("bulk", 1, App::Bulk { tcp, bytes: None })
        };
        let mut plan = scenario(40, vec![link], vec![flow]);
        plan.links[0].delay = ms(3);
        plan.warmup = Span::from_secs(20);
        metric(&run(&plan), Scope::Queue, "b", "mark_rate")
    };
    // Alizadeh et al. 2010 §3.3: alpha^2 (1 - alpha/4) = (2 W + 1) / (W + 1)^2.
    let window = 100e6 * 0.010 / 12_000.0 + 65.0f64;
    let right = (2.0 * window + 1.0) / (window + 1.0).powi(2);
    let published = (0..50).fold(right.sqrt(), |alpha, _| (right / (1.0 - alpha / 4.0)).sqrt());
    let ratio = |access| share(access) / published;
    let (pairs, spread) = (ratio(1000), ratio(110));
    assert!((0.60..0.75).contains(&pairs), "{pairs}");
    assert!((0.82..1.0).contains(&spread), "{spread}");
}
