//! Every parameter of every discipline survives a round trip through tc's syntax, or is refused.

use sojourn_aqm::{Cells, Packing, QdiscSpec, registry};
use sojourn_formats::tc::{
    TcBucket, TcLink, TcWish, aqm_of_text, commands_of, lines, read, scenario, uci_of, words_of,
};

/// The kernel's AQMs, in its dialect if they have it.
const AQMS: [&str; 15] = [
    "taildrop",
    "taildrop@bytes",
    "taildrop@head_drop",
    "codel@linux",
    "fq_codel@linux",
    "pie@linux",
    "fq_pie@linux",
    "red@linux:limit=400kB",
    "ared@linux:limit=400kB",
    "choke",
    "sfq",
    "sfq_red:red_flow_limit=100kB",
    "sfb",
    "fq@linux",
    "dualpi2@linux",
];

/// Values of all kinds; those that a parameter refuses are skipped.
const VALUES: [&str; 34] = [
    "90s", "3ms", "7ms", "150us", "2s", "11s", "250ms", "3500B", "30kB", "77kB", "2MB", "30p",
    "77p", "30000p", "5mbit", "0.25hz", "0.5hz", "2hz", "1", "2", "5", "16", "55", "512", "2048",
    "0.05", "0.25", "true", "false", "off", "auto", "0", "20", "1500ns",
];

fn link(aqm: &str) -> TcLink {
    TcLink {
        device: "eth0".to_owned(),
        is_arrivals: false,
        bps: 10_000_000,
        bucket: None,
        framing_bytes: 14,
        packing: Packing::NONE,
        aqm: aqm.to_owned(),
        policer: None,
        scheduler: None,
    }
}

fn resolved(aqm: &str) -> Vec<(&'static str, String)> {
    registry::settings(&QdiscSpec::parse(aqm).unwrap()).unwrap()
}

/// An AQM with one more parameter set.
fn set(aqm: &str, name: &str, value: &str) -> String {
    format!("{aqm}{}{name}={value}", if aqm.contains(':') { "," } else { ":" })
}

/// A setting as written, for comparison: the `limit` of a taildrop determines its dialect.
fn same(one: &str, two: &str) -> bool {
    let (mut left, mut right) = (resolved(one), resolved(two));
    left.sort();
    right.sort();
    left == right
}

#[test]
fn every_parameter_that_is_exported_comes_back_equal() {
    let mut equal = 0;
    for aqm in AQMS {
        for (name, _) in resolved(aqm) {
            let words = QdiscSpec::parse(aqm).unwrap();
            let choices = registry::entry(&words.law).map_or(&[][..], |entry| (entry.params)());
            let of = registry::discipline_params(words.discipline);
            let specs = choices.iter().chain(of).filter(|it| it.name == name);
            let named = specs.flat_map(|it| it.words.iter().copied());
            for value in VALUES.into_iter().chain(named) {
                let text = set(aqm, name, value);
                // This is the link's rate, which is exported as a number.
                if QdiscSpec::parse(&text).is_err() || (name, value) == ("bandwidth", "auto") {
                    continue;
                }
                let Ok(words) = words_of(&link(&text), None) else { continue };
                let line = words.words.join(" ");
                let again = aqm_of_text(&line).unwrap_or_else(|it| panic!("{text}: {line}: {it}"));
                assert!(same(&text, &again.text), "{text}\n{line}\n{}", again.text);
                equal += 1;
            }
        }
    }
    assert!(equal > 300, "{equal} values came back");
}

/// The parameters that tc can set, with values other than the exported defaults. Parameters that
/// must be exported.
const EXPORTED: [&str; 55] = [
    "taildrop.limit",
    "codel.target",
    "codel.interval",
    "codel.ecn",
    "codel.ce_threshold",
    "fq_codel.flows",
    "fq_codel.quantum",
    "fq_codel.memory_limit",
    "fq_codel.drop_batch",
    "pie.alpha",
    "pie.beta",
    "pie.tupdate",
    "pie.byte_mode",
    "pie.ecn",
    "fq_pie.ecn_mark_limit",
    "fq_pie.quantum",
    "red.min_th",
    "red.max_th",
    "red.max_p",
    "red.burst",
    "red.ecn",
    "red.hard_drop",
    "red.mean_packet_bytes",
    "ared.min_th",
    "choke.min_th",
    "choke.burst",
    "sfq.perturb",
    "sfq.divisor",
    "sfq.depth",
    "sfq.flows",
    "sfq.headdrop",
    "sfb.increment",
    "sfb.rehash_interval",
    "sfb.bin_max",
    "sfb.penalty_rate",
    "fq.flow_limit",
    "fq.buckets",
    "fq.orphan_mask",
    "fq.quantum",
    "fq.initial_quantum",
    "fq.pacing",
    "fq.maxrate",
    "fq.low_rate_threshold",
    "fq.refill_delay",
    "fq.ce_threshold",
    "fq.timer_slack",
    "fq.horizon",
    "fq.horizon_drop",
    "fq.priomap",
    "fq.weight0",
    "dualpi2.k",
    "dualpi2.l_min_th",
    "dualpi2.c_weight",
    "dualpi2.drop_overload",
    "dualpi2.split_gso",
];

