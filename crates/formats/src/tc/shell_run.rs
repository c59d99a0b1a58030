//! Runs the steps of a script.

use super::commands;
use super::shell::{self, State, Variables, is_tc, sets_up};
use super::shell_flow::{DEEPEST, is_test};
use super::shell_script::{self, Part, Script, Step};
use super::shell_words::first_word;
use super::tree::{TcNoteKind, TcSetup};
use super::words::Token;
use crate::FormatError;

/// The most commands that loops and functions run.
const MOST_COMMANDS: usize = 20_000;

/// The state of a script that runs.
pub(super) struct Shell<'s> {
    pub(super) script: &'s Script,
    pub(super) setup: &'s mut TcSetup,
    pub(super) variables: Variables,
    commands: usize,
    depth: usize,
    /// The test (`[ -z "$DEV" ]`) before a `&&`, and whether it holds, if that is known.
    test: Option<(String, Option<bool>)>,
    /// What a `break`, `continue`, `return` or `exit` leaves.
    leaves: Option<Leaves>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaves {
    Iteration,
    Loop,
    Function,
    Script,
}

impl<'s> Shell<'s> {
    pub(super) fn new(script: &'s Script, setup: &'s mut TcSetup) -> Shell<'s> {
        let variables = Variables::default();
        Shell { script, setup, variables, commands: 0, depth: 0, test: None, leaves: None }
    }

    pub(super) fn steps(&mut self, steps: &[Step]) -> Result<(), FormatError> {
        for step in steps {
            match step {
                Step::Command(part) => self.alternatives(part)?,
                Step::For { line, name, list, body } => self.each((*line, name, list), body)?,
                Step::While { line, word, head, body } => {
                    self.repeated((*line, word, head), body)?;
                }
                Step::Choice { line, word, subject, branches, is_whole } => {
                    self.choice((*line, word, subject), branches, *is_whole)?;
                }
            }
            if self.leaves.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Whether a loop goes on after an iteration.
    fn goes_on(&mut self) -> bool {
        match self.leaves {
            Some(Leaves::Iteration | Leaves::Loop) => self.leaves.take() == Some(Leaves::Iteration),
            other => other.is_none(),
        }
    }

    /// Bounds the commands and iterations.
    fn count(&mut self, line: usize) -> Result<(), FormatError> {
        self.commands += 1;
        if self.commands > MOST_COMMANDS {
            let message = format!(
                "the script runs more than {MOST_COMMANDS} commands: paste those of one device"
            );
            return Err(FormatError::at(line, message));
        }
        Ok(())
    }

    /// The commands between `||`, of which a later one runs if the earlier one fails.
    fn alternatives(&mut self, part: &Part) -> Result<(), FormatError> {
        self.count(part.line)?;
        let before = self.test.take().filter(|_| part.is_conditional);
        let (first, rest) = part.text.split_once("||").unwrap_or((&part.text, ""));
        if is_test(&part.text) {
            let fails = before.is_some_and(|it| it.1 == Some(false));
            let holds = if fails { Some(false) } else { self.variables.holds(first) };
            return match (rest.trim(), holds) {
                ("", _) => {
                    self.test = Some((part.text.clone(), holds));
                    Ok(())
                }
                (_, Some(true)) => Ok(()),
                (rest, Some(false)) if leaves(rest).is_some() => {
                    self.leaves = leaves(rest);
                    Ok(())
                }
                (rest, Some(false)) => self.command(rest, part.line, None),
                (rest, None) => self.unsure(first.trim(), rest, part.line),
            };
        }
        if let Some((_, holds)) =
            before.as_ref().filter(|it| !rest.is_empty() && it.1 != Some(true))
        {
            // `[ $A -gt 9 ] && B=1 || B=2`
            let text = rest.trim().to_owned();
            if *holds == Some(false) {
                return self.alternatives(&Part { text, is_conditional: false, ..part.clone() });
            }
            let mut names = Vec::new();
            for text in [first.trim().to_owned(), text] {
                shell_script::assigned(&[Step::Command(Part { text, ..part.clone() })], &mut names);
            }
            if !names.is_empty() {
                names.iter().for_each(|it| self.variables.forget(it));
                return Ok(());
            }
        }
        let is_sure = before.as_ref().is_none_or(|it| it.1 == Some(true));
        if let Some(leaves) = leaves(first).filter(|_| is_sure) {
            self.leaves = Some(leaves);
            return Ok(());
        }
        let mut failed = None;
        for (index, text) in part.text.split("||").enumerate() {
            let text = text.trim();
            if index > 0 && !self.script.is_setting(text) {
                continue;
            }
            match self.command(text, part.line, before.as_ref()) {
                Ok(()) if sets_up(text) => return Ok(()),
                Ok(()) => failed = None,
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// The command after a test and `||`, if the text does not tell whether the test holds.
    fn unsure(&mut self, test: &str, rest: &str, line: usize) -> Result<(), FormatError> {
        if self.script.is_setting(rest) {
            return self.command(rest, line, None);
        }
        let is_default = test.contains("-n");
        let part = Part { line, text: rest.to_owned(), is_conditional: true, is_block: false };
        let mut names = Vec::new();
        shell_script::assigned(&[Step::Command(part)], &mut names);
        // `[ -n "$DEV" ] || DEV=eth0` sets what is not set.
        match names.first() {
            Some(name) if is_default && matches!(self.variables.state(name), State::Unset) => {
                self.variables.assign(rest);
            }
            Some(name) => self.variables.forget(name),
            None => {}
        }
        Ok(())
    }

    fn command(
        &mut self,
        text: &str,
        line: usize,
        test: Option<&(String, Option<bool>)>,
    ) -> Result<(), FormatError> {
        match test {
            Some((_, Some(false))) => return Ok(()),
            Some((test, None)) if self.is_doubtful(test, text, line) => return Ok(()),
            _ => {}
        }
        if self.variables.assign(text) || self.variables.computed(text) {
            self.tell(line);
            return Ok(());
        }
        if let Some(function) = self.script.called(text) {
            return self.call(&function.body, text, line);
        }
        let is_message = matches!(first_word(text).0, "echo" | "printf" | "logger");
        let text = match is_message {
            true => text.to_owned(),
            false => shell::plain(&self.variables.replaced(without_pipe(text))),
        };
        self.tell(line);
        if let Some(function) = self.script.called(&text) {
            return self.call(&function.body, &text, line);
        }
        let words: Vec<Token<'_>> =
            text.split_whitespace().map(|text| Token { text, line }).collect();
        commands::statement(&words, self.setup)
    }

    /// Notes the defaults that were taken for what the text does not set.
    pub(super) fn tell(&mut self, line: usize) {
        for text in std::mem::take(&mut self.variables.assumed) {
            self.setup.note(TcNoteKind::Unknown, line, text);
        }
    }

    /// Whether a command is left out, as the text does not tell whether the test before it holds:
    /// one that only deletes. Others are taken to run.
    fn is_doubtful(&mut self, test: &str, text: &str, line: usize) -> bool {
        let mut names = Vec::new();
        let part = Part { line, text: text.to_owned(), is_conditional: true, is_block: false };
        shell_script::assigned(&[Step::Command(part)], &mut names);
        if let Some(name) = names.first().filter(|it| self.variables.is_known(it)) {
            // `[ -z "$DEV" ] && DEV=eth0` keeps what is known.
            if !test.contains("-z") {
                self.variables.forget(name);
            }
            return true;
        }
        if leaves(text).is_some() {
            return true;
        }
        if !is_tc(text) && self.script.called(text).is_none() {
            return false;
        }
        let is_setting = self.script.is_setting(text);
        let fate = if is_setting { "taken to run" } else { "left out" };
        let text = format!("the command after `{test} &&` is {fate}");
        self.setup.note(TcNoteKind::Unknown, line, text);
        !is_setting
    }

    /// Runs a function with its arguments.
    fn call(&mut self, body: &[Step], text: &str, line: usize) -> Result<(), FormatError> {
        if self.depth >= DEEPEST {
            let message = format!("`{}` calls itself: paste the commands", first_word(text).0);
            return Err(FormatError::at(line, message));
        }
        let given = self.variables.replaced(without_pipe(first_word(text).1));
        let before = self.variables.arguments(Some(&given));
        self.depth += 1;
        self.variables.enter();
        let result = self.steps(body);
        self.variables.leave();
        self.depth -= 1;
        self.leaves = self.leaves.filter(|it| *it == Leaves::Script);
        self.variables.restore(before);
        result
    }

    fn each(
        &mut self,
        (line, name, list): (usize, &str, &str),
        body: &[Step],
    ) -> Result<(), FormatError> {
        let words = self.variables.listed(list);
        self.tell(line);
        match words {
            Some(words) => {
                for word in words {
                    self.count(line)?;
                    self.variables.set(name, word);
                    self.steps(body)?;
                    if !self.goes_on() {
                        break;
                    }
                }
                Ok(())
            }
            None if self.script.changes(body) => {
                let message = format!(
                    "the shell computes the list of `for {name} in {}`: write its words",
                    self.variables.replaced(list).trim()
                );
                Err(FormatError::at(line, message))
            }
            None => {
                self.skip(body);
                self.left_out(line, "for");
                Ok(())
            }
        }
    }

    fn repeated(
        &mut self,
        (line, word, head): (usize, &str, &str),
        body: &[Step],
    ) -> Result<(), FormatError> {
        let (condition, step) = self.begun(word, head, body);
        let ends = word == "until";
        let mut holds = condition.as_deref().and_then(|it| self.variables.holds(it));
        if let Some(condition) = condition.filter(|_| holds.is_some()) {
            while holds == Some(!ends) {
                self.count(line)?;
                self.steps(body)?;
                if !self.goes_on() {
                    return Ok(());
                }
                step.iter().for_each(|it| self.variables.calculate(it));
                holds = self.variables.holds(&condition);
            }
            if holds.is_some() {
                return Ok(());
            }
        }
        if self.script.changes(body) {
            let message = format!(
                "how often `{word}` repeats its commands is not read here: write them one by one, \
                 or in a `for` over a list"
            );
            return Err(FormatError::at(line, message));
        }
        self.skip(body);
        self.left_out(line, word);
        Ok(())
    }

    /// The condition of a loop, and what the `for` of C computes after each iteration; `None` if
    /// the text does not tell.
    fn begun(&mut self, word: &str, head: &str, body: &[Step]) -> (Option<String>, Option<String>) {
        if let Some(inside) = head.strip_prefix("((").filter(|_| word == "for") {
            let parts: Vec<&str> = inside.trim_end_matches("))").split(';').collect();
            let [first, condition, step] = parts.as_slice() else { return (None, None) };
            self.variables.calculate(first);
            return (Some(format!("(({condition}))")), Some((*step).to_owned()));
        }
        let has_more = |it: &Step| matches!(it, Step::Command(part) if part.is_conditional);
        let is_endless = matches!(head.trim(), "true" | ":" | "[ 1 ]");
        (Some(head.to_owned()).filter(|_| !is_endless && !body.first().is_some_and(has_more)), None)
    }

    /// Forgets the variables that unread steps assign.
    fn skip(&mut self, body: &[Step]) {
        let mut names = Vec::new();
        shell_script::assigned(body, &mut names);
        names.iter().for_each(|it| self.variables.forget(it));
    }

    fn left_out(&mut self, line: usize, word: &str) {
        let text = format!("`{word}` repeats no command that is read here, and is left out");
        self.setup.note(TcNoteKind::Unknown, line, text);
    }

    /// Runs the function of a script that calls none itself.
    pub(super) fn uncalled(&mut self) -> Result<(), FormatError> {
        if !self.setup.qdiscs.is_empty() {
            return Ok(());
        }
        self.leaves = None;
        let script = self.script;
        let uncalled = script.uncalled();
        let start = uncalled.iter().find(|it| it.name.starts_with("start"));
        match (uncalled.as_slice(), start) {
            ([only], _) | (_, Some(only)) => self.steps(&only.body),
            ([], _) => Ok(()),
            ([one, other, ..], _) => Err(FormatError::whole(format!(
                "the script calls neither `{}` nor `{}`: paste the commands of one",
                one.name, other.name
            ))),
        }
    }
}

/// What a command leaves, if it does.
fn leaves(text: &str) -> Option<Leaves> {
    match first_word(text).0 {
        "continue" => Some(Leaves::Iteration),
        "break" => Some(Leaves::Loop),
        "return" => Some(Leaves::Function),
        "exit" => Some(Leaves::Script),
        _ => None,
    }
}

/// Text after a pipe or a redirection belongs to the shell.
fn without_pipe(text: &str) -> &str {
    let end = text.find("2>").or_else(|| text.find(['|', '>'])).unwrap_or(text.len());
    text[..end].trim().trim_end_matches('&').trim_end()
}
