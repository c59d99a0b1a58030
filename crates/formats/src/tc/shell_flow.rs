//! The control flow of shell scripts: loops over lists, functions, branches.

use super::shell::{self, is_tc, sets_up};
use crate::FormatError;

/// The deepest nesting of blocks, and of calls of functions.
pub(super) const DEEPEST: usize = 16;

const MOST_FUNCTIONS: usize = 128;

/// A part of a script.
#[derive(Debug)]
pub(super) enum Step {
    /// A command.
    Command(Part),
    /// `for NAME in LIST`.
    For { line: usize, name: String, list: String, body: Vec<Step> },
    /// `while`, `until` and the `for` of C: the word, and what runs repeatedly.
    While { line: usize, word: String, body: Vec<Step> },
    /// `if` or `case` with its branches, and whether one of them always runs.
    Choice { line: usize, word: &'static str, branches: Vec<Branch>, is_whole: bool },
}

/// A part of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Part {
    /// The line, counted from 1.
    pub(super) line: usize,
    /// The text without the marks around it.
    pub(super) text: String,
    /// Whether it runs only if the command before it succeeds (`&&`).
    pub(super) is_conditional: bool,
    /// Whether `do` or `then` follows, so that its first word is one of the shell, not of a
    /// sentence around the commands.
    pub(super) is_block: bool,
}

/// A branch with the pattern of a `case`.
#[derive(Debug, Default)]
pub(super) struct Branch {
    pub(super) label: String,
    pub(super) body: Vec<Step>,
}

/// A function.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) body: Vec<Step>,
    /// Whether it adds or changes something.
    sets_up: bool,
}

/// A script.
#[derive(Default, Debug)]
pub(super) struct Script {
    pub(super) steps: Vec<Step>,
    pub(super) functions: Vec<Function>,
}

/// Reads the blocks of a script.
pub(super) fn script(parts: &[Part]) -> Result<Script, FormatError> {
    let mut parser = Parser { parts: keywords(parts), at: 0, functions: Vec::new() };
    let mut steps = Vec::new();
    while parser.at < parser.parts.len() {
        steps.extend(parser.block(0, None)?);
        // The end of a block that the text does not begin.
        parser.at += 1;
    }
    let mut script = Script { steps, functions: parser.functions };
    script.find_setters();
    Ok(script)
}

/// Puts each keyword before a command into a part of its own; `do` and `then` are left out.
fn keywords(parts: &[Part]) -> Vec<Part> {
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        let mut rest = part.text.trim();
        loop {
            let (word, after) = first_word(rest);
            match word {
                "do" => begin(&mut all, &["for", "while", "until"]),
                "then" => begin(&mut all, &["if", "elif"]),
                "else" | "{" => all.push(Part { text: word.to_owned(), ..part.clone() }),
                _ => break,
            }
            rest = after;
        }
        if !rest.is_empty() {
            all.push(Part { text: rest.to_owned(), ..part.clone() });
        }
    }
    all
}

/// Marks the last part that begins with one of the words.
fn begin(parts: &mut [Part], words: &[&str]) {
    // The `for` of C has three parts, and a condition may have several.
    const MOST_PARTS: usize = 8;
    let is_begin = |it: &&mut Part| words.contains(&first_word(&it.text).0);
    if let Some(part) = parts.iter_mut().rev().take(MOST_PARTS).find(is_begin) {
        part.is_block = true;
    }
}

pub(super) fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
}

struct Parser {
    parts: Vec<Part>,
    at: usize,
    functions: Vec<Function>,
}

impl Parser {
    fn peek(&self) -> Option<&Part> {
        self.parts.get(self.at)
    }

    /// The steps up to the end of the block that `begun` begins, which is not taken.
    fn block(&mut self, depth: usize, begun: Option<&Part>) -> Result<Vec<Step>, FormatError> {
        if depth > DEEPEST {
            let line = begun.map_or(1, |it| it.line);
            let message =
                format!("the script nests more than {DEEPEST} blocks: paste its commands");
            return Err(FormatError::at(line, message));
        }
        let mut steps = Vec::new();
        while let Some(part) = self.peek().cloned() {
            let word = first_word(&part.text).0;
            if matches!(word, "done" | "fi" | "esac" | "}" | "else" | "elif") {
                return Ok(steps);
            }
            if begun.is_some_and(|it| it.text.starts_with("case ")) && label(&part.text).is_some() {
                return Ok(steps);
            }
            self.at += 1;
            let is_case = part.text.split_whitespace().nth(2) == Some("in");
            match word {
                "for" | "while" | "until" if part.is_block => {
                    steps.push(self.repeated(&part, depth)?);
                }
                "if" if part.is_block => self.branches(&part, depth, &mut steps)?,
                "case" if is_case => steps.push(self.cases(&part, depth)?),
                "{" => {
                    steps.extend(self.block(depth + 1, Some(&part))?);
                    self.end(&part, "}")?;
                }
                _ => match function(&part.text).filter(|it| self.is_body(it.1)) {
                    Some((name, inside)) => self.function(&part, name, inside, depth)?,
                    None => steps.push(Step::Command(part.clone())),
                },
            }
        }
        match begun {
            Some(part) => Err(cut_off(part)),
            None => Ok(steps),
        }
    }

