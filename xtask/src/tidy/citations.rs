//! Citations of sources outside the tree that a reader cannot open.
//!
//! Refused are the phrases below, and tests whose names are numbers (`t17_...`). A line that has
//! (or follows) `tidy: allow(citation)` and a reason may use them.

use super::prose::{Word, words};
use super::{Complaints, Source};

const ALLOW: &str = "tidy: allow(citation)";
const REMEDY: &str = "cite the primary source, or a fact of docs/facts";
/// Pages that were never in the tree.
const PAGES: [&str; 5] = ["aqm", "endpoints", "papers", "guest-kernel", "hosts"];
/// Folders where `T38` and `G3` mean an entry of such a page; elsewhere they may be tables in a
/// paper.
const NUMBERED: [&str; 5] = ["crates/", "fuzz/", "benches/", "xtask/", "testdata/golden/"];

/// Complaints about such citations.
pub(super) fn check(source: &Source) -> Complaints {
    // This folder has to name the refused phrases.
    if !source.is_prose_or_code()
        || source.is_generated()
        || source.path.starts_with("xtask/src/tidy/")
    {
        return Complaints::new();
    }
    let lines: Vec<&str> = source.text.lines().collect();
    let is_allowed = |line: usize| {
        lines[line - 1].contains(ALLOW) || (line > 1 && lines[line - 2].contains(ALLOW))
    };
    let is_numbered = NUMBERED.iter().any(|folder| source.path.starts_with(folder));
    let words = words(&source.text);
    let found = (0..words.len()).filter_map(|at| {
        let (line, what) = (words[at].line, phrase(&words[at..], is_numbered)?);
        (!is_allowed(line)).then(|| format!("{}:{line}: `{what}`: {REMEDY}", source.path))
    });
    let names = lines.iter().enumerate().filter_map(|(index, line)| {
        let name = numbered_test(line)?;
        (!is_allowed(index + 1)).then(|| {
            let (path, line) = (&source.path, index + 1);
            format!("{path}:{line}: `{name}`: a test's name is a sentence about behaviour")
        })
    });
    found.chain(names).collect()
}

/// The refused phrase that the words begin with.
fn phrase(words: &[Word], is_numbered: bool) -> Option<String> {
    let first = words[0].bare();
    let raw = words.get(1).map_or("", |word| word.raw);
    let second = words.get(1).map_or("", Word::bare);
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    match first.to_lowercase().as_str() {
        "sheet" | "sheets" | "sheet's" => return Some(first.to_owned()),
        "fact" | "facts" if is_section(second) => {}
        "lab" if second == "decision" || second == "decisions" => {}
        "spec" if second.ends_with(".md") => {}
        "script" | "scripts" if is_number(second) => {}
        page if PAGES.contains(&page) && raw.starts_with('§') && !words[0].closes() => {}
        _ if is_numbered && is_entry(first) => return Some(first.to_owned()),
        _ => return None,
    }
    Some(format!("{first} {second}"))
}

/// `8.1`, `13.8.10`.
fn is_section(text: &str) -> bool {
    text.contains('.') && text.split('.').all(|part| part.parse::<u32>().is_ok())
}

/// `T38`, `G3`.
fn is_entry(text: &str) -> bool {
    let number = text.strip_prefix(['T', 'G']).unwrap_or_default();
    (1..=2).contains(&number.len()) && number.chars().all(|c| c.is_ascii_digit())
}

/// The name of a function that consists of a number: `t17_...`, `fact_4_2_...`, `g3_...`.
fn numbered_test(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let rest = code.strip_prefix("fn ").or_else(|| code.strip_prefix("def "))?;
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    let mut parts = name.strip_prefix("test_").unwrap_or(name).split('_');
    let first = parts.next()?;
    let second_is_number = parts.next().is_some_and(|part| part.parse::<u32>().is_ok());
    let is_number = is_entry(&first.to_uppercase());
    let is_word = matches!(first, "fact" | "facts" | "script" | "golden");
    (is_number || (is_word && second_is_number)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> Complaints {
        check(&Source { path: path.to_owned(), text: text.to_owned() })
    }

    #[test]
    fn phrases_that_point_outside_the_tree_are_refused() {
        for text in [
            "// See the fact sheet.",
            "// (spec aqm.md §13.4)",
            "/// Fact 4.1.",
            "/// as facts 6.1 to 6.3 say",
            "// endpoints §1.20",
            "default = \"lab decision: off\"",
            "# script 28",
            "// what a lab\n// decision is",
            "/// Golden trace G3.",
        ] {
            assert_eq!(complaints("crates/a/src/b.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn sources_that_anyone_can_open_are_not() {
        for text in [
            "// RFC 8289 §5.5, fact tcp-12",
            "a stylesheet, a spec, the script of 2017",
            "papers: §3 of each",
            "// ITU-T G.711",
        ] {
            assert!(complaints("crates/a/src/b.rs", text).is_empty(), "{text}");
        }
        assert!(complaints("python/sojourn/papers/pi2.py", "# Table T1").is_empty());
    }

    #[test]
    fn a_test_is_not_called_by_a_number() {
        let found = complaints("crates/a/src/b.rs", "x\n    fn t17_a_lone_flow() {\n");
        assert_eq!(
            found,
            ["crates/a/src/b.rs:2: `t17_a_lone_flow`: a test's name is a sentence about behaviour"]
        );
        assert_eq!(complaints("tests/test_a.py", "def test_fact_4_2_holds():\n").len(), 1);
        assert!(complaints("a.rs", "fn fact_of_life() {}\nfn g_of_x() {}").is_empty());
    }

    #[test]
    fn an_allow_comment_allows() {
        let text = "// tidy: allow(citation) a sheet of paper\n// the sheet\n";
        assert!(complaints("crates/a/src/b.rs", text).is_empty());
    }
}
