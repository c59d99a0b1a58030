//! Every TCP profile over taildrop, PIE and CoDel, compared with the results of ns-2.35 and ns-3.44
//! in the same dumbbell, each with ten seeds. `testdata/witness/dumbbell.txt` holds their numbers,
//! recorded by tests/witness/record.py.
//!
//! The bands were stated before ns-2's runs, when ns-3 had one seed. Our mean over three seeds must
//! be near the mean of the witness, or between those of two stacks, widened at both ends. (With
//! fewer seeds, the range over the witness's seeds was widened, which can only grow with their
//! number.)
//!
//! - if the witness has the same stack, by a quarter of the drops and 0.1 points of them, and by 3
//!   points of the link;
//! - if the witness has only a similar stack, to half and twice the drops and 0.2 points, and by 10
//!   points of the link.
//!
//! ns-2 has the stacks `newreno`, `reno`, `tahoe` and `sack`, but neither PIE nor CoDel. ns-3 has
//! both. With SACK the witness is `ns3-rfc`, ns-3 without two errors (facts tcp-14 and tcp-15), and
//! `ns3-sack` is ns-3 as it is. Without SACK its recoveries are spurious (fact tcp-11), so a
//! profile without SACK is expected between `ns3-plain` and `ns3-rfc`. Linux's profiles have no
//! counterpart: neither simulator has RACK nor detects lost retransmissions.

use std::path::Path;

use sojourn_record::rows::{Fate, PacketRow, Scope};
use sojourn_scenario::resolved::{App, Resolved};
use sojourn_scenario::{Scenario, Source};
use sojourn_sim::tcp::profile::{PROFILES, Profile};

use crate::common::*;

const SECONDS: u64 = 60;
/// Seeds of our runs.
const SEEDS: u64 = 3;

/// Numbers of one run.
#[derive(Clone, Copy, Debug)]
struct WitnessCell {
    drop_share: f64,
    utilisation: f64,
    goodput_mbps: f64,
}

/// How far the witness's range is widened: drops by a factor plus a share, the others by a share of
/// the link.
struct Widening {
    drop_factor: (f64, f64),
    drop_share: f64,
    of_link: f64,
}

const SAME_STACK: Widening =
    Widening { drop_factor: (0.75, 1.25), drop_share: 0.001, of_link: 0.03 };
const SIMILAR_STACK: Widening =
    Widening { drop_factor: (0.5, 2.0), drop_share: 0.002, of_link: 0.10 };

/// Lines of the record: queue, flows, stack, simulator, seed, drops, packets, utilisation, goodput.
fn witness(record: &str, queue: &str, flows: u32, stack: &str) -> WitnessCell {
    let flows = flows.to_string();
    let rows = record.lines().filter(|line| !line.starts_with('#'));
    let cells = rows.filter_map(|line| {
        let row: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| row[at].parse::<f64>().expect("a number");
        let is_asked = row[..3] == [queue, flows.as_str(), stack];
        is_asked.then(|| WitnessCell {
            drop_share: number(5) / number(6),
            utilisation: number(7),
            goodput_mbps: number(8),
        })
    });
    let cells: Vec<WitnessCell> = cells.collect();
    assert_eq!(cells.len(), 10, "a witness of {queue} {flows} {stack}");
    mean(&cells)
}

fn mean(cells: &[WitnessCell]) -> WitnessCell {
    let of = |number: fn(&WitnessCell) -> f64| {
        cells.iter().map(number).sum::<f64>() / cells.len() as f64
    };
    WitnessCell {
        drop_share: of(|cell| cell.drop_share),
        utilisation: of(|cell| cell.utilisation),
        goodput_mbps: of(|cell| cell.goodput_mbps),
    }
}

/// The recorded stacks that are compared with a profile.
fn nearest(queue: &str, profile: &Profile) -> (Vec<&'static str>, Widening) {
    match (queue, profile.name) {
        ("taildrop", "newreno") => (vec!["newreno"], SAME_STACK),
        ("taildrop", "reno") => (vec!["reno"], SAME_STACK),
        ("taildrop", "tahoe") => (vec!["tahoe"], SAME_STACK),
        ("taildrop", "sack" | "pie-ns2") => (vec!["sack"], SAME_STACK),
        ("taildrop", _) if profile.sack => (vec!["sack"], SIMILAR_STACK),
        ("taildrop", _) => (vec!["newreno"], SIMILAR_STACK),
        _ if profile.sack => (vec!["ns3-rfc"], SIMILAR_STACK),
        _ => (vec!["ns3-plain", "ns3-rfc"], SIMILAR_STACK),
    }
}

fn dumbbell(queue: &str, flows: u32, profile: &Profile) -> Resolved {
    let mut tcp = tcp("reno");
    tcp.profile = profile.name.into();
    (tcp.payload_bytes, tcp.header_bytes) = (960, 40);
    let mut bulk = group("bulk", flows, App::Bulk { tcp, bytes: None });
    bulk.start = (ms(0), ms(1000));
    scenario(SECONDS, vec![link("b", queue, 200_000)], vec![bulk])
}

/// The mean over seeds.
fn measured(plan: &Resolved) -> WitnessCell {
    let cells: Vec<WitnessCell> = (1..=SEEDS)
        .map(|seed| {
            let run = run(&Resolved { seed, ..plan.clone() });
            WitnessCell {
                drop_share: metric(&run, Scope::Queue, "b", "drop_rate"),
                utilisation: metric(&run, Scope::Queue, "b", "utilisation"),
                goodput_mbps: metric(&run, Scope::Class, "bulk", "goodput") / 1e6,
            }
        })
        .collect();
    mean(&cells)
}

