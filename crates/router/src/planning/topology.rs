//! Interfaces, addresses, routes, delays and queues, as commands of `ip` and `tc`.

use sojourn_aqm::{Cells, Span};
use sojourn_scenario::resolved::{App, FlowGroup, Link, Resolved};

use super::classes::TcClasses;
use super::delays::{AccessLine, forward_delay, micros, return_delay};
use super::egress::Egress;
use crate::plan::{
    Bottleneck, Command, Expected, MIRROR, Netns, SenderCapture, receiver_address, sender_address,
};
use crate::tc::{MODULE_KIND, TcDiscipline};

/// The Ethernet header, which Linux counts in addition to the IP packet.
const ETHERNET_BYTES: u32 = 14;
/// The limit of netem in packets, larger than any path's contents; drops are checked.
const DELAY_LIMIT_PACKETS: u32 = 1_000_000;
/// The smallest MTU of an IPv4 interface (RFC 791).
const LEAST_MTU: u32 = 68;
/// The speed reported by veth in bit/s, which CBS takes as its interface's speed.
pub(super) const VETH_BPS: u64 = 10_000_000_000;

/// The destination of packets that bypass our wire.
const RECEIVERS: (Netns, &str) = (Netns::Receivers, "in");
/// The shaper's credits per byte. The shaper rounds the cost of a packet down to a whole credit:
/// with one credit per byte, it would send up to a byte per packet too fast (fact linux-23). Slopes
/// are 32-bit numbers in kbit/s, and the send slope is up to 10 Gbit/s, which limits this number.
pub(crate) const CREDITS_PER_BYTE: u64 = 200;

/// The commands that set up the hosts, and the disciplines to read back afterwards.
#[derive(Default)]
pub(super) struct Commands {
    /// In order.
    pub(super) commands: Vec<Command>,
    /// The disciplines that are read back.
    pub(super) expected: Vec<Expected>,
}

impl Commands {
    fn ip(&mut self, netns: Netns, line: &str) {
        self.commands.push(command(netns, "ip", line));
    }

    /// All interfaces, addresses, routes and delays.
    pub(super) fn hosts(
        &mut self,
        scenario: &Resolved,
        link: &Link,
        bottleneck: &Bottleneck,
        egress: Egress,
    ) {
        for netns in [Netns::Senders, Netns::Router, Netns::Receivers] {
            self.ip(netns, "link set lo up");
        }
        for (index, group) in scenario.flows.iter().enumerate() {
            self.pair(index, group);
        }
        let largest_mtu = scenario.flows.iter().map(|group| mtu(&group.app)).max().unwrap_or(1500);
        let has_wire = egress.has_wire();
        if egress.is_veth() {
            self.link_time(link, if has_wire { (Netns::Wire, "wire") } else { RECEIVERS });
        }
        if egress == Egress::WireBack {
            self.veth_behind_wire(scenario.flows.len(), largest_mtu);
        }
        for (netns, device, address, peer) in [
            (Netns::Router, "out", "10.2.255.254/16", "02:00:00:02:00:01"),
            (Netns::Receivers, "in", "10.2.255.1/16", "02:00:00:02:00:fe"),
        ] {
            self.ip(netns, &format!("address add {address} dev {device}"));
            self.up(netns, device, largest_mtu, 1);
            if egress == Egress::Veth && netns == Netns::Receivers {
                self.ip(
                    netns,
                    &format!("neigh add 10.2.255.254 lladdr {peer} dev in nud permanent"),
                );
            }
        }
        for (index, group) in scenario.flows.iter().enumerate() {
            self.receivers(index, group, egress);
        }
        if has_wire {
            self.wire(largest_mtu);
        }
        let has_netem = has_netem(bottleneck);
        for index in (0..scenario.flows.len()).filter(|_| has_netem) {
            self.delays(index, scenario, link);
        }
        if egress.is_veth() {
            self.up(Netns::Router, "served", largest_mtu, 1);
            self.up(Netns::Router, "sent", largest_mtu, 1);
        }
    }

