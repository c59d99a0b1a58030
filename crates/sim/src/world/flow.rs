//! The flows of a simulation.

use sojourn_aqm::Time;

use crate::app::FlowTimers;
use crate::app::datagrams::DatagramFlow;
use crate::app::page::Page;
use crate::app::stream::Stream;
use crate::packet::HostPair;

/// A flow. The first fields share one cache line.
#[repr(C, align(64))]
pub(crate) struct SimulatedFlow {
    /// Its two ends.
    pub(crate) ends: FlowEnds,
    /// The time of its alarm, which most actions of a flow leave unchanged.
    pub(crate) alarm: Time,
    /// When its timers are due.
    pub(crate) timers: FlowTimers,
    /// The index of its group.
    pub(crate) group: u32,
    /// The hosts that send and receive it.
    pub(crate) hosts: HostPair,
    /// The DSCP of its packets.
    pub(crate) dscp: u8,
}

/// The two ends of a flow.
pub(crate) enum FlowEnds {
    /// TCP.
    Stream(Box<Stream>),
    /// UDP.
    Datagrams(Box<DatagramFlow>),
    /// Several TCP connections of one user.
    Page(Box<Page>),
}

impl FlowEnds {
    /// Payload that it has delivered so far.
    pub(crate) fn delivered_bytes(&self) -> u64 {
        match self {
            FlowEnds::Stream(stream) => stream.delivered_bytes(),
            FlowEnds::Page(page) => page.streams().map(Stream::delivered_bytes).sum(),
            FlowEnds::Datagrams(flow) => flow.received_bytes,
        }
    }

    /// When its timers are due.
    #[inline]
    pub(crate) fn timers(&self) -> FlowTimers {
        let all = |rest| FlowTimers { receiver: Time::NEVER, sender: Time::NEVER, rest };
        match self {
            FlowEnds::Stream(stream) => stream.timers(),
            FlowEnds::Datagrams(flow) => all(flow.next_timer()),
            FlowEnds::Page(page) => all(page.next_timer()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::AccessLink;

    #[test]
    fn an_idle_flow_takes_less_than_two_kilobytes() {
        let bytes = size_of::<Stream>() + size_of::<SimulatedFlow>() + size_of::<AccessLink>();
        // The budget of two kilobytes is used up: a new field must replace another.
        assert!(bytes <= 2_000, "{bytes}");
    }
}
