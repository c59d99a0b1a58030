//! Limits of scripts; a script that exceeds them is refused when it is read.
//!
//! Packetdrill's own limits are those of the header fields (`parser.y`, `is_valid_u16` and others).
//! The other limits are far above those of any script of the kernel or of packetdrill.

use sojourn_aqm::Span;

use super::script::{Action, Event, Script, Segment, TcpOption, When};
use super::{Call, ReadError};

/// Bytes of a script.
const TEXT_BYTES: usize = 1_000_000;
const EVENTS: usize = 10_000;
/// Nesting of brackets.
pub(super) const DEPTH: usize = 32;
/// Time from the first event to the last.
const DURATION: Span = Span::from_secs(10_000);
/// Fields of 16 bits: payload, window, MSS.
const WORD: u32 = u16::MAX as u32;
/// Sequence numbers here count bytes from the first and do not wrap.
const LAST_BYTE: u32 = i32::MAX as u32;
/// Bytes of one call to write or read.
const CALL_BYTES: i64 = 1 << 24;

fn refuse(line: u32, message: String) -> Result<(), ReadError> {
    Err(ReadError { line, message })
}

pub(super) fn check_length(text: &str) -> Result<(), ReadError> {
    if text.len() > TEXT_BYTES {
        return refuse(1, format!("a script has at most {TEXT_BYTES} bytes, not {}", text.len()));
    }
    Ok(())
}

/// Checks a parsed script.
pub(super) fn check(script: &Script) -> Result<(), ReadError> {
    if let Some(event) = script.events.get(EVENTS) {
        return refuse(event.line, format!("a script has at most {EVENTS} events"));
    }
    let (mut now, mut written) = (Span::default(), 0_i64);
    for event in &script.events {
        now = latest(now, event.when);
        if now > DURATION {
            let most = DURATION.as_secs();
            return refuse(event.line, format!("a script ends at {most} s at the latest"));
        }
        match &event.action {
            Action::Segment(segment) => check_segment(event, segment)?,
            Action::Call(call) => written += check_call(event, call)?,
            Action::Shell(_) | Action::Code(_) | Action::Foreign(_) => {}
        }
        if written > CALL_BYTES {
            return refuse(
                event.line,
                format!("a script writes at most {CALL_BYTES} bytes in all"),
            );
        }
    }
    Ok(())
}

fn latest(now: Span, when: When) -> Span {
    match when {
        When::Any => now,
        When::At(_, to) => now.max(to),
        When::After(_, to) => now + to,
    }
}

fn check_segment(event: &Event, segment: &Segment) -> Result<(), ReadError> {
    let line = event.line;
    if segment.payload > WORD {
        return refuse(line, format!("a segment has at most {WORD} bytes of data"));
    }
    if segment.window.is_some_and(|window| window > WORD) {
        return refuse(line, format!("the field of a window has at most the value {WORD}"));
    }
    for number in [Some(segment.seq), segment.ack].into_iter().flatten() {
        if number > LAST_BYTE {
            return refuse(line, format!("{number}: sequence numbers here end at {LAST_BYTE}"));
        }
    }
    if segment.seq == 0 && segment.payload > 0 && !segment.flags.syn {
        return refuse(line, "data begins at sequence number 1".to_owned());
    }
    for option in segment.options.iter().flatten() {
        match option {
            TcpOption::Mss(mss) if *mss == 0 || *mss > WORD => {
                return refuse(line, format!("mss {mss}: must be 1 to {WORD}"));
            }
            TcpOption::WindowScale(shift) if *shift > 255 => {
                return refuse(line, format!("wscale {shift}: must be 0 to 255"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks a call; returns how many bytes it writes.
fn check_call(event: &Event, call: &Call) -> Result<i64, ReadError> {
    let moves = matches!(call.name.as_str(), "write" | "send" | "sendto" | "read" | "recv");
    let bytes = match call.args.get(2) {
        Some(super::Argument::Number(bytes)) if moves => *bytes,
        _ => return Ok(0),
    };
    if !(0..=CALL_BYTES).contains(&bytes) {
        refuse(event.line, format!("{} of {bytes} bytes: 0 to {CALL_BYTES}", call.name))?;
    }
    Ok(if matches!(call.name.as_str(), "read" | "recv") { 0 } else { bytes })
}
