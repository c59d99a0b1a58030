//! Reads and writes `tc` of iproute2: commands, output of `tc qdisc show` as text or JSON, and the
//! settings of programs that set up disciplines (OpenWrt's SQM, systemd-networkd, dummynet) become
//! one tree, which is converted to a scenario, findings or commands.
//!
//! Nothing is guessed: an unknown word is reported with its line, and a command that tc would
//! refuse is refused.

mod abbreviations;
mod aqm;
mod autorate;
mod cake;
mod capacity;
mod change;
mod check;
mod classes;
mod cleaned;
mod commands;
mod curves;
mod demands;
mod dummynet;
mod dummynet_aqm;
mod ets;
mod export;
mod export_cake;
mod export_link;
mod export_scheduler;
mod filters;
mod filters_shown;
mod fq;
mod household;
mod json;
mod json_class;
mod json_netem;
mod json_text;
mod line;
mod netem;
mod netem_wire;
mod network_manager;
mod networkd;
mod networkd_values;
mod options;
mod places;
mod policer;
mod qosmate;
mod refused;
mod report;
mod scenario;
mod scheduler;
mod scheduler_toml;
mod script;
mod sent;
mod shaped;
mod shell;
mod shell_arithmetic;
mod shell_choice;
mod shell_condition;
mod shell_flow;
mod shell_run;
mod shell_script;
mod shell_values;
mod shell_words;
mod shown;
mod sqm;
mod statement;
mod tree;
mod uci;
mod uci_classes;
mod uci_text;
mod units;
mod values;
mod words;

pub use aqm::{AqmOfTc, aqm_of_text, looks_like_tc};
pub use check::{TcCircumstances, TcFinding, TcSeverity, TcTrial, check};
pub use export::{TcBucket, TcLink, TcWords, words_of};
pub use export_link::commands_of;
pub use line::lines;
pub use report::{TcQueue, TcReport, not_understood, report};
pub use scenario::{TcImport, TcWish, scenario};
pub use scheduler_toml::{TcScheduler, TcSchedulerClass};
pub use shaped::{ShapedLine, TcShaper};
pub use sqm::uci_of;
pub use tree::*;
pub use values::{TcCurve, TcPolicer};

use crate::FormatError;

/// The longest text that is read.
const MOST_BYTES: usize = 4 << 20;

/// Reads a text of any of the formats.
///
/// # Errors
/// Names the place that is neither input nor output of tc, and the remedy.
pub fn read(text: &str) -> Result<TcSetup, FormatError> {
    let mut setup = of_text(text)?;
    setup.qdiscs.iter_mut().for_each(ets::as_prio);
    Ok(setup)
}

fn of_text(text: &str) -> Result<TcSetup, FormatError> {
    refuse_non_text(text)?;
    let text = &*cleaned::cleaned(text);
    let text = &*abbreviations::expanded(text);
    let trimmed = text.trim_start();
    if trimmed.is_empty() {
        return Err(FormatError::whole("the text is empty: paste what `tc -s qdisc show` prints"));
    }
    if json_text::start(text).is_some() || trimmed.starts_with('{') {
        return json::read(text);
    }
    let lines = || text.lines().map(|line| commands::without_prompt(line).trim());
    // A post often contains both configuration and state; the state shows what the kernel does. A
    // script may use variables with the same names as a configuration's.
    if !lines().any(is_shown)
        && !text.lines().any(is_change)
        && let Some(setup) = configuration(text, &lines)
    {
        return setup;
    }
    let command = text.lines().position(is_change).map(|it| it + 1);
    if command.is_some() && text.contains("${SQM_LIB_DIR}") {
        return Err(FormatError::whole(
            "a script of sqm-scripts has its rates from /etc/config/sqm: paste that",
        ));
    }
    let shown = lines().position(is_shown).map(|it| it + 1);
    match (command, shown) {
        (Some(command), Some(shown)) => Err(FormatError::whole(format!(
            "the text has commands (line {command}) and what tc prints (line {shown}): paste one \
             of the two"
        ))),
        (Some(_), None) => script::read(text),
        (None, _) if shown.is_some() || text.contains("qdisc") && of_neighbour(text).is_none() => {
            shown::read(text)
        }
        (None, _) if lines().any(|line| line.starts_with("class ")) => Err(FormatError::whole(
            "the text has classes alone: paste what `tc -d qdisc show` prints too",
        )),
        _ => Err(FormatError::whole(match of_neighbour(text) {
            Some((whose, remedy)) => format!("this is a setting of {whose}: {remedy}"),
            None => "this is not from tc: paste `tc qdisc add ...` commands, what `tc -s qdisc \
                     show` prints, or /etc/config/sqm"
                .to_owned(),
        })),
    }
}

