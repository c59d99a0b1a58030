//! Setting up what the plan says, and reading it back: what is not as it was asked for ends the run.

use std::fs;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::{Command as Process, Stdio};

use serde_json::Value;
use socket2::{Domain, Socket, Type};

use super::Failure;
use super::space::Spaces;
use crate::plan::{Bottleneck, Command, Expected, Plan, Space};
use crate::sys::{self, OFFLOADS};
use crate::tc::READ_BACK_SLACK;

/// Options that the kernel counts in units of its own.
const TIMES: [&str; 4] = ["target", "interval", "tupdate", "ce_threshold"];

/// Carries out settings and commands. Neighbouring commands of one program in one name space go to it
/// in one batch, one per line.
pub fn set_up(plan: &Plan, spaces: &Spaces) -> Result<(), Failure> {
    for setting in &plan.settings {
        let path = format!("/proc/sys/{}", setting.path);
        let act = || {
            fs::write(&path, &setting.value)?;
            fs::read_to_string(&path)
        };
        let found = spaces.within(setting.space, act).map_err(|e| format!("{path}: {e}"))?;
        if found.trim() != setting.value.trim() {
            return Err(format!("{path}: asked for {}, found {}", setting.value, found.trim()));
        }
    }
    let alike = |a: &Command, b: &Command| a.space == b.space && a.program == b.program;
    for commands in plan.commands.chunk_by(alike) {
        batch(commands, spaces)?;
    }
    Ok(())
}

/// Runs one command.
pub fn run(command: &Command, spaces: &Spaces) -> Result<(), Failure> {
    batch(std::slice::from_ref(command), spaces)
}

