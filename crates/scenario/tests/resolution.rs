//! The results of resolving a scenario: defaults, bounds and warnings, each on both sides of its
//! limit.

use std::io;

use sojourn_aqm::{Ecn, Limit, Rate, Span};
use sojourn_scenario::resolved::{App, Capacity, Loss, Shape, Sizes};
use sojourn_scenario::{Resolved, Scenario, ScenarioError, Source};

const BASE: &str = r#"name = "base"
duration = "10s"
[links.a]
rate = "10mbit"
delay = "20ms"
[links.b]
rate = "20mbit"
delay = "5ms"
[[flows]]
path = ["a"]
rtt = "100ms"
app = { kind = "bulk" }
"#;

fn load(text: &str, sets: &[(&str, &str)]) -> Result<Resolved, ScenarioError> {
    let sets: Vec<_> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    let source = Source { sets: &sets, ..Source::default() };
    let read = |file: &str| match file {
        "x.down" => Ok("0\n1\n1\n4\n".to_owned()),
        "late.down" => Ok("1700000000\n1700000001\n".to_owned()),
        "x.csv" => Ok("0,100\n0.5,1200\n".to_owned()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    Scenario::load(text, &source, &read).map(|scenario| scenario.resolved().clone())
}

#[track_caller]
fn base(sets: &[(&str, &str)]) -> Resolved {
    load(BASE, sets).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn refused(sets: &[(&str, &str)], message: &str) {
    let error = load(BASE, sets).unwrap_err();
    assert!(error.message.contains(message), "{error}");
}

/// The base scenario with another application.
#[track_caller]
fn app(table: &str) -> App {
    base(&[("flows[0].app", table)]).flows[0].app.clone()
}

fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

fn mbit(mbit: u64) -> Rate {
    Rate::from_bps(mbit * 1_000_000)
}

/// The delays before and after the links, in both directions, and the base RTT.
#[track_caller]
fn delays(sets: &[(&str, &str)]) -> ([Span; 4], Span) {
    let flow = base(sets).flows[0].clone();
    let there = [flow.access_delay, flow.egress_delay];
    let back = [flow.return_delay, flow.return_egress_delay];
    ([there[0], there[1], back[0], back[1]], flow.rtt)
}

const BOTH_WAYS: (&str, &str) = ("flows[0].reverse", "[\"b\"]");

#[test]
fn quarters_of_what_links_leave_of_the_rtt_go_to_each_side_and_direction() {
    // 20 ms in each direction leave 60 ms.
    assert_eq!(delays(&[]), ([ms(15), ms(15), ms(50), Span::ZERO], ms(100)));
    // 20 ms forward and 5 ms back leave 75 ms.
    let quarter = Span::from_micros(18_750);
    assert_eq!(delays(&[BOTH_WAYS]), ([quarter; 4], ms(100)));
}

#[test]
fn the_last_quarter_takes_the_nanoseconds_that_four_does_not_divide() {
    let (parts, _) = delays(&[BOTH_WAYS, ("flows[0].rtt", "25000007ns")]);
    assert_eq!(parts.map(Span::as_nanos), [1, 1, 1, 4]);
    let (parts, _) = delays(&[("flows[0].rtt", "40000007ns")]);
    assert_eq!(parts.map(Span::as_nanos), [1, 1, 20_000_005, 0]);
}

#[test]
fn the_way_back_has_the_forward_delays_as_far_as_the_rtt_allows() {
    assert_eq!(delays(&[("flows[0].rtt", "30ms")]).0, [Span::ZERO, Span::ZERO, ms(10), Span::ZERO]);
    assert_eq!(delays(&[("flows[0].rtt", "20ms")]).0, [Span::ZERO; 4]);
    refused(&[("flows[0].rtt", "19999us")], "shorter than the 20ms");
}

#[test]
fn access_delays_count_on_both_ways_unless_the_way_back_has_its_own() {
    let sides = "{ sender = \"1ms\", receiver = \"2ms\" }";
    let (parts, rtt) = delays(&[("flows[0].access", sides), ("flows[0].rtt", "46ms")]);
    assert_eq!((parts, rtt), ([ms(1), ms(2), ms(23), Span::ZERO], ms(46)));
    let own =
        "{ sender = \"1ms\", receiver = \"2ms\", sender_back = \"3ms\", receiver_back = \"4ms\" }";
    let (parts, rtt) = delays(&[BOTH_WAYS, ("flows[0].access", own), ("flows[0].rtt", "35ms")]);
    assert_eq!((parts, rtt), ([ms(1), ms(2), ms(4), ms(3)], ms(35)));
}

#[test]
fn an_uplink_has_ten_times_the_fastest_rate_of_the_path() {
    let rate = |sets: &[(&str, &str)]| base(sets).flows[0].access_rate;
    assert_eq!(rate(&[]), mbit(100));
    assert_eq!(rate(&[("flows[0].path", "[\"a\", \"b\"]")]), mbit(200));
    assert_eq!(rate(&[("flows[0].access_rate", "7mbit")]), mbit(7));
    let side = "{ sender = \"30ms\", sender_rate = \"8mbit\" }";
    assert_eq!(rate(&[("flows[0].access", side), ("flows[0].rtt", "100ms")]), mbit(8));
}

#[test]
fn shared_access_links_have_rates_only_if_written() {
    let flow = base(&[]).flows[0].clone();
    assert_eq!((flow.sender_downlink, flow.receiver_rate), (None, None));
    let sides = "{ sender = \"30ms\", sender_rate = \"8mbit\", receiver_rate = \"9mbit\" }";
    let flow = base(&[("flows[0].access", sides)]).flows[0].clone();
    assert_eq!((flow.sender_downlink, flow.receiver_rate), (Some(mbit(8)), Some(mbit(9))));
}

#[test]
fn overtaking_packets_are_refused_only_just_before_a_shared_access_link() {
    let overtaking = "{ kind = \"uniform\", max = \"1ms\", reorder = true }";
    let receiver = ("flows[0].access", "{ sender = \"30ms\", receiver_rate = \"9mbit\" }");
    let sender = ("flows[0].access", "{ sender = \"30ms\", sender_rate = \"9mbit\" }");
    let on = |link, jitter| (link, jitter);
    let rtt = ("flows[0].rtt", "85ms"); // 20 + 5 on links, 30 + 30 on the sender's side
    let path = ("flows[0].path", "[\"a\"]");
    refused(
        &[path, receiver, on("links.a.jitter", overtaking)],
        "packets overtake each other on `a`",
    );
    refused(
        &[BOTH_WAYS, rtt, sender, on("links.b.jitter", overtaking)],
        "overtake each other on `b`",
    );
    base(&[BOTH_WAYS, rtt, sender, on("links.a.jitter", overtaking)]);
    base(&[BOTH_WAYS, rtt, receiver, on("links.b.jitter", overtaking)]);
    let in_order = overtaking.replace("true", "false");
    base(&[path, ("flows[0].rtt", "100ms"), receiver, on("links.a.jitter", &in_order)]);
}

#[test]
fn a_stop_after_the_latest_start_counts_if_it_is_before_the_end() {
    let stop =
        |start, stop| base(&[("flows[0].start", start), ("flows[0].stop", stop)]).flows[0].stop;
    assert_eq!(stop("0s", "9999ms"), Some(ms(9_999)));
    assert_eq!(stop("0s", "10s"), None);
    assert_eq!(stop("0s..2s", "2001ms"), Some(ms(2_001)));
    refused(&[("flows[0].start", "0s..2s"), ("flows[0].stop", "2s")], "not after the latest start");
}

#[test]
fn samples_are_a_thousandth_of_the_duration_rounded_up_to_a_millisecond() {
    let sample = |duration| base(&[("duration", duration)]).record.sample;
    assert_eq!(sample("10s"), ms(10));
    assert_eq!(sample("10001ms"), ms(11));
    assert_eq!(sample("1ms"), ms(1));
    assert_eq!(base(&[("record.sample", "3ms")]).record.sample, ms(3));
}

#[test]
fn what_is_recorded_is_what_is_written() {
    let default = base(&[]).record;
    let flags = [default.packets, default.signals, default.flows, default.states, default.latency];
    assert_eq!((flags, default.bins), ([false, false, false, true, false], None));
    for (key, place) in [("packets", 0), ("signals", 1), ("flows", 2), ("latency", 4)] {
        let record = base(&[(&format!("record.{key}"), "true")]).record;
        let flags = [record.packets, record.signals, record.flows, record.states, record.latency];
        let mut expected = [false, false, false, true, false];
        expected[place] = true;
        assert_eq!(flags, expected, "{key}");
    }
    assert!(!base(&[("record.states", "false")]).record.states);
}

#[test]
fn bins_and_warmup_fit_into_the_duration() {
    assert_eq!(base(&[("record.bins", "10s")]).record.bins, Some(Span::from_secs(10)));
    refused(&[("record.bins", "10001ms")], "not longer than the duration");
    refused(&[("record.bins", "0s")], "must be positive");
    assert_eq!(base(&[("warmup", "9999ms")]).warmup, ms(9_999));
    refused(&[("warmup", "10s")], "it must be shorter");
}

#[test]
fn a_kernel_has_one_of_four_timer_frequencies() {
    for hz in [100, 250, 300, 1000] {
        assert_eq!(base(&[("engine.linux.hz", &hz.to_string())]).linux.hz, hz);
    }
    refused(&[("engine.linux.hz", "500")], "500 is not 100, 250, 300 or 1000");
}

#[test]
fn names_are_the_kind_numbered_if_it_is_taken() {
    let more = "[[flows]]\npath = [\"a\"]\nrtt = \"100ms\"\napp = { kind = \"bulk\" }\n";
    let text = format!("{BASE}{more}name = \"bulk-2\"\n{more}{more}class = \"other\"\n");
    let resolved = load(&text, &[]).unwrap();
    let names: Vec<&str> = resolved.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["bulk", "bulk-2", "bulk-3", "bulk-4"]);
    assert_eq!(resolved.classes(), ["bulk", "bulk-2", "bulk-3", "other"]);
}

#[test]
fn classes_come_once_in_the_order_of_first_use() {
    let more = "[[flows]]\npath = [\"a\"]\nrtt = \"100ms\"\nclass = \"CLASS\"\n\
                app = { kind = \"cbr\", rate = \"1mbit\", packet = \"1kB\" }\n";
    let text = ["z", "b", "z"].map(|class| more.replace("CLASS", class)).concat();
    let resolved = load(&format!("{BASE}{text}"), &[("flows[0].class", "b")]).unwrap();
    assert_eq!(resolved.classes(), ["b", "z"]);
    let tcp: Vec<usize> = resolved.tcp_groups().map(|(index, ..)| index).collect();
    assert_eq!(tcp, [0]);
}

#[test]
fn a_link_has_the_mtu_of_its_largest_packet_with_framing() {
    let mtu = |link: usize, sets: &[(&str, &str)]| base(sets).links[link].mtu_bytes;
    assert_eq!(mtu(0, &[]), 1500);
    assert_eq!(mtu(1, &[]), 1500, "a link without flows");
    assert_eq!(mtu(0, &[("links.a.framing", "14B")]), 1514);
    assert_eq!(mtu(0, &[("flows[0].packet", "600B")]), 600);
    assert_eq!(mtu(1, &[BOTH_WAYS]), 52, "acknowledgements");
    assert_eq!(mtu(1, &[BOTH_WAYS, ("flows[0].app", "{ kind = \"web\" }")]), 328, "requests");
    let small = "{ kind = \"web\", request = \"40B\" }";
    assert_eq!(mtu(1, &[BOTH_WAYS, ("flows[0].app", small)]), 52);
    let cbr = "{ kind = \"cbr\", rate = \"1mbit\", packet = \"200B\" }";
    assert_eq!(mtu(0, &[("flows[0].app", cbr)]), 200);
    assert_eq!(mtu(1, &[BOTH_WAYS, ("flows[0].app", cbr)]), 1500, "datagrams have no answer");
}

/// Linux 6.1 pkt_sched.h, psched_mtu: MTU and header of the device, even where only small packets
/// pass.
#[test]
fn the_dialects_of_linux_get_the_mtu_of_an_ethernet_device() {
    let mtu = |queue: &str, sets: &[(&str, &str)]| {
        let sets: Vec<_> = sets.iter().copied().chain([("links.a.queue", queue)]).collect();
        base(&sets).links[0].queue_mtu_bytes()
    };
    let small = ("flows[0].packet", "600B");
    for queue in ["codel@linux", "fq_codel@linux", "cobalt@linux_exact", "sfq", "cake"] {
        assert_eq!(mtu(queue, &[]), 1514, "{queue}");
        assert_eq!(mtu(queue, &[small]), 1514, "{queue}");
        assert_eq!(mtu(queue, &[("links.a.framing", "38B")]), 1538, "{queue}");
    }
    assert_eq!(mtu("codel", &[]), 1500);
    assert_eq!(mtu("pie@ns3", &[small]), 600);
}

#[test]
fn a_profile_has_its_segments_unless_the_group_has_its_own() {
    let sizes = |sets: &[(&str, &str)]| {
        let App::Bulk { tcp, .. } = base(sets).flows[0].app.clone() else { panic!() };
        (tcp.payload_bytes, tcp.header_bytes)
    };
    assert_eq!(sizes(&[]), (1448, 52));
    assert_eq!(sizes(&[("flows[0].tcp", "newreno")]), (1000, 40));
    assert_eq!(sizes(&[("flows[0].packet", "53B")]), (1, 52));
    assert_eq!(sizes(&[("flows[0].header", "60B")]), (1440, 60));
    refused(&[("flows[0].packet", "52B")], "leaves no room for data");
}

#[test]
fn a_bdp_is_the_initial_rate_times_the_longest_rtt_through_the_link() {
    let limit = |link: usize, sets: &[(&str, &str)]| base(sets).links[link].limit;
    assert_eq!(limit(0, &[("links.a.buffer", "1bdp")]), Limit::Bytes(125_000));
    assert_eq!(limit(0, &[("links.a.buffer", "0.5bdp")]), Limit::Bytes(62_500));
    let back = [BOTH_WAYS, ("links.b.buffer", "1bdp")];
    assert_eq!(limit(1, &back), Limit::Bytes(250_000), "the reverse path of flows");
    let schedule = "{ kind = \"schedule\", steps = [[\"0s\", \"8mbit\"], [\"1s\", \"1mbit\"]] }";
    let sets = [("links.a.rate", schedule), ("links.a.buffer", "1bdp")];
    assert_eq!(limit(0, &sets), Limit::Bytes(100_000));
    assert_eq!(limit(0, &[("links.a.buffer", "0.000004bdp")]), Limit::Bytes(1), "half a byte");
    refused(&[("links.a.buffer", "0.0000039bdp")], "write another size");
    assert_eq!(limit(0, &[("links.a.buffer", "50ms")]), Limit::Bytes(62_500), "of 10 Mbit/s");
    refused(&[("links.a.buffer", "0.1us")], "100ns is 0 bytes here; write another size");
}

#[test]
fn the_initial_rate_is_that_at_time_zero() {
    let rate = |table: &str| base(&[("links.a.rate", table)]).links[0].capacity.initial_rate();
    let bucket = "{ kind = \"bucket\", rate = \"3mbit\", burst = \"5kB\", line = \"9mbit\" }";
    assert_eq!(rate(bucket), mbit(3));
    // Four opportunities of 1500 B in 4 ms.
    assert_eq!(rate("{ kind = \"trace\", file = \"x.down\" }"), mbit(12));
    let wlan = [("links.a.rate", "{ kind = \"wireless\", wlan = \"w\" }"), ("wlans.w", "{}")];
    let Capacity::Wireless { wlan, alone, .. } = base(&wlan).links[0].capacity else { panic!() };
    assert_eq!((wlan, alone.as_bps()), (0, 30_495_552)); // fact scenario-4
}

#[test]
fn sizes_have_limits_that_are_allowed_themselves() {
    let sizes = |table: &str| format!("{{ kind = \"files\", think = \"1s\", sizes = {table} }}");
    let drawn = |table: &str| {
        let App::Files { sizes, .. } = app(&sizes(table)) else { panic!() };
        let Sizes::Drawn { shape, min, max } = sizes else { panic!() };
        (shape, min, max)
    };
    let exponential = "{ kind = \"exponential\", mean = \"5B\", min = \"5B\", max = \"5B\" }";
    assert_eq!(drawn(exponential), (Shape::Exponential(5.0), 5, 5));
    let lognormal = "{ kind = \"lognormal\", mean = \"7B\", deviation = \"2B\", max = \"9B\" }";
    assert_eq!(drawn(lognormal), (Shape::LogNormal(7.0, 2.0), 1, 9));
    let pareto = "{ kind = \"pareto\", shape = 0.1, min = \"1B\", max = \"1000GB\" }";
    assert_eq!(drawn(pareto), (Shape::Pareto(0.1), 1, 1_000_000_000_000));
    let uniform = "{ kind = \"uniform\", min = \"2B\", max = \"3B\" }";
    assert_eq!(drawn(uniform), (Shape::Uniform, 2, 3));
    let check = |table: &str, message| refused(&[("flows[0].app", &sizes(table))], message);
    check("{ kind = \"exponential\", mean = \"4B\", min = \"5B\", max = \"6B\" }", "not between");
    check("{ kind = \"exponential\", mean = \"7B\", min = \"5B\", max = \"6B\" }", "not between");
    check("{ kind = \"lognormal\", mean = \"7B\", deviation = \"0B\", max = \"9B\" }", "positive");
    check("{ kind = \"uniform\", min = \"3B\", max = \"2B\" }", "less than the 3 B of `min`");
    check("[\"1000000000001B\"]", "more than 1000 GB");
    let Sizes::List(list) = (match app(&sizes("[\"7B\", \"1000GB\"]")) {
        App::Files { sizes, .. } => sizes,
        _ => panic!(),
    }) else {
        panic!()
    };
    assert_eq!(Sizes::List(list).smallest(), 7);
}

#[test]
fn bursts_may_touch_but_not_overlap() {
    let bursts = |second: &str| {
        format!(
            "{{ kind = \"bursts\", rate = \"1mbit\", packet = \"1kB\", at = [\"1s\", \
             \"{second}\"], length = \"100ms\" }}"
        )
    };
    let App::Bursts { at, length, .. } = app(&bursts("1100ms")) else { panic!() };
    assert_eq!((at, length), (vec![Span::from_secs(1), ms(1_100)], ms(100)));
    refused(&[("flows[0].app", &bursts("1099ms"))], "is before the burst from 1s on is over");
}

#[test]
fn applications_have_bounds_that_are_allowed_themselves() {
    let check = |table: &str, message| refused(&[("flows[0].app", table)], message);
    let App::Web { web, .. } = app("{ kind = \"web\", parallel = 32 }") else { panic!() };
    assert_eq!(web.parallel, 32);
    check("{ kind = \"web\", parallel = 33 }", "write 1 to 32");
    check("{ kind = \"chunks\", every = \"0s\", rates = [\"1mbit\"] }", "a chunk plays");
    let equal = "{ kind = \"chunks\", every = \"1s\", rates = [\"1mbit\", \"1mbit\"] }";
    check(equal, "rates increase");
    let onoff = |on: &str| {
        format!(
            "{{ kind = \"onoff\", rate = \"1mbit\", packet = \"1kB\", on = \"{on}\", \
             off = \"1s\" }}"
        )
    };
    check(&onoff("0s"), "must be positive");
    assert!(matches!(app(&onoff("2s")), App::OnOff { on, off, .. } if on > off));
    check("{ kind = \"video\", frames = [\"1kB\"], interval = \"0s\" }", "separates frames");
    check("{ kind = \"cbr\", rate = \"1mbit\", packet = \"65536B\" }", "1B to 65535B");
    let largest = app("{ kind = \"cbr\", rate = \"1mbit\", packet = \"65535B\" }");
    assert_eq!((largest.packet_bytes(), largest.datagrams_ecn()), (65_535, Ecn::NotEct));
}

#[test]
fn datagrams_are_ecn_capable_if_the_group_says_so() {
    for table in [
        "{ kind = \"cbr\", rate = \"1mbit\", packet = \"1kB\" }",
        "{ kind = \"video\", frames = [\"1kB\"], interval = \"40ms\", packet = \"1kB\" }",
        "{ kind = \"replay\", file = \"x.csv\", packet = \"1kB\" }",
    ] {
        let sets = [("flows[0].app", table), ("flows[0].ecn", "true")];
        let with_ecn = base(&sets).flows[0].app.clone();
        let fields = (with_ecn.datagrams_ecn(), app(table).datagrams_ecn());
        assert_eq!(fields, (Ecn::Ect0, Ecn::NotEct), "{table}");
        assert_eq!((with_ecn.packet_bytes(), with_ecn.tcp()), (1_000, None));
    }
}

#[test]
fn datagrams_have_the_code_points_that_are_written() {
    let cbr = "{ kind = \"cbr\", rate = \"1mbit\", packet = \"1kB\" }";
    for (text, ecn) in [("off", Ecn::NotEct), ("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1)] {
        let plan = base(&[("flows[0].app", cbr), ("flows[0].ecn", text)]);
        assert_eq!(plan.flows[0].app.datagrams_ecn(), ecn, "{text}");
    }
    for (text, dscp) in [("46", 46), ("ef", 46), ("cs1", 8), ("af41", 34), ("nqb", 45), ("0", 0)] {
        assert_eq!(base(&[("flows[0].dscp", text)]).flows[0].dscp, dscp, "{text}");
    }
}

#[test]
fn a_receive_window_holds_at_least_one_packet() {
    let window = |sets: &[(&str, &str)]| {
        let App::Bulk { tcp, .. } = base(sets).flows[0].app.clone() else { panic!() };
        tcp.receive_window.map(|window| (window.bytes, window.autotuned))
    };
    assert_eq!(window(&[]), None);
    assert_eq!(window(&[("flows[0].receive_window", "1500B")]), Some((1500, false)));
    let tuned = [("flows[0].receive_window", "6MB"), ("flows[0].autotuning", "true")];
    assert_eq!(window(&tuned), Some((6_000_000, true)));
    refused(&[("flows[0].receive_window", "1499B")], "does not hold one packet");
    refused(&[("flows[0].autotuning", "true")], "needs a window to grow to");
    assert_eq!(window(&[("flows[0].autotuning", "false")]), None);
}

#[test]
fn a_bucket_lets_every_packet_pass() {
    let bucket = |burst: &str, more: &str| {
        format!(
            "{{ kind = \"bucket\", rate = \"1mbit\", burst = \"{burst}\", line = \"1mbit\"{more} }}"
        )
    };
    base(&[("links.a.rate", &bucket("1500B", ""))]);
    refused(&[("links.a.rate", &bucket("1499B", ""))], "or overdraft = true");
    base(&[("links.a.rate", &bucket("1499B", ", overdraft = true"))]);
    base(&[("links.a.rate", &bucket("1GB", ""))]);
    refused(&[("links.a.rate", &bucket("1000000001B", ""))], "write 1B to 1GB");
}

#[test]
fn probabilities_include_zero_and_one() {
    for (rate, legal) in [("0", true), ("1.0", true), ("-0.001", false), ("1.001", false)] {
        let loss = format!("{{ kind = \"bernoulli\", rate = {rate} }}");
        assert_eq!(load(BASE, &[("links.a.loss", &loss)]).is_ok(), legal, "{rate}");
    }
}

/// tc-stab(8): `linklayer atm`, 53 bytes for every 48. The device's MTU is unchanged.
#[test]
fn a_link_counts_its_least_size_and_its_cells() {
    let [atm, framing] = [("links.a.cells", "atm"), ("links.a.framing", "40B")];
    let link = base(&[atm, framing, ("links.a.mpu", "64B")]).links[0].clone();
    // 40 + 40 bytes take two cells; 8 + 40 bytes would take one, but the minimum of 64 takes two.
    assert_eq!([1500, 40, 8].map(|bytes| link.bytes_of(bytes)), [1749, 106, 106]);
    assert_eq!((link.mtu_bytes, link.largest_bytes(), link.queue_mtu_bytes()), (1540, 1749, 1749));
    let linux = base(&[atm, framing, ("links.a.queue", "fq_codel@linux")]).links[0].clone();
    assert_eq!(linux.queue_mtu_bytes(), 1540);
    refused(&[("links.a.cells", "cells")], "atm");
    refused(&[("links.a.mpu", "65536B")], "write 0B to 65535B");
}

#[test]
fn a_bucket_counts_more_than_its_queue() {
    let rate = |rest: &str| {
        format!("{{ kind = \"bucket\", rate = \"1mbit\", line = \"10mbit\", {rest} }}")
    };
    let atm =
        |burst: u32| rate(&format!("burst = \"{burst}B\", overhead = \"40B\", cells = \"atm\""));
    let link = base(&[("links.a.rate", &atm(1749))]).links[0].clone();
    let Capacity::Bucket(bucket) = &link.capacity else { panic!("{:?}", link.capacity) };
    assert_eq!((link.largest_bytes(), bucket.framing.bytes(1500)), (1500, 1749));
    refused(&[("links.a.rate", &atm(1748))], "never lets a packet of 1749 B");
}

#[test]
fn framing_is_at_most_the_largest_packet() {
    assert_eq!(base(&[("links.a.framing", "65535B")]).links[0].framing_bytes, 65_535);
    refused(&[("links.a.framing", "65536B")], "write 0B to 65535B");
}

/// Flows that ask for ECN.
const ECN: (&str, &str) = ("flows[0].ecn", "true");

/// The warnings about a queue on link `a`, over which flows ask for ECN. Their reverse path uses
/// link `b`.
#[track_caller]
fn warnings(buffer: &str, queue: &str) -> Vec<String> {
    let sets = [BOTH_WAYS, ECN, ("links.a.buffer", buffer), ("links.a.queue", queue)];
    base(&sets).warnings
}

#[test]
fn a_target_longer_than_the_full_buffer_takes_to_drain_is_a_warning() {
    // 25,000 B at 10 Mbit/s take 20 ms.
    assert_eq!(warnings("25kB", "pie:target=20ms"), [""; 0]);
    let [warning] = &warnings("25kB", "pie:target=20001us")[..] else { panic!() };
    assert!(
        warning.starts_with("links.a.queue.target: ") && warning.contains("(20ms)"),
        "{warning}"
    );
    // 10 packets of 1500 B take 12 ms.
    assert_eq!(warnings("10p", "pie:target=12ms"), [""; 0]);
    assert_eq!(warnings("10p", "pie:target=13ms").len(), 1);
}

#[test]
fn a_buffer_smaller_than_a_packet_is_a_warning() {
    assert_eq!(warnings("1500B", "taildrop"), [""; 0]);
    let [warning] = &warnings("1499B", "taildrop")[..] else { panic!() };
    assert!(warning.contains("no room for a packet of 1500 bytes"), "{warning}");
    assert_eq!(warnings("1p", "taildrop"), [""; 0]);
}

#[test]
fn a_threshold_shorter_than_a_packet_is_a_warning_unless_packets_are_spared() {
    // 1500 B at 10 Mbit/s take 1.2 ms.
    for law in ["codel:target", "pie:target", "step:sojourn_threshold", "fq_codel:ce_threshold"] {
        assert_eq!(warnings("100p", &format!("{law}=1200us")), [""; 0], "{law}");
        let [warning] = &warnings("100p", &format!("{law}=1199us"))[..] else { panic!("{law}") };
        assert!(warning.contains("is shorter than a packet of 1500 bytes"), "{warning}");
        assert!(warning.ends_with("raise it to 1.8ms or more"), "{warning}");
    }
    assert_eq!(warnings("100p", "dualpi2:l_min_th=1ms"), [""; 0]);
    assert_eq!(warnings("100p", "dualpi2@linux").len(), 1);
    assert_eq!(warnings("100p", "cake:target=1ms,bandwidth=5mbit"), [""; 0]);
    assert_eq!(warnings("100p", "cake:target=1ms").len(), 1);
}

#[test]
fn an_interval_shorter_than_the_base_rtt_is_a_warning() {
    let of =
        |rtt, queue| base(&[BOTH_WAYS, ("links.a.queue", queue), ("flows[0].rtt", rtt)]).warnings;
    for queue in ["codel", "fq_codel", "cobalt", "cake"] {
        assert_eq!(of("100ms", queue), [""; 0], "{queue}");
        let [warning] = &of("101ms", queue)[..] else { panic!("{queue}") };
        assert!(warning.contains("100ms is shorter than the base RTT of flows"), "{warning}");
    }
    assert_eq!(of("101ms", "pie"), [""; 0]);
    // tc's rtt is CAKE's interval.
    assert_eq!(of("101ms", "cake:rtt=200ms"), [""; 0]);
    let [warning] = &of("31ms", "cake:rtt=30ms")[..] else { panic!("rtt") };
    assert!(warning.contains("30ms is shorter than the base RTT of flows"), "{warning}");
}

#[test]
fn a_backlog_threshold_with_the_default_sojourn_threshold_is_a_warning() {
    let of = |queue| {
        let sets = [BOTH_WAYS, ECN, ("links.a.rate", "100mbit"), ("links.a.queue", queue)];
        base(&sets).warnings
    };
    let [warning] = &of("step:backlog_threshold=20p")[..] else { panic!() };
    assert!(warning.contains("sojourn_threshold, 1ms by default, marks too"), "{warning}");
    assert_eq!(of("step:backlog_threshold=20p,sojourn_threshold=off"), [""; 0]);
}

#[test]
fn a_replay_with_times_beyond_the_run_is_refused_and_one_that_is_cut_warns() {
    // x.csv has a packet at 0 s and one at 0.5 s.
    let replay = "{ kind = \"replay\", file = \"x.csv\", packet = \"1228B\" }";
    let of = |duration, start| {
        let sets = [("flows[0].app", replay), ("duration", duration), ("flows[0].start", start)];
        load(BASE, &sets)
    };
    assert!(of("10s", "0s").is_ok());
    let error = of("10s", "10s").unwrap_err();
    assert!(error.message.contains("sends nothing in the run of 10s"), "{error}");
    let cut = of("500ms", "0s").unwrap().warnings;
    assert!(cut.iter().any(|text| text.contains("1 of the 2 packets of x.csv")), "{cut:?}");
}

#[test]
fn more_transfers_than_the_run_has_time_for_are_a_warning() {
    let app = "{ kind = \"transfers\", sizes = [\"9kB\"], every = \"1s\" }";
    let of = |count| base(&[BOTH_WAYS, ("flows[0].app", app), ("flows[0].count", count)]).warnings;
    assert_eq!(of("10"), [""; 0]);
    let [warning] = &of("11")[..] else { panic!() };
    assert!(warning.contains("the last of the 11 transfers"), "{warning}");
}

#[test]
fn links_without_flows_and_flows_after_the_end_are_warnings() {
    assert_eq!(base(&[BOTH_WAYS]).warnings, [""; 0], "a reverse path is a use");
    assert_eq!(base(&[]).warnings, ["links.b: no flow uses this link"]);
    let late = |start| base(&[BOTH_WAYS, ("flows[0].start", start)]).warnings;
    assert_eq!(late("0s..9999ms"), [""; 0]);
    let [warning] = &late("0s..10s")[..] else { panic!() };
    assert!(warning.contains("may start at 10s, when the run of 10s is over"), "{warning}");
}

/// The only warning of the base scenario with some keys set, or an empty text.
#[track_caller]
fn only_warning(sets: &[(&str, &str)]) -> String {
    let found = base(&[&[BOTH_WAYS], sets].concat()).warnings;
    assert!(found.len() < 2, "{found:#?}");
    found.first().cloned().unwrap_or_default()
}

#[test]
fn a_call_is_rated_as_g711_only_if_it_sends_like_it() {
    let warning = |packet: &str| {
        let app =
            format!("{{ kind = \"cbr\", rate = \"87kbit\", packet = \"{packet}\", voice = true }}");
        only_warning(&[("flows[0].app", &app)])
    };
    assert_eq!(warning("218B"), "");
    for packet in ["100B", "199B", "500B"] {
        let said = warning(packet);
        assert!(said.contains("are rated as G.711 with 200 bytes or more every 20ms"), "{said}");
    }
}

type Sets<'a> = &'a [(&'a str, &'a str)];

#[test]
fn doubtful_keys_give_one_warning_each_and_their_sound_neighbours_none() {
    const PRAGUE: (&str, &str) = ("flows[0].cc", "prague");
    let steps =
        |second| format!("{{ kind = \"schedule\", steps = [[\"0s\", \"10mbit\"], {second}] }}");
    let queue = |text| ("links.a.queue", text);
    let cases: &[(Sets<'_>, &str, Sets<'_>)] = &[
        (
            &[("warmup", "2s"), ("flows[0].stop", "2s")],
            "so nothing of them counts",
            &[("warmup", "2s"), ("flows[0].stop", "2001ms")],
        ),
        (
            &[("flows[0].rtt", "1001ms")],
            "shorter than 10 base RTTs of `bulk` (1001ms each)",
            &[("flows[0].rtt", "1000ms")],
        ),
        (&[PRAGUE], "meets none: no queue on its path marks", &[PRAGUE, queue("dualpi2")]),
        (&[PRAGUE, queue("pie")], "meets none", &[PRAGUE, queue("pie:ecn=true")]),
        (
            &[PRAGUE, ("flows[0].tcp", "newreno"), queue("fq_codel")],
            "it does not ask for ECN",
            &[PRAGUE, ("flows[0].tcp", "newreno"), ECN, queue("fq_codel")],
        ),
        (
            &[queue("step:sojourn_threshold=5ms")],
            "the AQM never acts",
            &[ECN, queue("step:sojourn_threshold=5ms")],
        ),
        (&[queue("pie:ecn=true")], "it drops instead of marking", &[queue("pie:ecn=false")]),
        (
            &[("links.a.buffer", "100p"), queue("red:min_th=101p,max_th=300p")],
            "101p is more than the buffer of 100p holds",
            &[("links.a.buffer", "100p"), queue("red:min_th=100p,max_th=300p")],
        ),
        (
            &[queue("fq_codel:memory_limit=1499B")],
            "no room for a packet of 1500 bytes",
            &[queue("fq_codel:memory_limit=1500B")],
        ),
        (
            &[queue("cake:bandwidth=10001kbit")],
            "above the link's rate of 10mbit, so it shapes nothing",
            &[queue("cake:bandwidth=10mbit")],
        ),
        (&[queue("pie:tupdate=1001ms")], "too long for a run of 10s", &[queue("pie:tupdate=1s")]),
        (&[queue("pie:max_burst=10001ms")], "too long for a run", &[queue("pie:max_burst=10s")]),
        (
            &[("links.a.rate", &steps("[\"10s\", \"1mbit\"]"))],
            "rate.steps[1]: the rate changes at 10s",
            &[("links.a.rate", &steps("[\"9999ms\", \"1mbit\"]"))],
        ),
        (
            &[("links.a.jitter", "{ kind = \"uniform\", max = \"101ms\" }")],
            "longer than the base RTT of every flow",
            &[("links.a.jitter", "{ kind = \"uniform\", max = \"100ms\" }")],
        ),
        // 83 packets of 1500 B take 99.6 ms at 10 Mbit/s, 84 take 100.8 ms.
        (
            &[("links.a.device", "{ packets = 84 }")],
            "queue delay leaves it out",
            &[("links.a.device", "{ packets = 83 }")],
        ),
    ];
    for (doubtful, words, sound) in cases {
        let warning = only_warning(doubtful);
        assert!(warning.contains(words), "{doubtful:?}: {warning}");
        assert_eq!(only_warning(sound), "", "{sound:?}");
    }
}

#[test]
fn updates_far_more_often_than_packets_are_a_warning() {
    let warning = |text| only_warning(&[("links.a.queue", text)]);
    let fast = warning("pie:tupdate=1ns");
    assert!(fast.contains("needs 10000000000 updates in 10s"), "{fast}");
    // 12 us is a hundredth of a packet's 1.2 ms.
    assert_eq!(warning("pie:tupdate=12us"), "");
}

#[test]
fn a_value_that_cakes_rtt_replaces_is_a_warning() {
    let warning = |text| only_warning(&[("links.a.queue", text), ("flows[0].rtt", "30ms")]);
    let replaced = warning("cake:bandwidth=10mbit,rtt=30ms,interval=100ms");
    assert!(replaced.contains("queue.interval: has no effect"), "{replaced}");
    assert_eq!(warning("cake:bandwidth=10mbit,rtt=30ms"), "");
}

#[test]
fn a_call_unlike_the_codec_that_rates_it_is_a_warning() {
    let warning = |packet| {
        let app =
            format!("{{ kind = \"cbr\", rate = \"87kbit\", packet = \"{packet}\", voice = true }}");
        only_warning(&[("flows[0].app", &app)])
    };
    let unlike = warning("100B");
    assert!(unlike.contains("but calls are rated as G.711 with 200 bytes or more every 20ms"));
    assert_eq!(warning("218B"), "");
}

#[test]
fn a_source_faster_than_its_access_rate_is_a_warning() {
    let warning = |rate| {
        let app = format!("{{ kind = \"cbr\", rate = \"{rate}\", packet = \"200B\" }}");
        only_warning(&[("flows[0].app", &app)])
    };
    let above = warning("100001kbit");
    assert!(above.contains("is above the access rate of `cbr` (100mbit)"), "{above}");
    assert_eq!(warning("100mbit"), "");
}

/// Case 05 of the public reports: CAKE's isolation by hosts that no key names.
#[test]
fn isolation_by_hosts_that_no_group_names_is_a_warning() {
    let second = "[[flows]]\npath = [\"a\"]\nrtt = \"100ms\"\napp = { kind = \"bulk\" }\n";
    let text = format!("{BASE}{second}");
    let warnings = |queue: &str, more: &[(&str, &str)]| {
        let sets = [&[("links.a.queue", queue)], more].concat();
        load(&text, &sets).unwrap().warnings.iter().filter(|text| text.contains("hosts")).count()
    };
    assert_eq!(warnings("cake:isolation=dst", &[]), 1);
    assert_eq!(warnings("cake", &[]), 0);
    assert_eq!(warnings("cake:isolation=flows", &[]), 0);
    assert_eq!(warnings("cake:isolation=dst", &[("flows[0].dst_host", "pc")]), 0);
    assert_eq!(only_warning(&[("links.a.queue", "cake:isolation=dst")]), "");
}

#[test]
fn a_recorded_link_whose_times_begin_after_the_run_is_a_warning() {
    // x.down has its second opportunity at 1 ms; the first is at 0 s.
    let trace = |file: &str| format!("{{ kind = \"trace\", file = \"{file}\" }}");
    assert_eq!(only_warning(&[("links.a.rate", &trace("x.down"))]), "");
    let late = only_warning(&[("links.a.rate", &trace("late.down"))]);
    assert!(late.contains("the first opportunity of late.down is at 1700000s"), "{late}");
}

#[test]
fn a_shaper_below_the_line_decides_how_long_its_buffer_takes_to_drain() {
    // 25,000 B take 20 ms at 10 Mbit/s and 200 ms at 1 Mbit/s.
    let cake = |bandwidth| warnings("25kB", &format!("cake:target=21ms,bandwidth={bandwidth}"));
    assert_eq!(cake("1mbit"), [""; 0]);
    assert_eq!(cake("10mbit").len(), 1);
}

#[test]
fn packets_of_a_flow_are_numbered_in_32_bits() {
    // 1 Mbit/s in packets of 1 B are 125,000 packets/s: 2^32 - 1 of them take 34,359.738360 s.
    let cbr = "{ kind = \"cbr\", rate = \"1mbit\", packet = \"1B\" }";
    let last = |duration| load(BASE, &[("flows[0].app", cbr), ("duration", duration)]);
    assert!(last("34359738360us").is_ok());
    let error = last("34359738368us").unwrap_err();
    assert!(error.message.contains("may send 4294967296 packets"), "{error}");
}

#[test]
fn a_flow_may_send_what_the_fastest_step_of_its_slowest_link_carries() {
    let schedule = "{ kind = \"schedule\", steps = [[\"0s\", \"1mbit\"], [\"1s\", \"100gbit\"]] }";
    let both = ("flows[0].path", "[\"a\", \"b\"]");
    let fast =
        [("links.a.rate", schedule), ("flows[0].access_rate", "100gbit"), ("duration", "600s")];
    let error = load(BASE, &fast).unwrap_err();
    assert!(error.message.contains("may send 5000000000 packets"), "{error}");
    // Link `b` of 20 Mbit/s is then the slowest part.
    let [rate, access, duration] = fast;
    assert!(load(BASE, &[rate, access, duration, both]).is_ok());
    assert!(load(BASE, &[rate, ("flows[0].access_rate", "1mbit"), duration]).is_ok());
}

#[test]
fn small_files_and_frames_take_more_packet_numbers() {
    // At 10 Mbit/s for 3000 h: files of 1 B are packets of 53 B, bulk data are packets of 1500 B.
    let long = ("duration", "10800000s");
    let files = "{ kind = \"files\", think = \"1s\", sizes = [\"1B\", \"1MB\"] }";
    let error = load(BASE, &[long, ("flows[0].app", files)]).unwrap_err();
    assert!(
        error.message.contains(&format!("may send {} packets", 13_500_000_000_000u64 / 53)),
        "{error}"
    );
    let frames = "{ kind = \"video\", interval = \"40ms\", frames = [\"100B\", \"9kB\"] }";
    let error = load(BASE, &[long, ("flows[0].app", frames)]).unwrap_err();
    assert!(error.message.contains("may send 135000000000 packets"), "{error}");
}

#[test]
fn unequal_names_of_links_keep_their_index() {
    let flow = base(&[("flows[0].path", "[\"b\", \"a\"]")]).flows[0].clone();
    assert_eq!((flow.path, flow.reverse), (vec![1, 0], vec![]));
}

#[test]
fn an_application_reaches_another_process_as_it_was_resolved() {
    for table in [
        r#"{ kind = "bulk", bytes = "1MB" }"#,
        r#"{ kind = "cbr", rate = "87kbit", packet = "218B" }"#,
        r#"{ kind = "bursts", rate = "2mbit", packet = "1kB", at = ["1s", "2s"], length = "5ms" }"#,
        r#"{ kind = "chunks", every = "4s", rates = ["500kbit", "2mbit"] }"#,
        r#"{ kind = "chunks", every = "4s", rates = ["1mbit"], buffer = "8s",
             adaptation = "buffer" }"#,
        r#"{ kind = "files", sizes = ["15kB", "44kB"], think = "9.5s" }"#,
        r#"{ kind = "replay", file = "x.csv" }"#,
    ] {
        let sent = app(table);
        let text = serde_json::to_string(&sent).unwrap();
        assert_eq!(serde_json::from_str::<App>(&text).unwrap(), sent, "{text}");
    }
    let text = serde_json::to_string(&app(r#"{ kind = "cbr", rate = "87kbit", packet = "218B" }"#));
    assert!(text.unwrap().contains("87000"), "rates are in bit/s");
}

#[test]
fn a_gilbert_channel_loses_all_in_its_bad_state_and_nothing_in_the_good_one() {
    let loss = r#"{ kind = "gilbert-elliott", enter = 0.1, leave = 0.5 }"#;
    let expected = Loss::GilbertElliott { enter: 0.1, leave: 0.5, bad: 1.0, good: 0.0 };
    assert_eq!(base(&[("links.a.loss", loss)]).links[0].loss, Some(expected));
}

/// Case 04: Linux 6.1 tcp_output.c, tcp_ecn_send_syn, asks for ECN where tcp_ca_needs_ecn.
#[test]
fn a_control_that_needs_ecn_asks_for_it_by_itself_in_linux_alone() {
    let asks = |cc: &str, profile: &str| {
        let sets = [("flows[0].cc", cc), ("flows[0].tcp", profile)];
        let resolved = load(BASE, &sets).expect("it is legal");
        resolved.flows[0].app.tcp().expect("it is TCP").ecn.is_some()
    };
    for cc in ["dctcp", "prague", "dctcp:g=0.0625"] {
        for profile in ["linux", "linux-fq", "linux-7.2"] {
            assert!(asks(cc, profile), "{cc} {profile}");
        }
        assert!(!asks(cc, "newreno"), "{cc}");
    }
    assert!(!asks("cubic", "linux"));
    assert!(load(BASE, &[("flows[0].cc", "dctcp"), ("flows[0].receiver_ecn", "classic")]).is_ok());
}
