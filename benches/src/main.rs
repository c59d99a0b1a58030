//! Measures the cost of a packet. `sojourn-benches` prints tables in Markdown;
//! `sojourn-benches once AQM FLOWS MBIT SECONDS` runs a single scenario, for profilers.
//!
//! Times on a shared machine drift. Every figure is therefore the best of several runs, and figures
//! to be compared are measured alternately.

mod cliffs;
mod controls;
mod dumbbell;
mod entries;
mod instructions;
mod large;
mod laws;
mod loading;
mod measured;
mod reference;
mod window;

use std::process::Command;
use std::time::Instant;

use dumbbell::Dumbbell;
use measured::Measured as _;
use window::Window;

/// Runs of each scenario; the fastest counts.
const RUNS: usize = 5;

/// The parts, in the order of the tables.
const PARTS: [(&str, fn()); 12] = [
    ("reference", reference::tables),
    ("throughput", throughput),
    ("recording", recording),
    ("flows", curve),
    ("replicas", replicas),
    ("memory", memory),
    ("instructions", instructions),
    ("windows", window::table),
    ("entries", || entries::table(&[])),
    ("idle", entries::idle),
    ("loading", loading::table),
    ("controls", controls::table),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        [] => PARTS.iter().for_each(|(_, part)| part()),
        ["entries", ref only @ ..] if !only.is_empty() => entries::table(only),
        ["pairs", aqm, backlog, flows, pairs] => {
            entries::once(aqm, number(backlog) as u32, number(flows), number(pairs));
        }
        ["once", aqm, flows, mbit, seconds] => once(aqm, flows, mbit, seconds),
        ["window", mbit, per_mille, seconds] => {
            let [mbit, per_mille, seconds] = [mbit, per_mille, seconds].map(number);
            Window { mbit, per_mille, seconds }.run();
        }
        ["load", what] => loading::once(what),
        ["laws", ref files @ ..] => laws::table(files),
        ["law", name, packets, ref files @ ..] => laws::once(name, packets, files),
        ["count", program, ref arguments @ ..] => count(program, arguments),
        ["reference", "check", ref only @ ..] => instructions::check(only),
        ["reference", "list"] => reference::list(),
        ["reference", case, milliseconds, aqm, ref sets @ ..] => {
            reference::under(case, number(milliseconds), aqm, sets);
        }
        ["reference", "write"] => instructions::write(),
        ["reference", "write-wheel"] => instructions::write_wheel(),
        ["reference", case, milliseconds] => {
            println!("packets {}", instructions::case(case).run(number(milliseconds)));
            print_peak();
        }
        [name] if PARTS.iter().any(|part| part.0 == name) => {
            PARTS.iter().filter(|part| part.0 == name).for_each(|(_, part)| part());
        }
        _ => {
            let parts = PARTS.map(|part| part.0).join(" | ");
            eprintln!(
                "usage: sojourn-benches [{parts} | reference check CASE... | reference write | \
                 reference write-wheel | reference list | \
                 reference CASE MILLISECONDS [AQM KEY=VALUE...] | load steps | \
                 load groups | entries AQM... | \
                 laws LIBRARY... | law LAW PACKETS LIBRARY... | count PROGRAM ARGUMENT... | \
                 pairs AQM PACKETS FLOWS PAIRS | once AQM FLOWS MBIT SECONDS | \
                 window MBIT LOST_PER_MILLE SECONDS]"
            );
            std::process::exit(2);
        }
    }
}

/// Whether a table meets its goal, in words.
fn verdict(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}

fn dumbbell(aqm: &str, flows: u32, mbit: u64, seconds: u64) -> Dumbbell {
    Dumbbell { aqm: aqm.into(), flows, mbit, seconds, packets: false, seed: 1 }
}

/// Packets through the bottleneck, and the wall time of one run.
fn run(bench: &Dumbbell) -> (u64, f64) {
    let plan = bench.plan();
    let start = Instant::now();
    let run = sojourn_sim::run(&plan, &|_| true).expect("the bench is a valid scenario");
    (run.packets_handled, start.elapsed().as_secs_f64())
}

/// Nanoseconds of wall time per packet through the bottleneck, the best of several runs.
fn nanos_per_packet(bench: &Dumbbell) -> f64 {
    best(|| run(bench).0)
}

