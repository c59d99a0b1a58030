//! Checks that imports between the modules of the Python package have no cycle.
//!
//! Every import counts, also one within a function or for a type checker. A package and its
//! contents may import each other.

use std::collections::BTreeMap;

use super::strong::components;
use super::{Complaints, Source};

const ROOT: &str = "python/";

/// Complaints about cycles.
pub(super) fn check(sources: &[Source]) -> Complaints {
    let files: Vec<&Source> = sources.iter().filter(|source| is_module(source)).collect();
    let names: Vec<String> = files.iter().map(|file| module(&file.path)).collect();
    let index: BTreeMap<&str, usize> =
        names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let edges: Vec<Vec<usize>> = files
        .iter()
        .enumerate()
        .map(|(at, file)| {
            let package = package(&file.path);
            let targets = imports(&file.text, &package);
            let known = targets.iter().filter_map(|target| resolve(&index, target));
            known.filter(|&to| !is_kin(&names[at], &names[to])).collect()
        })
        .collect();
    let circle = |nodes: Vec<usize>| {
        let paths: Vec<&str> = nodes.iter().map(|&node| files[node].path.as_str()).collect();
        format!("{}: imports go round in a circle: {}", paths[0], paths.join(", "))
    };
    components(&edges).into_iter().map(circle).collect()
}

fn is_module(source: &Source) -> bool {
    source.path.starts_with(ROOT) && source.path.ends_with(".py")
}

/// `python/a/b.py` and `python/a/b/__init__.py` are `a.b`.
fn module(path: &str) -> String {
    let path = path.strip_prefix(ROOT).unwrap_or(path).trim_end_matches(".py");
    path.trim_end_matches("/__init__").replace('/', ".")
}

/// The package from which relative imports of the file start.
fn package(path: &str) -> String {
    let own = module(path);
    if path.ends_with("/__init__.py") {
        return own;
    }
    own.rsplit_once('.').map_or(String::new(), |(package, _)| package.to_owned())
}

/// Whether one of two modules is inside the other.
fn is_kin(one: &str, other: &str) -> bool {
    let holds = |outer: &str, inner: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    holds(one, other) || holds(other, one)
}

/// The file of a dotted name: the longest prefix that is a module.
fn resolve(index: &BTreeMap<&str, usize>, target: &str) -> Option<usize> {
    let mut name = target;
    loop {
        if let Some(&at) = index.get(name) {
            return Some(at);
        }
        name = name.rsplit_once('.')?.0;
    }
}

/// The dotted names that a file imports; `from a import b` is `a.b`.
fn imports(text: &str, package: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines().map(|line| line.split('#').next().unwrap_or(line).trim());
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("import ") {
            found.extend(rest.split(',').map(|name| first_word(name).to_owned()));
        } else if let Some((from, names)) =
            line.strip_prefix("from ").and_then(|rest| rest.split_once(" import "))
        {
            let mut names = names.to_owned();
            if names.contains('(') {
                while !names.contains(')') {
                    let Some(more) = lines.next() else { break };
                    names.push_str(more);
                }
            }
            let from = absolute(from.trim(), package);
            let names = names.split(['(', ')', ',']).map(first_word);
            found
                .extend(names.filter(|name| !name.is_empty()).map(|name| format!("{from}.{name}")));
        }
    }
    found
}

/// `..a` in package `x.y` is `x.a`.
fn absolute(from: &str, package: &str) -> String {
    let name = from.trim_start_matches('.');
    let dots = from.len() - name.len();
    if dots == 0 {
        return name.to_owned();
    }
    let parts: Vec<&str> = package.split('.').collect();
    let kept = &parts[..parts.len().saturating_sub(dots - 1)];
    let parts: Vec<&str> = kept.iter().copied().chain([name]).filter(|p| !p.is_empty()).collect();
    parts.join(".")
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(files: &[(&str, &str)]) -> Complaints {
        let source = |&(path, text): &(&str, &str)| Source {
            path: format!("python/p/{path}"),
            text: text.to_owned(),
        };
        check(&files.iter().map(source).collect::<Vec<_>>())
    }

    #[test]
    fn modules_that_import_each_other_form_a_circle() {
        let found = complaints(&[
            ("a.py", "from p import (\n    c,  # why\n    b,\n)\n"),
            ("b/__init__.py", "def f():\n    from ..p.a import x\n    from .. import a\n"),
            ("c.py", "import p.b as q\n"),
        ]);
        assert_eq!(
            found,
            ["python/p/a.py: imports go round in a circle: \
             python/p/a.py, python/p/b/__init__.py, python/p/c.py"]
        );
    }

    #[test]
    fn a_package_and_its_modules_may_import_each_other() {
        let found = complaints(&[
            ("__init__.py", "from p.b import x\nfrom .b.c import y\n"),
            ("b/__init__.py", "from .c import y\nfrom p import version\n"),
            ("b/c.py", "from . import x\nfrom p import version\n"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn chains_and_other_packages_are_not_circles() {
        let found = complaints(&[("a.py", "import numpy\nfrom .b import x\n"), ("b.py", "")]);
        assert!(found.is_empty(), "{found:?}");
    }
}
