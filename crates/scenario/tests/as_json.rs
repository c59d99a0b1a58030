//! The resolved scenario as JSON for manifests, and applications as numbers for other processes.

use std::io;

use serde_json::{Value, json};
use sojourn_aqm::{Span, Time};
use sojourn_scenario::resolved::{App, DelayChanges, Extra, Loss};
use sojourn_scenario::{Format, Resolved, Scenario, Source};

const TEXT: &str = r#"
name = "all"
seed = 7
duration = "10s"
warmup = "1s"
[links.a]
rate = { kind = "bucket", rate = "3mbit", burst = "5kB", line = "9mbit", overdraft = true }
delay = "20ms"
framing = "14B"
buffer = "100p"
queue = "pie@linux:target=5ms"
device = { bytes = "1514B", overhead = "24B" }
jitter = { kind = "lognormal", mean = "2ms", deviation = "1ms" }
loss = { kind = "gilbert-elliott", enter = 0.1, leave = 0.2, bad = 0.9, good = 0.01 }
ecn_bleaching = true
policer = { rate = "1mbit", burst = "9kB" }
[links.b]
rate = { kind = "schedule", steps = [["0s", "1mbit"], ["5s", "0bit"]], in_service = "old-rate" }
jitter = { kind = "uniform", max = "3ms" }
loss = { kind = "bernoulli", rate = 0.25 }
[links.c]
rate = { kind = "trace", file = "x.down", opportunity = "1504B" }
jitter = { kind = "exponential", mean = "4ms" }
[links.d]
rate = { kind = "wireless", wlan = "w", rate = "minstrel", snr = "20dB" }
[links.d.jitter]
kind = "blocks"
every = "1ms"
request = "10ms"
pause = "8ms"
retransmit = 0.1
round_trip = "9ms"
[wlans.w]
rate = "24mbit"
error_rate = 0.5
attempts = 3
slot = "20us"
eifs = "100us"
"#;

const APPS: [&str; 13] = [
    r#"{ kind = "bulk", bytes = "1MB" }"#,
    r#"{ kind = "files", sizes = ["1kB", "7B"], think = "2s" }"#,
    r#"{ kind = "web", main = { kind = "pareto", shape = 1.5, min = "1B", max = "9B" }, objects = 3,
         object = { kind = "uniform", min = "2B", max = "8B" }, parallel = 4, request = "300B",
         reading = "3s", parsing = "4ms" }"#,
    r#"{ kind = "transfers", sizes = ["1kB"], every = "20ms" }"#,
    r#"{ kind = "transfers", file = "x.csv" }"#,
    r#"{ kind = "echo", interval = "200ms" }"#,
    r#"{ kind = "chunks", every = "4s", rates = ["1mbit", "2mbit"] }"#,
    r#"{ kind = "cbr", rate = "1mbit", packet = "200B", arrivals = "poisson" }"#,
    r#"{ kind = "voice", codec = "g729" }"#,
    r#"{ kind = "onoff", rate = "2mbit", packet = "201B", on = "5s", off = "6s" }"#,
    r#"{ kind = "bursts", rate = "3mbit", packet = "202B", at = ["1s", "2s"], length = "7ms" }"#,
    r#"{ kind = "video", packet = "203B", interval = "40ms",
         frames = { kind = "lognormal", mean = "5B", deviation = "4B", min = "2B", max = "6B" } }"#,
    r#"{ kind = "replay", file = "x.csv", packet = "204B" }"#,
];

#[test]
fn expectations_change_no_digest_as_they_are_not_in_the_json() {
    let text = "name = \"x\"\nduration = \"9s\"\n[links.a]\nrate = \"1mbit\"\n[[flows]]\n\
                path = [\"a\"]\nrtt = \"9ms\"\napp = { kind = \"bulk\" }\n";
    let expect = "[[expect]]\nmetric = \"delay_p95\"\nbelow = \"20ms\"\n";
    let load = |text: &str| {
        let no_file = |_: &str| Err(io::ErrorKind::NotFound.into());
        Scenario::load(text, &Source::default(), &no_file).unwrap()
    };
    let (with, without) = (load(&format!("{text}{expect}")), load(text));
    assert_eq!(with.resolved().expect.len(), 1);
    assert_eq!(with.resolved_json(), without.resolved_json());
}

