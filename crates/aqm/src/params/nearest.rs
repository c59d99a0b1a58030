//! "Did you mean": the known word nearest to a mistyped one.

use alloc::vec::Vec;

/// The word of `known` nearest to `typed`, if it is near enough to be a typing error.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (typed.chars().count() / 3).max(2);
    known
        .into_iter()
        .map(|word| (distance(typed, word), word))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, word)| word)
}

/// The Levenshtein distance, computed row by row.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_typing_error_but_no_unrelated_word() {
        let known = ["codel", "pie", "fq_codel", "madpie"];
        assert_eq!(nearest("coddel", known), Some("codel"));
        assert_eq!(nearest("madpi", known), Some("madpie"));
        assert_eq!(nearest("bottleneck", known), None);
    }

    #[test]
    fn distance_counts_insertions_deletions_and_replacements() {
        for (a, b, edits) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "abd", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!((distance(a, b), distance(b, a)), (edits, edits), "{a} {b}");
        }
    }

    #[test]
    fn a_third_of_the_letters_may_be_wrong_and_always_two() {
        assert_eq!(nearest("ab", ["cd"]), Some("cd"));
        assert_eq!(nearest("abc", ["def"]), None);
        assert_eq!(nearest("abcdefghi", ["abcdefxyz"]), Some("abcdefxyz"));
        assert_eq!(nearest("abcdefgh", ["abcdexyz"]), None);
    }
}
