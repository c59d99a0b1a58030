//! Token bucket and device of a link, jitter and loss of its wire, copies of packets.

use sojourn_aqm::{Framing, Limit, Span, Time};

use super::checks::{framing_bytes, packing, probability};
use super::{Checked, refuse};
use crate::document::quantities::{SizeText, SpanText};
use crate::document::{capacity, links, wire};
#[cfg(not(target_arch = "wasm32"))]
use crate::resolved::Slots;
use crate::resolved::{
    Blocks, Bucket, Capacity, Corrupt, DelayChanges, Device, Duplicate, Extra, Jitter, Loss,
    NetemJitter, Policer, Reorder, Resolved,
};

/// The deepest bucket whose tokens engines can count without overflow.
pub(super) const DEEPEST_BUCKET: u64 = 1_000_000_000;

/// A token bucket.
pub(super) fn bucket(place: &str, written: &capacity::Bucket) -> Checked<Capacity> {
    let (rate, line) = (written.rate.0, written.line.0);
    if line < rate {
        let message =
            format!("{line} is slower than the {rate} of the tokens, which then have no effect");
        return refuse(&format!("{place}.line"), message + "; write a line at least as fast");
    }
    let burst_bytes = depth(&format!("{place}.burst"), written.burst)?;
    let overhead = framing_bytes(&format!("{place}.overhead"), written.overhead)?;
    let framing = Framing {
        overhead: i64::from(overhead),
        packing: packing(place, written.mpu, written.cells)?,
    };
    Ok(Capacity::Bucket(Bucket { rate, burst_bytes, line, overdraft: written.overdraft, framing }))
}

fn depth(place: &str, SizeText(bytes): SizeText) -> Checked<u64> {
    match bytes {
        1..=DEEPEST_BUCKET => Ok(bytes),
        _ => {
            let written = SizeText(bytes);
            refuse(place, format!("{written} is not a valid bucket depth; write 1B to 1GB"))
        }
    }
}

/// The policer in front of a queue. Refuses one that drops every largest packet.
pub(super) fn policer(
    place: &str,
    written: Option<links::Policer>,
    largest_bytes: u32,
) -> Checked<Option<Policer>> {
    let Some(links::Policer { rate, burst }) = written else { return Ok(None) };
    let place = format!("{place}.burst");
    let burst_bytes = depth(&place, burst)?;
    if burst_bytes < u64::from(largest_bytes) {
        let message = format!("a bucket of {burst} drops every packet of {largest_bytes} B");
        return refuse(&place, message + "; write a deeper one");
    }
    Ok(Some(Policer { rate: rate.0, burst_bytes }))
}

/// Refuses a bucket too shallow for the largest packet, which would wait forever.
pub(super) fn check_bucket(place: &str, capacity: &Capacity, queued_bytes: u32) -> Checked<()> {
    let Capacity::Bucket(bucket) = capacity else { return Ok(()) };
    let mtu_bytes = bucket.framing.bytes(queued_bytes);
    if bucket.overdraft || bucket.burst_bytes >= mtu_bytes {
        return Ok(());
    }
    let message =
        format!("a bucket of {} B never lets a packet of {mtu_bytes} B", bucket.burst_bytes);
    refuse(
        &format!("{place}.rate.burst"),
        message + " leave; write a deeper one, or overdraft = true",
    )
}

/// The device below the queue.
pub(super) fn device(
    place: &str,
    written: Option<links::Device>,
    capacity: &Capacity,
) -> Checked<Option<Device>> {
    let Some(written) = written else { return Ok(None) };
    if matches!(capacity, Capacity::Trace(_)) {
        let message = "a recorded link already contains whatever lay below its queue; remove it";
        return refuse(place, message);
    }
    let limit = device_limit(place, &written)?;
    let overhead_bytes = framing_bytes(&format!("{place}.overhead"), written.overhead)?;
    if overhead_bytes > 0 && matches!(capacity, Capacity::Wireless { .. }) {
        let message = "a wireless LAN knows its own headers; leave the overhead out";
        return refuse(&format!("{place}.overhead"), message);
    }
    Ok(Some(Device { limit, overhead_bytes }))
}

fn device_limit(place: &str, written: &links::Device) -> Checked<Limit> {
    let zero = |key: &str| {
        refuse(&format!("{place}.{key}"), "must be positive; leave `device` out for none")
    };
    match (written.bytes, written.packets) {
        (Some(SizeText(0)), None) => zero("bytes"),
        (None, Some(0)) => zero("packets"),
        (Some(bytes), None) => Ok(Limit::Bytes(bytes.0)),
        (None, Some(packets)) => Ok(Limit::Packets(u64::from(packets))),
        (Some(_), Some(_)) => {
            refuse(place, "`bytes` and `packets` limit the same; remove one of the two")
        }
        (None, None) => {
            refuse(place, "needs a limit; write for example bytes = \"1514B\", or packets = 50")
        }
    }
}

