//! Filters that choose a class by the DSCP: u32, flower and matchall.

use super::change;
use super::tree::{TcFilter, TcNoteKind, TcSetup};
use super::words::Token;
use crate::FormatError;

/// The priority that the kernel gives the first filter without one (Linux 6.1 cls_api.c,
/// tcf_auto_prio); each later one gets a lower number and is tried earlier.
const FIRST_AUTO: u32 = 0xc000;

/// The DSCP bits of the byte; the others are ECN.
const DSCP_BITS: u8 = 0xfc;

/// The DSCPs that meet conditions, one bit each, and whether the conditions cover ECN too.
pub(super) type Conditions = (u64, bool);

/// Reads a filter that leads to a class; reports any other.
pub(super) fn read(
    object: Token<'_>,
    device: String,
    words: &[Token<'_>],
    setup: &mut TcSetup,
) -> Result<(), FormatError> {
    let line = object.line;
    let after = |names: &[&str]| {
        let at = words.iter().position(|it| names.contains(&it.text))?;
        words.get(at + 1).copied()
    };
    let Some(class) = after(&["flowid", "classid"]).and_then(|it| change::class_id(it.text)) else {
        let text = "the filter names no class, and is not read";
        setup.note(TcNoteKind::Unknown, line, text);
        return Ok(());
    };
    let parent = after(&["parent"]).map_or("", |it| it.text);
    let major = parent.split(':').next().unwrap_or("").to_owned();
    let of_device = |it: &&TcFilter| it.device == device && it.major == major;
    let lowest = setup.filters.iter().filter(of_device).map(|it| it.priority).min();
    let given = after(&["prio", "pref", "priority"]).and_then(|it| it.text.parse().ok());
    let priority = given.unwrap_or(lowest.unwrap_or(FIRST_AUTO + 1).saturating_sub(1));
    let filter = TcFilter { device, major, priority, dscp: 0, class, line };
    keep(conditions(words), filter, setup);
    Ok(())
}

/// Keeps a filter with the DSCPs that meet its conditions, or reports the field that it tests.
pub(super) fn keep(found: Result<Conditions, String>, filter: TcFilter, setup: &mut TcSetup) {
    let line = filter.line;
    match found {
        Ok((dscp, looks_at_ecn)) => {
            if looks_at_ecn {
                let text = "the filter takes packets without ECN only; here it takes all of the \
                            DSCP";
                setup.note(TcNoteKind::Unknown, line, text);
            }
            setup.filters.push(TcFilter { dscp, ..filter });
        }
        Err(what) => {
            let text = format!(
                "the filter looks at {what}: packets take their class by DSCP alone here, so it is \
                 not read"
            );
            setup.note(TcNoteKind::Unknown, line, text);
        }
    }
}

/// The DSCPs that meet the conditions of a filter, starting at its kind; see [`code_points`].
pub(super) fn conditions(words: &[Token<'_>]) -> Result<Conditions, String> {
    let is_kind = |it: &Token<'_>| {
        matches!(
            it.text,
            "u32" | "flower" | "matchall" | "fw" | "basic" | "bpf" | "cgroup" | "flow" | "route"
        )
    };
    code_points(&words[words.iter().position(is_kind).unwrap_or(words.len())..])
}

/// The DSCPs that meet the conditions, or the name of a condition on another field.
fn code_points(words: &[Token<'_>]) -> Result<Conditions, String> {
    let mut found = (u64::MAX, false);
    let mut rest = words.iter().map(|it| it.text);
    let Some(kind) = rest.next() else { return Err("what is not known".to_owned()) };
    if !matches!(kind, "u32" | "flower" | "matchall") {
        return Err(format!("`{kind}`"));
    }
    while let Some(word) = rest.next() {
        match word {
            "match" => of_match(&mut rest, &mut found)?,
            "ip_tos" => {
                let (value, mask) = rest.next().unwrap_or("").split_once('/').unwrap_or(("", ""));
                add_text(value, mask, &mut found)?;
            }
            "flowid" | "classid" | "action" => _ = rest.next(),
            "ok" | "pass" => {}
            other => return Err(format!("`{other}`")),
        }
    }
    Ok(found)
}

/// A condition of u32: `match ip dsfield 0xb8 0xfc`, or one that every packet meets.
fn of_match<'t>(
    rest: &mut impl Iterator<Item = &'t str>,
    found: &mut Conditions,
) -> Result<(), String> {
    let mut next = || rest.next().unwrap_or("");
    let (protocol, field) = (next(), next());
    match (protocol, field) {
        ("ip", "tos" | "dsfield") | ("ip6", "priority") => {
            let (value, mask) = (next(), next());
            add_text(value, mask, found)
        }
        ("ip" | "ip6", "src" | "dst") => match next() {
            "0/0" | "0.0.0.0/0" | "::/0" => Ok(()),
            host => Err(format!("`{protocol} {field} {host}`")),
        },
        ("ip", "protocol") | ("u8" | "u16" | "u32", _) => {
            let (value, mask) = match protocol {
                "ip" => (next(), next()),
                _ => (field, next()),
            };
            if protocol != "ip" && next() == "at" {
                next();
            }
            match byte(mask) {
                Some(0) => Ok(()),
                _ => Err(format!("`{protocol} {value}`")),
            }
        }
        _ => Err(format!("`{protocol} {field}`")),
    }
}

fn add_text(value: &str, mask: &str, found: &mut Conditions) -> Result<(), String> {
    match (byte(value), byte(mask)) {
        (Some(value), Some(mask)) => add((value, mask), found),
        _ => Err(format!("`{value}` under the mask `{mask}`")),
    }
}

/// Keeps the DSCPs whose byte has this value under this mask.
pub(super) fn add((value, mask): (u8, u8), found: &mut Conditions) -> Result<(), String> {
    if value & mask & !DSCP_BITS != 0 {
        return Err("the ECN field".to_owned());
    }
    let meets = |dscp: &u8| (dscp << 2 ^ value) & mask & DSCP_BITS == 0;
    found.0 &= (0..64_u8).filter(meets).fold(0, |all, dscp| all | 1 << dscp);
    found.1 |= mask & !DSCP_BITS != 0;
    Ok(())
}

/// A byte, hexadecimal after `0x`.
fn byte(text: &str) -> Option<u8> {
    match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
