//! Builds a world from a resolved scenario: components and their alarms in a documented order.

use std::sync::Arc;

use sojourn_aqm::{Env, QdiscSpec, Rate, Rng, Span, Time, registry};
use sojourn_scenario::resolved::{App, Capacity, FlowGroup, Link as LinkPlan, Resolved, Tcp};

use crate::SimError;
use crate::agenda::Agenda;
use crate::app::Access;
use crate::app::datagrams::{DatagramFlow, Periods};
use crate::app::stream::{Plan, Setup, Stream};
use crate::cc::{self, Factory};
use crate::link::{Link, Server};
use crate::opportunities::Opportunities;
use crate::probe::Probe;
use crate::tcp::Segments;
use crate::tcp::profile::{self, AckRule, Profile};
use crate::transmitter::Transmitter;
use crate::wire::Wire;
use crate::world::{End, Flow, FlowCount, Group, Route, Sampling, Slots, World};

/// Wires of a group beside those of the links: to the receiver, back, and from the last reverse link.
const WIRES_PER_GROUP: usize = 3;

/// Builds the world of a scenario.
///
/// # Errors
/// [`SimError::Invalid`] for an AQM or a congestion control that cannot be made.
pub fn world(plan: &Resolved) -> Result<World, SimError> {
    let flows: usize = plan.flows.iter().map(|group| group.count as usize).sum();
    let slots = slots(plan.links.len(), plan.flows.len(), flows);
    let mut agenda = Agenda::new(slots.sampler + 1);
    let end = Time::ZERO + plan.duration;
    let warmup = Time::ZERO + plan.warmup;
    let classes = classes(plan);
    let groups = plan.flows.iter().enumerate().map(|(i, group)| group_of(plan, i, group, &classes));
    let groups: Vec<Group> = groups.collect();
    let wires = wires(plan, &groups, slots);
    let links = plan.links.iter().enumerate();
    let links = links
        .map(|(i, link)| build_link(plan, i, link, slots, &mut agenda))
        .collect::<Result<Vec<_>, _>>()?;
    let sampling = plan.record;
    if sampling.states || sampling.flows {
        agenda.set(slots.sampler, Time::ZERO + sampling.sample);
    }
    let mut world = World {
        agenda,
        slots,
        links,
        link_wires: (0..plan.links.len()).collect(),
        wires,
        groups,
        group_of: Vec::with_capacity(flows),
        accesses: Vec::with_capacity(flows),
        flows: Vec::with_capacity(flows),
        probe: Probe::new(plan.links.len(), classes.len(), (warmup, end)),
        flow_samples: Vec::new(),
        at_warmup: vec![FlowCount::default(); flows],
        sampling: Sampling {
            states: sampling.states,
            flows: sampling.flows,
            every: sampling.sample,
        },
        warmup,
        end,
        events: 0,
    };
    for (i, group) in plan.flows.iter().enumerate() {
        add_flows(&mut world, plan, i, group)?;
    }
    Ok(world)
}

/// The names of the classes, in the order of first use.
pub fn classes(plan: &Resolved) -> Vec<String> {
    let mut classes: Vec<String> = Vec::new();
    for group in &plan.flows {
        if !classes.contains(&group.class) {
            classes.push(group.class.clone());
        }
    }
    classes
}

fn slots(links: usize, groups: usize, flows: usize) -> Slots {
    let wires = 2 * links;
    let accesses = wires + links + WIRES_PER_GROUP * groups;
    Slots { timers: links, wires, accesses, flows: accesses + flows, sampler: accesses + 2 * flows }
}

fn group_of(plan: &Resolved, place: usize, group: &FlowGroup, classes: &[String]) -> Group {
    let first_wire = plan.links.len() + WIRES_PER_GROUP * place;
    let class = classes.iter().position(|class| *class == group.class);
    Group {
        class: class.expect("every class is listed"),
        forward: Route { links: group.path.clone(), exit: first_wire },
        backward: Route { links: group.reverse.clone(), exit: first_wire + 2 },
        back: first_wire + 1,
    }
}

