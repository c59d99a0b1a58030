//! From a resolved scenario to the plan of a run on real hosts.
//!
//! The topology is a dumbbell of three name spaces. Every group of flows has its own interface at the
//! senders (`s0`, `s1`, ...), which delays what it sends by all propagation on the way to the receiver;
//! the router's side of it (`r0`, ...) delays what comes back. So the queue at the router's interface
//! `out` (or the TUN devices of our own router) is the only place where packets wait for each other.
//! The kernel's shaper hands a packet on when its transmission begins; the time that a full packet takes on
//! the link is part of the delay before the queue, so that round trips are whole.

mod bottleneck;
mod topology;

use sojourn_aqm::{Rng, Span};
use sojourn_scenario::resolved::{App, FlowGroup, Resolved, Sizes, Tcp};
use sojourn_scenario::{ScenarioError, draw};
use sojourn_sim::tcp::profile::profile;

use crate::plan::{Bottleneck, FIRST_PORT, Flow, Plan, Setting, Space};
use bottleneck::{back, bottleneck, links, wire};
use topology::{Commands, few_batches};

/// IP and TCP headers without options, and with timestamps.
const PLAIN_HEADER: u32 = 40;
const STAMPED_HEADER: u32 = 52;
/// Headers of a datagram, its number and its time.
const LEAST_DATAGRAM: u32 = UDP_HEADER + STAMP_BYTES;
/// Headers of a datagram.
const UDP_HEADER: u32 = 28;
/// The number and the time in a datagram.
const STAMP_BYTES: u32 = 12;
/// A request names its lane by one byte.
const MOST_LANES: u32 = 255;
/// Groups are numbered by one byte of an address.
const MOST_GROUPS: usize = 250;
const MOST_FLOWS: usize = 20_000;

type Planned<T> = Result<T, ScenarioError>;

fn refuse<T>(place: impl Into<String>, message: impl Into<String>) -> Planned<T> {
    Err(ScenarioError::new(place, message))
}

/// The kernel that a run is planned for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its timer interrupts per second.
    pub hz: u32,
    /// Whether a router of ours delays packets itself, so that the kernel needs no delay element.
    pub delays_in_router: bool,
}

/// Plans a run.
///
/// # Errors
/// The first thing in the scenario that real hosts cannot do, or that this engine does not build.
pub fn plan(scenario: &Resolved, kernel: Kernel) -> Planned<Plan> {
    let links = links(scenario)?;
    let link = links.forward;
    let mut warnings = Vec::new();
    let flows = flows(scenario)?;
    let stamps = stamps(scenario)?;
    let (bottleneck, words) = bottleneck(scenario, links, kernel, &mut warnings)?;
    let hz = kernel.hz;
    if hz != scenario.linux.hz {
        let asked = scenario.linux.hz;
        warnings.push(format!("engine.linux.hz: asked for {asked}; the kernel there has {hz} Hz"));
    }
    for (index, group) in scenario.flows.iter().enumerate() {
        warnings.extend(filled_up(index, &group.app));
        if let Some(tcp) = group.app.tcp().filter(|tcp| tcp.profile != "linux") {
            warnings.push(format!(
                "flows `{}`: the kernel runs its own TCP, not the profile {}",
                group.name, tcp.profile
            ));
        }
    }
    let mut out = Commands::default();
    let (wire, back) = (wire(link), back(scenario, links, &mut warnings)?);
    let is_ours = matches!(bottleneck, Bottleneck::Sojourn(_));
    let has_wire = !is_ours && (wire.is_some() || back.is_some());
    out.routers(scenario, link, &bottleneck, has_wire);
    let watch = scenario.record.latency.then(|| out.watch(scenario, &bottleneck));
    if let Some(words) = &words {
        out.bottleneck(link, words);
    }
    Ok(Plan {
        seed: scenario.seed,
        duration_ns: scenario.duration.as_nanos(),
        warmup_ns: scenario.warmup.as_nanos(),
        sample_ns: scenario.record.sample.as_nanos(),
        sample_flows: scenario.record.flows,
        sample_law: scenario.record.states && (is_ours || back.is_some()),
        bins_ns: scenario.record.bins.map(Span::as_nanos),
        watch,
        hz,
        settings: settings(stamps, has_wire, flows.len()),
        commands: few_batches(out.commands),
        expected: out.expected,
        bottleneck,
        wire,
        back,
        adaptation: words.as_ref().and_then(|words| words.adaptation),
        flows,
        warnings,
        drops_at_head: words.as_ref().is_some_and(|words| words.drops_at_head),
        is_random: words.as_ref().is_some_and(|words| words.is_random),
    })
}

