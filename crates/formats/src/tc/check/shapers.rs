//! Findings about rates: units, order, the line below, netem's delay line.

use super::super::classes::default_class;
use super::super::shaped::{ETHERNET_BYTES, ShapedLine, TcShaper};
use super::super::tree::{TcOption, TcQdisc, TcSource, minor};
use super::super::units::{rate_in_words, show_rate, time_in_words};
use super::trial::{Hop, trial};
use super::{Findings, TcFinding, TcSeverity};

const BITS: u64 = 8;
const PACKET_BYTES: u64 = 1500;
/// Share of the line's rate that a shaper uses so that it owns the queue.
const SHARE: f64 = 0.95;
const GOOD: &str = "fq_codel@linux";

pub(super) fn check(line: &ShapedLine, is_shaped: bool, findings: &mut Findings<'_>) {
    netem(line, findings);
    units(line, findings);
    in_a_row(line, findings);
    above_the_line(line, findings);
    nothing_shapes(line, is_shaped, findings);
    bursts(line, findings);
    htb(line, findings);
}

fn share_of(bps: u64) -> u64 {
    ((bps as f64 * SHARE) as u64 / 1000).max(1) * 1000
}

/// The AQM of a line, or a suitable one.
pub(super) fn aqm_of(line: &ShapedLine) -> String {
    let aqm = line.aqm.as_ref().map(|it| it.text.clone());
    aqm.filter(|it| !it.starts_with("cake") && !it.starts_with("taildrop"))
        .unwrap_or_else(|| GOOD.to_owned())
}

fn netem(line: &ShapedLine, findings: &mut Findings<'_>) {
    let Some(netem) = &line.netem else { return };
    // Linux 6.1 sch_netem.c, netem_init: 1000 packets.
    let limit = netem.count("limit").unwrap_or(1000);
    let delay = netem.nanos("delay").unwrap_or(0);
    if delay > 0 {
        let most = (limit * PACKET_BYTES * BITS) as f64 / (delay as f64 / 1e9);
        let bps = findings.bps(line);
        let is_short = bps.is_some_and(|bps| (bps as f64) > most);
        if is_short || bps.is_none() && netem.count("limit").is_none() {
            let needed = bps.map(|bps| {
                let bytes = bps as f64 / BITS as f64 * (delay as f64 / 1e9);
                (bytes / PACKET_BYTES as f64 * 2.0).ceil() as u64
            });
            findings.add(TcFinding {
                code: "netem-limit",
                severity: if is_short { TcSeverity::Wrong } else { TcSeverity::Doubtful },
                line: netem.line,
                title: format!("netem drops packets above {:.0} Mbit/s", most / 1e6),
                reason: format!(
                    "its limit of {limit} packets holds those that travel for {} too, so no more \
                     than {limit} x {PACKET_BYTES} B per {0} pass",
                    time_in_words(delay)
                ),
                evidence: described(netem),
                remedy: match needed {
                    Some(needed) => format!("give netem `limit {needed}`"),
                    None => "give netem a `limit` of twice the rate times the delay, in packets"
                        .to_owned(),
                },
                trial: None,
            });
        }
    }
    netem_with_queue(line, netem, limit, findings);
    let has_jitter = netem.nanos("jitter").is_some_and(|it| it > 0);
    if has_jitter && netem.rate("rate").is_none() {
        findings.add(TcFinding {
            code: "netem-reorders",
            severity: TcSeverity::Doubtful,
            line: netem.line,
            title: "netem's jitter reorders packets".to_owned(),
            reason: "without `rate` each packet leaves at its own time, also before an earlier one"
                .to_owned(),
            evidence: described(netem),
            remedy: "give netem a `rate` above that of the line, which keeps the order".to_owned(),
            trial: None,
        });
    }
}

