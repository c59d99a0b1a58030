//! Expansion of parameters: `${1:-eth0}`, `${RATE%mbit}`, `${IFS[@]}` (POSIX.1-2024, Shell Command
//! Language §2.6.2; bash 5.2 manual, Arrays).

use super::shell::{State, Variables};
use super::shell_words::{in_braces, is_name, meets, split, unquoted, without};

/// Longer lists of an array's elements are unknown, as a script can double them.
const LONGEST_LIST: usize = 10_000;

impl Variables {
    /// The value of what stands after a `$`, and the number of bytes that it takes.
    pub(super) fn parameter(&mut self, after: &str) -> Option<(String, usize)> {
        if let Some(inside) = after.strip_prefix('{') {
            let (inside, end) = in_braces(inside)?;
            return Some((self.expanded(inside)?, end + 1));
        }
        let first = after.chars().next()?;
        let end = match first {
            '@' | '*' | '#' | '0'..='9' => 1,
            _ => after.find(|c| !is_part(c)).unwrap_or(after.len()),
        };
        match self.state(&after[..end]) {
            State::Known(value) => Some((value, end)),
            _ => None,
        }
    }

    /// The value of the inside of `${...}`.
    fn expanded(&mut self, inside: &str) -> Option<String> {
        if let Some(counted) = inside.strip_prefix('#').filter(|it| !it.is_empty()) {
            return match counted.strip_suffix("[@]").or(counted.strip_suffix("[*]")) {
                Some(array) => Some(self.elements(array)?.len().to_string()),
                None => Some(self.expanded(counted)?.chars().count().to_string()),
            };
        }
        if let Some(array) = inside.strip_prefix('!') {
            let array = array.strip_suffix("[@]").or(array.strip_suffix("[*]"))?;
            let keys: Vec<String> = self.array(array)?.iter().map(|it| it.0.clone()).collect();
            return Some(keys.join(" "));
        }
        let end = match inside.chars().next()? {
            '@' | '*' => 1,
            _ => inside.find(|c| !is_part(c)).unwrap_or(inside.len()),
        };
        let (name, mut rest) = inside.split_at(end);
        let mut state = self.state(name);
        if let Some(index) = rest.strip_prefix('[') {
            let (index, after) = index.split_once(']')?;
            state = self.element(name, index)?;
            rest = after;
        }
        self.changed(name, state, inside, rest)
    }

    /// The value after what follows a parameter's name.
    fn changed(&mut self, name: &str, state: State, all: &str, rest: &str) -> Option<String> {
        let (is_strict, operation) = match rest.strip_prefix(':') {
            Some(after) => (true, after),
            None => (false, rest),
        };
        let Some(mark) = operation.chars().next() else {
            return known(state).filter(|_| !is_strict);
        };
        let word = &operation[mark.len_utf8()..];
        if matches!(mark, '-' | '=') {
            return self.or_default(name, state, all, (mark, is_strict, word));
        }
        let value = known(state)?;
        match mark {
            '+' if is_strict && value.is_empty() => Some(value),
            '+' => Some(self.word(word)),
            '?' => Some(value).filter(|it| !(is_strict && it.is_empty())),
            _ if is_strict => part(&value, &self.word(operation)),
            '%' | '#' => {
                let (is_long, pattern) = match word.strip_prefix(mark) {
                    Some(pattern) => (true, pattern),
                    None => (false, word),
                };
                without(&value, mark, is_long, &self.word(pattern)).map(str::to_owned)
            }
            '/' => {
                let (is_each, word) = match word.strip_prefix('/') {
                    Some(word) => (true, word),
                    None => (false, word),
                };
                let (old, new) = word.split_once('/').unwrap_or((word, ""));
                let (old, new) = (self.word(old), self.word(new));
                let is_plain = !old.is_empty() && !old.contains(['*', '?', '[', '#', '%', '$']);
                let times = if is_each { usize::MAX } else { 1 };
                is_plain.then(|| value.replacen(&old, &new, times))
            }
            '^' if word == "^" => Some(value.to_uppercase()),
            ',' if word == "," => Some(value.to_lowercase()),
            _ => None,
        }
    }

    /// `${NAME:-word}` and `${NAME:=word}`. A variable that the text does not set may be one of the
    /// environment, or an argument of the script: the word is taken, with a note.
    fn or_default(
        &mut self,
        name: &str,
        state: State,
        all: &str,
        (mark, is_strict, word): (char, bool, &str),
    ) -> Option<String> {
        let is_unset = match state {
            State::Computed => return None,
            State::Known(value) if !(is_strict && value.is_empty()) => return Some(value),
            State::Known(_) => false,
            State::Unset => true,
        };
        let value = self.word(word);
        if is_unset {
            self.assumed.push(format!(
                "`${{{all}}}` is taken as `{value}`, as the text does not set {}",
                if is_name(name) { name.to_owned() } else { format!("`${name}`") }
            ));
        }
        if mark == '=' && is_name(name) {
            self.set(name, value.clone());
        }
        Some(value)
    }

