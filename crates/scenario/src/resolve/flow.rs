//! Groups of flows: path, propagation delays, transport, application.

use std::collections::{BTreeMap, BTreeSet};

use sojourn_aqm::{Rate, Span, registry};

use super::app::{self, Recordings};
use super::{Checked, checks, delays, link_indices, refuse};
use crate::document::Document;
use crate::document::flows;
use crate::document::quantities::SpanText;
use crate::document::wire::Jitter;
use crate::resolved::{App, Capacity, Carried, FlowGroup, Link, Transfers};

/// Resolves all groups of flows.
pub(super) fn all(
    document: &Document,
    capacities: &[Capacity],
    recorded: &Recordings,
) -> Checked<Vec<FlowGroup>> {
    let names = names(&document.flows)?;
    let hosts = hosts(&document.flows)?;
    let around = Around { document, links: link_indices(document), capacities, recorded };
    let mut groups = Vec::new();
    for (index, (written, name)) in document.flows.iter().zip(names).enumerate() {
        let group = group((index, name), written, &around)?;
        groups.push(FlowGroup { hosts: hosts[index], ..group });
    }
    Ok(groups)
}

/// The parts of the scenario that a group of flows refers to.
struct Around<'a> {
    document: &'a Document,
    links: BTreeMap<&'a str, usize>,
    capacities: &'a [Capacity],
    recorded: &'a Recordings,
}

/// The names of the groups. The default is the kind of the application, with a number if that name
/// is taken.
fn names(written: &[flows::FlowGroup]) -> Checked<Vec<String>> {
    let mut taken = BTreeSet::new();
    for (index, flow) in written.iter().enumerate() {
        let Some(name) = &flow.name else { continue };
        let place = format!("flows[{index}].name");
        checks::name(&place, "a name of flows", name)?;
        if !taken.insert(name.clone()) {
            return refuse(&place, format!("`{name}` names other flows already; names are unique"));
        }
    }
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut name_of = |flow: &flows::FlowGroup| match &flow.name {
        Some(name) => name.clone(),
        None => {
            let kind = flow.app.kind();
            let next = numbers.entry(kind).or_insert(1);
            loop {
                let name = if *next == 1 { kind.to_owned() } else { format!("{kind}-{next}") };
                *next += 1;
                if taken.insert(name.clone()) {
                    break name;
                }
            }
        }
    };
    Ok(written.iter().map(&mut name_of).collect())
}

/// The hosts of each group that names one. Hosts are numbered in the order in which they are named;
/// if a group names only one end, its other end is a separate host.
fn hosts(written: &[flows::FlowGroup]) -> Checked<Vec<Option<[u8; 2]>>> {
    let (mut known, mut count) = (BTreeMap::new(), 0);
    let mut all = Vec::new();
    for (index, flow) in written.iter().enumerate() {
        if flow.src_host.is_none() && flow.dst_host.is_none() {
            all.push(None);
            continue;
        }
        let mut pair = [0; 2];
        for (number, (key, name)) in
            pair.iter_mut().zip([("src_host", &flow.src_host), ("dst_host", &flow.dst_host)])
        {
            let place = format!("flows[{index}].{key}");
            if let Some(name) = name {
                checks::name(&place, "a host", name)?;
            }
            *number = match name.as_deref().and_then(|name| known.get(name)) {
                Some(&number) => number,
                None => new_host(&place, &mut count)?,
            };
            known.extend(name.as_deref().map(|name| (name, *number)));
        }
        if pair[0] == pair[1] {
            let message = "is also the sending host; name another, or leave one of the two out";
            return refuse(&format!("flows[{index}].dst_host"), message);
        }
        all.push(Some(pair));
    }
    Ok(all)
}

/// The number of a new host.
fn new_host(place: &str, count: &mut usize) -> Checked<u8> {
    let Ok(number) = u8::try_from(*count) else {
        return refuse(place, "more than 256 hosts, with those at the other end; name fewer");
    };
    *count += 1;
    Ok(number)
}

