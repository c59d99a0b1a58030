//! The resolved groups of flows.

use sojourn_aqm::{Rate, Span};

use super::apps::App;

/// Flows that differ only in their random streams.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowGroup {
    /// Its name, unique.
    pub name: String,
    /// The traffic class under which summaries pool it.
    pub class: String,
    /// Number of flows.
    pub count: u32,
    /// Links from sender to receiver, by index.
    pub path: Vec<usize>,
    /// Links from receiver to sender, by index; if empty, ACKs return over a wire without a queue.
    pub reverse: Vec<usize>,
    /// Rate of each sender's own access link.
    pub access_rate: Rate,
    /// Rate of the link back to the senders, which the group shares; `None`: no serialisation time.
    pub sender_downlink: Option<Rate>,
    /// Rate of the link to and from the receivers, which the group shares; `None`: no serialisation
    /// time.
    pub receiver_rate: Option<Rate>,
    /// Propagation delay from sender to the first link.
    pub access_delay: Span,
    /// Propagation delay from the last link to the receiver.
    pub egress_delay: Span,
    /// Propagation delay from the receiver to the first reverse link, or to the sender if there are
    /// no reverse links.
    pub return_delay: Span,
    /// Propagation delay from the last reverse link to the sender; zero if there are no reverse
    /// links.
    pub return_egress_delay: Span,
    /// Base round-trip time: the sum of all propagation delays.
    pub rtt: Span,
    /// When a flow starts: uniform between the two times, or exactly then if they are equal.
    pub start: (Span, Span),
    /// When its application stops, if before the end of the run.
    pub stop: Option<Span>,
    /// Numbers of the sending and the receiving host, in the order of their names in the scenario,
    /// if it names either. Otherwise a group has its own pair.
    pub hosts: Option<[u8; 2]>,
    /// Differentiated services code point of its packets, in both directions; at most 63.
    pub dscp: u8,
    /// The application.
    pub app: App,
}
