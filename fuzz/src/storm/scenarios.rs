//! Legal scenarios drawn at random: every key of a scenario can come up.

mod apps;
mod classes;
mod flows;
mod links;
mod packing;
mod topologies;

use std::fmt::Write;

use super::choice::Choice;
use super::own_law;

/// The text of a legal scenario.
pub fn text(seed: u64, number: u64) -> String {
    // The label determines the draws of a seed: the recorded findings name inputs by seed and
    // number.
    let mut choice = Choice::of("worlds", seed, number);
    let choice = &mut choice;
    let mut text = head(number, choice);
    let has_signals = text.contains("signals = true");
    let is_wireless = choice.chance(0.1);
    let links = if is_wireless {
        links::wireless(&mut text, choice)
    } else {
        links::wired(&mut text, has_signals, choice)
    };
    flows::groups(&mut text, &links, choice);
    if choice.chance(0.2) {
        expectation(&mut text, &links.forward[0], choice);
    }
    if choice.chance(0.2) {
        engines(&mut text, choice);
    }
    if choice.chance(0.1) {
        text.insert_str(0, &own_law::line(&links.forward[0], choice));
    }
    if !is_wireless && choice.chance(0.1) {
        topologies::topology(&mut text, choice);
    }
    if !is_wireless && choice.chance(0.1) {
        links::policer(&mut text, &links.forward[0], choice);
    }
    text
}

/// The text of a scenario of bulk flows over five minutes of a slow link.
pub fn long(seed: u64, number: u64) -> String {
    let mut choice = Choice::of("long", seed, number);
    let mut text = format!("name = \"long-{number}\"\nduration = \"300s\"\nseed = {number}\n");
    text += "[record]\nflows = true\nsample = \"1s\"\n";
    let links = links::slow(&mut text, &mut choice);
    for group in 0..1 + choice.below(3) {
        flows::bulk(&mut text, group, &links, &mut choice);
    }
    text
}

fn head(number: u64, choice: &mut Choice) -> String {
    let seconds = choice.between(2.0, 6.0);
    let warmup = if choice.chance(0.5) { 0.0 } else { seconds / 4.0 };
    let mut text = format!("name = \"world-{number}\"\nseed = {number}\n");
    let _ = writeln!(text, "duration = \"{seconds:.3}s\"\nwarmup = \"{warmup:.3}s\"");
    let _ = writeln!(text, "[record]\npackets = true\nflows = true\nsample = \"50ms\"");
    let _ = writeln!(text, "signals = {}\nlatency = {}", choice.chance(0.5), choice.chance(0.5));
    if choice.chance(0.5) {
        let _ = writeln!(text, "bins = \"200ms\"");
    }
    if choice.chance(0.1) {
        let _ = writeln!(text, "states = false");
    }
    text
}

/// An expectation about a link. A run reads and checks an expectation, but does not decide it.
fn expectation(text: &mut String, link: &str, choice: &mut Choice) {
    let bound = choice.of_these(&[
        r#"below = "20ms", above = "1us""#,
        r#"within = ["1ms", "9s"]"#,
        r#"against = "pie", below = "90%""#,
        r#"against = "baseline", equivalent = "1ms""#,
    ]);
    let cases = choice.of_these(&[
        r#""pie", "codel""#,
        r#"{ aqm = "pie@linux", engine = "sim", set = { seed = 7 } }"#,
    ]);
    let (sure, seeds) = (choice.between(0.5, 0.99), choice.whole(1, 100));
    let _ = writeln!(
        text,
        "[[expect]]\nmetric = \"delay_p95\"\nof = \"{link}\"\n{}\nconfidence = {sure:.3}\n\
         max_seeds = {seeds}\nfor = [{cases}]",
        bound.replace(", a", "\na").replace(", b", "\nb").replace(", e", "\ne"),
    );
}

/// Settings of the other engines, which the simulator reads and checks.
fn engines(text: &mut String, choice: &mut Choice) {
    let bottleneck = choice.of_these(&["kernel", "sojourn", "sojourn-module"]);
    let place = choice.of_these(&["auto", "guest", "uml", "host"]);
    let hz = choice.of_these(&["100", "250", "300", "1000"]);
    let _ = writeln!(
        text,
        "[engine.linux]\nbottleneck = \"{bottleneck}\"\nwhere = \"{place}\"\nhz = {hz}"
    );
    let disc = choice.of_these(&["sojourn", "ns3"]);
    let tcp = choice.of_these(&["as-is", "mended"]);
    let _ = writeln!(text, "[engine.ns3]\nbottleneck = \"{disc}\"\ntcp = \"{tcp}\"");
}
