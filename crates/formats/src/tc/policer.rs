//! Policers: filters with the action `police`, which drops traffic above a rate.

use super::filters;
use super::shaped::USUAL_BPS;
use super::tree::{TcNoteKind, TcSetup};
use super::units::{self, show_rate};
use super::values::TcPolicer;
use super::words::Token;
use crate::FormatError;

/// The least `mtu` that lets every Ethernet frame conform.
const FRAME_BYTES: u64 = 1514;

/// Reads a filter with `police`. Settings beyond a link's policer are reported.
pub(super) fn read(
    device: &str,
    words: &[Token<'_>],
    at: usize,
    setup: &mut TcSetup,
) -> Result<(), FormatError> {
    let found = match whole(&words[..at]) {
        Ok(()) => options(&words[at + 1..])?,
        Err(what) => Err(partial(&what)),
    };
    keep(device, words, at, found, setup);
    Ok(())
}

fn partial(what: &str) -> String {
    format!("it looks at {what}, and a link polices all packets")
}

/// Reads a policer as tc shows it; `all` are the packets that its filter takes.
pub(super) fn shown(
    device: &str,
    words: &[Token<'_>],
    at: usize,
    all: Result<filters::Conditions, String>,
    setup: &mut TcSetup,
) {
    let found = match all {
        Ok((u64::MAX, false)) => as_shown(&words[at + 1..]),
        Ok(_) => Err(partial("the DSCP or ECN")),
        Err(what) => Err(partial(&what)),
    };
    keep(device, words, at, found, setup);
}

/// Rate in bit/s and burst in bytes as printed (iproute2 6.1 tc/m_police.c, print_police).
fn as_shown(words: &[Token<'_>]) -> Result<(u64, u64), String> {
    let value = |name: &str| {
        let at = words.iter().position(|it| it.text == name)?;
        words.get(at + 1).map(|it| it.text)
    };
    for name in ["peakrate", "avrate", "pkts_rate"] {
        if let Some(given) = value(name) {
            return Err(format!("`{name} {given}` has no counterpart here"));
        }
    }
    for (name, none) in [("overhead", "0b"), ("linklayer", "ethernet")] {
        if let Some(given) = value(name).filter(|it| *it != none) {
            return Err(format!("`{name} {given}` has no counterpart here"));
        }
    }
    if let Some(given) = value("mtu").filter(|it| size(it).is_ok_and(|it| it < FRAME_BYTES)) {
        return Err(format!("`mtu {given}` has no counterpart here"));
    }
    if !value("action").is_some_and(is_drop) {
        return Err("it does not drop what exceeds".to_owned());
    }
    let cut = || "its line is cut off: paste all of it".to_owned();
    let (rate, burst) = value("rate").zip(value("burst")).ok_or_else(cut)?;
    Ok((units::rate(rate)?, size(burst)?))
}

/// Adds a policer, or says why it is left out.
fn keep(
    device: &str,
    words: &[Token<'_>],
    at: usize,
    found: Result<(u64, u64), String>,
    setup: &mut TcSetup,
) {
    let line = words[at].line;
    let of_parent = words.windows(2).find(|pair| pair[0].text == "parent").map(|pair| pair[1].text);
    let is_ingress = words[..at].iter().any(|it| it.text == "ingress")
        || of_parent.is_some_and(|it| it.starts_with("ffff:") && it != "ffff:fff3");
    let limit = match found {
        Ok(limit) => Some(limit),
        Err(why) => {
            setup.note(TcNoteKind::Unknown, line, format!("the policer is left out: {why}"));
            None
        }
    };
    setup.policers.push(TcPolicer { device: device.to_owned(), is_ingress, limit, line });
}

/// Whether a filter takes every packet; if not, names a condition.
fn whole(words: &[Token<'_>]) -> Result<(), String> {
    let protocol = words.windows(2).find(|pair| pair[0].text == "protocol");
    if let Some([_, other]) = protocol
        && !matches!(other.text, "all" | "ip" | "ipv6")
    {
        return Err(format!("`protocol {}`", other.text));
    }
    let words = match words.last() {
        Some(last) if last.text == "action" => &words[..words.len() - 1],
        _ => words,
    };
    match filters::conditions(words)? {
        (u64::MAX, false) => Ok(()),
        _ => Err("the DSCP or ECN".to_owned()),
    }
}

/// Rate in bit/s and burst in bytes (iproute2 6.1 tc/m_police.c, parse_police), or the part that
/// the model lacks.
fn options(words: &[Token<'_>]) -> Result<Result<(u64, u64), String>, FormatError> {
    let (mut rate, mut burst, mut drops, mut lacks) = (None, None, false, None);
    let mut rest = words.iter().copied();
    while let Some(word) = rest.next() {
        let mut value = || {
            rest.next().map(|it| it.text).ok_or_else(|| {
                FormatError::at(word.line, format!("`{}` of police lacks its value", word.text))
            })
        };
        let wrong = |why: String| FormatError::at(word.line, format!("{}: {why}", word.text));
        match word.text {
            "rate" => rate = Some(units::rate(value()?).map_err(wrong)?),
            "burst" | "buffer" | "maxburst" => burst = Some(size(value()?).map_err(wrong)?),
            "mtu" | "minburst" => {
                let given = value()?;
                if size(given).map_err(wrong)? < FRAME_BYTES {
                    lacks = lacks.or(Some(format!("`mtu {given}` has no counterpart here")));
                }
            }
            "conform-exceed" => drops = is_drop(value()?),
            "drop" | "shot" => drops = true,
            "reclassify" | "continue" | "pass" | "ok" | "pipe" => drops = false,
            "index" | "flowid" | "classid" => _ = value()?,
            "action" => break,
            "peakrate" | "avrate" | "pkts_rate" | "pkts_burst" | "overhead" | "mpu"
            | "linklayer" => {
                let text = format!("`{} {}` has no counterpart here", word.text, value()?);
                lacks = lacks.or(Some(text));
            }
            other => {
                let message = format!("police has no option `{other}`; `tc action police help`");
                return Err(FormatError::at(word.line, message + " lists them"));
            }
        }
    }
    Ok(match (lacks, rate, burst) {
        (Some(lacks), ..) => Err(lacks),
        (None, None, _) => Err("it has no rate".to_owned()),
        (None, _, None) => Err("tc refuses a rate without burst".to_owned()),
        (None, ..) if !drops => {
            Err("it does not drop: `conform-exceed drop` is missing".to_owned())
        }
        (None, Some(rate), Some(burst)) => Ok((rate, burst)),
    })
}

/// A size, optionally followed by a cell size.
fn size(text: &str) -> Result<u64, String> {
    units::size(text.split('/').next().unwrap_or(text))
}

/// Whether packets above the rate are dropped and conforming packets pass.
fn is_drop(text: &str) -> bool {
    let (exceeds, conforms) = text.split_once('/').unwrap_or((text, "ok"));
    matches!(exceeds, "drop" | "shot") && matches!(conforms, "ok" | "pass" | "pipe")
}

/// The policer of a direction of a device, if it has one.
pub(super) fn of<'s>(setup: &'s TcSetup, device: &str, is_ingress: bool) -> Option<&'s TcPolicer> {
    let is_of = |it: &&TcPolicer| it.device == device && it.is_ingress == is_ingress;
    setup.policers.iter().filter(is_of).find(|it| it.limit.is_some())
}

/// The policer of arrivals, unless an ifb takes the arrivals. `links` pairs links with their
/// devices.
pub(super) fn arrivals<'s>(
    setup: &'s TcSetup,
    links: &[(&str, &str)],
    asked: Option<&str>,
) -> Option<&'s TcPolicer> {
    match links {
        [("up", device)] => of(setup, device, true),
        [] => {
            let is_meant = |it: &&TcPolicer| asked.is_none_or(|device| device == it.device);
            let mut all = setup.policers.iter().filter(is_meant);
            all.find_map(|it| of(setup, &it.device, true))
        }
        _ => None,
    }
}

/// The key of a link. `framing` are the link's keys: the kernel's policer counts the Ethernet
/// header on egress only (Linux 6.1 net/core/dev.c, sch_handle_ingress, qdisc_pkt_len_init).
pub(super) fn key(policer: &TcPolicer, framing: &str, unknown: &mut Vec<String>) -> String {
    let Some((bps, burst)) = policer.limit else { return String::new() };
    let counted = if policer.is_ingress { "\"0B\"" } else { "\"14B\"" };
    if !framing.contains(counted) {
        unknown.push(format!(
            "line {}: the policer counts other bytes per packet than the queue; here it counts the \
             same",
            policer.line
        ));
    }
    format!("policer = {{ rate = \"{}\", burst = \"{burst}B\" }}\n", show_rate(bps))
}

/// A link whose text has only a policer of arrivals.
pub(super) fn link(
    name: &str,
    policer: &TcPolicer,
    given: Option<&str>,
    unknown: &mut Vec<String>,
) -> Result<String, FormatError> {
    let device = &policer.device;
    let given = given.map(units::rate).transpose().map_err(FormatError::whole)?;
    let bps = given.unwrap_or_else(|| {
        let assumed = show_rate(USUAL_BPS);
        unknown.push(format!(
            "the rate of the line to {device}: {assumed} is assumed; --rate sets it"
        ));
        USUAL_BPS
    });
    unknown.push(format!(
        "the queue at the far end of the line to {device}: the policer comes first here"
    ));
    let framing = "framing = \"0B\"\n";
    let key = key(policer, framing, unknown);
    Ok(format!(
        "[links.{name}]\nrate = \"{}\"\n{framing}queue = \"taildrop:limit=1000p\"\n{key}\n",
        show_rate(bps)
    ))
}