fn wires(plan: &Resolved, groups: &[Group], slots: Slots) -> Vec<(Wire, End)> {
    let mut wires: Vec<(Span, End)> =
        plan.links.iter().map(|link| (link.delay, End::Link)).collect();
    for (group, built) in plan.flows.iter().zip(groups) {
        let delay_of = |links: &[usize]| links.last().map_or(Span::ZERO, |&l| plan.links[l].delay);
        let back = if built.backward.links.is_empty() { End::Sender } else { End::Link };
        wires.push((delay_of(&group.path) + group.egress_delay, End::Receiver));
        wires.push((group.return_delay, back));
        wires.push((delay_of(&group.reverse) + group.return_egress_delay, End::Sender));
    }
    let wire = |(i, (delay, end))| (Wire::new(delay, slots.wires + i), end);
    wires.into_iter().enumerate().map(wire).collect()
}

fn build_link(
    plan: &Resolved,
    place: usize,
    link: &LinkPlan,
    slots: Slots,
    agenda: &mut Agenda,
) -> Result<Link, SimError> {
    let env = Env {
        limit: link.limit,
        mtu_bytes: link.mtu_bytes,
        rate: Some(link.capacity.initial_rate()),
        salt: Rng::stream(plan.seed, "hash", place as u64).next_u64(),
    };
    let queue = build_queue(&link.queue, &env)
        .map_err(|why| SimError::invalid(&format!("links.{}.queue", link.name), why))?;
    let rng = Rng::stream(plan.seed, "queue", place as u64);
    let slots = (place, slots.timers + place);
    Ok(Link::new(queue, rng, server(&link.capacity), link.framing_bytes, slots, agenda))
}

fn build_queue(
    spec: &QdiscSpec,
    env: &Env,
) -> Result<Box<dyn sojourn_aqm::Qdisc<crate::packet::Packet>>, String> {
    registry::build(spec, env).map_err(|error| error.to_string())
}

fn server(capacity: &Capacity) -> Server {
    let steady = |rate: Rate, changes: Vec<(Time, Rate)>| Server::Steady {
        transmitter: Transmitter::new(rate),
        changes,
        in_service: None,
    };
    match capacity {
        Capacity::Constant(rate) => steady(*rate, Vec::new()),
        Capacity::Schedule(steps) => steady(steps[0].1, steps[1..].iter().rev().copied().collect()),
        Capacity::Trace(trace) => Server::Recorded {
            opportunities: Opportunities::new(Arc::clone(trace)),
            in_service: None,
        },
    }
}

/// Adds the flows of a group. Their random streams are named by the group and their place in it, so
/// that another group never shifts their luck.
fn add_flows(
    world: &mut World,
    plan: &Resolved,
    place: usize,
    group: &FlowGroup,
) -> Result<(), SimError> {
    let transport = match tcp_of(&group.app) {
        None => None,
        Some(tcp) => Some(self::transport(place, tcp)?),
    };
    for i in 0..group.count {
        let index = world.flows.len();
        let stream = |purpose: &str| {
            Rng::stream(plan.seed, &format!("{}/{purpose}", group.name), u64::from(i))
        };
        let start = draw_start(group.start, &mut stream("start"));
        let stop = group.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop);
        let flow =
            build_flow(index as u32, group, transport.as_ref(), (start, stop), stream("app"));
        world.agenda.set(world.slots.flows + index, flow.next_timer());
        let wire = Wire::new(Span::ZERO, world.slots.accesses + index);
        let transmitter = Transmitter::new(group.access_rate);
        world.accesses.push(Access::new(transmitter, group.access_delay, wire));
        world.flows.push(flow);
        world.group_of.push(place as u32);
    }
    Ok(())
}

/// The rules of a group's TCP, and what makes its congestion controls.
type Transport = (Profile, Arc<Factory>);

/// What the TCP flows of a group use, every default filled in, for the manifest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransportInFull {
    /// The group.
    pub flows: String,
    /// The congestion control with all its parameters.
    pub cc: String,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Packets that one acknowledgement covers at most.
    pub ack_every: u32,
    /// The rules of the profile, all fields.
    pub profile: String,
}

