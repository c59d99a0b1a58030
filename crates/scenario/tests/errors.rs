//! Every error names its place, the problem, and the remedy.

use std::io;

use sojourn_scenario::{ErrorKind, Format, Scenario, ScenarioError, Source};

const GOOD: &str = r#"name = "demo"
duration = "10s"
[links.bottleneck]
rate = "10mbit"
delay = "48ms"
buffer = "1bdp"
[[flows]]
path = ["bottleneck"]
rtt = "100ms"
app = { kind = "bulk" }
"#;

fn load(text: &str, sets: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let sets: Vec<_> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    let source = Source { format: Format::Toml, origin: "demo.toml", sets: &sets };
    Scenario::load(text, &source, &|file| match file {
        "good.down" => Ok("0\n1\n2\n".to_owned()),
        "empty.down" => Ok(String::new()),
        "backwards.down" => Ok("5\n3\n".to_owned()),
        "good.csv" => Ok("time,bytes\n0,100\n0.5,1200\n".to_owned()),
        "backwards.csv" => Ok("0.5,100\n0.25,100\n".to_owned()),
        "zero.down" => Ok("0\n0\n".to_owned()),
        _ => Err(io::Error::new(io::ErrorKind::NotFound, "no such file")),
    })
}

/// Replaces a line of the good scenario.
fn edited(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    GOOD.replacen(from, to, 1)
}

#[track_caller]
fn refused(text: &str, place: &str, remedy: &str) {
    let error = load(text, &[]).unwrap_err();
    assert_eq!(error.place, place, "{error}");
    assert!(error.message.contains(remedy), "{error}");
}

#[track_caller]
fn set_refused(sets: &[(&str, &str)], place: &str, remedy: &str) {
    let error = load(GOOD, sets).unwrap_err();
    assert_eq!(error.place, place, "{error}");
    assert!(error.message.contains(remedy), "{error}");
}

#[test]
fn the_good_scenario_is_good() {
    assert!(load(GOOD, &[]).unwrap().resolved().warnings.is_empty());
}

#[test]
fn a_misspelt_word_of_an_engine_is_reported_at_its_own_key() {
    let misspelt = |key: &str, word: &str| format!("{GOOD}[engine.linux]\n{key} = \"{word}\"\n");
    let place = "unknown value `guesst`; did you mean `guest`?";
    refused(&misspelt("where", "guesst"), "demo.toml:12: engine.linux.where", place);
    let bottleneck = "unknown value `kernal`; did you mean `kernel`?";
    refused(&misspelt("bottleneck", "kernal"), "demo.toml:12: engine.linux.bottleneck", bottleneck);
}