#[test]
fn every_parameter_is_exported_or_refused_with_a_sentence() {
    let mut exported = Vec::new();
    for aqm in AQMS {
        for (name, default) in resolved(aqm) {
            let texts = VALUES.iter().map(|value| set(aqm, name, value));
            let legal = texts.filter(|it| QdiscSpec::parse(it).is_ok());
            let other = legal.filter(|it| {
                resolved(it).iter().any(|(known, value)| *known == name && *value != default)
            });
            let tried: Vec<_> = other.map(|it| words_of(&link(&it), None)).collect();
            for error in tried.iter().filter_map(|it| it.as_ref().err()) {
                assert!(error.message.contains('`') && error.message.len() > 20, "{error}");
            }
            if tried.iter().any(Result::is_ok) {
                exported.push(format!("{}.{name}", aqm.split('@').next().unwrap()));
            }
        }
    }
    for name in EXPORTED {
        assert!(exported.iter().any(|it| it == name), "{name} of {exported:?}");
    }
}

#[test]
fn cake_comes_back_equal_with_its_overhead() {
    for text in [
        "cake:bandwidth=20mbit",
        "cake:ack_filter=on",
        "cake:bandwidth=20mbit,split_gso=false",
        "cake:bandwidth=20mbit,autorate_ingress=true,ingress=true",
        "cake:bandwidth=20mbit,ack_filter=aggressive",
        "cake:bandwidth=20mbit,isolation=src,interval=30ms,target=1500us",
        "cake:bandwidth=1mbit,overhead=30B,cells=atm,mpu=64B,limit=2MB",
        "cake",
    ] {
        let no_framing = TcLink { framing_bytes: 0, ..link(text) };
        let words = words_of(&no_framing, None).unwrap().words.join(" ");
        let again = aqm_of_text(&words).unwrap();
        assert!(same(text, &again.text), "{text}\n{words}\n{}", again.text);
    }
    let refused = words_of(&link("cake:target=20ms"), None).unwrap_err().to_string();
    assert!(refused.contains("twentieth"), "{refused}");
}

#[test]
fn the_bandwidth_of_red_is_left_to_tc_or_is_that_of_the_link() {
    let words = |aqm: &str| {
        let link = TcLink { bps: 50_000_000, ..link(aqm) };
        words_of(&link, None).unwrap().words.join(" ")
    };
    assert!(!words("red@linux:limit=400kB").contains("bandwidth"));
    assert!(words("red@linux:limit=400kB,bandwidth=auto").contains("bandwidth 50mbit"));
    assert!(words("red@linux:limit=400kB,bandwidth=5mbit").contains("bandwidth 5mbit"));
    assert!(words("choke").contains("bandwidth 50mbit"));
}

#[test]
fn what_the_kernel_has_not_is_refused() {
    for (aqm, kernel, word) in [
        ("madpie", None, "no `madpie`"),
        ("codel@linux:count=16", None, "tc cannot set `count` to 16"),
        ("pie@linux:target=1500ns", None, "whole microseconds"),
        ("pie@linux:alpha=0.1hz", None, "sixteenths"),
        ("codel@linux:limit=30kB", None, "packets"),
        ("red@linux:min_th=30p,max_th=90p", None, "bytes"),
        ("dualpi2@linux", Some((6, 1)), "came with 6.17"),
        ("cake:bandwidth=9999999bit", None, "tc takes whole bytes per second, such as 10000000bit"),
        ("fq_pie@linux", Some((5, 4)), "came with 5.6"),
        ("cake", Some((4, 14)), "came with 4.19"),
    ] {
        let error = words_of(&link(aqm), kernel).unwrap_err().to_string();
        assert!(error.contains(word), "{aqm}: {error}");
    }
    let other = words_of(&link("fq_codel"), None).unwrap();
    assert!(other.warnings[0].contains("runs its own fq_codel"), "{:?}", other.warnings);
    for kernels in ["codel@linux-6.1", "cake@linux", "cake"] {
        assert_eq!(words_of(&link(kernels), None).unwrap().warnings, Vec::<String>::new());
    }
}

