//! The control flow of shell scripts: loops over lists, functions, branches.

use super::shell::{is_tc, sets_up};
use super::shell_arithmetic::assignment;
use super::shell_script::{Branch, Function, Part, Script, Step};
use super::shell_words::first_word;
use crate::FormatError;

/// The deepest nesting of blocks, and of calls of functions.
pub(super) const DEEPEST: usize = 16;

const MOST_FUNCTIONS: usize = 128;

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
                "{" => self.group(&part, depth, &mut steps)?,
                _ if part.text.ends_with("|| {") || part.text.contains("|| { ") => {
                    self.otherwise(&part, depth, &mut steps)?;
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

    /// `{ ...; }`, also after a test and `&&`.
    fn group(
        &mut self,
        part: &Part,
        depth: usize,
        steps: &mut Vec<Step>,
    ) -> Result<(), FormatError> {
        let body = self.block(depth + 1, Some(part))?;
        self.end(part, "}")?;
        let is_test = |it: &Step| matches!(it, Step::Command(before) if is_test(&before.text));
        match steps.pop_if(|it| part.is_conditional && is_test(it)) {
            Some(Step::Command(test)) => {
                let branches = vec![Branch { condition: test.text, body, ..Branch::default() }];
                let (line, subject) = (part.line, String::new());
                steps.push(Step::Choice { line, word: "if", subject, branches, is_whole: false });
            }
            _ => steps.extend(body),
        }
        Ok(())
    }

    /// `command || { ...; }`: the commands in braces run if the first fails, and are left out
    /// unless that is a test.
    fn otherwise(
        &mut self,
        part: &Part,
        depth: usize,
        steps: &mut Vec<Step>,
    ) -> Result<(), FormatError> {
        let (text, inside) = part.text.split_once("|| {").unwrap_or((&part.text, ""));
        let text = text.trim().to_owned();
        if !inside.trim().is_empty() {
            self.at -= 1;
            self.parts[self.at].text = inside.trim().to_owned();
        }
        let body = self.block(depth + 1, Some(part))?;
        self.end(part, "}")?;
        if is_test(&text) {
            let condition = format!("! {text}");
            let branches = vec![Branch { condition, body, ..Branch::default() }];
            let (line, subject) = (part.line, String::new());
            steps.push(Step::Choice { line, word: "if", subject, branches, is_whole: false });
        } else {
            steps.push(Step::Command(Part { text, ..part.clone() }));
        }
        Ok(())
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
        let mut head = rest.to_owned();
        if word == "for" && rest.starts_with("((") {
            // `;` separates its three parts.
            while let Some(next) = self.peek().filter(|it| it.line == line) {
                if head.ends_with("))") {
                    break;
                }
                head = format!("{head};{}", next.text);
                self.at += 1;
            }
        }
        let body = self.block(depth + 1, Some(part))?;
        self.end(part, "done")?;
        let (name, list) = first_word(rest);
        Ok(match list.strip_prefix("in ").filter(|_| word == "for") {
            Some(list) => Step::For { line, name: name.to_owned(), list: list.to_owned(), body },
            None => Step::While { line, word: word.to_owned(), head, body },
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
        let mut branches = vec![self.branch(part, given.to_owned(), depth)?];
        let mut is_whole = false;
        while let Some(text) = self.peek().map(|it| it.text.clone()) {
            let (word, condition) = first_word(&text);
            if !matches!(word, "else" | "elif") {
                break;
            }
            is_whole |= word == "else";
            self.at += 1;
            branches.push(self.branch(part, condition.to_owned(), depth)?);
        }
        self.end(part, "fi")?;
        if sets_up(condition) {
            // `if ! tc qdisc add ...`: the command is taken to succeed.
            let is_not = given.starts_with('!');
            let at = if is_not { is_whole.then(|| branches.len() - 1) } else { Some(0) };
            steps.extend(at.into_iter().flat_map(|at| branches.swap_remove(at).body));
            return Ok(());
        }
        let (line, subject) = (part.line, String::new());
        steps.push(Step::Choice { line, word: "if", subject, branches, is_whole });
        Ok(())
    }

    /// A branch; the parts of a longer condition (`[ a ] && [ b ]`) come first in its block.
    fn branch(
        &mut self,
        part: &Part,
        condition: String,
        depth: usize,
    ) -> Result<Branch, FormatError> {
        let mut condition = condition;
        while let Some(more) = self.peek().filter(|it| it.is_conditional && is_test(&it.text)) {
            condition = format!("{condition} && {}", more.text);
            self.at += 1;
        }
        if self.peek().is_some_and(|it| it.is_conditional) {
            // Another command decides too.
            condition.push_str(" && ?");
        }
        Ok(Branch { condition, body: self.block(depth + 1, Some(part))?, ..Branch::default() })
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
            let body = self.block(depth + 1, Some(part))?;
            branches.push(Branch { label: name, body, ..Branch::default() });
        }
        self.end(part, "esac")?;
        let subject = part.text.split_whitespace().nth(1).unwrap_or("").to_owned();
        Ok(Step::Choice { line: part.line, word: "case", subject, branches, is_whole: false })
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
        self.functions.push(Function::new(name, body));
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

/// Whether a text is a test, such as `[ -z "$DEV" ]`.
pub(super) fn is_test(text: &str) -> bool {
    let computed = text.strip_prefix("((").and_then(|it| it.strip_suffix("))"));
    match computed {
        Some(inside) => assignment(inside).is_none(),
        None => ["[ ", "[[ ", "! ", "test ", "(("].iter().any(|it| text.starts_with(it)),
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
