//! The kinds of packets that captures distinguish.

use crate::header::Header;

/// The kind of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum CapturedKind {
    /// TCP with SYN.
    Syn,
    /// TCP with payload; in ns-3's records, TCP of any other kind too.
    Data,
    /// A datagram.
    Datagram,
    /// TCP with neither SYN nor payload: acknowledgements, and the ends of connections.
    Empty,
}

impl CapturedKind {
    /// The kind of a packet with that header.
    pub fn of(header: &Header) -> CapturedKind {
        match (header.is_tcp(), header.syn, header.payload_bytes) {
            (true, true, _) => CapturedKind::Syn,
            (true, false, 0) => CapturedKind::Empty,
            (true, false, _) => CapturedKind::Data,
            (false, ..) => CapturedKind::Datagram,
        }
    }

    /// The kind for a number in a file.
    pub(super) fn from_number(number: u8) -> Option<CapturedKind> {
        let all =
            [CapturedKind::Syn, CapturedKind::Data, CapturedKind::Datagram, CapturedKind::Empty];
        all.get(usize::from(number)).copied()
    }
}
