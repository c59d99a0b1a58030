//! From a resolved scenario to the plan of a run on real hosts.
//!
//! The topology is a dumbbell of three name spaces. Every group of flows has its own interface at the
//! senders (`s0`, `s1`, ...), which delays what it sends by all propagation on the way to the receiver;
//! the router's side of it (`r0`, ...) delays what comes back. So the queue at the router's interface
//! `out` (or the TUN devices of our own router) is the only place where packets wait for each other.

use sojourn_aqm::{Rate, Rng};
use sojourn_scenario::ScenarioError;
use sojourn_scenario::resolved::{
    App, Arrivals, Capacity, Datagrams, FlowGroup, Link, LinuxBottleneck, Resolved, Sizes, Tcp,
};
use sojourn_sim::build::draw_start;

use crate::plan::{
    Bottleneck, Command, Expected, FIRST_PORT, Flow, Load, Plan, Setting, Space, Street,
    receiver_address, sender_address,
};
use crate::tc::{self, Around, Words};

/// What Linux counts of an Ethernet frame beside the IP packet.
const ETHERNET_BYTES: u32 = 14;
/// IP and TCP headers without options, and with timestamps.
const PLAIN_HEADER: u32 = 40;
const STAMPED_HEADER: u32 = 52;
/// Headers of a datagram.
const UDP_HEADER: u32 = 28;
/// The number and the time in a datagram.
const STAMP_BYTES: u32 = 12;
/// The smallest packet that an IPv4 interface may be limited to (RFC 791).
const LEAST_MTU: u32 = 68;
/// The delay elements never drop: this is more than any path holds, and drops are checked.
const DELAY_LIMIT_PACKETS: u32 = 1_000_000;
/// What CBS believes of its interface: the speed that veth reports.
const VETH_BPS: u64 = 10_000_000_000;
/// Groups are numbered by one byte of an address.
const MOST_GROUPS: usize = 250;
const MOST_FLOWS: usize = 20_000;

type Planned<T> = Result<T, ScenarioError>;

fn refuse<T>(place: impl Into<String>, message: impl Into<String>) -> Planned<T> {
    Err(ScenarioError::new(place, message))
}

