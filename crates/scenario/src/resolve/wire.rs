//! What lies beside queue and rate of a link: token bucket, device, jitter, loss.

use sojourn_aqm::{Limit, Rate, Span};

use super::{Checked, refuse};
use crate::paths;
use crate::resolved::{Bucket, Capacity, Device, Extra, Jitter, Loss};
use crate::text::SizeText;

/// The deepest bucket whose tokens the engines can count.
const DEEPEST_BUCKET: u64 = 1_000_000_000;

/// A token bucket.
pub(super) fn bucket(place: &str, written: &paths::Bucket) -> Checked<Capacity> {
    let (rate, line) = (written.rate.0, written.line.0);
    let burst_bytes = written.burst.0;
    if line < rate {
        let message = format!("{line} is slower than the {rate} of the tokens, which never matter");
        return refuse(&format!("{place}.line"), message + "; write a line at least as fast");
    }
    if burst_bytes == 0 || burst_bytes > DEEPEST_BUCKET {
        let message = format!("{} is no depth of a bucket; write 1B to 1GB", written.burst);
        return refuse(&format!("{place}.burst"), message);
    }
    Ok(Capacity::Bucket(Bucket { rate, burst_bytes, line, overdraft: written.overdraft }))
}

/// A packet that the bucket never has tokens for would wait for ever.
pub(super) fn check_bucket(place: &str, capacity: &Capacity, mtu_bytes: u32) -> Checked<()> {
    let Capacity::Bucket(bucket) = capacity else { return Ok(()) };
    if bucket.overdraft || bucket.burst_bytes >= u64::from(mtu_bytes) {
        return Ok(());
    }
    let message =
        format!("a bucket of {} B never lets a packet of {mtu_bytes} B", bucket.burst_bytes);
    refuse(
        &format!("{place}.rate.burst"),
        message + " leave; write a deeper one, or overdraft = true",
    )
}

/// What waits below the queue.
pub(super) fn device(
    place: &str,
    written: Option<paths::Device>,
    capacity: &Capacity,
) -> Checked<Option<Device>> {
    let Some(written) = written else { return Ok(None) };
    if matches!(capacity, Capacity::Trace(_)) {
        let message = "a recorded link already contains whatever lay below its queue; remove it";
        return refuse(place, message);
    }
    let limit = device_limit(place, &written)?;
    let overhead_bytes = super::link::framing(&format!("{place}.overhead"), written.overhead)?;
    if overhead_bytes > 0 && matches!(capacity, Capacity::Wireless { .. }) {
        let message = "a wireless LAN knows its own headers; leave the overhead out";
        return refuse(&format!("{place}.overhead"), message);
    }
    Ok(Some(Device { limit, overhead_bytes }))
}

fn device_limit(place: &str, written: &paths::Device) -> Checked<Limit> {
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
            refuse(place, "it has no limit; write for example bytes = \"1514B\", or packets = 50")
        }
    }
}

/// Extra delay on the wire.
pub(super) fn jitter(place: &str, written: Option<&paths::Jitter>) -> Checked<Option<Jitter>> {
    let positive = |key: &str, span: Span| match span {
        Span::ZERO => {
            refuse(&format!("{place}.{key}"), "must be positive; leave `jitter` out for none")
        }
        span => Ok(span),
    };
    Ok(match written {
        None => None,
        Some(paths::Jitter::Uniform(uniform)) => Some(Jitter {
            extra: Extra::Uniform(positive("max", uniform.max.0)?),
            reorder: uniform.reorder,
        }),
        Some(paths::Jitter::Exponential(exponential)) => Some(Jitter {
            extra: Extra::Exponential(positive("mean", exponential.mean.0)?),
            reorder: exponential.reorder,
        }),
        Some(paths::Jitter::LogNormal(lognormal)) => Some(Jitter {
            extra: Extra::LogNormal {
                mean: positive("mean", lognormal.mean.0)?,
                deviation: positive("deviation", lognormal.deviation.0)?,
            },
            reorder: lognormal.reorder,
        }),
    })
}

/// Random loss on the wire.
pub(super) fn loss(place: &str, written: Option<&paths::Loss>) -> Checked<Option<Loss>> {
    let probability = |key: &str, p: f64| probability(&format!("{place}.{key}"), p);
    Ok(match written {
        None => None,
        Some(paths::Loss::Bernoulli(loss)) => {
            Some(Loss::Bernoulli(probability("rate", loss.rate)?))
        }
        Some(paths::Loss::GilbertElliott(loss)) => Some(Loss::GilbertElliott {
            enter: probability("enter", loss.enter)?,
            leave: probability("leave", loss.leave)?,
            bad: probability("bad", loss.bad)?,
            good: probability("good", loss.good)?,
        }),
    })
}

/// A number from 0 to 1.
pub(super) fn probability(place: &str, p: f64) -> Checked<f64> {
    match (0.0..=1.0).contains(&p) {
        true => Ok(p),
        false => refuse(place, format!("{p} is no probability; write a number from 0 to 1")),
    }
}

/// The rate that senders' uplinks have where none is written: ten times the fastest initial rate on
/// the path, fast enough never to be the bottleneck, slow enough to space the packets of a burst.
pub(super) fn usual_access_rate(path: &[usize], capacities: &[Capacity]) -> Rate {
    let fastest = path.iter().map(|&link| capacities[link].initial_rate().as_bps()).max();
    Rate::from_bps(fastest.expect("a path has at least one link").saturating_mul(10))
}
