//! Refuses scenarios that ns-3 cannot run or this engine does not support, with the place and a
//! remedy.

use sojourn_aqm::{Cells, Ecn as Codepoint, Span};
use sojourn_scenario::resolved::{App, Capacity, Ecn, FlowGroup, InService, Link, Loss, Resolved};

use super::{Links, cell, rates};
use crate::planning::flows::{MIN_DATAGRAM, padded};
use crate::planning::refusal::{Planned, refuse};

/// Bytes that ns-3's point-to-point device adds to every packet (ns-3.44
/// `PointToPointNetDevice::AddHeader`: a PPP header).
pub(super) const PPP_BYTES: u32 = 2;
/// ns-3.44 PointToPointNetDevice::TransmitStart.
const OLD_RATE: &str = "ns-3 sends the packet in service at its old rate when the rate changes; \
                        write in_service = \"old-rate\", or use engine sim";
/// Every flow has a separate sender, which is a node.
const MAX_FLOWS: u32 = 2_000;

/// Finds the links, and checks that the runner can build the links and groups.
///
/// # Errors
///
/// The first link or group that it cannot build.
pub(super) fn links(scenario: &Resolved) -> Planned<Links> {
    let links = match scenario.wlans.is_empty() {
        true => dumbbell(scenario)?,
        false => cell::links(scenario)?,
    };
    for (index, group) in scenario.flows.iter().enumerate() {
        check_delays(scenario, index, group)?;
        check_app(index, &group.app)?;
        check_ip_fields(index, group)?;
    }
    if scenario.links.len() != links.order.len() {
        return refuse("links", "engine ns3 has no link that no flow passes; remove it");
    }
    scenario.links.iter().try_for_each(check_link)?;
    let flows: u32 = scenario.flows.iter().map(|group| group.count).sum();
    if flows > MAX_FLOWS {
        return refuse("flows", format!("{flows}: engine ns3 has room for {MAX_FLOWS} flows"));
    }
    Ok(links)
}

/// The links of a dumbbell; all groups pass the same ones.
fn dumbbell(scenario: &Resolved) -> Planned<Links> {
    let forward = scenario.flows[0].path[0];
    let reverse = scenario.flows[0].reverse.first().copied();
    for (index, group) in scenario.flows.iter().enumerate() {
        check_path(index, group, forward, reverse)?;
    }
    Ok(Links { order: [Some(forward), reverse].into_iter().flatten().collect(), is_cell: false })
}

fn check_path(
    index: usize,
    group: &FlowGroup,
    forward: usize,
    reverse: Option<usize>,
) -> Planned<()> {
    let reverse: Vec<usize> = reverse.into_iter().collect();
    if group.hosts.is_some() {
        let message = "engine ns3 gives every group of flows its own two hosts; leave \
                       `src_host` and `dst_host` out, or use engine sim";
        return refuse(format!("flows[{index}].src_host"), message);
    }
    for (key, is_unsupported) in [
        ("path", group.path != [forward]),
        ("reverse", group.reverse != reverse || reverse.contains(&forward)),
        ("sender_downlink", group.sender_downlink.is_some()),
    ] {
        if is_unsupported {
            let message = "engine ns3 has one link towards the receivers, and one or none on the \
                           reverse path, the same for all flows; use engine sim";
            return refuse(format!("flows[{index}].{key}"), message);
        }
    }
    Ok(())
}

/// Checks delays: the channel of a point-to-point link has one delay for both directions (ns-3.44
/// `PointToPointChannel`, attribute `Delay`).
fn check_delays(scenario: &Resolved, index: usize, group: &FlowGroup) -> Planned<()> {
    let forward = scenario.links[group.path[0]].delay;
    let is_even = match group.reverse.first().copied() {
        None => {
            group.return_delay == group.access_delay + forward + group.egress_delay
                && group.return_egress_delay == Span::ZERO
        }
        Some(reverse) => {
            scenario.links[reverse].delay == forward
                && group.return_delay == group.egress_delay
                && group.return_egress_delay == group.access_delay
        }
    };
    if is_even {
        return Ok(());
    }
    let message = "a point-to-point channel of ns-3 delays both directions alike; give the links \
                   of both directions the same delay, or use engine sim";
    refuse(format!("flows[{index}].rtt"), message)
}

