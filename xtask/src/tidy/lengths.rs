//! Limits the length of functions and files.

use super::{Complaints, Source};

/// Maximum number of lines in a function.
const FUNCTION: usize = 70;
/// Maximum number of lines in a file, without its tests.
const FILE: usize = 400;
/// This text, followed by a reason, allows a longer file.
const ALLOW: &str = concat!("tidy: allow", "(length)");

/// Complaints about long functions and long files.
pub fn check(source: &Source) -> Complaints {
    if source.is_generated() {
        return Complaints::new();
    }
    let lines: Vec<&str> = source.text.lines().collect();
    let (functions, length) = match source.path.rsplit('.').next() {
        Some("rs") => (rust_functions(&lines), lines_without_tests(&lines)),
        Some("py") => (python_functions(&lines), lines.len()),
        _ => return Complaints::new(),
    };
    let mut complaints = Complaints::new();
    for (start, length) in functions.into_iter().filter(|&(_, length)| length > FUNCTION) {
        let name = lines[start].trim();
        complaints.push(format!(
            "{}:{}: `{name}` has {length} lines; {FUNCTION} fit a screen, split it",
            source.path,
            start + 1
        ));
    }
    if length > FILE && !source.is_test() && !source.text.contains(ALLOW) {
        complaints.push(format!(
            "{}: {length} lines without tests; a file holds one idea in at most {FILE}; split it, \
             or write `{ALLOW}` and the reason into it",
            source.path
        ));
    }
    complaints
}

/// The number of lines before the test module at the end.
fn lines_without_tests(lines: &[&str]) -> usize {
    let is_test_module = |i: usize| {
        lines[i] == "#[cfg(test)]" && lines.get(i + 1).is_some_and(|next| next.starts_with("mod "))
    };
    (0..lines.len()).find(|&i| is_test_module(i)).unwrap_or(lines.len())
}

/// (first line, length) for every function; the formatter closes it at the indentation of its
/// start.
fn rust_functions(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut functions = Vec::new();
    for (start, line) in lines.iter().enumerate().filter(|(_, line)| starts_rust_function(line)) {
        let close = format!("{}}}", &line[..indent(line)]);
        let opened =
            lines[start..].iter().position(|l| l.ends_with('{') || l.ends_with([';', '}']));
        let Some(signature) = opened.filter(|&n| lines[start + n].ends_with('{')) else { continue };
        let after = &lines[start + signature..];
        if let Some(body) = after.iter().position(|l| *l == close) {
            functions.push((start, signature + body + 1));
        }
    }
    functions
}

fn starts_rust_function(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| {
        word.starts_with("pub")
            || matches!(*word, "const" | "async" | "unsafe" | "extern" | "\"C\"")
    });
    words.next() == Some("fn")
}

/// (first line, length) for every function: up to the last line that is indented deeper.
fn python_functions(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut functions = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        if !(code.starts_with("def ") || code.starts_with("async def ")) {
            continue;
        }
        let own = indent(line);
        let goes_on = |l: &str| {
            let code = l.trim_start();
            code.is_empty() || indent(l) > own || (indent(l) == own && code.starts_with(')'))
        };
        let rest = &lines[start + 1..];
        let end = rest.iter().position(|l| !goes_on(l)).unwrap_or(rest.len());
        let blank = rest[..end].iter().rev().take_while(|l| l.trim().is_empty()).count();
        functions.push((start, 1 + end - blank));
    }
    functions
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: String) -> Source {
        Source { path: path.to_owned(), text }
    }

    fn rust(body: usize) -> Source {
        let text = format!(
            "    pub const fn f(\n        x: u8,\n    ) {{\n{}    }}\n",
            "x;\n".repeat(body)
        );
        source("a.rs", text)
    }

    #[test]
    fn rust_functions_of_71_lines_are_too_long() {
        assert!(check(&rust(66)).is_empty());
        assert!(check(&rust(67))[0].starts_with("a.rs:1: `pub const fn f(` has 71 lines"));
    }

    #[test]
    fn python_functions_of_71_lines_are_too_long() {
        let text = |body| format!("def f(\n    x,\n):\n{}\n\ny = 1\n", "    x\n\n".repeat(body));
        assert!(check(&source("a.py", text(34))).is_empty());
        assert!(check(&source("a.py", text(35)))[0].contains("has 72 lines"));
    }

    #[test]
    fn tests_at_the_end_of_a_file_do_not_count() {
        let tail = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "x\n".repeat(500));
        assert!(check(&source("a.rs", "x\n".repeat(400) + &tail)).is_empty());
        assert!(check(&source("a.rs", "x\n".repeat(401) + &tail))[0].contains("401 lines"));
        assert!(check(&source("a/tests/b.rs", "x\n".repeat(500))).is_empty());
    }

    #[test]
    fn generated_files_may_be_long() {
        let text = "# Generated by `x`\n".to_owned() + &"x\n".repeat(500);
        assert!(check(&source("a.py", text)).is_empty());
    }

    #[test]
    fn a_trait_method_without_body_is_not_a_function() {
        let text = format!("    fn f(&self);\n{}    }}\n", "    x\n".repeat(90));
        assert!(check(&source("a.rs", text)).is_empty());
    }
}
