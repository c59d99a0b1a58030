//! Checks our own facts: docs/facts/SUBJECT.md has `### SUBJECT-N: statement`, its source and its
//! test; the rest of the tree cites `fact SUBJECT-N`.
//!
//! It refuses a citation without such a heading, a duplicate number, and a test that does not
//! exist; also a fact that has no `Source:` or `Test:`, has more than 80 words, or is never cited.
//! Tests are written `` `name` `` or `` `name` (path/of/the/file.rs) ``; a name may also be that of
//! a golden trace, and `Test: none` gives the reason.

use std::collections::{BTreeMap, BTreeSet};

use super::prose::{Word, words};
use super::{Complaints, Source};

const FOLDER: &str = "docs/facts/";
const GOLDEN: &str = "testdata/golden/";
/// Maximum number of words in a fact, including its heading and its test.
const MOST_WORDS: usize = 80;

/// Complaints about facts and their citations.
pub(super) fn check(sources: &[Source]) -> Complaints {
    let mut places: BTreeMap<&str, String> = BTreeMap::new();
    let mut complaints = Complaints::new();
    let mentioned = mentioned(sources);
    for page in sources.iter().filter(|source| subject(source).is_some()) {
        for fact in facts(page) {
            let place = format!("{}:{}", page.path, fact.line);
            complaints.extend(flaws(page, &fact, sources).map(|flaw| format!("{place}: {flaw}")));
            if let Some(other) = places.insert(fact.name, place.clone()) {
                complaints.push(format!("{place}: `{}` is also in {other}", fact.name));
            }
            if !mentioned.contains(fact.name) {
                complaints.push(format!(
                    "{place}: nothing cites `{}`; cite it where it matters, or remove it",
                    fact.name
                ));
            }
        }
    }
    let ours = |source: &&Source| {
        source.is_prose_or_code()
            && !source.is_generated()
            && !source.path.starts_with("xtask/src/tidy/")
    };
    for source in sources.iter().filter(ours) {
        let unknown =
            cited(&source.text).into_iter().filter(|(_, name)| !places.contains_key(name));
        complaints.extend(unknown.map(|(line, name)| {
            let page = name.rsplit_once('-').map_or(name, |(subject, _)| subject);
            format!("{}:{line}: `fact {name}` has no heading in {FOLDER}{page}.md", source.path)
        }));
    }
    complaints
}

/// The names of facts that the tree mentions outside of the fact itself and the change log; ranges
/// (`tcp-45 to tcp-49`) are expanded.
fn mentioned(sources: &[Source]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for source in sources.iter().filter(|source| source.path != "CHANGELOG.md") {
        for fact in facts(source).iter().filter(|_| subject(source).is_some()) {
            let others = named(&fact.body).into_iter().filter(|name| name != fact.name);
            names.extend(others);
        }
        if source.is_prose_or_code() && !source.path.starts_with(FOLDER) {
            names.extend(named(&source.text));
        }
    }
    names
}

/// The names of facts in a text, anywhere.
fn named(text: &str) -> Vec<String> {
    let words: Vec<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .filter(|w| !w.is_empty())
        .collect();
    let mut names = Vec::new();
    for (at, word) in words.iter().enumerate().filter(|(_, word)| is_name(word)) {
        names.push((*word).to_owned());
        if words.get(at + 1) == Some(&"to") {
            names.extend(words.get(at + 2).map(|last| between(word, last)).unwrap_or_default());
        }
    }
    names
}

/// The names after the first, up to the last, if both have the same subject.
fn between(first: &str, last: &str) -> Vec<String> {
    let parts = |name: &str| {
        let (subject, number) = name.rsplit_once('-')?;
        Some((subject.to_owned(), number.parse::<u32>().ok()?))
    };
    match (parts(first), parts(last)) {
        (Some((subject, from)), Some((other, to))) if subject == other => {
            (from + 1..=to).map(|number| format!("{subject}-{number}")).collect()
        }
        _ => Vec::new(),
    }
}

