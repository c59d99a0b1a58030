//! Checks that imports between the files of a crate have no cycle.
//!
//! It uses every path that begins with `crate::`, `super::` or `self::` outside comments and tests.
//! A path refers to the file whose module is its longest prefix. A file and the modules in its
//! folder may use each other; this hides no cycle, because sibling modules with their contents are
//! checked too.

use std::collections::{BTreeMap, BTreeSet};

use super::strong::components;
use super::{Complaints, Source};

/// A module, as the names on its path from the root of the crate.
type Module = Vec<String>;

/// Complaints about cycles.
pub(super) fn check(sources: &[Source]) -> Complaints {
    let mut crates: BTreeMap<&str, Vec<(&Source, Module)>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.is_test()) {
        let Some((folder, file)) = source.path.split_once("/src/") else { continue };
        if let Some(file) = file.strip_suffix(".rs") {
            crates.entry(folder).or_default().push((source, module(file)));
        }
    }
    crates.values().flat_map(|files| of_crate(files)).collect()
}

/// `a/b.rs` and `a/b/mod.rs` are `a::b`; `lib.rs` and `main.rs` are the root.
fn module(file: &str) -> Module {
    let parts = file.trim_end_matches("/mod").split('/').map(str::to_owned);
    parts.filter(|part| part != "lib" && part != "main").collect()
}

fn of_crate(files: &[(&Source, Module)]) -> Complaints {
    let index: BTreeMap<&[String], usize> =
        files.iter().enumerate().map(|(at, (_, module))| (module.as_slice(), at)).collect();
    let targets = |(source, module): &(&Source, Module)| {
        let to = paths(&source.text, module).into_iter().filter_map(|path| resolve(&index, &path));
        to.filter(|&to| !is_kin(module, &files[to].1)).collect()
    };
    let edges: Vec<Vec<usize>> = files.iter().map(targets).collect();
    let circle = |nodes: Vec<usize>| {
        let paths: Vec<&str> = nodes.iter().map(|&node| files[node].0.path.as_str()).collect();
        format!("{}: imports go round in a circle: {}", paths[0], paths.join(", "))
    };
    let mut found: Complaints = components(&edges).into_iter().map(circle).collect();
    if found.is_empty() {
        found = between_siblings(files, &edges);
    }
    found
}

/// Cycles of sibling modules, each with its contents.
fn between_siblings(files: &[(&Source, Module)], edges: &[Vec<usize>]) -> Complaints {
    let parents: BTreeSet<&[String]> =
        files.iter().flat_map(|(_, module)| (0..module.len()).map(|n| &module[..n])).collect();
    parents.into_iter().flat_map(|parent| below(parent, files, edges)).collect()
}

/// Cycles of the modules in one module.
fn below(parent: &[String], files: &[(&Source, Module)], edges: &[Vec<usize>]) -> Complaints {
    let child = |file: usize| {
        let module = &files[file].1;
        module.strip_prefix(parent)?.first()
    };
    let children: BTreeSet<&String> = (0..files.len()).filter_map(child).collect();
    let children: Vec<&String> = children.into_iter().collect();
    let place = |file: usize| child(file).and_then(|name| children.binary_search(&name).ok());
    let mut links = vec![Vec::new(); children.len()];
    let mut examples = BTreeMap::new();
    for (from, to) in
        edges.iter().enumerate().flat_map(|(from, to)| to.iter().map(move |&to| (from, to)))
    {
        if let (Some(one), Some(other)) = (place(from), place(to))
            && one != other
        {
            links[one].push(other);
            examples.entry((one, other)).or_insert((from, to));
        }
    }
    let circle = |nodes: Vec<usize>| {
        let inside = examples
            .iter()
            .filter(|((one, other), _)| nodes.contains(one) && nodes.contains(other));
        let uses: Vec<String> = inside
            .map(|(_, &(from, to))| format!("{} uses {}", files[from].0.path, files[to].0.path))
            .collect();
        let file = uses[0].split(' ').next().unwrap_or_default();
        let names: Vec<&str> = nodes.iter().map(|&node| children[node].as_str()).collect();
        format!("{file}: modules go round in a circle: {}: {}", names.join(", "), uses.join("; "))
    };
    components(&links).into_iter().map(circle).collect()
}

/// Whether one of two modules is inside the other.
fn is_kin(one: &[String], other: &[String]) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// The file of a path: its longest prefix that is a module.
fn resolve(index: &BTreeMap<&[String], usize>, path: &[String]) -> Option<usize> {
    (0..=path.len()).rev().find_map(|length| index.get(&path[..length]).copied())
}

