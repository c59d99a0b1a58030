//! What a link reports.

use sojourn_aqm::{Departure, Sink, Span};

/// Receives everything that a link reports about packets offered to it: drops and marks through
/// [`Sink`], departures and the server's work here. An observer is made for one instant.
pub trait LinkObserver<P>: Sink<P> {
    /// A packet leaves the queue; its sojourn time ends.
    fn departed(&mut self, departure: &Departure<P>);
    /// The server sends a packet of `bytes`, as the queue counts them, for `span` from now on. The
    /// line adds `overhead` bytes to it.
    fn busy(&mut self, bytes: u32, overhead: u32, span: Span);
    /// A delivery opportunity of a recorded link has carried `bytes`.
    fn carried(&mut self, bytes: u32);
}
