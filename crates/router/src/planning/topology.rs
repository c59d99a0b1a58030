//! Interfaces, addresses, routes, delays and queues, as commands of `ip` and `tc`.

use sojourn_aqm::{Rate, Span};
use sojourn_scenario::resolved::{App, FlowGroup, Link, Resolved};

use crate::plan::{
    Bottleneck, Command, Expected, MIRROR, Space, Watch, receiver_address, sender_address,
};
use crate::tc::Words;

/// What Linux counts of an Ethernet frame beside the IP packet.
const ETHERNET_BYTES: u32 = 14;
/// The delay elements never drop: this is more than any path holds, and drops are checked.
const DELAY_LIMIT_PACKETS: u32 = 1_000_000;
/// The smallest packet that an IPv4 interface may be limited to (RFC 791).
const LEAST_MTU: u32 = 68;
/// What CBS believes of its interface: the speed that veth reports.
pub(super) const VETH_BPS: u64 = 10_000_000_000;

/// The commands that build the hosts, and what must be found afterwards.
#[derive(Default)]
pub(super) struct Commands {
    /// In order.
    pub(super) commands: Vec<Command>,
    /// What is read back.
    pub(super) expected: Vec<Expected>,
}

impl Commands {
    fn ip(&mut self, space: Space, line: &str) {
        self.commands.push(command(space, "ip", line));
    }

