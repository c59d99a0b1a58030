//! A document that is serialised and parsed again is equal; a resolved scenario obeys its
//! definitions.

use std::io;

use proptest::prelude::*;
use serde_json::{Value, json};
use sojourn_aqm::{Limit, Span};
use sojourn_scenario::resolved::FlowGroup;
use sojourn_scenario::{Format, Resolved, Scenario, ScenarioError, Source};

fn load(text: &str, format: Format) -> Result<Scenario, ScenarioError> {
    let source = Source { format, ..Source::default() };
    Scenario::load(text, &source, &|_| Ok("0\n1\n1\n4\n".to_owned()))
}

fn rate() -> impl Strategy<Value = Value> {
    prop_oneof![
        (1u64..2_000_000).prop_map(|kbit| json!(format!("{kbit}kbit"))),
        (1u64..1000, 1u64..1000).prop_map(|(mbit, at)| json!({
            "kind": "schedule",
            "steps": [["0s", format!("{mbit}mbit")], [format!("{at}ms"), "1mbit"]],
        })),
        (1u64..1000, any::<bool>()).prop_map(|(mbit, overdraft)| json!({
            "kind": "bucket", "rate": format!("{mbit}mbit"), "line": "1gbit", "burst": "10kB",
            "overdraft": overdraft,
        })),
        (1u64..9000).prop_map(|bytes| json!({
            "opportunity": format!("{bytes}B"),
            "file": "some.down",
            "kind": "trace",
        })),
    ]
}

fn buffer() -> impl Strategy<Value = Value> {
    prop_oneof![
        (1u32..40).prop_map(|tenths| json!({"buffer": format!("{}bdp", f64::from(tenths) / 10.0)})),
        (1u32..5000).prop_map(|packets| json!({"buffer": format!("{packets}p")})),
        (1u32..5000)
            .prop_map(|kb| json!({"queue": {"kind": "taildrop", "limit": format!("{kb}kB")}})),
        (1u32..5000).prop_map(|packets| json!({"queue": format!("taildrop:limit={packets}p")})),
        Just(json!({})),
    ]
}

fn wire() -> impl Strategy<Value = Value> {
    let jitter = prop_oneof![
        Just(json!({})),
        (1u64..9000)
            .prop_map(|us| json!({"jitter": {"kind": "uniform", "max": format!("{us}us")}})),
        (1u64..9000).prop_map(|us| json!({
            "jitter": {"kind": "exponential", "mean": format!("{us}us"), "reorder": true},
        })),
        (1u64..9000).prop_map(|us| json!({
            "jitter": {"kind": "blocks", "every": "1ms", "request": format!("{us}us")},
        })),
        (1u64..9000).prop_map(|us| json!({
            "jitter": {"kind": "slots", "mean": format!("{us}us"), "packets": 42, "bytes": "9kB"},
        })),
    ];
    let loss = prop_oneof![
        Just(json!({})),
        (0u32..100).prop_map(|percent| json!({
            "loss": {"kind": "bernoulli", "rate": f64::from(percent) / 100.0},
        })),
        Just(json!({"loss": {"kind": "gilbert-elliott", "enter": 0.01, "leave": 0.3, "bad": 0.9}})),
    ];
    (jitter, loss).prop_map(|(mut wire, loss)| {
        wire.as_object_mut().unwrap().extend(loss.as_object().unwrap().clone());
        wire
    })
}

fn link() -> impl Strategy<Value = Value> {
    (rate(), buffer(), wire(), 0u64..50_000, 0u64..40).prop_map(
        |(rate, buffer, wire, delay_us, framing)| {
            let mut link = json!({
                "rate": rate, "delay": format!("{delay_us}us"), "framing": format!("{framing}B"),
            });
            for part in [buffer, wire] {
                link.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
            }
            link
        },
    )
}

fn app() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"kind": "bulk"})),
        (1u64..1_000_000).prop_map(|n| json!({"bytes": format!("{n}B"), "kind": "bulk"})),
        prop::collection::vec(1u64..1000, 1..5).prop_map(|sizes| json!({
            "kind": "files",
            "think": "9.5s",
            "sizes": sizes.iter().map(|kb| format!("{kb}kB")).collect::<Vec<_>>(),
        })),
        (1u64..9000, 1u64..9000).prop_map(|(kbit, bytes)| json!({
            "kind": "cbr", "rate": format!("{kbit}kbit"), "packet": format!("{bytes}B"),
        })),
        (1u64..9000, 0usize..3).prop_map(|(kbit, how)| json!({
            "kind": "cbr", "rate": format!("{kbit}kbit"), "packet": "500B",
            "arrivals": (["constant", "uniform", "poisson"][how]),
        })),
        (1u32..33).prop_map(|parallel| json!({"kind": "web", "parallel": parallel})),
        (2u64..900).prop_map(|kb| json!({
            "kind": "files",
            "think": "1s",
            "sizes": {"kind": "exponential", "mean": format!("{kb}kB"), "max": "1MB"},
        })),
        (1u64..900).prop_map(|kbit| json!({
            "kind": "chunks", "every": "2s", "rates": [format!("{kbit}kbit"), "1mbit"],
        })),
        (1u64..900).prop_map(|ms| json!({
            "kind": "bursts", "rate": "25mbit", "packet": "1kB", "length": format!("{ms}ms"),
            "at": ["0s", "1s"],
        })),
        (1u64..900).prop_map(|ms| json!({
            "kind": "video", "interval": format!("{ms}ms"),
            "frames": {"kind": "lognormal", "mean": "5kB", "deviation": "2kB", "max": "1MB"},
        })),
        (1u64..9000).prop_map(|ms| json!({
            "kind": "onoff", "rate": "1mbit", "packet": "1kB", "on": format!("{ms}ms"), "off": "1s",
        })),
    ]
}

