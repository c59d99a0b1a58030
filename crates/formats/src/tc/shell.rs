//! Shell scripts around commands: variables, quotation marks, keywords.

use super::shell_arithmetic;
use super::shell_words::{is_name, split, unquoted, words_of_list};

/// Words before a command that only run it, including those of Debian's `interfaces`.
const RUNNERS: [&str; 11] =
    ["sudo", "command", "exec", "run", "then", "do", "else", "SILENT=1", "up", "pre-up", "post-up"];

const CARRIERS: [&str; 14] = [
    "docker", "podman", "kubectl", "lxc", "ssh", "adb", "nsenter", "doas", "sh", "bash", "su",
    "timeout", "nerdctl", "vagrant",
];

/// Longer values are unknown, and in longer texts variables stay, as a script can double them.
const LONGEST_VALUE: usize = 1000;
const LONGEST_TEXT: usize = 100_000;

/// What a script knows of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Its value.
    Known(String),
    /// The shell computes it.
    Computed,
    /// Nothing has set it so far.
    Unset,
}

/// The variables that a script has assigned so far.
#[derive(Default)]
pub(super) struct Variables {
    /// Names with their values; `None` if the shell computes it.
    known: Vec<(String, Option<String>)>,
    /// Arrays with the keys and values of their elements.
    pub(super) arrays: Vec<(String, Vec<(String, String)>)>,
    /// Notes about defaults that are taken.
    pub(super) assumed: Vec<String>,
    /// Whether the arguments are known, as in a function.
    has_arguments: bool,
    /// For each function that runs, its local variables and what they were before.
    locals: Vec<Vec<(String, Option<Option<String>>)>>,
}

/// The positional parameters of a caller.
pub(super) struct Arguments {
    known: Vec<(String, Option<String>)>,
    are_known: bool,
}

impl Variables {
    /// Handles an assignment such as `DEV=eth0`, or several after `local`; returns whether the
    /// command is one.
    pub(super) fn assign(&mut self, command: &str) -> bool {
        const WORDS: [&str; 5] = ["export ", "local ", "readonly ", "declare ", "typeset "];
        if let Some(defaults) = command.strip_prefix(": ") {
            // `: ${DEV:=eth0}`
            self.replaced(defaults);
            return true;
        }
        let word = WORDS.iter().find(|word| command.starts_with(**word));
        let mut text = command[word.map_or(0, |it| it.len())..].trim();
        while let Some((_, rest)) = text.split_once(' ').filter(|it| it.0.starts_with('-')) {
            text = rest.trim_start();
        }
        if self.assign_array(text) {
            return true;
        }
        let Some(all) = split(text) else { return self.assign_one(text) };
        // `KERNEL=="eth0"` is a condition of udev.
        let is_one = |it: &&str| {
            it.split_once('=')
                .is_some_and(|(name, value)| is_assigned(name) && !value.starts_with('='))
        };
        if all.is_empty() || word.is_none() && !all.iter().all(is_one) {
            return false;
        }
        let is_local = matches!(word, Some(&"local " | &"declare " | &"typeset "));
        for one in all {
            if is_local {
                self.keep(one.split('=').next().unwrap_or(""));
            }
            if !self.assign_one(one) && word == Some(&"local ") && is_name(one) {
                self.set(one, String::new());
            }
        }
        true
    }

    /// Begins a function.
    pub(super) fn enter(&mut self) {
        self.locals.push(Vec::new());
    }

    /// Ends a function: its local variables are again what they were.
    pub(super) fn leave(&mut self) {
        for (name, before) in self.locals.pop().unwrap_or_default().into_iter().rev() {
            self.known.retain(|it| it.0 != name);
            self.known.extend(before.map(|value| (name, value)));
        }
    }

    /// Keeps what a variable is, which becomes a local one.
    fn keep(&mut self, name: &str) {
        let before = self.known.iter().find(|it| it.0 == name).map(|it| it.1.clone());
        if let Some(locals) = self.locals.last_mut() {
            locals.push((name.to_owned(), before));
        }
    }

