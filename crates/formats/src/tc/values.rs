//! Independent parts of a set-up: service curves and policers.

/// A service curve of hfsc: a rate in bit/s for some nanoseconds, then another rate.
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
    /// Whether it polices ingress instead of egress.
    pub is_ingress: bool,
    /// Rate in bit/s and burst in bytes; `None` for a policer without a counterpart.
    pub limit: Option<(u64, u64)>,
    /// The line, counted from 1.
    pub line: usize,
}