/// Facts aqm-132 and linux-30.
#[test]
fn a_kernel_that_decides_unlike_the_one_named_is_a_warning() {
    for (aqm, warning) in [
        ("codel@linux-7.2", Some("codel of Linux 6.1 has the CoDel of linux-6.1, unlike `codel@")),
        ("fq_codel@linux:kernel=linux-7.2", Some("fq_codel of Linux 6.1 has the CoDel of")),
        ("cake@linux-6.12", Some("has the inverse roots of linux-6.1, unlike")),
        ("codel@linux-6.1", None),
        ("codel@linux", None),
        ("cake@linux", None),
        ("pie@linux-7.2", None),
    ] {
        let warnings = words_of(&link(aqm), Some((6, 1))).unwrap().warnings;
        assert_eq!(warnings.len(), usize::from(warning.is_some()), "{aqm}: {warnings:?}");
        assert!(warning.is_none_or(|it| warnings[0].contains(it)), "{aqm}: {warnings:?}");
    }
}

#[test]
fn a_link_comes_back_with_rate_framing_and_queue() {
    for (aqm, framing, bucket) in [
        ("fq_codel@linux:target=8ms,interval=120ms", 14, None),
        ("pie@linux:ecn=true", 40, None),
        ("taildrop:limit=50p", 14, Some(TcBucket { bytes: 5000, is_overdraft: false })),
        ("fq_codel@linux", 40, Some(TcBucket { bytes: 9000, is_overdraft: true })),
        ("cake:bandwidth=10mbit,overhead=26B", 0, None),
        ("cake:bandwidth=10mbit,overhead=-20B", 0, None),
        ("cake:bandwidth=10mbit,cells=atm", 14, None),
    ] {
        let out = TcLink { framing_bytes: framing, bucket, ..link(aqm) };
        let arrivals = TcLink { is_arrivals: true, bps: 50_000_000, ..out.clone() };
        let mut commands = commands_of(&out, None).unwrap().words;
        commands.extend(commands_of(&arrivals, None).unwrap().words);
        let text = commands.join("\n");
        let setup = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let wish = TcWish { name: "t".to_owned(), ..TcWish::default() };
        let toml = scenario(&setup, &wish).unwrap_or_else(|error| panic!("{error}\n{text}")).toml;
        assert!(toml.contains(&format!("framing = \"{framing}B\"")), "{text}\n{toml}");
        assert!(toml.contains("[links.up]") && toml.contains("[links.down]"), "{toml}");
        if let Some(TcBucket { bytes, is_overdraft }) = bucket {
            assert!(toml.contains(&format!("burst = \"{bytes}B\"")), "{text}\n{toml}");
            assert!(toml.contains(&format!("overdraft = {is_overdraft}")), "{text}\n{toml}");
        }
        let all = lines(&setup);
        assert_eq!(all[0].bps(), Some(10_000_000), "{text}");
        assert!(same(aqm, &all[0].aqm.as_ref().unwrap().text), "{text}");
    }
}

#[test]
fn a_negative_overhead_without_framing_is_a_warning() {
    let warned = |aqm: &str, framing_bytes| {
        commands_of(&TcLink { framing_bytes, ..link(aqm) }, None).unwrap().warnings
    };
    assert!(warned("codel@linux", 0)[0].contains("overhead -14"));
    assert!(warned("codel@linux", 14).is_empty());
    assert!(warned("cake:bandwidth=10mbit,overhead=-20B", 0).is_empty());
}

#[test]
fn cells_come_back_and_ptm_is_refused() {
    let of = |packing| TcLink { framing_bytes: 40, packing, ..link("fq_codel@linux") };
    let text = commands_of(&of(Packing { mpu: 64, cells: Cells::Atm }), None).unwrap().words;
    assert!(text[1].contains("stab overhead 26 mpu 64 linklayer atm htb"), "{text:?}");
    let wish = TcWish { name: "t".to_owned(), ..TcWish::default() };
    let toml = scenario(&read(&text.join("\n")).unwrap(), &wish).unwrap().toml;
    assert!(toml.contains("framing = \"40B\"\nmpu = \"64B\"\ncells = \"atm\"\n"), "{toml}");
    let text = uci_of(&[of(Packing { mpu: 64, cells: Cells::Atm })], None).unwrap().words;
    let toml = scenario(&read(&text.join("\n")).unwrap(), &wish).unwrap().toml;
    assert!(toml.contains("framing = \"40B\"\nmpu = \"64B\"\ncells = \"atm\"\n"), "{toml}");
    let ptm = commands_of(&of(Packing { mpu: 0, cells: Cells::Ptm }), None).unwrap_err();
    assert!(ptm.to_string().contains("no PTM cells"), "{ptm}");
}