    fn assign_one(&mut self, text: &str) -> bool {
        let Some((name, value)) = text.split_once('=') else { return false };
        if !is_assigned(name) {
            return false;
        }
        let (name, is_more) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
        let before = match is_more {
            true => self.replaced(&format!("${{{name}}}")),
            false => String::new(),
        };
        let value = unquoted(&self.replaced(value));
        // `TC=$(which tc)`
        let program = ["$(which ", "`which ", "$(command -v "]
            .iter()
            .find_map(|start| value.strip_prefix(start)?.strip_suffix([')', '`']).map(str::trim));
        let value = program.filter(|it| is_name(it)).map(str::to_owned).unwrap_or(value);
        self.set(name, before + &value);
        true
    }

    /// Gives a variable a value; one that the shell computes is unknown.
    pub(super) fn set(&mut self, name: &str, value: String) {
        let is_plain = value.len() <= LONGEST_VALUE && !value.contains(['$', '`']);
        self.known.retain(|(known, _)| known != name);
        self.known.push((name.to_owned(), is_plain.then_some(value)));
    }

    pub(super) fn forget(&mut self, name: &str) {
        self.known.retain(|(known, _)| known != name);
        self.known.push((name.to_owned(), None));
    }

    pub(super) fn is_known(&self, name: &str) -> bool {
        matches!(self.state(name), State::Known(_))
    }

    /// What is known of a variable. `$TC` is tc.
    pub(super) fn state(&self, name: &str) -> State {
        match self.known.iter().find(|it| it.0 == name) {
            Some((_, Some(value))) => State::Known(value.clone()),
            Some((_, None)) => State::Computed,
            None if name == "TC" => State::Known("tc".to_owned()),
            None if is_position(name) && self.has_arguments => State::Known(String::new()),
            None => State::Unset,
        }
    }

    /// Handles a command that computes variables, such as `let i=i+1` or `read DEV`; returns
    /// whether it is one.
    pub(super) fn computed(&mut self, command: &str) -> bool {
        let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        if let Some(inside) = command.strip_prefix("((").and_then(|it| it.strip_suffix("))")) {
            self.calculate(inside);
            return true;
        }
        match word {
            "let" => rest.split_whitespace().for_each(|it| self.calculate(&unquoted(it))),
            "set" if rest.starts_with("-- ") => {
                let given = self.replaced(&rest[3..]);
                self.arguments(Some(&given));
            }
            "shift" => {
                let count = rest.trim().parse().unwrap_or(1);
                let given = self.has_arguments.then(|| self.after(count));
                self.arguments(given.as_deref());
            }
            "read" | "IFS=" if rest.contains("<<<") => self.read(command),
            _ if word.starts_with("IFS=") && rest.starts_with("read ") => self.read(command),
            "read" | "unset" | "mapfile" | "readarray" | "eval" => self.forget_all(command),
            "printf" if rest.starts_with("-v") => self.forget_all(rest),
            _ if command.starts_with("((") => self.forget_all(command),
            _ => return false,
        }
        true
    }

    /// Forgets every variable that a text names.
    pub(super) fn forget_all(&mut self, text: &str) {
        let names = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        names.filter(|it| is_name(it)).for_each(|name| self.forget(name));
    }

    /// `IFS=, read -r DEV RATE <<< "$pair"`.
    fn read(&mut self, command: &str) {
        let (before, text) = command.split_once("<<<").unwrap_or((command, "$"));
        let mut words = before.split_whitespace().peekable();
        let separator = words.next_if(|it| it.starts_with("IFS=")).map(|it| unquoted(&it[4..]));
        let names: Vec<&str> = words.skip(1).filter(|it| !it.starts_with('-')).collect();
        let text = unquoted(self.replaced(text.trim()).trim());
        let mut rest = text.as_str();
        for (at, name) in names.iter().enumerate() {
            let is_last = at + 1 == names.len();
            let found = match separator.as_deref() {
                Some(mark) => rest.split_once(|c| mark.contains(c)),
                None => rest.trim().split_once(char::is_whitespace),
            };
            let (value, after) = found.filter(|_| !is_last).unwrap_or((rest, ""));
            match text.contains(['$', '`']) {
                true => self.forget(name),
                false => self.set(name, value.trim().to_owned()),
            }
            rest = after;
        }
    }

