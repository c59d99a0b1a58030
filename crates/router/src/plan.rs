//! The plan of a run on real hosts: what the first process of the guest does, as plain data.
//!
//! It is made on the host, where a scenario that cannot be run is refused, and read in the guest.

use serde::{Deserialize, Serialize};
use sojourn_aqm::Ecn;
use sojourn_scenario::resolved::{App, Jitter, Loss, Trace};

/// A network name space.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// All senders, one interface per group of flows.
    Senders,
    /// The bottleneck.
    Router,
    /// All receivers.
    Receivers,
    /// The wire between router and receivers, where it is not just a pair of interfaces.
    Wire,
}

impl Space {
    /// Every name space; the last one is not always needed.
    const ALL: [Space; 4] = [Space::Senders, Space::Router, Space::Receivers, Space::Wire];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Space::Senders => "senders",
            Space::Router => "router",
            Space::Receivers => "receivers",
            Space::Wire => "wire",
        }
    }
}

/// A program with its arguments, run in a name space.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Command {
    /// Where.
    pub space: Space,
    /// `ip` or `tc`.
    pub program: String,
    /// Its arguments, one word each.
    pub arguments: Vec<String>,
}

/// A setting below `/proc/sys`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Setting {
    /// In which name space.
    pub space: Space,
    /// The path below `/proc/sys`, such as `net/ipv4/tcp_ecn`.
    pub path: String,
    /// What is written, and must be read again.
    pub value: String,
}

/// A queueing discipline that must be found as it was asked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Expected {
    /// In which name space.
    pub space: Space,
    /// At which interface.
    pub device: String,
    /// The kind that tc shows.
    pub kind: String,
    /// Options by name with their number.
    pub options: Vec<(String, u64)>,
}

/// The bottleneck.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bottleneck {
    /// The kernel's own discipline on the interface `out`, as the commands set it up.
    Kernel {
        /// Changes of its rate: nanoseconds since the start, and what is run.
        changes: Vec<(u64, Command)>,
    },
    /// Our router between two TUN devices, with an AQM of the registry.
    Sojourn(Street),
}

/// Which way packets go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// To the receivers.
    #[default]
    Forward,
    /// To the senders.
    Back,
}

/// A link on the way back, with a queue of its own: our router's.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Back {
    /// The link.
    pub street: Street,
    /// The wire behind it, where it does more than delay evenly.
    pub wire: Option<Wire>,
    /// The groups of flows that pass it; the others' packets pass by it.
    pub groups: Vec<usize>,
}

/// A link of ours.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Street {
    /// The AQM in its text form.
    pub queue: String,
    /// Its place among the links of the scenario, which numbers its random streams.
    #[serde(default)]
    pub place: u16,
    /// Which way it goes.
    #[serde(default)]
    pub way: Direction,
    /// Its limit, such as `125kB`.
    pub limit: String,
    /// Bytes of framing that it adds to every packet.
    pub framing_bytes: u32,
    /// Largest packet, framing included.
    pub mtu_bytes: u32,
    /// How it sends.
    pub service: Service,
    /// Data packets, counted from 1 over the whole link, that are dropped on arrival whatever the AQM
    /// says.
    #[serde(default)]
    pub drop_list: Vec<u64>,
    /// The same for packets that are marked on arrival.
    #[serde(default)]
    pub mark_list: Vec<u64>,
    /// What it delays itself, by group of flows; empty where the kernel's delay elements do it.
    #[serde(default)]
    pub lines: Vec<GroupLines>,
}

/// How a link of ours sends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// At rates, bit/s, from given nanoseconds on; the first at zero.
    Rates(Vec<(u64, u64)>),
    /// At recorded opportunities.
    Recorded(Box<Trace>),
}

/// The wire behind the link, where it loses packets or delays them unevenly.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Wire {
    /// The name of the link, which names its random streams.
    pub link: String,
    /// Random loss.
    pub loss: Option<Loss>,
    /// Extra delay.
    pub jitter: Option<Jitter>,
}