/// All kinds of links, and flows of every kind over link `a` there and `b` back.
fn all() -> Resolved {
    let flows = APPS.map(|app| {
        let tcp = if app.contains("bulk") {
            "cc = \"reno\"\naccecn = true\nreceiver_ecn = \"classic\"\naccecn_option = \"never\"\n\
             ecn_fallback = false\n\
             initial_window = 4\nack_every = 1\nreceive_window = \"64kB\"\nautotuning = true\n\
             offload = \"tso:32kB\"\nsrc_host = \"server\"\ndst_host = \"pc\"\n\
             stop = \"8s\"\nstart = \"1s..2s\"\nclass = \"x\"\ncount = 3\n"
        } else {
            ""
        };
        format!(
            "[[flows]]\npath = [\"a\"]\nreverse = [\"b\"]\necn = true\n{tcp}app = {}\n\
             access = {{ sender = \"1ms\", receiver = \"2ms\", sender_back = \"3ms\", \
             receiver_back = \"4ms\", sender_rate = \"5mbit\", receiver_rate = \"6mbit\" }}\n",
            app.replace('\n', " ")
        )
    });
    let read = |file: &str| match file {
        "x.down" => Ok("0\n1\n1\n4\n".to_owned()),
        "x.csv" => Ok("0,100\n0.5,1200\n".to_owned()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    let text = TEXT.to_owned() + &flows.concat();
    let scenario = Scenario::load(&text, &Source::default(), &read);
    scenario.unwrap_or_else(|error| panic!("{error}")).resolved().clone()
}

#[test]
fn links_have_every_key_with_its_unit() {
    let json = all().to_json();
    let mut a = json["links"][0].clone();
    let queue = a["queue"].take();
    assert_eq!((&queue["kind"], &queue["dialect"]), (&json!("pie"), &json!("linux")));
    assert_eq!(
        (&queue["settings"]["target"], &queue["settings"]["limit"]),
        (&json!("5ms"), &json!("100p"))
    );
    let expected = json!({
        "name": "a",
        "rate": {
            "kind": "bucket", "rate": "3mbit", "burst": "5kB", "line": "9mbit", "overdraft": true,
        },
        "delay": "20ms", "framing": "14B", "limit": "100p", "mtu": "1514B", "queue": null,
        "device": { "limit": "1514B", "overhead": "24B" },
        "jitter": { "kind": "lognormal", "mean": "2ms", "deviation": "1ms", "reorder": false },
        "loss": {
            "kind": "gilbert-elliott", "enter": 0.1, "leave": 0.2, "bad": 0.9, "good": 0.01,
        },
        "ecn_bleaching": true,
        "policer": { "rate": "1mbit", "burst": "9kB" },
    });
    assert_eq!(a, expected);
}

#[test]
fn rates_jitter_and_loss_have_their_kind() {
    let json = all().to_json();
    let links = &json["links"];
    assert_eq!(
        links[1]["rate"],
        json!({
            "kind": "schedule",
            "steps": [["0s", "1mbit"], ["5s", "0bit"]],
            "in_service": "old-rate",
        })
    );
    assert_eq!(links[1]["jitter"], json!({ "kind": "uniform", "max": "3ms", "reorder": false }));
    assert_eq!(links[1]["loss"], json!({ "kind": "bernoulli", "rate": 0.25 }));
    let mut trace = links[2]["rate"].clone();
    assert_eq!(trace["sha256"].take().as_str().unwrap().len(), 64);
    let expected = json!({
        "kind": "trace", "file": "x.down", "sha256": null, "opportunity": "1504B",
        "opportunities": 4, "period": "4ms", "mean_rate": "12.032mbit",
    });
    assert_eq!(trace, expected);
    let jitter = json!({ "kind": "exponential", "mean": "4ms", "reorder": false });
    assert_eq!(links[2]["jitter"], jitter);
    let blocks = json!({
        "kind": "blocks", "every": "1ms", "request": "10ms", "pause": "8ms", "retransmit": 0.1,
        "round_trip": "9ms",
    });
    assert_eq!(links[3]["jitter"], blocks);
    // At 20 dB, 36 Mbit/s has the highest throughput: 12,000 bits take 28 + 90 + 370 + 44 us, with
    // slots of 20 us.
    let wireless = json!({
        "kind": "wireless", "wlan": "w", "alone": links[3]["rate"]["alone"],
        "radio": { "rate": "minstrel", "error_rate": 0.5, "snr": "20dB" },
        "airtime_fairness": false,
    });
    assert_eq!(links[3]["rate"], wireless);
    let wlan = json!({
        "name": "w", "radio": { "rate": "24mbit", "error_rate": 0.5, "snr": null },
        "attempts": 3, "slot": "20us", "difs": "50us", "eifs": "100us",
    });
    assert_eq!(json["wlans"], json!([wlan]));
}

#[test]
fn a_group_of_flows_has_every_key_with_its_unit() {
    let mut bulk = all().to_json()["flows"][0].clone();
    let app = bulk["app"].take();
    let expected = json!({
        "name": "bulk", "class": "x", "count": 3, "path": ["a"], "reverse": ["b"], "rtt": "30ms",
        "access_rate": "5mbit", "sender_downlink": "5mbit", "receiver_rate": "6mbit",
        "access_delay": "1ms", "egress_delay": "2ms", "return_delay": "4ms",
        "return_egress_delay": "3ms", "start": ["1s", "2s"], "stop": "8s", "app": null,
        "hosts": [0, 1],
    });
    assert_eq!(bulk, expected);
    let tcp = json!({
        "tcp": "linux", "cc": "reno", "ecn": true, "accecn": true, "receiver_ecn": "classic",
        "accecn_option": "never", "ecn_fallback": false,
        "packet": "1500B", "payload": "1448B", "header": "52B",
        "initial_window": 4, "ack_every": 1, "receive_window": "64kB", "autotuning": true,
        "offload": "tso:32kB",
    });
    assert_eq!(app, json!({ "kind": "bulk", "bytes": "1MB", "tcp": tcp }));
}

#[test]
fn applications_have_every_key_with_its_unit() {
    let json = all().to_json();
    let app = |index: usize| {
        let mut app = json["flows"][index]["app"].clone();
        app.as_object_mut().unwrap().retain(|key, _| key != "tcp" && key != "sha256");
        app
    };
    let expected = [
        json!({ "kind": "files", "sizes": ["1kB", "7B"], "think": "2s" }),
        json!({
            "kind": "web", "main": { "kind": "pareto", "shape": 1.5, "min": "1B", "max": "9B" },
            "object": { "kind": "uniform", "min": "2B", "max": "8B" }, "objects": 3, "parallel": 4,
            "request": "300B", "reading": "3s", "parsing": "4ms",
        }),
        json!({
            "kind": "transfers", "sizes": ["1kB"], "every": "20ms", "arrivals": "poisson",
        }),
        json!({ "kind": "transfers", "file": "x.csv", "lines": 2 }),
        json!({ "kind": "echo", "interval": "200ms", "packet": "84B", "ecn": true }),
        json!({
            "kind": "chunks", "every": "4s", "rates": ["1mbit", "2mbit"], "buffer": null,
            "adaptation": "throughput",
        }),
        json!({
            "kind": "cbr", "rate": "1mbit", "packet": "200B", "ecn": true, "arrivals": "poisson",
            "voice": null,
        }),
        json!({
            "kind": "cbr", "rate": "24kbit", "packet": "60B", "ecn": true, "arrivals": "constant",
            "voice": "g729",
        }),
        json!({
            "kind": "onoff", "rate": "2mbit", "packet": "201B", "ecn": true, "on": "5s",
            "off": "6s",
        }),
        json!({
            "kind": "bursts", "rate": "3mbit", "packet": "202B", "ecn": true, "at": ["1s", "2s"],
            "length": "7ms",
        }),
        json!({
            "kind": "video", "packet": "203B", "ecn": true, "interval": "40ms", "frames": {
                "kind": "lognormal", "mean": "5B", "deviation": "4B", "min": "2B", "max": "6B",
            },
        }),
        json!({ "kind": "replay", "file": "x.csv", "lines": 2, "packet": "204B", "ecn": true }),
    ];
    for (index, expected) in expected.into_iter().enumerate() {
        assert_eq!(app(index + 1), expected);
    }
}

#[test]
fn the_run_has_every_key_with_its_unit() {
    let mut json = all().to_json();
    for key in ["links", "wlans", "flows", "warnings"] {
        json.as_object_mut().unwrap().remove(key);
    }
    let expected = json!({
        "name": "all", "seed": 7, "duration": "10s", "warmup": "1s",
        "record": {
            "packets": false, "signals": false, "flows": false, "states": true, "sample": "10ms",
            "bins": null, "latency": false,
        },
        "engine": {
            "linux": { "bottleneck": "kernel", "where": "auto", "hz": 1000 },
            "ns3": { "bottleneck": "sojourn" },
        },
    });
    assert_eq!(json, expected);
}

#[test]
fn applications_reach_another_process_unchanged_as_numbers() {
    let resolved = all();
    for flow in &resolved.flows {
        let sent = serde_json::to_string(&flow.app).unwrap();
        assert_eq!(serde_json::from_str::<App>(&sent).unwrap(), flow.app);
    }
    let number =
        |index: usize| -> Value { serde_json::to_value(&resolved.flows[index].app).unwrap() };
    assert_eq!(number(1)["Files"]["think"], json!(2_000_000_000u64));
    assert_eq!(number(6)["Chunks"]["chunks"]["rates"], json!([1_000_000, 2_000_000]));
    assert_eq!(number(10)["Bursts"]["at"], json!([1_000_000_000, 2_000_000_000]));
    assert_eq!(
        number(12)["Replay"]["recording"]["amounts"],
        json!([[0, 100], [500_000_000, 1200]])
    );
}

#[test]
fn jitter_and_loss_reach_another_process_unchanged() {
    for link in &all().links {
        let jitter = link.jitter.clone().unwrap();
        let sent = serde_json::to_string(&jitter.extra).unwrap();
        assert_eq!(serde_json::from_str::<Extra>(&sent).unwrap(), jitter.extra);
        let Some(loss) = &link.loss else { continue };
        let sent = serde_json::to_string(loss).unwrap();
        assert_eq!(&serde_json::from_str::<Loss>(&sent).unwrap(), loss);
    }
}

#[test]
fn schedules_of_delay_jitter_and_loss_are_shown_as_written_and_reach_another_process() {
    let text = TEXT_OF_STEPS;
    let no_file = |_: &str| Err(io::ErrorKind::NotFound.into());
    let scenario = Scenario::load(text, &Source::default(), &no_file).unwrap();
    let plan = scenario.resolved();
    let link = &plan.to_json()["links"][0];
    let delay = json!({
        "kind": "schedule", "steps": [["0s", "20ms"], ["15s", "35ms"]], "reorder": false,
    });
    assert_eq!(link["delay"], delay);
    assert_eq!(link["loss"], json!({ "kind": "schedule", "steps": [["0s", 0.0], ["9s", 0.25]] }));
    let jitter = json!({
        "kind": "schedule", "steps": [["0s", "2ms"], ["9s", "0s"]], "reorder": true,
    });
    assert_eq!(link["jitter"], jitter);
    let extra = &plan.links[0].jitter.as_ref().unwrap().extra;
    let sent = serde_json::to_string(extra).unwrap();
    assert_eq!(&serde_json::from_str::<Extra>(&sent).unwrap(), extra);
    let changes = plan.links[0].delay_changes.as_ref().unwrap();
    let sent = serde_json::to_string(changes).unwrap();
    assert_eq!(&serde_json::from_str::<DelayChanges>(&sent).unwrap(), changes);
    let again = Scenario::load(&scenario.document_json(), &JSON, &no_file).unwrap();
    assert_eq!(again.resolved(), plan);
}

#[test]
fn a_delay_that_packets_skip_is_a_change_above_zero() {
    let text = TEXT_OF_STEPS.replace("[[flows]]", "reorder = { rate = 0.25, gap = 5 }\n[[flows]]");
    let no_file = |_: &str| Err(io::ErrorKind::NotFound.into());
    let load = |text: &str| Scenario::load(text, &Source::default(), &no_file);
    let plan = load(&text).unwrap().resolved().clone();
    let link = &plan.links[0];
    assert_eq!(link.delay, Span::ZERO);
    let changes = link.delay_changes.as_ref().unwrap();
    assert_eq!(changes.at(Time::ZERO), Span::from_millis(20));
    let json = &plan.to_json()["links"][0];
    assert_eq!(json["delay"]["steps"], json!([["0s", "20ms"], ["15s", "35ms"]]));
    assert_eq!(json["reorder"], json!({ "rate": 0.25, "gap": 5 }));
    let without = load(TEXT_OF_STEPS).unwrap().resolved().clone();
    let ends = |plan: &Resolved| {
        let flow = &plan.flows[0];
        (flow.rtt, flow.access_delay, flow.egress_delay)
    };
    assert_eq!(ends(&plan), ends(&without));
}

#[test]
fn words_of_netem_are_shown_as_written_and_wrong_ones_are_refused() {
    let with = |more: &str| {
        let text = TEXT_OF_STEPS.replace("jitter = ", "jitter_ = ");
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("jitter_")).collect();
        let text = lines.join("\n").replace("[[flows]]", &format!("{more}\n[[flows]]"));
        let no_file = |_: &str| Err(io::ErrorKind::NotFound.into());
        Scenario::load(&text, &Source::default(), &no_file)
    };
    let jitter = "jitter = { kind = \"netem\", mean = \"40ms\", deviation = \"10ms\" }";
    let link = &with(jitter).unwrap().resolved().to_json()["links"][0];
    let shown = json!({
        "kind": "netem", "mean": "40ms", "deviation": "10ms", "distribution": "normal",
        "reorder": false,
    });
    assert_eq!(link["jitter"], shown);
    let corrupt = with("corrupt = { rate = 0.001, correlation = 0.25 }").unwrap();
    assert_eq!(
        corrupt.resolved().to_json()["links"][0]["corrupt"],
        json!({ "rate": 0.001, "correlation": 0.25 })
    );
    assert!(corrupt.resolved().warnings.iter().any(|it| it.contains("damage far fewer packets")));
    for (wrong, words) in [
        ("reorder = { rate = 0.1, gap = 0 }", "links.a.reorder.gap"),
        ("reorder = { rate = 1.5 }", "links.a.reorder.rate"),
        ("corrupt = { rate = 0.1, correlation = 2 }", "links.a.corrupt.correlation"),
        (&jitter.replace("10ms", "3s"), "links.a.jitter.deviation"),
        (&jitter.replace(" }", ", distribution = \"x\" }"), "unknown"),
    ] {
        let error = with(wrong).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

const JSON: Source<'_> = Source { format: Format::Json, origin: "x.json", sets: &[] };
const TEXT_OF_STEPS: &str = r#"name = "x"
duration = "20s"
[links.a]
rate = "1mbit"
delay = { kind = "schedule", steps = [["0s", "20ms"], ["15s", "35ms"]] }
loss = { kind = "schedule", steps = [["0s", 0], ["9s", 0.25]] }
jitter = { kind = "schedule", steps = [["0s", "2ms"], ["9s", "0s"]], reorder = true }
[[flows]]
path = ["a"]
rtt = "50ms"
app = { kind = "bulk" }
"#;
