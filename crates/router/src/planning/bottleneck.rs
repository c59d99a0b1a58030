//! The links of a scenario: the bottleneck of a run, the reverse link, and the wires behind them.

use sojourn_aqm::{Cells, Rate, Time};
use sojourn_scenario::ScenarioError;
use sojourn_scenario::resolved::{
    App, Capacity, Ecn, FlowGroup, InService, Link, LinuxBottleneck, Resolved, Trace,
};

use super::Kernel;
use super::classes::{TcClasses, classes};
use super::delays;
use super::refusal::{Planned, refuse};
use super::topology::{VETH_BPS, rate_change};
use crate::plan::{
    Bottleneck, Direction, GroupDelays, ModuleAqm, ReverseLink, RouterCapacity, RouterLinkPlan,
    WirePlan,
};
use crate::tc::{self, TcContext, TcDiscipline};

/// The links of a scenario: one to the receivers, which all flows pass, and at most one to the
/// senders, which some flows pass.
#[derive(Clone, Copy)]
pub(super) struct Links<'a> {
    /// The link to the receivers.
    pub(super) forward: &'a Link,
    /// Its index among the scenario's links.
    index: usize,
    /// The link to the senders, with its index.
    reverse: Option<(&'a Link, usize)>,
}

/// Finds the links.
///
/// # Errors
/// Returns an error if there are more links, or endpoints that this engine does not support.
pub(super) fn links(scenario: &Resolved) -> Planned<Links<'_>> {
    if let Some(wlan) = scenario.wlans.first() {
        let message = "engine linux has no wireless LAN; use engine sim";
        return refuse(format!("wlans.{}", wlan.name), message);
    }
    let forward = scenario.flows[0].path[0];
    let reverse = scenario.flows.iter().find_map(|group| group.reverse.first()).copied();
    for (index, group) in scenario.flows.iter().enumerate() {
        check_group(index, group, (forward, reverse))?;
    }
    if scenario.links.len() != 1 + usize::from(reverse.is_some()) {
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
    scenario.links.iter().try_for_each(check_schedule)?;
    let reverse = reverse.map(|index| (&scenario.links[index], index));
    Ok(Links { forward: &scenario.links[forward], index: forward, reverse })
}

/// Checks that all groups pass the same link to the receivers, and the same or none to the senders.
fn check_group(
    index: usize,
    group: &FlowGroup,
    (forward, reverse): (usize, Option<usize>),
) -> Planned<()> {
    if group.app.tcp().and_then(|tcp| tcp.ecn).is_some_and(|ecn| ecn != Ecn::default()) {
        let message = "engine linux runs Linux 6.1, which has no accurate ECN feedback, with the \
                       same settings at both ends; leave `accecn`, `receiver_ecn`, \
                       `accecn_option` and `ecn_fallback` out, or use engine sim";
        return refuse(format!("flows[{index}].ecn"), message);
    }
    if group.hosts.is_some() {
        let message = "engine linux gives every group of flows its own two hosts; leave \
                       `src_host` and `dst_host` out, or use engine sim";
        return refuse(format!("flows[{index}].src_host"), message);
    }
    if matches!(group.app, App::Echo { .. }) {
        let message = "engine linux has no host that sends datagrams back; use engine sim";
        return refuse(format!("flows[{index}].app"), message);
    }
    let window = group.app.tcp().and_then(|tcp| tcp.receive_window);
    let is_other = |link: &usize| Some(*link) != reverse || *link == forward;
    for (key, is_unsupported) in [
        ("path", group.path != [forward]),
        ("reverse", group.reverse.len() > 1 || group.reverse.iter().any(is_other)),
        ("sender_downlink", group.sender_downlink.is_some()),
        ("receiver_rate", group.receiver_rate.is_some()),
        ("receive_window", window.is_some_and(|window| !window.autotuned)),
    ] {
        if is_unsupported {
            let message = "engine linux has one link towards the receivers, at most one on the \
                           reverse path, and windows that grow by `autotuning`; use engine sim";
            return refuse(format!("flows[{index}].{key}"), message);
        }
    }
    if matches!(group.app, App::Web { .. }) && !group.reverse.is_empty() {
        let message = "a request dropped there is not repeated on engine linux; use engine sim";
        return refuse(format!("flows[{index}].reverse"), message);
    }
    Ok(())
}

