//! The scenario of a set-up: its line, its queue, and a household's traffic.

use super::capacity;
use super::classes;
use super::household;
use super::line::lines;
use super::netem_wire;
use super::policer;
use super::scheduler_toml::packing;
use super::shaped::{ShapedLine, has_details};
use super::tree::{TcNote, TcNoteKind, TcOverhead, TcParent, TcSetup, TcSource};
use super::units::{self, show_rate, show_time};
use crate::FormatError;

/// What the user adds to the text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TcWish {
    /// Name of the scenario.
    pub name: String,
    /// Rate of the line behind the shaper, or of a line without one, such as `50mbit`.
    pub rate: Option<String>,
    /// Base round-trip time, such as `40ms`.
    pub rtt: Option<String>,
    /// The device, if the text has several.
    pub device: Option<String>,
}

/// A scenario with its assumptions.
#[derive(Clone, PartialEq, Debug)]
pub struct TcImport {
    /// The scenario in TOML.
    pub toml: String,
    /// The parts that were read.
    pub read: Vec<String>,
    /// Missing information and options without a counterpart, with the assumptions that replace
    /// them.
    pub unknown: Vec<String>,
}

pub(super) const ASSUMED_RTT_NS: u64 = 40_000_000;

/// One direction of the scenario.
struct Direction<'a> {
    name: &'static str,
    line: &'a ShapedLine,
}

/// Makes a scenario from a set-up.
///
/// # Errors
/// Names a contradiction, the device to choose, or a missing rate.
pub fn scenario(setup: &TcSetup, wish: &TcWish) -> Result<TcImport, FormatError> {
    refuse_contradiction(setup)?;
    let all = lines(setup);
    let chosen = choose(setup, &all, wish)?;
    let rtt = match &wish.rtt {
        Some(text) => units::time(text, 1e6).map_err(FormatError::whole)?,
        None => ASSUMED_RTT_NS,
    };
    let mut import = TcImport { toml: String::new(), read: Vec::new(), unknown: Vec::new() };
    let mut links = String::new();
    let mut added = 0;
    for direction in &chosen {
        let (text, delay) = link(setup, direction, wish, &mut import)?;
        links.push_str(&text);
        added += delay;
    }
    let mut names: Vec<&str> = chosen.iter().map(|it| it.name).collect();
    let devices = chosen.iter().map(|it| (it.name, it.line.device.as_str())).collect::<Vec<_>>();
    if let Some(found) = policer::arrivals(setup, &devices, wish.device.as_deref()) {
        let rate = wish.rate.as_deref();
        links.push_str(&policer::link("down", found, rate, &mut import.unknown)?);
        import.read.push(format!("{} (policer): down", found.device));
        names.push("down");
    }
    import.unknown.extend(setup.notes.iter().map(|it| match setup.source {
        TcSource::Json => format!("element {}: {}", it.line, it.text),
        _ => format!("line {}: {}", it.line, it.text),
    }));
    if wish.rtt.is_none() {
        import.unknown.push(format!(
            "the base round-trip time of the paths: {} is assumed; --rtt sets it",
            show_time(rtt)
        ));
    }
    import.unknown.push(
        "the traffic: the flows of the scenario are what a household may do at a time".to_owned(),
    );
    for index in (1..import.unknown.len()).rev() {
        let (before, [it, ..]) = import.unknown.split_at(index) else { continue };
        if before.contains(it) {
            import.unknown.remove(index);
        }
    }
    let comments: String = import
        .read
        .iter()
        .map(|text| format!("# Read: {text}.\n"))
        .chain(import.unknown.iter().map(|text| format!("# Not in the text: {text}.\n")))
        .collect();
    import.toml = format!(
        "# Made from a set-up of tc.\n#\n{comments}\nname = {}\nduration = \"60s\"\nwarmup = \
         \"10s\"\n\n{links}{}",
        quoted(&wish.name),
        household::flows(&names, &show_time(rtt + added))
    );
    Ok(import)
}

