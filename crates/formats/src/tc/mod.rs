//! Reads and writes `tc` of iproute2: commands, output of `tc qdisc show` as text or JSON, and
//! OpenWrt's SQM configuration become one tree of disciplines, which is converted to a scenario,
//! findings or commands.
//!
//! Nothing is guessed: an unknown word is reported with its line, and a command that tc would
//! refuse is refused.

mod aqm;
mod cake;
mod check;
mod commands;
mod export;
mod json;
mod line;
mod netem;
mod options;
mod scenario;
mod shown;
mod sqm;
mod statement;
mod tree;
mod uci;
mod units;
mod words;

pub use aqm::{AqmOfTc, aqm_of_text, looks_like_tc};
pub use check::{TcCircumstances, TcFinding, TcSeverity, TcTrial, check};
pub use export::{TcLink, TcWords, commands_of, words_of};
pub use line::{ShapedLine, TcShaper, lines};
pub use scenario::{TcImport, TcWish, scenario};
pub use sqm::uci_of;
pub use tree::*;

use crate::FormatError;

/// The longest text that is read.
const MOST_BYTES: usize = 4 << 20;

/// Reads a text of any of the formats.
///
/// # Errors
/// Names the place that is neither input nor output of tc, and the remedy.
pub fn read(text: &str) -> Result<TcSetup, FormatError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    refuse_non_text(text)?;
    let trimmed = text.trim_start();
    if trimmed.is_empty() {
        return Err(FormatError::whole("the text is empty: paste what `tc -s qdisc show` prints"));
    }
    if trimmed.starts_with('[') && !trimmed.starts_with("[root@") || trimmed.starts_with('{') {
        return json::read(text);
    }
    let lines = || text.lines().map(|line| commands::without_prompt(line).trim());
    if lines().any(|line| line.starts_with("config ") || line.starts_with("config\t")) {
        return match lines().any(|line| line.contains("qosmate")) {
            true => Err(FormatError::whole(
                "qosmate's configuration is not read: paste what `tc -d qdisc show` prints there",
            )),
            false => uci::read(text),
        };
    }
    let is_change = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.windows(2).any(|pair| {
            matches!(pair[0], "qdisc" | "class" | "filter")
                && matches!(pair[1], "add" | "replace" | "change" | "link" | "del" | "delete")
        })
    };
    let is_shown = |line: &str| {
        let mut words = line.split_whitespace();
        words.next() == Some("qdisc") && words.nth(1).is_some_and(|handle| handle.ends_with(':'))
    };
    match (text.lines().any(is_change), lines().any(is_shown)) {
        (true, true) => Err(FormatError::whole(
            "the text has commands and what tc prints: paste one of the two",
        )),
        (true, false) => commands::read(text),
        (false, _) if text.contains("qdisc") => shown::read(text),
        _ => Err(FormatError::whole(
            "this is not from tc: paste `tc qdisc add ...` commands, what `tc -s qdisc show` \
             prints, or /etc/config/sqm",
        )),
    }
}

/// Markup, control characters and texts that are too long.
fn refuse_non_text(text: &str) -> Result<(), FormatError> {
    if text.len() > MOST_BYTES {
        return Err(FormatError::whole(
            "the text has more than 4 MiB: paste the lines of tc alone",
        ));
    }
    const MARKUP: [&str; 10] =
        ["<pre", "<br", "<p>", "<div", "<html", "<code", "<span", "&gt;", "&lt;", "&nbsp;"];
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
