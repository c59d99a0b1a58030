//! A link does late what changes nothing elsewhere before, unless packets are recorded: the results
//! are those of an event for each arrival and each service.

use proptest::prelude::*;
use sojourn_aqm::{Span, Time};
use sojourn_record::rows::Scope;
use sojourn_scenario::resolved::{
    Bucket, Capacity, Extra, FlowGroup, Jitter, Link, Loss, Resolved,
};

use crate::common::*;

/// How a link sends, and what is amiss behind it.
fn capacity(kind: usize) -> Capacity {
    let at = |millis| Time::ZERO + ms(millis);
    match kind {
        0 => Capacity::Schedule(vec![(at(0), mbit(3)), (at(700), mbit(9)), (at(1_500), mbit(2))]),
        1 => Capacity::Bucket(Bucket {
            rate: mbit(4),
            burst_bytes: 20_000,
            line: mbit(20),
            overdraft: false,
        }),
        _ => Capacity::Constant(mbit(kind as u64)),
    }
}

prop_compose! {
    fn any_link(name: &'static str)(
        kind in 0usize..9,
        delay in prop::sample::select(vec![0u64, 1, 7, 48]),
        aqm in prop::sample::select(vec!["pie", "codel", "fq_codel", "fq(pie)", "red", "cake"]),
        amiss in 0usize..6,
    ) -> Link {
        Link {
            capacity: capacity(kind),
            delay: ms(delay),
            loss: (amiss == 0).then_some(Loss::Bernoulli(0.02)),
            jitter: (amiss == 1).then_some(Jitter { extra: Extra::Uniform(ms(3)), reorder: true }),
            ..link(name, aqm, 40_000)
        }
    }
}

prop_compose! {
    /// Warm-up, bins and samples end while services are overdue, some of them at one.
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
    // As the delay behind the link and those before it are, in milliseconds.
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
