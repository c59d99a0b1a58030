//! The layout of the generated Python: wrapped at 100 columns, as its formatter leaves it.

use serde_json::Value;

/// The longest line.
pub const WIDTH: usize = 100;

/// Keywords of Python that a scenario might use.
const KEYWORDS: &[&str] = &[
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
    "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
    "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// The name of a key in Python: `class` is `class_`.
pub fn python_name(key: &str) -> String {
    let suffix = if KEYWORDS.contains(&key) { "_" } else { "" };
    format!("{key}{suffix}")
}

/// The first sentence as a summary line, the rest as a paragraph, for a docstring of a class.
pub fn paragraph(text: &str) -> String {
    let text = escaped(text);
    match text.split_once(". ") {
        None => wrapped(&text, 7, 4),
        Some((first, rest)) => {
            format!("{}.\n\n    {}", wrapped(first, 7, 4), wrapped(rest, 4, 4))
        }
    }
}

/// The line or lines of an attribute in a docstring.
pub fn attribute(key: &str, schema: &Value) -> String {
    let mut text = escaped(schema["description"].as_str().unwrap_or_default());
    match &schema["default"] {
        Value::Null | Value::Object(_) => {}
        Value::String(default) => text += &format!(" Default: ``\"{default}\"``."),
        Value::Bool(true) => text += " Default: ``True``.",
        Value::Bool(false) => text += " Default: ``False``.",
        default => text += &format!(" Default: ``{default}``."),
    }
    let head = format!("        {}: ", python_name(key));
    format!("{head}{}\n", wrapped(&text, head.len(), 12))
}

/// A text as a keyword argument of a call, in several literals if one is too long for a line.
pub fn string_argument(key: &str, text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    let line = format!("        {key}=\"{text}\",\n");
    if line.chars().count() <= WIDTH + 1 {
        return line;
    }
    // Each line is indented and has two quotes and a space.
    let lines = wrapped(&text, 15, 15);
    let lines = lines.replace(&format!("\n{}", " ".repeat(15)), " \"\n            \"");
    format!("        {key}=(\n            \"{lines}\"\n        ),\n")
}

/// The text with backquotes as in the other docstrings, and without anything that would end the
/// docstring.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace("\"\"\"", "'''").replace('`', "``").replace("````", "``")
}

/// Words on lines of at most [`WIDTH`] columns; the first starts at column `first`, the others are
/// indented by `indent`.
fn wrapped(text: &str, first: usize, indent: usize) -> String {
    let mut result = String::new();
    let mut column = first;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if result.is_empty() {
            column += length;
        } else if column + 1 + length > WIDTH {
            result += &format!("\n{}", " ".repeat(indent));
            column = indent + length;
        } else {
            result.push(' ');
            column += 1 + length;
        }
        result += word;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_the_width() {
        let text = "word ".repeat(60);
        let wrapped = wrapped(&text, 20, 12);
        let lines: Vec<&str> = wrapped.lines().collect();
        assert!(lines[0].len() + 20 <= WIDTH && lines[0].len() + 25 > WIDTH);
        assert!(lines[1..].iter().all(|line| line.len() <= WIDTH && line.starts_with("   ")));
    }

    #[test]
    fn keywords_get_an_underscore() {
        assert_eq!(python_name("class"), "class_");
        assert_eq!(python_name("path"), "path");
    }
}
