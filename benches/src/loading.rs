//! The cost of loading a large scenario: parse, check, resolve.

use std::io::ErrorKind;

use sojourn_scenario::{Scenario, Source};

use super::verdict;

/// Steps of a schedule, or groups of flows, and the goal in seconds.
const STEPS: u64 = 1_000_000;
const GROUPS: u64 = 100_000;
const GOAL_S: f64 = 2.0;

/// Loads one of the scenarios, for profilers.
pub fn once(what: &str) {
    load(&text(what));
    super::print_peak();
}

/// The table.
pub fn table() {
    println!("\n### Loading\n");
    println!("| scenario | seconds | goal |\n|---|---:|---:|");
    for (what, count) in [("steps", STEPS), ("groups", GROUPS)] {
        let text = text(what);
        let seconds = super::best(|| load(&text)) / 1e9;
        let goal = verdict(seconds <= GOAL_S);
        println!("| {count} {what} | {seconds:.2} | at most {GOAL_S}: {goal} |");
    }
}

fn text(what: &str) -> String {
    match what {
        "steps" => steps(),
        "groups" => groups(),
        _ => panic!("`{what}` is neither steps nor groups"),
    }
}

/// Loads a text; returns one, because the whole load is measured.
fn load(text: &str) -> u64 {
    let no_files = |_: &str| Err(ErrorKind::NotFound.into());
    Scenario::load(text, &Source::default(), &no_files).expect("it is legal");
    1
}

fn steps() -> String {
    let steps: Vec<String> =
        (0..STEPS).map(|at| format!("[\"{at}ms\", \"{}mbit\"]", 10 + at % 7)).collect();
    let rate = format!("{{ kind = \"schedule\", steps = [{}] }}", steps.join(", "));
    scenario(&rate) + &group(0)
}

fn groups() -> String {
    (0..GROUPS).fold(scenario("\"10gbit\""), |text, index| text + &group(index))
}

fn scenario(rate: &str) -> String {
    format!("name = \"large\"\nduration = \"1000s\"\n[links.a]\nrate = {rate}\n")
}

fn group(index: u64) -> String {
    let rtt = 10 + index % 90;
    format!("[[flows]]\npath = [\"a\"]\nrtt = \"{rtt}ms\"\napp = {{ kind = \"bulk\" }}\n")
}
