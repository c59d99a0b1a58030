//! Text that is nearly legal: legal text with random edits.

use bolero::TypeGenerator;

/// Tokens that parsers look for, and tokens that parsers must refuse.
const WORDS: &[&str] = &[
    "",
    " ",
    "\n",
    "\t",
    ",",
    ":",
    "=",
    "@",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "#",
    "..",
    ".",
    "-",
    "+",
    "0",
    "1",
    "00",
    "1e9",
    "1e-300",
    "1e400",
    "nan",
    "inf",
    "-0",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775808",
    "0.0000000001",
    "ns",
    "us",
    "ms",
    "s",
    "p",
    "B",
    "kB",
    "KiB",
    "MiB",
    "bdp",
    "bit",
    "kbit",
    "mbit",
    "gbit",
    "hz",
    "%",
    "true",
    "false",
    "auto",
    "off",
    "fq(",
    "pie",
    "codel",
    "fq_codel",
    "linux",
    "limit",
    "target",
    "kind",
    "[[flows]]",
    "[links.x]",
    "null",
    "\u{0}",
    "\u{feff}",
    "é",
    "\u{1f600}",
    "∞",
];

/// One edit of a text; positions wrap around its length.
#[derive(Clone, Debug, TypeGenerator)]
pub enum Edit {
    /// Inserts a character.
    Char(u16, char),
    /// Inserts one of the words.
    Word(u16, u8),
    /// Deletes a number of characters.
    Cut(u16, u8),
    /// Copies a number of characters from the second position to the first.
    Copy(u16, u16, u8),
}

/// One of a list of texts, edited.
#[derive(Clone, Debug, TypeGenerator)]
pub struct Edited {
    which: u8,
    count: u8,
    edits: Vec<Edit>,
}

impl Edited {
    /// The edited text, from a list of legal ones.
    pub fn of(&self, right: &[&str]) -> String {
        let mut text: Vec<char> = right[usize::from(self.which) % right.len()].chars().collect();
        for edit in self.edits.iter().take(usize::from(self.count % 8)) {
            apply(edit, &mut text);
        }
        text.into_iter().collect()
    }
}

fn apply(edit: &Edit, text: &mut Vec<char>) {
    let place = |at: u16, text: &[char]| usize::from(at) % (text.len() + 1);
    let span = |at: u16, length: u8, text: &[char]| {
        let start = place(at, text);
        start..(start + usize::from(length % 32)).min(text.len())
    };
    match *edit {
        Edit::Char(at, c) => text.insert(place(at, text), c),
        Edit::Word(at, word) => {
            let start = place(at, text);
            let word = WORDS[usize::from(word) % WORDS.len()];
            text.splice(start..start, word.chars());
        }
        Edit::Cut(at, length) => {
            text.drain(span(at, length, text));
        }
        Edit::Copy(to, from, length) => {
            let part = text[span(from, length, text)].to_vec();
            let start = place(to, text);
            text.splice(start..start, part);
        }
    }
}
