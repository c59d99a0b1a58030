//! Warnings about legal scenarios that are probably mistakes.

use sojourn_aqm::{Limit, QdiscSpec, Span, registry, units};

use crate::resolved::{App, FlowGroup, Link, Resolved};

/// One sentence for each warning.
pub(super) fn all(resolved: &Resolved) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut is_used = vec![false; resolved.links.len()];
    for &link in resolved.flows.iter().flat_map(|flow| flow.path.iter().chain(&flow.reverse)) {
        is_used[link] = true;
    }
    for (link, is_used) in resolved.links.iter().zip(is_used) {
        if !is_used {
            warnings.push(format!("links.{}: no flow uses this link", link.name));
        }
        warnings.extend(target_beyond_buffer(link));
        warnings.extend(buffer_below_packet(link));
        warnings.extend(threshold_below_packet(link));
        warnings.extend(forgotten_sojourn_threshold(link));
    }
    for (index, link) in resolved.links.iter().enumerate() {
        warnings.extend(interval_below_rtt(index, link, &resolved.flows));
    }
    for (index, wlan) in resolved.wlans.iter().enumerate() {
        let is_on_it = |link: &Link| link.capacity.wireless_lan() == Some(index);
        if !resolved.links.iter().any(is_on_it) {
            warnings.push(format!("wlans.{}: no link is a transmitter of it", wlan.name));
        }
    }
    for (index, flow) in resolved.flows.iter().enumerate() {
        if flow.start.1 >= resolved.duration {
            warnings.push(format!(
                "flows[{index}].start: flows of `{}` may start at {}, when the run of {} is over",
                flow.name, flow.start.1, resolved.duration
            ));
        }
    }
    warnings.extend(
        resolved
            .flows
            .iter()
            .enumerate()
            .filter_map(|(index, flow)| cut_replay(index, flow, resolved.duration)),
    );
    warnings
}

/// A replay that is longer than the run.
fn cut_replay(index: usize, flow: &FlowGroup, duration: Span) -> Option<String> {
    let App::Replay { recording, .. } = &flow.app else { return None };
    let all = recording.amounts.len();
    let late = recording.amounts.iter().filter(|(at, _)| flow.start.0 + *at >= duration).count();
    (late > 0).then(|| {
        format!(
            "flows[{index}].app.file: {late} of the {all} packets of {} are due after the run of \
             {duration}; lengthen the duration",
            recording.file
        )
    })
}

/// A parameter of the queue that is a time, the default filled in.
fn span_of(queue: &QdiscSpec, name: &str) -> Option<Span> {
    let settings = registry::settings(queue).ok()?;
    let (_, text) = settings.into_iter().find(|(known, _)| *known == name)?;
    units::span(&text).ok()
}

/// A queue that is full before its delay reaches the target drops by overflow only.
fn target_beyond_buffer(link: &Link) -> Option<String> {
    let target = span_of(&link.queue, "target")?;
    let drain = drain_time(link);
    (target > drain).then(|| {
        format!(
            "links.{}.queue.target: {target} is longer than the full buffer of {} takes to drain \
             ({drain}), so the AQM will hardly act; lower the target or raise the buffer",
            link.name, link.limit
        )
    })
}

fn buffer_below_packet(link: &Link) -> Option<String> {
    let Limit::Bytes(bytes) = link.limit else { return None };
    (bytes < u64::from(link.mtu_bytes)).then(|| {
        format!(
            "links.{}: a buffer of {} has no room for a packet of {} bytes; raise the buffer",
            link.name, link.limit, link.mtu_bytes
        )
    })
}

/// A queue delay that a single packet exceeds while it is sent: the law then acts on every packet
/// that finds another one, whatever the value. A CAKE that shapes raises its target to 1.5 packets
/// (Linux sch_cake.c, `cake_set_rate`), and DualPI2 spares the last packets by `l_min_len`.
fn threshold_below_packet(link: &Link) -> Option<String> {
    const THRESHOLDS: [&str; 4] = ["target", "sojourn_threshold", "ce_threshold", "l_min_th"];
    let is_set = |name: &str| link.queue.settings.iter().any(|(set, _)| set == name);
    if link.queue.law == "cake" && is_set("bandwidth") {
        return None;
    }
    let packet = link.capacity.initial_rate().time_for(u64::from(link.mtu_bytes));
    let spares_packets = spared_packets(&link.queue) > 0;
    THRESHOLDS.iter().find_map(|&name| {
        let threshold = span_of(&link.queue, name)?;
        let acts = threshold < packet && !(name == "l_min_th" && spares_packets);
        acts.then(|| {
            format!(
                "links.{}.queue.{name}: {threshold} is shorter than a packet of {} bytes takes to \
                 send ({packet}), so the AQM acts on any packet that waits; raise it to {} or more",
                link.name,
                link.mtu_bytes,
                packet + packet.half(),
            )
        })
    })
}

/// How many packets the low-latency queue of DualPI2 never marks by its step.
fn spared_packets(queue: &QdiscSpec) -> u64 {
    let settings = registry::settings(queue).unwrap_or_default();
    let found = settings.iter().find(|(name, _)| *name == "l_min_len");
    found.and_then(|(_, text)| text.parse().ok()).unwrap_or(0)
}

/// The step marks by sojourn time unless that is turned off, also where only a backlog is set.
fn forgotten_sojourn_threshold(link: &Link) -> Option<String> {
    let is_set = |name: &str| link.queue.settings.iter().any(|(set, _)| set == name);
    if link.queue.law != "step" || !is_set("backlog_threshold") || is_set("sojourn_threshold") {
        return None;
    }
    let kept = span_of(&link.queue, "sojourn_threshold")?;
    Some(format!(
        "links.{0}.queue.backlog_threshold: sojourn_threshold, {kept} by default, marks too; write \
         sojourn_threshold = \"off\" for marks by backlog alone",
        link.name
    ))
}

/// CoDel's interval is a worst-case round trip: a shorter one signals again before senders can have
/// reacted (RFC 8289 §4.3).
fn interval_below_rtt(index: usize, link: &Link, flows: &[FlowGroup]) -> Option<String> {
    if !["codel", "cobalt", "cake"].contains(&link.queue.law.as_str()) {
        return None;
    }
    let interval = span_of(&link.queue, "interval")?;
    let is_slow = |flow: &&FlowGroup| {
        flow.path.contains(&index) && flow.app.tcp().is_some() && flow.rtt > interval
    };
    let slowest = flows.iter().filter(is_slow).max_by_key(|flow| flow.rtt)?;
    Some(format!(
        "links.{}.queue.interval: {interval} is shorter than the base RTT of flows `{}` ({}), so \
         the AQM signals again before they react; set it to their RTT",
        link.name, slowest.name, slowest.rtt
    ))
}

/// How long a full buffer takes to drain at the initial rate.
fn drain_time(link: &Link) -> Span {
    let bytes = match link.limit {
        Limit::Bytes(bytes) => bytes,
        Limit::Packets(packets) => packets.saturating_mul(u64::from(link.mtu_bytes)),
    };
    link.capacity.initial_rate().time_for(bytes)
}
