//! FreeBSD's dummynet as `ipfw` and `dnctl` configure and show it, also in pfSense and OPNsense
//! (ipfw(8); FreeBSD 14 sbin/ipfw/dummynet.c, sys/netpfil/ipfw/dn_aqm_*.c, dn_sched_fq_*.c).

use super::dummynet_aqm::{Discipline, Law};
use super::tree::{
    TcCounters, TcNoteKind, TcOption, TcParent, TcQdisc, TcSetup, TcSource, TcValue,
};
use super::units;
use crate::FormatError;

/// What a pipe, a scheduler or a queue has.
#[derive(Default)]
struct Part {
    number: u32,
    line: usize,
    bps: Option<u64>,
    delay_ms: u64,
    loss: f64,
    /// The pipe of a scheduler, or the scheduler of a queue.
    on: Option<u32>,
    discipline: Discipline,
}

/// All parts of a text.
#[derive(Default)]
struct Parts {
    pipes: Vec<Part>,
    schedulers: Vec<Part>,
    queues: Vec<Part>,
    notes: Vec<(usize, String)>,
}

/// Whether a line configures or shows a pipe.
pub(super) fn is_config(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_command =
        words.windows(3).any(|it| matches!(it[0], "pipe" | "queue" | "sched") && it[2] == "config");
    is_command || shown_pipe(&words).is_some()
}

/// Reads commands, or the output of `ipfw pipe show` and `ipfw sched show`.
pub(super) fn read(text: &str) -> Result<TcSetup, FormatError> {
    let mut parts = Parts::default();
    let mut shown = (0, 0);
    for (index, line) in text.lines().enumerate() {
        let line = line.split(" #").next().unwrap_or("").trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        let start = words
            .windows(3)
            .position(|it| matches!(it[0], "pipe" | "queue" | "sched") && it[2] == "config");
        match start {
            Some(start) if !line.starts_with('#') => {
                configured(&words[start..], index + 1, &mut parts)?;
            }
            _ => printed(&words, index + 1, &mut shown, &mut parts)?,
        }
    }
    setup(parts)
}

/// A part of a kind, made if it is new.
fn part<'p>(parts: &'p mut Parts, kind: &str, number: u32, line: usize) -> &'p mut Part {
    let all = match kind {
        "pipe" => &mut parts.pipes,
        "sched" => &mut parts.schedulers,
        _ => &mut parts.queues,
    };
    let at = all.iter().position(|it| it.number == number).unwrap_or_else(|| {
        all.push(Part { number, line, ..Part::default() });
        all.len() - 1
    });
    &mut all[at]
}

/// `pipe 1 config bw 90Mbit/s queue 100 codel target 5ms`.
fn configured(words: &[&str], line: usize, parts: &mut Parts) -> Result<(), FormatError> {
    let refuse = |message: String| FormatError::at(line, message);
    if let Some(word) = words.iter().find(|it| it.contains('$')) {
        return Err(refuse(format!("`{word}` is a variable of a shell: write its value")));
    }
    let kind = words[0];
    let number: u32 = words[1]
        .parse()
        .map_err(|_| refuse(format!("`{}` is not the number of a {kind}", words[1])))?;
    let mut notes = Vec::new();
    let found = part(parts, kind, number, line);
    let mut rest = words[3..].iter().copied();
    while let Some(word) = rest.next() {
        let mut value = || {
            rest.next().ok_or_else(|| refuse(format!("`{word}` lacks its value: paste all of it")))
        };
        match word.to_ascii_lowercase().as_str() {
            "bw" | "bandwidth" => found.bps = Some(bandwidth(value()?).map_err(refuse)?),
            "delay" => {
                let given = value()?;
                found.delay_ms = given.trim_end_matches("ms").parse().map_err(|_| {
                    refuse(format!("delay: write whole milliseconds, not `{given}`"))
                })?;
            }
            "plr" => {
                let given = value()?;
                found.loss =
                    given.parse().ok().filter(|it| (0.0..=1.0).contains(it)).ok_or_else(|| {
                        refuse(format!("plr: `{given}` is not a share from 0 to 1"))
                    })?;
            }
            "pipe" | "sched" => found.on = value()?.parse().ok(),
            "buckets" | "weight" | "pri" | "lmax" => _ = value()?,
            "noerror" => {}
            "burst" => {
                let text = format!("`burst {}` of dummynet has no counterpart here", value()?);
                notes.push((line, text));
            }
            "mask" | "flow_mask" | "sched_mask" => {
                let masked: Vec<&str> =
                    words.iter().skip_while(|it| **it != word).skip(1).copied().collect();
                let count = masked.chunks(2).take_while(|it| {
                    it[0] == "all" || it.len() == 2 && it[1].starts_with(['0', '/'])
                });
                let count: usize = count.map(|it| if it[0] == "all" { 1 } else { 2 }).sum();
                (0..count).for_each(|_| _ = rest.next());
                if kind == "pipe" {
                    let text = format!("each flow of `{word}` has a pipe of its own: one is taken");
                    notes.push((line, text));
                }
            }
            "profile" | "red" | "gred" => {
                let message = format!("`{word}` of dummynet has no counterpart here");
                return Err(refuse(message + ": name codel, pie, fq_codel, fq_pie or droptail"));
            }
            _ if found.discipline.word(word, &mut rest).map_err(refuse)? => {}
            other => return Err(refuse(format!("dummynet's {kind} has no option `{other}`"))),
        }
    }
    parts.notes.extend(notes);
    Ok(())
}

