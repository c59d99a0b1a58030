//! Words of the shell: quotation marks, lists, patterns, nested braces.

/// The words of a text with their quotation marks; `$(...)` is a part of a word. `None` if a
/// quotation does not end.
pub(super) fn split(text: &str) -> Option<Vec<&str>> {
    let mut all = Vec::new();
    let (mut start, mut quote, mut depth, mut before) = (None, None, 0_usize, ' ');
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(mark), c) if mark == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => {
                quote = Some(c);
                start = start.or(Some(at));
            }
            (None, '(' | '{') if before == '$' || depth > 0 => depth += 1,
            (None, ')' | '}') => depth = depth.saturating_sub(1),
            (None, c) if c.is_whitespace() && depth == 0 => {
                all.extend(start.take().map(|start| &text[start..at]));
            }
            (None, _) => start = start.or(Some(at)),
        }
        before = c;
    }
    all.extend(start.map(|start| &text[start..]));
    quote.is_none().then_some(all)
}

/// The first word and the rest.
pub(super) fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
}

/// Whether a text can be the name of a variable.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

/// The most words of a list that the shell counts.
const MOST_WORDS: u32 = 1000;

/// The words of the list of a `for`, with `{1..3}` and `$(seq 1 3)` written out; `None` if the
/// shell computes it.
pub(super) fn words_of_list(list: &str) -> Option<Vec<String>> {
    let list = list.replace(['"', '\''], " ");
    let list = list.trim();
    let inside = |start: &str, end: &str| list.strip_prefix(start)?.strip_suffix(end);
    if let Some(range) = inside("$(seq ", ")").or(inside("`seq ", "`")) {
        let given: Option<Vec<u32>> = range.split_whitespace().map(|it| it.parse().ok()).collect();
        return match given?.as_slice() {
            [last] => counted(1, 1, *last),
            [first, last] => counted(*first, 1, *last),
            [first, step, last] => counted(*first, *step, *last),
            _ => None,
        };
    }
    let is_plain = !list.contains(['$', '`', '*', '?', '[']);
    let all = list.split_whitespace().map(braces).collect::<Option<Vec<_>>>();
    all.map(|it| it.concat()).filter(|it| is_plain && it.len() <= MOST_WORDS as usize)
}

fn counted(first: u32, step: u32, last: u32) -> Option<Vec<String>> {
    let is_short = step > 0 && first <= last && (last - first) / step < MOST_WORDS;
    is_short.then(|| (first..=last).step_by(step as usize).map(|it| it.to_string()).collect())
}

/// The words of `eth{0..3}` or `eth{0,1}`.
fn braces(word: &str) -> Option<Vec<String>> {
    let Some((before, rest)) = word.split_once('{') else { return Some(vec![word.to_owned()]) };
    let (inside, after) = rest.split_once('}')?;
    let range = inside.split_once("..").and_then(|(first, last)| {
        let number = |text: &str| {
            if text.starts_with('0') && text.len() > 1 { None } else { text.parse().ok() }
        };
        counted(number(first)?, 1, number(last)?)
    });
    let list = || inside.split(',').map(str::to_owned).collect::<Vec<_>>();
    let all = range.or_else(|| inside.contains(',').then(list))?;
    let is_one = !after.contains('{') && !inside.contains('{');
    is_one.then(|| all.iter().map(|it| format!("{before}{it}{after}")).collect())
}

/// A word without its quotation marks.
pub(super) fn unquoted(word: &str) -> String {
    let mut quote = None;
    word.chars()
        .filter(|&c| match quote {
            Some(mark) if mark == c => {
                quote = None;
                false
            }
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                false
            }
            _ => true,
        })
        .collect()
}

/// The text up to the `}` that ends a `${` before it, and the number of bytes with that mark.
pub(super) fn in_braces(text: &str) -> Option<(&str, usize)> {
    let mut depth = 0_usize;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' if at > 0 && bytes[at - 1] == b'$' => depth += 1,
            b'}' if depth == 0 => return Some((&text[..at], at + 1)),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether a text meets a pattern with `*` and `?`; `None` for sets such as `[0-9]` and for long
/// texts.
pub(super) fn meets(pattern: &str, text: &str) -> Option<bool> {
    const LONGEST: (usize, usize) = (32, 100);
    if pattern.contains(['[', '\\']) || pattern.len() > LONGEST.0 || text.len() > LONGEST.1 {
        return None;
    }
    let text: Vec<char> = text.chars().collect();
    // Which beginnings of the text meet the pattern so far.
    let mut met: Vec<bool> = (0..=text.len()).map(|at| at == 0).collect();
    for c in pattern.chars() {
        met = match c {
            '*' => met
                .iter()
                .scan(false, |any, is| {
                    *any |= is;
                    Some(*any)
                })
                .collect(),
            c => {
                let one = |at: usize| at > 0 && met[at - 1] && (c == '?' || text[at - 1] == c);
                (0..=text.len()).map(one).collect()
            }
        };
    }
    met.last().copied()
}

/// The text without the shortest or longest beginning (`#`, `##`) or end (`%`, `%%`) that meets a
/// pattern (POSIX.1-2024, Shell Command Language §2.6.2).
pub(super) fn without<'t>(
    text: &'t str,
    mark: char,
    is_long: bool,
    pattern: &str,
) -> Option<&'t str> {
    let mut ends: Vec<usize> = text.char_indices().map(|it| it.0).collect();
    ends.push(text.len());
    let is_start = mark == '#';
    // From the shortest part to the longest.
    if is_start == is_long {
        ends.reverse();
    }
    for at in ends {
        let (before, after) = text.split_at(at);
        let (part, rest) = if is_start { (before, after) } else { (after, before) };
        if meets(pattern, part)? {
            return Some(rest);
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotation_marks_keep_words_together() {
        assert_eq!(split("a \"b c\" d'e f'"), Some(vec!["a", "\"b c\"", "d'e f'"]));
        assert_eq!(split("a \"b"), None);
        assert_eq!(unquoted("a\"b 'c\""), "ab 'c");
        assert_eq!(in_braces("A:-${B}}c"), Some(("A:-${B}", 8)));
        assert_eq!(in_braces("A"), None);
    }

    /// POSIX.1-2024, Shell Command Language §2.6.2, with its own examples.
    #[test]
    fn a_pattern_cuts_the_shortest_or_longest_part() {
        for (text, mark, is_long, pattern, left) in [
            ("file.c", '%', false, ".c", "file"),
            ("posix/src/std", '%', true, "/*", "posix"),
            ("posix/src/cmd", '#', false, "*/", "src/cmd"),
            ("/one/two/three", '#', true, "*/", "three"),
            ("90mbit", '%', true, "m?it", "90"),
            ("90mbit", '%', false, "kbit", "90mbit"),
        ] {
            assert_eq!(without(text, mark, is_long, pattern), Some(left), "{text} {pattern}");
        }
        assert_eq!(without("90mbit", '%', true, "[a-z]*"), None);
    }
}
