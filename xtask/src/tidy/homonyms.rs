//! Checks that one name means one thing: no two visible types share a name.
//!
//! Rust's types (`pub`, `pub(crate)`) are compared across all crates, Python's classes across the
//! package. Folders that intentionally mirror another, and single names, are listed below with
//! reasons.

use std::collections::BTreeMap;

use super::{Complaints, Source};

/// Names that several types may share, each with the reason.
const SHARED: &[(&str, &str)] = &[
    ("Link", "the link as written in a scenario, and the link that is made of it"),
    (
        "Wire",
        "the wire behind a link: of the simulator, and of the router, on which real packets are",
    ),
    ("Bottleneck", "the bottleneck in a plan of real hosts, and the one that a test describes"),
    (
        "Policer",
        "the policer as written in a scenario, the one made of it, and BBR's estimate of one",
    ),
    ("ServiceCurve", "a curve of hfsc as written in a scenario, and the one that a class has"),
    ("Packet", "the trait that disciplines ask for, and the simulator's packet, which has it"),
];

/// Folders whose types mirror others intentionally: a class of `sojourn._core` has the name of the
/// Rust type that it wraps, a structure of the C bindings that of its counterpart (`sojourn_...` in
/// C), a part of the resolved scenario that of its part in the written one.
const MIRRORS: [&str; 3] = ["crates/python/", "crates/capi/", "crates/scenario/src/resolved"];

/// Complaints about types that share a name.
pub(super) fn check(sources: &[Source]) -> Complaints {
    complaints(sources, SHARED)
}

fn complaints(sources: &[Source], shared: &[(&str, &str)]) -> Complaints {
    let mut places: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    let ours = |source: &&Source| {
        (source.path.starts_with("crates/") || source.path.starts_with("python/"))
            && !source.is_test()
            && !source.is_generated()
            && !MIRRORS.iter().any(|folder| source.path.starts_with(folder))
    };
    for source in sources.iter().filter(ours) {
        let language = match source.path.rsplit_once('.') {
            Some((_, language @ ("rs" | "py"))) => language,
            _ => continue,
        };
        for (number, name) in types(&source.text, language) {
            let place = format!("{}:{number}", source.path);
            places.entry((language, name)).or_default().push(place);
        }
    }
    let several = places.into_iter().filter(|((_, name), places)| {
        places.len() > 1 && shared.iter().all(|(allowed, _)| allowed != name)
    });
    several
        .map(|((_, name), places)| {
            format!(
                "{}: `{name}` is also the name of {}; one name means one thing: rename, or list it \
                 with the reason in xtask/src/tidy/homonyms.rs",
                places[0],
                places[1..].join(", ")
            )
        })
        .collect()
}

/// (line, name) for every visible type before the tests at the end of a file.
fn types<'a>(text: &'a str, language: &str) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line == "#[cfg(test)]"
            && text.lines().nth(index + 1).is_some_and(|l| l.starts_with("mod "))
        {
            break;
        }
        let name = match language {
            "rs" => rust_type(line.trim_start()),
            _ => line.strip_prefix("class "),
        };
        let name =
            name.and_then(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next());
        found.extend(name.filter(|name| !name.starts_with('_')).map(|name| (index + 1, name)));
    }
    found
}

/// The text after the keyword of a visible type.
fn rust_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) "))?;
    ["struct ", "enum ", "trait ", "type ", "union "]
        .iter()
        .find_map(|word| rest.strip_prefix(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn two_visible_types_of_one_name_are_found() {
        let one = source("crates/a/src/lib.rs", "pub struct Line<T> {\n}\nstruct Own;\n");
        let two = source("crates/b/src/c.rs", "struct Own;\npub(crate) type Line = u8;\n");
        let found = complaints(&[one, two], &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        let expected = "crates/a/src/lib.rs:1: `Line` is also the name of crates/b/src/c.rs:2; ";
        assert!(found[0].starts_with(expected), "{found:?}");
    }

    #[test]
    fn classes_are_compared_with_classes_only() {
        let rust = source("crates/a/src/lib.rs", "pub struct Cell;\n");
        let one = source("python/sojourn/a.py", "class Cell:\n    pass\n");
        assert!(complaints(&[rust, one], &[]).is_empty());
        let one = source("python/sojourn/a.py", "class Cell:\nclass _Own:\n");
        let two = source("python/sojourn/b.py", "class Cell(NamedTuple):\nclass _Own:\n");
        assert_eq!(complaints(&[one, two], &[]).len(), 1);
    }

    #[test]
    fn a_listed_name_a_wrapper_and_a_test_may_share() {
        let one = source("crates/a/src/lib.rs", "pub struct Run;\npub struct Row;\n");
        let wrapper = source("crates/python/src/run.rs", "pub struct Run;\n");
        let listed = source("crates/b/src/lib.rs", "pub struct Row;\n");
        let test = source("crates/b/src/run_tests.rs", "pub struct Run;\n");
        let found = complaints(&[one, wrapper, listed, test], &[("Row", "written and read")]);
        assert!(found.is_empty(), "{found:?}");
    }
}