    /// The arguments behind the first ones, as words.
    fn after(&self, count: usize) -> String {
        let all = (count + 1..).map(|at| self.state(&at.to_string()));
        let given = all.map_while(|it| match it {
            State::Known(value) if !value.is_empty() => Some(format!("\"{value}\"")),
            State::Computed => Some("$".to_owned()),
            _ => None,
        });
        given.collect::<Vec<_>>().join(" ")
    }

    /// Gives the positional parameters their values; returns the earlier ones.
    pub(super) fn arguments(&mut self, given: Option<&str>) -> Arguments {
        let (before, rest) =
            std::mem::take(&mut self.known).into_iter().partition(|it| is_position(&it.0));
        self.known = rest;
        let are_known = std::mem::replace(&mut self.has_arguments, given.is_some());
        if let Some(given) = given {
            let words = split(given).unwrap_or_else(|| given.split_whitespace().collect());
            // Those of the script itself, `main "$@"`, may be any number.
            let is_any = |it: &&&str| it.contains("$@") || it.contains("$*");
            let own: Vec<&&str> = words.iter().take_while(|it| !is_any(it)).collect();
            for (at, word) in own.iter().enumerate() {
                self.set(&(at + 1).to_string(), unquoted(word));
            }
            self.has_arguments = own.len() == words.len();
            if self.has_arguments {
                self.set("#", words.len().to_string());
                self.set("@", unquoted(given));
            }
        }
        Arguments { known: before, are_known }
    }

    /// Gives the positional parameters their earlier values back.
    pub(super) fn restore(&mut self, before: Arguments) {
        self.arguments(None);
        self.known.extend(before.known);
        self.has_arguments = before.are_known;
    }

    /// The words of the list of a `for`; `None` if the shell computes it.
    pub(super) fn listed(&mut self, list: &str) -> Option<Vec<String>> {
        let mut all = Vec::new();
        for word in split(list)? {
            // Between quotation marks, each element is one word.
            let inside = word.strip_prefix("\"${").and_then(|it| it.strip_suffix("}\""));
            let array = inside.and_then(|it| it.strip_suffix("[@]"));
            match array.and_then(|name| self.elements(name)) {
                Some(elements) => all.extend(elements),
                None => all.extend(words_of_list(&self.replaced(word))?),
            }
        }
        Some(all)
    }

    /// The text with known variables, and the arithmetic on them, replaced by values.
    pub(super) fn replaced(&mut self, text: &str) -> String {
        let text = self.with_values(text);
        shell_arithmetic::computed(&text, &|name| self.number(name))
    }

    /// The value of an arithmetic expression.
    pub(super) fn evaluated(&self, text: &str) -> Option<i64> {
        shell_arithmetic::evaluate(text, &|name| self.number(name))
    }

    fn number(&self, name: &str) -> Option<&str> {
        self.known.iter().find(|it| it.0 == name)?.1.as_deref()
    }

    /// Computes `i++`, `i += 2` or `i = i + 1`; forgets the variables if it cannot.
    pub(super) fn calculate(&mut self, text: &str) {
        let text = self.replaced(text);
        match shell_arithmetic::assignment(&text) {
            Some((name, expression)) => match self.evaluated(&expression) {
                Some(number) => self.set(&name, number.to_string()),
                None => self.forget(&name),
            },
            None if self.evaluated(&text).is_some() => {}
            None => self.forget_all(&text),
        }
    }

