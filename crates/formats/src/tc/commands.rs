//! Commands: `tc qdisc add dev eth0 root ...`, as typed, in a script, or in a file of `tc -b`.

use super::abbreviations;
use super::change;
use super::filters;
use super::policer;
use super::refused;
use super::statement::{Head, class_options, head_word, qdisc_options};
use super::tree::{TcClass, TcCounters, TcNoteKind, TcParent, TcQdisc, TcRedirect, TcSetup};
use super::words::{Token, Tokens};
use crate::FormatError;

/// A line without the quotation marks of e-mail and the prompt of a shell.
pub(super) fn without_prompt(line: &str) -> &str {
    let line = line.trim().trim_start_matches(['>', ' ', '\t']);
    // Prompts of zsh and fish.
    if line.starts_with(['➜', '❯'])
        && let Some(at) = ["sudo tc ", "tc "].iter().find_map(|it| line.find(it))
    {
        return &line[at..];
    }
    for mark in ["# ", "$ "] {
        if let Some(at) = line.find(mark) {
            let after = &line[at + mark.len()..];
            let prompt = &line[..at];
            let is_command = ["tc ", "sudo ", "/sbin/tc ", "/usr/sbin/tc "]
                .iter()
                .any(|it| after.trim_start().starts_with(it));
            if is_command && (at == 0 && mark == "$ " || prompt.contains(['@', '~', ']', ':'])) {
                return after.trim_start();
            }
        }
    }
    line
}

/// The words of a command without `sudo`, `tc` and tc's flags; `None` if it belongs to another
/// program.
pub(super) fn of_tc<'w, 't>(words: &'w [Token<'t>]) -> Option<&'w [Token<'t>]> {
    let mut rest = words;
    while rest.first().is_some_and(|it| it.text == "sudo" || it.text == "command") {
        rest = &rest[1..];
    }
    // What a unit of systemd runs to stop (systemd.service(5)) leaves nothing in place.
    let is_stop = rest.first().is_some_and(|it| it.text.starts_with("ExecStop"));
    let is_tc = !is_stop && rest.first().is_some_and(|it| it.text.rsplit('/').next() == Some("tc"));
    if is_tc {
        rest = &rest[1..];
        while let Some(flag) = rest.first().filter(|it| it.text.starts_with('-')) {
            // Their value follows.
            let has_value = abbreviations::VALUED_FLAGS.contains(&flag.text);
            rest = rest.get(1 + usize::from(has_value)..).unwrap_or_default();
        }
    }
    let is_object = rest.first().is_some_and(|it| matches!(it.text, "qdisc" | "class" | "filter"));
    is_object.then_some(rest)
}

/// One command.
pub(super) fn statement(words: &[Token<'_>], setup: &mut TcSetup) -> Result<(), FormatError> {
    let Some(first) = words.first().copied() else { return Ok(()) };
    let Some([object, rest @ ..]) = of_tc(words) else {
        let text = format!("`{}` is not a tc command read here, and is left out", first.text);
        setup.note(TcNoteKind::Unknown, first.line, text);
        return Ok(());
    };
    if let Some(variable) = words.iter().find(|it| it.text.contains('$')) {
        let message =
            format!("`{}` is a variable of a shell: write its value in its place", variable.text);
        return Err(FormatError::at(variable.line, message));
    }
    let Some([verb, rest @ ..]) = Some(rest).filter(|it| !it.is_empty()) else {
        let message = format!("`{}` lacks a verb such as add or replace", object.text);
        return Err(FormatError::at(object.line, message));
    };
    match (object.text, verb.text) {
        (_, "show" | "list" | "ls" | "lst" | "get") => Ok(()),
        ("filter", "del" | "delete") => filters::delete(rest, setup),
        ("filter", _) => filter(*object, rest, setup),
        ("qdisc", "add" | "replace" | "change" | "link") => qdisc(*verb, rest, setup),
        ("class", "add" | "replace" | "change") => class(*verb, rest, setup),
        (_, "del" | "delete") => delete(*object, rest, setup),
        (object, verb_text) => {
            let message =
                format!("tc {object} has no verb `{verb_text}`; it has add, replace, change, del");
            Err(FormatError::at(verb.line, message))
        }
    }
}

/// The words up to the kind, and the kind.
fn head<'t>(
    verb: Token<'t>,
    tokens: &mut Tokens<'t>,
) -> Result<(Head, Option<Token<'t>>), FormatError> {
    let mut head = Head::default();
    while let Some(token) = tokens.next() {
        if matches!(token.text, "ingress" | "clsact") {
            head.parent = Some(TcParent::Ingress);
            return Ok((head, Some(token)));
        }
        if !head_word(token, tokens, &mut head)? {
            return Ok((head, Some(token)));
        }
    }
    match head.device.as_str() {
        "" => Err(FormatError::at(verb.line, "the command names no device: add `dev eth0`")),
        _ => Ok((head, None)),
    }
}

