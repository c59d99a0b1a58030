//! The words of netem (iproute2 6.1 tc/q_netem.c, netem_parse_opt and netem_print_opt).

use super::tree::{TcNoteKind, TcOption, TcOverhead, TcQdisc, TcSetup, TcValue};
use super::units::{self, show_time};
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
const STATES: [&str; 5] = ["p13", "p31", "p32", "p23", "p14"];

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
    let share = |given| share_of(token, given);
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
        "corrupt" | "duplicate" | "reorder" => {
            let name = match whole_word(token.text, tokens.is_strict) {
                "corrupt" => "corrupt",
                "duplicate" => "duplicate",
                _ => "reorder",
            };
            let value = share(tokens.value_of(token)?)?;
            let correlation = tokens.next_number();
            match correlation.filter(|_| name == "duplicate") {
                Some(given) => vec![(name, value), ("duplicate_correlation", share(given)?)],
                None => vec![(name, value)],
            }
        }
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
        "gap" => vec![("gap", TcValue::Text(tokens.value_of(token)?.text.to_owned()))],
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
        "slot" => {
            slot(tokens);
            vec![("slot", TcValue::Flag)]
        }
        "ecn" => vec![("ecn", TcValue::Flag)],
        _ => {
            let is_known = |word: &str| KNOWN.contains(&word);
            super::words::unknown("netem", token, tokens, &is_known, setup)?;
            Vec::new()
        }
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

/// The words after `slot`.
fn slot(tokens: &mut Tokens<'_>) {
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
        found.push(("delay_correlation", TcValue::Text(correlation.text.to_owned())));
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
                found.push(("loss_correlation", TcValue::Text(correlation.text.to_owned())));
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
    Some(TcOverhead { bytes, mpu: 0, cells: cells.to_owned(), from_ip: false })
}

/// netem's effects on the wire, as keys of a link.
pub(super) fn wire(netem: &TcQdisc, unknown: &mut Vec<String>) -> (String, u64) {
    let real = |name: &str| match netem.option(name).map(|it| &it.value) {
        Some(TcValue::Real(share)) => Some(*share),
        _ => None,
    };
    let mut text = String::new();
    let delay = netem.nanos("delay").unwrap_or(0);
    let jitter = netem.nanos("jitter").filter(|it| *it > 0).map(|it| it.min(delay));
    // Without a distribution, delays are uniform between delay - jitter and delay + jitter.
    let least = delay - jitter.unwrap_or(0);
    if let Some(option) = netem.option("jitter").filter(|_| netem.nanos("jitter") > Some(delay)) {
        // tabledist; a negative delay is none.
        unknown.push(format!(
            "`{}` of netem (line {}): the kernel's delays are up to {}, and below zero count as \
             zero; here they are uniform up to {}",
            option.text,
            option.line,
            show_time(delay.saturating_add(netem.nanos("jitter").unwrap_or(0))),
            show_time(2 * delay)
        ));
    }
    if delay > 0 {
        text.push_str(&format!("delay = \"{}\"\n", show_time(least)));
    }
    if let Some(jitter) = jitter {
        let reorder = netem.rate("rate").is_none();
        text.push_str(&format!(
            "jitter = {{ kind = \"uniform\", max = \"{}\", reorder = {reorder} }}\n",
            show_time(2 * jitter)
        ));
    }
    if let Some(rate) = real("loss").filter(|it| *it > 0.0) {
        text.push_str(&format!("loss = {{ kind = \"bernoulli\", rate = {rate} }}\n"));
    } else if let Some(enter) = real("ge_enter") {
        let leave = real("ge_leave").unwrap_or(1.0 - enter);
        let (bad, good) = (real("ge_bad").unwrap_or(1.0), real("ge_good").unwrap_or(0.0));
        text.push_str(&format!(
            "loss = {{ kind = \"gilbert-elliott\", enter = {enter}, leave = {leave}, bad = {bad}, \
             good = {good} }}\n"
        ));
    } else if real("p13").is_some() {
        let parts = STATES.iter().filter_map(|it| Some(format!("{it} = {}", real(it)?)));
        let parts = parts.collect::<Vec<_>>().join(", ");
        text.push_str(&format!("loss = {{ kind = \"four-state\", {parts} }}\n"));
    }
    if let Some(rate) = real("duplicate").filter(|it| *it > 0.0) {
        let correlation = real("duplicate_correlation").filter(|it| *it > 0.0);
        let correlation =
            correlation.map_or_else(String::new, |it| format!(", correlation = {it}"));
        text.push_str(&format!("duplicate = {{ rate = {rate}{correlation} }}\n"));
    }
    unknown.extend(netem.options.iter().filter_map(|it| {
        let instead = instead_of(it.name)?;
        let (words, line) = (&it.text, it.line);
        // The words are those of the whole option; its other values are already in the text.
        let part = match (&it.value, it.name) {
            (TcValue::Text(part), "delay_correlation" | "loss_correlation") => {
                format!("the correlation {part} in ")
            }
            (TcValue::Text(_), "rate_overhead") => "the framing in ".to_owned(),
            _ => String::new(),
        };
        Some(format!("{part}`{words}` of netem (line {line}) has no counterpart here: {instead}"))
    }));
    (text, least)
}

/// What a link does instead of an option that it lacks, and the remedy, if any.
fn instead_of(option: &str) -> Option<&'static str> {
    Some(match option {
        "distribution" => "delays are uniform; give the link's `delay` a schedule for others",
        "delay_correlation" => "the delays of packets are independent",
        "loss_correlation" => "losses are independent; for bursts write `loss gemodel`",
        "corrupt" => "packets arrive intact; receivers drop corrupted ones, so add it to `loss`",
        "reorder" | "gap" => "packets overtake each other only by jitter, with `reorder = true`",
        "rate_overhead" | "packetoverhead" | "cellsize" | "celloverhead" => {
            "the rate counts packets; set the link's `framing` and `cells`"
        }
        "slot" => "the link sends as soon as it is free",
        "ecn" => "a loss drops the packet instead of marking it",
        _ => return None,
    })
}