#[test]
fn a_name_that_would_act_on_a_terminal_is_refused() {
    for letter in ["\\u001B[31m", "\\n", "\\u009B"] {
        let text = edited("demo", &format!("demo{letter}"));
        refused(&text, "demo.toml:1: name", "has control characters; write a word or two");
    }
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest_one() {
    refused(
        &edited("delay", "dealy"),
        "demo.toml:5: links.bottleneck.dealy",
        "unknown key `dealy`; did you mean `delay`?",
    );
    refused(
        &edited("kind = \"bulk\"", "kind = \"bulk\", bytse = \"1kB\""),
        "demo.toml:10: flows[0].app.bytse",
        "did you mean `bytes`?",
    );
    refused(&edited("duration", "durations"), "demo.toml:2: durations", "did you mean `duration`?");
}

#[test]
fn an_unknown_kind_is_refused_with_the_nearest_one() {
    refused(
        &edited("\"bulk\"", "\"bulkk\""),
        "demo.toml:10: flows[0].app.kind",
        "unknown kind `bulkk`; did you mean `bulk`?",
    );
    refused(
        &edited("\"10mbit\"", "{ kind = \"scedule\", steps = [] }"),
        "demo.toml:4: links.bottleneck.rate.kind",
        "did you mean `schedule`? Known: schedule, bucket, trace",
    );
}

#[test]
fn a_missing_key_is_refused_with_an_example() {
    refused(&edited("duration = \"10s\"", ""), "demo.toml: duration", "duration = \"60s\"");
    refused(
        &edited("kind = \"bulk\"", ""),
        "demo.toml:10: flows[0].app.kind",
        "missing; write for example kind = \"bulk\"",
    );
    refused(
        &edited("kind = \"bulk\"", "kind = \"files\", sizes = [\"1kB\"]"),
        "demo.toml:10: flows[0].app.think",
        "think = \"9.5s\"",
    );
}

#[test]
fn a_value_of_the_wrong_type_is_refused_with_the_right_type() {
    let app = "demo.toml:10: flows[0].app";
    refused(&edited("{ kind = \"bulk\" }", "\"bulk\""), app, "expected a table with `kind`");
    let path = "demo.toml:8: flows[0].path";
    refused(&edited("[\"bottleneck\"]", "\"bottleneck\""), path, "expected a list");
    let count = "demo.toml:10: flows[0].count";
    refused(&edited("rtt = \"100ms\"", "rtt = \"100ms\"\ncount = -1"), count, "whole number");
    let delay = "demo.toml:5: links.bottleneck.delay";
    refused(&edited("\"48ms\"", "2024-01-01"), delay, "write a text such as \"10s\"");
    refused(&edited("\"48ms\"", "nan"), delay, "must be finite");
}

#[test]
fn hosts_are_words_and_a_host_does_not_send_to_itself() {
    let with = |keys: &str| edited("rtt = \"100ms\"", &format!("rtt = \"100ms\"\n{keys}"));
    let place = "demo.toml:11: flows[0].dst_host";
    refused(&with("src_host = \"pc\"\ndst_host = \"pc\""), place, "name another");
    refused(&with("src_host = \"a pc\""), "demo.toml:10: flows[0].src_host", "a host is a word");
}

#[test]
fn quantities_need_a_unit_that_has_one_reading() {
    let rate = "demo.toml:4: links.bottleneck.rate";
    refused(&edited("\"10mbit\"", "\"10mbps\""), rate, "write `10mbit`");
    refused(&edited("\"10mbit\"", "10"), rate, "a rate needs a unit: `10mbit`");
    refused(&edited("\"10s\"", "10"), "demo.toml:2: duration", "`10ms` or `10s`");
    refused(&edited("\"1bdp\"", "2"), "demo.toml:6: links.bottleneck.buffer", "`2bdp`, `2p`");
}

#[test]
fn rates_and_times_that_must_be_positive_are() {
    let rate = "demo.toml:4: links.bottleneck.rate";
    refused(&edited("\"10mbit\"", "\"0mbit\""), rate, "must be positive");
    refused(&edited("\"10mbit\"", "\"-1mbit\""), rate, "negative");
    refused(&edited("\"10s\"", "\"0s\""), "demo.toml:2: duration", "must be positive");
    refused(&edited("\"100ms\"", "\"0ms\""), "demo.toml:9: flows[0].rtt", "must be positive");
    refused(&edited("\"1bdp\"", "\"0bdp\""), "demo.toml:6: links.bottleneck.buffer", "positive");
    refused(&edited("\"1bdp\"", "\"0p\""), "demo.toml:6: links.bottleneck.buffer", "positive");
    set_refused(&[("record.sample", "0s")], "--set record.sample", "must be positive");
}

#[test]
fn syntax_errors_name_the_line() {
    refused(&edited("\"48ms\"", "\"48ms"), "demo.toml:5", "not TOML");
}

#[test]
fn json_with_null_or_repeated_keys_is_refused() {
    let source = Source { format: Format::Json, origin: "demo.json", sets: &[] };
    let refused = |text: &str, place: &str, remedy: &str| {
        let error = Scenario::load(text, &source, &no_trace).unwrap_err();
        assert_eq!(error.place, place, "{error}");
        assert!(error.message.contains(remedy), "{error}");
    };
    refused("{\n\"name\": }", "demo.json:2", "not JSON");
    refused("{} {}", "demo.json:1", "not JSON");
    let null = "{\"flows\": [\n{\"stop\": null}]}";
    refused(null, "demo.json:2: flows[0].stop", "leave the key out");
    let twice = "{\"links\": {\"a\": {},\n\"a\": {}}}";
    refused(twice, "demo.json:2: links", "`a` is set twice; remove one");
    refused("[]", "demo.json", "expected a table");
}

#[test]
fn toml_keys_come_once() {
    let twice = edited("delay", "rate = \"1mbit\"\ndelay");
    refused(&twice, "demo.toml:5", "duplicate key");
}

fn no_trace(_: &str) -> io::Result<String> {
    Err(io::ErrorKind::NotFound.into())
}

#[test]
fn links_of_a_path_exist_and_come_once() {
    refused(
        &edited("[\"bottleneck\"]", "[\"botleneck\"]"),
        "demo.toml:8: flows[0].path[0]",
        "unknown link `botleneck`; did you mean `bottleneck`?",
    );
    refused(
        &edited("[\"bottleneck\"]", "[\"bottleneck\", \"bottleneck\"]"),
        "demo.toml:8: flows[0].path[1]",
        "`bottleneck` is listed twice; a path has each link once",
    );
    refused(&edited("[\"bottleneck\"]", "[]"), "demo.toml:8: flows[0].path", "at least one link");
}

#[test]
fn names_are_unique_words() {
    let two = GOOD.to_owned()
        + "name = \"a\"\n[[flows]]\nname = \"a\"\npath = [\"bottleneck\"]\nrtt = \"100ms\"\n"
        + "app = { kind = \"bulk\" }\n";
    refused(&two, "demo.toml:13: flows[1].name", "names are unique");
    let link = edited("[links.bottleneck]", "[links.\"a b\"]");
    refused(&link, "demo.toml:3: links.a b", "letters, digits");
    set_refused(&[("flows[0].class", "\"\"")], "--set flows[0].class", "letters, digits");
    refused(&edited("\"demo\"", "\" \""), "demo.toml:1: name", "write a word or two");
}

#[test]
fn a_run_has_links_and_flows() {
    let no_flows = GOOD.split("[[flows]]").next().unwrap().to_owned();
    refused(&no_flows, "demo.toml: flows", "[[flows]] with path, rtt and app");
    let empty = "name = \"x\"\nduration = \"1s\"\nflows = []\nlinks = {}";
    refused(empty, "demo.toml:4: links", "[links.bottleneck] with a rate");
    set_refused(&[("flows", "[]")], "--set flows", "at least one group of flows is needed");
}

#[test]
fn times_are_in_order() {
    set_refused(&[("warmup", "10s")], "--set warmup", "it must be shorter");
    set_refused(&[("flows[0].start", "2s..1s")], "--set flows[0].start", "write `1s..2s`");
    let start_and_stop = [("flows[0].start", "0s..3s"), ("flows[0].stop", "3s")];
    set_refused(&start_and_stop, "--set flows[0].stop", "stop later or start earlier");
}

#[test]
fn an_rtt_covers_the_delays_of_its_links() {
    refused(
        &edited("\"100ms\"", "\"40ms\""),
        "demo.toml:9: flows[0].rtt",
        "40ms is shorter than the 48ms that the links alone delay",
    );
}

#[test]
fn numbers_that_must_be_at_least_one_are() {
    for key in ["count", "initial_window", "ack_every"] {
        let key = format!("flows[0].{key}");
        set_refused(&[(&key, "0")], &format!("--set {key}"), "must be at least 1");
    }
}

#[test]
fn packets_have_room_for_data_and_fit_into_ip() {
    let packet = [("flows[0].packet", "52B")];
    set_refused(&packet, "--set flows[0].packet", "no room for data after a header of 52B");
    set_refused(&[("flows[0].packet", "64KiB")], "--set flows[0].packet", "1B to 65535B");
    set_refused(&[("flows[0].header", "0B")], "--set flows[0].header", "size of an ACK");
    let framing = [("links.bottleneck.framing", "1MB")];
    set_refused(&framing, "--set links.bottleneck.framing", "0B to 65535B");
}

#[test]
fn applications_have_something_to_send() {
    let set = |app: &str| [("flows[0].app", app.to_owned())];
    let check = |app: &str, place: &str, remedy: &str| {
        let set = set(app);
        set_refused(&[(set[0].0, &set[0].1)], &format!("--set flows[0].app.{place}"), remedy);
    };
    check("{ kind = \"files\", sizes = [], think = \"1s\" }", "sizes", "the list is empty");
    check("{ kind = \"files\", sizes = [\"0B\"], think = \"1s\" }", "sizes[0]", "positive");
    check("{ kind = \"bulk\", bytes = \"0B\" }", "bytes", "leave it out for no limit");
    check("{ kind = \"cbr\", rate = \"1mbit\", packet = \"0B\" }", "packet", "1B to 65535B");
    let onoff =
        "{ kind = \"onoff\", rate = \"1mbit\", packet = \"1kB\", on = \"1s\", off = \"0s\" }";
    check(onoff, "off", "kind `cbr` never pauses");
}

#[test]
fn keys_of_tcp_are_refused_for_datagrams() {
    let cbr = ("flows[0].app", "{ kind = \"cbr\", rate = \"1mbit\", packet = \"1kB\" }");
    for (key, value, remedy) in [
        ("cc", "cubic", "`cc` belongs to TCP, and kind `cbr` sends datagrams; remove it"),
        ("packet", "1500B", "write it inside `app`"),
        ("header", "52B", "remove it"),
        ("tcp", "\"sack\"", "remove it"),
        ("initial_window", "10", "remove it"),
        ("ack_every", "2", "remove it"),
        ("offload", "\"tso:64kB\"", "remove it"),
        ("accecn", "true", "remove it"),
        ("receiver_ecn", "classic", "remove it"),
    ] {
        let key = format!("flows[0].{key}");
        set_refused(&[cbr, (&key, value)], &format!("--set {key}"), remedy);
    }
}

#[test]
fn keys_of_accurate_feedback_need_ecn_and_a_known_value() {
    for (key, value) in [
        ("accecn", "true"),
        ("receiver_ecn", "\"classic\""),
        ("accecn_option", "\"never\""),
        ("ecn_fallback", "false"),
    ] {
        let key = format!("flows[0].{key}");
        set_refused(&[(&key, value)], &format!("--set {key}"), "write `ecn = true` too");
        assert!(load(GOOD, &[("flows[0].ecn", "true"), (&key, value)]).is_ok());
    }
    let ecn = ("flows[0].ecn", "true");
    let key = "flows[0].receiver_ecn";
    set_refused(&[ecn, (key, "\"acecn\"")], &format!("--set {key}"), "`accecn`");
    let key = "flows[0].accecn_option";
    set_refused(&[ecn, (key, "\"often\"")], &format!("--set {key}"), "known: always");
}

#[test]
fn an_offload_holds_two_packets_or_more_and_no_more_than_a_host_hands_down() {
    let key = "flows[0].offload";
    for (value, remedy) in [
        ("\"lro\"", "`tso:64kB`"),
        ("\"tso:\"", "size"),
        ("\"gso\"", "`gso:64kB`"),
        ("\"gso:2kB\"", "write more, or `off`"),
        ("\"tso:100kB\"", "64 KiB"),
        ("\"tso:2999B\"", "write more, or `off`"),
    ] {
        set_refused(&[(key, value)], &format!("--set {key}"), remedy);
    }
    for value in ["off", "tso:3kB", "tso:64kB", "gso:64kB"] {
        let loaded = load(GOOD, &[(key, &format!("\"{value}\""))]).unwrap();
        assert_eq!(loaded.resolved().to_json()["flows"][0]["app"]["tcp"]["offload"], value);
    }
    assert!(load(GOOD, &[(key, "\"tso:64KiB\"")]).is_ok());
}

#[test]
fn schedules_start_at_zero_and_increase() {
    let check = |steps: &str, place: &str, remedy: &str| {
        let rate = format!("{{ kind = \"schedule\", steps = {steps} }}");
        let place = format!("demo.toml:4: links.bottleneck.rate.steps{place}");
        refused(&edited("\"10mbit\"", &rate), &place, remedy);
    };
    check("[]", "", "the list is empty");
    check("[[\"1s\", \"1mbit\"]]", "[0]", "it must be at 0s");
    check("[[\"0s\", \"1mbit\"], [\"0s\", \"2mbit\"]]", "[1]", "times must increase");
    check("[[\"0s\", \"1mbps\"]]", "[0][1]", "ambiguous");
    check("[[\"0s\", \"0bit\"], [\"1s\", \"0mbit\"]]", "", "every step is an outage");
}

#[test]
fn traces_load_and_do_not_decrease() {
    let with =
        |file: &str| edited("\"10mbit\"", &format!("{{ kind = \"trace\", file = \"{file}\" }}"));
    let place = "demo.toml:4: links.bottleneck.rate.file";
    let error = load(&with("missing.down"), &[]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unreadable(io::ErrorKind::NotFound));
    refused(&with("missing.down"), place, "cannot read the trace `missing.down`: no such file");
    refused(&with(""), place, "write its path");
    refused(&with("empty.down"), place, "`empty.down` is empty");
    refused(&with("backwards.down"), place, "line 2: 3 ms comes after 5 ms");
    refused(&with("zero.down"), place, "ends at 0 ms");
    assert!(load(&with("good.down"), &[]).is_ok());
}

#[test]
fn queues_are_checked_against_the_registry() {
    let with = |queue: &str| edited("buffer = \"1bdp\"", &format!("queue = {queue}"));
    let place = |part: &str| format!("demo.toml:6: links.bottleneck.queue.{part}");
    refused(&with("\"taildorp\""), &place("kind"), "did you mean `taildrop`?");
    refused(&with("\"taildrop@linx\""), &place("dialect"), "no dialect `linx`");
    refused(&with("{ kind = \"taildrop\", target = 1 }"), &place("target"), "known: limit");
    refused(&with("{ kind = \"taildrop\", limit = 100 }"), &place("limit"), "`100p` for packets");
    refused(&with("{ limit = \"100p\" }"), &place("kind"), "kind = \"taildrop\"");
    refused(&with("\"taildrop:limit=100\""), &place("limit"), "`100p` for packets");
}

#[test]
fn a_limit_is_set_once() {
    let both = [("links.bottleneck.queue", "taildrop:limit=10p")];
    let error = load(GOOD, &both).unwrap_err();
    assert_eq!(error.place, "demo.toml:6: links.bottleneck.buffer");
    assert!(error.message.contains("remove `limit` from the queue"), "{error}");
}

#[test]
fn a_bdp_needs_a_flow_and_a_size() {
    let unused = GOOD
        .to_owned()
        .replace("[[flows]]", "[links.spare]\nrate = \"1mbit\"\nbuffer = \"1bdp\"\n[[flows]]");
    refused(
        &unused,
        "demo.toml:9: links.spare.buffer",
        "write the buffer in packets, bytes or as a time",
    );
    let tiny = edited("\"1bdp\"", "\"0.000001bdp\"");
    refused(&tiny, "demo.toml:6: links.bottleneck.buffer", "write another size");
}

#[test]
fn packets_of_a_flow_can_be_numbered() {
    let sets = [("links.bottleneck.rate", "100gbit"), ("duration", "3600s")];
    let place = "demo.toml:10: flows[0].app";
    set_refused(&sets, place, "shorten the duration, lower the rate or send larger packets");
}

#[test]
fn overrides_name_what_they_cannot_set() {
    set_refused(&[("links.botleneck.rate", "1mbit")], "--set links.botleneck.rate", "did you mean");
    set_refused(&[("flows[3].count", "1")], "--set flows[3].count", "places are 0 to 0");
    set_refused(&[("name.x", "1")], "--set name.x", "`name` is a text, not a table");
    set_refused(&[("links..rate", "1mbit")], "--set links..rate", "not a dotted key");
    set_refused(&[("flows", "[1")], "--set flows", "not a TOML value");
    set_refused(&[("seeed", "1")], "--set seeed", "did you mean `seed`?");
}

#[test]
fn what_is_probably_not_meant_is_a_warning() {
    let sets = [("links.spare", "{ rate = \"1mbit\" }"), ("flows[0].start", "0s..20s")];
    let error = load(GOOD, &sets[..1]).unwrap_err();
    assert!(error.message.contains("unknown link `spare`"), "{error}");
    let text = GOOD.replace("[[flows]]", "[links.spare]\nrate = \"1mbit\"\n[[flows]]");
    let scenario = load(&text, &sets[1..]).unwrap();
    let [unused, late] = scenario.resolved().warnings.as_slice() else { panic!() };
    assert!(unused.contains("links.spare: no flow uses this link"));
    assert!(late.contains("flows[0].start") && late.contains("20s"));
    let small = load(GOOD, &[("links.bottleneck.buffer", "1kB")]).unwrap();
    assert!(small.resolved().warnings[0].contains("no room for a packet of 1500 bytes"));
}

#[test]
fn a_round_trip_is_as_long_as_its_parts() {
    let rtt = "demo.toml:9: flows[0].rtt";
    refused(&edited("\"100ms\"", "\"40ms\""), rtt, "shorter than the 48ms");
    refused(&edited("rtt = \"100ms\"\n", ""), "demo.toml:7: flows[0].rtt", "or `access`");
    let with = |access: &str| format!("rtt = \"100ms\"\naccess = {{ {access} }}");
    refused(
        &edited("rtt = \"100ms\"", &with("sender = \"201ms\", receiver = \"1ms\"")),
        rtt,
        "100ms is not the 500ms that links and `access` delay there and back",
    );
    let right = edited("rtt = \"100ms\"", &with("sender = \"1ms\", receiver_back = \"1ms\""));
    assert_eq!(load(&right, &[]).unwrap_err().place, rtt); // 1 + 48 there, 1 + 48 + 1 back: 99 ms
    let left_out = right.replace("rtt = \"100ms\"\n", "");
    assert_eq!(load(&left_out, &[]).unwrap().resolved().flows[0].rtt.to_string(), "99ms");
    let nothing = left_out.replace("delay = \"48ms\"", "").replace("1ms", "0ms");
    refused(&nothing, "demo.toml:7: flows[0].rtt", "a round trip takes time");
}

#[test]
fn access_links_have_one_rate_and_one_order() {
    let with = |more: &str| edited("rtt = \"100ms\"", more);
    refused(
        &with("access_rate = \"1gbit\"\naccess = { sender = \"1ms\", sender_rate = \"1gbit\" }"),
        "demo.toml:9: flows[0].access_rate",
        "`access.sender_rate` sets the same; remove one",
    );
    let overtaking = with("access = { receiver_rate = \"1gbit\" }").replace(
        "buffer",
        "jitter = { kind = \"uniform\", max = \"5ms\", reorder = true }\nbuffer",
    );
    refused(&overtaking, "demo.toml:10: flows[0].access", "set the jitter's reorder = false");
}

#[test]
fn buckets_devices_jitter_and_loss_are_checked() {
    let bucket = |burst: &str, line: &str| {
        let table = format!(
            "{{ kind = \"bucket\", rate = \"10mbit\", burst = \"{burst}\", line = \"{line}\" }}"
        );
        edited("\"10mbit\"", &table)
    };
    assert!(load(&bucket("5kB", "1gbit"), &[]).is_ok());
    let rate = "demo.toml:4: links.bottleneck.rate";
    refused(&bucket("5kB", "1mbit"), &format!("{rate}.line"), "at least as fast");
    refused(&bucket("0B", "1gbit"), &format!("{rate}.burst"), "1B to 1GB");
    refused(&bucket("1499B", "1gbit"), &format!("{rate}.burst"), "overdraft = true");
    refused(&bucket("5kB", "0mbit"), &format!("{rate}.line"), "must be positive");
    let link = |more: &str| edited("buffer", &format!("{more}\nbuffer"));
    let at = |key: &str| format!("demo.toml:6: links.bottleneck.{key}");
    let policer = |burst: &str| format!("policer = {{ rate = \"5mbit\", burst = \"{burst}\" }}");
    assert!(load(&link(&policer("1500B")), &[]).is_ok());
    let shallow = "drops every packet of 1500 B";
    refused(&link(&policer("1499B")), &at("policer.burst"), shallow);
    refused(&link(&policer("0B")), &at("policer.burst"), "1B to 1GB");
    refused(&link("device = { bytes = \"0B\" }"), &at("device.bytes"), "must be positive");
    refused(&link("device = { }"), &at("device"), "write for example bytes = \"1514B\"");
    refused(&link("device = { packets = 0 }"), &at("device.packets"), "must be positive");
    let both = link("device = { bytes = \"1514B\", packets = 2 }");
    refused(&both, &at("device"), "remove one of the two");
    let traced = link("device = { bytes = \"1514B\" }")
        .replace("\"10mbit\"", "{ kind = \"trace\", file = \"good.down\" }");
    refused(&traced, &at("device"), "remove it");
    let jitter = "jitter = { kind = \"uniform\", max = \"0ms\" }";
    refused(&link(jitter), &at("jitter.max"), "must be positive");
    refused(&link("jitter = { kind = \"normal\" }"), &at("jitter.kind"), "known: uniform");
    let steps = "jitter = { kind = \"schedule\", steps = [[\"1s\", \"2ms\"]] }";
    refused(&link(steps), &at("jitter.steps[0]"), "it must be at 0s");
    let blocks = |more: &str| link(&format!("jitter = {{ kind = \"blocks\", {more} }}"));
    assert!(load(&blocks("every = \"1ms\""), &[]).is_ok());
    refused(&blocks("every = \"0ms\""), &at("jitter.every"), "must be positive");
    refused(&blocks("every = \"1ms\", retransmit = 0.1"), &at("jitter"), "go together");
    refused(&blocks("every = \"1ms\", retransmit = 2"), &at("jitter.retransmit"), "from 0 to 1");
    let slots = |more: &str| link(&format!("jitter = {{ kind = \"slots\", {more} }}"));
    assert!(load(&slots("mean = \"0s\", deviation = \"1ms\", bytes = \"9kB\""), &[]).is_ok());
    refused(&slots("mean = \"0s\""), &at("jitter.mean"), "must be positive");
    refused(&slots("mean = \"1ms\", packets = 0"), &at("jitter.packets"), "must be 1 to");
    refused(&slots("mean = \"1ms\", bytes = \"3GB\""), &at("jitter.bytes"), "must be 1 to");
    refused(&slots("mean = \"1ms\", deviation = \"3s\""), &at("jitter.deviation"), "to 2.1s");
    refused(&link("loss = { kind = \"bernoulli\", rate = 1.5 }"), &at("loss.rate"), "from 0 to 1");
    refused(&link("loss = { kind = \"bernoulli\" }"), &at("loss.rate"), "rate = 0.01");
    let elliott = "loss = { kind = \"gilbert-elliott\", enter = 0.1, leave = -1 }";
    refused(&link(elliott), &at("loss.leave"), "from 0 to 1");
}

#[test]
fn wireless_lans_and_their_transmitters_are_checked() {
    let wlan = |table: &str, more: &str| {
        let rate = "{ kind = \"wireless\", wlan = \"office\" }";
        edited("\"10mbit\"", rate).replace("buffer = \"1bdp\"", more) + table
    };
    let good = "[wlans.office]\nrate = \"24mbit\"\nerror_rate = 0.01\n";
    let loaded = load(&wlan(good, "device = { packets = 50 }"), &[]).unwrap();
    assert!(loaded.resolved().warnings.is_empty());
    let super_packets = [("flows[0].offload", "\"gso:64kB\"")];
    let error = load(&wlan(good, ""), &super_packets).unwrap_err().to_string();
    assert!(error.contains("flows[0].offload: a frame of a wireless LAN"), "{error}");
    let office = |line: &str| wlan(&format!("[wlans.office]\n{line}\n"), "");
    let at = |key: &str| format!("demo.toml:12: wlans.office.{key}");
    refused(&office("rate = \"11mbit\""), &at("rate"), "802.11g does not send at 11mbit; write 6");
    refused(
        &office("rate = \"minstrell\""),
        &at("rate"),
        "`minstrell` is neither a rate of 802.11g, such as 54mbit, nor",
    );
    refused(&office("snr = \"25\""), &at("snr"), "a power ratio needs its unit: `25dB`");
    refused(&office("snr = \"25dBm\""), &at("snr"), "`dBm` is not a unit of a power ratio");
    refused(&office("snr = \"2.5.1dB\""), &at("snr"), "is not a number of decibels");
    let own = |more: &str| {
        let rate = format!("{{ kind = \"wireless\", wlan = \"office\", {more} }}");
        edited("\"10mbit\"", &rate) + good
    };
    assert!(load(&own("rate = \"6mbit\", snr = \"12.5dB\""), &[]).is_ok());
    let at_link = |key: &str| format!("demo.toml:4: links.bottleneck.rate.{key}");
    refused(&own("rate = \"7mbit\""), &at_link("rate"), "802.11g does not send at 7mbit; write 6");
    refused(&own("error_rate = -0.5"), &at_link("error_rate"), "-0.5 is not a probability");
    refused(&office("error_rate = 1.5"), &at("error_rate"), "1.5 is not a probability");
    refused(&office("attempts = 0"), &at("attempts"), "at least 1");
    refused(&office("slot = \"0us\""), &at("slot"), "must be positive");
    refused(&office("per = 0.1"), &at("per"), "unknown key `per`");
    let place = "demo.toml:4: links.bottleneck.rate.wlan";
    refused(&wlan("", ""), place, "unknown wireless LAN `office`; write [wlans.office]");
    refused(&wlan("[wlans.ofice]\n", ""), place, "`ofice`");
    refused(
        &own("airtime_fairness = true"),
        &at_link("airtime_fairness"),
        "the packets of flows `bulk` go to no station; write a station's link in the `reverse` of",
    );
    refused(&own("airtime_fairness = 1"), &at_link("airtime_fairness"), "true");
    let overhead = "device = { packets = 50, overhead = \"24B\" }";
    let place = "demo.toml:6: links.bottleneck.device.overhead";
    refused(&wlan(good, overhead), place, "knows its own headers");
    let unused = GOOD.to_owned() + good;
    let warnings = load(&unused, &[]).unwrap().resolved().warnings.clone();
    assert_eq!(warnings, ["wlans.office: no link is a transmitter of it"]);
}

/// The good scenario with another application.
fn carrying(app: &str) -> String {
    edited("{ kind = \"bulk\" }", &format!("{{ {app} }}"))
}

#[track_caller]
fn app_refused(app: &str, key: &str, remedy: &str) {
    refused(&carrying(app), &format!("demo.toml:10: flows[0].app.{key}"), remedy);
}

#[test]
fn recordings_load_and_do_not_decrease() {
    assert!(load(&carrying("kind = \"replay\", file = \"good.csv\""), &[]).is_ok());
    let file = "file";
    let of = |name: &str| format!("kind = \"replay\", file = \"{name}\"");
    app_refused(&of("backwards.csv"), file, "`backwards.csv`, line 2: 250ms comes after 500ms");
    app_refused(&of("empty.down"), file, "`empty.down` is empty");
    app_refused(&of("good.down"), file, "`good.down`, line 1: not `time,bytes`");
    app_refused(&of("none.csv"), file, "cannot read");
    app_refused(&of(""), file, "write its path");
    app_refused("kind = \"replay\"", file, "file = \"traffic.csv\"");
}

#[test]
fn a_varied_scenario_replays_without_its_file() {
    let replay = carrying("kind = \"replay\", file = \"good.csv\"");
    let scenario = load(&replay, &[]).unwrap().with_queue("bottleneck", "codel").unwrap();
    assert!(scenario.resolved_json().contains("\"lines\":2"));
}

#[test]
fn applications_are_checked() {
    let bursts = |at: &str, length: &str| {
        format!(
            "kind = \"bursts\", rate = \"25mbit\", packet = \"1kB\", at = {at}, \
             length = \"{length}\""
        )
    };
    assert!(load(&carrying(&bursts("[\"1s\", \"1.1s\"]", "100ms")), &[]).is_ok());
    app_refused(&bursts("[\"1s\", \"1.1s\"]", "200ms"), "at[1]", "write a later time");
    app_refused(&bursts("[]", "200ms"), "at", "the list is empty");
    app_refused(&bursts("[\"1s\"]", "0s"), "length", "must be positive");
    let cbr = "kind = \"cbr\", rate = \"1mbit\", packet = \"1kB\", arrivals = \"posson\"";
    app_refused(cbr, "arrivals", "did you mean `poisson`?");
    assert!(load(&carrying("kind = \"voice\", codec = \"g729\""), &[]).is_ok());
    app_refused("kind = \"voice\", codec = \"opus\"", "codec", "write g711 or g729");
    app_refused("kind = \"voice\", codec = \"g721\"", "codec", "g711");
    let zero = "kind = \"cbr\", rate = \"0mbit\", packet = \"1kB\"";
    app_refused(zero, "rate", "must be positive");
    app_refused("kind = \"chunks\", every = \"4s\", rates = []", "rates", "the list is empty");
    let falling = "kind = \"chunks\", every = \"4s\", rates = [\"2mbit\", \"1mbit\"]";
    app_refused(falling, "rates[1]", "rates increase");
    let player =
        |more: &str| format!("kind = \"chunks\", every = \"4s\", rates = [\"2mbit\"], {more}");
    app_refused(&player("buffer = \"7s\""), "buffer", "holds less than two chunks of 4s");
    app_refused(&player("adaptation = \"buffer\""), "buffer", "write for example 60s");
    app_refused(&player("adaptation = \"bufer\""), "adaptation", "did you mean `buffer`?");
    app_refused("kind = \"web\", parallel = 0", "parallel", "write 1 to 32");
    let frames = |sizes: &str| format!("kind = \"video\", interval = \"40ms\", frames = {sizes}");
    app_refused(&frames("[]"), "frames", "the list is empty");
    app_refused(&frames("[\"0B\"]"), "frames[0]", "must be positive");
    app_refused(
        &frames("{ kind = \"pareto\", shape = 0, min = \"1B\", max = \"1kB\" }"),
        "frames.shape",
        "positive",
    );
    app_refused(
        &frames("{ kind = \"uniform\", min = \"2kB\", max = \"1kB\" }"),
        "frames.max",
        "less than",
    );
    app_refused(
        &frames("{ kind = \"exponential\", mean = \"2kB\", max = \"1kB\" }"),
        "frames.mean",
        "not between `min` and `max`",
    );
    app_refused(&frames("{ kind = \"gauss\" }"), "frames.kind", "unknown kind `gauss`");
}

#[test]
fn more_hosts_than_a_packet_can_name_are_refused() {
    let group = |name: &str| {
        format!(
            "[[flows]]\npath = [\"a\"]\nrtt = \"9ms\"\nsrc_host = \"{name}\"\n\
             app = {{ kind = \"bulk\" }}\n"
        )
    };
    let link = "name = \"x\"\nduration = \"1s\"\n[links.a]\nrate = \"1mbit\"\nqueue = \"cake\"\n";
    let text = |count: usize| {
        link.to_owned() + &(0..count).map(|i| group(&format!("h{i}"))).collect::<String>()
    };
    let load = |text: &str| {
        Scenario::load(text, &Source::default(), &|_| Err(std::io::ErrorKind::NotFound.into()))
    };
    let hosts: std::collections::BTreeSet<[u8; 2]> =
        load(&text(128)).unwrap().resolved().flows.iter().filter_map(|flow| flow.hosts).collect();
    assert_eq!(hosts.len(), 128, "each pair is another");
    let error = load(&text(129)).unwrap_err().to_string();
    assert!(error.contains("flows[128].src_host: more than 256 hosts"), "{error}");
}

#[test]
fn ip_fields_that_no_sender_sets_are_refused() {
    let with = |line: &str| edited("rtt = ", &format!("{line}\nrtt = "));
    refused(&with("ecn = \"ce\""), "demo.toml:9: flows[0].ecn", "\"ect1\"");
    refused(&with("ecn = 1"), "demo.toml:9: flows[0].ecn", "\"ect1\"");
    refused(&with("ecn = \"ect1\""), "demo.toml:9: flows[0].ecn", "cc = \"prague\"");
    refused(&with("dscp = 64"), "demo.toml:9: flows[0].dscp", "from 0 to 63");
    refused(&with("dscp = -1"), "demo.toml:9: flows[0].dscp", "from 0 to 63");
    refused(&with("dscp = \"cs8\""), "demo.toml:9: flows[0].dscp", "from 0 to 63");
    refused(&with("dscp = \"gold\""), "demo.toml:9: flows[0].dscp", "from 0 to 63");
}

#[test]
fn transfers_are_drawn_or_recorded_and_not_both() {
    let app = |keys: &str| edited("kind = \"bulk\"", &format!("kind = \"transfers\"{keys}"));
    let (sizes, every) = (", sizes = [\"9kB\"]", ", every = \"20ms\"");
    refused(&app(every), "demo.toml:10: flows[0].app.sizes", "or `file`");
    refused(&app(sizes), "demo.toml:10: flows[0].app.every", "or `file`");
    let never = format!("{sizes}, every = \"0s\"");
    refused(&app(&never), "demo.toml:10: flows[0].app.every", "must be positive");
    let recorded = ", file = \"good.csv\"";
    let both = app(&format!("{recorded}{every}"));
    refused(&both, "demo.toml:10: flows[0].app.every", "remove one of the two");
    let with = |line: &str| app(recorded).replace("rtt = ", &format!("{line}\nrtt = "));
    refused(&with("count = 2"), "demo.toml:9: flows[0].count", "the file has 2 transfers");
    refused(&with("start = \"0s..1s\""), "demo.toml:9: flows[0].start", "\"0s\"");
    let late = with("start = \"10s\"");
    refused(&late, "demo.toml:11: flows[0].app.file", "subtract the first from all");
    assert_eq!(load(&app(recorded), &[]).unwrap().resolved().flows[0].count, 2);
}

#[test]
fn a_transport_library_takes_neither_keys_of_tcp_nor_other_applications() {
    let with = |more: &str| edited("app = {", &format!("transport = \"quic\"\n{more}\napp = {{"));
    assert!(load(&with("ecn = true\npacket = \"1280B\""), &[]).is_ok());
    refused(&with("cc = \"reno\""), "demo.toml:11: flows[0].cc", "`transport` replaces it");
    refused(&with("packet = \"1kB\""), "demo.toml:11: flows[0].packet", "write 1280B or more");
    let app = |app: &str| with("").replace("kind = \"bulk\"", app);
    let cbr = app("kind = \"cbr\", rate = \"1mbit\", packet = \"1kB\"");
    refused(&cbr, "demo.toml:10: flows[0].transport", "and `video`, not `cbr`; leave `transport`");
    assert!(load(&app("kind = \"web\", parallel = 100"), &[]).is_ok());
    let wide = app("kind = \"web\", parallel = 101");
    refused(
        &wide,
        "demo.toml:12: flows[0].app.parallel",
        "not a number of streams; write 1 to 100",
    );
    let call = |more: &str| {
        let app = format!("kind = \"video\", frames = [\"9kB\"], interval = \"33ms\"{more}");
        with("").replace("kind = \"bulk\"", &app)
    };
    assert!(load(&call(", packet = \"1280B\""), &[]).is_ok());
    let small = call(", packet = \"1kB\"");
    refused(&small, "demo.toml:12: flows[0].app.packet", "write 1280B or more");
    let outside = call("").replace("transport =", "packet = \"1500B\"\ntransport =");
    refused(&outside, "demo.toml:10: flows[0].packet", "write it inside `app`");
    refused(&with("ecn = \"ect1\""), "demo.toml:11: flows[0].ecn", "for the library to choose");
    let named = with("").replace("\"quic\"", "\"./lib.so\"");
    refused(&named, "demo.toml:10: flows[0].transport", "a word of letters");
}

#[test]
fn schedules_of_delay_and_loss_are_checked_like_those_of_rates() {
    let of = |line: &str| edited("delay = \"48ms\"", line);
    let delay = |steps: &str| of(&format!("delay = {{ kind = \"schedule\", steps = {steps} }}"));
    let place = "demo.toml:5: links.bottleneck.delay.steps";
    refused(&delay("[]"), place, "[[\"0s\", \"20ms\"]]");
    refused(&delay("[[\"1s\", \"20ms\"]]"), &format!("{place}[0]"), "must be at 0s");
    let back = "[[\"0s\", \"20ms\"], [\"0s\", \"30ms\"]]";
    refused(&delay(back), &format!("{place}[1]"), "times must increase");
    refused(&of("delay = 20"), "demo.toml:5: links.bottleneck.delay", "unit");
    let loss = |steps: &str| of(&format!("loss = {{ kind = \"schedule\", steps = {steps} }}"));
    let place = "demo.toml:5: links.bottleneck.loss.steps";
    refused(&loss("[]"), place, "[[\"0s\", 0.01]]");
    refused(&loss("[[\"0s\", 2.0]]"), &format!("{place}[0]"), "from 0 to 1");
    // The base RTT is that at the smallest delay.
    let resolved = load(&delay("[[\"0s\", \"48ms\"], [\"5s\", \"90ms\"]]"), &[]).unwrap();
    let link = &resolved.resolved().links[0];
    assert_eq!(link.delay.to_string(), "48ms");
    assert!(load(&delay("[[\"0s\", \"101ms\"], [\"5s\", \"90ms\"]]"), &[]).is_ok());
    let long = delay("[[\"0s\", \"102ms\"], [\"5s\", \"101ms\"]]");
    refused(&long, "demo.toml:9: flows[0].rtt", "101ms");
    let access = "access = { receiver_rate = \"1gbit\" }\nrtt = ";
    let steps = "[[\"0s\", \"70ms\"], [\"5s\", \"50ms\"]], reorder = true";
    let overtaking = delay(steps).replace("rtt = ", access);
    refused(&overtaking, "demo.toml:9: flows[0].access", "set the delay's reorder = false");
}

#[test]
fn strict_bands_of_ets_come_before_those_that_take_turns() {
    let bands = |first: &str, second: &str| {
        let classes = format!("{{ name = \"a\"{first} }}, {{ name = \"b\"{second} }}");
        let keys = format!("kind = \"ets\"\ndefault = \"b\"\nclasses = [{classes}]");
        format!("{GOOD}[links.bottleneck.scheduler]\n{keys}")
    };
    let turns = load(&bands("", ", quantum = \"1500B\""), &[]).unwrap();
    let ets = turns.resolved().links[0].scheduler.as_ref().unwrap().ets().unwrap();
    assert_eq!((ets.quanta, ets.class_of[0]), (vec![None, Some(1500)], 1));
    for (first, second, message) in
        [(", quantum = \"1500B\"", "", "come first"), ("", ", quantum = \"0B\"", "1B to 1GB")]
    {
        let error = load(&bands(first, second), &[]).unwrap_err();
        assert!(error.place.ends_with("classes[1].quantum"), "{error}");
        assert!(error.message.contains(message), "{error}");
    }
}

#[test]
fn a_scheduler_is_a_tree_of_leaves_that_share_the_code_points() {
    let with = |scheduler: &str| {
        format!("{GOOD}[links.bottleneck.scheduler]\n{scheduler}")
            .replace("buffer = \"1bdp\"\n", "buffer = \"1bdp\"\nqueue = \"codel\"\n")
    };
    let classes = |rest: &str| {
        with(&format!(
            "kind = \"htb\"\ndefault = \"rest\"\n{}{}{rest}",
            "[[links.bottleneck.scheduler.classes]]\nname = \"all\"\nrate = \"8mbit\"\n",
            "[[links.bottleneck.scheduler.classes]]\nname = \"rest\"\nrate = \"1mbit\"\nceil = \
             \"8mbit\"\nparent = \"all\"\n"
        ))
    };
    let more = |keys: &str| {
        classes(&format!(
            "[[links.bottleneck.scheduler.classes]]\nname = \"voice\"\nrate = \"1mbit\"\n{keys}"
        ))
    };
    let good = load(&more("parent = \"all\"\ndscp = [\"ef\", 48]\nqueue = \"pie\""), &[]).unwrap();
    let link = &good.resolved().links[0];
    let scheduler = link.scheduler.as_ref().unwrap();
    let queues =
        scheduler.leaves().map(|leaf| link.queue_of(&scheduler.classes[leaf]).0.to_string());
    let limit = link.limit;
    assert_eq!(queues.collect::<Vec<_>>(), [format!("codel:limit={limit}"), "pie".to_owned()]);
    let tree = scheduler.htb().unwrap();
    assert_eq!([46, 48, 0].map(|dscp: usize| tree.class_of[dscp]), [Some(2), Some(2), Some(1)]);
    assert_eq!([1, 2].map(|class: usize| tree.classes[class].quantum_bytes), [12_500, 12_500]);

    let is_refused = |text: &str, key: &str, remedy: &str| {
        let error = load(text, &[]).unwrap_err();
        assert!(error.place.ends_with(key), "{error}");
        assert!(error.message.contains(remedy), "{error}");
    };
    is_refused(&more("parent = \"rest\""), "default", "name a leaf");
    is_refused(&more("parent = \"none\""), "classes[2].parent", "there are all, rest, voice");
    is_refused(&more("parent = \"voice\""), "classes[2].parent", "one of its own");
    is_refused(&more("prio = 8"), "classes[2].prio", "0 to 7");
    is_refused(&more("burst = \"0B\""), "classes[2].burst", "1B to 1GB");
    is_refused(&more("dscp = [1, 1]"), "classes[2].dscp", "name it once");
    is_refused(&more("queue = \"own.py\""), "classes[2].queue", "names no code");
    let inner = classes("").replacen("rate = \"8mbit\"", "rate = \"8mbit\"\ndscp = [1]", 1);
    is_refused(&inner, "classes[0].dscp", "has children");
    let twice = classes("").replace("name = \"rest\"", "name = \"all\"");
    is_refused(&twice, "classes[1].name", "rename one");
    is_refused(&with("kind = \"prio\"\ndefault = \"a\"\nclasses = []"), "classes", "empty");
    is_refused(&with("kind = \"cbq\""), "scheduler.kind", "htb, hfsc, prio, ets");
    let curves = |keys: &str| {
        with(&format!("kind = \"hfsc\"\ndefault = \"a\"\nclasses = [{{ name = \"a\"{keys} }}]"))
    };
    assert!(load(&curves(", ls = { m2 = \"1mbit\" }"), &[]).is_ok());
    is_refused(&curves(", ul.m2 = \"1mbit\""), "classes[0]", "neither `rt` nor `ls`");
    is_refused(&curves(", ls = {}"), "classes[0].ls", "write `m2`");
    is_refused(&curves(", rt.m1 = \"1mbit\""), "rt.m1", "write `d` too");
    is_refused(&curves(", rt.m2 = \"40gbit\""), "rt.m2", "34 Gbit/s");
    let nanos = curves(", rt = { m1 = \"1mbit\", d = \"1500ns\" }");
    is_refused(&nanos, "rt.d", "whole number of microseconds");
    is_refused(&curves(", rt.m2 = \"1mbit\", parent = \"b\""), "parent", "no class `b`");
    let signals = format!("{}[record]\nsignals = true\n", classes(""));
    is_refused(&signals, "record.signals", "several");
}
