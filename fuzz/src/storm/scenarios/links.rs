//! Links of every kind: rates, queues, devices and wires, and cells of a wireless LAN.

use std::fmt::Write;

use super::classes;
use super::packing::packing;
use crate::storm::choice::Choice;
use crate::storm::pools;

/// The links of a scenario, for the paths of its flows.
pub(super) struct Links {
    /// From the sender to the receiver.
    pub(super) forward: Vec<String>,
    /// Links of which one leads back: the stations of a wireless LAN, or a single link.
    pub(super) back: Vec<String>,
    /// Whether packets must take a link back: an access point uses it to find a packet's station.
    pub(super) needs_back: bool,
    /// Whether packets may overtake each other on a wire.
    pub(super) reorders: bool,
}

/// One to three links forward and one back. Signals are recorded only for links without classes.
pub(super) fn wired(text: &mut String, has_signals: bool, choice: &mut Choice) -> Links {
    let forward: Vec<String> = (0..1 + choice.below(3)).map(|n| format!("l{n}")).collect();
    for name in &forward {
        let bps = link(text, name, (200_000.0, 20_000_000.0), choice);
        if !has_signals && choice.chance(0.25) {
            let _ = writeln!(text, "scheduler = {}", classes::scheduler(bps, choice));
        }
    }
    with_link_back(text, forward, 20_000_000.0, choice)
}

/// A slow link in either direction.
pub(super) fn slow(text: &mut String, choice: &mut Choice) -> Links {
    link(text, "l0", (100_000.0, 2_000_000.0), choice);
    with_link_back(text, vec!["l0".to_owned()], 2_000_000.0, choice)
}

fn with_link_back(
    text: &mut String,
    forward: Vec<String>,
    most: f64,
    choice: &mut Choice,
) -> Links {
    link(text, "back", (100_000.0, most), choice);
    // No other link follows, which damaged packets would load.
    if choice.chance(0.05) {
        let rate = choice.between(1e-4, 0.1);
        let _ = writeln!(text, "corrupt = {{ rate = {rate:.5}, correlation = 0.25 }}");
    }
    let reorders = text.contains("reorder = true") || text.contains("reorder = {");
    Links { forward, back: vec!["back".to_owned()], needs_back: false, reorders }
}

/// Writes a link; returns its rate.
fn link(text: &mut String, name: &str, (least, most): (f64, f64), choice: &mut Choice) -> u64 {
    let bps = choice.whole(least as u64, most as u64);
    let rate = rate(bps, choice);
    let is_vdsl = choice.chance(0.05);
    let rate = if is_vdsl { String::new() } else { rate };
    let speed = match is_vdsl {
        true => format!("template = \"vdsl:rate={bps}bit\""),
        false => format!("rate = {rate}"),
    };
    let _ = writeln!(text, "[links.{name}]\n{speed}");
    // Without a flow, a link has no bandwidth-delay product, and the reverse link may be unused.
    queue(text, name != "back", choice);
    let _ = writeln!(text, "delay = {}", delay(choice));
    if choice.chance(0.2) && !is_vdsl {
        let _ = writeln!(text, "framing = \"{}B\"", choice.whole(1, 50));
    }
    if choice.chance(0.1) && !is_vdsl {
        let _ = writeln!(text, "{}", packing(choice).join("\n"));
    }
    if choice.chance(0.15) && !rate.contains("trace") {
        let limit = match choice.chance(0.5) {
            true => format!("packets = {}", choice.whole(1, 50)),
            false => format!("bytes = \"{}B\"", choice.whole(1, 60_000)),
        };
        let overhead = choice.below(40);
        let _ = writeln!(text, "device = {{ {limit}, overhead = \"{overhead}B\" }}");
    }
    impairments(text, choice);
    bps
}

/// A policer in front of a link's queue, as a separate table.
pub(super) fn policer(text: &mut String, link: &str, choice: &mut Choice) {
    let (bps, burst) = (choice.whole(100_000, 20_000_000), choice.whole(2_500, 100_000));
    let _ = writeln!(text, "[links.{link}.policer]\nrate = \"{bps}bit\"\nburst = \"{burst}B\"");
}