    /// The route of packets from the kernel's shaper, which passes them on when their transmission
    /// starts (fact linux-7): back into the router through `served`, and out again through `sent`,
    /// whose netem adds each packet's transmission time.
    fn link_time(&mut self, link: &Link, (netns, peer): (Netns, &str)) {
        self.ip(
            Netns::Router,
            "link add out address 02:00:00:02:00:fd type veth peer name served \
             address 02:00:00:02:00:fc",
        );
        self.ip(
            Netns::Router,
            &format!(
                "link add sent address 02:00:00:02:00:fe type veth peer name {peer} \
                 address 02:00:00:02:00:01 netns {}",
                netns.name()
            ),
        );
        self.pass_on(Netns::Router, "served", "ingress", "redirect dev sent");
        self.commands.push(link_netem("add", link, link.capacity.initial_rate().as_bps()));
        self.expect_netem(Netns::Router, "sent".to_owned());
    }

    /// Redirects or copies the packets at a hook of an interface to another interface (`mirred`).
    fn pass_on(&mut self, netns: Netns, device: &str, hook: &str, onto: &str) {
        let filter = format!("filter add dev {device} {hook} matchall action mirred egress {onto}");
        self.commands.push(command(netns, "tc", &format!("qdisc add dev {device} clsact")));
        self.commands.push(command(netns, "tc", &filter));
        let (device, kind) = (device.to_owned(), "clsact".to_owned());
        self.expected.push(Expected { netns, device, kind, options: Vec::new() });
    }

    /// `segments` is the largest number that TCP hands down to the device at once.
    fn up(&mut self, netns: Netns, device: &str, mtu: u32, segments: u32) {
        self.ip(netns, &format!("link set {device} mtu {mtu} gso_max_segs {segments} up"));
    }

    fn pair(&mut self, index: usize, group: &FlowGroup) {
        let (mtu, sender) = (mtu(&group.app), dotted(sender_address(index)));
        let receiver = dotted(receiver_address(index));
        let near = format!("10.1.{index}.254");
        // The router's side has one address: groups may share a line.
        let (s_mac, r_mac) = (format!("02:00:00:01:{index:02x}:01"), "02:00:00:01:00:fe");
        self.ip(
            Netns::Router,
            &format!(
                "link add r{index} address {r_mac} type veth peer name s{index} address {s_mac} \
                 netns senders"
            ),
        );
        self.ip(Netns::Router, &format!("address add {near}/24 dev r{index}"));
        self.up(Netns::Router, &format!("r{index}"), mtu, 1);
        self.ip(
            Netns::Router,
            &format!("neigh add {sender} lladdr {s_mac} dev r{index} nud permanent"),
        );
        self.ip(Netns::Senders, &format!("address add {sender}/24 dev s{index}"));
        self.up(Netns::Senders, &format!("s{index}"), mtu, burst(&group.app));
        self.ip(
            Netns::Senders,
            &format!("neigh add {near} lladdr {r_mac} dev s{index} nud permanent"),
        );
        let tcp = group.app.tcp();
        let ecn = if tcp.is_some_and(|tcp| tcp.ecn.is_some()) { " features ecn" } else { "" };
        let window = tcp.and_then(|tcp| tcp.initial_window).unwrap_or(10);
        self.ip(
            Netns::Senders,
            &format!("route add {receiver}/32 via {near} dev s{index} initcwnd {window}{ecn}"),
        );
    }

    /// The namespace of our wire, between the veth pair of the kernel's router and our TUN device.
    fn wire(&mut self, largest_mtu: u32) {
        self.ip(Netns::Wire, "link set lo up");
        self.up(Netns::Wire, "wire", largest_mtu, 1);
        self.up(Netns::Wire, "near", largest_mtu, 1);
        for line in [
            "neigh add 10.2.255.254 lladdr 02:00:00:02:00:fe dev wire nud permanent",
            "route add 10.2.255.254/32 dev wire",
            "route add 10.1.0.0/16 via 10.2.255.254 dev wire",
            "route add 10.2.0.0/16 dev near",
        ] {
            self.ip(Netns::Wire, line);
        }
    }

