//! Bad input: every parameter of every entry refuses illegal values with one sentence that gives
//! name, value, rule and source, and never panics.

use sojourn_aqm::params::{ParamSpec, ValueKind};
use sojourn_aqm::registry::{self, PRESETS};
use sojourn_aqm::{QdiscSpec, SpecError};

/// Every name with the parameters it takes.
fn entries() -> impl Iterator<Item = (String, Vec<ParamSpec>)> {
    let plain = registry::names().map(str::to_owned);
    let queued = registry::laws().into_iter().map(|law| format!("fq({})", law.name));
    let composed = |name: String| {
        let spec = QdiscSpec::parse(&name).expect("a registered name");
        let entry = registry::entry(&spec.law).expect("registered");
        let own = registry::discipline_params(spec.discipline);
        let params = (entry.params)().iter().chain(own).copied().collect();
        (name, params)
    };
    plain.chain(queued).map(composed)
}

/// Values outside the range of a rule, without their unit.
fn outside(rule: &str) -> &'static [&'static str] {
    match rule {
        "any value" => &[],
        "must be positive" => &["0"],
        "must not be negative" => &["-1"],
        "must be a probability from 0 to 1" => &["-0.5", "1.5"],
        "must be greater than 0 and at most 1" => &["0", "1.5"],
        "must be from 1 to 65536" => &["0", "65537"],
        "must be from 256B to 1MiB (Linux sch_fq_codel.c)" => &["255", "1048577"],
        "must be at most 256B (iproute2 q_cake.c)" => &["257"],
        "must be from -64B to 256B (iproute2 q_cake.c)" => &["-65", "257"],
        "must be from 1B to 1MiB" => &["0", "1048577"],
        other => panic!("say what is outside of: {other}"),
    }
}

fn unit(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Span => "ms",
        ValueKind::Hertz => "hz",
        ValueKind::Bytes | ValueKind::SignedBytes => "B",
        ValueKind::Limit => "p",
        ValueKind::Rate => "bit",
        ValueKind::Number | ValueKind::Whole | ValueKind::Bool | ValueKind::Word => "",
    }
}

fn refused(name: &str, param: &ParamSpec, value: &str) -> SpecError {
    let setting = vec![(param.name.to_owned(), value.to_owned())];
    let result = QdiscSpec::new(name, None, setting);
    result.expect_err(&format!("{name}: {}={value} is not legal", param.name))
}

#[test]
fn every_parameter_of_every_entry_refuses_what_breaks_its_rule_and_cites_the_rule() {
    let mut refusals = 0;
    for (name, params) in entries() {
        for param in &params {
            let numbers = outside(param.rule).iter().map(|n| format!("{n}{}", unit(param.kind)));
            for value in numbers.chain(["nonsense".to_owned(), String::new(), "-".to_owned()]) {
                let error = refused(&name, param, &value);
                let text = &error.message;
                assert_eq!(error.part, param.name, "{name}: {text}");
                assert!(text.contains(param.name), "{name}.{} = {value}: {text}", param.name);
                let says_value = text.contains(value.trim_end_matches(char::is_alphabetic));
                assert!(says_value, "{name}.{} = {value}: {text}", param.name);
                let cited = param.sources.iter().any(|(_, source)| text.contains(source));
                let of_pair =
                    PRESETS.iter().flat_map(|p| p.settings).any(|s| text.contains(s.source));
                assert!(cited || of_pair, "{name}.{} = {value}: {text}", param.name);
                refusals += 1;
            }
        }
    }
    assert!(refusals > 1000, "{refusals}");
}