/// Which of our numbers are outside the bands.
fn outside(ours: WitnessCell, theirs: &[WitnessCell], by: &Widening) -> Vec<&'static str> {
    let range = |of: fn(&WitnessCell) -> f64| {
        let values = theirs.iter().map(of);
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(0.0, f64::max))
    };
    let mut found = Vec::new();
    let (low, high) = range(|cell| cell.drop_share);
    let (low, high) = (low * by.drop_factor.0 - by.drop_share, high * by.drop_factor.1);
    if !(low..=high + by.drop_share).contains(&ours.drop_share) {
        found.push("drops");
    }
    let (low, high) = range(|cell| cell.utilisation);
    if !(low - by.of_link..=high + by.of_link).contains(&ours.utilisation) {
        found.push("utilisation");
    }
    let (low, high) = range(|cell| cell.goodput_mbps);
    if !(low - 10.0 * by.of_link..=high + 10.0 * by.of_link).contains(&ours.goodput_mbps) {
        found.push("goodput");
    }
    found
}

/// Cells outside their bands, with the known reason. Any other set fails.
const DIFFERENT: [(&str, &str, u32); 4] = [
    // Unmodified ns-2 times one packet per window and gets 7.97 Mbit/s; with timestamps it gets
    // 9.11, ours 9.12 (fact tcp-12).
    ("taildrop", "tahoe", 1),
    // Linux 3.8 acknowledges each segment while its window grows and after gaps, so its slow start
    // overshoots more than ns-3's with delayed acknowledgements: 1.6 to 2.0 % drops over eight
    // seeds, against 0.6 % in ns-3; 1.3 to 1.9 % when its window grew later (fact tcp-23).
    ("pie", "kids-3.8", 1),
    // The same slow start: until 5 s, 975 to 1109 drops in ours (three seeds) and 396 to 427 in
    // ns-3; later, 138 to 143 in ours and 127 to 140 in ns-3.
    ("pie", "kids-3.8", 5),
    // The same slow start as kids-3.8: 1.7 % drops, against 0.6 % in ns-3.
    ("pie", "pie-3.5", 1),
];

fn check(queue: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/witness/dumbbell.txt");
    let record = std::fs::read_to_string(path).expect("a readable record");
    let mut unexpected = Vec::new();
    for profile in &PROFILES {
        for flows in [1, 5, 50] {
            let (stacks, widening) = nearest(queue, profile);
            let of = |stack: &&str| witness(&record, queue, flows, stack);
            let theirs: Vec<WitnessCell> = stacks.iter().map(of).collect();
            let ours = measured(&dumbbell(queue, flows, profile));
            let found = outside(ours, &theirs, &widening);
            let name = profile.name;
            if found.is_empty() == DIFFERENT.contains(&(queue, name, flows)) {
                unexpected
                    .push(format!("{name} x{flows}: {found:?}: {ours:?}, {stacks:?} {theirs:?}"));
            }
        }
    }
    assert!(
        unexpected.is_empty(),
        "cells differ from the stated ones under {queue}:\n{}",
        unexpected.join("\n")
    );
}

/// The first arrivals at the queue of trace.toml, in the format of tests/witness/traces.py.
fn first_arrivals(queue: &str, stack: &str, count: usize) -> (usize, String) {
    let sets = (0..5).map(|flow| (format!("flows[{flow}].tcp"), stack.to_owned()));
    let queue = match queue {
        "pie" => "pie:limit=200kB",
        _ => "taildrop:limit=199p",
    };
    let sets = sets.chain([
        ("links.there.queue".to_owned(), queue.to_owned()),
        ("duration".to_owned(), "3s".to_owned()),
    ]);
    let unread = |path: &str| Err(std::io::Error::other(path.to_owned()));
    let sets: Vec<(String, String)> = sets.collect();
    let source = Source { sets: &sets, ..Source::default() };
    let scenario = Scenario::load(TRACE, &source, &unread).expect("a legal scenario");
    let run = run(scenario.resolved());
    let links = &scenario.resolved().links;
    let index = links.iter().position(|link| link.name == "there").expect("the link");
    let there = |row: &&PacketRow| row.queue as usize == index;
    let mut rows: Vec<&PacketRow> = run.packets.iter().filter(there).collect();
    rows.sort_by_key(|row| row.arrived);
    let line = |row: &&PacketRow| {
        let number = row.seq + u32::from(row.bytes > 40);
        format!("{} {number} {}\n", row.flow, u8::from(matches!(row.fate, Fate::Dropped(..))))
    };
    (rows.len(), rows.iter().take(count).map(line).collect())
}

const TRACE: &str = include_str!("../testdata/witness/trace.toml");

/// docs/evidence/tcp-witness.md: identical until ns-2's limited transmit after a timeout.
#[test]
fn the_first_arrivals_are_those_of_ns_2() {
    let record = include_str!("../testdata/witness/traces.txt");
    let rows = record.lines().filter(|line| !line.starts_with('#'));
    for row in rows.map(|line| line.split_whitespace().collect::<Vec<_>>()) {
        let count = row[2].parse().expect("a number");
        let (arrived, text) = first_arrivals(row[0], row[1], count);
        let fnv = |digest: u64, byte: u8| (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        let digest = text.bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
        assert!(arrived > count, "{row:?}");
        assert_eq!(format!("{digest:016x}"), row[3], "{row:?}: run tests/witness/traces.py");
    }
}

#[test]
fn profiles_agree_with_ns_2_under_taildrop() {
    check("taildrop");
}

#[test]
fn profiles_agree_with_ns_3_under_pie() {
    check("pie");
}

#[test]
fn profiles_agree_with_ns_3_under_codel() {
    check("codel");
}
