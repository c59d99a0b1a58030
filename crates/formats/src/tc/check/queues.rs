//! Findings about the discipline that holds the queue.

use super::super::shaped::ShapedLine;
use super::super::tree::{TcOption, TcQdisc, TcValue};
use super::super::units::{rate_in_words, time_in_words};
use super::trial::{Hop, trial, with_ecn};
use super::{Findings, TcFinding, TcSeverity};

const NANOS_PER_S: u64 = 1_000_000_000;
const PACKET_BYTES: u32 = 1500;

pub(super) fn check(line: &ShapedLine, findings: &mut Findings<'_>) {
    below_cake(line, findings);
    unlike_queues(line, findings);
    let Some(queue) = &line.queue else { return };
    no_aqm(line, queue, findings);
    target(line, queue, findings);
    ecn(line, queue, findings);
    red(queue, findings);
    sfq(line, queue, findings);
    cake_rtt(line, queue, findings);
    super_packets(queue, findings);
    wireless(line, queue, findings);
}

/// A finding about a queue, to be completed by the caller.
fn finding(code: &'static str, severity: TcSeverity, queue: &TcQdisc) -> TcFinding {
    let text = || String::new();
    TcFinding {
        code,
        severity,
        line: queue.line,
        title: text(),
        reason: text(),
        evidence: format!("{} {}", queue.kind, queue.words()).trim_end().to_owned(),
        remedy: text(),
        trial: None,
    }
}

/// The text of the AQM with settings replaced.
fn with(aqm: &str, changed: &[(&str, String)]) -> String {
    let (head, settings) = aqm.split_once(':').unwrap_or((aqm, ""));
    let is_kept = |it: &&str| {
        let name = it.split('=').next().unwrap_or("");
        !it.is_empty() && changed.iter().all(|(other, _)| *other != name)
    };
    let kept = settings.split(',').filter(is_kept).map(str::to_owned);
    let all: Vec<String> =
        kept.chain(changed.iter().map(|(name, value)| format!("{name}={value}"))).collect();
    format!("{head}:{}", all.join(","))
}

/// A trial of the same line with another AQM.
fn changed(
    line: &ShapedLine,
    after: &str,
    findings: &Findings<'_>,
    model: &str,
) -> Option<super::TcTrial> {
    let (bps, before) = (findings.bps(line)?, &line.aqm.as_ref()?.text);
    let hops = |queue: &str| [Hop::shaper(line, bps, queue)];
    trial(&hops(before), &hops(after), findings.given, model)
}

/// A discipline below cake, which has no classes for it.
fn below_cake(line: &ShapedLine, findings: &mut Findings<'_>) {
    let setup = findings.setup;
    let is_here = |it: &&TcQdisc| it.device == line.device && it.kind == "cake";
    let Some(cake) = setup.qdiscs.iter().find(is_here) else { return };
    let Some(child) = setup.children(cake).next() else { return };
    findings.add(TcFinding {
        title: format!("{} cannot hang below cake", child.kind),
        reason: "cake is a shaper and an AQM in one and takes no other discipline".to_owned(),
        remedy: format!("delete the line of {}; cake alone is enough", child.kind),
        ..finding("below-cake", TcSeverity::Wrong, child)
    });
}

/// Transmit queues with different disciplines.
fn unlike_queues(line: &ShapedLine, findings: &mut Findings<'_>) {
    let setup = findings.setup;
    let Some(root) = setup.root(&line.device).filter(|it| it.kind == "mq") else { return };
    let mut all = setup.children(root);
    let Some(first) = all.next() else { return };
    let is_unlike = |it: &&TcQdisc| it.kind != first.kind || it.words() != first.words();
    let Some(other) = all.find(is_unlike) else { return };
    findings.add(TcFinding {
        title: format!("the transmit queues of {} differ", line.device),
        reason: format!(
            "chance decides whether a flow gets this one or that of line {}",
            first.line
        ),
        remedy: "give all queues of mq the same discipline".to_owned(),
        ..finding("unlike-queues", TcSeverity::Doubtful, other)
    });
}

