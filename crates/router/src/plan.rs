//! The plan of a run on real hosts: the work of the guest's first process, as plain data.
//!
//! The host builds the plan and refuses scenarios that cannot be run; the guest reads the plan.
//! JSON names that differ from the names here are those of the manifest.

mod kernel_classes;
mod kernel_qdisc;
mod programs;
mod wire_plan;

use serde::{Deserialize, Serialize};
use sojourn_scenario::resolved::{App, Duplicate, Trace};

use crate::laws::PlannedLaw;
pub use kernel_classes::{KernelClasses, KernelLeaf};
pub(crate) use kernel_qdisc::HANDLE;
pub use kernel_qdisc::{KernelQdisc, QdiscOption, Width};
pub use programs::{
    HostSide, HostWish, MOST_HOSTS, PROGRAM_PATH, ProgramCommand, ProgramHost, ProgramsPlan,
    ProgramsWish, WORKING_FOLDER, host_address, host_interface, host_netns, side_of,
};
pub use wire_plan::WirePlan;

/// A network namespace of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Netns {
    /// All senders, with one interface per group of flows.
    Senders,
    /// The bottleneck.
    Router,
    /// All receivers.
    Receivers,
    /// Our wire between router and receivers, if a veth pair is not enough.
    Wire,
}

impl Netns {
    /// All namespaces; the last one is not always needed.
    const ALL: [Netns; 4] = [Netns::Senders, Netns::Router, Netns::Receivers, Netns::Wire];

    /// Its name for `ip netns`.
    pub const fn name(self) -> &'static str {
        match self {
            Netns::Senders => "senders",
            Netns::Router => "router",
            Netns::Receivers => "receivers",
            Netns::Wire => "wire",
        }
    }
}

/// A program with its arguments, to be run in a namespace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Command {
    /// The namespace.
    #[serde(rename = "space")]
    pub netns: Netns,
    /// `ip` or `tc`.
    pub program: String,
    /// Its arguments, one word each.
    pub arguments: Vec<String>,
}

/// A setting below `/proc/sys`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SysctlSetting {
    /// In which namespace.
    #[serde(rename = "space")]
    pub netns: Netns,
    /// The path below `/proc/sys`, such as `net/ipv4/tcp_ecn`.
    pub path: String,
    /// The value to write; reading it back must give the same.
    pub value: String,
}

/// A queueing discipline that `tc` must show as requested.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Expected {
    /// In which namespace.
    #[serde(rename = "space")]
    pub netns: Netns,
    /// At which interface.
    pub device: String,
    /// The kind that tc shows.
    pub kind: String,
    /// Options by name, with their values.
    pub options: Vec<(String, u64)>,
}

/// The bottleneck.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bottleneck {
    /// The kernel's discipline on the interface `out`, as set up by the commands.
    Kernel {
        /// Changes of its rate: nanoseconds since the start, and the command to run.
        changes: Vec<(u64, Command)>,
    },
    /// Our router between two TUN devices, with an AQM of the registry.
    Sojourn(RouterLinkPlan),
}

/// The direction in which packets travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// To the receivers.
    #[default]
    Forward,
    /// To the senders.
    #[serde(rename = "back")]
    Reverse,
}

/// A link to the senders with a queue in our router.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReverseLink {
    /// The link.
    pub link: RouterLinkPlan,
    /// The wire behind it, if the wire does more than add a constant delay.
    pub wire: Option<WirePlan>,
    /// The groups of flows whose packets use it; packets of other groups bypass it.
    pub groups: Vec<usize>,
}

/// A link of our router.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RouterLinkPlan {
    /// The AQM in its text form.
    pub queue: String,
    /// Its index among the scenario's links, which numbers its random streams.
    #[serde(default, rename = "place")]
    pub index: u16,
    /// The direction of its packets.
    #[serde(default, rename = "way")]
    pub direction: Direction,
    /// Its limit, such as `125kB`.
    pub limit: String,
    /// Bytes of framing that it adds to every packet.
    pub framing_bytes: u32,
    /// Largest packet, framing included.
    pub mtu_bytes: u32,
    /// How it sends.
    pub service: RouterCapacity,
    /// Numbers of data packets, counted from 1 over the whole link, that are dropped on arrival
    /// regardless of the AQM.
    #[serde(default)]
    pub drop_list: Vec<u64>,
    /// Numbers of data packets that are marked on arrival, counted in the same way.
    #[serde(default)]
    pub mark_list: Vec<u64>,
    /// Its random copies of packets, with the link's name, which names their random stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<(String, Duplicate)>,
    /// The delays that the router applies itself, by group of flows; empty if netem applies them.
    #[serde(default, rename = "lines")]
    pub delays: Vec<GroupDelays>,
}