/// The line whose queue the scenario has; `None` if the text has a policer alone.
///
/// # Errors
/// As [`scenario`], except for the rate.
pub(super) fn chosen_line(
    setup: &TcSetup,
    wish: &TcWish,
) -> Result<Option<ShapedLine>, FormatError> {
    refuse_contradiction(setup)?;
    let all = lines(setup);
    Ok(choose(setup, &all, wish)?.first().map(|it| it.line.clone()))
}

fn refuse_contradiction(setup: &TcSetup) -> Result<(), FormatError> {
    let is_refused =
        |it: &&TcNote| matches!(it.kind, TcNoteKind::Contradiction | TcNoteKind::Refused);
    match setup.notes.iter().find(is_refused) {
        Some(note) => Err(FormatError::at(note.line, note.text.clone())),
        None => Ok(()),
    }
}

/// A text as TOML, without characters that need escapes.
fn quoted(text: &str) -> String {
    let plain: String = text
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' '))
        .collect();
    format!("\"{}\"", if plain.is_empty() { "line" } else { &plain })
}

/// Whether a device has the arrivals of another one: an ifb, or the target of a redirection.
fn takes_arrivals(setup: &TcSetup, device: &str) -> bool {
    device.starts_with("ifb") || setup.redirects.iter().any(|it| it.to == device)
}

/// The lines of the scenario: one device, and the ifb of its ingress.
fn choose<'a>(
    setup: &TcSetup,
    all: &'a [ShapedLine],
    wish: &TcWish,
) -> Result<Vec<Direction<'a>>, FormatError> {
    let mut held: Vec<&ShapedLine> = all.iter().filter(|it| it.chain != ["noqueue"]).collect();
    let names_lo = wish.device.as_deref() == Some("lo");
    if held.len() > 1 && !names_lo {
        held.retain(|it| it.device != "lo");
    }
    let shaped = |it: &&&ShapedLine| it.bps().is_some();
    if held.is_empty() && setup.policers.iter().any(|it| it.is_ingress && it.limit.is_some()) {
        return Ok(Vec::new());
    }
    if let Some(device) = &wish.device {
        let Some(line) = held.iter().find(|it| it.device == *device) else {
            let names: Vec<&str> = held.iter().map(|it| it.device.as_str()).collect();
            let message = format!("no device `{device}` is in the text: {}", names.join(", "));
            return Err(FormatError::whole(message));
        };
        return Ok(pair(setup, line, &held));
    }
    let is_ifb = |device: &str| takes_arrivals(setup, device);
    let out: Vec<&&ShapedLine> = held.iter().filter(|it| !is_ifb(&it.device)).collect();
    let candidates: Vec<&&ShapedLine> = match out.iter().filter(|it| shaped(it)).count() {
        0 => out,
        _ => out.into_iter().filter(shaped).collect(),
    };
    match candidates.as_slice() {
        [one] => Ok(pair(setup, one, &held)),
        [] => match held.as_slice() {
            [one] => Ok(vec![Direction { name: "down", line: one }]),
            _ => Err(FormatError::whole(match setup.policers.as_slice() {
                [] if setup.qdiscs.iter().any(|it| matches!(it.parent, TcParent::Class(_))) => {
                    "the text has disciplines below classes alone; paste the lines of the root and \
                     of its classes too"
                }
                [] => "no device in the text has a queue; paste its `qdisc` line",
                _ => {
                    "the text has a policer alone, of which `police rate R burst B conform-exceed \
                     drop` for all arrivals is read; give that, or the `qdisc` line of a queue"
                }
            })),
        },
        several => {
            let names: Vec<&str> = several.iter().map(|it| it.device.as_str()).collect();
            Err(FormatError::whole(format!(
                "several devices have a queue ({}); choose one with --dev {}",
                names.join(", "),
                names[0]
            )))
        }
    }
}

