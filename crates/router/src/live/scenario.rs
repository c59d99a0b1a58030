//! The router's paths from the links of a scenario: rate, queue, delay, loss and jitter. Real
//! programs send the traffic, so the scenario's flows determine only the delays of hosts.
//!
//! # Decisions
//!
//! **Which link.** One link leads from near to far, another from far to near. They are named by
//! options, or one is the link that flows of the named link use in the other direction. If several
//! remain, the user must name one.
//!
//! **The base RTT of the flows is kept** if all flows of these links have the same delays in front
//! of and behind the links. These delays are added behind the queues.
//!
//! **What a router cannot do is refused**: a wireless LAN, a token bucket, a device below the
//! queue, a rate that changes between packets only, ECN bleaching. The remarks list unused parts of
//! the scenario.

use std::collections::BTreeSet;

use sojourn_aqm::{CustomLaws, Rate, Span, Time, registry};
use sojourn_scenario::resolved::{Capacity, FlowGroup, InService, Link, Resolved, Trace};
use sojourn_scenario::{Scenario, ScenarioError};

use super::plan::PathPlan;
use super::planned_paths::{PlannedPaths, Refusal, refuse};
use crate::laws::PlannedLaw;
use crate::plan::{Direction, RouterCapacity, RouterLinkPlan};
use crate::planning::wire;

const DIRECTIONS: [&str; 2] = ["from near to far", "from far to near"];
const OPTIONS: [&str; 2] = ["--link", "--reverse-link"];