    /// A word of an expansion, with its own variables, without quotation marks.
    fn word(&mut self, word: &str) -> String {
        unquoted(&self.replaced(word))
    }

    /// The elements of an array.
    pub(super) fn elements(&self, name: &str) -> Option<Vec<String>> {
        Some(self.array(name)?.iter().map(|it| it.1.clone()).collect())
    }

    fn array(&self, name: &str) -> Option<&Vec<(String, String)>> {
        self.arrays.iter().find(|it| it.0 == name).map(|it| &it.1)
    }

    fn element(&mut self, name: &str, index: &str) -> Option<State> {
        if matches!(index, "@" | "*") {
            let all = self.elements(name)?.join(" ");
            return (all.len() <= LONGEST_LIST).then_some(State::Known(all));
        }
        let key = self.key(name, index);
        let found = self.array(name)?.iter().find(|it| it.0 == key).map(|it| it.1.clone());
        Some(found.map_or(State::Unset, State::Known))
    }

    /// The key of an element: a number is computed, unless the array has other keys.
    fn key(&mut self, name: &str, index: &str) -> String {
        let index = self.word(index);
        let is_numbered = |all: &Vec<(String, String)>| {
            all.iter().all(|it| it.0.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let computed = self.array(name).is_none_or(is_numbered).then(|| self.evaluated(&index));
        computed.flatten().map_or(index, |it| it.to_string())
    }

    /// Handles `NAME=(a "b c")`, `NAME+=(d)` and `NAME[key]=value`; returns whether the text is one
    /// of them.
    pub(super) fn assign_array(&mut self, text: &str) -> bool {
        let Some((name, value)) = text.split_once('=') else { return false };
        if let Some((name, index)) = name.strip_suffix(']').and_then(|it| it.split_once('[')) {
            let key = self.key(name, index);
            let value = self.word(value);
            if !is_name(name) || key.is_empty() {
                return false;
            }
            let is_plain = !value.contains(['$', '`']) && !key.contains('$');
            match (is_plain, self.arrays.iter_mut().find(|it| it.0 == name)) {
                (true, Some((_, all))) => {
                    all.retain(|it| it.0 != key);
                    all.push((key, value));
                }
                (true, None) => self.arrays.push((name.to_owned(), vec![(key, value)])),
                (false, _) => self.arrays.retain(|it| it.0 != name),
            }
            return true;
        }
        let (name, is_more) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
        let Some(inside) = value.strip_prefix('(').and_then(|it| it.strip_suffix(')')) else {
            return false;
        };
        if !is_name(name) {
            return false;
        }
        let before = if is_more { self.array(name).cloned() } else { Some(Vec::new()) };
        let all = before.and_then(|before| self.with_words(before, inside));
        self.arrays.retain(|it| it.0 != name);
        self.arrays.extend(all.map(|all| (name.to_owned(), all)));
        true
    }

    /// The elements with those of a list; `None` if the shell computes one.
    fn with_words(
        &mut self,
        mut all: Vec<(String, String)>,
        list: &str,
    ) -> Option<Vec<(String, String)>> {
        const MOST: usize = 1000;
        for word in split(list)? {
            let replaced = self.replaced(word);
            if replaced.contains(['$', '`']) || all.len() > MOST || replaced.len() > LONGEST_LIST {
                return None;
            }
            if let Some((key, value)) =
                replaced.strip_prefix('[').and_then(|it| it.split_once("]="))
            {
                all.push((unquoted(key), unquoted(value)));
                continue;
            }
            let is_quoted = word.starts_with(['"', '\'']);
            let parts = match is_quoted {
                true => vec![unquoted(&replaced)],
                false if replaced.contains(['*', '?', '{']) => return None,
                false => split(&replaced)?.into_iter().map(unquoted).collect(),
            };
            let numbered = parts.into_iter().enumerate();
            let start = all.len();
            all.extend(numbered.map(|(at, part)| ((start + at).to_string(), part)));
        }
        Some(all)
    }
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn known(state: State) -> Option<String> {
    match state {
        State::Known(value) => Some(value),
        _ => None,
    }
}

/// `${NAME:2}` and `${NAME:0:3}`.
fn part(value: &str, places: &str) -> Option<String> {
    let (start, length) = places.split_once(':').unwrap_or((places, ""));
    let start: usize = start.trim().parse().ok()?;
    let length = if length.is_empty() { usize::MAX } else { length.trim().parse().ok()? };
    Some(value.chars().skip(start).take(length).collect())
}

/// The branch of a `case` for a value: whether its pattern, such as `start|up`, takes it.
pub(super) fn takes(label: &str, value: &str) -> Option<bool> {
    let mut any = false;
    for pattern in label.split('|') {
        any |= meets(&unquoted(pattern.trim()), value)?;
    }
    Some(any)
}
