//! Reads output of `tc -s -d qdisc show` and `tc class show`, also with lost line ends or
//! indentation.

use super::commands::{of_tc, without_prompt};
use super::demands;
use super::filters_shown;
use super::options;
use super::places;
use super::statement::{Head, class_options, head_word, qdisc_options, size_table};
use super::tree::{
    TcClass, TcCounters, TcNoteKind, TcOption, TcOverhead, TcParent, TcQdisc, TcSetup, TcSource,
};
use super::words::{Token, Tokens};
use crate::FormatError;

/// Kinds whose classes are real; those of other kinds are flows.
const CLASSFUL: [&str; 2] = ["htb", "hfsc"];

/// Reads output of tc.
pub(super) fn read(text: &str) -> Result<TcSetup, FormatError> {
    let mut setup = TcSetup::new(TcSource::Shown);
    let mut words: Vec<Token<'_>> = Vec::new();
    let mut device = String::new();
    let mut records: Vec<(String, Vec<Token<'_>>)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line_words: Vec<Token<'_>> = without_prompt(line)
            .split_whitespace()
            .map(|text| Token { text, line: index + 1 })
            .collect();
        if let Some(command) = show_command(&line_words) {
            records.extend((!words.is_empty()).then(|| (device.clone(), words.split_off(0))));
            device = device_of(command);
            continue;
        }
        if let Some(first) = line_words.first().filter(|it| it.text == "deleted") {
            records.extend((!words.is_empty()).then(|| (device.clone(), words.split_off(0))));
            let text = "the line says what was deleted, and is left out";
            setup.note(TcNoteKind::Unknown, first.line, text);
            continue;
        }
        for (at, word) in line_words.iter().copied().enumerate() {
            if at == 0 && matches!(word.text, "added" | "replaced") {
                continue;
            }
            if is_start(at, &line_words, &words) {
                records.extend((!words.is_empty()).then(|| (device.clone(), words.split_off(0))));
            }
            words.push(word);
        }
    }
    records.extend((!words.is_empty()).then_some((device, words)));
    for (device, record) in &records {
        read_record(device, record, &mut setup)?;
    }
    places::complete(&mut setup);
    match setup.qdiscs.is_empty() {
        true => Err(FormatError::whole(
            "no line `qdisc KIND HANDLE:` is in the text; paste what `tc -s qdisc show` prints",
        )),
        false => Ok(setup),
    }
}

/// The words of a show command such as `tc -s qdisc show dev eth0`, without a prompt. In output,
/// unlike in a script, `#` is one.
pub(super) fn show_command<'w, 't>(words: &'w [Token<'t>]) -> Option<&'w [Token<'t>]> {
    let prompt = words.iter().position(|it| it.text.ends_with(['#', '$', '%']));
    let command = &words[prompt.map_or(0, |at| at + 1)..];
    let is_output =
        command.first().is_none_or(|it| matches!(it.text, "qdisc" | "class" | "filter"));
    (!is_output && of_tc(command).is_some()).then_some(command)
}

