//! Every parser of user input.

use std::io;

use bolero::TypeGenerator;
use sojourn_aqm::{Env, Limit, Packet, QdiscSpec, registry, units};
use sojourn_formats::capture::{CaptureReader, ReplayedPackets};
use sojourn_formats::tc;
use sojourn_scenario::{Format, Scenario, Source};

use crate::golden::Trace;
use crate::target;
use sojourn_fuzz::words::Edited;

const AQMS: &[&str] = &[
    "pie",
    "codel@linux:target=5ms,interval=100ms,ecn=true",
    "fq_codel:limit=10240p,flows=1024,quantum=1514B",
    "fq(madpie@ns2):deterministic_target=25ms,tupdate=30ms",
    "red@floyd:min_th=5p,max_th=15p,max_p=0.1,w_q=0.002",
    "cake:bandwidth=10mbit",
    "sfq_red:min_th=10kB,max_th=30kB",
];

const QUANTITIES: &[&str] =
    &["5ms", "1.5s", "10mbit", "100gbit", "1000p", "250kB", "1.5MiB", "0.3125hz", "0.85", "1024"];

const DUMBBELL: &str = include_str!("../../../python/sojourn/scenarios/dumbbell-cubic.toml");
const MIX: &str = include_str!("../../../python/sojourn/scenarios/traffic-mix.toml");
const CELLULAR: &str = include_str!("../../../python/sojourn/scenarios/cellular.toml");
const STEPS: &str = include_str!("../../../python/sojourn/scenarios/rate-steps.toml");

const JSON: &str = r#"{"name": "x", "seed": 1, "duration": "10s",
    "links": {"b": {"rate": "10mbit", "delay": "10ms", "buffer": "1bdp",
        "queue": {"kind": "pie", "dialect": "linux", "target": "5ms"}}},
    "flows": [{"count": 2, "path": ["b"], "rtt": "50ms", "cc": {"kind": "cubic"},
        "start": "0s..1s", "app": {"kind": "bulk"}}]}"#;

/// Traffic from a recording, which is a CSV file.
const RECORDED: &str = r#"name = "x"
duration = "10s"

[links.b]
rate = "10mbit"
delay = "10ms"
buffer = "1bdp"

[[flows]]
path = ["b"]
rtt = "50ms"
app = { kind = "replay", file = "amounts.csv" }
"#;

/// Opportunities of a recorded link, and amounts of recorded traffic.
const RECORDINGS: &[&str] = &["1\n2\n2\n7\n", "0\n5\n", "time,bytes\n0.0,1200\n0.25,600\n"];

const TOMLS: &[&str] = &[DUMBBELL, MIX, CELLULAR, STEPS, RECORDED];

/// Golden traces with every kind of step.
const TRACES: &[&str] = &[
    include_str!("../../../testdata/golden/codel_resume_rfc8289.toml"),
    include_str!("../../../testdata/golden/pie_controller_rfc8033.toml"),
    include_str!("../../../testdata/golden/pi2_controller_classic.toml"),
    include_str!("../../../testdata/golden/pie_derandomised_0_1.toml"),
    include_str!("../../../testdata/golden/dualpi2_thinning_0_3.toml"),
    include_str!("../../../testdata/golden/taildrop_limit_in_bytes.toml"),
];

const OVERRIDES: &[&str] = &[
    "links.bottleneck.rate=\"5mbit\"",
    "links.bottleneck.queue.target=\"5ms\"",
    "flows.0.count=3",
    "flows.0.cc.kind=\"reno\"",
    "seed=7",
];

/// A packet type for disciplines that are built but not used.
struct NoPacket;

impl Packet for NoPacket {
    fn bytes(&self) -> u32 {
        1
    }
    fn ecn(&self) -> sojourn_aqm::Ecn {
        sojourn_aqm::Ecn::NotEct
    }
    fn set_ce(&mut self) {}
    fn flow(&self) -> u64 {
        0
    }
}

/// A scenario's text, with a trace that it may name, and overrides.
#[derive(Clone, Debug, TypeGenerator)]
struct Files {
    scenario: Edited,
    trace: Edited,
    sets: Vec<Edited>,
}

