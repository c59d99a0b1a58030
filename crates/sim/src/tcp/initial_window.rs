//! How large the first window is (endpoints sheet §1.13).

/// How large the first window is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitialWindow {
    /// So many segments (RFC 6928: ten).
    Packets(u32),
    /// Two to four segments by their size (RFC 3390).
    Rfc3390,
}

impl InitialWindow {
    /// In segments of this payload.
    pub fn packets(self, payload_bytes: u32) -> u32 {
        match self {
            InitialWindow::Packets(packets) => packets,
            InitialWindow::Rfc3390 => match payload_bytes {
                ..=1095 => 4,
                1096..=1460 => 3, // Linux: two only above 1460; the RFC draws that line at 2190
                _ => 2,
            },
        }
    }
}
