//! Filters that choose a class by the DSCP: u32, flower and matchall.

use super::abbreviations;
use super::change;
use super::tree::{TcFilter, TcNoteKind, TcSetup, same_number};
use super::words::Token;
use crate::FormatError;

/// The priority that the kernel gives the first filter without one (Linux 6.1 cls_api.c,
/// tcf_auto_prio); each later one gets a lower number and is tried earlier.
const FIRST_AUTO: u32 = 0xc000;

/// The DSCP bits of the byte; the others are ECN.
const DSCP_BITS: u8 = 0xfc;

/// The DSCPs that meet conditions, one bit each, and whether the conditions cover ECN too.
pub(super) type Conditions = (u64, bool);

/// Their kinds (Linux 6.1 net/sched/cls_*.c).
const KINDS: [&str; 11] = [
    "u32", "flower", "matchall", "fw", "basic", "bpf", "cgroup", "flow", "route", "rsvp", "tcindex",
];

/// The words of a command with whole names before its kind.
pub(super) fn whole<'t>(words: &[Token<'t>]) -> Result<Vec<Token<'t>>, FormatError> {
    const NAMES: [&str; 6] = ["block", "preference", "priority", "protocol", "chain", "estimator"];
    let mut all = words.to_vec();
    let mut at = 0;
    while at < all.len() {
        let name = abbreviations::whole(&NAMES, all[at].text);
        match name {
            "root" | "ingress" | "egress" => at += 1,
            "dev" | "parent" | "handle" => at += 2,
            "estimator" => at += 3,
            _ if NAMES.contains(&name) => {
                all[at].text = match name {
                    "preference" => "pref",
                    "priority" => "prio",
                    name => name,
                };
                at += 2;
            }
            kind if KINDS.contains(&kind) => break,
            // A policer alone.
            "police" | "action" => break,
            other => {
                let message = format!(
                    "`{other}` is neither a word of tc filter (parent, protocol, prio, handle) nor \
                     the kind of a filter, such as u32"
                );
                return Err(FormatError::at(all[at].line, message));
            }
        }
    }
    Ok(all)
}

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
    // Without a parent it belongs to the root (Linux 6.1 cls_api.c, __tcf_qdisc_find).
    let root = || setup.root(&device).map_or("", |it| it.handle.as_str());
    let parent = after(&["parent"]).map_or_else(root, |it| it.text);
    let major = parent.split(':').next().unwrap_or("").to_owned();
    let of_device = |it: &&TcFilter| it.device == device && it.major == major;
    let lowest = setup.filters.iter().filter(of_device).map(|it| it.priority).min();
    let given = after(&["prio", "pref", "priority"]).and_then(|it| it.text.parse().ok());
    let priority = given.unwrap_or(lowest.unwrap_or(FIRST_AUTO + 1).saturating_sub(1));
    let filter = TcFilter { device, major, priority, dscp: 0, class, line };
    keep(conditions(words), filter, setup);
    Ok(())
}

/// Deletes the filters of a command: those of its device, its parent and its priority, as far as it
/// names them; filters of arrivals have their redirections and policers.
pub(super) fn delete(words: &[Token<'_>], setup: &mut TcSetup) -> Result<(), FormatError> {
    let after = |names: &[&str]| {
        let at = words.iter().position(|it| names.contains(&it.text))?;
        words.get(at + 1).map(|it| it.text)
    };
    let device = after(&["dev"]).unwrap_or("");
    let parent = after(&["parent"]).map(|it| it.split(':').next().unwrap_or(""));
    let priority: Option<u32> = after(&["prio", "pref", "priority"]).and_then(|it| it.parse().ok());
    setup.filters.retain(|it| {
        let is_of_parent = parent.is_none_or(|major| same_number(major, &it.major));
        it.device != device || !is_of_parent || priority.is_some_and(|own| own != it.priority)
    });
    if parent == Some("ffff") || words.iter().any(|it| it.text == "ingress") {
        setup.redirects.retain(|it| it.from != device);
        setup.policers.retain(|it| it.device != device || !it.is_ingress);
    }
    Ok(())
}

/// Keeps a filter with the DSCPs that meet its conditions, or reports what it looks at.
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
    let protocol = words.windows(2).find(|pair| pair[0].text == "protocol");
    let protocol = protocol.map_or("all", |pair| pair[1].text);
    code_points(&words[words.iter().position(is_kind).unwrap_or(words.len())..], protocol)
}

/// The DSCPs that meet the conditions, or the name of a condition on something else.
fn code_points(words: &[Token<'_>], protocol: &str) -> Result<Conditions, String> {
    let mut found = (u64::MAX, false);
    let mut rest = words.iter().map(|it| it.text);
    let Some(kind) = rest.next() else { return Err("what is not known".to_owned()) };
    if !matches!(kind, "u32" | "flower" | "matchall") {
        return Err(format!("`{kind}`"));
    }
    while let Some(word) = rest.next() {
        match word {
            "match" => of_match(&mut rest, protocol, &mut found)?,
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
    of_packets: &str,
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
        ("ip", "protocol") => {
            let (value, mask) = (next(), next());
            match byte(mask) {
                Some(0) => Ok(()),
                _ => Err(format!("`ip protocol {value}`")),
            }
        }
        ("u8" | "u16" | "u32", value) => {
            let (mask, at) = (next(), next());
            let offset = if at == "at" { next() } else { "" };
            let key = || format!("`{protocol} {value} {mask} at {offset}`");
            let (value, mask) = word(value).zip(word(mask)).ok_or_else(key)?;
            if mask == 0 {
                return Ok(());
            }
            let bytes = match protocol {
                "u8" => 1,
                "u16" => 2,
                _ => 4,
            };
            let last = offset.parse::<u32>().ok().map(|it| it + bytes).filter(|it| *it <= 4);
            let shift = last.map(|it| 8 * (4 - it)).ok_or_else(key)?;
            let aligned = |it: u32| it.checked_shl(shift).filter(|moved| moved >> shift == it);
            let pair = aligned(value).zip(aligned(mask)).ok_or_else(key)?;
            add_first_word(pair, of_packets, found).ok_or_else(key)?
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

/// Keeps the DSCPs of packets whose first word has this value under this mask; none if the word has
/// something else under the mask.
pub(super) fn add_first_word(
    (value, mask): (u32, u32),
    protocol: &str,
    found: &mut Conditions,
) -> Option<Result<(), String>> {
    // Where the byte with the DSCP is: RFC 791 §3.1, RFC 8200 §3.
    let shift = match protocol {
        "ip" => 16,
        "ipv6" => 20,
        _ => return None,
    };
    let byte = |word: u32| (word >> shift) as u8;
    (mask & !(0xff << shift) == 0).then(|| add((byte(value), byte(mask)), found))
}

/// A word of 32 bits, hexadecimal after `0x`.
fn word(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A byte, hexadecimal after `0x`.
fn byte(text: &str) -> Option<u8> {
    match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
