//! One flow, and its place in the rounds.

use crate::qdiscs::queues::pool::Chain;
use crate::time::Time;

/// The number of no flow.
pub(super) const NONE: u32 = u32::MAX;

/// A flow.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) packets: FlowPackets,
    /// Bytes that it may still send in this round.
    pub(super) credits: i64,
    /// The band of its last packet (initially 0), in which it is listed next.
    pub(super) band: u8,
    /// The next flow of its list.
    pub(super) next: u32,
    pub(super) state: State,
    /// When it may send next; `None` before it was paced.
    pub(super) next_send: Option<Time>,
}

/// Where a flow is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// In no list, because it was found empty in this jiffy, which is odd (`fq_flow_set_detached`).
    Detached { since: u64 },
    /// In the new or the old list of a band.
    Listed,
    /// Waiting for its time, under this number.
    Throttled { ticket: u64 },
}

/// Packets of one flow: those whose due times do not decrease, and the others, sorted by due time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowPackets {
    pub(super) in_order: Chain,
    pub(super) late: Chain,
}

impl FlowPackets {
    pub(super) fn count(&self) -> u32 {
        self.in_order.packets() + self.late.packets()
    }
}

impl Flow {
    /// A flow without packets.
    pub(super) fn new(jiffies: u64, credits: i64) -> Flow {
        Flow {
            packets: FlowPackets::default(),
            credits,
            band: 0,
            next: NONE,
            state: State::detached(jiffies),
            next_send: None,
        }
    }
}

impl State {
    pub(super) fn detached(jiffies: u64) -> State {
        State::Detached { since: jiffies | 1 }
    }
}

/// A list of flows.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowList {
    pub(super) first: u32,
    pub(super) last: u32,
}

impl FlowList {
    pub(super) const EMPTY: FlowList = FlowList { first: NONE, last: NONE };

    pub(super) fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

/// The flows of a band.
#[derive(Clone, Copy, Debug)]
pub(super) struct Band {
    /// New flows and old ones.
    pub(super) lists: [FlowList; 2],
    /// Bytes that it may still send.
    pub(super) credits: i64,
    pub(super) quantum: i64,
}
