//! The kinds of packets that captures distinguish.

use crate::header::Header;

/// What a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PacketKind {
    /// TCP with SYN.
    Syn,
    /// TCP without it.
    Data,
    /// A datagram.
    Datagram,
}

impl PacketKind {
    /// The kind of a packet with that header.
    pub fn of(header: &Header) -> PacketKind {
        match (header.is_tcp(), header.syn) {
            (true, true) => PacketKind::Syn,
            (true, false) => PacketKind::Data,
            (false, _) => PacketKind::Datagram,
        }
    }

    /// The kind of a number in a file.
    pub(super) fn from_number(number: u8) -> Option<PacketKind> {
        let all = [PacketKind::Syn, PacketKind::Data, PacketKind::Datagram];
        all.get(usize::from(number)).copied()
    }
}
