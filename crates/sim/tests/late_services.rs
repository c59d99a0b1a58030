//! Links defer work that nothing else can notice, unless packets are recorded. The results are the
//! same as with an event for each arrival and each service, whether a link pulls arrivals from an
//! uplink, from a wire or from neither.

use proptest::prelude::*;
use sojourn_aqm::{Framing, Rate, Span, Time};
use sojourn_record::rows::Scope;
use sojourn_scenario::resolved::{
    Blocks, Bucket, Capacity, Duplicate, Extra, FlowGroup, InService, Jitter, Link, Loss, Radio,
    RateControl, Resolved, Schedule, Wlan,
};
use sojourn_scenario::wlan_timing::OfdmRate;

use crate::common::*;

/// How a link sends, and the impairments behind it.
fn capacity(kind: usize) -> Capacity {
    let at = |millis| Time::ZERO + ms(millis);
    match kind {
        0 => Capacity::Schedule(Schedule::of_rates([
            (at(0), mbit(3)),
            (at(700), mbit(9)),
            (at(1_500), mbit(2)),
        ])),
        1 => Capacity::Bucket(Bucket {
            rate: mbit(4),
            burst_bytes: 20_000,
            line: mbit(20),
            overdraft: false,
            framing: Framing::NONE,
        }),
        9..12 => {
            let in_service = if kind == 10 { InService::OldRate } else { InService::NewRate };
            let schedule = Schedule::new(vec![
                (at(0), (kind < 11).then_some(mbit(4))),
                (at(500), Some(Rate::from_bps(8_000))),
                (at(800), None),
                (at(1_100), Some(mbit(2))),
                (at(1_800), (kind != 9).then_some(mbit(6))),
            ]);
            Capacity::Schedule(schedule.with_in_service(in_service))
        }
        12.. => {
            let (radio, alone) = (None, mbit(5));
            Capacity::Wireless { wlan: 0, radio, alone, airtime_fairness: false }
        }
        _ => Capacity::Constant(mbit(kind as u64)),
    }
}

/// A wireless LAN, for links that are on it.
fn cell() -> Wlan {
    let rate = RateControl::Constant(OfdmRate::new(mbit(6)).unwrap());
    let [slot, difs, eifs] = [9, 28, 88].map(Span::from_micros);
    let radio = Radio { rate, error_rate: 0.05, snr: None };
    Wlan { name: "cell".into(), radio, attempts: 3, slot, difs, eifs }
}

fn jitter(amiss: usize) -> Option<Jitter> {
    let [every, request, pause, round_trip] = [1, 5, 4, 8].map(ms);
    let blocks = Blocks { every, request, pause, retransmit: 0.1, round_trip };
    match amiss {
        1 => Some(Jitter { extra: Extra::Uniform(ms(3)), reorder: true }),
        2 => Some(Jitter { extra: Extra::Blocks(blocks), reorder: false }),
        4 => {
            let steps = vec![(Time::ZERO, ms(3)), (Time::ZERO + ms(900), Span::ZERO)];
            Some(Jitter { extra: Extra::Schedule(steps), reorder: true })
        }
        _ => None,
    }
}

prop_compose! {
    fn any_link(name: &'static str)(
        kind in 0usize..14,
        delay in prop::sample::select(vec![0u64, 1, 7, 48]),
        aqm in prop::sample::select(vec!["pie", "codel", "fq_codel", "fq(pie)", "red", "cake"]),
        amiss in 0usize..6,
    ) -> Link {
        Link {
            capacity: capacity(kind),
            delay: ms(delay),
            loss: (amiss == 0).then_some(Loss::Bernoulli(0.02)),
            duplicate: (amiss == 3).then_some(Duplicate { rate: 0.2, correlation: 0.0 }),
            jitter: jitter(amiss),
            ..link(name, aqm, 40_000)
        }
    }
}

prop_compose! {
    /// The warm-up, bins and samples end while services are overdue, some of them at the due time
    /// of one.
    fn world()(
        links in (any_link("a"), any_link("b"), any_link("back")),
        [one, other] in [1u32..5, 1u32..4],
        [hops, other_hops] in [1usize..3, 1usize..3],
        access in prop::sample::select(vec![1, 2, 10, 100]),
        access_delay in 1u64..3,
        warmup in 0u64..1_500,
        bins in prop::option::of(1u64..400),
        sample in prop::option::of(1u64..300),
        seed in any::<u64>(),
        signals in any::<bool>(),
    ) -> Resolved {
        let path = |hops| (0..hops).collect::<Vec<_>>();
        let bulk = FlowGroup {
            path: path(hops),
            reverse: vec![2],
            access_rate: mbit(access),
            ..bulk(one, "cubic")
        };
        let calls = FlowGroup {
            path: path(other_hops),
            access_delay: ms(access_delay),
            ..cbr("cbr", other, mbit(1), 500)
        };
        let mut plan = scenario(2, vec![links.0, links.1, links.2], vec![bulk, calls]);
        plan.seed = seed;
        plan.wlans = vec![cell()];
        plan.record.signals = signals;
        read_at(&mut plan, warmup, bins, sample);
        plan
    }
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases: 96, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_run_has_the_same_results_whether_services_come_late_or_not(plan in world()) {
        let [late, by_events] = both(&plan);
        prop_assert_eq!(late.digest, by_events.digest);
        prop_assert_eq!(shown(&late), shown(&by_events));
    }
}

