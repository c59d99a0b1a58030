//! Sets up the hosts of a plan and reads the set-up back; a difference ends the run.

use std::fs;
use std::io::{self, Write};
use std::process::{Command as Process, Stdio};

use serde_json::Value;

use crate::linux::hosts::Hosts;
use crate::linux::{Failure, sys};
use crate::plan::{Bottleneck, Command, Expected, MIRROR, Netns, Plan, SenderCapture};
use crate::tc::READ_BACK_SLACK;

/// Options that the kernel stores in other units.
const TIMES: [&str; 4] = ["target", "interval", "tupdate", "ce_threshold"];

/// Applies settings and runs commands. Consecutive commands of one program in one namespace form
/// one batch.
pub(super) fn set_up(plan: &Plan, hosts: &Hosts) -> Result<(), Failure> {
    for setting in &plan.settings {
        let path = format!("/proc/sys/{}", setting.path);
        let act = || {
            fs::write(&path, &setting.value)?;
            fs::read_to_string(&path)
        };
        let found = hosts.within(setting.netns, act).map_err(|e| format!("{path}: {e}"))?;
        if found.trim() != setting.value.trim() {
            return Err(format!("{path}: asked for {}, found {}", setting.value, found.trim()));
        }
    }
    let alike = |a: &Command, b: &Command| a.netns == b.netns && a.program == b.program;
    for commands in plan.commands.chunk_by(alike) {
        batch(commands, hosts)?;
    }
    Ok(())
}

/// Runs one command.
pub(super) fn run(command: &Command, hosts: &Hosts) -> Result<(), Failure> {
    batch(std::slice::from_ref(command), hosts)
}

