//! The words of netem (iproute2 6.1 tc/q_netem.c, netem_parse_opt and netem_print_opt).

use super::tree::{TcNoteKind, TcOption, TcOverhead, TcQdisc, TcSetup, TcValue};
use super::units;
use super::words::{Token, Tokens, push};
use crate::FormatError;

const KNOWN: [&str; 17] = [
    "limit",
    "delay",
    "latency",
    "distribution",
    "loss",
    "drop",
    "duplicate",
    "corrupt",
    "reorder",
    "gap",
    "rate",
    "slot",
    "seed",
    "ecn",
    "packetoverhead",
    "cellsize",
    "celloverhead",
];

/// The parts of the Gilbert-Elliott model, in the order of the command: 1-h is the loss in the bad
/// state, 1-k the loss in the good one.
const GEMODEL: [&str; 4] = ["p", "r", "1-h", "1-k"];
const GEMODEL_NAMES: [&str; 4] = ["ge_enter", "ge_leave", "ge_bad", "ge_good"];

/// The probabilities of the model of four states, in the order of the command.
pub(super) const STATES: [&str; 5] = ["p13", "p31", "p32", "p23", "p14"];

/// Reads the options of netem.
pub(super) fn options(
    tokens: &mut Tokens<'_>,
    setup: &mut TcSetup,
) -> Result<Vec<TcOption>, FormatError> {
    let mut options = Vec::new();
    while let Some(token) = tokens.next() {
        let start = tokens.position() - 1;
        let found = one(token, tokens, setup)?;
        for (name, value) in found {
            let option = TcOption { name, value, text: tokens.since(start), line: token.line };
            push(&mut options, option, &[], setup);
        }
    }
    if tokens.is_strict {
        demanded(&options, setup);
    }
    Ok(options)
}

/// Reports options that tc accepts only together with another (iproute2 6.1 tc/q_netem.c).
fn demanded(options: &[TcOption], setup: &mut TcSetup) {
    let find = |name: &str| options.iter().find(|it| it.name == name);
    let has = |names: &[&str]| names.iter().any(|name| find(name).is_some());
    for (name, needed) in [
        ("gap", &["reorder"][..]),
        ("reorder", &["delay"]),
        ("distribution", &["jitter"]),
        ("ecn", &["loss", "ge_enter", "p13"]),
    ] {
        if let Some(option) = find(name).filter(|_| !has(needed)) {
            let text = format!("tc refuses `{name}` of netem without `{}`; add it", needed[0]);
            setup.note(TcNoteKind::Refused, option.line, text);
        }
    }
}

/// Reads the percentage given after `word`.
fn share_of(word: Token<'_>, given: Token<'_>) -> Result<TcValue, FormatError> {
    units::percent(given.text)
        .map(TcValue::Real)
        .map_err(|why| FormatError::at(given.line, format!("{}: {why}", word.text)))
}

