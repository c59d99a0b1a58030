//! OpenWrt's `/etc/config/sqm`: it is converted to the commands of sqm-scripts 1.6.

use super::commands;
use super::tree::{TcNoteKind, TcSetup, TcSource};
use crate::FormatError;

/// A section `config queue`.
#[derive(Default)]
struct Section {
    line: usize,
    options: Vec<(String, String, usize)>,
}

impl Section {
    fn find(&self, name: &str) -> Option<&(String, String, usize)> {
        self.options.iter().rev().find(|(known, _, _)| known == name)
    }

    fn text(&self, name: &str) -> &str {
        self.find(name).map_or("", |(_, value, _)| value)
    }

    fn number(&self, name: &str, default: i64) -> Result<i64, FormatError> {
        match self.find(name) {
            Some((_, text, line)) if !text.is_empty() => text.parse().map_err(|_| {
                FormatError::at(*line, format!("{name}: `{text}` is not a whole number"))
            }),
            _ => Ok(default),
        }
    }

    fn is_on(&self, name: &str, default: bool) -> bool {
        match self.text(name) {
            "" => default,
            text => text != "0",
        }
    }
}

/// Options that the scripts read, or that belong to the web page and its log.
const KNOWN: [&str; 35] = [
    "enabled",
    "interface",
    "download",
    "upload",
    "qdisc",
    "script",
    "linklayer",
    "overhead",
    "tcMTU",
    "tcTSIZE",
    "tcMPU",
    "linklayer_adaptation_mechanism",
    "ilimit",
    "elimit",
    "itarget",
    "etarget",
    "ingress_ecn",
    "egress_ecn",
    "iqdisc_opts",
    "eqdisc_opts",
    "squash_dscp",
    "squash_ingress",
    "target",
    "verbosity",
    "debug_logging",
    "qdisc_advanced",
    "qdisc_really_really_advanced",
    "linklayer_advanced",
    "tcmtu",
    "tctsize",
    "tcmpu",
    "shaper_burst",
    "shaper_burst_dur_us",
    "use_mq",
    "name",
];

/// Reads the file.
pub(super) fn read(text: &str) -> Result<TcSetup, FormatError> {
    let sections = sections(text)?;
    let mut notes = TcSetup::new(TcSource::Uci);
    let mut script = String::new();
    for section in &sections {
        for (name, _, line) in &section.options {
            if !KNOWN.contains(&name.as_str()) {
                let text = format!("`option {name}` is not one of sqm-scripts, and is left out");
                notes.note(TcNoteKind::Unknown, *line, text);
            }
        }
        if section.is_on("enabled", false) {
            script.push_str(&section_commands(section, &mut notes)?);
        } else {
            let text = "the section is not enabled, so the scripts leave it out";
            notes.note(TcNoteKind::Unknown, section.line, text);
        }
    }
    if script.is_empty() {
        let message = "no section `config queue` is enabled and shapes: set `option enabled '1'`";
        return Err(FormatError::whole(message));
    }
    let mut setup = commands::read(&script).map_err(|error| {
        let place = sections.first().map_or(String::new(), |it| format!("line {}", it.line));
        let message = format!("the options give a command that tc refuses: {}", error.message);
        FormatError { place, message }
    })?;
    setup.source = TcSource::Uci;
    // The section's options follow the script's own and override them, which is not a
    // contradiction.
    setup.notes.retain(|it| it.kind != TcNoteKind::Contradiction);
    let line = sections.first().map_or(1, |it| it.line);
    for note in &mut setup.notes {
        note.line = line;
    }
    setup.notes.splice(0..0, notes.notes);
    Ok(setup)
}

fn sections(text: &str) -> Result<Vec<Section>, FormatError> {
    let mut all: Vec<Section> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word {
            "" => {}
            _ if word.starts_with('#') => {}
            "config" => all.push(Section { line: number, ..Section::default() }),
            "option" | "list" => {
                let rest = rest.trim();
                let Some((name, value)) = rest.split_once(char::is_whitespace) else {
                    let message = format!("`{word} {rest}` lacks its value: paste all of the line");
                    return Err(FormatError::at(number, message));
                };
                let value = unquoted(value.trim(), number)?;
                let Some(section) = all.last_mut() else {
                    let message = "an option stands before the first `config queue`: paste it too";
                    return Err(FormatError::at(number, message));
                };
                section.options.push((name.trim_matches(['\'', '"']).to_owned(), value, number));
            }
            other => {
                let message = format!("`{other}` begins no line of UCI: config, option or list do");
                return Err(FormatError::at(number, message));
            }
        }
    }
    Ok(all)
}

