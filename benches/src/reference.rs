//! The reference cases: those on which simulators were compared, and additional ones.

use sojourn_scenario::{Resolved, Scenario, Source};

use super::measured::{Measured, both_tables, counted};
use super::verdict;

const TEXT: &str = include_str!("dumbbell-reno.toml");
const UPLOADS: &str = include_str!("uploads-reno.toml");
/// The loss on the wire of a lossy case.
const LOSS: &str = "{ kind = \"bernoulli\", rate = 0.1 }";

/// One case. Times are in milliseconds.
pub struct Case {
    /// Its name in `instructions.toml`.
    name: &'static str,
    aqm: &'static str,
    flows: u32,
    mbit: u64,
    packet_bytes: u32,
    rtt_ms: u64,
    buffer: &'static str,
    tcp: &'static str,
    /// Whether the bottleneck's wire loses a tenth of the packets.
    lossy: bool,
    /// Flows in the other direction. With uploads, the reverse path has the queue of the
    /// bottleneck.
    uploads: u32,
    /// Simulated time of the two runs between which packets and instructions are counted.
    between_ms: (u64, u64),
    /// The goal in instructions per packet.
    goal: Option<f64>,
}

const R1: Case = Case {
    name: "R1",
    aqm: "pie",
    flows: 5,
    mbit: 10,
    packet_bytes: 1_000,
    rtt_ms: 100,
    buffer: "200kB",
    tcp: "linux",
    lossy: false,
    uploads: 0,
    between_ms: (10_000, 40_000),
    goal: Some(1_800.0),
};

const R2: Case = Case { name: "R2", flows: 50, goal: Some(2_600.0), ..R1 };

const R3: Case = Case {
    name: "R3",
    aqm: "codel",
    flows: 16,
    packet_bytes: 1_500,
    rtt_ms: 10,
    buffer: "250kB",
    goal: Some(2_600.0),
    ..R1
};

const R4: Case = Case {
    name: "R4",
    flows: 100,
    mbit: 100,
    buffer: "2MB",
    between_ms: (5_000, 8_000),
    goal: Some(2_000.0),
    ..R1
};

const R5: Case = Case {
    name: "R5",
    aqm: "fq_codel",
    flows: 100,
    mbit: 1_000,
    packet_bytes: 1_500,
    rtt_ms: 20,
    buffer: "10240p",
    between_ms: (2_000, 2_500),
    goal: Some(2_100.0),
    ..R1
};

/// All cases. R1 to R5 are those of the comparison; N1 and N2 have no SACK, L1 loses one packet in
/// ten on the wire. U1 to U5 are R1 to R5 with one upload per five downloads, so ACKs share the
/// queue on the reverse path with data.
pub const CASES: [Case; 13] = [
    R1,
    R2,
    R3,
    R4,
    R5,
    Case { name: "N1", tcp: "newreno", goal: None, ..R1 },
    Case { name: "N2", tcp: "newreno", flows: 50, goal: None, ..R1 },
    Case { name: "L1", lossy: true, flows: 20, between_ms: (10_000, 40_000), goal: None, ..R1 },
    Case { name: "U1", uploads: 1, goal: None, ..R1 },
    Case { name: "U2", uploads: 10, goal: None, ..R2 },
    Case { name: "U3", uploads: 3, goal: None, ..R3 },
    Case { name: "U4", uploads: 20, goal: None, ..R4 },
    Case { name: "U5", uploads: 20, goal: None, ..R5 },
];

const F1: Case = Case {
    name: "F1",
    aqm: "codel",
    flows: 100,
    mbit: 100_000,
    packet_bytes: 9_000,
    rtt_ms: 20,
    buffer: "1bdp",
    between_ms: (1_000, 1_500),
    goal: None,
    ..R1
};

/// Fast links with large packets, for memory.
pub const FAST: [Case; 2] = [F1, Case { name: "F2", mbit: 400_000, ..F1 }];

impl Measured for Case {
    fn name(&self) -> &str {
        self.name
    }

    fn between_ms(&self) -> (u64, u64) {
        self.between_ms
    }

    fn goal(&self) -> Option<f64> {
        self.goal
    }

    fn describe(&self) -> String {
        let Case { aqm, flows, mbit, packet_bytes, rtt_ms, buffer, tcp, uploads, .. } = self;
        let uploads = match uploads {
            0 => String::new(),
            1 => ", 1 upload".to_owned(),
            n => format!(", {n} uploads"),
        };
        let lost = if self.lossy { ", a tenth lost" } else { "" };
        let tcp = if *tcp == "linux" { "" } else { ", no SACK" };
        format!(
            "{aqm}, {flows} flows, {mbit} Mbit/s, {packet_bytes} B, RTT {rtt_ms} ms, \
             {buffer}{tcp}{lost}{uploads}"
        )
    }

