//! The link of a scenario as the bottleneck of a run, and the wire behind it.

use sojourn_aqm::{Rate, Time};
use sojourn_scenario::ScenarioError;
use sojourn_scenario::resolved::{
    App, Capacity, Ecn, FlowGroup, Link, LinuxBottleneck, Resolved, Trace,
};

use super::topology::{self, VETH_BPS, step};
use super::{Kernel, Planned, refuse};
use crate::plan::{Back, Bottleneck, Direction, GroupLines, Service, Street, Wire};
use crate::tc::{self, Around, Words};

/// The links of a scenario: one that all flows pass on the way to the receivers, and at most one on the way
/// back, which some of them pass.
#[derive(Clone, Copy)]
pub(super) struct Links<'a> {
    /// The one to the receivers.
    pub(super) forward: &'a Link,
    /// Its place among the scenario's.
    place: usize,
    /// The one on the way back, with its place.
    pub(super) back: Option<(&'a Link, usize)>,
}

/// The links.
///
/// # Errors
/// There are more, or ends that this engine does not build.
pub(super) fn links(scenario: &Resolved) -> Planned<Links<'_>> {
    if let Some(wlan) = scenario.wlans.first() {
        let message = "engine linux has no wireless LAN; use engine sim";
        return refuse(format!("wlans.{}", wlan.name), message);
    }
    let place = scenario.flows[0].path[0];
    let back = scenario.flows.iter().find_map(|group| group.reverse.first()).copied();
    for (index, group) in scenario.flows.iter().enumerate() {
        check_ways(index, group, (place, back))?;
    }
    if scenario.links.len() != 1 + usize::from(back.is_some()) {
        return refuse("links", "engine linux has no link that no flow passes; remove it");
    }
    if let Some(link) = scenario.links.iter().find(|link| link.device.is_some()) {
        let message = "engine linux has no buffer below the queue; remove it, or use engine sim";
        return refuse(format!("links.{}.device", link.name), message);
    }
    if let Some(link) = scenario.links.iter().find(|link| link.ecn_bleaching) {
        let message =
            "engine linux has no wire that clears the ECN field; remove it, or use engine sim";
        return refuse(format!("links.{}.ecn_bleaching", link.name), message);
    }
    let back = back.map(|place| (&scenario.links[place], place));
    Ok(Links { forward: &scenario.links[place], place, back })
}

/// All groups take the same link to the receivers, and the same or none back.
fn check_ways(
    index: usize,
    group: &FlowGroup,
    (place, back): (usize, Option<usize>),
) -> Planned<()> {
    if group.app.tcp().and_then(|tcp| tcp.ecn).is_some_and(|ecn| ecn != Ecn::default()) {
        let message = "engine linux runs Linux 6.1, which has no accurate ECN feedback, with the same \
                       settings at both ends; leave `accecn`, `receiver_ecn` and `accecn_option` out, \
                       or use engine sim";
        return refuse(format!("flows[{index}].ecn"), message);
    }
    let window = group.app.tcp().is_some_and(|tcp| tcp.receive_window.is_some());
    let is_other = |link: &usize| Some(*link) != back || *link == place;
    for (key, is_beyond) in [
        ("path", group.path != [place]),
        ("reverse", group.reverse.len() > 1 || group.reverse.iter().any(is_other)),
        ("sender_downlink", group.sender_downlink.is_some()),
        ("receiver_rate", group.receiver_rate.is_some()),
        ("receive_window", window),
    ] {
        if is_beyond {
            let message = "engine linux has one link on the way to the receivers, at most one on \
                           the way back, and the kernel's own receive window; use engine sim";
            return refuse(format!("flows[{index}].{key}"), message);
        }
    }
    if matches!(group.app, App::Web { .. }) && !group.reverse.is_empty() {
        let message = "a request dropped there is not repeated on engine linux; use engine sim";
        return refuse(format!("flows[{index}].reverse"), message);
    }
    Ok(())
}

/// The link on the way back.
pub(super) fn back(
    scenario: &Resolved,
    links: Links<'_>,
    warnings: &mut Vec<String>,
) -> Planned<Option<Back>> {
    let Some((link, place)) = links.back else { return Ok(None) };
    if scenario.linux.bottleneck == LinuxBottleneck::Kernel {
        warnings.push(format!(
            "links.{}: its queue is our router's; the kernel's own is on the way to the receivers",
            link.name
        ));
    }
    let groups = (0..scenario.flows.len()).filter(|&i| !scenario.flows[i].reverse.is_empty());
    let street = street(link, place, Direction::Back, Vec::new())?;
    Ok(Some(Back { street, wire: wire(link), groups: groups.collect() }))
}

