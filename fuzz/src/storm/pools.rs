//! Odd, extreme and wrong values, by kind.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use toml::Value;

use super::choice::Choice;
use super::schema_keys;
use crate::settings::Settings;

const SPANS: &[&str] = &[
    "0s",
    "1ns",
    "999ns",
    "1us",
    "100us",
    "1ms",
    "7ms",
    "50ms",
    "150ms",
    "300ms",
    "1s",
    "10s",
    "1000s",
    "1000000s",
    "18446744073s",
    "18446744074s",
    "-1s",
    "0.5ns",
    "1e9s",
    "5",
    "nans",
];
const RATES: &[&str] = &[
    "1bit",
    "7bit",
    "1kbit",
    "64kbit",
    "87kbit",
    "1mbit",
    "3mbit",
    "10mbit",
    "54mbit",
    "1gbit",
    "100gbit",
    "18446744073709551615bit",
    "18446744073709551616bit",
    "0bit",
    "-1mbit",
    "0.1bit",
];
const SIZES: &[&str] = &[
    "0B",
    "1B",
    "39B",
    "40B",
    "52B",
    "53B",
    "576B",
    "1500B",
    "1514B",
    "9000B",
    "65535B",
    "65536B",
    "10kB",
    "1MB",
    "4GB",
    "4294967295B",
    "4294967296B",
    "18446744073709551615B",
    "1.5B",
];
const BUFFERS: &[&str] = &[
    "0bdp",
    "0.0001bdp",
    "0.5bdp",
    "1bdp",
    "1000bdp",
    "1e300bdp",
    "0p",
    "1p",
    "2p",
    "1000p",
    "4294967296p",
    "18446744073709551615p",
    "1B",
    "1499B",
    "1500B",
    "250kB",
    "1000GB",
];
const STARTS: &[&str] = &["0s", "0s..0s", "0s..50ms", "1s..0s", "299ms..300ms", "1000s", "..", ""];
const WHOLES: &[i64] = &[
    0,
    1,
    2,
    3,
    7,
    10,
    32,
    33,
    100,
    1000,
    20_000,
    1_000_000,
    2_147_483_648,
    4_294_967_295,
    4_294_967_296,
    -1,
    i64::MAX,
    i64::MIN,
];
const PARTS: &[f64] =
    &[0.0, 1e-300, 1e-9, 0.01, 0.5, 0.999, 1.0, 1.0000001, 2.0, -0.1, f64::NAN, f64::INFINITY];
const CONTROLS: &[&str] =
    &["reno", "cubic", "bbr", "bbr3", "prague", "dctcp", "cubic:hystart=false", "nonsense", ""];
