//! The texts of OpenWrt's SQM: the file, `uci show sqm`, and the variables on other systems.

use crate::FormatError;

/// A section `config queue`.
#[derive(Default)]
pub(super) struct Section {
    pub(super) line: usize,
    /// Name, value and line of each option.
    pub(super) options: Vec<(String, String, usize)>,
}

impl Section {
    pub(super) fn find(&self, name: &str) -> Option<&(String, String, usize)> {
        self.options.iter().rev().find(|(known, _, _)| known == name)
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.find(name).map_or("", |(_, value, _)| value)
    }

    pub(super) fn number(&self, name: &str, default: i64) -> Result<i64, FormatError> {
        match self.find(name) {
            Some((_, text, line)) if !text.is_empty() => text.parse().map_err(|_| {
                FormatError::at(*line, format!("{name}: `{text}` is not a whole number"))
            }),
            _ => Ok(default),
        }
    }

    pub(super) fn is_on(&self, name: &str, default: bool) -> bool {
        match self.text(name) {
            "" => default,
            text => text != "0",
        }
    }
}

/// The variables of `/etc/sqm/*.iface.conf`, and the options of UCI (sqm-scripts 1.6
/// platform/openwrt/sqm-uci).
const VARIABLES: [(&str, &str); 20] = [
    ("UPLINK", "upload"),
    ("DOWNLINK", "download"),
    ("SCRIPT", "script"),
    ("QDISC", "qdisc"),
    ("LLAM", "linklayer_adaptation_mechanism"),
    ("LINKLAYER", "linklayer"),
    ("OVERHEAD", "overhead"),
    ("STAB_MTU", "tcMTU"),
    ("STAB_TSIZE", "tcTSIZE"),
    ("STAB_MPU", "tcMPU"),
    ("ILIMIT", "ilimit"),
    ("ELIMIT", "elimit"),
    ("ITARGET", "itarget"),
    ("ETARGET", "etarget"),
    ("IECN", "ingress_ecn"),
    ("EECN", "egress_ecn"),
    ("IQDISC_OPTS", "iqdisc_opts"),
    ("EQDISC_OPTS", "eqdisc_opts"),
    ("ZERO_DSCP_INGRESS", "squash_dscp"),
    ("IGNORE_DSCP_INGRESS", "squash_ingress"),
];

/// The sections `config queue` of the file, or of `uci show sqm`.
pub(super) fn sections(text: &str) -> Result<Vec<Section>, FormatError> {
    sections_of(text, |kind| kind.contains("queue"))
}

/// The sections of some kinds.
pub(super) fn sections_of(
    text: &str,
    is_own: impl Fn(&str) -> bool,
) -> Result<Vec<Section>, FormatError> {
    let has_entries = text.lines().any(|line| is_entry(line.trim()));
    if has_entries { of_entries(text, is_own) } else { of_file(text, is_own) }
}

fn of_file(text: &str, is_own: impl Fn(&str) -> bool) -> Result<Vec<Section>, FormatError> {
    let mut all: Vec<Section> = Vec::new();
    let mut is_queue = true;
    let numbered = text.lines().enumerate();
    for (number, line) in
        numbered.flat_map(|(index, line)| parts(line).map(move |it| (index + 1, it)))
    {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word {
            "" => {}
            _ if word.starts_with('#') => {}
            "config" => {
                is_queue = rest.split_whitespace().next().is_none_or(&is_own);
                if is_queue {
                    all.push(Section { line: number, ..Section::default() });
                }
            }
            // Lines of other OpenWrt files surrounding SQM's.
            "option" | "list" if !is_queue => {}
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
            // A shell prompt.
            other if other.contains('@') && other.contains(':') => {}
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

/// Whether a line is from `uci show` of SQM or qosmate, or a command that sets one of its options.
pub(super) fn is_entry(line: &str) -> bool {
    let line = line.strip_prefix("uci set ").unwrap_or(line);
    (line.starts_with("sqm.") || line.starts_with("qosmate.")) && line.contains('=')
}

/// The sections of `uci show`, or of commands `uci set`, which may not name a section's type.
fn of_entries(text: &str, is_own: impl Fn(&str) -> bool) -> Result<Vec<Section>, FormatError> {
    let mut all: Vec<(&str, bool, Section)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim().trim_start_matches(['>', ' ', '#', '$']);
        let after_prompt = line.find("uci set ").map_or(line, |at| &line[at..]);
        if !is_entry(after_prompt) {
            around_entries(line, index + 1)?;
            continue;
        }
        let entry = after_prompt.strip_prefix("uci set ").unwrap_or(after_prompt);
        let (name, value) = entry.split_once('=').unwrap_or((entry, ""));
        let value = unquoted(value.trim(), index + 1)?;
        let mut names = name.trim().splitn(3, '.');
        let (Some(file), Some(section), option) = (names.next(), names.next(), names.next()) else {
            continue;
        };
        let at = all.iter().position(|it| it.0 == section).unwrap_or_else(|| {
            // `@queue[0]` has its type in its name; SQM has no other type.
            let of_name = section.strip_prefix('@').and_then(|it| it.split('[').next());
            let kind = of_name.unwrap_or(if file == "sqm" { "queue" } else { section });
            all.push((section, is_own(kind), Section { line: index + 1, ..Section::default() }));
            all.len() - 1
        });
        match option {
            Some(option) => all[at].2.options.push((option.to_owned(), value, index + 1)),
            None => all[at].1 = is_own(&value),
        }
    }
    Ok(all.into_iter().filter(|it| it.1).map(|it| it.2).collect())
}

/// Refuses a line between entries that is neither another command nor a prompt.
fn around_entries(line: &str, number: usize) -> Result<(), FormatError> {
    let word = line.split_whitespace().next().unwrap_or("");
    let is_other = ["uci", "service", "config", "reload_config"].contains(&word)
        || word.starts_with("/etc/init.d")
        || word.contains('@') && word.contains(':')
        || word.is_empty();
    match is_other {
        true => Ok(()),
        false => {
            let message = format!("`{word}` begins no line of `uci show`: paste its lines alone");
            Err(FormatError::at(number, message))
        }
    }
}

/// The statements of a line: a post may have lost the ends of lines.
fn parts(line: &str) -> impl Iterator<Item = &str> {
    let mut ends = Vec::new();
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(mark), c) if mark == c => quote = None,
            (None, ' ' | '\t') => {
                let rest = line[at + 1..].split_whitespace().collect::<Vec<_>>();
                let begins = |it: &&str| matches!(*it, "option" | "list" | "config");
                let has_all = rest.len() > 1 && line[at + 1..].starts_with(rest[0]);
                if has_all && rest.first().is_some_and(begins) && at > 0 {
                    ends.push(at);
                }
            }
            _ => {}
        }
    }
    ends.push(line.len());
    let mut start = 0;
    ends.into_iter().map(move |end| line[std::mem::replace(&mut start, end)..end].trim())
}

/// The section given by the variables of `/etc/sqm/*.iface.conf`.
pub(super) fn of_conf(text: &str) -> Result<Section, FormatError> {
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned(), 1);
    let options = vec![set("enabled", "1"), set("interface", "eth0")];
    let mut section = Section { line: 1, options };
    for (index, line) in text.lines().enumerate() {
        let line = line.trim().trim_start_matches("export ");
        let Some((name, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else {
            continue;
        };
        let value = unquoted(value.trim(), index + 1)?;
        let known = VARIABLES.iter().find(|it| it.0 == name).map(|it| it.1);
        section.options.push((known.unwrap_or(name).to_owned(), value, index + 1));
    }
    Ok(section)
}
