//! Words of tc that are given by their beginning, where tc compares with `matches` instead of
//! `strcmp` (iproute2 6.18 lib/utils.c; tc/tc.c, tc_qdisc.c, tc_class.c, tc_filter.c, tc_stab.c,
//! q_htb.c, q_tbf.c, q_hfsc.c). Lists are in the order in which tc tries the words.

use std::borrow::Cow;
use std::ops::Range;

const OBJECTS: [&str; 3] = ["qdisc", "class", "filter"];
const VERBS: [(&str, &[&str]); 3] = [
    ("qdisc", &["add", "change", "replace", "link", "delete", "list", "show", "lst"]),
    ("class", &["add", "change", "replace", "delete", "list", "show", "lst"]),
    ("filter", &["add", "change", "replace", "delete", "get", "list", "show", "lst"]),
];
/// tc's own options that have a value.
pub(super) const VALUED_FLAGS: [&str; 5] = ["-n", "-net", "-netns", "-cf", "-conf"];

/// The words of a size table.
pub(super) const OF_STAB: [&str; 5] = ["mtu", "mpu", "overhead", "tsize", "linklayer"];
pub(super) const LINK_LAYERS: [&str; 3] = ["ethernet", "atm", "adsl"];
pub(super) const CURVES: [&str; 4] = ["rt", "ls", "sc", "ul"];

/// Options that need not be whole, by kind; `htb class` are those of its classes.
const OPTIONS: [(&str, &[&str]); 4] = [
    ("htb", &["r2q", "default", "debug", "direct_qlen", "offload"]),
    ("htb class", &["prio", "mtu", "mpu", "overhead", "linklayer", "quantum", "burst", "cburst"]),
    ("tbf", &["limit", "lat", "latency", "burst", "peakrate", "overhead", "linklayer"]),
    ("hfsc", &["default"]),
];

/// The first of the words that begins with a text; the text itself if none does.
pub(super) fn whole<'t>(words: &[&'static str], text: &'t str) -> &'t str {
    words.iter().find(|it| !text.is_empty() && it.starts_with(text)).copied().unwrap_or(text)
}

/// An option's name; `is_known` tells the names that tc compares as a whole.
pub(super) fn option<'t>(kind: &str, text: &'t str, is_known: bool) -> &'t str {
    match OPTIONS.iter().find(|it| it.0 == kind).filter(|_| !is_known) {
        // Our name of tbf's `latency` is `lat`.
        Some((_, words)) => match whole(words, text) {
            "latency" => "lat",
            name => name,
        },
        None => text,
    }
}

/// The text with whole names of objects and verbs: `tc q a dev eth0 root fq_codel`. Lines keep
/// their numbers.
pub(super) fn expanded(text: &str) -> Cow<'_, str> {
    if !text.lines().any(|line| !of_line(line).is_empty()) {
        return Cow::Borrowed(text);
    }
    let lines = text.split_inclusive('\n').map(|line| {
        let mut whole = line.to_owned();
        for (range, word) in of_line(line).into_iter().rev() {
            whole.replace_range(range, word);
        }
        whole
    });
    Cow::Owned(lines.collect())
}

/// The places of a line where a name is not whole, and the name.
fn of_line(line: &str) -> Vec<(Range<usize>, &'static str)> {
    let start = line.as_ptr() as usize;
    let words: Vec<&str> = line.split_whitespace().collect();
    let place = |word: &str| {
        let at = word.as_ptr() as usize - start;
        at..at + word.len()
    };
    let mut found = Vec::new();
    for at in 0..words.len() {
        let is_tc = is_tc(words[at]);
        if !is_tc && at > 0 {
            continue;
        }
        let Some((object, verb)) = names(&words[at..], is_tc) else { continue };
        let first = at + object.0;
        let pairs = [Some((words[first], object.1)), verb.map(|it| (words[first + 1], it))];
        let shortened = pairs.into_iter().flatten().filter(|(word, name)| word != name);
        // `del` is a verb of its own for the other readers.
        found.extend(shortened.filter(|it| it.0 != "del").map(|(word, name)| (place(word), name)));
    }
    found
}

fn is_tc(word: &str) -> bool {
    let word = word.trim_matches(['"', '\'']);
    matches!(word, "$TC" | "${TC}") || word.rsplit('/').next() == Some("tc")
}

type Object = (usize, &'static str);

/// The object, with its place, and the verb of a command.
fn names(words: &[&str], is_tc: bool) -> Option<(Object, Option<&'static str>)> {
    let mut at = usize::from(is_tc);
    while is_tc && words.get(at)?.starts_with('-') {
        at += 1 + usize::from(VALUED_FLAGS.contains(&words[at]));
    }
    let object = *OBJECTS.iter().find(|it| it.starts_with(words[at..].first().unwrap_or(&"?")))?;
    let Some(given) = words.get(at + 1) else {
        return is_tc.then_some(((at, object), None));
    };
    let verbs = VERBS.iter().find(|it| it.0 == object)?.1;
    let verb = verbs.iter().find(|it| it.starts_with(given)).copied()?;
    // A sentence may have such words too.
    const AFTER: [&str; 9] =
        ["dev", "root", "parent", "handle", "classid", "stab", "ingress", "clsact", "estimator"];
    let is_shown = matches!(verb, "show" | "list" | "lst");
    let is_command = match words.get(at + 2) {
        Some(next) => AFTER.contains(next) || *given == verb || is_shown && is_tc,
        None => is_tc && is_shown,
    };
    is_command.then_some(((at, object), Some(verb)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_and_verbs_may_be_given_by_their_beginning() {
        for (short, whole) in [
            ("tc q a dev d root fq", "tc qdisc add dev d root fq"),
            ("tc qd add dev d root fq", "tc qdisc add dev d root fq"),
            ("sudo /sbin/tc c r dev d", "sudo /sbin/tc class replace dev d"),
            ("tc q d dev d root; tc q l dev d", "tc qdisc delete dev d root; tc qdisc link dev d"),
            ("root@a:~# tc -s -d q s dev d", "root@a:~# tc -s -d qdisc show dev d"),
            ("tc -s q", "tc -s qdisc"),
            ("tc -n ns f l dev d", "tc -n ns filter list dev d"),
            ("tc -s q ls", "tc -s qdisc lst"),
            ("q rep dev d root fq", "qdisc replace dev d root fq"),
            ("$TC qdisc del dev d root", "$TC qdisc del dev d root"),
            ("tc f a fast reply", "tc f a fast reply"),
            ("c a b", "c a b"),
            ("tc", "tc"),
            ("tc -s", "tc -s"),
            ("tc -n", "tc -n"),
        ] {
            assert_eq!(expanded(short), whole);
        }
    }

    #[test]
    fn an_option_is_the_first_that_begins_so() {
        for (kind, text, name) in [
            ("htb", "def", "default"),
            ("htb", "d", "default"),
            ("htb class", "b", "burst"),
            ("htb class", "m", "mtu"),
            ("tbf", "l", "limit"),
            ("tbf", "laten", "lat"),
            ("tbf", "r", "r"),
            ("codel", "lim", "lim"),
        ] {
            assert_eq!(option(kind, text, false), name, "{kind} {text}");
        }
    }
}