/// Reads only what `tc qdisc show` and `tc class show` print, as [`read`] does. The live page has
/// no room for the rest.
///
/// # Errors
/// As [`read`], and for every other text.
pub fn read_shown(text: &str) -> Result<TcSetup, FormatError> {
    refuse_non_text(text)?;
    let text = &*cleaned::cleaned(text);
    let text = &*abbreviations::expanded(text);
    if !text.contains("qdisc") || text.lines().any(is_change) {
        return Err(FormatError::whole(
            "this is not what `tc -s qdisc show` prints: paste that, or give commands and other \
             programs' settings to `sojourn tc import`",
        ));
    }
    let mut setup = shown::read(text)?;
    setup.qdiscs.iter_mut().for_each(ets::as_prio);
    Ok(setup)
}

/// Whether a line has a command that changes disciplines.
fn is_change(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(2).any(|pair| {
        matches!(pair[0], "qdisc" | "class" | "filter")
            && (matches!(pair[1], "add" | "replace" | "change" | "link" | "del" | "delete")
                || pair[1].starts_with('$'))
    })
}

/// Whether a line shows a discipline.
fn is_shown(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("qdisc") && words.nth(1).is_some_and(|handle| handle.ends_with(':'))
}

/// Whose settings a text has, if another program's, and the remedy.
fn of_neighbour(text: &str) -> Option<(&'static str, &'static str)> {
    const SHOW: &str = "paste what `tc -d qdisc show` prints";
    const WRITE: &str = "write the AQM and the rate in a scenario";
    const MARKS: [(&str, &str, &str); 11] = [
        ("ipfw ", "FreeBSD's ipfw", "paste its lines `pipe`, `sched` and `queue N config ...`"),
        ("dnctl ", "FreeBSD's dnctl", "paste its lines `pipe`, `sched` and `queue N config ...`"),
        ("tc.tfilters", "NetworkManager", SHOW),
        ("pumba ", "pumba", SHOW),
        ("comcast ", "comcast", SHOW),
        ("tcset ", "tcset", SHOW),
        ("set traffic-control ", "EdgeOS", SHOW),
        ("set traffic-policy ", "VyOS", SHOW),
        ("set qos policy ", "VyOS", SHOW),
        ("altq on ", "pf", WRITE),
        ("/queue ", "RouterOS", WRITE),
    ];
    let found = MARKS.iter().find(|it| text.lines().any(|line| line.contains(it.0)))?;
    Some((found.1, found.2))
}

/// The settings of a program that runs tc; `None` if the text has none.
fn configuration<'t, I: Iterator<Item = &'t str>>(
    text: &str,
    lines: &impl Fn() -> I,
) -> Option<Result<TcSetup, FormatError>> {
    let has = |part: &str| lines().any(|line| line.contains(part));
    if lines().any(networkd::is_config) {
        return Some(networkd::read(text));
    }
    if lines().any(network_manager::is_config) {
        return Some(network_manager::read(text));
    }
    if lines().any(dummynet::is_config) {
        return Some(dummynet::read(text));
    }
    let is_uci = |line: &str| {
        line.starts_with("config ") || line.starts_with("config\t") || uci_text::is_entry(line)
    };
    if lines().any(is_uci) {
        return Some(match has("qosmate") || has("ROOT_QDISC") {
            true => qosmate::read(text),
            false => uci::read(text),
        });
    }
    if lines().any(autorate::is_config) {
        return Some(autorate::read(text));
    }
    let is_conf = lines().any(|line| line.starts_with("UPLINK=") || line.starts_with("DOWNLINK="));
    is_conf.then(|| uci::read_conf(text))
}

/// Refuses markup, control characters and texts that are too long.
fn refuse_non_text(text: &str) -> Result<(), FormatError> {
    if text.len() > MOST_BYTES {
        return Err(FormatError::whole(
            "the text has more than 4 MiB: paste the lines of tc alone",
        ));
    }
    // `ip link` prints <BROADCAST,MULTICAST,UP>.
    const MARKUP: [&str; 15] = [
        "<pre", "<br>", "<br/", "<br ", "<p>", "<div", "<html", "<code", "<span", "&gt;", "&lt;",
        "&nbsp;", "&amp;", "&quot;", "&#",
    ];
    for (index, line) in text.lines().enumerate() {
        if let Some(found) = MARKUP.iter().find(|mark| line.to_ascii_lowercase().contains(**mark)) {
            let message =
                format!("`{found}` is HTML around the paste: copy the text as the page shows it");
            return Err(FormatError::at(index + 1, message));
        }
        if line.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\r')) {
            let message = "the line has control characters: paste plain text";
            return Err(FormatError::at(index + 1, message));
        }
    }
    Ok(())
}