/// The link to the senders.
pub(super) fn reverse_link(
    scenario: &Resolved,
    links: Links<'_>,
    warnings: &mut Vec<String>,
) -> Planned<Option<ReverseLink>> {
    let Some((link, index)) = links.reverse else { return Ok(None) };
    let other = match scenario.linux.bottleneck() {
        LinuxBottleneck::Kernel => Some("the kernel's own"),
        LinuxBottleneck::SojournModule => Some("the module's"),
        LinuxBottleneck::Sojourn => None,
    };
    warnings.extend(other.map(|other| {
        format!(
            "links.{}: its queue is our router's; {other} is on the way to the receivers",
            link.name
        )
    }));
    let groups = (0..scenario.flows.len()).filter(|&i| !scenario.flows[i].reverse.is_empty());
    let router_link = router_link(link, index, Direction::Reverse, Vec::new())?;
    Ok(Some(ReverseLink { link: router_link, wire: wire(link), groups: groups.collect() }))
}

/// The wire behind a link, if the wire does more than add a constant delay.
pub(crate) fn wire(link: &Link) -> Option<WirePlan> {
    let Link { name, loss, jitter, delay_changes, reorder, corrupt, .. } = link;
    let varies = jitter.is_some() || delay_changes.is_some() || reorder.is_some();
    let does_more = loss.is_some() || varies || corrupt.is_some();
    does_more.then(|| WirePlan {
        link: name.clone(),
        loss: loss.clone(),
        jitter: jitter.clone(),
        changes: delay_changes.clone(),
        reorder: *reorder,
        corrupt: *corrupt,
    })
}

/// The queue of a bottleneck in the kernel.
pub(super) enum KernelQueue {
    /// A discipline.
    One(Box<TcDiscipline>),
    /// A scheduler with a discipline for each leaf.
    Classes(Box<TcClasses>),
}

/// The bottleneck and, if it is in the kernel, what tc installs there.
pub(super) fn bottleneck(
    scenario: &Resolved,
    Links { forward: link, index, .. }: Links<'_>,
    kernel: Kernel,
    warnings: &mut Vec<String>,
) -> Planned<(Bottleneck, Option<KernelQueue>)> {
    match scenario.linux.bottleneck() {
        LinuxBottleneck::Sojourn => {
            let delays = if kernel.delays_in_router { delays(scenario, link) } else { Vec::new() };
            let link = router_link(link, index, Direction::Forward, delays)?;
            Ok((Bottleneck::Sojourn(link), None))
        }
        LinuxBottleneck::Kernel | LinuxBottleneck::SojournModule => {
            let (bottleneck, queue) = kernel_bottleneck(scenario, link, kernel, warnings)?;
            Ok((bottleneck, Some(queue)))
        }
    }
}

/// Why our router refuses a link.
const NO_PACKING: &str = "our router counts `framing`, but no `mpu` and no `cells`; use engine sim";

/// Refuses policers.
fn check_policer(link: &Link) -> Planned<()> {
    match link.policer {
        None => Ok(()),
        Some(_) => refuse(
            format!("links.{}.policer", link.name),
            "engine linux has no policer; leave it out, or use engine sim",
        ),
    }
}

/// A link of our router.
fn router_link(
    link: &Link,
    index: usize,
    direction: Direction,
    delays: Vec<GroupDelays>,
) -> Planned<RouterLinkPlan> {
    if !link.packing.is_none() {
        return refuse(format!("links.{}", link.name), NO_PACKING);
    }
    check_policer(link)?;
    if link.scheduler.is_some() {
        let remedy = match direction {
            Direction::Forward => "take engine.linux.bottleneck = \"kernel\"",
            Direction::Reverse => "leave it out",
        };
        let message = format!("our router has one queue per link; {remedy}, or use engine sim");
        return refuse(format!("links.{}.scheduler", link.name), message);
    }
    Ok(RouterLinkPlan {
        queue: link.queue.in_place().to_string(),
        index: index as u16,
        direction,
        limit: link.limit.to_string(),
        framing_bytes: link.framing_bytes,
        mtu_bytes: link.queue_mtu_bytes(),
        service: service(link)?,
        drop_list: Vec::new(),
        mark_list: Vec::new(),
        duplicate: link.duplicate.map(|it| (link.name.clone(), it)),
        delays,
    })
}

/// Our router implements the default of a schedule, and so does the kernel's shaper, which lends a
/// packet credit that is repaid at the new rate.
fn check_schedule(link: &Link) -> Planned<()> {
    let Capacity::Schedule(schedule) = &link.capacity else { return Ok(()) };
    let refused =
        |key: &str, message: &str| refuse(format!("links.{}.rate.{key}", link.name), message);
    if schedule.has_outage() {
        return refused("steps", "engine linux has no shaper with a rate of 0bit; use engine sim");
    }
    if schedule.in_service == InService::OldRate {
        let message = "engine linux sends the rest of a packet at the new rate; leave `in_service` \
                       out, or use engine sim";
        return refused("in_service", message);
    }
    Ok(())
}