/// A device, with the ifb of its ingress.
fn pair<'a>(setup: &TcSetup, line: &'a ShapedLine, all: &[&'a ShapedLine]) -> Vec<Direction<'a>> {
    let is_ifb = |device: &str| takes_arrivals(setup, device);
    if is_ifb(&line.device) {
        return vec![Direction { name: "down", line }];
    }
    let redirect = setup.redirects.iter().find(|it| it.from == line.device);
    let ifbs: Vec<&&ShapedLine> = all.iter().filter(|it| is_ifb(&it.device)).collect();
    let named = format!("ifb4{}", line.device);
    let found = match redirect {
        Some(redirect) => ifbs.iter().find(|it| it.device == redirect.to),
        None => ifbs.iter().find(|it| it.device == named).or(match ifbs.as_slice() {
            [_] => ifbs.first(),
            _ => None,
        }),
    };
    let mut both = vec![Direction { name: "up", line }];
    both.extend(found.map(|it| Direction { name: "down", line: it }));
    both
}

/// A link as TOML, and the delay that netem adds, in nanoseconds.
fn link(
    setup: &TcSetup,
    direction: &Direction<'_>,
    wish: &TcWish,
    import: &mut TcImport,
) -> Result<(String, u64), FormatError> {
    let Direction { name, line } = direction;
    let on = if line.device.is_empty() { "the device" } else { &line.device };
    if let Some(error) = &line.refused {
        return Err(error.clone());
    }
    let given = wish.rate.as_deref().map(units::rate).transpose().map_err(FormatError::whole)?;
    let Some(bps) = line.bps().or(given) else {
        return Err(FormatError::whole(match line.chain.first().map(String::as_str) {
            Some(kind @ ("htb" | "hfsc"))
                if line.aqm.is_none() && setup.classes.iter().any(|it| it.kind == kind) =>
            {
                classes::no_default(kind, on)
            }
            Some(kind @ ("htb" | "hfsc")) if line.shapers.is_empty() => format!(
                "the text does not have the rate of {kind} on {on}, which `tc class show` prints: \
                 paste that too, or give the rate, such as --rate 50mbit"
            ),
            _ => format!(
                "nothing on {on} limits its rate, so the rate of the line decides where the queue \
                 is: give that rate, such as --rate 50mbit"
            ),
        }));
    };
    let queue = queue(setup, line, import)?;
    let rate = match &line.scheduler {
        Some(scheduler) if scheduler.bps.is_some() => {
            capacity::behind(line, bps, given, &mut import.unknown)
        }
        _ => capacity::rate(line, bps, given, &mut import.unknown),
    };
    let (framing, phrase) = framing(setup, line, rate.starts_with('{'))?;
    import.unknown.extend(phrase);
    import.unknown.extend(line.missing.iter().cloned());
    import.read.extend(line.aqm.iter().flat_map(|aqm| aqm.notes.iter().cloned()));
    import.read.push(format!(
        "{on} ({}): {name}, {}, {queue}",
        line.chain.join(" > "),
        show_rate(bps)
    ));
    let mut text = format!("[links.{name}]\nrate = {rate}\n{framing}queue = \"{queue}\"\n");
    let found = match setup.redirects.iter().find(|it| it.to == line.device) {
        Some(redirect) => policer::of(setup, &redirect.from, true),
        None => policer::of(setup, &line.device, false),
    };
    if let Some(found) = found {
        text.push_str(&policer::key(found, &framing, &mut import.unknown));
    }
    let mut delay = 0;
    if let Some(found) = &line.netem {
        let (lines, of_netem) = netem_wire::wire(found, &mut import.unknown);
        text.push_str(&lines);
        delay = of_netem;
    }
    if let Some(scheduler) = &line.scheduler {
        text.push_str(&scheduler.toml(name, &queue));
    }
    text.push('\n');
    Ok((text, delay))
}

fn queue(setup: &TcSetup, line: &ShapedLine, import: &mut TcImport) -> Result<String, FormatError> {
    let is_hidden = is_hidden_by_netem(line);
    if let Some(aqm) = &line.aqm {
        if !is_hidden {
            return Ok(aqm.text.clone());
        }
        import.unknown.push(format!(
            "netem has the rate, so that packets wait in netem's own queue, a tail drop, and `{}` \
             below it sees none: the queue here is that of netem",
            aqm.text
        ));
    }
    let Some(netem) = &line.netem else {
        let on = if line.device.is_empty() { "the device" } else { &line.device };
        return Err(FormatError::whole(match line.chain.last().map(String::as_str) {
            Some(kind @ ("mq" | "mqprio")) => format!(
                "{kind} on {on} has the kernel's default discipline below every transmit queue, \
                 which the text does not name: paste what `tc qdisc show` prints"
            ),
            Some(kind @ ("htb" | "hfsc" | "drr")) if classes::has_none(setup, line, kind) => {
                classes::no_classes(kind, on)
            }
            Some("drr") => format!(
                "drr on {on} drops packets that no filter names, and no filter names those without \
                 a DSCP: add one with `matchall`"
            ),
            Some(kind @ ("htb" | "hfsc")) => classes::no_default(kind, on),
            _ => format!(
                "the class that holds the queue of {on} is not known: the text has neither its \
                 `default` class nor a single leaf; paste `tc class show` too"
            ),
        }));
    };
    // Linux 6.1 sch_netem.c, netem_init.
    const USUAL_LIMIT: u64 = 1000;
    let limit = netem.count("limit").unwrap_or(USUAL_LIMIT);
    import.unknown.push(format!(
        "netem's limit of {limit} packets holds those on the wire too; here it bounds the queue"
    ));
    Ok(format!("taildrop:limit={limit}p"))
}

/// Whether packets wait in a netem with a rate, before the AQM below it (Linux 6.1 sch_netem.c,
/// netem_dequeue, which hands on only packets that are due).
fn is_hidden_by_netem(line: &ShapedLine) -> bool {
    let Some(rate) = line.netem.as_ref().and_then(|it| it.rate("rate")) else { return false };
    line.shapers.iter().all(|it| it.bps >= rate)
}

/// The keys of a link's framing, and a phrase if it is unknown.
fn framing(
    setup: &TcSetup,
    line: &ShapedLine,
    has_bucket: bool,
) -> Result<(String, Option<String>), FormatError> {
    let header = line.header_bytes();
    let counts_alone = has_bucket || line.scheduler.as_ref().is_some_and(|it| it.bps.is_some());
    let of_shaper = line.shaper_overhead.as_ref().filter(|_| !counts_alone);
    let Some(overhead) = line.overhead.as_ref().or(of_shaper) else {
        let is_hidden = setup.source.is_state()
            && line.shaper_overhead.is_none()
            && line.shapers.iter().any(|it| it.kind != "cake")
            && !has_details(setup, &line.device);
        let phrase = is_hidden.then(|| {
            "the overhead of the line: only `tc -d` prints `stab`, so none is counted".to_owned()
        });
        return Ok((format!("framing = \"{header}B\"\n"), phrase));
    };
    if overhead.from_ip {
        // The AQM adds the overhead itself.
        return Ok(("framing = \"0B\"\n".to_owned(), None));
    }
    let bytes = u64::try_from(header + overhead.bytes).map_err(|_| {
        FormatError::whole(format!(
            "an overhead of {} B on {} makes packets smaller than they are",
            overhead.bytes, line.device
        ))
    })?;
    if bytes > u64::from(u16::MAX) {
        return Err(FormatError::whole(format!(
            "an overhead of {} B on {} is more than a link can have; write less than 65 kB",
            overhead.bytes, line.device
        )));
    }
    let keys = [format!("framing = \"{bytes}B\"")].into_iter().chain(packing(overhead.packing()));
    Ok((keys.map(|it| it + "\n").collect(), coarse(overhead)))
}

/// A phrase about a size table that is coarser than tc's own, of 4 B. Ethernet without a least size
/// has no table.
fn coarse(overhead: &TcOverhead) -> Option<String> {
    let has_table = overhead.slot > 4 && (overhead.cells == "atm" || overhead.mpu > 0);
    has_table.then(|| {
        format!(
            "the size table of `stab`, which rounds sizes up to multiples of {} B: none is rounded \
             here; `tsize 512` rounds to 4 B",
            overhead.slot
        )
    })
}