/// A queue without an AQM.
fn no_aqm(line: &ShapedLine, queue: &TcQdisc, findings: &mut Findings<'_>) {
    const WITHOUT_AQM: [&str; 5] =
        ["pfifo", "bfifo", "pfifo_fast", "pfifo_head_drop", "dummynet droptail"];
    if !WITHOUT_AQM.contains(&queue.kind.as_str()) {
        return;
    }
    let is_dummynet = queue.kind.starts_with("dummynet");
    let is_mq = line.chain.iter().any(|it| it == "mq");
    findings.add(TcFinding {
        title: format!("{} manages no queue", queue.called()),
        reason: match is_mq {
            true => "net.core.default_qdisc applies to queues that are made after it was set, so \
                     those of mq still have the old discipline"
                .to_owned(),
            false => "it drops only when it is full, after the delay has grown to its limit".into(),
        },
        remedy: match is_mq {
            true => format!(
                "replace the root after setting it: tc qdisc replace dev {} root mq",
                line.device
            ),
            false if is_dummynet => "give the pipe a scheduler with `type fq_codel`".to_owned(),
            false => "write fq_codel or cake in its place".to_owned(),
        },
        trial: {
            let other = if is_dummynet { "fq_codel@freebsd" } else { "fq_codel@linux" };
            changed(line, other, findings, "the same line under fq_codel")
        },
        ..finding("no-aqm", TcSeverity::Doubtful, queue)
    });
}

/// A target below the transmission time of one packet.
fn target(line: &ShapedLine, queue: &TcQdisc, findings: &mut Findings<'_>) {
    // Linux 6.1 sch_codel.c and sch_pie.c: 5 ms and 15 ms.
    let usual = match queue.kind.as_str() {
        "codel" | "fq_codel" => 5_000_000,
        "pie" | "fq_pie" => 15_000_000,
        _ => return,
    };
    let target = queue.nanos("target").unwrap_or(usual);
    let interval = queue.nanos("interval").unwrap_or(100_000_000);
    if usual == 5_000_000 && target >= interval {
        findings.add(TcFinding {
            title: "the target is not below the interval".to_owned(),
            reason: "RFC 8289 §4.4 has the target at 5 to 10 % of the interval, which is a round \
                     trip"
                .to_owned(),
            remedy: "write `target 5ms interval 100ms`".to_owned(),
            ..finding("target-above-interval", TcSeverity::Wrong, queue)
        });
    }
    let Some(bps) = findings.bps(line) else { return };
    let frame = u64::from(PACKET_BYTES) + line.header_bytes().unsigned_abs();
    let bytes = line.counted().bytes(PACKET_BYTES);
    let packet = bytes.saturating_mul(8 * NANOS_PER_S) / bps;
    // SQM's automatic target is this time in whole microseconds, of which tc prints three digits
    // (sqm-scripts functions.sh; iproute2 6.1 lib/utils.c, sprint_time).
    if target.saturating_add(target / 200) >= packet {
        return;
    }
    // One and a half packets, as in cake (Linux 6.1 sch_cake.c, cake_set_rate).
    let micros = (packet.saturating_mul(3) / 2).div_ceil(1000);
    let right = format!("{micros}us");
    let mut settings = vec![("target", right.clone())];
    let mut remedy = format!("write `target {right}`");
    if usual == 5_000_000 {
        let longer = (interval.saturating_add(micros.saturating_mul(1000)) - target) / 1000;
        settings.push(("interval", format!("{longer}us")));
        remedy = format!("{remedy} and `interval {longer}us`");
    }
    let after = line.aqm.as_ref().map(|it| with(&it.text, &settings));
    let model = "the same line with the target of a packet and a half";
    findings.add(TcFinding {
        title: format!("the target of {} is below the time of one packet", queue.kind),
        reason: format!(
            "at {} a frame of {frame} B{} takes {}, so every packet that waits behind \
             another is above the target",
            rate_in_words(bps),
            match bytes == frame {
                true => String::new(),
                false => format!(", {bytes} B on the line,"),
            },
            time_in_words(packet)
        ),
        remedy,
        trial: after.and_then(|after| changed(line, &after, findings, model)),
        ..finding("target-below-packet", TcSeverity::Wrong, queue)
    });
}

