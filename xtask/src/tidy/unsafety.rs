//! Checks that `unsafe` occurs only in the files of `unsafe.txt`, each with its reason.

use super::{Complaints, Source};

const LIST: &str = "unsafe.txt";

/// A complaint for each file with `unsafe` that is not listed, and each listed one without it.
pub fn check(sources: &[Source]) -> Complaints {
    let list = sources.iter().find(|source| source.path == LIST);
    let Some(list) = list else { return vec![format!("{LIST}:1: is missing")] };
    let listed: Vec<&str> = entries(&list.text).map(|(path, _)| path).collect();
    let mut complaints: Complaints = entries(&list.text)
        .filter(|(_, reason)| reason.is_empty())
        .map(|(path, _)| format!("{LIST}:1: {path} has no reason; write one behind it"))
        .collect();
    let rust = || sources.iter().filter(|source| source.path.ends_with(".rs"));
    complaints.extend(rust().filter(|s| !listed.contains(&s.path.as_str())).filter_map(|source| {
        let line = source.text.lines().position(has_unsafe_code)? + 1;
        Some(format!("{}:{line}: is unsafe and not in {LIST}; do without, or list it", source.path))
    }));
    let has = |path: &str| rust().any(|s| s.path == path && s.text.lines().any(has_unsafe_code));
    complaints.extend(
        listed
            .iter()
            .filter(|path| !has(path))
            .map(|path| format!("{LIST}:1: {path} has no unsafe code; take it from the list")),
    );
    complaints
}

/// Paths and reasons.
fn entries(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(' ').map_or((line, ""), |(path, why)| (path, why.trim())))
}

/// Whether a line has an unsafe block, function, implementation or attribute, outside comments
/// and texts.
fn has_unsafe_code(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let code: String = code.split('"').step_by(2).collect();
    ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "[unsafe(", "unsafe trait"]
        .iter()
        .any(|form| code.contains(form))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(list: &str, code: &str) -> Complaints {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
        check(&[source(LIST, list), source("a.rs", code)])
    }

    #[test]
    fn unsafe_code_stands_only_in_listed_files_with_a_reason() {
        assert!(complaints("a.rs C calls it\n", "unsafe { f() }").is_empty());
        assert!(complaints("# none\n", "// unsafe { f() }\nlet a = \"unsafe {\";").is_empty());
        assert!(complaints("", "unsafe { f() }")[0].starts_with("a.rs:1: is unsafe"));
        assert!(complaints("a.rs\n", "unsafe { f() }")[0].contains("no reason"));
        assert!(complaints("a.rs C calls it\n", "f()")[0].contains("no unsafe code"));
    }
}