impl Files {
    fn load(&self, right: &[&str], format: Format) {
        let (text, trace) = (self.scenario.of(right), self.trace.of(RECORDINGS));
        let sets = self.sets.iter().take(2).filter_map(|set| {
            let text = set.of(OVERRIDES);
            let (key, value) = text.split_once('=')?;
            Some((key.to_owned(), value.to_owned()))
        });
        let sets: Vec<(String, String)> = sets.collect();
        let source = Source { format, origin: "fuzz", sets: &sets };
        let read = |name: &str| match name.len() % 7 {
            0 => Err(io::ErrorKind::NotFound.into()),
            _ => Ok(trace.clone()),
        };
        match Scenario::load(&text, &source, &read) {
            Err(error) => assert!(!error.to_string().trim().is_empty(), "an error says something"),
            Ok(scenario) => {
                let again = Scenario::load(&text, &source, &read).expect("what was read once");
                assert_eq!(scenario, again);
                for link in &scenario.resolved().links {
                    assert!(link.mtu_bytes > 0);
                }
            }
        }
    }
}

target! {
    /// An AQM in its text form is refused with an error message, or can be built and round-trips.
    fn the_text_of_an_aqm(text: Edited) {
        let text = text.of(AQMS);
        match QdiscSpec::parse(&text) {
            Err(error) => assert!(!error.message.is_empty(), "an error says something"),
            Ok(spec) => {
                assert_eq!(QdiscSpec::parse(&spec.to_string()).as_ref(), Ok(&spec), "{text}");
                let env = Env { limit: Limit::Packets(10), mtu_bytes: 1500, rate: None, salt: 0 };
                registry::build::<NoPacket>(&spec, &env).expect("what was accepted builds");
            }
        }
    }

    /// A quantity is refused, or round-trips.
    fn quantities(text: Edited) {
        let text = text.of(QUANTITIES);
        let _ = units::split(&text);
        if let Ok(span) = units::span(&text) {
            assert_eq!(units::span(&span.to_string()), Ok(span), "{text}");
        }
        if let Ok(rate) = units::rate(&text) {
            assert_eq!(units::rate(&rate.to_string()), Ok(rate), "{text}");
        }
        if let Ok(limit) = units::limit(&text) {
            assert_eq!(units::limit(&limit.to_string()), Ok(limit), "{text}");
        }
        if let Ok(bytes) = units::bytes(&text) {
            assert_eq!(units::bytes(&units::show_bytes(bytes)), Ok(bytes), "{text}");
        }
        assert!(units::hertz(&text).is_ok_and(f64::is_finite) || units::hertz(&text).is_err());
        assert!(units::number(&text).is_ok_and(f64::is_finite) || units::number(&text).is_err());
        let _ = units::whole(&text);
    }

    /// A golden trace is refused with an error message, or parsed.
    fn golden_traces(text: Edited) {
        if let Err(why) = Trace::read(&text.of(TRACES)) {
            assert!(!why.trim().is_empty(), "an error says something");
        }
    }

    /// A scenario in TOML, with overrides and recorded traces.
    fn scenarios_in_toml(files: Files) {
        files.load(TOMLS, Format::Toml);
    }

    /// The same in JSON.
    fn scenarios_in_json(files: Files) {
        files.load(&[JSON], Format::Json);
    }
}

/// The texts are legal before they are edited; otherwise the targets would see only refusals.
#[test]
fn the_texts_to_be_edited_are_legal() {
    AQMS.iter().for_each(|text| assert!(QdiscSpec::parse(text).is_ok(), "{text}"));
    TRACES.iter().for_each(|text| drop(Trace::read(text).expect("a golden trace")));
    for (texts, format) in [(TOMLS, Format::Toml), (&[JSON][..], Format::Json)] {
        for text in texts {
            let source = Source { format, origin: "fuzz", sets: &[] };
            let recording = |name: &str| RECORDINGS[if name.ends_with(".csv") { 2 } else { 0 }];
            let read = |name: &str| Ok(recording(name).to_owned());
            Scenario::load(text, &source, &read).expect("a scenario");
        }
    }
}

