//! Limits titles of commits; `.githooks/commit-msg` checks the same at commit time.

use std::path::Path;
use std::process::Command;

use super::Complaints;

/// Maximum number of columns in a title.
const COLUMNS: usize = 72;
/// The last commit made without this rule.
const BASE: &str = "8f956112b7fa8fc518c51666c254485f6005fd58";

/// Complaints about titles of the commits since `BASE`; empty in a tree without that history.
pub(super) fn check(root: &Path) -> Complaints {
    let range = format!("{BASE}..HEAD");
    let arguments = ["log", "--no-merges", "--format=%h %s", &range];
    let listed = Command::new("git").args(arguments).current_dir(root).output();
    let Some(listed) = listed.ok().filter(|listed| listed.status.success()) else {
        return Complaints::new();
    };
    complaints(&String::from_utf8_lossy(&listed.stdout))
}

/// Complaints about lines of a short name and a title.
fn complaints(listed: &str) -> Complaints {
    let commits = listed.lines().filter_map(|line| line.split_once(' '));
    let lengths = commits.map(|(commit, title)| (commit, title, title.chars().count()));
    let long = lengths.filter(|&(.., columns)| columns > COLUMNS);
    long.map(|(commit, title, columns)| {
        format!("commit {commit}: title of {columns} columns; {COLUMNS} at most: {title}")
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_of_73_columns_is_a_complaint() {
        let (fits, long) = ("ä".repeat(72), "ä".repeat(73));
        let found = complaints(&format!("abc {fits}\ndef {long}\n"));
        assert_eq!(found, [format!("commit def: title of 73 columns; 72 at most: {long}")]);
    }
}
