//! Findings about the bytes that the line adds to packets, and whether the shaper counts them.

use sojourn_aqm::{Cells, Framing, Packing};

use super::super::shaped::{ETHERNET_BYTES, ShapedLine, has_details};
use super::super::units::rate_in_words;
use super::shapers::{aqm_of, described};
use super::trial::{Hop, trial};
use super::{Findings, TcFinding, TcSeverity};

/// Most that a line adds: cake's `conservative`, less its four bytes.
const ADSL: Framing = Framing { overhead: 44, packing: Packing { mpu: 0, cells: Cells::Atm } };
/// A full packet, and one of a call.
const PACKETS_BYTES: [u32; 2] = [1500, 200];
/// What a shaper at 95 % of its line leaves, relative to its rate.
const MARGIN: f64 = 1.0 / 0.95 - 1.0;
/// The rate of the fastest ADSL (ITU-T G.992.5).
const FASTEST_ADSL_BPS: u64 = 24_000_000;

pub(super) fn check(line: &ShapedLine, findings: &mut Findings<'_>) {
    overhead(line, findings);
    below_the_packet(line, findings);
}

/// Finds a shaper that counts fewer bytes than the line adds.
fn overhead(line: &ShapedLine, findings: &mut Findings<'_>) {
    let Some(shaper) = line.shapers.first() else { return };
    let is_given = line.overhead.is_some() || line.shaper_overhead.is_some();
    let is_hidden = findings.setup.source.is_state()
        && shaper.kind != "cake"
        && !is_given
        && !has_details(findings.setup, &line.device);
    let (counted, given) = (line.counted(), findings.given);
    let adds = given.framing.unwrap_or(ADSL);
    let bps = shaper.bps;
    // What is missing of each packet, relative to what the shaper counts.
    let missing =
        PACKETS_BYTES.map(|it| adds.bytes(it) as f64 / counted.bytes(it).max(1) as f64 - 1.0);
    let margin = given.line_bps.map_or(MARGIN, |line| line as f64 / bps as f64 - 1.0);
    let is_unlikely = is_given || bps > FASTEST_ADSL_BPS;
    let is_enough = missing.iter().all(|it| *it <= margin.max(0.0));
    if is_hidden || is_enough || is_unlikely && given.framing.is_none() {
        return;
    }
    let line_bps = given.line_bps.filter(|it| *it > bps).unwrap_or(bps);
    let aqm = aqm_of(line);
    let modem = || Hop::modem(line_bps, adds);
    let before = [Hop::shaper(line, bps, &aqm), modem()];
    let after = [Hop::new(bps, adds, &aqm), modem()];
    let rate = match line_bps == bps {
        true => "the shaper's rate".to_owned(),
        false => rate_in_words(line_bps),
    };
    let model = format!("a line of {rate} that adds {}; after: the shaper counts it", shown(adds));
    let remedy = match given.framing {
        Some(adds) => remedy(adds),
        None => "name the line with --medium; for ADSL write cake `overhead 44 atm`, else `stab \
                 overhead 30 linklayer atm`"
            .to_owned(),
    };
    findings.add(TcFinding {
        code: "no-overhead",
        severity: TcSeverity::Doubtful,
        line: shaper.line,
        title: match is_given {
            true => "the shaper counts less than the line adds to packets".to_owned(),
            false => "the shaper does not count what the line adds to packets".to_owned(),
        },
        reason: format!(
            "a packet of {} B takes {} % more of {} than the shaper counts, one of {} B {} \
             %, and its rate leaves {:.0} %{}: then the line is full first, and the queue is there",
            PACKETS_BYTES[0],
            percent(missing[0]),
            if given.framing.is_some() { "the line" } else { "ADSL" },
            PACKETS_BYTES[1],
            percent(missing[1]),
            100.0 * margin.max(0.0),
            if given.line_bps.is_some() { "" } else { " at 95 % of the line" },
        ),
        evidence: match is_given {
            true => {
                format!("{} at {}, which adds {}", shaper.kind, rate_in_words(bps), shown(counted))
            }
            false => format!("{} at {} without overhead", shaper.kind, rate_in_words(bps)),
        },
        remedy,
        trial: trial(&before, &after, findings.given, &model),
    });
}

/// The bytes added to a packet, in words.
fn shown(framing: Framing) -> String {
    let least = match framing.packing.mpu {
        0 => String::new(),
        mpu => format!(" and sends {mpu} B at least"),
    };
    let cells = match framing.packing.cells {
        Cells::None => "",
        Cells::Atm => " in cells of ATM",
        Cells::Ptm => " in PTM",
    };
    format!("{} B to a packet{least}{cells}", framing.overhead)
}

/// The words of tc for the bytes that the line adds. Size tables have no PTM.
fn remedy(framing: Framing) -> String {
    let Framing { overhead, packing } = framing;
    let mpu = if packing.mpu > 0 { format!(" mpu {}", packing.mpu) } else { String::new() };
    let (cake, stab, rest) = match packing.cells {
        Cells::None => ("", "ethernet", ""),
        Cells::Atm => (" atm", "atm", ""),
        Cells::Ptm => (" ptm", "ethernet", " and 64/65 of the rate"),
    };
    format!(
        "add the overhead of the line: cake `overhead {overhead}{mpu}{cake}`, else `stab overhead \
         {}{mpu} linklayer {stab}`{rest}",
        overhead - ETHERNET_BYTES
    )
}

/// Finds an overhead of cake that was meant to count from the frame, like that of stab.
fn below_the_packet(line: &ShapedLine, findings: &mut Findings<'_>) {
    let cake = line.queue.as_ref().filter(|it| it.kind == "cake" && it.count("raw") != Some(1));
    let Some((cake, bytes)) = cake.and_then(|it| Some((it.clone(), it.bytes("overhead")?))) else {
        return;
    };
    if bytes >= 0 {
        return;
    }
    findings.add(TcFinding {
        code: "overhead-below-packet",
        severity: TcSeverity::Wrong,
        line: cake.line,
        title: "cake counts packets as smaller than they are".to_owned(),
        reason: "its overhead counts from the IP packet, that of stab from the frame, which has \
                 14 B more"
            .to_owned(),
        evidence: described(&cake),
        remedy: format!("write `overhead {}`", bytes + ETHERNET_BYTES),
        trial: None,
    });
}

/// A share in per cent, with a decimal if it is below one.
fn percent(share: f64) -> String {
    let percent = 100.0 * share.max(0.0);
    if percent < 1.0 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}