fn batch(commands: &[Command], spaces: &Spaces) -> Result<(), Failure> {
    let Command { space, program, .. } = &commands[0];
    let lines: Vec<String> = commands.iter().map(|c| c.arguments.join(" ") + "\n").collect();
    let said = |error: io::Error| format!("{program}: {error}");
    let output = spaces.within(*space, || {
        let mut child = Process::new(program)
            .args(["-batch", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        child.stdin.take().expect("it is piped").write_all(lines.concat().as_bytes())?;
        child.wait_with_output()
    });
    let output = output.map_err(said)?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
    let line = failed_line(&complaint).and_then(|line| lines.get(line - 1));
    let (line, complaint) = (line.map_or("", |l| l.trim()), complaint.trim());
    Err(format!("`{program} {line}`: {complaint}; {}", remedy(complaint)))
}

/// What helps when `ip` or `tc` complains.
fn remedy(complaint: &str) -> &'static str {
    let unknown = ["Unknown qdisc", "qdisc kind is unknown", "qdisc not found"];
    if unknown.iter().any(|words| complaint.contains(words)) {
        "this kernel or its tc does not have that discipline: take another queue, give a kernel that \
         has it with --kernel, or run ours with engine.linux.bottleneck = \"sojourn\""
    } else {
        "the kernel refuses it: change the parameter, or run our AQM with engine.linux.bottleneck = \
         \"sojourn\""
    }
}

/// The number of the line that `ip` or `tc` complains of: `Command failed -:3`.
fn failed_line(complaint: &str) -> Option<usize> {
    let (_, rest) = complaint.split_once("Command failed -:")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Every interface of the plan, by name space.
fn devices(plan: &Plan) -> Vec<(Space, String)> {
    let groups = plan.flows.iter().map(|flow| flow.group + 1).max().unwrap_or(0);
    let mut devices = Vec::new();
    for group in 0..groups {
        devices.push((Space::Senders, format!("s{group}")));
        devices.push((Space::Router, format!("r{group}")));
    }
    if matches!(plan.bottleneck, Bottleneck::Kernel { .. }) {
        let peer = if plan.has_wire() { (Space::Wire, "wire") } else { (Space::Receivers, "in") };
        for (space, name) in [(Space::Router, "out"), peer] {
            devices.push((space, name.to_owned()));
        }
    }
    devices
}

/// Switches every offload off; returns those that stayed on.
pub fn switch_off_offloads(plan: &Plan, spaces: &Spaces) -> Result<Vec<String>, Failure> {
    let mut on = Vec::new();
    for (space, device) in devices(plan) {
        let found = spaces.within(space, || {
            let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
            let stays = OFFLOADS.iter().filter_map(|&offload| {
                match sys::switch_off(socket.as_fd(), &device, offload) {
                    Ok(is_on) => is_on.then_some(Ok(offload.name)),
                    // An interface that does not know an offload has none.
                    Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => None,
                    Err(error) => Some(Err(error)),
                }
            });
            stays.collect::<io::Result<Vec<_>>>()
        });
        let found = found.map_err(|e| format!("offloads of {device}: {e}"))?;
        on.extend(found.into_iter().map(|name| format!("{device}: {name}")));
    }
    Ok(on)
}

/// What `tc` shows of every discipline, compared with what was asked for.
pub fn read_back(plan: &Plan, spaces: &Spaces) -> Result<Value, Failure> {
    let mut shown = serde_json::Map::new();
    for space in [Space::Senders, Space::Router] {
        let act = || Process::new("tc").args(["-s", "-d", "-j", "qdisc", "show"]).output();
        let output = spaces.within(space, act).map_err(|e| format!("tc: {e}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let value: Value =
            serde_json::from_str(&text).map_err(|e| format!("tc -j qdisc show: {e}: {text}"))?;
        shown.insert(space.name().to_owned(), value);
    }
    for expected in &plan.expected {
        compare(expected, &shown[expected.space.name()])?;
    }
    Ok(Value::Object(shown))
}

fn compare(expected: &Expected, shown: &Value) -> Result<(), Failure> {
    let place = format!("qdisc {} at {}", expected.kind, expected.device);
    let rows = shown.as_array().into_iter().flatten();
    let row = rows
        .filter(|row| row["dev"] == expected.device.as_str())
        .find(|row| row["kind"] == expected.kind.as_str())
        .ok_or_else(|| format!("{place}: it is not there"))?;
    for (name, asked) in &expected.options {
        // What tc does not print at all cannot be compared.
        let Some(found) = number(&row["options"][name]) else { continue };
        let slack = if TIMES.contains(&name.as_str()) { READ_BACK_SLACK } else { 0 };
        if found.abs_diff(*asked) > slack {
            return Err(format!("{place}: {name}: asked for {asked}, the kernel has {found}"));
        }
    }
    Ok(())
}

/// A number as tc prints it: whole, real, or as text with a unit (`1000p`, `125000b`).
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
    fn a_discipline_that_is_not_as_asked_is_found() {
        let expected = Expected {
            space: Space::Router,
            device: "out".to_owned(),
            kind: "codel".to_owned(),
            options: vec![("limit".to_owned(), 100), ("target".to_owned(), 5000)],
        };
        let shown = |limit| json!([{ "dev": "out", "kind": "codel", "options": { "limit": limit, "target": 4999 } }]);
        assert_eq!(compare(&expected, &shown(100)), Ok(()));
        assert_eq!(
            compare(&expected, &shown(1000)).unwrap_err(),
            "qdisc codel at out: limit: asked for 100, the kernel has 1000"
        );
        assert!(compare(&expected, &shown(101)).is_err(), "a number has no slack, a time has");
        assert!(compare(&expected, &json!([])).unwrap_err().contains("not there"));
    }

    #[test]
    fn a_discipline_that_is_not_there_has_another_remedy_than_a_value() {
        assert!(remedy("Error: Specified qdisc kind is unknown.").contains("--kernel"));
        assert!(remedy("What is \"nonsense\"?").contains("change the parameter"));
    }

    #[test]
    fn the_line_of_a_batch_that_failed_is_told() {
        assert_eq!(failed_line("RTNETLINK answers: File exists Command failed -:3 "), Some(3));
        assert_eq!(failed_line("something else"), None);
    }
}