    /// Packets that bypass our wire reach the receivers over a veth pair: the receivers could not
    /// merge packets from a TUN device, because of their memory layout (fact linux-34).
    fn veth_behind_wire(&mut self, groups: usize, largest_mtu: u32) {
        self.ip(
            Netns::Router,
            "link add in address 02:00:00:03:00:01 netns receivers type veth peer name far \
             address 02:00:00:03:00:fe netns wire",
        );
        self.up(Netns::Wire, "far", largest_mtu, 1);
        self.up(Netns::Receivers, "back", largest_mtu, 1);
        for receiver in (0..groups).map(|index| dotted(receiver_address(index))) {
            self.ip(
                Netns::Wire,
                &format!("neigh add {receiver} lladdr 02:00:00:03:00:01 dev far nud permanent"),
            );
            self.ip(Netns::Wire, &format!("route add {receiver}/32 dev far"));
        }
    }

    fn receivers(&mut self, index: usize, group: &FlowGroup, egress: Egress) {
        let receiver = dotted(receiver_address(index));
        self.ip(Netns::Receivers, &format!("address add {receiver}/32 dev in"));
        let at_once = group.app.tcp().is_some_and(|tcp| tcp.ack_every == Some(1));
        let quick = if at_once { " quickack 1" } else { "" };
        self.ip(Netns::Receivers, &format!("route add 10.1.{index}.0/24 {}{quick}", egress.back()));
        if egress.is_veth() {
            self.ip(
                Netns::Router,
                &format!("neigh add {receiver} lladdr 02:00:00:02:00:01 dev out nud permanent"),
            );
        }
    }

    /// The delays of a group. Before the queue: that of its access line, a netem at the interface
    /// of the line's first group. On the return path: the group's own delay.
    fn delays(&mut self, index: usize, scenario: &Resolved, link: &Link) {
        let group = &scenario.flows[index];
        let line = AccessLine::of(index, &scenario.flows);
        let (netns, sender) = (Netns::Senders, format!("s{index}"));
        if line.first == index {
            let delay = forward_delay(group, link, line.bps);
            self.commands.push(forward_netem(&line, delay));
            self.expect_netem(netns, sender);
        } else {
            self.pass_on(netns, &sender, "egress", &format!("redirect dev s{}", line.first));
        }
        let (back, device) = (micros(return_delay(group, scenario)), format!("r{index}"));
        let line =
            format!("qdisc add dev {device} root netem limit {DELAY_LIMIT_PACKETS} delay {back}us");
        self.commands.push(command(Netns::Router, "tc", &line));
        self.expect_netem(Netns::Router, device);
    }

    fn expect_netem(&mut self, netns: Netns, device: String) {
        let options = vec![("limit".to_owned(), u64::from(DELAY_LIMIT_PACKETS))];
        self.expected.push(Expected { netns, device, kind: "netem".to_owned(), options });
    }

    /// The capture of packets as they are sent, before netem delays them: the egress hook of clsact
    /// precedes the interface's discipline.
    pub(super) fn capture(
        &mut self,
        scenario: &Resolved,
        bottleneck: &Bottleneck,
    ) -> SenderCapture {
        if !has_netem(bottleneck) {
            return SenderCapture::Interface;
        }
        self.ip(Netns::Senders, &format!("link add {MIRROR} type dummy"));
        self.ip(Netns::Senders, &format!("link set {MIRROR} up"));
        let is_first = |&index: &usize| AccessLine::of(index, &scenario.flows).first == index;
        for device in (0..scenario.flows.len()).filter(is_first).map(|index| format!("s{index}")) {
            self.pass_on(Netns::Senders, &device, "egress", &format!("mirror dev {MIRROR}"));
        }
        SenderCapture::Mirror
    }

    /// The shaper and the discipline.
    pub(super) fn bottleneck(&mut self, link: &Link, discipline: &TcDiscipline) {
        self.commands.push(shaper("add", link, link.capacity.initial_rate().as_bps()));
        // The host uses netlink to create the disciplines that tc does not support: ours, and newer
        // ones of the kernel.
        if discipline.arguments[0] != MODULE_KIND && discipline.netlink.is_none() {
            let line = format!(
                "qdisc add dev out parent 1:1 handle 10: {}",
                discipline.arguments.join(" ")
            );
            self.commands.push(command(Netns::Router, "tc", &line));
        }
        self.expected.push(Expected {
            netns: Netns::Router,
            device: "out".to_owned(),
            kind: discipline.arguments[0].clone(),
            options: discipline.expected.clone(),
        });
    }

