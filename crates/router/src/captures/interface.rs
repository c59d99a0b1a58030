//! Captures of packets at an interface of the router.

use sojourn_aqm::Ecn;

use super::kind::CapturedKind;
use crate::header::ecn;

/// A packet that passed an interface of the router on its way to the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InterfaceCapture {
    /// The time on the scenario's clock in nanoseconds; negative before its start.
    pub at_ns: i64,
    /// Its flow.
    pub flow: u32,
    /// TCP sequence number, or the datagram's number.
    pub seq: u32,
    /// Bytes from the IP header on.
    pub bytes: u16,
    /// Identification field (RFC 791).
    pub ident: u16,
    /// Its ECN field at that interface.
    pub ecn: Ecn,
    /// Its DSCP.
    pub dscp: u8,
    /// Whether it left the router (otherwise it arrived).
    pub leaves: bool,
    /// The kind of packet.
    pub kind: CapturedKind,
}

/// Bytes of an [`InterfaceCapture`] in a file.
pub const INTERFACE_CAPTURE_BYTES: usize = 24;

impl InterfaceCapture {
    /// Appends it to a buffer.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.at_ns.to_le_bytes());
        out.extend(self.flow.to_le_bytes());
        out.extend(self.seq.to_le_bytes());
        out.extend(self.bytes.to_le_bytes());
        out.extend(self.ident.to_le_bytes());
        out.push(self.ecn as u8 | u8::from(self.leaves) << 2 | (self.kind as u8) << 3);
        out.extend([self.dscp, 0, 0]);
    }

    /// Reads a capture back; `None` if the bytes are not a capture.
    pub fn read(row: &[u8; INTERFACE_CAPTURE_BYTES]) -> Option<InterfaceCapture> {
        let flags = row[20];
        Some(InterfaceCapture {
            at_ns: i64::from_le_bytes(row[..8].try_into().ok()?),
            flow: u32::from_le_bytes(row[8..12].try_into().ok()?),
            seq: u32::from_le_bytes(row[12..16].try_into().ok()?),
            bytes: u16::from_le_bytes(row[16..18].try_into().ok()?),
            ident: u16::from_le_bytes(row[18..20].try_into().ok()?),
            ecn: ecn(flags),
            dscp: row[21],
            leaves: flags & 4 != 0,
            kind: CapturedKind::from_number(flags >> 3)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let capture = InterfaceCapture {
            at_ns: -5,
            flow: 7,
            seq: 9,
            bytes: 1500,
            ident: 3,
            ecn: Ecn::Ce,
            dscp: 46,
            leaves: true,
            kind: CapturedKind::Datagram,
        };
        let mut row = Vec::new();
        capture.write(&mut row);
        assert_eq!(InterfaceCapture::read(row[..].try_into().unwrap()), Some(capture));
    }
}