fn rate(bps: u64, choice: &mut Choice) -> String {
    match choice.below(10) {
        0 => {
            let (half, twice) = (bps / 2, bps * 2);
            let low = if choice.chance(0.3) { 0 } else { half };
            let rule = choice.of_these(&["new-rate", "old-rate"]);
            let steps =
                format!(r#"["0s", "{bps}bit"], ["700ms", "{low}bit"], ["2s", "{twice}bit"]"#);
            format!(r#"{{ kind = "schedule", in_service = "{rule}", steps = [{steps}] }}"#)
        }
        1 => {
            // The burst holds a packet, even in nested cells.
            let (burst, line) = (choice.whole(2_500, 100_000), 10 * bps);
            let overdraft = choice.chance(0.5);
            let sizes = match choice.chance(0.4) {
                true => {
                    let overhead = choice.below(40);
                    format!(", overhead = \"{overhead}B\", {}", packing(choice).join(", "))
                }
                false => String::new(),
            };
            format!(
                "{{ kind = \"bucket\", rate = \"{bps}bit\", burst = \"{burst}B\", \
                 line = \"{line}bit\", overdraft = {overdraft}{sizes} }}"
            )
        }
        2 => {
            let opportunity = choice.whole(100, 10_000);
            format!(r#"{{ kind = "trace", file = "link.down", opportunity = "{opportunity}B" }}"#)
        }
        _ => format!("\"{bps}bit\""),
    }
}

/// A delay, or a schedule of three.
fn delay(choice: &mut Choice) -> String {
    let first = choice.whole(1, 60_000);
    if choice.chance(0.85) {
        return format!("\"{first}us\"");
    }
    let (then, last) = (choice.whole(1, 60_000), choice.whole(1, 60_000));
    let steps = format!(r#"["0s", "{first}us"], ["1s", "{then}us"], ["1100ms", "{last}us"]"#);
    let reorder = choice.chance(0.3);
    format!(r#"{{ kind = "schedule", reorder = {reorder}, steps = [{steps}] }}"#)
}

/// An AQM with its defaults, or with any parameters.
fn queue(text: &mut String, has_bdp: bool, choice: &mut Choice) {
    if choice.chance(0.3) {
        let _ = writeln!(text, "queue = {}", pools::aqm_value(choice));
        return;
    }
    let buffer = match choice.below(4) {
        0 => format!("{}p", choice.whole(2, 500)),
        1 if has_bdp => format!("{:.2}bdp", choice.between(0.2, 5.0)),
        2 => format!("{}ms", choice.whole(20, 500)),
        _ => format!("{}B", choice.whole(3_000, 300_000)),
    };
    let names: Vec<&str> = sojourn_aqm::registry::names().collect();
    let queue = if choice.chance(0.15) { cake(choice) } else { choice.of_these(&names).to_owned() };
    let _ = writeln!(text, "buffer = \"{buffer}\"\nqueue = \"{queue}\"");
}

/// CAKE with tins, hosts, an ACK filter, and mostly without a shaper.
fn cake(choice: &mut Choice) -> String {
    let diffserv = choice.of_these(&["diffserv3", "diffserv4", "diffserv8", "precedence"]);
    let filter = choice.of_these(&["off", "on", "aggressive"]);
    let isolation = choice.of_these(&["triple", "src", "dst", "srchost", "dsthost", "hosts"]);
    let wash = choice.chance(0.3);
    let shaper = match choice.below(3) {
        0 => format!(
            ",bandwidth={}bit,ingress={wash},autorate_ingress={}",
            choice.whole(200_000, 5_000_000),
            choice.chance(0.2)
        ),
        _ => String::new(),
    };
    format!(
        "cake:diffserv={diffserv},ack_filter={filter},isolation={isolation},wash={wash}{shaper}"
    )
}

fn impairments(text: &mut String, choice: &mut Choice) {
    let reorder = choice.chance(0.3);
    let (span, spread) = (choice.whole(10, 20_000), choice.whole(10, 20_000));
    let part = choice.between(1e-4, 0.1);
    let line = match choice.below(21) {
        0 => format!(r#"jitter = {{ kind = "uniform", max = "{span}us", reorder = {reorder} }}"#),
        1 => format!(
            r#"jitter = {{ kind = "exponential", mean = "{span}us", reorder = {reorder} }}"#
        ),
        2 => format!(
            "jitter = {{ kind = \"lognormal\", mean = \"{span}us\", deviation = \"{spread}us\", \
             reorder = {reorder} }}"
        ),
        14 => format!(
            "jitter = {{ kind = \"blocks\", every = \"{span}us\", request = \"{spread}us\", \
             pause = \"{part:.3}ms\", retransmit = {part:.5}, round_trip = \"{spread}us\" }}"
        ),
        17 => format!(
            "jitter = {{ kind = \"schedule\", steps = [[\"0s\", \"{span}us\"], [\"1s\", \"0us\"], \
             [\"1200ms\", \"{spread}us\"]], reorder = {reorder} }}"
        ),
        3 => format!(r#"loss = {{ kind = "bernoulli", rate = {part:.5} }}"#),
        4 => {
            format!(r#"loss = {{ kind = "bernoulli", rate = {part:.5}, correlation = {part:.2} }}"#)
        }
        5 => format!(
            "loss = {{ kind = \"gilbert-elliott\", enter = 0.01, leave = 0.3, bad = 0.8, \
             good = {part:.5} }}"
        ),
        6 => {
            let steps =
                format!(r#"["0s", 0.0], ["1s", {part:.5}], ["1200ms", 1.0], ["1300ms", 0.0]"#);
            format!(r#"loss = {{ kind = "schedule", steps = [{steps}] }}"#)
        }
        7 => "ecn_bleaching = true".to_owned(),
        15 => format!("duplicate = {{ rate = {part:.5}, correlation = 0.25 }}"),
        16 => format!(
            "loss = {{ kind = \"four-state\", p13 = {part:.5}, p31 = 0.3, p32 = 0.2, p23 = 0.4, \
             p14 = {:.5} }}",
            (1.0 - part) / 2.0
        ),
        18 => {
            let shape = choice.of_these(&["uniform", "normal", "pareto", "paretonormal"]);
            format!(
                "jitter = {{ kind = \"netem\", mean = \"{span}us\", deviation = \"{spread}us\", \
                 distribution = \"{shape}\", reorder = {reorder} }}"
            )
        }
        20 => {
            let shape = choice.of_these(&["uniform", "normal", "pareto", "paretonormal"]);
            format!(
                "jitter = {{ kind = \"slots\", mean = \"{span}us\", deviation = \"{spread}us\", \
                 distribution = \"{shape}\", packets = {}, bytes = \"{}B\" }}",
                choice.whole(1, 40),
                choice.whole(1, 60_000),
            )
        }
        19 => format!("reorder = {{ rate = {part:.5}, correlation = 0.25, gap = 5 }}"),
        _ => return,
    };
    let _ = writeln!(text, "{line}");
}

/// A cell with an access point and one or two stations.
pub(super) fn wireless(text: &mut String, choice: &mut Choice) -> Links {
    let _ = writeln!(text, "[wlans.home]\nattempts = {}", choice.whole(1, 10));
    radio(choice).iter().for_each(|line| text.push_str(&format!("{line}\n")));
    if choice.chance(0.3) {
        text.push_str("slot = \"20us\"\neifs = \"364us\"\n");
    }
    let back: Vec<String> = (0..1 + choice.below(2)).map(|n| format!("sta{n}")).collect();
    let fair = choice.chance(0.5);
    for name in ["ap"].into_iter().chain(back.iter().map(String::as_str)) {
        let mut keys = vec![r#"kind = "wireless""#.to_owned(), r#"wlan = "home""#.to_owned()];
        match name {
            "ap" => keys.push(format!("airtime_fairness = {fair}")),
            _ if choice.chance(0.4) => keys.extend(radio(choice)),
            _ => {}
        }
        let _ = writeln!(text, "[links.{name}]\nrate = {{ {} }}", keys.join(", "));
        queue(text, false, choice);
    }
    Links { forward: vec!["ap".to_owned()], back, needs_back: true, reorders: true }
}

/// The keys of a radio.
fn radio(choice: &mut Choice) -> Vec<String> {
    let rates = ["6mbit", "9mbit", "12mbit", "18mbit", "24mbit", "36mbit", "48mbit", "54mbit"];
    let rate = if choice.chance(0.4) { "minstrel" } else { choice.of_these(&rates) };
    let mut keys = vec![format!("rate = \"{rate}\"")];
    if choice.chance(0.7) {
        keys.push(format!("error_rate = {:.4}", choice.between(0.001, 0.3)));
    }
    if choice.chance(0.4) {
        keys.push(format!("snr = \"{}dB\"", choice.whole(5, 30)));
    }
    keys
}
