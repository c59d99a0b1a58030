//! Checks that the tree has no binary files: results, libraries and figures are generated, not
//! stored, and the pictures of the pages are SVG.

use std::fs;
use std::path::Path;

use super::Complaints;

/// A complaint for each file of `paths` that is not text.
pub fn check(root: &Path, paths: &[String]) -> Complaints {
    let complaint = |path: &String| {
        let content = fs::read(root.join(path)).unwrap_or_default();
        is_refused(&content)
            .then(|| format!("{path}:1: is binary; remove it, or say how it is made"))
    };
    paths.iter().filter_map(complaint).collect()
}

fn is_refused(content: &[u8]) -> bool {
    std::str::from_utf8(content).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_files_are_refused() {
        assert!(is_refused(b"PAR1\xff"));
        assert!(is_refused(b"\x89PNG"));
        assert!(!is_refused("ä".as_bytes()));
    }
}