pub(super) fn device_of(words: &[Token<'_>]) -> String {
    let at = words.iter().position(|it| it.text == "dev");
    at.and_then(|at| words.get(at + 1)).map(|it| it.text.to_owned()).unwrap_or_default()
}

/// Whether a word begins a record. In the middle of a line, `qdisc` does so only if a handle
/// follows its kind, because a sentence may contain that word too.
fn is_start(at: usize, line: &[Token<'_>], before: &[Token<'_>]) -> bool {
    let has_handle = || line.get(at + 2).is_some_and(|it| it.text.ends_with(':'));
    match line[at].text {
        "qdisc" => at == 0 || has_handle(),
        "filter" if at == 0 => true,
        "filter" => line.get(at + 1).is_some_and(|it| matches!(it.text, "parent" | "protocol")),
        "class" => before.last().is_none_or(|it| it.line != line[at].line),
        _ => false,
    }
}

fn read_record(device: &str, words: &[Token<'_>], setup: &mut TcSetup) -> Result<(), FormatError> {
    let first = words[0];
    if first.text == "filter" && words.len() > 1 {
        filters_shown::read(device, words, setup);
        return Ok(());
    }
    if !matches!(first.text, "qdisc" | "class") {
        let text = format!("`{}` and what follows is not tc output, and is left out", first.text);
        setup.note(TcNoteKind::Unknown, first.line, text);
        return Ok(());
    }
    let end = words.iter().position(|it| it.text == "Sent").unwrap_or(words.len());
    let (described, counted) = words.split_at(end);
    let [_, kind, handle, rest @ ..] = described else {
        let message = "the line ends before its handle: paste all of it";
        return Err(FormatError::at(first.line, message));
    };
    if !handle.text.contains(':') {
        let message = format!("`{}` stands where a handle such as `8001:` belongs", handle.text);
        return Err(FormatError::at(handle.line, format!("{message}: paste the line as printed")));
    }
    match first.text {
        "qdisc" => qdisc(device, *kind, *handle, rest, counted, setup),
        _ if CLASSFUL.contains(&kind.text) => class(device, *kind, *handle, rest, setup),
        _ => Ok(()),
    }
}

fn read_head(device: &str, tokens: &mut Tokens<'_>) -> Result<Head, FormatError> {
    let mut head = Head { device: device.to_owned(), ..Head::default() };
    while let Some(token) = tokens.peek() {
        match token.text {
            "dev" | "root" | "parent" => {
                tokens.next();
                head_word(token, tokens, &mut head)?;
            }
            "refcnt" | "leaf" => {
                tokens.next();
                tokens.value_of(token)?;
            }
            "offloaded" | "ingress" | "clsact" => {
                tokens.next();
            }
            dashes if dashes.starts_with("---") => {
                tokens.next();
            }
            _ => break,
        }
    }
    Ok(head)
}

fn qdisc(
    device: &str,
    kind: Token<'_>,
    handle: Token<'_>,
    rest: &[Token<'_>],
    counted: &[Token<'_>],
    setup: &mut TcSetup,
) -> Result<(), FormatError> {
    let (rest, stab) = without_size_table(kind, rest)?;
    let mut tokens = Tokens::new(&rest, false);
    let head = read_head(device, &mut tokens)?;
    let options = qdisc_options(kind, &mut tokens, setup)?;
    let parent = match (head.parent, kind.text) {
        (_, "ingress" | "clsact") => TcParent::Ingress,
        (parent, _) => parent.unwrap_or(TcParent::Root),
    };
    if let Some(mark) = rest.iter().find(|it| is_unread(it.text)) {
        let text = format!(
            "tc could not read the options of {} there (`{}`): paste the output of a newer tc",
            kind.text, mark.text
        );
        setup.note(TcNoteKind::Refused, mark.line, text);
    } else {
        whole(kind, &rest, &options, setup);
    }
    let counters = counters(kind, counted, setup);
    add(
        setup,
        TcQdisc {
            device: head.device,
            kind: kind.text.to_owned(),
            handle: handle.text.to_owned(),
            parent,
            stab,
            options,
            counters,
            line: kind.line,
        },
    );
    Ok(())
}

/// Reports a line that ends before an option that tc always prints, or without the unit of the last
/// one.
fn whole(kind: Token<'_>, words: &[Token<'_>], options: &[TcOption], setup: &mut TcSetup) {
    let has = |name: &&str| options.iter().any(|it| it.name == *name);
    let always = demands::ALWAYS_SHOWN.iter().find(|it| it.0 == kind.text).map(|it| it.1);
    let text = match always.filter(|names| !names.iter().any(has)) {
        Some(names) => {
            let names = names.join("` or `");
            format!("the line of {} lacks `{names}`, which tc always prints", kind.text)
        }
        None => {
            let last = words.last().map_or("", |it| it.text);
            let is_number =
                !last.is_empty() && last != "0" && last.bytes().all(|it| it.is_ascii_digit());
            let is_last = |it: &&TcOption| it.text.rsplit(' ').next() == Some(last);
            let option = options.iter().rev().find(is_last).filter(|_| is_number);
            match option.filter(|it| options::has_unit(kind.text, it.name)) {
                Some(option) => format!("the line ends with `{}` without its unit", option.text),
                None => return,
            }
        }
    };
    let text = format!("{text}: it is cut off; paste all of it");
    setup.note(TcNoteKind::Refused, words.last().map_or(kind.line, |it| it.line), text);
}

/// Whether a word is the mark of an option that tc did not know how to print (iproute2 6.1
/// tc/tc_qdisc.c, print_qdisc).
fn is_unread(word: &str) -> bool {
    ["[Unknown", "[cannot", "[Cannot"].iter().any(|it| word.starts_with(it))
}

/// Adds a discipline. A post may have it twice, as `tc -s` and `tc -d` print it.
fn add(setup: &mut TcSetup, new: TcQdisc) {
    let is_same = |it: &&mut TcQdisc| {
        (&it.device, &it.kind, &it.handle, &it.parent)
            == (&new.device, &new.kind, &new.handle, &new.parent)
    };
    if !setup.qdiscs.iter_mut().any(|mut it| is_same(&mut it)) {
        second_root(setup, &new);
        return setup.qdiscs.push(new);
    }
    let Some(known) = setup.qdiscs.iter_mut().find(is_same) else { return };
    let has_counters = new.counters != TcCounters::default();
    known.counters = if has_counters { new.counters } else { known.counters };
    known.stab = new.stab.or(known.stab.take());
    for option in new.options {
        if known.options.iter().all(|it| it.name != option.name) {
            known.options.push(option);
        }
    }
}

/// Reports a second root, of which tc shows the device only if it is asked for all.
pub(super) fn second_root(setup: &mut TcSetup, new: &TcQdisc) {
    let is_root = |it: &&TcQdisc| it.parent == TcParent::Root && it.device == new.device;
    let earlier = setup.qdiscs.iter().find(is_root).map(|it| it.kind.clone());
    if let Some(earlier) = earlier.filter(|_| is_root(&new)) {
        let text = format!(
            "{earlier} and {} are both the root of one device: paste the lines of one device, or \
             those of `tc qdisc show`, which names the devices",
            new.kind
        );
        setup.note(TcNoteKind::Contradiction, new.line, text);
    }
}

/// The size table, which `tc -d` prints between the options and the counters. It begins with
/// `linklayer`, which is also an option of tbf.
fn without_size_table<'t>(
    kind: Token<'_>,
    words: &[Token<'t>],
) -> Result<(Vec<Token<'t>>, Option<TcOverhead>), FormatError> {
    let mut layers = (0..words.len()).rev().filter(|at| words[*at].text == "linklayer");
    let (last, first) = (layers.next(), layers.next());
    let is_table = |start: usize| {
        first.is_some() || kind.text != "tbf" || words[start..].iter().any(|it| it.text == "tsize")
    };
    let Some(start) = last.filter(|start| is_table(*start)) else {
        return Ok((words.to_vec(), None));
    };
    let mut tokens = Tokens::new(&words[start..], false);
    let table = size_table(&mut tokens)?;
    let after = start + tokens.position();
    Ok(([&words[..start], &words[after..]].concat(), Some(table)))
}

fn class(
    device: &str,
    kind: Token<'_>,
    id: Token<'_>,
    rest: &[Token<'_>],
    setup: &mut TcSetup,
) -> Result<(), FormatError> {
    let mut tokens = Tokens::new(rest, false);
    let head = read_head(device, &mut tokens)?;
    let options = class_options(kind, &mut tokens, setup)?;
    let is_same = |it: &TcClass| it.device == head.device && it.id == id.text;
    setup.classes.retain(|it| it.device.is_empty() || !is_same(it));
    setup.classes.push(TcClass {
        device: head.device,
        kind: kind.text.to_owned(),
        id: id.text.to_owned(),
        parent: head.parent.unwrap_or(TcParent::Root),
        options,
        line: kind.line,
    });
    Ok(())
}

/// The counters that the check reads.
fn counters(kind: Token<'_>, words: &[Token<'_>], setup: &mut TcSetup) -> TcCounters {
    let after = |name: &str| {
        let at = words.iter().position(|it| it.text.trim_start_matches('(') == name)?;
        let text = words.get(at + 1)?.text;
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text[..digits].parse::<u64>().ok()
    };
    let backlog = words.iter().position(|it| it.text == "backlog");
    let backlog_packets =
        backlog.and_then(|at| words.get(at + 2)?.text.strip_suffix('p')?.parse().ok());
    if let Some(row) = cut_at(kind, words) {
        let text = format!(
            "the counters of {} end after `{}`: they are cut off; paste all of the output",
            kind.text, row.text
        );
        setup.note(TcNoteKind::Unknown, row.line, text);
    }
    TcCounters {
        sent_bytes: after("Sent"),
        sent_packets: after("bytes"),
        dropped: after("dropped"),
        overlimits: after("overlimits"),
        backlog_packets,
        largest: after("maxpacket").or_else(|| largest_of_tins(words)),
    }
}

/// The last word of truncated counters, where output was cut.
fn cut_at<'t>(kind: Token<'_>, words: &[Token<'t>]) -> Option<Token<'t>> {
    let has = |name: &str| words.iter().any(|it| it.text == name);
    let is_cut =
        has("Sent") && !has("backlog") || kind.text == "cake" && has("thresh") && !has("quantum");
    is_cut.then(|| words.last().copied()).flatten()
}

/// The largest number in cake's row `max_len`, which has one number per tin.
fn largest_of_tins(words: &[Token<'_>]) -> Option<u64> {
    let at = words.iter().position(|it| it.text == "max_len")?;
    words[at + 1..].iter().map_while(|it| it.text.parse().ok()).max()
}
