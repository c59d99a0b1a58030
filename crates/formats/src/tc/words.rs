//! Reads the options of one discipline or class from its words.

use super::abbreviations;
use super::demands::is_read;
use super::options::{Form, OptionWord, Ours, canonical};
use super::tree::{TcNoteKind, TcOption, TcSetup, TcValue};
use super::units;
use crate::FormatError;

/// A word and its line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    pub(super) line: usize,
}

/// A cursor over words.
pub(super) struct Tokens<'t> {
    words: &'t [Token<'t>],
    at: usize,
    /// Whether the text is a command, which must be valid input of tc.
    pub(super) is_strict: bool,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(words: &'t [Token<'t>], is_strict: bool) -> Tokens<'t> {
        Tokens { words, at: 0, is_strict }
    }

    pub(super) fn peek(&self) -> Option<Token<'t>> {
        self.words.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<Token<'t>> {
        let word = self.peek()?;
        self.at += 1;
        Some(word)
    }

    /// The value of an option.
    pub(super) fn value_of(&mut self, option: Token<'_>) -> Result<Token<'t>, FormatError> {
        self.next().ok_or_else(|| {
            let message = format!("`{}` lacks its value: add it, or paste all of it", option.text);
            FormatError::at(option.line, message)
        })
    }

    /// The next word if it looks like a number.
    pub(super) fn next_number(&mut self) -> Option<Token<'t>> {
        self.peek().filter(|it| it.text.starts_with(|c: char| c.is_ascii_digit()))?;
        self.next()
    }

    /// The same with an optional sign.
    pub(super) fn next_signed(&mut self) -> Option<Token<'t>> {
        let digits = |it: &Token<'t>| it.text.strip_prefix('-').unwrap_or(it.text).to_owned();
        self.peek().filter(|it| digits(it).starts_with(|c: char| c.is_ascii_digit()))?;
        self.next()
    }

    /// The words from an index to here, as one text.
    pub(super) fn since(&self, start: usize) -> String {
        let texts: Vec<&str> = self.words[start..self.at].iter().map(|it| it.text).collect();
        texts.join(" ")
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }
}

/// Reads options by the table of their kind, or of its classes (`htb class`).
pub(super) fn by_table(
    kind: &str,
    table: &[OptionWord],
    tokens: &mut Tokens<'_>,
    setup: &mut TcSetup,
) -> Result<Vec<TcOption>, FormatError> {
    let mut options = Vec::new();
    let called = kind.trim_end_matches(" class");
    while let Some(token) = tokens.next() {
        let start = tokens.position() - 1;
        let is_whole = |text: &str| table.iter().any(|it| it.word == canonical(text));
        let name = match tokens.is_strict {
            true => abbreviations::option(kind, canonical(token.text), is_whole(token.text)),
            false => canonical(token.text),
        };
        let is_legal = |it: &&OptionWord| !tokens.is_strict || is_read(called, it.word);
        let Some(word) = table.iter().filter(is_legal).find(|it| it.word == name) else {
            let is_known = |text: &str| table.iter().any(|it| it.word == canonical(text));
            unknown(called, token, tokens, &is_known, setup)?;
            continue;
        };
        let value = value(word, token, tokens, setup)?;
        let (text, line) = (tokens.since(start), token.line);
        push(&mut options, TcOption { name: word.word, value, text, line }, table, setup);
    }
    Ok(options)
}

/// Handles an unknown word: refuses it in a command, else reports it with the words that follow.
pub(super) fn unknown(
    kind: &str,
    token: Token<'_>,
    tokens: &mut Tokens<'_>,
    is_known: &impl Fn(&str) -> bool,
    setup: &mut TcSetup,
) -> Result<(), FormatError> {
    let start = tokens.position() - 1;
    if tokens.is_strict {
        let message = format!("{kind} has no option `{}`; `tc qdisc add {kind} help`", token.text);
        return Err(FormatError::at(token.line, format!("{message} lists its options")));
    }
    while tokens.peek().is_some_and(|it| !is_known(it.text)) {
        tokens.next();
    }
    let text = format!("`{}` of {kind} is not known here, and is left out", tokens.since(start));
    setup.note(TcNoteKind::Unknown, token.line, text);
    Ok(())
}

/// Adds an option, with a note if it contradicts an earlier one.
pub(super) fn push(
    options: &mut Vec<TcOption>,
    option: TcOption,
    table: &[OptionWord],
    setup: &mut TcSetup,
) {
    let sets = |name: &str| match table.iter().find(|it| it.word == name).map(|it| it.ours) {
        Some(Ours::Sets(parameter, _)) => parameter,
        _ => "",
    };
    let earlier = options.iter().find(|it| {
        let is_opposite = it.name != option.name && !sets(it.name).is_empty();
        it.name == option.name && it.value != option.value
            || is_opposite && sets(it.name) == sets(option.name)
    });
    if let Some(earlier) = earlier {
        let (first, last) = (&earlier.text, &option.text);
        let text = format!(
            "`{first}` and `{last}` contradict each other, and tc takes the last one; delete one"
        );
        setup.note(TcNoteKind::Contradiction, option.line, text);
    }
    options.push(option);
}

