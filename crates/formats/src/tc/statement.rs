//! The common parts of commands and output: device, place, size table, kind, options.

use super::abbreviations;
use super::options;
use super::tree::{TcNoteKind, TcOption, TcOverhead, TcParent, TcSetup, TcValue};
use super::words::{Token, Tokens, USUAL_BANDS, by_table};
use super::{cake, change, curves, demands, ets, netem};
use crate::FormatError;

/// Known kinds of the kernel without a counterpart.
const WITHOUT_COUNTERPART: [&str; 14] = [
    "hhf",
    "qfq",
    "taprio",
    "multiq",
    "skbprio",
    "plug",
    "teql0",
    "cbs",
    "etf",
    "blackhole",
    "gred",
    "cbq",
    "dsmark",
    "atm",
];

/// The words before the options.
#[derive(Default)]
pub(super) struct Head {
    pub(super) device: String,
    pub(super) parent: Option<TcParent>,
    pub(super) handle: String,
    pub(super) class_id: String,
    pub(super) stab: Option<TcOverhead>,
}

/// The place named by a word and its value.
pub(super) fn parent(text: &str) -> TcParent {
    match text {
        "root" | "ffff:ffff" => TcParent::Root,
        "ingress" | "clsact" | "ffff:fff1" => TcParent::Ingress,
        other => TcParent::Class(other.to_owned()),
    }
}

