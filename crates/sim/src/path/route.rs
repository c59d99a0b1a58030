//! Routes: over which links and wires the packets of a group go.

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

/// A link on a route, and the wire on which it sends the route's packets. The next hop is next in
/// the table of all hops, and a packet carries its place there, so no flow or group is looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    /// The link, by place.
    pub(crate) link: u32,
    /// The wire, by place.
    pub(crate) wire: u32,
    /// On a wireless LAN, how its frames are sent and lost: a place among the LAN's radios.
    pub(crate) radio: u32,
    /// On a wireless LAN, the transmitter to which it sends, if one is known: a place among links.
    pub(crate) station: Option<u32>,
    /// Whether the wire behind the link does more to packets than to delay them evenly.
    pub(crate) is_impaired: bool,
}

/// Both directions of a group. Each begins at a place in the table of hops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// From sender to receiver.
    pub(crate) forward: u32,
    /// From receiver to sender; without links in that direction it is never read.
    pub(crate) backward: u32,
    /// Between its senders' access links and the first link, by place.
    pub(crate) uplink: usize,
    /// The wire that receivers answer into, by place.
    pub(crate) back: usize,
}