/// Plans a run.
///
/// # Errors
/// The first thing in the scenario that real hosts cannot do, or that this engine does not build.
pub fn plan(scenario: &Resolved) -> Planned<Plan> {
    let link = the_link(scenario)?;
    let mut warnings = Vec::new();
    let flows = flows(scenario)?;
    let stamps = stamps(scenario)?;
    let (bottleneck, words) = bottleneck(scenario, link, &mut warnings)?;
    for group in &scenario.flows {
        if let Some(tcp) = group.app.tcp().filter(|tcp| tcp.profile != "linux") {
            warnings.push(format!(
                "flows `{}`: the kernel runs its own TCP, not the profile {}",
                group.name, tcp.profile
            ));
        }
    }
    let mut out = Commands::default();
    let kernel = matches!(bottleneck, Bottleneck::Kernel { .. });
    out.routers(scenario, link, kernel);
    if let (Some(words), Capacity::Constant(_) | Capacity::Schedule(_)) = (&words, &link.capacity) {
        out.bottleneck(link, words);
    }
    Ok(Plan {
        seed: scenario.seed,
        duration_ns: scenario.duration.as_nanos(),
        warmup_ns: scenario.warmup.as_nanos(),
        sample_ns: scenario.record.sample.as_nanos(),
        sample_flows: scenario.record.flows,
        hz: scenario.linux.hz,
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
        };
        return Ok((Bottleneck::Sojourn(street), None));
    }
    let around = Around { mtu_bytes: link.mtu_bytes, rate_bps: rates[0].1, hz: scenario.linux.hz };
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

/// The shaper above the discipline: CBS asks an empty child, so that RED learns that it is idle, and does
/// not let a burst pass after idling.
fn shaper(verb: &str, link: &Link, bps: u64) -> Command {
    let framing = i64::from(link.framing_bytes) - i64::from(ETHERNET_BYTES);
    let kbit = bps / 1000;
    let most = (link.mtu_bytes + ETHERNET_BYTES) * 2;
    let mut line = format!("qdisc {verb} dev out root handle 1:");
    if framing != 0 {
        line += &format!(" stab overhead {framing} linklayer ethernet");
    }
    line += &format!(
        " cbs idleslope {kbit} sendslope {} hicredit {} locredit -{most} offload 0",
        kbit as i64 - (VETH_BPS / 1000) as i64,
        link.mtu_bytes,
    );
    command(Space::Router, "tc", &line)
}

fn command(space: Space, program: &str, line: &str) -> Command {
    let arguments = line.split(' ').map(str::to_owned).collect();
    Command { space, program: program.to_owned(), arguments }
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

#[derive(Default)]
struct Commands {
    commands: Vec<Command>,
    expected: Vec<Expected>,
}

impl Commands {
    fn ip(&mut self, space: Space, line: &str) {
        self.commands.push(command(space, "ip", line));
    }

    /// All interfaces, addresses, routes, delays. `veth`: whether router and receivers are joined by a
    /// pair of interfaces; else our router joins them by TUN devices, which the host makes.
    fn routers(&mut self, scenario: &Resolved, link: &Link, veth: bool) {
        for (index, group) in scenario.flows.iter().enumerate() {
            self.pair(index, group);
        }
        let widest = scenario.flows.iter().map(|group| mtu(&group.app)).max().unwrap_or(1500);
        if veth {
            self.ip(
                Space::Router,
                "link add out address 02:00:00:02:00:fe type veth peer name in \
                                    address 02:00:00:02:00:01 netns receivers",
            );
        }
        for (space, device, address, peer) in [
            (Space::Router, "out", "10.2.255.254/16", "02:00:00:02:00:01"),
            (Space::Receivers, "in", "10.2.255.1/16", "02:00:00:02:00:fe"),
        ] {
            self.ip(space, &format!("address add {address} dev {device}"));
            self.up(space, device, widest);
            if veth && space == Space::Receivers {
                self.ip(
                    space,
                    &format!("neigh add 10.2.255.254 lladdr {peer} dev in nud permanent"),
                );
            }
        }
        for (index, group) in scenario.flows.iter().enumerate() {
            self.receivers(index, group, veth);
        }
        for (index, group) in scenario.flows.iter().enumerate() {
            self.delays(index, group, link);
        }
    }

    fn up(&mut self, space: Space, device: &str, mtu: u32) {
        self.ip(space, &format!("link set {device} mtu {mtu} gso_max_segs 1 up"));
    }

    fn pair(&mut self, index: usize, group: &FlowGroup) {
        let (mtu, sender) = (mtu(&group.app), dotted(sender_address(index)));
        let receiver = dotted(receiver_address(index));
        let near = format!("10.1.{index}.254");
        let (s_mac, r_mac) =
            (format!("02:00:00:01:{index:02x}:01"), format!("02:00:00:01:{index:02x}:fe"));
        self.ip(
            Space::Router,
            &format!(
                "link add r{index} address {r_mac} type veth peer name \
                                         s{index} address {s_mac} netns senders"
            ),
        );
        self.ip(Space::Router, &format!("address add {near}/24 dev r{index}"));
        self.up(Space::Router, &format!("r{index}"), mtu);
        self.ip(
            Space::Router,
            &format!("neigh add {sender} lladdr {s_mac} dev r{index} nud permanent"),
        );
        self.ip(Space::Senders, &format!("address add {sender}/24 dev s{index}"));
        self.up(Space::Senders, &format!("s{index}"), mtu);
        self.ip(
            Space::Senders,
            &format!("neigh add {near} lladdr {r_mac} dev s{index} nud permanent"),
        );
        let tcp = group.app.tcp();
        let ecn = if tcp.is_some_and(|tcp| tcp.ecn) { " features ecn" } else { "" };
        let window = tcp.and_then(|tcp| tcp.initial_window).unwrap_or(10);
        self.ip(
            Space::Senders,
            &format!(
                "route add {receiver}/32 via {near} dev s{index} initcwnd \
                                          {window}{ecn}"
            ),
        );
    }

    fn receivers(&mut self, index: usize, group: &FlowGroup, veth: bool) {
        let receiver = dotted(receiver_address(index));
        self.ip(Space::Receivers, &format!("address add {receiver}/32 dev in"));
        let via = if veth { "via 10.2.255.254 " } else { "" };
        let at_once = group.app.tcp().is_some_and(|tcp| tcp.ack_every == Some(1));
        let quick = if at_once { " quickack 1" } else { "" };
        self.ip(Space::Receivers, &format!("route add 10.1.{index}.0/24 {via}dev in{quick}"));
        if veth {
            self.ip(
                Space::Router,
                &format!(
                    "neigh add {receiver} lladdr 02:00:00:02:00:01 dev out nud \
                                             permanent"
                ),
            );
        }
    }

    /// The delay elements of a group. The access rate is shared by its flows, so it is theirs together.
    fn delays(&mut self, index: usize, group: &FlowGroup, link: &Link) {
        let forward = group.access_delay + link.delay + group.egress_delay;
        let bps = group.access_rate.as_bps().saturating_mul(u64::from(group.count));
        let rate = format!(" rate {bps}bit");
        for (space, device, delay, rate) in [
            (Space::Senders, format!("s{index}"), forward, rate.as_str()),
            (Space::Router, format!("r{index}"), group.return_delay, ""),
        ] {
            let line = format!(
                "qdisc add dev {device} root netem limit {DELAY_LIMIT_PACKETS} delay {}us{rate}",
                (delay.as_nanos() + 500) / 1000, // tc takes whole microseconds
            );
            self.commands.push(command(space, "tc", &line));
            let options = vec![("limit".to_owned(), u64::from(DELAY_LIMIT_PACKETS))];
            self.expected.push(Expected { space, device, kind: "netem".to_owned(), options });
        }
    }

    fn bottleneck(&mut self, link: &Link, words: &Words) {
        self.commands.push(shaper("add", link, link.capacity.initial_rate().as_bps()));
        let line = format!("qdisc add dev out parent 1:1 handle 10: {}", words.words.join(" "));
        self.commands.push(command(Space::Router, "tc", &line));
        self.expected.push(Expected {
            space: Space::Router,
            device: "out".to_owned(),
            kind: words.words[0].clone(),
            options: words.expected.clone(),
        });
    }
}

fn dotted([a, b, c, d]: [u8; 4]) -> String {
    format!("{a}.{b}.{c}.{d}")
}

/// The largest packet of an application: the interface of its group lets no larger one pass.
fn mtu(app: &App) -> u32 {
    app.packet_bytes().max(LEAST_MTU)
}
