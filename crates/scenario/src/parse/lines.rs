//! Finds the line of a key in a TOML text, for error messages.

use toml::de::{DeTable, DeValue};

/// Looks up the lines of a text's keys and entries by their dotted paths.
pub(super) struct Lines<'a> {
    text: &'a str,
    root: Option<DeTable<'a>>,
}

impl<'a> Lines<'a> {
    /// The lines of a text; finds no line if the text is not TOML.
    pub(super) fn of(text: &'a str) -> Lines<'a> {
        Lines { text, root: DeTable::parse(text).ok().map(|table| table.into_inner()) }
    }

    /// The line of the key or entry at a dotted path, counted from 1.
    pub(super) fn line(&self, path: &str) -> Option<usize> {
        Some(line_at(self.text, offset_in_table(self.root.as_ref()?, path)?))
    }
}

/// The line of the key or entry at a dotted path of a TOML text, counted from 1; None for other
/// texts, and if the text has no such key.
pub fn line_of(text: &str, path: &str) -> Option<usize> {
    Lines::of(text).line(path)
}

/// The line of an offset, counted from 1.
pub(super) fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
}

/// The offset of the key or entry at a dotted path.
fn offset_in_table(table: &DeTable, path: &str) -> Option<usize> {
    table.iter().find_map(|(key, value)| match path.strip_prefix(key.get_ref().as_ref())? {
        "" => Some(key.span().start),
        rest => offset_in_value(value.get_ref(), rest),
    })
}

fn offset_in_value(value: &DeValue, path: &str) -> Option<usize> {
    match value {
        DeValue::Table(table) => offset_in_table(table, path.strip_prefix('.')?),
        DeValue::Array(items) => {
            let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
            let item = items.get(index.parse::<usize>().ok()?)?;
            match rest {
                "" => Some(item.span().start),
                rest => offset_in_value(item.get_ref(), rest),
            }
        }
        _ => None,
    }
}