fn group(
    (index, name): (usize, String),
    written: &flows::FlowGroup,
    around: &Around<'_>,
) -> Checked<FlowGroup> {
    let document = around.document;
    let place = &format!("flows[{index}]");
    if written.count == 0 {
        return refuse(&format!("{place}.count"), "must be at least 1");
    }
    let class = written.class.clone().unwrap_or_else(|| name.clone());
    checks::name(&format!("{place}.class"), "a class", &class)?;
    if written.path.is_empty() {
        let message = "the path is empty; name at least one link, from sender to receiver";
        return refuse(&format!("{place}.path"), message);
    }
    let path = route(&format!("{place}.path"), &written.path, &around.links)?;
    let reverse = route(&format!("{place}.reverse"), &written.reverse, &around.links)?;
    let delays = delays::of(place, written, document)?;
    check_order(place, written, document)?;
    let start = (written.start.0.earliest, written.start.0.latest);
    let app = app::app(index, written, around.recorded)?;
    Ok(FlowGroup {
        class,
        count: count(written, &app),
        access_rate: access_rate(place, written, &path, around.capacities)?,
        sender_downlink: written.access.and_then(|a| a.sender_rate).map(|rate| rate.0),
        receiver_rate: written.access.and_then(|a| a.receiver_rate).map(|rate| rate.0),
        access_delay: delays.access,
        egress_delay: delays.egress,
        return_delay: delays.back,
        return_egress_delay: delays.back_egress,
        rtt: delays.rtt,
        start,
        stop: stop(place, written, document.duration.0)?,
        hosts: None,
        dscp: written.dscp.0,
        app,
        name,
        path,
        reverse,
    })
}

/// The number of flows: as written, or one for each recorded transfer.
fn count(written: &flows::FlowGroup, app: &App) -> u32 {
    match app.transfers() {
        Some(Transfers::Recorded(recording)) => {
            u32::try_from(recording.amounts.len()).unwrap_or(u32::MAX)
        }
        _ => written.count,
    }
}

/// The indices of links, by their names.
fn route(place: &str, names: &[String], indices: &BTreeMap<&str, usize>) -> Checked<Vec<usize>> {
    let (mut route, mut passed) = (Vec::new(), BTreeSet::new());
    for (position, name) in names.iter().enumerate() {
        let place = format!("{place}[{position}]");
        match indices.get(name.as_str()) {
            None => {
                let known: Vec<&str> = indices.keys().copied().collect();
                let hint = registry::hint(name, &known);
                return refuse(&place, format!("unknown link `{name}`{hint}"));
            }
            Some(index) if !passed.insert(*index) => {
                return refuse(
                    &place,
                    format!("`{name}` is listed twice; a path has each link once"),
                );
            }
            Some(index) => route.push(*index),
        }
    }
    Ok(route)
}

/// The rate of each sender's uplink.
fn access_rate(
    place: &str,
    written: &flows::FlowGroup,
    path: &[usize],
    capacities: &[Capacity],
) -> Checked<Rate> {
    let on_side = written.access.and_then(|access| access.sender_rate);
    match (written.access_rate, on_side) {
        (Some(_), Some(_)) => refuse(
            &format!("{place}.access_rate"),
            "`access.sender_rate` sets the same; remove one of the two",
        ),
        (Some(rate), None) | (None, Some(rate)) => Ok(rate.0),
        (None, None) => Ok(default_access_rate(path, capacities)),
    }
}

/// The default rate of senders' uplinks: ten times the fastest initial rate on the path. Our
/// choice: fast enough that it is never the bottleneck, and slow enough to space the packets of a
/// burst.
fn default_access_rate(path: &[usize], capacities: &[Capacity]) -> Rate {
    let fastest = path.iter().map(|&link| capacities[link].initial_rate().as_bps()).max();
    Rate::from_bps(fastest.expect("a path has at least one link").saturating_mul(10))
}