/// How many facts a page holds; other files hold none.
pub(super) fn count(source: &Source) -> usize {
    subject(source).map_or(0, |_| facts(source).len())
}

/// The facts that a text cites, each with its line: `fact tcp-3`, `facts tcp-3, tcp-4 and aqm-1`.
fn cited(text: &str) -> Vec<(usize, &str)> {
    let words = words(text);
    let mut found = Vec::new();
    for (at, _) in words.iter().enumerate().filter(|(_, word)| opens_a_list(word)) {
        for word in &words[at + 1..] {
            match word.bare() {
                "and" | "to" | "or" => continue,
                name if is_name(name) => found.push((word.line, name)),
                _ => break,
            }
            if word.closes() {
                break;
            }
        }
    }
    found
}

fn opens_a_list(word: &Word) -> bool {
    matches!(word.bare(), "fact" | "facts" | "Fact" | "Facts") && !word.closes()
}

/// `tcp-12`, `ns3-1`.
fn is_name(text: &str) -> bool {
    let Some((subject, number)) = text.rsplit_once('-') else { return false };
    let is_subject = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let begins = subject.starts_with(|c: char| c.is_ascii_lowercase());
    begins && subject.chars().all(is_subject) && number.parse::<u32>().is_ok()
}

/// A fact as its page states it.
struct Fact<'a> {
    name: &'a str,
    line: usize,
    /// The number of words of its heading, including the name.
    statement_words: usize,
    /// The text between its heading and the next heading.
    body: String,
}

/// The subject of a page of facts.
fn subject(source: &Source) -> Option<&str> {
    source.path.strip_prefix(FOLDER)?.strip_suffix(".md").filter(|subject| *subject != "README")
}

fn facts(page: &Source) -> Vec<Fact<'_>> {
    let mut facts: Vec<Fact> = Vec::new();
    for (index, line) in page.text.lines().enumerate() {
        if let Some(heading) = line.strip_prefix("### ") {
            let name = heading.split(':').next().unwrap_or(heading);
            let statement_words = heading.split_whitespace().count();
            facts.push(Fact { name, line: index + 1, statement_words, body: String::new() });
        } else if line.starts_with('#') {
            // The heading of a group of facts.
        } else if let Some(fact) = facts.last_mut() {
            fact.body.push_str(line);
            fact.body.push('\n');
        }
    }
    facts
}

impl Fact<'_> {
    /// The number of words of its heading and its text.
    fn words(&self) -> usize {
        self.statement_words + self.body.split_whitespace().count()
    }
}

/// The errors in a fact.
fn flaws<'a>(page: &Source, fact: &Fact<'a>, sources: &[Source]) -> impl Iterator<Item = String> {
    let mut flaws = Vec::new();
    let subject = subject(page).unwrap_or_default();
    let number = fact.name.strip_prefix(subject).and_then(|rest| rest.strip_prefix('-'));
    if number.is_none_or(|number| number.parse::<u32>().is_err()) {
        flaws.push(format!("`{}`: the heading of a fact here is `{subject}-N: ...`", fact.name));
    }
    if fact.words() > MOST_WORDS {
        let words = fact.words();
        flaws.push(format!("`{}` has {words} words, at most {MOST_WORDS} are allowed", fact.name));
    }
    if !fact.body.contains("Source:") {
        flaws.push(format!("`{}` lacks `Source:`, how it is known", fact.name));
    }
    let tests = fact.body.split_once("Test:").or_else(|| fact.body.split_once("Tests:"));
    match tests {
        Some((_, tests)) => flaws.extend(missing(tests, sources)),
        None => flaws.push(format!("`{}` lacks `Test:`, the test that holds it", fact.name)),
    }
    flaws.into_iter()
}