/// Texts of tc of every format.
const TC: &[&str] = &[
    "tc qdisc add dev eth0 root handle 1: stab overhead 30 linklayer atm htb default 10\n\
     tc class add dev eth0 parent 1: classid 1:10 htb rate 10mbit ceil 20mbit burst 5k\n\
     tc qdisc add dev eth0 parent 1:10 fq_codel limit 1000 target 20ms noecn\n\
     tc filter add dev eth0 parent ffff: matchall action mirred egress redirect dev ifb0\n\
     tc qdisc add dev ifb0 root cake bandwidth 50mbit diffserv4 pppoe-ptm ether-vlan rtt 30ms\n",
    "qdisc tbf 1: dev eth0 root refcnt 2 rate 10Mbit burst 5Kb/1 lat 50ms\n Sent 1 bytes 2 pkt \
     (dropped 3, overlimits 4 requeues 5)\n backlog 0b 0p requeues 0\nqdisc netem 2: dev eth0 \
     parent 1: limit 1000 delay 40ms  10ms 25% loss gemodel p 1% r 10% rate 1Mbit\n",
    "qdisc mq 0: dev eth0 root\nqdisc pie 0: dev eth0 parent :1 limit 1000p target 15ms tupdate \
     15ms alpha 2 beta 20\nclass hfsc 1:1 root sc m1 0bit d 0us m2 10Mbit ul rate 20Mbit\n",
    r#"[{"kind":"cake","handle":"1:","dev":"eth0","root":true,"options":{"bandwidth":1250000,
        "diffserv":"diffserv3","nat":true,"raw":false,"atm":"ptm","overhead":30,"rtt":100000}},
        {"kind":"netem","parent":"1:1","options":{"limit":1000,"delay":{"delay":0.04}}}]"#,
    "config queue 'wan'\n\toption enabled '1'\n\toption interface 'wan'\n\toption download 50000\n\
     \toption upload 9000\n\toption script 'simplest.qos'\n\toption linklayer 'atm'\n\toption \
     overhead '40'\n\toption etarget '20ms'\n",
];

target! {
    /// A text of tc is refused with an error message, or gives lines, findings, and perhaps a legal
    /// scenario.
    fn the_texts_of_tc(text: Edited) {
        let text = text.of(TC);
        let setup = match tc::read(&text) {
            Err(error) => return assert!(!error.message.is_empty(), "an error says something"),
            Ok(setup) => setup,
        };
        for line_bps in [None, Some(1), Some(50_000_000), Some(u64::MAX / 8 * 8)] {
            let given =
                tc::TcCircumstances { line_bps, framing: None, rtt_ns: 40_000_000, load: 2 };
            for finding in tc::check(&setup, given) {
                assert!(!finding.title.is_empty() && !finding.remedy.is_empty());
            }
        }
        let wish = tc::TcWish { name: "x".to_owned(), ..tc::TcWish::default() };
        if let Ok(import) = tc::scenario(&setup, &wish) {
            let source = Source { format: Format::Toml, origin: "fuzz", sets: &[] };
            let read = |_: &str| Err(io::ErrorKind::NotFound.into());
            if let Err(error) = Scenario::load(&import.toml, &source, &read) {
                panic!("{error}\n{}", import.toml);
            }
        }
    }
}

/// One change of a capture; positions wrap around its length.
#[derive(Clone, Debug, TypeGenerator)]
enum Damage {
    Set(u16, u8),
    Word(u16, u32),
    Cut(u16, u8),
    End(u16),
}

/// A capture with some damage, fed in parts of some size.
#[derive(Clone, Debug, TypeGenerator)]
struct DamagedCapture {
    which: u8,
    link: u16,
    damages: Vec<Damage>,
    part: u16,
}

