//! What the tests have proven, in one line: counted by the run itself, where it wrote down what it did, and
//! from the citations of the tests. Nothing here is typed by hand.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use sojourn_aqm::registry::{self, PRESETS};

use crate::tidy::{self, Source};

/// The line.
pub fn line(root: &Path) -> Result<String, String> {
    let sources = tidy::sources(root)?;
    let tests = sources.iter().filter(|source| source.path.starts_with("crates/aqm/"));
    let facts: BTreeSet<String> = tests.flat_map(|source| cited(&source.text)).collect();
    let is_trace = |source: &&Source| {
        source.path.starts_with("testdata/golden/") && source.path.ends_with(".toml")
    };
    let traces = sources.iter().filter(is_trace).count();
    let entries = registry::entries();
    let dialects: usize = entries.iter().map(|entry| entry.dialects.len()).sum();
    Ok(format!(
        "{} registry entries and {} presets in {dialects} dialects; {} facts of the sources cited by \
         tests; {traces} golden traces ({} values by the Rust API, {} by the door to C); {} random \
         operations, {} fuzzed inputs",
        entries.len(),
        PRESETS.len(),
        facts.len(),
        written("golden-rust")?,
        written("golden-c")?,
        written("operations")?,
        written("fuzz")?,
    ))
}

/// What the last run of a test wrote down, in the folder for its files beside this program's.
fn written(what: &str) -> Result<String, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = this.ancestors().nth(2).expect("a program lies in a profile in the target folder");
    let file = target.join("tmp").join(format!("tally-{what}"));
    let text = fs::read_to_string(&file);
    let text = text.map_err(|error| format!("{}: {error}; run the tests first", file.display()))?;
    let number: u64 = text.parse().map_err(|_| format!("{}: not a number", file.display()))?;
    Ok(grouped(number))
}

/// 1234567 becomes `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The numbers of the facts that the descriptions of tests cite: `Fact 8.1`, `Facts 6.1 to 6.3`.
fn cited(text: &str) -> BTreeSet<String> {
    let mut facts = BTreeSet::new();
    let mut doc = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("///") {
            doc.push_str(words);
            doc.push(' ');
        } else {
            if line == "#[test]" {
                facts.extend(numbers(&doc));
            }
            doc.clear();
        }
    }
    facts
}

fn numbers(doc: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut lists, mut is_range) = (false, false);
    for word in doc.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_ascii_digit());
        match word {
            "Fact" | "Facts" | "fact" | "facts" => lists = true,
            "and" => {}
            "to" => is_range = lists,
            _ if lists && is_number(bare) => {
                if is_range && let Some(first) = found.last().cloned() {
                    found.extend(between(&first, bare));
                }
                found.push(bare.to_owned());
                (lists, is_range) = (!word.ends_with(['.', ';', ':']), false);
            }
            _ => (lists, is_range) = (false, false),
        }
    }
    found
}

/// `8.1`, `13.8.10`.
fn is_number(text: &str) -> bool {
    text.contains('.') && text.split('.').all(|part| part.parse::<u32>().is_ok())
}

/// The numbers between two of one section.
fn between(first: &str, last: &str) -> Vec<String> {
    let parts = |text: &str| {
        let (section, number) = text.rsplit_once('.')?;
        Some((section.to_owned(), number.parse::<u32>().ok()?))
    };
    match (parts(first), parts(last)) {
        (Some((section, from)), Some((_, to))) => {
            (from + 1..to).map(|number| format!("{section}.{number}")).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_above_tests_are_found_and_others_are_not() {
        let text = "
            /// Fact 8.1.
            #[test]
            /// Facts 6.1 to 6.3, and 13.8.10: on 10.5 Mb/s.
            #[test]
            /// Fact 9.9 is no test.
            fn helper() {}
        ";
        let facts: Vec<String> = cited(text).into_iter().collect();
        assert_eq!(facts, ["13.8.10", "6.1", "6.2", "6.3", "8.1"]);
    }

    #[test]
    fn long_numbers_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