fn batch(commands: &[Command], hosts: &Hosts) -> Result<(), Failure> {
    let Command { netns, program, .. } = &commands[0];
    let lines: Vec<String> = commands.iter().map(|c| c.arguments.join(" ") + "\n").collect();
    let failure = |error: io::Error| format!("{program}: {error}");
    let output = hosts.within(*netns, || {
        let mut child = Process::new(program)
            .args(["-batch", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        child.stdin.take().expect("it is piped").write_all(lines.concat().as_bytes())?;
        child.wait_with_output()
    });
    let output = output.map_err(failure)?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
    let line = failed_line(&message).and_then(|line| lines.get(line - 1));
    let (line, message) = (line.map_or("", |l| l.trim()), message.trim());
    Err(format!("`{program} {line}`: {message}; {}", remedy(message)))
}

/// The remedy for an error of `ip` or `tc`.
fn remedy(message: &str) -> &'static str {
    let unknown = ["Unknown qdisc", "qdisc kind is unknown", "qdisc not found"];
    if unknown.iter().any(|words| message.contains(words)) {
        "this kernel or its tc does not have that discipline: take another queue, give a kernel \
         that has it with --kernel, or run ours with engine.linux.bottleneck = \"sojourn\""
    } else {
        "the kernel refuses it: change the parameter, or run our AQM with \
         engine.linux.bottleneck = \"sojourn\""
    }
}

/// The number of the line that failed: `Command failed -:3`.
fn failed_line(message: &str) -> Option<usize> {
    let (_, rest) = message.split_once("Command failed -:")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Every interface of the plan with its namespace.
fn devices(plan: &Plan) -> Vec<(Netns, String)> {
    let mut devices = Vec::new();
    for group in 0..plan.groups() {
        devices.push((Netns::Senders, format!("s{group}")));
        devices.push((Netns::Router, format!("r{group}")));
    }
    if plan.header_captures.is_some_and(|captures| captures.sent_at == SenderCapture::Mirror) {
        devices.push((Netns::Senders, MIRROR.to_owned()));
    }
    if matches!(plan.bottleneck, Bottleneck::Kernel { .. }) {
        let of_router = ["out", "served", "sent"].map(|name| (Netns::Router, name));
        let behind: &[_] = match (plan.has_wire(), plan.forwards_data()) {
            (false, _) => &[(Netns::Receivers, "in")],
            (true, false) => &[(Netns::Wire, "wire")],
            (true, true) => {
                &[(Netns::Wire, "wire"), (Netns::Wire, "far"), (Netns::Receivers, "in")]
            }
        };
        let all = of_router.into_iter().chain(behind.iter().copied());
        devices.extend(all.map(|(netns, name)| (netns, name.to_owned())));
    }
    devices
}

/// Switches every offload off; returns those that stayed on.
pub(super) fn switch_off_offloads(plan: &Plan, hosts: &Hosts) -> Result<Vec<String>, Failure> {
    let mut on = Vec::new();
    for (netns, device) in devices(plan) {
        let switch_off = || {
            let mut on = sys::switch_off_offloads(&device)?;
            if plan.header_captures.is_some() {
                on.extend(sys::switch_off_checksums(&device)?);
            }
            Ok(on)
        };
        let found = hosts.within(netns, switch_off);
        let found = found.map_err(|e| format!("offloads of {device}: {e}"))?;
        on.extend(found.into_iter().map(|name| format!("{device}: {name}")));
    }
    Ok(on)
}

/// Compares every discipline shown by `tc` with the plan.
pub(super) fn read_back(plan: &Plan, hosts: &Hosts) -> Result<Value, Failure> {
    let mut shown = serde_json::Map::new();
    for netns in [Netns::Senders, Netns::Router] {
        let act = || Process::new("tc").args(["-s", "-d", "-j", "qdisc", "show"]).output();
        let output = hosts.within(netns, act).map_err(|e| format!("tc: {e}"))?;
        let text = without_unknown(&String::from_utf8_lossy(&output.stdout));
        let value: Value =
            serde_json::from_str(&text).map_err(|e| format!("tc -j qdisc show: {e}: {text}"))?;
        shown.insert(netns.name().to_owned(), value);
    }
    for expected in &plan.expected {
        compare(expected, &shown[expected.netns.name()])?;
    }
    Ok(Value::Object(shown))
}

/// Removes the non-JSON text that tc prints for options that it does not know, such as those of our
/// module, and for hfsc (iproute2 6.1 tc/q_hfsc.c, hfsc_print_opt).
fn without_unknown(text: &str) -> String {
    ["{[Unknown qdisc", "{default "].iter().fold(text.to_owned(), |text, mark| {
        let mut parts = text.split(mark);
        let first = parts.next().unwrap_or_default().to_owned();
        let rest = |part: &str| {
            part.split_once('}').map_or("{}".to_owned(), |(_, rest)| format!("{{}}{rest}"))
        };
        first + &parts.map(rest).collect::<String>()
    })
}

fn compare(expected: &Expected, shown: &Value) -> Result<(), Failure> {
    let place = format!("qdisc {} at {}", expected.kind, expected.device);
    let rows = shown.as_array().into_iter().flatten();
    let row = rows
        .filter(|row| row["dev"] == expected.device.as_str())
        .find(|row| row["kind"] == expected.kind.as_str())
        .ok_or_else(|| format!("{place}: it is missing"))?;
    for (name, asked) in &expected.options {
        // Options that tc does not print cannot be compared.
        let Some(found) = number(&row["options"][name]) else { continue };
        let slack = if TIMES.contains(&name.as_str()) { READ_BACK_SLACK } else { 0 };
        if found.abs_diff(*asked) > slack {
            return Err(format!("{place}: {name}: asked for {asked}, the kernel has {found}"));
        }
    }
    Ok(())
}

/// A number in tc's output: an integer, a real number, or text with a unit (`1000p`, `125000b`).
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_f64().map(|number| number as u64),
        Value::String(text) => text.trim_end_matches(|c: char| c.is_alphabetic()).parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_discipline_that_differs_from_the_plan_is_found() {
        let expected = Expected {
            netns: Netns::Router,
            device: "out".to_owned(),
            kind: "codel".to_owned(),
            options: vec![("limit".to_owned(), 100), ("target".to_owned(), 5000)],
        };
        let shown = |limit| {
            let options = json!({ "limit": limit, "target": 4999 });
            json!([{ "dev": "out", "kind": "codel", "options": options }])
        };
        assert_eq!(compare(&expected, &shown(100)), Ok(()));
        assert_eq!(
            compare(&expected, &shown(1000)).unwrap_err(),
            "qdisc codel at out: limit: asked for 100, the kernel has 1000"
        );
        assert!(compare(&expected, &shown(101)).is_err(), "a number has no slack, unlike a time");
        assert!(compare(&expected, &json!([])).unwrap_err().contains("it is missing"));
    }

    #[test]
    fn options_without_words_in_tc_are_left_out() {
        let shown = r#"[{"a":1},{"options":{[Unknown qdisc, optlen=176] },"qlen":0}]"#;
        assert_eq!(without_unknown(shown), r#"[{"a":1},{"options":{},"qlen":0}]"#);
        let hfsc = r#"[{"options":{default 3 },"qlen":0},{"options":{},"qlen":0}]"#;
        assert_eq!(without_unknown(hfsc), r#"[{"options":{},"qlen":0},{"options":{},"qlen":0}]"#);
        assert_eq!(without_unknown("[]"), "[]");
    }

    #[test]
    fn an_unknown_discipline_has_another_remedy_than_a_wrong_value() {
        assert!(remedy("Error: Specified qdisc kind is unknown.").contains("--kernel"));
        assert!(remedy("What is \"nonsense\"?").contains("change the parameter"));
    }

    #[test]
    fn the_line_of_a_batch_that_failed_is_found() {
        assert_eq!(failed_line("RTNETLINK answers: File exists Command failed -:3 "), Some(3));
        assert_eq!(failed_line("something else"), None);
    }
}