/// Checks marks for flows that negotiate ECN.
fn ecn(line: &ShapedLine, queue: &TcQdisc, findings: &mut Findings<'_>) {
    let source = findings.setup.source;
    let is_off = match queue.kind.as_str() {
        "fq_codel" => {
            queue.option("noecn").is_some() || source.is_state() && queue.option("ecn").is_none()
        }
        "codel" | "pie" | "fq_pie" | "red" => queue.option("ecn").is_none(),
        _ => false,
    };
    if !is_off {
        return;
    }
    let model = "flows that negotiate ECN; after: the AQM marks them";
    let trial = findings.bps(line).zip(line.aqm.as_ref()).and_then(|(bps, aqm)| {
        let after = with(&aqm.text, &[("ecn", "true".to_owned())]);
        let hops = |queue: &str| [Hop::shaper(line, bps, queue)];
        with_ecn(&hops(&aqm.text), &hops(&after), findings.given, model, true)
    });
    findings.add(TcFinding {
        title: format!("{} drops packets that it could mark", queue.kind),
        // Linux 6.1 codel_impl.h, codel_params_init; pie.h, pie_params_init, also of fq_pie;
        // sch_red.c and sch_choke.c, which read a flag.
        reason: match queue.kind.as_str() {
            "fq_codel" => "ECN is off, though the kernel's default of fq_codel is on",
            _ => "ECN is off, the kernel's default of codel, pie, fq_pie, red and choke",
        }
        .to_owned(),
        remedy: "add `ecn`, unless a device behind it is known to drop marked packets".to_owned(),
        trial,
        ..finding("ecn-off", TcSeverity::Doubtful, queue)
    });
}

fn red(queue: &TcQdisc, findings: &mut Findings<'_>) {
    if !matches!(queue.kind.as_str(), "red" | "choke") {
        return;
    }
    let number = |name: &str| match queue.kind.as_str() {
        "red" => queue.bytes(name),
        _ => queue.count(name).and_then(|it| i64::try_from(it).ok()),
    };
    if let (Some(limit), Some(max)) = (number("limit"), number("max"))
        && limit < max
    {
        findings.add(TcFinding {
            title: "RED never reaches its upper threshold".to_owned(),
            reason: format!("the queue is full at {limit}, below `max` of {max}"),
            remedy: format!("write `limit {}`, four times `max`", max.saturating_mul(4)),
            ..finding("red-limit", TcSeverity::Wrong, queue)
        });
    }
    let prob = queue.option("probability").map(|it| it.text.clone());
    if prob.is_some_and(|it| it.split(' ').nth(1).and_then(|p| p.parse().ok()) == Some(1.0)) {
        findings.add(TcFinding {
            title: "a probability of 1 overflows".to_owned(),
            reason: "tc multiplies it by 2^32, which is 0 in 32 bits".to_owned(),
            remedy: "write `probability 0.99`, or a tail drop of `max` bytes".to_owned(),
            ..finding("red-probability", TcSeverity::Wrong, queue)
        });
    }
}

fn sfq(line: &ShapedLine, queue: &TcQdisc, findings: &mut Findings<'_>) {
    let perturbs = queue.nanos("perturb").is_some_and(|it| it > 0);
    if queue.kind != "sfq" || perturbs {
        return;
    }
    let after = line.aqm.as_ref().map(|it| with(&it.text, &[("perturb", "10s".to_owned())]));
    let model = "the same line with `perturb 10`";
    findings.add(TcFinding {
        title: "flows that share a queue of sfq share it for ever".to_owned(),
        reason: "the kernel's `perturb` is 0, so that the hash never changes".to_owned(),
        remedy: "add `perturb 10`, or use fq_codel".to_owned(),
        trial: after.and_then(|after| changed(line, &after, findings, model)),
        ..finding("sfq-perturb", TcSeverity::Doubtful, queue)
    });
}

