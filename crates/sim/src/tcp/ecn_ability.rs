//! The ECN abilities of a receiver.

use sojourn_aqm::Ecn;

use super::accecn::OptionRule;
use super::negotiation::Mode;

/// The ECN abilities of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EcnAbility {
    /// The highest feedback mode that it supports.
    pub speaks: Mode,
    /// In classic mode it echoes every run of marks exactly (RFC 8257 §3.2).
    pub runs: bool,
    /// The field of ECN-capable packets.
    pub ect: Ecn,
    /// All packets are ECN-capable, the SYN-ACK too (RFC 8311 §4.3).
    pub needs_ecn: bool,
    /// When it sends the AccECN option.
    pub option: OptionRule,
    /// Headers of a segment.
    pub header_bytes: u32,
}

impl EcnAbility {
    /// No ECN.
    pub const NONE: EcnAbility = EcnAbility {
        speaks: Mode::NotEcn,
        runs: false,
        ect: Ecn::NotEct,
        needs_ecn: false,
        option: OptionRule::Always,
        header_bytes: 0,
    };
}