/// Whether TCP stamps its segments: a setting of a whole name space.
fn stamps(scenario: &Resolved) -> Planned<bool> {
    let mut chosen = None;
    for (index, group) in scenario.flows.iter().enumerate() {
        let Some(tcp) = group.app.tcp() else { continue };
        let place = format!("flows[{index}].header");
        let stamps = match tcp.header_bytes {
            PLAIN_HEADER => false,
            STAMPED_HEADER => true,
            other => {
                return refuse(
                    place,
                    format!(
                        "{other} B: the kernel's headers are 40 B, or 52 B with \
                                              timestamps"
                    ),
                );
            }
        };
        if chosen.is_some_and(|other| other != stamps) {
            return refuse(place, "all TCP flows use timestamps (52 B), or none does (40 B)");
        }
        chosen = Some(stamps);
    }
    Ok(chosen.unwrap_or(true))
}

fn flows(scenario: &Resolved) -> Planned<Vec<Flow>> {
    if scenario.flows.len() > MOST_GROUPS {
        return refuse("flows", format!("engine linux has room for {MOST_GROUPS} groups"));
    }
    let mut flows = Vec::new();
    for (index, group) in scenario.flows.iter().enumerate() {
        let cc = group.app.tcp().map(|tcp| congestion_control(index, tcp)).transpose()?;
        for place in 0..group.count {
            if flows.len() >= MOST_FLOWS {
                return refuse("flows", format!("engine linux has room for {MOST_FLOWS} flows"));
            }
            flows.push(Flow {
                group: index,
                place,
                name: group.name.clone(),
                port: FIRST_PORT + flows.len() as u16,
                start_ns: start_ns(scenario, group, place),
                stop_ns: group.stop.map(|stop| stop.as_nanos()),
                cc: cc.clone(),
                payload_bytes: payload(index, &group.app)?,
                app: group.app.clone(),
            });
        }
    }
    Ok(flows)
}

/// The same draw as in the simulator, so that the flows start at the same times.
fn start_ns(scenario: &Resolved, group: &FlowGroup, place: u32) -> u64 {
    let purpose = format!("{}/start", group.name);
    let mut rng = Rng::stream(scenario.seed, &purpose, u64::from(place));
    draw::start(group.start, &mut rng).as_nanos()
}

fn congestion_control(index: usize, tcp: &Tcp) -> Planned<String> {
    // What is not written is the profile's, as in the simulator.
    let own = profile(&tcp.profile)
        .map_err(|message| ScenarioError::new(format!("flows[{index}].tcp"), message))?;
    let written = tcp.cc.as_deref().unwrap_or(own.cc);
    let (name, parameters) = written.split_once(':').unwrap_or((written, ""));
    if !parameters.is_empty() {
        let place = format!("flows[{index}].cc");
        return refuse(
            place,
            format!(
                "`{written}`: the kernel's {name} has its own parameters; \
                                      write \"{name}\""
            ),
        );
    }
    if let Some(every) = tcp.ack_every.filter(|every| !matches!(every, 1 | 2)) {
        let place = format!("flows[{index}].ack_every");
        return refuse(
            place,
            format!(
                "{every}: the kernel acknowledges every segment (1) or every \
                                      second one (2)"
            ),
        );
    }
    Ok(name.to_owned())
}

