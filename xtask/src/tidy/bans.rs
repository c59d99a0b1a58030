//! Texts that must not occur. A line that has (or follows) `tidy: allow(WORD)` and a reason may use
//! the word.

use super::{Complaints, Source};

/// A text that must not occur in some files.
struct Ban {
    word: &'static str,
    remedy: &'static str,
    /// Path prefixes of the files to which it applies.
    folders: &'static [&'static str],
}

/// Crates that must give the same bytes for the same seed.
const DETERMINISTIC: &[&str] = &[
    "crates/aqm/src/",
    "crates/link/src/",
    "crates/measure/src/",
    "crates/sim/src/",
    "crates/traffic/src/",
];
const EVERYWHERE: &[&str] = &[""];

// The words are concatenated here, so that this file does not contain them.
const BANS: &[Ban] = &[
    Ban {
        word: concat!("Hash", "Map"),
        remedy: "its order differs from run to run; use a Vec or a BTreeMap",
        folders: DETERMINISTIC,
    },
    Ban {
        word: concat!("Hash", "Set"),
        remedy: "its order differs from run to run; use a Vec or a BTreeSet",
        folders: DETERMINISTIC,
    },
    Ban {
        word: concat!("std::time::", "Instant"),
        remedy: "there is no clock here; time is an argument",
        folders: DETERMINISTIC,
    },
    Ban {
        word: concat!("System", "Time"),
        remedy: "there is no clock here; time is an argument",
        folders: DETERMINISTIC,
    },
    Ban {
        word: concat!("SummaryRow", " {"),
        remedy: "a metric makes its rows: `metrics::NAME.row(..)`",
        folders: MEASURING,
    },
    Ban { word: concat!("/wo", "rk/"), remedy: PATH, folders: EVERYWHERE },
    Ban { word: concat!("/ro", "ot/"), remedy: PATH, folders: EVERYWHERE },
    Ban { word: concat!("/ho", "me/"), remedy: PATH, folders: EVERYWHERE },
];

/// The files that write rows of table `summary`.
const MEASURING: &[&str] = &["crates/measure/src/", "crates/router/src/", "crates/sim/src/"];

const PATH: &str = "a path of one machine; write it relative to the repository";

/// Complaints about banned texts.
pub fn check(source: &Source) -> Complaints {
    let bans = BANS.iter().filter(|ban| ban.folders.iter().any(|f| source.path.starts_with(f)));
    bans.flat_map(|ban| violations(source, ban)).collect()
}

fn violations(source: &Source, ban: &Ban) -> Complaints {
    let allowed = format!("tidy: allow({})", ban.word);
    let mut before = "";
    let mut complaints = Complaints::new();
    for (index, line) in source.text.lines().enumerate() {
        if line.contains(ban.word) && !line.contains(&allowed) && !before.contains(&allowed) {
            let (path, number, word, remedy) = (&source.path, index + 1, ban.word, ban.remedy);
            complaints.push(format!("{path}:{number}: `{word}`: {remedy}"));
        }
        before = line;
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> Complaints {
        check(&Source { path: path.to_owned(), text: text.to_owned() })
    }

    #[test]
    fn maps_without_order_are_banned_where_runs_must_repeat() {
        let text = concat!("use std::collections::Hash", "Map;\n");
        assert!(complaints("crates/sim/src/a.rs", text)[0].contains("use a Vec"));
        assert!(complaints("crates/record/src/a.rs", text).is_empty());
    }

    #[test]
    fn an_allow_comment_allows() {
        let text = concat!("// tidy: allow(Hash", "Set) never iterated\nuse Hash", "Set;\n");
        assert!(complaints("crates/sim/src/a.rs", text).is_empty());
    }

    #[test]
    fn paths_of_one_machine_are_banned_everywhere() {
        let text = concat!("see /wo", "rk/notes");
        assert!(complaints("README.md", text)[0].starts_with("README.md:1: "));
    }
}