#[test]
fn few_arrivals_and_services_have_an_event_where_the_way_behind_the_link_is_long() {
    // The saving depends on the delay behind the link and on the delays before it, in milliseconds.
    let saved = |delay, access_delays: &[u64]| {
        let link = Link { delay: ms(delay), ..link("link0", "pie", 60_000) };
        let group = |access_delay: &u64| FlowGroup {
            name: format!("{access_delay}"),
            access_delay: ms(*access_delay),
            egress_delay: Span::ZERO,
            ..bulk(2, "reno")
        };
        let flows = access_delays.iter().map(group).collect();
        let [late, by_events] = both(&scenario(3, vec![link], flows));
        let served = metric(&late, Scope::Queue, "link0", "sent");
        (by_events.events - late.events) as f64 / served
    };
    assert!(saved(48, &[1]) > 1.7, "arrivals and services");
    assert!((0.8..1.0).contains(&saved(48, &[1, 2])), "services only, {}", saved(48, &[1, 2]));
    assert_eq!(saved(0, &[1]), 0.0);
}

/// The return path: a queue at `kbit` kbit/s with a single wire leading to it.
fn back(aqm: &str, kbit: u64) -> Link {
    let capacity = Capacity::Constant(Rate::from_bps(kbit * 1_000));
    Link { capacity, delay: ms(3), ..link("back", aqm, 10_000) }
}

fn group_over_back(count: u32) -> FlowGroup {
    FlowGroup { reverse: vec![1], return_delay: ms(4), ..bulk(count, "reno") }
}

/// Many packets from the receivers find the queue full, some are queued when the run ends, and some
/// are not counted because they belong to the warm-up.
#[test]
fn a_link_fed_by_a_wire_drops_what_finds_no_room() {
    let back = back("taildrop:limit=3p", 24);
    let mut plan = scenario(5, vec![link("link0", "pie", 30_000), back], vec![group_over_back(4)]);
    plan.warmup = ms(2_002);
    let [late, by_events] = both(&plan);
    assert!(late.events < by_events.events);
    assert_eq!(shown(&late), shown(&by_events));
    let of_back = |name: &str| metric(&late, Scope::Queue, "back", name);
    assert!(of_back("drop_rate_overflow") > 0.1, "{}", of_back("drop_rate_overflow"));
    assert_eq!(of_back("waiting"), 2.0);
}

/// The warm-up, bins or samples end exactly at the time of an arrival or departure.
#[test]
fn what_arrives_or_leaves_as_counters_are_read_counts_as_with_events() {
    let links = vec![link("link0", "pie", 30_000), back("taildrop:limit=9p", 100)];
    let mut plan = scenario(3, links, vec![group_over_back(3)]);
    let [_, by_events] = both(&plan);
    let of_back = by_events.packets.iter().filter(|row| row.queue == 1).skip(100).step_by(40);
    let moments: Vec<Time> = of_back.flat_map(|row| [row.arrived, row.left.unwrap()]).collect();
    assert!(moments.len() > 5);
    for moment in moments {
        let span = moment.since(Time::ZERO);
        plan.record.sample = span;
        for (warmup, states) in [(Span::ZERO, true), (span, false)] {
            (plan.warmup, plan.record.states) = (warmup, states);
            plan.record.bins = states.then_some(span);
            let [late, by_events] = both(&plan);
            assert_eq!(shown(&late), shown(&by_events), "{span}");
        }
    }
}

/// The events saved per packet of the return link. A second group at the same delay shares the wire
/// to it; one at another delay has a second wire, and fewer are saved.
#[test]
fn arrivals_over_the_only_wire_to_a_link_have_no_events() {
    let spared = |second: Option<u64>| {
        let other = |delay_ms| FlowGroup {
            name: "second".into(),
            return_delay: ms(delay_ms),
            ..group_over_back(1)
        };
        let flows = [group_over_back(3)].into_iter().chain(second.map(other));
        let back = Link { delay: ms(30), ..back("codel", 2_000) };
        let links = vec![link("link0", "pie", 30_000), back];
        let [late, by_events] = both(&scenario(3, links, flows.collect()));
        assert_eq!(shown(&late), shown(&by_events));
        let all = ["link0", "back"].map(|name| metric(&late, Scope::Queue, name, "sent"));
        (by_events.events - late.events) as f64 / all.iter().sum::<f64>()
    };
    let (alone, shared, separate) = (spared(None), spared(Some(4)), spared(Some(5)));
    assert!(alone > 1.3 && shared > 1.3, "{alone} {shared}");
    assert!(separate < alone - 0.1, "{separate}");
}
