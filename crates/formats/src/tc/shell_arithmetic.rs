//! Integer arithmetic of the shell: `$((9 * RATE / 10))`, `$[9*950/10]`, `$(expr $i + 1)`.

use super::shell_words::is_name;

/// The text with each computation replaced by its value, or unchanged if it has no value.
pub(super) fn computed<'v>(text: &str, value: &dyn Fn(&str) -> Option<&'v str>) -> String {
    let mut all = String::new();
    let backticks = text.split_once("`expr ").and_then(|(before, rest)| {
        let (inner, after) = rest.split_once('`')?;
        Some(format!("{before}$(expr {inner}){after}"))
    });
    let text = backticks.as_deref().unwrap_or(text);
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        all.push_str(&rest[..at]);
        rest = &rest[at..];
        let found = inside(rest, "$((", "))")
            .or_else(|| inside(rest, "$[", "]"))
            .or_else(|| inside(rest, "$(expr ", ")"));
        let plain = |inner: &str| inner.replace("\\*", "*").replace("'*'", "*");
        match found.and_then(|(inner, after)| Some((evaluate(&plain(inner), value)?, after))) {
            Some((number, after)) => {
                all.push_str(&number.to_string());
                rest = after;
            }
            None => {
                all.push('$');
                rest = &rest[1..];
            }
        }
    }
    all + rest
}

/// The text between two marks at the start, and the text behind them.
fn inside<'t>(text: &'t str, open: &str, close: &str) -> Option<(&'t str, &'t str)> {
    let text = text.strip_prefix(open)?;
    // An inner bracket may end with the outer one, as in `$((2*(A+B)))`.
    let mut end = text.find(close)?;
    while text[end + 1..].starts_with(close) {
        end += 1;
    }
    Some((&text[..end], &text[end + close.len()..]))
}

/// The value of an expression; division rounds towards zero; `None` if the shell would refuse it or
/// an operator is not supported.
pub(super) fn evaluate<'v>(text: &str, value: &dyn Fn(&str) -> Option<&'v str>) -> Option<i64> {
    let mut reader = Reader { rest: text.trim(), value };
    let number = reader.comparison()?;
    reader.rest.is_empty().then_some(number)
}

/// The variable that `i++`, `i += 2` or `i = i + 1` sets, and the expression for its value.
pub(super) fn assignment(text: &str) -> Option<(String, String)> {
    let text = text.trim();
    let one = |name: &str, sign: char| {
        let name = name.trim();
        is_name(name).then(|| (name.to_owned(), format!("{name}{sign}1")))
    };
    for (mark, sign) in [("++", '+'), ("--", '-')] {
        if let Some(name) = text.strip_suffix(mark).or_else(|| text.strip_prefix(mark)) {
            return one(name, sign);
        }
    }
    let (before, value) = text.split_once('=')?;
    let before = before.trim();
    let sign = before.chars().last().filter(|it| "+-*/%".contains(*it));
    let name = before.trim_end_matches(['+', '-', '*', '/', '%']).trim();
    let is_plain = is_name(name) && !value.starts_with('=') && !value.contains('=');
    let expression = match sign {
        Some(sign) => format!("{name}{sign}({value})"),
        None => value.to_owned(),
    };
    is_plain.then(|| (name.to_owned(), expression))
}

struct Reader<'t, 'f, 'v> {
    rest: &'t str,
    value: &'f dyn Fn(&str) -> Option<&'v str>,
}

impl Reader<'_, '_, '_> {
    fn comparison(&mut self) -> Option<i64> {
        let first = self.sum()?;
        const SIGNS: [&str; 6] = ["<=", ">=", "==", "!=", "<", ">"];
        let Some(sign) = SIGNS.iter().find(|it| self.rest.starts_with(**it)) else {
            return Some(first);
        };
        self.rest = self.rest[sign.len()..].trim_start();
        let second = self.sum()?;
        let holds = match *sign {
            "<=" => first <= second,
            ">=" => first >= second,
            "==" => first == second,
            "!=" => first != second,
            "<" => first < second,
            _ => first > second,
        };
        Some(i64::from(holds))
    }

    fn sum(&mut self) -> Option<i64> {
        let mut total = self.product()?;
        while let Some(sign) = self.one_of("+-") {
            let next = self.product()?;
            total = if sign == '+' { total.checked_add(next) } else { total.checked_sub(next) }?;
        }
        Some(total)
    }

    fn product(&mut self) -> Option<i64> {
        let mut total = self.operand()?;
        while let Some(sign) = self.one_of("*/%") {
            let next = self.operand()?;
            total = match sign {
                '*' => total.checked_mul(next),
                '/' => total.checked_div(next),
                _ => total.checked_rem(next),
            }?;
        }
        Some(total)
    }

    /// A number, a variable, or an expression in brackets. Depth is bounded, because a text may
    /// nest brackets endlessly.
    fn operand(&mut self) -> Option<i64> {
        if self.one_of("-").is_some() {
            return self.operand_after_sign()?.checked_neg();
        }
        self.operand_after_sign()
    }

    fn operand_after_sign(&mut self) -> Option<i64> {
        if self.one_of("(").is_some() {
            let depth = self.rest.matches('(').count();
            let inner = if depth < 16 { self.sum()? } else { return None };
            return self.one_of(")").map(|_| inner);
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        // A leading zero makes a number octal.
        let is_decimal = |text: &str| text == "0" || !text.starts_with('0');
        match word.starts_with(|c: char| c.is_ascii_digit()) {
            true => is_decimal(word).then(|| word.parse().ok())?,
            false => (self.value)(word).filter(|text| is_decimal(text))?.parse().ok(),
        }
    }

    fn one_of(&mut self, signs: &str) -> Option<char> {
        let sign = self.rest.chars().next().filter(|sign| signs.contains(*sign))?;
        self.rest = self.rest[1..].trim_start();
        Some(sign)
    }
}

#[cfg(test)]
mod tests {
    use super::{assignment, computed};

    #[test]
    fn whole_numbers_are_computed_as_the_shell_does() {
        let value = |name: &str| (name == "UP").then_some("950");
        for (text, expected) in [
            ("rate $[9*950/10]kbit", "rate 855kbit"),
            ("rate $((UP * 9 / 10))kbit ceil $((UP-1))kbit", "rate 855kbit ceil 949kbit"),
            ("$((2 * (UP + 50)))", "2000"),
            ("$((7 / 2 % 2 - 4))", "-3"),
            ("$(expr 7 \\* 2)-`expr 1 + 1`", "14-2"),
            ("$((-3 + 4)) $((3 <= 3)) $((3 == 4))", "1 1 0"),
        ] {
            assert_eq!(computed(text, &value), expected);
        }
    }

    #[test]
    fn an_assignment_names_its_variable() {
        let of = |text: &str| assignment(text).map(|it| format!("{} {}", it.0, it.1));
        for (text, found) in
            [("i++", "i i+1"), ("--i", "i i-1"), ("i += 2", "i i+( 2)"), ("i=i*2", "i i*2")]
        {
            assert_eq!(of(text).as_deref(), Some(found));
        }
        for text in ["i", "i == 3", "a[0]++", "i <= 3", "i = j = 1"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn what_has_no_value_stays() {
        for text in ["$((A*2))", "$((1/0))", "$[010*2]", "$((1 << 3))", "$(cat rate)", "$((2", "$"]
        {
            assert_eq!(computed(text, &|_| None), text);
        }
        let deep = format!("$(({}1{}))", "(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(computed(&deep, &|_| None), deep);
    }
}