/// The steps of a schedule, with their values parsed by `read`, whose errors have no place.
pub(super) fn steps<W, R>(
    place: &str,
    written: &[(SpanText, W)],
    example: &str,
    read: impl Fn(&W) -> Checked<R>,
) -> Checked<Vec<(Time, R)>> {
    let mut steps: Vec<(Time, R)> = Vec::with_capacity(written.len());
    for (index, (at, value)) in written.iter().enumerate() {
        let time = Time::ZERO + at.0;
        let wrong = match steps.last() {
            None if time != Time::ZERO => format!("the first step is at {at}; it must be at 0s"),
            Some((before, _)) if time <= *before => {
                format!("{at} is not after {}; times must increase", before.since(Time::ZERO))
            }
            _ => match read(value) {
                Ok(value) => {
                    steps.push((time, value));
                    continue;
                }
                Err(error) => error.message,
            },
        };
        return refuse(&format!("{place}.steps[{index}]"), wrong);
    }
    if steps.is_empty() {
        let message = format!("the list is empty; write for example [[\"0s\", {example}]]");
        return refuse(&format!("{place}.steps"), message);
    }
    Ok(steps)
}

/// How the propagation delay changes.
pub(super) fn delay_changes(place: &str, written: &wire::Delay) -> Checked<Option<DelayChanges>> {
    let wire::Delay::Varying(wire::VaryingDelay::Schedule(schedule)) = written else {
        return Ok(None);
    };
    let least = written.least();
    let above = |delay: &SpanText| Ok(delay.0 - least);
    let above_least = steps(place, &schedule.steps, "\"20ms\"", above)?;
    Ok(Some(DelayChanges { above_least, reorder: schedule.reorder }))
}

/// Extra delay on the wire.
pub(super) fn jitter(place: &str, written: Option<&wire::Jitter>) -> Checked<Option<Jitter>> {
    let positive = |key: &str, span: Span| match span {
        Span::ZERO => {
            refuse(&format!("{place}.{key}"), "must be positive; leave `jitter` out for none")
        }
        span => Ok(span),
    };
    Ok(match written {
        None => None,
        Some(wire::Jitter::Uniform(uniform)) => Some(Jitter {
            extra: Extra::Uniform(positive("max", uniform.max.0)?),
            reorder: uniform.reorder,
        }),
        Some(wire::Jitter::Exponential(exponential)) => Some(Jitter {
            extra: Extra::Exponential(positive("mean", exponential.mean.0)?),
            reorder: exponential.reorder,
        }),
        Some(wire::Jitter::LogNormal(lognormal)) => Some(Jitter {
            extra: Extra::LogNormal {
                mean: positive("mean", lognormal.mean.0)?,
                deviation: positive("deviation", lognormal.deviation.0)?,
            },
            reorder: lognormal.reorder,
        }),
        Some(wire::Jitter::Netem(netem)) => Some(Jitter {
            extra: Extra::Netem(NetemJitter {
                mean: netem.mean.0,
                deviation: deviation_of_netem(place, netem.deviation.0)?,
                distribution: netem.distribution,
            }),
            reorder: netem.reorder,
        }),
        Some(wire::Jitter::Schedule(schedule)) => {
            let read = |most: &SpanText| Ok(most.0);
            let steps = steps(place, &schedule.steps, "\"5ms\"", read)?;
            Some(Jitter { extra: Extra::Schedule(steps), reorder: schedule.reorder })
        }
        #[cfg(not(target_arch = "wasm32"))]
        Some(wire::Jitter::Slots(written)) => {
            Some(Jitter { extra: Extra::Slots(slots(place, written)?), reorder: false })
        }
        Some(wire::Jitter::Blocks(written)) => {
            Some(Jitter { extra: Extra::Blocks(blocks(place, written, positive)?), reorder: false })
        }
    })
}

/// Refuses deviations that netem cannot hold: nanoseconds in 32 bits with a sign (Linux 6.1
/// sch_netem.c, tabledist).
fn deviation_of_netem(place: &str, deviation: Span) -> Checked<Span> {
    match deviation.as_nanos() {
        1..=0x7fff_ffff => Ok(deviation),
        _ => {
            let message = format!("{deviation} is not a jitter of netem; write 1ns to 2.1s");
            refuse(&format!("{place}.deviation"), message)
        }
    }
}

/// The slots of netem, whose numbers have 31 bits (Linux 6.1 pkt_sched.h, tc_netem_slot).
#[cfg(not(target_arch = "wasm32"))]
fn slots(place: &str, written: &wire::SlotsJitter) -> Checked<Slots> {
    let deviation = match written.deviation.0 {
        Span::ZERO => Span::ZERO,
        deviation => deviation_of_netem(place, deviation)?,
    };
    let (packets, bytes) = (written.packets, written.bytes.map(|size| size.0));
    let limits = [("packets", packets.map(u64::from)), ("bytes", bytes)];
    for (key, limit) in limits {
        if limit.is_some_and(|it| !(1..=0x7fff_ffff).contains(&it)) {
            let message = "must be 1 to 2147483647; leave it out for no limit";
            return refuse(&format!("{place}.{key}"), message);
        }
    }
    if (written.mean.0, deviation) == (Span::ZERO, Span::ZERO) {
        return refuse(&format!("{place}.mean"), "must be positive; leave `jitter` out for none");
    }
    let (mean, distribution) = (written.mean.0, written.distribution);
    Ok(Slots { until: NetemJitter { mean, deviation, distribution }, packets, bytes })
}

