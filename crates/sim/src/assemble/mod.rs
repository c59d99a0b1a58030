//! Builds a simulation from a resolved scenario: components and their alarms in a documented order.

mod endpoints;
mod ends;
mod links;
mod routes;
mod services;
mod transport;

use std::collections::BTreeMap;
use std::sync::Arc;

use sojourn_aqm::{Rng, Span, Time};
use sojourn_link::{Duplication, Impairment, SerialLink};
use sojourn_measure::{Bins, DatagramLosses, EcnConnections, Probe, Utilisation};
use sojourn_scenario::draw;
use sojourn_scenario::resolved::{App, Resolved, Tcp};
use sojourn_traffic::{CustomApp, TransferPlan};

pub(crate) use self::endpoints::check as check_stacks;
use self::ends::{Buffers, ecn, initial_window};
pub(crate) use self::links::{discipline, link};
use self::links::{impairment, wireless_lans};
use self::routes::{WIRES_PER_GROUP, links_with_onward_wires, routes, wires};
pub(crate) use self::services::Timing;
use self::services::{Topology, services};
use self::transport::{Transport, transport};
pub use self::transport::{TransportSummary, transports};
use crate::alarms::{self, Alarms};
use crate::app::datagrams::DatagramFlow;
use crate::app::endpoint::FirstFailure;
use crate::app::page::Page;
use crate::app::setup::Setup;
use crate::app::stream::Stream;
use crate::cc::CustomControls;
use crate::packet::{HostPair, Labels};
use crate::path::{Agenda, Onward, Path, ScheduledLink, Service, Slots};
use crate::sightings::Sightings;
use crate::tcp::Segments;
use crate::world::{DatagramEnds, FlowEnds, Sampling, SimulatedFlow, World};
use crate::{Custom, SimError, drop_elsewhere};

/// Flows assembled between two checks for cancellation; assembling them takes a few milliseconds.
const FLOWS_PER_LOOK: u32 = 4096;

/// Builds the simulation of a scenario.
///
/// # Errors
/// [`SimError::Invalid`] for an AQM or a congestion control that cannot be built, or a custom
/// control for flows that do not exist; [`SimError::Cancelled`] when `keep_going` returned false.
pub(crate) fn world(
    plan: &Resolved,
    custom: &Custom,
    timing: Timing,
    keep_going: &dyn Fn(Time) -> bool,
) -> Result<World, SimError> {
    check_custom(plan, custom)?;
    endpoints::check(plan, &custom.stacks)?;
    let mut world = without_flows(plan, timing, keep_going)?;
    world.remarks = endpoints::remarks(&custom.stacks);
    let buffers = Buffers::of(plan);
    let classes = plan.classes();
    let class_of = classes.iter().zip(0..).map(|(class, place)| (class.as_str(), place));
    let class_of: BTreeMap<&str, u32> = class_of.collect();
    let added = plan.flows.iter().enumerate().try_for_each(|(place, group)| {
        let class = class_of[group.class.as_str()];
        add_flows(&mut world, (plan, place, class), buffers, custom, keep_going)
    });
    match added {
        Ok(()) => Ok(world),
        Err(error) => {
            drop_elsewhere(world);
            Err(error)
        }
    }
}

