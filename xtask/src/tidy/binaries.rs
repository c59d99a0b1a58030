//! Checks that the tree has no binary files except the pictures of the pages: results, libraries
//! and figures are generated, not stored.

use std::fs;
use std::path::Path;

use super::Complaints;

const PICTURES: &str = "docs/images/";

/// A complaint for each file of `paths` that is not text.
pub fn check(root: &Path, paths: &[String]) -> Complaints {
    let complaint = |path: &String| {
        let content = fs::read(root.join(path)).unwrap_or_default();
        is_refused(path, &content)
            .then(|| format!("{path}:1: is binary; remove it, or say how it is made"))
    };
    paths.iter().filter_map(complaint).collect()
}

fn is_refused(path: &str, content: &[u8]) -> bool {
    !path.starts_with(PICTURES) && std::str::from_utf8(content).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_files_are_refused_except_pictures_of_pages() {
        assert!(is_refused("out/a.parquet", b"PAR1\xff"));
        assert!(!is_refused("docs/images/a.png", b"\x89PNG"));
        assert!(!is_refused("docs/a.md", "ä".as_bytes()));
    }
}