/// A header for a link type, and two packets of TCP and UDP.
fn legal_capture(which: u8, link: u16) -> Vec<u8> {
    let link = [0, 1, 101, 108, 113, 276, link][usize::from(which) % 7];
    let head = match link {
        0 | 108 => vec![2, 0, 0, 0],
        1 => [vec![0; 12], vec![0x81, 0, 0, 1, 8, 0]].concat(),
        113 => [vec![0; 14], vec![8, 0]].concat(),
        276 => [vec![8, 0], vec![0; 18]].concat(),
        _ => Vec::new(),
    };
    let mut segment = vec![0x45, 2, 0, 144, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    segment.extend([1, 2, 3, 4, 0, 0, 0, 9, 0, 0, 0, 8, 0x60, 0xc2, 1, 1, 0, 0, 0, 0]);
    segment.extend([2, 4, 5, 0xb4]);
    let mut datagram = vec![0x60, 0, 0, 0, 0, 20, 17, 64];
    datagram.extend([1; 32]);
    datagram.extend([0, 53, 200, 0, 0, 20, 0, 0]);
    let frames = [segment, datagram].map(|ip| [head.clone(), ip].concat());
    if which.is_multiple_of(2) { pcap(link, &frames) } else { pcapng(link, &frames) }
}

fn pcap(link: u16, frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0];
    file.extend(u32::from(link).to_le_bytes());
    for (second, frame) in frames.iter().enumerate() {
        for field in [second as u32, 5, frame.len() as u32, frame.len() as u32 + 100] {
            file.extend(field.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

fn pcapng(link: u16, frames: &[Vec<u8>]) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let length = (body.len() as u32 + 12).to_le_bytes();
        [&kind.to_le_bytes()[..], &length, body, &length].concat()
    };
    let mut section = 0x1a2b_3c4d_u32.to_le_bytes().to_vec();
    section.extend([1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    let [low, high] = link.to_le_bytes();
    let interface = [low, high, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0];
    let mut file = [block(0x0a0d_0d0a, &section), block(1, &interface)].concat();
    for (second, frame) in frames.iter().enumerate() {
        let length = frame.len() as u32;
        let mut body: Vec<u8> = [0, 0, second as u32 * 1_000_000, length, length]
            .iter()
            .flat_map(|field| field.to_le_bytes())
            .collect();
        body.extend(frame);
        body.resize(body.len().next_multiple_of(4), 0);
        file.extend(block(6, &body));
    }
    file
}

impl Damage {
    fn apply(&self, file: &mut Vec<u8>) {
        let place = |at: u16| usize::from(at) % file.len().max(1);
        match *self {
            Damage::Set(at, value) => {
                let at = place(at);
                file[at..].iter_mut().take(1).for_each(|byte| *byte = value);
            }
            Damage::Word(at, value) => {
                let at = place(at);
                let word = file[at..].iter_mut().zip(value.to_le_bytes());
                word.for_each(|(byte, value)| *byte = value);
            }
            Damage::Cut(at, length) => {
                let start = place(at);
                file.drain(start..(start + usize::from(length % 32)).min(file.len()));
            }
            Damage::End(at) => file.truncate(place(at)),
        }
    }
}

fn read_capture(file: &[u8], part: usize) -> Result<String, String> {
    let mut reader = CaptureReader::new(ReplayedPackets::All);
    let mut lines = String::new();
    for bytes in file.chunks(part.max(1)) {
        lines.extend(reader.feed(bytes).0.into_iter().map(|(.., text)| text));
    }
    let (rest, report) = reader.finish().map_err(|error| error.to_string())?;
    lines.extend(rest.into_iter().map(|(.., text)| text));
    Ok(format!("{report} {}", lines.len()))
}

target! {
    /// A capture is refused with an error message, or gives a report that does not depend on how
    /// the file was divided.
    fn damaged_captures(capture: DamagedCapture) {
        let mut file = legal_capture(capture.which, capture.link);
        for damage in capture.damages.iter().take(6) {
            damage.apply(&mut file);
        }
        let whole = read_capture(&file, file.len());
        if let Err(message) = &whole {
            assert!(!message.trim().is_empty(), "an error says something");
        }
        assert_eq!(whole, read_capture(&file, usize::from(capture.part % 64)));
    }
}

/// The captures are legal before they are damaged.
#[test]
fn the_captures_to_be_damaged_are_legal() {
    for which in 0..14 {
        let report = read_capture(&legal_capture(which, 228), 7);
        let report = report.unwrap_or_else(|error| panic!("{which}: {error}"));
        assert!(report.contains(r#""packets":2"#), "{which}: {report}");
    }
}