const HTB: &str = r#"{ "kind": "htb", "default": "1-12", "overhead": "26B", "cells": "atm",
"classes": [
{ "name": "1-1", "dscp": [], "parent": null, "rate": "10mbit", "ceil": "10mbit",
  "burst": "1600B", "cburst": "1600B", "quantum": "125kB", "prio": 0 },
{ "name": "1-11", "dscp": [46, 48], "parent": "1-1", "rate": "128kbit", "ceil": "3333kbit",
  "burst": "1749B", "cburst": "1749B", "quantum": "300B", "prio": 1, "aqm": "pfifo_like" },
{ "name": "1-12", "dscp": [], "parent": "1-1", "rate": "1666kbit", "ceil": "9984kbit",
  "burst": "1600B", "cburst": "1600B", "quantum": "300B", "prio": 2, "aqm": "fq_codel@linux" }] }"#;

#[test]
fn a_tree_of_htb_comes_back() {
    let json = HTB.replace("pfifo_like", "taildrop:limit=50p");
    let out = TcLink { scheduler: Some(json), ..link("fq_codel@linux") };
    let text = commands_of(&out, None).unwrap().words.join("\n");
    let wish = TcWish { name: "t".to_owned(), ..TcWish::default() };
    let setup = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let import = scenario(&setup, &wish).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for part in [
        "rate = \"1gbit\"\nframing = \"14B\"\nqueue = \"fq_codel@linux\"",
        "kind = \"htb\"\ndefault = \"1-12\"\noverhead = \"26B\"\ncells = \"atm\"\n",
        "name = \"1-1\"\nrate = \"10mbit\"\nceil = \"10mbit\"\n",
        "name = \"1-11\"\nparent = \"1-1\"\nrate = \"128kbit\"\nceil = \"3333kbit\"\nburst = \
         \"1749B\"\ncburst = \"1749B\"\nquantum = \"300B\"\nprio = 1\ndscp = [46, 48]\nqueue = \
         \"taildrop:limit=50p\"",
        "quantum = \"300B\"\nprio = 2\n",
    ] {
        assert!(import.toml.contains(part), "{part}\nis not in\n{}", import.toml);
    }
}

#[test]
fn a_tree_of_hfsc_comes_back_at_the_root_or_below_a_shaper() {
    let json = r#"{ "kind": "hfsc", "default": "1-12", "classes": [
        { "name": "1-1", "dscp": [], "parent": null, "rt": null, "aqm": null,
          "ls": { "m1": "0bit", "d": "0ns", "m2": "9mbit" }, "ul": UL },
        { "name": "1-11", "dscp": [46], "parent": "1-1", "ls": null, "ul": null,
          "rt": { "m1": "4mbit", "d": "20ms", "m2": "0bit" }, "aqm": "taildrop:limit=60p" },
        { "name": "1-12", "dscp": [], "parent": "1-1", "rt": null, "ul": null,
          "ls": { "m1": "0bit", "d": "5ms", "m2": "1mbit" }, "aqm": "fq_codel@linux" }] }"#;
    for (limit, of_tree) in
        [("{ \"m1\": \"0bit\", \"d\": \"0ns\", \"m2\": \"9mbit\" }", "root"), ("null", "parent")]
    {
        let json = json.replace("UL", limit);
        let out = TcLink { scheduler: Some(json), ..link("fq_codel@linux") };
        let text = commands_of(&out, None).unwrap().words.join("\n");
        assert!(text.contains(of_tree) && text.contains(" hfsc default 12"), "{text}");
        assert_eq!(text.contains(" htb "), limit == "null", "{text}");
        if limit == "null" {
            continue;
        }
        let wish = TcWish { name: "t".to_owned(), ..TcWish::default() };
        let toml = scenario(&read(&text).unwrap(), &wish).unwrap().toml;
        for part in [
            "kind = \"hfsc\"\ndefault = \"1-12\"",
            "name = \"1-1\"\nls = { m2 = \"9mbit\" }\nul = { m2 = \"9mbit\" }\n",
            "rt = { m1 = \"4mbit\", d = \"20ms\" }\ndscp = [46]\nqueue = \"taildrop:limit=60p\"",
            "ls = { d = \"5ms\", m2 = \"1mbit\" }",
        ] {
            assert!(toml.contains(part), "{part}\nis not in\n{toml}\nof\n{text}");
        }
    }
}

