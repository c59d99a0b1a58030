//! Turns a resolved scenario into the plan of a run on real hosts.
//!
//! The topology is a dumbbell of three network namespaces. Every group of flows has a separate
//! interface at the senders (`s0`, `s1`, ...), whose netem applies all propagation delay on the
//! path to the receiver; groups with the same access share one such line (fact linux-37). The
//! router's end of that interface (`r0`, ...) delays returning packets. Packets therefore queue
//! behind each other only at the router's interface `out` (or at the TUN devices of our router).
//! The kernel's shaper passes a packet on when its transmission starts; a netem behind it adds the
//! packet's transmission time.

mod bands;
mod bottleneck;
mod captures;
mod class_rates;
mod classes;
mod delays;
mod egress;
pub(crate) mod flows;
mod programs;
pub(crate) mod refusal;
mod settings;
mod topology;

use sojourn_aqm::Span;
use sojourn_scenario::resolved::{Resolved, Tcp};

use crate::laws::PlannedLaw;
use crate::plan::{Bottleneck, Plan, ReverseLink};
pub(crate) use bottleneck::wire;
use bottleneck::{KernelQueue, bottleneck, links, reverse_link};
pub use captures::with_header_captures;
#[cfg(test)]
pub(crate) use classes::tests as tests_of_classes;
use egress::Egress;
pub use flows::own_profile;
#[cfg(test)]
pub(crate) use programs::tests as tests_of_programs;
pub use programs::{arranged, plan_with_programs};
use refusal::{Planned, refuse};
pub(crate) use topology::CREDITS_PER_BYTE;
use topology::{Commands, in_few_batches};

/// The kernel for which a run is planned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its timer interrupts per second.
    pub hz: u32,
    /// Whether our router applies the delays itself, so that netem is not needed in the kernel.
    pub delays_in_router: bool,
    /// Its release, such as 7 and 2; `None` if it is unknown.
    pub release: Option<(u32, u32)>,
}

/// The release in a kernel's version, such as 6 and 1 of `6.1.0-50-amd64`.
pub fn release_of(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Plans a run.
///
/// # Errors
/// The first part of the scenario that real hosts cannot run, or that this engine does not support.
pub fn plan(scenario: &Resolved, kernel: Kernel) -> Planned<Plan> {
    let links = links(scenario)?;
    let link = links.forward;
    let mut warnings = Vec::new();
    let flows = flows::flows(scenario)?;
    check_offloads(scenario)?;
    let timestamps = flows::timestamps(scenario)?;
    let (bottleneck, queue) = bottleneck(scenario, links, kernel, &mut warnings)?;
    warn(scenario, kernel, &mut warnings);
    let (wire, reverse) = (wire(link), reverse_link(scenario, links, &mut warnings)?);
    let laws = laws(scenario, &bottleneck, reverse.as_ref())?;
    let is_ours = matches!(bottleneck, Bottleneck::Sojourn(_));
    let egress = Egress::of(&bottleneck, wire.as_ref(), reverse.as_ref());
    let mut out = Commands::default();
    out.hosts(scenario, link, &bottleneck, egress);
    let sender_capture = scenario.record.latency.then(|| out.capture(scenario, &bottleneck));
    let (discipline, classes) = match queue {
        Some(KernelQueue::One(discipline)) => (Some(*discipline), None),
        Some(KernelQueue::Classes(classes)) => (None, Some(*classes)),
        None => (None, None),
    };
    if let Some(discipline) = &discipline {
        out.bottleneck(link, discipline);
    }
    if let Some(classes) = &classes {
        out.classes(link, classes);
    }
    let at_whole_second = discipline.as_ref().is_some_and(|it| it.at_whole_second)
        || classes.as_ref().is_some_and(|classes| classes.at_whole_second);
    Ok(Plan {
        seed: scenario.seed,
        duration_ns: scenario.duration.as_nanos(),
        warmup_ns: scenario.warmup.as_nanos(),
        sample_ns: scenario.record.sample.as_nanos(),
        sample_flows: scenario.record.flows,
        sample_law: scenario.record.states && (is_ours || reverse.is_some()),
        bins_ns: scenario.record.bins.map(Span::as_nanos),
        sender_capture,
        header_captures: None,
        hz: kernel.hz,
        settings: settings::settings(scenario, timestamps, egress.has_wire())?,
        commands: in_few_batches(out.commands),
        expected: out.expected,
        bottleneck,
        wire,
        reverse,
        stations: Vec::new(),
        module: bottleneck::module(scenario, links),
        adaptation: discipline.as_ref().and_then(|discipline| discipline.adaptation),
        kernel_qdisc: discipline.as_ref().and_then(|discipline| discipline.netlink.clone()),
        read_back: discipline.as_ref().and_then(|discipline| discipline.read_back.clone()),
        classes: classes.map(|classes| classes.plan),
        at_whole_second,
        flows,
        programs: None,
        warnings,
        drops_at_head: discipline.as_ref().is_some_and(|discipline| discipline.drops_at_head),
        is_random: discipline.as_ref().is_some_and(|discipline| discipline.is_random),
        laws,
    })
}

/// The laws in our router's queues that are not in the registry.
fn laws(
    scenario: &Resolved,
    bottleneck: &Bottleneck,
    reverse: Option<&ReverseLink>,
) -> Planned<Vec<PlannedLaw>> {
    let forward = match bottleneck {
        Bottleneck::Sojourn(link) => Some(link),
        Bottleneck::Kernel { .. } => None,
    };
    let mut laws = Vec::new();
    for link in forward.into_iter().chain(reverse.map(|reverse| &reverse.link)) {
        let link = &scenario.links[usize::from(link.index)];
        if let Err(message) = PlannedLaw::note(&link.queue, &mut laws) {
            return refuse(format!("links.{}.queue", link.name), message);
        }
    }
    Ok(laws)
}

/// Refuses super-packets, and latency records with offload, because the captures at TCP's ends
/// would see several packets handed down at once.
fn check_offloads(scenario: &Resolved) -> Planned<()> {
    if let Some((index, ..)) = scenario.tcp_groups().find(|(.., tcp)| tcp.super_packets) {
        let message = "engine linux keeps the offloads of its devices off, so no super-packet \
                       reaches a queue; write `tso:` for `gso:`, or use engine sim";
        return refuse(format!("flows[{index}].offload"), message);
    }

    let offloads = |tcp: &Tcp| tcp.offload_bytes.is_some();
    if scenario.record.latency && scenario.flows.iter().filter_map(|g| g.app.tcp()).any(offloads) {
        let message = "engine linux has no latency of packets that TCP hands down together; leave \
                       `offload` out, or use engine sim";
        return refuse("record.latency", message);
    }
    Ok(())
}

/// Adds warnings about differences from the scenario.
fn warn(scenario: &Resolved, kernel: Kernel, warnings: &mut Vec<String>) {
    let hz = kernel.hz;
    if hz != scenario.linux.hz {
        let asked = scenario.linux.hz;
        warnings.push(format!("engine.linux.hz: asked for {asked}; the kernel there has {hz} Hz"));
    }
    for (index, group) in scenario.flows.iter().enumerate() {
        warnings.extend(flows::padded(index, &group.app));
        warnings.extend(flows::other_tcp(group, kernel.release));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_the_first_two_numbers_of_a_version() {
        let debian = ["6.1.192-2", "6.1.0-56-amd64", "7.2.13"].map(release_of);
        assert_eq!(debian, [Some((6, 1)), Some((6, 1)), Some((7, 2))]);
        assert_eq!(["own", "", "7"].map(release_of), [None; 3]);
    }
}
