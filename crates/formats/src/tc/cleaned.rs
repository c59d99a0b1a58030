//! Characters that web pages and word processors put in place of those of a terminal, and commands
//! inside other programs' lines.

use std::borrow::Cow;

use super::shell::sets_up;

/// Typographic quotation marks and the plain ones that they replace.
const QUOTES: [(char, char); 8] = [
    ('\u{2018}', '\''),
    ('\u{2019}', '\''),
    ('\u{201a}', '\''),
    ('\u{201b}', '\''),
    ('\u{201c}', '"'),
    ('\u{201d}', '"'),
    ('\u{201e}', '"'),
    ('\u{201f}', '"'),
];
/// Characters without width.
const INVISIBLE: [char; 6] = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}', '\u{ad}'];
/// Marks of a forum around code, a line each.
const FENCES: [&str; 6] = ["[code]", "[/code]", "[CODE]", "[/CODE]", "```", "~~~"];

/// The text with plain quotation marks, without invisible characters and marks around code. Lines
/// keep their numbers.
pub(super) fn cleaned(text: &str) -> Cow<'_, str> {
    let is_odd = |c: char| INVISIBLE.contains(&c) || QUOTES.iter().any(|it| it.0 == c);
    let is_plain = !text.contains(is_odd)
        && !FENCES.iter().any(|it| text.contains(it))
        && !text.lines().any(|line| command_within(line).is_some());
    if is_plain {
        return Cow::Borrowed(text);
    }
    let plain = |c: char| QUOTES.iter().find(|it| it.0 == c).map_or(c, |it| it.1);
    let mut all = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if FENCES.contains(&line.trim()) {
            all.push('\n');
            continue;
        }
        let line: String = line.chars().filter(|c| !INVISIBLE.contains(c)).map(plain).collect();
        if let Some(command) = command_within(&line) {
            all.push_str(&command);
            all.push('\n');
            continue;
        }
        all.push_str(&FENCES[..4].iter().fold(line, |line, it| line.replace(it, "")));
    }
    Cow::Owned(all)
}

/// The command in a line of another program: in a list of words, as Python and YAML have it, in the
/// brackets of a call, or between backticks. One in a comment is left there.
fn command_within(line: &str) -> Option<String> {
    if line.trim_start().starts_with('#') {
        return None;
    }
    let list = ["\"tc\",", "'tc',"].iter().find_map(|it| line.find(it));
    if let Some(at) = list {
        let words = line[at..].split([']', ')']).next()?;
        let command = words.replace(['"', '\'', ','], " ");
        return sets_up(&command).then_some(command);
    }
    for (mark, before) in [('`', ""), ('"', "("), ('\'', "(")] {
        for name in ["tc ", "sudo tc "] {
            let start = format!("{before}{mark}{name}");
            let Some(at) = line.find(&start) else { continue };
            let command = line[at + before.len() + mark.len_utf8()..].split(mark).next()?;
            if sets_up(command) {
                return Some(command.to_owned());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::cleaned;

    #[test]
    fn a_command_inside_a_line_of_another_program_is_taken_out() {
        for line in [
            "subprocess.run([\"tc\", \"qdisc\", \"add\", \"dev\", \"d\"])",
            "command: ['tc', 'qdisc', 'add', 'dev', 'd']",
            "os.system(\"tc qdisc add dev d\")",
            "I ran `tc qdisc add dev d` today",
        ] {
            let words: Vec<String> = cleaned(line).split_whitespace().map(str::to_owned).collect();
            assert_eq!(words, ["tc", "qdisc", "add", "dev", "d"], "{line}");
        }
        for line in [
            "X=`tc qdisc show`",
            "# was: `tc qdisc add dev d`",
            " #run([\"tc\", \"qdisc\", \"add\"])",
        ] {
            assert_eq!(cleaned(line), line);
        }
    }

    #[test]
    fn lines_keep_their_numbers() {
        assert_eq!(cleaned("[code]\na \u{2018}b\u{2019}\u{200b}\n[/code]"), "\na 'b'\n\n");
        assert_eq!(cleaned("[CODE]qdisc[/CODE]"), "qdisc");
        assert_eq!(cleaned("qdisc 'a'\n"), "qdisc 'a'\n");
    }
}