/// The best time of any function that returns the number of packets it handled.
fn best(work: impl Fn() -> u64) -> f64 {
    let once = || {
        let start = Instant::now();
        let packets = work();
        start.elapsed().as_secs_f64() * 1e9 / packets as f64
    };
    (0..RUNS).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn throughput() {
    println!("### Packets through the bottleneck per second of wall time, one core\n");
    println!("| scenario | million packets/s | ns per packet | goal |\n|---|---:|---:|---:|");
    let rows = [
        ("pie", 5, 10, 2_000, Some(3.0)),
        ("pie", 16, 10, 2_000, Some(3.0)),
        ("codel", 5, 10, 2_000, Some(3.0)),
        ("codel", 16, 10, 2_000, Some(3.0)),
        ("taildrop", 10, 10, 2_000, None),
        ("red", 10, 10, 2_000, None),
        ("pi2", 10, 10, 2_000, None),
        ("madpie", 10, 10, 2_000, None),
        ("fq_codel", 10, 10, 2_000, None),
        ("pie", 100, 100, 200, Some(2.0)),
        ("codel", 100, 100, 200, Some(2.0)),
        ("fq_codel", 100, 1_000, 20, Some(1.5)),
    ];
    for (aqm, flows, mbit, seconds, goal) in rows {
        let bench = dumbbell(aqm, flows, mbit, seconds);
        let nanos = nanos_per_packet(&bench);
        let millions = 1e3 / nanos;
        let goal = goal.map_or("-".to_owned(), |goal: f64| {
            format!("at least {goal}: {}", verdict(millions >= goal))
        });
        println!("| {} | {millions:.2} | {nanos:.0} | {goal} |", bench.name());
    }
}

fn recording() {
    println!("\n### Recording every packet\n");
    println!(
        "| scenario | ns per packet without | with | ratio | goal |\n|---|---:|---:|---:|---:|"
    );
    for (aqm, flows, mbit, seconds) in [("pie", 10, 10, 1_000), ("fq_codel", 100, 100, 100)] {
        let without = dumbbell(aqm, flows, mbit, seconds);
        let with = Dumbbell { packets: true, ..without.clone() };
        let (base, full) = (nanos_per_packet(&without), nanos_per_packet(&with));
        let (name, ratio) = (without.name(), full / base);
        let goal = verdict(ratio <= 2.0);
        println!("| {name} | {base:.0} | {full:.0} | {ratio:.2} | at most 2: {goal} |");
    }
}

/// The cost per packet with 1 Mbit/s per flow, so that only the number of flows changes.
fn curve() {
    println!("\n### Cost per packet from 1 to 100,000 flows, 1 Mbit/s each (codel)\n");
    println!("| flows | ns per packet | against 1 flow | goal |\n|---:|---:|---:|---:|");
    let mut first = None;
    for flows in [1u32, 10, 100, 1_000, 10_000, 100_000] {
        let seconds = (1_000_000 / u64::from(flows) / 83).clamp(20, 5_000);
        let seconds = if flows == 100_000 { 2 } else { seconds };
        let nanos = nanos_per_packet(&dumbbell("codel", flows, u64::from(flows), seconds));
        let ratio = nanos / *first.get_or_insert(nanos);
        let goal = match flows {
            10_000 => format!("at most 2: {}", verdict(ratio <= 2.0)),
            100_000 => format!("at most 3: {}", verdict(ratio <= 3.0)),
            _ => "-".to_owned(),
        };
        println!("| {flows} | {nanos:.0} | {ratio:.2} | {goal} |");
    }
}

fn replicas() {
    const REPLICAS: u64 = 8;
    let bench = |seed| Dumbbell { seed, ..dumbbell("pie", 10, 10, 2_000) };
    let one_after_the_other = || {
        (1..=REPLICAS).for_each(|seed| {
            run(&bench(seed));
        });
    };
    let side_by_side = || {
        std::thread::scope(|scope| {
            for half in 0..2 {
                scope.spawn(move || {
                    (1..=REPLICAS).filter(|seed| seed % 2 == half).for_each(|seed| {
                        run(&bench(seed));
                    });
                });
            }
        });
    };
    let time = |work: &dyn Fn()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    let ratios = (0..RUNS).map(|_| time(&side_by_side) / time(&one_after_the_other));
    let mut ratios: Vec<f64> = ratios.collect();
    ratios.sort_by(f64::total_cmp);
    println!("\n### Replicas\n");
    println!(
        "{REPLICAS} replicas on two threads take {:.2} of the time on one (median of {RUNS} pairs, \
         {:.2} to {:.2}). Goal: at most 0.55, {}.",
        ratios[RUNS / 2],
        ratios[0],
        ratios[RUNS - 1],
        verdict(ratios[RUNS / 2] <= 0.55)
    );
}

/// Peak memory of a process that runs one scenario, for two simulated durations, and the memory
/// that a flow adds.
fn memory() {
    println!("\n### Memory\n");
    println!("| scenario | simulated | peak resident |\n|---|---:|---:|");
    for (aqm, flows, mbit, seconds) in [
        ("pie", 10, 10, 100),
        ("pie", 10, 10, 10_000),
        ("codel", 10_000, 10_000, 2),
        ("codel", 10_000, 10_000, 8),
    ] {
        let bench = dumbbell(aqm, flows, mbit, seconds);
        let peak = peak_kb(&bench).map_or("not known".to_owned(), |peak| format!("{peak} kB"));
        println!("| {} | {seconds} s | {peak} |", bench.name());
    }
    for case in &reference::FAST {
        let milliseconds = case.between_ms().1;
        let peak = peak_kb_of(&mut case.child(milliseconds));
        let peak = peak.map_or("not known".to_owned(), |peak| {
            format!("{peak} kB, at most 500,000: {}", verdict(peak <= 500_000))
        });
        println!("| {} | {milliseconds} ms | {peak} |", case.describe());
    }
    // The link is the same, and so is the number of packets in flight; only the number of flows
    // differs.
    let peak = |flows| peak_kb(&dumbbell("codel", flows, 10_000, 4));
    if let (Some(few), Some(many)) = (peak(1_000), peak(10_000)) {
        let bytes = many.saturating_sub(few) * 1024 / 9_000;
        println!("\nFrom 1,000 to 10,000 flows on 10 Gbit/s each flow adds {bytes} bytes.");
    }
}

fn peak_kb(bench: &Dumbbell) -> Option<u64> {
    peak_kb_of(&mut child(bench))
}

fn peak_kb_of(this: &mut Command) -> Option<u64> {
    let output = this.output().expect("this program can start itself");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let peak = text.lines().find_map(|line| line.strip_prefix("peak "))?;
    peak.split(' ').next()?.parse().ok()
}

/// Instructions per packet: the difference between a long and a short run under valgrind, which
/// cancels start-up. Instructions do not depend on other load.
fn instructions() {
    println!("\n### Instructions per packet\n");
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("valgrind is not installed (`apt-get install valgrind`).");
        return;
    }
    println!("| scenario | instructions per packet |\n|---|---:|");
    for (aqm, flows, mbit) in [
        ("taildrop", 10, 10),
        ("codel", 10, 10),
        ("pie", 10, 10),
        ("fq_codel", 10, 10),
        ("codel", 100, 100),
    ] {
        let scale = 10 / mbit.min(10);
        let [short, long] = [20, 60].map(|seconds| {
            let bench = dumbbell(aqm, flows, mbit, seconds * scale * 10 / mbit.min(100));
            Counted { packets: run(&bench).0, instructions: collected(&child(&bench)) }
        });
        let name = dumbbell(aqm, flows, mbit, 1).name();
        match long.per_packet_beyond(&short) {
            Some(per_packet) => println!("| {name} | {per_packet:.0} |"),
            None => println!("| {name} | valgrind failed |"),
        }
    }
}

