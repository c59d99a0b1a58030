//! The resolved scenario, with every default filled in and every `2bdp` turned into a number.
//! Engines read nothing else.

mod app_json;
mod apps;
mod as_numbers;
mod carried;
mod flows;
mod links;
mod schedule;
mod scheduler;
mod scheduler_json;
mod tcp;
mod to_json;
mod wire_json;
mod wlan;

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use sojourn_aqm::Span;

pub use self::apps::{App, Datagrams};
pub use self::carried::{Carried, Chunks, Codec, Recording, Shape, Sizes, Transfers, Web};
pub use self::flows::FlowGroup;
#[cfg(not(target_arch = "wasm32"))]
pub use self::links::Slots;
pub use self::links::{
    Blocks, Bucket, Capacity, DelayChanges, Device, Duplicate, Extra, Jitter, Link, Loss,
    NetemJitter, Policer, Trace, span_at,
};
pub use self::schedule::Schedule;
pub use self::scheduler::{Class, Scheduler, SchedulerKind};
pub use self::tcp::{Ecn, ReceiveWindow, Tcp};
pub use self::wlan::{FrameErrors, Radio, RateControl, Wlan};
pub use crate::document::apps::{Adaptation, Arrivals};
pub use crate::document::capacity::InService;
pub use crate::document::engines::{
    LinuxBottleneck, LinuxEngine, LinuxPlace, Ns3Bottleneck, Ns3Engine, Ns3Tcp,
};
pub use crate::document::expect::{Bound, Expectation};
pub use crate::document::flows::{AccEcnOption, ReceiverEcn};
pub use crate::document::wire::{Corrupt, NetemDistribution, Reorder};

/// Bounds on the maximum size of a TCP buffer. The upper one gives the largest window that the
/// header can announce (RFC 7323 §2.2).
const LEAST_BUFFER_BYTES: u64 = 16 << 20;
/// The upper bound; see above.
pub const MOST_BUFFER_BYTES: u64 = 1 << 30;
/// Linux's default initial size of a receive buffer, half of which is the window (fact linux-6;
/// Linux 6.1 tcp.h, `tcp_win_from_space`).
pub const FIRST_BUFFER_BYTES: u64 = 131_072;
/// Linux's default initial size of a send buffer. Our flows have larger buffers, so that few
/// segments end a write (fact linux-5), unless all buffers together would take too much memory.
const LINUX_SEND_BUFFER_BYTES: u64 = 16 << 10;
const SEND_BUFFER_BYTES: u64 = 1 << 20;
const ALL_SEND_BUFFERS_BYTES: u64 = 64 << 20;

/// A whole run.
#[derive(Clone, PartialEq, Debug)]
pub struct Resolved {
    /// Its name.
    pub name: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Simulated time.
    pub duration: Span,
    /// Time at the start that summaries leave out; less than the duration.
    pub warmup: Span,
    /// What is recorded besides the summary.
    pub record: Record,
    /// The links, sorted by name; flows refer to them by index.
    pub links: Vec<Link>,
    /// The wireless LANs, sorted by name; links refer to them by index.
    pub wlans: Vec<Wlan>,
    /// The groups of flows.
    pub flows: Vec<FlowGroup>,
    /// Settings of the engine `linux`.
    pub linux: LinuxEngine,
    /// Settings of the engine `ns3`.
    pub ns3: Ns3Engine,
    /// Expectations about the runs. They do not affect any run, so they are not in the JSON of
    /// runs.
    pub expect: Vec<Expectation>,
    /// Sentences about settings that are legal but probably mistakes.
    pub warnings: Vec<String>,
}

impl Resolved {
    /// The names of the traffic classes, in the order of first use.
    pub fn classes(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let names = self.flows.iter().map(|group| &group.class);
        names.filter(|&name| seen.insert(name)).cloned().collect()
    }

    /// The groups that use TCP, with their indices in [`Resolved::flows`].
    pub fn tcp_groups(&self) -> impl Iterator<Item = (usize, &FlowGroup, &Tcp)> {
        let groups = self.flows.iter().enumerate();
        groups.filter_map(|(index, group)| Some((index, group, group.app.tcp()?)))
    }

    /// Whether any flow sends super-packets.
    pub fn has_super_packets(&self) -> bool {
        self.tcp_groups().any(|(.., tcp)| tcp.super_packets)
    }

    /// The maximum size of a TCP buffer in bytes, chosen so that memory limits no flow, not even
    /// one that has the link to itself (fact linux-18): eight times the bytes that the path and a
    /// queue of 200 ms hold together. A byte of payload takes two bytes of buffer, and slow start
    /// ends with twice as much in flight as fits.
    pub fn largest_buffer_bytes(&self) -> u64 {
        let wanted = self.flows.iter().map(|group| {
            let rate = self.links[group.path[0]].capacity.highest_rate();
            rate.bytes_in(group.rtt + Span::from_millis(200)).saturating_mul(8)
        });
        wanted.max().unwrap_or(0).clamp(LEAST_BUFFER_BYTES, MOST_BUFFER_BYTES)
    }

    /// The initial size of each flow's send buffer in bytes.
    pub fn first_send_buffer_bytes(&self) -> NonZeroU32 {
        let flows: u64 = self.flows.iter().map(|group| u64::from(group.count)).sum();
        let share = ALL_SEND_BUFFERS_BYTES / flows.max(1);
        let bytes = share.clamp(LINUX_SEND_BUFFER_BYTES, SEND_BUFFER_BYTES);
        NonZeroU32::new(bytes as u32).expect("at least Linux's own")
    }

    /// The station to which a transmitter of a wireless LAN sends the packets of a flow: the first
    /// transmitter of the same LAN on the flow's other direction, if any.
    pub fn station_of(&self, transmitter: usize, other_way: &[usize]) -> Option<usize> {
        let wlan = self.links[transmitter].capacity.wireless_lan()?;
        let is_on_it = |link: &usize| self.links[*link].capacity.wireless_lan() == Some(wlan);
        other_way.iter().copied().find(is_on_it)
    }
}

/// What is recorded besides the summary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// One row per packet per queue.
    pub packets: bool,
    /// One row per drop and mark, with the state of the AQM just before it.
    pub signals: bool,
    /// Samples of every flow.
    pub flows: bool,
    /// Samples of every queue.
    pub states: bool,
    /// Time between samples.
    pub sample: Span,
    /// Width of bins, if bins are recorded.
    pub bins: Option<Span>,
    /// Distributions of RTT and one-way delay of data packets.
    pub latency: bool,
}
