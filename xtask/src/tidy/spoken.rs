//! The English of a file: its comments and string literals, or the whole text of a page.

/// How a language writes comments and string literals.
struct Syntax {
    /// The opening of a comment that ends with its line.
    line: &'static [&'static str],
    /// The opening and the end of a comment over several lines.
    block: Option<(&'static str, &'static str)>,
    /// The opening and the end of a string literal, the longest first.
    quotes: &'static [&'static str],
    /// Whether a single quote opens a character or a lifetime, as in Rust.
    has_lifetimes: bool,
}

const RUST: Syntax =
    Syntax { line: &["//"], block: Some(("/*", "*/")), quotes: &["\""], has_lifetimes: true };
const C: Syntax = Syntax { quotes: &["\"", "'"], has_lifetimes: false, ..RUST };
const SCRIPT: Syntax = Syntax { quotes: &["\"", "'", "`"], has_lifetimes: false, ..RUST };
const PYTHON: Syntax = Syntax {
    line: &["#"],
    block: None,
    quotes: &["\"\"\"", "'''", "\"", "'"],
    has_lifetimes: false,
};
const SHELL: Syntax = Syntax { quotes: &[], ..PYTHON };

/// File extensions, each with the syntax; without a syntax the whole file is text.
const ENDS: &[(&str, Option<Syntax>)] = &[
    (".rs", Some(RUST)),
    (".py", Some(PYTHON)),
    (".pyi", Some(PYTHON)),
    (".toml", Some(PYTHON)),
    (".ts", Some(SCRIPT)),
    (".mjs", Some(SCRIPT)),
    (".c", Some(C)),
    (".h", Some(C)),
    (".cc", Some(C)),
    (".css", Some(C)),
    (".sh", Some(SHELL)),
    ("Makefile", Some(SHELL)),
    (".md", None),
    (".rst", None),
    (".txt", None),
    (".html", None),
    (".j2", None),
    (".template", None),
];

/// The file with everything except its English blanked out, line by line; `None` if it has none.
pub(super) fn english(path: &str, text: &str) -> Option<String> {
    let (_, syntax) = ENDS.iter().find(|(end, _)| path.ends_with(end))?;
    Some(match syntax {
        Some(syntax) => syntax.english(text),
        None => text.lines().map(without_code).collect::<Vec<_>>().join("\n"),
    })
}

/// A line of a page without texts in backquotes.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" _ ")
}

impl Syntax {
    fn english(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let taken = self.comment(rest, &mut out).or_else(|| self.string(rest, &mut out));
            let taken = taken.unwrap_or_else(|| {
                let length = self.code(rest, next);
                // A placeholder, so that texts before and after code do not run together.
                out.push_str(if next == '\n' || next == ' ' { &rest[..1] } else { " _ " });
                length
            });
            rest = &rest[taken..];
        }
        out
    }

    /// Appends the comment at the start of the text; returns its length.
    fn comment(&self, text: &str, out: &mut String) -> Option<usize> {
        if let Some(sign) = self.line.iter().find(|sign| text.starts_with(**sign)) {
            let end = text.find('\n').unwrap_or(text.len());
            out.push_str(&without_code(&text[sign.len()..end]));
            return Some(end);
        }
        let (open, close) = self.block?;
        let inner = text.strip_prefix(open)?;
        let end = inner.find(close).unwrap_or(inner.len());
        out.push_str(&inner[..end]);
        Some((open.len() + end + close.len()).min(text.len()))
    }

    /// Appends the string literal at the start of the text; returns its length.
    fn string(&self, text: &str, out: &mut String) -> Option<usize> {
        if self.has_lifetimes {
            let hashes = text
                .strip_prefix('r')
                .map_or(0, |raw| raw.len() - raw.trim_start_matches('#').len());
            let open = format!("r{}\"", "#".repeat(hashes));
            if hashes > 0 && text.starts_with(&open) {
                let inner = &text[open.len()..];
                let close = &format!("\"{}", "#".repeat(hashes));
                let end = inner.find(close).unwrap_or(inner.len());
                out.push_str(&inner[..end]);
                return Some((open.len() + end + close.len()).min(text.len()));
            }
        }
        let quote = self.quotes.iter().find(|quote| text.starts_with(**quote))?;
        let inner = &text[quote.len()..];
        let end = end_of_string(inner, quote);
        match inner[..end].trim().contains(char::is_whitespace) {
            true => out.push_str(&inner[..end].replace("\\n", " ").replace("\\\n", " \n")),
            false => out.push_str(" _ "), // one word is a value or a key
        }
        Some((quote.len() + end + quote.len()).min(text.len()))
    }

    /// The length of the code at the start of the text: one character, or a character literal.
    fn code(&self, text: &str, next: char) -> usize {
        if self.has_lifetimes && next == '\'' {
            for literal in ["'\"'", "'\\\"'", "'\\''", "'\\\\'"] {
                if text.starts_with(literal) {
                    return literal.len();
                }
            }
        }
        next.len_utf8()
    }
}

/// The end of a string literal, excluding its closing quote.
fn end_of_string(text: &str, quote: &str) -> usize {
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with(quote) {
            return at;
        }
        let next = text[at..].chars().next().expect("a character follows");
        at += next.len_utf8();
        if next == '\\' {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(path: &str, text: &str) -> Vec<String> {
        let english = english(path, text).expect("it has text");
        assert_eq!(english.matches('\n').count(), text.trim_end().matches('\n').count());
        let words = english.split_whitespace().filter(|word| *word != "_");
        words.map(str::to_owned).collect()
    }

    #[test]
    fn comments_and_literals_of_rust_are_text_and_its_code_is_not() {
        let text = "/// One `beside`.\nfn beside<'a>() { f('\"', \"two \\\" three\") } // four";
        assert_eq!(words("a.rs", text), ["/", "One", ".", "two", "\\\"", "three", "four"]);
        let text = "f(r#\"a \"b\" c\"#, r#name); /* d\ne */ g(\"// f\")";
        assert_eq!(words("a.rs", text), ["a", "\"b\"", "c", "d", "e", "//", "f"]);
    }

    #[test]
    fn comments_and_literals_of_python_are_text() {
        let text = "def f():\n    \"\"\"One 'two'\n    three.\"\"\"\n    return 'four of' # five";
        assert_eq!(words("a.py", text), ["One", "'two'", "three.", "four", "of", "five"]);
    }

    #[test]
    fn literals_of_scripts_may_stand_in_three_kinds_of_quotes() {
        assert_eq!(
            words("a.ts", "f('a b', \"c d\", `e f`, 'x') // g's"),
            ["a", "b", "c", "d", "e", "f", "g's"]
        );
        assert_eq!(words("a.c", "f(\"a b\", 'x'); /* c */"), ["a", "b", "c"]);
        assert_eq!(words("a.sh", "echo 'a' # b"), ["b"]);
    }

    #[test]
    fn a_page_is_text_outside_backquotes() {
        assert_eq!(words("a.md", "One `beside` two."), ["One", "two."]);
        assert!(english("a.png", "x").is_none());
    }
}
