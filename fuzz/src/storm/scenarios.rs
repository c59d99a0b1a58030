//! Legal scenarios drawn at random: every kind of link, wire, AQM, transport and application.

use std::fmt::Write;

use super::choice::Choice;
use super::pools;

/// The text of a legal scenario.
pub fn text(seed: u64, number: u64) -> String {
    // The label fixes what a seed draws: the recorded findings name inputs by seed and number.
    let mut choice = Choice::of("worlds", seed, number);
    let mut text = String::new();
    head(&mut text, number, choice.between(2.0, 6.0), &mut choice);
    let is_wireless = choice.chance(0.08);
    if is_wireless {
        wireless(&mut text, &mut choice);
    }
    let path = if is_wireless { vec!["ap".to_owned()] } else { links(&mut text, &mut choice) };
    let back = if is_wireless { "sta" } else { "back" };
    for group in 0..1 + choice.below(4) {
        let app = app(&mut choice);
        flows(&mut text, &format!("g{group}"), &path, back, &app, &mut choice);
    }
    text
}

/// The text of a scenario of bulk flows over five minutes of a slow link.
pub fn long(seed: u64, number: u64) -> String {
    let mut choice = Choice::of("long", seed, number);
    let mut text = format!("name = \"long-{number}\"\nduration = \"300s\"\nseed = {number}\n");
    text += "[record]\nflows = true\nsample = \"1s\"\n";
    let path = vec!["l0".to_owned()];
    link(&mut text, "l0", (100_000.0, 2_000_000.0), &mut choice);
    link(&mut text, "back", (100_000.0, 2_000_000.0), &mut choice);
    for group in 0..1 + choice.below(3) {
        let bulk = r#"{ kind = "bulk" }"#;
        flows(&mut text, &format!("g{group}"), &path, "back", bulk, &mut choice);
    }
    text
}

fn head(text: &mut String, number: u64, seconds: f64, choice: &mut Choice) {
    let warmup = if choice.chance(0.5) { 0.0 } else { seconds / 4.0 };
    let _ = writeln!(text, "name = \"world-{number}\"\nseed = {number}");
    let _ = writeln!(text, "duration = \"{seconds:.3}s\"\nwarmup = \"{warmup:.3}s\"");
    let _ = writeln!(text, "[record]\npackets = true\nflows = true\nsample = \"50ms\"");
    let _ = writeln!(text, "signals = {}\nlatency = {}", choice.chance(0.5), choice.chance(0.5));
    if choice.chance(0.5) {
        let _ = writeln!(text, "bins = \"200ms\"");
    }
}

/// One to three links forward and one back; returns the forward path.
fn links(text: &mut String, choice: &mut Choice) -> Vec<String> {
    let names: Vec<String> = (0..1 + choice.below(3)).map(|n| format!("l{n}")).collect();
    for name in &names {
        link(text, name, (200_000.0, 20_000_000.0), choice);
    }
    link(text, "back", (100_000.0, 20_000_000.0), choice);
    names
}

fn link(text: &mut String, name: &str, (least, most): (f64, f64), choice: &mut Choice) {
    let bps = choice.whole(least as u64, most as u64);
    let rate = rate(bps, choice);
    let _ = writeln!(text, "[links.{name}]\nrate = {rate}");
    // Without a flow a link has no bandwidth-delay product, and the reverse link may be unused.
    queue(text, name != "back", choice);
    let _ = writeln!(text, "delay = \"{}us\"", choice.whole(1, 60_000));
    if choice.chance(0.2) {
        let _ = writeln!(text, "framing = \"{}B\"", choice.whole(1, 50));
    }
    if choice.chance(0.15) && !rate.contains("trace") {
        let _ = writeln!(text, "device = {{ packets = {} }}", choice.whole(1, 50));
    }
    impairments(text, choice);
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
            let (burst, line) = (choice.whole(2_000, 100_000), 10 * bps);
            let overdraft = choice.chance(0.5);
            format!(
                "{{ kind = \"bucket\", rate = \"{bps}bit\", burst = \"{burst}B\", \
                 line = \"{line}bit\", overdraft = {overdraft} }}"
            )
        }
        2 => r#"{ kind = "trace", file = "link.down" }"#.to_owned(),
        _ => format!("\"{bps}bit\""),
    }
}