/// The options for both directions, from near to far and back.
pub(super) struct Wanted<'a> {
    /// Names of links.
    pub(super) links: [Option<&'a str>; 2],
    /// AQMs in place of the links' own.
    pub(super) aqms: [Option<&'a str>; 2],
}

/// The paths of a scenario's links.
///
/// # Errors
///
/// The option, or the part of the scenario, that is at fault.
pub(super) fn paths(
    scenario: &Scenario,
    wanted: &Wanted<'_>,
    mtu_bytes: u32,
    known: &CustomLaws,
) -> Result<PlannedPaths, Refusal> {
    let chosen = chosen(scenario.resolved(), wanted)?;
    let scenario = with_aqms(scenario, chosen, wanted, known)?;
    let scenario = scenario.resolved();
    let (rests, mut remarks) = rests(scenario, chosen);
    let mut laws = Vec::new();
    let mut path = |way: usize| -> Result<PathPlan, Refusal> {
        let name = ["forward", "reverse"][way].to_owned();
        let rest = rests[way];
        let Some(index) = chosen[way] else {
            return Ok(PathPlan { name, link: None, delay_ns: rest.as_nanos(), wire: None });
        };
        let link = &scenario.links[index];
        let planned = router_link(link, index, mtu_bytes)?;
        let place = || format!("links.{}.queue", link.name);
        PlannedLaw::note(&link.queue, &mut laws).map_err(|message| (place(), message))?;
        let delay_ns = (link.delay + rest).as_nanos();
        Ok(PathPlan { name, link: Some(planned), delay_ns, wire: wire(link) })
    };
    let paths = [path(0)?, path(1)?];
    remarks.insert(0, summary(scenario, chosen, &paths));
    remarks.push(left_out(scenario, chosen));
    Ok(PlannedPaths { paths, laws, remarks })
}

/// The links from near to far and back.
fn chosen(scenario: &Resolved, wanted: &Wanted<'_>) -> Result<[Option<usize>; 2], Refusal> {
    let named = [find(scenario, wanted, 0)?, find(scenario, wanted, 1)?];
    match named {
        [Some(one), Some(other)] if one == other => {
            refuse(OPTIONS[1], "is the link of --link as well; a link has one direction")
        }
        [Some(_), Some(_)] => Ok(named),
        [Some(link), None] => Ok([Some(link), opposite(scenario, link, 1)?]),
        [None, Some(link)] => Ok([opposite(scenario, link, 0)?, Some(link)]),
        [None, None] => {
            let forward = scenario.flows.iter().flat_map(|group| group.path.iter().copied());
            match Vec::from_iter(BTreeSet::from_iter(forward))[..] {
                [link] => Ok([Some(link), opposite(scenario, link, 1)?]),
                _ => refuse(
                    OPTIONS[0],
                    format!(
                        "{} has several links; name the one {}: {}",
                        scenario.name,
                        DIRECTIONS[0],
                        names(scenario, 0..scenario.links.len())
                    ),
                ),
            }
        }
    }
}

/// The link that an option names.
fn find(scenario: &Resolved, wanted: &Wanted<'_>, way: usize) -> Result<Option<usize>, Refusal> {
    let Some(name) = wanted.links[way] else { return Ok(None) };
    let found = scenario.links.iter().position(|link| link.name == name);
    if found.is_none() {
        let known: Vec<&str> = scenario.links.iter().map(|link| link.name.as_str()).collect();
        let hint = registry::hint(name, &known);
        return refuse(OPTIONS[way], format!("{} has no link `{name}`{hint}", scenario.name));
    }
    Ok(found)
}

/// The link that flows through `link` pass in the other direction, `way`, if any.
fn opposite(scenario: &Resolved, link: usize, way: usize) -> Result<Option<usize>, Refusal> {
    let groups = scenario.flows.iter().flat_map(|group| {
        let [path, reverse] = [&group.path, &group.reverse];
        let there = path.contains(&link).then_some(reverse);
        let back = reverse.contains(&link).then_some(path);
        there.into_iter().chain(back).flatten().copied()
    });
    match Vec::from_iter(BTreeSet::from_iter(groups))[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        ref several => {
            let names = names(scenario, several.iter().copied());
            let message =
                format!("name the link {} of {}: {names}", DIRECTIONS[way], scenario.name);
            refuse(OPTIONS[way], message)
        }
    }
}

fn names(scenario: &Resolved, links: impl IntoIterator<Item = usize>) -> String {
    let names: Vec<&str> =
        links.into_iter().map(|link| scenario.links[link].name.as_str()).collect();
    names.join(", ")
}

/// The scenario with the AQMs of the options.
fn with_aqms(
    scenario: &Scenario,
    chosen: [Option<usize>; 2],
    wanted: &Wanted<'_>,
    known: &CustomLaws,
) -> Result<Scenario, Refusal> {
    let refusal = |error: ScenarioError| (error.place, error.message);
    let mut changed = scenario.with_laws(known.iter().cloned()).map_err(refusal)?;
    for (way, given) in wanted.aqms.into_iter().enumerate() {
        let Some(aqm) = given else { continue };
        let option = ["--aqm", "--reverse-aqm"][way];
        let Some(link) = chosen[way] else {
            return refuse(option, format!("the scenario has no link {}", DIRECTIONS[way]));
        };
        let name = &scenario.resolved().links[link].name;
        changed =
            changed.with_queue(name, aqm).map_err(|error| (option.to_owned(), error.message))?;
    }
    Ok(changed)
}

/// The delays in front of and behind the links, from near to far and back, and a remark if flows
/// differ in them.
fn rests(scenario: &Resolved, chosen: [Option<usize>; 2]) -> ([Span; 2], Vec<String>) {
    let of = |group: &FlowGroup| {
        let there = group.access_delay + group.egress_delay;
        let back = group.return_delay + group.return_egress_delay;
        let passes =
            |links: &[usize], way: usize| chosen[way].is_some_and(|it| links.contains(&it));
        if passes(&group.path, 0) || passes(&group.reverse, 1) {
            return Some([there, back]);
        }
        (passes(&group.path, 1) || passes(&group.reverse, 0)).then_some([back, there])
    };
    let through: Vec<_> = scenario.flows.iter().filter(|group| of(group).is_some()).collect();
    let delays: Vec<[Span; 2]> = through.iter().filter_map(|group| of(group)).collect();
    if let [first, others @ ..] = &delays[..]
        && others.iter().all(|other| other == first)
    {
        return (*first, Vec::new());
    }
    let rtts = || through.iter().map(|group| group.rtt);
    let remark = rtts().min().zip(rtts().max()).map(|(least, most)| {
        format!(
            "flows have base RTTs from {least} to {most} and different delays outside the links, \
             so packets get only the delays of the links"
        )
    });
    ([Span::ZERO; 2], remark.into_iter().collect())
}

/// A description of the paths as text.
fn summary(scenario: &Resolved, chosen: [Option<usize>; 2], paths: &[PathPlan; 2]) -> String {
    let way = |way: usize| {
        let what = match chosen[way] {
            Some(link) => format!("links.{}", scenario.links[link].name),
            None => "no queue".to_owned(),
        };
        let delay = Span::from_nanos(paths[way].delay_ns);
        format!("{what} {} (delay {delay})", DIRECTIONS[way])
    };
    format!("{}: {}, {}", scenario.name, way(0), way(1))
}

/// The parts of the scenario that the router does not use.
fn left_out(scenario: &Resolved, chosen: [Option<usize>; 2]) -> String {
    let others = (0..scenario.links.len()).filter(|link| !chosen.contains(&Some(*link)));
    let others = names(scenario, others);
    let links = if others.is_empty() { others } else { format!(", the links {others}") };
    format!("the router ignores the scenario's flows, duration, warmup and record{links}")
}

fn router_link(link: &Link, index: usize, mtu_bytes: u32) -> Result<RouterLinkPlan, Refusal> {
    let refused = |key: &str, message: &str| refuse(&format!("links.{}.{key}", link.name), message);
    if link.device.is_some() {
        return refused("device", "the router has no device below the queue; remove it");
    }
    if link.scheduler.is_some() {
        return refused("scheduler", "the router has one queue per direction; remove it");
    }
    if link.policer.is_some() {
        return refused("policer", "the router has no policer; remove it, or use engine sim");
    }
    if !link.packing.is_none() {
        return refused("framing", "the router counts no `mpu` and no `cells`; remove them");
    }
    if link.ecn_bleaching {
        return refused("ecn_bleaching", "the router never clears the ECN field; remove it");
    }
    let service = match &link.capacity {
        Capacity::Constant(rate) => RouterCapacity::Rates(vec![(0, rate.as_bps())]),
        Capacity::Schedule(schedule) if schedule.in_service == InService::OldRate => {
            let message = "the router sends the rest of a packet at the new rate; leave it out";
            return refused("rate.in_service", message);
        }
        Capacity::Schedule(schedule) => {
            let step =
                |&(at, rate): &(Time, Option<Rate>)| (at.as_nanos(), rate.map_or(0, Rate::as_bps));
            RouterCapacity::Rates(schedule.steps().iter().map(step).collect())
        }
        Capacity::Trace(trace) => RouterCapacity::Recorded(Box::new(Trace::clone(trace))),
        Capacity::Bucket(_) => {
            return refused(
                "rate",
                "the router has constant rates, schedules and recordings, no token bucket",
            );
        }
        Capacity::Wireless { .. } => {
            let message = "the router has no wireless LAN; name another link, or use `sojourn run`";
            return refused("rate", message);
        }
    };
    Ok(RouterLinkPlan {
        queue: link.queue.in_place().to_string(),
        index: index as u16,
        direction: Direction::Forward,
        limit: link.limit.to_string(),
        framing_bytes: link.framing_bytes,
        mtu_bytes: link.queue_mtu_bytes().max(mtu_bytes + link.framing_bytes),
        service,
        duplicate: link.duplicate.map(|it| (link.name.clone(), it)),
        drop_list: Vec::new(),
        mark_list: Vec::new(),
        delays: Vec::new(),
    })
}

#[cfg(test)]
#[path = "scenario_tests.rs"]
mod tests;