/// The blocks of a medium that grants transmissions.
fn blocks(
    place: &str,
    written: &wire::BlocksJitter,
    positive: impl Fn(&str, Span) -> Checked<Span>,
) -> Checked<Blocks> {
    let retransmit = probability(&format!("{place}.retransmit"), written.retransmit)?;
    if (retransmit > 0.0) != (written.round_trip.0 > Span::ZERO) {
        let message = "`retransmit` and `round_trip` go together; write both or none";
        return refuse(place, message);
    }
    Ok(Blocks {
        every: positive("every", written.every.0)?,
        request: positive("request", written.request.unwrap_or(written.every).0)?,
        pause: written.pause.0,
        retransmit,
        round_trip: written.round_trip.0,
    })
}

/// Random loss on the wire.
pub(super) fn loss(place: &str, written: Option<&wire::Loss>) -> Checked<Option<Loss>> {
    let probability = |key: &str, p: f64| probability(&format!("{place}.{key}"), p);
    Ok(match written {
        None => None,
        Some(wire::Loss::Bernoulli(loss)) => {
            let rate = probability("rate", loss.rate)?;
            Some(match probability("correlation", loss.correlation)? {
                0.0 => Loss::Bernoulli(rate),
                correlation => Loss::Correlated { rate, correlation },
            })
        }
        Some(wire::Loss::GilbertElliott(loss)) => Some(Loss::GilbertElliott {
            enter: probability("enter", loss.enter)?,
            leave: probability("leave", loss.leave)?,
            bad: probability("bad", loss.bad)?,
            good: probability("good", loss.good)?,
        }),
        Some(wire::Loss::FourState(loss)) => {
            let p31 = loss.p31.unwrap_or(1.0 - loss.p13);
            for (keys, sum) in [("p13 + p14", loss.p13 + loss.p14), ("p31 + p32", p31 + loss.p32)] {
                if sum > 1.0 {
                    let message =
                        format!("{keys} is {sum}; both leave one state, so write at most 1");
                    return refuse(place, message);
                }
            }
            Some(Loss::FourState {
                p13: probability("p13", loss.p13)?,
                p31: probability("p31", p31)?,
                p32: probability("p32", loss.p32)?,
                p23: probability("p23", loss.p23)?,
                p14: probability("p14", loss.p14)?,
            })
        }
        Some(wire::Loss::Schedule(schedule)) => {
            let read = |rate: &f64| self::probability("", *rate);
            let steps = steps(place, &schedule.steps, "0.01", read)?;
            Some(Loss::Schedule(steps.iter().map(|(at, rate)| (at.as_nanos(), *rate)).collect()))
        }
    })
}

/// Copies of arriving packets.
pub(super) fn duplicate(place: &str, written: wire::Duplicate) -> Checked<Duplicate> {
    let probability = |key: &str, p: f64| probability(&format!("{place}.{key}"), p);
    Ok(Duplicate {
        rate: probability("rate", written.rate)?,
        correlation: probability("correlation", written.correlation)?,
    })
}

/// Packets that skip the delay of the wire.
pub(super) fn reorder(place: &str, written: Reorder) -> Checked<Reorder> {
    probability(&format!("{place}.rate"), written.rate)?;
    probability(&format!("{place}.correlation"), written.correlation)?;
    match written.gap {
        0 => refuse(&format!("{place}.gap"), "must be positive; leave it out for 1"),
        _ => Ok(written),
    }
}

/// Packets damaged on the wire.
pub(super) fn corrupt(place: &str, written: Corrupt) -> Checked<Corrupt> {
    probability(&format!("{place}.rate"), written.rate)?;
    probability(&format!("{place}.correlation"), written.correlation)?;
    Ok(written)
}

/// The whole delay as a change above zero, so that a packet can skip it.
pub(super) fn whole_delay(delay: Span, changes: Option<DelayChanges>) -> DelayChanges {
    let none = DelayChanges { above_least: vec![(Time::ZERO, Span::ZERO)], reorder: false };
    let mut changes = changes.unwrap_or(none);
    for (_, above) in &mut changes.above_least {
        *above = *above + delay;
    }
    changes
}

/// Refuses damaged packets on a wire before another link, which they would still load.
pub(super) fn check_corrupt(resolved: &Resolved) -> Checked<()> {
    let routes = resolved.flows.iter().flat_map(|flow| [&flow.path, &flow.reverse]);
    for pair in routes.flat_map(|route| route.windows(2)) {
        let [link, next] = [pair[0], pair[1]].map(|at| &resolved.links[at]);
        if link.corrupt.is_some() {
            let message = format!("damaged packets would go on to `{}`", next.name);
            let place = format!("links.{}.corrupt", link.name);
            return refuse(&place, message + "; give it to the last link of the path");
        }
    }
    Ok(())
}
