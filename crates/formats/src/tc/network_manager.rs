//! NetworkManager's `tc.qdiscs`, from `nmcli` or a keyfile, as commands of tc
//! (nm-settings-nmcli(5), tc-config setting; NetworkManager 1.46 src/libnm-core-impl/nm-utils.c).

use super::commands;
use super::script;
use super::tree::{TcNoteKind, TcSetup, TcSource};
use crate::FormatError;

const NAME: &str = "tc.qdiscs";

/// Whether a line sets or shows disciplines.
pub(super) fn is_config(line: &str) -> bool {
    line.contains(NAME) || line.starts_with("qdisc.") && line.contains('=')
}

/// Reads the property's values.
pub(super) fn read(text: &str) -> Result<TcSetup, FormatError> {
    let found = device(text);
    let device = found.unwrap_or("eth0");
    let mut script = String::new();
    for (index, line) in text.lines().enumerate() {
        for qdisc in qdiscs(commands::without_prompt(line)) {
            script += &command(&qdisc, device, index + 1)?;
        }
        script.push('\n');
    }
    let mut setup = script::read(&script)?;
    setup.source = TcSource::Uci;
    if found.is_none() {
        let text = "the device of the connection: eth0 is taken";
        setup.note(TcNoteKind::Unknown, 1, text);
    }
    Ok(setup)
}

/// The device that the text names.
fn device(text: &str) -> Option<&str> {
    const BEFORE: [&str; 4] =
        ["interface-name=", "connection.interface-name:", "device modify ", "dev mod "];
    BEFORE.iter().find_map(|mark| {
        let (_, after) = text.split_once(mark)?;
        after.split_whitespace().next().map(|it| it.trim_matches(['"', '\'']))
    })
}

/// The disciplines of a line, such as `root handle 1: fq_codel limit 500`.
fn qdiscs(line: &str) -> Vec<String> {
    if let Some((place, value)) = line.strip_prefix("qdisc.").and_then(|it| it.split_once('=')) {
        let place = match place.strip_prefix("parent.") {
            Some(class) => format!("parent {class}"),
            None => place.to_owned(),
        };
        return vec![format!("{place} {value}")];
    }
    let Some((_, value)) = line.split_once(NAME) else { return Vec::new() };
    let value = value.trim_start_matches([':', '=', ' ', '\t']);
    let quote = value.chars().next().filter(|it| matches!(it, '"' | '\''));
    let value = match quote {
        Some(mark) => value[1..].split(mark).next().unwrap_or(""),
        None => value,
    };
    let all = value.split(',').map(str::trim).filter(|it| !it.is_empty() && *it != "--");
    all.map(str::to_owned).collect()
}

/// The command of a discipline. Numbers of fq_codel and sfq are those of tc without units; those of
/// tbf have other units.
fn command(qdisc: &str, device: &str, line: usize) -> Result<String, FormatError> {
    let words: Vec<&str> = qdisc.split_whitespace().collect();
    let is_kind = |it: &&&str| {
        it.starts_with(|c: char| c.is_ascii_alphabetic())
            && !it.contains(':')
            && !matches!(**it, "root" | "parent" | "handle")
    };
    let kind = words.iter().find(is_kind);
    if kind == Some(&"tbf") {
        let message = "NetworkManager's tbf counts its rate in bytes per second and its latency in \
                       nanoseconds, unlike tc: paste what `tc -d qdisc show` prints";
        return Err(FormatError::at(line, message));
    }
    let unit = words.iter().find(|it| {
        it.starts_with(|c: char| c.is_ascii_digit())
            && it.ends_with(|c: char| c.is_ascii_alphabetic())
            && !it.contains(':')
            && it.bytes().any(|byte| !byte.is_ascii_hexdigit())
    });
    if let Some(word) = unit {
        let message = format!(
            "NetworkManager takes numbers without units, not `{word}`: write microseconds, bytes \
             or packets"
        );
        return Err(FormatError::at(line, message));
    }
    // NetworkManager takes the handle before or after the kind.
    let mut rest = words;
    let at = rest.iter().position(|it| *it == "handle").filter(|at| at + 1 < rest.len());
    let handle: Vec<&str> = at.map_or(Vec::new(), |at| rest.drain(at..at + 2).collect());
    let place = if rest.first() == Some(&"parent") {
        2
    } else {
        usize::from(rest.first() == Some(&"root"))
    };
    let (place, kind) = rest.split_at(place.min(rest.len()));
    let words = [place, &handle, kind].concat();
    Ok(format!("tc qdisc add dev {device} {}; ", words.join(" ")))
}