/// Contradictory pairs, one for each rule: (AQM, parts of the message).
#[test]
fn contradictory_pairs_are_refused_with_both_values_and_the_source() {
    for (aqm, parts) in [
        ("red:min_th=15p,max_th=15p", ["min_th `15p`", "max_th `15p`", "Floyd and Jacobson 1993"]),
        ("red:min_th=9p,max_th=15kB", ["min_th `9p`", "max_th `15kB`", "Floyd and Jacobson 1993"]),
        ("ared:min_th=20p,max_th=10p", ["min_th `20p`", "max_th `10p`", "Floyd and Jacobson 1993"]),
        (
            "ared:max_p_bottom=0.6",
            ["max_p_bottom `0.6`", "max_p_top `0.5`", "Floyd, Gummadi and Shenker 2001"],
        ),
        ("choke:min_th=40,max_th=30", ["min_th `40`", "max_th `30`", "sch_choke.c"]),
        ("sfq_red:min_th=9kB,max_th=8kB", ["min_th `9000B`", "max_th `8000B`", "sch_sfq.c"]),
        ("codel:target=101ms", ["target `101ms`", "interval `100ms`", "RFC 8289"]),
        ("fq_codel:interval=4ms", ["target `5ms`", "interval `4ms`", "RFC 8289"]),
        ("cobalt:target=1s", ["target `1s`", "interval `100ms`", "RFC 8289"]),
        ("cake:target=1s", ["target `1s`", "interval", "RFC 8289"]),
        ("choke:limit=131072p", ["limit `131072p`", "at most 131071p", "sch_choke.c"]),
        ("cake:flows=9", ["flows `9`", "multiple of 8", "sch_cake.c"]),
        (
            "madpie:deterministic_target=20ms",
            ["deterministic_target `20ms`", "target `20ms`", "Kuhn and Ros 2016"],
        ),
        ("pi2:coupling_k=0.5", ["coupling_k `0.5`", "at least 1", "RFC 9332"]),
        ("dualpi2:k=0.5", ["k `0.5`", "at least 1", "RFC 9332"]),
        ("sfb:bin_target=30", ["bin_target `30`", "bin_max `25`", "sch_sfb.c"]),
        ("pie:tupdate=0s", ["`0s`", "tupdate", "RFC 8033 §4.2"]),
        ("pie@paper2013:tupdate=0s", ["`0s`", "tupdate", "Pan et al. 2013"]),
        ("pie@linx", ["pie has no dialect `linx`", "`linux`", "rfc8033"]),
        ("fq_codel@rfc8291", ["fq_codel has no dialect", "`rfc8290`", "linux"]),
    ] {
        let message = QdiscSpec::parse(aqm).expect_err(aqm).message;
        for part in parts {
            assert!(message.contains(part), "{aqm}: `{part}` is not in: {message}");
        }
    }
}

/// The AQMs that published studies compare, by name.
#[test]
fn the_registry_has_the_aqms_and_dialects_that_users_rely_on() {
    let has = |name: &str| assert!(QdiscSpec::parse(name).is_ok(), "{name}");
    for name in [
        "taildrop",
        "taildrop:limit=100kB",
        "taildrop@head_drop",
        "red",
        "red:gentle=true",
        "ared",
        "ared@linux",
        "ared@kids",
        "codel",
        "codel@act",
        "codel:count=100",
        "pie",
        "pi2",
        "madpie",
        "cobalt",
        "choke",
        "pi",
        "blue",
        "sfb",
        "step",
        "fq_codel",
        "fq_pie",
        "fq_cobalt",
        "fq(madpie)",
        "sfq",
        "sfq_red",
        "dualpi2",
        "dualpi2@linux",
        "cake",
        "fq",
        "fq@linux-6.1",
    ] {
        has(name);
    }
    let dialects = [
        ("pie", "rfc8033 paper2013 ietf_draft linux linux2013 ns2 ns3 docsis"),
        ("codel", "rfc8289 linux draft act ns3"),
        ("red", "floyd linux ns2 ns3"),
        ("ared", "floyd2001 linux kids ns3"),
        ("fq_codel", "rfc8290 linux ns3"),
        ("fq_pie", "rfc8033 linux ns3"),
        ("pi2", "classic rfc9332 coupled linux ns3"),
        ("cobalt", "linux linux_exact ns3"),
        ("dualpi2", "rfc9332 linux"),
        ("madpie", "ns2 paper2013 rfc8033 rfc8033_basic ietf_draft linux linux2013 ns3 docsis"),
    ];
    for (law, names) in dialects {
        names.split(' ').for_each(|dialect| has(&format!("{law}@{dialect}")));
        let first = names.split(' ').next().expect("a default");
        let spec = QdiscSpec::parse(law).expect("registered");
        assert_eq!(registry::dialect_of(&spec), first, "{law}");
    }
}