fn flow() -> impl Strategy<Value = Value> {
    (app(), 1u64..200_000_000, 1u32..50, any::<bool>(), any::<bool>(), 0u64..5).prop_map(
        |(app, more_ns, count, both_ways, ecn, start)| {
            // A round trip is at least the delay of the two links, 50 ms each.
            let rtt = format!("{}ns", 100_000_000 + more_ns);
            let reverse = if both_ways { vec!["b"] } else { vec![] };
            json!({
                "app": app, "rtt": rtt, "count": count, "path": ["a"], "reverse": reverse,
                "ecn": ecn, "start": format!("0s..{start}s"),
            })
        },
    )
}

fn scenario() -> impl Strategy<Value = Value> {
    (link(), link(), prop::collection::vec(flow(), 1..4), any::<u64>()).prop_map(
        |(mut a, mut b, flows, seed)| {
            for (link, name) in [(&mut a, "a"), (&mut b, "b")] {
                let used = |key: &str| flows.iter().any(|f| f[key] == json!([name]));
                let in_bdp = link["buffer"].as_str().is_some_and(|text| text.ends_with("bdp"));
                if in_bdp && !used("path") && !used("reverse") {
                    link["buffer"] = json!("100p"); // without flows there is no BDP
                }
            }
            json!({
                "name": "random", "seed": seed, "duration": "10s",
                "links": {"a": a, "b": b}, "flows": flows,
            })
        },
    )
}

/// All propagation delays of a round trip.
fn round_trip(flow: &FlowGroup, resolved: &Resolved) -> Span {
    let links = flow.path.iter().chain(&flow.reverse).map(|&link| resolved.links[link].delay);
    let ends = [flow.access_delay, flow.egress_delay, flow.return_delay, flow.return_egress_delay];
    links.chain(ends).fold(Span::ZERO, |a, b| a + b)
}

proptest! {
    #[test]
    fn a_document_is_read_back_equal(written in scenario()) {
        let read = load(&written.to_string(), Format::Json).unwrap();
        let again = load(&read.document_json(), Format::Json).unwrap();
        prop_assert_eq!(&read, &again);
        prop_assert_eq!(read.resolved_json(), again.resolved_json());
    }

    #[test]
    fn toml_and_json_say_the_same(written in scenario()) {
        prop_assume!(written["seed"].as_u64() <= Some(i64::MAX as u64)); // TOML counts so far
        let from_json = load(&written.to_string(), Format::Json).unwrap();
        let toml = toml::to_string(from_json.document()).unwrap();
        prop_assert_eq!(&load(&toml, Format::Toml).unwrap(), &from_json, "{}", toml);
    }

    #[test]
    fn propagation_delays_add_up_to_the_rtt(written in scenario()) {
        let read = load(&written.to_string(), Format::Json).unwrap();
        for flow in &read.resolved().flows {
            prop_assert_eq!(round_trip(flow, read.resolved()), flow.rtt);
        }
    }

    #[test]
    fn resolved_json_is_json_with_every_parameter(written in scenario()) {
        let read = load(&written.to_string(), Format::Json).unwrap();
        let json: Value = serde_json::from_str(&read.resolved_json()).unwrap();
        for (link, shown) in read.resolved().links.iter().zip(json["links"].as_array().unwrap()) {
            prop_assert_eq!(&shown["limit"], &json!(link.limit.to_string()));
            prop_assert_eq!(&shown["queue"]["settings"]["limit"], &json!(link.limit.to_string()));
        }
        prop_assert!(!read.resolved_json().contains("opportunities_ms"));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,80}") {
        let _ = load(&text, Format::Toml);
        let _ = load(&text, Format::Json);
    }
}