/// Finds netem on the device of a shaper or an AQM.
fn netem_with_queue(line: &ShapedLine, netem: &TcQdisc, limit: u64, findings: &mut Findings<'_>) {
    let queue = line.queue.is_some().then_some(()).and(line.aqm.as_ref());
    if !line.shapers.is_empty() || queue.is_some() {
        let bps = findings.bps(line);
        let dumb = format!("taildrop:limit={limit}p");
        let model = "the queue that netem keeps as a tail drop of its limit; after: the AQM there";
        let trial = bps.and_then(|bps| {
            let hops = |queue: &str| [Hop::shaper(line, bps, queue)];
            trial(&hops(&dumb), &hops(&aqm_of(line)), findings.given, model)
        });
        findings.add(TcFinding {
            code: "netem-same-device",
            severity: TcSeverity::Wrong,
            line: netem.line,
            title: format!("netem shares {} with a shaper or an AQM", place(line)),
            reason: "packets wait in netem's own queue, which is a tail drop: the AQM sees that \
                     queue or none"
                .to_owned(),
            evidence: format!("{} on {}", line.chain.join(" > "), place(line)),
            remedy: "put netem on another device of the path, such as the peer's or an ifb".into(),
            trial,
        });
    }
}

fn place(line: &ShapedLine) -> &str {
    if line.device.is_empty() { "the device" } else { &line.device }
}

pub(super) fn described(qdisc: &TcQdisc) -> String {
    let options = qdisc.words();
    let options = if options.is_empty() { "without options" } else { &options };
    format!("{} {options}", qdisc.kind)
}

/// Finds `10mbps` where `10mbit` was meant.
fn units(line: &ShapedLine, findings: &mut Findings<'_>) {
    if findings.setup.source.is_state() {
        return;
    }
    let is_bytes = |option: &&TcOption| {
        let word = option.text.rsplit(' ').next().unwrap_or("").to_ascii_lowercase();
        word.ends_with("bps") && matches!(option.name, "rate" | "bandwidth" | "ceil")
    };
    let qdiscs = findings.setup.qdiscs.iter().filter(|it| it.device == line.device);
    let classes = findings.setup.classes.iter().filter(|it| it.device == line.device);
    let options = qdiscs.flat_map(|it| &it.options).chain(classes.flat_map(|it| &it.options));
    let Some(option) = options.clone().find(is_bytes).cloned() else { return };
    let Some(bps) = line.bps() else { return };
    let meant = (bps / BITS).max(BITS);
    let aqm = aqm_of(line);
    let model = format!(
        "a line of {} behind the shaper, with a queue of 1000 packets; after: the shaper at 95 % \
         of it",
        rate_in_words(meant)
    );
    let modem = || Hop::modem(meant, findings.framing(line));
    let before = [Hop::shaper(line, bps, &aqm), modem()];
    let after = [Hop::shaper(line, share_of(meant), &aqm), modem()];
    let trial = trial(&before, &after, findings.given, &model);
    findings.add(TcFinding {
        code: "bytes-per-second",
        severity: TcSeverity::Wrong,
        line: option.line,
        title: format!("the rate is {}, eight times what it looks like", rate_in_words(bps)),
        reason: "in tc `bps` counts bytes per second, `bit` bits".to_owned(),
        evidence: option.text.clone(),
        remedy: format!("write {}", option.text.to_ascii_lowercase().replace("bps", "bit")),
        trial,
    });
}

/// Finds two shapers in a row, one of which is idle.
fn in_a_row(line: &ShapedLine, findings: &mut Findings<'_>) {
    let [outer, .., inner] = line.shapers.as_slice() else { return };
    let shown = |it: &TcShaper| format!("{} at {}", it.kind, rate_in_words(it.bps));
    let queue = line.aqm.as_ref().map_or(GOOD.to_owned(), |it| it.text.clone());
    let model = "the outer shaper as a link with a queue of 1000 packets behind the inner one";
    let is_idle = outer.bps <= inner.bps;
    let before =
        [Hop::shaper(line, inner.bps, &queue), Hop::modem(outer.bps, findings.framing(line))];
    let after = [Hop::shaper(line, outer.bps, GOOD)];
    let trial = trial(&before, &after, findings.given, model).filter(|_| is_idle);
    findings.add(TcFinding {
        code: "two-shapers",
        severity: if is_idle { TcSeverity::Wrong } else { TcSeverity::Doubtful },
        line: inner.line,
        title: format!("two shapers in a row on {}", place(line)),
        reason: "only the slower one builds a queue; where that is the outer one, the AQM inside \
                 manages nothing, and otherwise packets are counted twice"
            .to_owned(),
        evidence: format!("{} above {}", shown(outer), shown(inner)),
        remedy: match inner.kind.as_str() {
            "cake" => "give cake `unlimited`, or make it the root and delete the other shaper",
            _ => "keep one of the two",
        }
        .to_owned(),
        trial,
    });
}

