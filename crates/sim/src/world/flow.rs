//! The flows of a simulation.

use sojourn_aqm::Time;

use crate::app::FlowTimers;
use crate::app::datagrams::DatagramFlow;
use crate::app::endpoint::EndpointFlow;
use crate::app::page::Page;
use crate::app::stream::Stream;
use crate::packet::Labels;

/// A flow. The first fields share one cache line.
#[repr(C, align(64))]
pub(crate) struct SimulatedFlow {
    /// Its two ends.
    pub(crate) ends: FlowEnds,
    /// The time of its alarm, which most actions of a flow leave unchanged.
    pub(crate) alarm: Time,
    /// When its timers are due.
    pub(crate) timers: FlowTimers,
    /// The index of its class.
    pub(crate) class: u32,
    /// The index of its group.
    pub(crate) group: u32,
    /// The labels common to its packets.
    pub(crate) labels: Labels,
}

/// The two ends of a flow.
pub(crate) enum FlowEnds {
    /// TCP.
    Stream(Box<Stream>),
    /// UDP. One variant covers both kinds, so that the main loop distinguishes TCP from the rest
    /// without a jump table, which costs 1 % of all instructions.
    Datagrams(Box<DatagramEnds>),
    /// Several TCP connections of one user.
    Page(Box<Page>),
}

/// The two ends of a flow over UDP.
#[expect(clippy::large_enum_variant, reason = "the whole is in a box; sources are many")]
pub(crate) enum DatagramEnds {
    /// A source and a sink of datagrams.
    Source(DatagramFlow),
    /// A transport library of the caller at both ends.
    Library(Box<EndpointFlow>),
}

impl FlowEnds {
    /// Payload that the flow has delivered so far.
    pub(crate) fn delivered_bytes(&self) -> u64 {
        match self {
            FlowEnds::Stream(stream) => stream.delivered_bytes(),
            FlowEnds::Page(page) => page.streams().map(Stream::delivered_bytes).sum(),
            FlowEnds::Datagrams(ends) => match &**ends {
                DatagramEnds::Source(flow) => flow.received_bytes,
                DatagramEnds::Library(flow) => flow.delivered_bytes,
            },
        }
    }

    /// Its ends, if they are a transport library.
    pub(crate) fn library(&self) -> Option<&EndpointFlow> {
        match self {
            FlowEnds::Datagrams(ends) => match &**ends {
                DatagramEnds::Library(flow) => Some(flow),
                DatagramEnds::Source(_) => None,
            },
            FlowEnds::Stream(_) | FlowEnds::Page(_) => None,
        }
    }

    /// Its ends, if they are a source and a sink of datagrams.
    pub(crate) fn source(&self) -> Option<&DatagramFlow> {
        match self {
            FlowEnds::Datagrams(ends) => match &**ends {
                DatagramEnds::Source(flow) => Some(flow),
                DatagramEnds::Library(_) => None,
            },
            FlowEnds::Stream(_) | FlowEnds::Page(_) => None,
        }
    }

    /// When its timers are due.
    #[inline]
    pub(crate) fn timers(&self) -> FlowTimers {
        let all = |rest| FlowTimers { receiver: Time::NEVER, sender: Time::NEVER, rest };
        match self {
            FlowEnds::Stream(stream) => stream.timers(),
            FlowEnds::Datagrams(ends) => match &**ends {
                DatagramEnds::Source(flow) => all(flow.next_timer()),
                DatagramEnds::Library(flow) => flow.timers(),
            },
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
        // The limit of two kilobytes is reached: a new field must replace another.
        assert!(bytes <= 2_000, "{bytes}");
    }
}
