//! Checks that the targets of links are in the tree.

use std::path::Path;

use super::{Complaints, Source};

/// Links of one page to files that are missing.
pub(super) fn check(root: &Path, source: &Source) -> Complaints {
    if !source.path.ends_with(".md") {
        return Complaints::new();
    }
    let folder = root.join(&source.path);
    let folder = folder.parent().expect("a file is in a folder");
    let lines = source.text.lines().enumerate();
    let found = lines.flat_map(|(n, line)| targets(line).map(move |target| (n + 1, target)));
    let missing = found.filter(|(_, target)| !folder.join(target).exists());
    missing
        .map(|(line, target)| {
            format!("{}:{line}: links to {target}, which is not there", source.path)
        })
        .collect()
}

/// The files that a line of Markdown links to, without fragments.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let ends = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let files = ends.map(|(target, _)| target.split('#').next().unwrap_or_default());
    files.filter(|file| !file.is_empty() && !file.contains(':') && !file.contains(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_a_file_that_is_not_there_is_a_complaint() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let page = |text: &str| Source { path: "docs/page.md".to_owned(), text: text.to_owned() };
        let found = |text: &str| check(root, &page(text));
        assert!(found("[a](how-to/linux.md#time), [b](../README.md), [c](#here)").is_empty());
        assert!(found("[d](https://example.org/x.md)").is_empty());
        let expected = "docs/page.md:2: links to ../gone.md, which is not there";
        assert_eq!(found("x\n[e](how-to/linux.md) [f](../gone.md#x)"), [expected]);
    }
}
