//! The kinds of values, and the words for these kinds.

use alloc::format;
use alloc::string::String;

use super::hint;

/// The kind of a parameter's value, for documentation and schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// A time such as `15ms`.
    Span,
    /// A frequency such as `0.125hz`.
    Hertz,
    /// A pure number.
    Number,
    /// A whole number.
    Whole,
    /// A size such as `1514B`.
    Bytes,
    /// A size that may be negative, such as `-4B`.
    SignedBytes,
    /// A queue limit such as `1000p` or `250kB`.
    Limit,
    /// A rate such as `10mbit`.
    Rate,
    /// `true` or `false`.
    Bool,
    /// One word of a list.
    Word,
}

/// Maps the words that Python and C use to kinds.
const KINDS: [(&str, ValueKind); 10] = [
    ("time", ValueKind::Span),
    ("frequency", ValueKind::Hertz),
    ("number", ValueKind::Number),
    ("whole number", ValueKind::Whole),
    ("bytes", ValueKind::Bytes),
    ("signed bytes", ValueKind::SignedBytes),
    ("limit", ValueKind::Limit),
    ("rate", ValueKind::Rate),
    ("bool", ValueKind::Bool),
    ("word", ValueKind::Word),
];

impl ValueKind {
    /// The word for a kind, as lists and explanations show it: `time`.
    pub fn word(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }

    /// The kind that a word names.
    ///
    /// # Errors
    /// A sentence with the nearest word.
    pub fn of_word(word: &str) -> Result<ValueKind, String> {
        let known = KINDS.map(|(word, _)| word);
        let found = KINDS.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind);
        found.ok_or_else(|| format!("unknown kind of value `{word}`{}", hint(word, &known)))
    }
}