type Found = Vec<(&'static str, TcValue)>;

fn one(
    token: Token<'_>,
    tokens: &mut Tokens<'_>,
    setup: &mut TcSetup,
) -> Result<Found, FormatError> {
    Ok(match whole_word(token.text, tokens.is_strict) {
        "limit" => {
            let given = tokens.value_of(token)?;
            // get_size, though it counts packets (iproute2 6.1 tc/q_netem.c).
            let count = units::count(given.text).or_else(|_| units::size(given.text));
            let count = count.map_err(|why| FormatError::at(given.line, why))?;
            vec![("limit", TcValue::Count(count))]
        }
        "delay" | "latency" => delay(token, tokens)?,
        "loss" | "drop" => loss(token, tokens)?,
        "corrupt" | "duplicate" | "reorder" => event(token, tokens)?,
        "rate" => {
            let given = tokens.value_of(token)?;
            let bps = units::rate(given.text).map_err(|why| FormatError::at(given.line, why))?;
            let mut found = vec![("rate", TcValue::Bps(bps))];
            let start = tokens.position();
            while tokens.next_signed().is_some() {}
            if tokens.position() > start {
                found.push(("rate_overhead", TcValue::Text(tokens.since(start))));
            }
            found
        }
        "gap" => {
            let given = tokens.value_of(token)?;
            let count = units::count(given.text);
            let count = count.map_err(|why| FormatError::at(given.line, why))?;
            vec![("gap", TcValue::Count(count))]
        }
        "packetoverhead" | "cellsize" | "celloverhead" => {
            let name = match token.text {
                "packetoverhead" => "packetoverhead",
                "cellsize" => "cellsize",
                _ => "celloverhead",
            };
            vec![(name, TcValue::Text(tokens.value_of(token)?.text.to_owned()))]
        }
        "seed" => {
            tokens.value_of(token)?;
            Vec::new()
        }
        "distribution" => {
            let given = tokens.value_of(token)?;
            vec![("distribution", TcValue::Text(given.text.to_owned()))]
        }
        "slot" => slot(tokens)?,
        "ecn" => vec![("ecn", TcValue::Flag)],
        _ => {
            let is_known = |word: &str| KNOWN.contains(&word);
            super::words::unknown("netem", token, tokens, &is_known, setup)?;
            Vec::new()
        }
    })
}

/// An event that happens to a share of packets.
fn event(token: Token<'_>, tokens: &mut Tokens<'_>) -> Result<Found, FormatError> {
    let (name, correlation) = match whole_word(token.text, tokens.is_strict) {
        "corrupt" => ("corrupt", "corrupt_correlation"),
        "duplicate" => ("duplicate", "duplicate_correlation"),
        _ => ("reorder", "reorder_correlation"),
    };
    let value = share_of(token, tokens.value_of(token)?)?;
    Ok(match tokens.next_number() {
        Some(given) => vec![(name, value), (correlation, share_of(token, given)?)],
        None => vec![(name, value)],
    })
}

/// tc's word for one of its beginnings, in the order in which tc tries them (iproute2 6.1
/// tc/q_netem.c, `matches`).
fn whole_word(text: &str, is_strict: bool) -> &str {
    const TRIED: [&str; 14] = [
        "limit",
        "latency",
        "delay",
        "loss",
        "drop",
        "seed",
        "ecn",
        "reorder",
        "corrupt",
        "gap",
        "duplicate",
        "distribution",
        "rate",
        "slot",
    ];
    let begun = TRIED.iter().find(|it| is_strict && !text.is_empty() && it.starts_with(text));
    begun.copied().unwrap_or(text)
}

/// The words after `slot`: times that begin and end a range, or the delay and the jitter of a
/// distribution, whose name tc does not print; then what a slot holds.
#[cfg(not(target_arch = "wasm32"))]
fn slot(tokens: &mut Tokens<'_>) -> Result<Found, FormatError> {
    let mut found = vec![("slot", TcValue::Flag)];
    let is_distribution = tokens.peek().is_some_and(|it| it.text == "distribution");
    if is_distribution {
        tokens.next();
        if let Some(name) = tokens.peek().filter(|it| !is_numeric(it.text)) {
            tokens.next();
            found.push(("slot_distribution", TcValue::Text(name.text.to_owned())));
        }
    }
    let Some(first) = tokens.next_number() else { return Ok(found) };
    let second = tokens.next_number().unwrap_or(first);
    let time = |given: Token<'_>| {
        units::time(given.text, 1.0).map_err(|why| FormatError::at(given.line, why))
    };
    let (least, most) = (time(first)?, time(second)?);
    if !is_distribution && most < least {
        let message = format!("the longest `slot`, {}, is below {}", second.text, first.text);
        return Err(FormatError::at(second.line, message));
    }
    let (mean, deviation) = match is_distribution {
        true => (least, most),
        false => (least.midpoint(most), (most - least) / 2),
    };
    found.push(("slot_mean", TcValue::Nanos(mean)));
    found.push(("slot_deviation", TcValue::Nanos(deviation)));
    while let Some(word) = tokens.peek().filter(|it| ["packets", "bytes"].contains(&it.text)) {
        tokens.next();
        let given = tokens.value_of(word)?;
        let (name, read) = match word.text {
            "packets" => ("slot_packets", units::count(given.text)),
            _ => ("slot_bytes", units::size(given.text)),
        };
        let read = read.map_err(|why| FormatError::at(given.line, why))?;
        found.push((name, TcValue::Count(read)));
    }
    Ok(found)
}

#[cfg(not(target_arch = "wasm32"))]
fn is_numeric(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// The web page has no slots: the words after `slot` are passed over.
#[cfg(target_arch = "wasm32")]
fn slot(tokens: &mut Tokens<'_>) -> Result<Found, FormatError> {
    while let Some(token) = tokens.peek() {
        match token.text {
            "distribution" | "packets" | "bytes" => {
                tokens.next();
                tokens.next();
            }
            number if number.starts_with(|c: char| c.is_ascii_digit()) => _ = tokens.next(),
            _ => break,
        }
    }
    Ok(vec![("slot", TcValue::Flag)])
}

fn delay(token: Token<'_>, tokens: &mut Tokens<'_>) -> Result<Found, FormatError> {
    let mut found = Vec::new();
    for name in ["delay", "jitter"] {
        let given = match name {
            "delay" => tokens.value_of(token)?,
            _ => match tokens.next_number() {
                Some(given) => given,
                None => return Ok(found),
            },
        };
        if given.text != "0" && given.text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            let message = format!(
                "`{name} {}` has no unit, which counts microseconds or nanoseconds by the version \
                 of iproute2; write {0}ms or {0}us",
                given.text
            );
            return Err(FormatError::at(given.line, message));
        }
        let nanos = units::time(given.text, 1.0).map_err(|why| FormatError::at(given.line, why))?;
        found.push((name, TcValue::Nanos(nanos)));
    }
    if let Some(correlation) = tokens.next_number() {
        found.push(("delay_correlation", share_of(token, correlation)?));
    }
    Ok(found)
}

