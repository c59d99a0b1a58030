//! Phrases that make a sentence hard to read, with a budget for each folder in `phrases.txt`.
//!
//! The budget is the number of phrases that a folder still has. It may fall but never rise: a new
//! phrase causes a complaint, and so does a number higher than the folder needs, which `cargo xtask
//! phrases` lowers.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::prose::{Word, words};
use super::spoken::english;
use super::{Complaints, Source};

/// The table of budgets.
pub(super) const TABLE: &str = "phrases.txt";

/// The command that lowers the budgets to the numbers in the folders.
const LOWER: &str = "cargo xtask phrases";

/// Files that quote the phrases.
const QUOTES: [&str; 2] = ["xtask/src/tidy/phrases.rs", TABLE];

/// A phrase, and its replacement.
struct Phrase {
    /// Words separated by spaces; `a|b` stands for either.
    words: &'static str,
    remedy: &'static str,
    /// It is plain English if one of these words follows within `reach` words.
    fine_before: &'static str,
    reach: usize,
    /// It is plain English after one of these words.
    fine_after: &'static str,
}

const fn phrase(words: &'static str, remedy: &'static str) -> Phrase {
    Phrase { words, remedy, fine_before: "", reach: 1, fine_after: "" }
}

/// Units before "apart" that make it a distance.
const DISTANCES: &str = "far wide ns us µs ms s second seconds milliseconds minutes hours packets \
                         segments bytes bits steps rtts";

const PHRASES: &[Phrase] = &[
    Phrase {
        fine_before: "that as",
        reach: 4,
        fine_after: "not ever",
        ..phrase("so many|much", "name the number: `n` packets, `bytes` bytes")
    },
    phrase("beside", "besides, next to, as well as, or in addition to"),
    phrase("what waits|comes|leaves|arrives", "the noun: queue, arrivals, departures"),
    phrase("what is late", "the noun: lateness"),
    phrase("of one's own", "custom, separate, your own"),
    phrase("anew", "again, or the verb: rebuild, reset, rewrite"),
    Phrase {
        fine_before: "from",
        fine_after: DISTANCES,
        ..phrase("apart", "separate, separately, or except for")
    },
    phrase("told", "say who reports what: \"the error names the key\""),
    phrase("there is|are|was|were none", "say what is missing: \"without a limit\""),
    phrase("there is|are no such", "unknown, or say what is missing: \"no such file\""),
    Phrase {
        fine_before: "longer later earlier more less fewer larger smaller faster slower",
        fine_after: "there",
        ..phrase("is|are|was|were no", "\"is not a\"")
    },
    phrase("name space|spaces", "namespace"),
    phrase("processor time", "CPU time"),
    phrase("worlds", "simulations"),
    phrase("words of a|the scenario", "keys of the scenario"),
    Phrase {
        fine_before: "linux kernel version rfc debian python rust ns-3",
        ..phrase("as of", "at, or since")
    },
];

/// The phrases by their first word. Nearly every word of the tree begins no phrase.
static BY_FIRST_WORD: LazyLock<BTreeMap<&str, Vec<&Phrase>>> = LazyLock::new(|| {
    let mut found: BTreeMap<&str, Vec<&Phrase>> = BTreeMap::new();
    for phrase in PHRASES {
        let first = phrase.words.split(' ').next().expect("a phrase has a word");
        for form in first.split('|') {
            found.entry(form).or_default().push(phrase);
        }
    }
    found
});

/// The phrases of each folder, as complaints.
type Found = BTreeMap<String, Complaints>;

/// Complaints about phrases beyond the budget of a folder, and about budgets that are too high.
pub(super) fn check(sources: &[Source]) -> Complaints {
    let (found, budgets) = (found(sources), budgets(sources));
    let mut complaints = Complaints::new();
    for (folder, places) in &found {
        let (count, budget) = (places.len(), budgets.get(folder).copied().unwrap_or(0));
        if count > budget {
            complaints.extend(places.iter().cloned());
            complaints.push(format!("{TABLE}:1: {folder} has {count} phrases, {budget} may stay"));
        }
    }
    for (folder, budget) in &budgets {
        let count = found.get(folder).map_or(0, Vec::len);
        if count < *budget {
            complaints.push(format!(
                "{TABLE}:1: {folder} has {count} phrases, the table says {budget}; {LOWER}"
            ));
        }
    }
    complaints
}

/// The table with every budget lowered to the number in its folder; none is raised.
pub(super) fn lowered(sources: &[Source]) -> String {
    let found = found(sources);
    let comments = table(sources).lines().filter(|line| line.starts_with('#'));
    let mut lowered: String = comments.map(|line| format!("{line}\n")).collect();
    for (folder, budget) in budgets(sources) {
        let count = found.get(&folder).map_or(0, Vec::len).min(budget);
        if count > 0 {
            lowered.push_str(&format!("{folder} {count}\n"));
        }
    }
    lowered
}

fn table(sources: &[Source]) -> &str {
    sources.iter().find(|source| source.path == TABLE).map_or("", |source| &source.text)
}

/// The number of phrases that each listed folder may have; other folders may have none.
fn budgets(sources: &[Source]) -> BTreeMap<String, usize> {
    let entries = table(sources).lines().filter_map(|line| line.split_once(' '));
    entries.filter_map(|(folder, count)| Some((folder.to_owned(), count.parse().ok()?))).collect()
}

fn found(sources: &[Source]) -> Found {
    let mut found = Found::new();
    let written = |source: &&Source| {
        !source.is_generated() && !source.is_test_data() && !QUOTES.contains(&source.path.as_str())
    };
    for source in sources.iter().filter(written) {
        let places = phrases(source);
        if !places.is_empty() {
            found.entry(folder(&source.path)).or_default().extend(places);
        }
    }
    found
}

