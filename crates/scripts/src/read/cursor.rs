//! A position in the text of a script, with the basic parsing steps.

use super::ReadError;

/// A position in a text.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// An earlier position and its line, so that each line is counted once.
    counted: (usize, u32),
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0, counted: (0, 1) }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The line of the next token, counted from one.
    pub(super) fn line(&mut self) -> u32 {
        self.skip_space();
        // An error may step back to before the counted position.
        let (place, line) = if self.counted.0 <= self.at { self.counted } else { (0, 1) };
        let line = line + self.text[place..self.at].matches('\n').count() as u32;
        self.counted = (self.at, line);
        line
    }

    /// An error at the current position: the problem and the remedy.
    pub(super) fn error(&mut self, message: String) -> ReadError {
        ReadError { line: self.line(), message }
    }

    /// [`Cursor::error`] including the text at this position.
    pub(super) fn expected(&mut self, what: &str) -> ReadError {
        self.skip_space();
        let found: String = self.rest().chars().take_while(|c| *c != '\n').take(30).collect();
        self.error(format!("expected {what}, found `{found}`"))
    }

    /// Skips blanks and comments: `// ...`, `/* ... */`, and a first line `#!...`.
    pub(super) fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            let comment = match rest.trim_start() {
                text if text.starts_with("//") => text.find('\n').unwrap_or(text.len()),
                text if text.starts_with("/*") => text.find("*/").map_or(text.len(), |end| end + 2),
                text if text.starts_with("#!") && self.at + blank == 0 => {
                    text.find('\n').unwrap_or(text.len())
                }
                _ => 0,
            };
            self.at += blank + comment;
            if blank + comment == 0 {
                return;
            }
        }
    }

    pub(super) fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.rest().is_empty()
    }

    /// The next non-blank character.
    pub(super) fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    /// Consumes this text if it is next; returns whether it was.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    /// Consumes this text if it is next and a whole word; returns whether it was.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let before = self.at;
        let found = self.word() == word;
        if !found {
            self.at = before;
        }
        found
    }

    pub(super) fn expect(&mut self, token: &str) -> Result<(), ReadError> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// Consumes the longest run of characters accepted by `takes`.
    pub(super) fn run(&mut self, takes: impl Fn(char) -> bool) -> &'a str {
        self.skip_space();
        let rest = self.rest();
        let end = rest.find(|c| !takes(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Consumes a run of letters, digits and underscores.
    pub(super) fn word(&mut self) -> &'a str {
        self.run(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// An integer as in packetdrill: 32 bits, decimal or hexadecimal.
    pub(super) fn number(&mut self) -> Result<u32, ReadError> {
        let before = self.at;
        let word = self.word();
        let value = match word.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        };
        value.ok_or_else(|| {
            self.at = before;
            self.expected("a number")
        })
    }

    /// Consumes the point of a decimal fraction, if it is next; `...` does not begin with one.
    pub(super) fn eat_fraction(&mut self) -> bool {
        let found = self.rest().starts_with('.') && !self.rest().starts_with("..");
        self.at += usize::from(found);
        found
    }

    /// Consumes the text up to and including `end`; returns it without `end`.
    pub(super) fn until(&mut self, end: &str) -> Result<&'a str, ReadError> {
        let rest = self.rest();
        let Some(length) = rest.find(end) else {
            return Err(self.error(format!("`{end}` is missing after this")));
        };
        self.at += length + end.len();
        Ok(&rest[..length])
    }

    /// Consumes the rest of the line.
    pub(super) fn rest_of_line(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find('\n').unwrap_or(rest.len());
        self.at += end;
        rest[..end].trim()
    }
}