/// How a link of our router sends.
fn service(link: &Link) -> Planned<RouterCapacity> {
    match (&link.capacity, rates(link)) {
        (_, Some(rates)) => {
            let plain = |(at, rate): (Time, Rate)| (at.as_nanos(), rate.as_bps());
            Ok(RouterCapacity::Rates(rates.into_iter().map(plain).collect()))
        }
        (Capacity::Trace(trace), None) => {
            Ok(RouterCapacity::Recorded(Box::new(Trace::clone(trace))))
        }
        (_, None) => refuse(
            format!("links.{}.rate", link.name),
            "engine linux has steady rates, schedules and recordings, no token bucket; use engine \
             sim",
        ),
    }
}

/// The rates of a link, each with its start time, if the link has such rates.
fn rates(link: &Link) -> Option<Vec<(Time, Rate)>> {
    match &link.capacity {
        Capacity::Constant(rate) => Some(vec![(Time::ZERO, *rate)]),
        Capacity::Schedule(schedule) => {
            schedule.steps().iter().map(|&(at, rate)| Some((at, rate?))).collect()
        }
        Capacity::Trace(_) | Capacity::Bucket(_) | Capacity::Wireless { .. } => None,
    }
}

/// Our AQM in the kernel, if the scenario requests it.
pub(super) fn module(
    scenario: &Resolved,
    Links { forward: link, .. }: Links<'_>,
) -> Option<ModuleAqm> {
    let rate = rates(link)?[0].1;
    (scenario.linux.bottleneck() == LinuxBottleneck::SojournModule).then(|| ModuleAqm {
        aqm: link.queue.to_string(),
        seed: scenario.seed,
        rate_bps: rate.as_bps(),
    })
}

/// The discipline in the kernel under its shaper.
fn kernel_bottleneck(
    scenario: &Resolved,
    link: &Link,
    kernel: Kernel,
    warnings: &mut Vec<String>,
) -> Planned<(Bottleneck, KernelQueue)> {
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
    check_policer(link)?;
    if link.duplicate.is_some() {
        return refuse(
            format!("links.{}.duplicate", link.name),
            "only our router copies packets in front of its queue; write engine.linux.bottleneck = \
             \"sojourn\", or use engine sim",
        );
    }
    if link.packing.mpu > 0 || link.packing.cells == Cells::Ptm {
        return refuse(
            format!("links.{}", link.name),
            "the kernel's netem, which sends behind the queue, has no `mpu` and no PTM cells; use \
             engine sim",
        );
    }
    let place = format!("links.{}.queue", link.name);
    let rate_bps = rates[0].1.as_bps();
    let mtu_bytes = link.queue_mtu_bytes();
    let context = TcContext { mtu_bytes, rate_bps, hz: kernel.hz, release: kernel.release };
    let changes = rates[1..].iter().flat_map(|&(at, rate)| {
        rate_change(link, rate.as_bps()).into_iter().map(move |command| (at.as_nanos(), command))
    });
    let bottleneck = Bottleneck::Kernel { changes: changes.collect() };
    if let Some(scheduler) = &link.scheduler {
        let classes = classes(scenario, link, scheduler, context)?;
        warnings.extend(classes.warnings.iter().cloned());
        return Ok((bottleneck, KernelQueue::Classes(Box::new(classes))));
    }
    let discipline = match scenario.linux.bottleneck() {
        LinuxBottleneck::SojournModule => tc::module(&link.queue),
        LinuxBottleneck::Kernel | LinuxBottleneck::Sojourn => tc::translate(&link.queue, &context),
    };
    let discipline = discipline.map_err(|message| ScenarioError::new(place.clone(), message))?;
    warnings.extend(discipline.warnings.iter().map(|sentence| format!("{place}: {sentence}")));
    Ok((bottleneck, KernelQueue::One(Box::new(discipline))))
}

/// The delays of each group that netem would apply.
fn delays(scenario: &Resolved, link: &Link) -> Vec<GroupDelays> {
    let groups = scenario.flows.iter().map(|group| GroupDelays {
        forward_ns: delays::forward_delay(group, link, delays::access_bps(group)).as_nanos(),
        access_bps: delays::access_bps(group),
        return_ns: delays::return_delay(group, scenario).as_nanos(),
    });
    groups.collect()
}
