//! The kinds of packets that captures distinguish.

use crate::header::Header;

/// What a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum CapturedKind {
    /// TCP with SYN.
    Syn,
    /// TCP without it.
    Data,
    /// A datagram.
    Datagram,
}

impl CapturedKind {
    /// The kind of a packet with that header.
    pub fn of(header: &Header) -> CapturedKind {
        match (header.is_tcp(), header.syn) {
            (true, true) => CapturedKind::Syn,
            (true, false) => CapturedKind::Data,
            (false, _) => CapturedKind::Datagram,
        }
    }

    /// The kind of a number in a file.
    pub(super) fn from_number(number: u8) -> Option<CapturedKind> {
        let all = [CapturedKind::Syn, CapturedKind::Data, CapturedKind::Datagram];
        all.get(usize::from(number)).copied()
    }
}