    /// The shaper, and a scheduler with its classes, queues and filters. Queues that tc does not
    /// support are created by the host.
    pub(super) fn classes(&mut self, link: &Link, classes: &TcClasses) {
        self.commands.push(shaper("add", link, link.capacity.initial_rate().as_bps()));
        self.commands.extend(classes.lines.iter().map(|line| command(Netns::Router, "tc", line)));
        let (device, kind) = ("out".to_owned(), classes.plan.scheduler.kind.clone());
        let netns = Netns::Router;
        self.expected.push(Expected { netns, device, kind, options: Vec::new() });
    }
}

/// Whether netem applies the delays instead of our router.
fn has_netem(bottleneck: &Bottleneck) -> bool {
    match bottleneck {
        Bottleneck::Kernel { .. } => true,
        Bottleneck::Sojourn(link) => link.delays.is_empty(),
    }
}

/// The netem behind the shaper: it delays each packet by its time on the link.
fn link_netem(verb: &str, link: &Link, bps: u64) -> Command {
    let framing = i64::from(link.framing_bytes) - i64::from(ETHERNET_BYTES);
    let cells = if link.packing.cells == Cells::Atm { " 48 5" } else { "" };
    let line = format!(
        "qdisc {verb} dev sent root netem limit {DELAY_LIMIT_PACKETS} rate {bps}bit \
         {framing}{cells}"
    );
    command(Netns::Router, "tc", &line)
}

/// The netem before the queue. Its rate keeps packets in order.
fn forward_netem(line: &AccessLine, delay: Span) -> Command {
    let (AccessLine { first, bps }, delay) = (line, micros(delay));
    let line = format!(
        "qdisc add dev s{first} root netem limit {DELAY_LIMIT_PACKETS} delay {delay}us \
         rate {bps}bit"
    );
    command(Netns::Senders, "tc", &line)
}

/// The commands that change the rate: of the shaper, and of the netem for transmission times.
pub(super) fn rate_change(link: &Link, bps: u64) -> [Command; 2] {
    [shaper("change", link, bps), link_netem("change", link, bps)]
}

/// Reorders the commands so that few processes are needed: commands of one program in one namespace
/// become consecutive. The router comes first, because its commands create everyone's interfaces;
/// queues come last.
pub(super) fn in_few_batches(mut commands: Vec<Command>) -> Vec<Command> {
    let order = [Netns::Router, Netns::Senders, Netns::Receivers, Netns::Wire];
    let rank = |netns| order.iter().position(|other| *other == netns);
    commands.sort_by_key(|command| (command.program == "tc", rank(command.netns)));
    commands
}

pub(super) fn dotted([a, b, c, d]: [u8; 4]) -> String {
    format!("{a}.{b}.{c}.{d}")
}

/// The largest packet of an application, which is the MTU of its group's interface.
pub(super) fn mtu(app: &App) -> u32 {
    app.packet_bytes().max(LEAST_MTU)
}

/// The most segments that TCP hands down at once; the device, whose offloads are off, sends them as
/// single packets.
pub(super) fn burst(app: &App) -> u32 {
    let tcp = app.tcp();
    let bytes = tcp.and_then(|tcp| tcp.offload_bytes.map(|bytes| bytes / tcp.payload_bytes));
    bytes.unwrap_or(1).max(1)
}

/// The shaper above the discipline. We use CBS because it dequeues from an empty child too, so that
/// RED notices when it is idle (fact linux-2), and because it sends no burst after an idle period
/// (fact linux-3).
fn shaper(verb: &str, link: &Link, bps: u64) -> Command {
    let framing = i64::from(link.framing_bytes) - i64::from(ETHERNET_BYTES);
    let kbit = bps / 1000 * CREDITS_PER_BYTE;
    let sending = (VETH_BPS - bps) / 1000 * CREDITS_PER_BYTE;
    let largest = u64::from(link.largest_bytes()) * CREDITS_PER_BYTE;
    let max_frames = u64::from(link.largest_bytes() + ETHERNET_BYTES) * 2 * CREDITS_PER_BYTE;
    let mut line = format!("qdisc {verb} dev out root handle 1:");
    let layer = if link.packing.cells == Cells::Atm { "atm" } else { "ethernet" };
    if framing != 0 || layer == "atm" {
        line += &format!(" stab overhead {framing} linklayer {layer}");
    }
    line += &format!(
        " cbs idleslope {kbit} sendslope -{sending} hicredit {largest} locredit -{max_frames} \
         offload 0",
    );
    command(Netns::Router, "tc", &line)
}