fn qdisc(verb: Token<'_>, words: &[Token<'_>], setup: &mut TcSetup) -> Result<(), FormatError> {
    let mut tokens = Tokens::new(words, true);
    let (head, kind) = head(verb, &mut tokens)?;
    let place = head.parent.clone();
    let Some(kind) = kind else {
        let message = "the command names no discipline: add its kind, such as fq_codel";
        return Err(FormatError::at(verb.line, message));
    };
    if head.device.is_empty() {
        let message = "the command names no device: add `dev eth0` before the kind";
        return Err(FormatError::at(verb.line, message));
    }
    let options = qdisc_options(kind, &mut tokens, setup)?;
    let same_place = |it: &TcQdisc| {
        it.device == head.device
            && match &place {
                Some(parent) => it.parent == *parent,
                None => !head.handle.is_empty() && it.handle == head.handle,
            }
    };
    let existing = setup.qdiscs.iter().position(same_place);
    if let Some(at) = in_place(verb, kind, &head.handle, existing, setup)? {
        change::change(setup, at, options, head.stab, verb.line);
        return Ok(());
    }
    let Some(parent) = place else {
        let message = "the command does not say where: add `root` or `parent 1:10` before the kind";
        return Err(FormatError::at(verb.line, message));
    };
    if let Some(at) = existing {
        if verb.text == "add" {
            let text = format!(
                "the kernel refuses this (`File exists`), as line {} added a discipline there; \
                 delete that first, or write replace",
                setup.qdiscs[at].line
            );
            setup.note(TcNoteKind::Refused, verb.line, text);
        }
        remove(setup, at);
    }
    if refused::place(&head.device, &parent, verb.line, setup) {
        return Ok(());
    }
    setup.qdiscs.push(TcQdisc {
        device: head.device,
        kind: kind.text.to_owned(),
        handle: head.handle,
        parent,
        stab: head.stab,
        options,
        counters: TcCounters::default(),
        line: verb.line,
    });
    Ok(())
}

/// The discipline that the command changes in place: by `change`, or by `replace` with the same
/// kind and handle (Linux 6.1 sch_api.c, tc_modify_qdisc).
fn in_place(
    verb: Token<'_>,
    kind: Token<'_>,
    handle: &str,
    existing: Option<usize>,
    setup: &TcSetup,
) -> Result<Option<usize>, FormatError> {
    let found = existing.map(|at| (at, &setup.qdiscs[at]));
    let is_handle = |known: &str| handle.is_empty() || handle == known;
    match (verb.text, found) {
        ("change", None) => {
            let message = "`change` needs a discipline that an earlier line added there; write \
                           replace";
            Err(FormatError::at(verb.line, message))
        }
        ("change", Some((_, it))) if it.kind != kind.text => {
            let message = format!(
                "`change` cannot make a {} of the {} there; write replace",
                kind.text, it.kind
            );
            Err(FormatError::at(verb.line, message))
        }
        ("change", Some((_, it))) if !is_handle(&it.handle) => {
            let message = format!("`change` names the handle {handle}, which is not there");
            Err(FormatError::at(verb.line, format!("{message}; write replace")))
        }
        ("change", Some((at, _))) => Ok(Some(at)),
        ("replace" | "link", Some((at, it))) if it.kind == kind.text && is_handle(&it.handle) => {
            Ok(Some(at))
        }
        _ => Ok(None),
    }
}

