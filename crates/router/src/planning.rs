//! From a resolved scenario to the plan of a run on real hosts.
//!
//! The topology is a dumbbell of three name spaces. Every group of flows has its own interface at the
//! senders (`s0`, `s1`, ...), which delays what it sends by all propagation on the way to the receiver;
//! the router's side of it (`r0`, ...) delays what comes back. So the queue at the router's interface
//! `out` (or the TUN devices of our own router) is the only place where packets wait for each other.

mod topology;

use sojourn_aqm::{Rate, Rng};
use sojourn_scenario::ScenarioError;
use sojourn_scenario::resolved::{
    App, Arrivals, Capacity, Datagrams, FlowGroup, Link, LinuxBottleneck, Resolved, Sizes, Tcp,
};
use sojourn_sim::build::draw_start;

use crate::plan::{Bottleneck, FIRST_PORT, Flow, GroupLines, Load, Plan, Setting, Space, Street};
use crate::tc::{self, Around, Words};
use topology::{Commands, VETH_BPS, shaper};

/// IP and TCP headers without options, and with timestamps.
const PLAIN_HEADER: u32 = 40;
const STAMPED_HEADER: u32 = 52;
/// Headers of a datagram.
const UDP_HEADER: u32 = 28;
/// The number and the time in a datagram.
const STAMP_BYTES: u32 = 12;
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
    let link = the_link(scenario)?;
    let mut warnings = Vec::new();
    let flows = flows(scenario)?;
    let stamps = stamps(scenario)?;
    let (bottleneck, words) = bottleneck(scenario, link, kernel, &mut warnings)?;
    let hz = kernel.hz;
    if hz != scenario.linux.hz {
        let asked = scenario.linux.hz;
        warnings.push(format!("engine.linux.hz: asked for {asked}; the kernel there has {hz} Hz"));
    }
    for group in &scenario.flows {
        if let Some(tcp) = group.app.tcp().filter(|tcp| tcp.profile != "linux") {
            warnings.push(format!(
                "flows `{}`: the kernel runs its own TCP, not the profile {}",
                group.name, tcp.profile
            ));
        }
    }
    let mut out = Commands::default();
    out.routers(scenario, link, &bottleneck);
    if let (Some(words), Capacity::Constant(_) | Capacity::Schedule(_)) = (&words, &link.capacity) {
        out.bottleneck(link, words);
    }
    Ok(Plan {
        seed: scenario.seed,
        duration_ns: scenario.duration.as_nanos(),
        warmup_ns: scenario.warmup.as_nanos(),
        sample_ns: scenario.record.sample.as_nanos(),
        sample_flows: scenario.record.flows,
        hz,
        settings: settings(stamps),
        commands: out.commands,
        expected: out.expected,
        bottleneck,
        flows,
        warnings,
        drops_at_head: words.as_ref().is_some_and(|words| words.drops_at_head),
        is_random: words.as_ref().is_some_and(|words| words.is_random),
    })
}

/// The only link: this engine has one bottleneck.
fn the_link(scenario: &Resolved) -> Planned<&Link> {
    for (index, group) in scenario.flows.iter().enumerate() {
        let window = group.app.tcp().is_some_and(|tcp| tcp.receive_window.is_some());
        for (key, is_beyond) in [
            ("path", group.path.len() > 1),
            ("reverse", !group.reverse.is_empty()),
            ("sender_downlink", group.sender_downlink.is_some()),
            ("receiver_rate", group.receiver_rate.is_some()),
            ("receive_window", window),
        ] {
            if is_beyond {
                let message = "engine linux has one bottleneck, on the way to the receivers, and the \
                               kernel's own receive window; use engine sim";
                return refuse(format!("flows[{index}].{key}"), message);
            }
        }
    }
    match scenario.links.as_slice() {
        [link] if link.device.is_some() || link.jitter.is_some() || link.loss.is_some() => refuse(
            format!("links.{}", link.name),
            "engine linux has no device buffer, jitter or random loss; use engine sim",
        ),
        [link] => Ok(link),
        _ => refuse("links", "engine linux has one link; use engine sim for more"),
    }
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
                ecn: datagrams_ecn(&group.app),
                payload_bytes: payload(index, &group.app)?,
                load: load(index, &group.app)?,
            });
        }
    }
    Ok(flows)
}

/// The same draw as in the simulator, so that the flows start at the same times.
fn start_ns(scenario: &Resolved, group: &FlowGroup, place: u32) -> u64 {
    let purpose = format!("{}/start", group.name);
    let mut rng = Rng::stream(scenario.seed, &purpose, u64::from(place));
    draw_start(group.start, &mut rng).as_nanos()
}

