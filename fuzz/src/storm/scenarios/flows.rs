//! Groups of flows: paths, access links, transports and hosts.

use std::fmt::Write;

use super::apps;
use super::links::Links;
use crate::storm::choice::Choice;

/// One to four groups of flows.
pub(super) fn groups(text: &mut String, links: &Links, choice: &mut Choice) {
    for group in 0..1 + choice.below(4) {
        let app = apps::app(choice);
        flows(text, group, links, &app, choice);
    }
}

/// A group of endless bulk flows.
pub(super) fn bulk(text: &mut String, group: usize, links: &Links, choice: &mut Choice) {
    flows(text, group, links, r#"{ kind = "bulk" }"#, choice);
}

fn flows(text: &mut String, group: usize, links: &Links, app: &str, choice: &mut Choice) {
    let has = |kinds: &[&str]| kinds.iter().any(|kind| app.contains(&format!("\"{kind}\"")));
    let is_tcp = has(&["bulk", "files", "transfers", "web", "chunks"]);
    let is_library = app.contains("\"bulk\"") && choice.chance(0.06);
    let path: Vec<String> = links.forward.iter().map(|link| format!("\"{link}\"")).collect();
    let _ = writeln!(text, "[[flows]]\nname = \"g{group}\"\npath = [{}]", path.join(", "));
    if links.needs_back || (is_tcp || has(&["echo"])) && choice.chance(0.4) {
        let back = &links.back[choice.below(links.back.len())];
        let _ = writeln!(text, "reverse = [\"{back}\"]");
    }
    // The lines of a file are its transfers.
    if !(has(&["transfers"]) && app.contains("file")) {
        let _ = writeln!(text, "count = {}", 1 + choice.below(4));
    }
    let start = if has(&["transfers"]) { "200ms" } else { "0s..500ms" };
    let _ = writeln!(text, "start = \"{start}\"\napp = {app}");
    if choice.chance(0.2) {
        let _ = writeln!(text, "stop = \"{}ms\"", choice.whole(501, 4_000));
    }
    access(text, links, choice);
    names(text, choice);
    if is_library {
        return library(text, choice);
    }
    ecn(text, is_tcp, choice);
    if links.needs_back {
        *text = text.replace("\"gso:", "\"tso:"); // a wireless LAN has no super-packets
    }
}

/// The delays and rates outside the links.
fn access(text: &mut String, links: &Links, choice: &mut Choice) {
    let (sender, receiver) = (choice.whole(1, 100), choice.whole(1, 50));
    let mut keys = vec![format!("sender = \"{sender}ms\""), format!("receiver = \"{receiver}ms\"")];
    match choice.below(8) {
        0 => {
            // This is longer than the delays of all links together.
            let _ = writeln!(text, "rtt = \"{}ms\"", choice.whole(300, 900));
            return;
        }
        1 => {
            let (to, away) = (choice.whole(1, 100), choice.whole(1, 50));
            keys.push(format!("sender_back = \"{to}ms\", receiver_back = \"{away}ms\""));
        }
        2 => {
            let _ =
                writeln!(text, "access_rate = \"{}bit\"", choice.whole(1_000_000, 1_000_000_000));
        }
        3 if !links.reorders => {
            let (sender, receiver) =
                (choice.whole(1_000_000, 100_000_000), choice.whole(1_000_000, 100_000_000));
            keys.push(format!("sender_rate = \"{sender}bit\", receiver_rate = \"{receiver}bit\""));
        }
        _ => {}
    }
    let _ = writeln!(text, "access = {{ {} }}", keys.join(", "));
}

/// Classes, hosts and code points.
fn names(text: &mut String, choice: &mut Choice) {
    if choice.chance(0.2) {
        let _ = writeln!(text, "class = \"{}\"", choice.of_these(&["some", "others"]));
    }
    if choice.chance(0.4) {
        let (from, to) = (choice.below(2), choice.below(3));
        let _ = writeln!(text, "src_host = \"server{from}\"\ndst_host = \"pc{to}\"");
    }
    if choice.chance(0.3) {
        let named = ["\"cs1\"", "\"le\"", "\"af41\"", "\"ef\"", "\"cs7\"", "\"nqb\"", "63", "0"];
        let _ = writeln!(text, "dscp = {}", choice.of_these(&named));
    }
}

/// A group over a transport library.
fn library(text: &mut String, choice: &mut Choice) {
    let _ = writeln!(text, "transport = \"quic\"\necn = {}", choice.chance(0.5));
    if choice.chance(0.5) {
        let _ = writeln!(text, "packet = \"{}B\"", choice.whole(1_280, 1_500));
    }
}

fn ecn(text: &mut String, is_tcp: bool, choice: &mut Choice) {
    let asks = choice.chance(0.4);
    if !is_tcp {
        let code = choice.of_these(&["false", "true", "\"off\"", "\"ect0\"", "\"ect1\""]);
        let _ = writeln!(text, "ecn = {code}");
        return;
    }
    let _ = writeln!(text, "ecn = {asks}");
    let control = transport(text, choice);
    if asks {
        feedback(text, &control, choice);
    }
}

/// Writes the keys of TCP; returns the congestion control, empty for the profile's.
fn transport(text: &mut String, choice: &mut Choice) -> String {
    let controls = sojourn_sim::cc::controls();
    let mut name = "";
    if choice.chance(0.8) {
        let control = &controls[choice.below(controls.len())];
        name = control.name;
        let _ = match choice.chance(0.2) {
            true => {
                let dialect = control.dialects[choice.below(control.dialects.len())].name;
                writeln!(text, "cc = {{ kind = \"{name}\", dialect = \"{dialect}\" }}")
            }
            false => writeln!(text, "cc = \"{name}\""),
        };
    }
    let profiles = sojourn_sim::tcp::profile::PROFILES.map(|profile| profile.name);
    if choice.chance(0.5) {
        let _ = writeln!(text, "tcp = \"{}\"", choice.of_these(&profiles));
    }
    if choice.chance(0.2) {
        let _ = writeln!(text, "packet = \"{}B\"", choice.whole(200, 1500));
        let _ = writeln!(text, "header = \"{}B\"", choice.whole(20, 100));
    }
    if choice.chance(0.2) {
        let _ = writeln!(text, "initial_window = {}", choice.whole(1, 100));
    }
    if choice.chance(0.2) {
        let _ = writeln!(text, "ack_every = {}", choice.whole(1, 20));
    }
    if choice.chance(0.2) {
        let _ = writeln!(text, "receive_window = \"{}B\"", choice.whole(5_000, 1_000_000));
        let _ = writeln!(text, "autotuning = {}", choice.chance(0.5));
    }
    if choice.chance(0.2) {
        let kind = choice.of_these(&["tso", "gso"]);
        let _ = writeln!(text, "offload = \"{kind}:{}B\"", choice.whole(3_000, 65_000));
    }
    name.to_owned()
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