    fn with_values(&mut self, text: &str) -> String {
        let mut all = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$').filter(|_| all.len() < LONGEST_TEXT) {
            all.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            match self.parameter(after) {
                Some((value, end)) => {
                    all.push_str(&value);
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

/// Whether a name is that of an argument.
fn is_position(name: &str) -> bool {
    let is_number = !name.is_empty() && name.bytes().all(|it| it.is_ascii_digit());
    is_number || matches!(name, "@" | "*" | "#")
}

/// Whether the text before a `=` names a variable.
fn is_assigned(name: &str) -> bool {
    is_name(name.strip_suffix('+').unwrap_or(name))
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

/// Whether a word is the mark of an item in a list.
fn is_bullet(word: &str) -> bool {
    let digits = word.strip_suffix(['.', ')']).unwrap_or("");
    matches!(word, "-" | "*" | "•" | "shell:" | "command:" | "cmd:")
        || !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
}

/// A command without the words that only run it, and without quotation marks.
pub(super) fn plain(command: &str) -> String {
    let unquoted = command.replace(['"', '\''], " ");
    let mut words = unquoted.split_whitespace().peekable();
    while words.peek().is_some_and(|it| RUNNERS.contains(it) || is_bullet(it)) {
        words.next();
    }
    // systemd.service(5): `-` before a command ignores its failure.
    let started = |word| {
        let unit = ["ExecStart=", "ExecStartPre=", "ExecStartPost="];
        let command = unit.iter().find_map(|it| str::strip_prefix(word, it)).unwrap_or(word);
        command.trim_start_matches('-')
    };
    let mut rest: Vec<&str> = words.collect();
    if let Some(first) = rest.first_mut() {
        *first = started(first);
    }
    // Programs that run a command elsewhere, with words of their own before it.
    let is_carrier = rest
        .first()
        .and_then(|it| it.rsplit('/').next())
        .is_some_and(|it| CARRIERS.contains(&it))
        // udev(7)
        || rest.iter().any(|it| it.starts_with("RUN+="));
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
            variables.replaced("dev $DEV rate ${UP}kbit ${DEV:-b}"),
            "dev $DEV rate ${UP}kbit ${DEV:-b}"
        );
    }

    #[test]
    fn a_default_is_taken_for_what_the_text_does_not_set() {
        let mut variables = Variables::default();
        assert_eq!(
            variables.replaced("${1:-eth0} ${UP:=90}mbit ${UP%0} ${#UP}"),
            "eth0 90mbit 9 2"
        );
        assert_eq!(
            variables.assumed,
            [
                "`${1:-eth0}` is taken as `eth0`, as the text does not set `$1`",
                "`${UP:=90}` is taken as `90`, as the text does not set UP"
            ]
        );
        let before = variables.arguments(Some("\"a b\" c"));
        assert_eq!(variables.replaced("$1-$2-${3:-d}-$#"), "a b-c-d-2");
        assert!(variables.computed("shift") && variables.replaced("$1$#") == "c1");
        variables.restore(before);
        assert_eq!(variables.replaced("$1 $10 ${E:=${1:-f}} $E"), "$1 $10 f f");
    }

    #[test]
    fn arrays_keep_their_elements() {
        let mut variables = Variables::default();
        assert!(variables.assign("declare -a D=(\"eth0 1\" eth1)") && variables.assign("D+=(x)"));
        assert!(variables.assign("declare -A R=([eth0]=\"5\" [eth1]=6)"));
        assert!(variables.assign("R[eth2]=7"));
        assert_eq!(variables.replaced("${#D[@]} ${D[1]} ${D[0]} ${D[9]}"), "3 eth1 eth0 1 ${D[9]}");
        assert!(variables.assign("K=eth1"));
        assert_eq!(variables.replaced("${R[$K]} ${R[eth2]} ${!R[@]}"), "6 7 eth0 eth1 eth2");
        assert!(variables.computed("read -r A B <<< \"${D[0]}\""));
        assert!(variables.computed("IFS=: read -r P Q <<< x:y"));
        assert_eq!(variables.replaced("$A,$B,$P,$Q"), "eth0,1,x,y");
        assert!(variables.assign("local u=\"$A b\" v='c d' w"));
        assert_eq!(variables.replaced("$u|$v|$w|"), "eth0 b|c d||");
    }

    #[test]
    fn words_that_run_a_command_are_left_out() {
        assert_eq!(plain("then sudo tc qdisc show dev \"eth0\""), "tc qdisc show dev eth0");
        assert_eq!(plain("ip netns exec r1 tc qdisc show"), "tc qdisc show");
    }
}