/// The wire behind a link, where it does more than delay evenly.
pub(super) fn wire(link: &Link) -> Option<Wire> {
    let Link { name, loss, jitter, .. } = link;
    let does_more = loss.is_some() || jitter.is_some();
    does_more.then(|| Wire { link: name.clone(), loss: *loss, jitter: *jitter })
}

/// The bottleneck, and for the kernel's own how tc says it.
pub(super) fn bottleneck(
    scenario: &Resolved,
    Links { forward: link, place, .. }: Links<'_>,
    kernel: Kernel,
    warnings: &mut Vec<String>,
) -> Planned<(Bottleneck, Option<Words>)> {
    match scenario.linux.bottleneck {
        LinuxBottleneck::Sojourn => {
            let lines = if kernel.delays_in_router { lines(scenario, link) } else { Vec::new() };
            let street = street(link, place, Direction::Forward, lines)?;
            Ok((Bottleneck::Sojourn(street), None))
        }
        LinuxBottleneck::Kernel => {
            let (bottleneck, words) = of_kernel(scenario, link, kernel, warnings)?;
            Ok((bottleneck, Some(words)))
        }
    }
}

/// A link of our router.
fn street(link: &Link, place: usize, way: Direction, lines: Vec<GroupLines>) -> Planned<Street> {
    Ok(Street {
        queue: link.queue.to_string(),
        place: place as u16,
        way,
        limit: link.limit.to_string(),
        framing_bytes: link.framing_bytes,
        mtu_bytes: link.mtu_bytes,
        service: service(link)?,
        drop_list: Vec::new(),
        mark_list: Vec::new(),
        lines,
    })
}

/// How our router sends.
fn service(link: &Link) -> Planned<Service> {
    match (&link.capacity, rates(link)) {
        (_, Some(rates)) => {
            let plain = |(at, rate): (Time, Rate)| (at.as_nanos(), rate.as_bps());
            Ok(Service::Rates(rates.into_iter().map(plain).collect()))
        }
        (Capacity::Trace(trace), None) => Ok(Service::Recorded(Box::new(Trace::clone(trace)))),
        (_, None) => refuse(
            format!("links.{}.rate", link.name),
            "engine linux has steady rates, schedules and recordings, no token bucket; use engine sim",
        ),
    }
}

/// The rates of a link from given times on, if it has such.
fn rates(link: &Link) -> Option<Vec<(Time, Rate)>> {
    match &link.capacity {
        Capacity::Constant(rate) => Some(vec![(Time::ZERO, *rate)]),
        Capacity::Schedule(steps) => Some(steps.clone()),
        Capacity::Trace(_) | Capacity::Bucket(_) | Capacity::Wireless { .. } => None,
    }
}

/// The kernel's own discipline under its shaper.
fn of_kernel(
    scenario: &Resolved,
    link: &Link,
    kernel: Kernel,
    warnings: &mut Vec<String>,
) -> Planned<(Bottleneck, Words)> {
    let place = format!("links.{}.rate", link.name);
    let Some(rates) = rates(link) else {
        return refuse(
            place,
            "the kernel's shaper has steady rates and schedules; a recorded link runs with \
             engine.linux.bottleneck = \"sojourn\", a token bucket with engine sim",
        );
    };
    for &(_, rate) in &rates {
        let bps = rate.as_bps();
        if bps % 1000 != 0 || bps >= VETH_BPS {
            let message = format!("{rate}: the kernel's shaper takes whole kbit/s below 10 Gbit/s");
            return refuse(place, message);
        }
    }
    let place = format!("links.{}.queue", link.name);
    let rate_bps = rates[0].1.as_bps();
    let around = Around { mtu_bytes: link.mtu_bytes, rate_bps, hz: kernel.hz };
    let words = tc::translate(&link.queue, &around)
        .map_err(|message| ScenarioError::new(place.clone(), message))?;
    warnings.extend(words.warnings.iter().map(|sentence| format!("{place}: {sentence}")));
    let changes = rates[1..].iter().flat_map(|&(at, rate)| {
        step(scenario, link, rate.as_bps()).into_iter().map(move |command| (at.as_nanos(), command))
    });
    Ok((Bottleneck::Kernel { changes: changes.collect() }, words))
}

/// What the delay elements of each group would do.
fn lines(scenario: &Resolved, link: &Link) -> Vec<GroupLines> {
    let groups = scenario.flows.iter().map(|group| GroupLines {
        forward_ns: topology::forward_delay(group, link, None).as_nanos(),
        access_bps: topology::access_bps(group),
        return_ns: topology::return_delay(group, scenario).as_nanos(),
    });
    groups.collect()
}