/// The transport of every group of TCP flows.
///
/// # Errors
/// [`SimError::Invalid`] for a profile or a congestion control that does not exist.
pub fn transports(plan: &Resolved) -> Result<Vec<TransportInFull>, SimError> {
    let groups = plan.flows.iter().enumerate();
    let with_tcp = groups.filter_map(|(i, group)| Some((i, group, tcp_of(&group.app)?)));
    let in_full = |(place, group, tcp): (usize, &FlowGroup, &Tcp)| {
        let (profile, _) = transport(place, tcp)?;
        let cc = tcp.cc.as_deref().unwrap_or(profile.cc);
        let initial = || profile.initial_window.packets(tcp.payload_bytes);
        Ok(TransportInFull {
            flows: group.name.clone(),
            cc: cc::in_full(cc)
                .map_err(|why| SimError::invalid(&format!("flows[{place}].cc"), why))?,
            initial_window: tcp.initial_window.unwrap_or_else(initial),
            ack_every: profile.ack.every,
            profile: format!("{profile:?}"),
        })
    };
    with_tcp.map(in_full).collect()
}

fn transport(place: usize, tcp: &Tcp) -> Result<Transport, SimError> {
    let invalid = |key: &str| {
        let at = format!("flows[{place}].{key}");
        move |why: String| SimError::invalid(&at, why)
    };
    let mut profile = profile::profile(&tcp.profile).map_err(invalid("tcp"))?;
    if let Some(every) = tcp.ack_every {
        profile.ack = AckRule { every, ..profile.ack };
    }
    let cc = tcp.cc.as_deref().unwrap_or(profile.cc);
    Ok((profile, Arc::new(cc::factory(cc).map_err(invalid("cc"))?)))
}

fn tcp_of(app: &App) -> Option<&Tcp> {
    match app {
        App::Bulk { tcp, .. } | App::Files { tcp, .. } => Some(tcp),
        App::Cbr { .. } | App::OnOff { .. } => None,
    }
}

/// When a flow starts: drawn evenly between the two times.
pub fn draw_start((earliest, latest): (Span, Span), rng: &mut Rng) -> Time {
    let range = (latest - earliest).as_nanos();
    let drawn = if range > 0 { rng.below(range) } else { 0 };
    Time::ZERO + earliest + Span::from_nanos(drawn)
}

fn build_flow(
    index: u32,
    group: &FlowGroup,
    transport: Option<&Transport>,
    times: (Time, Time),
    rng: Rng,
) -> Flow {
    let stream = |tcp: &Tcp, plan: Plan, rng: Rng| {
        let (profile, factory) = transport.expect("a TCP flow has a profile");
        let initial = || profile.initial_window.packets(tcp.payload_bytes);
        let segments = Segments {
            flow: index,
            connection: 0,
            payload_bytes: tcp.payload_bytes,
            header_bytes: tcp.header_bytes,
            ecn: tcp.ecn,
            count: u32::MAX,
            last_payload_bytes: tcp.payload_bytes,
            initial_window: tcp.initial_window.unwrap_or_else(initial),
        };
        let precise_echo = tcp.ecn && factory().counts_marks();
        let factory = Arc::clone(factory);
        let setup = Setup { factory, segments, profile: *profile, precise_echo };
        Flow::Stream(Box::new(Stream::new(setup, plan, times, rng)))
    };
    let datagrams = |datagrams, periods, rng| {
        Flow::Datagrams(Box::new(DatagramFlow::new(index, datagrams, periods, times, rng)))
    };
    match &group.app {
        App::Bulk { tcp, bytes } => stream(tcp, Plan::Bulk(*bytes), rng),
        App::Files { tcp, sizes, think } => {
            stream(tcp, Plan::Files { sizes: sizes.clone(), think: *think }, rng)
        }
        App::Cbr { datagrams: plan } => datagrams(plan, None, rng),
        App::OnOff { datagrams: plan, on, off } => {
            datagrams(plan, Some(Periods { on: *on, off: *off }), rng)
        }
    }
}