fn unquoted(value: &str, line: usize) -> Result<String, FormatError> {
    for quote in ['\'', '"'] {
        if let Some(rest) = value.strip_prefix(quote) {
            let Some((inside, _)) = rest.split_once(quote) else {
                let message = format!("the quotation {value} does not end: paste all of the line");
                return Err(FormatError::at(line, message));
            };
            return Ok(inside.to_owned());
        }
    }
    Ok(value.split_whitespace().next().unwrap_or("").to_owned())
}

/// The commands of one section (sqm-scripts 1.6 functions.sh and *.qos).
fn section_commands(section: &Section, notes: &mut TcSetup) -> Result<String, FormatError> {
    let interface = section.text("interface");
    if interface.is_empty() || interface.contains(char::is_whitespace) {
        let message = "the section names no interface: add `option interface 'eth0'`";
        return Err(FormatError::at(section.line, message));
    }
    let ifb = format!("ifb4{interface}");
    let mut script = String::new();
    let upload = section.number("upload", 0)?;
    let download = section.number("download", 0)?;
    if upload < 0 || download < 0 {
        let message = "upload and download are kbit/s, 0 where a direction is not shaped";
        return Err(FormatError::at(section.line, message));
    }
    if upload > 0 {
        script.push_str(&direction(section, interface, upload, true, notes)?);
    }
    if download > 0 {
        script.push_str(&format!(
            "tc qdisc add dev {interface} handle ffff: ingress\n\
             tc filter add dev {interface} parent ffff: protocol all matchall action mirred egress \
             redirect dev {ifb}\n"
        ));
        script.push_str(&direction(section, &ifb, download, false, notes)?);
    }
    Ok(script)
}

fn direction(
    section: &Section,
    device: &str,
    kbit: i64,
    is_egress: bool,
    notes: &mut TcSetup,
) -> Result<String, FormatError> {
    let script = section.find("script").map_or("simple.qos", |(_, value, _)| value);
    let options = section.text(if is_egress { "eqdisc_opts" } else { "iqdisc_opts" });
    let qdisc = section.find("qdisc").map_or("fq_codel", |(_, value, _)| value);
    match script {
        "layer_cake.qos" | "piece_of_cake.qos" => {
            let is_layered = script == "layer_cake.qos";
            let squash = section.is_on("squash_ingress", true) && !is_egress;
            let classes = if is_layered && !squash { "diffserv3" } else { "besteffort" };
            let wash = section.is_on("squash_dscp", true) && !is_egress;
            Ok(format!(
                "tc qdisc add dev {device} root cake bandwidth {kbit}kbit {} {classes} nat {} \
                 {options}\n",
                cake_overhead(section, is_egress, notes)?,
                if wash { "wash" } else { "" },
            ))
        }
        "simplest.qos" | "simple.qos" => {
            let stab = size_table(section, is_egress, notes)?;
            let leaf = leaf(section, qdisc, kbit, is_egress)?;
            let burst = burst(kbit);
            let shape = format!("burst {burst}b cburst {burst}b");
            let mut lines =
                format!("tc qdisc add dev {device} root handle 1: {stab} htb default 10\n");
            lines += &format!(
                "tc class add dev {device} parent 1: classid 1:1 htb rate {kbit}kbit ceil \
                 {kbit}kbit {shape}\n"
            );
            lines += &format!(
                "tc class add dev {device} parent 1:1 classid 1:10 htb rate {kbit}kbit ceil \
                 {kbit}kbit {shape}\n"
            );
            lines += &format!(
                "tc qdisc add dev {device} parent 1:10 handle 110: {qdisc} {leaf} {options}\n"
            );
            if script == "simple.qos" && (is_egress || !section.is_on("squash_ingress", true)) {
                let text = "simple.qos has three classes; the one of best effort is read, as all \
                            traffic here is";
                notes.note(TcNoteKind::Unknown, section.line, text);
            }
            Ok(lines)
        }
        "simplest_tbf.qos" => {
            let stab = size_table(section, is_egress, notes)?;
            let leaf = leaf(section, qdisc, kbit, is_egress)?;
            let burst = burst(kbit);
            Ok(format!(
                "tc qdisc add dev {device} root handle 1: {stab} tbf rate {kbit}kbit burst \
                 {burst}b latency 300ms\n\
                 tc qdisc add dev {device} parent 1: handle 110: {qdisc} {leaf} {options}\n"
            ))
        }
        other => {
            let line = section.find("script").map_or(section.line, |it| it.2);
            let message = format!(
                "`{other}` is not a script of sqm-scripts; known: simple.qos, simplest.qos, \
                 simplest_tbf.qos, piece_of_cake.qos, layer_cake.qos"
            );
            Err(FormatError::at(line, message))
        }
    }
}