fn check_app(index: usize, app: &App) -> Planned<()> {
    let place = format!("flows[{index}].app");
    if matches!(app, App::Web { .. } | App::Chunks { .. } | App::Echo { .. }) {
        let message =
            "engine ns3 has bulk data, files, transfers and datagrams one way; use engine sim";
        return refuse(place, message);
    }
    if app.transport().is_some() {
        let message = "a transport library runs inside engine sim; leave `transport` out here";
        return refuse(format!("flows[{index}].transport"), message);
    }
    if app.tcp().is_none() && app.packet_bytes() < MIN_DATAGRAM {
        let message = format!(
            "a datagram that carries its number and time needs {MIN_DATAGRAM} B or more on \
             engine ns3"
        );
        return refuse(format!("{place}.packet"), message);
    }
    if app.tcp().is_some_and(|tcp| tcp.offload_bytes.is_some()) {
        let message = "ns-3.44 has no segmentation offload; leave it out, or use engine sim";
        return refuse(format!("flows[{index}].offload"), message);
    }
    if app.tcp().and_then(|tcp| tcp.ecn).is_some_and(|ecn| ecn != Ecn::default()) {
        let message = "ns-3.44 has no accurate ECN feedback; leave `accecn`, `receiver_ecn`, \
                       `accecn_option` and `ecn_fallback` out, or use engine sim";
        return refuse(format!("flows[{index}].ecn"), message);
    }
    Ok(())
}

fn check_ip_fields(index: usize, group: &FlowGroup) -> Planned<()> {
    if group.app.datagrams_ecn() == Codepoint::Ect1 {
        let message = "engine ns3 sends datagrams as ECT(0) or without ECN; write true or false, \
                       or use engine sim";
        return refuse(format!("flows[{index}].ecn"), message);
    }
    if group.dscp != 0 {
        let message = "engine ns3 sets no code point; leave it out, or use engine sim";
        return refuse(format!("flows[{index}].dscp"), message);
    }
    Ok(())
}

fn check_link(link: &Link) -> Planned<()> {
    let refused = |key: &str, message: &str| refuse(format!("links.{}.{key}", link.name), message);
    let is_wireless = link.capacity.wireless_lan().is_some();
    if rates(&link.capacity).is_empty() && !is_wireless {
        return refused("rate", "engine ns3 has steady rates and schedules; use engine sim");
    }
    if let Capacity::Schedule(schedule) = &link.capacity {
        if schedule.has_outage() {
            return refused("rate.steps", "ns-3.44 has no rate of 0bit; use engine sim");
        }
        if schedule.in_service == InService::NewRate {
            return refused("rate.in_service", OLD_RATE);
        }
    }
    if !matches!(link.framing_bytes, 0 | PPP_BYTES) {
        return refused(
            "framing",
            "ns-3's point-to-point device adds 2 bytes to each packet; write framing = \"2B\", \
             or leave it out",
        );
    }
    for (key, is_there) in [
        ("scheduler", link.scheduler.is_some()),
        ("policer", link.policer.is_some()),
        ("mpu", link.packing.mpu > 0),
        ("cells", link.packing.cells != Cells::None),
        ("device", link.device.is_some() && !is_wireless),
        ("delay", link.delay_changes.is_some()),
        ("jitter", link.jitter.is_some()),
        ("loss", link.loss.is_some() && is_wireless),
        ("loss", link.loss.as_ref().is_some_and(is_beyond_ns3)),
        ("duplicate", link.duplicate.is_some()),
        ("reorder", link.reorder.is_some()),
        ("corrupt", link.corrupt.is_some()),
        ("ecn_bleaching", link.ecn_bleaching),
    ] {
        if is_there {
            return refused(key, "engine ns3 does not have it; remove it, or use engine sim");
        }
    }
    Ok(())
}

/// Whether ns-3 lacks a model of losses.
fn is_beyond_ns3(loss: &Loss) -> bool {
    matches!(loss, Loss::Schedule(_) | Loss::FourState { .. } | Loss::Correlated { .. })
}

/// Checks the requested records.
///
/// # Errors
///
/// A requested record is not available.
pub(super) fn record(scenario: &Resolved) -> Planned<()> {
    if scenario.record.latency {
        let message = "engine ns3 measures queue delays and those of datagrams, not of TCP's \
                       packets; leave it out, or use engine sim";
        return refuse("record.latency", message);
    }
    Ok(())
}

/// Warnings about differences from the scenario, one sentence each.
pub(super) fn warnings(scenario: &Resolved, links: &Links) -> Vec<String> {
    let mut warnings = cell::warnings(scenario);
    for &index in &links.order {
        let link = &scenario.links[index];
        if link.framing_bytes == 0 && !links.is_cell {
            warnings.push(format!(
                "links.{}: ns-3's device sends 2 bytes more with each packet; framing = \"2B\" \
                 counts them everywhere",
                link.name
            ));
        }
    }
    for (index, group) in scenario.flows.iter().enumerate() {
        warnings.extend(padded(index, &group.app));
        if let Some(tcp) = group.app.tcp() {
            warnings.push(format!(
                "flows `{}`: ns-3 runs its own TCP, with timeouts, window, SACK and delayed \
                 acknowledgements of the profile {}",
                group.name, tcp.profile
            ));
        }
    }
    warnings
}
