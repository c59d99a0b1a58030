//! Checks of a link that do not depend on its queue.

use sojourn_aqm::{Span, Time};

use super::Over;
use crate::resolved::{Capacity, Extra, Link, Loss, Resolved};

pub(super) fn unused(_: &Resolved, link: &Link, over: &Over<'_>) -> Option<String> {
    (!over.is_used).then(|| format!("links.{}: no flow uses this link", link.name))
}

pub(super) fn unused_wlan(resolved: &Resolved, index: usize) -> Option<String> {
    let is_on_it = |link: &Link| link.capacity.wireless_lan() == Some(index);
    let is_unused = !resolved.links.iter().any(is_on_it);
    is_unused
        .then(|| format!("wlans.{}: no link is a transmitter of it", resolved.wlans[index].name))
}

/// A step of a schedule, or the first opportunity of a trace, that the run does not reach.
pub(super) fn changes_after_the_end(
    resolved: &Resolved,
    link: &Link,
    _: &Over<'_>,
) -> Option<String> {
    let (end, name) = (Time::ZERO + resolved.duration, &link.name);
    match &link.capacity {
        Capacity::Schedule(schedule) => {
            let late = schedule.steps().iter().position(|&(at, _)| at >= end)?;
            let at = schedule.steps()[late].0.since(Time::ZERO);
            Some(format!(
                "links.{name}.rate.steps[{late}]: the rate changes at {at}, when the run of {} is \
                 over; lengthen the duration or move the step",
                resolved.duration
            ))
        }
        Capacity::Trace(trace) => {
            let first = Span::from_millis(u64::from(*trace.opportunities_ms.first()?));
            (first >= resolved.duration).then(|| {
                format!(
                    "links.{name}.rate.file: the first opportunity of {} is at {first}, when the \
                     run of {} is over, so the link sends nothing; are its times in milliseconds \
                     since the start?",
                    trace.file, resolved.duration
                )
            })
        }
        _ => None,
    }
}

/// Jitter longer than the round trips is probably in the wrong unit, or should be a separate path.
pub(super) fn jitter_beyond_rtt(_: &Resolved, link: &Link, over: &Over<'_>) -> Option<String> {
    let most = match &link.jitter.as_ref()?.extra {
        Extra::Uniform(most) => *most,
        Extra::Exponential(mean) | Extra::LogNormal { mean, .. } => *mean,
        Extra::Netem(netem) => netem.mean,
        Extra::Schedule(steps) => steps.iter().map(|(_, most)| *most).max()?,
        Extra::Blocks(blocks) => blocks.request.max(blocks.every),
        #[cfg(not(target_arch = "wasm32"))]
        Extra::Slots(slots) => slots.until.mean,
    };
    let slowest = over.senders.iter().max_by_key(|flow| flow.rtt)?;
    (most > slowest.rtt).then(|| {
        format!(
            "links.{}.jitter: {most} of extra delay is longer than the base RTT of every flow over \
             it (at most {}, of `{}`); is the unit right?",
            link.name, slowest.rtt, slowest.name
        )
    })
}
/// netem's correlated draws are rarely small (fact link-11).
pub(super) fn rarely_happens(_: &Resolved, link: &Link, _: &Over<'_>) -> Option<String> {
    let of_loss = match link.loss {
        Some(Loss::Correlated { rate, correlation }) => Some((rate, correlation)),
        _ => None,
    };
    let shares = [
        ("duplicate", "copy", link.duplicate.map(|it| (it.rate, it.correlation))),
        ("loss", "lose", of_loss),
        ("corrupt", "damage", link.corrupt.map(|it| (it.rate, it.correlation))),
        ("reorder", "reorder", link.reorder.map(|it| (it.rate, it.correlation))),
    ];
    let (key, does, rate) = shares.into_iter().find_map(|(key, does, share)| {
        let (rate, correlation) = share?;
        (correlation > 0.0 && 0.0 < rate && rate < 0.5).then_some((key, does, rate))
    })?;
    Some(format!(
        "links.{}.{key}: with a correlation, netem and Sojourn {does} far fewer packets than the \
         rate {rate} says; leave `correlation` out",
        link.name
    ))
}