fn loss(token: Token<'_>, tokens: &mut Tokens<'_>) -> Result<Found, FormatError> {
    let share = |given| share_of(token, given);
    let mut first = tokens.value_of(token)?;
    if first.text == "random" {
        first = tokens.value_of(token)?;
    }
    match first.text {
        "gemodel" => {
            model("gemodel", GEMODEL.into_iter().zip(GEMODEL_NAMES), token, (first, tokens))
        }
        "state" => {
            let found = model("state", STATES.into_iter().zip(STATES), token, (first, tokens))?;
            check_states(&found, first.line)?;
            Ok(found)
        }
        _ => {
            let mut found = vec![("loss", share(first)?)];
            if let Some(correlation) = tokens.next_number() {
                found.push(("loss_correlation", share(correlation)?));
            }
            Ok(found)
        }
    }
}

/// Checks that the changes from a state add up to at most 1: the kernel's sums would overflow
/// (Linux 6.1 sch_netem.c, loss_4state).
fn check_states(found: &Found, line: usize) -> Result<(), FormatError> {
    let share = |name: &str| match found.iter().find(|it| it.0 == name) {
        Some((_, TcValue::Real(share))) => Some(*share),
        _ => None,
    };
    let p13 = share("p13").unwrap_or(0.0);
    let p31 = share("p31").unwrap_or(1.0 - p13);
    for (keys, sum) in [
        ("p13 and p14", p13 + share("p14").unwrap_or(0.0)),
        ("p31 and p32", p31 + share("p32").unwrap_or(0.0)),
    ] {
        if sum > 1.0 {
            let message = format!("{keys} of `loss state` add up to more than 100 %; lower one");
            return Err(FormatError::at(line, message));
        }
    }
    Ok(())
}

/// The probabilities of a loss model: numbers, each after its name in tc's output.
fn model(
    model: &str,
    parts: impl Iterator<Item = (&'static str, &'static str)>,
    word: Token<'_>,
    (first, tokens): (Token<'_>, &mut Tokens<'_>),
) -> Result<Found, FormatError> {
    let mut found = Vec::new();
    for (written, name) in parts {
        if tokens.peek().is_some_and(|it| it.text == written) {
            tokens.next();
        }
        let Some(given) = tokens.next_number() else { break };
        found.push((name, share_of(word, given)?));
    }
    match found.is_empty() {
        true => {
            let message = format!("`loss {model}` lacks its probabilities");
            Err(FormatError::at(first.line, message))
        }
        false => Ok(found),
    }
}

/// Takes the framing that netem's rate counts out of its options, if a link can count it (Linux 6.1
/// sch_netem.c, packet_time_ns).
pub(super) fn take_framing(netem: &mut TcQdisc, header: i64) -> Option<TcOverhead> {
    const WORDS: [&str; 3] = ["packetoverhead", "cellsize", "celloverhead"];
    let text = |name: &str| match netem.option(name).map(|it| &it.value) {
        Some(TcValue::Text(text)) => text.as_str(),
        _ => "",
    };
    // In commands the three numbers follow the rate.
    let after: Vec<&str> = text("rate_overhead").split_whitespace().collect();
    let part = |at: usize| after.get(at).copied().unwrap_or(text(WORDS[at]));
    let parts = [part(0), part(1), part(2)];
    netem.rate("rate").filter(|_| parts.iter().any(|it| !it.is_empty()))?;
    let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<i64>().ok() };
    let [bytes, size, of_cell] = parts.map(number);
    let cells = match (size?, of_cell?) {
        (0, _) => "",
        (48, 5) => "atm",
        _ => return None,
    };
    let bytes = bytes.filter(|it| header + it >= 0)?;
    let is_counted = |name: &str| name == "rate_overhead" || WORDS.contains(&name);
    netem.options.retain(|it| !is_counted(it.name));
    Some(TcOverhead { bytes, mpu: 0, cells: cells.to_owned(), slot: 0, from_ip: false })
}
