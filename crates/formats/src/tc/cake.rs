//! The words of cake, most of which have no value (iproute2 6.1 tc/q_cake.c, cake_parse_opt).

use super::tree::{TcNoteKind, TcOption, TcSetup, TcValue};
use super::units;
use super::words::{Token, Tokens, push, unknown};
use crate::FormatError;

const MS: u64 = 1_000_000;
const US: u64 = 1_000;

/// Presets: the time for `rtt`, and the target.
const PRESETS: [(&str, u64, u64); 8] = [
    ("datacentre", 100 * US, 5 * US),
    ("lan", MS, 50 * US),
    ("metro", 10 * MS, 500 * US),
    ("regional", 30 * MS, 1500 * US),
    ("internet", 100 * MS, 5 * MS),
    ("oceanic", 300 * MS, 15 * MS),
    ("satellite", 1000 * MS, 50 * MS),
    ("interplanetary", 1_000_000 * MS, 50_000 * MS),
];

/// Mutually exclusive words, by group.
const CHOICES: [(&str, &[&str]); 8] = [
    ("diffserv", &["besteffort", "precedence", "diffserv8", "diffserv4", "diffserv3"]),
    (
        "isolation",
        &[
            "flowblind",
            "srchost",
            "dsthost",
            "hosts",
            "flows",
            "dual-srchost",
            "dual-dsthost",
            "triple-isolate",
        ],
    ),
    ("nat", &["nat", "nonat"]),
    ("wash", &["wash", "nowash"]),
    ("ack-filter", &["ack-filter", "ack-filter-aggressive", "no-ack-filter"]),
    ("split-gso", &["split-gso", "no-split-gso"]),
    ("ingress", &["ingress", "egress"]),
    ("autorate-ingress", &["autorate-ingress", "no-autorate-ingress"]),
];

/// Overhead keywords: bytes (which are summed), cells, and the minimum size.
const OVERHEADS: [(&str, i64, Option<&str>, i64); 13] = [
    ("ipoa-vcmux", 8, Some("atm"), 0),
    ("ipoa-llcsnap", 16, Some("atm"), 0),
    ("bridged-vcmux", 24, Some("atm"), 0),
    ("bridged-llcsnap", 32, Some("atm"), 0),
    ("pppoa-vcmux", 10, Some("atm"), 0),
    ("pppoa-llc", 14, Some("atm"), 0),
    ("pppoe-vcmux", 32, Some("atm"), 0),
    ("pppoe-llcsnap", 40, Some("atm"), 0),
    ("pppoe-ptm", 30, Some("ptm"), 0),
    ("bridged-ptm", 22, Some("ptm"), 0),
    ("ethernet", 38, None, 84),
    ("ether-vlan", 4, None, 0),
    ("docsis", 18, Some("none"), 64),
];
const CONSERVATIVE_BYTES: i64 = 48;

/// The sum of keywords and numbers.
#[derive(Default)]
struct Framing {
    bytes: Option<i64>,
    /// Whether the shaper counts from the frame rather than from the IP packet.
    is_raw: bool,
    mpu: Option<i64>,
    text: String,
    line: usize,
}

/// Reads the options of cake.
pub(super) fn options(
    tokens: &mut Tokens<'_>,
    setup: &mut TcSetup,
) -> Result<Vec<TcOption>, FormatError> {
    let mut options: Vec<TcOption> = Vec::new();
    let mut framing = Framing::default();
    while let Some(token) = tokens.next() {
        if let Some((name, value)) = choice(token.text) {
            let (text, line) = (token.text.to_owned(), token.line);
            let value = TcValue::Text(value.to_owned());
            push(&mut options, TcOption { name, value, text, line }, &[], setup);
        } else if !(overhead(token, tokens, &mut framing, &mut options, setup)?
            || valued(token, tokens, &mut options, setup)?)
        {
            unknown("cake", token, tokens, &is_known, setup)?;
        }
    }
    let Framing { bytes, is_raw, mpu, text, line } = framing;
    if bytes.is_some() {
        // tc sends `raw` even with a later overhead, and the kernel applies both.
        let (name, value) = ("raw", TcValue::Count(u64::from(is_raw)));
        options.push(TcOption { name, value, text: text.trim().to_owned(), line });
    }
    for (name, bytes) in [("overhead", bytes), ("mpu", mpu)] {
        if let Some(bytes) = bytes {
            let value = TcValue::Bytes(bytes);
            options.push(TcOption { name, value, text: text.trim().to_owned(), line });
        }
    }
    Ok(options)
}

/// The group of a mutually exclusive word, and its canonical form.
fn choice(word: &str) -> Option<(&'static str, &'static str)> {
    let word = if word == "diffserv" { "diffserv4" } else { word };
    CHOICES.iter().find_map(|(name, words)| {
        words.iter().find(|known| **known == word).map(|known| (*name, *known))
    })
}

fn is_known(word: &str) -> bool {
    const VALUED: [&str; 12] = [
        "bandwidth",
        "unlimited",
        "rtt",
        "overhead",
        "mpu",
        "memlimit",
        "fwmark",
        "raw",
        "atm",
        "ptm",
        "noatm",
        "conservative",
    ];
    choice(word).is_some()
        || VALUED.contains(&word)
        || PRESETS.iter().any(|it| it.0 == word)
        || OVERHEADS.iter().any(|it| it.0 == word)
}