const DEMO: &str = r#"
name = "demo"
duration = "10s"
[links.a]
rate = "8mbit"
buffer = "2bdp"
[links.b]
rate = "8mbit"
queue = "taildrop:limit=7p"
[[flows]]
path = ["a", "b"]
rtt = "100ms"
app = { kind = "bulk" }
[[flows]]
name = "voice"
path = ["a"]
rtt = "300ms"
app = { kind = "cbr", packet = "200B", rate = "64kbit" }
[[flows]]
path = ["a"]
rtt = "100ms"
app = { kind = "bulk" }
"#;

#[test]
fn defaults_are_filled_in() {
    let demo = load(DEMO, Format::Toml).unwrap().resolved().clone();
    let names: Vec<&str> = demo.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["bulk", "voice", "bulk-2"]);
    assert_eq!(demo.flows[1].class, "voice");
    assert_eq!(demo.flows[0].access_rate.as_bps(), 80_000_000);
    assert_eq!(demo.record.sample, Span::from_millis(10));
    assert_eq!(demo.links[0].mtu_bytes, 1500);
}

#[test]
fn a_bdp_is_that_of_the_longest_rtt() {
    let demo = load(DEMO, Format::Toml).unwrap().resolved().clone();
    assert_eq!(demo.links[0].limit, Limit::Bytes(600_000)); // 2 x 8 Mbit/s x 300 ms
}

#[test]
fn another_queue_keeps_the_buffer() {
    let demo = load(DEMO, Format::Toml).unwrap();
    let a = demo.with_queue("a", "taildrop").unwrap();
    assert_eq!(a.resolved().links[0].limit, Limit::Bytes(600_000));
    let b = demo.with_queue("b", "taildrop").unwrap();
    assert_eq!(b.resolved().links[1].limit, Limit::Packets(7));
    let b = demo.with_queue("b", "taildrop:limit=9p").unwrap();
    assert_eq!(b.resolved().links[1].limit, Limit::Packets(9));
}

#[test]
fn another_queue_is_checked() {
    let demo = load(DEMO, Format::Toml).unwrap();
    let place = |link: &str, aqm: &str| demo.with_queue(link, aqm).unwrap_err().place;
    assert_eq!(place("a", "taildorp"), "links.a.queue.kind");
    assert_eq!(place("a", "taildrop:limit=9p"), "links.a.buffer");
    assert_eq!(place("c", "taildrop"), "links");
    let two = demo.with_queue("a", "taildrop:limit=9p").unwrap_err().message;
    assert!(two.contains("sets its `limit` of 9p as well; remove `limit` from the queue"), "{two}");
    assert!(two.ends_with("to keep its value set links.a.buffer=9p"), "{two}");
}

#[test]
fn another_queue_reads_no_trace_again() {
    let text = DEMO.replacen("\"8mbit\"", "{ kind = \"trace\", file = \"x.down\" }", 1);
    let demo = load(&text, Format::Toml).unwrap();
    let other = demo.with_queue("a", "taildrop").unwrap();
    assert_eq!(other.resolved().links[0].capacity, demo.resolved().links[0].capacity);
}

/// `--aqm` used to refuse a scenario with recorded transfers.
#[test]
fn another_queue_keeps_the_recordings() {
    for kind in ["replay", "transfers"] {
        let text = format!(
            "name = 'n'\nduration = '1s'\n[links.a]\nrate = '1mbit'\n[[flows]]\npath = ['a']\n\
             rtt = '9ms'\napp = {{ kind = '{kind}', file = 'amounts.csv' }}\n"
        );
        let source = Source { format: Format::Toml, ..Source::default() };
        let demo = Scenario::load(&text, &source, &|_| Ok("0.0,1200\n0.5,600\n".to_owned()));
        let other = demo.unwrap().with_queue("a", "codel").unwrap();
        assert_eq!(other.resolved().flows[0].app.recording().unwrap().amounts.len(), 2, "{kind}");
    }
}

#[test]
fn another_seed_changes_nothing_else() {
    let demo = load(DEMO, Format::Toml).unwrap();
    let other = demo.with_seed(7);
    assert_eq!(other.resolved().seed, 7);
    assert_eq!(other.with_seed(1), demo);
}

#[test]
fn overrides_reach_flows_by_place_and_by_name() {
    let sets = [
        ("flows[0].count", "3"),
        ("flows.voice.count", "4"),
        ("record.flows", "true"),
        ("links.a.rate", "5mbit"),
        ("links.b.queue", "{ kind = \"taildrop\", limit = \"3p\" }"),
    ];
    let sets: Vec<_> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    let source = Source { sets: &sets, ..Source::default() };
    let no_trace = |_: &str| Err(io::ErrorKind::NotFound.into());
    let demo = Scenario::load(DEMO, &source, &no_trace).unwrap().resolved().clone();
    assert_eq!((demo.flows[0].count, demo.flows[1].count), (3, 4));
    assert!(demo.record.flows);
    assert_eq!(demo.links[0].capacity.initial_rate().as_bps(), 5_000_000);
    assert_eq!(demo.links[1].limit, Limit::Packets(3));
}
