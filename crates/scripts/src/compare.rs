//! Compares the host's behaviour with a script.
//!
//! Some fields are not compared because the endpoint lacks them: PSH, the window in bytes, and the
//! values of `mss` and `wscale` on a SYN.

use sojourn_aqm::{Ecn, Span};

use crate::host::{Returned, SentSegment, StepError, TestedHost};
use crate::read::{Call, Field, Segment, TcpOption};

fn differs(expected: String, got: String) -> Result<(), StepError> {
    Err(StepError::Differs { expected, got })
}

/// Joins two segments, if the second continues the first.
pub(crate) fn joined(first: SentSegment, second: &SentSegment) -> Option<SentSegment> {
    let continues = second.seq == first.seq + first.payload && !first.syn && !first.fin;
    (continues && second.payload > 0).then(|| SentSegment {
        payload: first.payload + second.payload,
        fin: second.fin,
        at: first.at,
        ..first
    })
}

/// Compares the result of a call.
pub(crate) fn returned(call: &Call, found: Returned) -> Result<(), StepError> {
    let value_holds = call.result.is_none_or(|expected| expected == found.value);
    let error_holds = call.errno.as_deref().is_none_or(|errno| Some(errno) == found.error);
    if value_holds && error_holds {
        return Ok(());
    }
    let text = |value: Option<i64>, error: Option<&str>| {
        let value = value.map_or("?".to_owned(), |value| value.to_string());
        format!("{} = {value} {}", call.name, error.unwrap_or_default()).trim_end().to_owned()
    };
    differs(text(call.result, call.errno.as_deref()), text(Some(found.value), found.error))
}

/// Compares a segment that was sent.
pub(crate) fn sent(
    expected: &Segment,
    found: &SentSegment,
    host: &mut TestedHost,
    tolerance: Option<Span>,
) -> Result<(), StepError> {
    let flags = expected.flags;
    let header = flags.syn == found.syn
        && flags.fin == found.fin
        && flags.ace == found.ace
        && expected.seq == found.seq
        && expected.payload == found.payload
        && expected.ack == found.ack;
    if !header || !is_field(expected.field, found.ecn) {
        return differs(written(expected), shown(found));
    }
    match &expected.options {
        None => Ok(()),
        Some(options) => sent_options(expected, options, found, host, tolerance),
    }
}

fn is_field(expected: Field, found: Ecn) -> bool {
    match expected {
        Field::Unsaid => true,
        Field::NotEct => found == Ecn::NotEct,
        Field::Ect0 => found == Ecn::Ect0,
        Field::Ect1 => found == Ecn::Ect1,
        Field::Ect => matches!(found, Ecn::Ect0 | Ecn::Ect1),
        Field::Ce => found == Ecn::Ce,
    }
}

fn sent_options(
    expected: &Segment,
    options: &[TcpOption],
    found: &SentSegment,
    host: &mut TestedHost,
    tolerance: Option<Span>,
) -> Result<(), StepError> {
    let mut blocks: &[(u32, u32)] = &[];
    let mut counters: &[_] = &[];
    let (mut stamps, mut permitted) = (None, false);
    for option in options {
        match option {
            TcpOption::Sack(found) => blocks = found,
            TcpOption::AccEcn(found) => counters = found,
            TcpOption::Stamps { value, echo } => stamps = Some((*value, *echo)),
            TcpOption::SackPermitted => permitted = true,
            TcpOption::Padding | TcpOption::Mss(_) | TcpOption::WindowScale(_) => {}
            TcpOption::Other(option) => {
                return Err(StepError::not_modelled(format!("TCP option {option}")));
            }
        }
    }
    let same = blocks == found.sack
        && counters == found.accurate
        && permitted == found.sack_permitted
        && are_stamps(stamps, found, host, tolerance);
    if same { Ok(()) } else { differs(written(expected), shown(found)) }
}

/// Whether timestamps are present where the script has them, and advance as in the script, relative
/// to its first one.
fn are_stamps(
    expected: Option<(u32, u32)>,
    found: &SentSegment,
    host: &mut TestedHost,
    tolerance: Option<Span>,
) -> bool {
    let (Some((value, echo)), Some((at, echoed))) = (expected, found.stamps) else {
        return expected.is_none() && found.stamps.is_none();
    };
    host.set_clock(value, at);
    // packetdrill compares values only if a script sets the length of a tick.
    let near = tolerance.is_none_or(|tolerance| {
        let millis = (tolerance.as_nanos() / 1_000_000) as u32;
        host.stamp(at).is_some_and(|stamp| stamp.abs_diff(value) <= millis)
    });
    near && echo == echoed
}

/// A segment of a script, in the notation of scripts.
pub(crate) fn written(segment: &Segment) -> String {
    let flags = segment.flags;
    let mut text =
        line((flags.syn, flags.fin), flags.ace, segment.seq, segment.payload, segment.ack);
    if segment.field != Field::Unsaid {
        text = format!("[{:?}] {text}", segment.field).to_lowercase();
    }
    match &segment.options {
        Some(options) if !options.is_empty() => {
            let options: Vec<String> = options.iter().filter_map(option).collect();
            format!("{text} <{}>", options.join(","))
        }
        Some(_) | None => text,
    }
}

fn option(option: &TcpOption) -> Option<String> {
    Some(match option {
        TcpOption::Padding | TcpOption::Mss(_) | TcpOption::WindowScale(_) => return None,
        TcpOption::SackPermitted => "sackOK".to_owned(),
        TcpOption::Sack(blocks) => sack(blocks),
        TcpOption::Stamps { value, echo } => format!("TS val {value} ecr {echo}"),
        TcpOption::AccEcn(counters) => format!("ECN {counters:?}"),
        TcpOption::Other(text) => text.clone(),
    })
}

fn sack(blocks: &[(u32, u32)]) -> String {
    let blocks: Vec<String> = blocks.iter().map(|(from, to)| format!("{from}:{to}")).collect();
    format!("sack {}", blocks.join(" "))
}

/// A sent segment, in the notation of scripts.
pub(crate) fn shown(found: &SentSegment) -> String {
    let text = line((found.syn, found.fin), found.ace, found.seq, found.payload, found.ack);
    let mut options = Vec::new();
    if found.sack_permitted {
        options.push("sackOK".to_owned());
    }
    if let Some((_, echo)) = found.stamps {
        options.push(format!("TS ecr {echo}"));
    }
    if !found.sack.is_empty() {
        options.push(sack(&found.sack));
    }
    if !found.accurate.is_empty() {
        options.push(format!("ECN {:?}", found.accurate));
    }
    let options =
        if options.is_empty() { String::new() } else { format!(" <{}>", options.join(",")) };
    format!("[{:?}] {text}{options} at {} s", found.ecn, found.at.as_secs())
}

fn line((syn, fin): (bool, bool), ace: u8, seq: u32, payload: u32, ack: Option<u32>) -> String {
    let letters = [(syn, 'S'), (fin, 'F'), (ace & 1 != 0, 'E'), (ace & 2 != 0, 'W')]
        .into_iter()
        .chain([(ace & 4 != 0, 'A'), (ack.is_some(), '.')]);
    let flags: String = letters.filter(|(is_set, _)| *is_set).map(|(_, letter)| letter).collect();
    let ack = ack.map_or(String::new(), |ack| format!(" ack {ack}"));
    format!("{flags} {seq}:{}({payload}){ack}", seq + payload)
}
