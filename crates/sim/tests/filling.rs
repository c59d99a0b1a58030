//! Every congestion control and every TCP profile fills an idle link, regardless of earlier events
//! (facts tcp-56 and tcp-58 have the exceptions). Run these tests first after a change to TCP,
//! pacing or a control: they cover whole flows over a wide range of rates and round trips, whereas
//! a comparison with a capture covers one point.

use sojourn_aqm::{Rate, Span, Time};
use sojourn_record::Run;
use sojourn_record::rows::Scope;
use sojourn_scenario::resolved::{
    App, Arrivals, Capacity, Datagrams, Ecn, FlowGroup, Resolved, Schedule, Sizes, Web,
};
use sojourn_sim::cc::{Entry, controls};
use sojourn_sim::tcp::profile::PROFILES;

use crate::common::*;

/// The share of its capacity that a full link must carry.
const FULL: f64 = 0.9;
/// The share achieved by a single flow that halves its window over almost no buffer: the window
/// moves between half a BDP and one BDP.
const FULL_BY_HALVES: f64 = 0.75;

fn kbit(kbit: u64) -> Rate {
    Rate::from_bps(kbit * 1000)
}

fn bdp_bytes(rate_kbit: u64, rtt_ms: u64) -> u64 {
    (rate_kbit * rtt_ms / 8).max(15_000)
}

/// A bulk flow of a control, with ECN if the control needs it.
fn flow(cc: &str, rtt_ms: u64) -> FlowGroup {
    let mut tcp = tcp(cc);
    let needs_ecn = ["prague", "dctcp"].iter().any(|name| cc.starts_with(name));
    tcp.ecn = needs_ecn.then(Ecn::default);
    let half = Span::from_micros(rtt_ms * 500);
    FlowGroup {
        access_rate: mbit(100_000),
        access_delay: Span::from_micros(100),
        egress_delay: Span::from_micros(100),
        return_delay: half,
        rtt: ms(rtt_ms),
        ..group("bulk", 1, App::Bulk { tcp, bytes: None })
    }
}

/// A single flow on a link with a buffer of two BDP; the second half of the run counts.
fn alone(cc: &str, aqm: &str, (rate_kbit, rtt_ms): (u64, u64), seconds: u64) -> Resolved {
    let mut link = link("b", aqm, 2 * bdp_bytes(rate_kbit, rtt_ms));
    link.capacity = Capacity::Constant(kbit(rate_kbit));
    link.delay = Span::from_micros(rtt_ms * 500 - 200);
    let mut plan = scenario(seconds, vec![link], vec![flow(cc, rtt_ms)]);
    plan.warmup = Span::from_secs(seconds / 2);
    plan
}

fn utilisation(run: &Run) -> f64 {
    metric(run, Scope::Queue, "b", "utilisation")
}

fn assert_fills(plan: &Resolved, least: f64, what: &str) {
    let used = utilisation(&run(plan));
    assert!(used >= least, "{what}: {used:.3} of the link, not {least}");
}

/// Every control in each of its dialects.
fn texts() -> impl Iterator<Item = String> {
    let dialects = |entry: Entry| {
        entry.dialects.iter().map(move |dialect| format!("{}@{}", entry.name, dialect.name))
    };
    controls().into_iter().flat_map(dialects)
}

/// The AQMs for which a control is designed, and the share that a single flow achieves under them
/// with round trips of at most 40 ms.
fn made_for(cc: &str) -> Vec<(&'static str, f64)> {
    let (name, _) = cc.split_once('@').unwrap_or((cc, ""));
    match name {
        "prague" => vec![("dualpi2", FULL), ("fq_codel@linux:ce_threshold=5ms", FULL)],
        // The step is above a seventh of the round trip (Alizadeh et al. 2010, §3.3) and bursts of
        // acknowledgements; DualPI2 takes DCTCP's ECT(0) for classic traffic.
        "dctcp" => vec![("step:sojourn_threshold=20ms", FULL)],
        "reno" => vec![("codel@linux", FULL_BY_HALVES), ("pie@linux", FULL), ("pi2", FULL)],
        _ => vec![("codel@linux", FULL), ("fq_codel@linux", FULL), ("pie@linux", FULL)],
    }
}