/// One millisecond at the rate, at least a packet of 1500 B in cells.
fn burst(kbit: i64) -> i64 {
    const LEAST_BYTES: i64 = 1749;
    LEAST_BYTES.max(kbit / 8)
}

/// The overhead, if `linklayer` lets it have an effect.
fn overhead(
    section: &Section,
    is_first: bool,
    notes: &mut TcSetup,
) -> Result<Option<(i64, i64, &'static str)>, FormatError> {
    let bytes = section.number("overhead", 0)?;
    let mpu = section.number("tcMPU", 0)?;
    match section.text("linklayer") {
        "none" | "" => {
            if let (true, true, Some((_, _, line))) =
                (bytes != 0, is_first, section.find("overhead"))
            {
                let text = format!(
                    "`overhead {bytes}` has no effect, as `linklayer` is none: set linklayer to \
                     ethernet, or atm for ADSL"
                );
                notes.note(TcNoteKind::Ineffective, *line, text);
            }
            Ok(None)
        }
        "atm" | "adsl" => Ok(Some((bytes, mpu, "atm"))),
        "ethernet" | "ptm" => Ok(Some((bytes, mpu, "ethernet"))),
        other => {
            let line = section.find("linklayer").map_or(section.line, |it| it.2);
            let message = format!("unknown linklayer `{other}`; known: none, ethernet, atm, ptm");
            Err(FormatError::at(line, message))
        }
    }
}

fn cake_overhead(
    section: &Section,
    is_first: bool,
    notes: &mut TcSetup,
) -> Result<String, FormatError> {
    Ok(match overhead(section, is_first, notes)? {
        None => String::new(),
        Some((bytes, mpu, layer)) => {
            let cells = if layer == "atm" { "atm" } else { "" };
            format!("{cells} overhead {bytes} mpu {mpu}")
        }
    })
}

fn size_table(
    section: &Section,
    is_first: bool,
    notes: &mut TcSetup,
) -> Result<String, FormatError> {
    Ok(match overhead(section, is_first, notes)? {
        None => String::new(),
        Some((bytes, mpu, layer)) => {
            format!("stab mtu 2047 tsize 512 mpu {mpu} overhead {bytes} linklayer {layer}")
        }
    })
}

/// The options that the scripts give a leaf.
fn leaf(section: &Section, qdisc: &str, kbit: i64, is_egress: bool) -> Result<String, FormatError> {
    let (limit, target, ecn) = match is_egress {
        true => ("elimit", "etarget", "egress_ecn"),
        false => ("ilimit", "itarget", "ingress_ecn"),
    };
    let codel = matches!(qdisc, "codel" | "fq_codel");
    if !codel && !matches!(qdisc, "pie" | "fq_pie") {
        return Ok(String::new());
    }
    let mut words = format!("limit {}", section.number(limit, 1001)?);
    match section.text(target) {
        "" | "auto" => {
            // 33 cells of 53 B at the rate, at least 5 ms; the interval is 95 ms longer.
            const CELLS_US: i64 = 13_992_000;
            let micros = (CELLS_US / kbit).max(5000);
            words += &format!(" target {micros}us");
            if codel {
                words += &format!(" interval {}us", micros + 95_000);
            }
        }
        "default" => {}
        text => words += &format!(" target {text}"),
    }
    let wants_ecn = match section.text(ecn) {
        "" => !is_egress,
        text => text.eq_ignore_ascii_case("ECN"),
    };
    words += if wants_ecn { " ecn" } else { " noecn" };
    if qdisc == "fq_codel" {
        words += " flows 1024";
    }
    Ok(words)
}