/// How one of our router's links sends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RouterCapacity {
    /// At rates in bit/s, each valid from a time in nanoseconds; the first from zero. 0 bit/s is an
    /// outage.
    Rates(Vec<(u64, u64)>),
    /// At recorded opportunities.
    Recorded(Box<Trace>),
}

/// The delays of a group of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GroupDelays {
    /// Before the queue, nanoseconds.
    pub forward_ns: u64,
    /// Rate of the access link in front of that delay, bit/s, shared by the flows of the group.
    pub access_bps: u64,
    /// On the path back, nanoseconds.
    pub return_ns: u64,
}

/// One flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Flow {
    /// Its group.
    pub group: usize,
    /// Its index within the group, which numbers its random streams.
    pub index: u32,
    /// The name of its group, which names its random streams.
    pub name: String,
    /// The receiver's port, unique.
    pub port: u16,
    /// When it starts, nanoseconds.
    pub start_ns: u64,
    /// When it stops, in nanoseconds; `None`: at the end of the run.
    pub stop_ns: Option<u64>,
    /// Congestion control, by the kernel's name; datagrams have none.
    pub cc: Option<String>,
    /// Whether TCP paces its packets even if its congestion control does not require it.
    pub paced: bool,
    /// Payload of a full segment or datagram.
    pub payload_bytes: u32,
    /// Differentiated services code point of its packets, in both directions.
    pub dscp: u8,
    /// The traffic that it carries.
    pub app: App,
}

/// Where TCP packets are captured on the sender's side, before netem delays them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SenderCapture {
    /// At the interface.
    Interface,
    /// At the interface [`MIRROR`], which gets a copy of each packet before it is queued.
    Mirror,
}

/// Captures of headers at both ends and on both sides of each queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HeaderCaptures {
    /// Where packets are captured at their senders.
    pub sent_at: SenderCapture,
    /// The index of the link to the receivers.
    pub link: u16,
}

/// The interface in the senders' namespace that gets copies of sent packets.
pub const MIRROR: &str = "mirror";

/// Parameters that the kernel's RED needs to adapt its `max_p` and that tc does not send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RedAdaptation {
    /// The packet size given to tc (`avpkt`).
    pub mean_packet_bytes: u64,
    /// The rate given to tc (`bandwidth`), in bit/s.
    pub rate_bps: u64,
}

/// One of our AQMs in the kernel, by our module.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModuleAqm {
    /// The AQM in its text form.
    pub aqm: String,
    /// Seeds the hashes of flows.
    pub seed: u64,
    /// Initial rate of the link, bit/s.
    pub rate_bps: u64,
}

/// The plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Seed of every random stream.
    pub seed: u64,
    /// Length of the run, nanoseconds.
    pub duration_ns: u64,
    /// End of the warm-up, nanoseconds.
    pub warmup_ns: u64,
    /// Time between two samples, nanoseconds.
    pub sample_ns: u64,
    /// Whether flows are sampled.
    pub sample_flows: bool,
    /// Whether the state variables of our router's laws are sampled.
    pub sample_law: bool,
    /// Width of bins in nanoseconds, if bins are recorded.
    pub bins_ns: Option<u64>,
    /// Where TCP is captured at its senders, if its packet delays are recorded.
    pub sender_capture: Option<SenderCapture>,
    /// The captures of headers, if wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header_captures: Option<HeaderCaptures>,
    /// Timer interrupts per second of the kernel.
    pub hz: u32,
    /// Settings, in order.
    pub settings: Vec<SysctlSetting>,
    /// Commands, in order.
    pub commands: Vec<Command>,
    /// The disciplines that are read back.
    pub expected: Vec<Expected>,
    /// The bottleneck.
    pub bottleneck: Bottleneck,
    /// The wire behind it, if the wire does more than add a constant delay.
    pub wire: Option<WirePlan>,
    /// A link to the senders.
    pub reverse: Option<ReverseLink>,
    /// The links of a wireless LAN's stations; the access point's link is the bottleneck.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stations: Vec<RouterLinkPlan>,
    /// Adaptive RED in the kernel.
    pub adaptation: Option<RedAdaptation>,
    /// A kernel discipline created by netlink.
    pub kernel_qdisc: Option<KernelQdisc>,
    /// What netlink must report about a discipline created by tc.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_back: Option<KernelQdisc>,
    /// The classes of the kernel's scheduler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<KernelClasses>,
    /// Whether a guest creates the discipline at a whole second of its clock.
    pub at_whole_second: bool,
    /// Our AQM in the kernel, replacing a kernel discipline.
    pub module: Option<ModuleAqm>,
    /// The flows.
    pub flows: Vec<Flow>,
    /// The user's programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<ProgramsPlan>,
    /// Rounding and other differences, one sentence each.
    pub warnings: Vec<String>,
    /// Whether the kernel's discipline drops at its head.
    pub drops_at_head: bool,
    /// Whether its signals are random.
    pub is_random: bool,
    /// The laws in our router's queues that are not in the registry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub laws: Vec<PlannedLaw>,
}

