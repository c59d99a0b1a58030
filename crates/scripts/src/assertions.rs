//! Assertions about a connection, in the subset of Python that scripts use.
//!
//! Only `assert EXPRESSION[, MESSAGE]` is supported, with numbers and names, `+ - * / // %`,
//! comparisons, `and`, `or`, `not`, `abs(...)` and parentheses, nested at most 64 deep. Nothing is
//! executed; anything else is refused.

/// The deepest nesting of parentheses and signs.
const DEPTH: u32 = 64;

/// Why an assertion fails or cannot be evaluated.
#[derive(Clone, PartialEq, Debug)]
pub enum Trouble {
    /// The assertion is false; holds the values of its names.
    False(String),
    /// The assertion is outside the supported subset, or uses an unknown name.
    Beyond(String),
}

/// Evaluates every assertion. `value` returns the value of a name.
///
/// # Errors
/// [`Trouble`] for the first assertion that is false or cannot be evaluated, with its text.
pub fn judge(code: &str, value: &dyn Fn(&str) -> Option<f64>) -> Result<(), (String, Trouble)> {
    for statement in statements(code) {
        let fails = |trouble| (statement.clone(), trouble);
        let Some(expression) = statement.strip_prefix("assert") else {
            return Err(fails(Trouble::Beyond("only assertions are understood".to_owned())));
        };
        let mut reader = Reader { text: expression, value, seen: Vec::new(), depth: 0 };
        let holds = reader.either().map_err(|why| fails(Trouble::Beyond(why)))?;
        let rest = reader.text.trim_start();
        if !rest.is_empty() && !rest.starts_with(',') {
            return Err(fails(Trouble::Beyond(format!("`{rest}` is not understood"))));
        }
        if holds == 0.0 {
            return Err(fails(Trouble::False(reader.values())));
        }
    }
    Ok(())
}

/// The statements: one per line or between semicolons, without comments. An open parenthesis or a
/// backslash joins lines.
fn statements(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut open, mut depth) = (String::new(), 0_i64);
    for line in code.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let (line, joins) = line.strip_suffix('\\').map_or((line, false), |line| (line, true));
        open.push(' ');
        open.push_str(line);
        depth += line.matches('(').count() as i64 - line.matches(')').count() as i64;
        if !joins && depth <= 0 {
            found.extend(open.split(';').map(|part| part.trim().to_owned()));
            (open, depth) = (String::new(), 0);
        }
    }
    found.push(open.trim().to_owned());
    found.retain(|statement| !statement.is_empty());
    found
}

/// Parses an expression and evaluates it. Truth values are 1 or 0.
struct Reader<'a> {
    text: &'a str,
    value: &'a dyn Fn(&str) -> Option<f64>,
    /// Names and their values, for messages.
    seen: Vec<(String, f64)>,
    /// The current nesting depth.
    depth: u32,
}

type Computed = Result<f64, String>;