/// The same AQMs, configured for a slow link or a long round trip as their documentation
/// recommends.
fn set_up_for(cc: &str, (rate_kbit, rtt_ms): (u64, u64)) -> Vec<(String, f64)> {
    let packet_ms = 12_000.0 / rate_kbit as f64;
    let us = |ms: f64| format!("{:.0}us", ms * 1000.0);
    // RFC 8289 §4.2 and §4.3: the interval is the longest round trip, the target 5 % of it, and at
    // least a packet.
    let interval_ms = rtt_ms.max(100);
    let target = us((interval_ms as f64 / 20.0).max(1.5 * packet_ms));
    let text = |aqm: &str| match aqm.split_once(':').map_or(aqm, |(name, _)| name) {
        "dualpi2" => aqm.to_owned(),
        // A seventh of the round trip, see `made_for`.
        "step" => format!(
            "step:sojourn_threshold={}",
            us(20_f64.max(rtt_ms as f64 / 4.0).max(3.0 * packet_ms))
        ),
        "pie@linux" => format!("{aqm}:target={}", us(15_f64.max(1.5 * packet_ms))),
        "pi2" => format!("{aqm}:target={}", us(20_f64.max(1.5 * packet_ms))),
        name => {
            // A step shorter than a packet marks every queued packet (docs/how-to/ecn.md).
            let step = us(5_f64.max(2.5 * packet_ms));
            let step = if aqm == name { String::new() } else { format!(",ce_threshold={step}") };
            format!("{name}:interval={interval_ms}ms,target={target}{step}")
        }
    };
    let is_pi = |aqm: &str| ["pie", "pi2"].iter().any(|name| aqm.starts_with(name));
    made_for(cc)
        .into_iter()
        // They oscillate above 100 ms (Kuhn and Ros 2016, §I; RTT_max of RFC 9332 §2.5.1).
        .filter(|(aqm, _)| rtt_ms <= 100 || !is_pi(aqm))
        .map(|(aqm, least)| (text(aqm), least_of(cc, least, (rate_kbit, rtt_ms))))
        .collect()
}

/// The share of a link with almost no buffer that a control itself keeps below 90 %.
fn least_of(cc: &str, least: f64, (rate_kbit, rtt_ms): (u64, u64)) -> f64 {
    let packets = rate_kbit * rtt_ms / 12_000;
    if cc.starts_with("reno") && rtt_ms > 100 {
        // Some drops occur within one round trip of each other, before the first takes effect.
        0.7
    } else if cc.starts_with("reno") && packets > 1000 {
        FULL_BY_HALVES
    } else if cc.starts_with("cubic") && packets > 2000 && rtt_ms > 100 {
        // Like Reno: 0.897 at 100 Mbit/s and 300 ms under CoDel.
        0.85
    } else if cc.starts_with("prague") && packets < 15 && rtt_ms > 100 {
        // The window swings by sqrt(W/2) (Alizadeh et al. 2010, §3.3), which is a fifth of 13
        // packets, and the step allows a queue of two.
        0.85
    } else {
        least
    }
}

#[test]
fn every_control_fills_an_idle_link_of_any_rate_and_round_trip() {
    for control in texts() {
        for rate_kbit in [500, 1_000, 3_000, 20_000, 100_000] {
            for rtt_ms in [1, 20, 160, 300] {
                let plan = alone(&control, "taildrop", (rate_kbit, rtt_ms), 30);
                let what = format!("{} at {rate_kbit} kbit/s, {rtt_ms} ms", control);
                assert_fills(&plan, FULL, &what);
            }
        }
        let what = format!("{} at 1 Gbit/s", control);
        assert_fills(&alone(&control, "taildrop", (1_000_000, 300), 24), FULL, &what);
    }
}

/// A single flow as in `alone`, run long enough for a window that grows by a packet per round trip;
/// counted are the last 40 s and the time in which such a window grows from half a BDP to one BDP.
fn grown(cc: &str, aqm: &str, (rate_kbit, rtt_ms): (u64, u64)) -> Resolved {
    let packets = bdp_bytes(rate_kbit, rtt_ms) / 1500;
    let is_linear = !["bbr", "cubic"].iter().any(|name| cc.starts_with(name));
    let cycle = if is_linear { packets * rtt_ms / 2000 } else { 0 };
    let seconds = 80 + 3 * cycle;
    let mut plan = alone(cc, aqm, (rate_kbit, rtt_ms), seconds);
    plan.warmup = Span::from_secs(seconds - 40 - cycle);
    plan
}

