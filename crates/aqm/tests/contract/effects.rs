//! Every parameter that a dialect accepts has an effect there. List other parameters under
//! `unused`: they are then refused, and `sojourn explain` shows them as unused.

use sojourn_aqm::contract::values::usual;
use sojourn_aqm::params::ParamSpec;
use sojourn_aqm::registry;
use sojourn_aqm::{QdiscSpec, units};

use super::{Host, LIMIT_PACKETS, Limit, PHASE, ROUND, RandomTraffic, kinds};

/// Settings that some parameters need to have an effect: a mark limit needs marks, the weight of a
/// rate needs a delay from the rate, a slightly inexact root needs many signals, a kernel's CoDel
/// an interval of about one of its ticks.
const NEEDED: &[&str] = &[
    "",
    "ecn=true",
    "delay=rate",
    "tupdate=1ms",
    "limit=400kB",
    "ecn_mark_limit=1",
    "ecn=true,hard_drop=false",
    "ecn=true,scalable=ect1",
    "min_th=20p,max_th=60p",
    "min_th=auto,max_th=auto",
    "bandwidth=8mbit",
    "heuristics=linux2013",
    "bin_max=20,increment=0.1,penalty_rate=1000hz",
    "bin_max=20,increment=0.1,warmup=0s",
    "bin_max=20,increment=0.1,rehash_interval=900ms",
    "limit=1000000p,memory_limit=30kB",
    "l4s=true",
    "target=100us,interval=30ms",
    "target=1100ns,interval=1100ns",
    "maxrate=200kbit",
    "horizon=2ms",
    "weight1=20kB,weight2=20kB",
    "protection=true",
];

/// Parameters that need more flows than the host has, or super-packets, with the tests that show
/// their effects: `a_flow_is_forgotten_3_s_after_it_was_found_empty`,
/// `a_ping_waits_for_a_super_packet_unless_the_discipline_splits_it`.
const ELSEWHERE: &[&str] = &[
    "fq@linux.buckets",
    "cake@besteffort.split_gso",
    "dualpi2@linux.split_gso",
    "dualpi2@rfc9332.split_gso",
];

/// The fate of every packet, or `None` if the settings are refused.
fn digest(kind: &str, others: &str, setting: &str, operations: u64) -> Option<u64> {
    let usual = Limit::Packets(LIMIT_PACKETS);
    let own = others.split(',').find_map(|text| text.strip_prefix("limit="));
    let limit = own.map_or(usual, |text| units::limit(text).expect("a limit"));
    let of_limit = if own.is_some() { String::new() } else { format!("limit={limit}") };
    let settings: Vec<&str> =
        [&of_limit, others, setting].into_iter().filter(|text| !text.is_empty()).collect();
    let spec = QdiscSpec::parse(&format!("{kind}:{}", settings.join(","))).ok()?;
    let mut host = Host::new(&spec, limit, 9);
    host.run_phases(operations);
    Some(host.ledger.digest)
}

/// Whether any two legal values, with the same other settings, make a difference; most do in
/// overload, the first phase.
fn has_effect(kind: &str, param: &ParamSpec) -> bool {
    let within = |operations| NEEDED.iter().any(|it| differs(kind, param, it, operations));
    within(PHASE) || within(ROUND)
}

fn differs(kind: &str, param: &ParamSpec, others: &str, operations: u64) -> bool {
    let settings = usual(param).into_iter().map(|value| format!("{}={value}", param.name));
    let all = [String::new()].into_iter().chain(settings);
    let mut digests = all.filter_map(|setting| digest(kind, others, &setting, operations));
    digests.next().is_some_and(|first| digests.any(|other| other != first))
}

/// Whether a parameter of the discipline has more than one legal value under this law; otherwise it
/// is unused there.
fn takes(kind: &str, param: &ParamSpec) -> bool {
    let settings = usual(param).into_iter().map(|value| format!("{kind}:{}={value}", param.name));
    settings.filter(|text| QdiscSpec::parse(text).is_ok()).count() > 1
}

#[test]
fn every_parameter_has_an_effect_in_every_dialect_that_takes_it() {
    let mut idle = Vec::new();
    for (kind, name) in kinds() {
        let entry = registry::entry(name).expect("an entry");
        let discipline = QdiscSpec::parse(&kind).expect("an entry").discipline;
        for dialect in entry.dialects {
            let (of_queues, text) = (kind.contains('('), format!("{name}@{}", dialect.name));
            let text = if of_queues { format!("fq({text})") } else { text };
            // Presets are covered as laws under flow queues.
            if !of_queues && kind != name {
                continue;
            }
            let unused = (entry.unused)(dialect.name);
            let own = (entry.params)().iter().filter(|param| !unused.contains(&param.name));
            let of_law = own.filter(|_| !of_queues);
            let of_discipline = registry::discipline_params(discipline).iter();
            let of_discipline = of_discipline.filter(|_| ["codel", "taildrop"].contains(&name));
            let of_discipline = of_discipline.filter(|param| takes(&text, param));
            let params = of_law.chain(of_discipline).filter(|param| param.name != "limit");
            let without = params.filter(|param| !has_effect(&text, param));
            let without = without.map(|param| format!("{text}.{}", param.name));
            idle.extend(without.filter(|param| !ELSEWHERE.contains(&param.as_str())));
        }
    }
    assert!(idle.is_empty(), "without effect: {idle:#?}");
}