const WORDS: &[&str] = &[
    "linux",
    "linux-fq",
    "linux-7.2",
    "linux-2.6",
    "newreno",
    "sack",
    "reno",
    "tahoe",
    "madpie",
    "codel-act",
    "pi2-ns3",
    "pie-ns2",
    "kids-3.8",
    "classic",
    "accecn",
    "none",
    "always",
    "sparingly",
    "never",
    "constant",
    "uniform",
    "poisson",
    "auto",
    "quic",
    "ect1",
    "ef",
    "diffserv4",
    "dual-srchost",
    "kernel",
    "sojourn",
    "g711",
    "g729",
    "missing",
    "bottleneck",
    "b",
    "bulk",
    "..",
    "",
    "\u{0}",
    "é",
    "x y",
];
const TABLES: &[&str] = &[
    r#"{ kind = "bulk" }"#,
    r#"{ kind = "bulk", bytes = "100kB" }"#,
    r#"{ kind = "files", sizes = ["1B", "44kB"], think = "10ms" }"#,
    r#"{ kind = "files", sizes = ["1kB"], think = "0s" }"#,
    r#"{ kind = "web", reading = "10ms", parsing = "1ms" }"#,
    r#"{ kind = "web", objects = 3, parallel = 32, reading = "1ms" }"#,
    r#"{ kind = "chunks", every = "50ms", rates = ["500kbit", "1mbit"] }"#,
    r#"{ kind = "chunks", every = "50ms", rates = ["1mbit"], buffer = "100ms" }"#,
    r#"{ kind = "chunks", every = "9ms", rates = ["1mbit", "2mbit"], buffer = "1s",
         adaptation = "buffer" }"#,
    r#"{ kind = "cbr", rate = "1mbit", packet = "218B" }"#,
    r#"{ kind = "cbr", rate = "87kbit", packet = "218B", voice = true }"#,
    r#"{ kind = "voice", codec = "g729" }"#,
    r#"{ kind = "onoff", rate = "2mbit", packet = "218B", on = "10ms", off = "10ms" }"#,
    r#"{ kind = "bursts", rate = "9mbit", packet = "1000B", at = ["1ms"], length = "20ms" }"#,
    r#"{ kind = "video", frames = ["9kB", "2kB"], interval = "20ms" }"#,
    r#"{ kind = "replay", file = "amounts.csv" }"#,
    r#"{ kind = "transfers", sizes = ["1B", "9kB"], every = "5ms", arrivals = "uniform" }"#,
    r#"{ kind = "transfers", file = "amounts.csv" }"#,
    r#"{ kind = "echo", interval = "20ms" }"#,
    r#"{ kind = "echo", interval = "1ns", packet = "64B" }"#,
    r#"{ kind = "schedule", steps = [["0s", "20ms"], ["1s", "1ns"]], reorder = true }"#,
    r#"{ kind = "schedule", steps = [["0s", 0.0], ["1s", 1.0]] }"#,
    r#"{ kind = "trace", file = "link.down" }"#,
    r#"{ kind = "schedule", steps = [["0s", "1mbit"], ["100ms", "20mbit"]] }"#,
    r#"{ kind = "schedule", steps = [["0s", "9mbit"], ["60ms", "0bit"], ["1s", "9mbit"]] }"#,
    r#"{ kind = "schedule", in_service = "old-rate", steps = [["0s", "9mbit"], ["1s", "1kbit"]] }"#,
    r#"{ kind = "schedule", in_service = "nonsense", steps = [["0s", "0bit"]] }"#,
    r#"{ kind = "schedule", steps = [["0s", "1mbit"], ["1ns", "1bit"], ["2ns", "1gbit"]] }"#,
    r#"{ kind = "bucket", rate = "5mbit", burst = "3kB", line = "1gbit", overdraft = true }"#,
    r#"{ kind = "wireless", wlan = "home" }"#,
    r#"{ kind = "htb", classes = [{ name = "a", rate = "1mbit" }] }"#,
    r#"{ kind = "htb", default = "b", cells = "atm", classes = [{ name = "a", rate = "1mbit" },
         { name = "b", parent = "a", rate = "1kbit", ceil = "9mbit", burst = "1B",
           queue = "pie" }] }"#,
    r#"{ kind = "prio", default = "a", classes = [{ name = "a" }, { name = "b", dscp = [0] }] }"#,
    r#"{ kind = "prio", default = "nonsense", classes = [] }"#,
    r#"{ kind = "uniform", max = "5ms", reorder = true }"#,
    r#"{ kind = "lognormal", mean = "5ms", deviation = "1s" }"#,
    r#"{ kind = "blocks", every = "1ms", request = "5ms", retransmit = 1, round_trip = "1ns" }"#,
    r#"{ kind = "slots", mean = "1ms", deviation = "2ms", packets = 1, bytes = "1B" }"#,
    r#"{ kind = "bernoulli", rate = 0.5 }"#,
    r#"{ kind = "gilbert-elliott", enter = 0.1, leave = 0.1 }"#,
    r#"{ kind = "four-state", p13 = 0.1, p14 = 0.9 }"#,
    "{ rate = 0.5, correlation = 0.5 }",
    r#"{ kind = "pareto", shape = 0.1, min = "1B", max = "1GB" }"#,
    r#"{ bytes = "1514B", overhead = "24B" }"#,
    r#"[{ metric = "delay_p95", of = "bottleneck", below = "20ms", for = ["pie"] }]"#,
    r#"[{ metric = "goodput", within = ["90%", "9e99%"], against = "codel", max_seeds = 1 }]"#,
    r#"{ sender = "20ms", receiver = "1ms", sender_rate = "10mbit", receiver_rate = "9mbit" }"#,
    "{}",
    "[]",
    r#"["bottleneck", "bottleneck"]"#,
];