/// Finds a shaper that is not slower than the line.
fn above_the_line(line: &ShapedLine, findings: &mut Findings<'_>) {
    let (Some(bps), Some(line_bps)) = (line.bps(), findings.given.line_bps) else { return };
    if bps < line_bps {
        return;
    }
    let aqm = aqm_of(line);
    let model = "the line behind the shaper with a queue of 1000 packets; after: 95 % of it";
    let modem = || Hop::modem(line_bps, findings.framing(line));
    let before = [Hop::shaper(line, bps, &aqm), modem()];
    let after = [Hop::shaper(line, share_of(line_bps), &aqm), modem()];
    let trial = trial(&before, &after, findings.given, model);
    findings.add(TcFinding {
        code: "not-the-bottleneck",
        severity: TcSeverity::Wrong,
        line: line.shapers.first().map_or(1, |it| it.line),
        title: format!("the shaper on {} is not the bottleneck", place(line)),
        reason: "the queue builds where the rate is least, which is the line behind the shaper"
            .to_owned(),
        evidence: format!("{} on a line of {}", rate_in_words(bps), rate_in_words(line_bps)),
        remedy: format!("shape to {}, 95 % of the line", show_rate(share_of(line_bps))),
        trial,
    });
}

/// Finds an AQM on a device without a queue.
fn nothing_shapes(line: &ShapedLine, is_shaped: bool, findings: &mut Findings<'_>) {
    let Some(queue) = &line.queue else { return };
    if is_shaped || line.bps().is_some() {
        return;
    }
    let counters = queue.counters;
    let is_idle = counters.sent_packets.is_some_and(|it| it > 0)
        && counters.dropped.unwrap_or(0) == 0
        && counters.backlog_packets.unwrap_or(0) <= 1;
    // Without counters or a line, it is what a host has by default, where its own rate is the least
    // or BQL bounds the device's queue; fq is there to pace.
    let is_named = findings.given.line_bps.is_some();
    if !is_named && (!is_idle || queue.kind == "fq") {
        return;
    }
    let aqm = aqm_of(line);
    let model = "the line with a queue of 1000 packets; after: a shaper at 95 % of it";
    let trial = findings.given.line_bps.and_then(|bps| {
        let framing = findings.framing(line);
        let modem = || Hop::modem(bps, framing);
        let after = [Hop::new(share_of(bps), framing, &aqm), modem()];
        trial(&[modem()], &after, findings.given, model)
    });
    let share =
        findings.given.line_bps.map_or("95 % of the line".into(), |bps| show_rate(share_of(bps)));
    findings.add(TcFinding {
        code: "no-queue-here",
        severity: TcSeverity::Doubtful,
        line: queue.line,
        title: format!("nothing limits the rate of {}", place(line)),
        reason: "an AQM acts on a queue, which builds only where the rate is least on the path; \
                 without a shaper that is the device itself, or a modem behind it"
            .to_owned(),
        evidence: match is_idle {
            true => format!("{}: no drop and no backlog", queue.called()),
            false => format!("{} without a shaper above it", queue.called()),
        },
        remedy: format!("if the slowest link is behind {}, shape to {share}", place(line)),
        trial,
    });
}