    /// Whether the text after a function's name begins its body.
    fn is_body(&self, inside: &str) -> bool {
        let is_next = || self.peek().is_some_and(|it| it.text == "{");
        inside.starts_with('{') || inside.is_empty() && is_next()
    }

    /// Takes the word that ends a block.
    fn end(&mut self, begun: &Part, word: &str) -> Result<(), FormatError> {
        match self.peek() {
            Some(part) if first_word(&part.text).0 == word => {
                self.at += 1;
                Ok(())
            }
            _ => Err(cut_off(begun)),
        }
    }

    fn repeated(&mut self, part: &Part, depth: usize) -> Result<Step, FormatError> {
        let (word, rest) = first_word(&part.text);
        let line = part.line;
        if word == "for" && rest.starts_with("((") {
            // `;` separates its three parts.
            while self.peek().is_some_and(|it| it.line == line && !it.text.ends_with("))")) {
                self.at += 1;
            }
            self.at += usize::from(self.peek().is_some_and(|it| it.text.ends_with("))")));
        }
        let body = self.block(depth + 1, Some(part))?;
        self.end(part, "done")?;
        let (name, list) = first_word(rest);
        Ok(match list.strip_prefix("in ").filter(|_| word == "for") {
            Some(list) => Step::For { line, name: name.to_owned(), list: list.to_owned(), body },
            None => Step::While { line, word: word.to_owned(), body },
        })
    }

    fn branches(
        &mut self,
        part: &Part,
        depth: usize,
        steps: &mut Vec<Step>,
    ) -> Result<(), FormatError> {
        let given = first_word(&part.text).1;
        let condition = given.trim_start_matches('!').trim_start();
        if is_tc(condition) {
            steps.push(Step::Command(Part { text: condition.to_owned(), ..part.clone() }));
        }
        let mut branches =
            vec![Branch { body: self.block(depth + 1, Some(part))?, ..Branch::default() }];
        let mut is_whole = false;
        while let Some(word) = self.peek().map(|it| first_word(&it.text).0.to_owned()) {
            if !matches!(word.as_str(), "else" | "elif") {
                break;
            }
            is_whole |= word == "else";
            self.at += 1;
            branches.push(Branch { body: self.block(depth + 1, Some(part))?, ..Branch::default() });
        }
        self.end(part, "fi")?;
        if sets_up(condition) {
            // `if ! tc qdisc add ...`: the command is taken to succeed.
            let is_not = given.starts_with('!');
            let at = if is_not { is_whole.then(|| branches.len() - 1) } else { Some(0) };
            steps.extend(at.into_iter().flat_map(|at| branches.swap_remove(at).body));
            return Ok(());
        }
        steps.push(Step::Choice { line: part.line, word: "if", branches, is_whole });
        Ok(())
    }

    fn cases(&mut self, part: &Part, depth: usize) -> Result<Step, FormatError> {
        // The first pattern may follow on the same line.
        if let Some((_, first)) = part.text.split_once(" in ").filter(|it| !it.1.trim().is_empty())
        {
            self.at -= 1;
            self.parts[self.at].text = first.trim().to_owned();
        }
        let mut branches = Vec::new();
        while let Some(found) = self.peek().and_then(|it| label(&it.text)) {
            let (name, rest) = (found.0.to_owned(), found.1.to_owned());
            match rest.is_empty() {
                true => self.at += 1,
                false => self.parts[self.at].text = rest,
            }
            branches.push(Branch { label: name, body: self.block(depth + 1, Some(part))? });
        }
        self.end(part, "esac")?;
        Ok(Step::Choice { line: part.line, word: "case", branches, is_whole: false })
    }

