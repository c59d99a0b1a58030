//! Links: rate, queue, buffer.

use std::sync::Arc;

use sojourn_aqm::{Limit, QdiscSpec, Rate, Span, SpecError, Time, registry, units};

use super::{Checked, ReadTrace, refuse, wire, wlan};
use crate::choice::Choice;
use crate::document::{self, Varying};
use crate::error::ScenarioError;
use crate::resolved::{App, Capacity, Cell, FlowGroup, Link};
use crate::text::{Buffer, SizeText};
use crate::trace;
use crate::tree::join;

/// The packet that a link without flows is sized for.
const USUAL_PACKET_BYTES: u32 = 1500;

/// How fast a link sends.
pub(super) fn capacity(
    place: &str,
    written: &document::Capacity,
    wlans: &[Cell],
    read: &ReadTrace<'_>,
) -> Checked<Capacity> {
    match written {
        document::Capacity::Constant(rate) => Ok(Capacity::Constant(rate.0)),
        document::Capacity::Varying(Varying::Schedule(schedule)) => schedule_of(place, schedule),
        document::Capacity::Varying(Varying::Bucket(bucket)) => wire::bucket(place, bucket),
        document::Capacity::Varying(Varying::Trace(trace)) => trace_of(place, trace, read),
        document::Capacity::Varying(Varying::Wireless(wireless)) => {
            wlan::transmitter(place, wireless, wlans)
        }
    }
}

fn schedule_of(place: &str, written: &document::Schedule) -> Checked<Capacity> {
    let mut steps: Vec<(Time, Rate)> = Vec::new();
    for (index, (at, rate)) in written.steps.iter().enumerate() {
        let time = Time::ZERO + at.0;
        let place = format!("{place}.steps[{index}]");
        match steps.last() {
            None if time != Time::ZERO => {
                return refuse(&place, format!("the first step is at {at}; it must be at 0s"));
            }
            Some((before, _)) if time <= *before => {
                let before = before.since(Time::ZERO);
                return refuse(&place, format!("{at} is not after {before}; times must increase"));
            }
            _ => steps.push((time, rate.0)),
        }
    }
    if steps.is_empty() {
        let message = "there is no step; write for example [[\"0s\", \"10mbit\"]]";
        return refuse(&format!("{place}.steps"), message);
    }
    Ok(Capacity::Schedule(steps))
}

fn trace_of(place: &str, written: &document::Trace, read: &ReadTrace<'_>) -> Checked<Capacity> {
    let place_of_file = format!("{place}.file");
    let opportunity = packet_bytes(&format!("{place}.opportunity"), written.opportunity)?;
    if written.file.is_empty() {
        return refuse(&place_of_file, "no trace file is named; write its path");
    }
    let text = read(&written.file)
        .map_err(|error| ScenarioError::unreadable(place_of_file.clone(), &written.file, &error))?;
    trace::parse(&written.file, &text, opportunity)
        .map(|trace| Capacity::Trace(Arc::new(trace)))
        .map_err(|message| ScenarioError::new(place_of_file, message))
}

/// The size of one packet: positive, and not beyond what IP can carry.
pub(super) fn packet_bytes(place: &str, size: SizeText) -> Checked<u32> {
    match size.0 {
        1..=65_535 => Ok(size.0 as u32),
        _ => refuse(place, format!("{size} is no size of an IP packet; write 1B to 65535B")),
    }
}

/// A link with its queue.
pub(super) fn link(
    index: usize,
    name: &str,
    written: &document::Link,
    capacity: Capacity,
    flows: &[FlowGroup],
) -> Checked<Link> {
    let place = format!("links.{name}");
    let framing_bytes = framing(&join(&place, "framing"), written.framing)?;
    let mut queue = queue(&join(&place, "queue"), &written.queue)?;
    if let Some(buffer) = written.buffer {
        let place = join(&place, "buffer");
        let limit = limit_of(&place, buffer.0, &capacity, longest_rtt(index, flows))?;
        set_limit(&place, &mut queue, limit)?;
    }
    let mtu_bytes = largest_packet(index, flows) + framing_bytes;
    wire::check_bucket(&place, &capacity, mtu_bytes)?;
    Ok(Link {
        name: name.to_owned(),
        delay: written.delay.0,
        framing_bytes,
        limit: limit(&join(&place, "queue.limit"), &queue)?,
        mtu_bytes,
        device: wire::device(&join(&place, "device"), written.device, &capacity)?,
        jitter: wire::jitter(&join(&place, "jitter"), written.jitter.as_ref())?,
        loss: wire::loss(&join(&place, "loss"), written.loss.as_ref())?,
        ecn_bleaching: written.ecn_bleaching,
        capacity,
        queue,
    })
}

