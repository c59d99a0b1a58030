//! Turns a resolved scenario into a run of ns-3.
//!
//! The runner receives instructions of one line each, so it needs no scenario parser and no library
//! other than ns-3. Its packet records have the router's format, so the same collector counts them.
//!
//! The runner (`ns3/runner` in the tree) takes [`Ns3Run::text`], builds the topology, and writes
//! the same files as a run on real hosts, which [`crate::collect`] counts using [`Ns3Run::plan`].
//! Start times and the data that flows send are drawn here, from the random streams of the
//! simulator, so that the traffic is the same. Random draws inside ns-3 (by the laws of its discs)
//! follow its `RngRun`, which is set to the seed.

mod cell;
mod check;
mod disc;
mod text;
mod transport;

use sojourn_aqm::{Rate, Span, Time};
use sojourn_scenario::draw;
use sojourn_scenario::resolved::{App, Capacity, FlowGroup, Link, Ns3Bottleneck, Resolved};
use sojourn_traffic::UDP_HEADER_BYTES;

use crate::plan::{
    Bottleneck, Direction, FIRST_PORT, Flow, Plan, ReverseLink, RouterCapacity, RouterLinkPlan,
};
use crate::planning::refusal::Planned;
pub use disc::parameters;
pub use transport::SocketRules;

/// A run of ns-3.
pub struct Ns3Run {
    /// The plan used to count the results.
    pub plan: Plan,
    /// The input of the runner: one instruction per line, words separated by spaces.
    pub text: String,
}

/// Plans a run. `transports` are the TCP rules of each group; `None` for datagrams. `captures` says
/// whether packets are captured with their headers.
///
/// # Errors
/// The first part of the scenario that ns-3 cannot run, or that this engine does not support.
pub fn plan(
    scenario: &Resolved,
    transports: &[Option<SocketRules>],
    captures: bool,
) -> Planned<Ns3Run> {
    let links = check::links(scenario)?;
    check::record(scenario)?;
    let attributes = transport::attributes(scenario, transports)?;
    let disc = |&index: &usize| disc::disc(&scenario.links[index], scenario.ns3.bottleneck);
    let discs = links.order.iter().map(disc).collect::<Planned<Vec<_>>>()?;
    let plan = counted_by(scenario, &links);
    let mut text = text::text(scenario, &plan, &links, &discs, &attributes);
    if captures {
        text.push_str(&text::captures(&links));
    }
    Ok(Ns3Run { plan, text })
}

/// The links of a scenario, by index, in the runner's order.
#[derive(Clone, Debug)]
struct Links {
    /// For a dumbbell: the link to the receivers, which all flows pass, and the link to the
    /// senders, which all or none pass. For a cell: the access point's link and those of its
    /// stations.
    order: Vec<usize>,
    /// Whether the links are transmitters of a wireless LAN.
    is_cell: bool,
}

impl Links {
    /// The runner's number for a link.
    fn place(&self, link: usize) -> usize {
        self.order.iter().position(|&index| index == link).expect("the links were checked")
    }
}

/// The plan used to count the results: the flows, and the links that exist.
fn counted_by(scenario: &Resolved, links: &Links) -> Plan {
    let is_ours = scenario.ns3.bottleneck == Ns3Bottleneck::Sojourn;
    let link =
        |index: usize, direction| link_plan(&scenario.links[index], index, direction, is_ours);
    let others = &links.order[1..];
    let (reverse, stations) = if links.is_cell { (&[][..], others) } else { (others, &[][..]) };
    let reverse = reverse.first().map(|&index| ReverseLink {
        link: link(index, Direction::Reverse),
        wire: None,
        groups: (0..scenario.flows.len()).collect(),
    });
    let stations = stations.iter().map(|&index| link(index, Direction::Reverse)).collect();
    Plan {
        seed: scenario.seed,
        duration_ns: scenario.duration.as_nanos(),
        warmup_ns: scenario.warmup.as_nanos(),
        sample_ns: scenario.record.sample.as_nanos(),
        sample_flows: scenario.record.flows,
        sample_law: scenario.record.states && is_ours,
        bins_ns: scenario.record.bins.map(Span::as_nanos),
        sender_capture: None,
        header_captures: None,
        hz: 0,
        settings: Vec::new(),
        commands: Vec::new(),
        expected: Vec::new(),
        bottleneck: Bottleneck::Sojourn(link(links.order[0], Direction::Forward)),
        wire: None,
        reverse,
        stations,
        adaptation: None,
        kernel_qdisc: None,
        read_back: None,
        classes: None,
        at_whole_second: false,
        module: None,
        flows: flows(scenario),
        warnings: check::warnings(scenario, links),
        programs: None,
        drops_at_head: false,
        is_random: false,
        laws: Vec::new(),
    }
}

/// A link for counting results. State variables of ns-3's discs are not sampled, so each disc is
/// declared as the only AQM without state variables.
fn link_plan(link: &Link, index: usize, direction: Direction, is_ours: bool) -> RouterLinkPlan {
    RouterLinkPlan {
        queue: if is_ours { link.queue.to_string() } else { "taildrop".to_owned() },
        index: index as u16,
        direction,
        limit: link.limit.to_string(),
        framing_bytes: link.framing_bytes,
        mtu_bytes: link.queue_mtu_bytes(),
        service: RouterCapacity::Rates(match link.capacity {
            Capacity::Wireless { alone, .. } => vec![(0, alone.as_bps())],
            _ => rates(&link.capacity),
        }),
        duplicate: None,
        drop_list: Vec::new(),
        mark_list: Vec::new(),
        delays: Vec::new(),
    }
}

/// The rates of a link, each with the time in nanoseconds from which it holds, 0 in an outage;
/// empty if the link has no such rates.
fn rates(capacity: &Capacity) -> Vec<(u64, u64)> {
    match capacity {
        Capacity::Constant(rate) => vec![(0, rate.as_bps())],
        Capacity::Schedule(schedule) => {
            let step =
                |&(at, rate): &(Time, Option<Rate>)| (at.as_nanos(), rate.map_or(0, Rate::as_bps));
            schedule.steps().iter().map(step).collect()
        }
        Capacity::Bucket(_) | Capacity::Trace(_) | Capacity::Wireless { .. } => Vec::new(),
    }
}

/// The flows in the simulator's order.
fn flows(scenario: &Resolved) -> Vec<Flow> {
    let groups = scenario.flows.iter().enumerate();
    let members = groups.flat_map(|(index, group)| {
        let starts = (0..).zip(draw::Starts::new(scenario.seed, group));
        starts.map(move |(member, start)| (index, group, member, start))
    });
    let flow = |(number, (index, group, member, start)): (usize, _)| {
        let (group, start): (&FlowGroup, Time) = (group, start);
        Flow {
            group: index,
            index: member,
            name: group.name.clone(),
            port: FIRST_PORT + number as u16,
            start_ns: start.as_nanos(),
            stop_ns: group.stop.map(Span::as_nanos),
            cc: None,
            paced: false,
            payload_bytes: payload(&group.app),
            dscp: group.dscp,
            app: group.app.of_member(member),
        }
    };
    members.enumerate().map(flow).collect()
}

/// Payload of a full segment or datagram.
fn payload(app: &App) -> u32 {
    let of_datagram = || app.packet_bytes().saturating_sub(UDP_HEADER_BYTES);
    app.tcp().map_or_else(of_datagram, |tcp| tcp.payload_bytes)
}

#[cfg(test)]
mod tests;