/// A line of `ipfw pipe show` or `ipfw sched show`; `shown` are the numbers of the pipe and the
/// scheduler above.
fn printed(
    words: &[&str],
    line: usize,
    shown: &mut (u32, u32),
    parts: &mut Parts,
) -> Result<(), FormatError> {
    let refuse = |message: String| FormatError::at(line, message);
    if let Some((number, bps, delay_ms)) = shown_pipe(words) {
        shown.0 = number;
        let found = part(parts, "pipe", number, line);
        (found.bps, found.delay_ms) = (bps, delay_ms);
        if let Some(at) = words.iter().position(|it| *it == "sl.") {
            found.discipline.slots(words[at - 1]).map_err(refuse)?;
        }
    }
    /// Internal schedulers have numbers from here on.
    const INTERNAL: u32 = 65_536;
    match words {
        ["sched", number, "type", kind, ..] => {
            let number: u32 = number.parse().unwrap_or(0);
            shown.1 = number;
            if number > 0 && number < INTERNAL {
                let found = part(parts, "sched", number, line);
                found.on = Some(shown.0);
                found.discipline.kind(&kind.to_ascii_lowercase()).map_err(refuse)?;
            }
        }
        ["FQ_CODEL" | "FQ_PIE", params @ ..] if shown.1 > 0 => {
            let found = part(parts, "sched", shown.1, line);
            let mut rest = params.iter().copied();
            while let Some(word) = rest.next() {
                found.discipline.word(word, &mut rest).map_err(refuse)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Number, rate and delay of `00001:  95.000 Mbit/s    0 ms burst 0`.
fn shown_pipe(words: &[&str]) -> Option<(u32, Option<u64>, u64)> {
    let [number, rate, rest @ ..] = words else { return None };
    let digits = number.strip_suffix(':').filter(|it| it.len() == 5)?;
    let number = digits.parse().ok()?;
    if *rate == "unlimited" {
        return Some((number, None, rest.first()?.parse().ok()?));
    }
    let [unit, delay, "ms", ..] = rest else { return None };
    let scale = match unit.to_ascii_lowercase().as_str() {
        "gbit/s" => 1e9,
        "mbit/s" => 1e6,
        "kbit/s" => 1e3,
        "bit/s" => 1.0,
        _ => return None,
    };
    let bps = (rate.parse::<f64>().ok()? * scale).round() as u64;
    Some((number, Some(bps), delay.parse().ok()?))
}

/// A rate (`read_bandwidth`): an integer with K, M or G, in bits unless `Byte` follows.
fn bandwidth(text: &str) -> Result<u64, String> {
    let refuse = || format!("bw: `{text}` is not a rate in whole numbers, such as 90Mbit/s");
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..end].parse().map_err(|_| refuse())?;
    let unit = &text[end..];
    let (scale, rest) = match unit.chars().next() {
        Some('K' | 'k') => (1_000, &unit[1..]),
        Some('M' | 'm') => (1_000_000, &unit[1..]),
        Some('G' | 'g') => (1_000_000_000, &unit[1..]),
        _ => (1, unit),
    };
    let is_bits = ["", "b", "bit/s", "bits/s", "bps", "bit", "Bit/s", "Bits/s"].contains(&rest);
    let is_bytes = rest.starts_with("Byte") || rest.starts_with("byte") || rest == "B";
    match number.checked_mul(scale * if is_bytes { 8 } else { 1 }) {
        Some(bps) if is_bits || is_bytes => Ok(bps),
        _ => Err(refuse()),
    }
}

/// The pipes as devices.
fn setup(parts: Parts) -> Result<TcSetup, FormatError> {
    let mut setup = TcSetup::new(TcSource::Commands);
    for pipe in &parts.pipes {
        let scheduler =
            parts.schedulers.iter().find(|it| it.on.unwrap_or(it.number) == pipe.number);
        let number = scheduler.map_or(pipe.number, |it| it.number);
        let queues: Vec<&Part> = parts.queues.iter().filter(|it| it.on == Some(number)).collect();
        let by_scheduler = scheduler.map(|it| &it.discipline).filter(|it| it.law.is_fair());
        let discipline = match (by_scheduler, queues.as_slice()) {
            (Some(discipline), _) => discipline,
            (None, []) => &pipe.discipline,
            (None, [only]) => &only.discipline,
            (None, [first, ..]) => {
                let message = format!(
                    "the queues of pipe {} share it by weight, which has no counterpart here: give \
                     its scheduler `type fq_codel`, or one queue",
                    pipe.number
                );
                return Err(FormatError::at(first.line, message));
            }
        };
        add(pipe, discipline, &mut setup)?;
    }
    for (line, text) in parts.notes {
        setup.note(TcNoteKind::Unknown, line, text);
    }
    match setup.qdiscs.is_empty() {
        true => Err(FormatError::whole(
            "no line `pipe N config bw RATE` is in the text, which gives the rate: paste it too",
        )),
        false => Ok(setup),
    }
}

/// A pipe as a device: its delay and loss, its rate, its discipline.
fn add(pipe: &Part, discipline: &Discipline, setup: &mut TcSetup) -> Result<(), FormatError> {
    let (line, device) = (pipe.line, format!("pipe{}", pipe.number));
    let option = |name, value, text| TcOption { name, value, text, line };
    let mut above = TcParent::Root;
    let mut handle = 1;
    let mut push = |kind: &str, options: Vec<TcOption>| {
        let (device, kind, parent) = (device.clone(), kind.to_owned(), above.clone());
        let own = format!("{handle}:");
        above = TcParent::Class(own.clone());
        handle += 1;
        let (stab, counters) = (None, TcCounters::default());
        setup.qdiscs.push(TcQdisc {
            device,
            kind,
            handle: own,
            parent,
            stab,
            options,
            counters,
            line,
        });
    };
    let mut wire = Vec::new();
    if pipe.delay_ms > 0 {
        let (text, nanos) = (format!("delay {}ms", pipe.delay_ms), pipe.delay_ms * 1_000_000);
        wire.push(option("delay", TcValue::Nanos(nanos), text));
    }
    if pipe.loss > 0.0 {
        wire.push(option("loss", TcValue::Real(pipe.loss), format!("plr {}", pipe.loss)));
    }
    if !wire.is_empty() {
        push("netem", wire);
    }
    if let Some(bps) = pipe.bps.filter(|it| *it > 0) {
        push(
            "pipe",
            vec![option("rate", TcValue::Bps(bps), format!("bw {}", units::show_rate(bps)))],
        );
    }
    let text = discipline.text().map_err(|why| FormatError::at(line, why))?;
    push(discipline.law.kind(), vec![option("aqm", TcValue::Text(text.clone()), text)]);
    if !matches!(discipline.law, Law::DropTail) {
        let text = "a pipe sends in bursts at ticks of 1 ms; here each packet leaves when its \
                    predecessor is sent";
        setup.note(TcNoteKind::Unknown, line, text);
    }
    Ok(())
}
