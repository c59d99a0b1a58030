//! ets, whose strict bands are those of prio (Linux 6.1 sch_ets.c; iproute2 6.1 tc/q_ets.c), and
//! drr (sch_drr.c; tc/q_drr.c).

use super::tree::{TcClass, TcNoteKind, TcOption, TcQdisc, TcSetup, TcValue, minor};
use super::units;
use super::words::{Token, Tokens};
use crate::FormatError;

const MOST_BANDS: u64 = 16;
const PRIORITIES: usize = 16;
/// The kernel's quantum if none is given (psched_mtu of Ethernet).
pub(super) const FRAME: u64 = 1514;

/// Reads the options: `bands 4 strict 2 quanta 1500 750 priomap 3 2 1 0`.
pub(super) fn options(
    kind: Token<'_>,
    tokens: &mut Tokens<'_>,
    setup: &mut TcSetup,
) -> Result<Vec<TcOption>, FormatError> {
    let (mut bands, mut strict) = (None, 0);
    let (mut quanta, mut map) = (Vec::new(), Vec::new());
    let start = tokens.position();
    while let Some(token) = tokens.next() {
        let number = |given: Token<'_>| {
            let found = units::count(given.text);
            found.map_err(|why| FormatError::at(given.line, format!("{}: {why}", token.text)))
        };
        match token.text {
            "bands" => bands = Some(number(tokens.value_of(token)?)?),
            "strict" => strict = number(tokens.value_of(token)?)?,
            "quanta" | "priomap" => {
                let list = if token.text == "quanta" { &mut quanta } else { &mut map };
                while let Some(given) = tokens.next_number() {
                    list.push(number(given)?);
                }
            }
            other => {
                let message = format!("ets has no option `{other}`; it has bands, strict, quanta");
                return Err(FormatError::at(token.line, message + " and priomap"));
            }
        }
    }
    let given = strict + quanta.len() as u64;
    let bands = bands.unwrap_or(given);
    if let Some(text) = refused(bands, given, &quanta, &map) {
        setup.note(TcNoteKind::Refused, kind.line, format!("the kernel refuses ets with {text}"));
    }
    // The kernel gives the last band what `priomap` leaves out.
    let rest = std::iter::repeat_n(bands.saturating_sub(1), PRIORITIES);
    let map: Vec<String> =
        map.into_iter().chain(rest).take(PRIORITIES).map(|it| it.to_string()).collect();
    let option = |name, value| TcOption { name, value, text: tokens.since(start), line: kind.line };
    let mut all = vec![
        option("bands", TcValue::Count(bands)),
        option("priomap", TcValue::Text(map.join(" "))),
    ];
    // Bands that are neither strict nor have a quantum get one of a frame (ets_qdisc_change).
    quanta.resize(usize::try_from(bands.saturating_sub(strict)).unwrap_or(0), FRAME);
    if !quanta.is_empty() {
        let list: Vec<String> = quanta.iter().map(u64::to_string).collect();
        all.push(option("quanta", TcValue::Text(list.join(" "))));
    }
    Ok(all)
}

/// Options that the kernel refuses (Linux 6.1 sch_ets.c, ets_qdisc_change).
fn refused(bands: u64, given: u64, quanta: &[u64], map: &[u64]) -> Option<String> {
    if !(1..=MOST_BANDS).contains(&bands) {
        return Some(format!("{bands} bands; `bands`, or `strict` and `quanta`, give 1 to 16"));
    }
    if given > bands {
        return Some(format!("`bands {bands}`, as strict and quanta have {given}; raise it"));
    }
    if quanta.contains(&0) {
        return Some("a quantum of 0; raise it".to_owned());
    }
    if map.len() > PRIORITIES {
        return Some(format!("{} numbers in `priomap`; give at most sixteen", map.len()));
    }
    let band = map.iter().find(|it| **it >= bands)?;
    Some(format!("band {band} in `priomap`; {bands} bands have 0 to {}", bands - 1))
}

/// The quanta of an ets, which its last bands have.
pub(super) fn quanta(qdisc: &TcQdisc) -> Vec<u64> {
    match qdisc.option("quanta").map(|it| &it.value) {
        Some(TcValue::Text(list)) => list.split(' ').filter_map(|it| it.parse().ok()).collect(),
        _ => Vec::new(),
    }
}

/// Reads the option of a class of drr, or of a band of ets.
pub(super) fn class_of(kind: &str, tokens: &mut Tokens<'_>) -> Result<Vec<TcOption>, FormatError> {
    let start = tokens.position();
    let mut all = Vec::new();
    while let Some(token) = tokens.next() {
        if token.text != "quantum" {
            let message =
                format!("a class of {kind} has no option `{}`; it has quantum", token.text);
            return Err(FormatError::at(token.line, message));
        }
        let given = tokens.value_of(token)?;
        let bytes = units::size(given.text)
            .map_err(|why| FormatError::at(given.line, format!("quantum: {why}")))?;
        if bytes == 0 {
            return Err(FormatError::at(given.line, "the kernel refuses a quantum of 0; raise it"));
        }
        let text = tokens.since(start);
        let value = TcValue::Bytes(i64::try_from(bytes).unwrap_or(i64::MAX));
        all.push(TcOption { name: "quantum", value, text, line: token.line });
    }
    Ok(all)
}

/// Why the kernel refuses a command about a band (Linux 6.1 sch_ets.c, ets_class_change).
pub(super) fn refused_class(verb: &str, class: &TcClass, owner: &TcQdisc) -> Option<String> {
    let bands = owner.count("bands").unwrap_or(0);
    let strict = bands.saturating_sub(quanta(owner).len() as u64);
    let band = minor(&class.id).unwrap_or(0);
    if !(1..=bands).contains(&band) {
        return Some(format!(
            "the kernel refuses class {}, as ets has {bands} bands; write 1 to {bands}",
            class.id
        ));
    }
    if verb == "add" {
        let text = "the kernel refuses `class add` of ets, whose bands exist; write change";
        return Some(text.to_owned());
    }
    (band <= strict && class.bytes("quantum").is_some()).then(|| {
        format!("the kernel refuses a quantum of band {band}, which is strict; delete `quantum`")
    })
}

/// Makes a prio of an ets whose bands are all strict.
pub(super) fn as_prio(qdisc: &mut TcQdisc) {
    if qdisc.kind == "ets" && qdisc.option("quanta").is_none() && !qdisc.options.is_empty() {
        "prio".clone_into(&mut qdisc.kind);
    }
}