fn assert_fills_under_aqms(paths: &[(u64, u64)]) {
    let mut low = vec![];
    for control in texts() {
        for &path in paths {
            for (aqm, least) in set_up_for(&control, path) {
                let used = utilisation(&run(&grown(&control, &aqm, path)));
                if used < least {
                    low.push(format!("{control} under {aqm}, {path:?}: {used:.3}, not {least}"));
                }
            }
        }
    }
    assert!(low.is_empty(), "of the link are used:\n{}", low.join("\n"));
}

#[test]
fn every_control_fills_the_link_under_the_aqms_it_is_made_for() {
    for control in texts() {
        for (aqm, least) in made_for(&control) {
            for (rate_kbit, rtt_ms) in [(1_000, 10), (3_000, 20), (20_000, 20), (50_000, 40)] {
                let plan = alone(&control, aqm, (rate_kbit, rtt_ms), 40);
                let what = format!("{} under {aqm}, {rate_kbit} kbit/s", control);
                assert_fills(&plan, least, &what);
            }
        }
    }
}

#[test]
fn every_control_fills_the_link_under_aqms_set_up_for_its_path() {
    assert_fills_under_aqms(&[(500, 40), (1_000, 160), (3_000, 160), (20_000, 160)]);
}

/// `make filling`.
#[test]
#[ignore = "takes some minutes"]
fn every_control_fills_links_of_every_rate_under_aqms_set_up_for_its_path() {
    let rates = [500, 1_000, 3_000, 20_000, 100_000];
    let paths = rates.iter().flat_map(|&rate| [10, 40, 160, 300].map(|rtt| (rate, rtt)));
    // With 300 ms, growth by a packet per round trip takes two hours to fill a gigabit per second.
    let paths: Vec<_> = paths.chain([(1_000_000, 40)]).collect();
    assert_fills_under_aqms(&paths);
}

/// Published for L4STeam's code: 18.27 of 20 Mbit/s at 160 ms.
#[test]
fn prague_grows_where_nothing_marks_it() {
    let paths = [(20_000, 160), (50_000, 40), (1_000, 40), (2_000, 5), (3_000, 40)];
    for version in ["prague@0.6", "prague@0.7"] {
        for (rate_kbit, rtt_ms) in paths {
            let plan = alone(version, "dualpi2", (rate_kbit, rtt_ms), 80);
            assert_fills(&plan, FULL, &format!("{version}: {rate_kbit} kbit/s, {rtt_ms} ms"));
        }
    }
}

/// Linux 7.2 sch_dualpi2.c, do_step_aqm: at 5 Mbit/s a packet lasts 2.4 ms, longer than the step,
/// and `min_qlen_step` is 0 (docs/how-to/ecn.md).
#[test]
fn a_step_shorter_than_a_packet_starves_l4s_unless_two_packets_may_wait() {
    let share = |aqm: &str| {
        let mut plan = alone("prague@0.7", aqm, (5_000, 20), 60);
        plan.flows.push(FlowGroup { class: "classic".into(), ..flow("cubic", 20) });
        let run = run(&plan);
        let of = |class| metric(&run, Scope::Class, class, "goodput");
        of("bulk") / (of("bulk") + of("classic"))
    };
    assert!(share("dualpi2@linux") < 0.1);
    assert!(share("dualpi2@linux:l_min_len=2") > 0.5);
    assert!(share("dualpi2") > 0.4);
}

#[test]
fn every_profile_fills_an_idle_link() {
    for profile in PROFILES {
        for (rate_kbit, rtt_ms) in [(500, 20), (5_000, 100), (50_000, 20)] {
            let mut plan = alone("reno", "taildrop", (rate_kbit, rtt_ms), 40);
            let App::Bulk { tcp, .. } = &mut plan.flows[0].app else { unreachable!() };
            (tcp.profile, tcp.cc) = (profile.name.into(), None);
            let what = format!("{} at {rate_kbit} kbit/s, {rtt_ms} ms", profile.name);
            // The 64 kB windows of old stacks keep none of these below 90 %.
            assert_fills(&plan, FULL, &what);
        }
    }
}

