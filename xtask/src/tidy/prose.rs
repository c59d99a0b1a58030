//! A file as a sequence of words, so that a citation may span two lines.

/// A word of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    /// Its line, from 1.
    pub(super) line: usize,
    /// The word with its punctuation.
    pub(super) raw: &'a str,
}

impl<'a> Word<'a> {
    /// The word without punctuation around it.
    pub(super) fn bare(&self) -> &'a str {
        self.raw.trim_matches(|c: char| !c.is_alphanumeric())
    }

    /// Whether it ends a list item or a sentence.
    pub(super) fn closes(&self) -> bool {
        self.raw.trim_end_matches(',').ends_with(['.', ';', ':', ')', '"', '`'])
    }
}

/// The words of a file; comment signs do not count as words.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let of_line = |(index, line)| {
        let line: &str = line;
        let words = line.split(|c: char| c.is_whitespace());
        words.filter(|word| !is_comment_sign(word)).map(move |raw| Word { line: index + 1, raw })
    };
    text.lines().enumerate().flat_map(of_line).collect()
}

fn is_comment_sign(word: &str) -> bool {
    word.chars().all(|c| matches!(c, '/' | '!' | '#' | '*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_runs_over_lines_of_comments() {
        let words = words("    /// See (fact\n    /// tcp-3).\n#\n");
        let bare: Vec<(usize, &str)> = words.iter().map(|word| (word.line, word.bare())).collect();
        assert_eq!(bare, [(1, "See"), (1, "fact"), (2, "tcp-3")]);
    }
}
