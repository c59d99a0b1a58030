//! Findings about a gateway: its two directions, the ifb, NAT, and the turns of classes.

use super::super::shaped::ShapedLine;
use super::super::tree::{TcClass, TcSource, TcValue};
use super::super::units::rate_in_words;
use super::shapers::described;
use super::{Findings, TcFinding, TcSeverity};

/// Findings about all devices together.
pub(super) fn check(lines: &[ShapedLine], findings: &mut Findings<'_>) {
    lines.iter().for_each(|line| of_sqm_on_lan(line, findings));
    lines.iter().for_each(|line| without_redirection(line, findings));
    lines.iter().for_each(|line| exchanged(line, lines, findings));
    lines.iter().for_each(|line| without_nat(line, findings));
    lines.iter().for_each(|line| quanta(line, findings));
}

fn finding(code: &'static str, line: usize) -> TcFinding {
    TcFinding {
        code,
        severity: TcSeverity::Doubtful,
        line,
        title: String::new(),
        reason: String::new(),
        evidence: String::new(),
        remedy: String::new(),
        trial: None,
    }
}

fn first_line(line: &ShapedLine) -> usize {
    let queue = line.queue.as_ref().map_or(1, |it| it.line);
    line.shapers.first().map_or(queue, |it| it.line)
}

/// OpenWrt's SQM on the bridge of the LAN, whose departures are downloads.
fn of_sqm_on_lan(line: &ShapedLine, findings: &mut Findings<'_>) {
    let is_lan = ["br-lan", "lan"].iter().any(|it| line.device.starts_with(it));
    if findings.setup.source != TcSource::Uci || !is_lan {
        return;
    }
    findings.add(TcFinding {
        title: format!("{} belongs to the LAN", line.device),
        reason: "sqm-scripts shapes departures to `upload`, and departures to the LAN are \
                 downloads; traffic between the LAN and the router is shaped too"
            .to_owned(),
        evidence: format!("interface {}", line.device),
        remedy: "name the WAN's interface, or exchange `download` and `upload`".to_owned(),
        ..finding("sqm-on-lan", first_line(line))
    });
}

/// An ifb to which no command redirects arrivals.
fn without_redirection(line: &ShapedLine, findings: &mut Findings<'_>) {
    let is_command = findings.setup.source == TcSource::Commands;
    if !is_command || !line.device.starts_with("ifb") || line.arrives_on.is_some() {
        return;
    }
    findings.add(TcFinding {
        title: format!("nothing is sent to {}", line.device),
        reason: "an ifb has only the packets that a filter redirects to it, and no command here \
                 does"
            .to_owned(),
        evidence: format!("{} on {}", line.chain.join(" > "), line.device),
        remedy: format!(
            "add `tc qdisc add dev WAN handle ffff: ingress` and `tc filter add dev WAN parent \
             ffff: matchall action mirred egress redirect dev {}`",
            line.device
        ),
        ..finding("ifb-unused", first_line(line))
    });
}

/// Arrivals of a device that are shaped to much less than its departures.
fn exchanged(line: &ShapedLine, all: &[ShapedLine], findings: &mut Findings<'_>) {
    let Some(device) = &line.arrives_on else { return };
    let departures = all.iter().find(|it| it.device == *device).and_then(ShapedLine::bps);
    let (Some(arrivals), Some(departures)) = (line.bps(), departures) else { return };
    if arrivals * 2 > departures {
        return;
    }
    findings.add(TcFinding {
        title: format!("downloads through {device} get less than uploads"),
        reason: format!(
            "{} has the arrivals of {device}, which on a WAN are the downloads",
            line.device
        ),
        evidence: format!(
            "{} on {}, {} on {device}",
            rate_in_words(arrivals),
            line.device,
            rate_in_words(departures)
        ),
        remedy: format!("exchange the two rates, unless {device} belongs to the LAN"),
        ..finding("directions-exchanged", first_line(line))
    });
}

/// Cake that shares by host, on a device behind which NAT has replaced the hosts.
fn without_nat(line: &ShapedLine, findings: &mut Findings<'_>) {
    let Some(cake) = line.queue.as_ref().filter(|it| it.kind == "cake") else { return };
    let last = |name: &str| match cake.option(name).map(|it| &it.value) {
        Some(TcValue::Text(word)) => Some(word.as_str()),
        _ => None,
    };
    let by_host = ["srchost", "dsthost", "hosts", "dual-srchost", "dual-dsthost"];
    let Some(isolation) = last("isolation").filter(|it| by_host.contains(it)) else { return };
    if last("nat") == Some("nat") || line.device.contains("lan") {
        return;
    }
    findings.add(TcFinding {
        title: "cake may see one host for the whole household".to_owned(),
        reason: format!(
            "`{isolation}` shares by address; where this gateway translates addresses, those \
             outside are all its own"
        ),
        evidence: described(cake),
        remedy: "add `nat` if this device does NAT".to_owned(),
        ..finding("cake-without-nat", cake.line)
    });
}

/// Leaves of htb whose turns the kernel changes, so that they do not share as their rates do.
fn quanta(line: &ShapedLine, findings: &mut Findings<'_>) {
    // Linux 6.1 sch_htb.c, htb_change_class.
    const ALLOWED: std::ops::RangeInclusive<u64> = 1_000..=200_000;
    let setup = findings.setup;
    let Some(htb) = setup.root(&line.device).filter(|it| it.kind == "htb") else { return };
    let r2q = htb.count("r2q").filter(|it| *it > 0).unwrap_or(10);
    let of_rate = |it: &TcClass| it.rate("rate").map(|bps| bps / 8 / r2q);
    let is_open = |it: &&TcClass| {
        let given = it.options.iter().any(|option| option.name == "quantum");
        !given && of_rate(it).is_some_and(|bytes| !ALLOWED.contains(&bytes))
    };
    let leaves: Vec<&TcClass> = setup.leaves_of(htb).collect();
    let Some(class) = leaves.iter().copied().find(is_open) else { return };
    let (Some(bytes), true) = (of_rate(class), leaves.len() > 1) else { return };
    let taken = bytes.clamp(*ALLOWED.start(), *ALLOWED.end());
    findings.add(TcFinding {
        title: format!("class {} borrows in turns of {taken} B", class.id),
        reason: format!(
            "rate / r2q is {bytes} B, and the kernel takes {} to {} B (`quantum of class is {}`): \
             what is left over is not shared as the rates are",
            ALLOWED.start(),
            ALLOWED.end(),
            if bytes > taken { "big" } else { "small" }
        ),
        evidence: format!("r2q {r2q}"),
        remedy: format!("give `quantum` to the classes, such as `quantum {}`", taken.max(1514)),
        ..finding("htb-quantum", class.line)
    });
}
