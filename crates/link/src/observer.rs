//! Events reported by a link.

use sojourn_aqm::{Sink, Span, Time};

/// Receives the events of packets offered to a link: drops and marks through [`Sink`], departures
/// and the server's work here. An observer is created for one instant.
pub trait LinkObserver<P>: Sink<P> {
    /// A packet that was accepted at `enqueued` leaves the queue; its sojourn time ends.
    fn departed(&mut self, packet: &P, enqueued: Time);
    /// The server sends a packet of `bytes`, as counted by the queue, for `span` from now on. The
    /// line adds `overhead` bytes to it.
    fn busy(&mut self, bytes: u32, overhead: u32, span: Span);
    /// A delivery opportunity of a recorded link has carried `bytes`.
    fn carried(&mut self, bytes: u32);
}