/// The folder whose budget a file uses: a crate, a Python package, a part of the documentation, or
/// else the first folder of its path.
fn folder(path: &str) -> String {
    let depth = match path.split('/').next() {
        Some("crates" | "docs") => 2,
        Some("python") => 3,
        _ => 1,
    };
    let folders = path.rsplit_once('/').map_or(path, |(folders, _)| folders);
    let parts: Vec<&str> = folders.split('/').take(depth).collect();
    parts.join("/")
}

/// A complaint for every phrase of a file.
fn phrases(source: &Source) -> Complaints {
    let Some(english) = english(&source.path, &source.text) else { return Complaints::new() };
    let words = words(&english);
    let here = |at: usize| {
        let words = &words;
        let first = words[at].bare().to_ascii_lowercase();
        let candidates = BY_FIRST_WORD.get(first.as_str()).into_iter().flatten();
        candidates.filter(move |phrase| phrase.begins_at(words, at)).map(move |phrase| {
            let (path, line) = (&source.path, words[at].line);
            format!("{path}:{line}: \"{}\": {}", phrase.words, phrase.remedy)
        })
    };
    (0..words.len()).flat_map(here).collect()
}

impl Phrase {
    /// Whether the phrase begins at a word of a text and is not plain English there.
    fn begins_at(&self, words: &[Word], at: usize) -> bool {
        let length = self.words.split(' ').count();
        let Some(here) = words.get(at..at + length) else { return false };
        let matches = |(pattern, word): (&str, &Word)| {
            pattern.split('|').any(|form| word.bare().eq_ignore_ascii_case(form))
        };
        let is_one_of = |list: &str, word: &Word| {
            list.split_whitespace().any(|one| word.bare().eq_ignore_ascii_case(one))
        };
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let after = words.get(at + length..).unwrap_or_default();
        let within_a_sentence = here[..length - 1].iter().all(|word| !word.closes());
        let ends = here[length - 1..].iter().chain(after).take(self.reach);
        let goes_on = ends.take_while(|word| !word.closes()).count();
        let is_fine_before =
            after.iter().take(goes_on).any(|word| is_one_of(self.fine_before, word));
        within_a_sentence
            && self.words.split(' ').zip(here).all(matches)
            && !before.is_some_and(|word| is_one_of(self.fine_after, word))
            && !is_fine_before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    fn count(text: &str) -> usize {
        phrases(&source("a.md", text)).len()
    }

    #[test]
    fn a_phrase_is_found_over_the_end_of_a_line_with_its_remedy() {
        let found = phrases(&source("a.rs", "fn f();\n/// Sends so\n/// many bytes.\n"));
        let expected = "a.rs:2: \"so many|much\": name the number: `n` packets, `bytes` bytes";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn names_in_code_are_no_phrases() {
        assert!(phrases(&source("a.rs", "let beside = told(apart); // `beside`\n")).is_empty());
        assert_eq!(phrases(&source("a.py", "raise E('a key beside it')")).len(), 1);
    }

    #[test]
    fn plain_uses_of_the_same_words_are_not_counted() {
        assert_eq!(count("Apart from that, 5 ms apart, and how far apart."), 0);
        assert_eq!(count("Kept apart."), 1);
        assert_eq!(count("There are so many packets that it drops, but not so many flows."), 0);
        assert_eq!(count("So many packets. That is it."), 1);
        assert_eq!(count("Nested as of Linux 6.1."), 0);
        assert_eq!(count("Counted as of its time."), 1);
        assert_eq!(count("So. Many flows."), 0);
        assert_eq!(count("It is no longer full, and there is no room."), 0);
        assert_eq!(count("`5` is no rate. There is no such link."), 2);
    }

    #[test]
    fn a_new_phrase_is_found_in_a_folder_whose_budget_is_spent() {
        let table = source(TABLE, "# Phrases.\ncrates/a 1\n");
        let one = source("crates/a/src/lib.rs", "// Told.\n");
        assert!(check(&[table, one]).is_empty());
        let table = source(TABLE, "crates/a 1\n");
        let two = source("crates/a/src/lib.rs", "// Told anew.\n");
        let found = check(&[table, two]);
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[2], "phrases.txt:1: crates/a has 2 phrases, 1 may stay");
    }

    #[test]
    fn a_budget_falls_with_its_folder_and_never_rises() {
        let sources = [
            source(TABLE, "# Phrases.\ncrates/a 2\ncrates/b 1\ncrates/c 1\n"),
            source("crates/a/src/lib.rs", "// Told.\n"),
            source("crates/c/src/lib.rs", "// Told anew.\n"),
            source("README.md", "Anew."),
        ];
        let found = check(&sources).join("\n");
        assert!(found.contains("crates/a has 1 phrases, the table says 2; cargo xtask"));
        assert!(found.contains("README.md has 1 phrases, 0 may stay"), "{found}");
        assert_eq!(lowered(&sources), "# Phrases.\ncrates/a 1\ncrates/c 1\n");
    }

    #[test]
    fn a_budget_is_of_a_crate_a_package_or_a_top_folder() {
        let cases = [
            ("crates/aqm/src/laws/pi2.rs", "crates/aqm"),
            ("python/sojourn/cli/run.py", "python/sojourn/cli"),
            ("python/sojourn/errors.py", "python/sojourn"),
            ("docs/facts/tcp.md", "docs/facts"),
            ("docs/speed.md", "docs"),
            ("ns3/src/a/b.cc", "ns3"),
            ("README.md", "README.md"),
        ];
        for (path, expected) in cases {
            assert_eq!(folder(path), expected);
        }
    }
}
