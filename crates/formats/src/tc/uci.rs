//! OpenWrt's `/etc/config/sqm`, converted to the commands of sqm-scripts 1.6.

use super::script;
use super::tree::{TcNoteKind, TcSetup, TcSource};
use super::uci_classes::{ClassesOfSqm, burst};
use super::uci_text::{Section, of_conf, sections};
use crate::FormatError;

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

/// Reads `/etc/sqm/*.iface.conf`, whose interface is in the name of the file.
pub(super) fn read_conf(text: &str) -> Result<TcSetup, FormatError> {
    let mut setup = of_sections(&[of_conf(text)?])?;
    let text = "the interface, which is the name of the file: eth0 is taken";
    setup.note(TcNoteKind::Unknown, 1, text);
    Ok(setup)
}

/// Reads the file.
pub(super) fn read(text: &str) -> Result<TcSetup, FormatError> {
    of_sections(&sections(text)?)
}

fn of_sections(sections: &[Section]) -> Result<TcSetup, FormatError> {
    let mut notes = TcSetup::new(TcSource::Uci);
    let mut script = String::new();
    for section in sections {
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
    let mut setup = script::read(&script).map_err(|error| {
        let message = format!("the options give a command that tc refuses: {}", error.message);
        FormatError::at(line_of(sections, &error.message), message)
    })?;
    setup.source = TcSource::Uci;
    // The section's options follow the script's own and override them, so this is not a
    // contradiction.
    setup.notes.retain(|it| it.kind != TcNoteKind::Contradiction);
    let line = sections.first().map_or(1, |it| it.line);
    for note in &mut setup.notes {
        note.line = line;
    }
    setup.notes.splice(0..0, notes.notes);
    Ok(setup)
}

/// The line of the option with the word that an error quotes, else of the first section.
fn line_of(sections: &[Section], message: &str) -> usize {
    let quoted = message.split('`').nth(1).unwrap_or("");
    let options = sections.iter().flat_map(|it| &it.options);
    let mut of_user = options.filter(|it| it.0.ends_with("qdisc_opts"));
    let found = of_user.find(|it| it.1.split_whitespace().any(|word| word == quoted));
    found.map(|it| it.2).or(sections.first().map(|it| it.line)).unwrap_or(1)
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

const SCRIPTS: [&str; 5] =
    ["simple.qos", "simplest.qos", "simplest_tbf.qos", "piece_of_cake.qos", "layer_cake.qos"];

/// One direction of a section.
struct Direction<'s> {
    section: &'s Section,
    script: &'s str,
    device: &'s str,
    kbit: i64,
    is_egress: bool,
}

impl Direction<'_> {
    /// The discipline; some scripts choose it themselves.
    fn qdisc(&self) -> &str {
        let asked = self.section.find("qdisc").map_or("fq_codel", |(_, value, _)| value);
        match self.script {
            "layer_cake.qos" | "piece_of_cake.qos" => "cake",
            "simplest_tbf.qos" if asked == "cake" => "fq_codel",
            _ => asked,
        }
    }

    /// Whether the DSCP of arrivals is ignored.
    fn is_squashed(&self) -> bool {
        self.section.is_on("squash_ingress", true) && !self.is_egress
    }
}

fn direction(
    section: &Section,
    device: &str,
    kbit: i64,
    is_egress: bool,
    notes: &mut TcSetup,
) -> Result<String, FormatError> {
    let script = section.find("script").map_or("simple.qos", |(_, value, _)| value);
    if !SCRIPTS.contains(&script) {
        let line = section.find("script").map_or(section.line, |it| it.2);
        let known = SCRIPTS.join(", ");
        let message = format!("`{script}` is not a script of sqm-scripts; known: {known}");
        return Err(FormatError::at(line, message));
    }
    let of = Direction { section, script, device, kbit, is_egress };
    let qdisc = of.qdisc();
    let options = section.text(if is_egress { "eqdisc_opts" } else { "iqdisc_opts" });
    let stab = size_table(section, qdisc, is_egress, notes)?;
    if qdisc == "cake" {
        let counted = cake_overhead(section, qdisc, is_egress, notes)?;
        return Ok(with_cake(&of, &stab, &counted, options));
    }
    let leaf = leaf(&of, qdisc, notes)?;
    let root = format!("tc qdisc add dev {device} root handle 1: {stab}");
    if script == "simplest_tbf.qos" {
        let burst = burst(kbit);
        return Ok(format!(
            "{root} tbf rate {kbit}kbit burst {burst}b latency 300ms\n\
             tc qdisc add dev {device} parent 1: handle 110: {qdisc} {leaf} {options}\n"
        ));
    }
    let overhead = private_overhead(section)?;
    let tree = ClassesOfSqm { device, kbit, is_egress, overhead: &overhead };
    let of_leaf = |quantum: u64| {
        let has_quantum = quantum > 0 && matches!(qdisc, "fq_codel" | "fq_pie");
        let quantum = if has_quantum { format!("quantum {quantum}") } else { String::new() };
        format!("{qdisc} {leaf} {quantum} {options}")
    };
    Ok(match script == "simplest.qos" || of.is_squashed() {
        true => format!("{root} htb default 10\n{}", tree.single(of_leaf)),
        false => format!("{root} htb default 12\n{}", tree.three(of_leaf)),
    })
}

