//! Both ends of a flow, whatever it carries, and what they count.

use sojourn_aqm::Time;

use crate::app::datagrams::DatagramFlow;
use crate::app::page::Page;
use crate::app::stream::Stream;

/// Both ends of a flow.
pub enum Flow {
    /// TCP.
    Stream(Box<Stream>),
    /// UDP.
    Datagrams(Box<DatagramFlow>),
    /// Several TCP connections of one user.
    Page(Box<Page>),
}

/// What a flow has achieved so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowCount {
    /// Bytes delivered: payload in order for streams, whole datagrams otherwise.
    pub delivered_bytes: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams received.
    pub received: u64,
}

impl FlowCount {
    /// What was counted since an earlier count.
    pub fn since(self, then: FlowCount) -> FlowCount {
        FlowCount {
            delivered_bytes: self.delivered_bytes - then.delivered_bytes,
            sent: self.sent - then.sent,
            received: self.received - then.received,
        }
    }
}

impl Flow {
    /// What it has achieved so far.
    pub fn count(&self) -> FlowCount {
        match self {
            Flow::Stream(stream) => {
                FlowCount { delivered_bytes: stream.delivered_bytes, ..FlowCount::default() }
            }
            Flow::Page(page) => FlowCount {
                delivered_bytes: page.streams().map(|stream| stream.delivered_bytes).sum(),
                ..FlowCount::default()
            },
            Flow::Datagrams(flow) => FlowCount {
                delivered_bytes: flow.received_bytes,
                sent: u64::from(flow.sent),
                received: u64::from(flow.received),
            },
        }
    }

    /// The next of its timers.
    #[inline]
    pub fn next_timer(&self) -> Time {
        match self {
            Flow::Stream(stream) => stream.next_timer(),
            Flow::Datagrams(flow) => flow.next_timer(),
            Flow::Page(page) => page.next_timer(),
        }
    }
}
