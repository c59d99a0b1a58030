//! Reads output of `tc filter show`: filters that lead to a class, and redirections to an ifb.

use super::change;
use super::filters::{self, Conditions};
use super::policer;
use super::tree::{TcFilter, TcNoteKind, TcRedirect, TcSetup};
use super::words::Token;

/// Reads a filter with the lines below it. Lines about tables contain nothing to read.
pub(super) fn read(device: &str, words: &[Token<'_>], setup: &mut TcSetup) {
    let line = words[0].line;
    let after = |name: &str| {
        let at = words.iter().position(|it| it.text == name)?;
        words.get(at + 1).map(|it| it.text)
    };
    let device = after("dev").filter(|_| words[1].text == "dev").unwrap_or(device).to_owned();
    let note = |setup: &mut TcSetup, text: &str| setup.note(TcNoteKind::Unknown, line, text);
    if let Some(at) = words.iter().position(|it| it.text.ends_with("Redirect")) {
        // (Egress Redirect to device ifb0)
        match words.get(at + 3).map(|it| it.text.trim_end_matches(')')) {
            Some(to) if words[at + 2].text == "device" => {
                setup.redirects.push(TcRedirect { from: device, to: to.to_owned(), line });
            }
            _ => note(setup, "the filter's redirection names no device, and is not read"),
        }
        return;
    }
    if let Some(at) = words.iter().position(|it| it.text == "police") {
        let all = match after_number(words, "pref") {
            Some("u32") => of_u32(words, after("protocol").unwrap_or("")),
            Some("matchall") => Ok((u64::MAX, false)),
            other => Err(format!("`{}`", other.unwrap_or("what is not known"))),
        };
        return policer::shown(&device, words, at, all, setup);
    }
    let class = ["flowid", "*flowid", "classid"].into_iter().find_map(after);
    let Some(class) = class.and_then(change::class_id) else {
        let is_table = !words.iter().any(|it| matches!(it.text, "match" | "handle" | "action"));
        if !is_table {
            note(setup, "the filter names no class, and is not read");
        }
        return;
    };
    let parent = after("parent").unwrap_or("");
    let major = parent.split(':').next().unwrap_or("").to_owned();
    let (Some(kind), Some(priority)) = (after_number(words, "pref"), after("pref")) else {
        return note(setup, "the filter has no `pref`, and is not read: paste all of its lines");
    };
    let Ok(priority) = priority.parse() else {
        return note(setup, "the filter's `pref` is not a number, and it is not read");
    };
    let found = match kind {
        "u32" => of_u32(words, after("protocol").unwrap_or("")),
        "flower" => of_flower(words),
        "matchall" => Ok((u64::MAX, false)),
        other => Err(format!("`{other}`")),
    };
    filters::keep(found, TcFilter { device, major, priority, dscp: 0, class, line }, setup);
}

/// The word after the number that follows a name.
fn after_number<'t>(words: &[Token<'t>], name: &str) -> Option<&'t str> {
    let at = words.iter().position(|it| it.text == name)?;
    words.get(at + 2).map(|it| it.text)
}

/// The keys of u32: `match 00b80000/00fc0000 at 0`, a word of the packet in hexadecimal.
fn of_u32(words: &[Token<'_>], protocol: &str) -> Result<Conditions, String> {
    let mut found = (u64::MAX, false);
    for (at, _) in words.iter().enumerate().filter(|(_, it)| it.text == "match") {
        let text = |behind: usize| words.get(at + behind).map_or("", |it| it.text);
        let key = || format!("`match {} at {}`", text(1), text(3));
        let number = |digits: &str| u32::from_str_radix(digits, 16).ok();
        let (value, mask) = text(1).split_once('/').ok_or_else(key)?;
        let (value, mask) = number(value).zip(number(mask)).ok_or_else(key)?;
        if mask == 0 {
            continue;
        }
        let is_first = text(3) == "0";
        let added = is_first.then(|| filters::add_first_word((value, mask), protocol, &mut found));
        added.flatten().ok_or_else(key)??;
    }
    Ok(found)
}

/// The keys of flower: `ip_tos 32/0xfc`, or `ip_tos 0x20/fc` before iproute2 5.5; without a mask it
/// is 0xff.
fn of_flower(words: &[Token<'_>]) -> Result<Conditions, String> {
    let mut found = (u64::MAX, false);
    let start = words.iter().position(|it| it.text == "flower").unwrap_or(0) + 1;
    let mut rest = words[start..].iter().map(|it| it.text);
    while let Some(word) = rest.next() {
        match word {
            "chain" | "handle" | "classid" | "flowid" | "eth_type" => _ = rest.next(),
            "not_in_hw" | "in_hw" | "skip_hw" | "skip_sw" => {}
            "in_hw_count" | "used_hw_stats" => _ = rest.next(),
            "ip_tos" => {
                let text = rest.next().unwrap_or("");
                let (value, mask) = text.split_once('/').unwrap_or((text, "ff"));
                let hex = |digits: &str| u8::from_str_radix(digits, 16).ok();
                let value = value.strip_prefix("0x").map_or_else(|| value.parse().ok(), hex);
                let mask = hex(mask.trim_start_matches("0x"));
                let byte = value.zip(mask).ok_or_else(|| format!("`ip_tos {text}`"))?;
                filters::add(byte, &mut found)?;
            }
            other => return Err(format!("`{other}`")),
        }
    }
    Ok(found)
}