impl Plan {
    /// The links of our router, the forward one first.
    pub fn router_links(&self) -> impl Iterator<Item = &RouterLinkPlan> {
        let forward = match &self.bottleneck {
            Bottleneck::Sojourn(link) => Some(link),
            Bottleneck::Kernel { .. } => None,
        };
        let reverse = self.reverse.iter().map(|reverse| &reverse.link);
        forward.into_iter().chain(reverse).chain(&self.stations)
    }

    /// Whether there is a namespace between the kernel's router and the receivers, for our wire and
    /// our reverse link.
    pub fn has_wire(&self) -> bool {
        let is_kernels = matches!(self.bottleneck, Bottleneck::Kernel { .. });
        is_kernels && (self.wire.is_some() || self.reverse.is_some())
    }

    /// Whether that namespace forwards data to the receivers itself, so that only returning packets
    /// pass our TUN devices (fact linux-34).
    pub fn forwards_data(&self) -> bool {
        self.has_wire() && self.wire.is_none()
    }

    /// The receivers' interface that is one of our TUN devices.
    pub fn receivers_tun(&self) -> &'static str {
        if self.forwards_data() { "back" } else { "in" }
    }

    /// The namespaces that the run needs.
    pub fn namespaces(&self) -> &'static [Netns] {
        if self.has_wire() { &Netns::ALL } else { &Netns::ALL[..Netns::Wire as usize] }
    }

    /// How many groups of flows there are.
    pub fn groups(&self) -> usize {
        let of_flows = self.flows.iter().map(|flow| flow.group + 1);
        of_flows.chain(self.programs.iter().map(|programs| programs.group + 1)).max().unwrap_or(0)
    }
}

/// Port of the first flow; the others follow.
pub const FIRST_PORT: u16 = 10_000;

/// The address of a group's senders.
pub const fn sender_address(group: usize) -> [u8; 4] {
    [10, 1, group as u8, 1]
}

/// The address of a group's receivers.
pub const fn receiver_address(group: usize) -> [u8; 4] {
    [10, 2, group as u8, 1]
}

/// The flow of a packet with these source and destination ports, and whether the packet goes to the
/// receiver; `None` if it comes from another program.
pub fn flow_of(ports: [u16; 2], flows: usize) -> Option<(u32, bool)> {
    let index = |port: u16| {
        let index = usize::from(port.checked_sub(FIRST_PORT)?);
        (index < flows).then_some(index as u32)
    };
    match (index(ports[1]), index(ports[0])) {
        (Some(flow), _) => Some((flow, true)),
        (None, Some(flow)) => Some((flow, false)),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_manifest_keeps_its_keys() {
        let netns = Netns::Router;
        let command = Command { netns, program: "ip".to_owned(), arguments: Vec::new() };
        assert_eq!(json!(command), json!({ "space": "router", "program": "ip", "arguments": [] }));
        let link = RouterLinkPlan {
            queue: "codel".to_owned(),
            index: 1,
            direction: Direction::Reverse,
            limit: "100p".to_owned(),
            framing_bytes: 14,
            mtu_bytes: 1514,
            service: RouterCapacity::Rates(vec![(0, 8)]),
            duplicate: None,
            drop_list: Vec::new(),
            mark_list: vec![1],
            delays: vec![GroupDelays { forward_ns: 1, access_bps: 2, return_ns: 3 }],
        };
        let expected = json!({ "sojourn": {
            "queue": "codel", "place": 1, "way": "back", "limit": "100p", "framing_bytes": 14,
            "mtu_bytes": 1514, "service": { "rates": [[0, 8]] }, "drop_list": [],
            "mark_list": [1],
            "lines": [{ "forward_ns": 1, "access_bps": 2, "return_ns": 3 }],
        }});
        // Compared as text, because the order of keys matters too.
        let bottleneck = json!(Bottleneck::Sojourn(link));
        assert_eq!(bottleneck.to_string(), expected.to_string());
    }
}