/// 20 Mbit/s and 40 ms for two minutes; the last quarter counts.
fn after(cc: &str, aqm: &str) -> Resolved {
    let mut plan = alone(cc, aqm, (20_000, 40), 120);
    plan.warmup = Span::from_secs(90);
    plan
}

fn for_every_control(change: impl Fn(&mut Resolved), what: &str) {
    for control in texts() {
        for (aqm, least) in made_for(&control) {
            let mut plan = after(&control, aqm);
            change(&mut plan);
            assert_fills(&plan, least, &format!("{} under {aqm}, {what}", control));
        }
    }
}

#[test]
fn every_control_fills_the_link_after_its_rate_has_changed() {
    for rates in [[10_000, 50_000], [50_000, 10_000]] {
        let at = |second, rate| (Time::ZERO + Span::from_secs(second), kbit(rate));
        let schedule = vec![at(0, rates[0]), at(40, rates[1])];
        let change = |plan: &mut Resolved| {
            plan.links[0].capacity = Capacity::Schedule(Schedule::of_rates(schedule.clone()));
        };
        for_every_control(change, &format!("{rates:?} kbit/s"));
    }
}

#[test]
fn every_control_fills_the_link_after_a_competitor_has_left() {
    for_every_control(
        |plan| {
            let stop = Some(Span::from_secs(60));
            plan.flows.push(FlowGroup { stop, name: "rival".into(), ..plan.flows[0].clone() });
        },
        "after a competitor",
    );
}

#[test]
fn every_control_fills_the_link_after_a_burst_of_losses() {
    for_every_control(
        |plan| {
            let datagrams =
                Datagrams { packet_bytes: 1500, rate: mbit(100), ecn: sojourn_aqm::Ecn::NotEct };
            let app = App::Cbr { datagrams, arrivals: Arrivals::Constant, voice: None };
            let flood = FlowGroup {
                start: (Span::from_secs(30), Span::from_secs(30)),
                stop: Some(Span::from_secs(31)),
                name: "flood".into(),
                app,
                ..plan.flows[0].clone()
            };
            plan.flows.push(flood);
        },
        "after losses",
    );
}

#[test]
fn every_control_fills_the_link_while_its_way_back_is_full() {
    for_every_control(
        |plan| {
            let mut back = link("back", "fq_codel@linux", 100_000);
            back.capacity = Capacity::Constant(mbit(2));
            back.delay = Span::from_micros(100);
            plan.links.push(back);
            let forward = plan.flows[0].clone();
            let upload = FlowGroup {
                name: "upload".into(),
                path: vec![1],
                app: App::Bulk { tcp: tcp("cubic"), bytes: None },
                ..forward
            };
            plan.flows[0].reverse = vec![1];
            plan.flows.push(upload);
        },
        "with a full reverse path",
    );
}

/// One connection fetches 30 MB, is idle for a minute on average, and fetches again.
#[test]
fn every_control_fills_the_link_after_an_idle_minute() {
    const OBJECT_BYTES: u64 = 30_000_000;
    for control in texts() {
        for (aqm, least) in made_for(&control) {
            let mut plan = after(&control, aqm);
            plan.duration = Span::from_secs(400);
            let App::Bulk { tcp, .. } = plan.flows[0].app.clone() else { unreachable!() };
            let web = Web {
                main: Sizes::List(vec![OBJECT_BYTES]),
                object: Sizes::List(vec![1]),
                objects: Some(0),
                parallel: 1,
                request_bytes: 300,
                reading: Span::from_secs(60),
                parsing: Span::ZERO,
            };
            plan.flows[0].app = App::Web { tcp, web };
            let run = run(&plan);
            let of = |name| metric(&run, Scope::Class, "bulk", name);
            let ideal_s = OBJECT_BYTES as f64 * 8.0 / 20e6 * 1500.0 / 1448.0;
            let slowest_s = of("completion_max");
            assert!(of("transfers") >= 3.0);
            // Request, handshake and slow start may take a second.
            let what = format!("{} under {aqm} takes {slowest_s:.1} s", control);
            assert!(slowest_s <= ideal_s / least + 1.0, "{what}, at least {ideal_s:.1}");
        }
    }
}
