//! Findings about the bytes that the line adds to packets, and whether the shaper counts them.

use sojourn_aqm::{Cells, Framing, Packing};

use super::super::shaped::{ETHERNET_BYTES, ShapedLine, has_details};
use super::super::units::rate_in_words;
use super::shapers::{aqm_of, described};
use super::trial::{Hop, trial};
use super::{Findings, TcFinding, TcSeverity};

/// An Ethernet frame with a VLAN tag, preamble and gap.
const USUAL: Framing = Framing { overhead: 44, packing: Packing::NONE };
/// A full packet, and an acknowledgement.
const PACKETS_BYTES: [u32; 2] = [1500, 40];

pub(super) fn check(line: &ShapedLine, findings: &mut Findings<'_>) {
    overhead(line, findings);
    below_the_packet(line, findings);
}

/// Faster lines are seldom DSL. Those of Ethernet and DOCSIS add less than the usual margin below
/// the line's rate to full packets: 38 B and 18 B to 1500 B.
const FASTEST_DSL_BPS: u64 = 50_000_000;

/// Finds a shaper that counts fewer bytes than the line adds.
fn overhead(line: &ShapedLine, findings: &mut Findings<'_>) {
    let Some(shaper) = line.shapers.first() else { return };
    let is_given = line.overhead.is_some() || line.shaper_overhead.is_some();
    let is_hidden = findings.setup.source.is_state()
        && shaper.kind != "cake"
        && !is_given
        && !has_details(findings.setup, &line.device);
    let (counted, given) = (line.counted(), findings.given);
    let adds = given.framing.unwrap_or(USUAL);
    let is_less = PACKETS_BYTES.iter().any(|it| counted.bytes(*it) < adds.bytes(*it));
    let bps = shaper.bps;
    let is_unlikely = is_given || bps > FASTEST_DSL_BPS;
    if is_hidden || !is_less || is_unlikely && given.framing.is_none() {
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
        None => "add the overhead of the line: cake `overhead 44` (or a keyword such as docsis), \
                 else `stab overhead 30 linklayer ethernet`"
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
        reason: match adds.packing.cells {
            Cells::None => {
                "with small packets the line is full before the shaper is, and the queue moves \
                 there"
            }
            _ => "the line is full before the shaper is, and the queue moves there",
        }
        .to_owned(),
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