    fn function(
        &mut self,
        part: &Part,
        name: &str,
        inside: &str,
        depth: usize,
    ) -> Result<(), FormatError> {
        let rest = match inside.strip_prefix('{') {
            Some(rest) => rest.trim(),
            None => {
                self.end(part, "{")?;
                ""
            }
        };
        if !rest.is_empty() {
            self.at -= 1;
            self.parts[self.at].text = rest.to_owned();
        }
        let body = self.block(depth + 1, Some(part))?;
        self.end(part, "}")?;
        self.functions.retain(|it| it.name != name);
        self.functions.push(Function { name: name.to_owned(), body, sets_up: false });
        match self.functions.len() > MOST_FUNCTIONS {
            true => {
                let message = format!(
                    "the script has more than {MOST_FUNCTIONS} functions: paste its commands"
                );
                Err(FormatError::at(part.line, message))
            }
            false => Ok(()),
        }
    }
}

fn cut_off(begun: &Part) -> FormatError {
    let word = first_word(&begun.text).0;
    FormatError::at(
        begun.line,
        format!("the block of `{word}` has no end: paste all of the script"),
    )
}

/// The pattern of a `case` and the command after it.
fn label(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(')')?;
    let name = name.trim_start_matches('(').trim();
    let is_plain = !name.is_empty() && !name.contains(['(', '`', '=', '{']);
    is_plain.then_some((name, rest.trim()))
}

/// The name of a function that the text defines, and the text after it.
fn function(text: &str) -> Option<(&str, &str)> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-.".contains(&it))
    };
    if let Some(rest) = text.strip_prefix("function ") {
        let rest = rest.trim_start();
        let end = rest.find(['(', '{', ' ']).unwrap_or(rest.len());
        let after = rest[end..].trim_start().trim_start_matches("()").trim_start();
        return is_name(&rest[..end]).then_some((&rest[..end], after));
    }
    let (name, rest) = text.split_once('(')?;
    let rest = rest.trim_start().strip_prefix(')')?;
    is_name(name.trim()).then_some((name.trim(), rest.trim_start()))
}

impl Script {
    /// Whether any of the steps, or of the functions that they call, adds or changes something.
    pub(super) fn changes(&self, steps: &[Step]) -> bool {
        steps.iter().any(|step| match step {
            Step::Command(part) => {
                sets_up(&part.text) || self.called(&part.text).is_some_and(|it| it.sets_up)
            }
            Step::For { body, .. } | Step::While { body, .. } => self.changes(body),
            Step::Choice { branches, .. } => branches.iter().any(|it| self.changes(&it.body)),
        })
    }

    /// Finds the functions that add or change something.
    fn find_setters(&mut self) {
        loop {
            let is_new = |it: &Function| !it.sets_up && self.changes(&it.body);
            let Some(at) = self.functions.iter().position(is_new) else { return };
            self.functions[at].sets_up = true;
        }
    }

    /// The function that a command calls.
    pub(super) fn called(&self, text: &str) -> Option<&Function> {
        let name = first_word(text).0;
        self.functions.iter().find(|it| it.name == name && name != "tc")
    }

    /// The functions that nothing calls and that add or change something.
    pub(super) fn uncalled(&self) -> Vec<&Function> {
        let bodies = self.functions.iter().flat_map(|it| &it.body).chain(&self.steps);
        let mut words = Vec::new();
        bodies.for_each(|step| first_words(step, &mut words));
        words.sort_unstable();
        let is_called = |it: &Function| words.binary_search(&it.name.as_str()).is_ok();
        self.functions.iter().filter(|it| it.sets_up && !is_called(it)).collect()
    }
}

/// The first words of all commands.
fn first_words<'s>(step: &'s Step, all: &mut Vec<&'s str>) {
    match step {
        Step::Command(part) => all.push(first_word(&part.text).0),
        Step::For { body, .. } | Step::While { body, .. } => {
            body.iter().for_each(|it| first_words(it, all));
        }
        Step::Choice { branches, .. } => {
            branches.iter().flat_map(|it| &it.body).for_each(|it| first_words(it, all));
        }
    }
}

/// The variables that the steps assign.
pub(super) fn assigned(steps: &[Step], all: &mut Vec<String>) {
    for step in steps {
        match step {
            Step::Command(part) => {
                let text = part.text.trim_start_matches("export ").trim_start_matches("local ");
                let name = text.split_once('=').map_or("", |it| it.0).trim_end_matches('+');
                if shell::is_name(name) {
                    all.push(name.to_owned());
                }
            }
            Step::For { body, .. } | Step::While { body, .. } => assigned(body, all),
            Step::Choice { branches, .. } => {
                branches.iter().for_each(|it| assigned(&it.body, all));
            }
        }
    }
}