fn command(netns: Netns, program: &str, line: &str) -> Command {
    let arguments = line.split(' ').map(str::to_owned).collect();
    Command { netns, program: program.to_owned(), arguments }
}

#[cfg(test)]
mod tests {
    use sojourn_scenario::{Scenario, Source};

    use crate::plan::{Bottleneck, Command, Plan};
    use crate::planning::{Kernel, plan};

    /// A plan for one or several flows, with an RTT of 20 ms.
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
        plan(scenario.resolved(), Kernel { hz: 1000, delays_in_router: false, release: None })
            .unwrap()
    }

    fn lines(commands: &[Command]) -> Vec<String> {
        commands.iter().map(|each| each.arguments.join(" ")).collect()
    }

    fn delay_us(commands: &[Command], device: &str) -> String {
        let of_device = |command: &&Command| command.arguments.iter().any(|word| word == device);
        let found = commands.iter().find(|c| c.program == "tc" && of_device(c)).unwrap();
        let index = found.arguments.iter().position(|word| word == "delay").unwrap();
        found.arguments[index + 1].clone()
    }

    #[test]
    fn behind_the_kernels_shaper_netem_takes_the_time_of_each_packet_on_the_link() {
        // 1500 B take 120 us on an access link of 100 Mbit/s. netem, at four times that rate,
        // applies 30 us of it.
        let forward =
            |count, bottleneck| delay_us(&planned("\"10mbit\"", count, bottleneck).commands, "s0");
        assert_eq!([forward(1, "kernel"), forward(4, "kernel")], ["10000us", "10090us"]);
        assert_eq!(forward(1, "sojourn"), "10000us");
        assert_eq!(delay_us(&planned("\"10mbit\"", 1, "kernel").commands, "r0"), "10000us");
        let lines = lines(&planned("\"10mbit\"", 1, "kernel").commands);
        let behind = "qdisc add dev sent root netem limit 1000000 rate 10000000bit -14";
        assert!(lines.iter().any(|line| line == behind), "{lines:?}");
        let ours = self::lines(&planned("\"10mbit\"", 1, "sojourn").commands);
        assert!(!ours.iter().any(|line| line.contains("dev sent")), "our router takes it itself");
    }

    /// Linux 6.1 sch_cbs.c, `credits_from_len`; fact linux-23.
    #[test]
    fn the_shaper_counts_parts_of_bytes_so_that_rounding_costs_no_rate() {
        let lines = lines(&planned("\"2mbit\"", 1, "kernel").commands);
        let shaper = lines.iter().find(|line| line.contains(" cbs ")).unwrap();
        let slopes = "idleslope 400000 sendslope -1999600000 hicredit 300000 locredit -605600";
        assert!(shaper.contains(slopes), "{shaper}");
        let (send, port) = (1_999_600_000_u64, 10_000_000);
        assert_eq!((1500 * send / port, 1500 * send % port), (299_940, 0));
    }

    /// Fact linux-34.
    #[test]
    fn only_what_passes_a_wire_of_ours_comes_to_the_receivers_from_a_tun_device() {
        let planned = |wire: &str| {
            let text = format!(
                "name = \"x\"\nduration = \"1s\"\n[links.b]\nrate = \"10mbit\"\n{wire}\
                 [links.acks]\nrate = \"1mbit\"\n[[flows]]\npath = [\"b\"]\n\
                 reverse = [\"acks\"]\nrtt = \"20ms\"\napp = {{ kind = \"bulk\" }}\n"
            );
            let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
            let scenario = Scenario::load(&text, &Source::default(), &none).unwrap();
            let kernel = Kernel { hz: 1000, delays_in_router: false, release: None };
            plan(scenario.resolved(), kernel).unwrap()
        };
        let has = |plan: &Plan, line: &str| lines(&plan.commands).iter().any(|each| each == line);
        let lossless = planned("");
        assert_eq!(lossless.receivers_tun(), "back");
        assert!(has(&lossless, "route add 10.2.0.1/32 dev far"), "a veth pair");
        assert!(has(&lossless, "route add 10.1.0.0/24 dev back"), "acknowledgements");
        let lossy = planned("loss = { kind = \"bernoulli\", rate = 0.01 }\n");
        assert_eq!(lossy.receivers_tun(), "in");
        assert!(has(&lossy, "route add 10.1.0.0/24 dev in"));
        assert!(!has(&lossy, "route add 10.2.0.1/32 dev far"));
    }

    /// Fact linux-37.
    #[test]
    fn groups_of_the_same_access_share_a_line_in_which_packets_keep_their_order() {
        let group = |name: &str, rest: &str| {
            format!(
                "[[flows]]\nname = \"{name}\"\npath = [\"b\"]\naccess_rate = \"1gbit\"\n{rest}\n\
                 app = {{ kind = \"bulk\" }}\n"
            )
        };
        let groups = [
            group("a", "count = 3\nrtt = \"20ms\""),
            group("far", "rtt = \"30ms\""),
            group("b", "count = 2\nrtt = \"20ms\""),
            group("short", "packet = \"1000B\"\nrtt = \"20ms\""),
        ];
        let text = format!(
            "name = \"x\"\nduration = \"1s\"\n[links.b]\nrate = \"10mbit\"\n{}",
            groups.concat()
        );
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let scenario = Scenario::load(&text, &Source::default(), &none).unwrap();
        let kernel = Kernel { hz: 1000, delays_in_router: false, release: None };
        let lines = lines(&plan(scenario.resolved(), kernel).unwrap().commands);
        let of = |device: &str| {
            let is_its = |line: &&String| {
                line.contains(&format!("add dev {device} ")) && !line.contains("clsact")
            };
            lines.iter().find(is_its).unwrap().clone()
        };
        let end = |line: String| line.split_once("delay ").unwrap().1.to_owned();
        assert_eq!(end(of("s0")), "10010us rate 5000000000bit", "all five flows together");
        assert_eq!(end(of("s1")), "15000us rate 1000000000bit");
        assert!(of("s2").ends_with("egress matchall action mirred egress redirect dev s0"));
        assert!(end(of("s3")).ends_with("rate 1000000000bit"));
    }

    #[test]
    fn with_offload_tcp_hands_a_senders_interface_as_many_segments_as_fit() {
        let text = "name = \"x\"\nduration = \"1s\"\n[links.b]\nrate = \"10mbit\"\n[[flows]]\n\
                    path = [\"b\"]\nrtt = \"20ms\"\noffload = \"tso:64kB\"\n\
                    app = { kind = \"bulk\" }\n";
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let scenario = Scenario::load(text, &Source::default(), &none).unwrap();
        let kernel = Kernel { hz: 1000, delays_in_router: false, release: None };
        let commands = plan(scenario.resolved(), kernel).unwrap().commands;
        let lines = lines(&commands);
        let segments = |device: &str| {
            let line =
                lines.iter().find(|line| line.starts_with(&format!("link set {device} mtu")));
            line.unwrap().split(' ').skip_while(|&word| word != "gso_max_segs").nth(1).unwrap()
        };
        assert_eq!(["s0", "r0", "out"].map(segments), ["44", "1", "1"]);
    }

    #[test]
    fn a_rate_change_changes_the_time_on_the_link_too() {
        let rate = r#"{ kind = "schedule", steps = [["0s", "10mbit"], ["1s", "20mbit"]] }"#;
        let plan = planned(rate, 1, "kernel");
        let Bottleneck::Kernel { changes } = plan.bottleneck else { panic!("the kernel's own") };
        assert!(changes.iter().all(|change| change.0 == 1_000_000_000));
        let commands: Vec<Command> = changes.into_iter().map(|change| change.1).collect();
        let lines = lines(&commands);
        assert!(lines[0].contains("dev out root") && lines[0].contains("idleslope 4000000"));
        let rate = "qdisc change dev sent root netem limit 1000000 rate 20000000bit -14";
        assert_eq!(lines[1..], [rate]);
    }
}