/// The tests that a fact names but that do not exist: a text between backticks is a name, followed
/// in brackets by the files that may define it.
fn missing(tests: &str, sources: &[Source]) -> Vec<String> {
    let tests = tests.split("\n\n").next().unwrap_or(tests);
    let pieces: Vec<&str> = tests.split('`').collect();
    let mut flaws = Vec::new();
    for (at, name) in pieces.iter().enumerate().filter(|(at, _)| at % 2 == 1) {
        let behind = pieces.get(at + 1).map_or("", |rest| rest.trim_start());
        let bracket = behind.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        // The path itself may also be between backticks.
        let list = match (bracket, behind) {
            (Some((list, _)), _) => list,
            (None, "(") => pieces.get(at + 2).copied().unwrap_or_default(),
            _ if is_path(name) => name,
            _ => "",
        };
        let paths: Vec<&str> =
            list.split(',').map(str::trim).filter(|path| is_path(path)).collect();
        let absent = paths.iter().filter(|path| sources.iter().all(|s| s.path != **path));
        flaws.extend(absent.map(|path| format!("the test's file `{path}` does not exist")));
        let may = |source: &&Source| paths.is_empty() || paths.contains(&source.path.as_str());
        if flaws.is_empty() && !is_path(name) && !is_golden(name, sources) {
            let name = name.rsplit("::").next().unwrap_or(name).trim_end_matches("()");
            if !sources.iter().filter(may).any(|source| defines(source, name)) {
                flaws.push(format!("the test `{name}` does not exist{}", within(list)));
            }
        }
    }
    let is_none = tests.trim_start().strip_prefix("none").is_some_and(|why| why.len() > 10);
    if pieces.len() < 2 && !is_none {
        flaws.push("`Test:` names no test between backticks, nor says `none` and why".to_owned());
    }
    flaws
}

/// Whether a name is that of a golden trace, all of which one test replays; `*` matches the rest of
/// a name.
fn is_golden(name: &str, sources: &[Source]) -> bool {
    let traces = sources.iter().filter_map(|source| source.path.strip_prefix(GOLDEN));
    traces
        .filter_map(|trace| trace.strip_suffix(".toml"))
        .any(|trace| name.strip_suffix('*').map_or(trace == name, |start| trace.starts_with(start)))
}

/// Whether a text between backticks is a file, not a function.
fn is_path(text: &str) -> bool {
    text.contains(['/', '.'])
}

fn within(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" in {path}") }
}

