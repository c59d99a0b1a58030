//! Shell scripts around commands: variables, quotation marks, keywords.

use super::shell_arithmetic;

/// Words before a command that only run it, including those of Debian's `interfaces`.
const RUNNERS: [&str; 11] =
    ["sudo", "command", "exec", "run", "then", "do", "else", "SILENT=1", "up", "pre-up", "post-up"];

const CARRIERS: [&str; 8] = ["docker", "podman", "kubectl", "lxc", "ssh", "adb", "nsenter", "doas"];

/// Longer values are unknown, and in longer texts variables stay, as a script can double them.
const LONGEST_VALUE: usize = 1000;
const LONGEST_TEXT: usize = 100_000;

/// The variables that a script has assigned so far.
#[derive(Default)]
pub(super) struct Variables {
    known: Vec<(String, String)>,
}

impl Variables {
    /// Handles an assignment such as `DEV=eth0`, or several after `local`; returns whether the
    /// command is one.
    pub(super) fn assign(&mut self, command: &str) -> bool {
        let words = ["export ", "local ", "readonly ", "declare "];
        match words.iter().find_map(|word| command.strip_prefix(word)) {
            Some(several) if !several.contains(['"', '\'', '`', '(']) => {
                let mut words = several.split_whitespace().filter(|it| !it.starts_with('-'));
                words.all(|one| self.assign_one(one))
            }
            Some(one) => self.assign_one(one.trim_start()),
            None => self.assign_one(command),
        }
    }

    fn assign_one(&mut self, text: &str) -> bool {
        let Some((name, value)) = text.split_once('=') else { return false };
        let (name, is_more) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
        let quoted = ['"', '\''].iter().find_map(|mark| {
            let inside = value.strip_prefix(*mark)?.strip_suffix(*mark)?;
            (!inside.contains(*mark)).then_some(inside)
        });
        let value = quoted.unwrap_or(value);
        // `SILENT=1 tc qdisc ...` sets a variable for a single command.
        let is_computed = ["$(", "$[", "`"].iter().any(|mark| value.starts_with(mark));
        let is_one = quoted.is_some() || is_computed || !value.contains(char::is_whitespace);
        if !is_name(name) || !is_one {
            return false;
        }
        let before = match is_more {
            true => self.replaced(&format!("${{{name}}}")),
            false => String::new(),
        };
        self.set(name, before + &self.replaced(value));
        true
    }

    /// Gives a variable a value; one that the shell computes is unknown.
    pub(super) fn set(&mut self, name: &str, value: String) {
        self.forget(name);
        if value.len() <= LONGEST_VALUE && !value.contains(['$', '`']) {
            self.known.push((name.to_owned(), value));
        }
    }

    pub(super) fn forget(&mut self, name: &str) {
        self.known.retain(|(known, _)| known != name);
    }

    pub(super) fn is_known(&self, name: &str) -> bool {
        self.known.iter().any(|it| it.0 == name)
    }

    /// Forgets the variables that a command computes, such as `let i=i+1` or `read DEV`; returns
    /// whether it is such a command.
    pub(super) fn computed(&mut self, command: &str) -> bool {
        const COMPUTE: [&str; 5] = ["let", "read", "unset", "mapfile", "shift"];
        let word = command.split_whitespace().next().unwrap_or("");
        if word == "shift" {
            self.arguments(None);
        }
        if !COMPUTE.contains(&word) && !command.starts_with("((") {
            return false;
        }
        let names = command.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        names.for_each(|name| self.forget(name));
        true
    }

    /// Gives the positional parameters their values; returns the earlier ones.
    pub(super) fn arguments(&mut self, given: Option<&str>) -> Vec<(String, String)> {
        let is_position = |name: &str| name == "@" || name.bytes().all(|it| it.is_ascii_digit());
        let (before, rest) =
            std::mem::take(&mut self.known).into_iter().partition(|it| is_position(&it.0));
        self.known = rest;
        if let Some(given) = given {
            let given = given.replace(['"', '\''], "");
            for (at, word) in given.split_whitespace().enumerate() {
                self.set(&(at + 1).to_string(), word.to_owned());
            }
            self.set("@", given);
        }
        before
    }

    /// Gives the positional parameters their earlier values back.
    pub(super) fn restore(&mut self, before: Vec<(String, String)>) {
        self.arguments(None);
        self.known.extend(before);
    }

    /// The text with known variables, and the arithmetic on them, replaced by values. `$TC` is tc.
    pub(super) fn replaced(&self, text: &str) -> String {
        let value = |name: &str| Some(self.known.iter().find(|it| it.0 == name)?.1.as_str());
        shell_arithmetic::computed(&self.with_values(text), &value)
    }

