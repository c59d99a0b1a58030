//! Instructions per bottleneck packet, counted by valgrind because counts do not drift.
//! `benches/instructions.toml` is the limit. The wheels' build has a separate table, which limits
//! nothing.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::measured::{Measured, TABLE, WHEEL_TABLE, committed};
use super::{cliffs, large, reference, verdict};

/// The check fails if a count exceeds the table by more than this fraction, and requests a new
/// table if a count is lower by more than this.
const ALLOWANCE: f64 = 0.03;

/// Cases counted at the same time.
const WORKERS: usize = 2;

/// All cases, in the order of the table.
fn cases() -> Vec<Box<dyn Measured>> {
    let reference = reference::CASES.into_iter().map(|case| Box::new(case) as _);
    let cliffs = cliffs::cases().into_iter().map(|case| Box::new(case) as _);
    reference
        .chain(cliffs)
        .chain(large::CASES.into_iter().map(|case| Box::new(case) as _))
        .collect()
}

/// The case with a name, including the cases that measure memory.
pub fn case(name: &str) -> Box<dyn Measured> {
    let fast = reference::FAST.into_iter().map(|case| Box::new(case) as _);
    let mut all = cases().into_iter().chain(fast);
    all.find(|case| case.name() == name).expect("the name of a case")
}

/// Counts the cases, a few at a time.
fn count(cases: &[Box<dyn Measured>]) -> Vec<f64> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let places = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let count = |place: usize| {
            let valgrind = "valgrind counts the instructions (`apt-get install valgrind`)";
            (place, cases[place].instructions().expect(valgrind))
        };
        places.take_while(|&place| place < cases.len()).map(count).collect::<Vec<_>>()
    };
    let mut counts = vec![0.0; cases.len()];
    std::thread::scope(|scope| {
        let workers = [(); WORKERS].map(|()| scope.spawn(worker));
        for (place, found) in workers.into_iter().flat_map(|worker| worker.join().expect("a count"))
        {
            counts[place] = found;
        }
    });
    counts
}

/// Fails if a case takes more instructions than the committed table allows, or so few that the
/// table must be rewritten. Checks the named cases, or all.
pub fn check(only: &[&str]) {
    let committed = committed(TABLE);
    let mut cases = cases();
    cases.retain(|case| only.is_empty() || only.contains(&case.name()));
    let mut is_ok = true;
    for (case, found) in cases.iter().zip(count(&cases)) {
        let known = committed.get(case.name()).copied();
        let known = known.expect("every case is in benches/instructions.toml");
        let change = found / known - 1.0;
        println!("{} {found:.0} instructions per packet, {:+.1} %", case.name(), 100.0 * change);
        is_ok &= change.abs() <= ALLOWANCE;
    }
    if !is_ok {
        eprintln!(
            "more than {:.0} % from benches/instructions.toml: find out why, then write the table \
             with `make instructions-write`. This is {}; the table names the compiler that it was \
             counted with.",
            100.0 * ALLOWANCE,
            compiler()
        );
        std::process::exit(1);
    }
}

/// The compiler of this machine, such as `rustc 1.95.0`.
fn compiler() -> String {
    let output = Command::new("rustc").arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default().split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// Writes the committed table.
pub fn write() {
    let about = "`make instructions` holds every change against these;\n\
                 # `make instructions-write` writes them.";
    let cases = cases();
    print!("{}", write_table(TABLE, about, &cases, &count(&cases)));
}

/// Writes the table for the build of wheels, with which this program must be built, and prints how
/// far each case is from its goal.
pub fn write_wheel() {
    let usual = committed(TABLE);
    let cases = cases();
    let counts = count(&cases);
    for (case, found) in cases.iter().zip(&counts) {
        let (name, usual) = (case.name(), usual[case.name()]);
        let goal = case
            .goal()
            .map_or(String::new(), |goal| format!(", goal {goal:.0}: {}", verdict(*found <= goal)));
        println!("{name} {found:.0} instructions per packet, {usual:.0} as usual{goal}");
    }
    let about = "The bench is compiled by a profile as\n\
                 # wheels are (docs/design/speed.md), by `make instructions-wheel`.";
    write_table(WHEEL_TABLE, about, &cases, &counts);
}

/// Writes a table and returns its text.
fn write_table(table: &str, about: &str, cases: &[Box<dyn Measured>], counts: &[f64]) -> String {
    let mut text = format!(
        "# Instructions per packet that leaves the bottleneck, counted by valgrind in the steady\n\
         # part of a run. {about} Counted with {}.\n",
        compiler()
    );
    for (case, found) in cases.iter().zip(counts) {
        text += &format!("\n# {}\n{} = {found:.0}\n", case.describe(), case.name());
    }
    std::fs::write(table, &text).expect("the table can be written");
    text
}