/// Words about the size of packets on the line below.
fn overhead(
    token: Token<'_>,
    tokens: &mut Tokens<'_>,
    framing: &mut Framing,
    options: &mut Vec<TcOption>,
    setup: &mut TcSetup,
) -> Result<bool, FormatError> {
    let start = tokens.position() - 1;
    let mut cells = None;
    match token.text {
        "raw" => {
            (framing.bytes, framing.is_raw, cells) = (Some(0), true, Some("none"));
        }
        "conservative" => {
            (framing.bytes, cells) = (Some(CONSERVATIVE_BYTES), Some("atm"));
        }
        "noatm" => cells = Some("none"),
        "atm" | "ptm" => cells = Some(if token.text == "atm" { "atm" } else { "ptm" }),
        // The kernel finds the header itself, so the word is obsolete.
        "via-ethernet" => return Ok(true),
        "overhead" | "mpu" => {
            let given = tokens.value_of(token)?;
            let number = given.text.strip_suffix('b').unwrap_or(given.text).parse::<i64>();
            let allowed = if token.text == "mpu" { 0..=256 } else { -64..=256 };
            let number = number.ok().filter(|it| allowed.contains(it)).ok_or_else(|| {
                let (low, high) = (allowed.start(), allowed.end());
                let message = format!("{} must be a whole number from {low} to {high}", token.text);
                FormatError::at(given.line, format!("{message}, not `{}`", given.text))
            })?;
            let place = if token.text == "mpu" { &mut framing.mpu } else { &mut framing.bytes };
            *place = Some(number);
        }
        word => {
            let Some((_, bytes, which, least)) = OVERHEADS.iter().find(|it| it.0 == word) else {
                return Ok(false);
            };
            framing.bytes = Some(framing.bytes.unwrap_or(0) + bytes);
            framing.mpu = if *least > 0 { Some(*least) } else { framing.mpu };
            cells = *which;
        }
    }
    framing.text = format!("{} {}", framing.text, tokens.since(start));
    framing.line = token.line;
    if let Some(cells) = cells {
        let (text, line) = (token.text.to_owned(), token.line);
        let value = TcValue::Text(cells.to_owned());
        // `raw` and the cells after it are printed together; this is not a contradiction.
        let is_refined = options.iter().any(|it| it.name == "cells" && it.text == "raw");
        let option = TcOption { name: "cells", value, text, line };
        if is_refined { options.push(option) } else { push(options, option, &[], setup) }
    }
    Ok(true)
}

/// Words with a value, and presets.
fn valued(
    token: Token<'_>,
    tokens: &mut Tokens<'_>,
    options: &mut Vec<TcOption>,
    setup: &mut TcSetup,
) -> Result<bool, FormatError> {
    let start = tokens.position() - 1;
    let refuse = |line, why: String| FormatError::at(line, format!("{}: {why}", token.text));
    let mut found: Vec<(&'static str, TcValue)> = Vec::new();
    match token.text {
        "unlimited" => found.push(("bandwidth", TcValue::Text("unlimited".to_owned()))),
        "bandwidth" => {
            let given = tokens.value_of(token)?;
            let is_zero = given.text.trim_end_matches(char::is_alphabetic) == "0";
            if is_zero && tokens.is_strict {
                let text = "`bandwidth 0` sets nothing in tc: write a rate, or `unlimited`";
                setup.note(TcNoteKind::Ineffective, given.line, text);
                return Ok(true);
            }
            found.push(match given.text {
                "unlimited" => ("bandwidth", TcValue::Text("unlimited".to_owned())),
                text => {
                    let bps = units::rate(text).map_err(|why| refuse(given.line, why))?;
                    ("bandwidth", TcValue::Bps(bps))
                }
            });
        }
        "rtt" => {
            let given = tokens.value_of(token)?;
            let nanos = units::time(given.text, 1e3).map_err(|why| refuse(given.line, why))?;
            let micros = nanos / US;
            if micros == 0 {
                return Err(refuse(given.line, "must be at least 1us".to_owned()));
            }
            // The target is a twentieth, at least 1 us.
            found.push(("rtt", TcValue::Nanos(micros * US)));
            found.push(("target", TcValue::Nanos((micros / 20).max(1) * US)));
        }
        "memlimit" => {
            let given = tokens.value_of(token)?;
            let bytes = units::size(given.text).map_err(|why| refuse(given.line, why))?;
            found.push(("memlimit", TcValue::Bytes(bytes as i64)));
        }
        "fwmark" => {
            let given = tokens.value_of(token)?;
            found.push(("fwmark", TcValue::Text(given.text.to_owned())));
        }
        word => {
            let Some((_, rtt, target)) = PRESETS.iter().find(|it| it.0 == word) else {
                return Ok(false);
            };
            found.push(("rtt", TcValue::Nanos(*rtt)));
            found.push(("target", TcValue::Nanos(*target)));
        }
    }
    for (name, value) in found {
        let option = TcOption { name, value, text: tokens.since(start), line: token.line };
        push(options, option, &[], setup);
    }
    Ok(true)
}
