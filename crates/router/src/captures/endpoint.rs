//! Captures of TCP packets at the ends of their connections.

/// A TCP packet captured at one end of its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndpointCapture {
    /// The time on the scenario's clock in nanoseconds; negative before its start.
    pub at_ns: i64,
    /// Its flow.
    pub flow: u32,
    /// The sender's port, which identifies the connection.
    pub port: u16,
    /// The sequence number of its first byte, or its acknowledgement number.
    pub number: u32,
    /// Bytes of payload.
    pub bytes: u16,
    /// Identification field (RFC 791).
    pub ident: u16,
    /// What happened.
    pub event: EndpointEvent,
}

/// The events of TCP packets at the ends of a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum EndpointEvent {
    /// The sender sends a SYN.
    Opened,
    /// The sender sends data.
    Sent,
    /// Data arrives at the receiver.
    Received,
    /// An acknowledgement arrives at the sender.
    Acknowledged,
}

/// Bytes of an [`EndpointCapture`] in a file.
pub const ENDPOINT_CAPTURE_BYTES: usize = 24;

impl EndpointCapture {
    /// Appends it to a buffer.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.at_ns.to_le_bytes());
        out.extend(self.flow.to_le_bytes());
        out.extend(self.number.to_le_bytes());
        out.extend(self.port.to_le_bytes());
        out.extend(self.bytes.to_le_bytes());
        out.extend(self.ident.to_le_bytes());
        out.extend([self.event as u8, 0]);
    }

    /// Reads a capture back; `None` if the bytes are not a capture.
    pub fn read(row: &[u8; ENDPOINT_CAPTURE_BYTES]) -> Option<EndpointCapture> {
        let all = [
            EndpointEvent::Opened,
            EndpointEvent::Sent,
            EndpointEvent::Received,
            EndpointEvent::Acknowledged,
        ];
        let short = |at: usize| u16::from_le_bytes([row[at], row[at + 1]]);
        Some(EndpointCapture {
            at_ns: i64::from_le_bytes(row[..8].try_into().ok()?),
            flow: u32::from_le_bytes(row[8..12].try_into().ok()?),
            number: u32::from_le_bytes(row[12..16].try_into().ok()?),
            port: short(16),
            bytes: short(18),
            ident: short(20),
            event: *all.get(usize::from(row[22]))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let capture = EndpointCapture {
            at_ns: -7,
            flow: 1,
            port: 40_000,
            number: 5,
            bytes: 1448,
            ident: 6,
            event: EndpointEvent::Acknowledged,
        };
        let mut row = Vec::new();
        capture.write(&mut row);
        assert_eq!(EndpointCapture::read(row[..].try_into().unwrap()), Some(capture));
    }
}