#[test]
fn a_policer_comes_back_on_either_side() {
    for is_arrivals in [false, true] {
        let policer = Some((5_000_000, 30_000));
        let out = TcLink { policer, is_arrivals, framing_bytes: 18, ..link("fq_codel@linux") };
        let found = commands_of(&out, None).unwrap();
        let text = found.words.join("\n");
        let more = if is_arrivals { 18 } else { 4 };
        let action =
            format!("action police rate 5mbit burst 30000b overhead {more} conform-exceed");
        assert!(text.contains(&action), "{text}");
        let text = text.replace(&format!("overhead {more} conform"), "conform");
        let wish = TcWish { name: "t".to_owned(), ..TcWish::default() };
        let toml = scenario(&read(&text).unwrap(), &wish).unwrap().toml;
        assert!(toml.contains("policer = { rate = \"5mbit\", burst = \"30000B\" }"), "{toml}");
        assert!(uci_of(&[out], None).unwrap_err().to_string().contains("no policer"));
    }
    let out =
        TcLink { policer: Some((5_000_000, 30_000)), framing_bytes: 0, ..link("codel@linux") };
    assert!(commands_of(&out, None).unwrap_err().to_string().contains("framing of 14B"));
}

#[test]
fn bands_of_prio_come_back_below_the_shaper() {
    let json = r#"{ "kind": "prio", "default": "band-2", "classes": [
        { "name": "band-1", "dscp": [46], "aqm": "taildrop" },
        { "name": "band-2", "dscp": [], "aqm": "fq_codel@linux" },
        { "name": "band-3", "dscp": [1, 8], "aqm": "fq_codel@linux" }] }"#;
    let out = TcLink { scheduler: Some(json.to_owned()), ..link("fq_codel@linux") };
    let text = commands_of(&out, None).unwrap().words.join("\n");
    let wish = TcWish { name: "t".to_owned(), ..TcWish::default() };
    let toml = scenario(&read(&text).unwrap(), &wish).unwrap().toml;
    for part in [
        "rate = \"10mbit\"",
        "kind = \"prio\"\ndefault = \"band-2\"",
        "name = \"band-1\"\ndscp = [46]\nqueue = \"taildrop:limit=1000p\"",
        "name = \"band-3\"\ndscp = [1, 8]\n",
    ] {
        assert!(toml.contains(part), "{part}\nis not in\n{toml}\nof\n{text}");
    }
    let one = r#"{ "kind": "prio", "default": "a", "classes": [{ "name": "a", "dscp": [] }] }"#;
    let out = TcLink { scheduler: Some(one.to_owned()), ..link("fq_codel@linux") };
    assert!(commands_of(&out, None).unwrap_err().to_string().contains("2 to 16 bands"));
}

#[test]
fn classes_are_exported_below_a_link_whose_queue_is_a_cake_with_a_rate() {
    let json = r#"{ "kind": "prio", "default": "b", "classes": [
        { "name": "a", "dscp": [46], "aqm": "codel@linux" },
        { "name": "b", "dscp": [], "aqm": "cake:bandwidth=5mbit" }] }"#;
    let out = TcLink { scheduler: Some(json.to_owned()), ..link("cake:bandwidth=5mbit") };
    let text = commands_of(&out, None).unwrap().words.join("\n");
    for part in ["prio bands 2", "parent 110:1 codel", "parent 110:2 cake bandwidth 5mbit"] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
}

#[test]
fn sqm_comes_back_equal() {
    for aqm in [
        "fq_codel@linux:limit=500p",
        "fq_codel@linux:target=8ms,interval=120ms,ecn=false",
        "pie@linux",
        "cake:bandwidth=1mbit",
    ] {
        let framing_bytes = if aqm.starts_with("cake") { 14 } else { 40 };
        let out = TcLink { framing_bytes, bps: 1_000_000, ..link(aqm) };
        let text = uci_of(&[out], None).unwrap().words.join("\n");
        let setup = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let all = lines(&setup);
        assert!(same(aqm, &all[0].aqm.as_ref().unwrap().text), "{text}\n{:?}", all[0].aqm);
        assert_eq!(all[0].bps(), Some(1_000_000));
        let wish = TcWish { name: "t".to_owned(), ..TcWish::default() };
        let toml = scenario(&setup, &wish).unwrap_or_else(|error| panic!("{error}\n{text}")).toml;
        assert!(toml.contains(&format!("framing = \"{framing_bytes}B\"")), "{text}\n{toml}");
    }
}