/// An AQM with its defaults, or with any parameters.
fn queue(text: &mut String, has_bdp: bool, choice: &mut Choice) {
    let any = pools::aqm(choice);
    let queue = if choice.chance(0.3) {
        any
    } else {
        let buffer = match choice.below(3) {
            0 => format!("{}p", choice.whole(2, 500)),
            1 if has_bdp => format!("{:.2}bdp", choice.between(0.2, 5.0)),
            _ => format!("{}B", choice.whole(3_000, 300_000)),
        };
        let _ = writeln!(text, "buffer = \"{buffer}\"");
        let names: Vec<&str> = sojourn_aqm::registry::names().collect();
        choice.of_these(&names).to_owned()
    };
    let _ = writeln!(text, "queue = \"{queue}\"");
}

fn impairments(text: &mut String, choice: &mut Choice) {
    let (reorder, span) = (choice.chance(0.3), choice.whole(10, 20_000));
    match choice.below(12) {
        0 => {
            let jitter = format!("kind = \"uniform\", max = \"{span}us\", reorder = {reorder}");
            let _ = writeln!(text, "jitter = {{ {jitter} }}");
        }
        1 => {
            let _ = writeln!(text, "jitter = {{ kind = \"exponential\", mean = \"{span}us\" }}");
        }
        2 | 3 => {
            let part = choice.between(1e-4, 0.1);
            let _ = writeln!(text, "loss = {{ kind = \"bernoulli\", rate = {part:.5} }}");
        }
        4 => {
            let loss = "kind = \"gilbert-elliott\", enter = 0.01, leave = 0.3, bad = 0.8";
            let _ = writeln!(text, "loss = {{ {loss} }}");
        }
        5 => text.push_str("ecn_bleaching = true\n"),
        _ => {}
    }
}

fn wireless(text: &mut String, choice: &mut Choice) {
    let errors = choice.between(0.001, 0.3);
    let _ = writeln!(text, "[wlans.home]\nerror_rate = {errors:.4}");
    if choice.chance(0.4) {
        let snr = choice.whole(5, 30);
        let _ = writeln!(text, "rate = \"minstrel\"\nsnr = \"{snr}dB\"");
    }
    for name in ["ap", "sta"] {
        let fair = name == "ap" && choice.chance(0.4);
        let _ = writeln!(text, "[links.{name}]");
        let _ = writeln!(
            text,
            "rate = {{ kind = \"wireless\", wlan = \"home\", airtime_fairness = {fair} }}"
        );
        queue(text, false, choice);
    }
}

fn flows(
    text: &mut String,
    name: &str,
    path: &[String],
    back: &str,
    app: &str,
    choice: &mut Choice,
) {
    let is_tcp = ["bulk", "files", "web", "chunks"].iter().any(|kind| app.contains(kind));
    let path: Vec<String> = path.iter().map(|link| format!("\"{link}\"")).collect();
    let _ = writeln!(text, "[[flows]]\nname = \"{name}\"\npath = [{}]", path.join(", "));
    // Packets to a station need its link on the reverse path of their flow.
    if back == "sta" || is_tcp && choice.chance(0.4) {
        let _ = writeln!(text, "reverse = [\"{back}\"]");
    }
    let _ = writeln!(text, "count = {}", 1 + choice.below(4));
    let (sender, receiver) = (choice.whole(1, 100), choice.whole(1, 50));
    let access = format!("sender = \"{sender}ms\", receiver = \"{receiver}ms\"");
    let _ = writeln!(text, "access = {{ {access} }}\nstart = \"0s..500ms\"\napp = {app}");
    let asks = choice.chance(0.4);
    let _ = writeln!(text, "ecn = {asks}");
    if is_tcp {
        let control = transport(text, choice);
        if asks {
            feedback(text, &control, choice);
        }
    }
}

