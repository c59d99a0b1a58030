//! A packet as seen by measurements, independent of an engine's packets.

use sojourn_aqm::{Cause, Ecn, Stage};

/// What a packet is for. The numbers enter the digest of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PacketKind {
    /// A segment of data; `seq` is its number.
    Data,
    /// A pure acknowledgement; `seq` is the next number expected.
    Ack,
    /// The first packet of a connection.
    Syn,
    /// The SYN-ACK.
    SynAck,
    /// A probe that asks for an acknowledgement while the receiver's window is closed.
    WindowProbe,
    /// A datagram; `seq` counts datagrams.
    Datagram,
    /// A request for an object, from receiver to sender; `seq` counts requests.
    Request,
    /// The acknowledgement of the SYN-ACK.
    HandshakeAck,
    /// A datagram from receiver to sender: either the answer to a datagram, with the same `seq`, or
    /// one of a transport library, with `seq` as its count.
    Echo,
    /// Several segments of data that segmentation offload leaves in one packet; `seq` is the number
    /// of the first.
    SuperPacket,
}

impl PacketKind {
    /// Whether its loss counts as the loss of a datagram.
    pub const fn is_datagram(self) -> bool {
        matches!(self, PacketKind::Datagram | PacketKind::Echo)
    }
}

/// The recorded fields of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketView {
    /// The flow it belongs to.
    pub flow: u32,
    /// Segment number, acknowledgement number or count, by kind.
    pub seq: u32,
    /// What it is for.
    pub kind: PacketKind,
    /// Its size as accounted by the link.
    pub bytes: u32,
    /// The ECN field on arrival at the queue.
    pub ecn_in: Ecn,
    /// Its differentiated services code point.
    pub dscp: u8,
    /// Where and why the queue marked it.
    pub marked: Option<(Stage, Cause)>,
    /// Whether a link made it as a copy.
    pub is_copy: bool,
}

/// A packet that can be measured.
pub trait Measured {
    /// Its current fields.
    fn view(&self) -> PacketView;
    /// Records on the packet that the queue has marked it; see [`PacketView::marked`].
    fn note_mark(&mut self, stage: Stage, cause: Cause);
}

/// For engines that measure recordings.
impl Measured for PacketView {
    fn view(&self) -> PacketView {
        *self
    }

    fn note_mark(&mut self, stage: Stage, cause: Cause) {
        self.marked = Some((stage, cause));
    }
}