fn congestion_control(index: usize, tcp: &Tcp) -> Planned<String> {
    let written = tcp.cc.as_deref().unwrap_or("cubic");
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

/// Whether datagrams are ECN-capable; TCP negotiates by route.
fn datagrams_ecn(app: &App) -> bool {
    match app {
        App::Cbr { datagrams, .. } | App::OnOff { datagrams, .. } => datagrams.ecn,
        _ => false,
    }
}

/// Payload of a full segment or datagram.
fn payload(index: usize, app: &App) -> Planned<u32> {
    if let Some(tcp) = app.tcp() {
        return Ok(tcp.payload_bytes);
    }
    match app.packet_bytes().checked_sub(UDP_HEADER) {
        Some(bytes) if bytes >= STAMP_BYTES => Ok(bytes),
        _ => refuse(
            format!("flows[{index}].app.packet"),
            "a datagram that carries its number and time needs 40 B or more on real hosts",
        ),
    }
}

fn load(index: usize, app: &App) -> Planned<Load> {
    let place = |key: &str| format!("flows[{index}].app.{key}");
    let steady = |datagrams: &Datagrams, periods_s| Load::Datagrams {
        packet_bytes: datagrams.packet_bytes,
        rate_bps: datagrams.rate.as_bps(),
        periods_s,
    };
    Ok(match app {
        App::Bulk { bytes, .. } => Load::Bulk { bytes: *bytes },
        App::Files { sizes: Sizes::List(sizes), think, .. } => {
            Load::Files { sizes: sizes.clone(), think_s: think.as_secs() }
        }
        App::Files { .. } => {
            return refuse(place("sizes"), "engine linux takes a list of sizes; use engine sim");
        }
        App::Cbr { datagrams, arrivals: Arrivals::Constant } => steady(datagrams, None),
        App::OnOff { datagrams, on, off } => steady(datagrams, Some((on.as_secs(), off.as_secs()))),
        _ => {
            let message = "engine linux carries bulk, files, evenly spaced cbr and onoff; use \
                           engine sim";
            return refuse(place("kind"), message);
        }
    })
}

fn bottleneck(
    scenario: &Resolved,
    link: &Link,
    kernel: Kernel,
    warnings: &mut Vec<String>,
) -> Planned<(Bottleneck, Option<Words>)> {
    let rates: Vec<(u64, u64)> = match &link.capacity {
        Capacity::Constant(rate) => vec![(0, rate.as_bps())],
        Capacity::Schedule(steps) => {
            steps.iter().map(|(at, rate)| (at.as_nanos(), rate.as_bps())).collect()
        }
        Capacity::Trace(_) | Capacity::Bucket(_) => {
            let place = format!("links.{}.rate", link.name);
            return refuse(place, "engine linux has steady rates and schedules; use engine sim");
        }
    };
    let place = format!("links.{}.queue", link.name);
    if scenario.linux.bottleneck == LinuxBottleneck::Sojourn {
        let street = Street {
            queue: link.queue.to_string(),
            limit: link.limit.to_string(),
            framing_bytes: link.framing_bytes,
            mtu_bytes: link.mtu_bytes,
            rates,
            drop_list: Vec::new(),
            mark_list: Vec::new(),
            lines: if kernel.delays_in_router { lines(scenario, link) } else { Vec::new() },
        };
        return Ok((Bottleneck::Sojourn(street), None));
    }
    let around = Around { mtu_bytes: link.mtu_bytes, rate_bps: rates[0].1, hz: kernel.hz };
    for &(_, bps) in &rates {
        if bps % 1000 != 0 || bps >= VETH_BPS {
            let place = format!("links.{}.rate", link.name);
            return refuse(
                place,
                format!(
                    "{}: the kernel's shaper takes whole kbit/s below 10 Gbit/s",
                    Rate::from_bps(bps)
                ),
            );
        }
    }
    let words = tc::translate(&link.queue, &around)
        .map_err(|message| ScenarioError::new(place.clone(), message))?;
    warnings.extend(words.warnings.iter().map(|sentence| format!("{place}: {sentence}")));
    let changes = rates[1..].iter().map(|&(at, bps)| (at, shaper("change", link, bps))).collect();
    Ok((Bottleneck::Kernel { changes }, Some(words)))
}

/// What the delay elements of each group would do.
fn lines(scenario: &Resolved, link: &Link) -> Vec<GroupLines> {
    let groups = scenario.flows.iter().map(|group| GroupLines {
        forward_ns: topology::forward_delay(group, link).as_nanos(),
        access_bps: topology::access_bps(group),
        return_ns: group.return_delay.as_nanos(),
    });
    groups.collect()
}

/// Settings of name spaces that TCP reads; what is left alone is the kernel's default.
fn settings(stamps: bool) -> Vec<Setting> {
    let both = [Space::Senders, Space::Receivers];
    let of_tcp = [
        ("tcp_ecn", "2"), // by route where a flow asks for it
        ("tcp_no_metrics_save", "1"),
        ("tcp_timestamps", if stamps { "1" } else { "0" }),
        ("tcp_sack", "1"),
        ("tcp_window_scaling", "1"),
        ("tcp_rmem", "4096\t4194304\t16777216"),
        ("tcp_wmem", "4096\t16384\t16777216"),
    ];
    let setting = |space, name: &str, value: &str| Setting {
        space,
        path: format!("net/ipv4/{name}"),
        value: value.to_owned(),
    };
    let mut settings = vec![setting(Space::Router, "ip_forward", "1")];
    for space in both {
        settings.extend(of_tcp.iter().map(|(name, value)| setting(space, name, value)));
    }
    settings
}