/// Whether the file defines a function of this name.
fn defines(source: &Source, name: &str) -> bool {
    let keyword = match source.path.rsplit('.').next() {
        Some("rs") => "fn ",
        Some("py") => "def ",
        _ => return false,
    };
    let function = format!("{keyword}{name}");
    source.text.match_indices(&function).any(|(start, _)| {
        let after = source.text[start + function.len()..].chars().next();
        after.is_some_and(|c| !c.is_alphanumeric() && c != '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "# TCP\n\n### tcp-1: A statement.\nSource: derived.\nTest: `holds` (a.rs).\n";

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    fn complaints(page: &str, citing: &str) -> Complaints {
        let test = source("a.rs", "#[test]\nfn holds() {}\n");
        // Facts of the page are cited, unless a test says otherwise.
        let cited = source("c.md", "(tcp-1)");
        check(&[source("docs/facts/tcp.md", page), test, source("b.rs", citing), cited])
    }

    #[test]
    fn a_fact_is_cited_by_its_heading() {
        assert!(complaints(PAGE, "// (fact tcp-1), a matter of fact: tcp-9").is_empty());
        let found = complaints(PAGE, "// x\n// facts tcp-1 and\n// tcp-2");
        assert_eq!(found, ["b.rs:3: `fact tcp-2` has no heading in docs/facts/tcp.md"]);
    }

    #[test]
    fn citations_are_lists_that_end_with_their_sentence() {
        let names = |text| cited(text).into_iter().map(|(_, name)| name).collect::<Vec<_>>();
        assert_eq!(names("Facts tcp-1, tcp-2 to tcp-4; aqm-5"), ["tcp-1", "tcp-2", "tcp-4"]);
        assert_eq!(names("fact tcp-1's bound"), [] as [&str; 0]);
        assert_eq!(names("in fact x-3b, fact (tcp-1)"), ["tcp-1"]);
        assert_eq!(names("facts ns3-1 and 3-4"), ["ns3-1"]);
    }

    #[test]
    fn a_fact_needs_a_source_and_a_test_that_exists() {
        let found = complaints("### tcp-1: Bare.\n", "");
        assert_eq!(found.len(), 2, "{found:?}");
        let absent = PAGE.replace("`holds`", "`hold`");
        assert_eq!(
            complaints(&absent, ""),
            ["docs/facts/tcp.md:3: the test `hold` does not exist in a.rs"]
        );
        let nowhere = PAGE.replace("a.rs", "c.rs");
        assert!(complaints(&nowhere, "")[0].contains("file `c.rs` does not exist"));
        let quoted = PAGE.replace("(a.rs)", "(`a.rs`)");
        assert!(complaints(&quoted, "").is_empty());
    }

    #[test]
    fn a_test_may_stand_in_several_files_be_a_golden_trace_or_be_none_for_a_reason() {
        let of = |test: &str| {
            let page = PAGE.replace("`holds` (a.rs)", test);
            let trace = source("testdata/golden/pie_from_rest_linux.toml", "");
            let test = source("a.rs", "fn holds() {} // tcp-1\n");
            check(&[source("docs/facts/tcp.md", &page), test, trace])
        };
        assert!(of("`holds` (b.rs, a.rs)")[0].contains("file `b.rs` does not exist"));
        for good in ["`holds` (a.rs, docs/facts/tcp.md)", "`pie_from_rest_*`", "none: too slow"] {
            assert!(of(good).is_empty(), "{good}: {:?}", of(good));
        }
        for bad in ["`pie_from_*_x`", "none.", "later"] {
            assert_eq!(of(bad).len(), 1, "{bad}: {:?}", of(bad));
        }
    }

    #[test]
    fn a_fact_has_at_most_eighty_words() {
        let with = |words| PAGE.replace("derived.", &vec!["word"; words].join(" "));
        // The heading has 3 words, `Source:` and the test 4.
        assert!(complaints(&with(73), "").is_empty());
        let found = complaints(&with(74), "");
        assert_eq!(found, ["docs/facts/tcp.md:3: `tcp-1` has 81 words, at most 80 are allowed"]);
    }

    #[test]
    fn a_fact_that_only_itself_and_the_change_log_mention_is_refused() {
        let page = PAGE.replace("derived.", "derived from fact tcp-1.");
        let of = |path, text| {
            let test = source("a.rs", "fn holds() {}\n");
            check(&[source("docs/facts/tcp.md", &page), test, source(path, text)])
        };
        let refused =
            "docs/facts/tcp.md:3: nothing cites `tcp-1`; cite it where it matters, or remove it";
        assert_eq!(of("b.rs", "tcp-10, xtcp-1"), [refused]);
        assert_eq!(of("CHANGELOG.md", "(tcp-1)"), [refused]);
        for citing in ["// fact tcp-1.", "[tcp-1](tcp.md)", "facts tcp-0 to tcp-3"] {
            assert!(of("b.rs", citing).iter().all(|found| !found.contains("nothing cites")));
        }
    }

    #[test]
    fn a_number_belongs_to_one_page_and_is_given_once() {
        let twice = format!("{PAGE}\n{PAGE}");
        assert!(complaints(&twice, "")[0].contains("`tcp-1` is also in docs/facts/tcp.md:3"));
        let alien = PAGE.replace("tcp-1", "aqm-1");
        assert!(complaints(&alien, "")[0].contains("the heading of a fact here is `tcp-N: ...`"));
    }
}
