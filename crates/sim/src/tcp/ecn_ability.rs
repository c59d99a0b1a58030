//! The ECN abilities of a receiver.

use sojourn_aqm::Ecn;

use super::accecn::OptionRule;
use super::negotiation::Mode;

/// The ECN abilities of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EcnAbility {
    /// The highest feedback mode supported.
    pub speaks: Mode,
    /// Whether it echoes every run of marks exactly in classic mode (RFC 8257 §3.2).
    pub runs: bool,
    /// The field of ECN-capable packets.
    pub ect: Ecn,
    /// Whether all packets are ECN-capable, including the SYN-ACK (RFC 8311 §4.3).
    pub needs_ecn: bool,
    /// When the AccECN option is sent.
    pub option: OptionRule,
    /// Headers of a segment.
    pub header_bytes: u32,
}

impl EcnAbility {
    /// Without ECN.
    pub const NONE: EcnAbility = EcnAbility {
        speaks: Mode::NotEcn,
        runs: false,
        ect: Ecn::NotEct,
        needs_ecn: false,
        option: OptionRule::Always,
        header_bytes: 0,
    };
}