/// The paths from the root of the crate that a file uses.
fn paths(text: &str, module: &[String]) -> Vec<Module> {
    let code = code(text);
    let mut found = Vec::new();
    for keyword in ["crate::", "super::", "self::"] {
        for (start, _) in code.match_indices(keyword) {
            let before = code[..start].chars().next_back();
            // `$crate::` belongs to the file that calls the macro; `super::super::` begins a single
            // path.
            let goes_on =
                before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | ':'));
            if !goes_on {
                branches(&code[start..], &mut found, &mut Vec::new());
            }
        }
    }
    found.iter().map(|path| absolute(path, module)).collect()
}

/// The paths of a use tree, which may branch in braces; returns the consumed length of the text.
fn branches(text: &str, found: &mut Vec<Module>, prefix: &mut Module) -> usize {
    let depth = prefix.len();
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if word > 0 {
            prefix.push(rest[..word].to_owned());
            at += word;
            if text[at..].starts_with("::") {
                at += 2;
                continue;
            }
        } else if rest.starts_with('{') {
            at += 1;
            at += group(&text[at..], found, prefix);
        }
        found.push(prefix.clone());
        prefix.truncate(depth);
        return at;
    }
}

/// The text between braces, up to the closing one.
fn group(text: &str, found: &mut Vec<Module>, prefix: &mut Module) -> usize {
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        match next {
            '}' => return at + 1,
            c if c.is_alphanumeric() || c == '_' => {
                at += branches(&text[at..], found, prefix);
                // `as other`
                at += text[at..].find([',', '}']).unwrap_or(text.len() - at);
            }
            c => at += c.len_utf8(),
        }
    }
    at
}

/// A path as written in a module, from the root.
fn absolute(path: &[String], module: &[String]) -> Module {
    let mut base = module.to_vec();
    for (index, part) in path.iter().enumerate() {
        match part.as_str() {
            "crate" => base.clear(),
            "self" => {}
            "super" => {
                base.pop();
            }
            _ => {
                base.extend_from_slice(&path[index..]);
                break;
            }
        }
    }
    base
}

/// The code of a file before its tests, without comments.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line == "#[cfg(test)]" {
            // A test module in a separate file is one line; one in braces is the end.
            if lines.next().is_some_and(|next| next.ends_with('{')) {
                break;
            }
            continue;
        }
        code.push_str(line.split("//").next().unwrap_or(line));
        code.push('\n');
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(files: &[(&str, &str)]) -> Complaints {
        let source = |&(path, text): &(&str, &str)| Source {
            path: format!("crates/x/src/{path}"),
            text: text.to_owned(),
        };
        check(&files.iter().map(source).collect::<Vec<_>>())
    }

    #[test]
    fn files_that_use_each_other_form_a_circle() {
        let found = complaints(&[
            ("lib.rs", "mod a;\nmod b;\n"),
            ("a.rs", "use crate::{\n    b::{self, c::D as E},\n    Root,\n};\n"),
            ("b/mod.rs", "mod c;\n"),
            ("b/c.rs", "fn f() { super::super::a::g(); }\n"),
        ]);
        assert_eq!(
            found,
            ["crates/x/src/a.rs: imports go round in a circle: \
             crates/x/src/a.rs, crates/x/src/b/c.rs"]
        );
    }

    #[test]
    fn a_module_and_what_lies_in_it_may_use_each_other() {
        let found = complaints(&[
            ("lib.rs", "mod a;\npub use a::b::C;\nfn f() { crate::a::g() }\n"),
            ("a.rs", "mod b;\nuse self::b::C;\nuse crate::Root;\n"),
            ("a/b.rs", "use super::D;\nuse crate::Root;\n"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    /// `a/mod.rs` re-exports from `a/c.rs`, which uses `b`.
    #[test]
    fn a_module_that_hands_out_what_lies_in_it_hides_no_circle() {
        let found = complaints(&[
            ("lib.rs", "mod a;\nmod b;\n"),
            ("a/mod.rs", "mod c;\npub use self::c::D;\n"),
            ("a/c.rs", "use crate::b::E;\n"),
            ("b.rs", "use crate::a::D;\n"),
        ]);
        assert_eq!(
            found,
            ["crates/x/src/a/c.rs: modules go round in a circle: a, b: \
             crates/x/src/a/c.rs uses crates/x/src/b.rs; \
             crates/x/src/b.rs uses crates/x/src/a/mod.rs"]
        );
    }

    #[test]
    fn comments_tests_and_macros_are_not_followed() {
        let found = complaints(&[
            ("a.rs", "// crate::b\nmacro_rules! m { () => { $crate::b::X } }\n"),
            ("c.rs", "#[cfg(test)]\nmod tests {\n    use crate::b;\n}\n"),
            ("b.rs", "use crate::{a, c};\n#[cfg(test)]\nmod tests;\n"),
            ("b/tests.rs", "use crate::a;\n"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }
}
