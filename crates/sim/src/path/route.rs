//! Routes: the links and wires that the packets of a group pass.

/// Where a wire ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// At the next link of each packet's route.
    Link,
    /// At the receiver of each packet's flow.
    Receiver,
    /// At the sender of each packet's flow.
    Sender,
}

/// A link on a route, and the wire on which it sends the route's packets. Hops of a route are
/// adjacent in the table of all hops. A packet carries its index in that table, so that no flow or
/// group must be looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    /// The index of the link.
    pub(crate) link: u32,
    /// The index of the wire.
    pub(crate) wire: u32,
    /// On a wireless LAN: how its frames are sent and lost, as an index into the LAN's radios.
    pub(crate) radio: u32,
    /// On a wireless LAN: the link that transmits for the receiving station, if known, by index.
    pub(crate) station: Option<u32>,
    /// Whether the wire behind the link does more than add a constant delay.
    pub(crate) is_impaired: bool,
}

/// Both directions of a group, each beginning at an index into the table of hops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// From sender to receiver.
    pub(crate) forward: u32,
    /// From receiver to sender; never read if that direction has no links.
    pub(crate) backward: u32,
    /// The index of the uplink between the senders' access links and the first link.
    pub(crate) uplink: usize,
    /// The index of the wire on which receivers reply.
    pub(crate) back: usize,
}
