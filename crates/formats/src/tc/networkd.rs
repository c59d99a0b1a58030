//! The disciplines of systemd-networkd's `.network` files, as the commands that set up the same
//! (systemd.network(5) of systemd 257; its src/network/tc/).

use super::networkd_values::{SECTIONS, text_of};
use super::script;
use super::tree::{TcNoteKind, TcSetup, TcSource};
use crate::FormatError;

/// A section with its line, and the name, value and line of each entry.
struct Section<'t> {
    name: &'t str,
    line: usize,
    entries: Vec<(&'t str, &'t str, usize)>,
}

/// Whether a line begins a section about disciplines.
pub(super) fn is_config(line: &str) -> bool {
    line.strip_prefix('[').and_then(|it| it.strip_suffix(']')).is_some_and(is_known)
}

fn is_known(name: &str) -> bool {
    name == "QDisc" || SECTIONS.iter().any(|it| it.name == name)
}

/// Reads one or several files.
pub(super) fn read(text: &str) -> Result<TcSetup, FormatError> {
    let mut notes = TcSetup::new(TcSource::Commands);
    let mut device = None;
    // Each command stands on the line of its section.
    let mut script = String::new();
    let mut lines = 1;
    for section in sections(text)? {
        match section.name {
            "Match" => device = Some(matched(&section, &mut notes)),
            name if is_known(name) => {
                let device = device.get_or_insert_with(|| without_name(section.line, &mut notes));
                script += &"\n".repeat(section.line - lines);
                script += &command(&section, device, &mut notes)?;
                lines = section.line + 1;
            }
            _ => {}
        }
    }
    let mut setup = script::read(&script)?;
    // networkd sends the interval of cake without a target, which keeps the kernel's 5 ms.
    for qdisc in setup.qdiscs.iter_mut().filter(|it| it.kind == "cake") {
        qdisc.options.retain(|it| it.name != "target");
    }
    setup.notes.splice(0..0, notes.notes);
    Ok(setup)
}

fn sections(text: &str) -> Result<Vec<Section<'_>>, FormatError> {
    let mut all: Vec<Section<'_>> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            all.push(Section { name, line: index + 1, entries: Vec::new() });
            continue;
        }
        let is_comment = line.is_empty() || line.starts_with(['#', ';']);
        let Some((name, value)) = line.split_once('=').filter(|_| !is_comment) else { continue };
        if let Some(section) = all.last_mut() {
            section.entries.push((name.trim(), value.trim(), index + 1));
        }
    }
    Ok(all)
}

/// The device of a `[Match]`.
fn matched(section: &Section<'_>, notes: &mut TcSetup) -> String {
    let name = section.entries.iter().rev().find(|it| it.0 == "Name").map_or("", |it| it.1);
    match name.is_empty() || name.contains([' ', '*', '?', '[', '!']) {
        true => without_name(section.line, notes),
        false => name.to_owned(),
    }
}

fn without_name(line: usize, notes: &mut TcSetup) -> String {
    let text = "`Name=` of [Match] names no single device: eth0 is taken";
    notes.note(TcNoteKind::Unknown, line, text);
    "eth0".to_owned()
}

/// The command of a section, on a line of its own.
fn command(
    section: &Section<'_>,
    device: &str,
    notes: &mut TcSetup,
) -> Result<String, FormatError> {
    let table = SECTIONS.iter().find(|it| it.name == section.name);
    let is_class = table.is_some_and(|it| it.is_class);
    let (mut parent, mut handle) = ("root".to_owned(), String::new());
    let mut options: Vec<(usize, String)> = Vec::new();
    for &(name, value, line) in section.entries.iter().filter(|it| !it.1.is_empty()) {
        match name {
            "Parent" => parent = parent_of(value),
            "Handle" => handle = format!(" handle {}:", value.trim_end_matches(':')),
            "ClassId" => handle = format!(" classid {value}"),
            _ => {
                let keys = table.map_or(&[][..], |it| it.keys);
                match keys.iter().position(|it| it.name == name) {
                    Some(at) => {
                        let refuse = |why| FormatError::at(line, format!("{name}: {why}"));
                        let text = text_of(&keys[at], value).map_err(refuse)?;
                        options.retain(|it| it.0 != at);
                        options.push((at, text));
                    }
                    None => {
                        let text = format!(
                            "`{name}=` of [{}] is not known here, and is left out",
                            section.name
                        );
                        notes.note(TcNoteKind::Unknown, line, text);
                    }
                }
            }
        }
    }
    options.sort_by_key(|it| it.0);
    let has = |name: &str| section.entries.iter().any(|it| it.0 == name && !it.1.is_empty());
    if has("DelayJitterSec") && !has("DelaySec") {
        let message = "DelayJitterSec: without DelaySec it varies no delay: add that";
        return Err(FormatError::at(section.line, message));
    }
    let options: Vec<String> =
        options.into_iter().map(|it| it.1).filter(|it| !it.is_empty()).collect();
    let options = options.join(" ");
    Ok(match table {
        // [QDisc] with Parent=clsact or ingress.
        None if matches!(parent.as_str(), "clsact" | "ingress") => {
            format!("tc qdisc add dev {device} {parent}\n")
        }
        None => {
            let message = "[QDisc] takes `Parent=clsact` or `ingress`: a discipline has a section \
                           named after it, such as [CAKE]";
            return Err(FormatError::at(section.line, message));
        }
        Some(it) if is_class => {
            format!("tc class add dev {device} {parent}{handle} {} {options}\n", it.kind)
        }
        Some(it) => format!("tc qdisc add dev {device} {parent}{handle} {} {options}\n", it.kind),
    })
}

/// The parent in tc's words.
fn parent_of(value: &str) -> String {
    match value {
        "root" | "clsact" | "ingress" => value.to_owned(),
        class => format!("parent {class}"),
    }
}