/// Removes a discipline; a root takes all other disciplines of its device with it, except the
/// ingress hook.
fn remove(setup: &mut TcSetup, at: usize) {
    let gone = setup.qdiscs.remove(at);
    if gone.parent == TcParent::Root {
        setup.qdiscs.retain(|it| it.device != gone.device || it.parent == TcParent::Ingress);
        setup.classes.retain(|it| it.device != gone.device);
        setup.filters.retain(|it| it.device != gone.device);
    }
}

fn class(verb: Token<'_>, words: &[Token<'_>], setup: &mut TcSetup) -> Result<(), FormatError> {
    let mut tokens = Tokens::new(words, true);
    let (head, kind) = head(verb, &mut tokens)?;
    let same = |it: &TcClass| it.device == head.device && it.id == head.class_id;
    let known = setup.classes.iter().find(|it| same(it)).map(|it| it.parent.clone());
    // The classes of ets are its bands, whose parent is its handle.
    let of_band = || {
        let major = head.class_id.split(':').next().unwrap_or("");
        (kind?.text == "ets").then(|| TcParent::Class(format!("{major}:")))
    };
    let (Some(kind), Some(parent)) = (kind, head.parent.or(known).or_else(of_band)) else {
        let message = "a class needs `parent 1:`, `classid 1:10` and a kind such as htb";
        return Err(FormatError::at(verb.line, message));
    };
    if head.class_id.is_empty() || head.device.is_empty() {
        let message = "a class needs `dev eth0` and `classid 1:10` before its kind";
        return Err(FormatError::at(verb.line, message));
    }
    let options = class_options(kind, &mut tokens, setup)?;
    let (device, id, kind) = (head.device, head.class_id, kind.text.to_owned());
    let class = TcClass { device, kind, id, parent, options, line: verb.line };
    if !refused::class(verb.text, &class, setup) {
        setup.classes.retain(|it| it.device != class.device || it.id != class.id);
        setup.classes.push(class);
    }
    Ok(())
}

fn delete(object: Token<'_>, words: &[Token<'_>], setup: &mut TcSetup) -> Result<(), FormatError> {
    let mut tokens = Tokens::new(words, true);
    let mut head = Head::default();
    while let Some(token) = tokens.next() {
        if !head_word(token, &mut tokens, &mut head)? && matches!(token.text, "ingress" | "clsact")
        {
            head.parent = Some(TcParent::Ingress);
        }
    }
    // Scripts often first delete an earlier set-up, which need not exist.
    let found = setup
        .qdiscs
        .iter()
        .position(|it| it.device == head.device && Some(&it.parent) == head.parent.as_ref());
    match (object.text, found) {
        ("qdisc", Some(at))
            if !head.handle.is_empty() && setup.qdiscs[at].handle != head.handle =>
        {
            let text = format!(
                "the kernel refuses this, as the discipline there does not have the handle {}; it \
                 stays",
                head.handle
            );
            setup.note(TcNoteKind::Unknown, object.line, text);
        }
        ("qdisc", Some(at)) => remove(setup, at),
        ("class", _) => {
            setup.classes.retain(|it| it.device != head.device || it.id != head.class_id);
        }
        _ => {}
    }
    Ok(())
}

/// Reads a filter: redirection to an ifb, policing, or the choice of a class by DSCP.
fn filter(object: Token<'_>, words: &[Token<'_>], setup: &mut TcSetup) -> Result<(), FormatError> {
    let words = &filters::whole(words)?;
    let device = |words: &[Token<'_>]| {
        let at = words.iter().position(|it| it.text == "dev")?;
        words.get(at + 1).map(|it| it.text.to_owned())
    };
    let Some(from) = device(words) else {
        return Err(FormatError::at(object.line, "the filter names no device: add `dev eth0`"));
    };
    let line = object.line;
    let police = words.iter().position(|it| it.text == "police");
    if let Some(at) = police {
        policer::read(&from, words, at, setup)?;
    }
    if let Some(at) = words.iter().position(|it| it.text == "redirect") {
        let Some(to) = device(&words[at..]) else {
            let message = "`redirect` names no device: add `dev ifb0`";
            return Err(FormatError::at(line, message));
        };
        setup.redirects.push(TcRedirect { from, to, line });
    } else if police.is_none() {
        filters::read(object, from, words, setup)?;
    }
    Ok(())
}
