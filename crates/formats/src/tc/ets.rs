//! ets, whose strict bands are those of prio (Linux 6.1 sch_ets.c; iproute2 6.1 tc/q_ets.c), and
//! drr (sch_drr.c; tc/q_drr.c).

use super::tree::{TcNoteKind, TcOption, TcQdisc, TcSetup, TcValue};
use super::units;
use super::words::{Token, Tokens};
use crate::FormatError;

const MOST_BANDS: usize = 16;
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
    let is_right = (1..=MOST_BANDS as u64).contains(&bands) && given <= bands;
    if !is_right || map.len() > PRIORITIES || map.iter().any(|it| *it >= bands) {
        let text = "tc and the kernel refuse ets with more bands than `bands` names, than sixteen, \
                    or than `priomap` may use; correct them";
        setup.note(TcNoteKind::Refused, kind.line, text);
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

/// Makes a prio of an ets whose bands are all strict.
pub(super) fn as_prio(qdisc: &mut TcQdisc) {
    if qdisc.kind == "ets" && qdisc.option("quanta").is_none() && !qdisc.options.is_empty() {
        "prio".clone_into(&mut qdisc.kind);
    }
}
