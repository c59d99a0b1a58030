//! Departures from a tail-drop link that only the answers of one group pass are computed, unless
//! packets are recorded: the results are those of an event for each packet.

use proptest::prelude::*;
use sojourn_aqm::{Limit, QdiscSpec, Rate, Span, Time};
use sojourn_record::rows::Scope;
use sojourn_scenario::resolved::{Capacity, Device, FlowGroup, Link, Loss, Resolved};

use crate::common::*;

/// The way back: a queue at so many kbit/s.
fn back(aqm: &str, kbit: u64) -> Link {
    let capacity = Capacity::Constant(Rate::from_bps(kbit * 1_000));
    Link { capacity, delay: ms(3), ..link("back", aqm, 10_000) }
}

fn group_over_back(count: u32) -> FlowGroup {
    FlowGroup { reverse: vec![1], return_delay: ms(4), ..bulk(count, "reno") }
}

prop_compose! {
    /// Warm-up, bins and samples end while packets are under way, some of them at an arrival.
    fn world()(
        kbit in prop::sample::select(vec![40, 64, 100, 416, 1_000, 7_333]),
        aqm in prop::sample::select(vec![
            "taildrop:limit=2p", "taildrop:limit=9p", "taildrop:limit=300B", "taildrop:limit=10p",
        ]),
        count in 1u32..4,
        [egress, returning] in [0u64..3, 0u64..3],
        warmup in 0u64..2_000,
        bins in prop::option::of(1u64..500),
        sample in prop::option::of(1u64..300),
        seed in any::<u64>(),
    ) -> Resolved {
        let mut flows = group_over_back(count);
        flows.receiver_rate = (egress == 1).then_some(mbit(1));
        (flows.egress_delay, flows.return_delay) = (ms(egress), ms(returning));
        let links = vec![link("link0", "pie", 30_000), back(aqm, kbit)];
        let mut plan = scenario(3, links, vec![flows]);
        plan.seed = seed;
        read_at(&mut plan, warmup, bins, sample);
        plan
    }
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_run_has_the_same_results_whether_departures_are_computed_or_not(plan in world()) {
        let [computed, by_events] = both(&plan);
        prop_assert!(computed.events < by_events.events);
        prop_assert_eq!(computed.digest, by_events.digest);
        prop_assert_eq!(shown(&computed), shown(&by_events));
    }
}

/// Much of what the receivers send finds the queue full, packets wait when the run ends, and some
/// are not counted as they belong to the warm-up.
#[test]
fn computed_links_drop_what_finds_no_room() {
    let back = back("taildrop:limit=3p", 24);
    let mut plan = scenario(5, vec![link("link0", "pie", 30_000), back], vec![group_over_back(4)]);
    plan.warmup = ms(2_002);
    let [computed, by_events] = both(&plan);
    assert!(computed.events < by_events.events);
    assert_eq!(shown(&computed), shown(&by_events));
    let of_back = |name: &str| metric(&computed, Scope::Queue, "back", name);
    assert!(of_back("drop_rate_overflow") > 0.1, "{}", of_back("drop_rate_overflow"));
    assert_eq!(of_back("waiting"), 2.0);
}

/// With warm-up, bins or samples that end at the very moment.
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
            let [computed, by_events] = both(&plan);
            assert_eq!(shown(&computed), shown(&by_events), "{span}");
        }
    }
}

/// A link that has more than one sender, or another way to send, has its events.
#[test]
fn departures_are_not_computed_where_they_do_not_follow_from_the_arrivals() {
    let plain = || back("taildrop", 1_000);
    let rates = [1, 2].map(|n| (Time::ZERO + Span::from_secs(n - 1), mbit(n)));
    let device = Device { limit: Limit::Packets(3), overhead_bytes: 0 };
    let from_head = QdiscSpec::parse("taildrop@head_drop").unwrap();
    let others = [
        ("another law", back("codel", 1_000)),
        ("drops from the head", Link { queue: from_head, ..plain() }),
        ("lossy", Link { loss: Some(Loss::Bernoulli(0.01)), ..plain() }),
        ("of changing rate", Link { capacity: Capacity::Schedule(rates.to_vec()), ..plain() }),
        ("with a device", Link { device: Some(device), ..plain() }),
    ];
    // Nothing lies behind the links, so that no service comes late.
    let events = |back: Link, flows: Vec<FlowGroup>| {
        let links = [link("link0", "pie", 30_000), back];
        let links = links.map(|link| Link { delay: Span::ZERO, ..link }).to_vec();
        let at_once = |group| FlowGroup { egress_delay: Span::ZERO, access_delay: ms(40), ..group };
        let plan = scenario(3, links, flows.into_iter().map(at_once).collect());
        both(&plan).map(|run| run.events)
    };
    for (what, back) in others {
        let [computed, by_events] = events(back, vec![group_over_back(2)]);
        assert_eq!(computed, by_events, "{what}");
    }
    let second = FlowGroup { name: "second".into(), ..group_over_back(1) };
    let [computed, by_events] = events(plain(), vec![group_over_back(2), second]);
    assert_eq!(computed, by_events, "two groups");
    let upload = FlowGroup { path: vec![1], reverse: vec![], ..bulk(1, "reno") };
    let [computed, by_events] = events(plain(), vec![group_over_back(2), upload]);
    assert_eq!(computed, by_events, "data of other flows");
    let [computed, by_events] = events(plain(), vec![group_over_back(2)]);
    assert!(computed < by_events, "the same without any of this");
}