/// The links and wires between the endpoints, without packets in flight.
fn path(
    plan: &Resolved,
    timing: Timing,
    flows: usize,
    keep_going: &dyn Fn(Time) -> bool,
) -> Result<Path, SimError> {
    let onward = links_with_onward_wires(plan);
    let slots = slots(plan, onward.len(), flows);
    check_end(Time::ZERO + plan.duration, slots, flows)?;
    let mut agenda = Agenda::new(&slots);
    let impairments: Vec<Option<Impairment>> =
        plan.links.iter().map(|link| impairment(plan, link)).collect();
    let is_impaired = |link: usize| impairments[link].is_some();
    let (routes, hops, uplinks) = routes(plan, &onward, &is_impaired);
    let wires = wires(plan, &onward, (slots.wires, &agenda));
    let reorders = |link: usize| impairments[link].as_ref().is_some_and(Impairment::reorders);
    let topology = Topology {
        routes: &routes,
        hops: &hops,
        uplinks: &uplinks,
        wires: &wires,
        reorders: &reorders,
    };
    let services = services(plan, timing, &topology, (&slots, &agenda));
    let links = (0..plan.links.len())
        .map(|i| {
            if i > 0 && !keep_going(Time::ZERO) {
                return Err(SimError::Cancelled);
            }
            let link = link_at(plan, i, services[i], &slots, &mut agenda)?;
            // An impaired wire counts packets by departure time, when they leave.
            let duplication = Duplication::of_plan(&plan.links[i], plan.seed);
            Ok(link.sending_ahead(impairments[i].is_none()).duplicating(duplication))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let onward = Onward {
        wires,
        hops,
        impairments,
        losses: losses(plan, flows),
        sightings: Sightings::default(),
    };
    Ok(Path::new(agenda, (links, uplinks, onward), routes, wireless_lans(plan)))
}

/// Counters of lost datagrams.
fn losses(plan: &Resolved, flows: usize) -> DatagramLosses {
    let losses = DatagramLosses::new(flows);
    let copies = plan.links.iter().any(|link| link.duplicate.is_some());
    if copies { losses.with_copies() } else { losses }
}

/// The path and the counters of a simulation.
fn without_flows(
    plan: &Resolved,
    timing: Timing,
    keep_going: &dyn Fn(Time) -> bool,
) -> Result<World, SimError> {
    let flows: usize = plan.flows.iter().map(|group| group.count as usize).sum();
    let end = Time::ZERO + plan.duration;
    let warmup = Time::ZERO + plan.warmup;
    let classes = plan.classes();
    let sampling = plan.record;
    let path = path(plan, timing, flows, keep_going)?;
    let mut probe = Probe::new(plan.links.len(), classes.len(), (warmup, end));
    probe.count_leaves(&plan.links);
    let mut world = World {
        path,
        alarms: Alarms::new(flows + 2, [flows + 2]),
        sampler: flows,
        probe,
        flows: Vec::with_capacity(flows),
        flow_samples: Vec::new(),
        flow_states: Vec::new(),
        times: Vec::with_capacity(flows),
        at_warmup: vec![0; flows],
        utilisations: plan.links.iter().map(Utilisation::of).collect(),
        bins: plan.record.bins.map(|width| Bins::new(width, flows, plan.links.len())),
        latency: plan.record.latency,
        sampling: Sampling {
            states: sampling.states,
            flows: sampling.flows,
            every: sampling.sample,
            last: Time::ZERO,
        },
        sampled_values: Vec::new(),
        warmup,
        end,
        events: 0,
        failure: FirstFailure::default(),
        remarks: Vec::new(),
    };
    if sampling.states || sampling.flows {
        world.set_alarm(world.sampler, Time::ZERO + sampling.sample);
    }
    if let Some(bins) = world.bins.take() {
        let reserves: Vec<_> =
            world.path.links().iter().map(|link| link.reserve(Time::ZERO)).collect();
        world.set_alarm(world.binner_slot(), bins.over_at());
        world.bins = Some(bins.with_reserves(&reserves));
    }
    let notes = &mut world.probe.notes;
    notes.losses = losses(plan, flows);
    (notes.wants_packets, notes.wants_signals) = (sampling.packets, sampling.signals);
    Ok(world)
}

/// Checks that a simulation can be built: builds every link and every group's transport, but no
/// flow.
///
/// # Errors
/// As [`world`].
pub(crate) fn check(plan: &Resolved) -> Result<(), SimError> {
    sojourn_measure::expectations::check(plan)
        .map_err(|error| SimError::invalid(&error.place, error.message))?;
    let flows: usize = plan.flows.iter().map(|group| group.count as usize).sum();
    let onward = links_with_onward_wires(plan).len();
    let slots = slots(plan, onward, flows);
    check_end(Time::ZERO + plan.duration, slots, flows)?;
    let slots = self::slots(plan, onward, 0);
    let mut agenda = Agenda::new(&slots);
    for i in 0..plan.links.len() {
        link_at(plan, i, Service::Events, &slots, &mut agenda)?;
    }
    transports(plan, &CustomControls::new()).map(drop)
}

/// The link with this index, with its alarms.
fn link_at(
    plan: &Resolved,
    place: usize,
    services: Service,
    slots: &Slots,
    agenda: &mut Agenda,
) -> Result<ScheduledLink, SimError> {
    link(plan, place, (place, slots.timers + place), services, agenda)
}

fn slots(plan: &Resolved, onward: usize, flows: usize) -> Slots {
    let (links, wlans) = (plan.links.len(), plan.wlans.len());
    let wires = 2 * links + wlans;
    let accesses = wires + onward + WIRES_PER_GROUP * plan.flows.len();
    Slots {
        media: links,
        timers: links + wlans,
        wires,
        accesses,
        count: accesses + flows,
        uplinks: plan.flows.len(),
    }
}

/// Adds the flows of a group. Random streams are named by the group and the index within it, so
/// other groups never change the numbers that a flow draws.
fn add_flows(
    world: &mut World,
    (plan, place, class): (&Resolved, usize, u32),
    buffers: Buffers,
    custom: &Custom,
    keep_going: &dyn Fn(Time) -> bool,
) -> Result<(), SimError> {
    let group = &plan.flows[place];
    let tcp = group.app.tcp();
    let transport =
        tcp.map(|tcp| transport((place, &group.name), (tcp, buffers), &custom.controls));
    let transport = transport.transpose()?;
    let transport = tcp.zip(transport);
    let app = custom.apps.get(&group.name);
    for (i, start) in (0..).zip(draw::Starts::new(plan.seed, group)) {
        if i % FLOWS_PER_LOOK == 0 && !keep_going(Time::ZERO) {
            return Err(SimError::Cancelled);
        }
        let index = world.flows.len();
        let stream = |purpose: &str| {
            Rng::stream(plan.seed, &format!("{}/{purpose}", group.name), u64::from(i))
        };
        let stop = group.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop);
        let ends = if group.app.transport().is_some() {
            let (numbers, rng) = ((index as u32, i), stream("endpoint"));
            let (stacks, failure) = (&custom.stacks, &world.failure);
            let times = ((start, stop), world.warmup);
            let flow = endpoints::flow(numbers, group, stacks, times, rng, failure)?;
            FlowEnds::Datagrams(Box::new(DatagramEnds::Library(Box::new(flow))))
        } else {
            build_flow(
                (index as u32, plan.record.latency),
                &group.app.of_member(i),
                app.map(|app| (app.factory)(i, group.app.packet_bytes())),
                transport.as_ref(),
                (start, stop),
                &stream,
            )
        };
        if ends.library().is_some() && world.probe.notes.losses.counts_copies() {
            // Contents of copied packets are kept until the last of them has gone.
            world.probe.notes.losses.note(index as u32);
            world.path.note_losses(index as u32);
        }
        let timers = ends.timers();
        let due = timers.next();
        world.set_alarm(index, due);
        let link = SerialLink::new(group.access_rate);
        world.path.add_flow(place, link, group.access_delay);
        let hosts = group.hosts.map_or(HostPair::own(place), HostPair::shared);
        let (labels, group) = (Labels::of_flow(hosts, group.dscp), place as u32);
        world.flows.push(SimulatedFlow { ends, alarm: due, timers, class, group, labels });
        world.times.push((start, stop));
    }
    Ok(())
}

/// An alarm packs time and slot into one number, so more flows leave fewer bits for the time.
fn check_end(end: Time, slots: Slots, flows: usize) -> Result<(), SimError> {
    let horizon = slots.horizon().min(alarms::horizon(flows + 2));
    if end <= horizon {
        return Ok(());
    }
    let most = match horizon.as_nanos() / 3_600_000_000_000 {
        0 => Span::from_millis(horizon.as_nanos() / 1_000_000).to_string(),
        hours => format!("{hours} h"),
    };
    let message = format!("with {flows} flows must be at most {most}; use fewer flows");
    Err(SimError::invalid("duration", message))
}

/// A custom control needs a group of TCP flows with its name; a custom application needs a group
/// whose application can be replaced.
fn check_custom(plan: &Resolved, custom: &Custom) -> Result<(), SimError> {
    let names = |suits: fn(&App) -> bool| -> Vec<&str> {
        let suiting = plan.flows.iter().filter(|group| suits(&group.app));
        suiting.map(|group| group.name.as_str()).collect()
    };
    let with_tcp = names(|app| app.tcp().is_some());
    if let Some(name) = custom.controls.keys().find(|name| !with_tcp.contains(&name.as_str())) {
        let known = with_tcp.join(", ");
        let message = format!("no TCP flows have this name; known: {known}");
        return Err(SimError::invalid(&format!("cc[{name}]"), message));
    }
    let others = names(|app| !matches!(app, App::Web { .. } | App::Endpoint { .. }));
    if let Some(name) = custom.apps.keys().find(|name| !others.contains(&name.as_str())) {
        let known = others.join(", ");
        let message = format!(
            "no flows of this name can have another application (web pages and \
             flows over a transport library cannot); known: {known}"
        );
        return Err(SimError::invalid(&format!("app[{name}]"), message));
    }
    Ok(())
}

fn build_flow(
    (index, observed): (u32, bool),
    app: &App,
    mut custom: Option<Box<dyn CustomApp>>,
    transport: Option<&(&Tcp, Transport)>,
    times: (Time, Time),
    stream_of: &dyn Fn(&str) -> Rng,
) -> FlowEnds {
    if app.tcp().is_none() {
        let flow = DatagramFlow::new(index, app, custom, times, stream_of("app"));
        let flow = flow.expect("it has no TCP");
        return FlowEnds::Datagrams(Box::new(DatagramEnds::Source(flow)));
    }
    let (tcp, Transport { profile, window, cc }) = transport.expect("a TCP flow has a transport");
    // Lane `lane` of `lanes` concurrent connections.
    let stream = |plan: TransferPlan, (lane, lanes): (u16, u16)| {
        let purpose = |name: &str| if lane == 0 { name.into() } else { format!("{name}-{lane}") };
        let segments = Segments {
            flow: index,
            connection: lane,
            payload_bytes: tcp.payload_bytes,
            header_bytes: tcp.header_bytes,
            ecn: false,
            accurate: false,
            count: u32::MAX,
            last_payload_bytes: tcp.payload_bytes,
            initial_window: initial_window(tcp, profile),
        };
        let (asks, ability) = ecn(tcp, &(cc.factory)().needs());
        let (cc, rng) = (Arc::clone(cc), stream_of(&purpose("cc")));
        let setup = Setup {
            cc,
            segments,
            profile: Arc::clone(profile),
            asks,
            ability,
            rng,
            window: *window,
            observed,
            stride: lanes,
            ecn: EcnConnections::default(),
        };
        Stream::new(setup, plan, times, stream_of(&purpose("app")))
    };
    let alone = |plan: TransferPlan| FlowEnds::Stream(Box::new(stream(plan, (0, 1))));
    match app {
        App::Bulk { .. } | App::Files { .. } | App::Transfers { .. } | App::Chunks { .. } => {
            let own = custom.take().map(TransferPlan::Custom);
            let plan = own.or_else(|| TransferPlan::of(app));
            alone(plan.expect("it has one connection at a time"))
        }
        App::Web { web, .. } => {
            let lanes = web.parallel.next_power_of_two() as u16;
            let streams =
                (0..lanes).map(|lane| stream(TransferPlan::OnDemand, (lane, lanes))).collect();
            let rng = stream_of("pages");
            FlowEnds::Page(Box::new(Page::new(index, web.clone(), streams, times, rng)))
        }
        App::Echo { .. }
        | App::Endpoint { .. }
        | App::Cbr { .. }
        | App::OnOff { .. }
        | App::Bursts { .. }
        | App::Video { .. }
        | App::Replay { .. } => unreachable!("flows without TCP have been dealt with"),
    }
}