/// Writes the keys of TCP; returns the congestion control, empty for the profile's.
fn transport(text: &mut String, choice: &mut Choice) -> String {
    let controls: Vec<_> = sojourn_sim::cc::controls().iter().map(|one| one.name).collect();
    let control = if choice.chance(0.8) { choice.of_these(&controls) } else { "" };
    if !control.is_empty() {
        let _ = writeln!(text, "cc = \"{control}\"");
    }
    let profiles = sojourn_sim::tcp::profile::PROFILES.map(|profile| profile.name);
    if choice.chance(0.5) {
        let _ = writeln!(text, "tcp = \"{}\"", choice.of_these(&profiles));
    }
    if choice.chance(0.2) {
        let _ = writeln!(text, "packet = \"{}B\"", choice.whole(200, 1500));
    }
    if choice.chance(0.2) {
        let _ = writeln!(text, "initial_window = {}", choice.whole(1, 100));
    }
    if choice.chance(0.2) {
        let _ = writeln!(text, "receive_window = \"{}B\"", choice.whole(5_000, 1_000_000));
        let _ = writeln!(text, "autotuning = {}", choice.chance(0.5));
    }
    if choice.chance(0.2) {
        let _ = writeln!(text, "offload = \"tso:{}B\"", choice.whole(3_000, 65_000));
    }
    control.to_owned()
}

/// The feedback of marks to a sender that asks for ECN.
fn feedback(text: &mut String, control: &str, choice: &mut Choice) {
    if control != "dctcp" {
        let _ = writeln!(text, "accecn = {}", choice.chance(0.5));
    }
    let receiver = choice.of_these(&["none", "classic", "accecn"]);
    let option = choice.of_these(&["always", "sparingly", "never"]);
    let _ = writeln!(text, "receiver_ecn = \"{receiver}\"\naccecn_option = \"{option}\"");
    if choice.chance(0.5) {
        let _ = writeln!(text, "ecn_fallback = {}", choice.chance(0.5));
    }
}

fn app(choice: &mut Choice) -> String {
    let (bytes, size) = (choice.whole(1, 2_000_000), choice.whole(50, 1400));
    let (bps, millis) = (choice.whole(10_000, 8_000_000), choice.whole(1, 1_000));
    match choice.below(14) {
        0 => format!(r#"{{ kind = "bulk", bytes = "{bytes}B" }}"#),
        1 | 2 => {
            format!(r#"{{ kind = "files", sizes = ["1B", "{bytes}B"], think = "{millis}ms" }}"#)
        }
        3 => format!(r#"{{ kind = "web", reading = "{millis}ms", parsing = "{millis}ms" }}"#),
        4 => r#"{ kind = "chunks", every = "500ms", rates = ["100kbit", "3mbit"] }"#.to_owned(),
        5 => format!(r#"{{ kind = "cbr", rate = "{bps}bit", packet = "{size}B" }}"#),
        6 => format!(
            "{{ kind = \"cbr\", rate = \"{bps}bit\", packet = \"{size}B\", \
             arrivals = \"poisson\" }}"
        ),
        7 => r#"{ kind = "voice", codec = "g711" }"#.to_owned(),
        8 => format!(
            "{{ kind = \"onoff\", rate = \"{bps}bit\", packet = \"{size}B\", on = \"{millis}ms\", \
             off = \"{millis}ms\" }}"
        ),
        9 => format!(
            "{{ kind = \"bursts\", rate = \"{bps}bit\", packet = \"{size}B\", \
             at = [\"100ms\", \"1s\"], length = \"90ms\" }}"
        ),
        10 => r#"{ kind = "video", frames = ["20kB", "3kB"], interval = "40ms" }"#.to_owned(),
        11 => r#"{ kind = "replay", file = "amounts.csv" }"#.to_owned(),
        _ => r#"{ kind = "bulk" }"#.to_owned(),
    }
}
