//! Links: rate, queue, buffer.

use std::sync::Arc;

use sojourn_aqm::{CustomLaws, Limit, QdiscSpec, Span, registry};

use super::checks::{framing_bytes, packet_bytes, packing};
use super::queue::{limit, queue};
use super::{Checked, ReadFile, refuse, scheduler, wire, wlan};
use crate::document::quantities::{Buffer, BufferText};
use crate::document::{capacity, links, wire as document_wire};
use crate::error::ScenarioError;
use crate::error::join;
use crate::recorded::link_trace;
use crate::resolved::{App, Capacity, DelayChanges, FlowGroup, Link, Schedule, Wlan};

/// The assumed largest packet of a link without flows.
const DEFAULT_PACKET_BYTES: u32 = 1500;

/// The capacity of a link.
pub(super) fn capacity(
    place: &str,
    written: &capacity::Capacity,
    wlans: &[Wlan],
    read: &ReadFile<'_>,
) -> Checked<Capacity> {
    match written {
        capacity::Capacity::Constant(rate) => Ok(Capacity::Constant(rate.0)),
        capacity::Capacity::Varying(capacity::Varying::Schedule(schedule)) => {
            schedule_of(place, schedule)
        }
        capacity::Capacity::Varying(capacity::Varying::Bucket(bucket)) => {
            wire::bucket(place, bucket)
        }
        capacity::Capacity::Varying(capacity::Varying::Trace(trace)) => {
            trace_of(place, trace, read)
        }
        capacity::Capacity::Varying(capacity::Varying::Wireless(wireless)) => {
            wlan::transmitter(place, wireless, wlans)
        }
    }
}

fn schedule_of(place: &str, written: &capacity::Schedule) -> Checked<Capacity> {
    let steps = wire::steps(place, &written.steps, "\"10mbit\"", |rate| Ok(rate.0))?;
    if steps.iter().all(|(_, rate)| rate.is_none()) {
        let message = "every step is an outage (0bit), so nothing is ever sent; give one of them a \
                       rate such as 10mbit";
        return refuse(&format!("{place}.steps"), message);
    }
    Ok(Capacity::Schedule(Schedule::new(steps).with_in_service(written.in_service)))
}

fn trace_of(place: &str, written: &capacity::Trace, read: &ReadFile<'_>) -> Checked<Capacity> {
    let place_of_file = format!("{place}.file");
    let opportunity = packet_bytes(&format!("{place}.opportunity"), written.opportunity)?;
    if written.file.is_empty() {
        return refuse(&place_of_file, "no trace file is named; write its path");
    }
    let text = read(&written.file)
        .map_err(|error| ScenarioError::unreadable(place_of_file.clone(), &written.file, &error))?;
    link_trace::parse(&written.file, &text, opportunity)
        .map(|trace| Capacity::Trace(Arc::new(trace)))
        .map_err(|message| ScenarioError::new(place_of_file, message))
}

/// The properties of a link that follow from its flows.
#[derive(Clone, Copy, Default)]
pub(super) struct Traffic {
    longest_rtt: Option<Span>,
    /// The largest packet of any flow through the link, without framing.
    largest_packet: Option<u32>,
}

/// The traffic of every link.
pub(super) fn traffic(links: usize, flows: &[FlowGroup]) -> Vec<Traffic> {
    let mut traffic = vec![Traffic::default(); links];
    for flow in flows {
        let there = flow.path.iter().map(|&link| (link, Some(flow.app.packet_bytes())));
        let back = flow.reverse.iter().map(|&link| (link, ack_bytes(&flow.app)));
        for (link, bytes) in there.chain(back) {
            let of_link = &mut traffic[link];
            of_link.longest_rtt = of_link.longest_rtt.max(Some(flow.rtt));
            of_link.largest_packet = of_link.largest_packet.max(bytes);
        }
    }
    traffic
}