    /// All interfaces, addresses, routes, delays. Router and receivers are joined by a pair of interfaces,
    /// or by our router's TUN devices, which the host makes; then that may be what delays. A wire of ours
    /// behind the kernel's router is joined to it by a pair, to the receivers by TUN devices.
    pub(super) fn routers(
        &mut self,
        scenario: &Resolved,
        link: &Link,
        bottleneck: &Bottleneck,
        has_wire: bool,
    ) {
        let (veth, delays) =
            (matches!(bottleneck, Bottleneck::Kernel { .. }), kernel_delays(bottleneck));
        for space in [Space::Senders, Space::Router, Space::Receivers] {
            self.ip(space, "link set lo up");
        }
        for (index, group) in scenario.flows.iter().enumerate() {
            self.pair(index, group);
        }
        let widest = scenario.flows.iter().map(|group| mtu(&group.app)).max().unwrap_or(1500);
        let is_joined = veth && !has_wire;
        if veth {
            let (peer, space) = if has_wire { ("wire", "wire") } else { ("in", "receivers") };
            self.ip(
                Space::Router,
                &format!(
                    "link add out address 02:00:00:02:00:fe type veth peer name {peer} \
                     address 02:00:00:02:00:01 netns {space}"
                ),
            );
        }
        for (space, device, address, peer) in [
            (Space::Router, "out", "10.2.255.254/16", "02:00:00:02:00:01"),
            (Space::Receivers, "in", "10.2.255.1/16", "02:00:00:02:00:fe"),
        ] {
            self.ip(space, &format!("address add {address} dev {device}"));
            self.up(space, device, widest);
            if is_joined && space == Space::Receivers {
                self.ip(
                    space,
                    &format!("neigh add 10.2.255.254 lladdr {peer} dev in nud permanent"),
                );
            }
        }
        for (index, group) in scenario.flows.iter().enumerate() {
            self.receivers(index, group, (veth, is_joined));
        }
        if has_wire {
            self.wire(widest);
        }
        let unserved = veth.then(|| link.capacity.initial_rate());
        for (index, group) in scenario.flows.iter().enumerate().filter(|_| delays) {
            let forward = forward_delay(group, link, unserved);
            self.delays(index, group, (forward, return_delay(group, scenario)));
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
        let ecn = if tcp.is_some_and(|tcp| tcp.ecn.is_some()) { " features ecn" } else { "" };
        let window = tcp.and_then(|tcp| tcp.initial_window).unwrap_or(10);
        self.ip(
            Space::Senders,
            &format!(
                "route add {receiver}/32 via {near} dev s{index} initcwnd \
                                          {window}{ecn}"
            ),
        );
    }

    /// What the wire of ours gets from the router's kernel goes to the host's device, and back.
    fn wire(&mut self, widest: u32) {
        self.ip(Space::Wire, "link set lo up");
        self.up(Space::Wire, "wire", widest);
        self.up(Space::Wire, "near", widest);
        for line in [
            "neigh add 10.2.255.254 lladdr 02:00:00:02:00:fe dev wire nud permanent",
            "route add 10.2.255.254/32 dev wire",
            "route add 10.1.0.0/16 via 10.2.255.254 dev wire",
            "route add 10.2.0.0/16 dev near",
        ] {
            self.ip(Space::Wire, line);
        }
    }

    /// `veth`: the router reaches them by an interface with neighbours; `is_joined`: they it, too.
    fn receivers(&mut self, index: usize, group: &FlowGroup, (veth, is_joined): (bool, bool)) {
        let receiver = dotted(receiver_address(index));
        self.ip(Space::Receivers, &format!("address add {receiver}/32 dev in"));
        let via = if is_joined { "via 10.2.255.254 " } else { "" };
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
    fn delays(&mut self, index: usize, group: &FlowGroup, (forward, back): (Span, Span)) {
        self.commands.push(forward_element("add", index, group, forward));
        let line = format!(
            "qdisc add dev r{index} root netem limit {DELAY_LIMIT_PACKETS} delay {}us",
            micros(back)
        );
        self.commands.push(command(Space::Router, "tc", &line));
        for (space, device) in [(Space::Senders, 's'), (Space::Router, 'r')] {
            let (device, kind) = (format!("{device}{index}"), "netem".to_owned());
            let options = vec![("limit".to_owned(), u64::from(DELAY_LIMIT_PACKETS))];
            self.expected.push(Expected { space, device, kind, options });
        }
    }

    /// A place where all that senders send is seen before it is delayed: the hook for filters comes
    /// before the discipline of an interface.
    pub(super) fn watch(&mut self, scenario: &Resolved, bottleneck: &Bottleneck) -> Watch {
        if !kernel_delays(bottleneck) {
            return Watch::Interface;
        }
        self.ip(Space::Senders, &format!("link add {MIRROR} type dummy"));
        self.ip(Space::Senders, &format!("link set {MIRROR} up"));
        for device in (0..scenario.flows.len()).map(|index| format!("s{index}")) {
            let hook = format!("qdisc add dev {device} clsact");
            let copies = format!(
                "filter add dev {device} egress matchall action mirred egress mirror dev {MIRROR}"
            );
            self.commands.push(command(Space::Senders, "tc", &hook));
            self.commands.push(command(Space::Senders, "tc", &copies));
            let (space, kind) = (Space::Senders, "clsact".to_owned());
            self.expected.push(Expected { space, device, kind, options: Vec::new() });
        }
        Watch::Mirror
    }

    /// The shaper and the discipline.
    pub(super) fn bottleneck(&mut self, link: &Link, words: &Words) {
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

/// Whether the kernel's delay elements delay packets, not a router of ours.
fn kernel_delays(bottleneck: &Bottleneck) -> bool {
    match bottleneck {
        Bottleneck::Kernel { .. } => true,
        Bottleneck::Sojourn(street) => street.lines.is_empty(),
    }
}

/// How long a full packet is under way to the receiver beside its wait in the queue, and what the access rate
/// of the whole group takes: all propagation, the rest of the flow's own access line, and, where the queue hands
/// a packet on with its first bit, the time on the link, at the rate `unserved`.
pub(super) fn forward_delay(group: &FlowGroup, link: &Link, unserved: Option<Rate>) -> Span {
    let bytes = u64::from(group.app.packet_bytes());
    let shared = Rate::from_bps(access_bps(group)).time_for(bytes);
    let access = group.access_rate.time_for(bytes).saturating_sub(shared);
    let framed = bytes + u64::from(link.framing_bytes);
    let on_link = unserved.map_or(Span::ZERO, |rate| rate.time_for(framed));
    group.access_delay + access + link.delay + on_link + group.egress_delay
}

/// The element before the queue. With a rate it keeps packets in order also when its delay changes.
fn forward_element(verb: &str, index: usize, group: &FlowGroup, delay: Span) -> Command {
    let (delay, bps) = (micros(delay), access_bps(group));
    let line = format!(
        "qdisc {verb} dev s{index} root netem limit {DELAY_LIMIT_PACKETS} delay {delay}us rate {bps}bit"
    );
    command(Space::Senders, "tc", &line)
}

/// What a step to another rate changes: the shaper, and how long packets are on the link.
pub(super) fn step(scenario: &Resolved, link: &Link, bps: u64) -> Vec<Command> {
    let rate = Some(Rate::from_bps(bps));
    let elements = scenario.flows.iter().enumerate().map(|(index, group)| {
        forward_element("change", index, group, forward_delay(group, link, rate))
    });
    [shaper("change", link, bps)].into_iter().chain(elements).collect()
}

/// tc takes whole microseconds.
fn micros(delay: Span) -> u64 {
    (delay.as_nanos() + 500) / 1000
}

/// All propagation on the way back; a queue there comes before it.
pub(super) fn return_delay(group: &FlowGroup, scenario: &Resolved) -> Span {
    let links = group.reverse.iter().map(|&link| scenario.links[link].delay);
    links.fold(group.return_delay + group.return_egress_delay, |sum, delay| sum + delay)
}

/// The access rate of a group's flows together.
pub(super) fn access_bps(group: &FlowGroup) -> u64 {
    group.access_rate.as_bps().saturating_mul(u64::from(group.count))
}

/// The same commands in an order that needs few processes: those of one program in one name space
/// are neighbours. The router comes first, whose commands make the interfaces of all; queues come last.
pub(super) fn few_batches(mut commands: Vec<Command>) -> Vec<Command> {
    let order = [Space::Router, Space::Senders, Space::Receivers, Space::Wire];
    let place = |space| order.iter().position(|other| *other == space);
    commands.sort_by_key(|command| (command.program == "tc", place(command.space)));
    commands
}

fn dotted([a, b, c, d]: [u8; 4]) -> String {
    format!("{a}.{b}.{c}.{d}")
}

/// The largest packet of an application: the interface of its group lets no larger one pass.
fn mtu(app: &App) -> u32 {
    app.packet_bytes().max(LEAST_MTU)
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

#[cfg(test)]
mod tests {
    use sojourn_scenario::{Scenario, Source};

    use crate::plan::{Bottleneck, Command, Plan};
    use crate::planning::{Kernel, plan};

    /// A plan for a flow with a round trip of 20 ms, or several of them.
    fn planned(rate: &str, count: u32, bottleneck: &str) -> Plan {
        let text = format!(
            r#"
name = "delays"
duration = "2s"
[engine.linux]
bottleneck = "{bottleneck}"
[links.bottleneck]
rate = {rate}
queue = "codel@linux"
[[flows]]
count = {count}
path = ["bottleneck"]
rtt = "20ms"
app = {{ kind = "bulk" }}
"#
        );
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let scenario = Scenario::load(&text, &Source::default(), &none).unwrap();
        plan(scenario.resolved(), Kernel { hz: 1000, delays_in_router: false }).unwrap()
    }

    fn delay_us(commands: &[Command], device: &str) -> String {
        let of_device = |command: &&Command| command.arguments.iter().any(|word| word == device);
        let found = commands.iter().find(|c| c.program == "tc" && of_device(c)).unwrap();
        let place = found.arguments.iter().position(|word| word == "delay").unwrap();
        found.arguments[place + 1].clone()
    }

    #[test]
    fn a_round_trip_holds_the_time_of_a_full_packet_on_the_link() {
        // 1500 B take 1.2 ms at 10 Mbit/s, and 120 us on an access line of 100 Mbit/s, of which
        // netem's, four times as fast, takes 30 us.
        let forward =
            |count, bottleneck| delay_us(&planned("\"10mbit\"", count, bottleneck).commands, "s0");
        assert_eq!([forward(1, "kernel"), forward(4, "kernel")], ["11200us", "11290us"]);
        assert_eq!(forward(1, "sojourn"), "10000us", "our router takes that time itself");
        assert_eq!(delay_us(&planned("\"10mbit\"", 1, "kernel").commands, "r0"), "10000us");
    }

    #[test]
    fn a_step_changes_the_time_on_the_link_too() {
        let rate = r#"{ kind = "schedule", steps = [["0s", "10mbit"], ["1s", "20mbit"]] }"#;
        let plan = planned(rate, 1, "kernel");
        let Bottleneck::Kernel { changes } = plan.bottleneck else { panic!("the kernel's own") };
        assert!(changes.iter().all(|change| change.0 == 1_000_000_000));
        let commands: Vec<Command> = changes.into_iter().map(|change| change.1).collect();
        assert_eq!((commands.len(), delay_us(&commands, "s0")), (2, "10600us".to_owned()));
    }
}
