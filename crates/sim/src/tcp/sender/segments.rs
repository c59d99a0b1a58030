//! The segments that a connection sends.

/// Sizes and identity of a connection's segments.
#[derive(Clone, Copy, Debug)]
pub struct Segments {
    /// The flow.
    pub flow: u32,
    /// The connection of the flow.
    pub connection: u16,
    /// Payload of a full segment.
    pub payload_bytes: u32,
    /// IP and TCP headers.
    pub header_bytes: u32,
    /// Whether data is ECN-capable.
    pub ecn: bool,
    /// Whether the receiver counts marks (RFC 9768) instead of echoing them (RFC 3168).
    pub accurate: bool,
    /// Segments to send; `u32::MAX` for unlimited data.
    pub count: u32,
    /// Payload of the last segment.
    pub last_payload_bytes: u32,
    /// Initial window.
    pub initial_window: u32,
}

impl Segments {
    /// Payload of all segments.
    pub fn bytes(&self) -> u64 {
        match self.count {
            u32::MAX => u64::MAX,
            count => self.bytes_below(count),
        }
    }

    /// Payload of the segments below a number.
    pub fn bytes_below(&self, seq: u32) -> u64 {
        match seq.checked_sub(1) {
            None => 0,
            Some(last) => {
                u64::from(last) * u64::from(self.payload_bytes) + u64::from(self.payload(last))
            }
        }
    }

    /// Payload of a segment.
    pub fn payload(&self, seq: u32) -> u32 {
        if seq.wrapping_add(1) == self.count { self.last_payload_bytes } else { self.payload_bytes }
    }
}