    fn plan(&self, milliseconds: u64) -> Resolved {
        self.load(&self.sets(milliseconds))
    }
}

/// Prints the settings that other simulators need to run the cases with a goal: `CASE KEY VALUE`.
pub fn list() {
    for case in CASES.iter().filter(|case| case.goal.is_some()) {
        let (short, long) = case.between_ms;
        println!("{} between {short} {long}", case.name);
        for (key, value) in case.sets(long) {
            println!("{} {key} {value}", case.name);
        }
    }
}

/// Runs a case for `milliseconds` under `aqm`, with more keys as `KEY=VALUE`; prints the packets
/// that its bottleneck sent and dropped.
pub fn under(case: &str, milliseconds: u64, aqm: &str, more: &[&str]) {
    let case = CASES.iter().find(|known| known.name == case).expect("a case of `list`");
    let mut sets = case.sets(milliseconds);
    sets.push(("links.bottleneck.queue".to_owned(), aqm.to_owned()));
    sets.extend(more.iter().map(|text| {
        let (key, value) = text.split_once('=').expect("KEY=VALUE");
        (key.to_owned(), value.to_owned())
    }));
    let run = sojourn_sim::run(&case.load(&sets), &|_| true).expect("a case is a valid scenario");
    let [arrived, sent, waiting] =
        ["arrived", "sent", "waiting"].map(|metric| counted(&run, metric));
    println!("packets {sent}\ndrops {}", arrived - sent - waiting);
}

impl Case {
    fn load(&self, sets: &[(String, String)]) -> Resolved {
        let source = Source { sets, ..Source::default() };
        let no_traces = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let text = if self.uploads > 0 { [TEXT, UPLOADS].concat() } else { TEXT.to_owned() };
        let scenario = Scenario::load(&text, &source, &no_traces);
        scenario.expect("the reference dumbbell takes these").resolved().clone()
    }

    /// The values of the dumbbell's keys. In each direction 38 % of the RTT is on the bottleneck
    /// and 6 % on each access link, which is ten times as fast.
    fn sets(&self, milliseconds: u64) -> Vec<(String, String)> {
        let share = |percent: u64| format!("{}us", self.rtt_ms * percent * 10);
        let (near, fast) = (share(6), format!("{}mbit", 10 * self.mbit));
        let access = format!(
            "{{ sender = \"{near}\", receiver = \"{near}\", sender_rate = \"{fast}\", \
             receiver_rate = \"{fast}\" }}"
        );
        let rate = format!("{}mbit", self.mbit);
        let sets = [
            ("links.bottleneck.rate", rate.clone()),
            ("links.back.rate", rate),
            ("links.bottleneck.delay", share(38)),
            ("links.back.delay", share(38)),
            ("links.bottleneck.buffer", self.buffer.to_owned()),
            ("links.bottleneck.queue", self.aqm.to_owned()),
            ("flows.bulk.count", self.flows.to_string()),
            ("flows.bulk.rtt", format!("{}ms", self.rtt_ms)),
            ("flows.bulk.access", access.clone()),
            ("flows.bulk.packet", format!("{}B", self.packet_bytes)),
            ("flows.bulk.tcp", self.tcp.to_owned()),
            ("duration", format!("{milliseconds}ms")),
        ];
        let lossy = [("links.bottleneck.loss", LOSS.to_owned())];
        let sets = sets.into_iter().chain(lossy.into_iter().filter(|_| self.lossy));
        let uploads = [
            ("links.back.buffer", self.buffer.to_owned()),
            ("links.back.queue", self.aqm.to_owned()),
            ("flows.uploads.count", self.uploads.to_string()),
            ("flows.uploads.rtt", format!("{}ms", self.rtt_ms)),
            ("flows.uploads.access", access),
            ("flows.uploads.packet", format!("{}B", self.packet_bytes)),
            ("flows.uploads.tcp", self.tcp.to_owned()),
        ];
        let sets = sets.chain(uploads.into_iter().filter(|_| self.uploads > 0));
        sets.map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// Prints the tables: committed instructions, then times.
pub fn tables() {
    println!("### Reference cases: Reno, a queue on the way back, one core\n");
    println!(
        "Instructions per packet that leaves the bottleneck (`make instructions`), and compiled as \
         wheels are (`make instructions-wheel`).\n"
    );
    println!("| case | instructions per packet | in wheels | goal |\n|---|---:|---:|---:|");
    let [usual, wheel] = both_tables();
    for case in &CASES {
        let found = usual[case.name];
        let in_wheels = wheel.get(case.name).map_or("-".to_owned(), |count| format!("{count:.0}"));
        let goal = case.goal.map_or("-".to_owned(), |goal| {
            format!("at most {goal:.0}: {}", verdict(found <= goal))
        });
        let (name, what) = (case.name, case.describe());
        println!("| {name}: {what} | {found:.0} | {in_wheels} | {goal} |");
    }
    println!();
}