/// A link with its queue.
pub(super) fn link(
    name: &str,
    written: &links::Link,
    capacity: Capacity,
    traffic: &Traffic,
    laws: &CustomLaws,
) -> Checked<Link> {
    let place = format!("links.{name}");
    let framing_bytes = framing_bytes(&join(&place, "framing"), written.framing)?;
    let mut queue = queue(&join(&place, "queue"), &written.queue, laws)?;
    if let Some(buffer) = written.buffer {
        let place = join(&place, "buffer");
        let limit = limit_of(&place, buffer.0, &capacity, traffic.longest_rtt)?;
        set_limit(&place, &mut queue, limit)?;
    }
    let mtu_bytes = traffic.largest_packet.unwrap_or(DEFAULT_PACKET_BYTES) + framing_bytes;
    let packing = packing(&place, written.mpu, written.cells)?;
    if !packing.is_none() && matches!(capacity, Capacity::Wireless { .. }) {
        let message = "a wireless LAN knows its own frames; leave `mpu` and `cells` out";
        return refuse(&place, message);
    }
    let scheduler = written.scheduler.as_ref();
    let scheduler = scheduler
        .map(|it| scheduler::scheduler(&join(&place, "scheduler"), it, laws))
        .transpose()?;
    if scheduler.is_some() && matches!(capacity, Capacity::Wireless { .. }) {
        let message = "a wireless LAN chooses among its stations; leave `scheduler` out";
        return refuse(&join(&place, "scheduler"), message);
    }
    let largest_bytes = packing.bytes(u64::from(mtu_bytes)) as u32;
    wire::check_bucket(&place, &capacity, largest_bytes)?;
    let reorder = written.reorder.map(|it| wire::reorder(&join(&place, "reorder"), it));
    let reorder = reorder.transpose()?;
    let (delay, delay_changes) = delay(&join(&place, "delay"), &written.delay, reorder.is_some())?;
    Ok(Link {
        name: name.to_owned(),
        delay,
        delay_changes,
        framing_bytes,
        packing,
        limit: limit(&join(&place, "queue.limit"), &queue)?,
        mtu_bytes,
        policer: wire::policer(&join(&place, "policer"), written.policer, largest_bytes)?,
        device: wire::device(&join(&place, "device"), written.device, &capacity)?,
        jitter: wire::jitter(&join(&place, "jitter"), written.jitter.as_ref())?,
        loss: wire::loss(&join(&place, "loss"), written.loss.as_ref())?,
        duplicate: written
            .duplicate
            .map(|it| wire::duplicate(&join(&place, "duplicate"), it))
            .transpose()?,
        reorder,
        corrupt: written
            .corrupt
            .map(|it| wire::corrupt(&join(&place, "corrupt"), it))
            .transpose()?,
        ecn_bleaching: written.ecn_bleaching,
        capacity,
        queue,
        scheduler,
    })
}

/// The smallest delay, and how it changes. A delay that packets can skip is a change from zero.
fn delay(
    place: &str,
    written: &document_wire::Delay,
    is_skipped: bool,
) -> Checked<(Span, Option<DelayChanges>)> {
    let (least, changes) = (written.least(), wire::delay_changes(place, written)?);
    match is_skipped {
        true => Ok((Span::ZERO, Some(wire::whole_delay(least, changes)))),
        false => Ok((least, changes)),
    }
}

fn limit_of(
    place: &str,
    buffer: Buffer,
    capacity: &Capacity,
    longest_rtt: Option<Span>,
) -> Checked<Limit> {
    let (factor, time) = match (buffer, longest_rtt) {
        (Buffer::Limit(limit), _) => return Ok(limit),
        (Buffer::Time(time), _) => (1.0, time),
        (Buffer::Bdp(factor), Some(rtt)) => (factor, rtt),
        (Buffer::Bdp(_), None) => {
            let message = "no flow uses this link, so it has no bandwidth-delay product; write \
                           the buffer in packets, bytes or as a time";
            return refuse(place, message);
        }
    };
    let bytes = (factor * capacity.initial_rate().bytes_in(time) as f64).round();
    match bytes >= 1.0 && bytes < u64::MAX as f64 {
        true => Ok(Limit::Bytes(bytes as u64)),
        false => {
            let written = BufferText(buffer);
            refuse(place, format!("{written} is {bytes} bytes here; write another size"))
        }
    }
}

fn set_limit(place: &str, queue: &mut QdiscSpec, limit: Limit) -> Checked<()> {
    if !queue.set_default("limit", &limit.to_string()) {
        let own = queue.settings.iter().find(|(name, _)| name == "limit");
        let own = own.map_or("", |(_, text)| text.as_str());
        let message = format!(
            "the queue sets its `limit` of {own} as well; remove `limit` from the queue, and to \
             keep its value set {place}={own}"
        );
        return refuse(place, message);
    }
    registry::settings(queue).map(drop).map_err(|error| ScenarioError::new(place, error.message))
}

/// Bytes of the largest packet that the receiver sends back, if it sends any.
fn ack_bytes(app: &App) -> Option<u32> {
    if let App::Endpoint { packet_bytes, .. } = app {
        return Some(*packet_bytes);
    }
    let header_bytes = app.tcp()?.header_bytes;
    match app {
        App::Web { web, .. } => Some(header_bytes.max(web.request_bytes)),
        _ => Some(header_bytes),
    }
}