/// The name of every key of a scenario, and an unknown one.
static KEYS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let keys = schema_keys::all();
    let names = keys.iter().filter(|key| !key.contains('='));
    let names = names.filter_map(|key| key.rsplit_once('.')).map(|(_, name)| name.to_owned());
    names.chain(["nonsense".to_owned()]).collect::<BTreeSet<String>>().into_iter().collect()
});

/// A key, which may belong anywhere.
pub(crate) fn key(choice: &mut Choice) -> &'static str {
    &KEYS[choice.below(KEYS.len())]
}

/// An AQM with any parameters; the first legal one of some draws.
pub(crate) fn aqm(choice: &mut Choice) -> String {
    let spec = (0..8).find_map(|_| choice.generated::<Settings>()?.spec());
    spec.map_or_else(|| "pie".to_owned(), |(spec, _)| spec.to_string())
}

/// The same as a text or as a table.
pub(crate) fn aqm_value(choice: &mut Choice) -> Value {
    let text = aqm(choice);
    if choice.chance(0.7) { Value::from(text) } else { Value::Table(aqm_table(&text)) }
}

/// The table of an AQM's text form.
fn aqm_table(text: &str) -> toml::Table {
    let (name, settings) = text.split_once(':').unwrap_or((text, ""));
    let (kind, dialect) = name.split_once('@').unwrap_or((name, ""));
    let settings = settings.split(',').filter_map(|setting| setting.split_once('='));
    let keys = [("kind", kind), ("dialect", dialect)].into_iter().chain(settings);
    let keys = keys.filter(|(_, text)| !text.is_empty());
    keys.map(|(key, text)| (key.to_owned(), Value::from(text))).collect()
}

/// A value for a key, mostly of the right kind.
pub(crate) fn value(key: &str, choice: &mut Choice) -> Value {
    let key = if choice.chance(0.1) { self::key(choice) } else { key };
    let text = |pool: &[&str], choice: &mut Choice| Value::from(choice.of_these(pool));
    match key {
        "duration" | "warmup" | "sample" | "bins" | "rtt" | "stop" | "think" => text(SPANS, choice),
        "delay" if choice.chance(0.7) => text(SPANS, choice),
        "rate" | "access_rate" if choice.chance(0.7) => text(RATES, choice),
        "framing" | "packet" | "header" | "receive_window" | "mpu" | "burst" | "overhead" => {
            text(SIZES, choice)
        }
        "buffer" => text(BUFFERS, choice),
        "queue" => aqm_value(choice),
        "start" => text(STARTS, choice),
        "cc" => text(CONTROLS, choice),
        "seed" | "count" | "initial_window" | "ack_every" | "hz" => {
            Value::from(WHOLES[choice.below(WHOLES.len())])
        }
        "packets" | "signals" | "states" | "latency" | "ecn_bleaching" | "ecn" | "accecn"
        | "ecn_fallback" | "autotuning" | "voice" => Value::from(choice.chance(0.5)),
        "record" => Value::from(toml::Table::new()),
        "delay" | "rate" | "app" | "device" | "jitter" | "loss" | "access" | "path" | "reverse"
        | "sizes" | "scheduler" => table(choice),
        _ => match choice.below(4) {
            0 => Value::from(PARTS[choice.below(PARTS.len())]),
            1 => table(choice),
            _ => text(WORDS, choice),
        },
    }
}

fn table(choice: &mut Choice) -> Value {
    let text = format!("x = {}", choice.of_these(TABLES));
    let mut table: toml::Table = text.parse().expect("a table of the list");
    table.remove("x").expect("it has one key")
}
