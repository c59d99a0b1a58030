//! Runs a shell script as far as its commands of tc do not depend on what it does not contain.

use super::commands;
use super::shell;
use super::shell_flow;
use super::shell_run::Shell;
use super::shell_script::Part;
use super::shell_words;
use super::tree::{TcSetup, TcSource};
use crate::FormatError;

/// Reads commands, one per line.
pub(super) fn read(text: &str) -> Result<TcSetup, FormatError> {
    let mut setup = TcSetup::new(TcSource::Commands);
    run(text, &mut setup)?;
    match setup.qdiscs.is_empty() {
        true => Err(no_discipline(text)),
        false => Ok(setup),
    }
}

/// Why no command leaves a discipline.
fn no_discipline(text: &str) -> FormatError {
    let is_comment = |line: &str| line.trim_start().starts_with("# tc ");
    if let Some(index) = text.lines().position(is_comment) {
        let message = "`# tc` begins a comment: delete the `#` if it is the prompt of root";
        return FormatError::at(index + 1, message);
    }
    FormatError::whole(
        "no line is a command that leaves a discipline in place: give `tc qdisc add dev ...` a \
         line of its own",
    )
}

fn run(text: &str, setup: &mut TcSetup) -> Result<(), FormatError> {
    let script = shell_flow::script(&parts(text))?;
    let mut shell = Shell::new(&script, setup);
    shell.steps(&script.steps)?;
    shell.uncalled()
}

/// Whether a line begins an array whose end is on a later line.
fn is_open_array(joined: &str) -> bool {
    let count = |mark: char| joined.matches(mark).count();
    let begins = joined.split_once("=(").is_some_and(|(before, _)| {
        let name = before.rsplit(' ').next().unwrap_or("").trim_end_matches('+');
        shell_words::is_name(name)
    });
    begins && count('(') > count(')')
}

/// The parts of the lines: `\` continues a line, `;` and `&&` end a part, `#` begins a comment.
fn parts(text: &str) -> Vec<Part> {
    let mut all = Vec::new();
    let mut pending: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        let line = commands::without_prompt(line);
        let line = line.split_once(" #").map_or(line, |(before, _)| before).trim();
        let (start, mut joined) = pending.take().unwrap_or((index + 1, String::new()));
        if is_open_array(&joined) && shell::sets_up(line) {
            // What looked like an array was a sentence.
            split(&std::mem::take(&mut joined), start, &mut all);
        }
        let in_array = is_open_array(&joined);
        let line = if in_array && line.starts_with('#') { "" } else { line };
        match line.strip_suffix('\\') {
            Some(more) => {
                joined.push_str(more);
                joined.push(' ');
                pending = Some((start, joined));
            }
            None => {
                joined.push_str(line);
                match is_open_array(&joined) {
                    true => pending = Some((start, joined + " ")),
                    false => split(&joined, start, &mut all),
                }
            }
        }
    }
    if let Some((start, joined)) = pending {
        split(&joined, start, &mut all);
    }
    all.retain(|part| !part.text.is_empty() && !part.text.starts_with('#'));
    all
}

fn split(text: &str, line: usize, all: &mut Vec<Part>) {
    for (index, joined) in text.split("&&").enumerate() {
        for (at, part) in joined.split(';').enumerate() {
            let (text, is_conditional) = (part.trim().to_owned(), index > 0 && at == 0);
            all.push(Part { line, text, is_conditional, is_block: false });
        }
    }
}
