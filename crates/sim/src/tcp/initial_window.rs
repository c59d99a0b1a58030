//! The initial window.

/// A rule for the initial window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitialWindow {
    /// A number of segments (RFC 6928: ten).
    Packets(u32),
    /// Two to four segments by their size (RFC 3390).
    Rfc3390,
}

impl InitialWindow {
    /// The window in segments of `payload_bytes`.
    pub fn packets(self, payload_bytes: u32) -> u32 {
        match self {
            InitialWindow::Packets(packets) => packets,
            InitialWindow::Rfc3390 => match payload_bytes {
                ..=1095 => 4,
                1096..=1460 => 3, // Linux 2.6 `tcp_init_cwnd`: RFC 3390 has 3 up to 2190
                _ => 2,
            },
        }
    }
}
