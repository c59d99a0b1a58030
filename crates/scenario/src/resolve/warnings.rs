//! Warnings: what is legal but probably not meant.

use sojourn_aqm::{Limit, Span, registry, units};

use crate::resolved::{Link, Resolved};

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
    warnings
}

/// A queue that is full before its delay reaches the target drops by overflow only.
fn target_beyond_buffer(link: &Link) -> Option<String> {
    let settings = registry::settings(&link.queue).ok()?;
    let (_, text) = settings.iter().find(|(name, _)| *name == "target")?;
    let target = units::span(text).ok()?;
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

/// How long a full buffer takes to drain at the initial rate.
fn drain_time(link: &Link) -> Span {
    let bytes = match link.limit {
        Limit::Bytes(bytes) => bytes,
        Limit::Packets(packets) => packets.saturating_mul(u64::from(link.mtu_bytes)),
    };
    link.capacity.initial_rate().time_for(bytes)
}