/// The packets handled by a run, and its instructions.
struct Counted {
    packets: u64,
    instructions: Option<u64>,
}

impl Counted {
    /// Instructions per packet beyond those of a shorter run.
    fn per_packet_beyond(&self, short: &Counted) -> Option<f64> {
        let instructions = self.instructions? - short.instructions?;
        Some(instructions as f64 / (self.packets - short.packets) as f64)
    }
}

/// For programs in other languages: prints the output of the program, then its instructions.
fn count(program: &str, arguments: &[&str]) {
    let mut command = Command::new(program);
    let Some((instructions, said)) = under_valgrind(command.args(arguments)) else {
        eprintln!("{program}: valgrind did not count its instructions");
        std::process::exit(1);
    };
    println!("{}\ninstructions {instructions}", said.trim_end());
}

/// The number of instructions that a command takes.
fn collected(this: &Command) -> Option<u64> {
    under_valgrind(this).map(|(instructions, _)| instructions)
}

/// The instructions and the output of a command. Without its cache model, cachegrind counts the
/// same instructions as callgrind, four times as fast.
fn under_valgrind(this: &Command) -> Option<(u64, String)> {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(this.get_program())
        .args(this.get_args())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = text.lines().find(|line| line.contains("I   refs:"))?;
    let instructions = line.rsplit(' ').next()?.replace(',', "").parse().ok()?;
    Some((instructions, String::from_utf8_lossy(&output.stdout).into_owned()))
}

fn child(bench: &Dumbbell) -> Command {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.args(["once", &bench.aqm]);
    command.args([u64::from(bench.flows), bench.mbit, bench.seconds].map(|n| n.to_string()));
    command
}

fn number(text: &str) -> u64 {
    text.parse().expect("a whole number")
}

fn once(aqm: &str, flows: &str, mbit: &str, seconds: &str) {
    let bench = dumbbell(aqm, number(flows) as u32, number(mbit), number(seconds));
    let (packets, wall) = run(&bench);
    println!("packets {packets}\nwall {wall:.3} s");
    print_peak();
}

fn print_peak() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(peak) = status.lines().find_map(|line| line.strip_prefix("VmHWM:")) {
        println!("peak {}", peak.trim());
    }
}