/// Reads one word of the head; returns false at the kind.
pub(super) fn head_word(
    token: Token<'_>,
    tokens: &mut Tokens<'_>,
    head: &mut Head,
) -> Result<bool, FormatError> {
    match token.text {
        "dev" => tokens.value_of(token)?.text.clone_into(&mut head.device),
        "root" => head.parent = Some(TcParent::Root),
        "parent" => {
            let given = tokens.value_of(token)?;
            head.parent = Some(match parent(given.text) {
                TcParent::Class(_) => TcParent::Class(place(token, given, tokens.is_strict)?),
                other => other,
            });
        }
        "handle" | "classid" => {
            let given = tokens.value_of(token)?;
            let found = place(token, given, tokens.is_strict)?;
            if token.text == "handle" { head.handle = found } else { head.class_id = found }
        }
        "stab" => head.stab = Some(size_table(tokens)?),
        "ingress_block" | "egress_block" => _ = tokens.value_of(token)?,
        "estimator" => {
            tokens.value_of(token)?;
            tokens.value_of(token)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// A handle or class in the kernel's form; a command must give one that tc accepts.
fn place(word: Token<'_>, given: Token<'_>, is_strict: bool) -> Result<String, FormatError> {
    let is_handle = word.text == "handle";
    let found = if is_handle { change::handle(given.text) } else { change::class_id(given.text) };
    match found {
        Some(found) => Ok(found),
        None if !is_strict => Ok(given.text.to_owned()),
        None => {
            let example = if is_handle { "1:" } else { "1:10" };
            let message = format!(
                "{}: `{}` is not hexadecimal numbers up to ffff and a colon, such as {example}",
                word.text, given.text
            );
            Err(FormatError::at(given.line, message))
        }
    }
}

/// A size table (tc-stab(8)). Its overhead counts from the frame, as the kernel sees it.
pub(super) fn size_table(tokens: &mut Tokens<'_>) -> Result<TcOverhead, FormatError> {
    let mut found = TcOverhead::default();
    let (mut mtu, mut tsize) = (0, 0);
    while let Some(token) = tokens.peek() {
        let name = match tokens.is_strict {
            true => abbreviations::whole(&abbreviations::OF_STAB, token.text),
            false => token.text,
        };
        if !abbreviations::OF_STAB.contains(&name) {
            break;
        }
        tokens.next();
        let given = tokens.value_of(token)?;
        let refuse = || {
            let message = format!("{}: `{}` is not a whole number", token.text, given.text);
            FormatError::at(given.line, message)
        };
        let number = given.text.trim_end_matches('b');
        match name {
            "overhead" => found.bytes = number.parse().map_err(|_| refuse())?,
            "mpu" => found.mpu = number.parse().map_err(|_| refuse())?,
            "linklayer" => found.cells = link_layer(given)?,
            "mtu" => mtu = number.parse::<u32>().map_err(|_| refuse())?,
            _ => tsize = number.parse::<u32>().map_err(|_| refuse())?,
        }
    }
    found.slot = slot(mtu.into(), tsize.into());
    Ok(found)
}

/// The bytes of an entry of a size table: the least power of two of which `tsize` reach the `mtu`
/// (iproute2 6.1 tc/tc_core.c, tc_calc_size_table). The kernel counts the largest size of an entry
/// (Linux 6.1 sch_api.c, __qdisc_calculate_pkt_len).
pub(super) fn slot(mtu: u64, tsize: u64) -> u64 {
    let mtu = if mtu == 0 { 2047 } else { mtu };
    let tsize = if tsize == 0 { 512 } else { tsize };
    (0..32).map(|log| 1 << log).find(|slot| mtu / slot < tsize).unwrap_or(1 << 32)
}

/// The cells of a link layer.
pub(super) fn link_layer(given: Token<'_>) -> Result<String, FormatError> {
    match abbreviations::whole(&abbreviations::LINK_LAYERS, given.text) {
        "atm" | "adsl" => Ok("atm".to_owned()),
        "ethernet" => Ok("ethernet".to_owned()),
        other => {
            let message = format!("unknown linklayer `{other}`; tc has ethernet, atm and adsl");
            Err(FormatError::at(given.line, message))
        }
    }
}

/// The options of a discipline.
pub(super) fn qdisc_options(
    kind: Token<'_>,
    tokens: &mut Tokens<'_>,
    setup: &mut TcSetup,
) -> Result<Vec<TcOption>, FormatError> {
    match kind.text {
        "cake" => cake::options(tokens, setup),
        "cake_mq" => cake_mq(kind, tokens, setup),
        "netem" => netem::options(tokens, setup),
        "ets" => ets::options(kind, tokens, setup),
        // What one queue for all flows leaves out is said of its line.
        "mqprio" => Ok(Vec::new()),
        "ingress" | "clsact" | "noqueue" | "mq" => {
            if kind.text == "ingress" && tokens.peek().is_some_and(|it| it.text == "handle") {
                tokens.next();
                tokens.next();
            }
            match tokens.peek().filter(|_| tokens.is_strict) {
                Some(extra) => {
                    let message = format!("{} has no options: delete `{}`", kind.text, extra.text);
                    Err(FormatError::at(extra.line, message))
                }
                None => Ok(Vec::new()),
            }
        }
        name => match options::table(name) {
            Some(table) => {
                let options = by_table(name, table.words, tokens, setup)?;
                if tokens.is_strict {
                    demanded(kind, &options, setup);
                }
                Ok(options)
            }
            None => {
                let text = format!("{}, and is left out", unknown_kind(name));
                setup.note(TcNoteKind::Unknown, kind.line, text);
                Ok(Vec::new())
            }
        },
    }
}

/// The options of cake_mq (Linux 7.2 sch_cake.c, cake_mq_init).
fn cake_mq(
    kind: Token<'_>,
    tokens: &mut Tokens<'_>,
    setup: &mut TcSetup,
) -> Result<Vec<TcOption>, FormatError> {
    const REFUSED: &str = "autorate-ingress";
    let options = cake::options(tokens, setup)?;
    let has = |it: &TcOption| it.value == TcValue::Text(REFUSED.to_owned());
    if tokens.is_strict && options.iter().any(has) {
        let text = format!("the kernel refuses `{REFUSED}` of cake_mq; delete it");
        setup.note(TcNoteKind::Refused, kind.line, text);
    }
    Ok(options)
}

/// Reports a required option that the command lacks, and a number above tc's bound.
fn demanded(kind: Token<'_>, options: &[TcOption], setup: &mut TcSetup) {
    let has = |name: &str| options.iter().any(|it| it.name == name);
    let groups = demands::REQUIRED.iter().find(|it| it.0 == kind.text).map_or(&[][..], |it| it.1);
    for group in groups.iter().filter(|group| !group.iter().any(|name| has(name))) {
        let names = group.join("` or `");
        let text = format!("tc refuses {} without `{names}`; add it", kind.text);
        setup.note(TcNoteKind::Refused, kind.line, text);
    }
    let of_red = demands::RED_OF_SFQ.iter().any(|it| has(it));
    if kind.text == "sfq" && of_red && !has("redflowlimit") {
        let text = "tc refuses RED's options of sfq without `redflowlimit`; add it";
        setup.note(TcNoteKind::Refused, kind.line, text);
    }
    if kind.text == "tbf" && has("limit") && has("lat") {
        let text = "tc refuses `limit` with `latency`, which sets it; delete one";
        setup.note(TcNoteKind::Refused, kind.line, text);
    }
    if kind.text == "tbf" && has("peakrate") && !has("mtu") && !has("minburst") {
        let text = "tc refuses `peakrate` of tbf without `mtu`; add it";
        setup.note(TcNoteKind::Refused, kind.line, text);
    }
    if kind.text == "prio" {
        bands(kind, options, setup);
    }
    let nanos = |name: &str| {
        options.iter().find(|it| it.name == name).and_then(|it| match it.value {
            TcValue::Nanos(nanos) => Some(nanos),
            _ => None,
        })
    };
    if nanos("typical_rtt").zip(nanos("max_rtt")).is_some_and(|(typical, most)| typical > most) {
        let text = "tc refuses a `typical_rtt` above `max_rtt`; lower it";
        setup.note(TcNoteKind::Refused, kind.line, text);
    }
    if has("nodrop") && !has("ecn") {
        let text = "the kernel refuses red's `nodrop` without `ecn`; add it";
        setup.note(TcNoteKind::Refused, kind.line, text);
    }
    for (_, name, most) in demands::MOST.iter().filter(|it| it.0 == kind.text) {
        let value = options.iter().find(|it| it.name == *name);
        if let Some(option) = value.filter(|it| matches!(it.value, TcValue::Count(n) if n > *most))
        {
            let text = format!("tc refuses `{}`; {name} is at most {most} sixteenths", option.text);
            setup.note(TcNoteKind::Refused, option.line, text);
        }
    }
}

/// Reports bands of prio that the kernel refuses (Linux 6.1 sch_prio.c, prio_tune).
fn bands(kind: Token<'_>, options: &[TcOption], setup: &mut TcSetup) {
    const ALLOWED: std::ops::RangeInclusive<u64> = 2..=16;
    let find = |name: &str| options.iter().rev().find(|it| it.name == name).map(|it| &it.value);
    let bands = match find("bands") {
        Some(TcValue::Count(bands)) => *bands,
        _ => 3,
    };
    if !ALLOWED.contains(&bands) {
        let text = format!("the kernel refuses `bands {bands}` of prio; write 2 to 16");
        return setup.note(TcNoteKind::Refused, kind.line, text);
    }
    let usual = USUAL_BANDS.map(u64::from).to_vec();
    let map = match find("priomap") {
        Some(TcValue::Text(text)) => {
            text.split(' ').filter_map(|it| it.parse().ok()).collect::<Vec<u64>>()
        }
        _ => usual,
    };
    if let Some(band) = map.iter().find(|it| **it >= bands) {
        let text = format!(
            "the kernel refuses a `priomap` with band {band} for {bands} bands; give sixteen \
             numbers below {bands}"
        );
        setup.note(TcNoteKind::Refused, kind.line, text);
    }
}

/// Why a kind is not supported.
pub(super) fn unknown_kind(kind: &str) -> String {
    if WITHOUT_COUNTERPART.contains(&kind) {
        return format!("`{kind}` of the kernel has no counterpart here");
    }
    let known: Vec<&str> = options::KINDS.iter().map(|it| it.kind).collect();
    format!(
        "Linux 7.2 has no discipline `{kind}`, which may be from a fork (known: {})",
        known.join(", ")
    )
}

/// The options of a class; empty for kinds whose classes are flows.
pub(super) fn class_options(
    kind: Token<'_>,
    tokens: &mut Tokens<'_>,
    setup: &mut TcSetup,
) -> Result<Vec<TcOption>, FormatError> {
    match kind.text {
        "htb" => {
            let options = by_table("htb class", &options::HTB_CLASS, tokens, setup)?;
            if tokens.is_strict && !options.iter().any(|it| it.name == "rate") {
                let text = "tc refuses a class of htb without `rate`; add it";
                setup.note(TcNoteKind::Refused, kind.line, text);
            }
            Ok(options)
        }
        "hfsc" => curves::read(tokens),
        "drr" | "ets" => ets::class_of(kind.text, tokens),
        other => {
            let text =
                format!("classes of `{other}` are not read; those of htb, hfsc, drr and ets are");
            setup.note(TcNoteKind::Unknown, kind.line, text);
            Ok(Vec::new())
        }
    }
}