/// Checks that packets reach the shared access link in order. That link serves packets in the order
/// in which they left the last link; jitter that reorders packets breaks this order.
fn check_order(place: &str, written: &flows::FlowGroup, document: &Document) -> Checked<()> {
    let Some(access) = &written.access else { return Ok(()) };
    let ends = [(&written.path, access.receiver_rate), (&written.reverse, access.sender_rate)];
    for (route, rate) in ends {
        let Some(last) = route.last().filter(|_| rate.is_some()) else { continue };
        let link = &document.links[last];
        let by_jitter = link.jitter.as_ref().is_some_and(Jitter::reorders);
        if by_jitter || link.delay.reorders() || link.reorder.is_some() {
            let remedy = match (by_jitter, link.delay.reorders()) {
                (true, _) => "set the jitter's reorder = false",
                (_, true) => "set the delay's reorder = false",
                _ => "remove the link's `reorder`",
            };
            let message = format!("packets overtake each other on `{last}` just before this rate");
            let remedy = format!("; leave the rate out, or {remedy}");
            return refuse(&format!("{place}.access"), message + &remedy);
        }
    }
    Ok(())
}

fn stop(place: &str, written: &flows::FlowGroup, duration: Span) -> Checked<Option<Span>> {
    let Some(SpanText(stop)) = written.stop else { return Ok(None) };
    let latest = written.start.0.latest;
    if stop <= latest {
        let message = format!("{stop} is not after the latest start, {latest}");
        return refuse(&format!("{place}.stop"), message + "; stop later or start earlier");
    }
    Ok(Some(stop).filter(|&stop| stop < duration))
}

/// Checks that the packets of a flow can be numbered in 32 bits, as engines do.
pub(super) fn check_packet_numbers(
    flows: &[FlowGroup],
    links: &[Link],
    duration: Span,
) -> Checked<()> {
    let fastest: Vec<Rate> = links.iter().map(|link| link.capacity.highest_rate()).collect();
    for (index, group) in flows.iter().enumerate() {
        let rate = match &group.app {
            App::Cbr { datagrams, .. }
            | App::OnOff { datagrams, .. }
            | App::Bursts { datagrams, .. } => datagrams.rate,
            App::Echo { packet_bytes, interval, .. } => {
                let bits = u64::from(*packet_bytes) * 8;
                Rate::from_bps((bits * 1_000_000_000 / interval.as_nanos()).max(1))
            }
            // The highest rate that the path ever has.
            _ => group.path.iter().map(|&link| fastest[link]).fold(group.access_rate, Rate::min),
        };
        let packets = rate.bytes_in(duration) / u64::from(smallest_packet(&group.app));
        if packets > u64::from(u32::MAX) {
            let place = format!("flows[{index}].app");
            let message =
                format!("each flow may send {packets} packets, and {} can be numbered", u32::MAX);
            let remedy = "; shorten the duration, lower the rate or send larger packets";
            return refuse(&place, message + remedy);
        }
    }
    Ok(())
}

/// Refuses a recording without any time within the run: its times probably do not count from the
/// flow's start.
pub(super) fn check_replays(flows: &[FlowGroup], duration: Span) -> Checked<()> {
    for (index, group) in flows.iter().enumerate() {
        let Some(recording) = group.app.recording() else { continue };
        let first = recording.amounts.iter().map(|&(at, _)| at).min().unwrap_or(Span::ZERO);
        let what = if group.app.tcp().is_some() { "transfer" } else { "packet" };
        if group.start.0 + first >= duration {
            let message = format!(
                "{} sends nothing in the run of {duration}: its first {what} is at {first}; times \
                 count from the start of the flow, so subtract the first from all",
                recording.file
            );
            return refuse(&format!("flows[{index}].app.file"), message);
        }
    }
    Ok(())
}

/// A lower bound on the mean packet size; a file takes at least one packet.
fn smallest_packet(app: &App) -> u32 {
    match app {
        App::Files { tcp, sizes, .. }
        | App::Transfers { tcp, plan: Transfers::Drawn { sizes, .. } } => {
            tcp.header_bytes + sizes.smallest().min(u64::from(tcp.payload_bytes)) as u32
        }
        App::Video { packet_bytes, frames, .. } => {
            frames.smallest().min(u64::from(*packet_bytes)) as u32
        }
        App::Endpoint { carried: Carried::Voice { frame_bytes, .. }, .. } => *frame_bytes,
        _ => app.packet_bytes(),
    }
}
