//! Runs a shell script as far as its commands of tc do not depend on what it does not contain.

use super::commands;
use super::shell::{self, Variables, is_tc, sets_up};
use super::shell_flow::{self, Branch, DEEPEST, Part, Script, Step, first_word};
use super::tree::{TcNoteKind, TcSetup, TcSource};
use super::words::Token;
use crate::FormatError;

/// The most commands that loops and functions run.
const MOST_COMMANDS: usize = 20_000;

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
    let (variables, setup) = (Variables::default(), setup);
    let mut shell = Shell { script: &script, setup, variables, commands: 0, depth: 0, test: None };
    shell.steps(&script.steps)?;
    shell.uncalled()
}

/// The parts of the lines: `\` continues a line, `;` and `&&` end a part, `#` begins a comment.
fn parts(text: &str) -> Vec<Part> {
    let mut all = Vec::new();
    let mut pending: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        let line = commands::without_prompt(line);
        let line = line.split_once(" #").map_or(line, |(before, _)| before).trim();
        let (start, mut joined) = pending.take().unwrap_or((index + 1, String::new()));
        match line.strip_suffix('\\') {
            Some(more) => {
                joined.push_str(more);
                joined.push(' ');
                pending = Some((start, joined));
            }
            None => {
                joined.push_str(line);
                split(&joined, start, &mut all);
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

struct Shell<'s> {
    script: &'s Script,
    setup: &'s mut TcSetup,
    variables: Variables,
    commands: usize,
    depth: usize,
    /// The test (`[ -z "$DEV" ]`) before a `&&`.
    test: Option<String>,
}

impl Shell<'_> {
    fn steps(&mut self, steps: &[Step]) -> Result<(), FormatError> {
        steps.iter().try_for_each(|step| match step {
            Step::Command(part) => self.alternatives(part),
            Step::For { line, name, list, body } => self.each((*line, name, list), body),
            Step::While { line, word, body } => self.repeated(*line, word, body),
            Step::Choice { line, word, branches, is_whole } => {
                self.choice((*line, word), branches, *is_whole)
            }
        })
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
        let test = self.test.take().filter(|_| part.is_conditional);
        let mut failed = None;
        for (index, text) in part.text.split("||").enumerate() {
            let text = text.trim();
            if index > 0 && !sets_up(text) && self.script.called(text).is_none() {
                continue;
            }
            match self.command(text, part.line, test.as_deref()) {
                Ok(()) if sets_up(text) => return Ok(()),
                Ok(()) => failed = None,
                Err(error) => failed = Some(error),
            }
        }
        if part.text.starts_with(['[', '!']) || part.text.starts_with("test ") {
            self.test = Some(part.text.clone());
        }
        failed.map_or(Ok(()), Err)
    }

    fn command(&mut self, text: &str, line: usize, test: Option<&str>) -> Result<(), FormatError> {
        if let Some(test) = test {
            if self.is_skipped(test, text, line) {
                return Ok(());
            }
            let mut names = Vec::new();
            let text = text.to_owned();
            let part = Part { line, text, is_conditional: true, is_block: false };
            shell_flow::assigned(&[Step::Command(part)], &mut names);
            if let Some(name) = names.first().filter(|it| self.variables.is_known(it)) {
                // `[ -z "$DEV" ] && DEV=eth0` keeps what is known.
                if !test.contains("-z") {
                    self.variables.forget(name);
                }
                return Ok(());
            }
        }
        if self.variables.assign(text) || self.variables.computed(text) {
            return Ok(());
        }
        if let Some(function) = self.script.called(text) {
            return self.call(&function.body, text, line);
        }
        let text = shell::plain(&self.variables.replaced(without_pipe(text)));
        if let Some(function) = self.script.called(&text) {
            return self.call(&function.body, &text, line);
        }
        let words: Vec<Token<'_>> =
            text.split_whitespace().map(|text| Token { text, line }).collect();
        commands::statement(&words, self.setup)
    }

    /// Whether a command of tc after a test is left out: one that only deletes. Others are taken to
    /// run.
    fn is_skipped(&mut self, test: &str, text: &str, line: usize) -> bool {
        if !is_tc(text) && self.script.called(text).is_none() {
            return false;
        }
        let is_setting = sets_up(text) || self.script.called(text).is_some();
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
        let result = self.steps(body);
        self.depth -= 1;
        self.variables.restore(before);
        result
    }

    fn each(
        &mut self,
        (line, name, list): (usize, &str, &str),
        body: &[Step],
    ) -> Result<(), FormatError> {
        let list = self.variables.replaced(list);
        match shell::words_of_list(&list) {
            Some(words) => words.into_iter().try_for_each(|word| {
                self.count(line)?;
                self.variables.set(name, word);
                self.steps(body)
            }),
            None if self.script.changes(body) => {
                let message = format!(
                    "the shell computes the list of `for {name} in {}`: write its words",
                    list.trim()
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

    fn repeated(&mut self, line: usize, word: &str, body: &[Step]) -> Result<(), FormatError> {
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

    /// A branch whose commands set something up is taken to run if it is the only one.
    fn choice(
        &mut self,
        (line, word): (usize, &str),
        branches: &[Branch],
        is_whole: bool,
    ) -> Result<(), FormatError> {
        let setting: Vec<&Branch> =
            branches.iter().filter(|it| self.script.changes(&it.body)).collect();
        let is_start = |it: &&&Branch| it.label.split('|').any(|it| it.trim() == "start");
        let chosen = match setting.as_slice() {
            [] => None,
            [only] => Some(*only),
            several => match several.iter().find(is_start) {
                Some(start) => Some(*start),
                None => {
                    let message = format!(
                        "several branches of `{word}` set up disciplines, and which of them runs \
                         is not in the text: delete the others"
                    );
                    return Err(FormatError::at(line, message));
                }
            },
        };
        let Some(chosen) = chosen else {
            self.without_commands(branches, is_whole);
            return Ok(());
        };
        let which = match chosen.label.as_str() {
            "" => String::new(),
            label => format!(" under `{label})`"),
        };
        let text = format!("the commands of `{word}`{which} are taken to run");
        self.setup.note(TcNoteKind::Unknown, line, text);
        self.steps(&chosen.body)
    }

    /// Branches that set up nothing may still assign variables: one that is known stays known only
    /// if no branch assigns it.
    fn without_commands(&mut self, branches: &[Branch], is_whole: bool) {
        let mut names = Vec::new();
        branches.iter().for_each(|it| shell_flow::assigned(&it.body, &mut names));
        let is_twice = |name: &String| names.iter().filter(|it| *it == name).count() > 1;
        let (unsure, sure): (Vec<&String>, Vec<&String>) =
            names.iter().partition(|it| is_whole || is_twice(it) || self.variables.is_known(it));
        unsure.iter().for_each(|it| self.variables.forget(it));
        let alone = |part: &Part| {
            let mut own = Vec::new();
            let step = Step::Command(part.clone());
            shell_flow::assigned(std::slice::from_ref(&step), &mut own);
            own.first().is_some_and(|it| sure.contains(&it))
        };
        for step in branches.iter().flat_map(|it| &it.body) {
            if let Step::Command(part) = step
                && alone(part)
            {
                self.variables.assign(&part.text);
            }
        }
    }

    /// Forgets the variables that unread steps assign.
    fn skip(&mut self, body: &[Step]) {
        let mut names = Vec::new();
        shell_flow::assigned(body, &mut names);
        names.iter().for_each(|it| self.variables.forget(it));
    }

    fn left_out(&mut self, line: usize, word: &str) {
        let text = format!("`{word}` repeats no command that is read here, and is left out");
        self.setup.note(TcNoteKind::Unknown, line, text);
    }

    /// Runs the function of a script that calls none itself.
    fn uncalled(&mut self) -> Result<(), FormatError> {
        if !self.setup.qdiscs.is_empty() {
            return Ok(());
        }
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

/// Text after a pipe or a redirection belongs to the shell.
fn without_pipe(text: &str) -> &str {
    let end = text.find("2>").or_else(|| text.find(['|', '>'])).unwrap_or(text.len());
    text[..end].trim().trim_end_matches('&').trim_end()
}