/// The value of an option.
fn value(
    word: &OptionWord,
    token: Token<'_>,
    tokens: &mut Tokens<'_>,
    setup: &mut TcSetup,
) -> Result<TcValue, FormatError> {
    match word.form {
        Form::Flag => return Ok(TcValue::Flag),
        Form::Sixteen => return several(16, "sixteen", token, tokens),
        Form::Event => {
            let start = tokens.position();
            for _ in 0..3 {
                tokens.value_of(token)?;
            }
            return Ok(TcValue::Text(tokens.since(start)));
        }
        Form::Bands => return bands(token, tokens),
        Form::Three => return several(3, "three", token, tokens),
        _ => {}
    }
    let given = tokens.value_of(token)?;
    let read = read(word.form, given.text, tokens.is_strict);
    let value =
        read.map_err(|why| FormatError::at(given.line, format!("{}: {why}", token.text)))?;
    if !tokens.is_strict && word.form == Form::Time && units::is_rounded_time(given.text) {
        let text = format!(
            "`{} {}` has the three digits that tc prints, so it may be rounded; `tc -j` shows all",
            token.text, given.text
        );
        setup.note(TcNoteKind::Rounded, given.line, text);
    }
    Ok(value)
}

/// A value of a form.
pub(super) fn read(form: Form, text: &str, is_strict: bool) -> Result<TcValue, String> {
    let counted = |suffixes: &[&str]| {
        let number = suffixes.iter().find_map(|suffix| text.strip_suffix(suffix));
        match number {
            Some(number) if is_strict => Err(format!(
                "tc prints the unit of `{text}` but refuses it as input; write {number}"
            )),
            Some(number) => units::count(number),
            None => units::count(text),
        }
    };
    Ok(match form {
        Form::Count => TcValue::Count(units::count(text)?),
        Form::Packets => TcValue::Count(counted(&["pps", "p"])?),
        Form::SizedPackets => match counted(&["p"]) {
            Err(_) if !text.ends_with('p') => TcValue::Count(units::size(text)?),
            found => TcValue::Count(found?),
        },
        Form::Bytes if is_strict => TcValue::Bytes(signed(&counted(&["b"])?.to_string())?),
        Form::Bytes | Form::Size => {
            let size = text.split_once('/').map_or(text, |(size, _)| size);
            TcValue::Bytes(signed(&units::size(size)?.to_string())?)
        }
        Form::Signed => {
            let bytes = signed(text.strip_suffix('b').unwrap_or(text))?;
            // iproute2 6.1 tc/q_htb.c and q_tbf.c: get_u16.
            if is_strict && !(0..=i64::from(u16::MAX)).contains(&bytes) {
                return Err(format!(
                    "tc takes 0 to 65535 here, not `{text}`; the overhead of `stab` may be negative"
                ));
            }
            TcValue::Bytes(bytes)
        }
        Form::Time => TcValue::Nanos(units::time(text, 1e3)?),
        Form::TimeOrPackets => {
            // iproute2 6.18 tc/q_dualpi2.c, get_packets.
            let suffixes = ["packets", "packet", "pkts", "pkt", "p"];
            match suffixes.iter().find_map(|it| text.strip_suffix(it)).map(units::count) {
                Some(Ok(packets)) => TcValue::Count(packets),
                _ => TcValue::Nanos(units::time(text, 1e3)?),
            }
        }
        Form::Nanos => TcValue::Nanos(units::time(text, 1.0)?),
        Form::Millis => TcValue::Nanos(units::time(text, 1e6)?),
        Form::Seconds if is_strict && units::count(text).is_err() => {
            return Err(format!("tc takes a whole number of seconds here, not `{text}`"));
        }
        Form::Seconds => TcValue::Nanos(units::time(text, 1e9)?),
        Form::Rate => TcValue::Bps(units::rate(text)?),
        Form::Percent => TcValue::Real(units::percent(text)?),
        Form::WholePercent => match units::count(text)? {
            percent @ 0..100 => TcValue::Real(percent as f64 / 100.0),
            _ => return Err(format!("`{text}` is not a whole percentage below 100")),
        },
        Form::Real => TcValue::Real(real(text)?),
        Form::Hex => {
            let digits = text.strip_prefix("0x").unwrap_or(text);
            let number = u64::from_str_radix(digits, 16);
            TcValue::Count(number.map_err(|_| format!("`{text}` is not a hexadecimal number"))?)
        }
        Form::Text | Form::Event | Form::Flag | Form::Sixteen | Form::Bands | Form::Three => {
            TcValue::Text(text.to_owned())
        }
    })
}

/// The bands of the priorities 0 to 15 of prio; those that are left out keep tc's (iproute2 6.1
/// tc/q_prio.c).
pub(super) const USUAL_BANDS: [u8; 16] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];

fn bands(token: Token<'_>, tokens: &mut Tokens<'_>) -> Result<TcValue, FormatError> {
    let mut given: Vec<String> = Vec::new();
    while let Some(number) = tokens.next_number() {
        given.push(
            units::count(number.text).map_err(|why| FormatError::at(number.line, why))?.to_string(),
        );
    }
    if given.len() > USUAL_BANDS.len() {
        let message = format!("`{}` lists at most sixteen bands, not {}", token.text, given.len());
        return Err(FormatError::at(token.line, message));
    }
    let rest = USUAL_BANDS.iter().skip(given.len()).map(u8::to_string);
    Ok(TcValue::Text(given.iter().cloned().chain(rest).collect::<Vec<_>>().join(" ")))
}

fn real(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|it| it.is_finite());
    number.ok_or_else(|| format!("`{text}` is not a number"))
}

fn signed(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number of bytes"))
}

fn several(
    count: usize,
    word: &str,
    token: Token<'_>,
    tokens: &mut Tokens<'_>,
) -> Result<TcValue, FormatError> {
    let start = tokens.position();
    for _ in 0..count {
        if tokens.next_number().is_none() {
            let message = format!("`{}` lists {word} numbers; some are missing", token.text);
            return Err(FormatError::at(token.line, message));
        }
    }
    Ok(TcValue::Text(tokens.since(start)))
}