/// An `rtt` of cake far below that of the paths.
fn cake_rtt(line: &ShapedLine, queue: &TcQdisc, findings: &mut Findings<'_>) {
    let rtt = queue.nanos("rtt").filter(|_| queue.kind == "cake");
    let paths = findings.given.rtt_ns;
    let Some(rtt) = rtt.filter(|rtt| *rtt < paths) else { return };
    let settings = [("interval", "100ms".to_owned()), ("target", "5ms".to_owned())];
    let after = line.aqm.as_ref().map(|it| with(&it.text, &settings));
    let model = "the same line with cake's `rtt 100ms`";
    findings.add(TcFinding {
        title: format!("cake expects paths of {}", time_in_words(rtt)),
        reason: format!(
            "`rtt` is the longest round trip to expect, here {}: with less, cake drops before \
             senders have answered",
            time_in_words(paths)
        ),
        remedy: "leave `rtt` out (100ms), unless all servers are near".to_owned(),
        trial: after.and_then(|after| changed(line, &after, findings, model)),
        ..finding("cake-rtt", TcSeverity::Doubtful, queue)
    });
}

/// Finds a bare number that counts microseconds where milliseconds were probably meant.
pub(super) fn bare_time(queue: &TcQdisc, findings: &mut Findings<'_>) {
    const LIKELY_MILLIS: u64 = 1000;
    const TIMES: [&str; 8] =
        ["rtt", "target", "interval", "tupdate", "ce_threshold", "lat", "max_rtt", "typical_rtt"];
    let is_time =
        |it: &&TcOption| TIMES.contains(&it.name) && matches!(it.value, TcValue::Nanos(_));
    for option in queue.options.iter().filter(is_time) {
        let (name, value) = option.text.split_once(' ').unwrap_or((&option.text, ""));
        // cake's `rtt` also sets a target, with the same text.
        let is_derived = option.name == "target" && name == "rtt";
        let number = value.trim().parse::<u64>().ok().filter(|_| !is_derived);
        let Some(micros) = number.filter(|it| (1..LIKELY_MILLIS).contains(it)) else { continue };
        findings.add(TcFinding {
            line: option.line,
            title: format!("`{name} {micros}` is {micros} us"),
            reason: "tc counts a time without a unit in microseconds".to_owned(),
            remedy: format!("write `{name} {micros}ms`, or `{name} {micros}us` if that is meant"),
            ..finding("time-without-unit", TcSeverity::Doubtful, queue)
        });
    }
}

/// Finds packets that offloads have merged.
fn super_packets(queue: &TcQdisc, findings: &mut Findings<'_>) {
    // A frame with two VLAN tags.
    const LARGEST: u64 = 1522;
    let Some(largest) = queue.counters.largest.filter(|it| *it > LARGEST) else { return };
    findings.add(TcFinding {
        title: "packets reach the queue merged into larger ones".to_owned(),
        reason: "offloads (GSO, GRO) pass up to 64 kB as one packet, which the AQM judges and the \
                 shaper sends as a whole"
            .to_owned(),
        evidence: format!("{}: the largest had {largest} B", queue.called()),
        remedy: match queue.kind.as_str() {
            "cake" => "give cake `split-gso`".to_owned(),
            _ => format!("ethtool -K {} gso off tso off gro off", queue.device),
        },
        ..finding("super-packets", TcSeverity::Doubtful, queue)
    });
}

/// An AQM above the queues of a wireless device.
fn wireless(line: &ShapedLine, queue: &TcQdisc, findings: &mut Findings<'_>) {
    let is_wireless =
        ["wlan", "wlp", "wlx", "phy", "ath", "ra0"].iter().any(|it| line.device.starts_with(it));
    if !is_wireless || line.bps().is_some() {
        return;
    }
    findings.add(TcFinding {
        title: format!("{} has queues below this one", line.device),
        reason: "the queue of a wireless device is in the driver or in mac80211, which has \
                 its own FQ-CoDel; a queue above it stays empty"
            .to_owned(),
        remedy: "leave the root at noqueue, which devices of mac80211 have".to_owned(),
        ..finding("wireless", TcSeverity::Doubtful, queue)
    });
}