/// Bytes added to every packet.
pub(super) fn framing(place: &str, size: SizeText) -> Checked<u32> {
    match u32::try_from(size.0) {
        Ok(bytes) if bytes <= 65_535 => Ok(bytes),
        _ => refuse(place, format!("{size} is no framing of a packet; write 0B to 65535B")),
    }
}

/// The queue of a link as it is written, kind and parameters checked.
pub(crate) fn queue(place: &str, written: &Choice) -> Checked<QdiscSpec> {
    let spec = match written {
        Choice::Text(text) => QdiscSpec::parse(text),
        Choice::Table(table) => {
            QdiscSpec::new(&table.kind, table.dialect.as_deref(), table.texts())
        }
    };
    spec.map_err(|error| at(place, &error))
}

fn at(place: &str, error: &SpecError) -> ScenarioError {
    let place = if error.part.is_empty() { place.to_owned() } else { join(place, &error.part) };
    ScenarioError::new(place, error.message.clone())
}

fn limit_of(
    place: &str,
    buffer: Buffer,
    capacity: &Capacity,
    longest_rtt: Option<Span>,
) -> Checked<Limit> {
    let factor = match buffer {
        Buffer::Limit(limit) => return Ok(limit),
        Buffer::Bdp(factor) => factor,
    };
    let Some(rtt) = longest_rtt else {
        let message = "no flow uses this link, so it has no bandwidth-delay product; write the \
                       buffer in packets or bytes";
        return refuse(place, message);
    };
    let bytes = (factor * capacity.initial_rate().bytes_in(rtt) as f64).round();
    match bytes >= 1.0 && bytes < u64::MAX as f64 {
        true => Ok(Limit::Bytes(bytes as u64)),
        false => refuse(place, format!("{factor}bdp is {bytes} bytes here; write another size")),
    }
}

fn set_limit(place: &str, queue: &mut QdiscSpec, limit: Limit) -> Checked<()> {
    if !queue.set_default("limit", &limit.to_string()) {
        return refuse(place, "the queue sets its `limit` as well; remove one of the two");
    }
    registry::settings(queue).map(drop).map_err(|error| ScenarioError::new(place, error.message))
}

fn limit(place: &str, queue: &QdiscSpec) -> Checked<Limit> {
    let settings = registry::settings(queue).map_err(|error| at(place, &error))?;
    let text = settings.iter().find(|(name, _)| *name == "limit").map(|(_, text)| text.as_str());
    let text = text.expect("every discipline has a limit");
    units::limit(text).map_err(|message| ScenarioError::new(place, message))
}

fn longest_rtt(link: usize, flows: &[FlowGroup]) -> Option<Span> {
    let through = flows.iter().filter(|f| f.path.contains(&link) || f.reverse.contains(&link));
    through.map(|flow| flow.rtt).max()
}

/// The largest packet that any flow sends through the link, without framing.
fn largest_packet(link: usize, flows: &[FlowGroup]) -> u32 {
    let sizes = flows.iter().flat_map(|flow| {
        let there = flow.path.contains(&link).then(|| flow.app.packet_bytes());
        let back = flow.reverse.contains(&link).then(|| ack_bytes(&flow.app)).flatten();
        [there, back]
    });
    sizes.flatten().max().unwrap_or(USUAL_PACKET_BYTES)
}

/// Bytes of the largest packet that the receiver sends back, where it sends any.
fn ack_bytes(app: &App) -> Option<u32> {
    let header_bytes = app.tcp()?.header_bytes;
    match app {
        App::Web { web, .. } => Some(header_bytes.max(web.request_bytes)),
        _ => Some(header_bytes),
    }
}
