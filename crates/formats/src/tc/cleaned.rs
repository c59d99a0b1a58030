//! Characters that web pages and word processors put in place of those of a terminal.

use std::borrow::Cow;

/// Typographic quotation marks and the plain ones that they replace.
const QUOTES: [(char, char); 8] = [
    ('\u{2018}', '\''),
    ('\u{2019}', '\''),
    ('\u{201a}', '\''),
    ('\u{201b}', '\''),
    ('\u{201c}', '"'),
    ('\u{201d}', '"'),
    ('\u{201e}', '"'),
    ('\u{201f}', '"'),
];
/// Characters without width.
const INVISIBLE: [char; 6] = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}', '\u{ad}'];
/// Marks of a forum around code, a line each.
const FENCES: [&str; 6] = ["[code]", "[/code]", "[CODE]", "[/CODE]", "```", "~~~"];

/// The text with plain quotation marks, without invisible characters and marks around code. Lines
/// keep their numbers.
pub(super) fn cleaned(text: &str) -> Cow<'_, str> {
    let is_odd = |c: char| INVISIBLE.contains(&c) || QUOTES.iter().any(|it| it.0 == c);
    if !text.contains(is_odd) && !FENCES.iter().any(|it| text.contains(it)) {
        return Cow::Borrowed(text);
    }
    let plain = |c: char| QUOTES.iter().find(|it| it.0 == c).map_or(c, |it| it.1);
    let mut all = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if FENCES.contains(&line.trim()) {
            all.push('\n');
            continue;
        }
        let line: String = line.chars().filter(|c| !INVISIBLE.contains(c)).map(plain).collect();
        all.push_str(&FENCES[..4].iter().fold(line, |line, it| line.replace(it, "")));
    }
    Cow::Owned(all)
}

#[cfg(test)]
mod tests {
    use super::cleaned;

    #[test]
    fn lines_keep_their_numbers() {
        assert_eq!(cleaned("[code]\na \u{2018}b\u{2019}\u{200b}\n[/code]"), "\na 'b'\n\n");
        assert_eq!(cleaned("[CODE]qdisc[/CODE]"), "qdisc");
        assert_eq!(cleaned("qdisc 'a'\n"), "qdisc 'a'\n");
    }
}