impl Reader<'_> {
    fn values(&self) -> String {
        let shown: Vec<String> =
            self.seen.iter().map(|(name, value)| format!("{name} is {value}")).collect();
        shown.join(", ")
    }

    fn eat(&mut self, token: &str) -> bool {
        let rest = self.text.trim_start();
        let Some(after) = rest.strip_prefix(token) else { return false };
        let is_word = token.chars().all(char::is_alphabetic);
        if is_word && after.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            return false;
        }
        self.text = after;
        true
    }

    fn either(&mut self) -> Computed {
        let mut found = self.both()?;
        while self.eat("or") {
            let other = self.both()?;
            found = if found == 0.0 { other } else { found };
        }
        Ok(found)
    }

    fn both(&mut self) -> Computed {
        let mut found = self.negated()?;
        while self.eat("and") {
            let other = self.negated()?;
            found = if found == 0.0 { found } else { other };
        }
        Ok(found)
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Computed) -> Computed {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("it is nested more than {DEPTH} deep"));
        }
        let found = read(self);
        self.depth -= 1;
        found
    }

    fn negated(&mut self) -> Computed {
        if self.eat("not") {
            return Ok(truth(self.deeper(Self::negated)? == 0.0));
        }
        self.compared()
    }

    /// `a < b <= c`, as in Python: every pair must hold.
    fn compared(&mut self) -> Computed {
        type Holds = fn(&f64, &f64) -> bool;
        const SIGNS: [(&str, Holds); 6] = [
            ("==", f64::eq),
            ("!=", f64::ne),
            ("<=", f64::le),
            (">=", f64::ge),
            ("<", f64::lt),
            (">", f64::gt),
        ];
        let mut left = self.sum()?;
        let mut found = None;
        while let Some((_, holds)) = SIGNS.into_iter().find(|(sign, _)| self.eat(sign)) {
            let right = self.sum()?;
            found = Some(found.unwrap_or(true) && holds(&left, &right));
            left = right;
        }
        Ok(found.map_or(left, truth))
    }

    fn sum(&mut self) -> Computed {
        let mut found = self.product()?;
        loop {
            if self.eat("+") {
                found += self.product()?;
            } else if self.eat("-") {
                found -= self.product()?;
            } else {
                return Ok(found);
            }
        }
    }

    fn product(&mut self) -> Computed {
        let mut found = self.operand()?;
        loop {
            if self.eat("*") {
                found *= self.operand()?;
            } else if self.eat("//") {
                found = (found / self.divisor()?).floor();
            } else if self.eat("/") {
                found /= self.divisor()?;
            } else if self.eat("%") {
                let divisor = self.divisor()?;
                found -= (found / divisor).floor() * divisor;
            } else {
                return Ok(found);
            }
        }
    }

    fn divisor(&mut self) -> Computed {
        let found = self.operand()?;
        if found == 0.0 { Err("divides by zero".to_owned()) } else { Ok(found) }
    }

    fn operand(&mut self) -> Computed {
        if self.eat("-") {
            return Ok(-self.deeper(Self::operand)?);
        }
        let absolute = self.eat("abs");
        if self.eat("(") {
            let found = self.deeper(Self::either)?;
            if !self.eat(")") {
                return Err("a parenthesis is not closed".to_owned());
            }
            return Ok(if absolute { found.abs() } else { found });
        }
        let rest = self.text.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && !"_.".contains(c));
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        self.text = after;
        if let Ok(number) = word.parse() {
            return Ok(number);
        }
        if let Some(Ok(number)) = word.strip_prefix("0x").map(|hex| u32::from_str_radix(hex, 16)) {
            return Ok(f64::from(number));
        }
        let known = (self.value)(word).ok_or_else(|| format!("`{word}` is not modelled"))?;
        if word.starts_with(|c: char| c.is_lowercase()) {
            self.seen.push((word.to_owned(), known));
        }
        Ok(known)
    }
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(code: &str) -> Result<(), (String, Trouble)> {
        judge(code, &|name| match name {
            "cwnd" => Some(10.0),
            "rtt" => Some(100_250.0),
            "INFINITE" => Some(f64::from(u32::MAX)),
            _ => None,
        })
    }

    #[test]
    fn assertions_that_hold_pass_whatever_follows_the_comma() {
        let code = "
            assert cwnd == 10, cwnd  # a comment, with a comma
            assert cwnd + 2 * 3 == 16 and not cwnd < 10; assert 9 < cwnd <= 10
            assert (cwnd ==
                    10), 'message'
            assert abs(rtt - 100000) < 1000 or cwnd == \\
                0x0b
            assert -7 // 2 == -4 and -7 % 4 == 1 and 7 / 2 == 3.5";
        assert_eq!(judged(code), Ok(()));
    }

    #[test]
    fn one_that_does_not_hold_shows_the_values_of_its_names() {
        let (statement, trouble) = judged("assert cwnd > 3\nassert cwnd == 7").unwrap_err();
        assert_eq!(statement, "assert cwnd == 7");
        assert_eq!(trouble, Trouble::False("cwnd is 10".to_owned()));
    }

    #[test]
    fn what_is_beyond_the_form_is_refused_and_never_passes() {
        for (code, why) in [
            ("import os", "only assertions"),
            ("assert tcpi_pmtu == 1", "`tcpi_pmtu` is not modelled"),
            ("assert __import__('os')", "not modelled"),
            ("assert cwnd == 10 if 1 else 2", "not understood"),
            ("assert (cwnd == 10", "not closed"),
            ("assert cwnd / 0 == 1", "divides by zero"),
        ] {
            let Err((_, Trouble::Beyond(found))) = judged(code) else { panic!("{code}") };
            assert!(found.contains(why), "{code}: {found}");
        }
    }
}