/// Payload of a full segment or datagram.
fn payload(index: usize, app: &App) -> Planned<u32> {
    let place = |key: &str| format!("flows[{index}].app.{key}");
    let needs = |what: &str| {
        format!(
            "{what} that carries its number and time needs {LEAST_DATAGRAM} B or more on real hosts"
        )
    };
    if let App::Web { web, .. } = app {
        if web.request_bytes < LEAST_DATAGRAM {
            return refuse(place("request"), needs("a request"));
        }
        if web.parallel > MOST_LANES {
            let message = format!("engine linux has room for {MOST_LANES} connections of a page");
            return refuse(place("parallel"), message);
        }
    }
    if let Some(tcp) = app.tcp() {
        return Ok(tcp.payload_bytes);
    }
    match app.packet_bytes() {
        bytes if bytes >= LEAST_DATAGRAM => Ok(bytes - UDP_HEADER),
        _ => refuse(place("packet"), needs("a datagram")),
    }
}

/// Where the last datagram of a frame may be smaller than what it has to carry.
fn filled_up(index: usize, app: &App) -> Option<String> {
    let is_small = |bytes: u64| {
        let last = bytes % u64::from(app.packet_bytes());
        last > 0 && last < u64::from(LEAST_DATAGRAM)
    };
    let may_be = match app {
        App::Video { frames: Sizes::List(sizes), .. } => sizes.iter().any(|&bytes| is_small(bytes)),
        App::Video { .. } => true,
        App::Replay { recording, .. } => {
            recording.amounts.iter().any(|&(_, bytes)| is_small(bytes))
        }
        _ => false,
    };
    may_be.then(|| {
        format!(
            "flows[{index}].app: datagrams of less than {LEAST_DATAGRAM} B are filled up to that: each \
             carries its number and time"
        )
    })
}

/// Bytes that a socket to send starts with. Linux's own 16 kB are filled up a few segments at a time; the last
/// of a write is pushed, and the receiver acknowledges that at once (`tcp_mark_push`, `tcp_measure_rcv_mss`).
/// The programs here are greedy: with a large buffer no more than one segment in two hundred ends a write.
fn send_buffer(flows: usize) -> usize {
    const LINUX: usize = 16 << 10;
    const LARGE: usize = 1 << 20;
    const OF_ALL: usize = 64 << 20;
    (OF_ALL / flows.max(1)).clamp(LINUX, LARGE)
}

/// Settings of name spaces that TCP reads; what is left alone is the kernel's default.
fn settings(stamps: bool, has_wire: bool, flows: usize) -> Vec<Setting> {
    let both = [Space::Senders, Space::Receivers];
    let send_buffer = format!("4096\t{}\t16777216", send_buffer(flows));
    let of_tcp = [
        ("tcp_ecn", "2"), // by route where a flow asks for it
        ("tcp_no_metrics_save", "1"),
        ("tcp_timestamps", if stamps { "1" } else { "0" }),
        ("tcp_sack", "1"),
        ("tcp_window_scaling", "1"),
        // Linux's own start: with a larger one receivers acknowledge every segment for seconds
        // (`tcp_grow_window`), until their window has grown to it.
        ("tcp_rmem", "4096\t131072\t16777216"),
        ("tcp_wmem", &send_buffer),
    ];
    let setting = |space, name: &str, value: &str| Setting {
        space,
        path: format!("net/ipv4/{name}"),
        value: value.to_owned(),
    };
    let mut settings = vec![setting(Space::Router, "ip_forward", "1")];
    if has_wire {
        settings.push(setting(Space::Wire, "ip_forward", "1"));
    }
    for space in both {
        settings.extend(of_tcp.iter().map(|(name, value)| setting(space, name, value)));
    }
    settings
}
