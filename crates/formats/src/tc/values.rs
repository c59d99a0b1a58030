//! Parts of a set-up that stand alone: service curves and policers.

/// A service curve of hfsc: bit/s for some nanoseconds, then other bit/s.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcCurve {
    /// The first rate.
    pub m1: u64,
    /// How long it holds.
    pub d: u64,
    /// The second rate.
    pub m2: u64,
}

/// A policer on a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcPolicer {
    /// The device.
    pub device: String,
    /// Whether it polices arrivals, not departures.
    pub is_ingress: bool,
    /// Rate in bit/s and burst in bytes; none of a policer without counterpart.
    pub limit: Option<(u64, u64)>,
    /// The line, counted from 1.
    pub line: usize,
}