/// The delays of a group of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GroupLines {
    /// Before the queue, nanoseconds.
    pub forward_ns: u64,
    /// Rate of the access link before that, bit/s, which the group's flows share.
    pub access_bps: u64,
    /// On the way back, nanoseconds.
    pub return_ns: u64,
}

/// One flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Flow {
    /// Its group.
    pub group: usize,
    /// Its place within the group, which numbers its random streams.
    pub place: u32,
    /// The name of its group, which names them.
    pub name: String,
    /// The receiver's port, unique.
    pub port: u16,
    /// When it starts and stops, nanoseconds.
    pub start_ns: u64,
    /// None: at the end.
    pub stop_ns: Option<u64>,
    /// Congestion control, as the kernel names it; datagrams have none.
    pub cc: Option<String>,
    /// Payload of a full segment or datagram.
    pub payload_bytes: u32,
    /// What it carries.
    pub app: App,
}

/// How packets of TCP are seen as they are sent: before the delay element of their interface, if it has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Watch {
    /// At the interface.
    Interface,
    /// At the interface [`MIRROR`], which gets a copy of each before it waits.
    Mirror,
}

/// The interface in the name space of the senders that gets copies of what they send.
pub const MIRROR: &str = "mirror";

/// What the kernel's RED needs to adapt its `max_p`, beside what tc sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Adaptation {
    /// The size of packet that tc was told.
    pub mean_packet_bytes: u64,
    /// The rate that it was told, bit/s.
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
    /// Whether the variables of our router's law are sampled.
    pub sample_law: bool,
    /// Width of bins, nanoseconds, if any are wanted.
    pub bins_ns: Option<u64>,
    /// Who watches TCP at its ends, if delays of its packets are wanted.
    pub watch: Option<Watch>,
    /// Timer interrupts per second of the kernel.
    pub hz: u32,
    /// Settings, in order.
    pub settings: Vec<Setting>,
    /// Commands, in order.
    pub commands: Vec<Command>,
    /// What is read back.
    pub expected: Vec<Expected>,
    /// The bottleneck.
    pub bottleneck: Bottleneck,
    /// The wire behind it, where it does more than delay evenly.
    pub wire: Option<Wire>,
    /// A link on the way back.
    pub back: Option<Back>,
    /// Adaptive RED in the kernel.
    pub adaptation: Option<Adaptation>,
    /// The flows.
    pub flows: Vec<Flow>,
    /// What was rounded or differs, one sentence each.
    pub warnings: Vec<String>,
    /// Whether the kernel's discipline drops at its head.
    pub drops_at_head: bool,
    /// Whether it signals at random.
    pub is_random: bool,
}

impl Plan {
    /// Our routers, the forward one first.
    pub fn streets(&self) -> impl Iterator<Item = &Street> {
        let forward = match &self.bottleneck {
            Bottleneck::Sojourn(street) => Some(street),
            Bottleneck::Kernel { .. } => None,
        };
        forward.into_iter().chain(self.back.iter().map(|back| &back.street))
    }

    /// Whether packets pass a name space of their own between the kernel's router and the receivers, for
    /// what we do to them there.
    pub fn has_wire(&self) -> bool {
        let is_kernels = matches!(self.bottleneck, Bottleneck::Kernel { .. });
        is_kernels && (self.wire.is_some() || self.back.is_some())
    }

    /// The name spaces that there are.
    pub fn spaces(&self) -> &'static [Space] {
        if self.has_wire() { &Space::ALL } else { &Space::ALL[..Space::Wire as usize] }
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

/// A packet that one of our programs sent: its flow, and whether it goes to the receiver.
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

/// The two bits of the ECN field.
pub const fn ecn_bits(ecn: Ecn) -> u8 {
    ecn as u8
}