/// Finds a token bucket smaller than a packet.
fn bursts(line: &ShapedLine, findings: &mut Findings<'_>) {
    let tbf = findings.setup.qdiscs.iter().find(|it| it.device == line.device && it.kind == "tbf");
    let Some((tbf, burst)) = tbf.and_then(|it| Some((it.clone(), it.bytes("burst")?))) else {
        return;
    };
    let packet = PACKET_BYTES as i64 + ETHERNET_BYTES;
    if burst < packet {
        findings.add(TcFinding {
            code: "burst-below-packet",
            severity: TcSeverity::Wrong,
            line: tbf.line,
            title: "tbf drops every full packet".to_owned(),
            reason: format!("a packet of {packet} B never fits in a bucket of {burst} B"),
            evidence: described(&tbf),
            remedy: format!("give tbf a `burst` of at least {packet}, better 5kb"),
            trial: None,
        });
        return;
    }
    late_timer(&tbf, burst as u64, packet as u64, findings);
}

/// Finds a bucket that overflows, and so loses rate, when the kernel's timer is late. With
/// high-resolution timers that is by tens of microseconds, not by a tick as tc-tbf(8) has it.
fn late_timer(tbf: &TcQdisc, burst: u64, packet: u64, findings: &mut Findings<'_>) {
    const LATE_US: f64 = 50.0;
    const MOST_LOST: f64 = 0.05;
    let Some(rate) = tbf.rate("rate").filter(|it| *it > 0) else { return };
    let late = rate as f64 / BITS as f64 * LATE_US / 1e6;
    // At each call the bucket pays for whole packets; it fills up until the next call.
    let sent = burst / packet * packet;
    let missed = packet - (burst - sent);
    let lost = 1.0 - sent as f64 / (missed as f64 + late);
    if lost <= MOST_LOST {
        return;
    }
    let needed = 2 * packet + late.ceil() as u64;
    findings.add(TcFinding {
        code: "burst-below-tick",
        severity: TcSeverity::Doubtful,
        line: tbf.line,
        title: "tbf may stay below its rate".to_owned(),
        reason: format!(
            "the bucket pays for {} full packets at a time and is full before the next call if \
             the kernel's timer is {LATE_US} us late, which costs {:.0} % of the rate",
            burst / packet,
            100.0 * lost
        ),
        evidence: described(tbf),
        remedy: format!("give tbf `burst {needed}` or more"),
        trial: None,
    });
}

/// Finds traffic that htb sends unshaped.
fn htb(line: &ShapedLine, findings: &mut Findings<'_>) {
    let setup = findings.setup;
    let Some(htb) = setup.root(&line.device).filter(|it| it.kind == "htb") else { return };
    let asked = htb.count("default").unwrap_or(0);
    let named = default_class(setup, htb);
    let is_found = named.is_some_and(|it| minor(&it.id) == Some(asked));
    if asked > 0 && is_found {
        return;
    }
    let has_classes = setup.classes_of(htb).next().is_some();
    if setup.source != TcSource::Commands && !has_classes && asked > 0 {
        return; // `tc qdisc show` alone does not show classes
    }
    let decimal = format!("{asked:x}").parse::<u64>().ok();
    let has = |number: Option<u64>| {
        setup.classes_of(htb).find(|it| number.is_some() && minor(&it.id) == number)
    };
    let is_inner = has(Some(asked)).is_some();
    let meant = has(decimal).filter(|_| !is_inner);
    findings.add(TcFinding {
        code: "htb-default",
        severity: TcSeverity::Wrong,
        line: htb.line,
        title: "traffic that no filter names is not shaped".to_owned(),
        reason: match asked {
            0 => "htb's default is 0, which sends such packets directly".to_owned(),
            _ if is_inner => format!(
                "htb's default names class {asked:x}, which has classes below it; only a leaf \
                 takes packets"
            ),
            _ => format!(
                "htb's default names class {asked:x}, which does not exist; it is hexadecimal"
            ),
        },
        evidence: described(htb),
        remedy: match meant {
            Some(class) => format!(
                "write `default {}` for class {}",
                class.id.split(':').nth(1).unwrap_or(""),
                class.id
            ),
            None => "write `default` with the number of the class for the rest, such as 10".into(),
        },
        trial: None,
    });
}