/// Cake, which shapes and classifies by itself.
fn with_cake(of: &Direction<'_>, stab: &str, counted: &str, options: &str) -> String {
    let has_tins = matches!(of.script, "layer_cake.qos" | "simple.qos") && !of.is_squashed();
    let classes = if has_tins { "diffserv3" } else { "besteffort" };
    let of_cake = matches!(of.script, "layer_cake.qos" | "piece_of_cake.qos");
    let is_washed = of_cake && of.section.is_on("squash_dscp", true) && !of.is_egress;
    let nat = if of_cake { "nat" } else { "" };
    let wash = if is_washed { "wash" } else { "" };
    let Direction { device, kbit, .. } = of;
    format!(
        "tc qdisc add dev {device} root {stab} cake bandwidth {kbit}kbit {counted} {classes} {nat} \
         {wash} {options}\n"
    )
}

/// The overhead, if `linklayer` gives it an effect.
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

/// How the overhead is counted: by cake, by a size table, or by the classes of htb.
fn mechanism<'s>(section: &'s Section, qdisc: &str) -> &'s str {
    match section.text("linklayer_adaptation_mechanism") {
        "" | "default" if qdisc == "cake" => "cake",
        "" | "default" => "tc_stab",
        other => other,
    }
}

fn cake_overhead(
    section: &Section,
    qdisc: &str,
    is_first: bool,
    notes: &mut TcSetup,
) -> Result<String, FormatError> {
    Ok(match overhead(section, is_first, notes)? {
        Some((bytes, mpu, layer)) if mechanism(section, qdisc) == "cake" => {
            let cells = if layer == "atm" { "atm" } else { "" };
            format!("{cells} overhead {bytes} mpu {mpu}")
        }
        _ => String::new(),
    })
}

fn size_table(
    section: &Section,
    qdisc: &str,
    is_first: bool,
    notes: &mut TcSetup,
) -> Result<String, FormatError> {
    if mechanism(section, qdisc) != "tc_stab" {
        return Ok(String::new());
    }
    Ok(match overhead(section, is_first, notes)? {
        None => String::new(),
        Some((bytes, mpu, layer)) => {
            let given = |name: &str, usual| match section.text(name) {
                "" => usual,
                text => text,
            };
            let (mtu, tsize) = (given("tcMTU", "2047"), given("tcTSIZE", "512"));
            format!("stab mtu {mtu} tsize {tsize} mpu {mpu} overhead {bytes} linklayer {layer}")
        }
    })
}

fn private_overhead(section: &Section) -> Result<String, FormatError> {
    if section.text("linklayer_adaptation_mechanism") != "htb_private" {
        return Ok(String::new());
    }
    // A note would repeat one of the other direction.
    let mut notes = TcSetup::new(TcSource::Uci);
    Ok(match overhead(section, false, &mut notes)? {
        None => String::new(),
        Some((bytes, mpu, layer)) => {
            format!("mpu {mpu} linklayer {layer} overhead {bytes} mtu 2047")
        }
    })
}

/// The options that the scripts give a leaf.
fn leaf(of: &Direction<'_>, qdisc: &str, notes: &mut TcSetup) -> Result<String, FormatError> {
    let Direction { section, kbit, is_egress, .. } = *of;
    let (limit, target, ecn) = match is_egress {
        true => ("elimit", "etarget", "egress_ecn"),
        false => ("ilimit", "itarget", "ingress_ecn"),
    };
    let mut words = match (qdisc, section.text(limit)) {
        ("codel" | "fq_codel" | "pie" | "fq_pie" | "sfq" | "pfifo", _) => {
            format!("limit {}", section.number(limit, 1001)?)
        }
        (_, "") => String::new(),
        (_, given) => format!("limit {given}"),
    };
    let codel = matches!(qdisc, "codel" | "fq_codel");
    if matches!(qdisc, "fq_codel" | "sfq") {
        words += " flows 1024";
    }
    if !codel && !matches!(qdisc, "pie" | "fq_pie") {
        return Ok(words);
    }
    let given = section.text(target);
    if given.is_empty() || given.eq_ignore_ascii_case("auto") {
        // 33 cells of 53 B at the rate, but at least 5 ms; the interval is 95 ms longer.
        const CELLS_US: i64 = 13_992_000;
        let micros = (CELLS_US / kbit).max(5000);
        words += &format!(" target {micros}us");
        if codel {
            words += &format!(" interval {}us", micros + 95_000);
        }
    } else if !given.eq_ignore_ascii_case("default") {
        words += &whole_target(section, target, given, notes);
    }
    let wants_ecn = match section.text(ecn) {
        "" => !is_egress,
        text => text.eq_ignore_ascii_case("ECN"),
    };
    words += if wants_ecn { " ecn" } else { " noecn" };
    Ok(words)
}

/// A target as the scripts read it: leading digits and a unit. Otherwise the scripts set no target.
fn whole_target(section: &Section, name: &str, given: &str, notes: &mut TcSetup) -> String {
    const UNITS: [&str; 9] = ["s", "sec", "secs", "ms", "msec", "msecs", "us", "usec", "usecs"];
    let line = section.find(name).map_or(section.line, |it| it.2);
    let digits = given.find(|c: char| !c.is_ascii_digit()).unwrap_or(given.len());
    let letters = given.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len();
    let (number, unit) = (&given[..digits], &given[letters..]);
    if number.is_empty() || !UNITS.contains(&unit) {
        let text =
            format!("`{name} {given}` has no unit that the scripts accept, and sets nothing");
        notes.note(TcNoteKind::Ineffective, line, format!("{text}: write {number}ms"));
        return String::new();
    }
    if digits < letters {
        let text = format!("`{name} {given}`: the scripts read whole numbers, here {number}{unit}");
        notes.note(TcNoteKind::Unknown, line, text);
    }
    format!(" target {number}{unit}")
}