    fn with_values(&self, text: &str) -> String {
        let mut all = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$').filter(|_| all.len() < LONGEST_TEXT) {
            let (before, after) = (&rest[..at], &rest[at + 1..]);
            all.push_str(before);
            let (name, end) = variable(after);
            let value = self.known.iter().find(|it| it.0 == name).map(|it| it.1.as_str());
            match value.or((name == "TC").then_some("tc")).filter(|_| !name.is_empty()) {
                Some(value) => {
                    all.push_str(value);
                    rest = &after[end..];
                }
                None => {
                    all.push('$');
                    rest = after;
                }
            }
        }
        all + rest
    }
}

/// The most words of a list that the shell counts.
const MOST_WORDS: u32 = 1000;

/// The words of the list of a `for`, with `{1..3}` and `$(seq 1 3)` written out; `None` if the
/// shell computes it.
pub(super) fn words_of_list(list: &str) -> Option<Vec<String>> {
    let list = list.replace(['"', '\''], " ");
    let list = list.trim();
    let counted = |text: &str, by: &str| {
        let (first, last) = text.split_once(by)?;
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        let is_short = first <= last && last - first < MOST_WORDS;
        is_short.then(|| (first..=last).map(|it| it.to_string()).collect())
    };
    let inside = |start: &str, end: &str| list.strip_prefix(start)?.strip_suffix(end);
    if let Some(range) = inside("$(seq ", ")").or(inside("`seq ", "`")) {
        let range = range.trim();
        return counted(range, " ").or_else(|| counted(&format!("1 {range}"), " "));
    }
    if let Some(range) = inside("{", "}") {
        return counted(range, "..");
    }
    let is_plain = !list.contains(['$', '`', '*', '?', '[', '{']);
    is_plain.then(|| list.split_whitespace().map(str::to_owned).collect())
}

/// Whether a text can be the name of a variable.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

/// Whether a command is one of tc.
pub(super) fn is_tc(text: &str) -> bool {
    let words = text.split_whitespace().take(4).collect::<Vec<_>>();
    words.iter().any(|it| matches!(*it, "qdisc" | "class" | "filter")) && !text.starts_with("echo")
}

/// Whether a command of tc adds or changes something.
pub(super) fn sets_up(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(2).any(|pair| {
        matches!(pair[0], "qdisc" | "class" | "filter")
            && matches!(pair[1], "add" | "replace" | "change" | "link")
    })
}

/// The name after a `$`, and the number of bytes that it takes.
fn variable(after: &str) -> (&str, usize) {
    if after.starts_with(['@', '*']) {
        return ("@", 1);
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if let Some(inside) = after.strip_prefix('{') {
        let end = inside.find(|c| !is_part(c)).unwrap_or(inside.len());
        // `${NAME:-default}` is computed by the shell.
        return match inside[end..].starts_with('}') {
            true => (&inside[..end], end + 2),
            false => ("", 0),
        };
    }
    let end = after.find(|c| !is_part(c)).unwrap_or(after.len());
    (&after[..end], end)
}

/// A command without the words that only run it, and without quotation marks.
pub(super) fn plain(command: &str) -> String {
    let unquoted = command.replace(['"', '\''], " ");
    let mut words = unquoted.split_whitespace().peekable();
    while words.peek().is_some_and(|it| RUNNERS.contains(it)) {
        words.next();
    }
    let mut rest: Vec<&str> = words.collect();
    // Programs that run a command elsewhere, with words of their own before it.
    let is_carrier = rest.first().is_some_and(|it| CARRIERS.contains(it));
    let is_tc = |pair: &[&str]| {
        pair[0].rsplit('/').next() == Some("tc") && matches!(pair[1], "qdisc" | "class" | "filter")
    };
    if let Some(at) = rest.windows(2).position(is_tc).filter(|_| is_carrier) {
        rest.drain(..at);
    }
    match rest.as_slice() {
        ["ip", "netns", "exec", _, inside @ ..] => inside.join(" "),
        _ => rest.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_has_the_value_that_the_script_assigned_last() {
        let mut variables = Variables::default();
        assert!(variables.assign("export DEV=eth0"));
        assert!(variables.assign("OPTS=\"nat dual-srchost\""));
        assert!(!variables.assign("SILENT=1 tc qdisc del dev eth0 root"));
        assert_eq!(
            variables.replaced("$TC dev ${DEV} cake $OPTS"),
            "tc dev eth0 cake nat dual-srchost"
        );
        assert!(variables.assign("DEV=$(uci get network.wan.device)"));
        assert_eq!(
            variables.replaced("dev $DEV rate ${UP}kbit ${A:-b}"),
            "dev $DEV rate ${UP}kbit ${A:-b}"
        );
    }

    #[test]
    fn words_that_run_a_command_are_left_out() {
        assert_eq!(plain("then sudo tc qdisc show dev \"eth0\""), "tc qdisc show dev eth0");
        assert_eq!(plain("ip netns exec r1 tc qdisc show"), "tc qdisc show");
    }
}
