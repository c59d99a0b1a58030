//! The paths from the router to the receivers and back.

use crate::plan::{Bottleneck, ReverseLink, WirePlan};

/// How packets leave the router towards the receivers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Egress {
    /// Through the TUN devices of our router, which may apply the delays itself.
    Tun,
    /// From the kernel's router over a veth pair to the receivers.
    Veth,
    /// From the kernel's router over a veth pair to our wire, which passes them to the receivers
    /// through TUN devices.
    Wire,
    /// From the kernel's router over two veth pairs; returning packets pass our TUN devices.
    WireBack,
}

impl Egress {
    /// The egress for a bottleneck in our router or the kernel, with the given wire and reverse
    /// link.
    pub(super) fn of(
        bottleneck: &Bottleneck,
        wire: Option<&WirePlan>,
        reverse: Option<&ReverseLink>,
    ) -> Egress {
        match (bottleneck, wire, reverse) {
            (Bottleneck::Sojourn(_), ..) => Egress::Tun,
            (Bottleneck::Kernel { .. }, Some(_), _) => Egress::Wire,
            (Bottleneck::Kernel { .. }, None, Some(_)) => Egress::WireBack,
            (Bottleneck::Kernel { .. }, None, None) => Egress::Veth,
        }
    }

    /// Whether the kernel's router sends the packets instead of ours, over an interface with
    /// neighbours.
    pub(super) fn is_veth(self) -> bool {
        self != Egress::Tun
    }

    /// Whether there is a namespace between that router and the receivers.
    pub(super) fn has_wire(self) -> bool {
        matches!(self, Egress::Wire | Egress::WireBack)
    }

    /// How receivers send: the interface, and the neighbour if there is one.
    pub(super) fn back(self) -> &'static str {
        match self {
            Egress::Tun | Egress::Wire => "dev in",
            Egress::Veth => "via 10.2.255.254 dev in",
            Egress::WireBack => "dev back",
        }
    }
}
