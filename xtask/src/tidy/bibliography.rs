//! Checks that every source that the tree cites is listed in docs/reference/sources.md.
//!
//! On that page each bold text is a short form: `**RFC 8033**`, `**draft-ietf-ccwg-bbr**`, `**Floyd
//! and Jacobson 1993**`. A citation is
//! - an RFC by its number,
//! - a draft by its name, with or without its version,
//! - a paper if names are followed by a year, and either a place (`§`, Table, Figure, ...) follows
//!   or the names are joined by "and" or "et al."; "Floyd et al. 2001" means the only short form
//!   that begins with Floyd and ends with 2001.

use std::collections::BTreeSet;

use super::prose::{Word, words};
use super::{Complaints, Source};

const PAGE: &str = "docs/reference/sources.md";
const PLACES: [&str; 14] = [
    "Table",
    "Tables",
    "Figure",
    "Figures",
    "Fig",
    "section",
    "sections",
    "Section",
    "Sections",
    "Listing",
    "Listings",
    "equation",
    "equations",
    "Algorithm",
];

/// Complaints about cited sources that are not listed.
pub(super) fn check(sources: &[Source]) -> Complaints {
    let page = sources.iter().find(|source| source.path == PAGE);
    let listed = listed(page.map_or("", |page| page.text.as_str()));
    let ours = |source: &&Source| {
        source.is_prose_or_code()
            && !source.is_generated()
            && !source.path.starts_with("xtask/src/tidy/")
            && source.path != PAGE
    };
    let of_file = |source: &Source| {
        let unknown = cited(&source.text).into_iter().filter(|(_, form)| !is_listed(&listed, form));
        let complaint = |(line, form)| format!("{}:{line}: `{form}` is not in {PAGE}", source.path);
        unknown.map(complaint).collect::<Complaints>()
    };
    sources.iter().filter(ours).flat_map(of_file).collect()
}

/// The bold texts of the page.
fn listed(page: &str) -> BTreeSet<&str> {
    let bold = |line| str::split(line, "**").skip(1).step_by(2);
    page.lines().flat_map(bold).collect()
}

/// (line, short form) for every citation.
fn cited(text: &str) -> Vec<(usize, String)> {
    let words = words(text);
    let at = |at: usize| of_document(&words[at..]).or_else(|| of_paper(&words, at));
    (0..words.len()).filter_map(|index| Some((words[index].line, at(index)?))).collect()
}

/// An RFC or a draft that the words begin with.
fn of_document(words: &[Word]) -> Option<String> {
    let first = words[0].bare();
    if first.starts_with("draft-") && first.matches('-').count() >= 3 {
        return Some(first.split("](").next().unwrap_or(first).to_owned());
    }
    let number = words.get(1)?.bare();
    let number = number.split(['§', '\'', ',', '/', ']']).next()?;
    let is_number = (3..=5).contains(&number.len()) && number.parse::<u32>().is_ok_and(|n| n > 0);
    (first == "RFC" && is_number).then(|| format!("RFC {number}"))
}

/// A paper whose year is at this position.
fn of_paper(words: &[Word], at: usize) -> Option<String> {
    let year = words[at].raw.trim_end_matches(|c: char| c.is_ascii_punctuation());
    let is_year = year.len() == 4 && year.parse().is_ok_and(|n: u32| (1900..2100).contains(&n));
    if !is_year {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for word in words[..at].iter().rev() {
        let name = word.raw.trim_start_matches(['(', '"', '[', '*', '`']);
        let is_first = name != word.raw;
        let ends_sentence = name.ends_with(['.', ':', ';', ')', '"', '`']) && name != "al.";
        if ends_sentence || !is_name(name) {
            break;
        }
        names.insert(0, name);
        if is_first {
            break;
        }
    }
    while names.first().is_some_and(|name| matches!(*name, "and" | "et" | "al.")) {
        names.remove(0);
    }
    let joined = names.iter().any(|name| matches!(*name, "and" | "et"));
    let next = words.get(at + 1).filter(|_| words[at].raw.trim_end_matches(',') == year);
    let has_place = next.is_some_and(|next| next.raw.starts_with('§') || is_place(next));
    let last = names.last()?.trim_end_matches(',');
    let names = [&names[..names.len() - 1], &[last]].concat().join(" ");
    (joined || has_place).then(|| format!("{names} {year}"))
}

fn is_place(word: &Word) -> bool {
    PLACES.contains(&word.bare())
}

/// A part of a list of authors.
fn is_name(text: &str) -> bool {
    matches!(text, "and" | "et" | "al." | "van" | "de")
        || (text.starts_with(char::is_uppercase) && !text.contains(|c: char| c.is_ascii_digit()))
}

/// Whether a short form is on the page, possibly after the capitalised first word of a sentence.
fn is_listed(listed: &BTreeSet<&str>, form: &str) -> bool {
    if form.starts_with("draft-") {
        return listed.iter().any(|known| form.starts_with(known));
    }
    if let Some((authors, year)) = form.split_once(" et al. ") {
        let words: Vec<&str> = authors.split(' ').collect();
        let starts = |known: &str| {
            (0..words.len()).any(|first| known.starts_with(&words[first..].join(" ")))
        };
        let is_it = |known: &&&str| starts(known) && known.ends_with(year);
        return listed.iter().filter(is_it).count() == 1;
    }
    let ends =
        |known: &&str| form.strip_suffix(known).is_some_and(|r| r.is_empty() || r.ends_with(' '));
    listed.iter().any(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCES: &str = "\
- **RFC 8033**: PIE.
- **draft-ietf-ccwg-bbr**: BBR.
- **Floyd, Gummadi and Shenker 2001**: Adaptive RED.
- **Floyd and Jacobson 1993**: RED.
- **De Schepper et al. 2016**: PI2.
- **Welch 1967**: spectra.
- **Kim 2001**, **Kim and Lee 2001**: two papers.
";

    fn complaints(text: &str) -> Complaints {
        let source =
            |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
        check(&[source(PAGE, SOURCES), source("a.rs", text)])
    }

    #[test]
    fn listed_sources_may_be_cited() {
        for text in [
            "/// RFC 8033 §4.2, RFC 8033's; (RFC 8033)",
            "// draft-ietf-ccwg-bbr-04 §5",
            "// See Floyd, Gummadi and\n// Shenker 2001 §3.2",
            "\"Floyd et al. 2001, Table 1\"",
            "// (Floyd and Jacobson 1993)",
            "// PI2, De Schepper et al. 2016 §3",
            "// Welch 1967, Figure 2",
        ] {
            assert!(complaints(text).is_empty(), "{text}: {:?}", complaints(text));
        }
    }

    #[test]
    fn others_are_refused_with_their_place() {
        let expected = "a.rs:2: `RFC 8034` is not in docs/reference/sources.md";
        assert_eq!(complaints("x\n// RFC 8034"), [expected]);
        for text in [
            "// draft-nichols-tsvwg-codel-01",
            "// Floyd 2001 §3",
            "// Floyd et al. 1993b, or Pan et al. 2013 Table 3",
            "// Kim et al. 2001",
            "// Nobody and Jacobson 1993",
            "// Bianchi 2000, Table II",
        ] {
            assert_eq!(complaints(text).len(), 1, "{text}: {:?}", complaints(text));
        }
    }

    #[test]
    fn a_year_alone_is_not_a_citation() {
        for text in
            ["// since 2013 §3 of it", "// in Linux 2013.", "// x = 2000 Table", "// In 2020"]
        {
            assert!(complaints(text).is_empty(), "{text}: {:?}", complaints(text));
        }
    }
}
