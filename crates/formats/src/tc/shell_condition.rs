//! Conditions of the shell whose value is in the text: `[ "$MODE" = cake ]`, `((i <= 3))`.

use super::shell::Variables;
use super::shell_words::{meets, split, unquoted};

impl Variables {
    /// Whether a condition holds; `None` if the text does not tell.
    pub(super) fn holds(&mut self, condition: &str) -> Option<bool> {
        let condition = condition.trim();
        if condition.contains("||") && condition.contains("&&") {
            return None;
        }
        if let Some((first, rest)) = condition.split_once("||") {
            // The first that holds decides.
            return match self.holds(first)? {
                true => Some(true),
                false => self.holds(rest),
            };
        }
        if let Some((first, rest)) = condition.split_once("&&") {
            return match self.holds(first)? {
                false => Some(false),
                true => self.holds(rest),
            };
        }
        if let Some(rest) = condition.strip_prefix("! ") {
            return self.holds(rest).map(|it| !it);
        }
        match condition {
            "true" | ":" => return Some(true),
            "false" => return Some(false),
            _ => {}
        }
        let inside = |start: &str, end: &str| {
            condition.strip_prefix(start)?.strip_suffix(end).map(str::to_owned)
        };
        if let Some(inside) = inside("((", "))") {
            let inside = self.replaced(&inside);
            let value = self.evaluated(&inside);
            if value.is_none() {
                // It may set variables, as `((i++ < 3))` does.
                self.forget_all(&inside);
            }
            return Some(value? != 0);
        }
        if let Some(inside) = inside("[[ ", " ]]") {
            return self.tested(&inside, true);
        }
        let inside =
            inside("[ ", " ]").or_else(|| condition.strip_prefix("test ").map(str::to_owned));
        self.tested(&inside?, false)
    }

    /// A test; in `[[ ]]` the text after `==` is a pattern unless it is quoted.
    fn tested(&mut self, test: &str, has_patterns: bool) -> Option<bool> {
        let words = split(test)?;
        if let Some(("!", rest)) = words.split_first().map(|it| (*it.0, it.1)) {
            return self.tested(&rest.join(" "), has_patterns).map(|it| !it);
        }
        let mut values = Vec::new();
        for word in &words {
            let replaced = self.replaced(word);
            let is_split = word.contains('$') && !word.starts_with('"') && !has_patterns;
            // Without quotation marks, an empty value vanishes and a longer one is several words.
            if is_split && replaced.split_whitespace().count() != 1 {
                return None;
            }
            values.push(unquoted(&replaced));
        }
        if values.iter().any(|it| it.contains(['$', '`'])) {
            return None;
        }
        let number = |at: usize| values[at].parse::<i64>().ok();
        let (first, second) = (values.first()?.as_str(), values.get(1).map(String::as_str));
        match (values.len(), second?) {
            (2, value) if first == "-z" => Some(value.is_empty()),
            (2, value) if first == "-n" => Some(!value.is_empty()),
            (3, sign @ ("=" | "==" | "!=")) => {
                let is_pattern = has_patterns && !words[2].starts_with(['"', '\'']);
                let is_same = match is_pattern {
                    true => meets(&values[2], first)?,
                    false => first == values[2],
                };
                Some(is_same != (sign == "!="))
            }
            (3, "-eq") => Some(number(0)? == number(2)?),
            (3, "-ne") => Some(number(0)? != number(2)?),
            (3, "-lt") => Some(number(0)? < number(2)?),
            (3, "-le") => Some(number(0)? <= number(2)?),
            (3, "-gt") => Some(number(0)? > number(2)?),
            (3, "-ge") => Some(number(0)? >= number(2)?),
            _ => None,
        }
    }
}
